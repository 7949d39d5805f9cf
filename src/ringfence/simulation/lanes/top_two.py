"""Top-two for many replications side by side: the loops of policies/top_two.py, turned around.

Every number is found by the functions that the policy itself uses. Here arms are the outer loop and
lanes the inner one, so that vector units do several replications at once. For one constraint and
noise that is known and regular; every arm is alive, and nothing is in flight. May touch core and
policies.
"""

import math

from ringfence.core.arrays import Floats, Integers
from ringfence.core.cost import is_regular, moving_cost, one_nearer, two_demands
from ringfence.core.gaps import looks_better, may_pass
from ringfence.core.shrinkage import belief, beyond, mean_weight, spread
from ringfence.core.urgency import ALONE, HASTE, weigh
from ringfence.policies import top_two
from ringfence.simulation.lanes.rules import LIMIT, OBJECTIVE, PULLS, RANK, SEEN_ROWS, LaneRule

# Rows of `arms` after those that a rule sees: what the policy's own `Work` has.
SHARE, VALUE, RISE, SLOPE, WEIGHT, PROMISED = range(SEEN_ROWS, SEEN_ROWS + 6)
PLACE, EXCESS, BACKING = range(SEEN_ROWS + 6, SEEN_ROWS + 9)  # where an arm lies, shrunk
ARM_ROWS = SEEN_ROWS + 9
# Rows of `front`: the best arm of every lane, the arm that a search holds, and sums over arms.
BEST, BEST_PLACE, BEST_MARGIN, BEST_RANK, BEST_EXCESS = range(5)
LEAD_VARIANCE, EXCESS_VARIANCE, PER_BEST, MET = range(5, 9)
URGENT, URGENT_VALUE, URGENT_RANK, CROWD = range(9, 13)
LEAST, LEAST_EXCESS = range(13, 15)
MEAN, SPREAD, MEAN_EXCESS, SPREAD_EXCESS = range(15, 19)  # sums, at first, and of squares
FRONT_ROWS = 19


def choose(
    arms: Floats,
    front: Floats,
    covariances: Floats,
    scales: Floats,
    thresholds: Floats,
    left: int,
    uniforms: Floats,
    chosen: Integers,
) -> None:
    """Choose a batch in every lane."""
    shrink_arms(arms, front, covariances, thresholds[0])
    find_leaders(arms, front, covariances, scales)
    weigh_threats(arms, front, covariances, HASTE / left)
    for k in range(chosen.shape[0]):
        find_most_urgent(arms, front)
        for lane in range(chosen.shape[1]):
            arm, best = int(front[URGENT, lane]), int(front[BEST, lane])
            to_best = (arm == best) | (uniforms[k, lane] < arms[arm, SHARE, lane])
            arm = best if to_best else arm
            front[MET, lane] += 1.0 if to_best else 0.0
            chosen[k, lane] = arm
            arms[arm, VALUE, lane] += arms[arm, SLOPE, lane] / arms[arm, PROMISED, lane]
            arms[arm, PROMISED, lane] += 1.0


