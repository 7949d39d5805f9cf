"""Limits relative to a baseline arm: what an arm is beyond its multiple of the baseline.

`mean(x) <= 1.1 * baseline(mean(x))` asks for the sign of mean(x) of an arm less 1.1 times that of
the baseline. These differences take the place of the attributes that the rules see, with a
threshold of what was added to the baseline. The baseline's noise is in every difference: per pull
of an arm it is larger by how often the arm was pulled for each pull of the baseline. That
differences share it, and so move together, is left to those who draw them (the verdict does).
Touches its arguments only.
"""

import numpy as np

from ringfence.core.arrays import Floats, Integers


def differences(estimates: Floats, baseline: int, factors: Floats) -> Floats:
    """Return estimates [arm, attribute] with relative constraints less the baseline's multiple."""
    found = estimates.copy()
    found[:, 1:] -= factors * estimates[baseline, 1:]
    return found


def difference_covariances(
    covariances: Floats, counts: Integers, baseline: int, factors: Floats
) -> Floats:
    """Return the covariances of one pull, so that over an arm's pulls they are the differences'.

    Of the baseline itself only what is left of its own attribute varies.
    """
    weights = np.concatenate([[0.0], factors])
    shared = np.outer(weights, weights) * covariances[baseline] / max(counts[baseline], 1)
    found: Floats = covariances + counts[:, None, None] * shared
    own = 1.0 - weights
    found[baseline] = np.outer(own, own) * covariances[baseline]
    return found


def difference_scales(scales: Floats, factors: Floats) -> Floats:
    """Return the scales of differences between arms that were pulled equally often."""
    found = scales.copy()
    found[1:] /= np.sqrt(1.0 + factors**2)
    return found
