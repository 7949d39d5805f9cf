"""What a replication remembers where arms share blocks: every pull, and what pairs of arms saw.

May touch core.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.noise import Moments, add_pull, drop_rounding, no_moments
from ringfence.core.sharing import Common, add_common, no_common
from ringfence.core.streams import Generator
from ringfence.simulation.records import Recording


class SharedRecord(NamedTuple):
    """Pulls [arm, block, attribute], how many each arm had, and what is drawn of blocks so far.

    `moments` are those of each arm's own pulls, whose scatters are `scatters`; `common` is told
    from each arm's first pull. `blocks` [block, attribute] is what a law draws of each, and `drawn`
    how many it has drawn.
    """

    moments: Moments
    scatters: Floats
    common: Common
    pulls: Floats
    told: Floats
    counts: Integers
    blocks: Floats
    order: Integers
    drawn: Integers


def shared_recording(draw: Callable[..., None], width: int, blocks: int) -> Recording:
    """Return a recording of pulls that `draw(rng, arrays, record, arm, block, pull)` makes.

    `blocks` is how many there are, or 0 where they are endless.
    """

    def make(arm_count: int, capacity: int) -> SharedRecord:
        most = min(capacity, blocks) if blocks else capacity
        moments = no_moments(arm_count, width)
        return SharedRecord(
            moments=moments,
            scatters=moments.scatters,
            common=no_common(arm_count, width),
            pulls=np.zeros((arm_count, most, width)),
            told=np.zeros((2, width)),
            counts=np.zeros(arm_count, np.int64),
            blocks=np.zeros((most, width)),
            order=np.arange(max(blocks, 1)),
            drawn=np.zeros(1, np.int64),
        )

    return Recording(make, forget_shared, _shared_adder(draw), look_at_shared)


def forget_shared(record: SharedRecord) -> None:
    """Start anew; the order of blocks goes on from the last one, and is as random."""
    record.moments.sums[:] = 0.0
    record.moments.centres[:] = 0.0
    record.moments.scatters[:] = 0.0
    record.common.counts[:] = 0
    record.common.sums[:] = 0.0
    record.common.products[:] = 0.0
    record.counts[:] = 0
    record.drawn[0] = 0


@cache
def _shared_adder(draw: Callable[..., None]) -> Callable[..., None]:
    def add(
        rng: Generator,
        arrays: Any,
        arm: int,
        count: int,
        pulls: int,
        record: SharedRecord,
        scratch: Floats,
    ) -> None:
        own, other = record.told[0], record.told[1]
        for block in range(count, count + pulls):
            pull = record.pulls[arm, block]
            draw(rng, arrays, record, arm, block, pull)
            add_pull(record.moments, block, arm, pull)
            record.counts[arm] += 1
            for c in range(pull.shape[0]):
                own[c] = pull[c] - record.pulls[arm, 0, c]
            add_common(record.common, arm, arm, own, own)
            for j in range(record.counts.shape[0]):
                if (j != arm) & (record.counts[j] > block):
                    for c in range(pull.shape[0]):
                        other[c] = record.pulls[j, block, c] - record.pulls[j, 0, c]
                    add_common(record.common, arm, j, own, other)

    return add


def look_at_shared(record: SharedRecord, arm: int, count: int, estimates: Floats) -> None:
    """Put the means of all arms into `estimates`: those of the last look were corrected."""
    for i in range(estimates.shape[0]):
        if record.counts[i] > 0:
            for c in range(estimates.shape[1]):
                estimates[i, c] = record.moments.sums[i, c] / record.counts[i]
    drop_rounding(record.moments.scatters[arm], record.moments.centres[arm], count)


class ItemArrays(NamedTuple):
    """Rows [arm, item, attribute], less the origin."""

    rows: Floats


def draw_item(
    rng: Generator, arrays: ItemArrays, record: SharedRecord, arm: int, block: int, pull: Floats
) -> None:
    """Put what an arm did on an item into `pull`; items come in an order drawn when they do."""
    order = record.order
    if block == record.drawn[0]:
        place = rng.integers(block, order.shape[0])
        item = order[place]
        order[place] = order[block]
        order[block] = item
        record.drawn[0] += 1
    for c in range(pull.shape[0]):
        pull[c] = arrays.rows[arm, order[block], c]


class BlockArrays(NamedTuple):
    """Means [arm, attribute], factors [arm, attribute, normal], and those of a block's effect."""

    means: Floats
    factors: Floats
    effects: Floats


def draw_on_block(
    rng: Generator, arrays: BlockArrays, record: SharedRecord, arm: int, block: int, pull: Floats
) -> None:
    """Put a Gaussian pull on a block into `pull`; its effect on all arms is drawn when it comes."""
    if block == record.drawn[0]:
        for c in range(pull.shape[0]):
            record.blocks[block, c] = 0.0
        for d in range(arrays.effects.shape[1]):
            normal = rng.standard_normal()
            for c in range(pull.shape[0]):
                record.blocks[block, c] += arrays.effects[c, d] * normal
        record.drawn[0] += 1
    for c in range(pull.shape[0]):
        pull[c] = arrays.means[arm, c] + record.blocks[block, c]
    for d in range(arrays.factors.shape[2]):
        normal = rng.standard_normal()
        for c in range(pull.shape[0]):
            pull[c] += arrays.factors[arm, c, d] * normal
