"""What pulls of different arms share: blocks, and the joint covariance of what was seen on them.

A block is what pulls of several arms have in common: a test item, a random seed. All arms meet the
blocks in one order, so that each has seen a prefix of them, and what one arm saw tells of another
by how both did on the blocks that both saw. Arms in the order of falling counts are a chain: each
is regressed on those before it (Anderson 1957). With L a root of the correlations in that order,
and n_j the blocks that arm j saw,

    means       m_i = own mean + L_i w,   w from how far the arms before are off on arm i's blocks
    covariance  L diag(1/n_j - 1/N) L'    N the blocks that there are, endless unless they are few

docs/reference/theory.md derives both. Correlations are shrunk towards one for all pairs of
arms, and that towards none: with none, estimates and covariances are those of arms that share
nothing. Touches its arguments only, and writes in what it is asked to fill.
"""

import math
from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers

LENT_BLOCKS = 30.0  # what the correlation of all pairs counts for in that of one
NO_CORRELATION = 5.0  # what no correlation counts for in that of all pairs, times the other arms
MOST_CORRELATED = 0.98
LEAST_OWN = 0.02  # the least part of its variance that an arm keeps to itself
WEAKER = 0.9
ENDLESS = 0  # blocks
ENDLESS_ROOM = 2**62


class Common(NamedTuple):
    """What was seen of blocks in common, by pairs of arms; by an arm and itself, of all its own.

    `counts[i, j]` blocks were seen by both, `sums[i, j, c]` is what arm i's attribute c adds up to
    on them, and `products[i, j, c, k]` the sum of its products with arm j's attribute k. Values are
    told from an origin of each arm.
    """

    counts: Integers
    sums: Floats
    products: Floats


class Sharing(NamedTuple):
    """What rules see of blocks; of no size where arms share none.

    `roots[arm, attribute, :]` times itself, with `parts` between, is the joint covariance of the
    estimates; columns go by rank and attribute. `ranks` order arms by falling counts, `arms` the
    other way round. `parts` are by rank. `rooms` are the pulls that an arm may still have.
    """

    roots: Floats
    parts: Floats
    ranks: Integers
    arms: Integers
    rooms: Integers


class SharingWork(NamedTuple):
    """Room for `fill_sharing`."""

    correlations: Floats
    deviations: Floats
    common: Floats
    solved: Floats


UNSHARED = Sharing(
    np.zeros((0, 0, 0)),
    np.zeros(0),
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
)


def no_common(arm_count: int, width: int) -> Common:
    """Return what is known before any pull."""
    return Common(
        np.zeros((arm_count, arm_count), np.int64),
        np.zeros((arm_count, arm_count, width)),
        np.zeros((arm_count, arm_count, width, width)),
    )


def no_sharing(arm_count: int, width: int) -> Sharing:
    """Return room for what rules see of blocks."""
    return Sharing(
        np.zeros((arm_count, width, arm_count * width)),
        np.zeros(arm_count),
        np.arange(arm_count),
        np.arange(arm_count),
        np.full(arm_count, ENDLESS_ROOM),
    )


def sharing_work(arm_count: int, width: int) -> SharingWork:
    """Return room for `fill_sharing`."""
    return SharingWork(
        np.zeros((arm_count, width, arm_count, width)),
        np.zeros((arm_count, width)),
        np.zeros((width, width)),
        np.zeros(arm_count * width),
    )


def add_common(common: Common, i: int, j: int, own: Floats, other: Floats) -> None:
    """Add a block that two arms have both seen now; for an arm's own blocks they are the same."""
    common.counts[i, j] += 1
    if i != j:
        common.counts[j, i] += 1
    for c in range(own.shape[0]):
        common.sums[i, j, c] += own[c]
        if i != j:
            common.sums[j, i, c] += other[c]
        for k in range(own.shape[0]):
            product = own[c] * other[k]
            common.products[i, j, c, k] += product
            if i != j:
                common.products[j, i, k, c] += product


def fill_sharing(
    sharing: Sharing,
    estimates: Floats,
    covariances: Floats,
    common: Common,
    priority: Integers,
    blocks: int,
    work: SharingWork,
) -> None:
    """Put what arms tell of each other into `sharing`, and into the estimates, which are own means.

    `covariances` are each arm's of one pull. There are `blocks` of them, or ENDLESS. Arms that saw
    as many blocks are taken by priority.
    """
    fill_ranks(sharing, common, priority)
    fill_correlations(common, covariances, work)
    fill_roots(sharing, work)
    fill_means(estimates, sharing, common, work)
    arm_count, width = work.deviations.shape
    for rank in range(arm_count):
        i = sharing.arms[rank]
        seen = max(common.counts[i, i], 1)
        unseen = 1.0 / blocks if blocks > 0 else 0.0
        sharing.parts[rank] = max(1.0 / seen - unseen, 0.0)
        for c in range(width):
            for d in range((rank + 1) * width):
                sharing.roots[i, c, d] *= work.deviations[i, c]


