"""What may be spent: an amount, and how much of it one pull of each arm takes.

Pulls are the case in which every price is 1. Amounts are whole numbers of some smallest amount, so
that accounts are exact; rules see prices relative to the reference price, which is their mean, as
floats. Equal prices, whatever they are, give the numbers that pulls give, to the bit.

A schedule is cut in pulls at the reference price: as many as the allowance pays for if all arms are
pulled alike. A phase has what it would cost then, its ration, and pulls its survivors alike while
that lasts; the rest goes to the next phase. So no schedule spends more than the allowance. Touches
its arguments only.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import TypeAlias

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.errors import InputError

Amount: TypeAlias = int | Decimal | Fraction
_MOST = 2**62  # what is added up in 64 bits stays exact


def require_whole(budget: object) -> int:
    """Return a budget as a plain whole number, or refuse it."""
    if not isinstance(budget, Integral):
        raise InputError(f"budget = {budget!r} must be a whole number of pulls. Round it.")
    return int(budget)


@dataclass(frozen=True)
class Allowance:
    """A limit, and the price of a pull by arm, all in whole numbers of the smallest amount.

    >>> from decimal import Decimal
    >>> from ringfence.core.allowance import Allowance
    >>> allowance = Allowance.of(Decimal("5.00"), [Decimal("0.03"), Decimal("1.10")])
    >>> allowance.limit, allowance.prices, allowance.pulls
    (500, (3, 110), 8)
    >>> allowance.cost([2, 3])
    336
    """

    limit: int
    prices: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse prices that are none."""
        for price in self.prices:
            if not isinstance(price, Integral) or price < 1:
                raise InputError(f"price = {price!r} must be a whole number above 0. Raise it.")

    @classmethod
    def of(cls, limit: Amount, prices: Iterable[Amount]) -> "Allowance":
        """Return exact amounts of any unit in the largest part of it that all prices are whole in.

        What is left of the limit below that part pays for nothing, and is left out.
        """
        exact = [Fraction(price) for price in prices]
        if any(price <= 0 for price in exact):
            raise InputError(f"prices = {[str(one) for one in exact]} must be above 0. Raise them.")
        parts = math.lcm(*(price.denominator for price in exact))
        part = Fraction(math.gcd(*(int(price * parts) for price in exact)), parts)
        return cls(int(Fraction(limit) // part), tuple(int(price / part) for price in exact))

    @classmethod
    def or_pulls(cls, limit: int, prices: Sequence[int], arm_count: int) -> "Allowance":
        """Return an allowance of so many arms; without prices it is one of pulls."""
        if prices and len(prices) != arm_count:
            raise InputError(
                f"there are {len(prices)} prices for {arm_count} arms. Give each arm one, or none."
            )
        return cls(limit, tuple(prices) or (1,) * arm_count)

    @property
    def total(self) -> int:
        """What one pull of every arm costs: the reference price times the arms."""
        return sum(self.prices)

    @property
    def is_even(self) -> bool:
        """Whether a pull of any arm costs the same."""
        return min(self.prices) == max(self.prices)

    @property
    def pulls(self) -> int:
        """How many pulls at the reference price the limit pays for; schedules are cut from it."""
        return self.limit * len(self.prices) // self.total

    @property
    def spendable(self) -> int:
        """The limit, without what pays for nothing: all that pulls cost are multiples of a part."""
        return self.limit - self.limit % math.gcd(*self.prices)

    @cached_property
    def array(self) -> Integers:
        """The prices as an array, for amounts that 64 bits hold."""
        if max(self.limit, self.total) * len(self.prices) > _MOST:
            raise InputError(
                f"budget = {self.limit} is too many smallest amounts to count. Use coarser ones."
            )
        return np.array(self.prices, np.int64)

    @property
    def relative(self) -> Floats:
        """The prices over the reference price, for rules: all 1.0 where they are equal."""
        return np.array([price * len(self.prices) / self.total for price in self.prices])

    def cost(self, pulls: Iterable[int]) -> int:
        """Return what so many pulls of each arm cost."""
        return sum(
            price * int(count) for price, count in zip(self.prices, pulls, strict=True) if count
        )

    def left(self, spent: int) -> float:
        """Return what is left, in units of the reference price: of pulls, how many."""
        return (self.spendable - spent) * len(self.prices) / self.total

    def most_pulls(self, arm: int, left: int) -> int:
        """Return how many pulls of an arm so much pays for."""
        return max(0, left) // self.prices[arm]


def price_of(prices: Floats, arm: int) -> float:
    """Return an arm's relative price; one price alone is that of all arms."""
    price: float = prices[min(arm, prices.shape[0] - 1)]
    return price


def next_in_priority(priority: Integers, last: int) -> int:
    """Return the arm of the first rank after `last`, or -1."""
    found = -1
    for i in range(priority.shape[0]):
        if priority[i] > last and (found < 0 or priority[i] < priority[found]):
            found = i
    return found


def ration(pulls: int, extra: int, alive: Mask, prices: Integers, rest: int) -> tuple[int, int]:
    """Return how many pulls a phase gives every survivor, and what it leaves.

    The phase has what its pulls, and the extra ones, cost at the reference price, and the `rest` of
    the phases before. Rests are in parts: as many make the smallest amount as there are arms.
    """
    total, count, cost = 0, 0, 0
    for i in range(alive.shape[0]):
        total += prices[i]
        if alive[i]:
            count += 1
            cost += prices[i]
    paid = total * (count * pulls + min(extra, count)) + rest
    unit = cost * alive.shape[0]
    spare = paid - pulls * unit
    if 0 <= spare < unit:  # so it is at equal prices, and divisions are slow on a GPU
        return pulls, spare
    return paid // unit, paid % unit


def add_extra(fresh: Integers, alive: Mask, priority: Integers, prices: Integers, rest: int) -> int:
    """Give survivors one more pull, by priority, while the rest of a phase pays; return its rest.

    At equal prices these are the phase's extra pulls, no more and no fewer.
    """
    last = -1
    while rest > 0:
        arm = next_in_priority(priority, last)
        if arm < 0:
            break
        last = priority[arm]
        price = prices[arm] * alive.shape[0]
        if alive[arm] and price <= rest:
            fresh[arm] += 1
            rest -= price
    return rest


def keep_paid(fresh: Integers, prices: Integers, left: int, priority: Integers) -> bool:
    """Leave out of a batch what is not paid for; return False if none of its pulls remain.

    Where `left` does not pay for all, arms have theirs in their order of priority. At equal prices
    no batch is larger than what is left, and nothing is left out.
    """
    cost = 0
    for i in range(fresh.shape[0]):
        cost += prices[i] * fresh[i]
    if cost <= left:
        return True
    some, last = False, -1
    while True:
        arm = next_in_priority(priority, last)
        if arm < 0:
            return some
        last = priority[arm]
        fresh[arm] = min(fresh[arm], left // prices[arm])
        left -= prices[arm] * fresh[arm]
        some |= fresh[arm] > 0
