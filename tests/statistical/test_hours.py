"""Where hours move all arms, differences and levels are covered, and effects of hours recovered."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from ringfence.core.arrays import Floats, Integers
from ringfence.core.hours import fill_within
from ringfence.core.problem import Problem
from ringfence.study import hours_seen
from ringfence.study.book import Book

ALPHA = 1e-6
PROBLEM = Problem.parse("minimize mean(x)", "mean(y) <= 0.5")
DEVIATIONS = np.array([1.0, 2.0, 0.5])
MEANS = np.array([0.0, 0.3, -0.2])
EVERYONE, FIRST = np.ones(3, np.bool_), np.arange(3)


def pulls_in(rng: Any, hours: int) -> Integers:
    """Return pulls by arm and hour, which go to other arms in other hours."""
    lots = rng.dirichlet([0.7] * 3, size=hours)
    return 2 + np.array([rng.multinomial(30, one) for one in lots]).T


def seen_in(rng: Any, hours: int, swing: float) -> tuple[float, Floats, Floats]:
    """Return the variance found for an hour's effect, and how far arms are off what was true.

    In standard errors: the difference of two arms, then the level of each over the hours.
    """
    book, counts = (
        Book(PROBLEM, ["one", "two", "three"], ["x", "y"], has_hours=True),
        pulls_in(rng, hours),
    )
    effects = swing * rng.normal(size=hours)
    for arm in range(3):
        mine = np.repeat(np.arange(hours), counts[arm])
        x = MEANS[arm] + effects[mine] + DEVIATIONS[arm] * rng.normal(size=len(mine))
        book.add(arm, np.column_stack([x, rng.random(len(mine)) < 0.2]), mine)
    seen = book.plain_evidence(EVERYONE, FIRST)
    believed = book.beliefs(seen)
    assert seen.hours is not None
    at, low, high = believed.difference(0, 1, 0)
    apart = (at - (MEANS[0] - MEANS[1])) / (0.5 * (high - low))
    truth = MEANS + counts.sum(axis=0) @ effects / counts.sum()
    ends = np.array([believed.interval(arm, 0) for arm in range(3)])
    off = (seen.estimates[:, 0] - truth) / (0.5 * (ends[:, 1] - ends[:, 0]))
    return float(seen.hours.spread[0]), np.array([apart]), off


def misses(swing: float, *, hours: int = 24, studies: int = 500) -> set[str]:
    """Return which goals are missed, beyond chance."""
    rng = np.random.default_rng(hours)
    found = [seen_in(rng, hours, swing) for _ in range(studies)]
    spreads = np.array([one[0] for one in found])
    missed = set[str]()
    for what, off in (
        ("difference", [one[1][0] for one in found]),
        ("level", [one[2][0] for one in found]),
    ):
        held = int((np.abs(off) <= 1.0).sum())
        missed |= {f"{what} too narrow"} if stats.binom.cdf(held, studies, 0.95) < ALPHA else set()
        missed |= {f"{what} too wide"} if stats.binom.sf(held - 1, studies, 0.95) < ALPHA else set()
    if swing > 0.0:
        error = spreads.std(ddof=1) / studies**0.5 / swing**2
        if abs(spreads.mean() / swing**2 - 1.0) > stats.norm.isf(ALPHA / 2) * error + 0.02:
            missed.add("effect")
    return missed


@pytest.mark.parametrize("swing", [0.0, 0.3, 3.0])
def test_differences_and_levels_are_covered_whatever_hours_do(swing: float) -> None:
    assert misses(swing) == set()


def test_hours_that_are_ignored_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: what all arms did in an hour is put down to the arms."""
    monkeypatch.setattr(hours_seen, "spread_of_hours", lambda weights, away: 0.0)
    assert {"difference too narrow", "effect"} <= misses(3.0, studies=200)
    assert misses(0.3, studies=200) == {"effect"}


def test_noise_between_hours_taken_for_noise_within_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The planted fault: an arm's scatter about its mean of all hours counts as a pull's noise."""
    real = fill_within

    def faulty(covariances: Floats, within: Floats, freedom: Integers, *others: Any) -> None:
        scatters, counts = others[:2]
        real(covariances, scatters, counts - 1, *others)

    monkeypatch.setattr(hours_seen, "fill_within", faulty)
    assert "difference too wide" in misses(3.0)
