"""A large batch in groups, each decided from what may have been seen by then.

What a batch is decided from says less and less of where its pulls should go, the longer it is: of a
batch of 4,000 of six like arms one got half, and once all. So a batch is cut where it outgrows what
is known. The first group is decided from what was seen, as it is; before each of the others the
arms that were promised pulls get the counts that they will have, and estimates as these may be by
then. Arms whose lead may be luck then lead in some groups only. Touches its arguments only; `...
_ahead` write in `ahead`.
"""

from typing import NamedTuple

import numpy as np

from ringfence.core.allowance import price_of
from ringfence.core.arrays import Floats, Integers
from ringfence.core.chance import next_normal, spin
from ringfence.core.posterior import fill_factors
from ringfence.core.sharing import Sharing
from ringfence.policies.evidence import Evidence

GROUPS_EDITION = 2  # raise it with whatever cuts batches otherwise; the first decided them whole
LEAST_GROUP = 16  # pulls; of batches as small as that groups of their own gain nothing
KNOWN_PART = 10  # else a group is a tenth of the pulls that are known or promised by then
MOST_GROUPS = 64


class Ahead(NamedTuple):
    """What may have been seen when promised pulls are told.

    `roots` are of the covariances of one pull, and `once` the counts that this takes; `chance` is
    the state of the numbers that a batch's estimates are drawn with. `parts` and `rooms` are those
    of arms that share blocks, when they have seen that many.
    """

    estimates: Floats
    counts: Integers
    left: Floats
    roots: Floats
    once: Integers
    chance: Floats
    parts: Floats
    rooms: Integers


def make_ahead(arm_count: int, attribute_count: int) -> Ahead:
    """Return room for it. Arms lie beside each other, as in the evidence of simulations."""
    return Ahead(
        estimates=np.zeros((arm_count, attribute_count), order="F"),
        counts=np.zeros(arm_count, np.int64),
        left=np.zeros(1),
        roots=np.zeros((arm_count, attribute_count, attribute_count)),
        once=np.ones(arm_count, np.int64),
        chance=np.zeros(2),
        parts=np.zeros(arm_count),
        rooms=np.zeros(arm_count, np.int64),
    )


def pulls_of(counts: Integers) -> int:
    """Return the pulls of all arms."""
    total = 0
    for i in range(counts.shape[0]):
        total += counts[i]
    return total


def group_size(known: int, size: int) -> int:
    """Return how many pulls are decided at once, of a batch of `size`, when so many are known."""
    return min(size, max(LEAST_GROUP, known // KNOWN_PART, -(-size // MOST_GROUPS)))


def is_cut(known: int, size: int) -> bool:
    """Tell whether a batch is decided in more than one group."""
    return group_size(known, size) < size


def end_of_group(start: int, slots: int, size: int, known: int) -> int:
    """Return the choice before which a group ends that begins with the choice `start`.

    A batch has so many slots, of which the first may stand for one pull more than the others.
    """
    known += start * (size // slots) + min(start, size % slots)
    return min(slots, start + max(1, group_size(known, size) * slots // size))


def begin_ahead(seen: Evidence, uniforms: Floats, ahead: Ahead) -> None:
    """Make ready for the groups of one batch.

    Their draws are named by its first and last uniform, in the one way in which they depend on
    neither: by the fraction of the sum.
    """
    fill_factors(ahead.roots, seen.covariances, ahead.once, seen.alive)
    name = uniforms[0] + uniforms[uniforms.shape[0] - 1]
    spin(ahead.chance, name - 1.0 if name >= 1.0 else name)
    for i in range(seen.counts.shape[0]):
        for c in range(seen.estimates.shape[1]):
            ahead.estimates[i, c] = seen.estimates[i, c]


def look_ahead(seen: Evidence, fresh: Integers, ahead: Ahead) -> Evidence:
    """Return what may have been seen when the `fresh` pulls are told.

    The estimate from n pulls is off by a variance of V/n, and after k more by V/(n + k): it will
    have moved by the difference.
    """
    spent = 0.0
    for i in range(fresh.shape[0]):
        ahead.counts[i] = seen.counts[i] + fresh[i]
        if fresh[i] == 0 or not seen.alive[i]:
            continue
        spent += fresh[i] * price_of(seen.prices, i)
        n = float(max(seen.counts[i], 1))
        reach = (1.0 / n - 1.0 / (n + fresh[i])) ** 0.5
        width = seen.estimates.shape[1]
        for c in range(width):
            ahead.estimates[i, c] = seen.estimates[i, c]
        for d in range(width):
            move = reach * next_normal(ahead.chance)
            for c in range(d, width):
                ahead.estimates[i, c] += ahead.roots[i, c, d] * move
    ahead.left[0] = max(seen.left[0] - spent, 0.0)
    return Evidence(
        ahead.estimates, ahead.counts, seen.in_flight, seen.alive, seen.covariances, seen.scales,
        seen.thresholds, seen.priority, ahead.left, seen.baseline, seen.prices,
        seen.sharing, seen.hours, seen.asked, seen.proof,
    )  # fmt: skip


def look_ahead_together(seen: Evidence, fresh: Integers, ahead: Ahead) -> Evidence:
    """Return what may have been seen of arms that share blocks when the `fresh` pulls are told.

    Each moves by what its own further blocks may tell; what arms tell of each other stays as it is.
    """
    then, sharing = look_ahead(seen, fresh, ahead), seen.sharing
    for i in range(fresh.shape[0]):
        told, rank = 1.0 / max(seen.counts[i], 1), sharing.ranks[i]
        ahead.parts[rank] = max(sharing.parts[rank] - told + 1.0 / max(then.counts[i], 1), 0.0)
        ahead.rooms[i] = max(sharing.rooms[i] - fresh[i], 0)
    return Evidence(
        then.estimates, then.counts, then.in_flight, then.alive, then.covariances, then.scales,
        then.thresholds, then.priority, then.left, then.baseline, then.prices,
        Sharing(sharing.roots, ahead.parts, sharing.ranks, sharing.arms, ahead.rooms),
        then.hours, then.asked, then.proof,
    )  # fmt: skip
