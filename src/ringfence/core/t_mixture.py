"""A wager on values without bounds: the t-statistic mixed over how far off the mean may be.

Of normal values with mean m + d s, s not known, the ratio that values scaled by any s > 0 are as
likely under d as under 0 depends on U = sum(y) / sqrt(sum(y^2)) alone, y = x - m:

    exp(-n d^2 / 2) E[exp(c d U)],    c chi-distributed with n degrees of freedom

Mixed over d from a half-normal law of scale g, with b = g U / sqrt(1 + n g^2) and F the
distribution of Student's t, it has a closed form (derived in docs/reference/theory.md):

    E_n = 2 (1 + n g^2)^(-1/2) (1 - b^2)^(-n/2) F_n(sqrt(n) b / sqrt(1 - b^2))

It is a martingale where the mean is m (Lai 1976; Wang and Ramdas 2023). If the mean is below m, U
only falls with it at every n, on the same noise, and E_n with U: so that the chance that E_n ever
reaches 1/alpha is at most alpha for all means up to m, whatever s is. Three scales are mixed.

Values that are not normal have this nearly, once there are many. Where they are skewed against the
claim, as costs are, the t-statistic is taken down by Hall's cubic (1992), with half as much
skewness again as was seen, and nothing is said until there are twenty times its square. What has
not come yet may be rare and far out: so nothing is said of the first values, and the mean counts
less, as if ten values were still to come as far out as all that was seen is wide. Touches its
arguments only.
"""

import math
from dataclasses import dataclass

import numpy as np

from ringfence.core.arrays import Floats, Mask

SCALES = (0.1, 0.3, 1.0)  # in standard deviations of one value
PATIENCE = 150  # values before a test of any law says something: few miss all of what is 2%
UNSEEN = 10.0  # values to come, as far out as the width of those that were seen
_SKEWER, _PATIENT = 1.5, 20.0
_TINY = 1e-300
_NEVER = -1e100  # the logarithm of a chance that floats have as 0


@dataclass(frozen=True)
class Trend:
    """Where the bet stands after `count` values: `sums` of their powers about m, and the `peak`.

    E is 1 so long as all are the same as the `first`: normal values never are. Where they need not
    be normal, of `any_law`, it is 1 until there are enough.
    """

    any_law: bool = False
    count: int = 0
    sums: tuple[float, float, float] = (0.0, 0.0, 0.0)
    first: float | None = None
    varies: bool = False
    log_e: float = 0.0
    peak: float = 0.0


def followed(trend: Trend, values: Floats, limit: float, *, width: float = 0.0) -> Trend:
    """Return the bet against "the mean is at most the limit" after further values.

    `width` is how far apart values such as these were seen to lie, where they may be of any law.
    """
    if not len(values):
        return trend
    ahead = values - limit
    counts = trend.count + np.arange(1.0, len(values) + 1.0, dtype=np.float64)
    powers = [trend.sums[k] + np.cumsum(ahead ** (k + 1)) for k in range(3)]
    begun = float(values[0]) if trend.first is None else trend.first
    says = trend.varies | np.logical_or.accumulate(values != begun)
    varies = bool(says[-1])
    first, second, third = powers
    if trend.any_law:
        first, second, is_enough = unskewed(counts, first, second, third, width)
        says = says & is_enough
    logs = np.where(says, log_e_of(counts, first, second), 0.0)
    return Trend(
        any_law=trend.any_law,
        count=trend.count + len(values),
        sums=(float(powers[0][-1]), float(powers[1][-1]), float(powers[2][-1])),
        first=begun,
        varies=varies,
        log_e=float(logs[-1]),
        peak=max(trend.peak, float(logs.max())),
    )


def unskewed(
    counts: Floats, sums: Floats, squares: Floats, cubes: Floats, width: float = 0.0
) -> tuple[Floats, Floats, Mask]:
    """Return the sums of normal values that say as much, and whether there are enough values.

    Only skewness that flatters counts: long tails below, where values are to be shown to be high.
    """
    mean = sums / counts
    variance = np.maximum(squares / counts - mean**2, 0.0)
    spread = np.sqrt(np.where(variance > 0.0, variance, 1.0))
    third = cubes / counts - 3.0 * mean * squares / counts + 2.0 * mean**3
    skewness = _SKEWER * np.minimum(third / spread**3, 0.0)
    t, part = mean * np.sqrt(counts) / spread, skewness / np.sqrt(counts)
    cubic = t + part * t**2 / 3.0 + part**2 * t**3 / 27.0 + part / 6.0
    lower = np.minimum(t, cubic) * spread / np.sqrt(counts) - UNSEEN * width / counts
    is_enough = (counts > PATIENCE) & (counts >= _PATIENT * skewness**2) & (variance > 0.0)
    return counts * lower, counts * (variance + lower**2), is_enough


def log_e_of(counts: Floats, sums: Floats, squares: Floats) -> Floats:
    """Return the logarithm of E after so many values, of their sums and sums of squares about m."""
    from scipy.special import stdtr

    ratio = np.where(squares > 0.0, sums / np.sqrt(np.where(squares > 0.0, squares, 1.0)), 0.0)
    parts = []
    for scale in SCALES:
        spread = 1.0 + counts * scale**2
        b = ratio * scale / np.sqrt(spread)
        rest = np.maximum(1.0 - b**2, _TINY)
        below = stdtr(counts, np.sqrt(counts / rest) * b)
        log_below = np.where(below > 0.0, np.log(np.maximum(below, _TINY)), _NEVER)
        part = math.log(2.0) - 0.5 * np.log(spread) - 0.5 * counts * np.log(rest) + log_below
        # Where b < 0 it is at most this: so small a chance times so large a number is all rounding.
        parts.append(np.where(b < 0.0, np.minimum(part, -0.5 * np.log(spread)), part))
    mixed = np.logaddexp.reduce(np.array(parts), axis=0) - math.log(len(SCALES))
    return np.asarray(mixed, dtype=np.float64)
