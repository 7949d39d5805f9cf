"""One contract for every storage: what is written is there, whole and exact, or not at all."""

import gc
import math
import os
import sqlite3
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

import ringfence as rf
from ringfence.core.errors import InputError, StorageError
from ringfence.policies.policy import MOST_PULLS
from ringfence.storage import schema
from ringfence.storage.memory import MemoryStorage
from ringfence.storage.sql import SqlStorage
from ringfence.study.desk import Desk
from ringfence.study.facts import (
    Cause,
    Definition,
    Harvest,
    Head,
    Pardon,
    PastFact,
    PullFact,
    Rejection,
    Round,
    State,
    Tally,
)
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger, Storage
from tests.contracts.places import Place

FLOATS = [0.1, -0.0, 0.0, 1e-308, 5e-324, 1e308, -1.7976931348623157e308, 1 / 3, 2.0**53 + 2]
HOSTILE = [
    "'; DROP TABLE pulls; --",
    '"); DELETE FROM studies; --',
    "{seed}",
    "<script>alert(1)</script>",
    "%s %(name)s :name ?",
    "\xe4rm \U0001d6d1 漢字 \u202eevil",
    "a\\b\\n",
    "[1, 2]",
    "null",
    " ",
]


def definition_of(name: str = "s", **changes: Any) -> Definition:
    plain: dict[str, Any] = {
        "name": name,
        "objective": "minimize mean(loss)",
        "constraints": ("mean(risk) <= 1.0",),
        "arms": {"one": {}, "two": {"model": "x", "temperature": 0.1}},
        "budget": 40,
        "policy": "uniform",
        "seed": 7,
        "metrics": ("loss", "risk"),
    }
    return Definition(**{**plain, **changes})


def pull_of(number: int, **changes: Any) -> PullFact:
    """Return pull `number`; arms take turns."""
    plain = PullFact(
        number=number,
        arm=(number - 1) % 2,
        ordinal=(number - 1) // 2,
        round=0,
        state=State.ISSUED,
        lease=1,
        deadline=100.0,
    )
    return replace(plain, **changes)


def round_of(number: int, first: int) -> Round:
    return Round(
        number=number,
        first=first,
        allocation=(3, 2),
        before=(0, 1),
        alive=(True, False),
        left=(
            Rejection(1, Cause.REJECTED, 0, 0.1, policy="<b>rule</b>"),
            Rejection(0, Cause.FAILING, failures=3),
        ),
        seen={"budget": 40, "spent": 3, "estimates": [[0.1, -0.0], [1e-308, 1e308]]},
    )


def past_of(value: float) -> PastFact:
    return PastFact(1, (value, -value), "last year's; '--", -1)


@dataclass(frozen=True)
class Snapshot:
    """All that a ledger says of a study."""

    definition: Definition
    head: Head
    rounds: tuple[Round, ...]
    pulls: tuple[PullFact, ...]
    past: tuple[PastFact, ...]
    tally: Tally | None = None
    pardons: tuple[Pardon, ...] = ()


def look(storage: Storage, name: str = "s") -> Snapshot:
    with storage.reading(name) as ledger:
        return snapshot(ledger)


def snapshot(ledger: Ledger) -> Snapshot:
    return Snapshot(
        ledger.definition,
        ledger.head,
        tuple(ledger.rounds()),
        tuple(ledger.pulls_between(1, 10_000)),
        tuple(ledger.past()),
        ledger.tally(),
        tuple(ledger.pardons()),
    )


def fill(storage: Storage, name: str = "s") -> None:
    """Make a study with some facts of each kind."""
    storage.create(definition_of(name), Head(budget=40))
    with storage.writing(name) as ledger:
        ledger.add_round(round_of(0, 1))
        extras = {"kWh": 0.1, HOSTILE[0]: -1e308}
        told = pull_of(2, state=State.TOLD, values=(0.1, -0.0), extras=extras)
        ledger.add_pulls([pull_of(1), told, pull_of(3)])
        ledger.add_pardon(Pardon(0, ((0, 3), (1, 0)), (1, 2), 5))
        ledger.add_past([past_of(0.1)])
        ledger.set_tally(Tally(-1, b"\x00\xff\n'"))
        ledger.set_head(Head(budget=40, round=0, issued=3, round_end=5, unresolved=2))


# --------------------------------------------------------------------------------------
# Names
# --------------------------------------------------------------------------------------


