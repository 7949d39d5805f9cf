"""Limits relative to a baseline arm: what an arm is beyond its multiple of the baseline.

`mean(x) <= 1.1 * baseline(mean(x))` asks for the sign of mean(x) of an arm less 1.1 times that of
the baseline. These differences take the place of the attributes that the rules see, with a
threshold of what was added to the baseline. The baseline's noise is in every difference: per pull
of an arm it is larger by how often the arm was pulled for each pull of the baseline. That
differences share it, and so move together, is left to those who draw them (the verdict does).

And what a baseline asks of a policy: it is never dropped, and never pulled less than an arm that
is compared with it. Live studies and compiled simulations run these very functions: plain loops
that fill arrays. Touches its arguments only.
"""

import math
from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers


class Versus(NamedTuple):
    """What limits are relative to: `place` holds one arm, or -1 where all limits are numbers.

    `factors` are the multiples of the baseline in limits, one a constraint.
    """

    place: Integers
    factors: Floats

    @classmethod
    def of(cls, baseline: int | None, factors: Floats) -> "Versus":
        """Return it for a baseline, if there is one."""
        return cls(np.array([-1 if baseline is None else baseline]), factors)


def fill_differences(found: Floats, estimates: Floats, baseline: int, factors: Floats) -> None:
    """Put estimates [arm, attribute], less the baseline's multiple in constraints, into `found`."""
    for i in range(estimates.shape[0]):
        found[i, 0] = estimates[i, 0]
        for c in range(1, estimates.shape[1]):
            found[i, c] = estimates[i, c] - factors[c - 1] * estimates[baseline, c]


def fill_difference_covariances(
    found: Floats, covariances: Floats, counts: Integers, baseline: int, factors: Floats
) -> None:
    """Put the covariances of one pull into `found` that over an arm's pulls are the differences'.

    Of the baseline itself only what is left of its own attribute varies.
    """
    pulls = max(counts[baseline], 1)
    for i in range(covariances.shape[0]):
        for c in range(covariances.shape[1]):
            first = factors[c - 1] if c > 0 else 0.0
            for k in range(covariances.shape[1]):
                second = factors[k - 1] if k > 0 else 0.0
                own = covariances[i, c, k]
                if i == baseline:
                    found[i, c, k] = (1.0 - first) * (1.0 - second) * own
                else:
                    shared = first * second * covariances[baseline, c, k] / pulls
                    found[i, c, k] = own + counts[i] * shared


def fill_difference_scales(found: Floats, scales: Floats, factors: Floats) -> None:
    """Put the scales of differences between arms pulled equally often into `found`.

    The two may be one array.
    """
    found[0] = scales[0]
    for c in range(1, scales.shape[0]):
        found[c] = scales[c] / math.sqrt(1.0 + factors[c - 1] * factors[c - 1])


def kept_beside(keep: int) -> int:
    """Return how many arms a phase keeps at the least: the baseline, and one that it serves."""
    return max(keep, 2)


def add_choice(fresh: Integers, counts: Integers, baseline: int, arm: int, pulls: int) -> None:
    """Add pulls of a chosen arm to `fresh`; each goes to the baseline while that has fewer.

    Its noise is in every comparison, and the rules, which know arms one by one, do not see that
    a pull of it serves them all.
    """
    for _ in range(pulls):
        behind = counts[baseline] + fresh[baseline] < counts[arm] + fresh[arm]
        fresh[baseline if behind else arm] += 1


def differences(estimates: Floats, baseline: int, factors: Floats) -> Floats:
    """Return estimates [arm, attribute] with relative constraints less the baseline's multiple."""
    found = np.empty_like(estimates)
    fill_differences(found, estimates, baseline, factors)
    return found


def difference_covariances(
    covariances: Floats, counts: Integers, baseline: int, factors: Floats
) -> Floats:
    """Return the covariances of one pull, so that over an arm's pulls they are the differences'."""
    found = np.empty_like(covariances)
    fill_difference_covariances(found, covariances, counts, baseline, factors)
    return found


def difference_scales(scales: Floats, factors: Floats) -> Floats:
    """Return the scales of differences between arms that were pulled equally often."""
    found = np.empty_like(scales)
    fill_difference_scales(found, scales, factors)
    return found
