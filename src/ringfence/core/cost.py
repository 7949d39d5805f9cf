"""What it would take for the answer to be another one: the least energy of a change.

Move the true attributes of one or two arms until the right answer changes: the cost is the
smallest possible sum of n/2 (move)' Sigma^-1 (move) over the moved arms. It is the exponent of
the error that a static allocation of n pulls makes (Glynn and Juneja; Hunter and Pasupathy), and
so serves the oracle's rate, the challengers of adaptive policies and the drifts of importance
sampling alike. docs/theory.md derives it.

    best arm feasible     it fails a constraint after all        failing_cost
                          another arm is feasible and better     beating_cost
    no arm feasible       an arm is feasible after all           passing_cost
                          another arm comes closer               nearing_cost

All are about one study: estimates[arm, attribute] as in gaps, covariances[arm] of one pull, n a
number of pulls (or a share of them: costs are proportional). A variance of zero means that the
attribute is known exactly: what would have to move it costs NEVER. Costs never fall when pulls are
added. `beating_hindrance` is what a chance lacks beyond its exponent. Touches its arguments only,
and writes in `work` alone.
"""

import math
from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Mask

NEVER = 1e100
_TINY = 1e-12
_MOST_PIVOTS = 200
_FAR = 8.5  # deviations, beyond which a normal's chance is nothing, or taken from its expansion
_LOG_ROOT = 0.9189385332046727  # of 2 pi
_ROOT_HALF = 0.7071067811865476


class CostWork(NamedTuple):
    """Room for one quadratic program of up to 1 + m variables: max eta'c - eta'G eta / 2.

    Before: c in `linear`, G in `tableau`. After: eta in `multipliers`.
    """

    linear: Floats
    tableau: Floats
    diagonal: Floats
    multipliers: Floats
    active: Mask


def cost_work(attribute_count: int) -> CostWork:
    """Return room for the programs of a problem with that many attributes."""
    n = attribute_count
    return CostWork(
        np.zeros(n), np.zeros((n, n + 1)), np.zeros(n), np.zeros(n), np.zeros(n, np.bool_)
    )


def least_energy(work: CostWork, size: int) -> float:
    """Solve the program in `work`: return max over eta >= 0 of eta'c - eta'G eta / 2.

    Murty's least-index principal pivoting for the complementary pair eta and G eta - c, in place.
    G may be singular (two constraints on one metric): a demand that follows from the active ones
    takes the place of one of them, and one that contradicts them is NEVER met.
    """
    linear, tableau, diagonal = work.linear, work.tableau, work.diagonal
    multipliers, active = work.multipliers, work.active
    for i in range(size):
        tableau[i, size] = -linear[i]
        diagonal[i] = tableau[i, i]
        active[i] = False
    for _ in range(_MOST_PIVOTS):  # bounds what rounding could prolong; a few are enough
        r = -1
        for i in range(size):
            slack = 0.0 if active[i] else -_TINY * abs(linear[i])
            if tableau[i, size] < slack:
                r = i
                break
        if r < 0:
            break
        if not active[r] and tableau[r, r] <= _TINY * diagonal[r]:
            s = replaced_by(r, work, size)
            if s < 0:
                return NEVER
            pivot(tableau, size, s)
            active[s] = False
        pivot(tableau, size, r)
        active[r] = not active[r]
    energy = 0.0
    for i in range(size):
        multipliers[i] = max(tableau[i, size], 0.0) if active[i] else 0.0
        energy += 0.5 * multipliers[i] * linear[i]
    return min(energy, NEVER)


def replaced_by(r: int, work: CostWork, size: int) -> int:
    """Return the active demand that r, a stricter form of it, replaces; -1 if there is none.

    Of several, the one whose multiplier reaches zero first as that of r grows.
    """
    least, found = 0.0, -1
    for i in range(size):
        slope = work.tableau[i, r]
        if work.active[i] and slope < -_TINY:
            ratio = -work.tableau[i, size] / slope
            if found < 0 or ratio < least:
                least, found = ratio, i
    return found


def pivot(tableau: Floats, size: int, r: int) -> None:
    """Exchange variable r with its complement in the tableau [M | q], in place."""
    inverse = 1.0 / tableau[r, r]
    for i in range(size):
        if i == r:
            continue
        factor = tableau[i, r] * inverse
        for j in range(size + 1):
            if j != r:
                tableau[i, j] -= factor * tableau[r, j]
        tableau[i, r] = factor
    for j in range(size + 1):
        tableau[r, j] *= -inverse
    tableau[r, r] = inverse


