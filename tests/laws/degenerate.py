"""Evidence that no sane study has, and some do: ties, zeros, ulps, 1e60, singular noise, one arm.

What a rule may be given is bounded by what a study lets in (metrics up to 1e60 in size, and so
squares up to 1e120) and by what counts as noise at all. Within that, everything is tried. A seeded
generator, so that a case can be found again by its number.
"""

from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.baseline import difference_covariances, difference_scales, differences
from ringfence.core.noise import LEAST_VARIANCE, fill_covariances, fill_pooled, fill_scales
from ringfence.core.variances import no_log_variances
from ringfence.policies.evidence import Evidence

ARMS = (1, 2, 2, 3, 3, 4, 5, 8, 30)
CONSTRAINTS = (1, 1, 1, 2, 3, 4)
SIZES = (0.0, 1e-60, 1e-30, 1e-9, 0.1, 1.0, 3.0, 200.0, 1e9, 1e30, 1e60, 1e120)
BEYOND_SQUARES = (1e155, 1e170, 1e200)  # with noise that such a value would have
DEVIATIONS = (0.0, 1e-120, 1e-60, 1e-30, 1e-17, 1e-9, 0.1, 1.0, 1e9, 1e30, 1e60, 1e120)
COUNTS = (1, 1, 2, 3, 10, 11, 1000, 10**6, 10**9)
FACTORS = (0.0, 1.0, 1.1, -1.0, 1e-20, 1e20)
LIMITS = (0.0, 1e-60, 0.1, 1.0, 200.0, 1e60, 1e150)


def evidence(seed: int, number: int) -> Evidence:
    """Return the case of that number."""
    rng = np.random.default_rng((seed, number))
    arm_count, size = int(rng.choice(ARMS)), 1 + int(rng.choice(CONSTRAINTS))
    return evidence_of(rng, arm_count, size)


def evidence_of(rng: np.random.Generator, arm_count: int, size: int) -> Evidence:
    """Return a case of so many arms and attributes."""
    huge = rng.random() < 0.1
    estimates = np.column_stack([_values(rng, arm_count, huge=huge) for _ in range(size)])
    thresholds = np.array([_limit(rng, estimates[:, c]) for c in range(1, size)])
    for c in range(1, size):
        if abs(thresholds[c - 1]) <= 1e120 and rng.random() < 0.3:  # at the limit, but for an ulp
            estimates[:, c] = thresholds[c - 1] + _ulps(rng, arm_count, thresholds[c - 1])
    covariances = _covariances(rng, arm_count, size, huge=huge)
    counts = _counts(rng, arm_count)
    alive = rng.random(arm_count) < rng.choice([0.3, 0.8, 1.0])
    alive[rng.integers(arm_count)] = True
    if rng.random() < 0.3:  # some arms are copies of others
        copied = rng.integers(0, arm_count, arm_count)
        estimates, covariances, counts = estimates[copied], covariances[copied], counts[copied]
    if rng.random() < 0.4 and not huge:  # as a study finds it
        scales = _estimate_noise(covariances, counts, estimates)
    else:
        scales = _scales(rng, covariances)
    if rng.random() < 0.2 and not huge:  # limits relative to a baseline
        baseline, factors = int(rng.integers(arm_count)), rng.choice(FACTORS, size - 1)
        estimates = differences(estimates, baseline, factors)
        covariances = difference_covariances(covariances, counts, baseline, factors)
        scales = difference_scales(scales, factors)
    return Evidence(
        estimates, counts, np.zeros(arm_count, np.int64), alive, covariances, scales, thresholds,
        rng.permutation(arm_count), np.array([int(rng.choice([0, 1, 2, 50, 10**9]))]),
    )  # fmt: skip


def _estimate_noise(covariances: Floats, counts: Integers, estimates: Floats) -> Floats:
    """Put shrunk covariances in the place of the arms' own, and return the scales."""
    size = covariances.shape[1]
    scatters = covariances * np.maximum(counts - 1, 0)[:, None, None]
    pooled: Floats = np.zeros((size, size))
    scales: Floats = np.ones(size)
    fill_pooled(pooled, scatters, counts)
    fill_scales(scales, pooled)
    means, nothing = np.ones(size, np.bool_), no_log_variances(*scatters.shape[:2])
    fill_covariances(covariances, scatters, counts, pooled, estimates, means, nothing)
    return scales


