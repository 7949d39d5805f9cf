"""Wagers, transcribed slowly: one value after the other, in exact fractions.

From "Estimating means of bounded random variables by betting" (Waudby-Smith and Ramdas 2024), their
product for values with an end and its form for sets without repeats; the stakes are the fractions
and the learned one that are asked for. Nothing of the package is used.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

STAKES = tuple(map(Fraction, ("0.02", "0.08", "0.2", "0.35", "0.5", "0.65", "0.8", "0.95")))
LEARNED, MOST = Fraction("0.4"), 0.95


def e_values(
    values: Sequence[Fraction],
    limit: Fraction,
    low: Fraction = Fraction(0),
    high: Fraction = Fraction(1),
    *,
    strict: bool = False,
    size: int | None = None,
) -> list[Fraction | None]:
    """Return E after each value, against a mean of at most the limit; None once it is disproved."""
    found: list[Fraction | None] = []
    capital = [(1 - LEARNED) / len(STAKES)] * len(STAKES) + [LEARNED]
    total, disproved = Fraction(0), False
    for place, value in enumerate(values):
        assert low <= value <= high
        x = (value - low) / (high - low)
        m = (limit - low) / (high - low)
        if size is not None:
            most = size * (limit - low)
            m = (most - total) / ((size - place) * (high - low))
            total += value - low
            disproved = disproved or (total >= most if strict else total > most)
        if not disproved and 0 < m < 1:
            stakes = [*STAKES, _learned([(v - low) / (high - low) for v in values[:place]], m)]
            capital = [
                one * (1 + stake / m * (x - m)) for one, stake in zip(capital, stakes, strict=True)
            ]
        found.append(None if disproved else sum(capital, Fraction(0)))
    return found


def _learned(before: Sequence[Fraction], m: Fraction) -> Fraction:
    """Return the learned stake, as a part of the largest; a float, taken exactly."""
    count = len(before) + 1
    mean = float((Fraction(1, 2) + sum(before)) / count)
    square = float((Fraction(1, 2) + sum(x * x for x in before)) / count)
    lead = mean - float(m)
    spread = max(square - mean * mean, 0.0) + lead * lead
    return Fraction(min(max(lead / max(spread, 1e-12) * float(m), 0.0), MOST))


def orders(values: Sequence[Fraction]) -> list[tuple[Fraction, ...]]:
    """Return every order of a set as often as it comes: all are as likely."""
    found = sorted(set(permutations(values))) if len(values) < 7 else _distinct(list(values))
    return list(found)


def _distinct(values: list[Fraction]) -> list[tuple[Fraction, ...]]:
    """Return the orders that differ: each comes as often as the others."""
    if not values:
        return [()]
    found = []
    for first in sorted(set(values)):
        rest = values.copy()
        rest.remove(first)
        found += [(first, *others) for others in _distinct(rest)]
    return found
