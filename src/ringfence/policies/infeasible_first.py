"""Infeasible First: drop whatever looks most infeasible, and only then what looks worst.

Paper: section "Numerical experiments" and Appendix D; our reading R3. Touches its arguments only.
"""

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.gaps import goes_first, margin
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
    """Return the most infeasible-looking survivor, or the largest objective if all look feasible.

    It may drop the apparent best when nothing looks feasible and the margins tie.
    """
    worst, worst_objective, worst_margin, worst_rank = -1, 0.0, 0.0, 0
    for i in range(estimates.shape[0]):
        objective, rank = estimates[i, 0], priority[i]
        own_margin = margin(estimates, i, scales, thresholds)
        goes = goes_first(objective, own_margin, rank, worst_objective, worst_margin, worst_rank)
        if alive[i] & ((worst < 0) | goes):
            worst, worst_objective, worst_margin, worst_rank = i, objective, own_margin, rank
    return worst


POLICY = PhasePolicy(
    name="infeasible-first",
    summary="the paper's baseline: drops the arm that looks most infeasible",
    schedule=successive_rejects_phases,
    minimum_budget=one_more_than_arms,
    reject=reject,
)
