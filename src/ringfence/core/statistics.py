"""Statistics of one arm's sample, each with one influence a pull.

A pull's influence is how much it moves the estimate, times the number of pulls; influences sum to
zero and their variance is the estimate's asymptotic variance of one pull. For a mean they are the
deviations. The products of two attributes' influences give their covariance, so that whatever is
estimated reaches the rules as means do: an estimate and a scatter.

`level` is the number in a share, the probability of a quantile, or the level of a tail mean.
Touches its arguments only; `fill_...` and `measure` write in place.
"""

import math

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.noise import is_rounding

(
    MEAN,
    SHARE_ABOVE,
    SHARE_FROM,
    SHARE_BELOW,
    SHARE_UP_TO,
    VARIANCE,
    STD,
    QUANTILE,
    CVAR,
    LOWER_CVAR,
    ROBUST_MEAN,
    RATIO,
) = range(12)

UNSEEN_EVENT = 0.5  # what a sum of nothing counts as where it is divided by
NEXT_TO_NOTHING = 1e-9  # what a rounding error may add to a whole number of pulls


def contribution(kind: int, level: float, value: float) -> float:
    """Return what one pull adds to a mean or a share: the estimate is the mean of these."""
    if kind == SHARE_ABOVE:
        return 1.0 if value > level else 0.0
    if kind == SHARE_FROM:
        return 1.0 if value >= level else 0.0
    if kind == SHARE_BELOW:
        return 1.0 if value < level else 0.0
    if kind == SHARE_UP_TO:
        return 1.0 if value <= level else 0.0
    return value


def contributions(kind: int, level: float, values: Floats) -> Floats:
    """Return what each of many pulls adds to a mean or a share."""
    if kind == SHARE_ABOVE:
        return (values > level).astype(np.float64)
    if kind == SHARE_FROM:
        return (values >= level).astype(np.float64)
    if kind == SHARE_BELOW:
        return (values < level).astype(np.float64)
    if kind == SHARE_UP_TO:
        return (values <= level).astype(np.float64)
    return values


def measure(
    kind: int, level: float, sign: float, values: Floats, ordered: Floats, influences: Floats
) -> float:
    """Return the estimate from at least two pulls, and put their influences into `influences`.

    `ordered` are the values from the least to the greatest. `sign` is -1 where the attribute will
    be negated to make lower better: a quantile between two pulls is then the upper one, so that
    the estimate lies on the right side of a limit exactly when enough pulls do.
    """
    if ordered[0] == ordered[-1]:  # exact, and free of rounding
        influences[:] = 0.0
        if kind in (VARIANCE, STD):
            return 0.0
        return contribution(kind, level, float(ordered[0]))
    is_share = kind != MEAN and kind <= SHARE_UP_TO  # it varies as its events do
    if not is_share and not are_apart(ordered[0], ordered[-1]):
        return measure_still(kind, level, sign, values, ordered, influences)
    estimate = measure_varying(kind, level, sign, values, ordered, influences)
    if kind > SHARE_UP_TO and kind != QUANTILE:
        drop_cancelled(influences, estimate)
    return estimate


def measure_still(
    kind: int, level: float, sign: float, values: Floats, ordered: Floats, influences: Floats
) -> float:
    """Measure values that differ by rounding alone: the estimate is taken to be exact."""
    estimate = 0.0
    if kind == QUANTILE:
        estimate = ordered[quantile_rank(values.shape[0], level, sign) - 1]
    elif kind not in (VARIANCE, STD):
        estimate = measure_varying(kind, level, sign, values, ordered, influences)
    influences[:] = 0.0
    return estimate


def are_apart(low: float, high: float) -> bool:
    """Tell whether values between these ends can differ by more than rounding."""
    half = 0.5 * (high - low)
    return not is_rounding(half * half, 1, max(abs(low), abs(high)))


def differ(values: Floats) -> bool:
    """Tell whether values differ by more than rounding."""
    return are_apart(float(values.min()), float(values.max()))


def drop_cancelled(influences: Floats, estimate: float) -> None:
    """Set influences to zero, in place, that cancel each other but for rounding."""
    scatter = 0.0
    for k in range(influences.shape[0]):
        scatter += influences[k] * influences[k]
    if is_rounding(scatter, influences.shape[0], estimate):
        influences[:] = 0.0


def measure_varying(
    kind: int, level: float, sign: float, values: Floats, ordered: Floats, influences: Floats
) -> float:
    """Measure values that are not all the same."""
    if kind <= SHARE_UP_TO:
        return fill_mean(kind, level, values, influences)
    if kind in (VARIANCE, STD):
        return fill_spread(kind, values, influences)
    if kind == QUANTILE:
        return fill_quantile(level, sign, values, ordered, influences)
    if kind == CVAR:
        return fill_tail_mean(1.0 - level, 1.0, values, ordered, influences)
    if kind == LOWER_CVAR:
        return fill_tail_mean(level, -1.0, values, ordered, influences)
    return fill_robust_mean(values, ordered, influences)


