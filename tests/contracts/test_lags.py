"""Decisions that lag behind: pull t is decided from the pulls up to t - L, whoever is quicker.

What was seen is counted again from the stored pulls, by a rule that is written out here.
"""

import threading
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringfence.core.streams import round_stream
from ringfence.policies.registry import ADAPTIVE_POLICIES
from ringfence.storage.memory import MemoryStorage
from ringfence.storage.sql import SqlStorage
from ringfence.study.audit import audit
from ringfence.study.desk import Desk, Report
from ringfence.study.facts import Cause, Definition, Head, PullFact, Round, State
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger, Storage
from tests.contracts.places import Place
from tests.contracts.test_order_does_not_matter import (
    AROUND,
    BREAKING,
    LOST,
    Clock,
    Muddle,
    World,
    assert_same,
    definition_of,
    in_order,
    outcome_of,
    settle,
    troubled,
)

COURSES = [(policy.name, 1, 7) for policy in ADAPTIVE_POLICIES] + [
    ("top-two", 1, 2),
    ("top-two", 1, 30),
    ("ocba-co", 3, 10),
]
ROOM = 10  # pulls that a test asks for beyond what can be given


def lagging(policy: str = "top-two", batch: int = 1, lag: int = 7, **changes: Any) -> Definition:
    budget = 60 if policy == "thompson" else 110
    return definition_of(policy, batch, **{"lag": lag, "budget": budget, **changes})


def opened(definition: Definition, storage: Storage | None = None) -> Desk:
    at = MemoryStorage() if storage is None else storage
    at.create(definition, Head(budget=definition.budget))
    return Desk(Plan.of(definition), at, Clock())


def tell(desk: Desk, pull: PullFact) -> None:
    assert desk.tell([Report(pull.number, pull.lease, World(1).yields(pull))]) == ["told"]


def after_first_pulls(definition: Definition) -> Desk:
    """Return a study of which all first pulls were told."""
    desk = opened(definition)
    desk.ask(1)
    for pull in [*desk.held(), *desk.ask(desk.head.round_end - 1)]:
        tell(desk, pull)
    return desk


def problems_of(desk: Desk) -> tuple[str, ...]:
    with desk.storage.reading("s") as ledger:
        return audit(desk.plan, ledger).problems


# What is decided


@pytest.mark.parametrize(("policy", "batch", "lag"), COURSES)
def test_any_order_gives_the_same_rounds_and_verdict(policy: str, batch: int, lag: int) -> None:
    definition = lagging(policy, batch, lag)
    for seed in range(2):
        world = troubled(seed)
        wanted = in_order(definition, world)
        assert len(wanted.rounds) > 10
        for turn in range(3):
            storage = MemoryStorage()
            muddle = Muddle(definition, world, lambda held=storage: held, 10 * seed + turn)  # type: ignore[misc]
            assert_same(muddle.run(), wanted)


@pytest.mark.parametrize("limit", ["mean(risk) <= 1.0", "p80(risk) <= 1.4"])
@pytest.mark.parametrize(("policy", "batch", "lag"), COURSES[-3:])
def test_a_withdrawal_acts_on_what_is_not_decided_in_any_order(
    policy: str, batch: int, lag: int, limit: str
) -> None:
    """What was decided of the arm before it was seen to break is forfeited, evaluated or not."""
    changes = {"retries": 0, "constraints": (limit,)}
    definition = lagging(policy, batch, lag, **changes)
    plain = in_order(definition, World(1)).rounds
    arm = int(np.argmax(np.add(plain[-1].before, plain[-1].allocation)))
    late = frozenset((arm, plain[0].allocation[arm] + n) for n in (1, 2, 3, 6))
    for failing, since in ((BREAKING | {(1, 9)}, 1), (late, 2)):
        world = World(1, failing=failing)
        wanted = in_order(definition, world)
        left = [(at.number, one) for at in wanted.rounds for one in at.left]
        assert left
        assert left[0][0] >= since, "the second arm breaks among pulls that were chosen"
        for turn in range(4):
            storage = MemoryStorage()
            found = Muddle(definition, world, lambda held=storage: held, turn).run()  # type: ignore[misc]
            used = replace(
                found.verdict, pulls_used=wanted.verdict.pulls_used, account=wanted.verdict.account
            )
            assert_same(replace(found, verdict=used), wanted)
        for number, one in left:
            assert one.cause == Cause.FAILING
            assert all(at.allocation[one.arm] == 0 for at in wanted.rounds[number:])


