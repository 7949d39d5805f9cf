"""Leases that would last too long: of processes that are gone, and of clocks that were wrong."""

import math
import time
from typing import Any

import pytest

from ringfence.core.errors import LeaseError
from ringfence.execution.holders import this_process
from ringfence.interfaces.studies import Study
from ringfence.storage.memory import MemoryStorage
from ringfence.study.desk import Desk, Report
from ringfence.study.facts import Definition, Head, PullFact, State
from ringfence.study.plan import Plan
from tests.unit.test_study_api import Clock, evaluate, make

DAY = 86_400.0


class Deaths:
    """Who is gone, and what was asked."""

    def __init__(self) -> None:
        self.gone: set[str] = set()
        self.asked: dict[str, float] = {}

    def __call__(self, holder: str, silent_seconds: float) -> bool:
        self.asked[holder] = silent_seconds
        return holder in self.gone


def desks(count: int, **changes: Any) -> tuple[Clock, Deaths, list[Desk]]:
    """Return several desks of one study, with a clock and deaths in common."""
    plain: dict[str, Any] = {
        "name": "s",
        "objective": "minimize mean(loss)",
        "constraints": ("mean(risk) <= 1.0",),
        "arms": {"one": {}, "two": {}, "three": {}},
        "budget": 60,
        "policy": "uniform",
        "seed": 3,
        "metrics": ("loss", "risk"),
    }
    definition = Definition(**{**plain, **changes})
    storage, clock, deaths = MemoryStorage(), Clock(), Deaths()
    storage.create(definition, Head(budget=definition.budget))
    plan = Plan.of(definition)
    return clock, deaths, [Desk(plan, storage, clock, deaths) for _ in range(count)]


def numbers(pulls: list[PullFact]) -> list[int]:
    return [pull.number for pull in pulls]


def test_leases_of_the_gone_are_given_out_again_at_once() -> None:
    clock, deaths, (dead, alive, third) = desks(3)
    lost, kept = dead.ask(3, holder="dead"), alive.ask(2, holder="alive")
    unknown = third.ask(1)
    clock.now += 5.0
    assert numbers(third.ask(2)) == [7, 8], "nobody is gone yet"
    deaths.gone.add("dead")
    again = third.ask(4, holder="third")
    assert numbers(again) == [*numbers(lost), 9], "first those of the gone, then fresh ones"
    assert [pull.lease for pull in again] == [2, 2, 2, 1]
    assert [pull.run_out for pull in again] == [1, 1, 1, 0], "they ran out: it may kill again"
    assert {pull.holder for pull in again} == {"third"}
    assert deaths.asked == {"dead": 5.0, "alive": 5.0}
    for pull in (*kept, *unknown):
        assert alive.extend(pull.number, pull.lease) == clock.now + 600.0, "not touched"
    with pytest.raises(LeaseError, match="lease 1 has run out, lease 2 holds"):
        dead.extend(lost[0].number, lost[0].lease)


def test_what_is_left_of_the_gone_waits_for_the_next_who_asks() -> None:
    clock, deaths, (dead, other) = desks(2)
    lost = numbers(dead.ask(3, holder="dead"))
    deaths.gone.add("dead")
    assert numbers(other.ask(1)) == lost[:1]
    assert numbers(other.ask(1)) == lost[1:2]
    clock.now += 1.0
    deaths.asked.clear()
    assert numbers(other.ask(5))[:1] == lost[2:]
    assert deaths.asked == {}, "what is known of a holder is not asked again"
    assert other.held(), "and the others hold theirs"


def test_a_pull_that_kills_every_process_ends_and_is_issued_alone_on_the_way() -> None:
    _, deaths, (desk,) = desks(1, max_leases=4)
    counts = []
    for life in range(4):
        asked = desk.ask(3, holder=f"life {life}")
        counts.append(len(asked))
        assert asked[0].number == 1
        deaths.gone.add(f"life {life}")
    assert counts == [3, 3, 1, 1], "from the second loss on it takes no others with it"
    assert 1 not in numbers(desk.ask(3, holder="last"))
    with desk.storage.reading("s") as ledger:
        (lost,) = ledger.pulls([1])
    assert (lost.state, lost.run_out, lost.charged) == (State.FAILED, 4, True)
    assert "4 leases ran out without an answer" in (lost.error or "")


def test_a_lease_that_is_given_back_has_no_holder() -> None:
    _, deaths, (desk,) = desks(1)
    released, failed = desk.ask(2, holder="me")
    desk.release(released.number, released.lease)
    deaths.gone.add("me")
    again = desk.ask(2, holder="you")
    assert [pull.run_out for pull in again] == [0, 1], "the first one was not lost"
    assert numbers(again) == [released.number, failed.number]


