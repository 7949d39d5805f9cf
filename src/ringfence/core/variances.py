"""An arm's own variance, and how much of the other arms' is in it.

From few pulls a variance is known badly: from ten its logarithm is off by a half. So an arm borrows
from the others, the more the more alike they are, which the scatter of log variances tells: what is
beyond that of the pulls themselves is how far arms differ. Heavy tails scatter them too, up to
`TAILS` times as much as normal pulls do; that much is put down to the pulls, and not to the arms.
Touches its arguments only; `fill_...` write in place.
"""

import math
from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers

BORROWED_PULLS = 10.0  # the most that the other arms' variances count for in one arm's
TAILS = 3.0  # of ten exponential pulls it is 2.5, of ten lognormal ones 3


class LogVariances(NamedTuple):
    """What each arm's scatter says of the log of its variance, kept until it is pulled again.

    `counts` are the pulls that an arm's row is of; -1: there is none yet. `own` [arm, attribute] is
    minus infinity where the arm did not vary. `doubts` are the variances of these, which depend on
    the pulls alone, and `rests` [arm, attribute] those that are left when as many pulls' worth is
    borrowed as `borrowed` [attribute] says.
    """

    counts: Integers
    own: Floats
    doubts: Floats
    rests: Floats
    borrowed: Floats


def no_log_variances(arm_count: int, attribute_count: int) -> LogVariances:
    """Return room for what scatters say."""
    return LogVariances(
        counts=np.full(arm_count, -1),
        own=np.zeros((arm_count, attribute_count)),
        doubts=np.zeros(arm_count),
        rests=np.zeros((arm_count, attribute_count)),
        borrowed=np.zeros(attribute_count),
    )


def log_variances_of(scatters: Floats, counts: Integers) -> LogVariances:
    """Return what scatters say."""
    logs = no_log_variances(*scatters.shape[:2])
    fill_log_variances(logs, scatters, counts)
    return logs


def fill_log_variances(logs: LogVariances, scatters: Floats, counts: Integers) -> None:
    """Put the rows of arms that were pulled since in place."""
    for i in range(counts.shape[0]):
        if logs.counts[i] == counts[i]:
            continue
        half = 0.5 * (counts[i] - 1)
        logs.counts[i] = counts[i]
        mean = digamma(half) if counts[i] > 1 else 0.0
        logs.doubts[i] = trigamma(half) if counts[i] > 1 else 0.0
        for c in range(scatters.shape[1]):
            varied = counts[i] > 1 and scatters[i, c, c] > 0.0
            logs.own[i, c] = math.log(0.5 * scatters[i, c, c]) - mean if varied else -math.inf
            logs.rests[i, c] = -1.0


def digamma(shape: float) -> float:
    """Return the mean of the logarithm of a gamma variable.

    Half the scatter of n normal pulls is the variance times one of shape (n - 1)/2.
    """
    mean = 0.0
    while shape < 8.0:
        mean -= 1.0 / shape
        shape += 1.0
    x = 1.0 / shape
    y = x * x
    tail = 1.0 / 132.0 - y * (691.0 / 32760.0 - y * (1.0 / 12.0 - y * 3617.0 / 8160.0))
    tail = 1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y * (1.0 / 240.0 - y * tail)))
    mean += math.log(shape) - 0.5 * x - y * tail
    return mean


def trigamma(shape: float) -> float:
    """Return the variance of the logarithm of a gamma variable."""
    variance = 0.0
    while shape < 8.0:
        y = 1.0 / shape
        variance += y * y
        shape += 1.0
    x = 1.0 / shape
    y = x * x
    tail = 5.0 / 66.0 - y * (691.0 / 2730.0 - y * (7.0 / 6.0 - y * 3617.0 / 510.0))
    tail = 1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * tail)))
    variance += x + 0.5 * y + x * y * tail
    return variance


def likeness(c: int, logs: LogVariances) -> tuple[float, float]:
    """Return the log variance that arms have in common, and the pulls' worth that each borrows.

    Minus infinity where no arm varied. The variance between arms is DerSimonian and Laird's (1986).
    """
    some, origin = 0.0, 0.0
    total, squares, firsts, seconds = 0.0, 0.0, 0.0, 0.0
    for i in range(logs.doubts.shape[0]):
        own = logs.own[i, c]
        if own == -math.inf:
            continue
        if some == 0.0:
            origin = own
        weight = 1.0 / logs.doubts[i]
        some += 1.0
        total += weight
        squares += weight * weight
        firsts += weight * (own - origin)
        seconds += weight * (own - origin) * (own - origin)
    if some == 0.0:
        return -math.inf, BORROWED_PULLS
    if some == 1.0:
        return origin, 0.0
    scatter = seconds - firsts * firsts / total
    tails = min(max(scatter / (some - 1.0), 1.0), TAILS)
    between = max(scatter - tails * (some - 1.0), 0.0) / (total - squares / total)
    # A logarithm's mean lies below the mean's logarithm: for heavy tails by more.
    centre = origin + 0.5 * (tails - 1.0) * some / total
    if between <= 0.0:
        return centre + firsts / total, BORROWED_PULLS
    weights, weighted = 0.0, 0.0
    for i in range(logs.doubts.shape[0]):
        if logs.own[i, c] == -math.inf:
            continue
        weight = 1.0 / (between + tails * logs.doubts[i])
        weights += weight
        weighted += weight * (logs.own[i, c] - origin)
    return centre + weighted / weights, min(2.0 / between, BORROWED_PULLS)


def fill_shrunk_variances(c: int, found: Floats, logs: LogVariances) -> None:
    """Put the mean of what the variance of a pull may be into `found` [arm, attribute, attribute].

    An arm without scatter among arms with some may have met what is common: as if one further pull
    had brought it.
    """
    centre, borrowed = likeness(c, logs)
    is_new = borrowed != logs.borrowed[c]
    logs.borrowed[c] = borrowed
    for i in range(logs.counts.shape[0]):
        own, count = logs.own[i, c], logs.counts[i]
        if centre == -math.inf:
            found[i, c, c] = 0.0
            continue
        if own == -math.inf:
            found[i, c, c] = math.exp(centre) / max(count, 1)
            continue
        freedom = float(count - 1)
        if is_new or logs.rests[i, c] < 0.0:
            logs.rests[i, c] = trigamma(0.5 * (freedom + borrowed))
        part = borrowed / (freedom + borrowed)
        found[i, c, c] = math.exp(own + part * (centre - own) + 0.5 * logs.rests[i, c])


def freedoms(scatters: Floats, counts: Integers) -> tuple[Floats, Floats]:
    """Return the freedom of shrunk variances [arm, attribute], and the part that is their scale.

    A variance that is known with some freedom is a scale times the freedom over a chi-square of it.
    Its mean, which is what rules take for the noise, lies above its scale, which goes with
    Student's distribution of that freedom.
    """
    own, logs = np.maximum(counts - 1, 0).astype(np.float64), log_variances_of(scatters, counts)
    found, parts = np.zeros(scatters.shape[:2]), np.ones(scatters.shape[:2])
    for c in range(scatters.shape[1]):
        _, borrowed = likeness(c, logs)
        found[:, c] = own + np.minimum(borrowed, own.sum() - own)
        for i in np.flatnonzero((counts > 1) & (scatters[:, c, c] > 0.0)).tolist():
            half = 0.5 * (float(own[i]) + borrowed)
            parts[i, c] = math.exp(digamma(half) - math.log(half) - 0.5 * trigamma(half))
    return found, parts
