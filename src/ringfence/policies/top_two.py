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
    are_apart,
    beating_cost,
    beating_hindrance,
    cost_work,
    failing_cost,
    least_hindrance,
    nearing_cost,
    passing_cost,
    two_demands,
)
from ringfence.core.gaps import leader
from ringfence.core.posterior import NODES, likeliest_answer
from ringfence.core.schedule import one_more_than_arms, ten_or_half_a_share
from ringfence.policies.policy import AdaptivePolicy, Evidence

ALONE = 1.4  # how much dearer the best arm's own doubt counts: its rivals have it pulled as well
NOBODY = 1e200  # the value of an arm that is not alive; less it, of one of which nothing is known
BELOW = -1e50  # the lead of an arm that needs none
SLACK = 1e-12  # by which a bound is lowered, for what rounding may have added
LANES, FIELDS = 8, 8  # arms that a vector unit takes at once, and what `bound` reads and writes
ROOT_ALONE = math.sqrt(ALONE)
THIRD = 1.0 / 3.0
FEW = 0.06  # a part of the pulls that is so small that a short series has its log


class Work(NamedTuple):
    """Each arm's pulls, its value as a challenger, and whether that value is stale.

    A stale value is a lower bound: costs never fall when pulls are added. `burdens` are, over
    an arm's pulls, those that its threat rests on, the best arm's among them; `rarities` the
    log of all these, and what makes the threat less likely than its cost says once an arm is
    `settled`. `logs` are those of `logged` pulls, which may be earlier ones. `told` are
    the fields of `bound`, so many `lanes` in a row. `hurry` is one over the pulls left.
    """

    pulls: Floats
    values: Floats
    shares: Floats
    burdens: Floats
    rarities: Floats
    logs: Floats
    logged: Floats
    settled: Mask
    stale: Mask
    told: Floats
    lanes: Floats
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
        rarities=np.zeros(arm_count),
        logs=np.zeros(arm_count),
        logged=np.ones(arm_count),
        settled=np.zeros(arm_count, np.bool_),
        stale=np.zeros(arm_count, np.bool_),
        told=np.ones(FIELDS * LANES * -(-arm_count // LANES)),
        lanes=np.zeros(LANES),
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
    for i in range(arm_count):
        work.pulls[i] = seen.counts[i]
        work.burdens[i] = 0.0
        work.settled[i] = False
        work.stale[i] = True
    fill_bounds(seen, best, best_margin, work)
    for i in range(arm_count):  # what threats rest on is settled by the pulls that were told
        work.pulls[i] += seen.in_flight[i]
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

    While the arm's value stays below that, no other need be looked at: values never fall. Without
    branches, for which arm is next cannot be guessed.
    """
    least, lowest, rank, second = 0, values[0], priority[0], NOBODY
    for i in range(1, values.shape[0]):
        less = (values[i] < lowest) | ((values[i] == lowest) & (priority[i] < rank))
        second = min(max(values[i], lowest), second)
        lowest = min(values[i], lowest)
        least = i if less else least
        rank = priority[i] if less else rank
    return least, second


def fill_bounds(seen: Evidence, best: int, best_margin: float, work: Work) -> None:
    """Put lower bounds of all values in place, by the pulls told: they leave few arms in reach.

    Where one constraint gives costs a closed form, vector units find them.
    """
    told, values = work.told, work.values
    closed = seen.estimates.shape[1] == 2
    if closed:
        for i in range(values.shape[0]):
            tell(seen, best, best_margin, i, work)
        a = 0 if best_margin <= 0.0 else 1
        best_n, noise = work.pulls[best], seen.covariances[best, a, a]
        inverse, hurry = 1.0 / best_n, work.hurry[0]
        for first in range(0, told.shape[0], FIELDS * LANES):
            part = told[first : first + FIELDS * LANES]
            for i in range(work.lanes.shape[0]):
                part[i] = bound(
                    part[i + LANES], part[i + 2 * LANES], part[i + 3 * LANES],
                    part[i + 4 * LANES], part[i + 5 * LANES], part[i + 6 * LANES],
                    part[i + 7 * LANES], best_n, inverse, noise, hurry, best_margin,
                )  # fmt: skip
    for i in range(values.shape[0]):
        values[i] = told[place_of(i)] if closed else -NOBODY
        if not seen.alive[i]:
            values[i] = NOBODY
        elif values[i] == -NOBODY:
            values[i] = unhindered(seen, best, best_margin, i, work)


def place_of(arm: int) -> int:
    """Return where the first of an arm's fields is; each next one is LANES further."""
    return FIELDS * LANES * (arm // LANES) + arm % LANES


def tell(seen: Evidence, best: int, best_margin: float, arm: int, work: Work) -> None:
    """Put what `bound` reads of an arm into its fields, one after the other."""
    told, place = work.told, place_of(arm)
    estimates, covariances = seen.estimates, seen.covariances
    n, logged = work.pulls[arm], work.logged[arm]
    if logged > n or n > 1.5 * logged:
        logged = max(n, 1.0)
        work.logged[arm], work.logs[arm] = logged, math.log(logged)
    excess = estimates[arm, 1] - seen.thresholds[0]
    if arm == best:  # a threat to itself by its limit alone
        lead, own, variance, crossed = BELOW, 1.0, covariances[arm, 1, 1], 0.0
        excess = ROOT_ALONE * abs(excess)
    elif best_margin <= 0.0:
        lead, own = estimates[arm, 0] - estimates[best, 0], covariances[arm, 0, 0]
        variance, crossed = covariances[arm, 1, 1], covariances[arm, 0, 1]
    else:
        lead, own = estimates[arm, 1] - estimates[best, 1], covariances[arm, 1, 1]
        excess, variance, crossed = -1.0, 1.0, 0.0
    told[place + LANES] = lead
    told[place + 2 * LANES] = excess
    told[place + 3 * LANES] = own
    told[place + 4 * LANES] = variance
    told[place + 5 * LANES] = crossed
    told[place + 6 * LANES] = n
    told[place + 7 * LANES] = work.logs[arm] + 2.0 * (n - logged) / (n + logged)


def bound(
    lead: float, excess: float, own: float, variance: float, crossed: float, n: float, log: float,
    best_n: float, inverse: float, noise: float, hurry: float, best_margin: float,
) -> float:  # fmt: skip
    """Return a lower bound of an arm's value, by steps that vector units do for many arms at once.

    `log` is at most that of n; that of the burden is at least the first terms of its series.
    """
    moved = n * noise
    joint = best_n * own + moved
    if not are_apart(joint, variance, crossed, best_n):
        return -NOBODY
    cost, share = two_demands(lead, excess, joint, moved, variance, crossed, n, best_n)
    rest = 1.0 - share * share * (n * inverse) - (1.0 - share) * (1.0 - share)
    rarity = log + rest * (1.0 + rest * (0.5 + rest * THIRD))
    hindrance = least_hindrance(lead, excess, joint, variance, crossed, n, best_n)
    rarity += hindrance if best_margin <= 0.0 else 0.0
    least = value(cost, n * (1.0 + rest), rarity, hurry)
    return least - SLACK * (1.0 + abs(least)) if cost > 0.0 else -NOBODY


def unhindered(seen: Evidence, best: int, best_margin: float, arm: int, work: Work) -> float:
    """Return an arm's value by the pulls told, but for its hindrance; note what it rests on."""
    n, best_n = float(seen.counts[arm]), float(seen.counts[best])
    cost, share = threat(seen, best, best_margin, arm, n, best_n, work)
    work.burdens[arm] = burden(share, n / best_n)
    work.rarities[arm] = math.log(n * work.burdens[arm])
    return value(cost, n * work.burdens[arm], work.rarities[arm], work.hurry[0])


def refresh(seen: Evidence, best: int, best_margin: float, arm: int, work: Work) -> None:
    """Bring an arm's value up to date; burden and hindrance stay as the pulls told had them."""
    n, told = work.pulls[arm], float(seen.counts[arm])
    if not work.settled[arm]:
        if work.burdens[arm] == 0.0:
            unhindered(seen, best, best_margin, arm, work)
        if best_margin <= 0.0 and arm != best:
            work.rarities[arm] += beating_hindrance(
                seen.estimates, seen.covariances, best, float(seen.counts[best]), arm, told,
                seen.thresholds,
            )  # fmt: skip
        work.settled[arm] = True
    cost, work.shares[arm] = threat(seen, best, best_margin, arm, n, work.pulls[best], work)
    rarity = work.rarities[arm] + log_ratio(n, told)
    work.values[arm] = value(cost, n * work.burdens[arm], rarity, work.hurry[0])
    work.stale[arm] = False


def log_ratio(n: float, before: float) -> float:
    """Return the log of n / before: of few pulls more by its series, which takes half the time."""
    part = (n - before) / (n + before)
    if part > FEW:
        return math.log(n / before)
    s = part * part
    return 2.0 * part * (1.0 + s * (1.0 / 3.0 + s * (0.2 + s * (1.0 / 7.0 + s * (1.0 / 9.0)))))


def value(cost: float, rests_on: float, rarity: float, hurry: float) -> float:
    """Return a threat's value; `rarity` is the log of what it rests on, and its hindrance."""
    return cost * (1.0 + rests_on * hurry) + rarity


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