def failing_cost(
    estimates: Floats, covariances: Floats, arm: int, n: float, thresholds: Floats
) -> float:
    """Return the cost for a feasible-looking arm to fail some constraint after all.

    One constraint suffices, and correlation never makes that cheaper.
    """
    least = NEVER
    for c in range(1, estimates.shape[1]):
        variance = covariances[arm, c, c]
        if variance > 0.0:
            slack = thresholds[c - 1] - estimates[arm, c]
            least = min(least, n * slack * slack / (2.0 * variance))
    return least


def passing_cost(
    estimates: Floats, covariances: Floats, arm: int, n: float, thresholds: Floats, work: CostWork
) -> float:
    """Return the cost for an infeasible-looking arm to meet all constraints after all."""
    size = estimates.shape[1] - 1
    if size == 1 and covariances[arm, 1, 1] > 0.0:
        excess = max(estimates[arm, 1] - thresholds[0], 0.0)
        energy: float = n * excess * excess / (2.0 * covariances[arm, 1, 1])
        return min(energy, NEVER)
    for c in range(size):
        work.linear[c] = estimates[arm, c + 1] - thresholds[c]
        for k in range(size):
            work.tableau[c, k] = covariances[arm, c + 1, k + 1] / n
    return least_energy(work, size)


def beating_cost(
    estimates: Floats,
    covariances: Floats,
    best: int,
    best_n: float,
    arm: int,
    n: float,
    thresholds: Floats,
    work: CostWork,
) -> tuple[float, float]:
    """Return the cost for an arm to be feasible and better than the feasible best one.

    With it comes the best arm's share of the cost, which moves in its objective alone.
    """
    best_variance = covariances[best, 0, 0] / best_n
    lead = estimates[arm, 0] - estimates[best, 0]
    if estimates.shape[1] == 2:
        inverse = 1.0 / n
        variance, crossed = inverse * covariances[arm, 1, 1], inverse * covariances[arm, 0, 1]
        joint = inverse * covariances[arm, 0, 0] + best_variance
        if joint * variance - crossed * crossed > _TINY * joint * variance:
            excess = estimates[arm, 1] - thresholds[0]
            return _two_sided(lead, excess, joint, variance, crossed, best_variance)
    size = estimates.shape[1]
    for c in range(size):
        work.linear[c] = lead if c == 0 else estimates[arm, c] - thresholds[c - 1]
        for k in range(size):
            work.tableau[c, k] = covariances[arm, c, k] / n
    work.tableau[0, 0] += best_variance
    energy = least_energy(work, size)
    if energy <= 0.0 or energy >= NEVER:
        return energy, 0.0
    pressure = work.multipliers[0]
    return energy, min(1.0, pressure * pressure * best_variance / (2.0 * energy))


def _two_sided(
    lead: float, excess: float, joint: float, variance: float, crossed: float, best_variance: float
) -> tuple[float, float]:
    """Return beating_cost in closed form: two demands, of which one may imply the other."""
    if lead <= 0.0 and excess <= 0.0:
        return 0.0, 0.0
    if excess > 0.0 and lead * variance <= crossed * excess:
        return min(excess * excess / (2.0 * variance), NEVER), 0.0
    if lead > 0.0 and excess * joint <= crossed * lead:
        return min(lead * lead / (2.0 * joint), NEVER), best_variance / joint
    inverse = 1.0 / (joint * variance - crossed * crossed)
    pressure = (variance * lead - crossed * excess) * inverse
    energy = 0.5 * (lead * pressure + excess * (joint * excess - crossed * lead) * inverse)
    if energy <= 0.0 or energy >= NEVER:
        return min(max(energy, 0.0), NEVER), 0.0
    return energy, min(1.0, pressure * pressure * best_variance / (2.0 * energy))


