"""Estimates and covariances of a large sample, against closed forms and quadrature of each law."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import roots_legendre

from ringfence.core.arrays import Floats
from ringfence.core.attributes import Attribute
from ringfence.core.expressions import parse_attribute
from ringfence.core.measurement import Measurement
from tests.statistical.checks import LIMIT
from tests.unit.measuring import measured

LAWS: dict[str, Any] = {
    "normal": stats.norm(1.0, 2.0),
    "exponential": stats.expon(scale=2.0),
    "uniform": stats.uniform(-1.0, 3.0),
    "student": stats.t(10.0),
}
MANY = 200_000
BREAK = 0.5  # the level of the share


class Truth:
    """A law's exact attributes and covariances, by quadrature of the exact influences."""

    texts = (
        "mean(x)",
        "robust_mean(x)",
        "variance(x)",
        "std(x)",
        f"share(x > {BREAK})",
        "p50(x)",
        "p90(x)",
        "p95(x)",
        "cvar(x, 0.9)",
        "cvar(x, 0.95)",
        "lower_cvar(x, 0.05)",
    )

    def __init__(self, law: Any) -> None:
        edges = [float(law.ppf(p)) for p in (0.05, 0.5, 0.9, 0.95)]
        self.x, self.weights = _nodes(law, sorted({*edges, BREAK}))
        assert float(self.weights.sum()) == pytest.approx(1.0, abs=1e-9)
        mean, variance = float(law.mean()), float(law.var())
        deviation = self.x - mean
        estimates, influences = [mean, mean], [deviation, deviation]
        beyond = (self.x > BREAK).astype(np.float64)
        estimates += [variance, math.sqrt(variance), float(law.sf(BREAK))]
        influences += [
            deviation**2,
            deviation**2 / (2.0 * math.sqrt(variance)),
            beyond,
        ]
        for level in (0.5, 0.9, 0.95):
            edge = float(law.ppf(level))
            estimates.append(edge)
            influences.append((self.x > edge) / float(law.pdf(edge)))
        for level in (0.9, 0.95):
            edge = float(law.ppf(level))
            excess = np.maximum(self.x - edge, 0.0) / (1.0 - level)
            estimates.append(edge + self.expected(excess))
            influences.append(excess)
        edge = float(law.ppf(0.05))
        shortfall = np.maximum(edge - self.x, 0.0) / 0.05
        estimates.append(edge - self.expected(shortfall))
        influences.append(-shortfall)
        centred = np.array([row - self.expected(row) for row in influences])
        self.estimates = np.array(estimates)
        self.covariance = (centred * self.weights) @ centred.T
        self.squares = (centred**2 * self.weights) @ (centred**2).T
        self.density_errors = np.array(
            [_density_error(parse_attribute(text)) for text in self.texts]
        )

    def expected(self, values: Floats) -> float:
        return float((values * self.weights).sum())


def _nodes(law: Any, kinks: list[float]) -> tuple[Floats, Floats]:
    """Return places and probabilities: 300 nodes of Gauss and Legendre between any two kinks."""
    low, high = (float(end) for end in law.support())
    inner = [kink for kink in kinks if low < kink < high]
    u, weight = roots_legendre(300)
    u, weight = (u + 1.0) / 2.0, weight / 2.0
    places, masses = [], []
    for left, right in zip([low, *inner], [*inner, high], strict=True):
        if math.isfinite(left) and math.isfinite(right):
            x, slope = left + (right - left) * u, np.full(300, right - left)
        else:
            edge, side = (left, 1.0) if math.isfinite(left) else (right, -1.0)
            x, slope = edge + side * 4.0 * u / (1.0 - u), 4.0 / (1.0 - u) ** 2
        places.append(x)
        masses.append(law.pdf(x) * slope * weight)
    return np.concatenate(places), np.concatenate(masses)


def _density_error(attribute: Attribute) -> float:
    """Return the relative standard error of a density found in Hall and Sheather's window."""
    if attribute.statistic != "quantile":
        return 0.0
    z, reach = stats.norm.ppf(attribute.level), stats.norm.ppf(0.975)
    window = (1.5 * stats.norm.pdf(z) ** 2 / (2.0 * z**2 + 1.0)) ** (1 / 3)
    window *= MANY ** (-1 / 3) * reach ** (2 / 3)
    return float(1.0 / math.sqrt(2.0 * MANY * window))


@cache
def truth_of(name: str) -> Truth:
    return Truth(LAWS[name])


