"""How a large batch is decided, once more: a slow transcription of decision 27."""

import math
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.baseline import add_choice
from ringfence.core.chance import next_normal, spin
from ringfence.policies.evidence import Evidence


def sizes(known: int, size: int) -> list[int]:
    """Return the pulls of every group of a batch, where each choice is of one pull."""
    found: list[int] = []
    while sum(found) < size:
        group = max(16, (known + sum(found)) // 10, math.ceil(size / 64))
        found.append(min(group, size - sum(found)))
    return found


def fresh_pulls(policy: Any, seen: Evidence, uniforms: Floats, size: int) -> Integers:
    """Return the pulls of every arm in a batch of `size`, chosen one for each uniform."""
    arm_count, slots = len(seen.counts), len(uniforms)
    fresh, work = np.zeros(arm_count, np.int64), policy.make_work(*seen.estimates.shape)
    known, state = int(seen.counts.sum()), np.zeros(2)
    spin(state, (uniforms[0] + uniforms[-1]) % 1.0)
    worth = [size // slots + (k < size % slots) for k in range(slots)]
    start, then = 0, seen
    while start < slots:
        if start > 0:
            then = ahead(seen, fresh, state)
        group = min(size, max(16, (known + sum(worth[:start])) // 10, math.ceil(size / 64)))
        end = min(slots, start + max(1, group * slots // size))
        chosen = np.full(end - start, -1)
        policy.choose(then, uniforms[start:end], chosen, work)
        for arm, pulls in zip(chosen.tolist(), worth[start:end], strict=True):
            if seen.baseline[0] >= 0:
                add_choice(fresh, seen.counts, int(seen.baseline[0]), arm, pulls)
            else:
                fresh[arm] += pulls
        start = end
    return fresh


def ahead(seen: Evidence, fresh: Integers, state: Floats) -> Evidence:
    """Return the evidence as it may be when the fresh pulls are told."""
    estimates = seen.estimates.copy()
    for arm in np.flatnonzero(fresh):
        n, k = int(seen.counts[arm]), int(fresh[arm])
        move = seen.covariances[arm] * (1.0 / n - 1.0 / (n + k))
        normals = [next_normal(state) for _ in range(estimates.shape[1])]
        estimates[arm] += np.linalg.cholesky(move) @ normals
    prices = np.broadcast_to(seen.prices, fresh.shape)
    left = np.maximum(seen.left - float(fresh @ prices), 0.0)
    return seen._replace(estimates=estimates, counts=seen.counts + fresh, left=left)
