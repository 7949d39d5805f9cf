"""Top-two where arms share blocks: the same rule, by the joint covariance of the estimates.

A threat costs what it costs under the joint covariance. Who is pulled of the two arms of a threat
goes by how much one more block of each would sharpen their difference: that is mostly the arm that
saw fewer, which learns from the blocks that the other saw. Touches its arguments only, and writes
in `work` and `chosen`.
"""

import math
from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.cost import (
    NEVER,
    CostWork,
    beating_cost,
    beating_hindrance,
    cost_work,
    failing_cost,
    nearing_cost,
    passing_cost,
)
from ringfence.core.gaps import leader
from ringfence.core.posterior import NODES, likeliest_answer
from ringfence.core.sharing import Sharing, together, worth
from ringfence.core.shrinkage import fill_shrunk
from ringfence.core.urgency import ALONE, HASTE, NOBODY, fill_values, most_urgent, promise
from ringfence.policies.evidence import Evidence

BEST, ARM = 0, 1
PART = 1e-6  # of a difference's variance that is counted as the best arm's, to see what it presses


class SharingRoom(NamedTuple):
    """What top-two's own work has, room for a pair of arms, and how noisy arms are among others."""

    shrunk: Floats
    backing: Floats
    zeros: Floats
    pulls: Floats
    costs: Floats
    shares: Floats
    hindrances: Floats
    weights: Floats
    values: Floats
    rises: Floats
    slopes: Floats
    passing: Floats
    reached: Floats
    cost: CostWork
    contrasts: Floats
    totals: Floats
    places: Floats
    pair: Floats


def make_work(arm_count: int, attribute_count: int) -> SharingRoom:
    """Return room for `choose`."""
    return SharingRoom(
        shrunk=np.zeros((arm_count, attribute_count)),
        backing=np.zeros(arm_count),
        zeros=np.zeros(attribute_count - 1),
        pulls=np.zeros(arm_count),
        costs=np.zeros(arm_count),
        shares=np.zeros(arm_count),
        hindrances=np.zeros(arm_count),
        weights=np.zeros(arm_count),
        values=np.zeros(arm_count),
        rises=np.zeros(arm_count),
        slopes=np.zeros(arm_count),
        passing=np.zeros((arm_count, NODES)),
        reached=np.zeros((arm_count, NODES + 1)),
        cost=cost_work(attribute_count),
        contrasts=np.zeros((arm_count, attribute_count, attribute_count)),
        totals=np.zeros((attribute_count, arm_count * attribute_count)),
        places=np.zeros((2, attribute_count)),
        pair=np.zeros((2, attribute_count, attribute_count)),
    )


def answer(seen: Evidence, work: SharingRoom) -> tuple[int, bool]:
    """Answer with what the pulls make likeliest, by each arm's own part of the joint covariance."""
    return likeliest_answer(
        seen.estimates, seen.counts, seen.alive, seen.covariances,
        seen.scales, seen.thresholds, seen.priority, work.passing, work.reached,
    )  # fmt: skip


def choose(seen: Evidence, uniforms: Floats, chosen: Integers, work: SharingRoom) -> None:
    """Choose a batch as top-two does; what the two arms of a threat share makes it dearer."""
    sharing = seen.sharing
    fill_contrasts(seen, sharing, work)
    fill_shrunk(
        work.shrunk, work.backing,
        seen.estimates, seen.counts, seen.alive, work.contrasts, seen.thresholds,
    )  # fmt: skip
    best, _, best_margin = leader(work.shrunk, seen.alive, seen.scales, work.zeros, seen.priority)
    fill_threats(seen, sharing, best, best_margin, work)
    fill_values(seen.alive, best, seen.prices, HASTE / max(seen.left[0], 1), work)
    met = float(seen.in_flight[best])
    for i in range(seen.counts.shape[0]):
        for _ in range(seen.in_flight[i]):
            promise(i, work)
    for k in range(chosen.shape[0]):
        arm = best
        for _ in range(seen.counts.shape[0]):  # arms that saw all blocks have others pulled
            rival = most_urgent(work.values, work.rises, met, seen.priority)
            if work.values[rival] >= NOBODY:  # no living arm has a block left: whoever runs it ends
                arm = best
                break
            arm = best if rival == best or uniforms[k] < work.shares[rival] else rival
            if not is_open(seen, arm, work):
                arm = best + rival - arm
            if is_open(seen, arm, work):
                break
            work.values[rival] = NOBODY
        if arm == best:
            met += 1.0
        chosen[k] = arm
        promise(arm, work)


def is_open(seen: Evidence, arm: int, work: SharingRoom) -> bool:
    """Tell whether there is a block that an arm has not seen, and was not promised."""
    promised: float = work.pulls[arm] - max(seen.counts[arm], 1)
    room: int = seen.sharing.rooms[arm]
    return promised < room


