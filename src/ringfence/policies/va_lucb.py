"""VA-LUCB: pull the arm that leads and the one that may yet beat it, in turn.

After the variance-constrained algorithm of Hou, Tan and Zhong (2022), with limits on means in the
place of limits on variances. It was made for stopping at a confidence: arms that surely break a
limit are out, the best of the others leads, and the one with the best bound rivals it. Touches its
arguments only, and writes in `chosen` and `work`.
"""

import math

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.schedule import one_more_than_arms, ten_or_half_a_share
from ringfence.policies.evidence import Evidence
from ringfence.policies.policy import AdaptivePolicy

DOUBT = 0.05  # at which an arm is surely out
OUT, IN = 0.0, 1.0


def make_work(arm_count: int, attribute_count: int) -> Floats:
    """Return room for the pulls of each arm, and whether it may be feasible."""
    return np.zeros((2, arm_count))


def choose(seen: Evidence, uniforms: Floats, chosen: Integers, work: Floats) -> None:
    """Choose a batch: with an even number of pulls so far the leader, else its rival."""
    pulls, may_be = work[0], work[1]
    total = 0.0
    for i in range(pulls.shape[0]):
        pulls[i] = max(seen.counts[i] + seen.in_flight[i], 1)
        total += pulls[i] if seen.alive[i] else 0.0
    for k in range(chosen.shape[0]):
        level = log_level(seen, total)
        fill_possible(seen, pulls, level, may_be)
        leader = best_by(seen, pulls, may_be, 0.0, -1)
        arm = leader
        if total % 2.0 == 1.0:
            rival = best_by(seen, pulls, may_be, level, leader)
            if rival >= 0:
                arm = rival
        chosen[k] = arm
        pulls[arm] += 1.0
        total += 1.0


def log_level(seen: Evidence, total: float) -> float:
    """Return the logarithm that confidence bounds of all attributes of all arms rest on."""
    arms = 0
    for i in range(seen.alive.shape[0]):
        arms += seen.alive[i]
    return math.log(2.0 * arms * seen.estimates.shape[1] / DOUBT) + 4.0 * math.log(max(total, 1.0))


def radius(seen: Evidence, pulls: Floats, i: int, c: int, level: float) -> float:
    """Return how far an estimate may be off."""
    return math.sqrt(2.0 * max(seen.covariances[i, c, c], 0.0) * level / pulls[i])


def fill_possible(seen: Evidence, pulls: Floats, level: float, may_be: Floats) -> None:
    """Mark the arms that may be feasible; where none may, the one that is over by least."""
    nearest, least, none = -1, 0.0, True
    for i in range(pulls.shape[0]):
        may_be[i] = OUT
        if not seen.alive[i]:
            continue
        over = -math.inf
        for c in range(1, seen.estimates.shape[1]):
            excess = seen.estimates[i, c] - seen.thresholds[c - 1]
            over = max(over, seen.scales[c] * (excess - radius(seen, pulls, i, c, level)))
        if over <= 0.0:
            may_be[i], none = IN, False
        closer = nearest < 0 or over < least
        if closer or (over == least and seen.priority[i] < seen.priority[nearest]):
            nearest, least = i, over
    if none:
        may_be[nearest] = IN


def best_by(seen: Evidence, pulls: Floats, may_be: Floats, level: float, but: int) -> int:
    """Return the possible arm of the lowest bound at a level, but for one; -1 if there is none."""
    best, reach = -1, 0.0
    for i in range(pulls.shape[0]):
        if may_be[i] == OUT or i == but:
            continue
        further = radius(seen, pulls, i, 0, level)
        ahead = seen.estimates[i, 0] - seen.estimates[best, 0] - (further - reach)
        is_first = best >= 0 and ahead == 0.0 and seen.priority[i] < seen.priority[best]
        if best < 0 or ahead < 0.0 or is_first:
            best, reach = i, further
    return best


POLICY = AdaptivePolicy(
    name="va-lucb",
    summary="pulls the best-looking arm that may be feasible and the one with the best bound",
    warm_up=ten_or_half_a_share,
    minimum_budget=one_more_than_arms,
    choose=choose,
    make_work=make_work,
)
