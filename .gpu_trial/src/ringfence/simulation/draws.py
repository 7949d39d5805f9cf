"""Pulls drawn in blocks, as plain functions for compiled code: one pair for each kind of law.

`draw_..._block` puts the sum of a whole block into many replications (lanes) side by side: under
mean attributes a block matters through its sum alone, so its cost does not grow with its length
(tables excepted: their rows are drawn one by one). `add_..._pulls` adds a block to an arm's sums
and scatter, for noise that is estimated.

May touch core.
"""

import math
from typing import NamedTuple

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.noise import Moments, add_block, add_pull
from ringfence.core.streams import Generator

FAMILIES = ("gaussian", "bernoulli", "poisson", "exponential")
GAUSSIAN, BERNOULLI, POISSON, EXPONENTIAL = range(4)
MOST_COUNT = 2.0**50


class GaussianArrays(NamedTuple):
    """Means [arm, attribute] and factors [arm, attribute, normal]."""

    means: Floats
    factors: Floats


def draw_gaussian_block(
    rng: Generator,
    arrays: GaussianArrays,
    noise: Floats,
    drawn: Mask,
    arm: int,
    pulls: int,
    block: Floats,
) -> None:
    """Put the sum of a block, Normal(n mu, n Sigma), into every lane."""
    root = math.sqrt(pulls)
    for c in range(block.shape[0]):
        shift = pulls * arrays.means[arm, c]
        for lane in range(block.shape[1]):
            block[c, lane] = shift
        for d in range(noise.shape[0]):
            factor = root * arrays.factors[arm, c, d]
            for lane in range(block.shape[1]):
                block[c, lane] += factor * noise[d, lane]


def add_gaussian_pulls(
    rng: Generator,
    arrays: GaussianArrays,
    arm: int,
    count: int,
    pulls: int,
    moments: Moments,
    scratch: Floats,
) -> None:
    """Add a block by its sum and its scatter, which are independent: one Wishart draw.

    Bartlett's triangle, a column at a time; with fewer pulls than metrics it has fewer columns.
    """
    factors = arrays.factors
    width, metrics = factors.shape[1], factors.shape[2]
    total, column, scatter = scratch[0], scratch[1], scratch[2:]
    for c in range(width):
        total[c] = pulls * arrays.means[arm, c]
        for k in range(width):
            scatter[c, k] = 0.0
    for d in range(metrics):
        normal = math.sqrt(pulls) * rng.standard_normal()
        for c in range(width):
            total[c] += factors[arm, c, d] * normal
    for j in range(min(metrics, pulls - 1)):
        length = math.sqrt(2.0 * rng.standard_gamma(0.5 * (pulls - 1 - j)))
        for c in range(width):
            column[c] = factors[arm, c, j] * length
        for d in range(j + 1, metrics):
            normal = rng.standard_normal()
            for c in range(width):
                column[c] += factors[arm, c, d] * normal
        for c in range(width):
            for k in range(width):
                scatter[c, k] += column[c] * column[k]
    add_block(moments, count, arm, pulls, total, scatter)


class MixedArrays(NamedTuple):
    """Families and means by metric, and the attributes that each metric feeds."""

    families: Integers
    means: Floats
    factors: Floats
    metric_of: Integers
    signs: Floats


def poisson(rng: Generator, mean: float) -> float:
    """Return a Poisson count; a normal where counts leave the range of exact floats."""
    if mean > MOST_COUNT:
        return mean + math.sqrt(mean) * rng.standard_normal()
    return float(rng.poisson(mean))


def draw_mixed_block(
    rng: Generator,
    arrays: MixedArrays,
    noise: Floats,
    drawn: Mask,
    arm: int,
    pulls: int,
    block: Floats,
) -> None:
    """Put the sum of a block into the drawn lanes: binomial, Poisson, gamma or normal."""
    for lane in range(block.shape[1]):
        if not drawn[arm, lane]:
            continue
        for q in range(arrays.families.shape[0]):
            family = arrays.families[q]
            mean = arrays.means[arm, q]
            if family == BERNOULLI:
                total = float(rng.binomial(pulls, mean))
            elif family == POISSON:
                total = poisson(rng, pulls * mean)
            elif family == EXPONENTIAL:
                total = mean * rng.standard_gamma(float(pulls))
            else:
                deviation = 0.0
                for d in range(noise.shape[0]):
                    deviation += arrays.factors[arm, q, d] * noise[d, lane]
                total = pulls * mean + math.sqrt(pulls) * deviation
            for c in range(block.shape[0]):
                if arrays.metric_of[c] == q:
                    block[c, lane] = arrays.signs[c] * total


