"""Estimates shrunk towards the mean of all arms, as if each had had a few more pulls there.

Of many arms, those that look worst were unlucky and those that look best were lucky, the more so
the fewer pulls they have had. How far to shrink is seen from the arms themselves: by the noise of
one pull over the spread of the estimates (James and Stein; Efron and Morris), times a belief that
is nothing up to three arms, of which no spread can be told. It is half of what a normal prior
would ask for: docs/research/top-two.md has numbers. Touches its arguments only, and writes in
`shrunk` and `backing`.
"""

import math

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.gaps import FURTHEST

BELIEF = 0.5


def belief(arm_count: float) -> float:
    """Return what part is added of the pulls that noise over spread asks for."""
    return BELIEF * max(arm_count - 3.0, 0.0) / max(arm_count - 1.0, 1.0)


def beyond(place: float, least: float) -> float:
    """Return how far a place lies from the least one, as far as squares go.

    What lies so far apart is not shrunk anyway.
    """
    return min(place - least, FURTHEST)


def spread(total: float, squares: float, arm_count: float) -> float:
    """Return the variance between arms from the sum of their places and of the squares of these."""
    return (squares - total * total / arm_count) / max(arm_count - 1.0, 1.0)


def mean_weight(between: float, noise: float, n: float, trust: float) -> float:
    """Return the weight of the arms' mean in an estimate of n pulls.

    Estimates that lie closer together than half of their noise do so by accident.
    """
    wanted = trust * noise
    return wanted / (wanted + max(0.5 * noise, between * n)) if 0.0 < noise < math.inf else 0.0


def fill_shrunk(
    shrunk: Floats,
    backing: Floats,
    estimates: Floats,
    counts: Integers,
    alive: Mask,
    covariances: Floats,
    thresholds: Floats,
) -> None:
    """Put where every living arm lies, shrunk, and the pulls that this rests on, in place.

    Objectives are told from the least of them, constraints from their thresholds, so that nothing
    changes with the origin of a metric. An arm's attributes share its pulls: those count as added
    that shrink the noisy attribute which is shrunk least. Where limits are relative to a baseline,
    part of the noise is common to all arms and not in their spread: they are shrunk a bit further.
    """
    arm_count = 0.0
    for i in range(estimates.shape[0]):
        arm_count += 1.0 if alive[i] else 0.0
        backing[i] = 1.0
    trust = belief(arm_count)
    for c in range(estimates.shape[1]):
        origin = thresholds[c - 1] if c > 0 else 0.0
        least, found = 0.0, False
        for i in range(estimates.shape[0]):
            if alive[i] and (not found or estimates[i, c] - origin < least):
                least, found = estimates[i, c] - origin, True
        if c == 0:  # an objective has no threshold: the least stands in for it
            origin, least = least, 0.0
        total, squares = 0.0, 0.0
        for i in range(estimates.shape[0]):
            if alive[i]:
                distance = beyond(estimates[i, c] - origin, least)
                total += distance
                squares += distance * distance
        between, mean = spread(total, squares, arm_count), total / arm_count + least
        for i in range(estimates.shape[0]):
            if alive[i]:
                place, noise = estimates[i, c] - origin, covariances[i, c, c]
                weight = mean_weight(between, noise, max(counts[i], 1), trust)
                shrunk[i, c] = place - weight * (place - mean)
                backing[i] = min(backing[i], weight) if noise > 0.0 else backing[i]
    for i in range(estimates.shape[0]):
        if alive[i]:  # no weight is as much as a half: where one is left, nothing is noisy
            added = backing[i] if backing[i] < 1.0 else 0.0
            backing[i] = max(counts[i], 1) / (1.0 - added)
