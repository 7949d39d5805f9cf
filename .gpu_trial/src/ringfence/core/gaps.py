"""What a set of estimates says: margins, the arm that looks best, and how far others trail.

Paper: equation (emp_opt_arm) for the apparent best; section "Lower bound" for delta and Delta,
which are `separation` and `gap` here. Several constraints enter through the margin, as in
docs/reading-notes.md.

Every function is about one study: estimates[arm, attribute] with the objective in column 0 and
lower better everywhere, scales[attribute] = sqrt(a), thresholds one a constraint, priority[arm]
an arm's rank in the tie order. They run as they are, and compiled. Touches its arguments only.
"""

from ringfence.core.arrays import Floats, Integers, Mask


def margin(estimates: Floats, arm: int, scales: Floats, thresholds: Floats) -> float:
    """Return the largest scaled violation; an arm is feasible when it is <= 0.

    The sign is exact: a value equal to its threshold gives exactly zero.
    """
    worst: float = scales[1] * (estimates[arm, 1] - thresholds[0])
    for c in range(2, estimates.shape[1]):
        worst = max(worst, scales[c] * (estimates[arm, c] - thresholds[c - 1]))
    return worst


def precedes(
    first: float, second: float, rank: int, other_first: float, other_second: float, other_rank: int
) -> bool:
    """Tell whether (first, second, rank) comes before the other triple in dictionary order."""
    if first != other_first:
        return first < other_first
    if second != other_second:
        return second < other_second
    return rank < other_rank


def apparent_best(
    estimates: Floats, alive: Mask, scales: Floats, thresholds: Floats, priority: Integers
) -> int:
    """Return the arm that looks optimal: least objective if any looks feasible, else least margin.

    Ties: then the least margin, then the first in priority. `nearest` matters only until the
    first feasible-looking arm turns up.
    """
    best = -1
    best_margin = 0.0
    nearest = -1
    nearest_margin = 0.0
    for i in range(estimates.shape[0]):
        if not alive[i]:
            continue
        own_margin = margin(estimates, i, scales, thresholds)
        if own_margin <= 0.0:
            if best < 0 or precedes(
                estimates[i, 0], own_margin, priority[i],
                estimates[best, 0], best_margin, priority[best],
            ):  # fmt: skip
                best = i
                best_margin = own_margin
        elif best < 0 and (
            nearest < 0
            or own_margin < nearest_margin
            or (own_margin == nearest_margin and priority[i] < priority[nearest])
        ):
            nearest = i
            nearest_margin = own_margin
    return best if best >= 0 else nearest


def separation(estimates: Floats, best: int, arm: int, scales: Floats, thresholds: Floats) -> float:
    """Return the paper's delta(best, arm), where `best` must be the better of the two.

    A deceiver (infeasible, objective no worse) is separated by its margin alone.
    """
    best_margin = margin(estimates, best, scales, thresholds)
    arm_margin = margin(estimates, arm, scales, thresholds)
    if best_margin > 0.0:
        return arm_margin - best_margin
    lead: float = scales[0] * (estimates[arm, 0] - estimates[best, 0])
    if arm_margin <= 0.0:
        return lead
    return max(arm_margin, lead)


def gap(estimates: Floats, best: int, arm: int, scales: Floats, thresholds: Floats) -> float:
    """Return the paper's Delta(best, arm): the separation, capped by |margin of best|."""
    return min(
        abs(margin(estimates, best, scales, thresholds)),
        separation(estimates, best, arm, scales, thresholds),
    )


def goes_first(
    estimates: Floats,
    arm: int,
    arm_margin: float,
    other: int,
    other_margin: float,
    priority: Integers,
) -> bool:
    """Tell whether `arm` is dropped before `other` when no gap decides between them.

    Infeasible-looking before feasible-looking; then the larger margin among infeasible ones, the
    larger objective among feasible ones; then the other of the two; then the last in priority.
    """
    if (arm_margin > 0.0) != (other_margin > 0.0):
        return arm_margin > 0.0
    objective, other_objective = estimates[arm, 0], estimates[other, 0]
    rank, other_rank = priority[arm], priority[other]
    if arm_margin > 0.0:
        return precedes(other_margin, other_objective, other_rank, arm_margin, objective, rank)
    return precedes(other_objective, other_margin, other_rank, objective, arm_margin, rank)
