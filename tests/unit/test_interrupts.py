"""Interrupts of a crew at work: no lease is lost, no result thrown away, no program left."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.execution.hands import Hands
from ringfence.execution.interrupts import held_off
from ringfence.interfaces.cli.signals import Ended, ending_as_interrupts
from ringfence.storage.sql import SqlStorage

GOOD = {"loss": 0.5, "risk": 0.5}


def make(**changes: Any) -> rf.Study:
    plain: dict[str, Any] = {
        "arms": ["one", "two"],
        "objective": "minimize mean(loss)",
        "constraints": "mean(risk) <= 1.0",
        "budget": 40,
        "policy": "uniform",
        "storage": "memory://",
        "seed": 1,
    }
    return rf.Study.create("s", **plain | changes)


def interrupt_when(event: threading.Event, *, unnoticed: bool = False) -> None:
    """Interrupt the main thread once an event has come.

    Or without waking it, as when the signal comes just before it begins to wait.
    """

    def act() -> None:
        event.wait(20.0)
        if unnoticed:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=act).start()


@pytest.mark.parametrize("kind", [None, ThreadPoolExecutor])
def test_results_are_told_and_failures_given_back(kind: type[ThreadPoolExecutor] | None) -> None:
    began, go_on = threading.Barrier(4), threading.Event()
    heard: list[int] = []
    interrupt_when(all_began := threading.Event())

    def evaluate(arm: str, seed: int) -> dict[str, float]:
        if began.wait(20.0) == 0:
            all_began.set()
        go_on.wait(20.0)
        if threading.current_thread().name.endswith("_1"):
            raise RuntimeError("a program of its own was interrupted too")
        return GOOD

    def hear(count: int) -> None:
        heard.append(count)
        go_on.set()

    study = make()
    executor = None if kind is None else kind(4, thread_name_prefix="pull")
    became: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        study.optimize(
            evaluate,
            workers=4,
            executor=executor,
            told=lambda pull, how: became.append(how),
            stops=hear,
        )
    assert heard == [4]
    assert sorted(became) == ["given-back", "told", "told", "told"]
    stands = study.status()
    assert (stands.told, stands.failed, stands.issued) == (3, 0, 1)
    assert study.desk.held() == []
    assert study.ask()[0].lease == 2, "at once, without waiting for leases"


def test_an_interrupt_just_before_a_wait_is_heard_while_evaluations_go_on() -> None:
    began, go_on = threading.Event(), threading.Event()
    heard: list[int] = []

    def evaluate(arm: str, seed: int) -> dict[str, float]:
        began.set()
        go_on.wait(20.0)
        return GOOD

    def hear(count: int) -> None:
        heard.append(count)
        go_on.set()

    study = make()
    # Of all threads only the one that sends the signal takes it, so that no wait is broken off.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        interrupt_when(began, unnoticed=True)
        with pytest.raises(KeyboardInterrupt):
            study.optimize(evaluate, stops=hear)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert heard == [1]


def test_what_was_returned_before_a_second_interrupt_is_told() -> None:
    began, never = threading.Barrier(2), threading.Event()
    study = make()

    def evaluate(arm: str, seed: int) -> dict[str, float]:
        if began.wait(20.0) == 0:
            never.wait(30.0)
        return GOOD

    def again(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.optimize(evaluate, workers=2, told=again, stops=again)
    never.set()
    assert (study.status().told, study.status().issued, study.desk.held()) == (1, 1, [])


@pytest.mark.parametrize("kind", [None, ThreadPoolExecutor])
def test_commands_are_ended_from_python_too(
    tmp_path: Path, kind: type[ThreadPoolExecutor] | None
) -> None:
    study = make()
    command = rf.Command(["/bin/bash", "-c", "echo $$ > pid.$$; sleep 120"], folder=str(tmp_path))
    both_began = threading.Event()
    interrupt_when(both_began)

    def look() -> None:
        while len([one for one in tmp_path.glob("pid.*") if one.stat().st_size]) < 2:
            time.sleep(0.02)
        both_began.set()

    threading.Thread(target=look, daemon=True).start()
    heard: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        study.optimize(
            command, workers=2, executor=None if kind is None else kind(2), stops=heard.append
        )
    assert heard == [0]
    for one in tmp_path.glob("pid.*"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(one.read_text()), 0)
    assert (study.status().issued, study.status().failed, study.desk.held()) == (2, 0, [])


def test_programs_are_ended_when_the_work_ends_of_an_error(tmp_path: Path) -> None:
    study = make()
    program = 'if mkdir first; then echo \'{"loss": 1, "risk": 0}\'; else sleep 120; fi'
    command = rf.Command(["/bin/bash", "-c", program], folder=str(tmp_path))

    def broken(*_: Any) -> None:
        raise RuntimeError("a callback with a fault")

    started = time.monotonic()
    with pytest.raises(RuntimeError, match="a callback with a fault"):
        study.optimize(command, workers=2, told=broken)
    assert time.monotonic() - started < 20.0
    assert (study.status().told, study.desk.held()) == (1, [])


def test_no_lease_is_lost_whenever_an_interrupt_comes(tmp_path: Path) -> None:
    with closing(SqlStorage(f"sqlite:///{tmp_path / 's.db'}")) as storage:
        study = make(storage=storage, budget=100_000, batch=8)
        for number in range(40):
            timer = threading.Timer(
                0.01 + 0.0007 * number, os.kill, args=(os.getpid(), signal.SIGINT)
            )
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                study.optimize(lambda arm, seed: GOOD, workers=3)
            timer.join()
            assert study.desk.held() == []
        assert study.doctor().is_sound


def test_an_interrupt_is_held_off_and_a_second_one_is_not() -> None:
    def interrupted(times: int) -> None:
        with held_off():
            for number in range(times):
                signal.raise_signal(signal.SIGINT)
                done.append(number)

    done: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(1)
    assert done == [0]
    with pytest.raises(KeyboardInterrupt):
        interrupted(3)
    assert done == [0, 0]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.fixture
def heard(request: pytest.FixtureRequest) -> Iterator[signal.Signals]:
    """A signal that is heard, even if those who run these tests ignore it."""
    before = signal.signal(request.param, signal.SIG_DFL)
    yield request.param
    signal.signal(request.param, before)


@pytest.mark.parametrize("heard", [signal.SIGTERM, signal.SIGHUP], indirect=True)
def test_signals_to_end_are_interrupts_only_while_it_matters(heard: signal.Signals) -> None:
    sent = heard
    with pytest.raises(Ended) as seen, ending_as_interrupts():
        signal.raise_signal(sent)
    assert (seen.value.number, str(seen.value)) == (sent, sent.name)
    assert signal.getsignal(sent) == signal.SIG_DFL
    signal.signal(sent, signal.SIG_IGN)
    try:
        with ending_as_interrupts(), held_off():
            signal.raise_signal(sent)
    finally:
        signal.signal(sent, signal.SIG_DFL)
    inside = []

    def elsewhere() -> None:
        with ending_as_interrupts(), held_off():
            inside.append(signal.getsignal(sent))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert inside == [signal.SIG_DFL]


def test_hands_are_as_many_as_are_needed_and_keep_what_was_raised() -> None:
    with Hands(3) as hands:
        names = {hands.submit(lambda: threading.current_thread().name).result() for _ in range(9)}
        failed = hands.submit(int, "x")
        with suppress(ValueError):
            failed.result(10.0)
        assert isinstance(failed.exception(), ValueError)
    assert names <= {"pull_1", "pull_2", "pull_3"}