def beating_hindrance(
    estimates: Floats,
    covariances: Floats,
    best: int,
    best_n: float,
    arm: int,
    n: float,
    thresholds: Floats,
) -> float:
    """Return what the chance to beat the feasible best arm lacks beyond its exponent, as a log.

    An arm must be better and meet every constraint. The cost is the exponent of the chance that
    all this holds at once. Where the hardest of the demands (in its deviations) is just met, each
    other one is a further chance: none if it is met anyway, log 2 on the verge, slowly more beyond.
    """
    if estimates.shape[1] == 2:  # the same by fewer steps: choosing a batch takes a tenth less
        lead, joint = _demand(estimates, covariances, best, best_n, arm, n, thresholds, 0)
        excess, variance = _demand(estimates, covariances, best, best_n, arm, n, thresholds, 1)
        crossed = covariances[arm, 0, 1] / n
        if lead * abs(lead) * variance >= excess * abs(excess) * joint:
            return _other_lack(lead, joint, excess, variance, crossed)
        return _other_lack(excess, variance, lead, joint, crossed)
    hardest, highest = -1, 0.0
    for c in range(estimates.shape[1]):
        gap, variance = _demand(estimates, covariances, best, best_n, arm, n, thresholds, c)
        height = gap * abs(gap) / variance if variance > 0.0 else 0.0
        if variance > 0.0 and (hardest < 0 or height > highest):
            hardest, highest = c, height
    if hardest < 0:
        return 0.0
    met, spread = _demand(estimates, covariances, best, best_n, arm, n, thresholds, hardest)
    total = 0.0
    for c in range(estimates.shape[1]):
        if c == hardest:
            continue
        gap, variance = _demand(estimates, covariances, best, best_n, arm, n, thresholds, c)
        crossed = covariances[arm, c, hardest] / n
        total += _other_lack(met, spread, gap, variance, crossed)
    return total


def _other_lack(met: float, spread: float, gap: float, variance: float, crossed: float) -> float:
    """Return what one demand lacks where another, of gap `met` and variance `spread`, is met."""
    if spread <= 0.0:
        return 0.0
    slope = crossed / spread
    free = variance - slope * crossed
    return lack((gap - slope * met) / math.sqrt(free)) if free > _TINY * variance else 0.0


def _demand(
    estimates: Floats,
    covariances: Floats,
    best: int,
    best_n: float,
    arm: int,
    n: float,
    thresholds: Floats,
    c: int,
) -> tuple[float, float]:
    """Return by how much an arm lacks attribute `c` to beat the best one, and the variance."""
    if c == 0:
        variance = covariances[arm, 0, 0] / n + covariances[best, 0, 0] / best_n
        return estimates[arm, 0] - estimates[best, 0], variance
    return estimates[arm, c] - thresholds[c - 1], covariances[arm, c, c] / n


def lack(z: float) -> float:
    """Return minus the log of a normal's chance to exceed z, without its exponent z^2 / 2.

    Below zero that chance has no exponent.
    """
    if z < -_FAR:
        return 0.0
    if z > _FAR:
        return _LOG_ROOT + math.log(z) + 1.0 / (z * z)
    chance = 0.5 * math.erfc(z * _ROOT_HALF)
    return -math.log(chance) - 0.5 * max(z, 0.0) ** 2


def nearing_cost(
    estimates: Floats,
    covariances: Floats,
    best: int,
    best_n: float,
    arm: int,
    n: float,
    scales: Floats,
    thresholds: Floats,
    work: CostWork,
) -> tuple[float, float]:
    """Return the cost for an arm to come closer to feasibility than the least infeasible one.

    With it comes the best arm's share. Closeness is the margin, in the units of `scales`: the arm
    is closer when, for some constraint of the best arm, all its own violations are smaller.
    """
    size = estimates.shape[1] - 1
    if size == 1:
        best_variance = covariances[best, 1, 1] / best_n
        joint = covariances[arm, 1, 1] / n + best_variance
        if joint > 0.0:
            lead = max(estimates[arm, 1] - estimates[best, 1], 0.0)
            return min(lead * lead / (2.0 * joint), NEVER), best_variance / joint
    least, share = NEVER, 0.0
    for b in range(size):
        violation = scales[b + 1] * (estimates[best, b + 1] - thresholds[b])
        scale = scales[b + 1] * scales[b + 1]
        best_variance = scale * covariances[best, b + 1, b + 1] / best_n
        for c in range(size):
            own = scales[c + 1] * (estimates[arm, c + 1] - thresholds[c])
            work.linear[c] = own - violation
            for k in range(size):
                scale = scales[c + 1] * scales[k + 1]
                work.tableau[c, k] = scale * covariances[arm, c + 1, k + 1] / n + best_variance
        energy = least_energy(work, size)
        if energy < least:
            least, share = energy, 0.0
            pressure = 0.0
            for c in range(size):
                pressure += work.multipliers[c]
            if energy > 0.0:
                share = min(1.0, pressure * pressure * best_variance / (2.0 * energy))
    return least, share
