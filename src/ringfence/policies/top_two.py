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
    NEVER,
    CostWork,
    beating_cost,
    cost_work,
    failing_cost,
    nearing_cost,
    passing_cost,
)
from ringfence.core.gaps import apparent_best, margin
from ringfence.core.posterior import likeliest_answer
from ringfence.core.schedule import one_more_than_arms, ten_or_half_a_share
from ringfence.policies.policy import AdaptivePolicy, Evidence

DOUBTED_PULLS = 10.0  # a cost is believed by half when it rests on so many pulls
FULL_CAUTION = 3.75  # the log of the number of arms at which the log of the pulls counts in full


class Work(NamedTuple):
    """Each arm's pulls, its value as a challenger, and whether that value is up to date.

    A value that is not is a lower bound: costs never fall when pulls are added. `burdens` are, over
    an arm's pulls, those that its threat rests on, the best arm's among them. `caution` is the
    weight of their log, `hurry` one over the pulls that are left, and `logs` remembers the logs
    of the numbers in `logged`.
    """

    pulls: Floats
    values: Floats
    shares: Floats
    burdens: Floats
    current: Mask
    passing: Floats
    caution: Floats
    hurry: Floats
    logged: Floats
    logs: Floats
    cost: CostWork


def make_work(arm_count: int, attribute_count: int) -> Work:
    """Return room for `choose` and `answer`."""
    return Work(
        pulls=np.zeros(arm_count),
        values=np.zeros(arm_count),
        shares=np.zeros(arm_count),
        burdens=np.zeros(arm_count),
        current=np.zeros(arm_count, np.bool_),
        passing=np.zeros(arm_count),
        caution=np.array([min(1.0, math.log(arm_count) / FULL_CAUTION)]),
        hurry=np.zeros(1),
        logged=np.zeros(arm_count),
        logs=np.zeros(arm_count),
        cost=cost_work(attribute_count),
    )


def answer(seen: Evidence, work: Work) -> tuple[int, bool]:
    """Answer with what the pulls make likeliest: mostly, but not always, the apparent best."""
    return likeliest_answer(
        seen.estimates, seen.counts, seen.alive, seen.covariances,
        seen.scales, seen.thresholds, seen.priority, work.passing,
    )  # fmt: skip


def choose(seen: Evidence, uniforms: Floats, chosen: Integers, work: Work) -> None:
    """Choose a batch: each pull goes where the answer is cheapest to overturn.

    Every threat to the answer has a value: its cost, believed the less the fewer pulls it rests
    on, plus `caution` times the log of these pulls. Without that an arm that looks bad by
    accident is never looked at again, the more so the more arms there are. Towards the end of
    the budget a cost counts the more the more pulls it rests on: what is left cannot overturn it,
    and is better spent where it can. The least value is met by a pull of the arm, or of the best
    arm by its share in the cost.
    """
    estimates, scales, thresholds = seen.estimates, seen.scales, seen.thresholds
    arm_count = estimates.shape[0]
    best = apparent_best(estimates, seen.alive, scales, thresholds, seen.priority)
    best_margin = margin(estimates, best, scales, thresholds)
    work.hurry[0] = 1.0 / max(seen.left[0], 1)
    for i in range(arm_count):
        work.pulls[i] = seen.counts[i]
        work.burdens[i] = 0.0
    any_in_flight = False
    for i in range(arm_count):
        if seen.alive[i]:
            refresh(seen, best, best_margin, i, work)
            any_in_flight = any_in_flight or seen.in_flight[i] > 0
    if any_in_flight:
        for i in range(arm_count):
            work.pulls[i] += seen.in_flight[i]
            work.current[i] = False
    arm, runner_up = -1, 0.0
    for k in range(chosen.shape[0]):
        if arm < 0 or work.values[arm] >= runner_up:
            arm, runner_up = most_doubtful(seen, best, best_margin, work)
        chosen[k] = best if uniforms[k] < work.shares[arm] else arm
        work.pulls[chosen[k]] += 1.0
        if chosen[k] == best:
            for i in range(arm_count):
                work.current[i] = False
        refresh(seen, best, best_margin, arm, work)


def refresh(seen: Evidence, best: int, best_margin: float, arm: int, work: Work) -> None:
    """Bring an arm's value up to date; its burden is found once, by the pulls that were told.

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
    if work.burdens[arm] == 0.0:  # the share of a cost of zero is no number
        work.burdens[arm] = burden(share, n / work.pulls[best]) if cost > 0.0 else 1.0
    rests_on = n * work.burdens[arm]
    if work.logged[arm] != rests_on:
        work.logged[arm] = rests_on
        work.logs[arm] = math.log(rests_on)
    weight = n / (n + DOUBTED_PULLS) * (1.0 + rests_on * work.hurry[0])
    work.values[arm] = cost * weight + work.caution[0] * work.logs[arm]
    work.shares[arm] = share
    work.current[arm] = True


def burden(share: float, ratio: float) -> float:
    """Return the pulls that a threat rests on, over those of its arm.

    They are the number by which one more pull, of the best arm with probability `share`, must be
    divided to give the fall of the threat's variance. `ratio` is the arm's pulls over the best's.
    """
    return 1.0 / (share * share * ratio + (1.0 - share) * (1.0 - share))


def most_doubtful(seen: Evidence, best: int, best_margin: float, work: Work) -> tuple[int, float]:
    """Return the arm with the least value, ties by priority, and the least value of the others.

    Only lower bounds that come into reach are brought up to date; the second value may be one.
    """
    values, alive, priority = work.values, seen.alive, seen.priority
    while True:
        least = -1
        runner_up = NEVER
        for i in range(values.shape[0]):
            if not alive[i]:
                continue
            if least < 0 or values[i] < values[least]:
                runner_up = NEVER if least < 0 else values[least]
                least = i
            elif values[i] <= runner_up:
                runner_up = values[i]
                if values[i] == values[least] and priority[i] < priority[least]:
                    least = i
        if work.current[least]:
            return least, runner_up
        refresh(seen, best, best_margin, least, work)


POLICY = AdaptivePolicy(
    name="top-two",
    summary="pulls the best-looking arm or its most dangerous challenger, whichever is in doubt",
    warm_up=ten_or_half_a_share,
    minimum_budget=one_more_than_arms,
    choose=choose,
    make_work=make_work,
    answer=answer,
)
