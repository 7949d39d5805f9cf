"""What the truth may be, given the pulls: normal around the estimates, arm by arm.

Under a flat prior and known covariances this is the posterior; with estimated covariances it is
close to it. Touches its arguments only; `fill_...` write in place.
"""

import math

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.chance import next_normal
from ringfence.core.gaps import leader, margin

SAFETY = 3.0  # how often a feasible-looking arm's chance to fail counts against preferring it
NODES = 32  # cells in which an integral over a normal is cut, within REACH deviations
REACH = 4.0
DENSITY = 0.3989422804014327  # of a standard normal at zero
NEGLIGIBLE = 1e-9
EVEN = 0.45  # a doubt below this leaves no room for a likelier answer, nor for its rounding


def fill_factors(factors: Floats, covariances: Floats, counts: Integers, alive: Mask) -> None:
    """Put a square root of every living arm's covariance / count into `factors` (Cholesky's).

    A direction without variance gets a column of zeros.
    """
    width = covariances.shape[1]
    for i in range(counts.shape[0]):
        if not alive[i]:
            continue
        for c in range(width):
            for k in range(c + 1):
                rest = covariances[i, c, k] / counts[i]
                for d in range(k):
                    rest -= factors[i, c, d] * factors[i, k, d]
                if c == k:
                    factors[i, c, c] = max(rest, 0.0) ** 0.5
                else:
                    root = factors[i, k, k]
                    factors[i, c, k] = rest / root if root > 0.0 else 0.0


def fill_draw(draw: Floats, estimates: Floats, factors: Floats, alive: Mask, state: Floats) -> None:
    """Put one draw of every living arm's attributes into `draw`."""
    width = estimates.shape[1]
    for i in range(estimates.shape[0]):
        if not alive[i]:
            continue
        for c in range(width):
            draw[i, c] = estimates[i, c]
        for d in range(width):
            normal = next_normal(state)
            for c in range(d, width):
                draw[i, c] += factors[i, c, d] * normal


def chance_below(gap: float, variance: float) -> float:
    """Return the probability that a normal with mean `gap` and that variance is at most zero."""
    if variance <= 0.0:
        return 1.0 if gap <= 0.0 else 0.0
    return 0.5 * math.erfc(gap / math.sqrt(2.0 * variance))


def chance_ahead(gap: float, variance: float) -> float:
    """Return the probability that such a normal is below zero: a tie without noise is not ahead."""
    return 0.0 if variance <= 0.0 <= gap else chance_below(gap, variance)


def margin_variance(
    estimates: Floats, covariances: Floats, arm: int, scales: Floats, thresholds: Floats
) -> float:
    """Return the variance, for one pull, of the constraint that makes up an arm's margin."""
    worst, variance = 0.0, 0.0
    for c in range(1, estimates.shape[1]):
        violation = scales[c] * (estimates[arm, c] - thresholds[c - 1])
        if c == 1 or violation > worst:
            worst = violation
            variance = scales[c] * scales[c] * covariances[arm, c, c]
    return variance


def likeliest_answer(
    estimates: Floats,
    counts: Integers,
    alive: Mask,
    covariances: Floats,
    scales: Floats,
    thresholds: Floats,
    priority: Integers,
    passing: Floats,
    reached: Floats,
) -> tuple[int, bool]:
    """Return the answer, an arm and whether it is feasible, that the pulls make likeliest.

    That is the apparent best, unless another answer is likelier: an arm that looks best by a hair
    and feasible by a hair is often neither. An arm that looks feasible too is preferred for being
    safer, and must be safe: its chance to fail counts against it SAFETY times more. Only answers
    that can be as likely as the apparent one are weighed, and none where that is likely enough.
    `passing` [arm, cell] and `reached` [arm, 1 + cell] are room to write in.
    """
    best, _, best_margin = leader(estimates, alive, scales, thresholds, priority)
    if most_doubt(best, estimates, counts, alive, covariances, scales, thresholds) < EVEN:
        return best, best_margin <= 0.0
    return weighed_answer(
        best, estimates, counts, alive, covariances, scales, thresholds, priority, passing, reached
    )


