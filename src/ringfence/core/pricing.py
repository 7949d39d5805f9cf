"""What a pull costs: stated by arm, or learned as it is told; all in whole smallest amounts.

Stated prices are what `core/allowance.py` counts with, and never change. Where a metric says what a
pull cost, prices are learned: the price of an arm is the mean of what was paid for its pulls, with
a first guess as half a pull beside it. The guess is the one that was stated; else what the arms
cost on average that something is known of. Before anything is known every price is one smallest
amount: all are alike.

What a pull that is not settled keeps of the budget, its *reserve*, is the cap, where one was
stated. Else it is the most that a pull of the arm cost, and five times its price at least. Whatever
the costs are, the most of n pulls is exceeded by the next with chance 1/(n + 1) or less; with five
prices beside it seldom, also after few (decision 32 has numbers).

So all prices are whole numbers that follow from what was paid, and what rules see, rations and
batches come from them as from stated ones. Touches its arguments only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.errors import InputError, nearest
from ringfence.core.money import Money, digits_of, plain, read_amount
from ringfence.core.schedule import Phase, survivors

DIGITS = 9  # of learned prices: a cost is rounded to a billionth of the unit
_MOST = 2**62
_PRICES_RESERVED = 5  # at least, where no cap was stated
_CENTS = 2  # at least, of stated prices: a budget may be raised to such an amount
_FEW_ARMS = 100
_ROOM = 1000  # how often the first budget a later one may be


@dataclass(frozen=True)
class Pricing:
    """The prices of pulls as they were stated, by arm, in whole numbers of 10^-digits of the unit.

    Either `stated` has a price for each arm, or a `metric` tells what a pull cost. Then `guesses`
    and `caps` are by arm, 0 where none was stated.

    >>> from ringfence.core.money import read_budget
    >>> from ringfence.core.pricing import Pricing
    >>> budget = read_budget("5 USD")
    >>> pricing = Pricing.read(["small", "large"], budget, {"small": 0.03, "large": 1.1})
    >>> pricing.stated, pricing.amount(budget.amount), pricing.in_words(110)
    ((3, 110), 500, '1.1 USD')
    """

    unit: str
    digits: int
    stated: tuple[int, ...] = ()
    metric: str | None = None
    guesses: tuple[int, ...] = ()
    caps: tuple[int, ...] = ()

    @classmethod
    def read(
        cls, arms: Sequence[str], budget: Money, price: Any, guess: Any = None, cap: Any = None
    ) -> "Pricing":
        """Return what users wrote of prices, or refuse it; a price by itself is of every arm."""
        if budget.is_pulls:
            raise InputError(
                f"budget = {budget.amount} has no unit, and pulls have a price. Write it with "
                f'one, such as budget = "{budget.amount} USD", or leave price out.'
            )
        if price is None:
            raise InputError(
                f'budget = "{budget}" needs the price of a pull. Add price = {{ {arms[0]} = 0.03, '
                '... } with each arm, or price = "cost", a metric that says what a pull cost.'
            )
        if _is_metric(price):
            guesses = _by_arm("price_guess", guess, arms, budget.unit)
            caps = _by_arm("price_cap", cap, arms, budget.unit)
            digits = _fitting_digits(budget, len(arms), [*guesses.values(), *caps.values()])
            found = cls(budget.unit, digits, (), price, *(
                tuple(cls(budget.unit, digits).amount(one.get(arm, Decimal(0))) for arm in arms)
                for one in (guesses, caps)
            ))  # fmt: skip
            found._require_in_reach(arms, budget)
            return found
        for key, value in (("price_guess", guess), ("price_cap", cap)):
            if value is not None:
                raise InputError(
                    f"{key} has no effect with prices that are stated. Leave it out, or write "
                    'price = "cost", a metric that says what a pull cost.'
                )
        prices = _by_arm("price", price, arms, budget.unit)
        for arm in arms:
            if arm not in prices:
                raise InputError(f"price has none for arm {arm!r}. Add it.")
        digits = max(_CENTS, *map(digits_of, (budget.amount, *prices.values())))
        whole = cls(budget.unit, digits)
        found = cls(budget.unit, digits, tuple(whole.amount(prices[arm]) for arm in arms))
        found._require_in_reach(arms, budget)
        return found

    def _require_in_reach(self, arms: Sequence[str], budget: Money) -> None:
        """Refuse a budget that one pull of an arm exceeds, or that is too large to count."""
        limit = self.amount(budget.amount)
        for key, prices in (("price", self.stated), ("price_cap", self.caps),
                            ("price_guess", self.guesses)):  # fmt: skip
            for arm, price in zip(arms, prices, strict=False):
                if price > limit:
                    raise InputError(
                        f'budget = "{budget}" does not pay for one pull of arm {arm!r}: its {key} '
                        f"is {self.in_words(price)}. Raise the budget, or drop the arm."
                    )
        if max(limit, sum(self.stated)) * len(arms) > _MOST:
            raise InputError(
                f'budget = "{budget}" is more than can be counted in {self.in_words(1)}. Write '
                "prices with fewer digits."
            )

    @property
    def most(self) -> int:
        """The most that one pull may be told to cost: what is added up stays in 64 bits."""
        return _MOST // 10**6

    @property
    def is_learned(self) -> bool:
        """Whether what a pull costs is told with it."""
        return self.metric is not None

    @property
    def is_known(self) -> bool:
        """Whether something was said of what a pull of every arm costs."""
        said = zip(self.guesses, self.caps, strict=True)
        return not self.is_learned or all(guess or cap for guess, cap in said)

    @property
    def is_capped(self) -> bool:
        """Whether no pull of any arm may cost more than was stated."""
        return not self.is_learned or all(self.caps)

    def amount(self, value: Decimal | float) -> int:
        """Return an amount of the unit in whole smallest ones, to the nearest.

        A float is taken for the decimal that it was written as.
        """
        if isinstance(value, Decimal):  # of any length
            return round(Fraction(value) * Fraction(10**self.digits))
        exact = Decimal(repr(float(value))).scaleb(self.digits)
        return int(exact.to_integral_value(ROUND_HALF_EVEN))

    def limit(self, budget: Money) -> int:
        """Return a budget in smallest amounts; one of another unit, or too fine, is refused."""
        if budget.unit != self.unit:
            raise InputError(
                f'budget = "{budget}" is in {budget.unit}, and prices are in {self.unit}. Write '
                f'budget = "{plain(budget.amount)} {self.unit}" if that is meant.'
            )
        if digits_of(budget.amount) > self.digits:
            raise InputError(
                f'budget = "{budget}" has more digits than the {self.digits} that are counted. '
                "Round it."
            )
        return self.amount(budget.amount)

    def decimal(self, amount: int) -> Decimal:
        """Return so many smallest amounts in the unit, exactly."""
        return Decimal(int(amount)).scaleb(-self.digits)

    def in_words(self, amount: int) -> str:
        """Return so many smallest amounts as they are written."""
        return str(Money(self.decimal(amount), self.unit))

    def written(self, arms: Sequence[str]) -> dict[str, Any]:
        """Return what was said of prices under the keys that users write; a mapping by arm each."""

        def by_arm(amounts: Sequence[int]) -> dict[str, float]:
            pairs = zip(arms, amounts, strict=True)
            return {arm: float(self.decimal(one)) for arm, one in pairs if one}

        if not self.is_learned:
            return {"unit": self.unit, "price": by_arm(self.stated)}
        said = {"price_guess": by_arm(self.guesses), "price_cap": by_arm(self.caps)}
        return {"unit": self.unit, "price": self.metric} | {k: v for k, v in said.items() if v}

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, for storage."""
        return {key: list(v) if isinstance(v, tuple) else v for key, v in vars(self).items()}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> "Pricing":
        """Return what `to_dict` wrote."""
        found: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in kept.items()}
        return cls(**found)


