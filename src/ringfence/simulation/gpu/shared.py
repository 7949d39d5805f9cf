"""What a replication on a GPU remembers where arms share blocks: sums over pairs, and no pull.

A pull is numbered by its block and its arm, and a block's effect by the block. So what another arm
did on a block need not be kept: it is drawn again when an arm comes to that block. Every pull costs
as many draws as there are arms, and a replication the room of a few tables of arms by arms. May
touch core and simulation's draws.
"""

from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.noise import Moments, add_pull, no_moments
from ringfence.core.sharing import Common, add_common, no_common
from ringfence.simulation.gpu.draws import SERIES, normal_pair
from ringfence.simulation.records import Recording
from ringfence.simulation.shared_records import BlockArrays, look_at_shared

_u32 = np.uint32


class NumberedRecord(NamedTuple):
    """Moments of each arm's pulls, and sums over the blocks that pairs of arms both saw.

    `firsts` are each arm's first pull, from which `common` is told; `pull`, `effect`, `own` and
    `other` are room for one.
    """

    moments: Moments
    scatters: Floats
    common: Common
    firsts: Floats
    counts: Integers
    pull: Floats
    effect: Floats
    own: Floats
    other: Floats


def numbered_recording(width: int) -> Recording:
    """Return a recording of pulls that are drawn by number, as often as they are needed."""

    def make(arm_count: int, _: int) -> NumberedRecord:
        moments = no_moments(arm_count, width)
        pull, effect, own, other = np.zeros((4, width))
        return NumberedRecord(
            moments=moments,
            scatters=moments.scatters,
            common=no_common(arm_count, width),
            firsts=np.zeros((arm_count, width)),
            counts=np.zeros(arm_count, np.int64),
            pull=pull,
            effect=effect,
            own=own,
            other=other,
        )

    return Recording(make, forget_numbered, add_numbered, look_at_shared)


def forget_numbered(record: NumberedRecord) -> None:
    """Start anew."""
    record.moments.sums[:] = 0.0
    record.moments.centres[:] = 0.0
    record.moments.scatters[:] = 0.0
    record.common.counts[:] = 0
    record.common.sums[:] = 0.0
    record.common.products[:] = 0.0
    record.counts[:] = 0


def add_numbered(
    rng: Any,
    arrays: BlockArrays,
    arm: int,
    count: int,
    pulls: int,
    record: NumberedRecord,
    scratch: Floats,
) -> None:
    """Add pulls of an arm on its next blocks, beside what other arms did on them."""
    width, own, other = record.firsts.shape[1], record.own, record.other
    for block in range(count, count + pulls):
        fill_effect(rng.words, arrays, block, record.effect)
        fill_pull(rng.words, arrays, arm, block, record.effect, record.pull)
        if block == 0:
            for c in range(width):
                record.firsts[arm, c] = record.pull[c]
        add_pull(record.moments, block, arm, record.pull)
        record.counts[arm] += 1
        for c in range(width):
            own[c] = record.pull[c] - record.firsts[arm, c]
        add_common(record.common, arm, arm, own, own)
        for j in range(record.counts.shape[0]):
            if (j != arm) & (record.counts[j] > block):
                fill_pull(rng.words, arrays, j, block, record.effect, other)
                for c in range(width):
                    other[c] -= record.firsts[j, c]
                add_common(record.common, arm, j, own, other)


def fill_effect(words: Any, arrays: BlockArrays, block: int, effect: Floats) -> None:
    """Put what a block does to all arms in place."""
    for c in range(effect.shape[0]):
        effect[c] = 0.0
    add_numbered_noise(words, arrays.effects, number_of(arrays, block, 0), effect)


def fill_pull(
    words: Any, arrays: BlockArrays, arm: int, block: int, effect: Floats, pull: Floats
) -> None:
    """Put an arm's pull on a block with this effect in place."""
    for c in range(pull.shape[0]):
        pull[c] = arrays.means[arm, c] + effect[c]
    add_numbered_noise(words, arrays.factors[arm], number_of(arrays, block, arm + 1), pull)


def number_of(arrays: BlockArrays, block: int, place: int) -> int:
    """Return the number of the first draw for a block's effect, at place 0, or an arm's pull."""
    pairs = (max(arrays.effects.shape[1], arrays.factors.shape[2]) + 1) // 2
    number: int = (block * (arrays.means.shape[0] + 1) + place) * pairs
    return number


def add_numbered_noise(words: Any, factors: Floats, number: int, values: Floats) -> None:
    """Add `factors` times normals, whose pairs are numbered from a number on, to some values."""
    for d in range(0, factors.shape[1], 2):
        first, second = normal_pair(words[0], words[1], words[2], _u32(number + d // 2), SERIES)
        for c in range(values.shape[0]):
            values[c] += factors[c, d] * first
            if d + 1 < factors.shape[1]:
                values[c] += factors[c, d + 1] * second