def shrink_arms(arms: Floats, front: Floats, covariances: Floats, threshold: float) -> None:
    """Put where every arm lies, shrunk, and the pulls that this rests on, in place."""
    arm_count = float(arms.shape[0])
    trust = belief(arm_count)
    for lane in range(arms.shape[2]):
        front[LEAST, lane] = arms[0, OBJECTIVE, lane]
        front[LEAST_EXCESS, lane] = arms[0, LIMIT, lane] - threshold
        front[MEAN, lane], front[SPREAD, lane] = 0.0, 0.0
        front[MEAN_EXCESS, lane], front[SPREAD_EXCESS, lane] = 0.0, 0.0
    for i in range(1, arms.shape[0]):
        for lane in range(arms.shape[2]):
            excess = arms[i, LIMIT, lane] - threshold
            front[LEAST, lane] = min(front[LEAST, lane], arms[i, OBJECTIVE, lane])
            front[LEAST_EXCESS, lane] = min(front[LEAST_EXCESS, lane], excess)
    for i in range(arms.shape[0]):
        for lane in range(arms.shape[2]):
            place = beyond(arms[i, OBJECTIVE, lane] - front[LEAST, lane], 0.0)
            excess = beyond(arms[i, LIMIT, lane] - threshold, front[LEAST_EXCESS, lane])
            front[MEAN, lane] += place
            front[SPREAD, lane] += place * place
            front[MEAN_EXCESS, lane] += excess
            front[SPREAD_EXCESS, lane] += excess * excess
    for lane in range(arms.shape[2]):
        total, total_excess = front[MEAN, lane], front[MEAN_EXCESS, lane]
        front[SPREAD, lane] = spread(total, front[SPREAD, lane], arm_count)
        front[SPREAD_EXCESS, lane] = spread(total_excess, front[SPREAD_EXCESS, lane], arm_count)
        front[MEAN, lane] = total / arm_count
        front[MEAN_EXCESS, lane] = total_excess / arm_count + front[LEAST_EXCESS, lane]
    for i in range(arms.shape[0]):
        lead_noise, limit_noise = covariances[i, 0, 0], covariances[i, 1, 1]
        for lane in range(arms.shape[2]):
            n = arms[i, PULLS, lane]
            place = arms[i, OBJECTIVE, lane] - front[LEAST, lane]
            excess = arms[i, LIMIT, lane] - threshold
            weight = mean_weight(front[SPREAD, lane], lead_noise, n, trust)
            other = mean_weight(front[SPREAD_EXCESS, lane], limit_noise, n, trust)
            arms[i, PLACE, lane] = place - weight * (place - front[MEAN, lane])
            arms[i, EXCESS, lane] = excess - other * (excess - front[MEAN_EXCESS, lane])
            arms[i, BACKING, lane] = n / (1.0 - min(weight, other))


def find_leaders(arms: Floats, front: Floats, covariances: Floats, scales: Floats) -> None:
    """Put the arm that looks best in every lane, and what is known of it, in front."""
    for i in range(arms.shape[0]):
        variance = covariances[i, 1, 1]
        for lane in range(arms.shape[2]):
            place, rank = arms[i, PLACE, lane], arms[i, RANK, lane]
            excess = arms[i, EXCESS, lane]
            margin = scales[1] * excess
            lenient = min(margin, 0.0)
            margin = lenient if may_pass(excess, variance, arms[i, PULLS, lane]) else margin
            held_place, held_margin = front[BEST_PLACE, lane], front[BEST_MARGIN, lane]
            held_rank, held = front[BEST_RANK, lane], front[BEST, lane]
            better = (i == 0) | looks_better(
                place, margin, rank, held_place, held_margin, held_rank
            )
            front[BEST_PLACE, lane] = place if better else held_place
            front[BEST_MARGIN, lane] = margin if better else held_margin
            front[BEST_RANK, lane] = rank if better else held_rank
            front[BEST, lane] = float(i) if better else held
    for lane in range(arms.shape[2]):
        front[CROWD, lane] = 0.0  # all pulls, at first
    for i in range(arms.shape[0]):
        for lane in range(arms.shape[2]):
            front[CROWD, lane] += arms[i, PULLS, lane]
    for lane in range(arms.shape[2]):
        best = int(front[BEST, lane])
        n, backing = arms[best, PULLS, lane], arms[best, BACKING, lane]
        front[CROWD, lane] = max(n * arms.shape[0] / front[CROWD, lane], 1.0)
        front[BEST_EXCESS, lane] = arms[best, EXCESS, lane]
        front[LEAD_VARIANCE, lane] = covariances[best, 0, 0] / backing
        front[EXCESS_VARIANCE, lane] = covariances[best, 1, 1] / backing
        front[PER_BEST, lane] = 1.0 / n
        front[MET, lane] = 0.0


