"""Certificates are wrong as seldom as they say, whoever chooses what is pulled and when to stop.

The sampler here knows every outcome before it is seen. It takes each test at the moment at which
that stood best, and hides the rest: an answer counts as wrongly certified if there is any choice of
pulls by which it would have been. 400 studies of each world; 20,000 with RINGFENCE_LONG.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from ringfence.core.arrays import Floats
from ringfence.core.certificate import Levels
from ringfence.core.decimals import decimals
from ringfence.core.grounds import grounds_of
from ringfence.core.problem import Problem
from ringfence.core.proving import Path, Prover
from ringfence.core.wagers import Claim, begun, played
from tests.choosing import LONG

STUDIES = 20_000 if LONG else 400
DOUBT = 0.05
ALPHA = 1e-6

World = Callable[[np.random.Generator], Floats]
"""Draws a table [arm, block, metric] of scores and of one risk or several."""


def shuffled(rng: np.random.Generator, count: int, size: int) -> Floats:
    """Return `count` ones among zeros, in any order."""
    return (rng.permutation(size) < count).astype(np.float64)


def counted(scores: Sequence[int], risks: Sequence[int | tuple[int, ...]], size: int) -> World:
    """Return a world of sets that have so many ones each; of several risks, where there are."""

    def draw(rng: np.random.Generator) -> Floats:
        tables = []
        for score, some in zip(scores, risks, strict=True):
            counts = (score, *(some if isinstance(some, tuple) else (some,)))
            tables.append(np.column_stack([shuffled(rng, count, size) for count in counts]))
        return np.array(tables)

    return draw


def likely(scores: Sequence[float], risks: Sequence[float], length: int) -> World:
    """Return a world without end of which so many blocks are looked at."""

    def draw(rng: np.random.Generator) -> Floats:
        chances = np.array([scores, risks]).T[:, None, :]
        return (rng.random((len(scores), length, 2)) < chances).astype(np.float64)

    return draw


# What is drawn, how many blocks there are in all, and the limit on the risk.
WORLDS: dict[str, tuple[World, int | None, float]] = {
    "best by a hair": (counted([31, 30, 30], [0, 0, 0], 60), 60, 0.5),
    "on their limits, a better one over it": (counted([50, 45, 70], [29, 29, 30], 100), 100, 0.29),
    "all infeasible by a hair": (counted([50] * 12, [31] * 12, 100), 100, 0.3),
    "all feasible by a hair, one best": (counted([60, 40, 40, 40], [30] * 4, 100), 100, 0.3),
    "better ones over their limit": (
        counted([50, 45, 60, 60, 60, 60], [30] * 2 + [31] * 4, 100),
        100,
        0.3,
    ),
    "on three limits, one worse, others out": (
        counted([50, 45, 60, 60, 60, 60], [(30,) * 3, (5,) * 3] + [(90,) * 3] * 4, 100),
        100,
        0.3,
    ),
    "small sets": (counted([10, 9, 12], [4, 4, 5], 20), 20, 0.2),
    "large sets": (counted([100, 98, 120], [20, 20, 21], 200), 200, 0.1),
    "rare failures": (likely([0.6, 0.55, 0.7], [0.01, 0.02, 0.021], 400), None, 0.02),
    "on their limits without end": (likely([0.5, 0.5, 0.8], [0.3, 0.2, 0.3001], 300), None, 0.3),
}

# Which arms are right, where it cannot be counted.
ENDLESS = {"rare failures": {0}, "on their limits without end": {0, 1}}


def levels_of(table: Floats, size: int | None, limit: float) -> Levels:
    risks = [f"risk{c}" for c in range(1, table.shape[2])]
    limits = [f"mean({risk}) <= {limit}" for risk in risks]
    problem = Problem.parse("maximize mean(score)", limits)
    grounds = grounds_of(
        problem,
        table.reshape(-1, table.shape[2]),
        bounds=dict.fromkeys(["score", *risks], (0.0, 1.0)),
        shares=np.ones(table.shape[2], np.bool_),
    )
    return Levels(Prover(problem, [Path.of(one) for one in table], grounds, size=size), 1 - DOUBT)


def right_answers(name: str) -> tuple[set[int], bool]:
    """Return the arms that are right in a world, and whether any keeps its limits."""
    if name in ENDLESS:
        return ENDLESS[name], True
    table = WORLDS[name][0](np.random.default_rng(0))
    sums = table.sum(axis=1)
    feasible = (sums[:, 1:] <= round(WORLDS[name][2] * table.shape[1])).all(axis=1)
    best = feasible & (sums[:, 0] == np.max(sums[feasible, 0], initial=-1.0))
    return set(np.flatnonzero(best).tolist()), bool(feasible.any())


def is_wrong(levels: Levels, right: set[int], *, any_feasible: bool) -> bool:
    """Tell whether any choice of pulls would certify a wrong answer."""
    arms = range(levels.arm_count)
    broken = [any(one.is_settled for one in levels.breaks(arm)) for arm in arms]
    if any_feasible and all(broken):
        return True
    for arm in set(arms) - right:
        if all(one.is_settled for one in levels.keeps(arm)):
            others = (rival for rival in arms if rival != arm)
            if all(broken[one] or levels.no_better(one, arm).is_settled for one in others):
                return True
            if not any_feasible:  # that any arm keeps its limit is wrong
                return True
    return False


@pytest.mark.parametrize("name", WORLDS)
def test_wrong_certificates_are_rare_whatever_the_sampler_knows(name: str) -> None:
    draw, size, limit = WORLDS[name]
    right, any_feasible = right_answers(name)
    rng = np.random.default_rng(32)
    wrong = sum(
        is_wrong(levels_of(draw(rng), size, limit), right, any_feasible=any_feasible)
        for _ in range(STUDIES)
    )
    assert wrong <= binom.isf(ALPHA, STUDIES, DOUBT)


COSTS = np.round(np.linspace(0.0, 4.0, 41) ** 3 / 16.0, 3)
NULLS: dict[str, tuple[Callable[[np.random.Generator], Floats], Claim]] = {
    "a tie": (
        lambda rng: shuffled(rng, 29, 100),
        Claim(Fraction("0.29"), Fraction(0), Fraction(1), size=100),
    ),
    "rare events": (
        lambda rng: (rng.random(500) < 0.01).astype(float),
        Claim(Fraction("0.01"), Fraction(0), Fraction(1)),
    ),
    "seldom without": (
        lambda rng: -(rng.random(500) < 0.05).astype(float),
        Claim(Fraction("-0.05"), Fraction(-1), Fraction(0)),
    ),
    "costs": (
        lambda rng: rng.permutation(COSTS),
        Claim(
            sum(decimals(COSTS).fractions(), Fraction(0)) / 41, Fraction(0), Fraction(4), size=41
        ),
    ),
    "differences": (
        lambda rng: rng.choice([-1.0, 0.0, 1.0], 300, p=[0.1, 0.8, 0.1]),
        Claim(Fraction(0), Fraction(-1), Fraction(1)),
    ),
}


@pytest.mark.parametrize("name", NULLS)
def test_a_single_test_is_wrong_as_seldom_as_it_says(name: str) -> None:
    """Whenever it is looked at, and E is at most 1 on average at the end and on the way."""
    draw, claim = NULLS[name]
    rng = np.random.default_rng(7)
    runs = 5 * STUDIES
    crossed, ends, halves = 0, np.empty(runs), np.empty(runs)
    for run in range(runs):
        values = decimals(draw(rng))
        half = values._replace(numerators=values.numerators[: len(values.numerators) // 2])
        rest = values._replace(numerators=values.numerators[len(half.numerators) :])
        wager = played(claim, begun(claim), half)
        halves[run] = math.exp(wager.log_e)
        wager = played(claim, wager, rest)
        ends[run] = math.exp(wager.log_e)
        crossed += wager.peak >= -math.log(DOUBT)
    assert crossed <= binom.isf(ALPHA, runs, DOUBT)
    for found in (halves, ends):
        assert found.mean() <= 1.0 + 5.0 * found.std() / math.sqrt(runs)
