"""Which process holds a lease, and whether it is gone for certain: then nobody need wait for it.

On Linux a process is known by its machine, its boot, its namespaces, its number and the moment at
which it began. Another machine or namespace tells nothing, and so does any other system: whoever is
not provably gone may be alive (docs/adr/0017-who-holds-a-lease.md). Touches /proc only.
"""

import hashlib
import os
import re
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_PROC = Path("/proc")
_MACHINE_IDS = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_NOT_IN_A_CONTAINER = "4026531836-"  # the kernel's own number of the first PID namespace
_DEAD = "ZXx"  # zombie, dead: it runs nothing any more, whoever has not asked how it ended
_WORDS = re.compile(r"linux:(\w*):([\w-]+):(\d+-\d+):(\d+):(\d+)")


@dataclass(frozen=True)
class _Process:
    """Where a process runs, its number there, and when it began, in ticks since the boot."""

    machine: str
    boot: str
    namespaces: str
    number: int
    began: int

    def __str__(self) -> str:
        """Return it as one word."""
        return ":".join(("linux", *map(str, vars(self).values())))


def this_process() -> str | None:
    """Return a word for this process; None where nobody could tell that it is gone."""
    me = _me()
    return None if me is None else str(me)


def is_gone(holder: str, silent_seconds: float = 0.0) -> bool:
    """Tell whether a process is gone for certain, of which nothing was heard for so long.

    One of an earlier boot is gone if it was last heard of before this boot began: what was heard
    later came from another machine, which has the same identity by mistake.
    """
    me, known = _me(), _WORDS.fullmatch(holder)
    if me is None or known is None:
        return False
    machine, boot, namespaces, number, began = known.groups()
    if boot != me.boot:
        is_ours = machine == me.machine != "" and namespaces == me.namespaces
        is_plain = namespaces.startswith(_NOT_IN_A_CONTAINER)
        return is_ours and is_plain and silent_seconds > time.clock_gettime(time.CLOCK_BOOTTIME)
    if namespaces != me.namespaces:
        return False
    return not _is_alive(int(number), int(began))


def number_of(holder: str) -> int | None:
    """Return by which number its own system knows a process, if the word says so."""
    known = _WORDS.fullmatch(holder)
    return None if known is None else int(known.group(4))


def _is_alive(number: int, began: int) -> bool:
    """Tell whether the process that began then may still run; here, in these namespaces."""
    try:
        os.kill(number, 0)  # is it there? /proc may hide the processes of others
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    try:
        state, its_begin = _state_of(_PROC / str(number))
    except OSError:
        return True  # hidden, or it ended just now: the next one who asks will see
    if its_begin != began:
        return False  # its number was given to another
    return state not in _DEAD or _has_threads(number)


def _has_threads(number: int) -> bool:
    """Tell whether threads go on after the main one has ended."""
    try:
        threads = list((_PROC / str(number) / "task").iterdir())
    except OSError:
        return False
    for thread in threads:
        with suppress(OSError):
            if _state_of(thread)[0] not in _DEAD:
                return True
    return False


def _state_of(place: Path) -> tuple[str, int]:
    """Return the state of a process or thread, and when it began.

    Its name comes before both, in brackets: it may itself hold spaces and brackets.
    """
    after = (place / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    try:
        return after[0], int(after[19])
    except (IndexError, ValueError):
        raise OSError(f"{place}: this is no status of a process") from None


def _me() -> _Process | None:
    return _described(os.getpid()) if sys.platform == "linux" else None


@lru_cache(maxsize=1)
def _described(number: int) -> _Process | None:
    """Return this process; a fork has another number, and is another one."""
    own = _PROC / "self"
    try:
        if _number_in(own) != [str(number)]:  # a /proc of another namespace: other numbers there
            return None
        return _Process(
            machine=_machine(),
            boot=(_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip(),
            namespaces=f"{(own / 'ns/pid').stat().st_ino}-{_of_time(own)}",
            number=number,
            began=_state_of(own)[1],
        )
    except (OSError, ValueError):
        return None


def _number_in(own: Path) -> list[str]:
    """Return the numbers of this process, from the namespace of /proc inwards."""
    status = (own / "status").read_text("utf-8", "replace")
    found = re.search(r"^NSpid:(.*)$", status, re.MULTILINE)
    return [str(own.readlink())] if found is None else found[1].split()


def _of_time(own: Path) -> int:
    """Return the time namespace, by whose clock beginnings are told; 0 where there is none."""
    try:
        return (own / "ns/time").stat().st_ino
    except OSError:
        return 0


def _machine() -> str:
    """Return the identity of this machine, which is not to be published as it is; "" without."""
    for place in _MACHINE_IDS:
        with suppress(OSError):
            if found := place.read_bytes().strip():
                return hashlib.sha256(b"ringfence" + found).hexdigest()[:16]
    return ""
