"""Noise that differs by arm, once more and slowly: from the formulas, with SciPy's functions."""

import math

import numpy as np
from scipy.special import digamma, polygamma

from ringfence.core.arrays import Floats, Integers, Mask

MOST = 10.0  # pulls' worth of the others
TAILS = 3.0


def log_variances(scatters: Floats, counts: Integers) -> tuple[list[float], list[float]]:
    """Return the log variances of arms with a scatter, and their variances for normal pulls."""
    logs, doubts = [], []
    for scatter, count in zip(scatters, counts, strict=True):
        if count >= 2 and scatter > 0.0:
            half = (count - 1) / 2
            logs.append(math.log(scatter / (count - 1)) - digamma(half) + math.log(half))
            doubts.append(float(polygamma(1, half)))
    return logs, doubts


def common(scatters: Floats, counts: Integers) -> tuple[float, float]:
    """Return the arms' common log variance, and the pulls' worth that each borrows."""
    logs, doubts = log_variances(scatters, counts)
    if len(logs) < 2:
        return (logs or [-math.inf])[0], 0.0 if logs else MOST
    y, a = np.array(logs), 1.0 / np.array(doubts)
    q = float((a * (y - (a @ y) / a.sum()) ** 2).sum())
    tails = float(np.clip(q / (len(y) - 1), 1.0, TAILS))
    between = max(0.0, q - tails * (len(y) - 1)) / (a.sum() - (a @ a) / a.sum())
    weights = 1.0 / (between + tails / a)
    centre = float(weights @ y / weights.sum()) + (tails - 1.0) / 2.0 * len(y) / a.sum()
    return centre, min(MOST, 2.0 / between) if between > 0.0 else MOST


def variances(scatters: Floats, counts: Integers) -> Floats:
    """Return every arm's variance of a pull, from the scatters of one attribute."""
    centre, borrowed = common(scatters, counts)
    found = []
    for scatter, count in zip(scatters, counts, strict=True):
        d = max(int(count) - 1, 0)
        if d == 0 or scatter == 0.0:
            found.append(math.exp(centre) / (1 + d))
            continue
        own = math.log(scatter / d) - digamma(d / 2) + math.log(d / 2)
        weight = borrowed / (d + borrowed)
        doubt = float(polygamma(1, (d + borrowed) / 2))
        found.append(math.exp((1 - weight) * own + weight * centre + doubt / 2))
    return np.array(found)


def covariances(scatters: Floats, counts: Integers, rates: Mask) -> Floats:
    """Return every arm's covariance of a pull; the variances of `rates` are shrunk as a whole."""
    freedom = np.maximum(counts - 1, 0)
    told = np.where(counts[:, None, None] > 1, scatters, 0.0)
    width = scatters.shape[1]
    found = np.zeros((len(counts), width))
    for c in range(width):
        own = told[:, c, c]
        if rates[c]:
            n = np.maximum(counts, 1)
            pooled = own.sum() / max(freedom.sum(), 1)
            found[:, c] = (own + MOST * pooled + 1.0 - 4.0 * own / n) / (freedom + MOST)
        else:
            found[:, c] = variances(own, counts)
    roots = np.sqrt(found)
    units = np.where(roots > 0.0, roots, 1.0)
    varies = (roots[:, :, None] > 0.0) & (roots[:, None, :] > 0.0)
    standard = np.where(varies, told / units[:, :, None] / units[:, None, :], 0.0)
    shrunk = standard + MOST * standard.sum(axis=0) / max(freedom.sum(), 1)
    spans = np.sqrt(np.diagonal(shrunk, axis1=1, axis2=2))
    spans = np.where(spans > 0.0, spans, 1.0)
    correlations = shrunk / spans[:, :, None] / spans[:, None, :]
    result = correlations * roots[:, :, None] * roots[:, None, :]
    places = np.arange(width)
    result[:, places, places] = found
    return np.asarray(result)
