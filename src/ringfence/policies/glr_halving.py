"""Halving by likelihood: drop the arm that would be dearest to make the answer.

The generalised likelihood ratio of "this arm is the answer" against "the apparent best is", for
survivors with equally many pulls and attributes that are taken for independent: docs/policies has
the derivation. The schedule is that of Sequential Halving, handed in by the registry. Touches its
arguments only.
"""

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.gaps import goes_first, leader, margin


def reject(
    estimates: Floats,
    counts: Integers,
    alive: Mask,
    scales: Floats,
    thresholds: Floats,
    priority: Integers,
) -> int:
    """Return the survivor that could least likely be the answer in place of the apparent best.

    Where gaps compare the largest of several distances, likelihoods add up their squares: an arm
    that trails a little in everything goes before one that trails a little more in one thing. Ties
    are settled as by constrained-sr.
    """
    best, best_objective, best_margin = leader(estimates, alive, scales, thresholds, priority)
    worst, worst_cost, worst_objective, worst_margin, worst_rank = -1, 0.0, 0.0, 0.0, 0
    for i in range(estimates.shape[0]):
        objective, rank = estimates[i, 0], priority[i]
        own_margin = margin(estimates, i, scales, thresholds)
        lead = max(scales[0] * (objective - best_objective), 0.0)
        cost = 0.5 * lead * lead  # by half, because two arms can move towards each other
        for c in range(1, estimates.shape[1]):
            excess = max(scales[c] * (estimates[i, c] - thresholds[c - 1]), 0.0)
            cost += excess * excess
        if best_margin > 0.0:
            cost = 0.5 * (own_margin - best_margin) * (own_margin - best_margin)
        tie_goes = goes_first(
            objective, own_margin, rank, worst_objective, worst_margin, worst_rank
        )
        goes = (cost > worst_cost) | ((cost == worst_cost) & tie_goes)
        if alive[i] & (i != best) & ((worst < 0) | goes):
            worst, worst_cost = i, cost
            worst_objective, worst_margin, worst_rank = objective, own_margin, rank
    return worst