def add_mixed_pulls(
    rng: Generator,
    arrays: MixedArrays,
    arm: int,
    count: int,
    pulls: int,
    moments: Moments,
    scratch: Floats,
) -> None:
    """Add pulls one by one: the scatter of counts and waiting times is no draw of its own."""
    pull = scratch[0]
    for number in range(pulls):
        for q in range(arrays.families.shape[0]):
            family = arrays.families[q]
            if family != GAUSSIAN:
                value = draw_single(rng, family, arrays.means[arm, q])
                for c in range(pull.shape[0]):
                    if arrays.metric_of[c] == q:
                        pull[c] = arrays.signs[c] * value
            else:
                for c in range(pull.shape[0]):
                    if arrays.metric_of[c] == q:
                        pull[c] = arrays.signs[c] * arrays.means[arm, q]
        for d in range(arrays.factors.shape[2]):
            normal = rng.standard_normal()
            for c in range(pull.shape[0]):
                pull[c] += arrays.signs[c] * arrays.factors[arm, arrays.metric_of[c], d] * normal
        add_pull(moments, count + number, arm, pull)


def draw_mixed_pull(rng: Generator, arrays: MixedArrays, arm: int, metrics: Floats) -> None:
    """Put one draw of every metric, in the user's direction, into `metrics`."""
    for q in range(metrics.shape[0]):
        metrics[q] = arrays.means[arm, q]
        if arrays.families[q] != GAUSSIAN:
            metrics[q] = draw_single(rng, arrays.families[q], arrays.means[arm, q])
    for d in range(arrays.factors.shape[2]):
        normal = rng.standard_normal()
        for q in range(metrics.shape[0]):
            metrics[q] += arrays.factors[arm, q, d] * normal


def draw_single(rng: Generator, family: int, mean: float) -> float:
    """Return one draw of a metric that is not gaussian."""
    if family == BERNOULLI:
        return 1.0 if rng.random() < mean else 0.0
    if family == POISSON:
        return poisson(rng, mean)
    return float(mean * rng.standard_exponential())


class TableArrays(NamedTuple):
    """Rows less the origin, grouped by arm: arm i owns rows starts[i] to starts[i + 1]."""

    rows: Floats
    starts: Integers


def draw_table_block(
    rng: Generator,
    arrays: TableArrays,
    noise: Floats,
    drawn: Mask,
    arm: int,
    pulls: int,
    block: Floats,
) -> None:
    """Put the sum of a block's rows, drawn one by one with replacement, into the drawn lanes."""
    start, stop = arrays.starts[arm], arrays.starts[arm + 1]
    for lane in range(block.shape[1]):
        if not drawn[arm, lane]:
            continue
        for c in range(block.shape[0]):
            block[c, lane] = 0.0
        for _ in range(pulls):
            row = rng.integers(start, stop)
            for c in range(block.shape[0]):
                block[c, lane] += arrays.rows[row, c]


def draw_table_pull(rng: Generator, arrays: TableArrays, arm: int, metrics: Floats) -> None:
    """Put one row of the arm into `metrics`."""
    row = rng.integers(arrays.starts[arm], arrays.starts[arm + 1])
    for q in range(metrics.shape[0]):
        metrics[q] = arrays.rows[row, q]


def add_table_pulls(
    rng: Generator,
    arrays: TableArrays,
    arm: int,
    count: int,
    pulls: int,
    moments: Moments,
    scratch: Floats,
) -> None:
    """Add rows one by one, drawn with replacement."""
    for number in range(pulls):
        row = rng.integers(arrays.starts[arm], arrays.starts[arm + 1])
        add_pull(moments, count + number, arm, arrays.rows[row])
