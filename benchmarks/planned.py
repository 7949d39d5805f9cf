"""How often live studies err at the budget that was planned for them.

Each study is decided by the product's own rules, from estimated noise; only the storage is left
out. Run it with `python -m benchmarks.planned --help`; the table in docs/howto/planning.md is its
output.
"""

import argparse
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np

import ringfence as rf
from benchmarks.calibration import rounds_of
from ringfence.core.arrays import Floats
from ringfence.core.intervals import binomial_interval
from ringfence.study.deciding import answer_of
from ringfence.study.facts import Definition
from ringfence.study.plan import Plan
from ringfence.study.snapshot import Snapshot

Content = Mapping[str, Any]
INSTANCES: Mapping[str, Content] = {
    "a p95 limit": {
        "objective": "minimize mean(cost)",
        "constraints": ["p95(latency_ms) <= 200"],
        "metrics": ["cost", "latency_ms"],
        "noise": {"family": ["gaussian", "exponential"], "covariance": [[0.25]]},
        "arms": {
            "spot": {"mean": [2.0, 90.0]},
            "shared": {"mean": [2.4, 55.0]},
            "reserved": {"mean": [2.8, 45.0]},
            "premium": {"mean": [3.2, 30.0]},
        },
    },
    "a limit of 1%": {
        "objective": "maximize mean(sold)",
        "constraints": ["mean(failed) <= 0.01"],
        "metrics": ["sold", "failed"],
        "noise": {"family": ["bernoulli", "bernoulli"]},
        "arms": {
            "bold": {"mean": [0.5, 0.03]},
            "new": {"mean": [0.4, 0.003]},
            "old": {"mean": [0.3, 0.002]},
            "plain": {"mean": [0.25, 0.002]},
        },
    },
    "mixed": {
        "objective": "maximize mean(accuracy)",
        "constraints": ["mean(latency_ms) <= 200", "mean(failed) <= 0.02"],
        "metrics": ["accuracy", "latency_ms", "failed"],
        "noise": {"family": ["gaussian", "exponential", "bernoulli"], "covariance": [[0.01]]},
        "arms": {
            "small": {"mean": [0.81, 90.0, 0.004]},
            "medium": {"mean": [0.86, 160.0, 0.01]},
            "large": {"mean": [0.91, 310.0, 0.012]},
            "legacy": {"mean": [0.79, 120.0, 0.06]},
        },
    },
}


def rows_of(content: Content, rng: Any, arm: int, count: int) -> Floats:
    """Draw what pulls of an arm tell, metric by metric."""
    noise, means = content["noise"], list(content["arms"].values())[arm]["mean"]
    deviation = noise["covariance"][0][0] ** 0.5 if "covariance" in noise else 0.0
    draws = {
        "gaussian": lambda mean: rng.normal(mean, deviation, count),
        "exponential": lambda mean: rng.exponential(mean, count),
        "bernoulli": lambda mean: rng.random(count) < mean,
    }
    columns = [draws[family](mean) for family, mean in zip(noise["family"], means, strict=True)]
    return np.column_stack(columns).astype(np.float64)


def errs(content: Content, policy: str, budget: int, batch: int, number: int) -> bool:
    """Run a study to the end of its budget, and tell whether its answer is wrong."""
    definition = Definition(
        name="study",
        objective=content["objective"],
        constraints=tuple(content["constraints"]),
        arms={name: {} for name in content["arms"]},
        budget=budget,
        policy=policy,
        seed=number,
        batch=batch,
        metrics=tuple(content["metrics"]),
    )
    plan = Plan.of(definition)
    book, rng = plan.new_book(), np.random.default_rng([budget, number])
    alive = np.ones(plan.arm_count, np.bool_)
    for last, _ in rounds_of(plan, book, partial(rows_of, content, rng)):
        alive = np.array(last.alive)
    theory = rf.Instance.from_dict(content).hardness
    found = answer_of(plan, alive, Snapshot(book))
    return found.named not in theory.optimal_arms or found.feasible != theory.feasible


def wrong_studies(
    content: Content, policy: str, budget: int, count: int, *, batch: int = 0, workers: int = 1
) -> int:
    """Return how many of so many studies err; unless stated, a batch is 1% of the budget."""
    run = partial(errs, content, policy, budget, batch or max(1, budget // 100))
    if workers == 1:
        return sum(map(run, range(count)))
    with ProcessPoolExecutor(workers) as pool:
        return sum(pool.map(run, range(count), chunksize=10))


def main() -> None:
    """Plan for each instance, run as many studies, and print both errors."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--instances", nargs="+", default=list(INSTANCES), choices=list(INSTANCES))
    ask.add_argument("--policy", default="top-two")
    ask.add_argument("--target-error", type=float, default=0.05)
    ask.add_argument("--scales", choices=["known", "estimated"])
    ask.add_argument("--count", type=int, default=1000, help="studies of each instance")
    ask.add_argument("--batch", type=int, default=1, help="pulls that are decided at once")
    ask.add_argument("--workers", type=int, default=2)
    said = ask.parse_args()
    print("| instance | scales | budget | planned | live | 95% interval |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in said.instances:
        content = INSTANCES[name]
        found = rf.plan(
            content, said.policy, target_error=said.target_error, scales=said.scales, brief=True
        )
        budget = found.point.budget
        wrong = wrong_studies(
            content, said.policy, budget, said.count, batch=said.batch, workers=said.workers
        )
        low, high = binomial_interval(wrong, said.count)
        print(
            f"| {name} | {found.scales} | {budget:,} | {found.point.error_rate:.3f} "
            f"| {wrong / said.count:.3f} | {low:.3f} to {high:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
