"""Speed, as ratios between things timed in turn, in one run: `make bench`.

    python -m benchmarks.speed [--repeats 5] [--seed 0] [--json]

The machine may be shared and noisy, so nothing is judged by seconds; each ratio is the median
over interleaved repeats. The yardstick is the paper's third instance, Constrained-SR, T = 10,000.
In a clone `ringfence bench` is the same.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from benchmarks.yardsticks import sum_of_normals, vectorised_errors, vectorised_top_two
from ringfence.core.errors import InputError
from ringfence.core.schedule import survivors
from ringfence.core.streams import chunk_streams, whole_seed
from ringfence.execution.chunks import available_threads
from ringfence.interfaces import wiring
from ringfence.interfaces.cli import output
from ringfence.policies.registry import find_policy
from ringfence.simulation import cpu, reference
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.families import find_family
from ringfence.simulation.gpu.compilation import gpu_count, is_simulated
from ringfence.simulation.instance import Instance

INSTANCE, POLICY = "paper-3", "constrained-sr"


@dataclass(frozen=True)
class Row:
    """One measurement; the ratio is None where only the value has a meaning."""

    what: str
    ratio: float | None
    value: float
    unit: str
    goal: str


Measure: TypeAlias = Callable[[int, int], list[Row]]


def report(*, repeats: int, seed: int, json: bool) -> None:
    """Measure everything, and print it as a table or as a document."""
    whole_seed(seed)
    names = len(measurements())
    rows = []
    with output.progress_bar("measurements", names) as advance:
        for measure in measurements():
            rows += measure(repeats, seed)
            advance(1)
    if json:
        output.print_json({"rows": [vars(row) for row in rows]})
        return
    shown = [
        [row.what, output.number(row.ratio, 3), output.number(row.value, 4), row.unit, row.goal]
        for row in rows
    ]
    columns = ["what", "ratio", "value", "unit", "goal"]
    output.show_table(f"Speed, median of {repeats} interleaved repeats", columns, shown)


def measurements() -> tuple[Measure, ...]:
    """Return every measurement, in the order in which it is shown."""
    return (_normals, _numpy, _one_by_one, _budgets, _threads, _top_two, _many_arms)


def _normals(repeats: int, seed: int) -> list[Row]:
    """Measure against normals alone, at budgets that are hard and easy for branch prediction.

    Two counts of normals: those that are drawn, and those that a replication needs, which are
    fewer because dead arms need none.
    """
    return [row for budget in (1000, 2000, 10_000) for row in _normals_at(budget, repeats, seed)]


def _normals_at(budget: int, repeats: int, seed: int) -> list[Row]:
    experiment, size = _experiment(budget), 400_000
    arm_count, per_block = len(experiment.instance.arms), experiment.instance.law.normals
    drawn = experiment.blocks * per_block
    needed = sum(survivors(arm_count, experiment.phases)) * per_block
    rng, _ = chunk_streams(seed, 0, 0)
    ours, alone = _interleaved(
        repeats,
        lambda: cpu.run_chunk(experiment, seed, 0, size),
        lambda: sum_of_normals(rng, size * drawn),
    )
    ratio, limit = _median_ratio(alone, ours), size / median(alone)
    where, unit = f"T = {budget:,}", "replications/s"
    return [
        Row(f"one thread, {where}", None, size / median(ours), unit, ""),
        Row(f"over the {drawn} normals drawn alone, {where}", ratio, limit, unit, "at least 0.5"),
        Row(
            f"over the {needed} normals needed alone, {where}",
            ratio * needed / drawn,
            limit * drawn / needed,
            unit,
            "",
        ),
    ]


def _numpy(repeats: int, seed: int) -> list[Row]:
    experiment, ours_size, theirs_size = _experiment(10_000), 200_000, 50_000
    ours, theirs = _interleaved(
        repeats,
        lambda: cpu.run_chunk(experiment, seed, 0, ours_size),
        lambda: vectorised_errors(experiment, theirs_size, seed=seed),
    )
    ratio = _median_ratio(theirs, ours) * ours_size / theirs_size
    what = "over NumPy, vectorised over replications"
    return [Row(what, ratio, theirs_size / median(theirs), "replications/s", "at least 8")]


def _one_by_one(repeats: int, seed: int) -> list[Row]:
    experiment, ours_size, theirs_size = _experiment(10_000), 200_000, 2
    ours, theirs = _interleaved(
        repeats,
        lambda: cpu.run_chunk(experiment, seed, 0, ours_size),
        lambda: reference.run_chunk(experiment, seed, 0, theirs_size),
    )
    ratio = _median_ratio(theirs, ours) * ours_size / theirs_size
    what = "over one pull at a time"
    return [Row(what, ratio, theirs_size / median(theirs), "replications/s", "at least 1,000")]


def _budgets(repeats: int, seed: int) -> list[Row]:
    small, large, size = _experiment(1000), _experiment(100_000), 400_000
    short, long = _interleaved(
        repeats,
        lambda: cpu.run_chunk(small, seed, 0, size),
        lambda: cpu.run_chunk(large, seed, 0, size),
    )
    return [
        Row(
            "time at T = 100,000 over time at T = 1,000",
            _median_ratio(long, short),
            size / median(long),
            "replications/s",
            "at most 1.2",
        )
    ]


def _threads(repeats: int, seed: int) -> list[Row]:
    def run(threads: int) -> Callable[[], object]:
        return lambda: wiring.simulate(
            INSTANCE, POLICY, budget=10_000, replications=2_000_000, seed=seed, threads=threads
        )

    run(1)()
    one, two = _interleaved(repeats, run(1), run(2))
    what = f"two threads over one ({available_threads()} cores here)"
    return [
        Row(
            what,
            _median_ratio(one, two),
            2_000_000 / median(two),
            "replications/s",
            "1.6 when idle",
        )
    ]


def _top_two(repeats: int, seed: int) -> list[Row]:
    """Measure what runs replications here, each beside NumPy: a thread, all cores, and GPUs.

    NumPy in two ways: with every value computed anew for each pull, as one would write it, and
    with values that grow by their slopes within a batch, as our own rule has them.
    """
    instance = find_family("uniform").draw(0, arm_count=20)
    experiment = Experiment(instance, find_policy("top-two"), 5000, batch=10)

    def run(size: int, engine: str, threads: int | None) -> Callable[[], object]:
        return lambda: wiring.simulate(
            instance, "top-two", budget=5000, batch=10, scales="known",
            replications=size, seed=seed, engine=engine, threads=threads,
        )  # fmt: skip

    cores = available_threads()
    contenders = [("one thread", 1000, run(1000, "cpu", 1))]
    if cores > 1:
        contenders.append((f"all {cores} cores", 1000 * cores, run(1000 * cores, "cpu", None)))
    if gpu_count() > 0 and not is_simulated():
        contenders.append(("GPU", 200_000, run(200_000, "cuda", None)))
    theirs_size = 500
    anew, by_slopes, *ours = _interleaved(
        repeats,
        lambda: vectorised_top_two(experiment, theirs_size, seed=seed),
        lambda: vectorised_top_two(experiment, theirs_size, seed=seed, anew=False),
        *(contender for _, _, contender in contenders),
    )
    where, unit = "top-two, 20 arms, T = 5,000, batches of 10", "replications/s"
    rows = []
    for theirs, numpy, goal in (
        (anew, "NumPy", "at least 20"),
        (by_slopes, "NumPy with slopes", ""),
    ):
        rows.append(Row(f"{where}, {numpy}", None, theirs_size / median(theirs), unit, ""))
        for (what, size, _), times in zip(contenders, ours, strict=True):
            ratio = _median_ratio(theirs, times) * size / theirs_size
            over = f"{where}, {what} over {numpy}"
            rows.append(Row(over, ratio, size / median(times), unit, goal))
    return rows


def _many_arms(repeats: int, seed: int) -> list[Row]:
    arms = {f"arm-{i:04d}": {"mean": [i / 1000, 0.4 + (i % 7) / 20]} for i in range(1000)}
    instance = Instance.from_dict(
        {
            "objective": "minimize mean(loss)",
            "constraints": ["mean(risk) <= 0.5"],
            "metrics": ["loss", "risk"],
            "noise": {"family": "gaussian", "covariance": [[1.0, 0.5], [0.5, 1.0]]},
            "arms": arms,
        },
        name="a thousand arms",
    )
    result = wiring.simulate(instance, POLICY, budget=1_000_000, replications=64, seed=seed)
    rows = [
        Row(
            "1,000 arms, T = 1,000,000, all threads",
            None,
            result.replications_per_second,
            "replications/s",
            "",
        )
    ]
    if sys.platform != "win32":
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        megabytes = peak / (1e6 if sys.platform == "darwin" else 1e3)
        rows.append(Row("peak memory of this whole run", None, megabytes, "MB", "below 500"))
    return rows


def _experiment(budget: int) -> Experiment:
    # As in `paper` and `compare`: every block is drawn, so the normals can be counted.
    return Experiment(Instance.load(INSTANCE), find_policy(POLICY), budget, shared=True)


def _interleaved(repeats: int, *runs: Callable[[], object]) -> list[list[float]]:
    """Time things in turn, after running each once to warm up."""
    if repeats < 1:
        raise InputError(f"repeats = {repeats} must be at least 1. Give a positive whole number.")
    for run in runs:
        run()
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(repeats):
        for place, run in enumerate(runs):
            started = time.perf_counter()
            run()
            times[place].append(time.perf_counter() - started)
    return times


def _median_ratio(above: list[float], below: list[float]) -> float:
    return median(a / b for a, b in zip(above, below, strict=True))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    report(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
