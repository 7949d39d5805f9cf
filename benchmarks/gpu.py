"""Replications a second on GPUs beside the CPU's, and whether the two agree.

    python benchmarks/gpu.py            the table of docs/gpu.md
    python benchmarks/gpu.py --check    every policy and law on both, with z-scores
    python benchmarks/gpu.py --shapes   other numbers of blocks and threads

Needs a GPU, and ringfence with its extra `cuda`. Timings are end to end, by `ringfence.simulate`;
compiling comes before them, and is shown apart.
"""

import argparse
import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

# numba-cuda 0.30 asks for a function that NumPy 2.5 has removed.
if not hasattr(np, "row_stack"):
    vars(np)["row_stack"] = np.vstack

import ringfence as rf
from ringfence.simulation.families import find_family
from ringfence.simulation.instance import Instance

BILLION = 10**9
SPEEDS: list[tuple[Any, str, int, int, int, int]] = [
    # instance, policy, budget, batch, replications on GPUs, replications on the CPU
    ("paper-3", "constrained-sr", 2_000, 1, 60 * BILLION, 40_000_000),
    ("paper-3", "constrained-sr", 10_000, 1, 60 * BILLION, 40_000_000),
    ("paper-1", "constrained-sr", 2_000, 1, 100 * BILLION, 40_000_000),
    ("paper-3", "infeasible-first", 2_000, 1, 40 * BILLION, 40_000_000),
    ("paper-3", "sequential-halving", 2_000, 1, 40 * BILLION, 40_000_000),
    ("paper-3", "top-two", 2_000, 10, 20_000_000, 20_000),
    ("uniform-20", "constrained-sr", 5_000, 1, 400_000_000, 2_000_000),
    ("uniform-20", "top-two", 5_000, 10, 2_000_000, 20_000),
    ("uniform-20", "top-two", 5_000, 1, 500_000, 5_000),
]

CORRELATED = [[1.0, 0.6, -0.3], [0.6, 1.0, 0.1], [-0.3, 0.1, 0.5]]
PROBLEM = ("maximize mean(a)", ["mean(b) <= 0.5", "mean(c) >= 0.2"])
MEANS = {
    "gaussian": [[0.9, 0.2, 0.5], [0.5, 0.1, 0.9], [1.2, 0.8, 0.4], [0.7, 0.3, -0.3]],
    "bernoulli": [[0.5, 0.6, 0.4], [0.6, 0.65, 0.9], [0.45, 0.7, 0.1], [0.4, 0.9, 0.5]],
    "poisson": [[1.0, 0.3, 0.6], [1.0, 0.2, 0.5], [1.6, 1.0, 0.9], [0.6, 0.1, 2.0]],
    "exponential": [[0.8, 0.4, 0.5], [1.1, 0.8, 0.3], [0.5, 0.2, 0.9], [0.9, 0.45, 0.15]],
}


def load(name: str) -> Any:
    """Return an instance by name; uniform-20 is the first of that family with twenty arms."""
    if name == "uniform-20":
        return find_family("uniform").draw(0, arm_count=20)
    return name


def speeds() -> Iterator[str]:
    """Yield the rows of the table."""
    yield "| instance | policy | T | batch | GPU, a second | CPU, a second | ratio | error rates |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for name, policy, budget, batch, many, few in SPEEDS:
        instance = load(name)
        shared: dict[str, Any] = {"budget": budget, "batch": batch}
        rf.simulate(instance, policy, replications=1, engine="cuda", **shared)
        here = rf.simulate(instance, policy, replications=many, engine="cuda", **shared)
        there = rf.simulate(instance, policy, replications=few, engine="cpu", **shared)
        gpu, cpu = here.replications_per_second, there.replications_per_second
        yield (
            f"| {name} | {policy} | {budget:,} | {batch} | {gpu:.3g} | {cpu:.3g} "
            f"| {gpu / cpu:,.0f} | {here.error_rate:.6f}, {there.error_rate:.6f} |"
        )


