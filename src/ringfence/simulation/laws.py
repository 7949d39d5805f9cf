"""How pulls are distributed: gaussian, counts and waiting times, or a table of logged rows.

A law speaks of oriented attributes (objective first, lower better). It offers one pull at a time
to the reference engine and, to compiled code, arrays with the plain functions of `draws`.

May touch core and simulation's draws.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.attributes import Attribute
from ringfence.core.measurement import measure_sample
from ringfence.core.noise import drop_rounding
from ringfence.core.running import Recipe, can_run
from ringfence.core.streams import Generator
from ringfence.simulation.draws import (
    BERNOULLI,
    EXPONENTIAL,
    GAUSSIAN,
    POISSON,
    GaussianArrays,
    MixedArrays,
    TableArrays,
    add_gaussian_pulls,
    add_mixed_pulls,
    add_table_pulls,
    draw_gaussian_block,
    draw_mixed_block,
    draw_single,
    draw_table_block,
)
from ringfence.simulation.records import (
    Recording,
    moments_recording,
    running_recording,
    sample_recording,
)


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
    def true_covariances(self) -> Floats:
        """Each arm's covariance of one pull."""

    @property
    def known_covariances(self) -> Floats:
        """Each arm's covariance of one pull, as a policy that knows the noise is given it.

        Where it would reveal the means it is one matrix for all arms, fit for `constants`.
        """

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

    @property
    def needs_pulls(self) -> bool:
        """Whether estimates come from a record of the pulls, because sums do not suffice."""

    @property
    def blocks(self) -> int | None:
        """How many blocks arms share, 0 if there is no end of them; None if they share none."""

    @property
    def recording(self) -> Recording:
        """How a replication remembers pulls, where their sums do not suffice.

        The `scratch` handed to it has two rows of attributes and then a square of them.
        """

    def measure(self, pulls: Floats, arm: str) -> tuple[Floats, Floats]:
        """Return the oriented attributes of an arm's pulls, and their influences' scatter."""

    def pull(self, rng: Generator, arm: int) -> Floats:
        """Return what `measure` takes of one pull: its attributes, less the origin."""


class MeansLaw:
    """What laws have in common whose attributes are means of what each pull contributes."""

    @property
    def needs_pulls(self) -> bool:
        """Whether sums do not suffice: they do."""
        return False

    @property
    def blocks(self) -> int | None:
        """None: pulls of different arms have nothing in common."""
        return None

    def measure(self, pulls: Floats, arm: str) -> tuple[Floats, Floats]:
        """Return means and scatter, exactly zero for what does not vary."""
        count = len(pulls)
        deviations = pulls - pulls.mean(axis=0)
        varies = np.ptp(pulls, axis=0) > 0.0
        scatter = np.where(np.outer(varies, varies), deviations.T @ deviations, 0.0)
        drop_rounding(scatter, pulls.mean(axis=0), count)
        return np.asarray(pulls.sum(axis=0) / count, dtype=np.float64), scatter


@dataclass(frozen=True, eq=False)
class GaussianLaw(MeansLaw):
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
    def covariances(self) -> list[Floats] | None:
        """Each arm's covariance of the oriented attributes."""
        return list(self.covariance)

    @property
    def true_covariances(self) -> Floats:
        """Each arm's own."""
        return self.covariance

    known_covariances = true_covariances

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
    def arrays(self) -> Any:
        """Means and factors."""
        return GaussianArrays(self.means, self.factors)

    @property
    def recording(self) -> Recording:
        """Block by block: a sum and a Wishart draw."""
        return moments_recording(add_gaussian_pulls, self.means.shape[1])

    def pull(self, rng: Generator, arm: int) -> Floats:
        """Return mean + factor z."""
        normals = rng.standard_normal(self.factors.shape[2])
        return np.asarray(self.means[arm] + self.factors[arm] @ normals, dtype=np.float64)

    @property
    def _variances(self) -> Floats:
        return np.diagonal(self.covariance, axis1=1, axis2=2)


@dataclass(frozen=True, eq=False)
class MixedLaw(MeansLaw):
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
        return np.asarray(self._metric_constants[self.metric_of], dtype=np.float64)

    @property
    def known_covariances(self) -> Floats:
        """1/(2 a) for what is not gaussian, and each arm's own for what is."""
        return self._covariances_with(
            np.broadcast_to(0.5 / self._metric_constants, self.metric_means.shape)
        )

    @property
    def true_covariances(self) -> Floats:
        """Each arm's own; metrics are independent but for the gaussian ones."""
        return self._covariances_with(self._metric_variances)

    def _covariances_with(self, variances: Floats) -> Floats:
        """Return oriented covariances; `variances` [arm, metric] are of what is not gaussian."""
        metrics = self.factors @ self.factors.transpose(0, 2, 1)
        other = np.flatnonzero(self.families != GAUSSIAN)
        metrics[:, other, other] = variances[:, other]
        oriented = metrics[:, self.metric_of][:, :, self.metric_of]
        return np.ascontiguousarray(oriented * np.outer(self.signs, self.signs))

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

    @property
    def recording(self) -> Recording:
        """Pull by pull."""
        return moments_recording(add_mixed_pulls, len(self.metric_of))

    def pull(self, rng: Generator, arm: int) -> Floats:
        """Return one draw of every metric, oriented."""
        normals = rng.standard_normal(self.factors.shape[2])
        metrics = self.metric_means[arm] + self.factors[arm] @ normals
        for q, family in enumerate(self.families):
            if family != GAUSSIAN:
                metrics[q] = draw_single(rng, family, self.metric_means[arm, q])
        return np.asarray(self.signs * metrics[self.metric_of], dtype=np.float64)

    @property
    def _metric_constants(self) -> Floats:
        return np.where(self.families == BERNOULLI, 2.0, _from_variances(self._metric_variances))

    @cached_property
    def _metric_variances(self) -> Floats:
        means = self.metric_means
        gaussian = np.sum(self.factors**2, axis=2)
        return np.select(
            [self.families == BERNOULLI, self.families == POISSON, self.families == EXPONENTIAL],
            [means * (1.0 - means), means, means**2],
            gaussian,
        )


