"""Amounts with a unit, as users write them: "50 USD", "3 h", "2_000_000 tokens".

A plain whole number is one of pulls. Amounts are exact decimals, as they were written; there are no
conversions, so whatever is said of one study has one unit. Touches its arguments only.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral
from typing import Any

from ringfence.core.errors import InputError

PULLS = "pulls"
_WRITTEN = re.compile(
    r"\s*(-?[0-9][0-9_]*(?:\.[0-9]+)?)\s*((?![eE][-+]?[0-9])[^\s0-9.,;_+-][^\s,;]*)?\s*"
)
_LONGEST_UNIT = 20
_LONGEST_NUMBER = 30
_LONGEST_SHOWN = 60


@dataclass(frozen=True)
class Money:
    """An exact amount of some unit.

    >>> from ringfence.core.money import read_budget
    >>> print(read_budget("50.10 USD"), read_budget(600))
    50.1 USD 600 pulls
    """

    amount: Decimal
    unit: str

    def __str__(self) -> str:
        """Return it as it is written."""
        return f"{plain(self.amount)} {self.unit}"

    @property
    def is_pulls(self) -> bool:
        """Whether it counts pulls, and no pull has a price."""
        return self.unit == PULLS


def read_budget(value: Any, key: str = "budget") -> Money:
    """Return a budget: a whole number of pulls, or an amount with its unit."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return Money(Decimal(int(value)), PULLS)
    amount, unit = _parts(value)
    if amount is None or (unit is None and amount != amount.to_integral_value()):
        raise InputError(
            f"{key} = {_shown(value)} must be a whole number of pulls, or an amount with a unit. "
            f'Write {key} = 600, or {key} = "50 USD".'
        )
    if unit is None or unit in (PULLS, "pull"):
        unit = PULLS
        if amount != amount.to_integral_value():
            raise InputError(f"{key} = {_shown(value)} must be a whole number of pulls. Round it.")
    elif amount <= 0:
        raise InputError(f"{key} = {_shown(value)} must be above 0. Raise it.")
    return Money(amount, unit)


def read_amount(key: str, value: Any, unit: str, *, may_be_zero: bool = False) -> Decimal:
    """Return an amount of a unit, which may be written beside it or left out."""
    amount, found = _parts(value)
    if isinstance(value, float | int | Decimal) and not isinstance(value, bool):
        number = Decimal(repr(value) if isinstance(value, float) else value)
        amount = number if number.is_finite() else None
    if amount is None:
        raise InputError(f"{key} = {_shown(value)} must be a number of {unit}. Write {key} = 0.03.")
    if found is not None and found != unit:
        raise InputError(
            f"{key} = {_shown(value)} is in {found}, and the budget in {unit}. Write both in the "
            "same unit: nothing is converted."
        )
    if amount < 0 or (amount == 0 and not may_be_zero):
        rule = "0 or more" if may_be_zero else "above 0"
        raise InputError(f"{key} = {_shown(value)} must be {rule}. Write what one pull costs.")
    return amount


def plain(amount: Decimal) -> str:
    """Return a decimal without exponent or zeros at its end."""
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def digits_of(amount: Decimal) -> int:
    """Return how many digits a decimal has after the point, without zeros at its end."""
    exponent = amount.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _parts(value: Any) -> tuple[Decimal | None, str | None]:
    """Return the amount and the unit of a text; no amount where it is written otherwise."""
    found = _WRITTEN.fullmatch(value) if isinstance(value, str) else None
    if found is None or len(found[1]) > _LONGEST_NUMBER:
        return None, None
    unit = found[2]
    if unit is not None and (len(unit) > _LONGEST_UNIT or not unit.isprintable()):
        return None, None
    return Decimal(found[1].replace("_", "")), unit


def _shown(value: Any) -> str:
    shown = f'"{value}"' if isinstance(value, str) else repr(value)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}..."
