"""APT: pull the arm that is hardest to place on its side of the limits.

The anytime parameter-free thresholding algorithm of Locatelli, Gutzeit and Carpentier (2016), whose
question is which arms keep a limit. An arm is judged by its margin, so that several limits, and
their noise, are compared in one unit. Touches its arguments only, and writes in `work` and
`chosen`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ringfence.core.all_feasible import ALL_FEASIBLE
from ringfence.core.arrays import Floats, Integers
from ringfence.core.gaps import FURTHEST, margin
from ringfence.core.schedule import one_more_than_arms
from ringfence.policies.evidence import Evidence
from ringfence.policies.policy import AdaptivePolicy


class Work(NamedTuple):
    """Room for a batch: pulls told, in flight and promised; and `tolerance`, of one number."""

    pulls: Integers
    tolerance: Floats


@dataclass(frozen=True)
class MakeWork:
    """Makes room for `choose`, which need not place arms that are within `tolerance` of a limit.

    In units of the noise, as margins are. It is a value, so that policies alike share a kernel.
    """

    tolerance: float = 0.0

    def __call__(self, arm_count: int, attribute_count: int) -> Work:
        """Return the room."""
        return Work(np.zeros(arm_count, np.int64), np.array([self.tolerance]))


def warm_up(arm_count: int, budget: int) -> int:
    """Return a single pull: the noise may ask for more."""
    return 1


def choose(seen: Evidence, uniforms: Floats, chosen: Integers, work: Work) -> None:
    """Choose a batch: each pull goes to the arm with the least sqrt(n) (|margin| + tolerance).

    Pulls in flight, and those of the batch itself, count in n. Ties: the first in priority.
    """
    pulls = work.pulls
    for i in range(pulls.shape[0]):
        pulls[i] = seen.counts[i] + seen.in_flight[i]
    for k in range(chosen.shape[0]):
        arm, least = -1, 0.0
        for i in range(pulls.shape[0]):
            if not seen.alive[i]:
                continue
            distance = abs(margin(seen.estimates, i, seen.scales, seen.thresholds))
            distance = min(distance, FURTHEST) + work.tolerance[0]
            index = pulls[i] * distance * distance  # in the order of its root, which would round
            ahead = index == least and seen.priority[i] < seen.priority[arm]
            if arm < 0 or index < least or ahead:
                arm, least = i, index
        chosen[k] = arm
        pulls[arm] += 1


POLICY = AdaptivePolicy(
    name="apt",
    summary="pulls the arm that is hardest to place on its side of the limits (APT)",
    warm_up=warm_up,
    minimum_budget=one_more_than_arms,
    choose=choose,
    make_work=MakeWork(),
    questions=(ALL_FEASIBLE,),
)
