"""Exact numbers: what was written as decimals, as integers over one denominator.

A float is taken for the shortest decimal that reads back as it: 0.29 is 29/100, and not the float
next to it. So sums of many are exact, and ties with a limit are ties. Touches its arguments only.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers

_MOST_DIGITS = 15  # after the point, where one power of ten serves all
_WHOLE = 2.0**53


class Decimals(NamedTuple):
    """Numbers as `numerators`, Python integers in an array, over a common `denominator`."""

    numerators: Integers
    denominator: int

    def over(self, denominator: int) -> Integers:
        """Return the numerators over a multiple of the denominator."""
        return self.numerators * (denominator // self.denominator)

    def floats(self) -> Floats:
        """Return the numbers as floats."""
        return np.asarray(self.numerators / self.denominator, dtype=np.float64)

    def fractions(self) -> list[Fraction]:
        """Return the numbers one by one."""
        return [Fraction(one, self.denominator) for one in self.numerators]


def decimal(value: float) -> Fraction:
    """Return the shortest decimal that reads back as a float.

    >>> from ringfence.core.decimals import decimal
    >>> decimal(0.29)
    Fraction(29, 100)
    """
    return Fraction(repr(float(value)))


def decimals(values: Floats | Sequence[float]) -> Decimals:
    """Return many floats as the decimals that they were written as.

    With r = round(10^d x) below 2^53, the float of r / 10^d is the one nearest to that decimal: if
    it is x, then x was written so.
    """
    given = np.asarray(values, dtype=np.float64)
    size = float(np.abs(given).max(initial=0.0))
    for digits in range(_MOST_DIGITS + 1):
        if size * 10.0**digits >= _WHOLE:
            break
        scaled = np.rint(given * 10.0**digits)
        if (scaled / 10.0**digits == given).all():
            return Decimals(scaled.astype(np.int64).astype(object), 10**digits)
    return of_fractions([decimal(value) for value in given.tolist()])


def of_fractions(values: Sequence[Fraction]) -> Decimals:
    """Return many fractions over one denominator."""
    common = math.lcm(1, *{value.denominator for value in values})
    whole = [value.numerator * (common // value.denominator) for value in values]
    return Decimals(np.array(whole, dtype=object), common)


def less(first: Decimals, second: Decimals, factor: Fraction) -> Decimals:
    """Return the first less a multiple of the second."""
    common = math.lcm(first.denominator, second.denominator * factor.denominator)
    times = factor.numerator * (common // (second.denominator * factor.denominator))
    return Decimals(first.over(common) - second.numerators * times, common)


def turned(values: Decimals) -> Decimals:
    """Return the numbers with the opposite sign."""
    return Decimals(-values.numerators, values.denominator)


def averages(values: Decimals, sizes: Integers) -> Decimals:
    """Return the averages of successive groups of numbers, `sizes` of them in each."""
    if not len(sizes):
        return Decimals(values.numerators[:0], values.denominator)
    common = math.lcm(*{int(size) for size in sizes.tolist()})
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums = np.add.reduceat(values.numerators, starts)
    parts = np.array([common // size for size in sizes.tolist()], dtype=object)
    return Decimals(sums * parts, values.denominator * common)