def measure_whole(
    kind: int, level: float, sign: float, values: Floats, ordered: Floats, influences: Floats
) -> float:
    """Return and fill in what `measure` does, to the last bit.

    Without a compiler, means, shares and quantiles are a hundred times faster by whole arrays.
    """
    if not are_apart(ordered[0], ordered[-1]) or (kind > SHARE_UP_TO and kind != QUANTILE):
        return measure(kind, level, sign, values, ordered, influences)
    count = values.shape[0]
    if kind == QUANTILE:
        rank = quantile_rank(count, level, sign)
        cut = ordered[min(max(rank, 1), count - 1) - 1]
        influences[:] = values > cut if cut < ordered[-1] else values >= cut
        share = np.sum(influences) / count  # of zeros and ones: exact in any order
        influences[:] = (influences - share) * quantile_unit(ordered, level, share)
        return float(ordered[rank - 1])
    influences[:] = contributions(kind, level, values)
    mean = np.cumsum(influences)[-1] / count  # one after the other, as `fill_mean` adds
    influences -= mean
    return float(mean)


def fill_mean(kind: int, level: float, values: Floats, influences: Floats) -> float:
    """Measure a mean, or a share as the mean of zeros and ones."""
    count = values.shape[0]
    total = 0.0
    for k in range(count):
        influences[k] = contribution(kind, level, values[k])
        total += influences[k]
    mean = total / count
    for k in range(count):
        influences[k] -= mean
    return float(mean)


def fill_spread(kind: int, values: Floats, influences: Floats) -> float:
    """Measure the unbiased variance, or its root."""
    count = values.shape[0]
    first, total, squares = values[0], 0.0, 0.0
    for k in range(count):
        total += values[k] - first
    mean = total / count
    for k in range(count):
        influences[k] = (values[k] - first - mean) ** 2
        squares += influences[k]
    unit = 1.0 if kind == VARIANCE else 2.0 * math.sqrt(squares / (count - 1))
    for k in range(count):
        influences[k] = (influences[k] - squares / count) / unit
    variance = squares / (count - 1)
    return float(variance) if kind == VARIANCE else math.sqrt(variance)


def lower_mean(total: float, count: int) -> float:
    """Return the mean that a ratio is divided by.

    One of nothing is taken for half an event in all pulls: what did not come in them may come.
    """
    return (total if total != 0.0 else UNSEEN_EVENT) / count


def unseen_scatter(ratio: float, count: int) -> float:
    """Return the scatter of a ratio's influences where there was nothing to divide by.

    Half an event, give or take its root: the ratio may as well be twice as large, or half.
    """
    times = ratio * count / UNSEEN_EVENT
    return UNSEEN_EVENT * times * times


def fill_ratio(over: Floats, under: Floats, influences: Floats) -> float:
    """Measure the mean of one metric divided by that of another: (x - ratio y) / mean(y)."""
    count = over.shape[0]
    total, divisor = 0.0, 0.0
    for k in range(count):
        total += over[k]
        divisor += under[k]
    mean = lower_mean(divisor, count)
    ratio = total / count / mean
    if divisor == 0.0:
        influences[:] = 0.0
        half = math.sqrt(0.5 * unseen_scatter(ratio, count))
        influences[0], influences[1] = half, -half
        return float(ratio)
    low, high, least, most = over[0], over[0], under[0], under[0]
    for k in range(1, count):
        low, high = min(low, over[k]), max(high, over[k])
        least, most = min(least, under[k]), max(most, under[k])
    if not (are_apart(low, high) or are_apart(least, most)):
        influences[:] = 0.0
        return float(over[0] / under[0])
    size = 0.0
    for k in range(count):
        influences[k] = (over[k] - total / count - ratio * (under[k] - divisor / count)) / mean
        size = max(size, abs(over[k]), abs(ratio * under[k]))
    drop_cancelled(influences, size / mean)
    return float(ratio)


def lower_rank(count: int, level: float) -> int:
    """Return the place, from 1, of the first ordered pull that has `level` of all up to it."""
    return min(count, max(1, math.ceil(count * level - NEXT_TO_NOTHING)))


def quantile_rank(count: int, level: float, sign: float) -> int:
    """Return the place, from 1, of the ordered pull that is the quantile."""
    return lower_rank(count, level) if sign > 0.0 else count + 1 - lower_rank(count, 1.0 - level)


def quantile_unit(ordered: Floats, level: float, share: float) -> float:
    """Return the influence of a pull beyond a quantile, less that of one before it."""
    steepness = sparsity(ordered, level)
    return steepness * math.sqrt(level * (1.0 - level) / (share * (1.0 - share)))


def fill_quantile(
    level: float, sign: float, values: Floats, ordered: Floats, influences: Floats
) -> float:
    """Measure a quantile: the asymptotic variance is level (1 - level) over the squared density.

    It is kept at that even where the pulls are too few to have one beyond the quantile.
    """
    count = values.shape[0]
    rank = quantile_rank(count, level, sign)
    fill_side(ordered, min(max(rank, 1), count - 1), values, influences)
    beyond = 0.0
    for k in range(count):
        beyond += influences[k]
    share = beyond / count
    unit = quantile_unit(ordered, level, share)
    for k in range(count):
        influences[k] = (influences[k] - share) * unit
    return float(ordered[rank - 1])


