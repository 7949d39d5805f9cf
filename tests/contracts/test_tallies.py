"""Tallies: a study that is opened by one is, to the last bit, the study that its pulls make.

And what is looked at again and again is read once.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from ringfence.core.errors import MissingStudyError, NoAnswerError
from ringfence.storage.memory import MemoryStorage
from ringfence.study.audit import audit
from ringfence.study.desk import Desk, Report
from ringfence.study.facts import Definition, Harvest, Head, Kept, PullFact, Tally
from ringfence.study.looking import TALLY_EVERY
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger, Storage
from ringfence.study.reading import View
from ringfence.study.verdict import in_the_running, verdict_of
from tests.contracts.places import Place

MEANS = np.array([[1.0, 0.6], [0.6, 0.9], [0.2, 1.3], [1.4, 0.2], [0.5, 1.1]])
LIMITS = ("mean(risk) <= 1.0", "p80(risk) <= 1.4", "std(risk) <= 2")
OBJECTIVES = ("minimize mean(loss)", "minimize p50(loss)")


def definition_of(**changes: Any) -> Definition:
    plain: dict[str, Any] = {
        "name": "s",
        "objective": OBJECTIVES[0],
        "constraints": LIMITS[:1],
        "arms": {f"arm {arm}": {} for arm in range(len(MEANS))},
        "budget": 90,
        "policy": "top-two",
        "seed": 3,
        "batch": 4,
        "metrics": ("loss", "risk"),
    }
    return Definition(**{**plain, **changes})


class Watched:
    """A storage that tells which pulls are read, and may know of no tallies."""

    def __init__(self, storage: Storage, *, tallies: bool = True) -> None:
        self.storage, self.tallies = storage, tallies
        self.harvested: list[int] = []

    @property
    def url(self) -> str:
        return self.storage.url

    def create(self, definition: Definition, head: Head, items: Sequence[Any] = ()) -> None:
        self.storage.create(definition, head, items)

    def names(self) -> Sequence[str]:
        return self.storage.names()

    def delete(self, name: str) -> None:
        self.storage.delete(name)

    def keep(self, name: str, kept: Kept) -> None:
        self.storage.keep(name, kept)

    @contextmanager
    def writing(self, name: str) -> Iterator[Ledger]:
        with self.storage.writing(name) as ledger:
            yield self.watched(ledger)

    @contextmanager
    def reading(self, name: str) -> Iterator[Ledger]:
        with self.storage.reading(name) as ledger:
            yield self.watched(ledger)

    def watched(self, ledger: Ledger) -> Ledger:
        outer = self

        class Page:
            def __getattr__(self, key: str) -> Any:
                return getattr(ledger, key)

            def harvest(self, first: int, last: int) -> Harvest:
                outer.harvested += range(first, last + 1)
                return ledger.harvest(first, last)

            def tally(self) -> Tally | None:
                return ledger.tally() if outer.tallies else None

        page: Any = Page()
        return page  # type: ignore[no-any-return]


class Clock:
    """The time, as a walk says it is."""

    now = 0.0


def desk_of(storage: Storage, definition: Definition) -> Desk:
    return Desk(Plan.of(definition), storage, lambda: Clock.now)


def made(storage: Storage, definition: Definition) -> Desk:
    storage.create(definition, Head(budget=definition.budget))
    return desk_of(storage, definition)


def yields(pull: PullFact) -> tuple[float, ...]:
    rng = np.random.default_rng([7, pull.arm, pull.ordinal])
    return tuple((MEANS[pull.arm] + rng.normal(0.0, 0.5, 2)).tolist())


def settle(desk: Desk, pull: PullFact) -> None:
    """Tell a pull, or fail it: some charged, some not.

    Arm 3 breaks at once, and one of its pulls is told beyond that; arm 4 breaks later.
    """
    if (pull.arm == 3 and pull.ordinal in (4, 5, 6)) or (pull.arm == 4 and pull.ordinal >= 14):
        desk.fail(pull.number, pull.lease, "broken", charge=True, retry=False)
    elif (pull.arm + pull.ordinal) % 6 == 5:
        desk.fail(pull.number, pull.lease, "no", charge=pull.ordinal % 2 == 0, retry=False)
    else:
        desk.tell([Report(pull.number, pull.lease, yields(pull))])


def bits(view: View) -> tuple[object, ...]:
    """Return all that a view says, with numbers as bytes."""
    book = view.book
    arrays = [book.counts, book.estimates, book.scatters, *view.samples]
    facts = (view.head, view.last, view.departures, view.used, view.brought, view.told, view.failed)
    return (*facts, *(array.tobytes() for array in arrays))


def verdict_or_none(desk: Desk, view: View) -> object:
    return verdict_of(desk.plan, view) if in_the_running(view).any() else None


def walk(fresh: Callable[[], Desk], after: Callable[[Desk], None], *, brings: bool = True) -> None:
    """Run a troubled study, every step at a desk that was just opened, a quarter of an hour on."""
    step, Clock.now = 0, 0.0
    while True:
        step += 1
        Clock.now += 900.0
        if step == 4 and brings:
            fresh().bring([(0, (0.3, 0.4)), (2, (0.1, 1.5))], "last year")
        if step == 9 and brings:
            fresh().bring([(1, (0.25, 0.75))], "later")
        if step == 6:
            fresh().raise_budget(105)
        given = fresh().ask(20)
        if not given:
            return
        for place, pull in enumerate(reversed(given)):
            settle(fresh(), pull)
            if place % 3 == 0 or place == len(given) - 1:
                after(fresh())


ITEMS, HOURS = {"items": 40, "scope": "such", "repeats": 2}, {"every": 3600}
COURSES = [
    ("top-two", 4, OBJECTIVES[0], LIMITS[0], None),
    ("top-two", 1, OBJECTIVES[0], LIMITS[2], None),
    ("top-two", 9, OBJECTIVES[0], LIMITS[1], None),
    ("constrained-sr", 1, OBJECTIVES[0], LIMITS[0], None),
    ("sequential-halving", 1, OBJECTIVES[0], LIMITS[1], None),
    ("top-two", 1, OBJECTIVES[0], LIMITS[0], 12),
    ("top-two", 4, OBJECTIVES[1], LIMITS[1], None),
    ("ocba-co", 2, OBJECTIVES[0], LIMITS[2], 7),
]
SHARED = [
    ("top-two", 4, OBJECTIVES[0], LIMITS[0], None, ITEMS),
    ("top-two", 6, OBJECTIVES[0], LIMITS[0], None, HOURS),
    ("constrained-sr", 1, OBJECTIVES[0], LIMITS[0], None, ITEMS),
]


@pytest.mark.parametrize(
    ("policy", "batch", "objective", "limit", "lag", "blocks"),
    [
        *((*one, {}) for one in (COURSES if os.environ.get("RINGFENCE_LONG") else COURSES[2:6])),
        *(SHARED if os.environ.get("RINGFENCE_LONG") else SHARED[:2]),
    ],
)
def test_a_study_read_by_its_tally_is_the_one_read_by_its_pulls(
    place: Place,
    policy: str,
    batch: int,
    objective: str,
    limit: str,
    lag: int | None,
    blocks: dict[str, Any],
) -> None:
    """At every step, with failures, a broken arm, observations brought along, a raised budget."""
    definition = definition_of(
        policy=policy, batch=batch, objective=objective, constraints=(limit,), lag=lag,
        blocks=blocks,
    )  # fmt: skip
    storage, plain = Watched(place.open()), Watched(MemoryStorage(), tallies=False)
    made(storage, definition)
    made(plain, definition)
    unread = 0

    def compare(desk: Desk) -> None:
        nonlocal unread
        rows = desk_of(Watched(storage.storage, tallies=False), definition)
        storage.harvested.clear()
        found, wanted = desk.look(), rows.look()
        unread += len(set(range(1, found.head.issued + 1)) - {*storage.harvested})
        assert bits(found) == bits(wanted)
        if found.head.round_is_over:
            assert verdict_or_none(desk, found) == verdict_or_none(rows, wanted)
        stands = desk.look(samples=False)
        assert (stands.told, stands.used, stands.samples) == (found.told, found.used, ())

    walk(lambda: desk_of(storage, definition), compare, brings=not blocks)
    walk(lambda: desk_of(plain, definition), lambda desk: None, brings=not blocks)
    found, wanted = desk_of(storage, definition), desk_of(plain, definition)
    assert found.rounds() == wanted.rounds()
    assert bits(found.look()) == bits(wanted.look())
    departures = found.look().departures
    assert any(one.rejection.is_withdrawal for one in departures)
    with storage.reading("s") as ledger:
        assert ledger.head.finished
        assert audit(found.plan, ledger).problems == ()
        assert (ledger.tally() is None) == (objective == OBJECTIVES[1])
    is_summed = not definition.objective.startswith("minimize p") and limit != LIMITS[1]
    assert (unread > 0) == is_summed, "the tally must have been used, where it can be"


def work(desk: Desk, pulls: int) -> int:
    """Tell up to so many pulls; return how many."""
    given = desk.ask(pulls)
    for pull in given:
        desk.tell([Report(pull.number, pull.lease, yields(pull))])
    return len(given)


def test_little_is_left_to_be_read_after_a_tally(place: Place) -> None:
    definition = definition_of(batch=1)
    storage = Watched(place.open())
    desk = made(storage, definition)
    while work(desk, 9):
        storage.harvested.clear()
        view = desk_of(storage, definition).look()
        assert view.told == view.head.issued
        if view.head.round > 0:
            assert len(storage.harvested) <= TALLY_EVERY + 1
    with storage.reading("s") as ledger:
        tally, head = ledger.tally(), ledger.head
    assert tally is not None
    assert head.finished
    assert tally.through == head.round - 1, "with the last decision there is always one"


@pytest.mark.parametrize("limit", LIMITS[:2])
def test_what_is_looked_at_again_is_read_once(place: Place, limit: str) -> None:
    """A watcher that never asks reads every pull once, but for those that are open."""
    definition = definition_of(batch=6, constraints=(limit,))
    storage = Watched(place.open())
    worker, watcher = made(place.open(), definition), desk_of(storage, definition)
    for _ in range(20):
        given = worker.ask(4)
        watcher.look()
        for pull in given:
            worker.tell([Report(pull.number, pull.lease, yields(pull))])
        watcher.look()
        storage.harvested.clear()
        assert bits(watcher.look()) == bits(desk_of(place.open(), definition).look())
        assert storage.harvested == []


@pytest.mark.parametrize("content", [b"", b"\n", b"{}\n", b'{"format": 1}\n', b"[1]\n", b"\xff"])
def test_a_tally_that_cannot_be_read_is_no_tally(place: Place, content: bytes) -> None:
    definition = definition_of()
    storage = place.open()
    desk = made(storage, definition)
    for _ in range(12):
        work(desk, 10)
    wanted = bits(desk.look())
    with storage.writing("s") as ledger:
        tally = ledger.tally()
        assert tally is not None
        line, _, body = tally.content.partition(b"\n")
        ledger.set_tally(replace(tally, content=content or line + b"\n" + body[:-1]))
    assert bits(desk_of(storage, definition).look()) == wanted
    work(desk_of(storage, definition), 10)
    desk.look()


@dataclass(frozen=True)
class Damage:
    """Another tally than the one that was written, and what the audit says."""

    change: Callable[[Tally], Tally]
    message: str


DAMAGES = {
    "of the round before": Damage(
        lambda tally: replace(tally, through=tally.through - 1), "add up to another tally"
    ),
    "of a round that is not over": Damage(
        lambda tally: replace(tally, through=tally.through + 5), "which is not over"
    ),
    "of before the first round": Damage(
        lambda tally: replace(tally, through=-1), "which is not over"
    ),
    "a bit of a sum": Damage(
        lambda tally: replace(tally, content=tally.content[:-1] + bytes([tally.content[-1] ^ 1])),
        "add up to another tally",
    ),
    "a pull more": Damage(
        lambda tally: replace(tally, content=tally.content.replace(b'"told":', b'"told":1', 1)),
        "add up to another tally",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_tally_that_is_not_its_pulls_is_named(damage: str) -> None:
    storage = MemoryStorage()
    desk = made(storage, definition_of())
    for _ in range(12):
        work(desk, 10)
    with storage.writing("s") as ledger:
        assert audit(desk.plan, ledger).problems == ()
        tally = ledger.tally()
        assert tally is not None
        ledger.set_tally(DAMAGES[damage].change(tally))
        problems = audit(desk.plan, ledger).problems
    assert len(problems) == 1
    assert DAMAGES[damage].message in problems[0]


def test_a_decision_that_was_not_written_leaves_nothing_behind() -> None:
    """What was read within a transaction that ended badly must not be taken for read.

    Phases of this policy may have no pulls: then one transaction decides several rounds.
    """
    storage = MemoryStorage()
    definition = definition_of(policy="constrained-sr", budget=14)
    desk = made(storage, definition)
    assert work(desk, 20) == 10
    before = bits(desk.look())

    def breaks(*_: object) -> None:
        raise RuntimeError("the disk is full")

    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(storage._studies["s"], "set_head", breaks)
        with pytest.raises(RuntimeError, match="full"):
            desk.ask()
    assert bits(desk.look()) == before
    desk.bring([(0, (0.3, 0.4))], "in between")
    assert desk.ask()[0].round == 3
    with storage.reading("s") as ledger:
        assert audit(desk.plan, ledger).problems == ()
    assert bits(desk.look()) == bits(desk_of(storage, definition).look())


def test_any_number_of_threads_may_look_while_another_works(sql_place: Place) -> None:
    definition = definition_of(budget=100, batch=3)
    desk = made(sql_place.open(), definition)
    watcher = desk_of(sql_place.open(), definition)
    over, wrong, looks = threading.Event(), list[object](), list[int]()

    def watch(at: Desk) -> None:
        try:
            while not over.is_set():
                view = at.look()
                assert view.told + view.head.unresolved == view.head.issued
                assert int(view.book.counts.sum()) == view.told
                assert view.last is None or view.last.number == view.head.round
                looks.append(view.told)
        except BaseException as error:  # noqa: BLE001 - shown below
            wrong.append(error)

    threads = [threading.Thread(target=watch, args=(at,)) for at in (desk, watcher, watcher)]
    for thread in threads:
        thread.start()
    try:
        while given := desk.ask(2):
            for pull in given:
                desk.tell([Report(pull.number, pull.lease, yields(pull))])
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert wrong == []
    assert len(set(looks)) > 5
    assert bits(watcher.look()) == bits(desk_of(sql_place.open(), definition).look())


def test_the_pulse_changes_with_all_that_a_view_shows(place: Place) -> None:
    definition = definition_of(policy="uniform", budget=15, retries=1)
    desk = made(place.open(), definition)
    other = desk_of(place.open(), definition)
    seen = [other.pulse()]

    def changed() -> bool:
        seen.append(other.pulse())
        assert other.pulse() == seen[-1], "it stays as long as nothing happens"
        return seen[-1] not in seen[:-1]

    first, second, *rest = desk.ask(5)
    assert changed(), "issued"
    desk.tell([Report(first.number, first.lease, (0.1, 0.2))])
    assert changed(), "told"
    desk.tell([Report(first.number, first.lease, (0.1, 0.2))])
    assert not changed(), "told again"
    desk.fail(second.number, second.lease, "no", charge=True, retry=False)
    assert changed(), "failed"
    desk.bring([(0, (0.3, 0.4))], "last year")
    assert changed(), "brought along"
    desk.raise_budget(20)
    assert changed(), "a larger budget"
    desk.extend(rest[0].number, rest[0].lease)
    desk.look()
    assert not changed(), "a lease that is kept"
    while given := [*rest, *desk.ask(30)]:
        for pull in given:
            desk.tell([Report(pull.number, pull.lease, yields(pull))])
            assert changed()
        rest = []
    assert changed(), "finished"
    assert len(seen[-1]) < 80


def test_a_study_made_anew_is_not_taken_for_the_old_one(place: Place) -> None:
    storage = place.open()
    desk = made(storage, definition_of())
    work(desk, 40)
    desk.look()
    before = desk.pulse()
    storage.delete("s")
    with pytest.raises(MissingStudyError, match="is not in"):
        desk.look()
    again = made(storage, definition_of())
    assert again.pulse() != before
    with pytest.raises(MissingStudyError, match="made anew"):
        desk.look()
    with pytest.raises(MissingStudyError, match="made anew"):
        desk.ask()
    with storage.reading("s") as ledger:
        assert ledger.tally() is None
    assert again.look().told == 0


@pytest.mark.parametrize("most", [2, 3, 4, 6, 7, 18, 24, 25, 1000])
def test_some_rounds_stand_for_all(place: Place, most: int) -> None:
    desk = made(place.open(), definition_of(batch=2))
    while work(desk, 45):
        pass
    everything = desk.rounds()
    assert len(everything) > 18
    found = desk.rounds(most=most)
    assert len(found) <= most
    assert [found[0], found[-1]] == [everything[0], everything[-1]]
    assert all(one == everything[one.number] for one in found)
    numbers = [one.number for one in found]
    assert numbers == sorted(set(numbers))
    steps = set(np.diff(numbers[:-1]).tolist())
    assert len(steps) <= 1, "evenly, but for the last"
    assert len(found) > min(most, len(everything)) / 2
    turns = desk.turns()
    wanted = [one for one in everything if one.left or one in (everything[0], everything[-1])]
    assert turns == wanted


def test_before_the_first_round_there_is_nothing_to_show(place: Place) -> None:
    desk = made(place.open(), definition_of())
    assert (desk.rounds(), desk.rounds(most=5), desk.turns()) == ([], [], [])
    view = desk.look()
    assert (view.last, view.departures, view.told) == (None, (), 0)
    with pytest.raises(NoAnswerError, match="has no arm with enough observations"):
        verdict_of(desk.plan, view)