def test_a_study_is_created_once(place: Place) -> None:
    storage = place.open()
    assert list(storage.names()) == []
    fill(storage, "s")
    storage.create(definition_of("b"), Head(budget=40))
    before = look(storage)
    with pytest.raises(InputError, match=r"'s' exists already.*another name"):
        storage.create(definition_of("s", seed=8), Head(budget=99))
    assert list(storage.names()) == ["b", "s"]
    assert look(storage) == before
    assert list(place.open().names()) == ["b", "s"]


def test_a_study_that_is_missing_is_named_beside_those_that_exist(place: Place) -> None:
    storage = place.open()
    with pytest.raises(InputError, match=r"'t' is not in .*none"), storage.reading("t"):
        pass
    storage.create(definition_of("s"), Head(budget=40))
    with pytest.raises(InputError, match=r"'t' is not in .*It has s"), storage.reading("t"):
        pass
    with pytest.raises(InputError, match=r"'t' is not in .*It has s"), storage.writing("t"):
        pass
    with pytest.raises(InputError, match=r"'t' is not in .*It has s"):
        storage.delete("t")
    assert list(storage.names()) == ["s"]


def test_a_study_that_is_deleted_leaves_nothing(place: Place) -> None:
    storage = place.open()
    fill(storage, "s")
    fill(storage, "other")
    other = look(storage, "other")
    storage.delete("s")
    assert list(storage.names()) == ["other"]
    with pytest.raises(InputError, match="'s' is not in"), storage.reading("s"):
        pass
    again = definition_of("s", seed=9)
    storage.create(again, Head(budget=50))
    assert look(storage) == Snapshot(again, Head(budget=50), (), (), ())
    assert look(storage, "other") == other


def test_a_study_made_anew_under_an_old_name_is_seen_as_it_is(place: Place) -> None:
    """Elsewhere it was deleted and made again with other metrics: no memory of it may be left."""
    here, elsewhere = place.open(), place.open()
    fill(here)
    assert look(elsewhere).definition == definition_of()
    here.delete("s")
    again = definition_of(objective="minimize mean(other)", metrics=("other", "risk", "third"))
    here.create(again, Head(budget=50))
    assert look(elsewhere).definition == again


def test_studies_do_not_see_each_other(place: Place) -> None:
    storage = place.open()
    fill(storage, "s")
    fill(storage, "t")
    before = look(storage, "t")
    with storage.writing("s") as ledger:
        ledger.set_pulls([pull_of(1, state=State.FAILED, error="x"), pull_of(3, lease=5)])
        ledger.add_pulls([pull_of(4)])
        ledger.add_past([past_of(2.0)])
        ledger.add_round(round_of(1, 6))
        ledger.set_tally(Tally(3, b"of another study"))
        ledger.add_pardon(Pardon(7, ((1, 2),)))
        ledger.set_head(Head(budget=41))
    assert look(storage, "t") == before
    with storage.writing("t") as ledger:
        assert [pull.number for pull in ledger.expired(1e9, 10)] == [1, 3]
        assert len(ledger.harvest(1, 100).arms) == 3
        assert len(ledger.pulls_of_arm(0, 0, 100)) == 2


# --------------------------------------------------------------------------------------
# Transactions
# --------------------------------------------------------------------------------------


def breaking(pulls: Sequence[PullFact]) -> Iterator[PullFact]:
    """Yield pulls, then break in the middle of a write."""
    yield from pulls
    raise RuntimeError("boom")


def _half_of_the_pulls(ledger: Ledger) -> None:
    ledger.add_pulls(breaking([pull_of(4), pull_of(5)]))


def _half_of_the_changes(ledger: Ledger) -> None:
    ledger.set_pulls(breaking([pull_of(1, lease=2)]))


def _fresh_then_changed(ledger: Ledger) -> None:
    number = len(ledger.pulls_between(1, 100)) + 1
    ledger.add_pulls([pull_of(number)])
    ledger.set_pulls([pull_of(number, lease=2)])


def _everything(ledger: Ledger) -> None:
    for write in list(WRITES.values())[:8]:
        write(ledger)


WRITES: dict[str, Callable[[Ledger], None]] = {
    "head": lambda ledger: ledger.set_head(Head(budget=41, round=1, finished=True, broken=(1,))),
    "round": lambda ledger: ledger.add_round(round_of(1, 6)),
    "fresh pulls": lambda ledger: ledger.add_pulls([pull_of(4), pull_of(5)]),
    "changed pull": lambda ledger: ledger.set_pulls(
        [
            pull_of(1, state=State.TOLD, values=(1.0, 2.0), holder="x"),
            pull_of(3, lease=2, deadline=1e9),
        ]
    ),
    "a fresh pull, then changed": _fresh_then_changed,
    "past": lambda ledger: ledger.add_past([past_of(2.0), past_of(3.0)]),
    "tally": lambda ledger: ledger.set_tally(Tally(2**40, bytes(range(256)))),
    "pardon": lambda ledger: ledger.add_pardon(Pardon(2**40, (), (), 2**40)),
    "half of fresh pulls": _half_of_the_pulls,
    "half of changed pulls": _half_of_the_changes,
    "everything": _everything,
}


