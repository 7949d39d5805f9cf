"""What a set of estimates says: margins, the arm that looks best, and how far others trail.

Paper: equation (emp_opt_arm) for the apparent best; section "Lower bound" for delta and Delta,
which are `separation` and `gap` here. Several constraints enter through the margin, as in
docs/research/reading-notes.md.

Every function is about one study: estimates[arm, attribute] with the objective in column 0 and
lower better everywhere, scales[attribute] = sqrt(a), thresholds one a constraint, priority[arm]
an arm's rank in the tie order. They run as they are, and compiled, many replications side by side:
so that vector units can do that, rules read arms in turn (not by a number that they found),
remember of the arm they hold what they compare, and use & and | between comparisons. Touches its
arguments only.
"""

import math

from ringfence.core.arrays import Floats, Integers, Mask

FURTHEST = 1e140  # beyond which no square is taken, for it would not be a number


def margin(estimates: Floats, arm: int, scales: Floats, thresholds: Floats) -> float:
    """Return the largest scaled violation; an arm is feasible when it is <= 0.

    The sign is exact: a value equal to its threshold gives exactly zero. Without limits it is
    minus infinity.
    """
    if estimates.shape[1] == 1:
        return -math.inf
    worst: float = scales[1] * (estimates[arm, 1] - thresholds[0])
    for c in range(2, estimates.shape[1]):
        worst = max(worst, scales[c] * (estimates[arm, c] - thresholds[c - 1]))
    return worst


def may_pass(excess: float, variance: float, n: float) -> bool:
    """Tell whether an estimate of n pulls is over its limit by no more than its deviation."""
    over = min(max(excess, 0.0), FURTHEST)
    return (excess <= 0.0) | (over * over * n <= variance)


def lenient_margin(
    estimates: Floats, arm: int, scales: Floats, thresholds: Floats, covariances: Floats, n: float
) -> float:
    """Return an arm's margin, zero if it is over no limit by more than a deviation of n pulls."""
    passes = True
    for c in range(1, estimates.shape[1]):
        passes &= may_pass(estimates[arm, c] - thresholds[c - 1], covariances[arm, c, c], n)
    own = margin(estimates, arm, scales, thresholds)
    return min(own, 0.0) if passes else own


def precedes(
    first: float,
    second: float,
    rank: float,
    other_first: float,
    other_second: float,
    other_rank: float,
) -> bool:
    """Tell whether (first, second, rank) comes before the other triple in dictionary order."""
    return (first < other_first) | (
        (first == other_first)
        & ((second < other_second) | ((second == other_second) & (rank < other_rank)))
    )


def apparent_best(
    estimates: Floats, alive: Mask, scales: Floats, thresholds: Floats, priority: Integers
) -> int:
    """Return the arm that looks optimal: least objective if any looks feasible, else least margin.

    Ties: then the least margin, then the first in priority.
    """
    return leader(estimates, alive, scales, thresholds, priority)[0]


def leader(
    estimates: Floats, alive: Mask, scales: Floats, thresholds: Floats, priority: Integers
) -> tuple[int, float, float]:
    """Return the apparent best, its objective and its margin."""
    best, best_objective, best_margin, best_rank = -1, 0.0, 0.0, 0
    for i in range(estimates.shape[0]):
        objective, rank = estimates[i, 0], priority[i]
        own_margin = margin(estimates, i, scales, thresholds)
        better = looks_better(objective, own_margin, rank, best_objective, best_margin, best_rank)
        if alive[i] & ((best < 0) | better):
            best, best_objective, best_margin, best_rank = i, objective, own_margin, rank
    return best, best_objective, best_margin


def looks_better(
    objective: float,
    own_margin: float,
    rank: float,
    best_objective: float,
    best_margin: float,
    best_rank: float,
) -> bool:
    """Tell whether an arm looks better than the one that looks best so far."""
    if own_margin <= 0.0:
        return (best_margin > 0.0) | precedes(
            objective, own_margin, rank, best_objective, best_margin, best_rank
        )
    return precedes(own_margin, 0.0, rank, best_margin, 0.0, best_rank)


def pair(
    estimates: Floats, best: int, arm: int, scales: Floats, thresholds: Floats
) -> tuple[float, float, float]:
    """Return what `gap` compares: the lead of the best over the arm, and both margins."""
    lead: float = scales[0] * (estimates[arm, 0] - estimates[best, 0])
    arm_margin = margin(estimates, arm, scales, thresholds)
    return lead, arm_margin, margin(estimates, best, scales, thresholds)


def separation(lead: float, arm_margin: float, best_margin: float) -> float:
    """Return the paper's delta(best, arm), where `best` must be the better of the two.

    A deceiver (infeasible, objective no worse) is separated by its margin alone.
    """
    if best_margin > 0.0:
        return arm_margin - best_margin
    if arm_margin <= 0.0:
        return lead
    return max(arm_margin, lead)


def gap(lead: float, arm_margin: float, best_margin: float) -> float:
    """Return the paper's Delta(best, arm): the separation, capped by |margin of best|."""
    return min(abs(best_margin), separation(lead, arm_margin, best_margin))


def goes_first(
    objective: float,
    own_margin: float,
    rank: int,
    other_objective: float,
    other_margin: float,
    other_rank: int,
) -> bool:
    """Tell whether an arm is dropped before the other when no gap decides between them.

    Infeasible-looking before feasible-looking; then the larger margin among infeasible ones, the
    larger objective among feasible ones; then the other of the two; then the last in priority.
    """
    infeasible = own_margin > 0.0
    if infeasible != (other_margin > 0.0):
        return infeasible
    if infeasible:
        return precedes(other_margin, other_objective, other_rank, own_margin, objective, rank)
    return precedes(other_objective, other_margin, other_rank, objective, own_margin, rank)
