"""Prices: what is stated, what is learned from what was paid, and what pulls reserve."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.core.arrays import Integers
from ringfence.core.errors import InputError
from ringfence.core.money import read_budget
from ringfence.core.pricing import (
    Pricing,
    fill_learned,
    nothing_paid,
    pay,
    pulls_paid,
    ration_through,
    relative,
)
from ringfence.core.schedule import Phase

ARMS = ("small", "large")
BUDGET = read_budget("50 USD")


def learned(
    paid: list[list[int]], guesses: list[int], caps: list[int]
) -> tuple[list[int], list[int]]:
    """Return prices and reserves after some pulls of each arm were paid for."""
    account = nothing_paid(len(paid))
    for arm, amounts in enumerate(paid):
        for amount in amounts:
            pay(account, arm, amount)
    prices, reserves = np.zeros(len(paid), np.int64), np.zeros(len(paid), np.int64)
    fill_learned(prices, reserves, account, np.array(guesses), np.array(caps))
    return prices.tolist(), reserves.tolist()


def test_stated_prices_are_exact() -> None:
    """In the largest decimal part in which all are whole."""
    pricing = Pricing.read(ARMS, read_budget("50.005 USD"), {"small": 0.03, "large": "1.1 USD"})
    assert pricing.stated == (30, 1100)
    assert pricing.limit(read_budget("60 USD")) == 60_000
    assert Pricing.from_dict(pricing.to_dict()) == pricing
    assert pricing.is_known


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ((None,), 'budget = "50 USD" needs the price of a pull'),
        (({"small": 0.1},), "price has none for arm 'large'"),
        (({"small": 0.1, "lage": 1},), "Did you mean 'large'"),
        (({"small": 0, "large": 1},), "price.small = 0 must be above 0"),
        (({"small": 60, "large": 1},), "does not pay for one pull of arm 'small': its price is 60"),
        (({"small": "1 EUR", "large": 1},), "is in EUR, and the budget in USD"),
        (({"small": 1, "large": 1}, 0.5), "price_guess has no effect"),
        (("cost", None, {"large": 51}), "one pull of arm 'large': its price_cap is 51 USD"),
        (("cost", -1), "price_guess = -1 must be above 0"),
    ],
)
def test_bad_prices_are_refused_by_name(said: tuple[Any, ...], complaint: str) -> None:
    """With key, value and rule."""
    with pytest.raises(InputError) as refused:
        Pricing.read(ARMS, BUDGET, *said)
    assert complaint in str(refused.value)


def test_pulls_have_no_price() -> None:
    """A budget without a unit cannot have prices in one."""
    with pytest.raises(InputError, match="budget = 50 has no unit"):
        Pricing.read(ARMS, read_budget(50), {"small": 1, "large": 1})


def test_budgets_keep_their_unit() -> None:
    """A raised one too; one that cannot be counted is refused."""
    pricing = Pricing.read(ARMS, BUDGET, {"small": 0.03, "large": 1.1})
    with pytest.raises(InputError, match="is in EUR, and prices are in USD"):
        pricing.limit(read_budget("60 EUR"))
    with pytest.raises(InputError, match="more digits than the 2 that are counted"):
        pricing.limit(read_budget("60.005 USD"))


def test_learned_amounts_are_billionths_or_what_64_bits_hold() -> None:
    """What is told is rounded once, and then exact."""
    pricing = Pricing.read(ARMS, BUDGET, "cost")
    assert pricing.amount(0.1) + pricing.amount(0.2) == pricing.amount(0.3)
    assert pricing.in_words(pricing.amount(0.30000000000000004)) == "0.3 USD"
    many = Pricing.read(ARMS, read_budget("5_000_000_000_000 tokens"), "tokens")
    assert many.amount(5e12) * len(ARMS) * 1000 < 2**62


@given(st.floats(0.0, 1e6))
def test_floats_are_rounded_as_the_decimals_that_they_were_written_as(cost: float) -> None:
    pricing = Pricing.read(ARMS, BUDGET, "cost")
    assert pricing.amount(cost) == round(Fraction(repr(cost)) * 10**9)
    assert pricing.amount(cost) == pricing.amount(Decimal(repr(cost)))


def test_before_anything_is_known_all_are_alike() -> None:
    """A price of one smallest amount each."""
    prices, _ = learned([[], []], [0, 0], [0, 0])
    assert prices == [1, 1]


def test_guesses_and_caps_are_first_prices() -> None:
    """And what nothing is known of costs what the others do."""
    assert learned([[], [], []], [30, 0, 0], [0, 50, 0]) == ([30, 40, 40], [150, 50, 200])


def test_a_cap_that_was_exceeded_holds_no_longer() -> None:
    """The account must hold what was really paid."""
    _, reserves = learned([[80], []], [0, 0], [50, 50])
    assert reserves == [80, 50]


@given(
    st.lists(st.lists(st.integers(0, 10**9), max_size=6), min_size=1, max_size=4),
    st.integers(0, 10**9),
)
def test_prices_are_means_with_half_a_pull_of_the_guess(paid: list[list[int]], guess: int) -> None:
    """To the nearest smallest amount; a reserve covers what was paid and five prices."""
    prices, reserves = learned(paid, [guess] * len(paid), [0] * len(paid))
    means = [Fraction(sum(one), len(one)).__floor__() for one in paid if one]
    usual = sum(means) // len(means) if means else 0
    for price, reserve, amounts in zip(prices, reserves, paid, strict=True):
        first = guess or usual
        exact = Fraction(2 * sum(amounts) + first, 2 * len(amounts) + 1)
        assert abs(exact - price) <= Fraction(1, 2) or (price == 1 and exact < 1)
        assert reserve == max([5 * price, *amounts])


def test_relative_prices_of_equals_are_ones() -> None:
    """To the bit, whatever they are."""
    for price in (1, 3, 7, 10**9 + 7):
        assert (relative(np.full(7, price)) == 1.0).all()


def test_a_ration_is_the_part_of_the_budget_that_a_phase_has_of_the_pulls() -> None:
    """What all phases may spend together is the budget, whatever is left in between."""
    phases = (Phase(16, 0, 3), Phase(5, 0, 2), Phase(10, 1, 1))
    found = [ration_through(5000, phases, phase, 4) for phase in range(3)]
    assert found == [5000 * 64 // 100, 5000 * 79 // 100, 5000]


def test_pulls_are_paid_by_prices_from_the_ration_and_by_reserves_from_what_is_left() -> None:
    """The least of what was wanted and what both pay for; never less than none."""
    alive = np.array([True, True, False])
    prices: Integers = np.array([3, 5, 1000])
    reserves: Integers = np.array([10, 20, 4000])
    assert pulls_paid(9, alive, prices, reserves, 80, 10**6) == 9
    assert pulls_paid(99, alive, prices, reserves, 80, 10**6) == 10
    assert pulls_paid(99, alive, prices, reserves, 80, 89) == 2
    assert pulls_paid(99, alive, prices, reserves, -1, 89) == 0