@pytest.mark.parametrize(
    ("write", "error"),
    [*((write, RuntimeError) for write in WRITES), ("everything", KeyboardInterrupt)],
)
def test_a_transaction_that_ends_badly_changes_nothing(
    place: Place, write: str, error: type[BaseException]
) -> None:
    storage = place.open()
    fill(storage)
    before = look(storage)
    inside = None
    with pytest.raises((error, RuntimeError)), storage.writing("s") as ledger:  # noqa: PT012
        WRITES[write](ledger)
        inside = snapshot(ledger)
        raise error
    assert inside is None or inside != before, "the write must have been seen inside"
    assert look(storage) == before
    assert look(place.open()) == before
    with storage.writing("s") as ledger:  # and the next one finds nothing of it
        assert snapshot(ledger) == before
        assert [pull.number for pull in ledger.pulls_of_arm(1, 0, 10)] == [2]
        if not write.startswith("half"):
            WRITES[write](ledger)
    if not write.startswith("half"):
        assert look(place.open()) == inside


def test_a_deletion_by_another_is_noticed(place: Place) -> None:
    here, there = place.open(), place.open()
    fill(here)
    look(there)
    here.delete("s")
    with pytest.raises(InputError, match="'s' is not in"), there.writing("s"):
        pass


def test_writers_go_one_after_the_other(place: Place) -> None:
    """Each reads, thinks and writes: without exclusion, additions would be lost."""
    place.open().create(definition_of(), Head(budget=40))
    failures: list[BaseException] = []

    def work() -> None:
        storage = place.open()
        try:
            for _ in range(15):
                with storage.writing("s") as ledger:
                    head = ledger.head
                    time.sleep(0.001)
                    number = head.issued + 1
                    ledger.add_pulls([pull_of(number)])
                    ledger.set_head(replace(head, issued=number))
        except BaseException as error:  # noqa: BLE001 - shown below
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    seen = look(place.open())
    assert seen.head.issued == 60
    assert [pull.number for pull in seen.pulls] == list(range(1, 61))


def test_a_view_stays_what_it_was_while_another_writes(sql_place: Place) -> None:
    reader, writer = sql_place.open(), sql_place.open()
    fill(writer)
    with reader.reading("s") as view:
        before = snapshot(view)
        for write in list(WRITES.values())[:8]:
            with writer.writing("s") as ledger:
                write(ledger)
        assert snapshot(view) == before
        assert list(view.harvest(1, 100).is_told) == [False, True, False]
        assert [pull.number for pull in view.expired(1e12, 9)] == [1, 3]
        assert view.round(0) == before.rounds[0]
    after = look(reader)
    assert after != before
    assert len(after.pulls) == 6


def test_a_view_that_read_only_the_head_has_the_pulls_of_that_moment(sql_place: Place) -> None:
    """The head says how many pulls there are: the pulls must be of the same moment."""
    reader, writer = sql_place.open(), sql_place.open()
    fill(writer)
    with reader.reading("s") as view:
        issued = view.head.issued
        with writer.writing("s") as ledger:
            ledger.add_pulls([pull_of(4)])
            ledger.set_head(replace(ledger.head, issued=4))
        assert len(view.pulls_between(1, 100)) == issued


