"""Shares of yes-or-no outcomes: which attributes are such, and what is possible at all.

With many events a share is as good as normal. With few it is not: no event in fifty pulls does not
mean that there is none, nor that the next fifty will be like them. Beliefs treat them as Beta. The
spread of such outcomes says no more than their share p: the variance is p (1 - p). Touches its
arguments only.
"""

import math
from collections.abc import Mapping

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.noise import is_yes_or_no
from ringfence.core.problem import Problem

_HIGHEST = {"variance": 0.25, "std": 0.5}  # spreads of outcomes of which half are yes


def which_are_shares(
    problem: Problem, estimates: Floats, scatters: Floats, counts: Integers
) -> Mask:
    """Find the shares: those written so, and means of nothing but zeros and ones."""
    signs = problem.signs
    return np.array(
        [
            one.bound is not None
            or (
                one.statistic == "mean"
                and is_yes_or_no(c, estimates, scatters, counts)
                and bool(np.all(signs[c] * estimates[counts > 0, c] >= 0.0))
            )
            for c, one in enumerate(problem.attributes)
        ]
    )


def ask_for_none(problem: Problem) -> Mask:
    """Tell which attributes have a limit at the end of what a share can be: for no event at all."""
    ends = np.where(problem.signs[1:] > 0.0, 0.0, -1.0)
    return np.append(False, (problem.factors == 0.0) & (problem.thresholds <= ends))


def may_be_more(problem: Problem, bounds: Mapping[str, tuple[float, float]]) -> Mask:
    """Tell which attributes nobody took for shares, whatever their metrics showed so far.

    Stated bounds reach beyond 0 and 1, or, without any, a limit is one that every share keeps: who
    asks for costs of at most 5 expects more than zeros and ones.
    """
    found = []
    kept = [False, *(problem.factors == 0.0) & (problem.thresholds >= _highest(problem)[1:])]
    for attribute, is_kept in zip(problem.attributes, kept, strict=True):
        low, high = bounds.get(attribute.metric, (0.0, 1.0))
        if attribute.is_ratio:
            found.append(True)
            continue
        within = not is_kept if attribute.metric not in bounds else low >= 0.0 and high <= 1.0
        found.append(attribute.bound is None and not within)
    return np.array(found)


def _highest(problem: Problem) -> Floats:
    """Return the greatest oriented value of every attribute as a share, or the spread of one."""
    highest = [_HIGHEST.get(one.statistic, 1.0) for one in problem.attributes]
    return np.where(problem.signs > 0.0, highest, 0.0)


def possible_range(
    problem: Problem, shares: Mask, bounds: Mapping[str, tuple[float, float]]
) -> tuple[Floats, Floats]:
    """Return the least and the greatest that every attribute can be, as written."""
    lows = np.full(len(shares), -np.inf)
    highs = np.full(len(shares), np.inf)
    for c, attribute in enumerate(problem.attributes):
        if shares[c]:
            lows[c], highs[c] = 0.0, _HIGHEST.get(attribute.statistic, 1.0)
        elif attribute.own is not None or attribute.is_ratio:
            continue
        elif attribute.statistic in ("variance", "std"):
            lows[c] = 0.0
        elif attribute.metric in bounds:
            lows[c], highs[c] = bounds[attribute.metric]
    return lows, highs


def are_spreads(problem: Problem) -> Mask:
    """Tell which attributes are variances or deviations of a metric."""
    return np.array([one.own is None and one.statistic in _HIGHEST for one in problem.attributes])


def rarer_share(statistic: str, value: float, part: float) -> float:
    """Return the share of the rarer outcome that makes a spread; what is a share as it is.

    `part` of a sample's variance is p (1 - p): all of it, or (pulls - 1) / pulls.
    """
    if statistic not in _HIGHEST:
        return value
    product = part * (value if statistic == "variance" else value * value)
    return 2.0 * product / (1.0 + math.sqrt(max(1.0 - 4.0 * product, 0.0)))


def spread_of(statistic: str, shares: Floats) -> Floats:
    """Return the spreads of outcomes with these shares; what is no spread as it is."""
    if statistic not in _HIGHEST:
        return shares
    products = np.maximum(shares * (1.0 - shares), 0.0)
    return products if statistic == "variance" else np.asarray(np.sqrt(products))


def spread_interval(statistic: str, low: float, high: float) -> tuple[float, float]:
    """Return the interval of a spread from that of a share: greatest where half are yes."""
    if statistic not in _HIGHEST:
        return low, high
    ends = spread_of(statistic, np.array([low, high]))
    return float(ends.min()), _HIGHEST[statistic] if low <= 0.5 <= high else float(ends.max())
