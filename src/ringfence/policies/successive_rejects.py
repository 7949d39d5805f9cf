"""Successive Rejects, blind to constraints: drop the largest objective.

Audibert and Bubeck (COLT 2010). A baseline: it finds the best arm, not the best feasible one;
only its flag looks at the constraints. Touches its arguments only.
"""

import numpy as np

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
    """Return the survivor with the largest objective.

    The margin decides only between equal objectives.
    """
    worst, worst_objective, worst_margin, worst_rank = -1, 0.0, 0.0, 0
    for i in range(estimates.shape[0]):
        objective, rank = estimates[i, 0], priority[i]
        own_margin = margin(estimates, i, scales, thresholds)
        goes = precedes(worst_objective, worst_margin, worst_rank, objective, own_margin, rank)
        if alive[i] & ((worst < 0) | goes):
            worst, worst_objective, worst_margin, worst_rank = i, objective, own_margin, rank
    return worst


def weights(scales: Floats) -> Floats:
    """Return that the objective alone counts."""
    return np.eye(1, len(scales)).ravel()


POLICY = PhasePolicy(
    name="successive-rejects",
    summary="the unconstrained ancestor: drops the arm with the worst objective",
    schedule=successive_rejects_phases,
    minimum_budget=one_more_than_arms,
    reject=reject,
    weights=weights,
)
