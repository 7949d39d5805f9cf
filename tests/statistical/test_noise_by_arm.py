"""Where arms are worlds apart, intervals are as wide as an arm's own rows make them."""

import numpy as np
import pytest
from scipy import stats

from ringfence.core import beliefs, variances
from ringfence.core.arrays import Floats
from ringfence.core.problem import Problem
from ringfence.study.book import Book
from ringfence.study.snapshot import Snapshot

ALPHA = 1e-6
APART = np.geomspace(4.0, 5838.0, 10)
PROBLEM = Problem.parse("minimize mean(x)", "mean(y) <= 0")


def widths_and_coverage(deviations: Floats, pulls: int, studies: int) -> tuple[Floats, Floats]:
    """Return widths [study, arm] over those of the arm's own rows, and whether they cover."""
    rng = np.random.default_rng(pulls)
    widths, covered = [], []
    reach = float(stats.t.ppf(0.975, pulls - 1)) / pulls**0.5
    for _ in range(studies):
        book = Book(PROBLEM, [f"arm {i}" for i in range(len(deviations))], ["x", "y"])
        own = []
        for arm, deviation in enumerate(deviations):
            rows = np.column_stack([deviation * rng.normal(size=pulls), rng.normal(size=pulls)])
            own.append(2.0 * reach * rows[:, 0].std(ddof=1))
            book.add(arm, rows)
        believed = Snapshot(book).beliefs
        ends = np.array([believed.interval(arm, 0) for arm in range(len(deviations))])
        widths.append((ends[:, 1] - ends[:, 0]) / own)
        covered.append((ends[:, 0] <= 0.0) & (ends[:, 1] >= 0.0))
    return np.array(widths), np.array(covered)


def misses(deviations: Floats, pulls: int, studies: int = 60) -> set[str]:
    """Return which goals are missed: widths by arm, and coverage beyond chance either way."""
    widths, covered = widths_and_coverage(deviations, pulls, studies)
    held, of = int(covered.sum()), covered.size
    found = {"wide"} if widths.mean(axis=0).max() > 1.1 else set()
    found |= {"narrow"} if widths.mean(axis=0).min() < 0.9 else set()
    found |= {"covers too little"} if stats.binom.cdf(held, of, 0.95) < ALPHA else set()
    found |= {"covers too much"} if stats.binom.sf(held - 1, of, 0.95) < ALPHA else set()
    return found


@pytest.mark.parametrize("pulls", [10, 30])
@pytest.mark.parametrize("deviations", [APART, np.ones(10)], ids=["apart", "alike"])
def test_intervals_are_as_wide_as_their_rows_make_them(deviations: Floats, pulls: int) -> None:
    assert misses(deviations, pulls) == set()


def test_intervals_from_pooled_variances_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: every arm borrows ten pulls' worth, however little arms are alike."""
    real = variances.likeness
    monkeypatch.setattr(variances, "likeness", lambda *said: (real(*said)[0], 10.0))
    assert "wide" in misses(APART, 10, 10)


def test_normal_intervals_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: variances count as known from many more pulls than there are."""
    real = variances.freedoms
    monkeypatch.setattr(beliefs, "freedoms", lambda *said: (1e3 + real(*said)[0], real(*said)[1]))
    assert "narrow" in misses(APART, 10, 30)