def checked() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield what both engines run: every policy, every law, both kinds of scales."""
    for name in ("paper-2", "uniform-20"):
        for each in rf.POLICIES:
            yield each.name, load(name), {"budget": 200, "batch": 5}
    for family, means in MEANS.items():
        noise: dict[str, Any] = {"family": family}
        if family == "gaussian":
            noise["covariance"] = CORRELATED
        instance = Instance.from_dict(
            {
                "objective": PROBLEM[0],
                "constraints": PROBLEM[1],
                "metrics": ["a", "b", "c"],
                "noise": noise,
                "arms": {f"arm{i}": {"mean": mean} for i, mean in enumerate(means)},
            },
            name=family,
        )
        for policy in ("constrained-sr", "uniform", "top-two"):
            for scales in ("known", "estimated"):
                yield policy, instance, {"budget": 63, "batch": 4, "scales": scales}


def check(replications: int) -> Iterator[str]:
    """Yield the largest z-score of what both counted; beyond 4.9 is one in a million."""
    for policy, instance, options in checked():
        few = replications // 10 if policy == "thompson" else replications
        started = time.perf_counter()
        here = rf.simulate(instance, policy, replications=few, engine="cuda", **options)
        there = rf.simulate(instance, policy, replications=few, seed=1, **options)
        worst = max(
            abs(score(a, here.replications, b, there.replications))
            for a, b in (
                (here.errors, there.errors),
                (here.wrong_flag, there.wrong_flag),
                *zip(here.lost_in_phase, there.lost_in_phase, strict=True),
            )
        )
        apart = max(
            abs(here.mean_pulls[arm] / there.mean_pulls[arm] - 1.0) for arm in here.mean_pulls
        )
        yield (
            f"{here.instance:12} {policy:18} {here.scales:9} errors {here.error_rate:.5f} "
            f"{there.error_rate:.5f}  largest |z| {worst:.2f}  pulls apart {apart:.4f}  "
            f"{time.perf_counter() - started:.1f} s{'  <-- WRONG' if worst > 4.9 else ''}"
        )


def score(a: int, n: int, b: int, m: int) -> float:
    """Return the z-score of two shares."""
    pooled = (a + b) / (n + m)
    spread = math.sqrt(pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m))
    return (a / n - b / m) / spread if spread > 0.0 else 0.0


def shapes() -> Iterator[str]:
    """Yield speeds for other launches; what is counted must not change."""
    from numba import cuda

    from ringfence.policies.registry import find_policy
    from ringfence.simulation.cuda_engine import count_chunk
    from ringfence.simulation.experiment import Experiment

    processors = cuda.get_current_device().MULTIPROCESSOR_COUNT
    for name, policy, budget, batch, size in (
        ("paper-3", "constrained-sr", 2_000, 1, 2**30),
        ("paper-1", "constrained-sr", 2_000, 1, 2**30),
        ("uniform-20", "top-two", 5_000, 10, 2**18),
    ):
        source = load(name)
        instance = Instance.load(source) if isinstance(source, str) else source
        experiment = Experiment(instance, find_policy(policy), budget, batch=batch)
        for blocks, threads in ((2, 256), (16, 256), (4, 128), (32, 128), (8, 64), (32, 64)):
            shape = (blocks * processors, threads)
            count_chunk(experiment, 0, 0, 1, shape=shape)
            started = time.perf_counter()
            found = count_chunk(experiment, 0, 0, size, shape=shape)
            seconds = time.perf_counter() - started
            rate = size / seconds
            yield f"{name} {policy} {blocks} x {threads}: {rate:.4g} a second, {found.errors}"


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", type=int, nargs="?", const=200_000, metavar="REPLICATIONS")
    parser.add_argument("--shapes", action="store_true")
    asked = parser.parse_args()
    lines = check(asked.check) if asked.check else shapes() if asked.shapes else speeds()
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
