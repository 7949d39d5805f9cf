"""Arms whose pulls end, in a live study: how many each has left, and who gets what it cannot use.

May touch core.
"""

from collections.abc import Sequence

import numpy as np

from ringfence.core.arrays import Integers, Mask
from ringfence.core.exhausting import hand_on, leave_out
from ringfence.study.facts import Round
from ringfence.study.sharing import Sharing


def room_of(sharing: Sharing, before: Round | None, arm_count: int) -> Integers:
    """Return how many more pulls each arm has items for, after a round."""
    had = np.zeros(arm_count, np.int64)
    if before is not None:
        had = np.array(before.before, np.int64) + np.array(before.allocation, np.int64)
    return np.asarray(np.maximum(0, sharing.most_pulls - had))


def handed_on(
    allocation: Sequence[int],
    room: Integers,
    alive: Mask,
    priority: Integers,
    prices: Sequence[int],
) -> list[int]:
    """Return an allocation within the room of each arm; what was cut pays for pulls of others."""
    given, price = np.array(allocation, np.int64), np.array(prices, np.int64)
    spare = leave_out(given, room, price)
    if spare > 0:
        hand_on(given, room, alive, priority, price, spare)
    return [int(count) for count in given]
