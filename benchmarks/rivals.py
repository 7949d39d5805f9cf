"""How often Optuna, Ax and Nevergrad name the right arm with the right flag, beside ringfence.

    python benchmarks/rivals.py [--runs 200] [--json]

Needs optuna, nevergrad and ax-platform, which are no dependencies of ringfence: `make bench-rivals`
makes an environment for them. Four arms; a pull gives a score, to be maximised, and a latency, to
stay at or below 1.0, each with Gaussian noise of standard deviation 0.5. Means (score, latency):

    a  0.9, 1.2   the deceiver: the best score, too slow
    b  0.6, 0.9   the right answer
    c  0.4, 0.8
    d  0.4, 0.4

In the second instance every latency is 0.7 higher, so that no arm is feasible. There only the flag
counts, because the other tools name no nearest arm. No tool is told the noise. With it known, as in
the paper, constrained-sr is right in 0.74 of runs at T = 100 and 0.98 at T = 400.
"""

import argparse
import json
import logging
import multiprocessing
import os
import platform
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

LIMIT = 1.0
NOISE = 0.5
MEANS = {"a": (0.9, 1.2), "b": (0.6, 0.9), "c": (0.4, 0.8), "d": (0.4, 0.4)}
SHIFTS = {"feasible": 0.0, "infeasible": 0.7}
DECEIVER, RIGHT = "a", "b"
BUDGETS = (100, 400)
ARMS = list(MEANS)
CHUNK = 10  # runs in one job
REPLICATIONS = 100_000  # of each simulated row
TOOLS = ("ringfence", "optuna", "nevergrad", "ax-platform", "botorch", "torch")


class World:
    """An instance to pull; it remembers what was seen and refuses more pulls than the budget."""

    def __init__(self, instance: str, budget: int, run: int) -> None:
        self.budget = budget
        self.run = run
        self.seen: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self._shift = SHIFTS[instance]
        self._rng = np.random.default_rng([run, budget, list(SHIFTS).index(instance)])

    @property
    def pulls(self) -> int:
        """How many pulls were spent."""
        return sum(map(len, self.seen.values()))

    def pull(self, arm: str) -> tuple[float, float]:
        """Return a score and a latency of an arm."""
        if self.pulls == self.budget:
            raise RuntimeError(f"the budget of {self.budget} pulls is spent")
        score, latency = MEANS[arm] + NOISE * self._rng.standard_normal(2)
        seen = (float(score), float(latency) + self._shift)
        self.seen[arm].append(seen)
        return seen


@dataclass(frozen=True)
class Answer:
    """The arm that a tool names, or None where it says that no arm is feasible."""

    arm: str | None
    pulls: int


def answer_by_means(world: World) -> Answer:
    """Return the best mean score among the arms whose mean latency is within the limit."""
    means = {arm: np.mean(seen, axis=0) for arm, seen in world.seen.items()}
    within = [arm for arm, mean in means.items() if mean[1] <= LIMIT]
    best = max(within, key=lambda arm: float(means[arm][0]), default=None)
    return Answer(best, world.pulls)


def run_study(world: World) -> list[Answer]:
    """Run a study in memory with all defaults: top-two, the noise estimated from the pulls."""
    import ringfence as rf

    study = rf.Study.create(
        "rivals",
        arms=ARMS,
        objective="maximize mean(score)",
        constraints=f"mean(latency) <= {LIMIT}",
        budget=world.budget,
        storage="memory://",
        seed=world.run,
    )
    for pull in study.pulls():
        score, latency = world.pull(pull.arm)
        study.tell(pull, {"score": score, "latency": latency})
    verdict = study.recommend()
    return [Answer(verdict.arm if verdict.feasible else None, world.pulls)]


def run_optuna(world: World) -> list[Answer]:
    """Optimise with TPE, the default; then take the best trial, or average the trials by hand."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial: optuna.Trial) -> float:
        score, latency = world.pull(trial.suggest_categorical("arm", ARMS))
        trial.set_constraint("latency", latency - LIMIT)  # feasible at 0 or less
        return score

    sampler = optuna.samplers.TPESampler(seed=world.run)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(objective, n_trials=world.budget)
    try:
        best = study.best_trial.params["arm"]
    except ValueError:  # documented: no feasible trials exist
        best = None
    return [Answer(best, world.pulls), answer_by_means(world)]


def run_nevergrad(world: World, *, noisy: bool) -> list[Answer]:
    """Ask and tell NGOpt, then take its recommendation, or average by hand.

    Its recommendation is always an arm: it has no way to say that none is feasible.
    """
    import nevergrad as ng

    choice = ng.p.Choice(ARMS)
    choice.random_state.seed(world.run)
    choice.function.deterministic = not noisy
    optimizer = ng.optimizers.NGOpt(parametrization=choice, budget=world.budget)
    for _ in range(world.budget):
        candidate = optimizer.ask()
        score, latency = world.pull(candidate.value)
        optimizer.tell(candidate, -score, [latency - LIMIT])  # minimises; a violation is above 0
    best = optimizer.provide_recommendation().value
    return [Answer(best, world.pulls), answer_by_means(world)][: 2 if noisy else 1]


def new_ax_client(seed: int) -> Any:
    """Return Ax's client, set up for the instance."""
    from ax.api.client import Client
    from ax.api.configs import ChoiceParameterConfig

    client = Client(random_seed=seed)
    arm = ChoiceParameterConfig(name="arm", values=ARMS, parameter_type="str", is_ordered=False)
    client.configure_experiment(parameters=[arm])
    client.configure_optimization(objective="score", outcome_constraints=[f"latency <= {LIMIT}"])
    return client


