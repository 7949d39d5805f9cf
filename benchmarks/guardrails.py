"""What an experiment with guardrails ships, beside ringfence: right, wrong, or nothing.

    python benchmarks/guardrails.py [--replications 100000] [--runs 100] [--json]

The guardrail way is that of A/B testing: a fixed, equal split of the budget, then a test of every
guardrail of every variant, each by itself, at a level of 5%. Of the variants that pass, the one
with the best mean of the goal is shipped; if none passes, nothing is. Two ways to pass, each also
corrected (Bonferroni, over all variants and guardrails):

    shown safe      the one-sided 95% upper bound is within the limit (non-inferiority)
    not shown bad   the one-sided 95% lower bound is not beyond the limit (a warning light)

Bounds are Student's for Gaussian guardrails and exact (Clopper-Pearson) for rates. Limits are
given numbers, not multiples of what a control does. Nothing is tested of the goal: the best mean
is taken.

Beside it, at the same budget, on the same instances, ringfence's policies in the simulator, with
noise that they learn, and whole studies with all defaults, of which one may ship whatever is named
feasible, or what is named with exit code 0, or only an answer that is 95% sure. And both ways after
each other: a policy finds an arm, and a fresh sample of that arm alone shows whether it is safe.
"""

import argparse
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.special import betaincinv, stdtrit

import ringfence as rf
from ringfence.core.intervals import binomial_interval
from ringfence.simulation.cells import budget_for
from ringfence.simulation.families import find_family

ALPHA = 0.05
POLICIES = ("top-two", "constrained-sr", "uniform")
BATCHES = 400  # an adaptive policy decides so many times, as in the tournament
POLICY_REPLICATIONS = 20_000  # at most
FAMILY_COUNT = 40
FAMILY_REPLICATIONS = 5_000
CHUNK = 10  # runs in one job
OUTCOMES = ("right", "infeasible arm", "second best", "nothing")


def four(shift: float) -> rf.Instance:
    """Return the instance of benchmarks/rivals.py; with a shift of 0.7 nothing is feasible."""
    means = {"a": (0.9, 1.2), "b": (0.6, 0.9), "c": (0.4, 0.8), "d": (0.4, 0.4)}
    return rf.Instance.from_dict(
        {
            "objective": "maximize mean(score)",
            "constraints": ["mean(latency) <= 1.0"],
            "metrics": ["score", "latency"],
            "noise": {"family": "gaussian", "covariance": [[0.25, 0.0], [0.0, 0.25]]},
            "arms": {arm: {"mean": [good, late + shift]} for arm, (good, late) in means.items()},
        }
    )


def checkout(most_errors: float) -> rf.Instance:
    """Return a shop's question: the most purchases, few errors, few slow pages; all are rates."""
    means = {
        "control": (0.100, 0.010, 0.060),
        "button": (0.104, 0.010, 0.060),
        "suggestions": (0.108, 0.014, 0.080),
        "short form": (0.115, 0.016, 0.085),  # right, if errors may be 2%
        "prefilled": (0.122, 0.013, 0.115),  # too often slow
        "one page": (0.126, 0.024, 0.090),  # too many errors
    }
    return rf.Instance.from_dict(
        {
            "objective": "maximize mean(bought)",
            "constraints": [f"mean(error) <= {most_errors}", "mean(slow) <= 0.10"],
            "metrics": ["bought", "error", "slow"],
            "noise": {"family": "bernoulli"},
            "arms": {arm: {"mean": list(rates)} for arm, rates in means.items()},
        }
    )


@cache
def instances() -> dict[str, rf.Instance]:
    """Return the instances that have a name."""
    return {
        "four arms": four(0.0),
        "four arms, none feasible": four(0.7),
        "checkout": checkout(0.02),
        "checkout, none feasible": checkout(0.008),
    }


BUDGETS = {
    "four arms": (100, 400),
    "four arms, none feasible": (100, 400),
    "checkout": (12_000, 60_000),
    "checkout, none feasible": (12_000, 60_000),
}


@dataclass
class Cell:
    """How often each thing happened, in one way, on one instance (or family) at one budget."""

    instance: str
    budget: int | None
    way: str
    runs: int
    counts: dict[str, float]


def outcome(instance: rf.Instance, arm: str | None) -> str:
    """Return what it means to ship an arm, or nothing."""
    theory = instance.hardness
    if arm is None:
        return "nothing" if theory.feasible else "right"
    if instance.arms.index(arm) == theory.optimal and theory.feasible:
        return "right"
    kept = (instance.means[instance.arms.index(arm), 1:] <= instance.judged.thresholds).all()
    return "second best" if kept else "infeasible arm"


def tallied(instance: rf.Instance, shipped: Mapping[str | None, int]) -> dict[str, float]:
    """Return the counts of outcomes from the counts of what was shipped."""
    found = Counter[str]()
    for arm, count in shipped.items():
        found[outcome(instance, arm)] += count
    return {name: found[name] for name in OUTCOMES}