def test_a_process_that_dies_in_a_transaction_leaves_nothing(sql_place: Place) -> None:
    storage = sql_place.open()
    fill(storage)
    before = look(storage)
    program = (
        "import os, sys\n"
        "from ringfence.storage.sql import SqlStorage\n"
        "from ringfence.study.facts import Head\n"
        "with SqlStorage(sys.argv[1]).writing('s') as ledger:\n"
        "    ledger.set_head(Head(budget=77))\n"
        "    ledger.add_past(ledger.past())\n"
        "    os._exit(9)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(sql_place.url)], check=False)
    assert ended.returncode == 9
    assert look(storage) == before
    with storage.writing("s") as ledger:
        ledger.set_head(Head(budget=78))
    assert look(storage).head.budget == 78


# --------------------------------------------------------------------------------------
# Values
# --------------------------------------------------------------------------------------


def bits(numbers: Iterable[float]) -> list[bytes]:
    """Return what equality hides: the sign of zero."""
    return [struct.pack("d", number) for number in numbers]


def test_numbers_come_back_to_the_bit(place: Place) -> None:
    rng = np.random.default_rng(0)
    drawn = np.frombuffer(rng.bytes(8 * 400), dtype=np.float64)
    numbers = FLOATS + drawn[np.isfinite(drawn)].tolist()
    storage = place.open()
    storage.create(definition_of(lease_seconds=0.1), Head(budget=40))
    fresh = [
        pull_of(
            place + 1, state=State.TOLD, values=(one, -one), cost=abs(one), deadline=abs(one / 2)
        )
        for place, one in enumerate(numbers)
    ]
    with storage.writing("s") as ledger:
        ledger.add_pulls([replace(pull, values=None, cost=None, deadline=0.0) for pull in fresh])
        ledger.set_pulls(fresh)
        ledger.add_past(PastFact(0, (one, 0.5), "old", 3) for one in numbers)
        ledger.add_round(replace(round_of(0, 1), seen={"estimates": numbers}))
    with place.open().reading("s") as ledger:
        found = ledger.pulls_between(1, len(numbers))
        assert list(found) == fresh
        values = [pull.values or () for pull in found]
        assert bits(value[0] for value in values) == bits(numbers)
        assert bits(value[1] for value in values) == bits(-one for one in numbers)
        assert bits(pull.cost or 0.0 for pull in found) == bits(map(abs, numbers))
        assert bits(ledger.harvest(1, len(numbers)).values[:, 0].tolist()) == bits(numbers)
        assert bits(past.values[0] for past in ledger.past()) == bits(numbers)
        assert bits(ledger.round(0).seen["estimates"]) == bits(numbers)
        assert ledger.definition.lease_seconds == 0.1
        assert all(isinstance(x, float) for pull in found for x in pull.values or ())


def test_a_whole_fact_of_each_kind_comes_back(place: Place) -> None:
    storage = place.open()
    definition = definition_of(
        functions={"mine": "package.module:function"},
        seed=2**63 + 11,
        batch=4,
        lease_seconds=1.5,
        retries=2,
        max_failures=5,
        constraints=("mean(risk) <= 1.0", "p95(loss) <= 2"),
        arms={"b": {"k": [1, {"deep": None}], "t": True}, "a": {}, "c": {"x": 0.1}},
    )
    head = Head(50, 3, 17, 20, 4, 12, True, (2, 0))
    pull = PullFact(
        1, 2, 5, 3, State.FAILED, 4, 1e9 + 0.1, 2, 3, None, 0.25, "no\nway", False, "linux:x"
    )
    past = PastFact(2, (1.0, 2.0), "label", 3)
    storage.create(definition, Head(budget=40))
    with storage.writing("s") as ledger:
        ledger.set_head(head)
        ledger.add_pulls([pull])
        ledger.add_round(round_of(0, 1))
        ledger.add_past([past])
        assert ledger.head == head
    found = look(place.open())
    assert found == Snapshot(definition, head, (round_of(0, 1),), (pull,), (past,))
    assert found.definition.arm_names == ("b", "a", "c"), "their order is part of the definition"
    assert isinstance(found.pulls[0].state, State)
    assert found.pulls[0].charged is False
    assert found.head.finished is True


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text(place: Place, name: str) -> None:
    storage = place.open()
    fill(storage, "innocent")
    before = look(storage, "innocent")
    definition = definition_of(
        name, arms={name: {name: name}, "two": {}}, metrics=("loss", "risk", name)
    )
    storage.create(definition, Head(budget=40))
    pull = pull_of(1, state=State.FAILED, error=name)
    left = (Rejection(0, Cause.WITH_BASELINE, baseline=name),)
    with storage.writing(name) as ledger:
        ledger.add_pulls([pull])
        ledger.add_past([PastFact(0, (1.0, 2.0, 3.0), name, 0)])
        ledger.add_round(replace(round_of(0, 1), left=left, seen={name: name}))
    found = look(place.open(), name)
    assert found.definition == definition
    assert found.pulls == (pull,)
    assert found.past[0].label == name
    assert found.rounds[0].left == left
    assert found.rounds[0].seen == {name: name}
    with pytest.raises(InputError, match="exists already"):
        storage.create(definition, Head(budget=1))
    assert sorted(storage.names()) == sorted([name, "innocent"])
    storage.delete(name)
    assert list(storage.names()) == ["innocent"]
    assert look(storage, "innocent") == before


def test_names_differ_by_a_letter_or_a_case(place: Place) -> None:
    storage = place.open()
    names = ["Study", "study", "study ", "studÿ", "stud_", "stud%"]
    for budget, name in enumerate(names):
        storage.create(definition_of(name), Head(budget=budget))
    assert [look(storage, name).head.budget for name in names] == list(range(len(names)))


@pytest.mark.parametrize(
    "said", ["", "a\x00b", "\udcff not text", "\x1b[31mred", "x" * 100_000, "\r\n'\";--"]
)
def test_a_failure_is_recorded_whatever_it_said(place: Place, said: str) -> None:
    """A program may print anything when it fails, and its words are only words."""
    definition = definition_of(retries=1)
    storage = place.open()
    storage.create(definition, Head(budget=40))
    desk = Desk(Plan.of(definition), storage, clock=lambda: 0.0)
    pull = desk.ask()[0]
    assert desk.fail(pull.number, pull.lease, said, charge=True, retry=True) == "retry"
    again = desk.ask()[0]
    assert desk.fail(again.number, again.lease, said, charge=True, retry=True) == "failed"
    assert look(place.open()).pulls[0].state == State.FAILED


def test_the_largest_budget_fits(place: Place) -> None:
    storage = place.open()
    storage.create(definition_of(budget=MOST_PULLS), Head(budget=MOST_PULLS))
    with storage.writing("s") as ledger:
        ledger.set_head(Head(budget=MOST_PULLS, round_end=MOST_PULLS, charged=MOST_PULLS))
        ledger.add_round(replace(round_of(0, MOST_PULLS - 5), allocation=(MOST_PULLS, 0)))
        ledger.add_pulls([pull_of(MOST_PULLS)])
    with place.open().reading("s") as ledger:
        assert ledger.head.budget == ledger.head.charged == MOST_PULLS
        assert ledger.round(0).first == MOST_PULLS - 5
        assert [pull.ordinal for pull in ledger.pulls([MOST_PULLS])] == [(MOST_PULLS - 1) // 2]


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**63, 2**70, -(2**70)])
def test_a_pull_of_any_other_number_is_not_there(place: Place, number: int) -> None:
    storage = place.open()
    fill(storage)
    with storage.reading("s") as ledger:
        assert list(ledger.pulls([number])) == []
        assert [pull.number for pull in ledger.pulls([number, 1])] == [1]


