"""Constrained Successive Rejects: end each phase by dropping the arm that trails most.

Paper: Algorithm 1; our readings R1 and R2. Touches its arguments only.
"""

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.gaps import gap, goes_first, leader, margin
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
    """Return the survivor with the largest gap to the apparent best.

    Ties are common, not measure-zero: the cap in the gap makes all distant arms tie, so the tie
    rule (infeasible-looking before feasible-looking, then the farthest) decides most rejections.
    """
    best, best_objective, best_margin = leader(estimates, alive, scales, thresholds, priority)
    worst, worst_gap, worst_objective, worst_margin, worst_rank = -1, 0.0, 0.0, 0.0, 0
    for i in range(estimates.shape[0]):
        objective, rank = estimates[i, 0], priority[i]
        own_margin = margin(estimates, i, scales, thresholds)
        own_gap = gap(scales[0] * (objective - best_objective), own_margin, best_margin)
        tie_goes = goes_first(
            objective, own_margin, rank, worst_objective, worst_margin, worst_rank
        )
        trails = (own_gap > worst_gap) | ((own_gap == worst_gap) & tie_goes)
        if alive[i] & (i != best) & ((worst < 0) | trails):
            worst, worst_gap = i, own_gap
            worst_objective, worst_margin, worst_rank = objective, own_margin, rank
    return worst


POLICY = PhasePolicy(
    name="constrained-sr",
    summary="the paper's algorithm: drops the arm with the largest capped gap",
    schedule=successive_rejects_phases,
    minimum_budget=one_more_than_arms,
    reject=reject,
    by_gaps=True,
)
