"""Arms whose pulls end: where items are shared, each arm has only so many to be pulled on.

What a rule gives to an arm beyond its items goes to arms that still have some. May touch core.
"""

from collections.abc import Sequence

import numpy as np

from ringfence.core.arrays import Integers, Mask
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
    """Return an allocation within the room of each arm; what was cut pays for pulls of others.

    They get equally many, as far as there is room, and those first in priority one more.
    """
    given = np.minimum(np.array(allocation, np.int64), room)
    price = np.array(prices, np.int64)
    spare = int(((np.array(allocation, np.int64) - given) * price).sum())
    ordered = np.argsort(priority)
    while spare > 0:
        open_ = ordered[(alive & (given < room) & (price <= spare))[ordered]]
        if not len(open_):
            break
        each = min(int((room - given)[open_].min()), spare // int(price[open_].sum()))
        for arm in open_.tolist():
            more = min(max(1, each), spare // int(price[arm]))
            given[arm] += more
            spare -= more * int(price[arm])
    return [int(count) for count in given]