@pytest.mark.parametrize("stated", [{}, {"on_failure": {"loss": 3.0, "risk": 2.0}}])
@pytest.mark.parametrize("lag", [7, 30])
def test_lost_pulls_and_stand_ins_give_the_same_in_any_order(
    lag: int, stated: dict[str, Any]
) -> None:
    definition = lagging(retries=0, lag=lag, **stated)
    first = Plan.of(definition).first_pulls(definition.budget)
    whole = frozenset((1, ordinal) for ordinal in range(first))
    world = World(2, failing=AROUND, losing=LOST | whole)
    wanted = in_order(definition, world)
    assert wanted.rounds[1].allocation[1] >= first, "what was lost is given anew"
    assert not any(one.cause == Cause.UNSEEN for at in wanted.rounds for one in at.left)
    for turn in range(4):
        storage = MemoryStorage()
        found = Muddle(definition, world, lambda held=storage: held, turn).run()  # type: ignore[misc]
        used = replace(
            found.verdict, pulls_used=wanted.verdict.pulls_used, account=wanted.verdict.account
        )
        assert_same(replace(found, verdict=used), wanted)


def test_threads_on_disk_give_the_same(tmp_path: Path) -> None:
    definition, world = lagging(lag=12), troubled(6)
    url = f"sqlite:///{tmp_path / 's.db'}"
    first = SqlStorage(url)
    first.create(definition, Head(budget=definition.budget))
    wrong: list[BaseException] = []

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        storage = SqlStorage(url)
        try:
            desk = Desk(Plan.of(definition), storage, Clock())
            while not desk.is_finished:
                given = desk.ask(int(rng.integers(1, 6)))
                for place in rng.permutation(len(given)):
                    settle(desk, world, given[place])
        except BaseException as error:  # noqa: BLE001 - shown below
            wrong.append(error)
        finally:
            storage.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    found = outcome_of(definition, first)
    first.close()
    assert_same(found, in_order(definition, world))


def test_a_lag_of_one_decides_as_batches_of_one_do() -> None:
    world = troubled(3)
    assert_same(in_order(lagging(lag=1), world), in_order(lagging(lag=None), world))  # type: ignore[arg-type]


@pytest.mark.parametrize(("batch", "lag"), [(1, 2), (1, 9), (1, 40), (4, 9)])
def test_a_decision_sees_the_pulls_up_to_the_lag_and_no_other(batch: int, lag: int) -> None:
    definition = lagging(batch=batch, lag=lag)
    desk = opened(definition)
    while given := desk.ask(1):
        settle(desk, troubled(4), given[0])
    rounds = desk.rounds()
    with desk.storage.reading("s") as ledger:
        pulls = ledger.pulls_between(1, ledger.head.issued)
    known = 0
    for before, one in pairwise(rounds):
        wanted = max(known, one.first - lag)
        if before.number == 0 or one.is_last:
            wanted = one.first - 1
        seen = [pull for pull in pulls if pull.number <= wanted and pull.state == State.TOLD]
        arms = np.bincount([pull.arm for pull in seen], minlength=len(definition.arms))
        assert one.through == wanted
        assert one.seen["counts"] == arms.tolist()
        known = one.through
    gaps = [one.first - one.through for one in rounds[2:-1]]
    assert max(gaps) == lag, "the window was full"
    assert sum(one.size for one in rounds) == definition.budget


