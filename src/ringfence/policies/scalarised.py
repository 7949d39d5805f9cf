"""Scalarisation: Successive Rejects on a weighted sum of objective and constraints.

A baseline, and what the paper argues against: no weight turns limits into a price that is right on
every instance. Here one unit of noise of each attribute costs the same. Touches its arguments only.
"""

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.gaps import margin, precedes
from ringfence.core.schedule import one_more_than_arms, successive_rejects_phases
from ringfence.policies.policy import PhasePolicy


def reject(
    estimates: Floats,
    counts: Integers,
    alive: Mask,
    scales: Floats,
    thresholds: Floats,
    priority: Integers,
) -> int:
    """Return the survivor with the largest weighted sum; ties by margin, then by priority."""
    worst, worst_sum, worst_margin, worst_rank = -1, 0.0, 0.0, 0
    for i in range(estimates.shape[0]):
        own_sum, rank = weighted_sum(estimates, i, scales, thresholds), priority[i]
        own_margin = margin(estimates, i, scales, thresholds)
        goes = precedes(worst_sum, worst_margin, worst_rank, own_sum, own_margin, rank)
        if alive[i] & ((worst < 0) | goes):
            worst, worst_sum, worst_margin, worst_rank = i, own_sum, own_margin, rank
    return worst


def weighted_sum(estimates: Floats, arm: int, scales: Floats, thresholds: Floats) -> float:
    """Return the objective plus all constraints, each in units of its noise."""
    total: float = scales[0] * estimates[arm, 0]
    for c in range(1, estimates.shape[1]):
        total += scales[c] * (estimates[arm, c] - thresholds[c - 1])
    return total


def weights(scales: Floats) -> Floats:
    """Return what an attribute counts in the sum."""
    return scales


POLICY = PhasePolicy(
    name="scalarised",
    summary="a baseline: drops the arm with the worst sum of objective and constraints",
    schedule=successive_rejects_phases,
    minimum_budget=one_more_than_arms,
    reject=reject,
    weights=weights,
)
