"""Top-two: pull the apparent best arm or its most dangerous challenger, whichever is in doubt.

After TopTwo-TCI (Lardy, Katsimerou and Koolen 2025), with an information-directed split (Qin and
You), carried over to a fixed budget and to instances without a feasible arm; docs/policies has
the derivation. Touches its arguments only, and writes in `work` and `chosen`.
"""

import math
from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.cost import (
    CostWork,
    beating_cost,
    beating_hindrance,
    cost_work,
    failing_cost,
    nearing_cost,
    passing_cost,
)
from ringfence.core.gaps import leader
from ringfence.core.posterior import NODES, likeliest_answer
from ringfence.core.schedule import one_more_than_arms, ten_or_half_a_share
from ringfence.policies.policy import AdaptivePolicy, Evidence

ALONE = 1.4  # how much dearer the best arm's own doubt counts: its rivals have it pulled as well
UNKNOWN = -1.0  # a hindrance that was not asked for yet


class Work(NamedTuple):
    """Each arm's pulls, its value as a challenger, and whether that value is stale.

    A stale value is a lower bound: costs never fall when pulls are added. `burdens` are, over
    an arm's pulls, those that its threat rests on, the best arm's among them, and `hindrances`
    what makes the threat less likely than its cost says. `hurry` is one over the pulls left.
    """

    pulls: Floats
    values: Floats
    shares: Floats
    burdens: Floats
    hindrances: Floats
    stale: Mask
    passing: Floats
    reached: Floats
    hurry: Floats
    cost: CostWork


def make_work(arm_count: int, attribute_count: int) -> Work:
    """Return room for `choose` and `answer`."""
    return Work(
        pulls=np.zeros(arm_count),
        values=np.zeros(arm_count),
        shares=np.zeros(arm_count),
        burdens=np.zeros(arm_count),
        hindrances=np.zeros(arm_count),
        stale=np.zeros(arm_count, np.bool_),
        passing=np.zeros((arm_count, NODES)),
        reached=np.zeros((arm_count, NODES + 1)),
        hurry=np.zeros(1),
        cost=cost_work(attribute_count),
    )


def answer(seen: Evidence, work: Work) -> tuple[int, bool]:
    """Answer with what the pulls make likeliest: mostly, but not always, the apparent best."""
    return likeliest_answer(
        seen.estimates, seen.counts, seen.alive, seen.covariances,
        seen.scales, seen.thresholds, seen.priority, work.passing, work.reached,
    )  # fmt: skip


def choose(seen: Evidence, uniforms: Floats, chosen: Integers, work: Work) -> None:
    """Choose a batch: each pull goes where the answer is cheapest to overturn.

    Every threat to the answer has a value, minus the log of what a pull is worth that meets it:
    of its chance to be real (its cost, and what hinders it beyond) over the pulls that it rests
    on. Without these an arm that looks bad by accident is never looked at again. Towards the
    end of the budget a cost counts the more the more pulls it rests on: what is left cannot
    overturn it, and is better spent where it can. The least value is met by a pull of the arm, or
    of the best arm by its share in the cost.
    """
    arm_count = seen.counts.shape[0]
    best, _, best_margin = leader(
        seen.estimates, seen.alive, seen.scales, seen.thresholds, seen.priority
    )
    work.hurry[0] = 1.0 / max(seen.left[0], 1)
    in_flight = 0
    for i in range(arm_count):
        work.pulls[i] = seen.counts[i]
        work.burdens[i] = 0.0
        in_flight += seen.in_flight[i]
    for i in range(arm_count):
        if seen.alive[i]:
            refresh(seen, best, best_margin, i, work)
    if in_flight > 0:  # what threats rest on is settled by the pulls that were told
        for i in range(arm_count):
            work.pulls[i] += seen.in_flight[i]
            work.stale[i] = True
    arm = best
    for k in range(chosen.shape[0]):
        arm = most_doubtful(seen, best, best_margin, arm, work)
        chosen[k] = best if uniforms[k] < work.shares[arm] else arm
        work.pulls[chosen[k]] += 1.0
        work.stale[arm] = True
        if chosen[k] == best:
            for i in range(arm_count):
                work.stale[i] = True


def most_doubtful(seen: Evidence, best: int, best_margin: float, start: int, work: Work) -> int:
    """Return the arm with the least value, ties by priority; `start` is looked at first.

    Only lower bounds that come into reach are brought up to date: values without what was pulled
    since, or without what hinders a threat.
    """
    values, priority = work.values, seen.priority
    least = start
    for place in range(-1, values.shape[0]):
        i = start if place < 0 else place
        if not seen.alive[i] or values[i] > values[least]:
            continue
        if work.stale[i]:
            refresh(seen, best, best_margin, i, work)
        if work.hindrances[i] == UNKNOWN and values[i] <= values[least]:
            work.hindrances[i] = beating_hindrance(
                seen.estimates, seen.covariances, best, seen.counts[best], i, seen.counts[i],
                seen.thresholds,
            )  # fmt: skip
            values[i] += work.hindrances[i]
        if values[i] < values[least] or (
            values[i] == values[least] and priority[i] < priority[least]
        ):
            least = i
    return least


def refresh(seen: Evidence, best: int, best_margin: float, arm: int, work: Work) -> None:
    """Bring an arm's value up to date; burden and hindrance stay as the pulls told had them.

    The best arm is a threat to itself: it may fail a constraint, or pass after all.
    """
    estimates, covariances, thresholds = seen.estimates, seen.covariances, seen.thresholds
    n = work.pulls[arm]
    share = 0.0
    if best_margin <= 0.0 and arm == best:
        cost = failing_cost(estimates, covariances, arm, n, thresholds)
    elif best_margin <= 0.0:
        cost, share = beating_cost(
            estimates, covariances, best, work.pulls[best], arm, n, thresholds, work.cost
        )
    elif arm == best:
        cost = passing_cost(estimates, covariances, arm, n, thresholds, work.cost)
    else:  # to come nearer is never dearer than to pass
        cost, share = nearing_cost(
            estimates, covariances, best, work.pulls[best], arm, n, seen.scales, thresholds,
            work.cost,
        )  # fmt: skip
    if cost <= 0.0 and arm != best:  # a tie has no shares: whom fewer pulls know is pulled more
        share = n / (n + work.pulls[best])
    if work.burdens[arm] == 0.0:
        work.burdens[arm] = burden(share, n / work.pulls[best])
        work.hindrances[arm] = UNKNOWN if best_margin <= 0.0 and arm != best else 0.0
    if arm == best:
        cost *= ALONE
    rests_on = n * work.burdens[arm]
    value = cost * (1.0 + rests_on * work.hurry[0]) + math.log(rests_on)
    work.values[arm] = value + max(work.hindrances[arm], 0.0)
    work.shares[arm] = share
    work.stale[arm] = False


def burden(share: float, ratio: float) -> float:
    """Return the pulls that a threat rests on, over those of its arm.

    They are the number by which one more pull, of the best arm with probability `share`, must be
    divided to give the fall of the threat's variance. `ratio` is the arm's pulls over the best's.
    """
    return 1.0 / (share * share * ratio + (1.0 - share) * (1.0 - share))


POLICY = AdaptivePolicy(
    name="top-two",
    summary="pulls the best-looking arm or its most dangerous challenger, whichever is in doubt",
    warm_up=ten_or_half_a_share,
    minimum_budget=one_more_than_arms,
    choose=choose,
    make_work=make_work,
    answer=answer,
)
