"""The question which arms keep all limits.

The answer is a set, and right only as a whole; the objective says merely which of its arms is
named. Every arm is asked about alone, so that there is no reference: an arm's gap is its distance
from the limits (Locatelli, Gutzeit and Carpentier 2016, where the limit is one). A phase policy
settles the clearest arm first. An arm that is no longer pulled still belongs to the answer or not,
by its last estimate. Touches its arguments only.
"""

from typing import TYPE_CHECKING

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.baseline import Versus
from ringfence.core.cost import NEVER, CostWork, failing_cost, passing_cost
from ringfence.core.gaps import leader, margin
from ringfence.core.question import Kind, Question
from ringfence.core.threats import Threats, add_failing, add_passing

if TYPE_CHECKING:  # it brings more than rules need
    from ringfence.core.answers import Answers


def reference(
    estimates: Floats, alive: Mask, scales: Floats, thresholds: Floats, priority: Integers
) -> tuple[int, float, float]:
    """Return nobody: no arm is compared with another one."""
    return -1, 0.0, 0.0


def gap(lead: float, own_margin: float, reference_margin: float) -> float:
    """Return how far an arm is from the limits, on either side."""
    return abs(own_margin)


def answer(
    estimates: Floats,
    seen: Mask,
    scales: Floats,
    thresholds: Floats,
    priority: Integers,
    marked: Mask,
) -> tuple[int, bool]:
    """Mark every arm seen that looks feasible; return the best of them, and whether there is one.

    `seen` are all arms that have been pulled, also those that are no longer.
    """
    for i in range(estimates.shape[0]):
        marked[i] = seen[i] & (margin(estimates, i, scales, thresholds) <= 0.0)
    best, _, best_margin = leader(estimates, seen, scales, thresholds, priority)
    if (best < 0) | (best_margin > 0.0):
        return -1, False
    return best, True


def optimal(means: Floats, scales: Floats, thresholds: Floats, marked: Mask) -> bool:
    """Mark every feasible arm; return whether there is any."""
    feasible = False
    for i in range(means.shape[0]):
        marked[i] = margin(means, i, scales, thresholds) <= 0.0
        feasible |= marked[i]
    return feasible


def right(optimal: Mask, truly_feasible: bool, marked: Mask, feasible: bool) -> bool:
    """Tell whether exactly the right arms are marked."""
    same = feasible == truly_feasible
    for i in range(optimal.shape[0]):
        same &= marked[i] == optimal[i]
    return same


def is_lost(optimal: Mask, alive: Mask, marked: Mask) -> bool:
    """Tell whether an arm that is no longer pulled is on the wrong side of the limits."""
    found = False
    for i in range(optimal.shape[0]):
        found |= (not alive[i]) & (marked[i] != optimal[i])
    return found


def kind(
    is_marked: bool,
    feasible: bool,
    own_margin: float,
    objective: float,
    best_objective: float,
) -> Kind:
    """Return whether an arm belongs to the answer."""
    return "optimal" if is_marked else "infeasible"


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
    """Put all threats to the marks into `threats` and return how many they are.

    A marked arm may fail each of its limits, another one pass.
    """
    count = 0
    for i in range(seen.shape[0]):
        if seen[i] & marked[i]:
            for c in range(1, scales.shape[0]):
                count = add_failing(threats, count, i, c, thresholds, versus)
        elif seen[i]:
            count = add_passing(threats, count, i, thresholds, versus)
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
    """Return the cost for an arm to be on the other side of the limits."""
    if is_marked:
        return failing_cost(estimates, covariances, arm, n, thresholds)
    return passing_cost(estimates, covariances, arm, n, thresholds, work)


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
    """Return that no arm threatens another one."""
    return NEVER, 0.0


def chance(answers: "Answers", marked: Mask, feasible: bool) -> float:
    """Return the share of draws in which exactly the marked arms are feasible."""
    return answers.whole


def arm_chances(answers: "Answers") -> Floats:
    """Return for each arm the share of draws in which it is feasible."""
    return answers.passing


ALL_FEASIBLE = Question(
    name="all feasible",
    settles=True,
    reference=reference,
    separation=gap,
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
