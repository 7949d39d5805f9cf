"""What pulls on shared blocks tell, written from the sums over prefixes and not from the code.

Values are [arm, block, attribute], of which an arm saw the first `counts[arm]`. Everything is one
vector with the attributes of all arms one after the other: weighted least squares over the blocks,
each with the arms that saw it.
"""

import numpy as np

from ringfence.core.arrays import Floats, Integers


def block_correlations(values: Floats, counts: Integers, covariances: Floats) -> Floats:
    """Return correlations on a block [arm, attribute, arm, attribute], shrunk as the text says."""
    arm_count, _, width = values.shape
    deviations = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    scatters = np.zeros((arm_count, width, arm_count, width))
    common = np.minimum.outer(counts, counts)
    for i in range(arm_count):
        for j in range(arm_count):
            seen = values[i, : common[i, j]], values[j, : common[i, j]]
            z_i, z_j = ((one - one.mean(axis=0)) / sd for one, sd in
                        zip(seen, (deviations[i], deviations[j]), strict=True))  # fmt: skip
            scatters[i, :, j, :] = z_i.T @ z_j
    pairs = [(i, j) for i in range(arm_count) for j in range(i)]
    blocks = sum(common[pair] - 1 for pair in pairs) + 10 * (arm_count - 1) / 2
    lent = sum(scatters[i, :, j, :] + scatters[j, :, i, :] for i, j in pairs) / 2 / blocks
    own = np.clip(np.diagonal(lent), 0.0, 0.98)
    most = np.sqrt(np.outer(own, own))
    lent = np.clip(lent, -most, most)
    np.fill_diagonal(lent, own)
    found = np.zeros_like(scatters)
    for i in range(arm_count):
        for j in range(arm_count):
            found[i, :, j, :] = (scatters[i, :, j, :] + 30 * lent) / (common[i, j] - 1 + 30)
        found[i, :, i, :] = covariances[i] / np.outer(deviations[i], deviations[i])
    return found


def joint_estimates(
    values: Floats, counts: Integers, sigma: Floats, blocks: int
) -> tuple[Floats, Floats]:
    """Return means [arm, attribute] and their covariance [arm, attribute, arm, attribute].

    `sigma` is the covariance of all attributes on a block. There are `blocks`, or 0: endless.
    """
    arm_count, _, width = values.shape
    size = arm_count * width
    whole = sigma.reshape(size, size)
    information, sums = np.zeros((size, size)), np.zeros(size)
    for t in range(counts.max()):
        seen, y = _seen(values, counts, t)
        weights = np.linalg.inv(whole[np.ix_(seen, seen)])
        information[np.ix_(seen, seen)] += weights
        sums[seen] += weights @ y
    covariance = np.linalg.inv(information)
    means = covariance @ sums
    if blocks > 0:
        means, covariance = _of_these(values, counts, whole, blocks, means, covariance)
    shape = (arm_count, width, arm_count, width)
    return means.reshape(arm_count, width), covariance.reshape(shape)


def _of_these(
    values: Floats, counts: Integers, whole: Floats, blocks: int, means: Floats, covariance: Floats
) -> tuple[Floats, Floats]:
    """Return averages over a finite set of blocks: what was not seen has conditional means."""
    size = len(means)
    total, slopes, rest = np.zeros(size), np.zeros((size, size)), np.zeros((size, size))
    for t in range(blocks):
        seen, y = _seen(values, counts, t)
        unseen = np.setdiff1d(np.arange(size), seen)
        by = whole[np.ix_(unseen, seen)] @ np.linalg.inv(whole[np.ix_(seen, seen)])
        total[seen] += y
        total[unseen] += by @ y
        slopes[unseen, unseen] += 1.0
        slopes[np.ix_(unseen, seen)] -= by
        left = whole[np.ix_(unseen, unseen)] - by @ whole[np.ix_(seen, unseen)]
        rest[np.ix_(unseen, unseen)] += left
    found = (slopes @ covariance @ slopes.T + rest) / blocks**2
    return (total + slopes @ means) / blocks, found


def _seen(values: Floats, counts: Integers, t: int) -> tuple[Integers, Floats]:
    """Return the places of what was seen of a block, and that."""
    width = values.shape[2]
    arms = np.flatnonzero(counts > t)
    places = (arms[:, None] * width + np.arange(width)).ravel()
    return places, values[arms, t].ravel() if len(arms) else np.zeros(0)