def weighed_answer(
    best: int,
    estimates: Floats,
    counts: Integers,
    alive: Mask,
    covariances: Floats,
    scales: Floats,
    thresholds: Floats,
    priority: Integers,
    passing: Floats,
    reached: Floats,
) -> tuple[int, bool]:
    """Return the likeliest answer, by every answer's own chance."""
    arm_count = estimates.shape[0]
    looks_feasible = margin(estimates, best, scales, thresholds) <= 0.0
    for i in range(arm_count):
        if alive[i]:
            fill_passing(passing, reached, i, estimates, counts, covariances, thresholds)
    answer, feasible, switched = best, looks_feasible, False
    highest = 0.0
    for place in range(-1, arm_count):  # first the apparent answer, which the others must beat
        i = best if place < 0 else place
        if not alive[i]:
            continue
        for nearest in (False, True):
            if place < 0 and nearest == looks_feasible:
                continue
            own = 0.0
            if nearest and may_be_nearest(
                i, best, highest, estimates, counts, covariances, scales, thresholds
            ):
                own = chance_nearest(i, estimates, counts, alive, covariances, scales, thresholds)
            elif not nearest and may_be_best(
                i, best, highest, estimates, counts, covariances, reached
            ):
                own = chance_feasible_best(
                    i, estimates, counts, alive, covariances, passing, reached
                )
                if looks_feasible and margin(estimates, i, scales, thresholds) <= 0.0 <= place:
                    own /= 1.0 + SAFETY * (1.0 - reached[i, NODES])
            as_likely = own >= highest * (1.0 - NEGLIGIBLE)  # rounding goes by the order of arms
            if place < 0:
                highest = own
            elif own > highest * (1.0 + NEGLIGIBLE) or (
                switched and as_likely and priority[i] < priority[answer]
            ):
                answer, feasible, switched, highest = i, not nearest, True, own
    return answer, feasible


def most_doubt(
    best: int,
    estimates: Floats,
    counts: Integers,
    alive: Mask,
    covariances: Floats,
    scales: Floats,
    thresholds: Floats,
) -> float:
    """Return the most that the chance of all other answers together can be.

    That is the sum over the ways in which the apparent best arm may not be the answer: it fails
    after all, or another arm passes and beats it; where none looks feasible, an arm passes after
    all, or another is nearer to it. A few chances an arm, where the answer's own is an integral.
    """
    best_margin = margin(estimates, best, scales, thresholds)
    best_n = counts[best]
    total = 0.0
    for i in range(estimates.shape[0]):
        if not alive[i]:
            continue
        n = counts[i]
        own = margin(estimates, i, scales, thresholds)
        variance = margin_variance(estimates, covariances, i, scales, thresholds) / n
        passes = chance_below(own, variance)
        if best_margin > 0.0:
            total += passes
            if i != best:
                spread = margin_variance(estimates, covariances, best, scales, thresholds) / best_n
                total += chance_ahead(own - best_margin, variance + spread)
        elif i != best:
            spread = covariances[i, 0, 0] / n + covariances[best, 0, 0] / best_n
            total += min(passes, chance_ahead(estimates[i, 0] - estimates[best, 0], spread))
        else:
            for c in range(1, estimates.shape[1]):
                excess = estimates[best, c] - thresholds[c - 1]
                total += 1.0 - chance_below(excess, covariances[best, c, c] / best_n)
    return total


def fill_passing(
    passing: Floats,
    reached: Floats,
    arm: int,
    estimates: Floats,
    counts: Integers,
    covariances: Floats,
    thresholds: Floats,
) -> None:
    """Put an arm's chances to meet its constraints, cell by cell of its objective, in place.

    `passing` [arm, cell] is the chance where the objective lies in that cell; given the objective,
    constraints count as independent. `reached` [arm, cell] is the chance to pass with an objective
    below that cell, and at last to pass at all.
    """
    n = counts[arm]
    deviation = math.sqrt(covariances[arm, 0, 0] / n)
    reached[arm, 0] = 0.0
    for cell in range(NODES):
        z, weight = node(cell)
        chance = 1.0
        for c in range(1, estimates.shape[1]):
            slope = covariances[arm, 0, c] / covariances[arm, 0, 0] if deviation > 0.0 else 0.0
            excess = estimates[arm, c] + slope * deviation * z - thresholds[c - 1]
            rest = covariances[arm, c, c] - slope * covariances[arm, 0, c]
            chance *= chance_below(excess, max(rest, 0.0) / n)
        passing[arm, cell] = chance
        reached[arm, cell + 1] = reached[arm, cell] + weight * chance