def _values(rng: np.random.Generator, arm_count: int, *, huge: bool) -> Floats:
    size = float(rng.choice(BEYOND_SQUARES if huge else SIZES))
    kind = rng.integers(5)
    if kind == 0:
        return np.full(arm_count, size * rng.choice([-1.0, 1.0]))
    if kind == 1:
        return np.asarray(size + _ulps(rng, arm_count, size))
    if kind == 2:
        return np.asarray(size * rng.normal(size=arm_count))
    if kind == 3:
        return np.asarray(size * rng.choice([-1.0, 0.0, 1.0], arm_count))
    return np.asarray(rng.choice(SIZES, arm_count) * rng.choice([-1.0, 1.0], arm_count))


def _ulps(rng: np.random.Generator, arm_count: int, size: float) -> Floats:
    return np.asarray(np.spacing(size) * rng.integers(-2, 3, arm_count))


def _limit(rng: np.random.Generator, values: Floats) -> float:
    if rng.random() < 0.5:
        return float(np.clip(rng.choice(values), -1e150, 1e150))
    return float(rng.choice(LIMITS) * rng.choice([-1.0, 1.0]))


def _counts(rng: np.random.Generator, arm_count: int) -> Integers:
    if rng.random() < 0.5:
        return np.full(arm_count, int(rng.choice(COUNTS)))
    return np.asarray(rng.choice(COUNTS, arm_count))


def _covariances(rng: np.random.Generator, arm_count: int, size: int, *, huge: bool) -> Floats:
    """Return covariances of all sizes: regular, singular, all but singular, none."""
    least = 9 if huge else 0  # from 1e30 on
    if rng.random() < 0.6:
        deviations = np.tile(rng.choice(DEVIATIONS[least:], size), (arm_count, 1))
    else:
        deviations = rng.choice(DEVIATIONS[least:], (arm_count, size))
    mixtures = rng.normal(size=(1 if rng.random() < 0.5 else arm_count, size, size))
    kind = rng.integers(5)
    if kind == 0:
        mixtures = np.tile(np.eye(size), (arm_count, 1, 1))
    elif kind == 1:  # one direction alone
        mixtures[:, :, 1:] = 0.0
    elif kind == 2:  # all but one direction alone
        mixtures[:, :, 1:] *= 10.0 ** -rng.uniform(5.0, 9.0)
    elif kind == 3:  # one attribute follows from another
        mixtures[:, -1] = mixtures[:, 0] * rng.choice([-1.0, 1.0])
    mixtures = np.broadcast_to(mixtures, (arm_count, size, size))
    norms = np.sqrt((mixtures**2).sum(axis=2))
    mixtures = mixtures / norms[:, :, None] * deviations[:, :, None]
    found = mixtures @ mixtures.transpose(0, 2, 1)
    still = np.diagonal(found, axis1=1, axis2=2) <= LEAST_VARIANCE
    found[still[:, :, None] | still[:, None, :]] = 0.0
    return np.asarray(found)


def _scales(rng: np.random.Generator, covariances: Floats) -> Floats:
    """Return scales as they are estimated from the noise, or as they might have been stated."""
    pooled = np.diagonal(covariances, axis1=1, axis2=2).mean(axis=0)
    varies = pooled > 0.0
    scales = np.where(varies, (0.5 / np.where(varies, pooled, 1.0)) ** 0.5, 1.0)
    stated = scales * 10.0 ** rng.uniform(-20.0, 20.0, len(scales))
    return np.where(rng.random(len(scales)) < 0.1, stated, scales)


def stacked(rng: np.random.Generator, arm_count: int, size: int, number: int) -> Evidence:
    """Return so many cases of one shape, in stacked arrays."""
    found = [evidence_of(rng, arm_count, size) for _ in range(number)]
    return Evidence(*(np.array(arrays) for arrays in zip(*found, strict=True)))


def part_of(whole: Evidence, part: slice) -> Evidence:
    """Return some of stacked cases."""
    return Evidence(*(array[part] for array in tuple[Any, ...](whole)))


def nth(whole: Evidence, r: int) -> Evidence:
    """Return one of stacked cases."""
    return Evidence(*(array[r] for array in whole))
