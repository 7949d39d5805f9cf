"""What a study has seen, added up round by round: counts, estimates, and how noisy they are.

Observations enter in the order of their pulls, a round at a time, so that the same observations
give the same numbers to the last bit, whoever evaluated them and when. May touch core.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.baseline import (
    difference_covariances,
    difference_scales,
    differences,
)
from ringfence.core.beliefs import Beliefs
from ringfence.core.constancy import add_pulls, copied, nothing_told
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
from ringfence.core.sharing import fill_difference_roots, fill_own, fill_sharing
from ringfence.core.sparse import shrunk_variances, with_sparse_tails
from ringfence.core.stated import NOTHING_STATED, StatedNoise
from ringfence.core.statistics import MEAN, SHARE_UP_TO, contribution, contributions
from ringfence.core.variances import no_log_variances
from ringfence.policies.evidence import Evidence
from ringfence.study.blocks_seen import BlocksSeen
from ringfence.study.facts import FAILED_METRIC
from ringfence.study.hours_seen import HoursSeen
from ringfence.study.together import Alone, SeenTogether

_SHARED = "shared_"  # what begins the names of sums of what arms share


def least_pulls(problem: Problem, noise: StatedNoise = NOTHING_STATED) -> int:
    """Return the pulls of an arm without which nothing can be said of it.

    Two at least, unless all noise was stated: from one none can be estimated.
    """
    return max(1 if noise.is_whole(problem) else 2, problem.least_pulls)


def _are_means(kinds: Integers) -> Mask:
    """Tell which attributes are means of what pulls contribute, and no function of one's own."""
    return np.asarray((kinds >= MEAN) & (kinds <= SHARE_UP_TO))


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
        counts_failures: bool = False,
        prices: Floats | None = None,
        blocks: int | None = None,
        has_hours: bool = False,
        share: Callable[..., None] = fill_sharing,
        watches_time: bool = False,
    ) -> None:
        """Begin without observations; `metrics` are the columns of what will be added.

        With `counts_failures` pulls that failed are part of every share of failures. `prices` are
        what rules are shown of them. With `blocks`, their number or ENDLESS, arms share what they
        are tried on, and every observation says which it was. So it is where arms share hours.
        Who `watches_time` keeps what tells whether outcomes change from pull to pull.
        """
        self.problem = problem.judged
        self.noise = noise
        self._known = noise.about(self.problem, arms)
        self._exact = noise.are_exact(self.problem)
        self.baseline = baseline if problem.is_relative else None
        self.arms = tuple(arms)
        self.columns = [list(metrics).index(metric) for metric in self.problem.metrics]
        width = len(self.problem.attributes)
        self._counts_failures = counts_failures
        self._prices = np.ones(len(arms)) if prices is None else prices
        self.counts: Integers = np.zeros(len(arms), np.int64)
        self.failures: Integers = np.zeros(len(arms), np.int64)
        self._of_failures = [
            c
            for c, one in enumerate(self.problem.attributes)
            if counts_failures and one.is_mean and one.metric == FAILED_METRIC
        ]
        self._estimates = np.zeros((len(arms), width))
        self._scatters = np.zeros((len(arms), width, width))
        self._thirds = np.zeros((len(arms), width))
        self._cubes = np.zeros((len(arms), width))  # of contributions, about each arm's first
        self._firsts = np.zeros((len(arms), width))
        metric_count = len(self.problem.metrics)
        self._least, self._most = np.full(metric_count, np.inf), np.full(metric_count, -np.inf)
        self._binary = np.ones(metric_count)  # 0 where a value was neither nought nor one
        self._unmeasured: set[int] = set()
        self._recipe = self.problem.recipe
        self._runs = all(can_run(kind) for kind in self._recipe.kinds)
        self._running = (
            no_running(self._recipe, len(arms), len(self.columns)) if self._runs else None
        )
        self._samples: list[list[Floats]] = [[] for _ in arms]
        self._blocks: SeenTogether | None = None
        self.is_timeless = False
        self.over_time = nothing_told(len(arms), metric_count) if watches_time else None
        if blocks is not None:
            self._blocks = BlocksSeen(len(arms), width, blocks, share)
        elif has_hours:
            self._blocks = HoursSeen(len(arms), width)

    def add(
        self,
        arm: int,
        observations: Floats,
        blocks: Integers | None = None,
        numbers: Integers | None = None,
    ) -> None:
        """Add observations [pull, metric] of an arm, each on its block where arms share these.

        Once some are on no block, arms are taken for what they are by themselves. `numbers` of
        pulls tell when they were made, where that is known.
        """
        if len(observations) == 0:
            return
        metrics = observations[:, self.columns]
        if blocks is None:
            self._blocks = None
        elif self._blocks is not None:
            self._blocks.add(arm, blocks, self._contributions(metrics))
        if self.over_time is not None and numbers is not None:
            add_pulls(self.over_time, arm, numbers, metrics)
        before = int(self.counts[arm])
        self.counts[arm] += len(metrics)
        self._least = np.minimum(self._least, metrics.min(axis=0))
        self._most = np.maximum(self._most, metrics.max(axis=0))
        self._binary *= ((metrics == 0.0) | (metrics == 1.0)).all(axis=0)
        if self._running is not None:
            add_running_block(self._running, self._recipe, arm, before, metrics)
            self._add_cubes(arm, before, metrics)
        else:
            self._samples[arm].append(metrics)
        self._unmeasured.add(arm)

    def add_failures(self, arm: int, count: int) -> None:
        """Add pulls of an arm that failed, and in place of which nothing was told."""
        self.failures[arm] += count
        self._unmeasured.add(arm)

    def _contributions(self, metrics: Floats) -> Floats:
        """Return what each pull contributes to the means and shares [pull, attribute]."""
        recipe = self._recipe
        found = np.zeros((len(metrics), len(recipe.kinds)))
        for c in np.flatnonzero(_are_means(recipe.kinds)).tolist():
            column = metrics[:, recipe.metric_of[c]]
            found[:, c] = recipe.signs[c] * contributions(recipe.kinds[c], recipe.levels[c], column)
        return found

    def _add_cubes(self, arm: int, before: int, metrics: Floats) -> None:
        """Add up what tells how skewed means are; sums about a first value can be merged."""
        recipe = self._recipe
        for c in range(len(recipe.kinds)):
            if recipe.kinds[c] > SHARE_UP_TO:
                continue  # spreads: their noise is taken to be symmetric in their logs
            column = metrics[:, recipe.metric_of[c]]
            values = contributions(recipe.kinds[c], recipe.levels[c], column)
            if before == 0:
                self._firsts[arm, c] = values[0]
            self._cubes[arm, c] += ((values - self._firsts[arm, c]) ** 3).sum()

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
                self._count_failures(arm)
            self._unmeasured.discard(arm)  # last: another thread may be measuring it as well

    def _measure_arm(self, arm: int) -> None:
        count = int(self.counts[arm])
        if self._running is not None:
            fill_running(self._estimates, self._scatters, self._running, self._recipe, arm, count)
            signs = self._recipe.signs
            means = self._recipe.kinds <= SHARE_UP_TO
            away = np.where(means, signs * self._estimates[arm] - self._firsts[arm], 0.0)
            about = 3.0 * away * np.diagonal(self._scatters[arm]) + count * away**3
            self._thirds[arm] = signs * (self._cubes[arm] - about)
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
        self._thirds[arm] = signs * found.thirds

    def _count_failures(self, arm: int) -> None:
        """Let failed pulls, of which nothing else is known, count in shares of failures.

        Their other metrics are missing: given that a pull succeeds, they go with nothing.
        """
        told, failed = int(self.counts[arm]), int(self.failures[arm])
        for c in self._of_failures if failed else ():
            sign = float(self._recipe.signs[c])
            value = contribution(int(self._recipe.kinds[c]), float(self._recipe.levels[c]), 1.0)
            away = sign * value - self._estimates[arm, c]
            pulls = told + failed
            scatter = self._scatters[arm, c, c] + told * failed / pulls * away * away
            self._estimates[arm, c] += away * failed / pulls
            self._scatters[arm, c, :] = self._scatters[arm, :, c] = self._thirds[arm, c] = 0.0
            # As noisy as that many pulls make it, though only those told are counted.
            freedom = max(told - 1, 1) / (pulls - 1)
            self._scatters[arm, c, c] = scatter * freedom * told / pulls

    def unseen_blocks(self, arm: int, count: int) -> Integers | None:
        """Return blocks that pulls of an arm may have been on that told nothing; None without."""
        return None if self._blocks is None else self._blocks.unseen(arm, count)

    @property
    def trials(self) -> Integers:
        """The pulls that every attribute rests on [arm, attribute]: those of failures on more."""
        found = np.repeat(self.counts[:, None], len(self.problem.attributes), axis=1)
        found[:, self._of_failures] += self.failures[:, None]
        return found

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
        told = self.over_time
        other = copy.copy(self)
        vars(other).update(
            over_time=None if told is None else copied(told),
            counts=self.counts.copy(),
            failures=self.failures.copy(),
            _estimates=self._estimates.copy(),
            _scatters=self._scatters.copy(),
            _thirds=self._thirds.copy(),
            _cubes=self._cubes.copy(),
            _firsts=self._firsts.copy(),
            _binary=self._binary.copy(),
            _unmeasured=set(self._unmeasured),
            _samples=[list(blocks) for blocks in self._samples],
            _running=running,
            _blocks=None if self._blocks is None else self._blocks.copied(),
        )
        return other

    def sums(self) -> dict[str, Any] | None:
        """Return what a book like this one needs to go on; None if it needs all observations."""
        if self._running is None:
            return None
        moments = self._running.moments._asdict()
        own: dict[str, Any] = {"counts": self.counts, "failures": self.failures}
        own |= {"cubes": self._cubes, "firsts": self._firsts}
        own |= {"least": self._least, "most": self._most, "binary": self._binary}
        told = {} if self.over_time is None else self.over_time._asdict()
        own |= {f"over_time_{name}": array for name, array in told.items()}
        if self._blocks is not None:
            own |= {f"{_SHARED}{name}": array for name, array in self._blocks.sums().items()}
        return {**own, "origins": self._running.origins, **moments}

    def restore(self, sums: Mapping[str, Any]) -> None:
        """Take up what `sums` gave, in a book without observations.

        Sums of before that say nothing of time leave it unwatched.
        """
        if self.over_time is not None and "over_time_" not in "".join(sums):
            self.over_time, self.is_timeless = None, True
        mine, shared = self.sums(), {}
        if mine is None or not set(mine) <= set(sums):
            raise ValueError("these are not the sums of such a book")
        for name, array in mine.items():
            if name.startswith(_SHARED):  # as long as what was seen
                shared[name.removeprefix(_SHARED)] = sums[name]
            elif array.shape != sums[name].shape:
                raise ValueError("these are the sums of another book")
            else:
                array[...] = sums[name]
        if self._blocks is not None:
            self._blocks.restore(shared)
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

    def sample(self, arm: int) -> Floats:
        """Return an arm's pulls [pull, metric] where sums of them do not suffice."""
        return np.concatenate(self._samples[arm])

    def silent_failures(self, arm: int, metric: str) -> Floats:
        """Return what an arm's failures, of which nothing was told, say of a metric."""
        says = self._counts_failures and metric == FAILED_METRIC
        return np.ones(int(self.failures[arm]) if says else 0)

    def told_range(self, metric: str) -> tuple[float, float]:
        """Return the least and the greatest value of a metric that any arm was told."""
        place = self.problem.metrics.index(metric)
        return float(self._least[place]), float(self._most[place])

    def possible_range(self, metric: str) -> tuple[float, float]:
        """Return what values of a metric are possible: within its stated bounds, or yes and no."""
        usual = (0.0, 1.0) if self.is_binary(metric) else (-np.inf, np.inf)
        return self.noise.bounds.get(metric, usual)

    def is_binary(self, metric: str) -> bool:
        """Tell whether a metric told nothing but zeros and ones, in any arm."""
        return bool(self._binary[self.problem.metrics.index(metric)])

    @property
    def is_constant(self) -> Mask:
        """Which attributes were stated to be exact, and never varied within an arm."""
        varied = np.diagonal(self.scatters, axis1=1, axis2=2).any(axis=0)
        return np.asarray(self._exact & ~varied)

    def beliefs(self, plain: Evidence) -> Beliefs:
        """Return what the truth of each arm by itself may be; `plain` is its own evidence."""
        metrics = self.problem.metrics
        found = Beliefs.of(
            self.problem,
            self.estimates,
            self.scatters,
            self._thirds,
            self.counts,
            self._with_sparse_tails(plain.covariances),
            known=self._known.is_known,
            bounds=self.noise.bounds,
            trials=self.trials,
            constant=self.is_constant,
            binary=self._binary[[metrics.index(one.metric) for one in self.problem.attributes]] > 0,
        )
        if plain.sharing is None or self._blocks is None:
            return found
        return found.sharing(plain.sharing, plain.estimates, self._blocks.trials(self.trials))

    def _with_sparse_tails(self, covariances: Floats) -> Floats:
        """Return covariances in which a quantile with few pulls beyond it is no surer than that."""
        attributes = self.problem.attributes
        if not any(one.statistic == "quantile" for one in attributes):
            return covariances
        variances = []
        for one in attributes:
            place = self.problem.metrics.index(one.metric)
            mine = [np.concatenate([b[:, place] for b in blocks]) if blocks else np.zeros(0)
                    for blocks in self._samples]  # fmt: skip
            variances.append(shrunk_variances(mine))
        return with_sparse_tails(attributes, covariances, self.counts, variances)

    def evidence(self, alive: Mask, priority: Integers, *, left: float = 0.0) -> Evidence:
        """Return what the rules see, with noise as it was stated or estimated from all pulls.

        `left` is what may still be spent, in units of the reference price.
        """
        plain = self.plain_evidence(alive, priority)._replace(left=np.array([left]))
        return self.compared(plain)

    def compared(self, plain: Evidence) -> Evidence:
        """Return evidence where limits are relative: what arms are beyond the baseline's multiple.

        Where none is, it is the `plain` one.
        """
        if self.baseline is None:
            return plain
        factors, sharing = self.problem.factors, plain.sharing
        if sharing is None:
            covariances = difference_covariances(
                plain.covariances, plain.counts, self.baseline, factors
            )
        else:
            sharing = sharing._replace(roots=sharing.roots.copy())
            fill_difference_roots(sharing, self.baseline, factors)
            covariances = np.empty_like(plain.covariances)
            fill_own(covariances, sharing, plain.counts)
        return plain._replace(
            estimates=differences(plain.estimates, self.baseline, factors),
            covariances=covariances,
            scales=difference_scales(plain.scales, factors),
            sharing=sharing,
        )

    def plain_evidence(self, alive: Mask, priority: Integers) -> Evidence:
        """Return what was seen of each arm by itself; what was stated of the noise holds."""
        width = self.estimates.shape[1]
        pooled, scales = np.zeros((width, width)), np.ones(width)
        covariances = np.zeros_like(self.scatters)
        fill_pooled(pooled, self.scatters, self.counts)
        fill_scales(scales, pooled)
        means = self.problem.means
        fill_covariances(
            covariances, self.scatters, self.counts, pooled, self.estimates, means,
            no_log_variances(*self.estimates.shape),
        )  # fmt: skip
        if not self._known.says_nothing:
            self._known.replace_scales(scales)
            self._known.replace_covariances(covariances)
        covariances[:, self.is_constant, :] = covariances[:, :, self.is_constant] = 0.0
        estimates, sharing, hours = self.estimates, None, None
        shared = _are_means(self._recipe.kinds)
        shared[self._of_failures] &= not self.failures.any()
        if self._blocks is not None:
            alone = Alone(
                estimates, covariances, self.scatters, self.counts, shared, means, self._known,
                priority,
            )  # fmt: skip
            estimates, sharing, hours = self._blocks.together(alone)
            fill_own(covariances, sharing, self.counts)
        return Evidence(
            estimates=estimates,
            counts=self.counts,
            in_flight=np.zeros_like(self.counts),
            alive=alive,
            covariances=covariances,
            scales=scales,
            thresholds=self.problem.thresholds,
            priority=priority,
            left=np.zeros(1),
            prices=self._prices,
            sharing=sharing,
            hours=hours,
        )
