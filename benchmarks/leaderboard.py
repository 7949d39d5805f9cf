"""Fights every tournament of docs/research/tournament.md, and keeps each as a JSON document.

    python benchmarks/leaderboard.py                          all, in out/board
    python benchmarks/leaderboard.py --engine cuda            adaptive policies on GPUs
    python benchmarks/leaderboard.py uniform-known            those whose names begin or end so
    python benchmarks/leaderboard.py --count 40 --errors 100 --most 20000   fewer, of those left
    python docs/make_leaderboard.py out/board/*.json          then writes the page

Phase policies, adaptive ones and `thompson`, which is slow, are fought apart, at the same budgets.
A document that is there already is not made again, so an interrupted run goes on where it was.
All but the slowest two with 20 arms, `thompson` and estimated noise, took 50 minutes in all, on 16
cores with a GPU beside them.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

# numba-cuda 0.30 asks for a function that NumPy 2.5 has removed.
if not hasattr(np, "row_stack"):
    vars(np)["row_stack"] = np.vstack

import ringfence as rf

BASE = "constrained-sr"
PHASES = ("sequential-halving", "glr-halving", "uniform", "scalarised")
MORE_PHASES = ("infeasible-first", "successive-rejects")  # for one constraint
ADAPTIVE = ("top-two", "ocba-co")
ONE_CONSTRAINT = ("uniform", "bernoulli", "unequal")
KINDS = (
    ("uniform", "known", (3, 8, 20, 50)),
    ("uniform", "estimated", (3, 8, 20)),
    ("bernoulli", "known", (3, 8)),
    ("three-constraints", "known", (3, 8)),
    ("two-constraints", "known", (3, 8)),
    ("unequal", "known", (3, 8)),
)


class Fight(NamedTuple):
    """One call of `ringfence.tournament`, and the name under which its document is kept."""

    name: str
    family: str
    asked: dict[str, Any]


def fights(engine: str, count: int, errors: int, most: int) -> Iterator[Fight]:
    """Yield all of them, those that others are measured against first."""
    limits = {"least_errors": errors, "most_replications": most}
    for family, scales, sizes in KINDS:
        for arms in sizes:
            phases = (*PHASES, *(MORE_PHASES if family in ONE_CONSTRAINT else ()))
            common = {"scales": scales, "arm_counts": arms, "count": count, **limits}
            name = f"{family}-{scales}-{arms:02d}"
            yield Fight(f"{name}-0-phases", family, common | {"policies": [BASE, *phases]})
            adaptive = common | {"policies": [BASE, *ADAPTIVE], "engine": engine}
            yield Fight(f"{name}-1-adaptive", family, adaptive)
    for arms in (3, 8, 20):
        slow = {"arm_counts": arms, "count": count, "engine": engine, **limits}
        slow |= {"policies": [BASE, "thompson"]}
        yield Fight(f"uniform-known-{arms:02d}-2-thompson", "uniform", slow)


def main() -> None:
    """Fight what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=[""], help="what the names begin or end with")
    parser.add_argument("--engine", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--count", type=int, default=100, help="instances of a size")
    parser.add_argument("--errors", type=int, default=200, help="errors to see in a cell")
    parser.add_argument("--most", type=int, default=200_000, help="most replications of a cell")
    parser.add_argument("--output", type=Path, default=Path("out/board"))
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    for fight in fights(given.engine, given.count, given.errors, given.most):
        path = given.output / f"{fight.name}.json"
        wanted = any(fight.name.startswith(one) or fight.name.endswith(one) for one in given.names)
        if not wanted or path.exists():
            continue
        began = time.perf_counter()
        result = rf.tournament(fight.family, **fight.asked)
        path.write_text(json.dumps(result.to_dict()), encoding="utf-8")
        means = {one.policy: round(one.geometric_mean, 3) for one in result.standings}
        print(f"{fight.name}: {time.perf_counter() - began:.0f} s, {means}", flush=True)


if __name__ == "__main__":
    main()
