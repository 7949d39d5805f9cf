"""A wager on values without bounds: the t-statistic mixed over how far off the mean may be.

Of normal values with mean m + d s, s not known, the ratio that values scaled by any s > 0 are as
likely under d as under 0 depends on U = sum(y) / sqrt(sum(y^2)) alone, y = x - m:

    exp(-n d^2 / 2) E[exp(c d U)],    c chi-distributed with n degrees of freedom

Mixed over d from a half-normal law of scale g, with b = g U / sqrt(1 + n g^2) and F the
distribution of Student's t, it has a closed form (derived in docs/theory.md):

    E_n = 2 (1 + n g^2)^(-1/2) (1 - b^2)^(-n/2) F_n(sqrt(n) b / sqrt(1 - b^2))

It is a martingale where the mean is m (Lai 1976; Wang and Ramdas 2023). If the mean is below m, U
only falls with it at every n, on the same noise, and E_n with U: so that the chance that E_n ever
reaches 1/alpha is at most alpha for all means up to m, whatever s is. Three scales are mixed.
Touches its arguments only.
"""

import math
from dataclasses import dataclass

import numpy as np

from ringfence.core.arrays import Floats

SCALES = (0.1, 0.3, 1.0)  # in standard deviations of one value
_TINY = 1e-300


@dataclass(frozen=True)
class Trend:
    """Where the bet stands after `count` values: their sums about m, the `peak`, the first value.

    E is 1 up to `patience` values, and so long as all are the same: normal ones never are.
    """

    patience: int = 0
    count: int = 0
    sums: tuple[float, float] = (0.0, 0.0)
    first: float | None = None
    varies: bool = False
    log_e: float = 0.0
    peak: float = 0.0


def followed(trend: Trend, values: Floats, limit: float) -> Trend:
    """Return the bet against "the mean is at most the limit" after further values."""
    if not len(values):
        return trend
    ahead = values - limit
    counts = trend.count + np.arange(1.0, len(values) + 1.0, dtype=np.float64)
    first = trend.sums[0] + np.cumsum(ahead)
    second = trend.sums[1] + np.cumsum(ahead**2)
    begun = float(values[0]) if trend.first is None else trend.first
    varies = trend.varies | np.logical_or.accumulate(values != begun)
    logs = np.where(varies & (counts > trend.patience), log_e_of(counts, first, second), 0.0)
    return Trend(
        patience=trend.patience,
        count=trend.count + len(values),
        sums=(float(first[-1]), float(second[-1])),
        first=begun,
        varies=bool(varies[-1]),
        log_e=float(logs[-1]),
        peak=max(trend.peak, float(logs.max())),
    )


def log_e_of(counts: Floats, sums: Floats, squares: Floats) -> Floats:
    """Return the logarithm of E after so many values, of their sums and sums of squares about m."""
    from scipy.special import stdtr

    ratio = np.where(squares > 0.0, sums / np.sqrt(np.where(squares > 0.0, squares, 1.0)), 0.0)
    parts = []
    for scale in SCALES:
        spread = 1.0 + counts * scale**2
        b = ratio * scale / np.sqrt(spread)
        rest = np.maximum(1.0 - b**2, _TINY)
        below = np.maximum(stdtr(counts, np.sqrt(counts / rest) * b), _TINY)
        parts.append(
            math.log(2.0) - 0.5 * np.log(spread) - 0.5 * counts * np.log(rest) + np.log(below)
        )
    mixed = np.logaddexp.reduce(np.array(parts), axis=0) - math.log(len(SCALES))
    return np.asarray(mixed, dtype=np.float64)
