"""Ways in which an answer may be wrong: linear demands on the attributes of few arms.

A threat moves true attributes y until all its demands A (y - o) <= b hold; o are the thresholds (0
for the objective), so that what lies close to a limit loses nothing to rounding. With S the joint
covariance of the estimates, its cost is max over eta >= 0 of eta'c - eta'G eta / 2, where
c = A (y - o) - b and G = A S A'. The move that brings it about is -S A' eta. Both are
derived in docs/reference/theory.md. `joint` alone knows S: arms are independent, until they
share what they are tried on.

A limit may be relative to a baseline. The baseline is then an arm in the row like any other, so
that the noise which it shares with the arms in the row is counted exactly.

The closed forms in cost.py are the same numbers for the threats that are common; a law holds them
equal. Touches its arguments only, and writes in `threats`, `work` and what it is asked to fill.
"""

from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.baseline import Versus
from ringfence.core.cost import NEVER, CostWork, least_energy

ARM, RIVAL, REFERENCE = 0, 1, 2  # the places of a threat
PLACES = 3
NOBODY = -1


class Threats(NamedTuple):
    """Room for threats; `arms[t]` are an arm, its rival and a reference, or NOBODY.

    `rows[t, demand, place, attribute]` is A, `bounds[t, demand]` b, `sizes[t]` how many demands
    there are. A `strict` threat must go beyond its bound: an attribute that is known exactly, and
    lies on the bound, does not.
    """

    arms: Integers
    rows: Floats
    bounds: Floats
    sizes: Integers
    strict: Mask


def make_threats(arm_count: int, attribute_count: int) -> Threats:
    """Return room for all threats to an answer about so many arms."""
    most = arm_count * attribute_count
    return Threats(
        arms=np.full((most, PLACES), NOBODY),
        rows=np.zeros((most, attribute_count, PLACES, attribute_count)),
        bounds=np.zeros((most, attribute_count)),
        sizes=np.zeros(most, np.int64),
        strict=np.zeros(most, np.bool_),
    )


# --------------------------------------------------------------------- what threats demand


def add_failing(threats: Threats, t: int, arm: int, c: int, limits: Floats, versus: Versus) -> int:
    """Add the threat that an arm is over limit c after all; return how many there are now."""
    _open(threats, t, arm, NOBODY, 1)
    threats.strict[t] = True
    _add_limit(threats, t, 0, ARM, c, -1.0, limits, versus)
    return t + 1


def add_passing(threats: Threats, t: int, arm: int, limits: Floats, versus: Versus) -> int:
    """Add the threat that an arm keeps all limits after all."""
    size = threats.rows.shape[3] - 1
    _open(threats, t, arm, NOBODY, size)
    for c in range(1, size + 1):
        _add_limit(threats, t, c - 1, ARM, c, 1.0, limits, versus)
    return t + 1


def add_beating(
    threats: Threats, t: int, arm: int, rival: int, limits: Floats, versus: Versus
) -> int:
    """Add the threat that an arm keeps all limits and is better than its rival."""
    size = threats.rows.shape[3]
    _open(threats, t, arm, rival, size)
    threats.rows[t, 0, ARM, 0] = 1.0
    threats.rows[t, 0, RIVAL, 0] = -1.0
    for c in range(1, size):
        _add_limit(threats, t, c, ARM, c, 1.0, limits, versus)
    return t + 1


def add_nearing(
    threats: Threats,
    t: int,
    arm: int,
    rival: int,
    b: int,
    scales: Floats,
    limits: Floats,
    versus: Versus,
) -> int:
    """Add the threat that all an arm's scaled violations are below its rival's of limit b.

    Of one limit the scale does not matter, and is left out: it would only round.
    """
    size = threats.rows.shape[3] - 1
    _open(threats, t, arm, rival, size)
    for c in range(1, size + 1):
        own, other = (scales[c], scales[b]) if size > 1 else (1.0, 1.0)
        _add_limit(threats, t, c - 1, ARM, c, own, limits, versus)
        _add_limit(threats, t, c - 1, RIVAL, b, -other, limits, versus)
    return t + 1


def _open(threats: Threats, t: int, arm: int, rival: int, size: int) -> None:
    threats.arms[t, ARM], threats.arms[t, RIVAL] = arm, rival
    threats.arms[t, REFERENCE] = NOBODY
    threats.sizes[t], threats.strict[t] = size, False
    for d in range(size):
        threats.bounds[t, d] = 0.0
        for place in range(PLACES):
            for c in range(threats.rows.shape[3]):
                threats.rows[t, d, place, c] = 0.0


def _add_limit(
    threats: Threats,
    t: int,
    d: int,
    place: int,
    c: int,
    scale: float,
    limits: Floats,
    versus: Versus,
) -> None:
    """Add to a demand by how much the arm at a place is over limit c, times a scale."""
    threats.rows[t, d, place, c] += scale
    baseline, factor = versus.place[0], versus.factors[c - 1]
    if (baseline >= 0) & (factor != 0.0):  # it may be the arm or its rival once more
        threats.arms[t, REFERENCE] = baseline
        threats.rows[t, d, REFERENCE, c] -= scale * factor
        threats.bounds[t, d] += scale * factor * limits[c - 1]


