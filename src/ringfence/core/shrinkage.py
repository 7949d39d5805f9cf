"""Estimates shrunk towards the mean of all arms, as if each had had a few more pulls there.

Of many arms, those that look worst were unlucky and those that look best were lucky, the more so
the fewer pulls they have had. How far to shrink is seen from the arms themselves: by the noise of
one pull over the spread of the estimates (James and Stein; Efron and Morris), times a belief that
is nothing up to three arms, of which no spread can be told. It is half of what a normal prior
would ask for: docs/adr/0007 has what was measured. Touches its arguments only, and writes in
`shrunk` and `backing`.
"""

from ringfence.core.arrays import Floats, Integers, Mask

BELIEF = 0.5


def belief(arm_count: float) -> float:
    """Return the weight of the other arms in an arm's estimate."""
    return BELIEF * max(arm_count - 3.0, 0.0) / max(arm_count - 1.0, 1.0)


def spread(total: float, squares: float, arm_count: float) -> float:
    """Return the variance between arms from the sum of their places and of the squares of these."""
    return (squares - total * total / arm_count) / max(arm_count - 1.0, 1.0)


def mean_weight(between: float, noise: float, n: float, trust: float) -> float:
    """Return the weight of the arms' mean in an estimate of n pulls.

    Estimates that lie closer together than half of their noise do so by accident. So they do where
    they are too far apart for squares, and the spread is no number.
    """
    worth = trust * noise
    return worth / (worth + max(0.5 * noise, between * n)) if noise > 0.0 else 0.0


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
    that shrink the attribute which is shrunk least.
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
        if c == 0:
            origin, least = least, 0.0
        total, squares = 0.0, 0.0
        for i in range(estimates.shape[0]):
            if alive[i]:
                beyond = estimates[i, c] - origin - least
                total += beyond
                squares += beyond * beyond
        between, mean = spread(total, squares, arm_count), total / arm_count + least
        for i in range(estimates.shape[0]):
            if alive[i]:
                place = estimates[i, c] - origin
                weight = mean_weight(between, covariances[i, c, c], max(counts[i], 1), trust)
                shrunk[i, c] = place - weight * (place - mean)
                backing[i] = min(backing[i], weight)
    for i in range(estimates.shape[0]):
        if alive[i]:
            backing[i] = max(counts[i], 1) / (1.0 - backing[i])
