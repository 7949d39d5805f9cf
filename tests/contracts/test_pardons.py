"""Amnesties and revivals: what an outage did to a study ends with them, in every storage.

Decisions made before a pardon stay as they were; those after it know nothing of what is void.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from ringfence.core.errors import IgnoredWarning, InputError
from ringfence.interfaces.studies import Study
from ringfence.storage.memory import MemoryStorage
from ringfence.study.audit import audit
from ringfence.study.desk import Desk, Report
from ringfence.study.facts import Cause, Definition, Head, Pardon, PullFact, Rejection, State
from ringfence.study.plan import Plan
from ringfence.study.ports import Storage
from ringfence.study.verdict import verdict_of
from tests.contracts.places import Place
from tests.contracts.test_tallies import bits

MEANS = np.array([[1.0, 0.6], [0.6, 0.9], [0.2, 1.3], [0.9, 0.3]])
COURSES = [("top-two", 4), ("top-two", 1), ("constrained-sr", 1), ("uniform", 1)]
STAND_IN = {"loss": 9.0, "risk": 9.0}


def definition_of(policy: str = "top-two", batch: int = 4, **changes: Any) -> Definition:
    plain: dict[str, Any] = {
        "name": "s",
        "objective": "minimize mean(loss)",
        "constraints": ("mean(risk) <= 1.0",),
        "arms": {f"arm {arm}": {} for arm in range(len(MEANS))},
        "budget": 96,
        "policy": policy,
        "seed": 3,
        "batch": batch,
        "metrics": ("loss", "risk"),
    }
    return Definition(**{**plain, **changes})


def desk_of(storage: Storage, definition: Definition) -> Desk:
    return Desk(Plan.of(definition), storage, lambda: 0.0)


def made(storage: Storage, definition: Definition) -> Desk:
    storage.create(definition, Head(budget=definition.budget))
    return desk_of(storage, definition)


def tell(desk: Desk, pull: PullFact) -> None:
    rng = np.random.default_rng([7, pull.arm, pull.ordinal])
    values = tuple((MEANS[pull.arm] + rng.normal(0.0, 0.4, 2)).tolist())
    desk.tell([Report(pull.number, pull.lease, values)])


def fail(desk: Desk, pull: PullFact) -> None:
    desk.fail(pull.number, pull.lease, "429", charge=True, retry=False)


def asked(desk: Desk, many: int = 1) -> Iterator[PullFact]:
    """Yield pulls until none is given."""
    while given := desk.ask(many):
        yield from given


def work(desk: Desk, pulls: int) -> None:
    for _, pull in zip(range(pulls), asked(desk), strict=False):
        tell(desk, pull)


def outage(desk: Desk, pulls: int = 10_000) -> list[int]:
    """Let up to so many pulls fail, whatever the arm; return their numbers."""
    failed = list[int]()
    while len(failed) < pulls and (given := desk.ask(1)):
        fail(desk, given[0])
        failed.append(given[0].number)
    return failed


def problems(desk: Desk) -> tuple[str, ...]:
    with desk.storage.reading("s") as ledger:
        return audit(desk.plan, ledger).problems


def charged(desk: Desk) -> int:
    """Return the pulls that count against the budget."""
    with desk.storage.reading("s") as ledger:
        void = {number for one in ledger.pardons() for number in one.void}
        pulls = ledger.pulls_between(1, ledger.head.issued)
    return sum(
        one.charged and one.state != State.CANCELLED and one.number not in void for one in pulls
    )


@pytest.mark.parametrize(("policy", "batch"), COURSES)
def test_an_outage_that_ended_a_study_is_forgiven_and_the_study_goes_on(
    place: Place, policy: str, batch: int
) -> None:
    definition = definition_of(policy, batch)
    desk, watcher = made(place.open(), definition), desk_of(place.open(), definition)
    work(desk, 40)
    watcher.look()
    failed = outage(desk)
    assert len(failed) <= 3 * len(MEANS)
    assert (desk.is_finished, any(desk.look().last.alive)) == (True, False)  # type: ignore[union-attr]
    then = watcher.look()
    assert verdict_of(watcher.plan, then).arm, "a verdict from what was told is always there"
    assert desk.forgive(failed) == len(failed)
    assert desk.forgive(failed) == 0
    assert not desk.is_finished
    assert problems(desk) == ()
    view = watcher.look()
    assert bits(view) == bits(desk_of(place.open(), definition).look())
    assert (view.failed, view.failures.tolist()) == (0, [0] * len(MEANS))
    assert view.used == view.told == charged(desk)
    for pull in asked(watcher, 3):
        tell(desk, pull)
        assert problems(desk) == ()
    assert desk.is_finished
    found = desk_of(place.open(), definition).look()
    assert (found.told, found.failed) == (found.used, 0)
    assert charged(desk) == found.used
    assert definition.budget - batch - len(MEANS) <= found.used <= definition.budget
    assert not any(one.rejection.is_withdrawal for one in found.departures)
    assert bits(found) == bits(watcher.look()) == bits(desk.look())


@pytest.mark.parametrize(("policy", "batch"), [("top-two", 4), ("constrained-sr", 1)])
@pytest.mark.parametrize("stands_in", [False, True])
def test_an_outage_within_a_round_leaves_no_trace(
    place: Place, policy: str, batch: int, *, stands_in: bool
) -> None:
    """Its pulls are issued again, those too that arms were not given because they broke."""
    told = STAND_IN if stands_in else {}
    definition = definition_of(policy, batch, max_failures=2, on_failure=told)
    desk = made(place.open(), definition)
    quiet = made(MemoryStorage(), definition)
    work(desk, 12)
    work(quiet, 12)
    at = desk.head.round
    failed = outage(desk, 5)
    held = desk.ask(6)  # some of a broken arm may be passed over
    with desk.storage.reading("s") as ledger:
        off = [one for one in ledger.pulls_between(1, 96) if one.state == State.CANCELLED]
    assert desk.head.round == at
    assert bool(off) == bool(desk.head.broken) == (not stands_in)
    assert desk.forgive(failed) == len(failed)
    for pull in held:
        tell(desk, pull)
    assert desk.head.broken == ()
    for one in (desk, quiet):
        for pull in asked(one, 2):
            tell(one, pull)
    assert desk.rounds() == quiet.rounds()
    mine, other = desk.look(), quiet.look()
    assert verdict_of(desk.plan, mine) == verdict_of(quiet.plan, other)
    assert problems(desk) == ()


def test_what_was_told_in_place_of_failures_is_void_from_the_next_decision_on(
    place: Place,
) -> None:
    definition = definition_of(batch=2, on_failure=STAND_IN)
    desk = made(place.open(), definition)
    work(desk, 46)
    clean = desk.look()
    failed = outage(desk, 9)
    with desk.storage.reading("s") as ledger:
        void = [one for one in ledger.pulls(failed) if one.round < ledger.head.round]
    assert len(void) >= 6
    harmed = desk.look()
    assert harmed.failures.sum() == len(failed)
    assert harmed.book.failures.tolist() == [0] * len(MEANS), "they were told as observations"
    seen = [one.seen.get("counts") for one in desk.rounds()]
    desk.forgive(failed)
    assert [one.seen.get("counts") for one in desk.rounds()] == seen, "history stays"
    given = desk.ask(1)[0]
    tell(desk, given)
    forgiven = desk.look()
    assert forgiven.failures.sum() == 0
    assert int(forgiven.book.counts.sum()) == int(clean.book.counts.sum()) + 1
    assert max(forgiven.book.estimates[:, 0]) < 3.0
    again = desk_of(place.open(), definition)
    for pull in asked(again):
        tell(again, pull)
    rounds = again.rounds()
    told = np.array(rounds[-1].seen["counts"])
    assert told.sum() == again.look().told == definition.budget
    assert max(np.array(rounds[-1].seen["estimates"])[:, 0]) < 3.0
    assert problems(again) == ()


def test_only_what_failed_is_forgiven(place: Place) -> None:
    desk = made(place.open(), definition_of())
    told, failed, held, lost, *_ = desk.ask(6)
    tell(desk, told)
    fail(desk, failed)
    desk.lose(lost.number, lost.lease, "gone")
    before = desk.pulse()
    assert desk.forgive([]) == 0
    assert desk.forgive([told.number, held.number]) == 0
    assert desk.pulse() == before
    with pytest.raises(InputError, match=r"pull 99 of study 's' was never issued"):
        desk.forgive([failed.number, 99])
    assert desk.pulse() == before
    assert desk.forgive([told.number, failed.number, held.number, lost.number]) == 2
    assert desk.pulse() != before
    again = desk.ask(1)[0]
    assert (again.number, again.lease) == (failed.number, failed.lease + 1)
    tell(desk, held)
    with pytest.raises(InputError, match="was issued again"):
        tell(desk, failed)


@pytest.mark.parametrize(("policy", "batch"), COURSES)
def test_an_arm_comes_back_with_the_next_decision(place: Place, policy: str, batch: int) -> None:
    definition = definition_of(policy, batch, max_failures=2)
    desk = made(place.open(), definition)
    for pull in asked(desk):
        if pull.arm == 1 and pull.ordinal in (3, 4):
            fail(desk, pull)
        else:
            tell(desk, pull)
        if desk.look(samples=False).departures:
            break
    assert desk.look().last is not None
    gone = [one.rejection.arm for one in desk.look().departures if one.rejection.is_withdrawal]
    if not gone:  # its one round is not over
        assert desk.head.broken == (1,)
    assert desk.revive(1) == "revived"
    assert desk.head.broken == ()
    assert problems(desk) == ()
    other = desk_of(place.open(), definition)
    more = [pull.arm for pull in asked(other) if not tell(other, pull)]  # type: ignore[func-returns-value]
    assert 1 in more
    view = other.look()
    assert not any(one.rejection.is_withdrawal for one in view.departures)
    assert view.failures.tolist() == [0, 2, 0, 0], "its failures are still told of"
    assert charged(other) <= definition.budget
    assert other.revive(1) == "already-in-the-running" or policy == "constrained-sr"
    assert problems(other) == ()


@pytest.mark.parametrize("how", ["forgiven", "revived"])
def test_an_arm_that_comes_back_may_be_the_answer_before_the_next_decision(
    place: Place, how: str
) -> None:
    """Left out it was not judged, and the second best was surely the best, with exit code 0."""
    desk = made(place.open(), definition_of(max_failures=2, batch=1))
    work(desk, 30)
    best = verdict_of(desk.plan, desk.look()).arm
    arm = desk.plan.definition.arm_names.index(best)
    failed = []
    while not any(one.rejection.arm == arm for one in desk.look().departures):
        (given,) = desk.ask(1)
        if given.arm != arm:
            tell(desk, given)
            continue
        failed.append(given.number)
        fail(desk, given)
    assert verdict_of(desk.plan, desk.look()).arm != best
    desk.forgive(failed) if how == "forgiven" else desk.revive(arm)
    view = desk_of(place.open(), desk.plan.definition).look()
    assert view.alive[arm]
    assert arm not in [one.rejection.arm for one in view.departures]
    verdict = verdict_of(desk.plan, view)
    assert verdict.arm == best
    assert {one.status for one in verdict.arms if one.name == best} == {"in the running"}
    assert verdict.arms[arm].chance_best is not None


def test_a_revival_may_be_asked_for_again_and_a_second_fall_is_possible(place: Place) -> None:
    desk = made(place.open(), definition_of(max_failures=2, batch=2))
    work(desk, 30)
    outage(desk)
    assert desk.is_finished
    assert desk.revive(2) == "revived"
    assert desk.revive(2) == "already-in-the-running"
    assert desk.head.pardons == 1
    given = desk.ask(1)[0]
    assert given.arm == 2
    fail(desk, given)
    for pull in asked(desk):
        assert pull.arm == 2
        fail(desk, pull)
    assert desk.is_finished
    assert [one.rejection.arm for one in desk.look().departures].count(2) == 1
    assert problems(desk) == ()


def test_an_arm_that_was_never_seen_gets_first_pulls(place: Place) -> None:
    """It broke with its first pulls: nothing could be decided of it before it has others."""
    for policy, batch in COURSES:
        storage = place.open()
        if "s" in storage.names():
            storage.delete("s")
        desk = made(storage, definition_of(policy, batch, max_failures=2))
        for pull in asked(desk):
            fail(desk, pull) if pull.arm == 0 else tell(desk, pull)
            if desk.look(samples=False).departures or pull.number == 40:
                break
        assert int(desk.look().book.counts[0]) == 0
        desk.revive(0)
        for pull in asked(desk, 3):
            tell(desk, pull)
        view = desk.look()
        assert view.book.is_seen[0]
        assert not any(one.rejection.is_withdrawal for one in view.departures)
        assert problems(desk) == ()


def test_an_arm_that_lost_does_not_come_back(place: Place) -> None:
    desk = made(place.open(), definition_of("constrained-sr", 1))
    work(desk, 96)
    gone = desk.look().departures[0].rejection.arm
    before = desk.pulse()
    with pytest.raises(InputError, match=r"rejected by constrained-sr.*Begin a study of another"):
        desk.revive(gone)
    assert desk.pulse() == before


@pytest.mark.parametrize(("policy", "remedy"), [("top-two", "Raise"), ("uniform", "begin a study")])
def test_an_arm_for_which_nothing_is_left_is_refused_with_a_remedy(
    place: Place, policy: str, remedy: str
) -> None:
    desk = made(place.open(), definition_of(policy, 4, max_failures=96))
    for pull in asked(desk):
        fail(desk, pull) if pull.arm == 0 else tell(desk, pull)
    assert desk.is_finished
    before = desk.pulse()
    with pytest.raises(InputError, match=f"'arm 0' needs 2 more .* 0 are left.*{remedy}"):
        desk.revive(0)
    assert (desk.pulse(), desk.is_finished) == (before, True)
    if policy == "top-two":
        desk.raise_budget(120)
        assert desk.revive(0) == "revived"
        work(desk, 120)
        assert desk.look().book.is_seen[0]


def test_arms_come_back_with_their_baseline(place: Place) -> None:
    definition = definition_of(
        constraints=("mean(risk) <= 1.5 * baseline",), baseline="arm 0", max_failures=2
    )
    desk = made(place.open(), definition)
    work(desk, 20)
    for pull in asked(desk):
        fail(desk, pull) if pull.arm == 0 else tell(desk, pull)
    assert desk.is_finished
    with pytest.raises(InputError, match="Revive baseline 'arm 0': the others come back with it"):
        desk.revive(1)
    desk.revive(0)
    work(desk, 200)
    view = desk.look()
    assert (view.departures, charged(desk)) == ((), definition.budget)
    assert problems(desk) == ()


# --------------------------------------------------------------------------------------
# The audit
# --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Damage:
    """Another pardon than the one that was granted, and what the audit says."""

    change: Callable[[Pardon], list[Pardon]]
    message: str


DAMAGES = {
    "a void pull less": Damage(
        lambda one: [replace(one, void=one.void[1:])], "decided again, it has another seen"
    ),
    "a void pull that was told": Damage(
        lambda one: [replace(one, void=(1, *one.void))], "pardon 0 makes pull 1 void"
    ),
    "a void pull that is not there": Damage(
        lambda one: [replace(one, void=(*one.void, 9999))], "pardon 0 makes pull 9999 void"
    ),
    "a pull void twice": Damage(
        lambda one: [replace(one, void=(*one.void, one.void[0]))], "which cannot be"
    ),
    "granted earlier": Damage(
        lambda one: [replace(one, after=one.after - 1)], "pardon 0 makes pull|decided again"
    ),
    "granted later": Damage(lambda one: [replace(one, after=one.after + 1)], "decided again"),
    "granted in the future": Damage(
        lambda one: [replace(one, after=9999)], "after round 9999, and cannot be"
    ),
    "an arm less": Damage(
        lambda one: [replace(one, arms=one.arms[1:])], "it has another (alive|allocation)"
    ),
    "an arm that is not there": Damage(
        lambda one: [replace(one, arms=((99, 0), *one.arms))], "names arms that are not there"
    ),
    "taken back": Damage(lambda one: [], "0 pardons were granted, but 1 are said to be"),
    "granted twice": Damage(lambda one: [one, one], "2 pardons were granted, but 1"),
}


def after_an_amnesty() -> Desk:
    desk = made(MemoryStorage(), definition_of(batch=2))
    work(desk, 40)
    desk.forgive(outage(desk))
    work(desk, 20)
    return desk


@pytest.mark.parametrize("damage", DAMAGES)
def test_an_amnesty_that_is_not_the_one_granted_is_named(damage: str) -> None:
    desk = after_an_amnesty()
    assert problems(desk) == ()
    pages: Any = desk.storage
    kept = pages._studies["s"]._pardons
    kept[:] = DAMAGES[damage].change(kept[0])
    found = problems(desk)
    assert any(re.search(DAMAGES[damage].message, one) for one in found), found


def test_a_stand_in_that_is_not_the_stated_one_is_named() -> None:
    desk = made(MemoryStorage(), definition_of(on_failure=STAND_IN))
    first, _ = desk.ask(2)
    fail(desk, first)
    assert problems(desk) == ()
    with desk.storage.writing("s") as ledger:
        ledger.set_pulls([replace(ledger.pulls([first.number])[0], values=(0.0, 0.0))])
    assert problems(desk) == ("pull 1 failed, and what was told in place is another",)


# --------------------------------------------------------------------------------------
# Failures as data
# --------------------------------------------------------------------------------------


def study_of(place: Place, **changes: Any) -> Study:
    plain: dict[str, Any] = {
        "arms": ["one", "two"],
        "objective": "maximize mean(right)",
        "constraints": ["p95(seconds) <= 2", "mean(failed) <= 0.2"],
        "budget": 60,
        "policy": "uniform",
        "seed": 1,
        "storage": place.open(),
    }
    return Study.create("s", **{**plain, **changes})


def test_failures_are_counted_by_arm(place: Place) -> None:
    study = study_of(place)
    assert study.definition.metrics == ("right", "seconds", "failed")
    assert study.definition.counts_failures
    for pull in study.pulls():
        if pull.ordinal % 10 == 4:
            study.fail(pull, "500")
        elif pull.ordinal % 10 == 5:
            study.lost(pull)
        else:
            study.tell(pull, {"right": 1.0, "seconds": 0.5})
    view = study.view()
    assert (view.failed, view.lost) == (6, 6)
    assert view.failures.tolist() == view.book.failures.tolist() == [3, 3]
    assert (study.status().failed, study.status().lost, study.status().told) == (6, 6, 48)
    audit_ = study.doctor()
    assert (audit_.problems, audit_.failed, audit_.lost, audit_.void) == ((), 6, 6, 0)
    assert set(study.observations()["failed"]) == {0.0}
    fresh = desk_of(place.open(), study.definition).look()
    assert bits(fresh) == bits(view)
    assert fresh.book.failures.tolist() == [3, 3]


def test_a_metric_of_ones_own_named_failed_wins(place: Place) -> None:
    study = study_of(place, metrics=["failed"])
    assert not study.definition.counts_failures
    with pytest.raises(InputError, match="metric 'failed' is missing"):
        study.tell(study.ask()[0], {"right": 1.0, "seconds": 0.5})


def test_lost_pulls_never_withdraw_an_arm(place: Place) -> None:
    study = study_of(place, constraints="mean(seconds) <= 2")
    for pull in study.ask(12):
        assert study.lost(pull, "preempted") == "lost"
        assert study.lost(pull, "preempted") == "already-lost"
    assert study.desk.head.broken == ()
    for pull in study.ask(6):
        study.fail(pull, "500")
    assert sorted(study.desk.head.broken) == [0, 1]


@pytest.mark.parametrize(("policy", "batch"), COURSES)
@pytest.mark.parametrize("arms", [(0,), (0, 1, 2, 3)])
def test_an_arm_whose_first_pulls_are_all_lost_gets_others(
    place: Place, policy: str, batch: int, arms: tuple[int, ...]
) -> None:
    """A machine that is taken away with all that was begun ends neither an arm nor a study."""
    desk = made(place.open(), definition_of(policy, batch))
    first = desk.ask(96)
    begun = [pull for pull in first if pull.arm in arms]
    for pull in first:
        desk.lose(pull.number, pull.lease, "preempted") if pull in begun else tell(desk, pull)
    again = desk.ask(96)
    assert sorted(pull.arm for pull in again) == sorted(pull.arm for pull in begun)
    assert min(pull.ordinal for pull in again) == 1 + max(pull.ordinal for pull in begun)
    for pull in again:
        tell(desk, pull)
    work(desk, 200)
    view = desk.look()
    usual = made(MemoryStorage(), definition_of(policy, batch))
    work(usual, 96)
    assert (desk.is_finished, view.lost, charged(desk)) == (True, len(begun), charged(usual))
    assert not [one for one in view.departures if one.rejection.is_withdrawal]
    assert problems(desk) == ()
    assert bits(desk_of(place.open(), desk.plan.definition).look()) == bits(view)


def test_what_failed_is_not_given_again_in_place_of_what_was_lost(place: Place) -> None:
    """Of an arm's first pulls all failed but for one, which was lost: it could not be judged."""
    desk = made(place.open(), definition_of("top-two", 4, max_failures=96))
    first = desk.ask(96)
    for pull in first:
        if pull.arm != 0:
            tell(desk, pull)
        elif pull.ordinal == 0:
            desk.lose(pull.number, pull.lease)
        else:
            fail(desk, pull)
    desk.ask()
    left = [one.rejection for one in desk.look().departures]
    assert left == [Rejection(0, Cause.UNSEEN, successes=0)]
    assert problems(desk) == ()


