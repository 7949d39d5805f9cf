"""What it would take for the answer to be another one: the least energy of a change.

Move the true attributes of one or two arms until the right answer changes: the cost is the
smallest possible sum of n/2 (move)' Sigma^-1 (move) over the moved arms. It is the exponent of
the error that a static allocation of n pulls makes (Glynn and Juneja; Hunter and Pasupathy), and
so serves the oracle's rate, the challengers of adaptive policies and the drifts of importance
sampling alike. docs/reference/theory.md derives it.

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
from ringfence.core.gaps import FURTHEST

NEVER = 1e100
_TINY = 1e-12
_MOST_PIVOTS = 200
_FAR = 1e60  # deviations, beyond which nothing is told apart
_NO_HINDRANCE = 1e8  # deviations below zero
_MOST_HINDRANCE = 1e200
_STEEPEST = 1e150
_ROOT_HALF_PI = 1.2533141373155003


class CostWork(NamedTuple):
    """Room for one quadratic program of up to 1 + m variables: max eta'c - eta'G eta / 2.

    Before: c in `linear`, G in `tableau`. After: eta in `multipliers`.
    """

    linear: Floats
    tableau: Floats
    diagonal: Floats
    multipliers: Floats
    units: Floats
    active: Mask


def cost_work(attribute_count: int) -> CostWork:
    """Return room for the programs of a problem with that many attributes."""
    n = attribute_count
    return CostWork(
        linear=np.zeros(n),
        tableau=np.zeros((n, n + 1)),
        diagonal=np.zeros(n),
        multipliers=np.zeros(n),
        units=np.zeros(n),
        active=np.zeros(n, np.bool_),
    )


def least_energy(work: CostWork, size: int) -> float:
    """Solve the program in `work`: return max over eta >= 0 of eta'c - eta'G eta / 2.

    Murty's least-index principal pivoting for the complementary pair eta and G eta - c, in place.
    G may be singular (two constraints on one metric): a demand that follows from the active ones
    takes the place of one of them, and one that contradicts them is NEVER met.
    """
    linear, tableau, diagonal = work.linear, work.tableau, work.diagonal
    multipliers, active = work.multipliers, work.active
    measure_in_deviations(work, size)
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
            if not tableau[s, s] > 0.0:  # as below
                break
            pivot(tableau, size, s)
            active[s] = False
        if not tableau[r, r] > 0.0:  # never, but for rounding
            break
        pivot(tableau, size, r)
        active[r] = not active[r]
    energy = 0.0
    for i in range(size):
        multipliers[i] = max(tableau[i, size], 0.0) if active[i] else 0.0
        energy += 0.5 * multipliers[i] * linear[i]
        multipliers[i] *= work.units[i]
    return min(energy, NEVER)


def measure_in_deviations(work: CostWork, size: int) -> None:
    """Put the program into units in which G has about ones in its diagonal, in place.

    Units are powers of two, so that nothing is rounded; they make sure that nothing overflows. What
    lies beyond any number of deviations that matters is as good as there.
    """
    linear, tableau, units = work.linear, work.tableau, work.units
    for i in range(size):
        units[i] = about_one_over_root(tableau[i, i])
    for i in range(size):
        far = _FAR / units[i]
        linear[i] = min(max(linear[i], -far), far) * units[i]
        for j in range(size):
            tableau[i, j] = tableau[i, j] * units[i] * units[j]


def about_one_over_root(variance: float) -> float:
    """Return the power of two that makes about 1 of a variance when it is multiplied twice; 1 of 0.

    By halving exponents: GPUs do not take floats apart.
    """
    unit, rest, step = 1.0, variance, 2.0**256
    for _ in range(9):
        if rest >= step * step:
            rest /= step * step
            unit /= step
        elif 0.0 < rest <= 1.0 / (step * step):
            rest *= step * step
            unit *= step
        step = math.sqrt(step)  # exact, of such powers
    return unit


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


def moving_cost(gap: float, variance: float, n: float) -> float:
    """Return the cost for one attribute to move by a gap, if it varies: at most NEVER."""
    near = min(gap, FURTHEST)
    square = n * near * near
    return square / max(2.0 * variance, square / NEVER)


def failing_cost(
    estimates: Floats, covariances: Floats, arm: int, n: float, thresholds: Floats
) -> float:
    """Return the cost for an arm to fail some constraint after all: zero if its estimate does.

    One constraint suffices, and correlation never makes that cheaper.
    """
    least = NEVER
    for c in range(1, estimates.shape[1]):
        variance = covariances[arm, c, c]
        if variance > 0.0:
            room = max(thresholds[c - 1] - estimates[arm, c], 0.0)
            least = min(least, moving_cost(room, variance, n))
    return least


def passing_cost(
    estimates: Floats, covariances: Floats, arm: int, n: float, thresholds: Floats, work: CostWork
) -> float:
    """Return the cost for an infeasible-looking arm to meet all constraints after all."""
    size = estimates.shape[1] - 1
    if size == 1 and covariances[arm, 1, 1] > 0.0:
        excess = max(estimates[arm, 1] - thresholds[0], 0.0)
        return moving_cost(excess, covariances[arm, 1, 1], n)
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
    if estimates.shape[1] == 2 and is_regular(covariances, arm):
        excess = estimates[arm, 1] - thresholds[0]
        cost, share, _ = two_demands(
            lead, excess, covariances[arm, 0, 0], covariances[arm, 1, 1], covariances[arm, 0, 1],
            n, n * best_variance,
        )  # fmt: skip
        return cost, share
    size = estimates.shape[1]
    for c in range(size):
        work.linear[c] = lead if c == 0 else estimates[arm, c] - thresholds[c - 1]
        for k in range(size):
            work.tableau[c, k] = covariances[arm, c, k] / n
    work.tableau[0, 0] += best_variance
    energy = least_energy(work, size)
    if energy <= 0.0 or energy >= NEVER:
        return energy, 0.0
    return energy, share_of(work.multipliers[0], work.units[0], best_variance, energy)


def share_of(pressure: float, unit: float, variance: float, energy: float) -> float:
    """Return the best arm's share of a cost; with a power of two as a unit nothing overflows."""
    pressure /= unit
    return min(1.0, pressure * pressure * (variance * unit * unit) / (2.0 * energy))


