"""Top-two: pull the arm that leads or its most dangerous challenger, whichever is in doubt.

After TopTwo-TCI (Lardy, Katsimerou and Koolen 2025), with an information-directed split (Qin and
You), carried over to a fixed budget and to instances without a feasible arm; docs/policies has
the derivation. Where a question asks about every arm alone, there is no best arm and no split: each
arm is its own threat. Touches its arguments only, and writes in `work` and `chosen`.
"""

import math
from functools import cache

from ringfence.core.all_feasible import ALL_FEASIBLE
from ringfence.core.allowance import price_of
from ringfence.core.arrays import Floats, Integers
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.cost import (
    NEVER,
    beating_cost,
    beating_hindrance,
    failing_cost,
    fill_beating,
    is_regular,
    nearing_cost,
    passing_cost,
)
from ringfence.core.gaps import lenient_margin, looks_better
from ringfence.core.question import Question
from ringfence.core.schedule import five_or_half_a_share, one_more_than_arms, ten_or_half_a_share
from ringfence.core.shrinkage import fill_shrunk
from ringfence.core.urgency import ALONE, HASTE, NOBODY, fill_values, most_urgent, promise, weigh
from ringfence.policies import top_two_hours, top_two_proving, top_two_sharing
from ringfence.policies.evidence import Choose, Evidence
from ringfence.policies.policy import AdaptivePolicy
from ringfence.policies.top_two_room import Work, answer, make_work


def choose(seen: Evidence, uniforms: Floats, chosen: Integers, work: Work) -> None:
    """Choose a batch: each pull goes where the answer is cheapest to overturn.

    Every threat to the answer has a value, minus the log of what money is worth that meets it:
    of its chance to be real (its cost, and what hinders it beyond) over the pulls that it rests
    on and what one costs. Without these an arm that looks bad by accident is never looked at
    again. The least value is met by a pull of the arm, or of the best arm by its share in the
    cost, less a little; of two prices the cheaper arm is pulled the more often. Of pulls in
    flight, and of the batch's own, nothing is known yet but that they make the threats dearer
    that they meet: values grow by their slopes.
    """
    fill_shrunk(
        work.shrunk, work.backing,
        seen.estimates, seen.counts, seen.alive, seen.covariances, seen.thresholds,
    )  # fmt: skip
    best, best_margin = find_best(seen, work)
    fill_threats(seen, best, best_margin, work)
    fill_values(seen.alive, best, seen.prices, HASTE / max(seen.left[0], 1), work)
    met = float(seen.in_flight[best])
    for i in range(seen.counts.shape[0]):
        for _ in range(seen.in_flight[i]):
            promise(i, work)
    for k in range(chosen.shape[0]):
        arm = most_urgent(work.values, work.rises, met, seen.priority)
        if arm == best or uniforms[k] < work.shares[arm]:
            arm = best
            met += 1.0
        chosen[k] = arm
        promise(arm, work)


@cache
def choose_for(question: Question) -> Choose:
    """Return the rule for a question that asks about every arm alone.

    Each pull goes to the arm of the least value: its own cost, in the hurry of the end, plus the
    log of its pulls. Nobody shares a pull.
    """
    look, own_cost = question.answer, question.own_cost

    def choose_alone(seen: Evidence, uniforms: Floats, chosen: Integers, work: Work) -> None:
        estimates, covariances, limits = seen.estimates, seen.covariances, seen.thresholds
        hurry = HASTE / max(seen.left[0], 1)
        _, feasible = look(estimates, seen.alive, seen.scales, limits, seen.priority, work.marked)
        for i in range(work.values.shape[0]):
            work.rises[i], work.values[i] = 0.0, NOBODY
            if not seen.alive[i]:
                continue
            n = float(max(seen.counts[i], 1))
            cost = own_cost(
                estimates, covariances, i, n, work.marked[i], feasible, limits, work.cost
            )
            price = price_of(seen.prices, i)
            weight, _, hasty, _, slope = weigh(cost, 0.0, 1.0, n, 0.0, hurry, 0.0, price, price)
            work.pulls[i], work.slopes[i] = n, slope
            work.values[i] = hasty + math.log(weight)
            promised = seen.in_flight[i]
            for _ in range(promised):
                promise(i, work)
        for k in range(chosen.shape[0]):
            chosen[k] = most_urgent(work.values, work.rises, 0.0, seen.priority)
            promise(chosen[k], work)

    return choose_alone


