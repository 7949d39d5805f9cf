"""Amounts that are exact, and what of a phase or a batch is paid for."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.core.allowance import Allowance, add_extra, keep_paid, ration
from ringfence.core.errors import InputError

prices_of_arms = st.lists(st.integers(1, 500), min_size=1, max_size=6)


@given(limit=st.integers(0, 10**6), price=st.integers(1, 500), arm_count=st.integers(1, 6))
def test_equal_prices_are_pulls(limit: int, price: int, arm_count: int) -> None:
    priced = Allowance(limit, (price,) * arm_count)
    pulls = Allowance(limit // price, (1,) * arm_count)
    assert Allowance.of(limit, priced.prices) == pulls
    assert priced.pulls == pulls.pulls == limit // price
    assert priced.is_even
    assert priced.relative.tolist() == [1.0] * arm_count
    for spent in range(0, limit // price + 1, max(1, limit // price // 5)):
        assert priced.left(spent * price) == pulls.left(spent) == limit // price - spent


@given(limit=st.integers(0, 10**6), prices=prices_of_arms, places=st.integers(0, 4))
def test_decimals_are_read_exactly(limit: int, prices: list[int], places: int) -> None:
    """Smaller parts of the unit change nothing, and nothing is rounded."""
    part = Decimal(1).scaleb(-places)
    found = Allowance.of(limit * part, [price * part for price in prices])
    assert found == Allowance.of(limit, prices)
    assert found == Allowance.of(Fraction(limit, 7), [Fraction(price, 7) for price in prices])
    assert found.pulls == limit * len(prices) // sum(prices)
    assert found.relative.mean() == pytest.approx(1.0)
    ratios = [Fraction(price, prices[0]) for price in prices]
    assert [Fraction(price, found.prices[0]) for price in found.prices] == ratios


def test_what_is_left_is_counted_at_the_reference_price() -> None:
    allowance = Allowance(1000, (10, 30))
    assert allowance.cost([7, 5]) == 220
    assert allowance.left(220) == 39.0
    assert (allowance.most_pulls(0, 29), allowance.most_pulls(1, 29)) == (2, 0)
    assert allowance.most_pulls(0, -5) == 0
    assert allowance.relative.tolist() == [0.5, 1.5]


@pytest.mark.parametrize("price", [0, -3, 0.5, "1"])
def test_prices_that_are_none_are_refused(price: object) -> None:
    with pytest.raises(InputError, match=r"^price = .* must be a whole number above 0"):
        Allowance(10, (1, price))  # type: ignore[arg-type]


def test_other_bad_amounts_are_refused() -> None:
    with pytest.raises(InputError, match="must be above 0"):
        Allowance.of(10, [Decimal("0.5"), Decimal(0)])
    with pytest.raises(InputError, match="there are 2 prices for 3 arms"):
        Allowance.or_pulls(10, (1, 2), 3)
    with pytest.raises(InputError, match="too many smallest amounts to count"):
        _ = Allowance(2**62, (1, 2)).array


@given(
    pulls=st.integers(0, 50),
    extra=st.integers(0, 7),
    alive=st.lists(st.booleans(), min_size=1, max_size=6).filter(any),
    price=st.integers(1, 99),
    data=st.data(),
)
def test_at_equal_prices_a_phase_is_its_schedule(
    pulls: int, extra: int, alive: list[bool], price: int, data: st.DataObject
) -> None:
    """So many pulls of every survivor, one more of those first in priority, and nothing is left."""
    arms: list[int] = np.flatnonzero(alive).tolist()
    priority = np.array(data.draw(st.permutations(range(len(alive)))))
    prices = np.full(len(alive), price)
    each, rest = ration(pulls, extra, np.array(alive), prices, 0)
    fresh = np.where(alive, each, 0)
    rest = add_extra(fresh, np.array(alive), priority, prices, rest)
    ranked = sorted(arms, key=lambda arm: int(priority[arm]))
    wanted = [pulls + (ranked.index(i) < extra) if alive[i] else 0 for i in range(len(alive))]
    assert fresh.tolist() == wanted
    assert rest == 0


@given(prices=prices_of_arms, left=st.integers(0, 2000), data=st.data())
def test_a_batch_is_held_to_what_is_left(prices: list[int], left: int, data: st.DataObject) -> None:
    arm_count = len(prices)
    asked = data.draw(st.lists(st.integers(0, 9), min_size=arm_count, max_size=arm_count))
    priority = np.array(data.draw(st.permutations(range(arm_count))))
    allowance, fresh = Allowance(left, tuple(prices)), np.array(asked)
    goes_on = keep_paid(fresh, np.array(prices), left, priority)
    assert allowance.cost(fresh) <= left
    if allowance.cost(asked) <= left:
        assert goes_on
        assert fresh.tolist() == asked
        return
    assert goes_on == bool(fresh.any())
    spare = left
    for arm in np.argsort(priority).tolist():
        assert fresh[arm] == min(asked[arm], spare // prices[arm])
        spare -= prices[arm] * int(fresh[arm])
