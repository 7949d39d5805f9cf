"""What makes a threat less likely than its cost says, against normal probabilities."""

import math

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import multivariate_normal

from ringfence.core.cost import beating_cost, beating_hindrance, cost_work, lack


def test_lack_is_what_a_tail_has_beyond_its_exponent() -> None:
    for z in np.linspace(-8.0, 8.0, 161):
        exact = -float(log_ndtr(-z)) - max(z, 0.0) ** 2 / 2.0
        assert lack(float(z)) == pytest.approx(exact, rel=1e-9, abs=1e-15)
    for z in (8.01, 20.0, 1e3):
        assert lack(z) == pytest.approx(-float(log_ndtr(-z)) - z * z / 2.0, abs=0.001)
    assert lack(0.0) == pytest.approx(math.log(2.0))
    assert np.all(np.diff([lack(float(z)) for z in np.linspace(-9.0, 9.0, 1801)]) >= 0.0)


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
        hindrance = beating_hindrance(estimates, covariances, 0, best_n, 1, n, limit)
        chance = multivariate_normal(mean=estimates[1], cov=joint).cdf(np.zeros(2))
        if chance > 1e-6:
            errors.append(cost + lack(hardest) + hindrance + math.log(chance))
            without.append(cost + lack(hardest) + math.log(chance))
    assert len(errors) > 100
    assert np.abs(errors).max() < 0.9
    assert np.abs(errors).mean() < 0.75 * np.abs(without).mean()
    assert np.abs(errors).max() < 0.5 * np.abs(without).max()


def test_demands_without_noise_hinder_nothing() -> None:
    estimates = np.array([[0.0, -1.0], [1.0, -0.1]])
    covariances = np.tile([[1.0, 0.0], [0.0, 0.0]], (2, 1, 1))
    assert beating_hindrance(estimates, covariances, 0, 10.0, 1, 10.0, np.zeros(1)) == 0.0
    assert beating_hindrance(estimates, 0.0 * covariances, 0, 10.0, 1, 10.0, np.zeros(1)) == 0.0
    same = np.ones((2, 2, 2))  # the objective and the constraint are one
    found = beating_hindrance(estimates, same, 0, 1e300, 1, 10.0, np.zeros(1))
    assert found == pytest.approx(0.0, abs=1e-6)
