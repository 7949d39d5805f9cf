"""Runs experiments side by side: on the same chunks, so that their replications can be paired.

May touch execution and simulation.
"""

import operator
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial, reduce

from ringfence.execution.chunks import Progress, run_chunks
from ringfence.interfaces.engines import RunTally, chunk_size_of, tallied_engine
from ringfence.simulation.counts import Counts, chunk_sizes
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.results import ComparisonRow, SimulationResult, compared


def side_by_side(
    experiments: Sequence[Experiment],
    replications: int,
    *,
    seed: int,
    threads: int | None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[ComparisonRow]:
    """Run all experiments on every chunk, and return each beside the first."""
    run, engine = tallied_engine(experiments[0])
    work = partial(_counted_side_by_side, run, experiments, seed)
    for experiment in experiments:
        run(experiment, seed, 0, 0)  # compiles, so that what is timed is replications
    started = time.perf_counter()
    size = min(chunk_size_of(engine, experiment) for experiment in experiments)
    chunks = run_chunks(
        work,
        chunk_sizes(replications, size),
        threads=threads,
        executor=executor,
        progress=progress,
    )
    sums = reduce(lambda before, more: list(map(operator.add, before, more)), chunks)
    seconds = (time.perf_counter() - started) / len(experiments)
    results = [
        SimulationResult.of(experiment, counts, seed=seed, engine=engine, seconds=seconds)
        for experiment, counts in zip(experiments, sums, strict=True)
    ]
    return [
        compared(result, results[0], counts) for result, counts in zip(results, sums, strict=True)
    ]


def _counted_side_by_side(
    run: RunTally, experiments: Sequence[Experiment], seed: int, chunk: int, size: int
) -> list[Counts]:
    tallies = [run(experiment, seed, chunk, size) for experiment in experiments]
    return [Counts.of(tally, first=tallies[0]) for tally in tallies]
