"""What proofs take: pulls until the answer is certified, beside rules that stop by other means.

    python -m benchmarks.proofs --table agents.csv --arm model --item task \
        --objective "maximize mean(resolved)" --limit "mean(cost) <= 0.5"
    python -m benchmarks.proofs --arms 3 8
    python -m benchmarks.proofs --easy

The first says how much of a table it takes until the answer is proven. The second draws instances
of the family `uniform` and stops them by a generalised likelihood ratio at log((1 + log t)/delta),
which nobody has proven; by the certificate; and by the same tests at levels for all pairs of arms.
The last is an instance whose every gap is 5 standard errors at the full budget.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np

import ringfence as rf
from ringfence.core.arrays import Floats, Integers
from ringfence.core.cost import beating_cost, failing_cost
from ringfence.core.gaps import apparent_best, margin
from ringfence.core.stop import Stop
from ringfence.policies.course import Course
from ringfence.policies.evidence import Evidence
from ringfence.policies.groups import pulls_of
from ringfence.policies.policy import AdaptivePolicy
from ringfence.simulation.counts import Proofs
from ringfence.simulation.cpu import run_chunk, run_course
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.families import find_family
from ringfence.simulation.instance import Instance

DOUBT = 0.05
GROWTH = 0.01
BUDGET = 100_000


@cache
def by_likelihood(course: Course) -> Course:
    """Return a course that ends when no other answer is as likely, by log((1 + log t)/delta)."""
    inner = course.decide

    def decide(seen: Evidence, state: Any, uniforms: Floats, size: int, fresh: Integers) -> bool:
        places, noise, counts = seen.estimates, seen.covariances, seen.counts
        limits, work = seen.thresholds, state.work.cost
        best = apparent_best(places, seen.alive, seen.scales, limits, seen.priority)
        if margin(places, best, seen.scales, limits) <= 0.0:
            n = float(counts[best])
            least = failing_cost(places, noise, best, n, limits)
            for i in range(counts.shape[0]):
                if i != best:
                    cost, _ = beating_cost(
                        places, noise, best, n, i, float(counts[i]), limits, work
                    )
                    least = min(least, cost)
            if least >= math.log((1.0 + math.log(pulls_of(counts))) / DOUBT):
                return False
        goes_on: bool = inner(seen, state, uniforms, size, fresh)
        return goes_on

    return course._replace(decide=decide)


@dataclass(frozen=True)
class Likely(AdaptivePolicy):
    """Top-two that stops by likelihood."""

    def course_for(self, question: Any, **kinds: Any) -> Course:
        """Return its course."""
        return by_likelihood(super().course_for(question, **kinds))


def stopped(instance: Instance, policy: str, stop: Stop, budget: int, count: int) -> Proofs:
    """Return what replications took that end when the answer is proven."""
    growth = GROWTH if policy == "top-two" else 0.0
    experiment = Experiment(
        instance, rf.find_policy(policy), budget, scales="estimated", growth=growth, stop=stop
    )
    return Proofs.of(run_chunk(experiment, 0, 0, count))


def likely(instance: Instance, count: int) -> float:
    """Return the mean pulls until the generalised likelihood ratio is enough."""
    plain = rf.find_policy("top-two")
    policy = Likely(**{one.name: getattr(plain, one.name) for one in fields(plain) if one.init})
    experiment = Experiment(instance, policy, BUDGET, scales="estimated", growth=GROWTH)
    tally = experiment.empty_tally(count)
    law = instance.law
    run_course(experiment, experiment.streams(0, 0), tally, law.recording, law.arrays)
    return float(tally.pulled.mean())


def for_all_pairs(arm_count: int, limits: int) -> Stop:
    """Return the confidence at which our levels are those of a union over all pairs and limits."""
    tests = arm_count * (arm_count - 1) + 2 * arm_count * limits
    return Stop(1.0 - DOUBT * arm_count / tests)


def family(sizes: Sequence[int], count: int) -> None:
    """Print what instances of a family take."""
    for arm_count in sizes:
        ratios = []
        for number in (0, 1, 2, 4, 5, 6):  # those of which some arm is feasible
            instance = find_family("uniform").draw(number, arm_count=arm_count)
            limits = len(instance.problem.constraints)
            base = likely(instance, count)
            ours = stopped(instance, "top-two", Stop(1 - DOUBT), BUDGET, count)
            union = stopped(instance, "top-two", for_all_pairs(arm_count, limits), BUDGET, count)
            ratios.append(ours.mean_pulls / base)
            print(
                f"{instance.name}: likelihood {base:,.0f}, certificate {ours.mean_pulls:,.0f} "
                f"({ratios[-1]:.2f}; {ours.certified} of {count}, {ours.wrong} wrong), "
                f"all pairs {union.mean_pulls:,.0f}",
                flush=True,
            )
        print(f"{arm_count} arms: {np.mean(ratios):.2f} times on average")


def easy(count: int, budget: int = 8000) -> None:
    """Print what is saved where every gap is 5 standard errors at the full budget."""
    gap = 5.0 / math.sqrt(budget / 4)
    arms = {
        "best": {"mean": [0.0, -gap]},
        "near": {"mean": [gap, -gap]},
        "far": {"mean": [2 * gap, -gap]},
        "out": {"mean": [-gap, gap]},
    }
    content = {
        "objective": "minimize mean(loss)",
        "constraints": ["mean(risk) <= 0"],
        "metrics": ["loss", "risk"],
        "noise": {"family": "gaussian", "covariance": [[1.0, 0.0], [0.0, 1.0]]},
        "arms": arms,
    }
    instance = Instance.from_dict(content, name="easy")
    for policy in ("top-two", "uniform"):
        found = stopped(instance, policy, Stop(1 - DOUBT), budget, count)
        saved = 1.0 - found.mean_pulls / budget
        print(f"easy, {policy}: {saved:.0%} saved, {found.certified} of {count} certified")


def table(given: argparse.Namespace) -> None:
    """Print how much of a table it takes."""
    found = rf.replay(
        given.table, arm=given.arm, item=given.item, objective=given.objective,
        constraints=given.limit, policies=given.policies, replications=given.count, stop=0.95,
    )  # fmt: skip
    for row in found.rows:
        one = row.result
        share = one.pulls_used_mean / found.log.rows
        print(f"{one.policy}: {share:.1%} of the table, {one.proofs.wrong} of {given.count} wrong")


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table")
    parser.add_argument("--arm")
    parser.add_argument("--item")
    parser.add_argument("--objective")
    parser.add_argument("--limit")
    parser.add_argument("--policies", nargs="+", default=["top-two", "uniform"])
    parser.add_argument("--arms", nargs="*", type=int, default=[])
    parser.add_argument("--easy", action="store_true")
    parser.add_argument("--count", type=int, default=200)
    given = parser.parse_args()
    if given.table:
        table(given)
    if given.easy:
        easy(given.count)
    family(given.arms, given.count)


if __name__ == "__main__":
    main()
