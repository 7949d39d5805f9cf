"""A slow transcription of the attributes and of their noise, from the definitions alone.

An attribute's influence of a pull is what the estimate gains, to first order and times the number
of pulls, when that pull gets more weight. The covariance of one pull is the sum of the products of
two attributes' influences, divided by n - 1. Everything is a fraction, except for the one square
root of a std and the reach of a robust mean. A level is the decimal number that was written: 0.07
is 7/100. It shares no code with the package.

A quantile's noise is not here: it takes a density, which no definition gives.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, floor, log, sqrt

Values = Sequence[Fraction]
Found = tuple[Fraction, list[Fraction]]  # an estimate, and one influence a pull


def exact(values: Sequence[float]) -> list[Fraction]:
    return [Fraction(value) for value in values]


def written(level: float) -> Fraction:
    """Return a level as it is written in decimals, not as it is stored in binary."""
    return Fraction(repr(level))


def average(values: Values) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def centred(values: Values) -> list[Fraction]:
    middle = average(values)
    return [value - middle for value in values]


# ------------------------------------------------------------------------- means and spreads


def mean(values: Values) -> Found:
    return average(values), centred(values)


def share(values: Values, claim: Callable[[Fraction], bool]) -> Found:
    return mean([Fraction(claim(value)) for value in values])


def variance(values: Values) -> Found:
    squares = [deviation**2 for deviation in centred(values)]
    return sum(squares, Fraction(0)) / (len(values) - 1), centred(squares)


def std(values: Values) -> tuple[float, list[float]]:
    """Return the root of the variance: its influence is that of the variance over 2 s."""
    estimate, influences = variance(values)
    if estimate == 0:
        return 0.0, [0.0] * len(values)
    root = sqrt(estimate)
    return root, [float(influence) / (2.0 * root) for influence in influences]


# ------------------------------------------------------------------------------------ tails


def lower_quantile(values: Values, level: Fraction) -> Fraction:
    """Return the least value that has at least the share `level` of all up to it."""
    return sorted(values)[ceil(len(values) * level) - 1]


def upper_quantile(values: Values, level: Fraction) -> Fraction:
    """Return the greatest value that has at most the share `level` of all below it."""
    return sorted(values)[floor(len(values) * level)]


def cvar(values: Values, level: float) -> Found:
    """Return Rockafellar and Uryasev's estimate of the mean of the highest 1 - level."""
    return _highest(values, 1 - written(level))


def lower_cvar(values: Values, level: float) -> Found:
    """Return the mean of the lowest `level`: the highest of the negated values, negated."""
    estimate, influences = _highest([-value for value in values], written(level))
    return -estimate, [-influence for influence in influences]


def _highest(values: Values, mass: Fraction) -> Found:
    edge = lower_quantile(values, 1 - mass)
    estimate = edge + average([max(value - edge, Fraction(0)) / mass for value in values])
    if len(values) * mass < 1:
        # Too few for the tail: the noise, not the estimate, is taken from the second highest,
        # lest a sample too small to show its tail look certain.
        edge = sorted(values)[-2]
    return estimate, centred([max(value - edge, Fraction(0)) / mass for value in values])


def highest_by_counting(values: Values, mass: Fraction) -> Fraction:
    """Return the mean of the highest `mass` of the pulls, the last of them taken in part."""
    left, total = mass * len(values), Fraction(0)
    for value in sorted(values, reverse=True):
        part = min(left, Fraction(1))
        total += part * value
        left -= part
    return total / (mass * len(values))


# -------------------------------------------------------------------------------- robust mean


def robust_reach(values: Sequence[float], centre: float) -> float:
    """Return tau with sum of min(r^2, tau^2) = tau^2 ln n, or 0 where too few deviate.

    Divided by tau^2 the left falls from the number of deviating values to 0, so there is one root
    if that number exceeds ln n; it is found by halving an interval.
    """
    deviations = [abs(value - centre) for value in values]
    limit = log(len(values))
    if sum(deviation > 0.0 for deviation in deviations) <= limit:
        return 0.0
    low, high = 0.0, max(deviations) * sqrt(len(values) / limit) * 2.0
    for _ in range(200):
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        if sum(min(d / middle, 1.0) ** 2 for d in deviations) > limit:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def robust_pull(values: Sequence[float], centre: float) -> float:
    """Return the sum of deviations cut at their reach: 0 at a robust mean."""
    reach = robust_reach(values, centre)
    return sum(max(-reach, min(reach, value - centre)) for value in values)


def robust_influences(values: Sequence[float], centre: float) -> list[float]:
    """Return the cut deviations over the share of them that is not cut."""
    reach = robust_reach(values, centre)
    inside = sum(abs(value - centre) <= reach for value in values) / len(values)
    return [max(-reach, min(reach, value - centre)) / inside for value in values]


def is_almost_constant(values: Sequence[float]) -> bool:
    """Tell whether so few values differ from the commonest that no reach can be found there."""
    values = list(values)
    return len(values) - max(values.count(value) for value in values) <= log(len(values))


# --------------------------------------------------------------------------------- covariance


def covariance(one: Sequence[Fraction | float], other: Sequence[Fraction | float]) -> float:
    """Return the covariance of one pull from the influences of two attributes."""
    products = [Fraction(a) * Fraction(b) for a, b in zip(one, other, strict=True)]
    return float(sum(products, Fraction(0)) / (len(products) - 1))


def jackknife(estimate: Callable[..., float], *columns: Sequence[float]) -> list[float]:
    """Return influences by leaving out each pull: (n - 1) (all - all but one), centred."""
    count = len(columns[0])
    whole = estimate(*columns)
    gains = [
        (count - 1) * (whole - estimate(*([*c[:out], *c[out + 1 :]] for c in columns)))
        for out in range(count)
    ]
    middle = sum(gains) / count
    return [gain - middle for gain in gains]
