"""Proven constants: the inequality holds on every law tried, and the constants are not idle."""

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from ringfence.core.errors import InputError
from ringfence.core.expressions import parse_attribute
from ringfence.core.measurement import proven_constant
from tests.unit.measuring import estimate_of

LOW, HIGH = -1.0, 2.0  # the bounds of every law here: three wide
PROVEN = (
    "mean(x)",
    "share(x > 0.5)",
    "variance(x)",
    "std(x)",
    "cvar(x, 0.5)",
    "cvar(x, 0.9)",
    "lower_cvar(x, 0.1)",
    "lower_cvar(x, 0.5)",
)
Outcomes = list[tuple[tuple[int, ...], float]]


def constant_of(text: str) -> float:
    found = proven_constant(parse_attribute(text), bounds=(LOW, HIGH))
    assert found is not None
    return found


def truth_on(text: str, points: Sequence[float], chances: Sequence[float]) -> float:
    """Return an attribute of a law on a few points, from the definition."""
    attribute = parse_attribute(text)
    mean = sum(x * p for x, p in zip(points, chances, strict=True))
    variance = sum((x - mean) ** 2 * p for x, p in zip(points, chances, strict=True))
    if attribute.statistic in ("mean", "variance", "std"):
        return {"mean": mean, "variance": variance, "std": math.sqrt(variance)}[attribute.statistic]
    assert attribute.level is not None
    if attribute.statistic == "share":
        return sum(p for x, p in zip(points, chances, strict=True) if x > attribute.level)
    highest = attribute.statistic == "cvar"
    mass = 1.0 - attribute.level if highest else attribute.level
    left, total = mass, 0.0
    for x, p in sorted(zip(points, chances, strict=True), reverse=highest):
        part = min(left, p)
        total, left = total + part * x, left - part
    return total / mass


@cache
def outcomes_of(text: str, points: tuple[float, ...], count: int) -> Outcomes:
    """Return each way in which pulls may fall on the points, with the estimate from it."""
    found = []
    for cuts in combinations_with_replacement(range(count + 1), len(points) - 1):
        edges = [0, *cuts, count]
        seen = tuple(b - a for a, b in pairwise(edges))
        found.append((seen, estimate_of(text, np.repeat(points, seen))))
    return found


def excess(
    text: str,
    points: tuple[float, ...],
    chances: tuple[float, ...],
    count: int,
    constant: float,
) -> float:
    """Return the most by which the chance of an error exceeds 2 exp(-a n D^2), over all D.

    Chances are exact, and none but the errors that occur matter: between them the chance is flat
    while the limit falls.
    """
    outcomes = outcomes_of(text, points, count)
    chance = stats.multinomial(count, chances).pmf(np.array([seen for seen, _ in outcomes]))
    truth = truth_on(text, points, chances)
    errors = np.abs(np.array([estimate for _, estimate in outcomes]) - truth)
    pulls = count - 1 if text == "std(x)" else count
    worst = -math.inf
    for size in np.unique(errors):
        limit = 2.0 * math.exp(-constant * pulls * max(size - 1e-9, 0.0) ** 2)
        worst = max(worst, float(chance[errors >= size - 1e-9].sum()) - limit)
    return worst


TWO = [(LOW, HIGH)]
THREE = [(LOW, 0.0, HIGH), (LOW, 1.9, HIGH)]
CASES: list[tuple[tuple[float, ...], tuple[float, ...], int]] = [
    (points, (1.0 - p, p), count)
    for points in TWO
    for count in (2, 5, 20, 60, 200)
    for p in (0.02, 0.1, 0.1464, 0.3, 0.5, 0.9)
] + [
    (points, chances, count)
    for points in THREE
    for count in (4, 16)
    for chances in [(0.4, 0.2, 0.4), (0.05, 0.9, 0.05), (0.1, 0.6, 0.3)]
]


@pytest.mark.parametrize("text", PROVEN)
def test_proven_constants_hold(text: str) -> None:
    """On every law here, at every error that can occur; and eight times as much would not."""
    constant = constant_of(text)
    for points, chances, count in CASES:
        assert excess(text, points, chances, count, constant) <= 1e-9, (points, chances, count)
    too_much = [excess(text, *case, 8.0 * constant) for case in CASES]
    assert max(too_much) > 1e-3