def test_within_a_window_the_policy_knows_what_is_in_flight() -> None:
    """Pull by pull it chooses from the same evidence, with those before as promised."""
    definition = lagging(lag=40)
    desk = after_first_pulls(definition)
    given = [pull.arm for pull in desk.ask(40 + ROOM)]
    plan, book = desk.plan, desk.look().book
    rule: Any = plan.policy
    promised, chosen = np.zeros(len(definition.arms), np.int64), np.zeros(1, np.int64)
    everyone = np.ones(len(definition.arms), np.bool_)
    for place in range(40):
        left = definition.budget - desk.rounds()[1].first + 1 - place
        seen = book.evidence(everyone, plan.priority, left=float(left))
        uniforms = round_stream(definition.seed, place + 1).random(1)
        work = rule.make_work(len(definition.arms), 2)
        rule.choose(seen._replace(in_flight=promised), uniforms, chosen, work)
        promised[chosen[0]] += 1
        assert given[place] == chosen[0]
    assert len(given) == 40
    assert np.count_nonzero(promised) > 1, "of one arm alone nothing would be noticed"


# How many may be open


@pytest.mark.parametrize(("batch", "lag"), [(1, 5), (3, 8)])
def test_as_many_pulls_are_open_as_the_lag_allows(batch: int, lag: int) -> None:
    desk = after_first_pulls(lagging(batch=batch, lag=lag))
    given = desk.ask(lag + ROOM)
    most = -(-lag // batch) * batch
    assert len(given) == most
    for pull in given[1:]:
        tell(desk, pull)
    assert desk.ask(ROOM) == [], "the oldest is open: nothing may be decided from the others"
    tell(desk, given[0])
    assert len(desk.ask(most + ROOM)) == most


def test_a_pull_that_must_be_tried_again_holds_the_window() -> None:
    desk = after_first_pulls(lagging(lag=5))
    oldest, *others = desk.ask(5)
    for pull in others:
        tell(desk, pull)
    assert desk.fail(oldest.number, oldest.lease, "no", charge=True, retry=True) == "retry"
    again = desk.ask(ROOM)
    assert [(pull.number, pull.lease) for pull in again] == [(oldest.number, 2)]
    tell(desk, again[0])
    assert len(desk.ask(ROOM)) == 5


def test_first_pulls_are_waited_for() -> None:
    desk = opened(lagging(lag=5))
    given = desk.ask(1000)
    assert len(given) == desk.head.round_end
    for pull in given[:-1]:
        tell(desk, pull)
    assert desk.ask(ROOM) == []
    tell(desk, given[-1])
    assert len(desk.ask(ROOM)) == 5


def test_what_may_not_be_charged_is_waited_for_before_the_end() -> None:
    """The last pulls are open: one may be lost, and then there is one more."""
    definition = lagging(lag=6)
    desk = after_first_pulls(definition)
    held: list[PullFact] = []
    while fresh := desk.ask(6):
        for pull in held:
            tell(desk, pull)
        held = fresh
        if held[-1].number == definition.budget:
            break
        for pull in held:
            tell(desk, pull)
        held = []
    tell(desk, held[0])
    assert desk.ask(ROOM) == []
    assert not desk.is_finished
    desk.lose(held[1].number, held[1].lease)
    for pull in held[2:]:
        tell(desk, pull)
    last = desk.ask(ROOM)
    assert len(last) == 1
    tell(desk, last[0])
    assert desk.ask(ROOM) == []
    assert desk.is_finished
    assert problems_of(desk) == ()


@pytest.mark.parametrize("finished", [False, True])
def test_a_raised_budget_is_spent(finished: bool) -> None:
    desk = after_first_pulls(lagging(budget=70, lag=6))
    raised = False
    while not desk.is_finished or not raised:
        if not raised and desk.is_finished == finished:
            desk.raise_budget(90)
            raised = True
        for pull in desk.ask(4):
            tell(desk, pull)
    assert desk.look().told == 90
    assert problems_of(desk) == ()


def test_an_arm_that_comes_back_is_seen_whole_before_it_is_judged() -> None:
    definition = lagging(lag=9, retries=0, max_failures=2)
    desk = after_first_pulls(definition)
    arm = None
    while arm is None:
        given = desk.ask(3)
        for pull in given:
            if pull.arm in desk.head.broken:
                arm = pull.arm
            desk.fail(pull.number, pull.lease, "no", charge=True, retry=False)
        arm = next(iter(desk.head.broken), None)
    assert desk.revive(arm) == "revived"
    while given := desk.ask(4):
        for pull in reversed(given):
            tell(desk, pull)
    assert desk.rounds()[-1].alive[arm]
    assert problems_of(desk) == ()


def test_an_outage_within_the_window_is_issued_again() -> None:
    desk = after_first_pulls(lagging(lag=8, retries=0))
    given = desk.ask(8)
    for pull in given:
        desk.fail(pull.number, pull.lease, "503", charge=True, retry=False)
    assert desk.forgive([pull.number for pull in given]) == 8
    again = desk.ask(8)
    assert [pull.number for pull in again] == [pull.number for pull in given]
    while again:
        for pull in again:
            tell(desk, pull)
        again = desk.ask(8)
    assert desk.look().told == desk.head.budget
    assert problems_of(desk) == ()


# What an audit finds


class Told:
    """A ledger that says something else of one round."""

    def __init__(self, ledger: Ledger, number: int, **seen: Any) -> None:
        self._ledger, self._number, self._seen = ledger, number, seen

    def __getattr__(self, key: str) -> Any:
        return getattr(self._ledger, key)

    def rounds(self, start: int = 0, stop: int | None = None) -> list[Round]:
        return [
            replace(one, seen={**one.seen, **self._seen}) if one.number == self._number else one
            for one in self._ledger.rounds(start, stop)
        ]


@pytest.mark.parametrize(
    ("number", "seen", "message"),
    [
        (20, {"through": 40}, "round 20: decided again, it has another seen"),
        (20, {"lag": 6}, "round 20 has a lag of 6"),
        (0, {"lag": 6}, "round 0 has a lag of 6"),
        (3, {"through": "all"}, "round 3 has a lag of 7 and saw the pulls to all"),
    ],
)
def test_an_audit_names_a_decision_that_saw_something_else(
    number: int, seen: dict[str, Any], message: str
) -> None:
    desk = after_first_pulls(lagging(lag=7))
    while given := desk.ask(3):
        for pull in given:
            tell(desk, pull)
    with desk.storage.reading("s") as ledger:
        other: Any = Told(ledger, number, **seen)
        found = audit(desk.plan, other).problems
    assert found
    assert found[0].startswith(message)


def test_an_audit_names_a_pull_that_is_open_and_was_seen() -> None:
    desk = after_first_pulls(lagging(lag=4))
    for _ in range(3):
        for pull in desk.ask(4):
            tell(desk, pull)
    with desk.storage.writing("s") as ledger:
        first = ledger.pulls([2])[0]
        ledger.set_pulls([replace(first, state=State.ISSUED, values=None)])
        ledger.set_head(replace(ledger.head, unresolved=1))
    assert "round 1 was decided from pull 2, which is open" in problems_of(desk)


# What is read


def test_a_decision_reads_the_pulls_that_are_new_alone(place: Place) -> None:
    """However many there were: what was seen before is added up."""
    from tests.contracts.test_tallies import Watched

    definition = lagging(lag=10)
    storage = Watched(place.open())
    desk = opened(definition, storage)
    read = []
    while given := desk.ask(1):
        storage.harvested.clear()
        for pull in given:
            tell(desk, pull)
        desk.ask(10)
        read.append(len(storage.harvested))
        for pull in desk.held():
            tell(desk, pull)
    assert max(read) <= max(11, desk.rounds()[0].size)
