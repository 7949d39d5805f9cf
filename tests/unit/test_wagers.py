"""Wagers: what they say of values in order, exactly, and that no order of them gains on average."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.core.decimals import decimals
from ringfence.core.wagers import Claim, Wager, begun, played
from tests.oracle.wagers import e_values, orders

# Values in tenths, a limit in tenths of their mean and beside it, and how large the set is.
SETS = {
    "rare": [0] * 7 + [10],
    "common": [10] * 7 + [0],
    "halves": [0] * 4 + [10] * 4,
    "thirds": [0, 0, 3, 3, 3, 10, 10],
    "spread": [0, 1, 4, 8, 9],
    "close": [5, 5, 5, 6, 6],
    "two": [0, 10],
    "one": [3],
}


def tenths(values: list[int]) -> list[Fraction]:
    return [Fraction(value, 10) for value in values]


def walked(claim: Claim, values: list[Fraction]) -> list[Wager]:
    """Return where the bet stands after each value, told one by one."""
    wager, found = begun(claim), []
    for value in values:
        wager = played(claim, wager, decimals([float(value)]))
        found.append(wager)
    return found


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("strict", [True, False])
def test_no_order_of_a_set_gains_on_average_where_the_claim_holds(name: str, strict: bool) -> None:
    """E[E_t] <= 1 in exact rationals, at every t, over all orders; the room's own beside them.

    A claim that holds by a hair, its limit being the mean itself, has an average of exactly 1.
    """
    values = tenths(SETS[name])
    mean = sum(values, Fraction(0)) / len(values)
    for limit in {mean + Fraction(1, 1000), mean, Fraction(9, 10)}:
        if limit < mean or (strict and limit == mean):
            continue
        claim = Claim(limit, Fraction(0), Fraction(1), strict, len(values))
        every = orders(values)
        sums = [Fraction(0)] * len(values)
        floats = np.zeros(len(values))
        for order in every:
            exact = e_values(order, limit, strict=strict, size=len(values))
            assert None not in exact
            sums = [a + (b or 0) for a, b in zip(sums, exact, strict=True)]
            floats += np.exp([wager.log_e for wager in walked(claim, list(order))])
        averages = [one / len(every) for one in sums]
        assert all(one <= 1 for one in averages)
        if limit == mean:
            assert averages[0] == 1
        np.testing.assert_allclose(
            floats / len(every), [float(one) for one in averages], rtol=1e-10
        )


@pytest.mark.parametrize("name", ["halves", "thirds", "spread"])
def test_no_sequence_of_draws_gains_on_average(name: str) -> None:
    """With repeats, from a set without end: all sequences of four."""
    values, limit = tenths(sorted(set(SETS[name]))), Fraction(1, 2)
    weights = {value: Fraction(1, len(values)) for value in values}
    mean = sum(values, Fraction(0)) / len(values)
    claim = Claim(max(limit, mean), Fraction(0), Fraction(1))
    total = 0.0
    for places in np.ndindex(*[len(values)] * 4):
        sequence = [values[place] for place in places]
        chance = math.prod(float(weights[value]) for value in sequence)
        wager = played(claim, begun(claim), np.array([float(value) for value in sequence]))
        total += chance * math.exp(wager.log_e)
    assert total <= 1.0 + 1e-12
    assert total > 0.999 or claim.limit > mean


@given(
    st.lists(st.integers(0, 100), min_size=1, max_size=30),
    st.integers(-120, 120),
    st.integers(0, 5),
    st.booleans(),
    st.booleans(),
)
def test_every_value_is_that_of_the_transcription(
    values: list[int], limit: int, room: int, strict: bool, finite: bool
) -> None:
    low, high = Fraction(-1), Fraction(1)
    size = len(values) + room if finite else None
    told = [Fraction(value - 50, 50) for value in values]
    claim = Claim(Fraction(limit, 100), low, high, strict, size)
    if claim.is_impossible:
        assert begun(claim).is_disproved
        return
    exact = e_values(told, claim.limit, low, high, strict=strict, size=size)
    found = walked(claim, told)
    at_once = played(claim, begun(claim), decimals([float(value) for value in told]))
    for wager, one in zip(found, exact, strict=True):
        assert wager.is_disproved == (one is None)
        if one is not None:
            assert wager.log_e == pytest.approx(math.log(one), rel=1e-10, abs=1e-10)
    assert at_once.is_disproved == found[-1].is_disproved
    assert at_once.peak == pytest.approx(found[-1].peak, rel=1e-10, abs=1e-10)
    seen = [math.log(one) for one in exact if one is not None]
    if None not in exact:
        assert at_once.peak == pytest.approx(max(0.0, *seen), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(
    ("share", "size", "limit"), [(29, 100, "0.29"), (7, 100, "0.07"), (58, 200, "0.29")]
)
def test_a_tie_that_was_seen_whole_is_a_tie_in_every_order(
    share: int, size: int, limit: str
) -> None:
    """In floats 0.29 times 100 is less than 29: such sums would disprove what is exactly so."""
    values = np.array([1.0] * share + [0.0] * (size - share))
    rng = np.random.default_rng(3)
    for _ in range(50):
        told = decimals(rng.permutation(values))
        for strict in (False, True):
            claim = Claim(Fraction(limit), Fraction(0), Fraction(1), strict, size)
            assert played(claim, begun(claim), told).is_disproved == strict
            below = Claim(-Fraction(limit), Fraction(-1), Fraction(0), strict, size)
            turned = told._replace(numerators=-told.numerators)
            assert played(below, begun(below), turned).is_disproved == strict


def test_tenths_that_floats_cannot_hold_add_up() -> None:
    told = decimals(np.array([0.1, 0.2, 0.3, 0.1, 0.3]))
    for strict in (False, True):
        claim = Claim(Fraction("0.2"), Fraction(0), Fraction("0.3"), strict, 5)
        assert played(claim, begun(claim), told).is_disproved == strict


def test_what_can_still_come_disproves_before_all_was_seen() -> None:
    """Of ten values 0.5 on average at most, six ones are too many; the claim is never in doubt."""
    claim = Claim(Fraction("0.5"), Fraction(0), Fraction(1), size=10)
    found = walked(claim, [Fraction(1)] * 6)
    assert [wager.is_disproved for wager in found] == [False] * 5 + [True]
    assert found[-1].peak == math.inf
    assert begun(Claim(Fraction("-0.1"), Fraction(0), Fraction(1))).is_disproved
    assert begun(Claim(Fraction(0), Fraction(0), Fraction(1), strict=True)).is_disproved
    assert not begun(Claim(Fraction(0), Fraction(0), Fraction(1))).is_disproved


@pytest.mark.parametrize("size", [None, 50])
@pytest.mark.parametrize("value", [1.001, -0.001])
def test_a_value_beyond_its_bounds_is_refused_and_not_clipped(
    value: float, size: int | None
) -> None:
    claim = Claim(Fraction("0.5"), Fraction(0), Fraction(1), size=size)
    with pytest.raises(ValueError, match="beyond its bounds"):
        played(claim, begun(claim), decimals([0.5, value]))


def test_more_values_than_there_are_is_refused() -> None:
    claim = Claim(Fraction("0.5"), Fraction(0), Fraction(1), size=2)
    with pytest.raises(ValueError, match="more values than the 2"):
        played(claim, begun(claim), decimals([0.1, 0.2, 0.1]))


def test_a_million_values_do_not_overflow() -> None:
    claim = Claim(Fraction("0.001"), Fraction(0), Fraction(1))
    sure = played(claim, begun(claim), np.ones(300_000))
    assert 1e5 < sure.log_e < math.inf
    lost = played(claim, sure, np.zeros(300_000))
    assert -math.inf < lost.log_e < sure.log_e == pytest.approx(lost.peak)
    assert lost.count == 600_000


def test_a_set_is_settled_by_less_than_an_endless_one() -> None:
    rng = np.random.default_rng(1)
    told = decimals((rng.permutation(100) < 60).astype(float))
    logs = []
    for size in (100, None):
        claim = Claim(Fraction("0.5"), Fraction(0), Fraction(1), size=size)
        some = told._replace(numerators=told.numerators[:70])
        logs.append(played(claim, begun(claim), some).log_e)
    assert logs[0] > logs[1] + 1.0
