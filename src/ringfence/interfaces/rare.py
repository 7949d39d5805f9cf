"""Composes the estimators of rare errors with whatever runs their chunks. May touch every room."""

import math
import operator
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TypeVar

from ringfence.core.errors import InputError
from ringfence.execution.chunks import Progress, run_chunks
from ringfence.simulation.counts import Counts, chunk_sizes, total
from ringfence.simulation.engines import CPU
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.rare import guards
from ringfence.simulation.rare.guards import Check, Overlap
from ringfence.simulation.rare.importance import (
    LEAST_REPLICATIONS,
    Estimate,
    estimate,
    require_rare,
    run_chunk,
)
from ringfence.simulation.rare.mixture import Mixture, Weighed
from ringfence.simulation.rare.results import RareResult, importance_result, splitting_result
from ringfence.simulation.rare.splitting import GROUPS, Split, can_split, require_split, split

Found = TypeVar("Found")
_PLAIN_REPLICATIONS = 200_000
_PLAIN_WORK = 2_000_000  # pulls that an adaptive policy's plain replications may cost
_OVERLAP_SHARE = 0.2
_TRIED = 20_000
_ENOUGH_ERRORS = 400  # counted errors that make a standard error of 5%


@dataclass(frozen=True)
class Hands:
    """Who runs chunks, from which seed, and who is told of their progress."""

    seed: int
    threads: int | None = None
    executor: Executor | None = None
    progress: Progress | None = None

    def weigh(self, mixture: Mixture, round_: int, replications: int) -> Weighed:
        """Run replications of a mixture."""
        work = partial(run_chunk, mixture, self.seed, round_)
        found = self._run(work, chunk_sizes(replications, mixture.chunk_size))
        return reduce(operator.add, found)

    def count(self, experiment: Experiment, replications: int, *, after: int = 0) -> Counts:
        """Run plain replications, `after` so many chunks that were run before."""
        sizes = chunk_sizes(replications, CPU.chunk_size(experiment))
        return total(self._run(partial(_count, experiment, self.seed, after), sizes))

    def split(self, experiment: Experiment) -> Split:
        """Run independent groups of points."""
        return Split(tuple(self._run(partial(_split, experiment, self.seed), [1] * GROUPS)))

    def _run(self, work: Callable[[int, int], Found], sizes: Iterable[int]) -> Iterator[Found]:
        return run_chunks(
            work, sizes, threads=self.threads, executor=self.executor, progress=self.progress
        )


def best_method(experiment: Experiment, replications: int, hands: Hands) -> str:
    """Return importance where errors are rare and the law can be tilted, else monte-carlo."""
    if replications < LEAST_REPLICATIONS:
        return "monte-carlo"
    try:
        require_rare(experiment, replications)
    except InputError:
        return "monte-carlo"
    tried = min(replications, _plain_count(experiment), _TRIED)
    seen = replace(hands, progress=None).count(experiment, tried)
    wanted = _ENOUGH_ERRORS * tried / replications
    return "monte-carlo" if seen.errors >= max(wanted, 1.0) else "importance"


def by_importance(
    experiment: Experiment, replications: int, hands: Hands, *, cross_check: bool = True
) -> RareResult:
    """Return the error probability by importance sampling, and look at it from outside."""
    started = time.perf_counter()
    found = estimate(experiment, replications, seed=hands.seed, run=hands.weigh)
    checks = guards.weight_checks(found)
    if found.weighed.weight <= 0.0:
        what = "none was seen, whatever the drift, or all are too rare for numbers"
        checks.append(Check("errors", ok=False, found=what))
    elif cross_check:
        quiet = replace(hands, progress=None)
        checks += _outside_checks(found, replications, quiet)
    seconds = time.perf_counter() - started
    return importance_result(found, checks, seed=hands.seed, seconds=seconds)


def require_counting(experiment: Experiment, method: str) -> str:
    """Return the method for a budget in money, whose errors are counted."""
    if method in ("importance", "splitting"):
        raise InputError(
            f"method = {method!r} is for budgets in pulls, and this one is in {experiment.unit}. "
            "Use monte-carlo, or give a budget in pulls."
        )
    return "monte-carlo"


def no_replications(replications: int) -> InputError:
    """Return the error for replications that splitting would not run."""
    return InputError(
        f"replications = {replications} does not go with method = 'splitting', which runs as many "
        "as it needs. Leave it out."
    )


def by_splitting(experiment: Experiment, hands: Hands) -> RareResult:
    """Return the error probability by splitting."""
    require_split(experiment)
    started = time.perf_counter()
    found = hands.split(experiment)
    seconds = time.perf_counter() - started
    return splitting_result(experiment, found, seed=hands.seed, seconds=seconds)


def _outside_checks(found: Estimate, replications: int, hands: Hands) -> list[Check]:
    experiment = found.mixture.experiment
    checks: list[Check] = []
    if found.weighed.error_rate < guards.RARE_RATE:
        overlap = _overlap(found, replications, hands)
        if overlap is not None:
            looked = [guards.overlap_check(overlap), guards.slope_check(found, overlap)]
            checks += [check for check in looked if check is not None]
    else:
        checks.append(guards.overlap_check(_plainly(experiment, found, hands)))
    if can_split(experiment):
        checks.append(guards.split_check(found, hands.split(experiment)))
    return checks


def _overlap(found: Estimate, replications: int, hands: Hands) -> Overlap | None:
    """Estimate at a budget at which errors can be seen; None where there is no such budget."""
    try:
        smaller = replace(found.mixture.experiment, budget=guards.overlap_budget(found))
    except InputError:  # too small for the policy
        return None
    size = max(LEAST_REPLICATIONS, int(_OVERLAP_SHARE * replications))
    again = estimate(smaller, size, seed=hands.seed, run=hands.weigh)
    if again.weighed.weight <= 0.0:
        return None
    return _plainly(smaller, again, hands)


def _plainly(experiment: Experiment, found: Estimate, hands: Hands) -> Overlap:
    counts = hands.count(experiment, _plain_count(experiment))
    return Overlap(experiment.budget, found, counts.errors, counts.replications)


def _plain_count(experiment: Experiment) -> int:
    """Return how many plain replications can be afforded on the side."""
    if not experiment.is_adaptive:
        return _PLAIN_REPLICATIONS
    decisions = experiment.budget / experiment.batch
    return max(LEAST_REPLICATIONS, min(_PLAIN_REPLICATIONS, math.ceil(_PLAIN_WORK / decisions)))


def _count(experiment: Experiment, seed: int, after: int, chunk: int, size: int) -> Counts:
    return CPU.count(experiment, seed, after + chunk, size)


def _split(experiment: Experiment, seed: int, group: int, _: int) -> float:
    return split(experiment, seed, group)
