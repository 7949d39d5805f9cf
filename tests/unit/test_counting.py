"""Counting stops where more replications would not matter, and otherwise counts them all."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ringfence as rf
from ringfence.interfaces import counting
from ringfence.interfaces.counting import Wanted, counted
from ringfence.interfaces.rare import Hands
from ringfence.simulation.counts import Counts
from ringfence.simulation.engines import CPU
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from ringfence.simulation.planning import Point

EXPERIMENT = Experiment(Instance.load("paper-4"), rf.find_policy("constrained-sr"), 200)
CHUNK = 100


class Tosses(Hands):
    """Hands whose replications err with a chance, chunk by chunk, and that keep what was asked."""

    def count(self, experiment: Experiment, replications: int, *, after: int = 0) -> Counts:
        chance, asked = self.executor  # type: ignore[misc]
        asked.append((after, replications))
        rng = np.random.default_rng([self.seed, after])
        nothing: Any = np.zeros(1, np.int64)
        errors = int(rng.binomial(replications, chance))
        return Counts(replications, errors, 0, nothing, np.zeros(4), np.zeros((4, 2), int), 0, 0)


@pytest.fixture(autouse=True)
def of_a_hundred(monkeypatch: pytest.MonkeyPatch) -> None:
    of_a_hundred = SimpleNamespace(name="cpu", chunk_size=lambda _: CHUNK)
    monkeypatch.setattr(counting, "CPU", of_a_hundred)


def count(chance: float, wanted: Wanted) -> tuple[Point, list[tuple[int, int]]]:
    asked: list[tuple[int, int]] = []
    return counted(EXPERIMENT, wanted, Tosses(5, None, (chance, asked))), asked  # type: ignore[arg-type]


@pytest.mark.parametrize("chance", [0.0, 0.01, 0.4, 1.0])
def test_far_from_the_target_an_eighth_is_enough(chance: float) -> None:
    point, asked = count(chance, Wanted(0.1, 400))
    assert asked == [(0, 500)]
    assert point.error_rate == pytest.approx(chance, abs=0.1)
    assert point.is_below(0.1) == (chance < 0.1)


def test_near_the_target_all_are_run_and_none_twice() -> None:
    point, asked = count(0.1, Wanted(0.1, 400))
    assert asked == [(0, 500), (5, 500), (10, 1000), (20, 2000)]
    assert point.std_error == pytest.approx(
        (point.error_rate * (1 - point.error_rate) / 4000) ** 0.5
    )


def test_where_a_chunk_is_most_of_it_the_rest_follows() -> None:
    _, asked = count(0.1, Wanted(0.1, 15))
    assert asked == [(0, 100), (1, 50)]


@pytest.mark.parametrize("chance", [0.0, 0.1, 0.4])
def test_a_whole_count_has_an_interval_that_no_stopping_bends(chance: float) -> None:
    point, asked = count(chance, Wanted(0.1, 400, whole=True))
    assert asked == [(0, 4000)]
    low, high = point.interval
    assert low <= chance <= high


def test_an_adaptive_policy_gets_fewer() -> None:
    rare = Wanted(1e-3, 400)
    phases, adaptive = rf.find_policy("uniform"), rf.find_policy("top-two")
    assert rare.replications(phases) == 400_000
    assert rare.replications(adaptive) == 20_000
    assert Wanted(0.1, 400).replications(adaptive) == 4000


def test_what_is_counted_in_parts_is_what_is_counted_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    size = CPU.chunk_size(EXPERIMENT)
    hands = Hands(3)
    whole = hands.count(EXPERIMENT, 2 * size + 7)
    parts = hands.count(EXPERIMENT, size) + hands.count(EXPERIMENT, size + 7, after=1)
    assert (parts.errors, parts.replications) == (whole.errors, whole.replications)
    assert hands.count(EXPERIMENT, size).errors != hands.count(EXPERIMENT, size, after=1).errors
