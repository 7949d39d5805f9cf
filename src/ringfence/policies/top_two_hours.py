"""Top-two where arms share hours: the same rule, by what pulls tell beside their hours.

Arms can be compared within an hour only, or by way of others that were pulled in the same hours. So
what a pull is worth goes by how much it sharpens a difference, given the hour that is to come and
all that was promised in it. A part of every batch goes to all living arms in turn: else hours would
not be comparable, and their effect could not be told. Touches its arguments only, and writes in
`work` and `chosen`.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.allowance import price_of
from ringfence.core.arrays import Floats, Integers
from ringfence.core.cost import NEVER
from ringfence.core.gaps import leader
from ringfence.core.hours import Hours
from ringfence.core.urgency import ALONE, HASTE, NOBODY, by_price, most_urgent
from ringfence.policies.evidence import Evidence

GROUPS = 64  # of a batch: what was promised is reckoned with from one to the next
EVEN = 0.2  # the part of every batch that goes to all living arms in turn


class HoursRoom(NamedTuple):
    """What the rule knows while a batch is decided.

    `joint` is the covariance of the arms' means and, last, the effect of the hour to come; `told`
    what a pull goes with, of these. `pulls` are those told and promised, `values` how urgent the
    threats are, `shares` the best arm's in meeting them, and `promised` the pulls of a group.
    """

    joint: Floats
    told: Floats
    pulls: Floats
    values: Floats
    shares: Floats
    rises: Floats
    promised: Integers


def make_work(arm_count: int, attribute_count: int) -> HoursRoom:
    """Return room for `choose`."""
    pulls, values, shares, rises = np.zeros((4, arm_count))
    return HoursRoom(
        joint=np.zeros((arm_count + 1, arm_count + 1)),
        told=np.zeros(arm_count + 1),
        pulls=pulls,
        values=values,
        shares=shares,
        rises=rises,
        promised=np.zeros(arm_count, np.int64),
    )


def choose(seen: Evidence, uniforms: Floats, chosen: Integers, work: HoursRoom) -> None:
    """Choose a batch: a part in turn, and each other pull where the answer is cheapest to overturn.

    Of the two arms of a threat the one is pulled that sharpens their difference more for its
    price, by chance in proportion.
    """
    hours: Any = seen.hours  # there are some, or another rule is asked
    slots = chosen.shape[0]
    begin(seen, hours, work)
    best, _, best_margin = leader(
        seen.estimates, seen.alive, seen.scales, seen.thresholds, seen.priority
    )
    turn = first_in_turn(seen, uniforms[0])
    per_group = -(-slots // GROUPS)
    for start in range(0, slots, per_group):
        for k in range(start, min(start + per_group, slots)):
            if is_even(k, uniforms[0]):
                chosen[k] = turn
                turn = next_in_turn(seen, turn)
                work.promised[chosen[k]] += 1
        fulfil(hours, work)
        fill_threats(seen, hours, best, best_margin, work)
        rival = most_urgent(work.values, work.rises, 0.0, seen.priority)
        for k in range(start, min(start + per_group, slots)):
            if is_even(k, uniforms[0]):
                continue
            chosen[k] = best if part_of(uniforms[k]) < work.shares[rival] else rival
            work.promised[chosen[k]] += 1
        fulfil(hours, work)


def begin(seen: Evidence, hours: Hours, work: HoursRoom) -> None:
    """Begin with what was told; pulls that are in flight belong to the hour to come."""
    arm_count = seen.counts.shape[0]
    for i in range(arm_count):
        for j in range(arm_count):
            work.joint[i, j] = hours.joint[i, j]
        work.joint[i, arm_count] = work.joint[arm_count, i] = 0.0
        work.pulls[i], work.rises[i] = max(seen.counts[i], 1), 0.0
        work.promised[i] = seen.in_flight[i]
    work.joint[arm_count, arm_count] = hours.spread[0]
    fulfil(hours, work)


def is_even(k: int, uniform: float) -> bool:
    """Tell whether the k-th pull of a batch goes to the arm whose turn it is."""
    return math.floor((k + 1) * EVEN + uniform) > math.floor(k * EVEN + uniform)


def part_of(uniform: float) -> float:
    """Return what is still uniform of a draw when it is known whether its turn was even."""
    return uniform / EVEN - math.floor(uniform / EVEN)


def first_in_turn(seen: Evidence, uniform: float) -> int:
    """Return the living arm that is the first to have its turn."""
    arm, alive_count = -1, 0
    for i in range(seen.alive.shape[0]):
        alive_count += seen.alive[i]
    for _ in range(int(part_of(uniform) * alive_count) + 1):
        arm = next_in_turn(seen, arm)
    return arm


def next_in_turn(seen: Evidence, arm: int) -> int:
    """Return the living arm after another."""
    following = int((arm + 1) % seen.alive.shape[0])
    while not seen.alive[following]:
        following = (following + 1) % seen.alive.shape[0]
    return following


def fill_told(arm: int, hours: Hours, work: HoursRoom) -> float:
    """Put what a pull of an arm in the hour to come goes with in place; return its variance."""
    hour = work.pulls.shape[0]
    for i in range(hour + 1):
        work.told[i] = work.joint[i, arm] + work.joint[i, hour]
    return float(work.told[arm] + work.told[hour] + hours.noise[arm])


def fulfil(hours: Hours, work: HoursRoom) -> None:
    """Reckon with the pulls that were promised as if they were told."""
    for arm in range(work.pulls.shape[0]):
        pulls = work.promised[arm]
        if pulls == 0:
            continue
        work.promised[arm] = 0
        work.pulls[arm] += pulls
        variance = fill_told(arm, hours, work) - hours.noise[arm] * (1.0 - 1.0 / pulls)
        if variance <= 0.0:
            continue
        for i in range(work.told.shape[0]):
            for j in range(work.told.shape[0]):
                work.joint[i, j] -= work.told[i] * work.told[j] / variance


def fill_threats(
    seen: Evidence, hours: Hours, best: int, best_margin: float, work: HoursRoom
) -> None:
    """Put how urgent every living arm's threat is in place, and the best arm's share of the pulls.

    A threat is the more urgent the less it costs, and the fewer pulls' worth is known of it, at the
    mean price of a pull that meets it.
    """
    arm_count, total, alive_count, noise = seen.counts.shape[0], 0.0, 0, 0.0
    best_price = price_of(seen.prices, best)
    for i in range(arm_count):
        if seen.alive[i]:
            total += work.pulls[i]
            noise += hours.noise[i]
            alive_count += 1
    for i in range(arm_count):
        work.values[i], work.shares[i] = NOBODY, 0.0
        if not seen.alive[i] or i == best:
            continue
        if best_margin > 0.0:
            work.values[i], share = nearing(seen, best, i, best_margin, work)
            work.shares[i], mean_price = by_price(share, price_of(seen.prices, i), best_price)
            work.values[i] += math.log(mean_price)
            continue
        apart = work.joint[i, i] + work.joint[best, best] - 2.0 * work.joint[i, best]
        lead = max(seen.estimates[i, 0] - seen.estimates[best, 0], 0.0)
        alone = 2.0 * over_limits(seen, i, work)
        both = lead * lead / apart if apart > 0.0 else (NEVER if lead > 0.0 else 0.0)
        known = noise / alive_count / apart if apart > 0.0 else work.pulls[i]
        if both > 0.0 or alone == 0.0:
            mine = sharpening(i, best, i, hours, work)
            other = sharpening(best, best, i, hours, work)
            part = both / (both + alone) if both > 0.0 else 1.0
            work.shares[i] = part * (other / (mine + other) if mine + other > 0.0 else 0.5)
        price = price_of(seen.prices, i)
        work.shares[i], mean_price = by_price(work.shares[i], price, best_price)
        known *= mean_price
        hasty = 1.0 + known * HASTE / max(seen.left[0], 1.0)
        work.values[i] = 0.5 * (both + alone) * hasty + math.log(max(known, 1e-300))
    own = under_limits(seen, best, work) if best_margin <= 0.0 else over_limits(seen, best, work)
    crowd = max(work.pulls[best] * alive_count / total, 1.0)
    work.values[best] = ALONE * own + math.log(work.pulls[best] * best_price)
    work.values[best] += 2.0 * math.log(crowd)


def sharpening(arm: int, best: int, rival: int, hours: Hours, work: HoursRoom) -> float:
    """Return by how much a pull of an arm lowers the variance of the difference of two."""
    variance = fill_told(arm, hours, work)
    off = work.told[rival] - work.told[best]
    return float(off * off / variance) if variance > 0.0 else 0.0


def over_limits(seen: Evidence, arm: int, work: HoursRoom) -> float:
    """Return what it costs an arm to keep its limits after all, taken one by one."""
    total = 0.0
    for c in range(1, seen.estimates.shape[1]):
        over = seen.estimates[arm, c] - seen.thresholds[c - 1]
        if over > 0.0:
            variance = seen.covariances[arm, c, c] / work.pulls[arm]
            total += 0.5 * over * over / variance if variance > 0.0 else NEVER
    return min(total, NEVER)


def under_limits(seen: Evidence, arm: int, work: HoursRoom) -> float:
    """Return what it costs an arm that keeps its limits to break one of them."""
    least = NEVER
    for c in range(1, seen.estimates.shape[1]):
        room = seen.thresholds[c - 1] - seen.estimates[arm, c]
        variance = seen.covariances[arm, c, c] / work.pulls[arm]
        if variance > 0.0:
            least = min(least, 0.5 * room * room / variance)
    return least


def nearing(
    seen: Evidence, best: int, arm: int, best_margin: float, work: HoursRoom
) -> tuple[float, float]:
    """Return how urgent it is that another arm may be nearer to its limits, and the best's share.

    By the limits that both break by most, as if these were apart.
    """
    own, worst, other = 0.0, 1, 1
    for c in range(1, seen.estimates.shape[1]):
        over = seen.scales[c] * (seen.estimates[arm, c] - seen.thresholds[c - 1])
        if c == 1 or over > own:
            own, worst = over, c
        over = seen.scales[c] * (seen.estimates[best, c] - seen.thresholds[c - 1])
        if over >= best_margin:
            other = c
    mine = seen.scales[worst] ** 2 * seen.covariances[arm, worst, worst] / work.pulls[arm]
    its = seen.scales[other] ** 2 * seen.covariances[best, other, other] / work.pulls[best]
    if mine + its <= 0.0:
        return NEVER, 0.5
    lead = max(own - best_margin, 0.0)
    return 0.5 * lead * lead / (mine + its) + math.log(0.5 / (mine + its)), its / (mine + its)