def bounds(
    instance: rf.Instance, pulls: int, replications: int, level: float, rng: np.random.Generator
) -> tuple[Any, Any, Any]:
    """Return the goals' means [replication, arm] and the guardrails' lower and upper bounds.

    Sufficient statistics are drawn, exactly: sums of rates, Gaussian means and the variance of one
    Gaussian guardrail. Lower goals are better, as everywhere in ringfence.
    """
    means, covariances = instance.means, instance.law.true_covariances
    shape = (replications, *means.shape)
    if instance.law.covariances is None:  # rates, which are independent
        seen = rng.binomial(pulls, np.abs(means), size=shape)
        counts = np.arange(pulls + 1)
        low = np.where(counts > 0, betaincinv(np.maximum(counts, 1), pulls - counts + 1, level), 0)
        high = np.where(
            counts < pulls, betaincinv(counts + 1, np.maximum(pulls - counts, 1), 1 - level), 1
        )
        ties = 0.5 * rng.random(shape[:2])  # of equal goals either may be taken
        goals, guardrails = np.sign(means[:, 0]) * seen[:, :, 0] + ties, seen[:, :, 1:]
        return goals, low[guardrails], high[guardrails]
    if means.shape[1] != 2:
        raise ValueError("variances of several Gaussian guardrails would have to be drawn jointly")
    factors = np.linalg.cholesky(covariances / pulls)
    found = means + np.einsum("aij,raj->rai", factors, rng.standard_normal(shape))
    variances = covariances[:, 1, 1] * rng.chisquare(pulls - 1, shape[:2]) / (pulls - 1)
    reach = (-stdtrit(pulls - 1, level) * np.sqrt(variances / pulls))[:, :, None]
    return found[:, :, 0], found[:, :, 1:] - reach, found[:, :, 1:] + reach


