"""Courses whose answer is a set: simulations, and live studies. Public surface only."""

from typing import Any

import ringfence as rf
from tests.golden import cells, studies
from tests.golden.playing import Played
from tests.golden.worlds import WORLDS

ANSWER = "all feasible"
POLICIES = ("constrained-sr", "uniform", "top-two", "apt")  # a further one changes none of these
SETS = ("gauss-3-own", "gauss-3-infeasible", "gauss-4-two", "gauss-relative", "grid")
_BUDGETS = (60, 75)


def simulated() -> dict[str, Any]:
    """Return what the reference engine counts of every policy in a few worlds."""
    found = {}
    for place, world in enumerate(SETS):
        for scales, policy in ((s, p) for s in ("known", "estimated") for p in POLICIES):
            result = rf.simulate(
                WORLDS[world](), policy, answer=ANSWER, budget=_BUDGETS[place % 2], seed=place,
                replications=30, scales=scales, batch=1 + place % 3, engine="reference",
            )  # fmt: skip
            found[f"{world} {policy} {scales}"] = cells.counts_of(result)
    return found


def compiled(world: str, policy: str) -> dict[str, Any]:
    """Return what a compiled kernel counts."""
    result = rf.simulate(
        WORLDS[world](), policy, answer=ANSWER, budget=90, seed=3, replications=96, scales="known"
    )
    return cells.counts_of(result)


def played(policy: str) -> dict[str, Any]:
    """Return the course of a live study, and the set that it names."""
    two = ["mean(b) <= 0.5", "mean(b) >= 0.05"]
    one = Played(
        "memory://", f"set by {policy}", studies.near, policy=policy, constraints=two,
        answer=ANSWER, batch=3 if policy in ("top-two", "apt") else 1, budget=70, seed=3,
    ).go(most=3)  # fmt: skip
    return one.facts() | {"set": list(one.study.recommend().answer)}


COMPILED = [("gauss-4-two", policy) for policy in POLICIES]


def courses() -> dict[str, Any]:
    """Return all of them."""
    kernels = {f"compiled {world} {policy}": compiled(world, policy) for world, policy in COMPILED}
    return simulated() | kernels | {f"study by {policy}": played(policy) for policy in POLICIES}