def fill_side(ordered: Floats, rank: int, values: Floats, side: Floats) -> None:
    """Put 1 for the values beyond the one at `rank`, and 0 for the others; some get each."""
    count = values.shape[0]
    cut = ordered[rank - 1]
    strict = cut < ordered[count - 1]
    for k in range(count):
        side[k] = 1.0 if (values[k] > cut if strict else values[k] >= cut) else 0.0


def sparsity(ordered: Floats, level: float) -> float:
    """Return one over the density at a quantile, by the spacing of the pulls around it.

    The window is Hall and Sheather's for 95% intervals, and wider where pulls are tied,
    but for rounding.
    """
    count = ordered.shape[0]
    z = normal_quantile(level)
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    width = 1.5 * density * density / (2.0 * z * z + 1.0)
    half = 1.96 ** (2.0 / 3.0) * (width / count) ** (1.0 / 3.0)
    half = max(min(half, level, 1.0 - level), 0.5 / count)
    low, high = count * (level - half), count * (level + half)
    while True:
        first = min(max(int(low), 1), count - 1)
        last = max(min(math.ceil(high), count), first + 1)
        if are_apart(ordered[first - 1], ordered[last - 1]):
            spacing = ordered[last - 1] - ordered[first - 1]
            return float(spacing * count / (last - first))
        low, high = low - 1.0, high + 1.0


def normal_quantile(level: float) -> float:
    """Return the standard normal's quantile, to four digits and more: it sets a width only."""
    tail = min(level, 1.0 - level)
    t = math.sqrt(-2.0 * math.log(tail))
    top = 2.515517 + t * (0.802853 + t * 0.010328)
    bottom = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))
    z = t - top / bottom
    return z if level > 0.5 else -z


def fill_tail_mean(
    mass: float, side: float, values: Floats, ordered: Floats, influences: Floats
) -> float:
    """Measure the mean of the highest (side 1) or lowest (side -1) share `mass` of the pulls."""
    count = values.shape[0]
    rank = lower_rank(count, 1.0 - mass)
    edge = ordered[rank - 1] if side > 0.0 else ordered[count - rank]
    total = 0.0
    for k in range(count):
        total += max(side * (values[k] - edge), 0.0)
    estimate = edge + side * total / (count * mass)
    if rank == count:  # too few pulls for the tail: the next one is its edge, to see some noise
        edge = ordered[count - 2] if side > 0.0 else ordered[1]
    mean = 0.0
    for k in range(count):
        influences[k] = max(side * (values[k] - edge), 0.0) / mass
        mean += influences[k]
    mean /= count
    for k in range(count):
        influences[k] = side * (influences[k] - mean)
    return float(estimate)


def fill_robust_mean(values: Floats, ordered: Floats, influences: Floats) -> float:
    """Measure the mean with deviations cut at a reach that the pulls themselves decide.

    Centre and reach solve sum of min(deviation^2, reach^2) = reach^2 ln n and sum of cut
    deviations = 0 together (a Huber mean after Wang, Zheng, Zhou and Zhu). The reach grows as
    sqrt(n / ln n), so that the estimate tends to the mean; where hardly any pull differs from the
    rest there is nothing to learn a reach from, and it is the plain mean.
    """
    count = values.shape[0]
    limit = math.log(count)
    centre, reach = ordered[count // 2], 0.0
    for _ in range(200):
        before, cut_before = centre, reach
        reach = cut_reach(ordered, centre, limit)
        if reach == 0.0:
            return fill_mean(MEAN, 0.0, values, influences)
        total, weight = 0.0, 0.0
        for k in range(count):
            away = abs(ordered[k] - centre)
            share = 1.0 if away <= reach else reach / away
            total += share * (ordered[k] - centre)
            weight += share
        centre += total / weight
        if abs(centre - before) + abs(reach - cut_before) <= 1e-12 * reach:
            break
    inside = 0
    for k in range(count):
        away = values[k] - centre
        inside += abs(away) <= reach
        influences[k] = min(max(away, -reach), reach)
    for k in range(count):
        influences[k] *= count / max(inside, 1)
    return float(centre)


def cut_reach(ordered: Floats, centre: float, limit: float) -> float:
    """Return the reach at which cut squared deviations sum to reach^2 times `limit`; 0 if none.

    The farthest pulls are taken to be cut one by one, until the reach of the rest covers them.
    """
    first, last, cut = 0, ordered.shape[0] - 1, 0
    while cut < limit:
        squares = 0.0  # summed anew: what is left after a far pull is taken off is rounding error
        for k in range(first, last + 1):
            squares += (ordered[k] - centre) ** 2
        reach = math.sqrt(squares / (limit - cut))
        left, right = centre - ordered[first], ordered[last] - centre
        if max(left, right) <= reach:
            return reach
        cut += 1
        if left >= right:
            first += 1
        else:
            last -= 1
    return 0.0
