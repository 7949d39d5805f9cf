"""Items and hours in every storage: kept with the study, and no arm sees an item too often."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from ringfence.core.errors import DamagedError, InputError, LeaseError
from ringfence.interfaces.studies import Study
from ringfence.storage import schema
from ringfence.storage.sql import SqlStorage
from ringfence.study.facts import Head, PullFact, State
from ringfence.study.plan import Plan
from tests.contracts.kill_worker import evaluate
from tests.contracts.places import Place
from tests.contracts.test_kill import ARMS, BUDGET, KILLS, Crew, make, pulls_of, work_and_kill
from tests.contracts.test_storage import HOSTILE, definition_of, fill, look

ITEMS: list[Any] = [
    {"text": text, "number": number, "nested": [{"a": None}, True]}
    for number, text in enumerate([*HOSTILE, "\x00", "", "\ud800"])
]


class Clock:
    """The time, as a test says it is."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def shared(place: Place, **changes: Any) -> Study:
    plain: dict[str, Any] = {
        "arms": ["one", "two", "three", "four"],
        "objective": "minimize mean(loss)",
        "constraints": "mean(risk) <= 1.0",
        "budget": 200,
        "policy": "top-two",
        "batch": 4,
        "seed": 5,
        "blocks": {"items": [{"q": n} for n in range(13)], "repeats": 2},
    }
    return Study.create("s", storage=place.open(), **plain | changes)


def told_on(study: Study) -> Counter[tuple[str, int]]:
    """Return how often each arm was told of each item."""
    columns = study.observations()
    return Counter(zip(columns["arm"], columns["item"], strict=True))


# --------------------------------------------------------------------------------- what is kept


def test_items_are_kept_exactly_and_read_by_number(place: Place) -> None:
    place.open().create(definition_of(), Head(budget=40), ITEMS)
    storage = place.open()
    with storage.reading("s") as ledger:
        assert ledger.items(range(len(ITEMS))) == ITEMS
        assert ledger.items([7, 2, 7]) == [ITEMS[7], ITEMS[2], ITEMS[7]]
        assert ledger.items([]) == []


def test_items_go_with_their_study(place: Place) -> None:
    storage = place.open()
    storage.create(definition_of("s"), Head(budget=40), ITEMS)
    storage.create(definition_of("t"), Head(budget=40), ["a", "b"])
    with pytest.raises(InputError, match="exists already"):
        storage.create(definition_of("s"), Head(budget=40), ["other"])
    with storage.reading("s") as ledger:
        assert ledger.items([0]) == ITEMS[:1]
    storage.delete("s")
    storage.create(definition_of("s"), Head(budget=40), ["c"])
    for name, items in (("s", ["c"]), ("t", ["a", "b"])):
        with storage.reading(name) as ledger:
            assert ledger.items(range(len(items))) == items


def test_many_items_are_kept(place: Place) -> None:
    """More than are written, or asked for, at once."""
    many = [{"q": n} for n in range(20_001)]
    place.open().create(definition_of(), Head(budget=40), many)
    with place.open().reading("s") as ledger:
        assert ledger.items(range(20_001)) == many


def test_hours_are_kept_with_pulls(place: Place) -> None:
    storage = place.open()
    storage.create(definition_of(blocks={"every": 60}), Head(budget=40))
    pulls = [
        PullFact(1, 0, 0, 0, State.ISSUED, 1, 9.0, block=2**40),
        PullFact(2, 1, 0, 0, State.TOLD, 1, 9.0, values=(1.0, 2.0), block=0),
        PullFact(3, 0, 1, 0, State.ISSUED, 1, 9.0),
    ]
    with storage.writing("s") as ledger:
        ledger.add_pulls(pulls)
    with storage.writing("s") as ledger:
        ledger.set_pulls([PullFact(1, 0, 0, 0, State.ISSUED, 2, 11.0, block=2**40)])
    with place.open().reading("s") as ledger:
        assert [pull.block for pull in ledger.pulls_between(1, 3)] == [2**40, 0, None]
        assert ledger.harvest(1, 3).hours.tolist() == [2**40, 0, -1]
        survey = ledger.survey(1, 3)
        assert survey is not None
        assert survey.hours.tolist() == [2**40, 0, -1]


