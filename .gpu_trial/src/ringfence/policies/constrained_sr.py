"""Constrained Successive Rejects: end each phase by dropping the arm that trails most.

Paper: Algorithm 1; our readings R1 and R2. Touches its arguments only.
"""

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.gaps import apparent_best, gap, goes_first, margin
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
    best = apparent_best(estimates, alive, scales, thresholds, priority)
    worst = -1
    worst_gap = 0.0
    worst_margin = 0.0
    for i in range(estimates.shape[0]):
        if not alive[i] or i == best:
            continue
        own_margin = margin(estimates, i, scales, thresholds)
        own_gap = gap(estimates, best, i, scales, thresholds)
        if (
            worst < 0
            or own_gap > worst_gap
            or (
                own_gap == worst_gap
                and goes_first(estimates, i, own_margin, worst, worst_margin, priority)
            )
        ):
            worst = i
            worst_gap = own_gap
            worst_margin = own_margin
    return worst


POLICY = PhasePolicy(
    name="constrained-sr",
    summary="the paper's algorithm: drops the arm with the largest capped gap",
    schedule=successive_rejects_phases,
    minimum_budget=one_more_than_arms,
    reject=reject,
)
