"""The theory of a known instance: kinds of arm, gaps, H1, H2, and what no policy can beat.

Paper: sections "Problem formulation", "Lower bound", Theorem 2 and Appendix B; our readings R4
and R5, and the notes on several optimal arms and on the constant of the bound, are in
docs/research/reading-notes.md. Touches its arguments only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.gaps import margin, pair
from ringfence.core.question import Kind, Question
from ringfence.core.schedule import log_bar

__all__ = ["ArmTheory", "Hardness", "Kind", "hardness", "lower_bound_rate", "upper_bound"]


@dataclass(frozen=True)
class ArmTheory:
    """One arm against the reference; delta and Delta are None for arms that may be it."""

    kind: Kind
    margin: float
    delta: float | None
    Delta: float | None
    rank: int


@dataclass(frozen=True)
class Hardness:
    """What makes an instance hard: infinite H1 and H2 mean that no budget suffices.

    >>> import ringfence as rf
    >>> theory = rf.Instance.load("paper-1").hardness
    >>> print(f"H2 = {theory.h2:.0f}", theory.feasible)
    H2 = 2400 True
    >>> [arm.kind for arm in theory.arms]
    ['optimal', 'feasible-suboptimal', 'feasible-suboptimal']
    """

    optimal: int
    feasible: bool
    arms: tuple[ArmTheory, ...]
    h1: float
    h2: float

    @property
    def optimal_arms(self) -> tuple[int, ...]:
        """Every arm that is a right answer, or belongs to it where the answer is a set."""
        return tuple(i for i, arm in enumerate(self.arms) if arm.kind == "optimal")

    @property
    def asks_arms_alone(self) -> bool:
        """Whether no arm is compared with another one, so that each must be seen rightly."""
        return all(arm.delta is not None for arm in self.arms)

    @property
    def conjectured_rate(self) -> float:
        """The rate 1/H1 of the paper's conjecture, up to its universal constant."""
        return math.inf if self.h1 == 0.0 else 1.0 / self.h1


def hardness(
    means: Floats, scales: Floats, thresholds: Floats, question: Question = BEST_FEASIBLE
) -> Hardness:
    """Return the theory of an instance from its true attributes.

    Where gaps are taken from an optimal arm, and there are several, it is the one with the least
    slack: only then does the upper bound hold (docs/research/reading-notes.md has a
    counterexample). Where they are taken from no arm, every arm has one, and `optimal` is the arm
    that the right answer names, or -1.
    """
    arm_count = means.shape[0]
    everyone, anyhow = np.ones(arm_count, np.bool_), np.arange(arm_count)
    margins = [float(margin(means, i, scales, thresholds)) for i in range(arm_count)]
    marked = np.zeros(arm_count, np.bool_)
    named, _ = question.answer(means, everyone, scales, thresholds, anyhow, marked)
    feasible = bool(question.optimal(means, scales, thresholds, marked))
    optimal_arms = np.flatnonzero(marked).tolist()
    if question.reference(means, everyone, scales, thresholds, anyhow)[0] < 0:
        best, leaders = int(named), []
    else:
        best, leaders = min(optimal_arms, key=lambda i: (abs(margins[i]), i)), optimal_arms
    others = [i for i in range(arm_count) if i not in leaders]

    pairs = {i: pair(means, best, i, scales, thresholds) for i in others}
    deltas = {i: float(question.separation(*pairs[i])) for i in others}
    gaps = {i: float(question.gap(*pairs[i])) for i in others}
    order = sorted(others, key=lambda i: _paper_order(gaps[i], margins[i], float(means[i, 0]), i))
    start = 1 + (len(leaders) > 0)
    rank = dict.fromkeys(leaders, 1) | {i: place for place, i in enumerate(order, start=start)}
    terms = [(rank[i], _inverse_square(gaps[i])) for i in order]

    best_objective = float(means[best, 0])
    kinds = [
        question.kind(bool(marked[i]), feasible, margins[i], float(means[i, 0]), best_objective)
        for i in range(arm_count)
    ]
    return Hardness(
        optimal=best,
        feasible=feasible,
        arms=tuple(
            ArmTheory(kinds[i], margins[i], deltas.get(i), gaps.get(i), rank[i])
            for i in range(arm_count)
        ),
        h1=math.fsum(term for _, term in terms),
        h2=max((place * term for place, term in terms), default=0.0),
    )


def upper_bound(theory: Hardness, budget: int, *, constraint_count: int) -> float:
    """Return the bound of Theorem 2 on Constrained-SR's error, with its constants summed exactly.

    It assumes that the concentration constants hold for every arm.
    """
    m, arm_count = constraint_count, len(theory.arms)
    slack = min(abs(theory.arms[i].margin) for i in theory.optimal_arms)
    if arm_count == 1:
        return min(1.0, (2 * m if theory.feasible else 2) * math.exp(-budget * slack**2))
    spare = budget - arm_count
    scale = float(log_bar(arm_count))
    if len(theory.optimal_arms) == arm_count:  # only the flag can be wrong
        return min(1.0, 2 * m * arm_count * math.exp(-spare * slack**2 / (2.0 * scale)))
    constant = arm_count * (arm_count - 1) * ((m + 2) + (m + 4) * (arm_count - 2) / 3) + 2 * m
    exponent = spare / (9.0 * scale * theory.h2) if theory.h2 > 0.0 else math.inf
    return min(1.0, constant * math.exp(-exponent))


def lower_bound_rate(theory: Hardness, covariances: Sequence[Floats] | None) -> float | None:
    """Return Delta^2 of Theorem 1, the fastest decay possible; None where it is not proven.

    It takes two Gaussian arms of one covariance (oriented, objective first) and one constraint.
    With negative correlation the statement is false.
    """
    gaps = [arm.Delta for arm in theory.arms if arm.Delta is not None]
    if covariances is None or len(theory.arms) != 2 or len(gaps) != 1:
        return None
    first, second = covariances
    if first.shape != (2, 2) or not np.array_equal(first, second) or first[0, 1] < 0.0:
        return None
    return gaps[0] ** 2


def _inverse_square(value: float) -> float:
    return 1.0 / (value * value) if value * value > 0.0 else math.inf


def _paper_order(
    own_gap: float, own_margin: float, objective: float, arm: int
) -> tuple[float, bool, float, float, int]:
    """Return the key of the paper's order: by gap, feasible first, then as the tie rule says."""
    if own_margin <= 0.0:
        return (own_gap, False, objective, own_margin, arm)
    return (own_gap, True, own_margin, objective, arm)
