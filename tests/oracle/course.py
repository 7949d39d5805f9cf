"""The course of a simulation once more, pull by pull: a slow transcription of the body.

Every pull is kept, every estimate is computed from all of them by NumPy, phases and batches have a
loop each, and a baseline is spared by asking the rule about the others. The order of arms and the
uniforms are drawn as the body draws them, so that every count must be the same.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.baseline import (
    difference_covariances,
    difference_scales,
    differences,
)
from ringfence.core.noise import is_yes_or_no
from ringfence.core.streams import Generator
from ringfence.policies.evidence import Evidence, apparent_answer
from ringfence.simulation.course import shuffle
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.tally import Tally
from tests.oracle.groups import fresh_pulls
from tests.oracle.noise import covariances


def run_chunk(experiment: Experiment, seed: int, chunk: int, replications: int) -> Tally:
    """Run the first `replications` of a chunk, pull by pull."""
    tally = experiment.empty_tally(replications)
    rng, order_rng = experiment.streams(seed, chunk)
    for replication in range(replications):
        course = _Course(experiment, rng, order_rng)
        if experiment.phases:
            answer, flag = _reject_by_phase(course, experiment.policy, tally)
        else:
            answer, flag = _choose_batches(course, experiment.policy, order_rng)
        course.judge(tally, replication, answer, flag)
    return tally


class _Course:
    """One replication: every pull is kept, and every estimate is computed from all of them."""

    def __init__(self, experiment: Experiment, rng: Generator, order_rng: Generator) -> None:
        arm_count = len(experiment.instance.arms)
        self.experiment, self.rng = experiment, rng
        self.seen: list[list[Floats]] = [[] for _ in range(arm_count)]
        self.estimates: Floats = np.full(experiment.instance.means.shape, np.nan)
        self.scatters = np.zeros(experiment.instance.law.true_covariances.shape)
        self.counts = np.zeros(arm_count, np.int64)
        self.alive = np.ones(arm_count, np.bool_)
        self.priority: Integers = np.arange(arm_count)
        if experiment.design.shuffled:
            shuffle(order_rng, self.priority[:, None], 0)
        self.scales = experiment.instance.scales
        self.covariances = experiment.instance.law.known_covariances
        design = experiment.design
        self.thresholds, self.optimal = design.thresholds, design.optimal
        self.feasible = design.feasible
        self.right = set(np.flatnonzero(self.optimal).tolist())
        self.baseline = experiment.instance.baseline_place
        self.factors = experiment.instance.judged.factors

    def pull(self, arm: int, times: int) -> None:
        """Pull an arm."""
        for _ in range(times):
            self.seen[arm].append(self.experiment.instance.law.pull(self.rng, arm))

    def look(self) -> None:
        """Estimate anew, from every pull so far, where there are fresh ones."""
        instance = self.experiment.instance
        for arm, pulls in enumerate(self.seen):
            if len(pulls) > self.counts[arm]:
                self.counts[arm] = len(pulls)
                self.estimates[arm], self.scatters[arm] = instance.law.measure(
                    np.array(pulls), instance.arms[arm]
                )
        if self.experiment.estimated:
            self.scales, self.covariances = _noise(
                self.scatters, self.counts, self.estimates, self.experiment.instance.judged.means
            )
            if self.baseline is not None:
                self.scales = difference_scales(self.scales, self.factors)

    def lose(self, tally: Tally, phase: int) -> None:
        """Note that the last right arm is gone."""
        tally.lost_in_phase[phase] += 1
        self.right = set()

    @property
    def evidence(self) -> Evidence:
        """What a rule sees: differences, where limits are relative to a baseline."""
        estimates, covariances = self.estimates, self.covariances
        if self.baseline is not None:
            estimates = differences(estimates, self.baseline, self.factors)
            covariances = difference_covariances(
                covariances, self.counts, self.baseline, self.factors
            )
        return Evidence(
            estimates, self.counts, np.zeros_like(self.counts), self.alive,
            covariances, self.scales, self.thresholds, self.priority,
            np.array([self.experiment.budget - self.counts.sum()]),
            np.array([-1 if self.baseline is None else self.baseline]),
        )  # fmt: skip

    def judge(self, tally: Tally, replication: int, answer: int, flag: object) -> None:
        """Count the answer."""
        if self.right and answer not in self.right:
            self.lose(tally, -1)
        tally.flag_wrong[replication] = flag != self.feasible
        tally.wrong[replication] = not self.optimal[answer] or flag != self.feasible
        tally.chosen[answer, int(bool(flag))] += 1
        tally.pulls[:] += self.counts
        tally.pulled[replication] = sum(self.counts)


def _reject_by_phase(course: _Course, policy: Any, tally: Tally) -> tuple[int, bool]:
    alive = course.alive
    for place, phase in enumerate(course.experiment.phases):
        for arm in np.flatnonzero(alive).tolist():
            course.pull(arm, phase.pulls + (phase.extra > _ahead(arm, alive, course.priority)))
        course.look()
        seen = course.evidence
        while alive.sum() > phase.keep and policy.reject is not None:
            given = (
                seen.estimates, course.counts, alive,
                course.scales, course.thresholds, course.priority,
            )  # fmt: skip
            if course.baseline is None:
                out = policy.reject(*given)
            else:
                out = _sparing(policy.reject, given, course.baseline)
            alive[out] = False
            if course.right and course.right.isdisjoint(np.flatnonzero(alive).tolist()):
                course.lose(tally, place)
    return apparent_answer(course.evidence, None)


def _sparing(reject: Callable[..., int], given: Any, baseline: int) -> int:
    """Return the arm to drop: where that is the baseline, the one that the others would lose."""
    out = reject(*given)
    if out != baseline:
        return out
    others = given[2].copy()
    others[baseline] = False
    return reject(*given[:2], others, *given[3:])


def _choose_batches(course: _Course, policy: Any, order_rng: Generator) -> tuple[int, bool]:
    experiment = course.experiment
    arm_count = len(course.counts)
    work = policy.make_work(arm_count, len(course.scales))
    for arm in range(arm_count):
        course.pull(arm, experiment.warm_up)
    course.look()
    while (left := experiment.budget - int(course.counts.sum())) > 0:
        uniforms = order_rng.random(min(experiment.batch, left))
        fresh = fresh_pulls(policy, course.evidence, uniforms, len(uniforms))
        for arm, times in enumerate(fresh.tolist()):
            course.pull(arm, times)
        course.look()
    arm, flag = policy.answer(course.evidence, work)
    return int(arm), bool(flag)


def _noise(
    scatters: Floats, counts: Integers, estimates: Floats, means: Mask
) -> tuple[Floats, Floats]:
    """Return scales and covariances as estimated from all pulls; rare events have one more."""
    freedoms = counts - 1
    pooled = scatters.sum(axis=0) / freedoms.sum()
    variances = np.diagonal(pooled)
    scales = np.where(variances > 0.0, np.sqrt(0.5 / np.where(variances > 0, variances, 1.0)), 1.0)
    rates = [
        bool(means[c]) and is_yes_or_no(c, estimates, scatters, counts) for c in range(len(scales))
    ]
    return scales, covariances(scatters, counts, np.array(rates))


def _ahead(arm: int, alive: Mask, priority: Integers) -> int:
    return int((alive & (priority < priority[arm])).sum())
