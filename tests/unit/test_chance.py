"""Numbers spun out of one uniform, and the posterior draws and chances made of them.

The generator is compared with one in whole numbers, to the last bit; statistics, at alpha = 1e-6,
then ask whether what it produces is what it should be.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from scipy import stats

from ringfence.core.arrays import Floats
from ringfence.core.chance import next_normal, next_uniform, remainder, spin
from ringfence.core.posterior import chance_below, fill_draw, fill_factors, margin_variance
from tests.statistical.checks import LIMIT, check_continuous, check_moments

FIRST, SECOND = 2147483563, 2147483399
EVERY_KIND_OF_UNIFORM = (0.0, 2.0**-53, 2.0**-31, 0.1, 0.25, 1 / 3, 0.5, 0.75, 1.0 - 2.0**-53)

UNIFORM = stats.uniform()
NORMAL = stats.norm()


def whole_numbers(uniform: float) -> Iterator[int]:
    """Yield FIRST times the numbers that belong to a uniform, by whole numbers alone.

    L'Ecuyer's generator; the two states are the whole part of the uniform times FIRST - 1 and what
    is left over. Products of floats are rounded once, which a fraction's float is too.
    """
    scaled = Fraction(float(Fraction(uniform) * (FIRST - 1)))
    whole = math.floor(scaled)
    left = Fraction(float((scaled - whole) * (SECOND - 1)))
    one, other = 1 + whole, 1 + math.floor(left)
    for number in range(10**9):
        one, other = one * 40014 % FIRST, other * 40692 % SECOND
        if number >= 3:
            yield (one - other - 1) % (FIRST - 1) + 1


def spun(uniform: float, count: int, draw: Callable[[Floats], float] = next_uniform) -> list[float]:
    state = np.zeros(2)
    spin(state, uniform)
    return [float(draw(state)) for _ in range(count)]


# ----------------------------------------------------------------------------------- first values


@pytest.mark.parametrize(
    ("uniform", "expected"),
    [
        (0.0, [715295839, 79337801, 347273588]),
        (0.25, [1858289659, 2004090080, 178615766]),
        (0.5, [1569095756, 1860696434, 357231368]),
        (2.0**-53, [1864379821, 1448687081, 1149788699]),
        (1.0 - 2.0**-53, [283103905, 698796645, 997695027]),
        (0.1, [735483157, 52645039, 698281387]),
    ],
)
def test_first_values(uniform: float, expected: list[int]) -> None:
    """A change here changes every result of a policy that spins: it needs a changelog line."""
    assert list(islice(whole_numbers(uniform), 3)) == expected
    assert spun(uniform, 3) == [value / FIRST for value in expected]


def test_every_value_is_that_of_whole_numbers() -> None:
    stream = np.random.default_rng(1)
    for uniform in (*EVERY_KIND_OF_UNIFORM, *stream.random(300)):
        expected = [value / FIRST for value in islice(whole_numbers(float(uniform)), 40)]
        assert spun(float(uniform), 40) == expected


@pytest.mark.parametrize(("multiplier", "modulus"), [(40014, FIRST), (40692, SECOND)])
def test_remainders_beside_every_multiple(multiplier: int, modulus: int) -> None:
    """Where a quotient that is rounded up would be one too large."""
    for quotient in range(1, multiplier):
        for beside in (-1, 0, 1):
            number = quotient * modulus + beside
            assert remainder(float(number), float(modulus)) == number % modulus


def test_first_normals() -> None:
    """Box and Muller: sqrt(-2 ln u) cos(2 pi v), two uniforms a normal."""
    for uniform in EVERY_KIND_OF_UNIFORM:
        pairs = np.array(list(islice(whole_numbers(uniform), 20))).reshape(10, 2) / FIRST
        expected = np.sqrt(-2.0 * np.log(pairs[:, 0])) * np.cos(2.0 * np.pi * pairs[:, 1])
        np.testing.assert_allclose(spun(uniform, 10, next_normal), expected, rtol=1e-12)
    assert spun(0.0, 1, next_normal)[0] == pytest.approx(1.4430345789749841, rel=1e-12)


def test_a_spin_forgets_what_was_before() -> None:
    state = np.array([17.0, 23.0])
    spin(state, 0.3)
    assert [next_uniform(state) for _ in range(5)] == spun(0.3, 5)


def test_states_are_whole_numbers_and_uniforms_lie_strictly_inside() -> None:
    """Also where the two states are equal, or the first is the smaller."""
    stream = np.random.default_rng(2)
    for uniform in (*EVERY_KIND_OF_UNIFORM, *stream.random(500)):
        state = np.zeros(2)
        spin(state, float(uniform))
        for _ in range(20):
            assert 0.0 < next_uniform(state) < 1.0
            assert 1 <= state[0] < FIRST
            assert 1 <= state[1] < SECOND
            assert (state == np.floor(state)).all()
    # The inverse of the multipliers leads to equal states: the difference 0 counts as FIRST - 1.
    equal = np.array([pow(40014, -1, FIRST) * 5 % FIRST, pow(40692, -1, SECOND) * 5 % SECOND])
    state = equal.astype(np.float64)
    assert next_uniform(state) == (FIRST - 1) / FIRST
    assert state.tolist() == [5.0, 5.0]


# ------------------------------------------------------------------------------------- statistics


def check_sample(values: list[float], law: stats.rv_continuous) -> None:
    sample = np.array(values)
    check_continuous(sample, law)
    check_moments(sample[:, None], [law], np.array([[float(law.var())]]))


@pytest.mark.parametrize(
    ("draw", "law"), [(next_uniform, UNIFORM), (next_normal, NORMAL)], ids=["uniform", "normal"]
)
def test_values_follow_their_law(draw: Callable[[Floats], float], law: stats.rv_continuous) -> None:
    """Over seeds at random, over seeds side by side, and along one stream.

    The k-th value after a spin matters as much as the first: rules draw a few for each uniform.
    """
    size = 20_000
    stream = np.random.default_rng(3)
    at_random = [spun(float(u), 4, draw) for u in stream.random(size)]
    side_by_side = [spun(j / size, 4, draw) for j in range(size)]
    for k in range(4):
        check_sample([values[k] for values in at_random], law)
        check_sample([values[k] for values in side_by_side], law)
    check_sample(spun(0.618, 5 * size, draw), law)


@pytest.mark.parametrize("draw", [next_uniform, next_normal], ids=["uniform", "normal"])
def test_values_along_a_stream_are_uncorrelated(draw: Callable[[Floats], float]) -> None:
    """At lags 1 to 5, and of squares, which normals from neighbouring uniforms would show."""
    values = np.array(spun(0.1234, 50_000, draw))
    for sample in (values, (values - values.mean()) ** 2):
        for lag in range(1, 6):
            check_uncorrelated(sample[:-lag], sample[lag:])


def test_streams_of_neighbouring_uniforms_are_uncorrelated() -> None:
    """Along the streams, however close their uniforms are."""
    for gap in (2.0**-53, 2.0**-50, 2.0**-40, 2.0**-31, 2.0**-20, 1e-3):
        one, other = (np.array(spun(u, 20_000)) for u in (0.3, 0.3 + gap))
        check_uncorrelated(one, other)


def test_first_values_of_neighbouring_uniforms_are_uncorrelated() -> None:
    """Over pairs of uniforms that lie up to 2^20 of the least steps apart, value by value.

    The generators are linear: one step apart, all pairs differ by the same shift (mod 1). Over
    distances the shifts must be uniform.
    """
    stream = np.random.default_rng(4)
    size = 20_000
    centres = 0.5 + 0.25 * stream.random(size)
    neighbours = centres + 2.0**-53 * stream.integers(1, 2**20, size)
    one = np.array([spun(float(u), 3) for u in centres])
    other = np.array([spun(float(u), 3) for u in neighbours])
    for k in range(3):
        check_uncorrelated(one[:, k], other[:, k])
        check_continuous((other[:, k] - one[:, k]) % 1.0, UNIFORM)


def check_uncorrelated(one: Floats, other: Floats) -> None:
    z = float(np.corrcoef(one, other)[0, 1]) * math.sqrt(len(one))
    assert abs(z) <= LIMIT, f"correlated: z = {z:.1f}"


# ----------------------------------------------------------------------------------- square roots


def random_covariance(stream: np.random.Generator, size: int, rank: int) -> Floats:
    rows = stream.normal(size=(size, rank)) * 10.0 ** stream.uniform(-3.0, 3.0, (size, 1))
    return np.asarray(rows @ rows.T)


def factors_of(covariances: Floats, counts: list[int]) -> Floats:
    """Return the factors, from room that is full of rubbish below and on the diagonal."""
    factors = np.tril(np.full(covariances.shape, np.nan))
    fill_factors(factors, covariances, np.array(counts), np.ones(len(counts), np.bool_))
    return factors


def check_root(factor: Floats, covariance: Floats, *, rel: float = 1e-12) -> None:
    """Ask for a lower triangle whose square is the covariance, relative to the variances."""
    assert (factor == np.tril(factor)).all()
    assert (np.diagonal(factor) >= 0.0).all()
    deviations = np.sqrt(np.diagonal(covariance))
    units = np.where(deviations > 0.0, deviations, 1.0)
    scaled = (factor @ factor.T - covariance) / np.outer(units, units)
    assert np.abs(scaled).max() <= rel


def test_factors_are_square_roots() -> None:
    stream = np.random.default_rng(5)
    for _ in range(100):
        size = int(stream.integers(2, 5))
        covariances = np.array([random_covariance(stream, size, size + 2) for _ in range(3)])
        counts = [1, 7, int(stream.integers(1, 10**6))]
        for i, factor in enumerate(factors_of(covariances, counts)):
            check_root(factor, covariances[i] / counts[i])
            np.testing.assert_allclose(
                factor, np.linalg.cholesky(covariances[i] / counts[i]), rtol=1e-6, atol=1e-9
            )


def test_factors_by_hand() -> None:
    (factor,) = factors_of(np.array([[[16.0, 8.0], [8.0, 40.0]]]), [4])
    assert factor.tolist() == [[2.0, 0.0], [1.0, 3.0]]


def test_factors_of_singular_covariances() -> None:
    """Two limits on one metric, exact attributes, and any rank: no NaN, and still a root."""
    one_metric = np.array([[2.0, 1.0, -1.0], [1.0, 3.0, -3.0], [-1.0, -3.0, 3.0]])
    exact = np.array([[2.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 3.0]])
    for covariance in (one_metric, exact, np.zeros((3, 3)), np.ones((3, 3))):
        (factor,) = factors_of(covariance[None], [5])
        check_root(factor, covariance / 5)
    (factor,) = factors_of(exact[None], [5])
    assert (factor[1] == 0.0).all()
    assert (factor[:, 1] == 0.0).all()
    stream = np.random.default_rng(6)
    for _ in range(100):
        size = int(stream.integers(2, 5))
        covariance = random_covariance(stream, size, int(stream.integers(1, size)))
        (factor,) = factors_of(covariance[None], [3])
        # A direction without variance is left to rounding: its square may be 1e-16 of a variance.
        check_root(factor, covariance / 3, rel=1e-7)


# ------------------------------------------------------------------------------------------ draws


def test_draws_have_the_right_mean_and_covariance() -> None:
    """Mean the estimate, covariance that of one pull over the pulls; arms are independent."""
    stream = np.random.default_rng(7)
    estimates = np.array([[1.0, -2.0, 0.5], [0.0, 3.0, 10.0]])
    covariances = np.array([random_covariance(stream, 3, 5) for _ in range(2)])
    counts = np.array([4, 25])
    factors, draw = np.zeros((2, 3, 3)), np.zeros((2, 3))
    fill_factors(factors, covariances, counts, np.ones(2, np.bool_))
    rows = []
    state = np.zeros(2)
    for uniform in stream.random(20_000):
        spin(state, float(uniform))
        for _ in range(2):
            fill_draw(draw, estimates, factors, np.ones(2, np.bool_), state)
            rows.append(draw.ravel().copy())
    whole = np.zeros((6, 6))
    whole[:3, :3], whole[3:, 3:] = covariances[0] / 4, covariances[1] / 25
    marginals = [
        stats.norm(mean, math.sqrt(variance))
        for mean, variance in zip(estimates.ravel(), np.diagonal(whole), strict=True)
    ]
    check_moments(np.array(rows), marginals, whole)


def test_a_draw_by_hand() -> None:
    """One normal an attribute, in the order of arms; dead arms take none and are left alone."""
    normals = spun(0.7, 4, next_normal)
    factors = np.array([[[2.0, 0.0], [1.0, 3.0]]] * 3)
    estimates = np.array([[10.0, 20.0], [np.nan, np.nan], [30.0, 40.0]])
    draw, state = np.full((3, 2), -7.0), np.zeros(2)
    spin(state, 0.7)
    fill_draw(draw, estimates, factors, np.array([True, False, True]), state)
    expected = [
        [10.0 + 2.0 * normals[0], 20.0 + normals[0] + 3.0 * normals[1]],
        [-7.0, -7.0],
        [30.0 + 2.0 * normals[2], 40.0 + normals[2] + 3.0 * normals[3]],
    ]
    np.testing.assert_allclose(draw, expected, rtol=1e-15)


def test_what_is_known_exactly_is_drawn_exactly() -> None:
    factors, draw, state = np.zeros((1, 2, 2)), np.zeros((1, 2)), np.zeros(2)
    fill_factors(factors, np.array([[[1.0, 0.0], [0.0, 0.0]]]), np.array([3]), np.ones(1, np.bool_))
    spin(state, 0.2)
    for _ in range(100):
        fill_draw(draw, np.array([[1.0, 0.1]]), factors, np.ones(1, np.bool_), state)
        assert draw[0, 1] == 0.1
        assert draw[0, 0] != 1.0


# ---------------------------------------------------------------------------- chances and margins


def test_chance_below() -> None:
    """P(N(gap, variance) <= 0), accurate far into the tail."""
    for gap in (-5.0, -1.0, -0.1, 0.0, 0.1, 1.0, 5.0, 30.0):
        for variance in (0.25, 1.0, 9.0):
            expected = math.exp(float(stats.norm.logcdf(-gap / math.sqrt(variance))))
            assert chance_below(gap, variance) == pytest.approx(expected, rel=1e-12, abs=0.0)
    assert chance_below(0.0, 1.0) == 0.5
    assert chance_below(-1.0, 1.0) == pytest.approx(0.8413447460685429, rel=1e-14)


def test_chance_below_of_what_is_known_exactly() -> None:
    assert [chance_below(gap, 0.0) for gap in (-1.0, 0.0, 1e-300, 1.0)] == [1.0, 1.0, 0.0, 0.0]


def test_margin_variance_by_hand() -> None:
    """That of the worst constraint, in the units of its scale; of equals, the first."""
    covariances = np.array([np.diag([9.0, 2.0, 3.0]), np.diag([9.0, 5.0, 7.0])])
    scales, thresholds = np.array([4.0, 2.0, 0.5]), np.array([1.0, 2.0])

    def variance(*estimates: float, arm: int = 0) -> float:
        table = np.full((2, 3), np.nan)
        table[arm] = estimates
        return margin_variance(table, covariances, arm, scales, thresholds)

    assert variance(0.0, 2.0, 3.0) == 4.0 * 2.0  # 2 * 1 beyond, against 0.5 * 1
    assert variance(0.0, 1.0, 3.0) == 0.25 * 3.0  # 0 against 0.5 * 1
    assert variance(0.0, 2.0, 6.0) == 4.0 * 2.0  # 2 and 2
    assert variance(0.0, -1.0, 1.0, arm=1) == 0.25 * 7.0  # -4 and -0.5: both met, the second nearer
    assert variance(0.0, 0.75, 0.0, arm=1) == 4.0 * 5.0  # -0.5 and -1
    single = np.array([[3.0, -8.0]])
    assert margin_variance(single, np.array([np.diag([1.0, 6.0])]), 0, scales[:2], thresholds) == 24


def test_margin_variance_is_that_of_the_margin() -> None:
    stream = np.random.default_rng(8)
    for _ in range(300):
        m = int(stream.integers(1, 4))
        estimates, thresholds = stream.normal(size=(2, 1 + m)), stream.normal(size=m)
        scales = stream.uniform(0.5, 2.0, 1 + m)
        covariances = np.array([random_covariance(stream, 1 + m, 5) for _ in range(2)])
        for arm in (0, 1):
            violations = scales[1:] * (estimates[arm, 1:] - thresholds)
            worst = int(np.argmax(violations)) + 1
            expected = scales[worst] ** 2 * covariances[arm, worst, worst]
            found = margin_variance(estimates, covariances, arm, scales, thresholds)
            assert found == pytest.approx(expected, rel=1e-12)
