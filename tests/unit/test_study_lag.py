"""How a study comes by its lag: as it is stated, by workers when it begins, or none."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.interfaces.study_file import parse_study_file
from ringfence.storage.memory import MemoryStorage
from ringfence.study.facts import Definition
from ringfence.study.lagging import usual_lag
from tests.unit.test_study_api import evaluate, finish, make

FILE = """
name = "s"
objective = "minimize mean(loss)"
constraints = ["mean(risk) <= 1.0"]
budget = 60
arms = ["one", "two", "three"]
"""


def adaptive(**changes: Any) -> rf.Study:
    return make(**{"policy": "top-two", **changes})


@pytest.mark.parametrize(
    ("workers", "pulls", "lag"),
    [(1, 10_000, 1), (2, 10_000, 12), (8, 10_000, 48), (8, 480, 48), (8, 479, 47), (8, 120, 12),
     (8, 40, 8), (3, 5, 3)],
)  # fmt: skip
def test_the_usual_lag_is_six_times_the_workers_within_a_tenth_of_the_budget(
    workers: int, pulls: int, lag: int
) -> None:
    assert usual_lag(workers, pulls) == lag


@pytest.mark.parametrize(
    ("stated", "workers", "lag"),
    [
        ({}, 4, 6),
        ({}, 1, 1),
        ({"lag": 9}, 4, 9),
        ({"lag": 1}, 4, 1),
        ({"batch": 4}, 4, 1),
        ({"batch": 1}, 4, 1),
        ({"batch": 2, "lag": 5}, 4, 5),
        ({"policy": "sequential-halving"}, 4, 1),
    ],
)
def test_whoever_begins_a_study_says_its_lag_where_nothing_is_stated(
    stated: dict[str, Any], workers: int, lag: int
) -> None:
    study, later = adaptive(**stated), adaptive(**stated)
    assert study.lag in (stated.get("lag"), 1)
    assert study.optimize(evaluate, workers=workers) is not None
    assert asyncio.run(later.optimize_async(evaluate_later, workers=workers)) is not None
    assert (study.lag, later.lag) == (lag, lag)
    assert study.rounds() == later.rounds()
    assert (study.doctor().problems, later.doctor().problems) == ((), ())


async def evaluate_later(arm: str, seed: int) -> dict[str, float]:
    return evaluate(arm, seed)


@pytest.mark.parametrize("first", [1, 4])
def test_a_study_that_has_begun_keeps_its_rule(first: int) -> None:
    study = adaptive()
    if first == 1:
        study.tell(study.ask()[0], evaluate("one", 1))
    study.optimize(evaluate, workers=first, most=5)
    begun = study.lag
    assert begun == (1 if first == 1 else 6)
    study.optimize(evaluate, workers=8)
    assert study.lag == begun
    assert {one.lag for one in study.rounds()} == {begun}


def test_calls_that_end_in_another_order_change_nothing() -> None:
    """Each pull waits for one that was taken after it, where there is one in flight."""
    wanted = finish(adaptive(lag=6))
    study, ends = adaptive(lag=6), dict[int, threading.Event]()
    taken = threading.Lock()

    def backwards(arm: str, seed: int) -> dict[str, float]:
        with taken:
            place = len(ends)
            ends[place] = threading.Event()
            if place % 2:
                ends[place - 1].set()
        if place % 2 == 0:
            ends[place].wait(0.05)
        return evaluate(arm, seed)

    assert study.optimize(backwards, workers=4) == wanted.recommend()
    assert study.rounds() == wanted.rounds()
    assert study.doctor().problems == ()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lag": -1}, "lag = -1 must be a whole number, 1 or more"),
        ({"lag": 0}, "lag = 0 must be a whole number, 1 or more"),
        ({"lag": 2.5}, r"lag = 2\.5 must be a whole number"),
        ({"lag": 6, "policy": "uniform"}, "lag = 6 has no effect with uniform: a phase waits"),
    ],
)
def test_a_lag_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    storage = MemoryStorage()
    with pytest.raises(InputError, match=message):
        adaptive(storage=storage, **changes)
    assert list(storage.names()) == []


@pytest.mark.parametrize(
    ("stated", "given", "wrong"),
    [
        ({"lag": 9}, {"lag": 9}, None),
        ({"lag": 9}, {}, None),
        ({"lag": 9}, {"lag": 8}, "it has 9, now given 8"),
        ({}, {"lag": 6}, None),
        ({}, {"lag": 5}, "it has 6, now given 5"),
        ({}, {"batch": 1}, "it has 6, now given 1"),
        ({"batch": 1}, {}, None),
        ({"batch": 1}, {"lag": 1}, None),
        ({"batch": 1}, {"lag": 2}, "it has 1, now given 2"),
    ],
)
def test_another_lag_for_a_study_that_exists_is_refused(
    stated: dict[str, Any], given: dict[str, Any], wrong: str | None
) -> None:
    storage = MemoryStorage()
    adaptive(storage=storage, **stated).optimize(evaluate, workers=4, most=20)
    if wrong is None:
        again = adaptive(storage=storage, load_if_exists=True, **given)
        assert again.optimize(evaluate) is not None
    else:
        with pytest.raises(InputError, match=f"exists with another lag: {wrong}"):
            adaptive(storage=storage, load_if_exists=True, **given)


def test_a_study_of_before_lags_is_read_and_decides_in_rounds() -> None:
    plain = adaptive().definition.to_dict()
    assert "lag" not in plain
    assert Definition.from_dict(plain).lag is None
    assert Definition.from_dict({**plain, "lag": 5}).to_dict()["lag"] == 5
    study = adaptive()
    study.ask(3)
    assert "lag" not in study.rounds()[0].seen


@pytest.mark.parametrize(("line", "lag"), [("", 6), ("lag = 4", 4), ("batch = 2", 1)])
def test_a_file_states_a_lag_or_leaves_it_to_the_workers(
    tmp_path: Path, line: str, lag: int
) -> None:
    url = f"sqlite:///{tmp_path / 's.db'}"
    file = parse_study_file(tmp_path / "s.toml", FILE + line)
    study = file.open(storage=url)
    study.optimize(evaluate, workers=4, most=15)
    assert study.lag == lag
    again = parse_study_file(tmp_path / "s.toml", FILE).open(storage=url)
    assert again.lag == lag
    same = parse_study_file(tmp_path / "s.toml", f"{FILE}lag = {lag}\n").open(storage=url)
    assert same.lag == lag
    other = parse_study_file(tmp_path / "s.toml", f"{FILE}lag = {lag + 1}\n")
    with pytest.raises(InputError, match="exists with another lag"):
        other.open(storage=url)