@pytest.mark.parametrize("text", PROVEN)
@pytest.mark.parametrize("shape", [(0.5, 0.5), (2.0, 5.0)])
def test_proven_constants_hold_on_drawn_samples(text: str, shape: tuple[float, float]) -> None:
    law = stats.beta(*shape, loc=LOW, scale=HIGH - LOW)
    grid = law.ppf((np.arange(100_000) + 0.5) / 100_000)
    truth = truth_on(text, grid.tolist(), [1e-5] * len(grid))
    stream, times = np.random.default_rng(21), 300
    for count in (4, 25):
        drawn = law.rvs(size=(times, count), random_state=stream)
        errors = np.abs([estimate_of(text, row) - truth for row in drawn])
        pulls = count - 1 if text == "std(x)" else count
        for limit in (0.5, 0.1, 0.02):  # 2 exp(-a n D^2), and so D
            size = math.sqrt(math.log(2.0 / limit) / (constant_of(text) * pulls))
            seen = int((errors >= size).sum())
            assert stats.binom(times, limit).sf(seen - 1) >= 1e-6, (count, limit, seen)


def test_the_constants_are_those_of_the_theorems() -> None:
    width = HIGH - LOW
    answers = [2 / width**2, 2.0, 2 / width**4, 0.5 / width**2]
    answers += [2 * tail**2 / width**2 for tail in (0.5, 0.1, 0.1, 0.5)]
    np.testing.assert_allclose([constant_of(text) for text in PROVEN], answers, rtol=1e-12)
    assert proven_constant(parse_attribute("share(x > 3)")) == 2.0
    assert proven_constant(parse_attribute("mean(x)"), sigma=3.0) == pytest.approx(1 / 18)


@pytest.mark.parametrize("text", ["p95(x)", "quantile(x, 0.5)", "robust_mean(x)"])
def test_nothing_is_proven_of_the_others(text: str) -> None:
    attribute = parse_attribute(text)
    assert proven_constant(attribute) is None
    assert proven_constant(attribute, bounds=(0.0, 1.0)) is None
    assert proven_constant(attribute, sigma=1.0) is None


@pytest.mark.parametrize("text", [text for text in PROVEN if text[:5] != "share"])
def test_nothing_is_proven_without_bounds(text: str) -> None:
    assert proven_constant(parse_attribute(text)) is None
    if text != "mean(x)":
        assert proven_constant(parse_attribute(text), sigma=1.0) is None


def test_nothing_is_proven_of_a_function_of_ones_own() -> None:
    own = parse_attribute("mine(x)", {"mine": np.mean})
    assert proven_constant(own, bounds=(0.0, 1.0)) is None
    assert proven_constant(own, sigma=1.0) is None


@pytest.mark.parametrize(
    "bounds", [(1.0, 1.0), (2.0, 1.0), (0.0, math.inf), (-math.inf, 0.0), (math.nan, 1.0)]
)
def test_bounds_must_bound(bounds: tuple[float, float]) -> None:
    with pytest.raises(InputError, match="bounds = "):
        proven_constant(parse_attribute("mean(x)"), bounds=bounds)


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.inf, math.nan])
def test_sigma_must_be_positive(sigma: float) -> None:
    with pytest.raises(InputError, match="sigma = "):
        proven_constant(parse_attribute("mean(x)"), sigma=sigma)


@given(
    low=st.floats(-10.0, 10.0),
    width=st.floats(0.01, 100.0),
    factor=st.sampled_from([2.0, 0.5]),
)
def test_constants_scale_with_the_bounds(low: float, width: float, factor: float) -> None:
    """An error of scale^degree times as much must get the same limit."""
    assume(low + width > low)
    for text, degree in [("mean(x)", 1), ("variance(x)", 2), ("std(x)", 1), ("cvar(x, 0.9)", 1)]:
        attribute = parse_attribute(text)
        here = proven_constant(attribute, bounds=(low, low + width))
        there = proven_constant(attribute, bounds=(factor * low, factor * (low + width)))
        assert here is not None
        assert there == pytest.approx(here / factor ** (2 * degree), rel=1e-6)
