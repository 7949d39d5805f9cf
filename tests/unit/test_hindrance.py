"""What makes a threat less likely than its cost says, against normal probabilities."""

import math

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import multivariate_normal

from ringfence.core.cost import (
    beating_cost,
    beating_hindrance,
    cost_work,
    fill_beating,
    hindrance,
)


def lack(z: float) -> float:
    """Return what a normal's tail has beyond its exponent, as a log."""
    return -float(log_ndtr(-z)) - max(z, 0.0) ** 2 / 2.0


def test_a_hindrance_is_what_a_tail_has_beyond_its_exponent() -> None:
    for z in np.linspace(-9.0, 60.0, 691):
        assert hindrance(float(z)) == pytest.approx(math.exp(lack(float(z))), rel=0.17)
    assert hindrance(0.0) == 2.0
    assert hindrance(-1e6) == pytest.approx(1.0, abs=1e-6)
    assert hindrance(1e6) == pytest.approx(1e6 * math.sqrt(2.0 * math.pi), rel=1e-5)
    steps = np.diff([hindrance(float(z)) for z in np.linspace(-9.0, 9.0, 1801)])
    assert np.all(steps > 0.0)


@pytest.mark.parametrize("correlation", [-0.7, 0.0, 0.4, 0.8], ids=str)
def test_cost_and_hindrance_make_a_chance(correlation: float) -> None:
    """Their sum is the log of the chance of two demands, up to what one demand alone lacks."""
    rng, limit = np.random.default_rng(3), np.zeros(1)
    errors, without = [], []
    for _ in range(200):
        estimates = np.array([[0.0, -5.0], rng.normal(size=2) * 0.5])
        covariances = np.tile([[1.0, correlation], [correlation, 1.0]], (2, 1, 1))
        n, best_n = float(rng.integers(5, 40)), float(rng.integers(5, 200))
        joint = np.array([[1.0 / n + 1.0 / best_n, correlation / n], [correlation / n, 1.0 / n]])
        hardest = max(estimates[1] / np.sqrt(np.diagonal(joint)))
        if hardest <= 0.0:
            continue
        cost, _ = beating_cost(estimates, covariances, 0, best_n, 1, n, limit, cost_work(2))
        hindered = math.log(beating_hindrance(estimates, covariances, 0, best_n, 1, n, limit))
        chance = multivariate_normal(mean=estimates[1], cov=joint).cdf(np.zeros(2))
        if chance > 1e-6:
            errors.append(cost + lack(hardest) + hindered + math.log(chance))
            without.append(cost + lack(hardest) + math.log(chance))
    assert len(errors) > 100
    assert np.abs(errors).max() < 0.9
    # The curve is off by up to 17% where a demand is met anyway, as most are at 0.8.
    assert np.abs(errors).mean() < max(0.16, 0.75 * np.abs(without).mean())
    assert np.abs(errors).max() < 0.5 * np.abs(without).max()


def test_all_arms_at_once_are_the_arms_one_by_one() -> None:
    """Costs, shares and hindrances, whatever the estimates, the covariances and the best arm."""
    rng = np.random.default_rng(7)
    for _ in range(200):
        arm_count, limit = int(rng.integers(2, 9)), rng.normal(size=1)
        estimates = rng.normal(size=(arm_count, 2))
        roots = rng.normal(size=(arm_count, 2, 3))
        covariances, pulls = roots @ roots.transpose(0, 2, 1), rng.uniform(1.0, 99.0, arm_count)
        best = int(rng.integers(arm_count))
        costs, shares, hindrances = np.zeros((3, arm_count))
        fill_beating(costs, shares, hindrances, estimates, covariances, best, pulls, limit)
        for arm in set(range(arm_count)) - {best}:
            one = (estimates, covariances, best, pulls[best], arm, pulls[arm], limit)
            assert (costs[arm], shares[arm]) == beating_cost(*one, cost_work(2))
            assert hindrances[arm] == pytest.approx(beating_hindrance(*one), rel=1e-9)


def test_demands_without_noise_hinder_nothing() -> None:
    estimates = np.array([[0.0, -1.0], [1.0, -0.1]])
    covariances = np.tile([[1.0, 0.0], [0.0, 0.0]], (2, 1, 1))
    assert beating_hindrance(estimates, covariances, 0, 10.0, 1, 10.0, np.zeros(1)) == 1.0
    assert beating_hindrance(estimates, 0.0 * covariances, 0, 10.0, 1, 10.0, np.zeros(1)) == 1.0
    same = np.ones((2, 2, 2))  # the objective and the constraint are one
    found = beating_hindrance(estimates, same, 0, 1e300, 1, 10.0, np.zeros(1))
    assert found == pytest.approx(1.0, abs=1e-6)
