"""What a study has seen, added up round by round: counts, estimates, and how noisy they are.

Observations enter in the order of their pulls, a round at a time, so that the same observations
give the same numbers to the last bit, whoever evaluated them and when. May touch core.
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.baseline import (
    difference_covariances,
    difference_scales,
    differences,
)
from ringfence.core.measurement import measure_sample
from ringfence.core.noise import Moments, fill_covariances, fill_pooled, fill_scales
from ringfence.core.problem import Problem
from ringfence.core.running import (
    Running,
    add_running_block,
    can_run,
    fill_running,
    no_running,
)
from ringfence.core.shares import Shares
from ringfence.core.stated import NOTHING_STATED, StatedNoise
from ringfence.policies.policy import Evidence


def least_pulls(problem: Problem, noise: StatedNoise = NOTHING_STATED) -> int:
    """Return the pulls of an arm without which nothing can be said of it.

    Two at least, unless all noise was stated: from one none can be estimated.
    """
    return max(1 if noise.is_whole(problem) else 2, problem.least_pulls)


class Book:
    """The observations of every arm, as the rules need them."""

    def __init__(
        self,
        problem: Problem,
        arms: Sequence[str],
        metrics: Sequence[str],
        *,
        baseline: int | None = None,
        noise: StatedNoise = NOTHING_STATED,
    ) -> None:
        """Begin without observations; `metrics` are the columns of what will be added."""
        self.problem = problem.judged
        self.noise = noise
        self._known = noise.about(self.problem)
        self.baseline = baseline if problem.is_relative else None
        self.arms = tuple(arms)
        self.columns = [list(metrics).index(metric) for metric in self.problem.metrics]
        width = len(self.problem.attributes)
        self.counts: Integers = np.zeros(len(arms), np.int64)
        self.failures: Integers = np.zeros(len(arms), np.int64)
        self._estimates = np.zeros((len(arms), width))
        self._scatters = np.zeros((len(arms), width, width))
        self._unmeasured: set[int] = set()
        self._recipe = self.problem.recipe
        self._runs = all(can_run(kind) for kind in self._recipe.kinds)
        self._running = (
            no_running(self._recipe, len(arms), len(self.columns)) if self._runs else None
        )
        self._samples: list[list[Floats]] = [[] for _ in arms]

    def add(self, arm: int, observations: Floats) -> None:
        """Add observations [pull, metric] of an arm."""
        if len(observations) == 0:
            return
        metrics = observations[:, self.columns]
        before = int(self.counts[arm])
        self.counts[arm] += len(metrics)
        if self._running is not None:
            add_running_block(self._running, self._recipe, arm, before, metrics)
        else:
            self._samples[arm].append(metrics)
        self._unmeasured.add(arm)

    def add_failures(self, arm: int, count: int) -> None:
        """Add pulls of an arm that failed, and in place of which nothing was told."""
        self.failures[arm] += count

    @property
    def estimates(self) -> Floats:
        """The attributes [arm, attribute], zero where there are too few observations."""
        self._measure()
        return self._estimates

    @property
    def scatters(self) -> Floats:
        """The scatters of their influences [arm, attribute, attribute]."""
        self._measure()
        return self._scatters

    def _measure(self) -> None:
        """Measure arms that were added to: when someone looks, and not with every block."""
        for arm in sorted(self._unmeasured):
            if self.counts[arm] >= self.problem.least_pulls:
                self._measure_arm(arm)
            self._unmeasured.discard(arm)  # last: another thread may be measuring it as well

    def _measure_arm(self, arm: int) -> None:
        count = int(self.counts[arm])
        if self._running is not None:
            fill_running(self._estimates, self._scatters, self._running, self._recipe, arm, count)
            return
        sample = np.concatenate(self._samples[arm])
        self._samples[arm] = [sample]
        signs = self._recipe.signs
        found = measure_sample(
            self.problem.attributes,
            dict(zip(self.problem.metrics, sample.T, strict=True)),
            arm=self.arms[arm],
            signs=signs.tolist(),
        )
        self._estimates[arm] = signs * found.estimates
        self._scatters[arm] = np.outer(signs, signs) * found.covariance * (count - 1)

    def judged_by(self, problem: Problem) -> "Book":
        """Return the same observations under other thresholds of the same attributes."""
        other = self.copied()
        other.problem = problem
        return other

    def copied(self) -> "Book":
        """Return a book that can go on without this one; observations themselves are shared."""
        running = self._running
        if running is not None:
            moments = Moments(*(array.copy() for array in running.moments))
            running = Running(moments, running.origins.copy(), running.features.copy())
        other = copy.copy(self)
        vars(other).update(
            counts=self.counts.copy(),
            failures=self.failures.copy(),
            _estimates=self._estimates.copy(),
            _scatters=self._scatters.copy(),
            _unmeasured=set(self._unmeasured),
            _samples=[list(blocks) for blocks in self._samples],
            _running=running,
        )
        return other

    def sums(self) -> dict[str, Any] | None:
        """Return what a book like this one needs to go on; None if it needs all observations."""
        if self._running is None:
            return None
        moments = self._running.moments._asdict()
        plain = {"counts": self.counts, "failures": self.failures}
        return {**plain, "origins": self._running.origins, **moments}

    def restore(self, sums: Mapping[str, Any]) -> None:
        """Take up what `sums` gave, in a book without observations."""
        mine = self.sums()
        if mine is None or any(mine[name].shape != sums[name].shape for name in mine):
            raise ValueError("these are not the sums of such a book")
        for name, array in mine.items():
            array[...] = sums[name]
        self._unmeasured = {int(arm) for arm in np.flatnonzero(self.counts)}

    @property
    def is_seen(self) -> Mask:
        """Which arms have enough observations for every attribute."""
        return np.asarray(self.counts >= least_pulls(self.problem, self.noise))

    @property
    def is_comparable(self) -> Mask:
        """Which arms can be judged: those seen, if the baseline of their limits was seen too."""
        seen = self.is_seen
        return seen if self.baseline is None else seen & bool(seen[self.baseline])

    @property
    def shares(self) -> Shares:
        """Which attributes are shares of yes-or-no outcomes; not those of stated variance."""
        found = Shares.among(self.problem, self.estimates, self.scatters, self.counts)
        return found.without(self._known.is_known)

    def evidence(self, alive: Mask, priority: Integers, *, left: int = 0) -> Evidence:
        """Return what the rules see, with noise as it was stated or estimated from all pulls.

        Where limits are relative, what an arm is beyond the baseline's multiple. `left` are the
        pulls that may still be issued.
        """
        plain = self.plain_evidence(alive, priority)._replace(left=np.array([left]))
        if self.baseline is None:
            return plain
        factors = self.problem.factors
        return plain._replace(
            estimates=differences(plain.estimates, self.baseline, factors),
            covariances=difference_covariances(
                plain.covariances, plain.counts, self.baseline, factors
            ),
            scales=difference_scales(plain.scales, factors),
        )

    def plain_evidence(self, alive: Mask, priority: Integers) -> Evidence:
        """Return what was seen of each arm by itself; what was stated of the noise holds."""
        width = self.estimates.shape[1]
        pooled, scales = np.zeros((width, width)), np.ones(width)
        covariances = np.zeros_like(self.scatters)
        fill_pooled(pooled, self.scatters, self.counts)
        fill_scales(scales, pooled)
        fill_covariances(covariances, self.scatters, self.counts, pooled, self.estimates)
        if not self._known.says_nothing:
            self._known.replace_scales(scales)
            self._known.replace_covariances(covariances)
        return Evidence(
            estimates=self.estimates,
            counts=self.counts,
            in_flight=np.zeros_like(self.counts),
            alive=alive,
            covariances=covariances,
            scales=scales,
            thresholds=self.problem.thresholds,
            priority=priority,
            left=np.zeros(1, np.int64),
        )
