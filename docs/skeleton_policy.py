"""Your policy in one line: what it drops, and when.

Where the idea comes from; which reading of it you chose. Touches its arguments only.
"""

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.gaps import margin
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
    """Return the survivor with the largest margin.

    Ties go to the last in priority: every rule must end in the priority, or the order in which
    arms are listed decides.
    """
    worst = -1
    worst_margin = 0.0
    for i in range(estimates.shape[0]):
        if not alive[i]:
            continue
        own_margin = margin(estimates, i, scales, thresholds)
        if (
            worst < 0
            or own_margin > worst_margin
            or (own_margin == worst_margin and priority[i] > priority[worst])
        ):
            worst = i
            worst_margin = own_margin
    return worst


POLICY = PhasePolicy(
    name="skeleton",
    summary="drops the arm with the largest margin",
    schedule=successive_rejects_phases,
    minimum_budget=one_more_than_arms,
    reject=reject,
)
