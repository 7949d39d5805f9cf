"""Arms whose pulls end: where items are shared, each arm has only so many to be pulled on.

What a rule gives to an arm beyond its items pays for pulls of arms that still have some. Writes in
`fresh`.
"""

from ringfence.core.allowance import next_in_priority
from ringfence.core.arrays import Integers, Mask


def keep_open(
    fresh: Integers,
    rooms: Integers,
    alive: Mask,
    priority: Integers,
    prices: Integers,
    choices: int,
) -> bool:
    """Leave out pulls of items beyond the last; return False if that leaves nothing to choose.

    Of a course that makes choices they are handed on. Phases go on without them: survivors have
    seen as many.
    """
    spare = leave_out(fresh, rooms, prices)
    if choices == 0:
        return True
    hand_on(fresh, rooms, alive, priority, prices, spare)
    some = False
    for i in range(fresh.shape[0]):
        some |= fresh[i] > 0
    return some


def leave_out(fresh: Integers, rooms: Integers, prices: Integers) -> int:
    """Take pulls beyond the room of each arm away; return what they would have cost."""
    spare = 0
    for i in range(fresh.shape[0]):
        over = max(fresh[i] - rooms[i], 0)
        fresh[i] -= over
        spare += over * prices[i]
    return spare


def hand_on(
    fresh: Integers,
    rooms: Integers,
    alive: Mask,
    priority: Integers,
    prices: Integers,
    spare: int,
) -> None:
    """Spend so much on pulls of living arms, within the room of each.

    They get equally many, and those first in priority one more.
    """
    while spare > 0:
        total, least = 0, 0
        for i in range(fresh.shape[0]):
            if is_payable(i, fresh, rooms, alive, prices, spare):
                left = rooms[i] - fresh[i]
                least = left if total == 0 else min(left, least)
                total += prices[i]
        if total == 0:
            return
        each = max(1, min(least, spare // total))
        before, arm = spare, next_in_priority(priority, -1)
        while arm >= 0:
            if is_payable(arm, fresh, rooms, alive, prices, before):
                more = min(each, spare // prices[arm])
                fresh[arm] += more
                spare -= more * prices[arm]
            arm = next_in_priority(priority, priority[arm])


def is_payable(
    arm: int, fresh: Integers, rooms: Integers, alive: Mask, prices: Integers, spare: int
) -> bool:
    """Tell whether there is an item left for a living arm, and so much pays for it."""
    found: bool = alive[arm] & (fresh[arm] < rooms[arm]) & (prices[arm] <= spare)
    return found
