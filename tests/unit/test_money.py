"""Amounts with a unit: what is read, exactly, and what is refused."""

from decimal import Decimal

import pytest

from ringfence.core.errors import InputError
from ringfence.core.money import Money, digits_of, read_amount, read_budget


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (600, Money(Decimal(600), "pulls")),
        ("600", Money(Decimal(600), "pulls")),
        ("600 pulls", Money(Decimal(600), "pulls")),
        ("50 USD", Money(Decimal(50), "USD")),
        (" 0.30 EUR ", Money(Decimal("0.30"), "EUR")),
        ("3h", Money(Decimal(3), "h")),
        ("2_000_000 tokens", Money(Decimal(2_000_000), "tokens")),
        ("5 €", Money(Decimal(5), "€")),
    ],
)
def test_budgets_are_read_as_written(written: object, read: Money) -> None:
    """Exactly, with the unit as it is written."""
    assert read_budget(written) == read


@pytest.mark.parametrize(
    "written",
    ["$50", "50 US D", "1e3", "1e3 USD", "USD", "", "50,5 USD", "0.5", 0.5, True, None, "5 " * 40],
)
def test_what_is_no_budget_is_refused_with_what_to_write(written: object) -> None:
    """Neither guessed at nor rounded."""
    with pytest.raises(InputError, match='Write budget = 600, or budget = "50 USD"'):
        read_budget(written)


@pytest.mark.parametrize("written", ["0 USD", "-5 USD"])
def test_a_budget_of_nothing_is_refused(written: str) -> None:
    """By name."""
    with pytest.raises(InputError, match="must be above 0"):
        read_budget(written)


def test_amounts_are_the_decimals_that_were_written() -> None:
    """A float is the shortest decimal that reads back as it."""
    assert read_amount("price", 0.1, "USD") * 3 == Decimal("0.3")
    assert read_amount("price", "0.1 USD", "USD") == Decimal("0.1")
    assert digits_of(Decimal("1.10")) == 1
    assert digits_of(Decimal("1E+3")) == 0


def test_units_that_differ_are_refused() -> None:
    """Nothing is converted."""
    with pytest.raises(InputError, match="is in EUR, and the budget in USD"):
        read_amount("price.small", "0.1 EUR", "USD")


@pytest.mark.parametrize("value", [0, -1, 0.0, "-0.1 USD"])
def test_prices_of_nothing_or_less_are_refused(value: object) -> None:
    """What cost nothing may be told, and not stated."""
    with pytest.raises(InputError, match="must be above 0"):
        read_amount("price", value, "USD")
    if value == 0:
        assert read_amount("cost", value, "USD", may_be_zero=True) == 0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, True, "cheap", [1]])
def test_what_is_no_number_is_refused(value: object) -> None:
    """And named."""
    with pytest.raises(InputError, match="must be a number of USD"):
        read_amount("price", value, "USD")
