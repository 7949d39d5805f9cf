"""The wager on values without bounds: its closed form, and that it is one to begin with."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from ringfence.core.t_mixture import SCALES, Trend, followed, log_e_of, unskewed


def e_of(count: int, ratio: float) -> float:
    return math.exp(log_e_of(np.array([float(count)]), np.array([ratio]), np.array([1.0]))[0])


@pytest.mark.parametrize(("count", "ratio"), [(2, -1.2), (3, 0.4), (7, 1.9), (20, 3.5), (20, -2.0)])
def test_the_closed_form_is_the_integral(count: int, ratio: float) -> None:
    sizes = np.linspace(0.0, 25.0, 5_001)  # of the noise; the chi law with `count` degrees

    def likelier(d: float) -> float:
        """How much likelier the scaled values are with a mean of d deviations than with none."""
        logs = sizes * d * ratio - 0.5 * count * d * d + stats.chi.logpdf(sizes, count)
        return float(integrate.trapezoid(np.exp(logs), sizes))

    mixed = integrate.quad(
        lambda d: likelier(d) * np.mean([2.0 * stats.norm.pdf(d, 0, one) for one in SCALES]), 0, 6
    )[0]
    assert e_of(count, ratio) == pytest.approx(mixed, rel=1e-5)


def test_it_gains_nothing_on_average_where_the_mean_is_the_limit() -> None:
    """Of two values the direction is uniform on a circle, of three their sum's is on -1 to 1."""
    angles = 2.0 * math.pi * (np.arange(20_000) + 0.5) / 20_000
    two = np.exp(log_e_of(np.full(20_000, 2.0), np.cos(angles) + np.sin(angles), np.ones(20_000)))
    assert two.mean() == pytest.approx(1.0, abs=1e-9)
    three = integrate.quad(lambda u: 0.5 * e_of(3, math.sqrt(3.0) * u), -1.0, 1.0)[0]
    assert three == pytest.approx(1.0, abs=1e-7)


def test_a_lower_mean_lowers_it_at_every_step() -> None:
    noise = np.random.default_rng(2).normal(size=200)
    for n in range(2, 200):
        at = [followed(Trend(), noise[:n] + shift, 0.0).log_e for shift in (-0.5, -0.1, 0.0, 0.2)]
        assert at == sorted(at)


def test_it_knows_no_unit() -> None:
    values = np.random.default_rng(4).normal(0.4, 1.0, 60)
    near = followed(Trend(), values, 0.1)
    far = followed(Trend(), 1e6 * values, 1e5)
    assert near.log_e == pytest.approx(far.log_e)
    assert near.peak == pytest.approx(far.peak)


def test_it_is_wrong_as_seldom_as_it_says_and_right_in_the_end() -> None:
    rng = np.random.default_rng(11)
    runs, crossed = 2_000, 0
    for _ in range(runs):
        crossed += followed(Trend(), 3.0 * rng.normal(size=300) + 7.0, 7.0).peak >= math.log(20.0)
    assert crossed / runs < 0.05
    assert crossed > 0
    for _ in range(20):
        assert followed(Trend(), rng.normal(0.5, 1.0, 200), 0.0).peak > math.log(1000.0)


def test_values_in_parts_are_as_at_once_and_constants_say_nothing() -> None:
    values = np.random.default_rng(5).normal(0.5, 1.0, 90)
    for any_law in (False, True):
        trend = Trend(any_law)
        for part in (values[:1], values[1:20], values[20:], values[:0]):
            trend = followed(trend, part, 0.0)
        at_once = followed(Trend(any_law), values, 0.0)
        assert trend.count == 90
        assert trend.log_e == pytest.approx(at_once.log_e)
        assert trend.peak == pytest.approx(at_once.peak)
        assert followed(Trend(any_law), np.full(500, 0.3), 0.0).peak == 0.0
        assert followed(Trend(any_law), np.zeros(5), 0.0).log_e == 0.0
    assert followed(Trend(any_law=True), values[:30], 0.0).peak == 0.0
    assert followed(Trend(), values[:30], 0.0).peak > 0.0


@pytest.mark.parametrize("law", ["exponential", "lognormal"])
def test_costs_are_not_said_to_be_low_because_the_dear_ones_have_not_come(law: str) -> None:
    """By the t-statistic as it is 7% and 15% of them were, at 5%."""
    rng, runs, crossed = np.random.default_rng(8), 1_000, 0
    mean = {"exponential": 1.0, "lognormal": math.exp(0.5)}[law]
    for _ in range(runs):
        crossed += followed(
            Trend(any_law=True), -getattr(rng, law)(size=400), -mean
        ).peak > math.log(20)
    assert crossed / runs < 0.03
    for sign in (1.0, -1.0):
        lower = followed(Trend(any_law=True), -getattr(rng, law)(size=600), -mean * (1 + sign / 2))
        assert (lower.peak > math.log(100.0)) == (sign > 0)


def test_the_cubic_is_the_one_of_the_source() -> None:
    """Written out for a few values; nothing is taken up where the tail is on the other side."""
    values = np.array([-9.0, 1.0, 2.0, 1.5, 0.5, 1.0, 2.5, 1.0])
    n = float(len(values))
    powers = [np.array([(values**k).sum()]) for k in (1, 2, 3)]
    sums, squares, _ = unskewed(np.array([n]), powers[0], powers[1], powers[2])
    skewness = 1.5 * stats.skew(values)
    t = values.mean() / values.std() * math.sqrt(n)
    a = skewness / math.sqrt(n)
    expected = t + a * t**2 / 3 + a**2 * t**3 / 27 + a / 6
    mean = sums[0] / n
    assert mean / math.sqrt(squares[0] / n - mean**2) * math.sqrt(n) == pytest.approx(expected)
    assert skewness < 0.0
    turned = [np.array([(-1) ** k * power[0]]) for k, power in zip((1, 2, 3), powers, strict=True)]
    sums, squares, is_enough = unskewed(np.array([n]), turned[0], turned[1], turned[2])
    assert sums[0] == pytest.approx(-values.sum())
    assert squares[0] == pytest.approx((values**2).sum())
    assert not is_enough[0]


def test_values_far_on_the_other_side_prove_nothing() -> None:
    """A chance that floats have as 0 is none: taken for a little more, E would be beyond bounds."""
    values = np.random.default_rng(7).normal(1.0, 0.001, 3000)
    for limit in (5.0, 1.5):
        trend = followed(Trend(), values, limit)
        assert trend.peak <= 0.0
        assert trend.log_e < 0.0
    assert followed(Trend(), values, 0.5).peak > 100.0


def test_rare_values_far_out_are_waited_for() -> None:
    """Costs of 50 in 2% of pulls, below 1 else: without a dear one they look low, for long."""
    cheap = np.random.default_rng(8).random(149)
    assert followed(Trend(any_law=True), -cheap, -1.49).peak == 0.0
    more = np.random.default_rng(9).random(400)
    alone = followed(Trend(any_law=True), -more, -0.6, width=1.0)
    beside = followed(Trend(any_law=True), -more, -0.6, width=50.0)  # another arm was dear
    assert alone.peak > 3.0
    assert beside.peak == 0.0