# --------------------------------------------------------------------------------------
# Finding pulls
# --------------------------------------------------------------------------------------


def test_leases_that_ran_out_come_by_number(place: Place) -> None:
    storage = place.open()
    storage.create(definition_of(), Head(budget=40))
    deadlines = [9.0, 8.0, 10.0, 10.5, 1.0, 2.0, 3.0, 0.0]
    states = [State.ISSUED] * 4 + [State.TOLD, State.FAILED, State.CANCELLED, State.ISSUED]
    facts = [
        pull_of(place + 1, deadline=deadline, state=state)
        for place, (deadline, state) in enumerate(zip(deadlines, states, strict=True))
    ]
    with storage.writing("s") as ledger:
        ledger.add_pulls([facts[place] for place in (3, 1, 7, 0, 4, 2, 6, 5)])

    def numbers(now: float, most: int) -> list[int]:
        with storage.reading("s") as ledger:
            found = ledger.expired(now, most)
            assert all(pull == facts[pull.number - 1] for pull in found)
            return [pull.number for pull in found]

    assert numbers(10.0, 100) == [1, 2, 3, 8], "a lease is over at its deadline, not after it"
    assert numbers(math.nextafter(10.0, 0.0), 100) == [1, 2, 8]
    assert numbers(11.0, 2) == [1, 2]
    assert numbers(11.0, 1) == [1]
    assert numbers(0.0, 5) == [8]
    assert numbers(-1.0, 5) == []
    with storage.writing("s") as ledger:
        ledger.set_pulls([replace(facts[0], deadline=50.0), replace(facts[1], state=State.TOLD)])
    assert numbers(11.0, 100) == [3, 4, 8]


def test_the_latest_deadlines_are_known_by_holder(place: Place) -> None:
    storage = place.open()
    storage.create(definition_of(), Head(budget=40))
    with storage.reading("s") as ledger:
        assert ledger.leases() == {}
        assert abs(ledger.now - time.time()) < 60.0
    holders = ["a", "b", None, "a", "a", "b", "c"]
    deadlines = [9.0, 8.0, 12.0, 10.5, 99.0, 1.0, 50.0]
    states = [State.ISSUED] * 4 + [State.TOLD, State.ISSUED, State.FAILED]
    facts = [
        pull_of(number, holder=holder, deadline=deadline, state=state)
        for number, (holder, deadline, state) in enumerate(
            zip(holders, deadlines, states, strict=True), start=1
        )
    ]
    fill(storage, "t")
    with storage.writing("s") as ledger:
        ledger.add_pulls(facts)
        assert ledger.leases() == {None: 12.0, "a": 10.5, "b": 8.0}
        ledger.set_pulls([replace(facts[3], holder=None), replace(facts[1], state=State.TOLD)])
    with place.open().reading("s") as ledger:
        assert ledger.leases() == {None: 12.0, "a": 9.0, "b": 1.0}
        assert [pull.holder for pull in ledger.pulls_between(1, 9)] == [
            *("a", "b", None, None, "a", "b", "c"),
        ]
    with storage.reading("t") as ledger:
        assert ledger.leases() == {None: 100.0}


