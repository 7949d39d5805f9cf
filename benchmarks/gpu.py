"""Replications a second on GPUs beside the CPU's, and whether the two agree.

    python benchmarks/gpu.py                     speeds: the first table of docs/research/gpu.md
    python benchmarks/gpu.py --check policies    every policy on both, with z-scores
    python benchmarks/gpu.py --check laws        every law of noise likewise
    python benchmarks/gpu.py --check blocks      arms that share the effects of blocks likewise
    python benchmarks/gpu.py --shapes            other numbers of blocks and threads
    python benchmarks/gpu.py --rare              rare errors counted, beside estimates

Needs a GPU, and ringfence with its extra `cuda`. Timings are end to end, by `ringfence.simulate`,
after compiling.
"""

import argparse
import math
import time
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

# numba-cuda 0.30 asks for a function that NumPy 2.5 has removed.
if not hasattr(np, "row_stack"):
    vars(np)["row_stack"] = np.vstack

import ringfence as rf
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.problem import Problem
from ringfence.policies.registry import policies_for
from ringfence.simulation.families import find_family
from ringfence.simulation.instance import Instance
from ringfence.simulation.tables import table_instance

Case: TypeAlias = tuple[str, Any, dict[str, Any]]

BILLION = 10**9
SPEEDS: list[tuple[str, str, int, int, int, int]] = [
    # instance, policy, budget, batch, replications on GPUs, replications on the CPU
    ("paper-3", "constrained-sr", 2_000, 1, 60 * BILLION, 200_000_000),
    ("paper-3", "constrained-sr", 10_000, 1, 20 * BILLION, 200_000_000),
    ("paper-1", "constrained-sr", 2_000, 1, 100 * BILLION, 200_000_000),
    ("paper-3", "infeasible-first", 2_000, 1, 20 * BILLION, 200_000_000),
    ("paper-3", "sequential-halving", 2_000, 1, 20 * BILLION, 200_000_000),
    ("paper-3", "top-two", 2_000, 10, 4_000_000, 100_000),
    ("uniform-20", "constrained-sr", 5_000, 1, 200_000_000, 5_000_000),
    ("uniform-20", "top-two", 5_000, 10, 2_000_000, 50_000),
    ("uniform-20", "top-two", 5_000, 1, 400_000, 10_000),
]
LIMIT = 4.9  # standard errors, two-sided: one in a million

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


def speeds(only: str) -> Iterator[str]:
    """Yield the rows of the table whose instance and policy contain `only`."""
    yield "| instance | policy | T | batch | GPU, a second | CPU, a second | ratio | error rates |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for name, policy, budget, batch, many, few in SPEEDS:
        if only not in f"{name} {policy}":
            continue
        instance = load(name)
        shared: dict[str, Any] = {"budget": budget, "batch": batch, "scales": "known"}
        here = rf.simulate(instance, policy, replications=many, engine="cuda", **shared)
        there = rf.simulate(instance, policy, replications=few, engine="cpu", **shared)
        gpu, cpu = here.replications_per_second, there.replications_per_second
        yield (
            f"| {name} | {policy} | {budget:,} | {batch} | {gpu:.3g} | {cpu:.3g} "
            f"| {gpu / cpu:,.0f} | {here.error_rate:.6f}, {there.error_rate:.6f} |"
        )


def policies() -> Iterator[Case]:
    """Yield every policy, with few arms and with many."""
    for name in ("paper-2", "uniform-20"):
        for each in policies_for(BEST_FEASIBLE):
            yield each.name, load(name), {"budget": 200, "batch": 5}


def laws() -> Iterator[Case]:
    """Yield every law of noise, known and estimated."""
    for family, means in MEANS.items():
        instance = Instance.from_dict(
            {
                "objective": PROBLEM[0],
                "constraints": PROBLEM[1],
                "metrics": ["a", "b", "c"],
                "noise": {"family": family}
                | ({"covariance": CORRELATED} if family == "gaussian" else {}),
                "arms": {f"arm{i}": {"mean": mean} for i, mean in enumerate(means)},
            },
            name=family,
        )
        for policy, scales in (
            ("constrained-sr", "known"),
            ("constrained-sr", "estimated"),
            ("top-two", "known"),
        ):
            yield policy, instance, {"budget": 63, "batch": 4, "scales": scales}
    yield "uniform", rows(), {"budget": 63}