# ------------------------------------------------------------------------ what they cost


def joint(covariances: Floats, pulls: Floats, i: int, c: int, j: int, k: int) -> float:
    """Return the covariance of the estimates of arm i's attribute c and arm j's attribute k."""
    if i != j:
        return 0.0
    shared: float = covariances[i, c, k] / pulls[i]
    return shared


def threat_cost(
    threats: Threats,
    t: int,
    estimates: Floats,
    covariances: Floats,
    pulls: Floats,
    limits: Floats,
    work: CostWork,
) -> float:
    """Return the cost of a threat, with eta in `work`: the least energy that brings it about."""
    size = threats.sizes[t]
    for d in range(size):
        work.linear[d] = _missing(threats, t, d, estimates, limits)
        for e in range(size):
            work.tableau[d, e] = _spread(threats, t, d, e, covariances, pulls)
        if threats.strict[t] & (work.tableau[d, d] <= 0.0) & (work.linear[d] >= 0.0):
            return NEVER
    return least_energy(work, size)


def _missing(threats: Threats, t: int, d: int, estimates: Floats, limits: Floats) -> float:
    """Return by how much a demand is not met."""
    total: float = -threats.bounds[t, d]
    for place in range(PLACES):
        arm = threats.arms[t, place]
        for c in range(estimates.shape[1]):
            row = threats.rows[t, d, place, c]
            if (arm >= 0) & (row != 0.0):
                total += row * (estimates[arm, c] - (limits[c - 1] if c > 0 else 0.0))
    return total


def _spread(threats: Threats, t: int, d: int, e: int, covariances: Floats, pulls: Floats) -> float:
    """Return the covariance of two demands."""
    total = 0.0
    for place in range(PLACES):
        total += _noise_at(threats, t, d, e, place, covariances, pulls)
    return total


def _noise_at(
    threats: Threats, t: int, d: int, e: int, place: int, covariances: Floats, pulls: Floats
) -> float:
    """Return the part of one place in the covariance of two demands."""
    i, total = threats.arms[t, place], 0.0
    for c in range(covariances.shape[1]):
        row = threats.rows[t, d, place, c]
        if (i >= 0) & (row != 0.0):
            total += row * _pressed(threats, t, e, i, c, covariances, pulls)
    return total


def _pressed(
    threats: Threats, t: int, d: int, i: int, c: int, covariances: Floats, pulls: Floats
) -> float:
    """Return the covariance of an arm's attribute with a demand."""
    total = 0.0
    for place in range(PLACES):
        j = threats.arms[t, place]
        for k in range(covariances.shape[1]):
            row = threats.rows[t, d, place, k]
            if (j >= 0) & (row != 0.0):
                total += row * joint(covariances, pulls, i, c, j, k)
    return total


def fill_shares(
    shares: Floats,
    threats: Threats,
    t: int,
    covariances: Floats,
    pulls: Floats,
    energy: float,
    work: CostWork,
) -> None:
    """Put each place's share of a threat's cost into `shares`, from the eta that it left in `work`.

    Shares add up to 1; all are 0 where the cost is 0 or NEVER. As pulls are added to one arm, the
    cost grows by its share over its pulls.
    """
    size = threats.sizes[t]
    for place in range(PLACES):
        i, total = threats.arms[t, place], 0.0
        if (i >= 0) & (energy > 0.0) & (energy < NEVER):
            for d in range(size):
                for e in range(size):
                    first, second = work.units[d], work.units[e]  # so that squares are numbers
                    pressed = work.multipliers[d] / first * (work.multipliers[e] / second)
                    if pressed > 0.0:
                        noise = _noise_at(threats, t, d, e, place, covariances, pulls)
                        total += pressed * (noise * first * second)
            total /= 2.0 * energy
        shares[place] = total


def fill_move(
    move: Floats,
    threats: Threats,
    t: int,
    covariances: Floats,
    pulls: Floats,
    work: CostWork,
) -> None:
    """Put the move [arm, attribute] that brings a threat about into `move`, from eta in `work`."""
    for i in range(move.shape[0]):
        for c in range(move.shape[1]):
            total = 0.0
            for d in range(threats.sizes[t]):
                if work.multipliers[d] > 0.0:
                    pressed = _pressed(threats, t, d, i, c, covariances, pulls)
                    total -= pressed * work.multipliers[d]
            move[i, c] = total


def least_cost(
    threats: Threats,
    count: int,
    estimates: Floats,
    covariances: Floats,
    pulls: Floats,
    limits: Floats,
    work: CostWork,
) -> float:
    """Return the cost of the cheapest threat: the rate of errors, where pulls are shares of 1."""
    least = NEVER
    for t in range(count):
        least = min(least, threat_cost(threats, t, estimates, covariances, pulls, limits, work))
    return least
