"""Clopper-Pearson intervals against the binomial tails that define them."""

import pytest
from scipy.stats import binom

from ringfence.core.intervals import binomial_interval

CASES = [(1, 10), (3, 10), (9, 10), (1, 1000), (17, 1000), (500, 1000), (999, 1000), (4, 10**6)]


@pytest.mark.parametrize(("errors", "replications"), CASES)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_ends_solve_the_tail_equations(errors: int, replications: int, level: float) -> None:
    low, high = binomial_interval(errors, replications, level=level)
    tail = (1 - level) / 2
    assert binom.sf(errors - 1, replications, low) == pytest.approx(tail, rel=1e-9)
    assert binom.cdf(errors, replications, high) == pytest.approx(tail, rel=1e-9)
    assert 0 < low < errors / replications < high < 1


@pytest.mark.parametrize("replications", [1, 10, 1000, 10**6])
def test_no_errors_and_nothing_but_errors(replications: int) -> None:
    low, high = binomial_interval(0, replications)
    assert low == 0.0
    assert (1 - high) ** replications == pytest.approx(0.025, rel=1e-9)
    low_all, high_all = binomial_interval(replications, replications)
    assert high_all == 1.0
    assert low_all**replications == pytest.approx(0.025, rel=1e-9)
    assert (1 - high, 1 - low) == pytest.approx((low_all, high_all), rel=1e-12)


@pytest.mark.parametrize("replications", [1, 2, 5, 20])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_never_covers_less_than_its_level(replications: int, level: float) -> None:
    """The exact probability of covering p, over a grid of p and just beside every end."""
    counts = range(replications + 1)
    ends = [binomial_interval(errors, replications, level=level) for errors in counts]
    edges = {end + step for pair in ends for end in pair for step in (-1e-9, 0.0, 1e-9)}
    for p in sorted({i / 500 for i in range(501)} | {edge for edge in edges if 0 <= edge <= 1}):
        covered = sum(
            binom.pmf(errors, replications, p)
            for errors, (low, high) in zip(counts, ends, strict=True)
            if low <= p <= high
        )
        assert covered >= level - 1e-9


def test_a_higher_level_is_wider() -> None:
    narrow, default = binomial_interval(7, 50, level=0.9), binomial_interval(7, 50)
    wide = binomial_interval(7, 50, level=0.99)
    assert wide[0] < default[0] < narrow[0] < narrow[1] < default[1] < wide[1]


def test_ends_are_plain_floats() -> None:
    assert [type(end) for end in binomial_interval(3, 10)] == [float, float]
