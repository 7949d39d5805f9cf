"""Shares of yes-or-no outcomes: which attributes are such, and what is possible at all.

With many events a share is as good as normal. With few it is not: no event in fifty pulls does not
mean that there is none, nor that the next fifty will be like them. Beliefs treat them as Beta.
Touches its arguments only.
"""

from collections.abc import Mapping

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.noise import is_yes_or_no
from ringfence.core.problem import Problem


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


def possible_range(
    problem: Problem, shares: Mask, bounds: Mapping[str, tuple[float, float]]
) -> tuple[Floats, Floats]:
    """Return the least and the greatest that every attribute can be, as written."""
    lows = np.full(len(shares), -np.inf)
    highs = np.full(len(shares), np.inf)
    for c, attribute in enumerate(problem.attributes):
        if shares[c]:
            lows[c], highs[c] = 0.0, 1.0
        elif attribute.own is not None:
            continue
        elif attribute.statistic in ("variance", "std"):
            lows[c] = 0.0
        elif attribute.metric in bounds:
            lows[c], highs[c] = bounds[attribute.metric]
    return lows, highs