def _is_metric(price: Any) -> bool:
    """Tell whether a price is the name of a metric, and not an amount."""
    return isinstance(price, str) and not price.strip()[:1].isdigit() and price.strip()[:1] != "-"


def _by_arm(key: str, said: Any, arms: Sequence[str], unit: str) -> dict[str, Decimal]:
    """Return what was said of arms: of each by itself, or the same of all."""
    if said is None:
        return {}
    if not isinstance(said, Mapping):
        return dict.fromkeys(arms, read_amount(key, said, unit))
    for arm in said:
        if arm not in arms:
            raise InputError(
                f"{key} has a price of arm {arm!r}, which there is none of. Change the name or "
                f"leave it out.{nearest(str(arm), arms)}"
            )
    return {arm: read_amount(f"{key}.{arm}", value, unit) for arm, value in said.items()}


def _fitting_digits(budget: Money, arm_count: int, others: Sequence[Decimal]) -> int:
    """Return how many digits amounts are counted with: as many as 64 bits have room for."""
    size = max([budget.amount, *others])
    digits = DIGITS
    while digits > 0 and size.scaleb(digits) * max(arm_count, _FEW_ARMS) * _ROOM > _MOST:
        digits -= 1
    return digits


class Paid(NamedTuple):
    """What was paid for the pulls of each arm: in all, for how many, and the most for one."""

    spent: Integers
    counts: Integers
    most: Integers