def test_a_pull_that_is_issued_again_keeps_its_hour(place: Place) -> None:
    study = shared(place, blocks={"every": "1h"}, lease_seconds=60.0, policy="uniform", budget=8)
    clock = Clock(study.created_at + 10.0)
    study.desk.clock = clock
    told, late = study.ask(2)
    study.tell(told, evaluate(told.arm, told.seed))
    clock.now += 2 * 3600.0
    again, fresh = study.ask(2)
    assert (again.pull, again.lease) == (late.pull, 2)
    for pull in (again, fresh):
        study.tell(pull, evaluate(pull.arm, pull.seed))
    with place.open().reading("s") as ledger:
        assert [pull.block for pull in ledger.pulls_between(1, 3)] == [0, 0, 2]
    assert study.observations()["hour"] == [0, 0, 2]
    assert study.doctor().problems == ()


def test_a_study_without_hours_keeps_none(place: Place) -> None:
    study = shared(place)
    study.ask(3)
    with place.open().reading("s") as ledger:
        assert {pull.block for pull in ledger.pulls_between(1, 3)} == {None}
        assert ledger.harvest(1, 3).hours.tolist() == [-1, -1, -1]


# --------------------------------------------------------------------------------- who sees what


def test_arms_meet_the_items_in_one_order_whoever_asks(place: Place) -> None:
    """Two that hold the study ask in turn; one loads it from the storage alone."""
    here = shared(place, policy="uniform", budget=104)
    there = Study.load("s", storage=place.open())
    met: dict[str, list[int]] = {}
    turn = 0
    while pulls := (here, there)[turn % 2].ask(3):
        for pull in pulls:
            assert pull.item["q"] == here.desk.plan.sharing.item_of(pull.ordinal)
            met.setdefault(pull.arm, []).append(pull.item["q"])
            there.tell(pull, evaluate(pull.arm, pull.seed))
        turn += 1
    first = met["one"]
    assert all(order == first for order in met.values())
    assert Counter(first) == dict.fromkeys(range(13), 2)


def test_shared_seeds_are_those_of_all_arms(place: Place) -> None:
    study = shared(place, blocks={"seeds": True}, policy="uniform", budget=40)
    seeds = {(pull.arm, pull.ordinal): pull.seed for pull in study.ask(40)}
    assert all(seeds[arm, k] == seeds["one", k] for arm, k in seeds)
    assert len({*seeds.values()}) == 10


def careless(study: Study, seed: int) -> None:
    """Work as badly as a worker may: fail, lose, give up, and tell late."""
    rng = np.random.default_rng(seed)
    while not study.desk.is_finished:
        for pull in study.ask(int(rng.integers(1, 4))):
            try:
                match rng.integers(8):
                    case 0:
                        study.fail(pull, "again")
                    case 1:
                        study.lost(pull)
                    case 2:
                        study.desk.release(pull.pull, pull.lease)
                    case 3:
                        time.sleep(0.06)  # longer than the lease
                        study.tell(pull, evaluate(pull.arm, pull.seed))
                    case _:
                        study.tell(pull, evaluate(pull.arm, pull.seed))
            except LeaseError:
                continue
        time.sleep(0.001)


@pytest.mark.parametrize("policy", ["top-two", "constrained-sr"])
def test_no_arm_is_told_of_an_item_too_often(place: Place, policy: str) -> None:
    """Retries, lost pulls, leases that run out, and several workers who are all careless."""
    study = shared(
        place, policy=policy, budget=400, lease_seconds=0.05, retries=1, max_failures=50,
        max_leases=30,
    )  # fmt: skip
    workers = [
        threading.Thread(target=careless, args=(Study.load("s", storage=place.open()), one))
        for one in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=120.0)
    assert study.desk.is_finished
    seen = told_on(study)
    assert max(seen.values()) <= 2
    assert len(seen) > 30
    with study.desk.storage.reading("s") as ledger:
        asked = Counter(pull.arm for pull in ledger.pulls_between(1, 10_000))
    assert max(asked.values()) <= 26
    assert study.doctor().problems == ()


