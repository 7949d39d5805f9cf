"""Studies whose arms share hours: decided alike from what is kept, whoever worked on them."""

import math
import threading

import pytest
import sqlalchemy as sa

from ringfence.interfaces.studies import Study
from ringfence.storage import schema
from ringfence.storage.sql import SqlStorage
from tests.contracts.kill_worker import evaluate
from tests.contracts.places import Place
from tests.contracts.test_shared_items import Clock, shared

HOUR = 3600.0


class Passing(Clock):
    """A time that goes on by a quarter of an hour whenever somebody looks."""

    def __call__(self) -> float:
        self.now += HOUR / 4.0
        return self.now


def works(study: Study, clock: Clock, count: int) -> None:
    """Evaluate pulls until there are none; what is told goes up and down with the hours."""
    while not study.desk.is_finished:
        for pull in reversed(study.ask(count)):
            told = evaluate(pull.arm, pull.seed)
            swing = 4.0 * math.sin((clock.now - study.created_at) / HOUR)
            study.tell(pull, told | {"loss": told["loss"] + swing})


@pytest.mark.parametrize(
    ("policy", "lag"),
    [("top-two", None), ("top-two", 24), ("constrained-sr", None), ("uniform", None)],
)
def test_decisions_follow_from_what_is_kept_whoever_worked(
    place: Place, policy: str, lag: int | None
) -> None:
    """Several workers, who tell late and in another order; an audit decides every round again."""
    study = shared(
        place,
        policy=policy,
        budget=400,
        batch=20 if lag is None else 4,
        lag=lag,
        blocks={"every": "1h"},
        lease_seconds=1e9,
    )
    clock, workers = Passing(study.created_at), []
    for count in (3, 5, 8):
        mine = Study.load("s", storage=place.open())
        mine.desk.clock = clock
        workers.append(threading.Thread(target=works, args=(mine, clock, count)))
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=120.0)
    assert study.desk.is_finished
    assert len({*study.observations()["hour"]}) > 10
    assert study.doctor().problems == ()
    view = study.desk.look()
    hours = view.snapshot.evidence(view.book.is_seen, study.desk.plan.priority).hours
    assert hours is not None
    assert hours.spread[0] > 0.0
    again = Study.load("s", storage=place.open())
    assert again.recommend() == study.recommend()


def test_an_audit_decides_by_the_hours(sql_place: Place) -> None:
    """Other hours of the same pulls are other evidence: rounds would see other estimates."""
    study = shared(sql_place, budget=400, batch=20, blocks={"every": "1h"}, lease_seconds=1e9)
    clock = Passing(study.created_at)
    study.desk.clock = clock
    works(study, clock, 5)
    assert study.doctor().problems == ()
    storage = SqlStorage(str(sql_place.url))
    with storage.engine.connect() as connection:
        connection.info["writes"] = True
        with connection.begin():
            connection.execute(sa.update(schema.pulls).values(block=schema.pulls.c.block % 2))
    storage.close()
    assert any("decided again" in one for one in study.doctor().problems)