def test_pulls_are_found_by_number(place: Place) -> None:
    storage = place.open()
    storage.create(definition_of(), Head(budget=4000))
    with storage.writing("s") as ledger:
        ledger.add_pulls([pull_of(number) for number in range(1, 1301)])
    with storage.reading("s") as ledger:

        def found(numbers: Sequence[int]) -> list[int]:
            pulls = ledger.pulls(numbers)
            assert all(pull == pull_of(pull.number) for pull in pulls)
            return [pull.number for pull in pulls]

        assert found([]) == []
        assert found([7]) == [7]
        assert found([3, 4, 5]) == [3, 4, 5]
        assert found([5, 3, 4]) == [3, 4, 5]
        assert found([9, 2, 1200]) == [2, 9, 1200]
        assert found([1300, 1301, 1302]) == [1300]
        assert found([5000, 2, 6000]) == [2]
        scattered = list(range(1, 1301, 2))
        assert found(scattered[::-1]) == scattered, "more than one statement can name"
        assert found(range(1, 1301)) == list(range(1, 1301))

        def between(first: int, last: int) -> list[int]:
            return [pull.number for pull in ledger.pulls_between(first, last)]

        assert between(5, 8) == [5, 6, 7, 8]
        assert between(1299, 5000) == [1299, 1300]
        assert between(-5, 2) == [1, 2]
        assert between(8, 5) == []
        assert between(2000, 3000) == []

        def of_arm(arm: int, first: int, last: int) -> list[tuple[int, int]]:
            return [(pull.arm, pull.ordinal) for pull in ledger.pulls_of_arm(arm, first, last)]

        assert of_arm(1, 2, 4) == [(1, 2), (1, 3), (1, 4)]
        assert of_arm(0, -3, 1) == [(0, 0), (0, 1)]
        assert of_arm(0, 648, 700) == [(0, 648), (0, 649)]
        assert of_arm(2, 0, 10) == []

        def at(*places: tuple[int, int]) -> list[tuple[int, int]]:
            return [(pull.arm, pull.ordinal) for pull in ledger.pulls_at(places)]

        assert at() == []
        assert at((1, 3), (0, 649), (2, 0), (0, 5000), (0, 3)) == [(0, 3), (1, 3), (0, 649)]
        many = [(arm, ordinal) for arm in (1, 0) for ordinal in range(600, 0, -1)]
        assert sorted(at(*many)) == sorted(many), "more than one statement can name"


def test_a_number_asked_for_twice_brings_no_other_pull(place: Place) -> None:
    storage = place.open()
    fill(storage)
    with storage.reading("s") as ledger:
        assert {pull.number for pull in ledger.pulls([1, 1, 3])} == {1, 3}


def test_a_harvest_is_its_pulls(place: Place) -> None:
    storage = place.open()
    storage.create(definition_of(), Head(budget=40))
    states = [State.TOLD, State.FAILED, State.ISSUED, State.CANCELLED, State.TOLD, State.FAILED]
    states += [State.TOLD] * 3
    facts = [
        pull_of(
            place + 1,
            state=state,
            charged=place % 3 != 1,
            values=(FLOATS[place], 0.2) if state == State.TOLD else None,
            error="no" if place in (1, 2, 6, 8) else None,
        )
        for place, state in enumerate(states)
    ]
    with storage.writing("s") as ledger:
        ledger.add_pulls(reversed(facts))
    with storage.reading("s") as ledger:
        for first, last in [(1, 9), (2, 4), (5, 50), (3, 3), (4, 4), (10, 12), (3, 2)]:
            wanted = Harvest.of([one for one in facts if first <= one.number <= last], 2)
            found = ledger.harvest(first, last)
            for key, value in vars(wanted).items():
                np.testing.assert_array_equal(getattr(found, key), value, err_msg=key)
                assert getattr(found, key).dtype == value.dtype, key
                assert getattr(found, key).shape == value.shape, key


