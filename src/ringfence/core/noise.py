"""Noise estimated from the pulls: scales common to all arms, and a covariance for each arm.

An attribute that never varied in any arm is taken to be exact: its covariances are zero and its
scale is 1. So is one that varied by no more than rounding: that is decided where pulls become a
scatter, by `is_rounding`. Touches its arguments only; `add_...` and `fill_...` write in place, and
so does `drop_rounding`.
"""

import math
from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.variances import (
    BORROWED_PULLS,
    LogVariances,
    fill_log_variances,
    fill_shrunk_variances,
)

NOISE_EDITION = 3  # raise it with whatever makes other noise of the same pulls
TINY = 1e-9  # what rounding may leave of a pull's variance
ROUNDING = 16.0 * 2.0**-52  # how far off a value may be, relative to its size, by rounding alone
LEAST_VARIANCE = 1e-280  # below it powers leave the range of numbers


class Moments(NamedTuple):
    """What pulls add up to, arm by arm.

    scatters[arm] is the sum of (x - mean)(x - mean)'. It is taken about running means, `centres`,
    and not about sums / counts: only so is it exactly zero for a metric that never varies, while
    sums of whole numbers stay exact.
    """

    sums: Floats
    centres: Floats
    scatters: Floats


def no_moments(arm_count: int, attribute_count: int) -> Moments:
    """Return the moments before any pull."""
    shape = (arm_count, attribute_count)
    return Moments(np.zeros(shape), np.zeros(shape), np.zeros((*shape, attribute_count)))


def add_pull(moments: Moments, count: int, arm: int, pull: Floats) -> None:
    """Add one pull to an arm that had `count` before."""
    sums, centres, scatters = moments.sums, moments.centres, moments.scatters
    weight = count / (count + 1)
    for c in range(pull.shape[0]):
        for k in range(pull.shape[0]):
            scatters[arm, c, k] += (
                weight * (pull[c] - centres[arm, c]) * (pull[k] - centres[arm, k])
            )
    for c in range(pull.shape[0]):
        sums[arm, c] += pull[c]
        centres[arm, c] += (pull[c] - centres[arm, c]) / (count + 1)


def add_block(
    moments: Moments, count: int, arm: int, pulls: int, block_sum: Floats, block_scatter: Floats
) -> None:
    """Add a block of pulls, known by its sum and scatter, to an arm that had `count` before."""
    sums, centres, scatters = moments.sums, moments.centres, moments.scatters
    width = block_sum.shape[0]
    weight = count * pulls / (count + pulls)
    for c in range(width):
        shift = block_sum[c] / pulls - centres[arm, c]
        for k in range(width):
            other = block_sum[k] / pulls - centres[arm, k]
            scatters[arm, c, k] += block_scatter[c, k] + weight * shift * other
    for c in range(width):
        sums[arm, c] += block_sum[c]
        centres[arm, c] += (block_sum[c] / pulls - centres[arm, c]) * pulls / (count + pulls)


def is_rounding(scatter: float, count: int, size: float) -> bool:
    """Tell whether a scatter of so many values of that size is no more than rounding leaves.

    A value that comes from k additions is off by k/2 units in its last place at the worst, and by
    the root of k as a rule: sums of the same thousand numbers in any order differ by 16 of them.
    Adding the values up adds less than that. So values are taken for one that deviate from their
    mean by 16 * 2^-52 of it, all in all; a single one among n that deviates by r of the mean is not
    lost while r is above 3.6e-15 * sqrt(n), which is 1e-9 for 10^10 pulls.
    """
    most = ROUNDING * size
    return scatter <= count * max(most * most, LEAST_VARIANCE)


def drop_rounding(scatter: Floats, sizes: Floats, count: int) -> None:
    """Set to zero, in one arm's scatter, the attributes that vary by rounding alone."""
    for c in range(scatter.shape[0]):
        if is_rounding(scatter[c, c], count, sizes[c]):
            for k in range(scatter.shape[0]):
                scatter[c, k] = scatter[k, c] = 0.0


def fill_pooled(pooled: Floats, scatters: Floats, counts: Integers) -> None:
    """Put the covariance within arms, pooled over all arms, into `pooled`.

    It needs one arm with two pulls; with fewer it is zero.
    """
    freedom = 0
    for i in range(counts.shape[0]):
        freedom += max(counts[i] - 1, 0)
    for c in range(pooled.shape[0]):
        for k in range(pooled.shape[0]):
            total = 0.0
            for i in range(counts.shape[0]):
                if counts[i] > 1:
                    total += scatters[i, c, k]
            pooled[c, k] = total / max(freedom, 1)


