"""How few errors `top-two` would make if it were told which arms are out of the question.

    python benchmarks/headroom.py              20 arms, and the hardest 17, 15, 12 and 10 of them
    python benchmarks/headroom.py --keep 15 5 --count 40 --errors 50 --seed 7

Each instance of the family `uniform` is fought at the budget where `constrained-sr` errs 5% of the
time on all of its arms; those with the largest gaps are then taken away for nothing. What is
printed is the geometric mean of the ratio of errors, and what chance alone may move it by. No
policy is told so much: the rows say how many arms a better one would have to save.
"""

import argparse
import math
import time

import numpy as np

from ringfence.execution.chunks import run_chunks
from ringfence.policies.registry import find_policy
from ringfence.simulation.cells import Cell, budget_for, fight
from ringfence.simulation.families import find_family
from ringfence.simulation.instance import Instance
from ringfence.simulation.variations import without

BASE, RIVAL = find_policy("constrained-sr"), find_policy("top-two")


def hardest(instance: Instance, keep: int) -> Instance:
    """Return an instance with the right arm and those of the least gaps to it alone."""
    while len(instance.arms) > keep:
        gaps = [-1.0 if arm.delta is None else arm.delta for arm in instance.hardness.arms]
        fewer = without(instance, int(np.argmax(gaps)))
        assert fewer is not None
        instance = fewer
    return instance


def main() -> None:
    """Fight what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--arms", type=int, default=20)
    parser.add_argument("--keep", type=int, nargs="*", default=[20, 17, 15, 12, 10])
    parser.add_argument("--count", type=int, default=100, help="instances")
    parser.add_argument("--errors", type=int, default=200, help="errors to see in a cell")
    parser.add_argument("--most", type=int, default=200_000, help="most replications of a cell")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    limits = {"seed": given.seed, "most_replications": given.most}
    family = find_family("uniform")

    def base(number: int, _: int) -> tuple[Instance, Cell]:
        instance = family.draw(number, arm_count=given.arms, seed=given.seed)
        budget = budget_for(instance, BASE, 0.05, seed=given.seed)
        return instance, fight(instance, BASE, budget, least_errors=2000, **limits)

    bases = list(run_chunks(base, [1] * given.count))
    for keep in given.keep:

        def rival(number: int, _: int, keep: int = keep) -> Cell:
            instance, cell = bases[number]
            fewer = hardest(instance, keep)
            return fight(fewer, RIVAL, cell.budget, least_errors=given.errors, **limits)

        began = time.perf_counter()
        cells = list(run_chunks(rival, [1] * given.count))
        logs = [
            math.log(cell.error_rate / whole.error_rate)
            for cell, (_, whole) in zip(cells, bases, strict=True)
        ]
        chance = math.sqrt(sum(1.0 / max(cell.errors, 1) for cell in cells)) / len(cells)
        seconds = time.perf_counter() - began
        print(
            f"{keep} of {given.arms} arms: {math.exp(np.mean(logs)):.4f} "
            f"(chance {chance:.1%}), {seconds:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
