"""Top-two for many replications side by side: the loops of policies/top_two.py, turned around.

Every number is found by the functions that the policy itself uses. Here arms are the outer loop and
lanes the inner one, so that vector units do several replications at once. For one constraint and
noise that is known and regular; every arm is alive, and nothing is in flight. May touch core and
policies.
"""

import math

from ringfence.core.arrays import Floats, Integers
from ringfence.core.cost import is_regular, moving_cost, one_nearer, two_demands
from ringfence.core.gaps import looks_better
from ringfence.policies import top_two
from ringfence.policies.top_two import ALONE, weigh
from ringfence.simulation.lanes.rules import LIMIT, OBJECTIVE, PULLS, RANK, SEEN_ROWS, LaneRule

# Rows of `arms` after those that a rule sees: what the policy's own `Work` has.
SHARE, VALUE, RISE, SLOPE, WEIGHT, PROMISED = range(SEEN_ROWS, SEEN_ROWS + 6)
# Rows of `front`: the best arm of every lane, and the arm that a search holds.
BEST, BEST_OBJECTIVE, BEST_MARGIN, BEST_RANK, BEST_LIMIT = range(5)
OBJECTIVE_VARIANCE, LIMIT_VARIANCE, PER_BEST, MET = range(5, 9)
URGENT, URGENT_VALUE, URGENT_RANK, CROWD = range(9, 13)


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
    find_leaders(arms, front, covariances, scales, thresholds)
    weigh_threats(arms, front, covariances, thresholds, 1.0 / left)
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


def find_leaders(
    arms: Floats, front: Floats, covariances: Floats, scales: Floats, thresholds: Floats
) -> None:
    """Put the arm that looks best in every lane, and what is known of it, in front."""
    for i in range(arms.shape[0]):
        for lane in range(arms.shape[2]):
            objective, rank = arms[i, OBJECTIVE, lane], arms[i, RANK, lane]
            margin = scales[1] * (arms[i, LIMIT, lane] - thresholds[0])
            held_objective, held_margin = front[BEST_OBJECTIVE, lane], front[BEST_MARGIN, lane]
            held_rank, held = front[BEST_RANK, lane], front[BEST, lane]
            better = (i == 0) | looks_better(
                objective, margin, rank, held_objective, held_margin, held_rank
            )
            front[BEST_OBJECTIVE, lane] = objective if better else held_objective
            front[BEST_MARGIN, lane] = margin if better else held_margin
            front[BEST_RANK, lane] = rank if better else held_rank
            front[BEST, lane] = float(i) if better else held
    for lane in range(arms.shape[2]):
        best = int(front[BEST, lane])
        n = arms[best, PULLS, lane]
        pull_count = 0.0
        for i in range(arms.shape[0]):
            pull_count += arms[i, PULLS, lane]
        front[CROWD, lane] = max(n * arms.shape[0] / pull_count, 1.0)
        front[BEST_LIMIT, lane] = arms[best, LIMIT, lane]
        front[OBJECTIVE_VARIANCE, lane] = covariances[best, 0, 0] / n
        front[LIMIT_VARIANCE, lane] = covariances[best, 1, 1] / n
        front[PER_BEST, lane] = 1.0 / n
        front[MET, lane] = 0.0


def weigh_threats(
    arms: Floats, front: Floats, covariances: Floats, thresholds: Floats, hurry: float
) -> None:
    """Put every threat's value in place, and how it grows.

    In short loops, one after the other: vector units do each of them, and not all in one.
    """
    threshold = thresholds[0]
    none_feasible = 0
    for lane in range(arms.shape[2]):
        none_feasible += int(front[BEST_MARGIN, lane] > 0.0)
    for i in range(arms.shape[0]):
        lead_variance, limit_variance = covariances[i, 0, 0], covariances[i, 1, 1]
        crossed = covariances[i, 0, 1]
        for lane in range(arms.shape[2]):
            n = arms[i, PULLS, lane]
            arms[i, VALUE, lane], arms[i, SHARE, lane], arms[i, WEIGHT, lane] = two_demands(
                arms[i, OBJECTIVE, lane] - front[BEST_OBJECTIVE, lane],
                arms[i, LIMIT, lane] - threshold,
                lead_variance, limit_variance, crossed, n, n * front[OBJECTIVE_VARIANCE, lane],
            )  # fmt: skip
        if none_feasible > 0:
            for lane in range(arms.shape[2]):
                cost, share = one_nearer(
                    arms[i, LIMIT, lane] - front[BEST_LIMIT, lane],
                    limit_variance / arms[i, PULLS, lane],
                    front[LIMIT_VARIANCE, lane],
                )
                feasible = front[BEST_MARGIN, lane] <= 0.0
                arms[i, VALUE, lane] = arms[i, VALUE, lane] if feasible else cost
                arms[i, SHARE, lane] = arms[i, SHARE, lane] if feasible else share
                arms[i, WEIGHT, lane] = arms[i, WEIGHT, lane] if feasible else 1.0
        for lane in range(arms.shape[2]):
            n = arms[i, PULLS, lane]
            own = ALONE * moving_cost(arms[i, LIMIT, lane] - threshold, limit_variance, n)
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
    alike=top_two.choose, choose=choose, suits=suits, arm_rows=SEEN_ROWS + 6, front_rows=13
)