def test_workers_that_are_killed_show_no_item_too_often(sql_place: Place, tmp_path: Path) -> None:
    """With kill -9, at any moment: those who come after them see what they would have seen."""
    blocks = {"items": [{"q": n} for n in range(BUDGET // 4)], "repeats": 2}
    wanted = make("memory://", "top-two", 6, blocks=blocks)
    wanted.optimize(evaluate)
    study = make(sql_place.open(), "top-two", 6, blocks=blocks)
    crew = Crew(str(sql_place.url), tmp_path)
    try:
        killed = work_and_kill(crew, np.random.default_rng(7))
    finally:
        crew.end()
    assert crew.complaints.read_text() == ""
    assert killed >= KILLS - 1
    assert max(pull.lease for pull in pulls_of(study)) > 1, "some pulls were held by the dead"
    assert told_on(study) == told_on(wanted)
    assert max(told_on(study).values()) == 2
    assert {arm for arm, _ in told_on(study)} == {*ARMS}
    assert study.rounds() == wanted.rounds()
    assert study.doctor().problems == ()


# --------------------------------------------------------------------------------- the audit


def _forget(connection: Any) -> None:
    connection.execute(sa.delete(schema.items))


def _change(connection: Any) -> None:
    only = schema.items.c.number == 3
    connection.execute(sa.update(schema.items).where(only).values(content='{"q": 33}'))


def _damage(connection: Any) -> None:
    connection.execute(sa.update(schema.items).values(content='{"q": '))


@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (_forget, "item 0 is not there"),
        (_change, "the items that are kept are not those that the study was begun with"),
        (_damage, "item 0 cannot be read: its content is"),
    ],
)
def test_an_audit_notices_items_that_are_others(
    sql_place: Place, harm: Callable[[Any], None], problem: str
) -> None:
    study = shared(sql_place)
    study.optimize(evaluate, most=8)
    assert study.doctor().problems == ()
    storage = SqlStorage(str(sql_place.url))
    with storage.engine.connect() as connection:
        connection.info["writes"] = True
        with connection.begin():
            harm(connection)
    storage.close()
    (found,) = study.doctor().problems
    assert problem in found
    if harm is not _change:
        fresh = Study.load("s", storage=sql_place.open())
        with pytest.raises(DamagedError, match="item"):
            fresh.ask(200)
        assert fresh.status().issued == 0, "nothing was leased"


def test_an_audit_goes_by_the_hash_of_the_definition(place: Place) -> None:
    study = shared(place)
    study.optimize(evaluate, most=8)
    blocks = {**study.definition.blocks, "hash": "0" * 64}
    study.desk.plan = Plan.of(replace(study.definition, blocks=blocks))
    wanted = "the items that are kept are not those that the study was begun with"
    assert study.doctor().problems == (wanted,)


def test_an_audit_notices_an_item_that_was_seen_too_often(place: Place) -> None:
    """Every arm had ten pulls, each on an item of its own: believe that there were fewer."""
    study = shared(place, policy="uniform", budget=40, blocks={"items": 10})
    study.optimize(evaluate)

    def believe(count: int) -> None:
        blocks = {"items": count, "scope": "such", "repeats": 1}
        study.desk.plan = Plan.of(replace(study.definition, blocks=blocks))

    believe(10)
    assert study.doctor().problems == ()
    believe(9)
    problems = study.doctor().problems
    assert any("was pulled beyond its 9 items" in one for one in problems)
    assert any("2 times, more than 1" in one for one in problems)


def test_an_audit_notices_a_pull_without_its_hour(sql_place: Place) -> None:
    study = shared(sql_place, blocks={"every": "1h"})
    study.optimize(evaluate, most=8)
    assert study.doctor().problems == ()
    storage = SqlStorage(str(sql_place.url))
    with storage.engine.connect() as connection:
        connection.info["writes"] = True
        with connection.begin():
            only = schema.pulls.c.number == 5
            connection.execute(sa.update(schema.pulls).where(only).values(block=None))
    storage.close()
    assert study.doctor().problems == ("pull 5 does not say in which hour it was asked for",)


def test_other_facts_are_as_they_were(place: Place) -> None:
    storage = place.open()
    fill(storage)
    before = look(storage)
    storage.create(definition_of("with items"), Head(budget=40), ITEMS)
    assert look(storage) == before
