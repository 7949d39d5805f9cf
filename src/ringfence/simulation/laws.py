"""How pulls are distributed: gaussian, counts and waiting times, or a table of logged rows.

A law speaks of oriented attributes (objective first, lower better). It offers one pull at a time
to the reference engine and, to compiled code, arrays with a plain function that draws the sum of
a whole block of pulls, for many replications (lanes) side by side: under mean attributes a block
matters through its sum alone, so its cost does not grow with its length (tables excepted: their
rows are drawn one by one).

May touch core.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.streams import Generator

FAMILIES = ("gaussian", "bernoulli", "poisson", "exponential")
GAUSSIAN, BERNOULLI, POISSON, EXPONENTIAL = range(4)
MOST_COUNT = 2.0**50


class Law(Protocol):
    """What simulation needs to know of the arms' distributions."""

    @property
    def means(self) -> Floats:
        """The true attributes [arm, attribute]."""

    @property
    def origin(self) -> Floats:
        """What is taken off each attribute of a pull: rules see differences only."""

    @property
    def constants(self) -> Floats:
        """The concentration constant a of each attribute, one number for all arms."""

    @property
    def constants_are_proven(self) -> bool:
        """Whether the concentration inequality holds with them for every arm."""

    @property
    def covariances(self) -> list[Floats] | None:
        """The attributes' covariance, arm by arm; None when they are not jointly Gaussian."""

    @property
    def has_ties(self) -> bool:
        """Whether two arms' estimates can be equal with positive probability."""

    @property
    def normals(self) -> int:
        """How many standard normals one block takes."""

    @property
    def draws_samples(self) -> bool:
        """Whether a block costs as much as it has pulls."""

    @property
    def arrays(self) -> Any:
        """The arrays that `draw_block` reads."""

    @property
    def draw_block(self) -> Any:
        """The plain function (rng, arrays, noise, drawn, arm, pulls, block) for compiled code.

        It puts the sum of `pulls` pulls of an arm into block[attribute, lane], at least where
        drawn[arm, lane]; noise[normal, lane] holds fresh standard normals.
        """

    def pull(self, rng: Generator, arm: int) -> Floats:
        """Return the attributes of one pull, less the origin."""


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


@dataclass(frozen=True, eq=False)
class GaussianLaw:
    """Jointly Gaussian attributes; `factors[arm]` times its transpose is `covariance[arm]`."""

    means: Floats
    covariance: Floats
    factors: Floats
    has_ties = False
    draws_samples = False
    draw_block = staticmethod(draw_gaussian_block)

    @property
    def origin(self) -> Floats:
        """Zero."""
        return np.zeros(self.means.shape[1])

    @property
    def covariances(self) -> list[Floats]:
        """Each arm's covariance of the oriented attributes."""
        return list(self.covariance)

    @property
    def normals(self) -> int:
        """One normal a metric."""
        return int(self.factors.shape[2])

    @property
    def constants(self) -> Floats:
        """1/(2 sigma^2), with the variance averaged over arms."""
        return _from_variances(self._variances)

    @property
    def constants_are_proven(self) -> bool:
        """Only when all arms share their variances."""
        return bool(np.all(self._variances == self._variances[0]))

    @property
    def arrays(self) -> GaussianArrays:
        """Means and factors."""
        return GaussianArrays(self.means, self.factors)

    def pull(self, rng: Generator, arm: int) -> Floats:
        """Return mean + factor z."""
        normals = rng.standard_normal(self.factors.shape[2])
        return np.asarray(self.means[arm] + self.factors[arm] @ normals, dtype=np.float64)

    @property
    def _variances(self) -> Floats:
        return np.diagonal(self.covariance, axis1=1, axis2=2)


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


