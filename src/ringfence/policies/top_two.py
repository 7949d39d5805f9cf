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
NOBODY = 1e200  # the value of an arm that is not alive


class Work(NamedTuple):
    """Each arm's pulls, its value as a challenger, and whether that value is stale.

    A stale value is a lower bound: costs never fall when pulls are added. `burdens` are, over
    an arm's pulls, those that its threat rests on, the best arm's among them, and `hindrances`
    what makes the threat less likely than its cost says, once they were `asked` for. `hurry` is
    one over the pulls left.
    """

    pulls: Floats
    values: Floats
    shares: Floats
    burdens: Floats
    hindrances: Floats
    asked: Mask
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
        asked=np.zeros(arm_count, np.bool_),
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
    overturn it, and is better spent where it can: on arms of few pulls, whose noise may be taken
    for less than it is. The least value is met by a pull of the arm, or of the best arm by its
    share in the cost.
    """
    arm_count = seen.counts.shape[0]
    best, _, best_margin = leader(
        seen.estimates, seen.alive, seen.scales, seen.thresholds, seen.priority
    )
    work.hurry[0] = 1.0 / max(seen.left[0], 1)
    fill_bounds(seen, best, best_margin, work)
    arm, runner_up = first_two(work.values, seen.priority)
    for k in range(chosen.shape[0]):
        while work.stale[arm]:
            refresh(seen, best, best_margin, arm, work)
            if work.values[arm] >= runner_up:
                arm, runner_up = first_two(work.values, seen.priority)
        work.stale[arm] = True
        if arm == best or uniforms[k] < work.shares[arm]:
            chosen[k] = best
            work.pulls[best] += 1.0
            for i in range(arm_count):
                work.stale[i] = True
        else:
            chosen[k] = arm
            work.pulls[arm] += 1.0


def first_two(values: Floats, priority: Integers) -> tuple[int, float]:
    """Return the arm of the least value, ties by priority, and the least value of all others.

    While the arm's value stays below that, no other need be looked at: values never fall. First
    the values, then whose it is: which arm is next cannot be guessed, and nothing waits for it.
    """
    lowest, second = NOBODY, NOBODY
    for i in range(values.shape[0]):
        second = min(max(values[i], lowest), second)
        lowest = min(values[i], lowest)
    least = -1
    for i in range(values.shape[0]):
        if values[i] == lowest and (least < 0 or priority[i] < priority[least]):
            least = i
    return least, second


def fill_bounds(seen: Evidence, best: int, best_margin: float, work: Work) -> None:
    """Put lower bounds of all values in place: those by the pulls told, without hindrances."""
    best_n = float(seen.counts[best])
    for i in range(work.values.shape[0]):
        work.pulls[i] = seen.counts[i] + seen.in_flight[i]
        work.hindrances[i] = 0.0
        work.asked[i], work.stale[i] = best_margin > 0.0 or i == best, True
        work.values[i] = NOBODY
        if seen.alive[i]:
            n = float(seen.counts[i])
            cost, share = threat(seen, best, best_margin, i, n, best_n, work)
            work.burdens[i] = burden(share, n / best_n)
            work.values[i] = value(cost, n * work.burdens[i], 0.0, work.hurry[0])


def refresh(seen: Evidence, best: int, best_margin: float, arm: int, work: Work) -> None:
    """Bring an arm's value up to date; burden and hindrance stay as the pulls told had them."""
    if not work.asked[arm]:
        work.asked[arm] = True
        work.hindrances[arm] = beating_hindrance(
            seen.estimates, seen.covariances, best, float(seen.counts[best]), arm,
            float(seen.counts[arm]), seen.thresholds,
        )  # fmt: skip
    n = work.pulls[arm]
    cost, work.shares[arm] = threat(seen, best, best_margin, arm, n, work.pulls[best], work)
    rests_on = n * work.burdens[arm]
    work.values[arm] = value(cost, rests_on, work.hindrances[arm], work.hurry[0])
    work.stale[arm] = False


def value(cost: float, rests_on: float, hindrance: float, hurry: float) -> float:
    """Return the value of a threat, from the pulls that it rests on."""
    return cost * (1.0 + rests_on * hurry) + hindrance + math.log(rests_on)


def threat(
    seen: Evidence, best: int, best_margin: float, arm: int, n: float, best_n: float, work: Work
) -> tuple[float, float]:
    """Return the cost of an arm's threat, and the best arm's share in it.

    The best arm is a threat to itself: it may fail a constraint, or pass after all.
    """
    estimates, covariances, thresholds = seen.estimates, seen.covariances, seen.thresholds
    share = 0.0
    if best_margin <= 0.0 and arm == best:
        cost = failing_cost(estimates, covariances, arm, n, thresholds)
    elif best_margin <= 0.0:
        cost, share = beating_cost(
            estimates, covariances, best, best_n, arm, n, thresholds, work.cost
        )
    elif arm == best:
        cost = passing_cost(estimates, covariances, arm, n, thresholds, work.cost)
    else:  # to come nearer is never dearer than to pass
        cost, share = nearing_cost(
            estimates, covariances, best, best_n, arm, n, seen.scales, thresholds, work.cost
        )
    if arm == best:
        cost *= ALONE
    elif cost <= 0.0:  # a tie has no shares: whom fewer pulls know is pulled more
        share = n / (n + best_n)
    return cost, share


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
