"""Fixed evidence for rules and chances: on a coarse grid, where ties are frequent; off it; close.

Close evidence lies by a hair on either side of limits, so that doubts decide the answer. And the
theory of all worlds. Everything is written by whole-number arithmetic, nothing is drawn.
"""

from typing import Any

import ringfence as rf
from tests.golden import taking
from tests.golden.cells import POLICIES
from tests.golden.plain import hexes
from tests.golden.worlds import WORLDS

SHAPES = [(arms, width) for arms in (1, 2, 3, 5, 8) for width in (2, 3, 4)]
PER_SHAPE, CLOSE = 4, 6
UNIFORMS = (0.1, 0.7, 0.45, 0.99)
PAPER = ("paper-1", "paper-2", "paper-3", "paper-4")


def evidence(arms: int, width: int, number: int) -> dict[str, Any]:
    """Return plain evidence: odd numbers lie off the grid, the fourth has a withdrawn arm."""
    n = number + 4 * width + arms
    off = number % 2
    step = next(one for one in (2, 3, 1) if arms % one or one == 1)  # so that ranks differ
    correlation = (n % 3 - 1) / 4.0
    deviations = [(1.0, 0.5, 2.0)[(n + c) % 3] for c in range(width)]
    covariance = [
        [deviations[c] * deviations[d] * (1.0 if c == d else correlation) for d in range(width)]
        for c in range(width)
    ]
    limits = [(n + c) % 3 / 2.0 - 0.5 for c in range(1, width)]
    hair = (8.0, 12.0, 16.0)[number % 3]
    rows = [
        [((3 * i + 5 * number) % 4) / 32.0]
        + [limit + ((7 * i + 3 * c + 2 * n) % 5 - 3) / hair for c, limit in enumerate(limits)]
        for i in range(arms)
    ]
    if number < PER_SHAPE:
        rows = [
            [
                ((3 * i * i + 5 * c + 7 * n + i * c * n) % 5 - 2) / 2.0
                + off * ((7 * i + 3 * c + n) % 13) / 37.0
                for c in range(width)
            ]
            for i in range(arms)
        ]
    return {
        "estimates": rows,
        "counts": [3 + (5 * i + 7 * n) % 11 for i in range(arms)],
        "alive": [arms == 1 or number != 3 or i != n % arms for i in range(arms)],
        "covariances": [
            [[one * (1.0 + off * (i % 3) / 2.0) for one in row] for row in covariance]
            for i in range(arms)
        ],
        "scales": [1.0 / one for one in deviations],
        "thresholds": limits,
        "priority": [(step * i + n) % arms for i in range(arms)],
        "left": 20 + n,
    }


def on_evidence(most_arms: int = 8) -> dict[str, Any]:
    """Return gaps, chances and decisions on all evidence of so many arms."""
    found = {}
    for arms, width in SHAPES:
        if arms > most_arms:
            continue
        for number in range(PER_SHAPE + CLOSE * (1 < arms < 8)):
            one = evidence(arms, width, number)
            found[f"evidence {arms} {width} {number}"] = {
                "gaps": taking.gaps(one),
                "chances": taking.chances(one),
                "decisions": taking.decisions(one, POLICIES, UNIFORMS),
            }
    return found


def of_instance(instance: rf.Instance) -> dict[str, Any]:
    """Return all that is known of an instance without a single pull."""
    hard, best = instance.hardness, instance.oracle
    found: dict[str, Any] = {
        "feasible": hard.feasible,
        "optimal": list(hard.optimal_arms),
        "h": hexes([hard.h1, hard.h2]),
        "arms": [
            [arm.kind, arm.rank, *hexes([arm.margin]), *_gaps(arm.delta, arm.Delta)]
            for arm in hard.arms
        ],
        "scales": hexes(instance.scales),
        "means": [hexes(row) for row in instance.means],
    }
    if best is not None:
        allocation = None if best.allocation is None else hexes(best.allocation)
        found["oracle"] = [float(best.rate).hex(), allocation]
        found["even"] = taking.even_rate(instance)
    for key, bound in (("lower", instance.lower_bound_rate), ("upper", instance.upper_bound(500))):
        found[key] = None if bound is None else float(bound).hex()
    return found


def _gaps(*gaps: float | None) -> list[str | None]:
    return [None if one is None else float(one).hex() for one in gaps]


def of_worlds() -> dict[str, Any]:
    """Return the theory of every world, and of the paper's instances."""
    found = {f"world {name}": of_instance(make()) for name, make in WORLDS.items()}
    return found | {f"world {name}": of_instance(rf.Instance.load(name)) for name in PAPER}
