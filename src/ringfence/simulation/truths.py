"""True attributes of known distributions, with the asymptotic covariance of their estimates.

Every influence is a multiple of one of five shapes of a pull: the metric, its squared deviation,
whether it lies above a cut, by how much it exceeds the cut, and by how much it falls short of it.
Their covariances are integrals in one dimension: of two metrics that are jointly gaussian, the
second's shape has a closed form given the first. May touch core and simulation's draws.
"""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ringfence.core import statistics
from ringfence.core.arrays import Floats, Integers
from ringfence.core.running import Recipe
from ringfence.simulation.draws import BERNOULLI, EXPONENTIAL, POISSON

_LINEAR, _SQUARE, _ABOVE, _FROM, _EXCESS, _SHORTFALL = range(6)
_TAIL = 1e-15
_MOST_COUNTED = 1e6  # a Poisson mean beyond which its law is as good as normal
_PANELS, _NODES = 16, 20


class Shape(NamedTuple):
    """An influence, but for its mean: `scale` times a shape about a cut, or about the mean.

    An attribute's influence is the sum of one or, of a ratio, two of them, of the `metric` each.
    """

    kind: int
    cut: float
    scale: float
    metric: int = 0


def true_attributes(
    recipe: Recipe, families: Integers, means: Floats, factors: Floats
) -> tuple[Floats, Floats]:
    """Return an arm's oriented attributes, and the covariance of one pull's influences.

    `means` and `factors` are by metric; metrics are independent, but for the gaussian ones.
    """
    laws = [_law(*of) for of in zip(families, means, np.linalg.norm(factors, axis=1), strict=True)]
    width = len(recipe.kinds)
    values, covariance = np.zeros(width), np.zeros((width, width))
    influences = []
    for c in range(width):
        q, other = recipe.metric_of[c], recipe.other_of[c]
        if recipe.kinds[c] == statistics.RATIO:
            values[c], shapes = _ratio(laws[q], laws[other], q, other)
        else:
            kind, level, sign = recipe.kinds[c], recipe.levels[c], recipe.signs[c]
            values[c], shape = _attribute(kind, level, sign, laws[q])
            shapes = (shape._replace(metric=q),)
        influences.append(shapes)
    together = factors @ factors.T
    for c in range(width):
        for d in range(c + 1):
            covariance[c, d] = covariance[d, c] = sum(
                one.scale * two.scale * _joint(laws, together, one, two)
                for one in influences[c]
                for two in influences[d]
            )
    turned = np.outer(recipe.signs, recipe.signs)
    return recipe.signs * values + 0.0, turned * covariance


def _ratio(over: Any, under: Any, q: int, other: int) -> tuple[float, tuple[Shape, ...]]:
    """Return a ratio of means, and the shapes of its influence (x - ratio y) / mean(y)."""
    mean = under.mean()
    ratio = over.mean() / mean if mean != 0.0 else math.nan
    per = 1.0 / mean if mean != 0.0 else math.nan
    return ratio, (
        Shape(_LINEAR, over.mean(), per, q),
        Shape(_LINEAR, mean, -ratio * per, other),
    )


def _joint(laws: list[Any], together: Floats, one: Shape, two: Shape) -> float:
    """Return the covariance of two shapes of a pull, whatever their metrics."""
    p, q = one.metric, two.metric
    if p == q:
        return _covariance(laws[p], one, two)
    if together[p, q] == 0.0:
        return 0.0
    slope = together[p, q] / together[p, p]
    rest = math.sqrt(max(together[q, q] - slope * together[p, q], 0.0))
    return _covariance_given(laws[p], laws[q], one, two, slope, rest)


def _law(family: int, mean: float, deviation: float) -> Any:
    from scipy import stats

    if family == BERNOULLI:
        return stats.bernoulli(mean)
    if family == POISSON:
        return stats.poisson(mean) if mean < _MOST_COUNTED else stats.norm(mean, math.sqrt(mean))
    return stats.expon(scale=mean) if family == EXPONENTIAL else stats.norm(mean, deviation)


