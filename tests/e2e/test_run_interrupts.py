"""What becomes of a run that is interrupted, or asked to end: nothing is left behind or lost."""

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from tests.e2e.test_study_commands import write_study

COMMAND_LINE = "from ringfence.interfaces.cli.app import main; main()"
LONG = ["/bin/bash", "-c", "touch begun.$$; sleep 120 & sleep 120; echo '{}'"]
SLOWLY = """
import os, time
from pathlib import Path

def evaluate(arm, seed):
    Path(f"begun.{seed}").touch()
    time.sleep(%s)
    return {"cost": 1.0 + seed %% 3, "risk": 0.1 + seed %% 5 / 100}
"""


def hear_all() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def running(folder: Path, *options: str, **streams: Any) -> "Iterator[subprocess.Popen[Any]]":
    """Run the study of a folder in a process of its own, which is gone afterwards.

    It hears all signals, whatever those who run these tests ignore.
    """
    plain: dict[str, Any] = {
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "preexec_fn": hear_all,
    }
    streams = plain | streams
    command = [sys.executable, "-c", COMMAND_LINE, "run", "trial.toml", *options]
    with subprocess.Popen(command, cwd=folder, **streams) as process:
        try:
            yield process
        finally:
            process.kill()  # nothing, if it ended as it should


def begun(folder: Path, count: int) -> list[int]:
    """Wait until so many evaluations have begun; return what names them."""
    assert wait_for(lambda: len(list(folder.glob("begun.*"))) >= count)
    return [int(one.suffix[1:]) for one in folder.glob("begun.*")]


def wait_for(act: Callable[[], Any]) -> Any:
    until = time.monotonic() + 60.0
    while not (found := act()) and time.monotonic() < until:
        time.sleep(0.05)
    return found


def is_gone(group: int) -> bool:
    """Tell whether no process of a group is left."""
    with suppress(ProcessLookupError):
        os.killpg(group, 0)
        return False
    return True


def load(folder: Path) -> rf.Study:
    return rf.Study.load("trial", storage=f"sqlite:///{folder / 'trial.db'}")


def by_function(folder: Path, seconds: float) -> None:
    (folder / "slowly.py").write_text(SLOWLY % seconds, encoding="utf-8")
    write_study(folder, pull={"python": "slowly:evaluate"})


@pytest.mark.parametrize(
    ("sent", "code", "words"),
    [
        (signal.SIGINT, 130, "interrupted; its leases"),
        (signal.SIGTERM, 143, "ended by SIGTERM; its leases"),
        (signal.SIGHUP, 129, "ended by SIGHUP; its leases"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_programs_are_ended_with_what_they_began(
    tmp_path: Path, sent: signal.Signals, code: int, words: str
) -> None:
    write_study(tmp_path, pull={"command": LONG})
    with running(tmp_path, "--workers", "3") as process:
        groups = begun(tmp_path, 3)
        process.send_signal(sent)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (code, b"")
    first, last = err.decode().splitlines()
    assert first == "interrupt heard: nothing more is begun; what can be ended is ended."
    assert last == f"{words} were given back. Resume with: ringfence run trial.toml"
    assert wait_for(lambda: all(map(is_gone, groups)))
    study = load(tmp_path)
    assert len(groups) == 3, "nothing more was begun"
    assert (study.desk.held(), study.status().failed, study.status().issued) == ([], 0, 3)


def test_functions_are_waited_for_and_told(tmp_path: Path) -> None:
    by_function(tmp_path, 2.0)
    with running(tmp_path, "--workers", "2", "--json") as process:
        begun(tmp_path, 2)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (143, b"")
    assert b"waiting for evaluations that cannot be ended (2). Another one leaves them." in err
    study = load(tmp_path)
    assert (study.status().told, study.desk.held()) == (2, [])
    assert study.doctor().is_sound


def test_a_second_interrupt_waits_no_longer(tmp_path: Path) -> None:
    by_function(tmp_path, 120.0)
    with running(tmp_path, "--workers", "2") as process:
        begun(tmp_path, 2)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert b"cannot be ended (2)" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, b"")
    assert len(err.splitlines()) == 1, err
    study = load(tmp_path)
    assert (study.status().told, study.desk.held()) == (0, [])


def test_a_terminal_that_closed_is_not_spoken_to(tmp_path: Path) -> None:
    write_study(tmp_path, pull={"command": LONG})
    ours, theirs = pty.openpty()
    with running(tmp_path, stderr=theirs, start_new_session=True) as process:
        os.close(theirs)
        (group,) = begun(tmp_path, 1)
        os.close(ours)
        process.send_signal(signal.SIGHUP)
        assert process.wait(20) == 129
    assert wait_for(lambda: is_gone(group))
    assert load(tmp_path).desk.held() == []


def test_what_is_ignored_stays_so(tmp_path: Path) -> None:
    """As under nohup."""
    by_function(tmp_path, 0.01)

    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with running(tmp_path, preexec_fn=ignore) as process:
        begun(tmp_path, 1)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert load(tmp_path).status().finished