def is_regular(covariances: Floats, arm: int) -> bool:
    """Tell whether an arm's two attributes are noisy, and neither follows from the other.

    Noise is irregular also where products of variances are no numbers any more.
    """
    lead, limit = covariances[arm, 0, 0], covariances[arm, 1, 1]
    if not (min(lead, limit) > 1.0 / FURTHEST and max(lead, limit) < FURTHEST):
        return False
    product, crossed = lead * limit, covariances[arm, 0, 1]
    return bool(product - crossed * crossed > _TINY * product)


def two_demands(
    lead: float,
    excess: float,
    lead_variance: float,
    limit_variance: float,
    crossed: float,
    n: float,
    best_part: float,
) -> tuple[float, float, float]:
    """Return cost, share and hindrance of beating the best arm under one constraint.

    The closed form, for a regular arm that must give up a lead and an excess: both are measured in
    deviations, and what is left of each when the other is made good counts. `best_part` is the
    best arm's variance, times n over its pulls. Compiled it has no jumps: vector units can do it.
    """
    per_lead, per_limit = (
        1.0 / math.sqrt(lead_variance + best_part),
        1.0 / math.sqrt(limit_variance),
    )
    slope = crossed * per_lead * per_limit
    ahead = min(max(lead * per_lead, -_FAR), _FAR)
    over = min(max(excess * per_limit, -_FAR), _FAR)
    lead_left, limit_left = ahead - slope * over, over - slope * ahead
    free = 1.0 / (1.0 - slope * slope)
    square = ahead * lead_left + over * limit_left
    if (over > 0.0) & (lead_left <= 0.0):  # to pass is enough
        energy, part = over * over, 0.0
    elif (ahead > 0.0) & (limit_left <= 0.0):  # to be better is enough
        energy, part = ahead * ahead, 1.0
    elif (square > 0.0) & ((ahead > 0.0) | (over > 0.0)):
        energy, part = square * free, lead_left * lead_left * free / square
    else:
        energy, part = 0.0, 0.0
    verge = limit_left if ahead >= over else lead_left
    share = min(1.0, part * best_part * per_lead * per_lead)
    return min(0.5 * n * energy, NEVER), share, hindrance(verge * math.sqrt(n * free))


