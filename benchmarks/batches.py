"""How often `top-two` errs by the size of its batches, and how much of one an arm gets.

`python -m benchmarks.batches` prints the tables of decision 27, in a quarter of an hour on two
cores.
"""

import argparse

import numpy as np

import ringfence as rf
from ringfence.policies.course import Opening
from ringfence.policies.evidence import Evidence
from ringfence.policies.registry import find_policy
from ringfence.simulation.families import find_family

CELLS = ((8, 1300, (0.01, 0.05, 0.2, 0.5)), (20, 3500, (0.01, 0.05, 0.2)))
INSTANCES = 40
BATCH = 4000


def errors(arms: int, budget: int, batch: int, replications: int) -> str:
    """Return the error rate with estimated noise on family `uniform`."""
    each = max(replications // INSTANCES, 1)
    rates = [
        rf.simulate(
            find_family("uniform").draw(number, arm_count=arms), "top-two", budget=budget,
            replications=each, seed=7 + number, scales="estimated", batch=batch,
        ).error_rate
        for number in range(INSTANCES)
    ]  # fmt: skip
    rate = float(np.mean(rates))
    return f"{rate:.4f} +- {(rate * (1.0 - rate) / each / INSTANCES) ** 0.5:.4f}"


def shares(arms: int, limit: float, studies: int) -> str:
    """Return the largest part of a batch that one of several like arms gets, after ten pulls each.

    A limit of 0 is where all arms are, and one of 1 a deviation above.
    """
    course, rng, found = find_policy("top-two").course, np.random.default_rng(0), []
    for _ in range(studies):
        seen = Evidence(
            rng.normal(size=(arms, 2)) / 10**0.5, np.full(arms, 10), np.zeros(arms, np.int64),
            np.ones(arms, np.bool_), np.tile(np.eye(2), (arms, 1, 1)), np.ones(2),
            np.array([limit]), np.arange(arms), np.array([2.0 * BATCH]),
        )  # fmt: skip
        state = course.make_state(Opening(10), arms, 2, BATCH)
        fresh = np.zeros(arms, np.int64)
        course.decide(seen, state, rng.random(BATCH), BATCH, fresh)
        found.append(fresh.max() / BATCH)
    ends = f"mean {np.mean(found):.3f}, 95% below {np.quantile(found, 0.95):.3f}"
    return f"{ends}, largest {max(found):.3f}, above .42: {np.mean(np.array(found) > 0.42):.1%}"


def main() -> None:
    """Print all."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--replications", type=int, default=200_000)
    ask.add_argument("--studies", type=int, default=300)
    said = ask.parse_args()
    for arms, limit in ((6, 1.0), (6, 0.0), (3, 1.0)):
        found = shares(arms, limit, said.studies)
        print(f"{arms} like arms, limit {limit}:", found, flush=True)
    for arms, budget, parts in CELLS:
        for part in parts:
            found = errors(arms, budget, round(part * budget), said.replications)
            print(f"uniform, {arms} arms, {budget} pulls, batch {part:.0%}:", found, flush=True)


if __name__ == "__main__":
    main()
