"""Halving by likelihood: drop the arm that would be dearest to make the answer.

The generalised likelihood ratio of "this arm is the answer" against what the estimates say, for
survivors with equally many pulls and attributes that are taken for independent: docs/policies has
the derivation. The schedule is that of Sequential Halving, handed in by the registry. Touches its
arguments only.
"""

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.gaps import FURTHEST, goes_first, leader, margin


def reject(
    estimates: Floats,
    counts: Integers,
    alive: Mask,
    scales: Floats,
    thresholds: Floats,
    priority: Integers,
) -> int:
    """Return the survivor that could least likely be the answer; the apparent best never goes.

    Where nothing looks feasible that is the largest margin. Ties are settled as by constrained-sr.
    """
    best, _, best_margin = leader(estimates, alive, scales, thresholds, priority)
    worst, worst_cost, worst_objective, worst_margin, worst_rank = -1, 0.0, 0.0, 0.0, 0
    for i in range(estimates.shape[0]):
        objective, rank = estimates[i, 0], priority[i]
        own_margin = margin(estimates, i, scales, thresholds)
        cost = own_margin
        if best_margin <= 0.0:
            cost = meeting_cost(estimates, i, scales, thresholds)
            cost += rivals_cost(estimates, i, alive, scales, thresholds)
        tie_goes = goes_first(
            objective, own_margin, rank, worst_objective, worst_margin, worst_rank
        )
        goes = (cost > worst_cost) | ((cost == worst_cost) & tie_goes)
        if alive[i] & (i != best) & ((worst < 0) | goes):
            worst, worst_cost = i, cost
            worst_objective, worst_margin, worst_rank = objective, own_margin, rank
    return worst


def meeting_cost(estimates: Floats, arm: int, scales: Floats, thresholds: Floats) -> float:
    """Return what it costs an arm, for one pull, to meet the constraints that it misses."""
    cost = 0.0
    for c in range(1, estimates.shape[1]):
        excess = min(max(scales[c] * (estimates[arm, c] - thresholds[c - 1]), 0.0), FURTHEST)
        cost += excess * excess
    return cost


def rivals_cost(
    estimates: Floats, arm: int, alive: Mask, scales: Floats, thresholds: Floats
) -> float:
    """Return what it costs, for one pull, that no feasible arm is better: each fails, or is met."""
    cost = 0.0
    for k in range(estimates.shape[0]):
        lead = min(max(scales[0] * (estimates[arm, 0] - estimates[k, 0]), 0.0), FURTHEST)
        slack = min(max(-margin(estimates, k, scales, thresholds), 0.0), FURTHEST)
        more = min(0.5 * lead * lead, slack * slack)
        cost += more if alive[k] else 0.0
    return cost
