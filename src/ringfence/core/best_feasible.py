"""The question which arm is best of those that keep all limits or, if none does, comes closest.

It is the paper's. With several right arms any of them is right, and the flag must be right too.
Gaps are the paper's delta and Delta from the apparent best arm (see gaps.py). Touches its arguments
only.
"""

from typing import TYPE_CHECKING

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.baseline import Versus
from ringfence.core.cost import (
    NEVER,
    CostWork,
    beating_cost,
    failing_cost,
    nearing_cost,
    passing_cost,
)
from ringfence.core.gaps import gap, leader, margin, separation
from ringfence.core.question import Kind, Question
from ringfence.core.threats import Threats, add_beating, add_failing, add_nearing, add_passing

if TYPE_CHECKING:  # it brings more than rules need
    from ringfence.core.answers import Answers


def answer(
    estimates: Floats,
    seen: Mask,
    scales: Floats,
    thresholds: Floats,
    priority: Integers,
    marked: Mask,
) -> tuple[int, bool]:
    """Mark the arm that looks best of those seen; return it, and whether it looks feasible."""
    best, _, best_margin = leader(estimates, seen, scales, thresholds, priority)
    for i in range(estimates.shape[0]):
        marked[i] = i == best
    return best, (best >= 0) & (best_margin <= 0.0)


def optimal(means: Floats, scales: Floats, thresholds: Floats, marked: Mask) -> bool:
    """Mark every arm that is as good as the best; return whether any arm is feasible."""
    feasible = False
    for i in range(means.shape[0]):
        feasible |= margin(means, i, scales, thresholds) <= 0.0
    least = np.inf
    for i in range(means.shape[0]):
        own_margin = margin(means, i, scales, thresholds)
        if (own_margin <= 0.0) | (not feasible):
            least = min(least, means[i, 0] if feasible else own_margin)
    for i in range(means.shape[0]):
        own_margin = margin(means, i, scales, thresholds)
        value = means[i, 0] if feasible else own_margin
        marked[i] = ((own_margin <= 0.0) | (not feasible)) & (value == least)
    return feasible


def right(optimal: Mask, truly_feasible: bool, marked: Mask, feasible: bool) -> bool:
    """Tell whether an answer is one right arm, with the right flag."""
    count, right_count = 0, 0
    for i in range(optimal.shape[0]):
        count += marked[i]
        right_count += marked[i] & optimal[i]
    return (count == 1) & (right_count == 1) & (feasible == truly_feasible)


def is_lost(optimal: Mask, alive: Mask, marked: Mask) -> bool:
    """Tell whether every right arm has been dropped."""
    lost = True
    for i in range(optimal.shape[0]):
        lost &= not (optimal[i] & alive[i])
    return lost


def kind(
    is_marked: bool,
    feasible: bool,
    own_margin: float,
    objective: float,
    best_objective: float,
) -> Kind:
    """Return what an arm is beside the best one: a deceiver is no worse, but not allowed."""
    if is_marked:
        return "optimal"
    if own_margin <= 0.0:
        return "feasible-suboptimal"
    if not feasible:
        return "infeasible"
    return "deceiver" if objective <= best_objective else "infeasible-suboptimal"


def fill_threats(
    seen: Mask,
    marked: Mask,
    named: int,
    feasible: bool,
    scales: Floats,
    thresholds: Floats,
    versus: Versus,
    threats: Threats,
) -> int:
    """Put all threats to the named arm into `threats` and return how many they are.

    First those of one arm alone, then those of two. An arm that looks feasible may fail each of
    its limits, and another one beat it. Where none looks feasible, any may pass after all, and
    another one come closer: below each of the named arm's violations.
    """
    count = 0
    if feasible:
        for c in range(1, scales.shape[0]):
            count = add_failing(threats, count, named, c, thresholds, versus)
    else:
        for i in range(seen.shape[0]):
            if seen[i]:
                count = add_passing(threats, count, i, thresholds, versus)
    for i in range(seen.shape[0]):
        if (not seen[i]) | (i == named):
            continue
        if feasible:
            count = add_beating(threats, count, i, named, thresholds, versus)
        else:
            for b in range(1, scales.shape[0]):
                count = add_nearing(threats, count, i, named, b, scales, thresholds, versus)
    return count


def own_cost(
    estimates: Floats,
    covariances: Floats,
    arm: int,
    n: float,
    is_marked: bool,
    feasible: bool,
    thresholds: Floats,
    work: CostWork,
) -> float:
    """Return the cost for the named arm to fail; where none looks feasible, for any to pass."""
    if not feasible:
        return passing_cost(estimates, covariances, arm, n, thresholds, work)
    return failing_cost(estimates, covariances, arm, n, thresholds) if is_marked else NEVER


def pair_cost(
    estimates: Floats,
    covariances: Floats,
    named: int,
    named_n: float,
    arm: int,
    n: float,
    feasible: bool,
    scales: Floats,
    thresholds: Floats,
    work: CostWork,
) -> tuple[float, float]:
    """Return the cost for an arm to take the named one's place, and the named one's share."""
    if feasible:
        return beating_cost(estimates, covariances, named, named_n, arm, n, thresholds, work)
    return nearing_cost(estimates, covariances, named, named_n, arm, n, scales, thresholds, work)


def chance(answers: "Answers", marked: Mask, feasible: bool) -> float:
    """Return the share of draws in which a marked arm is right, with this flag."""
    return answers.share(np.flatnonzero(marked), feasible=feasible)


def arm_chances(answers: "Answers") -> Floats:
    """Return for each arm the share of draws in which it is the right one."""
    return answers.chances


BEST_FEASIBLE = Question(
    name="best feasible",
    settles=False,
    reference=leader,
    separation=separation,
    gap=gap,
    answer=answer,
    optimal=optimal,
    right=right,
    is_lost=is_lost,
    kind=kind,
    fill_threats=fill_threats,
    own_cost=own_cost,
    pair_cost=pair_cost,
    chance=chance,
    arm_chances=arm_chances,
)
