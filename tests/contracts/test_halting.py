"""A study that is stopped issues nothing and decides nothing, in every storage and after restarts.

An archived one is only not listed. Both can be taken back, and the audit knows them.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from ringfence.core.errors import InputError
from ringfence.interfaces.studies import Study
from ringfence.study.audit import audit
from ringfence.study.desk import Desk, Report
from ringfence.study.facts import Definition, Head
from ringfence.study.plan import Plan
from ringfence.study.ports import Storage
from tests.contracts.places import Place

BUDGET = 24


def desk_at(storage: Storage, policy: str = "constrained-sr") -> Desk:
    definition = Definition(
        name="s", objective="minimize mean(loss)", constraints=("mean(risk) <= 1.0",),
        arms={"a": {}, "b": {}, "c": {}}, budget=BUDGET, policy=policy, seed=3,
        metrics=("loss", "risk"),
    )  # fmt: skip
    if "s" not in storage.names():
        storage.create(definition, Head(budget=BUDGET))
    return Desk(Plan.of(definition), storage)


def work(desk: Desk, most: int = 10_000) -> int:
    done = 0
    while done < most and (given := desk.ask(1)):
        rng = np.random.default_rng([7, given[0].arm, given[0].ordinal])
        values = tuple((1.0 + 0.3 * given[0].arm + rng.normal(0.0, 0.1, 2)).tolist())
        desk.tell([Report(given[0].number, given[0].lease, values)])
        done += 1
    return done


def problems(desk: Desk) -> tuple[str, ...]:
    with desk.storage.reading("s") as ledger:
        return audit(desk.plan, ledger).problems


@pytest.mark.parametrize("policy", ["constrained-sr", "top-two"])
def test_a_stop_outlives_whoever_made_it_and_is_taken_back(place: Place, policy: str) -> None:
    desk = desk_at(place.open(), policy)
    assert work(desk, 7) == 7
    flying = desk.ask(1)[0]
    assert (desk.stop(), desk.stop()) == ("stopped", "already-stopped")
    other = desk_at(place.open(), policy)
    before = other.head
    assert (before.is_stopped, before.is_over, before.finished) == (True, True, False)
    assert other.ask(5) == []
    assert other.tell([Report(flying.number, flying.lease, (1.0, 0.5))]) == ["told"]
    assert other.ask(5) == []
    assert (other.head.issued, other.head.round) == (before.issued, before.round)
    assert problems(other) == ()
    assert (other.resume(), other.resume()) == ("resumed", "already-running")
    assert work(desk) > 0
    assert (desk.is_finished, desk.head.is_stopped) == (True, False)
    assert (desk.stop(), desk.resume()) == ("already-finished", "already-finished")
    assert problems(desk) == ()


def test_a_study_that_is_stopped_before_it_began_decides_no_first_round(place: Place) -> None:
    desk = desk_at(place.open(), "top-two")
    desk.stop()
    desk.begin(8)
    assert (desk.ask(1), desk.head.round) == ([], -1)
    desk.resume()
    desk.begin(8)
    assert desk.head.round == 0


def test_a_stop_and_an_archive_change_what_followers_hear(place: Place) -> None:
    desk = desk_at(place.open())
    heard = [desk.pulse()]
    for act in (desk.stop, desk.archive, desk.unarchive, desk.resume):
        act()
        heard.append(desk.pulse())
    assert all(a != b for a, b in pairwise(heard))
    assert heard[0] == heard[-1], "what was worked out before is worth as much after"


def test_only_what_is_over_is_archived_and_what_goes_on_is_listed(place: Place) -> None:
    desk = desk_at(place.open(), "top-two")
    with pytest.raises(InputError, match=r"study 's' is not over.*Stop it first"):
        desk.archive()
    assert desk.head.archived_at is None
    desk.stop()
    assert (desk.archive(), desk.archive()) == ("archived", "already-archived")
    assert desk_at(place.open()).head.archived_at is not None
    assert problems(desk) == ()
    desk.resume()
    assert desk.head.archived_at is None
    work(desk)
    assert (desk.archive(), desk.unarchive(), desk.unarchive()) == (
        "archived", "unarchived", "already-listed",
    )  # fmt: skip
    desk.archive()
    desk.raise_budget(BUDGET + 10)
    assert desk.head.archived_at is None
    assert problems(desk) == ()


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ({"finished": True, "stopped_at": 5.0}, "finished, and said to be stopped"),
        ({"finished": False, "archived_at": 5.0}, "archived, and neither finished nor stopped"),
    ],
)
def test_an_audit_knows_marks_that_cannot_be(
    place: Place, head: dict[str, float], words: str
) -> None:
    desk = desk_at(place.open())
    work(desk, 10_000 if head["finished"] else 5)
    with desk.storage.writing("s") as ledger:
        ledger.set_head(replace(ledger.head, **head))  # type: ignore[arg-type]
    assert [one for one in problems(desk) if words in one]


def test_workers_end_with_a_stop_and_go_on_after_it() -> None:
    study = Study.create(
        "stopped", arms=["a", "b"], objective="minimize mean(loss)",
        constraints="mean(risk) <= 1", budget=30, policy="uniform", storage="memory://", seed=1,
    )  # fmt: skip
    done = list[int]()

    def evaluate(arm: str, seed: int) -> dict[str, float]:
        done.append(seed)
        if len(done) == 8:
            study.stop()
        return {"loss": 0.5 + (arm == "b") + 0.01 * (seed % 7), "risk": 0.5 + 0.01 * (seed % 5)}

    verdict = study.optimize(evaluate)
    assert len(done) == study.status().told == 8
    assert verdict is not None
    assert not verdict.finished
    assert list(study.pulls()) == []
    assert study.resume() == "resumed"
    study.optimize(evaluate)
    assert (len(done), study.status().finished, study.doctor().problems) == (30, True, ())
