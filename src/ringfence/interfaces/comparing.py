"""Runs experiments side by side: on the same chunks, so that their replications can be paired.

May touch execution and simulation.
"""

import operator
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial, reduce

from ringfence.execution.chunks import Progress, run_chunks
from ringfence.simulation.counts import chunk_sizes
from ringfence.simulation.engines import tallying_engine
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
    engine = tallying_engine(experiments[0])
    work = partial(engine.count_together, experiments, seed)
    work(0, 0)  # compiles, so that what is timed is replications
    started = time.perf_counter()
    size = min(engine.chunk_size(experiment) for experiment in experiments)
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
        SimulationResult.of(experiment, counts, seed=seed, engine=engine.name, seconds=seconds)
        for experiment, counts in zip(experiments, sums, strict=True)
    ]
    return [
        compared(result, results[0], counts) for result, counts in zip(results, sums, strict=True)
    ]