def test_pulls_that_are_asked_for_others_are_held_by_nobody_known() -> None:
    """A script that asks has ended long before its pulls are told."""
    study = make()
    study.ask(2)
    with study.desk.storage.reading("s") as ledger:
        assert [pull.holder for pull in ledger.pulls_between(1, 9)] == [None, None]
        assert set(ledger.leases()) == {None}


def test_a_worker_loop_says_who_it_is() -> None:
    study = make()
    seen: set[str | None] = set()

    def look(arm: str, seed: int) -> dict[str, float]:
        with study.desk.storage.reading("s") as ledger:
            seen.update(ledger.leases())
        return evaluate(arm, seed)

    study.optimize(look, most=2)
    assert seen == {None, this_process()}


# ---------------------------------------------------------------------------------- clocks


def test_a_lease_of_a_clock_that_was_ahead_ends_a_lease_after_it_is_seen() -> None:
    clock, _, (desk,) = desks(1, policy="uniform", budget=4, arms={"one": {}, "two": {}})
    clock.now += DAY
    asked = desk.ask(4)
    clock.now -= DAY
    assert desk.ask(4) == []
    assert {pull.deadline for pull in desk.held()} == {clock.now + 600.0}
    clock.now += 599.0
    assert desk.ask(4) == []
    clock.now += 1.0
    again = desk.ask(4)
    assert numbers(again) == numbers(asked)
    assert [pull.run_out for pull in again] == [1] * 4


def test_a_worker_whose_clock_is_ahead_keeps_its_lease_by_extending_it() -> None:
    """It is alive: that its clock is wrong must not cost it its pull, nor the arm a failure."""
    clock, _, (desk,) = desks(1, max_leases=1)
    (held,) = desk.ask(1)
    for _ in range(20):
        clock.now += DAY
        desk.extend(held.number, held.lease)
        clock.now -= DAY
        assert held.number not in numbers(desk.ask(1))
        clock.now += 200.0
    assert desk.tell([Report(held.number, held.lease, (0.1, 0.2))]) == ["told"]


@pytest.mark.parametrize("ahead", [0.0, 0.05, 0.1])
def test_clocks_that_differ_by_little_leave_leases_as_they_are(ahead: float) -> None:
    clock, _, (desk,) = desks(1, lease_seconds=100.0)
    clock.now += 100.0 * ahead
    (held,) = desk.ask(1)
    clock.now -= 100.0 * ahead
    desk.ask(1)
    assert held.deadline in {pull.deadline for pull in desk.held()}


def test_leases_of_different_lengths_are_each_bounded_by_their_own() -> None:
    for lease_seconds in (0.5, 30.0, 1e9):
        clock, _, (desk,) = desks(1, lease_seconds=lease_seconds)
        (held,) = desk.ask(1)
        desk.ask(1)
        assert held.deadline == clock.now + lease_seconds
        assert {pull.deadline for pull in desk.held()} == {held.deadline}


def test_a_clock_that_is_set_while_an_evaluation_goes_on_does_not_cost_its_lease() -> None:
    """Whether to extend a lease goes by a clock that never jumps."""
    offset = DAY
    study = Study.create(
        "s",
        arms=["one", "two"],
        objective="minimize mean(loss)",
        constraints="mean(risk) <= 1.0",
        budget=4,
        policy="uniform",
        seed=3,
        lease_seconds=1.0,
        storage=(storage := MemoryStorage()),
        clock=lambda: time.time() + offset,
    )
    other = Study.load("s", storage=storage, clock=lambda: time.time() + offset)
    stolen: list[object] = []

    def slowly(arm: str, seed: int) -> dict[str, float]:
        nonlocal offset
        offset = 0.0  # the clock was a day ahead, and is right now
        until = time.monotonic() + 2.5
        while time.monotonic() < until:
            stolen.extend(other.ask())
            time.sleep(0.05)
        return evaluate(arm, seed)

    became: list[str] = []
    study.optimize(slowly, workers=4, told=lambda _, how: became.append(how))
    assert (became, stolen) == (["told"] * 4, [])


def test_a_memory_ledger_knows_the_latest_deadlines() -> None:
    clock, _, (desk,) = desks(1)
    desk.ask(1, holder="a")
    clock.now += 7.0
    told = desk.ask(1, holder="a")[0]
    clock.now += 7.0
    desk.ask(1)
    with desk.storage.reading("s") as ledger:
        assert ledger.leases() == {None: clock.now + 600.0, "a": clock.now + 593.0}
    desk.tell([Report(told.number, told.lease, (0.1, 0.2))])
    with desk.storage.reading("s") as ledger:
        assert ledger.leases() == {None: clock.now + 600.0, "a": clock.now + 586.0}
        assert math.isfinite(ledger.now)