@cache
def large_sample(name: str) -> Measurement:
    stream = np.random.default_rng(2024)
    return measured(Truth.texts, LAWS[name].rvs(size=MANY, random_state=stream))


def check_estimates(found: Measurement, truth: Truth) -> None:
    error = np.sqrt(np.diagonal(truth.covariance) / found.count)
    z = (found.estimates - truth.estimates) / error
    assert (np.abs(z) <= LIMIT).all(), dict(zip(Truth.texts, z.round(1), strict=True))


def covariance_errors(found: Measurement, truth: Truth) -> Floats:
    """Return how many times the error exceeds its tolerance, of each covariance.

    The tolerance is LIMIT standard errors of a mean of products of the exact influences, half as
    much again because centres and edges are estimated too, and the error of densities.
    """
    scale = np.sqrt(np.outer(np.diagonal(truth.covariance), np.diagonal(truth.covariance)))
    tolerance = 1.5 * LIMIT * np.sqrt(truth.squares / found.count)
    densities = np.add.outer(truth.density_errors, truth.density_errors)
    tolerance += LIMIT * densities * np.abs(truth.covariance) + 1e-12 * scale
    return np.asarray(np.abs(found.covariance - truth.covariance) / tolerance)


@pytest.mark.parametrize("law", LAWS)
def test_estimates_of_a_large_sample_are_those_of_the_law(law: str) -> None:
    check_estimates(large_sample(law), truth_of(law))


@pytest.mark.parametrize("law", LAWS)
def test_covariances_of_a_large_sample_are_those_of_the_law(law: str) -> None:
    errors = covariance_errors(large_sample(law), truth_of(law))
    worst = np.unravel_index(np.argmax(errors), errors.shape)
    assert (errors <= 1.0).all(), [Truth.texts[place] for place in worst]


@pytest.mark.parametrize("law", LAWS)
def test_covariances_that_are_off_would_be_noticed(law: str) -> None:
    """The same check on a law half as wide again, and on covariances with their signs turned."""
    found, truth = large_sample(law), truth_of(law)
    wider = replace(found, covariance=1.5 * found.covariance)
    assert (np.diagonal(covariance_errors(wider, truth)) > 1.0).all()
    turned = replace(found, covariance=-found.covariance)
    correlated = np.abs(truth.covariance) > 0.3 * np.sqrt(
        np.outer(np.diagonal(truth.covariance), np.diagonal(truth.covariance))
    )
    assert (covariance_errors(turned, truth)[correlated] > 1.0).all()
    shifted = replace(found, estimates=1.1 * found.estimates)
    with pytest.raises(AssertionError):
        check_estimates(shifted, truth)


def test_the_quadrature_knows_the_textbook() -> None:
    at = {text: place for place, text in enumerate(Truth.texts)}
    mean, spread, median = at["mean(x)"], at["variance(x)"], at["p50(x)"]
    normal, exponential = truth_of("normal"), truth_of("exponential")
    # Normal with variance 4: 2 sigma^4, no skew, pi sigma^2 / 2, and sigma^2 with any quantile.
    assert normal.covariance[spread, spread] == pytest.approx(32.0, rel=1e-9)
    assert normal.covariance[mean, spread] == pytest.approx(0.0, abs=1e-9)
    assert normal.covariance[median, median] == pytest.approx(2.0 * math.pi, rel=1e-9)
    assert normal.covariance[mean, at["p95(x)"]] == pytest.approx(4.0, rel=1e-9)
    # Exponential of mean 2: mu3 = 16, mu4 - sigma^4 = 128; a tail mean is the quantile plus 2.
    assert exponential.covariance[mean, spread] == pytest.approx(16.0, rel=1e-9)
    assert exponential.covariance[spread, spread] == pytest.approx(128.0, rel=1e-9)
    tail = exponential.estimates[at["cvar(x, 0.9)"]] - exponential.estimates[at["p90(x)"]]
    assert tail == pytest.approx(2.0, rel=1e-9)
    # Its tail variance is E[y^2]/al^2 - E[y]^2/al^2 with E[y] = 2 al and E[y^2] = 8 al.
    answer = (8.0 * 0.1 - 0.04) / 0.01
    assert exponential.covariance[at["cvar(x, 0.9)"], at["cvar(x, 0.9)"]] == pytest.approx(answer)
    student = truth_of("student")  # mu4 = 6/8 more than the normal's 3, in units of sigma^4
    sigma4 = (10.0 / 8.0) ** 2
    assert student.covariance[spread, spread] == pytest.approx((3.0 + 6.0 / 6.0 - 1.0) * sigma4)
