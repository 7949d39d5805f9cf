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
    worst = -1
    worst_margin = 0.0
    for i in range(estimates.shape[0]):
        if not alive[i]:
            continue
        own_margin = margin(estimates, i, scales, thresholds)
        if worst < 0 or goes_first(estimates, i, own_margin, worst, worst_margin, priority):
            worst = i
            worst_margin = own_margin
    return worst


POLICY = PhasePolicy(
    name="infeasible-first",
    summary="the paper's baseline: drops the arm that looks most infeasible",
    schedule=successive_rejects_phases,
    minimum_budget=one_more_than_arms,
    reject=reject,
)
