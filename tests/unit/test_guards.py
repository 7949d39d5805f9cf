"""Every guard speaks up on what it is there for, and is quiet else."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ringfence.policies.registry import find_policy
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from ringfence.simulation.rare import guards
from ringfence.simulation.rare.guards import Overlap
from ringfence.simulation.rare.importance import Estimate
from ringfence.simulation.rare.mixture import Mixture, Weighed
from ringfence.simulation.rare.modes import Mode, phase_stages
from ringfence.simulation.rare.splitting import Split

NOTHING = np.zeros(1)


def weighed(**changes: Any) -> Weighed:
    """Return a run of 10,000 with 4,000 equal errors, whose probability is 1e-6."""
    plain: dict[str, Any] = {
        "replications": 10_000,
        "errors": 4000,
        "weight": 1e-2,
        "squares": 4000 * (2.5e-6) ** 2,
        "largest": 2.5e-6,
        "all_weight": 10_000.0,
        "all_squares": 20_000.0,
        "flag_weight": 0.0,
        "plain": 500,
        "plain_errors": 0,
        "plain_pulls": NOTHING,
        "by_mode": np.array([0.0, 0.9e-2, 0.1e-2]),
        "sums": NOTHING,
        "pulls": NOTHING,
    }
    return Weighed(**(plain | changes))


def estimate(energy: float = 12.0, *, is_exact: bool = True, **changes: Any) -> Estimate:
    experiment = Experiment(Instance.load("paper-1"), find_policy("constrained-sr"), 30_000)
    modes = (
        Mode("chance", NOTHING, 0.0),
        Mode("leading", NOTHING, energy, is_exact),
        Mode("other", NOTHING, 1.0),
    )
    tilted: Any = None
    mixture = Mixture(experiment, phase_stages(experiment), modes, np.ones(3) / 3.0, tilted)
    return Estimate(mixture, weighed(**changes))


def failed(found: Estimate) -> set[str]:
    return {check.what for check in guards.weight_checks(found) if not check.ok}


def test_good_weights_pass_every_check() -> None:
    assert failed(estimate()) == set()


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"largest": 1.1e-4}, "largest weight"),
        ({"squares": 1e-4 / 99}, "effective errors"),
        ({"all_weight": 10_500.0}, "mean weight"),
        ({"all_weight": 9_500.0}, "mean weight"),
        ({"plain_errors": 2}, "undrifted replications"),
    ],
)
def test_each_check_of_weights_fails_by_itself(changes: dict[str, Any], what: str) -> None:
    assert failed(estimate(**changes)) == {what}


def test_limits_are_where_they_are_said_to_be() -> None:
    assert failed(estimate(largest=0.99e-4)) == set()
    assert failed(estimate(squares=1e-4 / 101)) == set()
    assert failed(estimate(all_weight=10_370.0)) == set()  # 3.9 standard errors
    assert failed(estimate(plain_errors=1)) == set()


def overlap(rate: float, *, errors: int, energy: float = 3.0) -> Overlap:
    weight = rate * 10_000
    by_mode = weight * np.array([0.0, 0.9, 0.1])
    there = estimate(energy, weight=weight, squares=(0.01 * weight) ** 2, by_mode=by_mode)
    return Overlap(5000, there, errors, 100_000)


def test_an_overlap_that_disagrees_is_noticed() -> None:
    assert guards.overlap_check(overlap(0.02, errors=2010)).ok
    low = guards.overlap_check(overlap(0.015, errors=2010))
    high = guards.overlap_check(overlap(0.025, errors=2010))
    assert not low.ok
    assert not high.ok
    assert "0.0201 by 100000 plain replications" in low.found


def test_a_slope_that_theory_does_not_know_is_noticed() -> None:
    there = overlap(0.02, errors=2000)
    seen = math.log(0.02 / 1e-6)  # 9.9; theory says 9 + ln(4)/2 = 9.7
    right = guards.slope_check(estimate(12.0), there)
    assert right is not None
    assert right.ok
    assert f"falls by {seen:.2f}; theory says 9.69" in right.found
    for energy in (4.0, 25.0):
        wrong = guards.slope_check(estimate(energy), there)
        assert wrong is not None
        assert not wrong.ok


def test_a_slope_is_compared_only_with_exact_costs() -> None:
    there = overlap(0.02, errors=2000)
    assert guards.slope_check(estimate(12.0, is_exact=False), there) is None
    several = np.array([0.0, 0.5e-2, 0.5e-2])
    assert guards.slope_check(estimate(12.0, by_mode=several), there) is None


def test_splitting_that_disagrees_is_noticed() -> None:
    def splitting(rate: float, spread: float = 0.1) -> Split:
        logs = [math.log(rate) + spread * side for side in (-1.0, 1.0) * 4]
        return Split(tuple(logs))

    found = estimate()
    assert guards.split_check(found, splitting(1.2e-6)).ok
    assert not guards.split_check(found, splitting(2e-6)).ok
    assert not guards.split_check(found, splitting(5e-7)).ok
    assert guards.split_check(found, splitting(2e-6, spread=1.0)).ok  # too rough to tell
    assert not guards.split_check(found, Split((-math.inf,) * 8)).ok


def test_the_budget_of_an_overlap_is_where_errors_can_be_seen() -> None:
    found = estimate()
    budget = guards.overlap_budget(found)
    assert budget == int(30_000 * math.log(0.02) / math.log(1e-6))
    assert replace(found.mixture.experiment, budget=budget).budget == budget