def fixed_split(
    instance: rf.Instance, budget: int, replications: int, seed: int
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield what each way of guardrails ships on the same data."""
    pulls, tests = budget // len(instance.arms), instance.means[:, 1:].size
    limits = instance.judged.thresholds
    for correction, level in (("", ALPHA), (", corrected", ALPHA / tests)):
        goals, low, high = bounds(
            instance, pulls, replications, level, np.random.default_rng([seed, budget])
        )
        passes = {"shown safe": high <= limits, "not shown bad": low <= limits}
        for name, each in passes.items():
            kept = each.all(axis=2)
            best = np.where(kept, goals, np.inf).argmin(axis=1)
            chosen = np.bincount(best[kept.any(axis=1)], minlength=len(instance.arms))
            shipped: dict[str | None, int] = dict(zip(instance.arms, chosen.tolist(), strict=True))
            shipped[None] = replications - int(chosen.sum())
            yield f"fixed split, {name}{correction}", tallied(instance, shipped)


def named_feasible(
    instance: rf.Instance, policy: str, budget: int, replications: int
) -> dict[str, int]:
    """Return how often a policy names each arm as feasible, with noise that it learns."""
    result = rf.simulate(
        instance, policy, budget=budget, replications=replications, scales="estimated",
        batch=max(1, budget // BATCHES),
    )  # fmt: skip
    return {arm: named["feasible"] for arm, named in result.chosen.items()}


def policies(
    instance: rf.Instance, budget: int, replications: int
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield what ringfence's policies name as feasible; whatever else they say ships nothing."""
    for policy in POLICIES:
        named = named_feasible(instance, policy, budget, replications)
        shipped: dict[str | None, int] = dict(named.items())
        shipped[None] = replications - sum(shipped.values())
        yield f"ringfence: `{policy}`, simulated", tallied(instance, shipped)


def confirmed(
    instance: rf.Instance, budget: int, replications: int
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield what is shipped if a quarter of the budget is kept to test the named arm afresh.

    Three quarters find an arm; the rest is a fixed sample of that arm alone, which no decision has
    seen, so that its bounds hold. The two samples are independent: chances are multiplied.
    """
    test = budget // 4
    named = named_feasible(instance, "top-two", budget - test, replications)
    _, _, high = bounds(instance, test, 20_000, ALPHA, np.random.default_rng([1, budget]))
    passing = (high <= instance.judged.thresholds).all(axis=2).mean(axis=0)
    shipped = {arm: count * passing[instance.arms.index(arm)] for arm, count in named.items()}
    counts = dict.fromkeys(OUTCOMES, 0.0)
    for arm, count in shipped.items():
        counts[outcome(instance, arm)] += float(count)
    counts[outcome(instance, None)] += replications - sum(shipped.values())
    yield "ringfence: `top-two` on 3/4 of the budget, the arm then shown safe on the rest", counts


STUDIES: dict[str, Callable[[rf.Verdict], bool]] = {
    "ringfence: a study; ship what is named feasible": lambda verdict: verdict.feasible,
    "ringfence: a study; ship at exit code 0": lambda verdict: verdict.verdict == "feasible",
    "ringfence: a study; ship if 95% sure": lambda verdict: (
        verdict.feasible and verdict.confidence >= 0.95
    ),
}


def run_study(name: str, budget: int, run: int) -> rf.Verdict:
    """Run one study with all defaults; in checkout it decides a hundred times, as with workers."""
    instance = instances()[name]
    study = rf.Study.create(
        "guardrails",
        arms=list(instance.arms),
        objective=str(instance.problem.objective),
        constraints=[str(one) for one in instance.problem.constraints],
        budget=budget,
        storage="memory://",
        seed=run,
        batch=1 if budget < 1000 else budget // 100,
    )
    rng = np.random.default_rng([run, budget, list(BUDGETS).index(name)])
    metrics = instance.problem.metrics
    while pulls := study.ask(budget):
        means = np.abs(instance.means[[instance.arms.index(pull.arm) for pull in pulls]])
        if instance.law.covariances is None:
            seen = (rng.random(means.shape) < means).astype(float)
        else:
            seen = means + 0.5 * rng.standard_normal(means.shape)
        study.tell_many(pulls, dict(zip(metrics, seen.T, strict=True)))
    return study.recommend()


def study_chunk(name: str, budget: int, first: int) -> dict[str, Counter[str | None]]:
    """Return what some studies would ship, by the rule that ships."""
    shipped = {way: Counter[str | None]() for way in STUDIES}
    for run in range(first, first + CHUNK):
        verdict = run_study(name, budget, run)
        for way, ships in STUDIES.items():
            shipped[way][verdict.arm if ships(verdict) else None] += 1
    return shipped


def named_cells(replications: int, runs: int) -> Iterator[Cell]:
    """Yield the cells of the instances that have a name."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for name, instance in instances().items():
            for budget in BUDGETS[name]:
                jobs = pool.map(partial(study_chunk, name, budget), range(0, runs, CHUNK))
                simulated = min(replications, POLICY_REPLICATIONS)
                for ways in (policies, confirmed):
                    for way, counts in ways(instance, budget, simulated):
                        yield Cell(name, budget, way, simulated, counts)
                shipped = {way: Counter[str | None]() for way in STUDIES}
                for chunk in jobs:
                    for way, found in chunk.items():
                        shipped[way] += found
                for way, found in shipped.items():
                    yield Cell(name, budget, way, sum(found.values()), tallied(instance, found))
                for way, counts in fixed_split(instance, budget, replications, seed=0):
                    yield Cell(name, budget, way, replications, counts)


def family_cells(arm_count: int = 8) -> Iterator[Cell]:
    """Yield cells over random instances, each where constrained-sr errs 5% of the time."""
    base = rf.find_policy("constrained-sr")
    found: dict[str, dict[str, float]] = {}
    for number in range(FAMILY_COUNT):
        instance = find_family("uniform").draw(number, arm_count=arm_count)
        budget = budget_for(instance, base, 0.05, seed=0, scales="estimated")
        rows = [
            *policies(instance, budget, FAMILY_REPLICATIONS),
            *confirmed(instance, budget, FAMILY_REPLICATIONS),
            *fixed_split(instance, budget, FAMILY_REPLICATIONS, seed=number),
        ]
        for way, counts in rows:
            for name, count in counts.items():
                total = found.setdefault(way, dict.fromkeys(OUTCOMES, 0.0))
                total[name] += count
    runs = FAMILY_COUNT * FAMILY_REPLICATIONS
    for way, total in found.items():
        yield Cell(f"{FAMILY_COUNT} random instances of {arm_count} arms", None, way, runs, total)


def show(cells: Iterator[Cell]) -> None:
    """Print a table for every instance and budget."""
    last = None
    for cell in cells:
        if (cell.instance, cell.budget) != last:
            last = (cell.instance, cell.budget)
            at = "" if cell.budget is None else f", T = {cell.budget:,}"
            print(f"\n**{cell.instance}{at}**\n")
            print("| how | right | ships an infeasible arm | ships a lesser one | ships nothing "
                  "though it should | runs |")  # fmt: skip
            print("| --- | --- | --- | --- | --- | --- |")
        shares = " | ".join(f"{cell.counts[name] / cell.runs:.3f}" for name in OUTCOMES)
        print(f"| {cell.way} | {shares} | {cell.runs:,} |", flush=True)


def main() -> None:
    """Print what is shipped, as tables or as lines of JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--replications", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=100, help="of whole studies")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    cells = (
        cell
        for part in (named_cells(chosen.replications, chosen.runs), family_cells())
        for cell in part
    )
    if not chosen.json:
        show(cells)
        return
    for cell in cells:
        low, high = binomial_interval(int(cell.counts["right"]), cell.runs)
        print(json.dumps({**asdict(cell), "right_low": low, "right_high": high}), flush=True)


if __name__ == "__main__":
    main()