@dataclass(frozen=True, eq=False)
class TableLaw(MeansLaw):
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
        return _from_variances(np.diagonal(self.true_covariances, axis1=1, axis2=2))

    @property
    def known_covariances(self) -> Floats:
        """The covariance within arms, averaged over arms, for each of them."""
        return _averaged(self.true_covariances)

    @property
    def arrays(self) -> Any:
        """The rows and where each arm's begin."""
        return TableArrays(self.rows, self.starts)

    @property
    def recording(self) -> Recording:
        """Row by row."""
        return moments_recording(add_table_pulls, self.rows.shape[1])

    def pull(self, rng: Generator, arm: int) -> Floats:
        """Return one row of the arm."""
        row = rng.integers(self.starts[arm], self.starts[arm + 1])
        return np.asarray(self.rows[row], dtype=np.float64)

    @cached_property
    def true_covariances(self) -> Floats:
        """Each arm's covariance of a row, exactly zero for what does not vary."""
        varies = np.array([np.ptp(rows, axis=0) > 0.0 for rows in self._by_arm])
        deviations = [rows - rows.mean(axis=0) for rows in self._by_arm]
        covariances = np.array([rows.T @ rows / len(rows) for rows in deviations])
        return np.where(varies[:, :, None] & varies[:, None, :], covariances, 0.0)

    @property
    def _by_arm(self) -> list[Floats]:
        return np.split(self.rows, self.starts[1:-1])


@dataclass(frozen=True, eq=False)
class SampledLaw:
    """Attributes that are no means: pulls are drawn one by one, and a record of them is measured.

    `arrays` and `draw_pull` draw the metrics, `attributes` with their `recipe` are measured on
    them; `means` and `true_covariances` are the truth.
    """

    arrays: Any
    draw_pull: Any
    metrics: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    recipe: Recipe
    means: Floats
    true_covariances: Floats
    has_ties: bool
    covariances = None
    constants_are_proven = False
    draws_samples = True
    needs_pulls = True
    blocks = None
    normals = 0
    draw_block = None

    @property
    def origin(self) -> Floats:
        """Zero."""
        return np.zeros(len(self.attributes))

    @property
    def constants(self) -> Floats:
        """1/(2 mean asymptotic variance over arms)."""
        return _from_variances(np.diagonal(self.true_covariances, axis1=1, axis2=2))

    @property
    def known_covariances(self) -> Floats:
        """The asymptotic covariance, averaged over arms, for each of them."""
        return _averaged(self.true_covariances)

    @property
    def recording(self) -> Recording:
        """By features where they suffice, else by all pulls."""
        return recording_of(self.draw_pull, self.recipe, len(self.metrics))

    def measure(self, pulls: Floats, arm: str) -> tuple[Floats, Floats]:
        """Measure every attribute on the metrics of all pulls."""
        sample = dict(zip(self.metrics, pulls.T, strict=True))
        signs = self.recipe.signs
        found = measure_sample(self.attributes, sample, arm=arm, signs=signs.tolist())
        scatter = found.covariance * (found.count - 1)
        return signs * found.estimates, np.outer(signs, signs) * scatter

    def pull(self, rng: Generator, arm: int) -> Floats:
        """Return the metrics of one pull."""
        metrics = np.zeros(len(self.metrics))
        self.draw_pull(rng, self.arrays, arm, metrics)
        return metrics


def recording_of(draw_pull: Any, recipe: Recipe, metrics: int) -> Recording:
    """Return the recording of pulls with so many metrics: by features, or by all pulls."""
    suffice = all(can_run(kind) for kind in recipe.kinds)
    make = running_recording if suffice else sample_recording
    return make(draw_pull, recipe, metrics)


def _averaged(covariances: Floats) -> Floats:
    return np.repeat(covariances.mean(axis=0)[None], len(covariances), axis=0)


def _mean(column: Floats) -> float:
    if np.ptp(column) == 0.0:
        return float(column[0])
    return math.fsum(column) / len(column)


def _from_variances(variances: Floats) -> Floats:
    """Return 1/(2 V) with V averaged over arms; an attribute that never varies gets scale 1."""
    pooled = variances.mean(axis=0)
    return np.where(pooled > 0.0, 0.5 / np.where(pooled > 0.0, pooled, 1.0), 1.0)
