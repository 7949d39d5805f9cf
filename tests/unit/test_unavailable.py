"""Services that are busy or down: waited for, and never charged to an arm."""

import asyncio
import io
import urllib.error
from email.message import Message
from types import SimpleNamespace
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.errors import InputError, OutageError
from ringfence.execution.backoff import Backoff
from ringfence.execution.failures import EvaluationError, UnavailableError, failure_of
from ringfence.study.facts import State
from tests.unit.test_pace import GOOD, study
from tests.unit.test_resolving import make, pulls_of

DOWN = UnavailableError("HTTP 503")


class StatusError(Exception):
    """An error as HTTP clients raise it."""

    def __init__(self, code: int, headers: dict[str, str] | None = None) -> None:
        super().__init__(f"status {code}")
        self.response = SimpleNamespace(status_code=code, headers=headers or {})


def test_one_failure_of_a_service_stops_new_pulls_and_charges_nothing() -> None:
    scene = make(workers=4)
    flying = scene.crew.ask(4)
    assert scene.crew.fail(flying[0], DOWN) == "given-back"
    assert scene.counts() == (0, 0, 3)
    assert scene.crew.ask(4) == []
    assert scene.wait() == 1.0
    (probe,) = scene.crew.ask(4)
    scene.crew.tell(probe, GOOD)
    assert len(scene.crew.ask(4)) == 4, "it is over"
    assert scene.study.view().head.broken == ()


def test_a_service_that_is_often_busy_is_named_once_a_minute() -> None:
    scene = make()
    for _ in range(3):
        scene.crew.fail(scene.one(), UnavailableError("HTTP 429"))
        scene.wait()
        scene.crew.tell(scene.one(), GOOD)
    scene.now += 60.0
    scene.crew.fail(scene.one(), UnavailableError("HTTP 503"))
    ends = "Next try in 1 s. Ctrl-C stops; nothing of it is charged."
    assert [str(one) for one in scene.said] == [
        f"waiting: the service is busy or down: HTTP 429. {ends}",
        "the service answers again: going on.",
        f"waiting: the service is busy or down: HTTP 503. {ends}",
    ]


def test_it_is_waited_as_long_as_the_service_says() -> None:
    scene = make()
    scene.crew.fail(scene.one(), UnavailableError("HTTP 429", retry_seconds=20))
    assert scene.wait() == 20.0
    scene.crew.fail(scene.one(), DOWN)
    assert scene.wait() == 2.0


def test_a_pull_whose_own_service_stays_away_ends_the_run_in_the_end() -> None:
    """Other pulls succeed all the while: nothing is charged, and it is not for ever."""
    scene = make(backoff=Backoff(outage_minutes=1.0, backoff_seconds=5.0))

    def work() -> None:
        while scene.now < 1000.0:
            for pull in scene.crew.ask(1):
                if pull.number == 2:
                    scene.crew.fail(pull, DOWN)
                else:
                    scene.crew.tell(pull, GOOD)
            scene.now += max(0.5, min(60.0, scene.crew.seconds_to_try))

    with pytest.raises(OutageError, match="HTTP 503"):
        work()
    assert scene.now >= 60.0
    assert pulls_of(scene.study)[1].state == State.ISSUED
    assert scene.study.status().failed == 0
    assert scene.study.doctor().is_sound


def test_an_arms_own_failure_after_it_is_charged() -> None:
    scene = make()
    first = scene.one()
    scene.crew.fail(first, DOWN)
    scene.wait()
    scene.crew.tell(scene.one(), GOOD)
    for _ in range(2):  # whichever is issued again
        scene.crew.fail(scene.one(), EvaluationError("its own"))
    assert scene.study.status().failed == 2


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504, 529])
def test_what_clients_raise_is_understood(code: int) -> None:
    found = failure_of(StatusError(code, {"retry-after": "7"}))
    assert (found.unavailable, found.retry_seconds) == (True, 7.0)
    web = urllib.error.HTTPError("http://x", code, "no", Message(), io.BytesIO())
    assert failure_of(web).unavailable
    web.close()


def test_a_cause_is_looked_at_and_other_errors_are_the_arms_own() -> None:
    outer = RuntimeError("client gave up")
    outer.__cause__ = StatusError(429, {"Retry-After": "soon"})
    assert (failure_of(outer).unavailable, failure_of(outer).retry_seconds) == (True, 0.0)
    for error in (StatusError(400), StatusError(404), ValueError("no"), KeyError("status_code")):
        assert not failure_of(error).unavailable
    late = failure_of(TimeoutError("slow"))
    assert (late.timed_out, late.unavailable) == (True, False)
    assert failure_of(DOWN) is DOWN
    assert UnavailableError("x", -5).retry_seconds == 0.0
    with pytest.raises(InputError, match="must be a number of seconds"):
        UnavailableError("x", "5")  # type: ignore[arg-type]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_study_under_a_rate_limit_is_as_without(
    is_async: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ringfence.execution.backoff._FIRST_WAIT_SECONDS", 0.01)
    calls: list[str] = []

    def limited(arm: str, seed: int) -> dict[str, float]:
        calls.append(arm)
        if len(calls) % 3 == 0:
            raise StatusError(429)
        return {"loss": 0.2 if arm == "one" else 0.7, "risk": seed % 2}

    async def awaited(arm: str, seed: int) -> dict[str, float]:
        await asyncio.sleep(0)
        return limited(arm, seed)

    known = study()
    known.optimize(awaited if is_async else limited, workers=3, outage=lambda _: None)
    status = known.status()
    assert (status.told, status.failed) == (12, 0)
    assert len(calls) > 12
    assert known.recommend().arm == "one"


def test_a_program_says_it_by_exit_code_75() -> None:
    known = study()
    say: list[Any] = []
    with pytest.raises(OutageError, match="exit code 75; it said: busy"):
        known.optimize(
            rf.Command(["/bin/sh", "-c", "echo busy; exit 75"]), outage_minutes=0, outage=say.append
        )
    assert known.status().failed == 0