def fill_contrasts(seen: Evidence, sharing: Sharing, work: SharingRoom) -> None:
    """Put each arm's noise beside that of the others in place, times its pulls.

    What all arms share does not set them apart: an arm's variance counts less its mean covariance
    with the others.
    """
    roots, parts, totals = sharing.roots, sharing.parts, work.totals
    arm_count, width, size = roots.shape
    alive_count = 0
    for i in range(arm_count):
        alive_count += seen.alive[i]
    for c in range(width):
        for d in range(size):
            total = 0.0
            for i in range(arm_count):
                if seen.alive[i]:
                    total += roots[i, c, d]
            totals[c, d] = total
    for i in range(arm_count):
        for c in range(width):
            own, others = 0.0, 0.0
            for d in range((sharing.ranks[i] + 1) * width):
                part = parts[d // width]
                own += roots[i, c, d] * roots[i, c, d] * part
                others += roots[i, c, d] * (totals[c, d] - roots[i, c, d]) * part
            shared = others / max(alive_count - 1, 1)
            work.contrasts[i, c, c] = max(own - shared, 0.0) * max(seen.counts[i], 1)


def fill_threats(
    seen: Evidence, sharing: Sharing, best: int, best_margin: float, work: SharingRoom
) -> None:
    """Put pulls, cost, share and hindrance of every living arm's threat in place."""
    places, limits = work.shrunk, work.zeros
    for i in range(work.pulls.shape[0]):
        work.pulls[i] = max(seen.counts[i], 1)
    for i in range(work.costs.shape[0]):
        work.costs[i], work.shares[i], work.hindrances[i] = NEVER, 0.0, 1.0
        if not seen.alive[i] or i == best:
            continue
        c = 0 if best_margin <= 0.0 else worst_limit(places, best, seen.scales)
        fill_pair(seen, sharing, best, i, c, work)
        if best_margin <= 0.0:
            work.costs[i], pressed = beating_cost(
                work.places, work.pair, BEST, 1.0, ARM, 1.0, limits, work.cost
            )
            work.hindrances[i] = beating_hindrance(
                work.places, work.pair, BEST, 1.0, ARM, 1.0, limits
            )
        else:
            work.costs[i], pressed = nearing_cost(
                work.places, work.pair, BEST, 1.0, ARM, 1.0, seen.scales, limits, work.cost
            )
        own = worth(sharing, i, best, c, seen.counts)
        other = worth(sharing, best, i, c, seen.counts)
        if own + other > 0.0:
            work.shares[i] = min(pressed / PART, 1.0) * other / (own + other)
    backing = work.backing[best]
    if best_margin <= 0.0:
        alone = failing_cost(places, seen.covariances, best, backing, limits)
    else:
        alone = passing_cost(places, seen.covariances, best, backing, limits, work.cost)
    work.costs[best], work.shares[best], work.hindrances[best] = ALONE * alone, 0.0, 1.0


def worst_limit(places: Floats, arm: int, scales: Floats) -> int:
    """Return the attribute whose limit an arm breaks by most."""
    worst = 1
    for c in range(2, places.shape[1]):
        if scales[c] * places[arm, c] > scales[worst] * places[arm, worst]:
            worst = c
    return worst


def fill_pair(
    seen: Evidence, sharing: Sharing, best: int, arm: int, c: int, work: SharingRoom
) -> None:
    """Put two arms in place as if they were independent, and had had one pull each.

    The variance of their difference in attribute `c` is the joint one, nearly all of it the arm's.
    """
    width = work.places.shape[1]
    own = max(seen.counts[arm], 1) / work.backing[arm]
    other = max(seen.counts[best], 1) / work.backing[best]
    both = math.sqrt(own * other)
    pair = work.pair
    for k in range(width):
        work.places[BEST, k] = work.shrunk[best, k]
        work.places[ARM, k] = work.shrunk[arm, k]
        for d in range(k + 1):
            found = own * together(sharing, arm, k, arm, d)
            if k == c or d == c or c > 0:
                found += shared_with(sharing, best, arm, c, k, d, both)
            pair[ARM, k, d] = pair[ARM, d, k] = found
            pair[BEST, k, d] = pair[BEST, d, k] = 0.0
    alone = other * together(sharing, best, c, best, c)
    if c > 0:
        for k in range(1, width):
            for d in range(1, width):
                pair[ARM, k, d] += alone
    else:
        pair[ARM, 0, 0] += alone
    pair[BEST, c, c] = PART * pair[ARM, c, c]
    if c == 0:
        pair[ARM, 0, 0] -= pair[BEST, c, c]
    else:
        for k in range(1, width):
            for d in range(1, width):
                pair[ARM, k, d] -= pair[BEST, c, c]


def shared_with(
    sharing: Sharing, best: int, arm: int, c: int, k: int, d: int, both: float
) -> float:
    """Return what the best arm's attribute c takes off the covariance of an arm's k and d."""
    total = 0.0
    if (c > 0) & (k > 0) & (d > 0) | (k == c):
        total -= both * together(sharing, best, c, arm, d)
    if (c > 0) & (k > 0) & (d > 0) | (d == c):
        total -= both * together(sharing, best, c, arm, k)
    return total
