"""What the truth may be, given the pulls: normal around the estimates, arm by arm.

Under a flat prior and known covariances this is the posterior; with estimated covariances it is
close to it. Touches its arguments only; `fill_...` write in place.
"""

import math

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.chance import next_normal
from ringfence.core.gaps import apparent_best, margin

CLEARLY = 1.15  # how much likelier an answer must be to be preferred to the apparent best
NODES = 32  # in which an integral over a normal is cut, within REACH deviations
REACH = 4.0
DENSITY = 0.3989422804014327  # of a standard normal at zero
NEGLIGIBLE = 1e-9


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
) -> tuple[int, bool]:
    """Return the answer, an arm and whether it is feasible, that the pulls make likeliest.

    That is the apparent best, unless another answer is clearly likelier: an arm that looks best by
    a hair and feasible by a hair is often neither. Only answers that can be as likely as that are
    weighed. `passing` [arm] is room to write in.
    """
    arm_count = estimates.shape[0]
    best = apparent_best(estimates, alive, scales, thresholds, priority)
    looks_feasible = margin(estimates, best, scales, thresholds) <= 0.0
    for i in range(arm_count):
        passing[i] = 0.0
        if alive[i]:
            passing[i] = 1.0
            for c in range(1, estimates.shape[1]):
                excess = estimates[i, c] - thresholds[c - 1]
                passing[i] *= chance_below(excess, covariances[i, c, c] / counts[i])
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
                i, best, highest, estimates, counts, covariances, passing
            ):
                own = chance_feasible_best(
                    i, estimates, counts, alive, covariances, thresholds, passing
                )
            if place < 0:
                highest = CLEARLY * own
            elif own > highest or (switched and own == highest and priority[i] < priority[answer]):
                answer, feasible, switched, highest = i, not nearest, True, own
    return answer, feasible


def may_be_best(
    arm: int,
    best: int,
    chance: float,
    estimates: Floats,
    counts: Integers,
    covariances: Floats,
    passing: Floats,
) -> bool:
    """Tell whether an arm can be the best feasible one with that probability, by two bounds."""
    lead = estimates[best, 0] - estimates[arm, 0]
    spread = covariances[best, 0, 0] / counts[best] + covariances[arm, 0, 0] / counts[arm]
    better = passing[best] * chance_below(lead, spread) if arm != best else 0.0
    return passing[arm] >= chance and 1.0 - better >= chance


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
    thresholds: Floats,
    passing: Floats,
) -> float:
    """Return the probability that an arm is feasible and no feasible arm is better.

    It is added up over what the arm's objective may be: given that, arms are independent, and so
    are its constraints once their correlation with the objective is taken out. Of the other arms
    objective and constraints count as independent.
    """
    n = counts[arm]
    deviation = math.sqrt(covariances[arm, 0, 0] / n)
    step = 2.0 * REACH / NODES
    total = 0.0
    for node in range(NODES):
        z = (node + 0.5) * step - REACH
        chance = step * DENSITY * math.exp(-0.5 * z * z)
        at = estimates[arm, 0] + deviation * z
        for c in range(1, estimates.shape[1]):
            slope = covariances[arm, 0, c] / covariances[arm, 0, 0] if deviation > 0.0 else 0.0
            excess = estimates[arm, c] + slope * deviation * z - thresholds[c - 1]
            rest = covariances[arm, c, c] - slope * covariances[arm, 0, c]
            chance *= chance_below(excess, max(rest, 0.0) / n)
        for k in range(estimates.shape[0]):
            if alive[k] and k != arm and chance > NEGLIGIBLE:
                lead = estimates[k, 0] - at
                chance *= 1.0 - passing[k] * chance_below(lead, covariances[k, 0, 0] / counts[k])
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
