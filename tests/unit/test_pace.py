"""How fast evaluations begin: never more than stated in any minute, and hardly less."""

import asyncio
import itertools
import math
import threading
import time
from bisect import bisect_left
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.execution.pace import Pace

GOOD = {"loss": 0.5, "risk": 0.5}


class Clock:
    """A clock that tests move."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def begun(rate: float, *, nap: float, seconds: float, want: int = 16) -> list[float]:
    """Return when tokens were taken by somebody who looks every so often."""
    clock = Clock()
    pace = Pace(rate, now=clock)
    times: list[float] = []
    while clock.now < seconds:
        times += [clock.now] * pace.take(want)
        clock.now += nap
    return times


@pytest.mark.parametrize("rate", [1, 2.5, 59, 60, 61, 300, 6000])
@pytest.mark.parametrize("nap", [0.003, 0.02])
def test_no_minute_has_more_than_stated_and_little_is_lost(rate: float, nap: float) -> None:
    times = begun(rate, nap=nap, seconds=200.0, want=10_000)
    most = max(bisect_left(times, first + 60.0 - 1e-6) - i for i, first in enumerate(times))
    assert most <= math.ceil(rate)
    assert len(times) >= 0.97 * rate * 200.0 / 60.0 - 2


def test_tokens_for_which_nothing_began_come_back() -> None:
    clock = Clock()
    pace = Pace(1, now=clock)
    assert (pace.take(3), pace.take(3), pace.seconds) == (1, 0, 60.0)
    pace.give_back(1)
    assert (pace.take(1), pace.take(1)) == (1, 0)
    assert Pace().take(5) == 5
    assert Pace().seconds == 0.0


@pytest.mark.parametrize("rate", [0, -3, float("nan"), float("inf"), True, "300"])
def test_a_rate_must_be_a_positive_number(rate: Any) -> None:
    with pytest.raises(InputError, match=r"requests_per_minute = .* must be a positive number"):
        Pace(rate)


def study(**changes: Any) -> rf.Study:
    plain: dict[str, Any] = {
        "arms": ["one", "two"],
        "objective": "minimize mean(loss)",
        "constraints": "mean(risk) <= 1.0",
        "budget": 12,
        "policy": "uniform",
        "storage": "memory://",
        "seed": 1,
    }
    return rf.Study.create("s", **plain | changes)


@pytest.mark.parametrize("kind", ["threads", "coroutines", "a loop"])
def test_workers_share_the_pace(kind: str) -> None:
    """600 a minute: ten are saved up, and two more come a tenth of a second apart."""
    times: list[float] = []

    def evaluate(arm: str, seed: int) -> dict[str, float]:
        times.append(time.monotonic())
        return GOOD

    async def awaited(arm: str, seed: int) -> dict[str, float]:
        return evaluate(arm, seed)

    known = study()
    if kind == "a loop":
        asyncio.run(known.optimize_async(awaited, workers=4, requests_per_minute=600))
    else:
        given = evaluate if kind == "threads" else awaited
        known.optimize(given, concurrency=4, requests_per_minute=600)
    assert len(times) == 12
    assert max(times) - min(times) >= 0.15
    assert known.status().told == 12


def test_as_many_coroutines_are_in_flight_as_were_asked_for() -> None:
    flying, most, names = itertools.count(), [0], set()
    running = 0

    async def evaluate(arm: str, seed: int) -> dict[str, float]:
        nonlocal running
        names.add(threading.current_thread().name)
        next(flying)
        running += 1
        most[0] = max(most[0], running)
        await asyncio.sleep(0.05)
        running -= 1
        return GOOD

    study().optimize(evaluate, concurrency=6)
    assert (most[0], names, next(flying)) == (6, {"coroutines"}, 12)


def test_a_coroutine_that_takes_too_long_is_ended_and_follows_on_timeout() -> None:
    ended: list[str] = []

    async def evaluate(arm: str, seed: int) -> dict[str, float]:
        if arm == "one":
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                ended.append(arm)
                raise
        return GOOD

    known = study(on_timeout={"loss": 9.0, "risk": 0.0})
    known.optimize(rf.AsyncFunction(evaluate, timeout_seconds=0.05), workers=4)
    assert ended == ["one"] * 6
    status = known.status()
    assert (status.told, status.failed) == (12, 0), "on_timeout stands in"
    assert known.recommend().arm == "two"


def test_words_that_say_the_same_are_refused_together() -> None:
    known = study()
    with pytest.raises(InputError, match=r"workers = 2 and concurrency = 3 say the same"):
        known.optimize(lambda arm, seed: GOOD, workers=2, concurrency=3)
    with pytest.raises(InputError, match=r"concurrency = 0"):
        known.optimize(lambda arm, seed: GOOD, concurrency=0)
    assert known.status().issued == 0
