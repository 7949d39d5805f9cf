"""An arm's own variance, and how much of the other arms' is in it.

From few pulls a variance is known badly: from ten its logarithm is off by a half. So an arm borrows
from the others, the more the more alike they are, which the scatter of log variances tells: what is
beyond that of the pulls themselves is how far arms differ. Heavy tails scatter them too, up to
`TAILS` times as much as normal pulls do; that much is put down to the pulls, and not to the arms.
Touches its arguments only.
"""

import math

import numpy as np

from ringfence.core.arrays import Floats, Integers

BORROWED_PULLS = 10.0  # the most that the other arms' variances count for in one arm's
TAILS = 3.0  # of ten exponential pulls it is 2.5, of ten lognormal ones 3


def log_gamma_moments(shape: float) -> tuple[float, float]:
    """Return mean and variance of the logarithm of a gamma variable: digamma and trigamma.

    Half the scatter of n normal pulls is the variance times one of shape (n - 1)/2.
    """
    mean, variance = 0.0, 0.0
    while shape < 8.0:
        y = 1.0 / shape
        mean -= y
        variance += y * y
        shape += 1.0
    x = 1.0 / shape
    y = x * x
    tail = 1.0 / 132.0 - y * (691.0 / 32760.0 - y * (1.0 / 12.0 - y * 3617.0 / 8160.0))
    tail = 1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y * (1.0 / 240.0 - y * tail)))
    mean += math.log(shape) - 0.5 * x - y * tail
    tail = 5.0 / 66.0 - y * (691.0 / 2730.0 - y * (7.0 / 6.0 - y * 3617.0 / 510.0))
    tail = 1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * tail)))
    variance += x + 0.5 * y + x * y * tail
    return mean, variance


def likeness(c: int, scatters: Floats, counts: Integers) -> tuple[float, float]:
    """Return the log variance that arms have in common, and the pulls' worth that each borrows.

    Minus infinity where no arm varied. The variance between arms is DerSimonian and Laird's (1986).
    """
    some, origin = 0.0, 0.0
    total, squares, firsts, seconds = 0.0, 0.0, 0.0, 0.0
    for i in range(counts.shape[0]):
        if counts[i] < 2 or scatters[i, c, c] <= 0.0:
            continue
        mean, variance = log_gamma_moments(0.5 * (counts[i] - 1))
        own = math.log(0.5 * scatters[i, c, c]) - mean
        if some == 0.0:
            origin = own
        weight = 1.0 / variance
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
    for i in range(counts.shape[0]):
        if counts[i] < 2 or scatters[i, c, c] <= 0.0:
            continue
        mean, variance = log_gamma_moments(0.5 * (counts[i] - 1))
        weight = 1.0 / (between + tails * variance)
        weights += weight
        weighted += weight * (math.log(0.5 * scatters[i, c, c]) - mean - origin)
    return centre + weighted / weights, min(2.0 / between, BORROWED_PULLS)


def shrunk_variance(scatter: float, count: int, centre: float, borrowed: float) -> float:
    """Return the mean of what the variance of an arm's pull may be.

    An arm without scatter among arms with some may have met what is common: as if one further pull
    had brought it.
    """
    if centre == -math.inf:
        return 0.0
    if count < 2 or scatter <= 0.0:
        return math.exp(centre) / max(count, 1)
    freedom = float(count - 1)
    mean, _ = log_gamma_moments(0.5 * freedom)
    _, doubt = log_gamma_moments(0.5 * (freedom + borrowed))
    own = math.log(0.5 * scatter) - mean
    return math.exp(own + borrowed / (freedom + borrowed) * (centre - own) + 0.5 * doubt)


def freedoms(scatters: Floats, counts: Integers) -> tuple[Floats, Floats]:
    """Return the freedom of shrunk variances [arm, attribute], and the part that is their scale.

    A variance that is known with some freedom is a scale times the freedom over a chi-square of it.
    Its mean, which is what rules take for the noise, lies above its scale, which goes with
    Student's distribution of that freedom.
    """
    own = np.maximum(counts - 1, 0).astype(np.float64)
    found, parts = np.zeros(scatters.shape[:2]), np.ones(scatters.shape[:2])
    for c in range(scatters.shape[1]):
        _, borrowed = likeness(c, scatters, counts)
        found[:, c] = own + np.minimum(borrowed, own.sum() - own)
        for i in np.flatnonzero((counts > 1) & (scatters[:, c, c] > 0.0)).tolist():
            half = 0.5 * (float(own[i]) + borrowed)
            mean, doubt = log_gamma_moments(half)
            parts[i, c] = math.exp(mean - math.log(half) - 0.5 * doubt)
    return found, parts
