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
    beating_cost,
    beating_hindrance,
    failing_cost,
    nearing_cost,
    passing_cost,
)
from ringfence.core.gaps import leader
from ringfence.core.sharing import Sharing, together, worth
from ringfence.core.shrinkage import fill_shrunk
from ringfence.core.urgency import ALONE, HASTE, NOBODY, fill_values, most_urgent, promise
from ringfence.policies.evidence import Evidence
from ringfence.policies.top_two_room import Work
from ringfence.policies.top_two_room import answer as own_answer
from ringfence.policies.top_two_room import make_work as make_own

BEST, ARM = 0, 1
PART = 1e-6  # of a difference's variance that is counted as the best arm's, to see what it presses


class SharingRoom(NamedTuple):
    """The room of top-two, how noisy arms are among others, and room for a pair of arms."""

    own: Work
    contrasts: Floats
    totals: Floats
    places: Floats
    pair: Floats


def make_work(arm_count: int, attribute_count: int) -> SharingRoom:
    """Return room for `choose`."""
    return SharingRoom(
        own=make_own(arm_count, attribute_count),
        contrasts=np.zeros((arm_count, attribute_count, attribute_count)),
        totals=np.zeros((attribute_count, arm_count * attribute_count)),
        places=np.zeros((2, attribute_count)),
        pair=np.zeros((2, attribute_count, attribute_count)),
    )


def answer(seen: Evidence, work: SharingRoom) -> tuple[int, bool]:
    """Answer with what the pulls make likeliest, by each arm's own part of the joint covariance."""
    return own_answer(seen, work.own)


def choose(seen: Evidence, uniforms: Floats, chosen: Integers, work: SharingRoom) -> None:
    """Choose a batch as top-two does; what the two arms of a threat share makes it dearer."""
    sharing, own = seen.sharing, work.own
    fill_contrasts(seen, sharing, work)
    fill_shrunk(
        own.shrunk, own.backing,
        seen.estimates, seen.counts, seen.alive, work.contrasts, seen.thresholds,
    )  # fmt: skip
    best, _, best_margin = leader(own.shrunk, seen.alive, seen.scales, own.zeros, seen.priority)
    fill_threats(seen, sharing, best, best_margin, work)
    fill_values(seen.alive, best, seen.prices, HASTE / max(seen.left[0], 1), own)
    met = float(seen.in_flight[best])
    for i in range(seen.counts.shape[0]):
        for _ in range(seen.in_flight[i]):
            promise(i, own)
    for k in range(chosen.shape[0]):
        arm = best
        for _ in range(seen.counts.shape[0]):  # arms that saw all blocks have others pulled
            rival = most_urgent(own.values, own.rises, met, seen.priority)
            if own.values[rival] >= NOBODY:  # no living arm has a block left: whoever runs it ends
                arm = best
                break
            arm = best if rival == best or uniforms[k] < own.shares[rival] else rival
            if not is_open(seen, arm, work):
                arm = best + rival - arm
            if is_open(seen, arm, work):
                break
            own.values[rival] = NOBODY
        if arm == best:
            met += 1.0
        chosen[k] = arm
        promise(arm, own)


def is_open(seen: Evidence, arm: int, work: SharingRoom) -> bool:
    """Tell whether there is a block that an arm has not seen, and was not promised."""
    promised: float = work.own.pulls[arm] - max(seen.counts[arm], 1)
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
    places, limits = work.own.shrunk, work.own.zeros
    for i in range(work.own.pulls.shape[0]):
        work.own.pulls[i] = max(seen.counts[i], 1)
    for i in range(work.own.costs.shape[0]):
        work.own.costs[i], work.own.shares[i], work.own.hindrances[i] = NEVER, 0.0, 1.0
        if not seen.alive[i] or i == best:
            continue
        c = 0 if best_margin <= 0.0 else worst_limit(places, best, seen.scales)
        fill_pair(seen, sharing, best, i, c, work)
        if best_margin <= 0.0:
            work.own.costs[i], pressed = beating_cost(
                work.places, work.pair, BEST, 1.0, ARM, 1.0, limits, work.own.cost
            )
            work.own.hindrances[i] = beating_hindrance(
                work.places, work.pair, BEST, 1.0, ARM, 1.0, limits
            )
        else:
            work.own.costs[i], pressed = nearing_cost(
                work.places, work.pair, BEST, 1.0, ARM, 1.0, seen.scales, limits, work.own.cost
            )
        own = worth(sharing, i, best, c, seen.counts)
        other = worth(sharing, best, i, c, seen.counts)
        if own + other > 0.0:
            work.own.shares[i] = min(pressed / PART, 1.0) * other / (own + other)
    backing = work.own.backing[best]
    if best_margin <= 0.0:
        alone = failing_cost(places, seen.covariances, best, backing, limits)
    else:
        alone = passing_cost(places, seen.covariances, best, backing, limits, work.own.cost)
    work.own.costs[best], work.own.shares[best], work.own.hindrances[best] = ALONE * alone, 0.0, 1.0


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
    own = max(seen.counts[arm], 1) / work.own.backing[arm]
    other = max(seen.counts[best], 1) / work.own.backing[best]
    both = math.sqrt(own * other)
    pair = work.pair
    for k in range(width):
        work.places[BEST, k] = work.own.shrunk[best, k]
        work.places[ARM, k] = work.own.shrunk[arm, k]
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
