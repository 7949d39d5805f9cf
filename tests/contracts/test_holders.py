"""Which processes are gone for certain: real ones, in every state that Linux has for them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from ringfence.execution import holders
from ringfence.execution.holders import is_gone, this_process

ROOT = Path(__file__).parents[2]
SAY = (
    "import sys, time\n"
    "from ringfence.execution.holders import this_process\n"
    "print(this_process(), flush=True)\n"
)
PATIENCE_SECONDS = 30.0

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are known on Linux only")


@contextmanager
def process(
    then: str = "sys.stdin.read()", *, python: str = sys.executable
) -> "Iterator[tuple[str, subprocess.Popen[str]]]":
    """Run a process that says who it is and goes on; it is gone afterwards."""
    command = [python, "-c", SAY + then]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}  # whatever the program is called
    with subprocess.Popen(command, cwd=ROOT, env=env, text=True, **streams) as child:  # type: ignore[call-overload]
        try:
            yield child.stdout.readline().strip(), child
        finally:
            child.kill()


def wait_for(act: Callable[[], bool]) -> bool:
    until = time.monotonic() + PATIENCE_SECONDS
    while not (found := act()) and time.monotonic() < until:
        time.sleep(0.01)
    return found


def changed(holder: str, **parts: str) -> str:
    """Return a holder with some of its parts exchanged."""
    names = ("system", "machine", "boot", "namespaces", "number", "began")
    known = dict(zip(names, holder.split(":"), strict=True))
    assert parts.keys() <= known.keys()
    return ":".join((known | parts).values())


@pytest.fixture
def me() -> str:
    found = this_process()
    assert found is not None
    return found


def test_this_process_is_alive_and_always_the_same(me: str) -> None:
    assert this_process() == me
    assert not is_gone(me)
    assert not is_gone(me, 1e9)


def test_a_process_is_gone_when_it_has_ended() -> None:
    with process() as (holder, child):
        assert holder != this_process()
        assert not is_gone(holder)
        child.communicate("")
        assert is_gone(holder)


def test_a_process_that_was_killed_is_gone_even_before_its_parent_has_asked() -> None:
    """A zombie: it has a number and a beginning, and runs nothing any more."""
    with process() as (holder, child):
        child.kill()
        assert wait_for(lambda: is_gone(holder))
        assert child.returncode is None
        assert Path(f"/proc/{child.pid}/stat").read_text().split()[2] == "Z"


def test_a_process_that_is_stopped_is_not_gone() -> None:
    with process() as (holder, child):
        child.send_signal(19)
        assert wait_for(lambda: Path(f"/proc/{child.pid}/stat").read_text().split()[2] == "T")
        assert not is_gone(holder)


def test_threads_that_go_on_after_the_main_one_keep_a_process_alive() -> None:
    then = (
        "import ctypes, threading\n"
        "threading.Thread(target=lambda: time.sleep(60)).start()\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    with process(then) as (holder, child):
        assert wait_for(lambda: Path(f"/proc/{child.pid}/stat").read_text().split()[2] == "Z")
        assert not is_gone(holder), "it looks like a zombie, and another thread works"
        child.kill()
        assert wait_for(lambda: is_gone(holder))


@pytest.mark.parametrize("name", ["a b", "x) Z 1 (y", "((", ")"])
def test_the_name_of_a_program_may_hold_anything(tmp_path: Path, name: str) -> None:
    program = tmp_path / name
    program.symlink_to(sys.executable)
    (tmp_path / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    then = "sys.stdin.read()"
    with process(then, python=str(program)) as (holder, child):
        assert f"({name})" in Path(f"/proc/{child.pid}/stat").read_text()
        assert not is_gone(holder)
        child.communicate("")
        assert is_gone(holder)


def test_a_number_that_was_used_again_is_another_process(me: str) -> None:
    began = int(me.rpartition(":")[2])
    assert is_gone(changed(me, began=str(began - 1)))
    assert is_gone(changed(me, began=str(began + 1)))


def test_a_fork_is_another_process(me: str) -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            os.write(writing, str(this_process()).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        theirs = said.read()
    os.waitpid(child, 0)
    assert theirs != me
    assert is_gone(theirs)
    assert not is_gone(me)


def test_elsewhere_nobody_is_known_to_be_gone(me: str) -> None:
    """Another machine or namespace tells nothing, whatever its numbers mean here."""
    gone = changed(me, number="4194305")
    assert is_gone(gone), "the number is too high for any process"
    other_boot = "00000000-0000-4000-8000-000000000000"
    for parts in (
        {"namespaces": "4026531836-1"},
        {"namespaces": "17-4026531834"},
        {"machine": "0123456789abcdef", "boot": other_boot},
        {"machine": "", "boot": other_boot},
        {"boot": other_boot, "namespaces": "17-4026531834"},
        {"boot": other_boot},  # heard of just now: another machine has our identity
        {"system": "darwin"},
        {"number": "x"},
        {"boot": ""},
    ):
        assert not is_gone(changed(gone, **parts)), parts
    for other in ("", "linux", "linux::::::", "a\0b", "linux:a:b:1-1:1:1\n", "\ud800" * 9):
        assert not is_gone(other)
        assert not is_gone(other, 1e12)


def test_a_process_of_an_earlier_boot_is_gone_if_it_was_silent_since(
    me: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = changed(me, boot="00000000-0000-4000-8000-000000000000")
    up_seconds = time.clock_gettime(time.CLOCK_BOOTTIME)
    silences = (0.0, up_seconds / 2.0, up_seconds + 60.0, 1e9)
    if me.split(":")[1] and "4026531836-" in me:
        assert [is_gone(before, silent) for silent in silences] == [False, False, True, True]
    for parts in ({"machine": "0123456789abcdef"}, {"namespaces": "17-4026531834"}):
        assert not is_gone(changed(before, **parts), 1e9)
    monkeypatch.setattr(holders, "_MACHINE_IDS", ())
    holders._described.cache_clear()
    anonymous = this_process()
    holders._described.cache_clear()
    assert anonymous is not None
    assert anonymous.split(":")[1] == ""
    monkeypatch.setattr(holders, "_me", lambda: holders._described(os.getpid()))
    assert not is_gone(changed(before, machine=""), 1e9), "machines without identity are not one"
    holders._described.cache_clear()


def test_what_is_published_of_a_machine_is_not_its_identity(me: str) -> None:
    for place in holders._MACHINE_IDS:
        if place.exists():
            assert place.read_text().strip() not in me


@pytest.mark.parametrize("system", ["darwin", "win32", "freebsd14"])
def test_other_systems_say_nothing_and_know_nobody_to_be_gone(
    monkeypatch: pytest.MonkeyPatch, system: str, me: str
) -> None:
    with process() as (holder, child):
        child.communicate("")
    monkeypatch.setattr(sys, "platform", system)
    assert this_process() is None
    assert not is_gone(holder)
    assert not is_gone(me)


def test_without_a_proc_of_our_own_nothing_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, me: str
) -> None:
    """It may be missing, of another namespace, or nonsense."""
    real = Path("/proc/self")
    for status in (None, "NSpid:\t1\t2\n", f"NSpid:\t77\t{os.getpid()}\n", "NSpid:\n"):
        if status is not None:
            (tmp_path / "self").mkdir(exist_ok=True)
            (tmp_path / "self" / "status").write_text(status)
            (tmp_path / "self" / "stat").write_text((real / "stat").read_text())
        monkeypatch.setattr(holders, "_PROC", tmp_path)
        holders._described.cache_clear()
        assert this_process() is None
        assert not is_gone(me)
    monkeypatch.undo()
    holders._described.cache_clear()
    assert this_process() == me
