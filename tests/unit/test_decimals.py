"""Exact numbers: what was written is what counts, whatever floats make of it."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ringfence.core.decimals import Decimals, averages, decimal, decimals, less, of_fractions

FINITE = st.floats(-1e60, 1e60, allow_nan=False)


@given(st.lists(FINITE, max_size=12))
def test_floats_are_the_decimals_that_they_were_written_as(values: list[float]) -> None:
    assert decimals(values).fractions() == [Fraction(repr(value)) for value in values]


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=12), st.integers(0, 9))
def test_short_decimals_are_found_at_once(values: list[int], digits: int) -> None:
    exact = [Fraction(value, 10**digits) for value in values]
    found = decimals([float(f"{value}e-{digits}") for value in values])
    assert found.fractions() == exact
    assert found.denominator <= 10**digits


@given(
    st.lists(st.tuples(FINITE, FINITE), max_size=8),
    st.fractions(min_value=-3, max_value=3, max_denominator=100),
)
def test_differences_are_exact(pairs: list[tuple[float, float]], factor: Fraction) -> None:
    first, second = decimals([a for a, _ in pairs]), decimals([b for _, b in pairs])
    expected = [decimal(a) - factor * decimal(b) for a, b in pairs]
    assert less(first, second, factor).fractions() == expected


@given(st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=4), max_size=6))
def test_averages_of_groups_are_exact(groups: list[list[int]]) -> None:
    values = of_fractions([Fraction(one, 7) for group in groups for one in group])
    found = averages(values, np.array([len(group) for group in groups], np.int64))
    assert found.fractions() == [Fraction(sum(group), 7 * len(group)) for group in groups]


def test_floats_are_the_nearest_ones() -> None:
    found = Decimals(np.array([29, -1, 10**30], dtype=object), 100).floats()
    assert found.tolist() == [0.29, -0.01, 1e28]
    assert math.isfinite(decimals([1e60, 1e-60]).floats()[0])
