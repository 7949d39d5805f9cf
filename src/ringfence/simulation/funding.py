"""What a simulation may spend: a budget in a unit, with the prices that an instance has.

Amounts are whole numbers of a part of the unit, the largest in which all stated prices are whole:
so equal prices are pulls, with the same streams. Learned prices are counted in the smallest amount.
May touch core, and simulation's instances.
"""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ringfence.core.allowance import Allowance
from ringfence.core.arrays import Floats
from ringfence.core.errors import InputError
from ringfence.core.money import PULLS, Money, plain, read_budget
from ringfence.core.pricing import Pricing

if TYPE_CHECKING:
    from ringfence.simulation.instance import Instance

_AMPLE = Decimal(10) ** 6  # of a unit: what no pull costs, to read prices without a budget


class Funds(NamedTuple):
    """A budget of so many parts of a unit, and how many of them a pull of each arm costs.

    Without `prices` every pull costs one. Where prices are learned, `pricing` has what was stated.
    """

    budget: int
    prices: tuple[int, ...] = ()
    unit: str = PULLS
    part: Fraction = Fraction(1)
    pricing: Pricing | None = None

    @property
    def amount(self) -> float:
        """The budget in its unit: a whole number of pulls."""
        return number_of(self.budget * self.part)


def number_of(amount: Fraction) -> float:
    """Return an amount as a plain number, whole where it is whole."""
    return int(amount) if amount.denominator == 1 else float(amount)


def shortened(amount: float) -> float:
    """Return an amount that nobody asked for, with four digits, whole where it is whole."""
    found = float(f"{amount:.4g}")
    return int(found) if found.is_integer() else found


def in_words(amount: float, unit: str) -> str:
    """Return an amount with its unit, as people read it."""
    if unit == PULLS:
        return f"{amount:,.0f} pulls"
    digits = 0 if float(amount).is_integer() else max(2, 3 - len(str(int(amount))))
    return f"{amount:,.{digits}f} {unit}"


def funds_of(instance: "Instance", budget: Any) -> Funds:
    """Return what users wrote as a budget, with the prices of an instance if it has a unit."""
    if not isinstance(budget, str | Money):
        return Funds(budget)  # of pulls; whoever spends it refuses what is no whole number
    money = budget if isinstance(budget, Money) else read_budget(budget)
    if money.is_pulls:
        return Funds(int(money.amount))
    if instance.price is None:
        raise InputError(
            f'budget = "{money}": instance {instance.name!r} does not say what a pull costs. Add '
            f"price = {{ {instance.arms[0]} = 0.03, ... }} with each arm, or price = a metric, or "
            "give a budget in pulls."
        )
    pricing = Pricing.read(instance.arms, money, instance.price)
    part = Fraction(1, 10**pricing.digits)
    if pricing.is_learned:
        return Funds(pricing.limit(money), _usual(instance, pricing), money.unit, part, pricing)
    whole = Allowance.of(pricing.limit(money), pricing.stated)
    return Funds(whole.limit, whole.prices, money.unit, part * pricing.stated[0] / whole.prices[0])


def _usual(instance: "Instance", pricing: Pricing) -> tuple[int, ...]:
    """Return what pulls cost by the truth, where prices are learned: schedules are cut by it."""
    if instance.tariff is None:
        raise InputError(
            f"price = {pricing.metric!r} of instance {instance.name!r} is no metric that can be "
            "drawn with a pull. State prices by arm."
        )
    return tuple(max(1, pricing.amount(float(mean))) for mean in instance.tariff.means)


def price_of_a_pull(instance: "Instance", unit: str) -> Fraction:
    """Return what a pull costs on average over the arms, in a unit."""
    funds = funds_of(instance, Money(_AMPLE, unit))
    return funds.part * sum(funds.prices) / len(funds.prices)


def prices_in(instance: "Instance", unit: str) -> Floats:
    """Return what a pull of each arm costs in a unit, on average where it is learned."""
    funds = funds_of(instance, Money(_AMPLE, unit))
    return np.array([float(price * funds.part) for price in funds.prices])


def unit_of(price: Any) -> str:
    """Return the unit that prices were written in; where they have none, that is "money"."""
    written = price.values() if isinstance(price, Mapping) else [price]
    for value in written:
        parts = value.split() if isinstance(value, str) else []
        if len(parts) == 2:
            return str(parts[1])
    return "money"


def budgets_of(texts: list[str]) -> list[Any]:
    """Return budgets that were written with commas between; one unit may be written once, last."""
    read = [read_budget(text, "budgets") for text in texts]
    units = {one.unit for one in read if not one.is_pulls}
    if len(units) > 1:
        raise InputError(
            f"budgets are in {' and '.join(sorted(units))}: nothing is converted. Write all in one "
            "unit."
        )
    unit = units.pop() if units else PULLS
    return [f"{plain(one.amount)} {unit}" if unit != PULLS else int(one.amount) for one in read]