def test_further_numbers_are_found_by_the_pulls_that_have_them(place: Place) -> None:
    storage = place.open()
    fill(storage)
    with storage.writing("s") as ledger:
        ledger.set_pulls([pull_of(3, state=State.TOLD, values=(1.0, 2.0), extras={"z": 1 / 3})])
    with place.open().reading("s") as ledger:
        assert ledger.extras() == {2: {"kWh": 0.1, HOSTILE[0]: -1e308}, 3: {"z": 1 / 3}}
        assert [pull.extras for pull in ledger.pulls([1, 3])] == [None, {"z": 1 / 3}]


def test_pardons_come_in_order(place: Place) -> None:
    storage = place.open()
    fill(storage)
    granted = [Pardon(number % 3, ((1, number),), (number,)) for number in range(1, 12)]
    for one in granted:
        with storage.writing("s") as ledger:
            ledger.add_pardon(one)
            ledger.set_head(replace(ledger.head, pardons=ledger.head.pardons + 1))
    with place.open().reading("s") as ledger:
        assert list(ledger.pardons())[1:] == granted
        assert ledger.head.pardons == len(granted)


def test_rounds_and_past_come_in_order(place: Place) -> None:
    storage = place.open()
    storage.create(definition_of(), Head(budget=40))
    rounds = [round_of(number, 5 * number + 1) for number in range(12)]
    for one in rounds:
        with storage.writing("s") as ledger:
            ledger.add_round(one)
            ledger.add_past([past_of(float(one.number)), past_of(one.number + 0.5)])
    with place.open().reading("s") as ledger:
        assert list(ledger.rounds()) == rounds
        assert list(ledger.rounds(10)) == rounds[10:]
        assert list(ledger.rounds(12)) == []
        assert list(ledger.rounds(3, 7)) == rounds[3:7]
        assert list(ledger.rounds(7, 7)) == []
        assert list(ledger.rounds(9, 99)) == rounds[9:]
        assert list(ledger.rounds_at([11, 0, 5, 0])) == [rounds[0], rounds[5], rounds[11]]
        assert list(ledger.rounds_at([])) == []
        assert ledger.round(11) == rounds[11]
        assert [past.values[0] for past in ledger.past()] == [n / 2 for n in range(24)]
        assert [past.values[0] for past in ledger.past(20)] == [10.0, 10.5, 11.0, 11.5]
        assert (list(ledger.past(24)), ledger.brought()) == ([], 24)


# --------------------------------------------------------------------------------------
# Databases
# --------------------------------------------------------------------------------------


def test_what_was_written_is_found_when_it_is_opened_again(sql_place: Place) -> None:
    storage = sql_place.open()
    fill(storage)
    before = look(storage)
    sql_place.close()
    assert look(sql_place.open()) == before


def test_the_migrations_make_the_tables_that_the_code_uses(sql_place: Place) -> None:
    sql_place.open()
    with closing(SqlStorage(str(sql_place.url))) as storage, storage.engine.connect() as connection:
        options = {"version_table": schema.VERSION_TABLE}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, schema.metadata) == []
        indexes = {one["name"] for one in sa.inspect(connection).get_indexes("ringfence_pulls")}
    assert indexes == {"ringfence_holders", "ringfence_leases", "ringfence_ordinals"}


def test_an_empty_file_becomes_a_storage(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    with closing(SqlStorage(f"sqlite:///{path}")) as storage:
        fill(storage)
        assert look(storage).head.issued == 3
    assert path.stat().st_size > 0


def test_a_database_of_a_newer_version_is_refused_and_left_alone(sql_place: Place) -> None:
    storage = sql_place.open()
    fill(storage)
    assert isinstance(storage, SqlStorage)
    with storage.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ringfence_version SET version_num = '0999'"))
    with pytest.raises(InputError, match=rf"newer ringfence \(schema 0999.*{schema.HEAD}.*Upgrade"):
        sql_place.open()
    gc.collect()  # a connection that was left open is told of here
    with storage.engine.begin() as connection:
        assert connection.execute(sa.text("SELECT version_num FROM ringfence_version")).all() == [
            ("0999",)
        ]
    assert len(look(storage).pulls) == 3


def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("my notes, which are precious\n" * 100)
    with pytest.raises(StorageError, match="cannot be used"):
        SqlStorage(f"sqlite:///{path}")
    assert path.read_text() == "my notes, which are precious\n" * 100


def test_somebody_elses_database_keeps_its_tables(tmp_path: Path) -> None:
    path = tmp_path / "mine.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE mine (x INTEGER)")
        connection.execute("INSERT INTO mine VALUES (1)")
        connection.commit()
    with closing(SqlStorage(f"sqlite:///{path}")) as storage:
        fill(storage)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT x FROM mine").fetchall() == [(1,)]


