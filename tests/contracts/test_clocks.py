"""Workers whose clocks are wrong: with a server, leases go by the one clock that all have."""

import time

import pytest

import ringfence as rf
from tests.contracts.kill_worker import evaluate
from tests.contracts.places import Place
from tests.contracts.postgres import Server

DAY = 86_400.0


@pytest.mark.parametrize("wrong_by", [DAY, -DAY], ids=["ahead", "behind"])
def test_with_a_server_a_clock_that_is_a_day_wrong_changes_nothing(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch, wrong_by: float
) -> None:
    """It neither takes the leases of others, nor keeps its own for a day, nor loses them."""
    right = time.time
    place = Place("postgresql", postgres_server.new_place())
    study = rf.Study.create(
        "s", arms=["one", "two"], objective="minimize mean(loss)", budget=40, policy="uniform",
        constraints="mean(risk) <= 1.0", storage=place.open(), seed=5,
    )  # fmt: skip
    (held,) = study.ask()
    monkeypatch.setattr(time, "time", lambda: right() + wrong_by)
    other = rf.Study.load("s", storage=place.open())
    (theirs,) = other.ask()
    assert (held.pull, theirs.pull) == (1, 2)
    assert abs(theirs.deadline - held.deadline) < 0.5 * DAY
    assert abs(other.extend(theirs) - held.deadline) < 0.5 * DAY
    assert len(other.desk.held()) == 2
    monkeypatch.undo()
    (third,) = study.ask()
    assert third.pull == 3
    for pull in (held, theirs, third):
        assert other.tell(pull, evaluate(pull.arm, pull.seed)) == "told"
    place.close()