def find_best(seen: Evidence, work: Work) -> tuple[int, float]:
    """Return the arm that looks best among those that may well be feasible, and its margin.

    If the best of them does keep its limits it is the answer, so that is to be found out first.
    """
    best, best_objective, best_margin, best_rank = -1, 0.0, 0.0, 0
    for i in range(seen.alive.shape[0]):
        if not seen.alive[i]:
            continue
        objective, rank = work.shrunk[i, 0], seen.priority[i]
        margin = lenient_margin(
            work.shrunk, i, seen.scales, work.zeros, seen.covariances, float(max(seen.counts[i], 1))
        )
        if best < 0 or looks_better(
            objective, margin, rank, best_objective, best_margin, best_rank
        ):
            best, best_objective, best_margin, best_rank = i, objective, margin, rank
    return best, best_margin


def fill_threats(seen: Evidence, best: int, best_margin: float, work: Work) -> None:
    """Put pulls, cost, share and hindrance of every living arm's threat in place."""
    places, covariances, limits = work.shrunk, seen.covariances, work.zeros
    for i in range(work.pulls.shape[0]):
        work.pulls[i] = max(seen.counts[i], 1)  # an arm that is not alive may have had none
    best_n = work.backing[best]
    if best_margin <= 0.0 and has_regular_arms(seen):
        fill_beating(
            work.costs, work.shares, work.hindrances,
            places, covariances, best, work.backing, limits,
        )  # fmt: skip
    else:
        for i in range(work.costs.shape[0]):
            work.costs[i], work.shares[i], work.hindrances[i] = NEVER, 0.0, 1.0
            if not seen.alive[i] or i == best:
                continue
            n = work.backing[i]
            if best_margin <= 0.0:
                work.costs[i], work.shares[i] = beating_cost(
                    places, covariances, best, best_n, i, n, limits, work.cost
                )
                work.hindrances[i] = beating_hindrance(
                    places, covariances, best, best_n, i, n, limits
                )
            else:  # to come nearer is never dearer than to pass
                work.costs[i], work.shares[i] = nearing_cost(
                    places, covariances, best, best_n, i, n, seen.scales, limits, work.cost
                )
    if best_margin <= 0.0:  # the best arm is a threat to itself: it may fail, or pass after all
        own = failing_cost(places, covariances, best, best_n, limits)
    else:
        own = passing_cost(places, covariances, best, best_n, limits, work.cost)
    work.costs[best], work.shares[best], work.hindrances[best] = ALONE * own, 0.0, 1.0


def has_regular_arms(seen: Evidence) -> bool:
    """Tell whether there is one constraint, and `fill_beating` will do."""
    if seen.estimates.shape[1] != 2:
        return False
    regular = True
    for i in range(seen.alive.shape[0]):
        regular &= seen.alive[i] & is_regular(seen.covariances, i)
    return regular


POLICY = AdaptivePolicy(
    name="top-two",
    summary="pulls the best-looking arm or its most dangerous challenger, whichever is in doubt",
    warm_up=ten_or_half_a_share,
    minimum_budget=one_more_than_arms,
    choose=choose,
    make_work=make_work,
    answer=answer,
    edition=4,
    questions=(BEST_FEASIBLE, ALL_FEASIBLE),
    choose_for=choose_for,
    choose_sharing=top_two_sharing.choose,
    make_sharing_work=top_two_sharing.make_work,
    answer_sharing=top_two_sharing.answer,
    warm_up_sharing=five_or_half_a_share,
    choose_hours=top_two_hours.choose,
    make_hours_work=top_two_hours.make_work,
    choose_proving=top_two_proving.proving,
)
