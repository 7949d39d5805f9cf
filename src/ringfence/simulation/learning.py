"""Prices that are learned, in simulations: what a replication does beside others, as studies do it.

What pulls cost is drawn with them, and paid for by a record. After each round prices follow from
what was paid (`core/pricing.py`); first pulls and phases go on in rounds that are paid for. Touches
its arguments only.
"""

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.pricing import Paid, fill_even, fill_learned


def settle(
    relative: Floats, prices: Integers, reserves: Integers, paid: Paid, unstated: Integers
) -> int:
    """Learn prices from what was paid, and show them to rules; return what was paid in all."""
    fill_learned(prices, reserves, paid, unstated, unstated)
    total, spent, arm_count = 0, 0, prices.shape[0]
    for i in range(arm_count):
        total += prices[i]
        spent += paid.spent[i]
    for i in range(arm_count):
        relative[i] = prices[i] * arm_count / total
    return spent


def extremes(prices: Integers, reserves: Integers, alive: Mask) -> tuple[int, int, int]:
    """Return the least and largest reserve of the arms that are alive, and the sum of prices."""
    least, largest, total = 0, 0, 0
    for i in range(prices.shape[0]):
        total += prices[i]
        if alive[i]:
            least = reserves[i] if largest == 0 else min(least, reserves[i])
            largest = max(largest, reserves[i])
    return least, largest, total


def fill_further(
    fresh: Integers,
    counts: Integers,
    alive: Mask,
    priority: Integers,
    rooms: Integers,
    going: Mask,
    prices: Integers,
    reserves: Integers,
    step: int,
    goal: int,
    ration: int,
    budget: int,
    spent: int,
) -> bool:
    """Fill in the next pulls of arms that are to have up to a `goal`; False if none is paid for.

    Rounds at most double what arms had, since prices may be far from what they looked like. They
    spend at most what is left of the `ration` at prices, and of the budget at reserves. `going` is
    room to write in.
    """
    least = goal
    for i in range(fresh.shape[0]):
        going[i] = alive[i] and rooms[i] > 0 and counts[i] < goal
        if going[i]:
            least = min(least, counts[i])
    if least == goal:  # nobody lacks any
        return False
    wanted = min(max(step, least), goal - least)
    fill_even(
        fresh, counts, wanted, going, prices, reserves, ration - spent, budget - spent, priority
    )
    some = False
    for i in range(fresh.shape[0]):
        fresh[i] = max(0, min(fresh[i], rooms[i], goal - counts[i]))
        some |= fresh[i] > 0
    return some


def keep_room(fresh: Integers, counts: Integers, most: int) -> bool:
    """Leave out pulls that a record has no room for; return False if none remain."""
    some = False
    for i in range(fresh.shape[0]):
        fresh[i] = min(fresh[i], most - counts[i])
        some |= fresh[i] > 0
    return some
