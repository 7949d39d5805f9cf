"""How uncertain a quantile is where few pulls lie beyond it.

The noise of a quantile is estimated from the spacing of the pulls around it. Ten pulls have half a
pull beyond their p95: what their largest happen to be apart says nothing then, and where they lie
close together the quantile would look certain. So the noise is taken to be at least that of a
normal metric with the same deviation, as far as pulls beyond the quantile do not say otherwise.
Touches its arguments only.
"""

from collections.abc import Sequence

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.attributes import Attribute
from ringfence.core.noise import drop_rounding
from ringfence.core.statistics import normal_quantile
from ringfence.core.variances import fill_shrunk_variances, log_variances_of

_TELLING = 5.0  # pulls beyond a quantile that say as much of its noise as the deviation does


def with_sparse_tails(
    attributes: Sequence[Attribute],
    covariances: Floats,
    counts: Integers,
    metric_variances: Sequence[Floats],
) -> Floats:
    """Return the covariances of a pull with the noise of quantiles raised where pulls are few.

    `metric_variances` are, attribute by attribute, those of its metric in every arm.
    """
    found = covariances
    for c, attribute in enumerate(attributes):
        if attribute.statistic != "quantile" or attribute.level is None:
            continue
        level = attribute.level
        beyond = counts * min(level, 1.0 - level)
        own = covariances[:, c, c]
        least = np.maximum(own, normal_variance(level) * metric_variances[c])
        raised = (beyond * own + _TELLING * least) / (beyond + _TELLING)
        factors = np.sqrt(raised / np.where(own > 0.0, own, 1.0))
        found = found.copy()
        found[:, c, :] *= factors[:, None]
        found[:, :, c] *= factors[:, None]
        found[:, c, c] = raised
    return found


def normal_variance(level: float) -> float:
    """Return the variance, for one pull, of a quantile of a standard normal metric."""
    z = normal_quantile(level)
    density = np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    return float(level * (1.0 - level) / density**2)


def shrunk_variances(samples: Sequence[Floats]) -> Floats:
    """Return the variance of a metric in every arm, with some of the other arms' in it."""
    counts = np.array([len(sample) for sample in samples])
    scatters = np.zeros((len(samples), 1, 1))
    for i, sample in enumerate(samples):
        if len(sample) and np.ptp(sample) > 0.0:
            scatters[i] = sample.var() * len(sample)
            drop_rounding(scatters[i], np.abs(sample).max(keepdims=True), len(sample))
    found = np.zeros_like(scatters)
    fill_shrunk_variances(0, found, log_variances_of(scatters, counts))
    return found[:, 0, 0]