def node(cell: int) -> tuple[float, float]:
    """Return the middle of a cell, in deviations, and a normal's weight of it."""
    step = 2.0 * REACH / NODES
    z = (cell + 0.5) * step - REACH
    return z, step * DENSITY * math.exp(-0.5 * z * z)


def chance_reached(
    arm: int,
    at: float,
    estimates: Floats,
    counts: Integers,
    covariances: Floats,
    passing: Floats,
    reached: Floats,
) -> float:
    """Return the probability that an arm is feasible and its objective below `at`."""
    deviation = math.sqrt(covariances[arm, 0, 0] / counts[arm])
    lead = at - estimates[arm, 0]
    if lead <= -REACH * deviation:  # without noise, as good is not better
        return 0.0
    if lead >= REACH * deviation:
        return float(reached[arm, NODES])
    step = 2.0 * REACH / NODES
    z = lead / deviation
    cell = min(int((z + REACH) / step), NODES - 1)
    within = chance_below(-z, 1.0) - chance_below(REACH - cell * step, 1.0)
    return float(reached[arm, cell] + passing[arm, cell] * within)


def may_be_best(
    arm: int,
    best: int,
    chance: float,
    estimates: Floats,
    counts: Integers,
    covariances: Floats,
    reached: Floats,
) -> bool:
    """Tell whether an arm can be the best feasible one with that probability, by two bounds."""
    lead = estimates[best, 0] - estimates[arm, 0]
    spread = covariances[best, 0, 0] / counts[best] + covariances[arm, 0, 0] / counts[arm]
    better = reached[best, NODES] + chance_ahead(lead, spread) - 1.0 if arm != best else 0.0
    return reached[arm, NODES] >= chance and 1.0 - better >= chance


def may_be_nearest(
    arm: int,
    best: int,
    chance: float,
    estimates: Floats,
    counts: Integers,
    covariances: Floats,
    scales: Floats,
    thresholds: Floats,
) -> bool:
    """Tell whether an arm can be the least infeasible one with that probability, by two bounds."""
    own = margin(estimates, arm, scales, thresholds)
    spread = margin_variance(estimates, covariances, arm, scales, thresholds) / counts[arm]
    if 1.0 - chance_below(own, spread) < chance:
        return False
    spread += margin_variance(estimates, covariances, best, scales, thresholds) / counts[best]
    lead = own - margin(estimates, best, scales, thresholds)
    return arm == best or chance_below(lead, spread) >= chance


def chance_feasible_best(
    arm: int,
    estimates: Floats,
    counts: Integers,
    alive: Mask,
    covariances: Floats,
    passing: Floats,
    reached: Floats,
) -> float:
    """Return the probability that an arm is feasible and no feasible arm is better.

    It is added up over what the arm's objective may be: given that, arms are independent.
    """
    deviation = math.sqrt(covariances[arm, 0, 0] / counts[arm])
    total = 0.0
    for cell in range(NODES):
        z, weight = node(cell)
        chance = weight * passing[arm, cell]
        at = estimates[arm, 0] + deviation * z
        for k in range(estimates.shape[0]):
            if alive[k] and k != arm and chance > NEGLIGIBLE:
                chance *= 1.0 - chance_reached(
                    k, at, estimates, counts, covariances, passing, reached
                )
        total += chance
    return total


def chance_nearest(
    arm: int,
    estimates: Floats,
    counts: Integers,
    alive: Mask,
    covariances: Floats,
    scales: Floats,
    thresholds: Floats,
) -> float:
    """Return the probability that no arm is feasible and this one is the nearest to it.

    It is added up over what the arm's margin may be above zero; a margin is as noisy as the
    constraint that makes it up.
    """
    own = margin(estimates, arm, scales, thresholds)
    deviation = math.sqrt(
        margin_variance(estimates, covariances, arm, scales, thresholds) / counts[arm]
    )
    if own <= -REACH * deviation:
        return 0.0
    lowest = -REACH if own >= REACH * deviation else -own / deviation
    step = (REACH - lowest) / NODES
    total = 0.0
    for node in range(NODES):
        z = lowest + (node + 0.5) * step
        chance = step * DENSITY * math.exp(-0.5 * z * z)
        at = own + deviation * z
        for k in range(estimates.shape[0]):
            if alive[k] and k != arm and chance > NEGLIGIBLE:
                lead = at - margin(estimates, k, scales, thresholds)
                variance = margin_variance(estimates, covariances, k, scales, thresholds)
                chance *= chance_below(lead, variance / counts[k])
        total += chance
    return total