def test_a_success_in_a_round_of_its_own_ends_a_run_of_failures(place: Place) -> None:
    desk = made(place.open(), definition_of("top-two", 1, max_failures=2))
    for pull in asked(desk):
        fail(desk, pull) if pull.ordinal % 2 else tell(desk, pull)
    assert (desk.head.broken, desk.look().departures) == ((), ())
    assert problems(desk) == ()


def test_further_numbers_are_kept_and_exported(place: Place) -> None:
    study = study_of(place, constraints="mean(seconds) <= 2")
    first, second, third, fourth = study.ask(4)
    good = {"right": 1.0, "seconds": 0.5}
    study.tell(first, {**good, "kWh": 0.25, "tokens": 812})
    with pytest.warns(IgnoredWarning, match=r"'trace' is no finite number"):
        study.tell(second, {**good, "trace": "a", "kWh": 0.5})  # type: ignore[dict-item]
    with pytest.warns(IgnoredWarning, match=r"'arm' is a column of every export"):
        study.tell(third, {**good, "arm": 3.0})
    became, notes = study.tell_many_noting(
        [fourth], {**{k: [v] for k, v in good.items()}, "z": [2]}
    )
    assert (became, notes) == (["told"], ())
    found = study.observations()
    assert list(found) == ["pull", "arm", "seed", "right", "seconds", "kWh", "tokens", "z"]
    assert found["kWh"] == [0.25, 0.5, None, None]
    assert (found["tokens"], found["z"]) == ([812.0, None, None, None], [None, None, None, 2.0])
    assert study.doctor().is_sound
    again = Study.load("s", storage=place.open())
    assert again.observations() == found
    assert again.frame(backend="pandas")["kWh"].isna().tolist() == [False, False, True, True]
