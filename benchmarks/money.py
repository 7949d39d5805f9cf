"""What it gains to choose by what money tells, and what is paid where prices are equal.

`python -m benchmarks.money family` fights `top-two` against itself blind to prices, on family
`uniform` with prices 1:20 in two classes; `roots` has two arms at 1:4 and 1:16; `agents TABLE` how
often it is right on a table of coding agents (columns model, task, resolved, cost). Half an hour on
two cores with the counts that are given; `--count` and `--replications` make it shorter.
"""

import argparse
import math
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.money import Money
from ringfence.policies import top_two, top_two_sharing
from ringfence.policies.evidence import EQUAL, Evidence
from ringfence.policies.policy import AdaptivePolicy
from ringfence.policies.registry import find_policy
from ringfence.simulation.cells import budget_for, fight
from ringfence.simulation.engines import CPU
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.families import find_family
from ringfence.simulation.instance import Instance
from ringfence.simulation.logs import read_log

PRICES = (1, 20)
AWARE = top_two.POLICY
look, look_sharing = top_two.choose, top_two_sharing.choose


def blinded(seen: Evidence) -> Evidence:
    """Return what a rule sees, with equal prices."""
    return Evidence(
        seen.estimates, seen.counts, seen.in_flight, seen.alive, seen.covariances, seen.scales,
        seen.thresholds, seen.priority, seen.left, seen.baseline, EQUAL, seen.sharing, seen.hours,
    )  # fmt: skip


def choose_blindly(seen: Evidence, uniforms: Floats, chosen: Integers, work: Any) -> None:
    """Choose as top-two does where all prices are equal."""
    look(blinded(seen), uniforms, chosen, work)


def choose_sharing_blindly(seen: Evidence, uniforms: Floats, chosen: Integers, work: Any) -> None:
    """Choose so where arms share blocks."""
    look_sharing(blinded(seen), uniforms, chosen, work)


BLIND = replace(AWARE, name="blind", choose=choose_blindly, choose_sharing=choose_sharing_blindly)


def on_a_family(arms: int, count: int, errors: int, most: int, threads: int) -> None:
    """Print errors beside those of top-two blind to prices, at budgets where that errs 5%."""

    def ratio(number: int) -> tuple[int, int, float, float]:
        instance = find_family("uniform").draw(number, arm_count=arms, prices=PRICES)
        budget = budget_for(instance, BLIND, 0.05, seed=0)
        aware, blind = (
            fight(instance, one, budget, seed=0, least_errors=errors, most_replications=most)
            for one in (AWARE, BLIND)
        )
        return number, budget, aware.error_rate, blind.error_rate

    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(ratio, range(count)))
    for number, budget, aware, blind in found:
        print(f"  {number:3} {budget:7,} pulls' worth: {aware:.4f} {blind:.4f} {aware / blind:.3f}")
    ratios = [aware / blind for _, _, aware, blind in found]
    mean = math.exp(float(np.mean(np.log(ratios))))
    print(f"{arms} arms: geometric mean {mean:.3f}, worst {max(ratios):.3f}", flush=True)


def by_roots(replications: int) -> None:
    """Print the ratio of pulls of two arms of equal noise, whichever of them is best."""
    for price in (4, 16):
        found = []
        for means in ((0.0, 0.05), (0.05, 0.0)):
            content = {
                "objective": "minimize mean(loss)",
                "constraints": ["mean(risk) <= 100"],
                "metrics": ["loss", "risk"],
                "noise": {"family": "gaussian", "covariance": [[1.0, 0.0], [0.0, 1.0]]},
                "arms": {name: {"mean": [x, 0.0]} for name, x in zip("ab", means, strict=True)},
                "price": {"a": 1, "b": price},
            }
            one = Experiment.funded(
                Instance.from_dict(content), AWARE, f"{1000 * (1 + price)} USD", scales="estimated"
            )
            pulls = CPU.count(one, 0, 0, replications).pulls
            found.append(float(pulls[0] / pulls[1]))
        both = math.sqrt(found[0] * found[1])
        print(
            f"1:{price}: {both:.3f}:1, {found[0]:.2f} where the cheap arm is best, {found[1]:.2f}"
        )


def on_agents(table: str, budgets: Iterable[str], replications: int) -> None:
    """Print how often policies are right on a table, tasks shared and prices learned."""
    log = read_log(
        table, arm="model", objective="maximize mean(resolved)",
        constraints=["mean(cost) <= 0.5"], item="task", price="cost",
    )  # fmt: skip
    policies: list[AdaptivePolicy | Any] = [AWARE, BLIND, find_policy("uniform")]
    for budget in budgets:
        for policy in policies:
            one = Experiment.funded(
                log.instance, policy, Money(Decimal(budget), "USD"), scales="estimated", growth=0.01
            )
            counts = CPU.count(one, 0, 0, replications)
            rate = 1.0 - counts.errors / replications
            spent = one.spent(counts.pulls, counts.paid) / replications
            print(
                f"{budget:>5} USD {policy.name:8} right {rate:.3f}, spent {spent:.1f}", flush=True
            )


def main() -> None:
    """Print what was asked for."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("what", choices=("family", "roots", "agents"))
    ask.add_argument("table", nargs="?")
    ask.add_argument("--arms", type=int, nargs="*", default=(4, 8))
    ask.add_argument("--count", type=int, default=40)
    ask.add_argument("--errors", type=int, default=1000)
    ask.add_argument("--most", type=int, default=200_000)
    ask.add_argument("--replications", type=int, default=1000)
    ask.add_argument("--budgets", nargs="*", default=("100", "200", "400"))
    ask.add_argument("--threads", type=int, default=2)
    asked = ask.parse_args()
    if asked.what == "family":
        for arms in asked.arms:
            on_a_family(arms, asked.count, asked.errors, asked.most, asked.threads)
    elif asked.what == "roots":
        by_roots(asked.replications)
    elif asked.table:
        on_agents(asked.table, asked.budgets, asked.replications)
    else:
        ask.error("agents needs a table: a CSV file")


if __name__ == "__main__":
    main()