@dataclass(frozen=True, eq=False)
class MixedLaw:
    """Independent metrics of different families; the gaussian ones may be correlated.

    `metric_means` [arm, metric] and `factors` [arm, metric, normal] are in the user's direction;
    attribute c is signs[c] times metric metric_of[c].
    """

    families: Integers
    metric_means: Floats
    factors: Floats
    metric_of: Integers
    signs: Floats
    covariances = None
    draws_samples = False
    draw_block = staticmethod(draw_mixed_block)

    @property
    def means(self) -> Floats:
        """The oriented attributes."""
        return np.asarray(self.metric_means[:, self.metric_of] * self.signs + 0.0, dtype=np.float64)

    @property
    def origin(self) -> Floats:
        """Zero."""
        return np.zeros(len(self.metric_of))

    @property
    def normals(self) -> int:
        """One normal a gaussian metric."""
        return int(self.factors.shape[2])

    @property
    def has_ties(self) -> bool:
        """Counts tie, continuous metrics do not."""
        return bool(np.isin(self.families, (BERNOULLI, POISSON)).any())

    @property
    def constants(self) -> Floats:
        """2 for bernoulli (Hoeffding), 1/(2 mean variance over arms) for the others."""
        by_metric = np.where(
            self.families == BERNOULLI, 2.0, _from_variances(self._metric_variances)
        )
        return np.asarray(by_metric[self.metric_of], dtype=np.float64)

    @property
    def constants_are_proven(self) -> bool:
        """Hoeffding proves bernoulli's; a shared gaussian variance proves itself."""
        variances = self._metric_variances
        shared = np.all(variances == variances[0], axis=0)
        proven = (self.families == BERNOULLI) | ((self.families == GAUSSIAN) & shared)
        return bool(proven[self.metric_of].all())

    @property
    def arrays(self) -> MixedArrays:
        """Everything, as arrays."""
        return MixedArrays(
            self.families, self.metric_means, self.factors, self.metric_of, self.signs
        )

    def pull(self, rng: Generator, arm: int) -> Floats:
        """Return one draw of every metric, oriented."""
        normals = rng.standard_normal(self.factors.shape[2])
        metrics = self.metric_means[arm] + self.factors[arm] @ normals
        for q, family in enumerate(self.families):
            mean = self.metric_means[arm, q]
            if family == BERNOULLI:
                metrics[q] = float(rng.random() < mean)
            elif family == POISSON:
                metrics[q] = poisson(rng, mean)
            elif family == EXPONENTIAL:
                metrics[q] = mean * rng.standard_exponential()
        return np.asarray(self.signs * metrics[self.metric_of], dtype=np.float64)

    @cached_property
    def _metric_variances(self) -> Floats:
        means = self.metric_means
        gaussian = np.sum(self.factors**2, axis=2)
        return np.select(
            [self.families == BERNOULLI, self.families == POISSON, self.families == EXPONENTIAL],
            [means * (1.0 - means), means, means**2],
            gaussian,
        )


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


@dataclass(frozen=True, eq=False)
class TableLaw:
    """Rows of logged data as the truth: a pull is a row of the arm, drawn with replacement.

    `rows` are oriented attributes less `origin`, which holds the thresholds: the mean of rows that
    all lie on a threshold is then exactly on it, however many are summed.
    """

    rows: Floats
    starts: Integers
    origin: Floats
    covariances = None
    constants_are_proven = False
    has_ties = True
    draws_samples = True
    normals = 0
    draw_block = staticmethod(draw_table_block)

    @cached_property
    def means(self) -> Floats:
        """The table's own means, summed exactly; of equal rows, the value itself."""
        deviations = [[_mean(column) for column in rows.T] for rows in self._by_arm]
        return np.asarray(self.origin + np.array(deviations), dtype=np.float64)

    @property
    def constants(self) -> Floats:
        """1/(2 mean variance over arms)."""
        varies = np.array([np.ptp(rows, axis=0) > 0.0 for rows in self._by_arm])
        variances = np.array([rows.var(axis=0) for rows in self._by_arm])
        return _from_variances(np.where(varies, variances, 0.0))

    @property
    def arrays(self) -> TableArrays:
        """The rows and where each arm's begin."""
        return TableArrays(self.rows, self.starts)

    def pull(self, rng: Generator, arm: int) -> Floats:
        """Return one row of the arm."""
        row = rng.integers(self.starts[arm], self.starts[arm + 1])
        return np.asarray(self.rows[row], dtype=np.float64)

    @property
    def _by_arm(self) -> list[Floats]:
        return np.split(self.rows, self.starts[1:-1])


def _mean(column: Floats) -> float:
    first = float(column[0])
    return first + math.fsum(column - first) / len(column)


def _from_variances(variances: Floats) -> Floats:
    """Return 1/(2 V) with V averaged over arms; an attribute that never varies gets scale 1."""
    pooled = variances.mean(axis=0)
    return np.where(pooled > 0.0, 0.5 / np.where(pooled > 0.0, pooled, 1.0), 1.0)
