"""What the truth may be, given the pulls: normal around the estimates, arm by arm.

Under a flat prior and known covariances this is the posterior; with estimated covariances it is
close to it. Touches its arguments only; `fill_...` write in place.
"""

import math

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.chance import next_normal
from ringfence.core.gaps import apparent_best, margin

CLEARLY = 1.6  # how much likelier an answer must be to be preferred to the apparent best


def fill_factors(factors: Floats, covariances: Floats, counts: Integers, alive: Mask) -> None:
    """Put a square root of every living arm's covariance / count into `factors` (Cholesky's).

    A direction without variance gets a column of zeros.
    """
    width = covariances.shape[1]
    for i in range(counts.shape[0]):
        if not alive[i]:
            continue
        for c in range(width):
            for k in range(c + 1):
                rest = covariances[i, c, k] / counts[i]
                for d in range(k):
                    rest -= factors[i, c, d] * factors[i, k, d]
                if c == k:
                    factors[i, c, c] = max(rest, 0.0) ** 0.5
                else:
                    root = factors[i, k, k]
                    factors[i, c, k] = rest / root if root > 0.0 else 0.0


def fill_draw(draw: Floats, estimates: Floats, factors: Floats, alive: Mask, state: Floats) -> None:
    """Put one draw of every living arm's attributes into `draw`."""
    width = estimates.shape[1]
    for i in range(estimates.shape[0]):
        if not alive[i]:
            continue
        for c in range(width):
            draw[i, c] = estimates[i, c]
        for d in range(width):
            normal = next_normal(state)
            for c in range(d, width):
                draw[i, c] += factors[i, c, d] * normal


def chance_below(gap: float, variance: float) -> float:
    """Return the probability that a normal with mean `gap` and that variance is at most zero."""
    if variance <= 0.0:
        return 1.0 if gap <= 0.0 else 0.0
    return 0.5 * math.erfc(gap / math.sqrt(2.0 * variance))


def margin_variance(
    estimates: Floats, covariances: Floats, arm: int, scales: Floats, thresholds: Floats
) -> float:
    """Return the variance, for one pull, of the constraint that makes up an arm's margin."""
    worst, variance = 0.0, 0.0
    for c in range(1, estimates.shape[1]):
        violation = scales[c] * (estimates[arm, c] - thresholds[c - 1])
        if c == 1 or violation > worst:
            worst = violation
            variance = scales[c] * scales[c] * covariances[arm, c, c]
    return variance


def likeliest_answer(
    estimates: Floats,
    counts: Integers,
    alive: Mask,
    covariances: Floats,
    scales: Floats,
    thresholds: Floats,
    priority: Integers,
    passing: Floats,
) -> tuple[int, bool]:
    """Return the answer, an arm and whether it is feasible, that the pulls make likeliest.

    That is the apparent best, unless another answer is clearly likelier: an arm that looks best by
    a hair and feasible by a hair is often neither. Probabilities are products over pairs of arms
    and over constraints, as if these were independent; `passing` [arm] is room to write in.
    """
    arm_count = estimates.shape[0]
    best = apparent_best(estimates, alive, scales, thresholds, priority)
    looks_feasible = margin(estimates, best, scales, thresholds) <= 0.0
    none_passes = 1.0
    for i in range(arm_count):
        passing[i] = 0.0
        if alive[i]:
            passing[i] = 1.0
            for c in range(1, estimates.shape[1]):
                excess = estimates[i, c] - thresholds[c - 1]
                passing[i] *= chance_below(excess, covariances[i, c, c] / counts[i])
            none_passes *= 1.0 - passing[i]
    answer, feasible = best, looks_feasible
    highest, apparent = 0.0, 0.0
    for i in range(arm_count):
        if not alive[i]:
            continue
        as_feasible, as_nearest = passing[i], none_passes
        own_margin = margin(estimates, i, scales, thresholds)
        own_variance = margin_variance(estimates, covariances, i, scales, thresholds) / counts[i]
        for k in range(arm_count):
            if not alive[k] or k == i:
                continue
            lead = estimates[k, 0] - estimates[i, 0]
            variance = covariances[i, 0, 0] / counts[i] + covariances[k, 0, 0] / counts[k]
            as_feasible *= 1.0 - passing[k] * chance_below(lead, variance)
            lead = own_margin - margin(estimates, k, scales, thresholds)
            variance = margin_variance(estimates, covariances, k, scales, thresholds) / counts[k]
            as_nearest *= chance_below(lead, own_variance + variance)
        if i == best:
            apparent = as_feasible if looks_feasible else as_nearest
        own = max(as_feasible, as_nearest)
        if own > highest or (own == highest and priority[i] < priority[answer]):
            highest = own
            answer, feasible = i, as_feasible >= as_nearest
    if highest <= CLEARLY * apparent:
        return best, looks_feasible
    return answer, feasible