def fill_scales(scales: Floats, pooled: Floats) -> None:
    """Put sqrt(a) = sqrt(1/(2 V)) into `scales`, or 1 for an attribute that never varied."""
    for c in range(scales.shape[0]):
        scales[c] = (0.5 / pooled[c, c]) ** 0.5 if pooled[c, c] > 0.0 else 1.0


def fill_covariances(
    covariances: Floats,
    scatters: Floats,
    counts: Integers,
    pooled: Floats,
    estimates: Floats,
    means: Mask,
    logs: LogVariances,
) -> None:
    """Put each arm's own covariance, with some of the other arms' in it, into `covariances`.

    `means` tells which attributes are means: some of them may be rates of yes-or-no outcomes.
    `logs` are those of the last time, or none: only arms that were pulled since are looked at anew.
    An arm's own estimate from few pulls may be far too small, makes a cost look settled, and so
    starves the arm; that of all arms is wrong where variances differ. So variances are shrunk by
    as much as arms are alike. Those of rates follow from the rates and are alike where these are;
    but of rare events ten pulls' worth of the others' is not enough: an arm that has had none by
    chance would look certain.
    """
    fill_log_variances(logs, scatters, counts)
    for c in range(pooled.shape[0]):
        if means[c] and is_yes_or_no(c, estimates, scatters, counts):
            for i in range(counts.shape[0]):
                weight = 1.0 / (max(counts[i] - 1, 0) + BORROWED_PULLS)
                own = scatters[i, c, c] if counts[i] > 1 else 0.0
                covariances[i, c, c] = weight * (own + BORROWED_PULLS * pooled[c, c])
                covariances[i, c, c] += weight * unseen_event(scatters[i, c, c], counts[i])
            continue
        fill_shrunk_variances(c, covariances, logs)
    for c in range(pooled.shape[0]):
        for k in range(c):
            fill_correlated(covariances, c, k, scatters, counts)


def fill_correlated(
    covariances: Floats, c: int, k: int, scatters: Floats, counts: Integers
) -> None:
    """Put the covariance of two attributes in place, in every arm, beside their variances.

    Their correlation is that of the arm's scatter and ten pulls' worth of all arms', each in units
    of its own deviations: so a loud arm is not heard above the others.
    """
    freedom, first, second, both = 0.0, 0.0, 0.0, 0.0
    for i in range(counts.shape[0]):
        if counts[i] < 2:
            continue
        freedom += counts[i] - 1
        roots = math.sqrt(covariances[i, c, c]), math.sqrt(covariances[i, k, k])
        if roots[0] > 0.0:
            first += scatters[i, c, c] / roots[0] / roots[0]
        if roots[1] > 0.0:
            second += scatters[i, k, k] / roots[1] / roots[1]
        if roots[0] > 0.0 and roots[1] > 0.0:
            both += scatters[i, c, k] / roots[0] / roots[1]
    lent = BORROWED_PULLS / max(freedom, 1.0)
    for i in range(counts.shape[0]):
        roots = math.sqrt(covariances[i, c, c]), math.sqrt(covariances[i, k, k])
        found = 0.0
        if roots[0] > 0.0 and roots[1] > 0.0:
            mine, other, shared = lent * first, lent * second, lent * both
            if counts[i] > 1:
                mine += scatters[i, c, c] / roots[0] / roots[0]
                other += scatters[i, k, k] / roots[1] / roots[1]
                shared += scatters[i, c, k] / roots[0] / roots[1]
            if mine > 0.0 and other > 0.0:
                found = shared / math.sqrt(mine) / math.sqrt(other) * roots[0] * roots[1]
        covariances[i, c, k] = covariances[i, k, c] = found


def is_yes_or_no(c: int, estimates: Floats, scatters: Floats, counts: Integers) -> bool:
    """Tell whether an attribute is a mean of nothing but zeros and ones.

    Their squares give them away: these add up to what the pulls themselves do. Of nothing but
    zeros, or nothing but ones, too: what has not come yet may come.
    """
    seen = False
    for i in range(counts.shape[0]):
        if counts[i] < 2:
            continue
        n, mean, scatter = float(counts[i]), abs(estimates[i, c]), scatters[i, c, c]
        if not abs(scatter - n * mean * (1.0 - mean)) <= TINY * n:
            return False
        # What varies has a one at least, and a zero, and what does not is one of them. Tiny
        # metrics are neither.
        if scatter > 0.0 and n * min(mean, 1.0 - mean) <= 0.5:
            return False
        if scatter == 0.0 and mean != 0.0 and mean != 1.0:
            return False
        seen = True
    return seen


def unseen_event(scatter: float, count: int) -> float:
    """Return what one more event would add to the scatter of zeros and ones.

    That is 1 for an event that is rare, and nothing where both are as common: there the
    variance is known as well as can be.
    """
    return 1.0 - 4.0 * scatter / max(count, 1)