def nothing_paid(arm_count: int) -> Paid:
    """Return the account of arms that nobody has pulled."""
    return Paid(*(np.zeros(arm_count, np.int64) for _ in range(3)))


def pay(paid: Paid, arm: int, amount: int) -> None:
    """Add what one pull of an arm cost."""
    paid.spent[arm] += amount
    paid.counts[arm] += 1
    paid.most[arm] = max(paid.most[arm], amount)


def fill_learned(
    prices: Integers, reserves: Integers, paid: Paid, guesses: Integers, caps: Integers
) -> None:
    """Fill in what a pull of each arm costs by all that was paid, and what it reserves.

    `guesses` and `caps` are 0 where none was stated. A cap that was exceeded after all holds no
    longer: the most that was paid is reserved.
    """
    total, known = 0, 0
    for i in range(prices.shape[0]):
        if paid.counts[i] > 0:
            total += paid.spent[i] // paid.counts[i]
            known += 1
        elif guesses[i] > 0 or caps[i] > 0:
            total += guesses[i] if guesses[i] > 0 else caps[i]
            known += 1
    usual = total // known if known > 0 else 0
    for i in range(prices.shape[0]):
        first = usual
        if guesses[i] > 0:
            first = guesses[i]
        elif caps[i] > 0:
            first = min(usual, caps[i])
        weight = 2 * paid.counts[i] + 1
        price = (2 * paid.spent[i] + first + paid.counts[i]) // weight  # to the nearest
        if caps[i] > 0:
            price = min(price, max(caps[i], paid.most[i]))
        prices[i] = max(1, price)
        if caps[i] > 0:
            reserves[i] = max(caps[i], paid.most[i])
        else:
            reserves[i] = max(paid.most[i], _PRICES_RESERVED * prices[i])


def relative(prices: Integers) -> Floats:
    """Return prices over the reference price, as `Allowance.relative` does."""
    total, count = 0, prices.shape[0]
    for i in range(count):
        total += prices[i]
    found = np.empty(count)
    for i in range(count):
        found[i] = prices[i] * count / total
    return found


def pulls_paid(
    wanted: int, alive: Mask, prices: Integers, reserves: Integers, ration: int, left: int
) -> int:
    """Return how many pulls every survivor gets now, at most as many as are `wanted`.

    The `ration` must pay for them at what they cost, and all that is `left` at what they reserve.
    """
    cost, reserve = 0, 0
    for i in range(alive.shape[0]):
        if alive[i]:
            cost += prices[i]
            reserve += reserves[i]
    return max(0, min(wanted, ration // cost, left // reserve))


def fill_even(
    fresh: Integers,
    had: Integers,
    wanted: int,
    alive: Mask,
    prices: Integers,
    reserves: Integers,
    ration: int,
    left: int,
    priority: Integers,
) -> None:
    """Give every survivor as many pulls as are paid for, or one to those that had the least.

    At most as many as are `wanted` of each. Where reserves do not pay for one of each, arms have
    one by how many they `had`, and then by priority, so that the last pulls are made as well.
    """
    each = pulls_paid(wanted, alive, prices, reserves, ration, left)
    for i in range(alive.shape[0]):
        fresh[i] = each if alive[i] else 0
    if each > 0 or wanted < 1:
        return
    while True:
        arm = -1
        for i in range(alive.shape[0]):
            if (
                alive[i]
                and fresh[i] == 0
                and (arm < 0 or (had[i], priority[i]) < (had[arm], priority[arm]))
            ):
                arm = i
        if arm < 0 or prices[arm] > ration or reserves[arm] > left:
            return
        fresh[arm] = 1
        ration -= prices[arm]
        left -= reserves[arm]


def ration_through(limit: int, phases: Sequence[Phase], phase: int, arm_count: int) -> int:
    """Return what may be spent by the end of a phase: its part of the budget, and of those before.

    Parts are as the pulls scheduled. What a phase leaves is so the next one's; the last has all.
    """
    alive = survivors(arm_count, phases)
    pulls = [count * one.pulls + one.extra for count, one in zip(alive, phases, strict=True)]
    return limit * sum(pulls[: phase + 1]) // sum(pulls)