def blocks() -> Iterator[Case]:
    """Yield arms that share the effects of blocks, whose noise is estimated or known."""
    for arm_count, budget in ((3, 200), (8, 527), (24, 2400)):
        instance = find_family("uniform").draw(0, arm_count=arm_count, correlation=0.5)
        for policy, scales in (
            ("top-two", "estimated"),
            ("top-two", "known"),
            ("constrained-sr", "estimated"),
        ):
            yield policy, instance, {"budget": budget, "scales": scales}


def rows() -> Instance:
    """Return a small table, with many ties."""
    rng = np.random.default_rng(8)
    arms = [f"v{arm}" for arm in range(4) for _ in range(5 + arm)]
    gains = np.array([{"v2": 2, "v3": 1}.get(arm, 0) for arm in arms])
    columns = rng.integers(0, 8, (3, len(arms))) + np.stack([gains, gains, 0 * gains])
    table = {"variant": arms} | dict(zip("abc", columns.astype(float).tolist(), strict=True))
    problem = Problem.parse("maximize mean(a)", ["mean(b) <= 4.5", "mean(c) >= 2.0"])
    return table_instance("table", problem, table, "variant")


CHECKS = {"policies": policies, "laws": laws, "blocks": blocks}


def check(cases: Iterator[Case], replications: int) -> Iterator[str]:
    """Yield the largest z-score of what both engines counted."""
    for policy, instance, stated in cases:
        size = replications // 10 if policy == "thompson" else replications
        options: dict[str, Any] = {"scales": "known"} | stated
        here = rf.simulate(instance, policy, replications=size, engine="cuda", **options)
        there = rf.simulate(instance, policy, replications=size, seed=1, **options)
        worst = max(
            abs(score(a, b, size))
            for a, b in (
                (here.errors, there.errors),
                (here.wrong_flag, there.wrong_flag),
                *zip(here.lost_in_phase, there.lost_in_phase, strict=True),
                *(
                    (here.chosen[arm][flag], there.chosen[arm][flag])
                    for arm in here.chosen
                    for flag in here.chosen[arm]
                ),
            )
        )
        apart = max(
            abs(here.mean_pulls[arm] / there.mean_pulls[arm] - 1.0) for arm in here.mean_pulls
        )
        yield (
            f"| {here.instance} | {policy} | {here.scales} | {here.error_rate:.5f} "
            f"| {there.error_rate:.5f} | {worst:.1f}{' WRONG' * (worst > LIMIT)} | {apart:.2%} |"
        )


def score(a: int, b: int, size: int) -> float:
    """Return the z-score of two counts out of as many."""
    pooled = (a + b) / (2 * size)
    spread = math.sqrt(pooled * (1.0 - pooled) * 2.0 * size)
    return (a - b) / spread if spread > 0.0 else 0.0


def shapes() -> Iterator[str]:
    """Yield speeds for other launches; what is counted must not change."""
    from numba import cuda

    from ringfence.policies.registry import find_policy
    from ringfence.simulation.experiment import Experiment
    from ringfence.simulation.gpu.engine import count_chunk

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


def rare() -> Iterator[str]:
    """Yield rare errors counted on GPUs, and as importance sampling estimates them."""
    for name, policy, budget in (
        ("paper-1", "constrained-sr", 30_000),
        ("paper-3", "constrained-sr", 40_000),
        ("paper-4", "constrained-sr", 10_000),
        ("paper-3", "infeasible-first", 40_000),
        ("paper-3", "sequential-halving", 40_000),
    ):
        many = 1000 * BILLION if name == "paper-1" else 100 * BILLION
        found = rf.simulate(name, policy, budget=budget, replications=many, engine="cuda", seed=2)
        told = rf.simulate(name, policy, budget=budget, replications=400_000, method="importance")
        z = (told.error_rate - found.error_rate) / math.hypot(told.std_error, found.std_error)
        yield (
            f"| {name} | {policy} | {budget:,} | {found.errors:,} of {many / BILLION:g} billion "
            f"| {found.error_rate:.4e} +- {found.std_error:.1e} "
            f"| {told.error_rate:.4e} +- {told.std_error:.1e} | {z:+.1f} |"
        )


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", choices=CHECKS)
    parser.add_argument("--replications", type=int, default=200_000, help="of a check")
    parser.add_argument("--shapes", action="store_true")
    parser.add_argument("--rare", action="store_true")
    parser.add_argument("--only", default="", help="such as paper-3, or 'uniform-20 top-two'")
    asked = parser.parse_args()
    if asked.check:
        lines = check(CHECKS[asked.check](), asked.replications)
    else:
        lines = shapes() if asked.shapes else rare() if asked.rare else speeds(asked.only)
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