def _attribute(kind: int, level: float, sign: float, law: Any) -> tuple[float, Shape]:
    """Return an attribute's value, in the user's direction, and the shape of its influence."""
    if kind in (statistics.MEAN, statistics.ROBUST_MEAN):
        return law.mean(), Shape(_LINEAR, law.mean(), 1.0)
    if kind in (statistics.SHARE_ABOVE, statistics.SHARE_UP_TO):
        share, turn = law.sf(level), 1.0 if kind == statistics.SHARE_ABOVE else -1.0
        return (share if turn > 0.0 else law.cdf(level)), Shape(_ABOVE, level, turn)
    if kind in (statistics.SHARE_FROM, statistics.SHARE_BELOW):
        at = law.pmf(level) if _is_discrete(law) else 0.0
        turn = 1.0 if kind == statistics.SHARE_FROM else -1.0
        share = law.sf(level) + at if turn > 0.0 else law.cdf(level) - at
        return share, Shape(_FROM, level, turn)
    if kind in (statistics.VARIANCE, statistics.STD):
        variance = law.var()
        root = math.sqrt(variance)
        if kind == statistics.VARIANCE:
            return variance, Shape(_SQUARE, law.mean(), 1.0)
        return root, Shape(_SQUARE, law.mean(), 0.5 / root if root > 0.0 else 0.0)
    if kind == statistics.QUANTILE:
        return _quantile(level, sign, law)
    edge = float(law.ppf(level))
    shape = Shape(_EXCESS, edge, 1.0 / (1.0 - level))
    if kind == statistics.LOWER_CVAR:
        shape = Shape(_SHORTFALL, edge, -1.0 / level)
    return edge + shape.scale * _expectation(law, lambda x: _values(shape, x), (edge,)), shape


def _quantile(level: float, sign: float, law: Any) -> tuple[float, Shape]:
    """Return a quantile; of counts, with the probability of a count for a density."""
    cut = float(law.ppf(level))
    if not _is_discrete(law):
        return cut, Shape(_ABOVE, cut, 1.0 / law.pdf(cut))
    if sign < 0.0 and math.isclose(law.cdf(cut), level):
        cut += 1.0
    above = law.sf(cut)
    if not 0.0 < above < 1.0:
        return cut, Shape(_ABOVE, cut, 0.0)
    spread = math.sqrt(level * (1.0 - level) / (above * (1.0 - above)))
    return cut, Shape(_ABOVE, cut, spread / law.pmf(cut))


def _is_discrete(law: Any) -> bool:
    return hasattr(law, "pmf")


def _values(shape: Shape, x: Floats) -> Floats:
    """Return a shape at values of its metric."""
    if shape.kind == _LINEAR:
        return x - shape.cut
    if shape.kind == _SQUARE:
        return (x - shape.cut) ** 2
    if shape.kind == _ABOVE:
        return np.asarray(x > shape.cut, dtype=np.float64)
    if shape.kind == _FROM:
        return np.asarray(x >= shape.cut, dtype=np.float64)
    return np.maximum(x - shape.cut if shape.kind == _EXCESS else shape.cut - x, 0.0)


def _expected(shape: Shape, mean: Floats, deviation: float) -> Floats:
    """Return a shape's expectation where its metric is Normal(mean, deviation^2)."""
    from scipy.special import ndtr

    away = mean - shape.cut
    if shape.kind == _LINEAR:
        return away
    if shape.kind == _SQUARE:
        return away**2 + deviation**2
    z = away / deviation
    if shape.kind in (_ABOVE, _FROM):
        return np.asarray(ndtr(z))
    density = np.exp(-0.5 * z**2) / math.sqrt(2.0 * math.pi)
    turn = 1.0 if shape.kind == _EXCESS else -1.0
    return np.asarray(turn * away * ndtr(turn * z) + deviation * density)


def _covariance(law: Any, one: Shape, two: Shape) -> float:
    """Return the covariance of two shapes of one metric, each taken about its mean."""
    breaks = (one.cut, two.cut)
    first = _expectation(law, lambda x: _values(one, x), breaks)
    second = _expectation(law, lambda x: _values(two, x), breaks)
    return _expectation(
        law, lambda x: (_values(one, x) - first) * (_values(two, x) - second), breaks
    )


def _covariance_given(
    law: Any, other: Any, one: Shape, two: Shape, slope: float, rest: float
) -> float:
    """Return the covariance where the other metric is `slope` times this one, plus a normal."""
    centre, away = law.mean(), other.mean()
    breaks = (one.cut, centre + (two.cut - away) / slope)
    first = _expectation(law, lambda x: _values(one, x), breaks)
    return _expectation(
        law,
        lambda x: (_values(one, x) - first) * _expected(two, away + slope * (x - centre), rest),
        breaks,
    )


def _expectation(law: Any, function: Any, breaks: tuple[float, ...]) -> float:
    """Return the expectation of a function that is smooth but at its breaks."""
    low, high = float(law.ppf(_TAIL)), float(law.isf(_TAIL))
    if _is_discrete(law):
        counts = np.arange(max(low, 0.0), high + 1.0)
        return float(np.sum(law.pmf(counts) * function(counts)))
    edges = sorted({low, high, *(cut for cut in breaks if low < cut < high)})
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    total = 0.0
    for start, stop in pairwise(edges):
        panels = np.linspace(start, stop, _PANELS + 1)
        half = np.diff(panels)[:, None] / 2.0
        x = panels[:-1, None] + half * (1.0 + nodes)
        total += float(np.sum(half * weights * law.pdf(x) * function(x)))
    return total