def test_a_place_that_cannot_be_reached_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"cannot be used.*no folder '.*/folder': make it"):
        SqlStorage(f"sqlite:///{tmp_path}/no/such/folder/s.db")
    with pytest.raises(InputError, match=r"storage = 'sqlite://duo.db'.*Use sqlite:///duo.db\.$"):
        SqlStorage("sqlite://duo.db")
    with pytest.raises(InputError, match=r"'postgresql://me:\*{3}@host.*is no storage URL"):
        SqlStorage("postgresql://me:s3cret@host:port/database")
    with pytest.raises(InputError, match="is no storage URL"):
        SqlStorage("my studies")
    with pytest.raises(InputError, match="mysql is not known"):
        SqlStorage("mysql://localhost/studies")


@pytest.mark.parametrize("locked", ["", "s.db"], ids=["folder", "file"])
def test_a_place_that_may_not_be_written_is_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locked: str
) -> None:
    """A read-only disk, in effect: what cannot be opened is a folder, which stops root too."""
    path = tmp_path / "s.db"
    path.mkdir()
    monkeypatch.setattr(os, "access", lambda place, _: Path(place) != tmp_path / locked)
    with pytest.raises(StorageError, match="unable to open database file") as caught:
        SqlStorage(f"sqlite:///{path}")
    assert f"{str(tmp_path / locked)!r} may not be written, and SQLite writes" in str(caught.value)
    assert "copy s.db, and s.db-wal if it is there, to a folder of your own." in str(caught.value)


def test_a_server_that_cannot_be_reached_is_refused_without_its_password() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StorageError, match="cannot be used") as caught:
        SqlStorage("postgresql://me:s3cret@127.0.0.1:1/studies")
    assert "s3cret" not in str(caught.value)


def test_a_place_is_named_without_its_password(sql_place: Place) -> None:
    url = str(sql_place.url)
    with closing(SqlStorage(url.replace("ringfence@", "ringfence:s3cret@"))) as storage:
        assert "s3cret" not in storage.url
        with pytest.raises(InputError) as caught, storage.reading("nobody"):
            pass
        assert "s3cret" not in str(caught.value)
    assert MemoryStorage().url == "memory://"


OPENERS = 3
FRESH = 5


def test_processes_that_open_a_fresh_place_at_once_all_succeed(
    sql_place: Place, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """All wait for the same moment, place after place, so that they do meet."""
    if sql_place.kind == "sqlite":
        urls = [f"sqlite:///{tmp_path / f'fresh-{number}.db'}" for number in range(FRESH)]
    else:
        server = request.getfixturevalue("postgres_server")
        urls = [server.new_place() for _ in range(FRESH)]
    program = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "import alembic.command, alembic.config\n"
        "from ringfence.storage.sql import SqlStorage\n"
        "from tests.contracts.test_storage import fill\n"
        "folder, mine, urls = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]\n"
        f"def meet(what, many={OPENERS}):\n"
        "    (folder / f'{what}-{mine}').touch()\n"
        "    while len(list(folder.glob(f'{what}-*'))) < many:\n"
        "        time.sleep(0.0005)\n"
        "for number, url in enumerate(urls):\n"
        "    meet(number)\n"
        "    storage = SqlStorage(url)\n"
        "    fill(storage, f'study {mine}')\n"
        "    storage.close()\n"
    )
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    root = Path(__file__).parents[2]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(meeting), str(number), *urls],
            cwd=root,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(OPENERS)
    ]
    try:
        said = [process.communicate(timeout=60)[1] for process in processes]
    finally:
        for process in processes:  # waited for too: one left over would warn in another test
            process.kill()
            process.communicate()
    assert [process.returncode for process in processes] == [0] * OPENERS, "\n".join(said)
    for url in urls:
        with closing(SqlStorage(url)) as storage:
            assert list(storage.names()) == [f"study {number}" for number in range(OPENERS)]
            assert len(look(storage, "study 0").pulls) == 3


def test_processes_that_create_the_same_study_at_once_agree_on_one(place: Place) -> None:
    place.open()
    outcomes: list[str] = []
    gate = threading.Barrier(4)

    def work(seed: int) -> None:
        storage = place.open()
        gate.wait()
        try:
            storage.create(definition_of(seed=seed), Head(budget=40))
        except rf.InputError as error:
            outcomes.append(str(error))
        else:
            outcomes.append("created")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcome == "created" for outcome in outcomes) == [False, False, False, True]
    assert sum("exists already" in outcome for outcome in outcomes) == 3