def fill_ranks(sharing: Sharing, common: Common, priority: Integers) -> None:
    """Order the arms by falling counts, and then by priority."""
    for i in range(priority.shape[0]):
        rank = 0
        for j in range(priority.shape[0]):
            own, other = common.counts[i, i], common.counts[j, j]
            rank += (other > own) | ((other == own) & (priority[j] < priority[i]))
        sharing.ranks[i], sharing.arms[rank] = rank, i


def scatter(common: Common, i: int, c: int, j: int, k: int) -> float:
    """Return the sum of products of deviations from the means of the blocks in common."""
    n = common.counts[i, j]
    if n < 1:
        return 0.0
    found: float = common.products[i, j, c, k] - common.sums[i, j, c] * common.sums[j, i, k] / n
    return found


def fill_correlations(common: Common, covariances: Floats, work: SharingWork) -> None:
    """Put the correlations of all attributes of all arms on a block into `work`.

    Within an arm they are its covariance's. What does not vary is correlated with nothing.
    """
    deviations, lent, found = work.deviations, work.common, work.correlations
    arm_count, width = deviations.shape
    for i in range(arm_count):
        for c in range(width):
            deviations[i, c] = math.sqrt(max(covariances[i, c, c], 0.0))
    fill_standardised_scatters(common, work)
    fill_common_correlations(common, work)
    for i in range(arm_count):
        for j in range(i):
            blocks = max(common.counts[i, j] - 1, 0) + LENT_BLOCKS
            for c in range(width):
                for k in range(width):
                    one = 0.0
                    if deviations[i, c] * deviations[j, k] > 0.0:
                        one = (found[i, c, j, k] + LENT_BLOCKS * lent[c, k]) / blocks
                    found[i, c, j, k] = found[j, k, i, c] = one
        for c in range(width):
            for k in range(c + 1):
                one, unit = 1.0 if c == k else 0.0, deviations[i, c] * deviations[i, k]
                if (c != k) & (unit > 0.0):
                    one = covariances[i, c, k] / unit
                found[i, c, i, k] = found[i, k, i, c] = one


def fill_standardised_scatters(common: Common, work: SharingWork) -> None:
    """Put the scatter of each two arms in place of their correlations, in deviations."""
    deviations, found = work.deviations, work.correlations
    for i in range(deviations.shape[0]):
        for j in range(i):
            for c in range(deviations.shape[1]):
                for k in range(deviations.shape[1]):
                    unit, one = deviations[i, c] * deviations[j, k], 0.0
                    if unit > 0.0:
                        one = scatter(common, i, c, j, k) / unit
                    found[i, c, j, k] = found[j, k, i, c] = one


def fill_common_correlations(common: Common, work: SharingWork) -> None:
    """Put the correlations that all pairs of arms have together into `work`, by attributes."""
    lent, found = work.common, work.correlations
    arm_count, width = work.deviations.shape
    pairs = NO_CORRELATION * (arm_count - 1)
    lent[:] = 0.0
    for i in range(arm_count):
        for j in range(arm_count):
            if j < i:
                pairs += max(common.counts[i, j] - 1, 0)
            if i != j:
                for c in range(width):
                    for k in range(c + 1):
                        lent[c, k] += found[i, c, j, k]
    for c in range(width):
        for k in range(c + 1):
            one = 0.5 * lent[c, k] / max(pairs, 1.0)
            if c == k:
                one = min(max(one, 0.0), MOST_CORRELATED)
            lent[c, k] = lent[k, c] = one
    for c in range(width):
        for k in range(c):
            most = math.sqrt(lent[c, c] * lent[k, k])
            lent[c, k] = lent[k, c] = min(max(lent[c, k], -most), most)


def fill_roots(sharing: Sharing, work: SharingWork) -> None:
    """Put a triangular root of the correlations into `sharing`, in the order of ranks.

    Correlations that were estimated pair by pair may contradict each other. What is between arms
    is weakened until every arm keeps a part of its variance to itself.
    """
    strength = 1.0
    while not _root_found(sharing, work, strength):
        strength *= WEAKER


def _root_found(sharing: Sharing, work: SharingWork, strength: float) -> bool:
    """Fill in the root, with what is between arms so strong; tell whether that is possible."""
    roots, arms, found = sharing.roots, sharing.arms, work.correlations
    arm_count, width = work.deviations.shape
    for rank in range(arm_count):
        i = arms[rank]
        for c in range(width):
            row, place = roots[i, c], rank * width + c
            rest = found[i, c, i, c] - product(row, row, place)
            # What the arm's own attributes before this one leave, were it by itself:
            alone = rest + product(row, row, rank * width)
            if alone <= LEAST_OWN * LEAST_OWN:
                row[place] = 0.0
            elif rest < LEAST_OWN * alone:
                return False
            else:
                row[place] = math.sqrt(rest)
            inverse = 1.0 / row[place] if row[place] > 0.0 else 0.0
            for after in range(rank, arm_count):  # down the column: none waits for another
                j, between = arms[after], strength if after > rank else 1.0
                for k in range(c + 1 if after == rank else 0, width):
                    rest = between * found[j, k, i, c] - product(roots[j, k], row, place)
                    roots[j, k, place] = rest * inverse
            for d in range(place + 1, roots.shape[2]):
                row[d] = 0.0
    return True