def ax_trial_limit() -> int:
    """Return how many trials Ax gives before it refuses, at most the smallest budget.

    It repeats no arm, and takes half a minute to find that none is left: so this is asked once.
    """
    from ax.exceptions.core import OptimizationComplete

    client, world = new_ax_client(0), World("feasible", min(BUDGETS), 0)
    for given in range(world.budget):
        try:
            trials = client.get_next_trials(max_trials=1)
        except OptimizationComplete:
            return given
        for trial, parameters in trials.items():
            score, latency = world.pull(parameters["arm"])
            client.complete_trial(trial, raw_data={"score": score, "latency": latency})
    return world.budget


def run_ax(world: World, *, each: int | None, limit: int) -> list[Answer]:
    """Give every trial so many pulls, or an equal share of the budget; then ask for the best.

    One pull is told as a number, several as their mean and its standard error. A best
    parameterization that does not exist shows as an AssertionError; it counts as "none".
    """
    client = new_ax_client(world.run)
    pulls = each or world.budget // len(ARMS)
    for _ in range(min(limit, world.budget // pulls)):
        for trial, parameters in client.get_next_trials(max_trials=1).items():
            seen = np.array([world.pull(parameters["arm"]) for _ in range(pulls)])
            told: list[Any] = seen.mean(axis=0).tolist()
            if pulls > 1:
                errors = seen.std(axis=0, ddof=1) / np.sqrt(pulls)
                told = list(zip(told, errors.tolist(), strict=True))
            client.complete_trial(trial, raw_data={"score": told[0], "latency": told[1]})
    try:
        best = client.get_best_parameterization()[0]["arm"]
    except AssertionError:
        best = None
    return [Answer(best, world.pulls)]


@dataclass(frozen=True)
class Method:
    """A way to use a tool: the rows that it fills, and how one run is done."""

    rows: tuple[str, ...]
    run: Callable[[World], list[Answer]]


def methods(limit: int) -> list[Method]:
    """Return every way, ringfence first; Ax gives at most `limit` trials."""
    return [
        Method(("ringfence: a study with all defaults (`top-two`)",), run_study),
        Method(
            ("Optuna: TPE, `study.best_trial`", "Optuna: the same trials, averaged by hand"),
            run_optuna,
        ),
        Method(
            ("Nevergrad: NGOpt, `provide_recommendation`",), partial(run_nevergrad, noisy=False)
        ),
        Method(
            (
                "Nevergrad: NGOpt, told that the function is noisy",
                "Nevergrad: the same candidates, averaged by hand",
            ),
            partial(run_nevergrad, noisy=True),
        ),
        Method(("Ax: one pull a trial",), partial(run_ax, each=1, limit=limit)),
        Method(("Ax: ten pulls a trial, mean and SEM",), partial(run_ax, each=10, limit=limit)),
        Method(("Ax: T/4 pulls a trial, mean and SEM",), partial(run_ax, each=None, limit=limit)),
    ]


@dataclass
class Cell:
    """What one row did on one instance at one budget; `deceiver` is None where not counted."""

    row: str
    instance: str
    budget: int
    runs: int = 0
    right: int = 0
    deceiver: int | None = 0
    pulls: int = 0

    def add(self, counts: Counter[str]) -> None:
        """Add the counts of a chunk of runs."""
        self.runs += counts["runs"]
        self.right += counts["right"]
        self.deceiver = (self.deceiver or 0) + counts["deceiver"]
        self.pulls += counts["pulls"]

    @property
    def interval(self) -> tuple[float, float]:
        """The exact 95% interval of the share of right answers."""
        from ringfence.core.intervals import binomial_interval

        return binomial_interval(self.right, self.runs)


def prepare_worker() -> None:
    """Keep the tools' messages off the screen."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")


def count_chunk(method: Method, instance: str, budget: int, first: int) -> list[Counter[str]]:
    """Return what a chunk of runs did, for every row of the method."""
    right = RIGHT if instance == "feasible" else None
    counts = [Counter[str]() for _ in method.rows]
    for run in range(first, first + CHUNK):
        for count, answer in zip(counts, method.run(World(instance, budget, run)), strict=True):
            count["runs"] += 1
            count["right"] += answer.arm == right
            count["deceiver"] += answer.arm == DECEIVER
            count["pulls"] += answer.pulls
    return counts


def simulated(policy: str, row: str) -> list[Cell]:
    """Return a policy's cells from the simulator, which estimates the noise as a study does."""
    import ringfence as rf

    cells = []
    for instance, shift in SHIFTS.items():
        problem = {
            "objective": "maximize mean(score)",
            "constraints": [f"mean(latency) <= {LIMIT}"],
            "metrics": ["score", "latency"],
            "noise": {"family": "gaussian", "covariance": (NOISE**2 * np.eye(2)).tolist()},
            "arms": {arm: {"mean": [at, late + shift]} for arm, (at, late) in MEANS.items()},
        }
        for budget in BUDGETS:
            result = rf.simulate(
                problem, policy, budget=budget, replications=REPLICATIONS, scales="estimated"
            )
            wrong = result.errors if instance == "feasible" else result.wrong_flag
            spent = REPLICATIONS * result.pulls_used
            cells.append(
                Cell(row, instance, budget, REPLICATIONS, REPLICATIONS - wrong, None, spent)
            )
    return cells


def measured(runs: int) -> list[Cell]:
    """Run every method on both instances at both budgets, in as many processes as cores."""
    os.environ["OMP_NUM_THREADS"] = "1"  # for the workers: one core each
    context = multiprocessing.get_context("spawn")
    cells: dict[tuple[str, str, int], Cell] = {}
    with ProcessPoolExecutor(mp_context=context, initializer=prepare_worker) as pool:
        print("asking Ax for trials until it refuses", file=sys.stderr)
        chosen = methods(pool.submit(ax_trial_limit).result())
        jobs = {
            pool.submit(count_chunk, method, instance, budget, first): (method, instance, budget)
            for first in range(0, runs, CHUNK)
            for method in chosen
            for budget in BUDGETS
            for instance in SHIFTS
        }
        for done, job in enumerate(as_completed(jobs), start=1):
            method, instance, budget = jobs[job]
            for row, counts in zip(method.rows, job.result(), strict=True):
                key = (row, instance, budget)
                cells.setdefault(key, Cell(*key)).add(counts)
            print(f"\r{done} of {len(jobs)} chunks of runs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    names = [row for method in chosen for row in method.rows]
    return sorted(cells.values(), key=lambda cell: names.index(cell.row))


def table(cells: list[Cell]) -> str:
    """Return the shares as a Markdown table, a row a method."""
    columns = [(budget, instance) for budget in BUDGETS for instance in SHIFTS]
    meaning = {"feasible": "right arm", "infeasible": 'says "none"'}
    heads = [f"T = {budget}: {meaning[instance]}" for budget, instance in columns]
    spent = f"pulls spent of {' and '.join(map(str, BUDGETS))}"
    lines = [f"| how | {' | '.join(heads)} | names the deceiver | {spent} | runs |"]
    lines.append("| --- |" + " --- |" * (len(heads) + 3))
    for row in dict.fromkeys(cell.row for cell in cells):
        mine = {(cell.budget, cell.instance): cell for cell in cells if cell.row == row}
        shares = []
        for key in columns:
            low, high = mine[key].interval
            share, digits = mine[key].right / mine[key].runs, 3 if mine[key].runs > 10_000 else 2
            shares.append(f"{share:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})")
        feasible = [mine[budget, "feasible"] for budget in BUDGETS]
        lured = ", ".join(
            "-" if cell.deceiver is None else f"{cell.deceiver / cell.runs:.2f}"
            for cell in feasible
        )
        pulls = ", ".join(f"{cell.pulls / cell.runs:.0f}" for cell in feasible)
        lines.append(f"| {row} | {' | '.join(shares)} | {lured} | {pulls} | {feasible[0].runs:,} |")
    return "\n".join(lines)


def main() -> None:
    """Run everything and print it."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--runs", type=int, default=200, help="runs a cell, in steps of ten")
    options.add_argument("--json", action="store_true", help="print JSON, not a table")
    chosen = options.parse_args()
    simulations = {
        "top-two": "ringfence: `top-two`, simulated",
        "constrained-sr": "ringfence: `constrained-sr`, simulated",
        "uniform": "ringfence: `uniform` (equal pulls, then means), simulated",
    }
    cells = [cell for policy, row in simulations.items() for cell in simulated(policy, row)]
    cells += measured(chosen.runs)
    versions = {"Python": platform.python_version(), **{tool: version(tool) for tool in TOOLS}}
    if chosen.json:
        shown = [{**asdict(cell), "interval": cell.interval} for cell in cells]
        print(json.dumps({"versions": versions, "cells": shown}, indent=2))
        return
    print(table(cells))
    print("\n" + ", ".join(f"{tool} {number}" for tool, number in versions.items()))


if __name__ == "__main__":
    main()
