"""OCBA-CO: keep the pulls in the proportions that would be best if the estimates were true.

Optimal computing budget allocation under constraints (Lee, Pujowidianto, Li, Chen and Yap 2012):
every other arm is held back either by its objective or by its worst constraint, whichever tells it
apart more clearly. The best arm has the root of its rivals' squares, each times its price over the
best arm's. A fixed warm-up would make errors fall slower than exponentially (Wu and Zhou), so it
grows with the budget. Touches its arguments only, and writes in `work` and `chosen`.
"""

import math
from typing import NamedTuple

import numpy as np

from ringfence.core.allowance import price_of
from ringfence.core.arrays import Floats, Integers
from ringfence.core.gaps import FURTHEST, apparent_best, margin
from ringfence.core.posterior import margin_variance
from ringfence.core.schedule import one_more_than_arms
from ringfence.policies.evidence import Evidence
from ringfence.policies.policy import AdaptivePolicy

LEAST_GAP = 1e-12  # squared, in units of the noise: bounds the weight of an arm in a tie
LARGEST_GAP = 1e100
LEAST_NOISE = 1e-270  # a variance that weights may be divided by


class Work(NamedTuple):
    """Each arm's weight and pulls."""

    weights: Floats
    pulls: Floats


def make_work(arm_count: int, attribute_count: int) -> Work:
    """Return room for `choose`."""
    return Work(np.zeros(arm_count), np.zeros(arm_count))


def warm_up(arm_count: int, budget: int) -> int:
    """Return the pulls that each arm gets first: three tenths of an equal share."""
    return max(1, 3 * budget // (10 * arm_count))


def choose(seen: Evidence, uniforms: Floats, chosen: Integers, work: Work) -> None:
    """Choose a batch: each pull goes to the arm that is farthest behind its proportion."""
    arm_count = seen.estimates.shape[0]
    weights, pulls = work.weights, work.pulls
    best = apparent_best(seen.estimates, seen.alive, seen.scales, seen.thresholds, seen.priority)
    if margin(seen.estimates, best, seen.scales, seen.thresholds) <= 0.0:
        weigh_against_feasible(seen, best, weights)
    else:
        weigh_against_infeasible(seen, best, weights)
    weight_sum, total = 0.0, 0.0
    for i in range(arm_count):
        if seen.alive[i]:
            pulls[i] = seen.counts[i] + seen.in_flight[i]
            total += pulls[i]
            weight_sum += weights[i]
    for k in range(chosen.shape[0]):
        total += 1.0
        farthest, weight, pulled, rank = -1, 0.0, 0.0, 0
        for i in range(arm_count):
            if not seen.alive[i]:
                continue
            if farthest >= 0:
                lag = (weights[i] - weight) / weight_sum * total
                lag -= pulls[i] - pulled
                if lag < 0.0 or (lag == 0.0 and seen.priority[i] > rank):
                    continue
            farthest, weight, pulled, rank = i, weights[i], pulls[i], seen.priority[i]
        chosen[k] = farthest
        pulls[farthest] += 1.0


def standardised(gap: float, variance: float) -> float:
    """Return gap^2 / variance within bounds that keep every weight finite."""
    if variance <= 0.0:
        return LARGEST_GAP
    near = min(max(gap, -FURTHEST), FURTHEST)
    square = near * near
    return max(square / max(variance, square / LARGEST_GAP), LEAST_GAP)


def root(variance: float, squares: float) -> float:
    """Return the root of a product, at most LARGEST_GAP."""
    most = LARGEST_GAP * LARGEST_GAP / max(variance, 1.0 / LARGEST_GAP)
    return math.sqrt(variance * min(squares, most))


def priced(seen: Evidence, arm: int, weight: float) -> float:
    """Return what so many pulls of an arm cost: the dearer rivals are, the more of the best arm."""
    return weight * price_of(seen.prices, arm)


def weigh_against_feasible(seen: Evidence, best: int, weights: Floats) -> None:
    """Fill in the proportions where the best arm looks feasible."""
    estimates, covariances, thresholds = seen.estimates, seen.covariances, seen.thresholds
    best_variance = covariances[best, 0, 0]
    squares = 0.0
    for i in range(estimates.shape[0]):
        weights[i] = 0.0
        if not seen.alive[i] or i == best:
            continue
        violation = 0.0
        for c in range(1, estimates.shape[1]):
            excess = estimates[i, c] - thresholds[c - 1]
            if excess > 0.0:
                violation = max(violation, standardised(excess, covariances[i, c, c]))
        lead = estimates[i, 0] - estimates[best, 0]
        variance = covariances[i, 0, 0]
        if lead >= 0.0 and standardised(lead, variance + best_variance) >= violation:
            weights[i] = 1.0 / standardised(lead, variance)
            if variance > 0.0:
                squares += priced(seen, i, weights[i]) * weights[i] / max(variance, LEAST_NOISE)
        else:
            weights[i] = 1.0 / max(violation, LEAST_GAP)
    weights[best] = root(best_variance, squares / price_of(seen.prices, best))
    for c in range(1, estimates.shape[1]):
        slack = thresholds[c - 1] - estimates[best, c]
        weights[best] = max(weights[best], 1.0 / standardised(slack, covariances[best, c, c]))


def weigh_against_infeasible(seen: Evidence, best: int, weights: Floats) -> None:
    """Fill in the proportions where no arm looks feasible: those of OCBA on the margins."""
    best_margin = margin(seen.estimates, best, seen.scales, seen.thresholds)
    squares = 0.0
    for i in range(seen.estimates.shape[0]):
        weights[i] = 0.0
        if not seen.alive[i] or i == best:
            continue
        lead = margin(seen.estimates, i, seen.scales, seen.thresholds) - best_margin
        variance = margin_variance(
            seen.estimates, seen.covariances, i, seen.scales, seen.thresholds
        )
        weights[i] = 1.0 / standardised(lead, variance)
        if variance > 0.0:
            squares += priced(seen, i, weights[i]) * weights[i] / max(variance, LEAST_NOISE)
    own = margin_variance(seen.estimates, seen.covariances, best, seen.scales, seen.thresholds)
    squares /= price_of(seen.prices, best)
    weights[best] = max(root(own, squares), 1.0 / LARGEST_GAP)


POLICY = AdaptivePolicy(
    name="ocba-co",
    summary="keeps the proportions that would be best if the estimates were true",
    warm_up=warm_up,
    minimum_budget=one_more_than_arms,
    choose=choose,
    make_work=make_work,
    edition=3,
)