def weigh_threats(arms: Floats, front: Floats, covariances: Floats, hurry: float) -> None:
    """Put every threat's value in place, and how it grows.

    In short loops, one after the other: vector units do each of them, and not all in one.
    """
    none_feasible = 0
    for lane in range(arms.shape[2]):
        none_feasible += int(front[BEST_MARGIN, lane] > 0.0)
    for i in range(arms.shape[0]):
        lead_variance, limit_variance = covariances[i, 0, 0], covariances[i, 1, 1]
        crossed = covariances[i, 0, 1]
        for lane in range(arms.shape[2]):
            n = arms[i, BACKING, lane]
            arms[i, VALUE, lane], arms[i, SHARE, lane], arms[i, WEIGHT, lane] = two_demands(
                arms[i, PLACE, lane] - front[BEST_PLACE, lane], arms[i, EXCESS, lane],
                lead_variance, limit_variance, crossed, n, n * front[LEAD_VARIANCE, lane],
            )  # fmt: skip
        if none_feasible > 0:
            for lane in range(arms.shape[2]):
                cost, share = one_nearer(
                    arms[i, EXCESS, lane] - front[BEST_EXCESS, lane],
                    limit_variance / arms[i, BACKING, lane],
                    front[EXCESS_VARIANCE, lane],
                )
                feasible = front[BEST_MARGIN, lane] <= 0.0
                arms[i, VALUE, lane] = arms[i, VALUE, lane] if feasible else cost
                arms[i, SHARE, lane] = arms[i, SHARE, lane] if feasible else share
                arms[i, WEIGHT, lane] = arms[i, WEIGHT, lane] if feasible else 1.0
        for lane in range(arms.shape[2]):
            n, excess = arms[i, PULLS, lane], arms[i, EXCESS, lane]
            # A best arm that is feasible may fail, one that is not may pass after all.
            room = max(-excess if front[BEST_MARGIN, lane] <= 0.0 else excess, 0.0)
            own = ALONE * moving_cost(room, limit_variance, arms[i, BACKING, lane])
            is_best = front[BEST, lane] == float(i)
            cost = own if is_best else arms[i, VALUE, lane]
            share = 0.0 if is_best else arms[i, SHARE, lane]
            weight, share, hasty, rise, slope = weigh(
                cost, share, arms[i, WEIGHT, lane],
                n, front[PER_BEST, lane], hurry, front[CROWD, lane] if is_best else 0.0,
            )  # fmt: skip
            arms[i, SHARE, lane], arms[i, VALUE, lane] = share, hasty
            arms[i, RISE, lane], arms[i, SLOPE, lane] = rise, slope
            arms[i, WEIGHT, lane], arms[i, PROMISED, lane] = weight, n
        for lane in range(arms.shape[2]):
            arms[i, VALUE, lane] += math.log(arms[i, WEIGHT, lane])


def find_most_urgent(arms: Floats, front: Floats) -> None:
    """Put the arm of the least value in every lane in front; ties by priority."""
    for i in range(arms.shape[0]):
        for lane in range(arms.shape[2]):
            value = arms[i, VALUE, lane] + front[MET, lane] * arms[i, RISE, lane]
            rank = arms[i, RANK, lane]
            least, held_rank = front[URGENT_VALUE, lane], front[URGENT_RANK, lane]
            held = front[URGENT, lane]
            sooner = (i == 0) | (value < least) | ((value == least) & (rank < held_rank))
            front[URGENT_VALUE, lane] = value if sooner else least
            front[URGENT_RANK, lane] = rank if sooner else held_rank
            front[URGENT, lane] = float(i) if sooner else held


def suits(covariances: Floats) -> bool:
    """Tell whether there is one constraint, and every arm is regular."""
    return covariances.shape[1] == 2 and all(
        is_regular(covariances, i) for i in range(len(covariances))
    )


RULE = LaneRule(
    alike=top_two.choose, choose=choose, suits=suits, arm_rows=ARM_ROWS, front_rows=FRONT_ROWS
)
