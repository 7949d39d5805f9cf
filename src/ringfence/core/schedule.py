"""How a budget is cut into phases, in exact integers.

Paper: Algorithm 1, lines 3 and 4. With floats the ceiling is wrong for some (K, T): four arms
and 23 pulls give [3, 4, 6], not [4, 5, 7]. Touches its arguments only.
"""

from collections.abc import Sequence
from fractions import Fraction
from operator import index
from typing import NamedTuple


class Phase(NamedTuple):
    """One phase: pull every survivor, then reject until `keep` arms are left.

    The first `extra` survivors in priority get one pull more than the others.
    """

    pulls: int
    extra: int
    keep: int


def log_bar(arm_count: int) -> Fraction:
    """Return the paper's logbar(K) = 1/2 + 1/2 + 1/3 + ... + 1/K."""
    return Fraction(1, 2) + sum((Fraction(1, i) for i in range(2, arm_count + 1)), Fraction(0))


def successive_rejects_totals(arm_count: int, budget: int) -> list[int]:
    """Return n_1, ..., n_{K-1}: the pulls that a survivor has had by the end of each phase.

    Small budgets repeat a value: such a phase pulls nothing and still rejects.
    """
    arm_count, budget = index(arm_count), index(budget)  # NumPy's integers would overflow
    if arm_count == 1:
        return [budget]
    scale = log_bar(arm_count)
    spare = (budget - arm_count) * scale.denominator
    return [-(-spare // (scale.numerator * (arm_count + 1 - k))) for k in range(1, arm_count)]


def successive_rejects_phases(arm_count: int, budget: int) -> tuple[Phase, ...]:
    """Return the phases of Successive Rejects; a single arm gets one phase of all pulls.

    >>> import ringfence as rf
    >>> [(phase.pulls, phase.keep) for phase in rf.successive_rejects_phases(4, 100)]
    [(16, 3), (5, 2), (10, 1)]
    """
    totals = successive_rejects_totals(arm_count, budget)
    before = [0, *totals[:-1]]
    return tuple(
        Phase(total - earlier, 0, max(1, arm_count - k))
        for k, (total, earlier) in enumerate(zip(totals, before, strict=True), start=1)
    )


def one_more_than_arms(arm_count: int) -> int:
    """Return the least budget of a policy that needs one pull more than there are arms."""
    return arm_count + 1


def ten_or_half_a_share(arm_count: int, budget: int) -> int:
    """Return a warm-up: ten pulls of each arm, or fewer where half the budget is less."""
    return max(1, min(10, budget // (2 * arm_count)))


def five_or_half_a_share(arm_count: int, budget: int) -> int:
    """Return a warm-up: five pulls of each arm, or fewer where half the budget is less."""
    return max(1, min(5, budget // (2 * arm_count)))


def survivors(arm_count: int, phases: Sequence[Phase]) -> list[int]:
    """Return how many arms are pulled in each phase."""
    return [arm_count, *(phase.keep for phase in phases)][: len(phases)]


def pulls_used(arm_count: int, phases: Sequence[Phase]) -> int:
    """Return the pulls that a schedule spends, which may be fewer than its budget."""
    return sum(
        alive * phase.pulls + phase.extra
        for alive, phase in zip(survivors(arm_count, phases), phases, strict=True)
    )