def product(first: Floats, second: Floats, size: int) -> float:
    """Return the sum of products of the first few numbers, in four sums that do not wait."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = size - size % 4
    for e in range(0, whole, 4):
        a += first[e] * second[e]
        b += first[e + 1] * second[e + 1]
        c += first[e + 2] * second[e + 2]
        d += first[e + 3] * second[e + 3]
    for e in range(whole, size):
        a += first[e] * second[e]
    return (a + b) + (c + d)


def fill_means(estimates: Floats, sharing: Sharing, common: Common, work: SharingWork) -> None:
    """Correct each arm's means by how far the arms before it are off on the blocks that it saw."""
    roots, arms, solved, deviations = sharing.roots, sharing.arms, work.solved, work.deviations
    arm_count, width = deviations.shape
    shifts = work.correlations[0]  # free by now: [attribute, arm, attribute]
    for rank in range(arm_count):  # how far each estimate is from the arm's own mean
        for c in range(width):
            shifts[0, arms[rank], c] = 0.0
    for rank in range(1, arm_count):
        i = arms[rank]
        moved = False
        for before in range(rank):
            j = arms[before]
            n = common.counts[i, j]
            for k in range(width):
                d, off = before * width + k, 0.0
                if (n > 0) & (deviations[j, k] > 0.0):
                    off = common.sums[j, j, k] / common.counts[j, j] - common.sums[j, i, k] / n
                    off = (off + shifts[0, j, k]) / deviations[j, k]
                moved |= off != 0.0
                off -= product(roots[j, k], solved, d)
                root = roots[j, k, d]
                solved[d] = off / root if root > 0.0 else 0.0
        if not moved:
            continue
        for c in range(width):
            shift = product(roots[i, c], solved, rank * width)
            shifts[0, i, c] = shift * deviations[i, c]
            estimates[i, c] += shifts[0, i, c]


def fill_own(covariances: Floats, sharing: Sharing, counts: Integers) -> None:
    """Put the covariance of each arm's own estimates, times its pulls, into `covariances`."""
    for i in range(covariances.shape[0]):
        for c in range(covariances.shape[1]):
            for k in range(c + 1):
                found = together(sharing, i, c, i, k) * max(counts[i], 1)
                covariances[i, c, k] = covariances[i, k, c] = found


def fill_difference_roots(sharing: Sharing, baseline: int, factors: Floats) -> None:
    """Take a baseline's multiples out of the limits of all arms, and last of its own."""
    arm_count, width, size = sharing.roots.shape
    for c in range(1, width):
        for d in range(size):
            shared = factors[c - 1] * sharing.roots[baseline, c, d]
            for i in range(arm_count):
                sharing.roots[i, c, d] -= shared


def fill_rooms(sharing: Sharing, counts: Integers, blocks: int) -> None:
    """Put the pulls that arms may still have in place: one for each block that they did not see."""
    for i in range(counts.shape[0]):
        sharing.rooms[i] = max(blocks - counts[i], 0) if blocks > 0 else ENDLESS_ROOM


def together(sharing: Sharing, i: int, c: int, j: int, k: int) -> float:
    """Return the covariance of the estimates of arm i's attribute c and arm j's attribute k."""
    width = sharing.roots.shape[1]
    total = 0.0
    for rank in range(min(sharing.ranks[i], sharing.ranks[j]) + 1):
        product = 0.0
        for d in range(rank * width, (rank + 1) * width):
            product += sharing.roots[i, c, d] * sharing.roots[j, k, d]
        total += product * sharing.parts[rank]
    return total


def worth(sharing: Sharing, arm: int, rival: int, c: int, counts: Integers) -> float:
    """Return by how much one more block of an arm sharpens its difference from a rival.

    In parts: of the variance of the difference, what goes down in proportion to the arm's blocks.
    Of arms that saw as many blocks the one that goes ahead is regressed on none of the others.
    """
    roots, arms, width = sharing.roots, sharing.arms, sharing.roots.shape[1]
    rank = sharing.ranks[arm]
    first = rank
    while (first > 0) and (counts[arms[first - 1]] == counts[arm]):
        first -= 1
    pressed, own = 0.0, 0.0
    for d in range(first * width, (rank + 1) * width):
        pressed += roots[arm, c, d] * (roots[arm, c, d] - roots[rival, c, d])
        own += roots[arm, c, d] * roots[arm, c, d]
    return pressed * pressed / own * sharing.parts[rank] if own > 0.0 else 0.0
