"""Quantiles, exact to the pull, and limits on them, which are limits on shares."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.core.measurement import measure_sample
from ringfence.core.problem import Problem
from tests.oracle import attributes as oracle
from tests.unit.measuring import estimate_of, measured

# -------------------------------------------------------------------------------------------- ranks

LEVELS = sorted(
    {k / 100 for k in range(1, 100)} | {0.001, 0.005, 0.025, 0.125, 0.333, 0.975, 0.995, 0.999}
)


def rank_of(count: int, level: float, sign: float) -> int:
    """Return the rank that is measured, from a sample whose values are their ranks."""
    return round(estimate_of(f"quantile(x, {level!r})", np.arange(1.0, count + 1.0), sign=sign))


@pytest.mark.parametrize("count", [2, 3, 7, 10, 20, 50, 100, 250, 1000])
def test_ranks_are_exact_for_levels_as_written(count: int) -> None:
    """Such as 100 times 0.07, which is 7 and not the float above it."""
    whole = 0
    for level in LEVELS:
        places = count * oracle.written(level)
        whole += places.denominator == 1
        assert rank_of(count, level, 1.0) == math.ceil(places), level
        assert rank_of(count, level, -1.0) == math.floor(places) + 1, level
    assert whole >= (count % 2 == 0), "n p must be whole often enough"


def test_the_ranks_that_floats_would_miss() -> None:
    missed = [(n, p) for n in (50, 100, 200) for p in LEVELS if math.ceil(n * p) != round(n * p, 9)]
    missed = [(n, p) for n, p in missed if (n * oracle.written(p)).denominator == 1]
    assert (100, 0.07) in missed
    for count, level in missed:
        assert rank_of(count, level, 1.0) == round(count * level)
        assert rank_of(count, level, -1.0) == round(count * level) + 1


@given(
    values=st.lists(st.integers(-3, 3), min_size=2, max_size=30),
    level=st.sampled_from(LEVELS),
)
def test_quantiles_equal_their_definition(values: list[int], level: float) -> None:
    x, written = oracle.exact(values), oracle.written(level)
    text = f"quantile(x, {level!r})"
    assert estimate_of(text, values) == oracle.lower_quantile(x, written)
    assert estimate_of(text, values, sign=-1.0) == oracle.upper_quantile(x, written)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_numpy_agrees_on_quantiles(sign: float) -> None:
    x = np.random.default_rng(6).normal(size=101)  # n p is never whole: one pull, either way
    for level in (0.05, 0.5, 0.9, 0.95):
        answer = float(np.quantile(x, level, method="inverted_cdf"))
        assert estimate_of(f"quantile(x, {level})", x, sign=sign) == answer


def test_the_default_is_the_lower_of_two_pulls() -> None:
    assert measured("p50(x)", [1.0, 2.0, 3.0, 4.0]).estimates.tolist() == [2.0]
    both = measured(["p50(x)", "p50(x)"], [1.0, 2.0, 3.0, 4.0], signs=[1.0, -1.0])
    assert both.estimates.tolist() == [2.0, 3.0]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("level", [0.1, 0.5, 0.9, 0.95])
def test_a_quantile_moves_with_the_pulls_beyond_it(level: float, sign: float) -> None:
    """Its correlation with a mean takes no density: it is that of being beyond the quantile."""
    stream = np.random.default_rng(8)
    x = stream.normal(size=90)
    y = x + stream.normal(size=90)
    texts = [f"quantile(x, {level})", "mean(y)"]
    found = measured(texts, x, y=y, signs=[sign, 1.0])
    beyond = x > found.estimates[0]
    correlation = found.covariance[0, 1] / math.sqrt(found.covariance[0, 0] * y.var(ddof=1))
    assert correlation == pytest.approx(np.corrcoef(beyond, y)[0, 1], rel=1e-9)


# ------------------------------------------------------ a limit on a quantile is a limit on a share


def both_ways(text: str, values: Sequence[float], sign: float) -> tuple[bool, bool]:
    """Tell whether a sample meets a limit on a quantile as written, and as judged."""
    problem = Problem.parse("minimize mean(x)", [text])
    (written,), (judged,) = problem.constraints, problem.judged.constraints
    assert written.attribute.statistic == "quantile"
    assert judged.attribute.statistic == "share"
    assert judged.relation == "<="
    quantile = measure_sample(written.attribute, {"x": values}, signs=[sign]).estimates[0]
    share = measure_sample(judged.attribute, {"x": values}).estimates[0]
    within = quantile <= written.threshold if sign > 0.0 else quantile >= written.threshold
    return bool(within), bool(share <= judged.threshold)


def check_judged(values: Sequence[float], level: float, threshold: float) -> tuple[int, int]:
    """Compare both ways of judging a sample; return how many of two constraints it meets."""
    x, limit, met = oracle.exact(values), Fraction(threshold), [0, 0]
    for place, (relation, sign) in enumerate([("<=", 1.0), (">=", -1.0)]):
        text = f"quantile(x, {level!r}) {relation} {threshold!r}"
        by_quantile, by_share = both_ways(text, values, sign)
        outside = sum(v > limit if relation == "<=" else v < limit for v in x)
        allowed = 1 - oracle.written(level) if relation == "<=" else oracle.written(level)
        exactly = Fraction(outside, len(x)) <= allowed
        where = f"{text} on {list(values)}"
        assert by_quantile == exactly, where
        assert by_share == exactly, where
        met[place] = int(exactly)
    return met[0], met[1]


def test_every_small_sample_is_judged_the_same() -> None:
    """All samples of up to six pulls among four values, at limits on and between the values."""
    met, total = np.zeros(2, np.int64), 0
    for count in range(2, 7):
        for values in combinations_with_replacement([0.0, 1.0, 2.0, 3.0], count):
            for level in (0.05, 0.2, 0.25, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.95):
                for threshold in (1.0, 1.5, 2.0):
                    met += check_judged(values, level, threshold)
                    total += 1
    assert (0.2 * total < met).all()
    assert (met < 0.8 * total).all()


@pytest.mark.parametrize("count", [10, 40, 100, 200, 1000])
def test_a_pull_more_or_less_decides_at_every_level(count: int) -> None:
    """Samples with as many pulls beyond the limit as are allowed, one less and one more."""
    for level in LEVELS if count == 100 else LEVELS[:: count // 10 + 1]:
        at = count * oracle.written(level)
        outcomes = []
        for below in {math.floor(at) - 1, math.floor(at), math.ceil(at), math.ceil(at) + 1}:
            if 0 <= below <= count:
                values = [0.0] * below + [2.0] * (count - below)
                outcomes.append(check_judged(values, level, 1.0))
        assert len(set(outcomes)) > 1


@given(
    values=st.lists(st.integers(0, 3), min_size=2, max_size=25),
    level=st.integers(1, 999).map(lambda k: k / 1000),
    threshold=st.integers(0, 6).map(lambda k: k / 2),
)
def test_any_sample_is_judged_the_same(values: list[int], level: float, threshold: float) -> None:
    check_judged([float(v) for v in values], level, threshold)


@pytest.mark.parametrize("count", [3, 6, 7, 11, 12, 13])
def test_levels_without_an_end_are_judged_the_same(count: int) -> None:
    """A level such as 5/6 from a program, all 16 digits of it, on samples of six."""
    for k, below in product(range(1, count), range(count + 1)):
        values = [0.0] * below + [2.0] * (count - below)
        for relation, sign in [("<=", 1.0), (">=", -1.0)]:
            text = f"quantile(x, {k / count!r}) {relation} 1"
            by_quantile, by_share = both_ways(text, values, sign)
            assert by_quantile == by_share, f"{text} on {values}"


def test_what_is_no_quantile_is_judged_as_written() -> None:
    texts = ["mean(x) <= 1", "cvar(x, 0.9) <= 2", "share(x > 1) >= 0.5", "p50(x) <= 3"]
    problem = Problem.parse("minimize p95(x)", texts)
    assert problem.judged.objective == problem.objective
    assert problem.judged.constraints[:3] == problem.constraints[:3]
    assert str(problem.judged.constraints[3]) == "share(x > 3) <= 0.5"
    assert problem.judged.judged == problem.judged
    both = Problem.parse("minimize mean(x)", ["p95(x) <= 200", "quantile(x, 0.07) >= -1.5"])
    assert [str(c) for c in both.judged.constraints] == [
        "share(x > 200) <= 0.05",
        "share(x < -1.5) <= 0.07",
    ]
