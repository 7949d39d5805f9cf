"""A slow transcription of what questions mean: answers, gaps and threats, in sets and fractions.

Written from the words of docs/reference/theory.md, not from the code. A demand is a sum
over pairs of an arm and an attribute that must not exceed a bound; a threat is a set
of demands. The covariance of the estimates is a dictionary over pairs of such
pairs: whatever it says counts.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tests.oracle import transcription as paper
from tests.oracle.least_moves import solve_exactly
from tests.oracle.transcription import Number, Table

Place = tuple[int, int]  # an arm and an attribute
Noise = Mapping[tuple[Place, Place], Number]


class Asked(NamedTuple):
    """What there is to see: everything but who is asked."""

    estimates: Table
    seen: frozenset[int]
    scales: Sequence[Number]
    thresholds: Sequence[Number]
    priority: Sequence[int]
    baseline: int = -1
    factors: Sequence[Number] = ()


class Demand(NamedTuple):
    """A sum of attributes must be at most a bound."""

    sums: frozenset[tuple[Place, Fraction]]
    bound: Fraction


class Threat(NamedTuple):
    """All demands at once; if strict, what cannot move must lie beyond its bound already."""

    demands: frozenset[Demand]
    strict: bool


# ------------------------------------------------------------------------------- answers


def feasible_arms(asked: Asked) -> set[int]:
    return {
        i
        for i in asked.seen
        if paper.is_feasible(asked.estimates[i], asked.scales, asked.thresholds)
    }


def best_of(asked: Asked) -> int:
    return paper.apparent_best(
        asked.estimates, set(asked.seen), asked.scales, asked.thresholds, asked.priority
    )


def answer(name: str, asked: Asked) -> tuple[set[int], int, bool]:
    """Return the arms that are the answer, the one that it names, and the flag."""
    feasible = feasible_arms(asked)
    if name == "best feasible":
        return {best_of(asked)}, best_of(asked), feasible != set()
    return feasible, best_of(asked) if feasible else -1, feasible != set()


def right_answers(name: str, asked: Asked) -> list[set[int]]:
    """Return every answer that would be right if estimates were the truth."""
    if name == "all feasible":
        return [feasible_arms(asked)]
    best = paper.optimal_arms(asked.estimates, asked.scales, asked.thresholds)
    return [{i} for i in best]


def gaps(name: str, asked: Asked) -> dict[int, Fraction]:
    """Return Delta of every arm that has one."""
    rows, scales, thresholds = asked.estimates, asked.scales, asked.thresholds
    if name == "all feasible":
        return {i: abs(paper.margin(rows[i], scales, thresholds)) for i in asked.seen}
    best = best_of(asked)
    return {i: paper.Delta(rows, best, i, scales, thresholds) for i in asked.seen if i != best}


def settled(asked: Asked) -> int:
    """Return the arm that constrained-sr settles where all feasible arms are asked for.

    The one furthest from its limits; of several, one that looks infeasible, the most so, or else
    the one of the worst objective, as in the paper.
    """
    gap = gaps("all feasible", asked)
    furthest = {i for i in gap if gap[i] == max(gap.values())}
    outside = furthest - feasible_arms(asked)
    given = (asked.estimates, asked.scales, asked.thresholds, asked.priority)
    if outside:
        return paper.most_infeasible(outside, *given)
    return paper.most_suboptimal(furthest, *given)


def run_settling(
    samples: Sequence[Table], budget: int, asked: Asked
) -> tuple[set[int], list[int], list[int]]:
    """Play constrained-sr for all feasible arms on samples [arm][ordinal].

    Return the set, the arms that were settled in their order, and every arm's pulls.
    """
    count = len(samples)
    pulled, alive, order = [0] * count, set(range(count)), list[int]()
    for total in paper.successive_rejects_schedule(count, budget):
        for i in alive:
            pulled[i] = total
        if len(alive) > 1:
            seen = _estimated(samples, pulled, asked, frozenset(alive))
            order.append(settled(seen))
            alive.remove(order[-1])
    last = _estimated(samples, pulled, asked, frozenset(range(count)))
    return feasible_arms(last), order, pulled


def run_apt(
    samples: Sequence[Table], budget: int, batch: int, asked: Asked, first: int = 1
) -> tuple[set[int], list[int]]:
    """Play APT on samples [arm][ordinal]; return the set and every arm's pulls.

    After the `first` pulls of each the arm with the least sqrt(n) |margin| is pulled, compared by
    squares; what a batch promises counts in n, but tells nothing before it is over.
    """
    count = len(samples)
    everyone = frozenset(range(count))
    pulled = [first] * count
    while sum(pulled) < budget:
        told = gaps("all feasible", _estimated(samples, pulled, asked, everyone))
        for _ in range(min(batch, budget - sum(pulled))):
            pulled[min(everyone, key=lambda i: (pulled[i] * told[i] ** 2, asked.priority[i]))] += 1
    return feasible_arms(_estimated(samples, pulled, asked, everyone)), pulled


def _estimated(
    samples: Sequence[Table], pulled: Sequence[int], asked: Asked, seen: frozenset[int]
) -> Asked:
    rows = [paper.mean_row(mine[:n]) for mine, n in zip(samples, pulled, strict=True)]
    return asked._replace(estimates=rows, seen=seen)


# ------------------------------------------------------------------------------- threats


def in_any_unit(demand: Demand) -> Demand:
    """Return a demand in units in which its first number, of whatever sign, is one."""
    if not demand.sums:
        return demand
    unit = abs(min(demand.sums)[1])
    return Demand(frozenset((place, v / unit) for place, v in demand.sums), demand.bound / unit)


def threats(
    name: str, asked: Asked, marked: set[int], named: int, *, feasible: bool
) -> list[Threat]:
    """Return every way in which an answer may be wrong."""
    limits = range(1, len(asked.scales))

    def over(i: int, c: int, scale: Number = 1) -> dict[Place, Fraction]:
        """By how much arm i is over limit c, but for the threshold."""
        sums = {(i, c): Fraction(scale)}
        if asked.baseline >= 0:
            place = (asked.baseline, c)
            sums[place] = sums.get(place, Fraction(0)) - scale * Fraction(asked.factors[c - 1])
        return sums

    def demand(*parts: dict[Place, Fraction], bound: Number) -> Demand:
        total: dict[Place, Fraction] = {}
        for part in parts:
            for place, value in part.items():
                total[place] = total.get(place, Fraction(0)) + value
        kept = frozenset((place, value) for place, value in total.items() if value != 0)
        return in_any_unit(Demand(kept, Fraction(bound)))

    def fails(i: int) -> list[Threat]:
        return [
            Threat(frozenset({demand(over(i, c, -1), bound=-asked.thresholds[c - 1])}), strict=True)
            for c in limits
        ]

    def passes(i: int) -> set[Demand]:
        return {demand(over(i, c), bound=asked.thresholds[c - 1]) for c in limits}

    def comes_closer(i: int, b: int) -> set[Demand]:
        """Every scaled violation of i is at most the named arm's of limit b."""
        s, tau = asked.scales, asked.thresholds
        return {
            demand(
                over(i, c, s[c]), over(named, b, -s[b]), bound=s[c] * tau[c - 1] - s[b] * tau[b - 1]
            )
            for c in limits
        }

    found: list[Threat] = []
    if name == "all feasible":
        for i in asked.seen:
            found += fails(i) if i in marked else [Threat(frozenset(passes(i)), strict=False)]
        return found
    others = [i for i in asked.seen if i != named]
    if feasible:
        found += fails(named)
        for i in others:
            better = demand({(i, 0): Fraction(1), (named, 0): Fraction(-1)}, bound=0)
            found.append(Threat(frozenset({better} | passes(i)), strict=False))
        return found
    found += [Threat(frozenset(passes(i)), strict=False) for i in asked.seen]
    found += [Threat(frozenset(comes_closer(i, b)), strict=False) for i in others for b in limits]
    return found


def cost(threat: Threat, estimates: Table, noise: Noise) -> Fraction | None:
    """Return the least energy of moves that bring a threat about; None where there are none."""
    demands = sorted(threat.demands, key=str)
    missing = [
        sum((value * Fraction(estimates[i][c]) for (i, c), value in one.sums), -one.bound)
        for one in demands
    ]
    spread = [
        [
            sum(
                (
                    x * y * Fraction(noise.get((p, q), 0))
                    for p, x in one.sums
                    for q, y in other.sums
                ),
                Fraction(0),
            )
            for other in demands
        ]
        for one in demands
    ]
    if threat.strict and spread[0][0] == 0 and missing[0] >= 0:
        return None
    solved = solve_exactly(np.array(missing, object), np.array(spread, object))
    return None if solved is None else solved[0]