def fill_beating(
    costs: Floats,
    shares: Floats,
    hindrances: Floats,
    estimates: Floats,
    covariances: Floats,
    best: int,
    pulls: Floats,
    thresholds: Floats,
) -> None:
    """Put every arm's cost, share and hindrance of beating the best one into their places.

    For regular arms under one constraint, all of them alive.
    """
    best_variance = covariances[best, 0, 0] / pulls[best]
    for i in range(estimates.shape[0]):
        costs[i], shares[i], hindrances[i] = two_demands(
            estimates[i, 0] - estimates[best, 0], estimates[i, 1] - thresholds[0],
            covariances[i, 0, 0], covariances[i, 1, 1], covariances[i, 0, 1],
            pulls[i], pulls[i] * best_variance,
        )  # fmt: skip


def hindrance(z: float) -> float:
    """Return how many times less likely one more demand, z deviations away, makes a threat.

    That is one over a normal's chance to exceed z, without the exponent exp(-z^2/2) of z > 0, which
    the cost has already: 1 far below zero, 2 on the verge, z sqrt(2 pi) far beyond. This curve
    has all three and is nowhere off by more than 17%, for the price of a root. Where rounding would
    take it below 1 it is 1.
    """
    y = _ROOT_HALF_PI * min(max(z, -_NO_HINDRANCE), _FAR)
    return 1.0 + y + math.sqrt(1.0 + y * y)


def beating_hindrance(
    estimates: Floats,
    covariances: Floats,
    best: int,
    best_n: float,
    arm: int,
    n: float,
    thresholds: Floats,
) -> float:
    """Return how many times less likely it is to beat the feasible best arm than its cost says.

    An arm must be better and meet every constraint. The cost is the exponent of the chance that
    all this holds at once. Where the hardest of the demands (in its deviations) is just met, each
    other one is a hindrance.
    """
    hardest, highest = -1, 0.0
    for c in range(estimates.shape[1]):
        gap, variance = _demand(estimates, covariances, best, best_n, arm, n, thresholds, c)
        near = min(max(gap, -FURTHEST), FURTHEST)
        square = near * abs(near)
        height = square / max(variance, abs(square) / NEVER) if variance > 0.0 else 0.0
        if variance > 0.0 and (hardest < 0 or height > highest):
            hardest, highest = c, height
    if hardest < 0:
        return 1.0
    met, spread = _demand(estimates, covariances, best, best_n, arm, n, thresholds, hardest)
    far = _FAR * math.sqrt(spread)
    met = min(max(met, -far), far)
    total = 1.0
    for c in range(estimates.shape[1]):
        if c == hardest:
            continue
        gap, variance = _demand(estimates, covariances, best, best_n, arm, n, thresholds, c)
        slope = covariances[arm, c, hardest] / n / spread
        slope = min(max(slope, -_STEEPEST), _STEEPEST)
        free = variance - slope * slope * spread
        if free > _TINY * variance:
            total *= hindrance((gap - slope * met) / math.sqrt(free))
            total = min(total, _MOST_HINDRANCE)
    return total


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


def one_nearer(lead: float, variance: float, best_variance: float) -> tuple[float, float]:
    """Return cost and share of coming closer than the best arm under one constraint.

    The variances are those of the estimates.
    """
    joint = variance + best_variance
    return moving_cost(max(lead, 0.0), joint, 1.0), best_variance / joint


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
        variance, best_variance = covariances[arm, 1, 1] / n, covariances[best, 1, 1] / best_n
        if variance + best_variance > 0.0:
            return one_nearer(estimates[arm, 1] - estimates[best, 1], variance, best_variance)
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
            pressure, unit = 0.0, 0.0
            for c in range(size):
                pressure += work.multipliers[c]
                unit = max(unit, work.units[c])
            if energy > 0.0:
                share = share_of(pressure, unit, best_variance, energy)
    return least, share
