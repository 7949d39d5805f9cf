"""Noise estimated from pulls: adding them up, pooling and shrinking, against NumPy and by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma, polygamma

from ringfence.core.arrays import Floats, Integers
from ringfence.core.noise import (
    Moments,
    add_block,
    add_pull,
    fill_covariances,
    fill_pooled,
    fill_scales,
    is_yes_or_no,
    no_moments,
)
from ringfence.core.variances import BORROWED_PULLS, no_log_variances
from tests.oracle.noise import covariances as transcribed
from tests.oracle.noise import variances

MEANS = np.ones(3, np.bool_)


def scatter_of(samples: Floats) -> Floats:
    if len(samples) == 0:
        return np.zeros((samples.shape[1], samples.shape[1]))
    centred = samples - samples.mean(axis=0)
    return np.asarray(centred.T @ centred)


def added(
    blocks: list[list[Floats]], width: int, *, one_by_one: bool = False
) -> tuple[Moments, Integers]:
    """Return moments and counts after all blocks, one of each arm in turn."""
    moments, counts = no_moments(len(blocks), width), np.zeros(len(blocks), np.int64)
    for turn in range(max(len(own) for own in blocks)):
        for arm, own in enumerate(blocks):
            block = own[turn] if turn < len(own) else np.zeros((0, width))
            if one_by_one or len(block) == 1:
                for pull in block:
                    pull.setflags(write=False)
                    add_pull(moments, int(counts[arm]), arm, pull)
                    counts[arm] += 1
            elif len(block) > 1:
                total, scatter = block.sum(axis=0), scatter_of(block)
                total.setflags(write=False)
                scatter.setflags(write=False)
                add_block(moments, int(counts[arm]), arm, len(block), total, scatter)
                counts[arm] += len(block)
    return moments, counts


def means_of(moments: Moments, counts: Integers) -> Floats:
    return np.asarray(moments.sums / np.maximum(counts, 1)[:, None])


def samples_of(seed: int, sizes: list[int], width: int) -> list[Floats]:
    """Return correlated samples of arms far from zero and from each other."""
    stream = np.random.default_rng(seed)
    found = []
    for size in sizes:
        mixture = stream.normal(size=(width, width))
        found.append(
            stream.normal(size=(size, width)) @ mixture + 100.0 * stream.normal(size=width)
        )
    return found


# -------------------------------------------------------------------------------- moments


@pytest.mark.parametrize("one_by_one", [False, True])
@given(
    st.lists(st.lists(st.integers(1, 7), max_size=6), min_size=1, max_size=4),
    st.integers(1, 4),
    st.integers(0, 99),
)
def test_any_splitting_into_blocks_gives_the_same(
    one_by_one: bool, splits: list[list[int]], width: int, seed: int
) -> None:
    samples = samples_of(seed, [sum(split) for split in splits], width)
    blocks = [
        np.split(own, np.cumsum(split)[:-1]) if split else []
        for own, split in zip(samples, splits, strict=True)
    ]
    moments, counts = added(blocks, width, one_by_one=one_by_one)
    assert counts.tolist() == [len(own) for own in samples]
    for arm, own in enumerate(samples):
        mean = own.mean(axis=0) if len(own) else np.zeros(width)
        np.testing.assert_allclose(moments.sums[arm], own.sum(axis=0), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(moments.centres[arm], mean, rtol=1e-12)
        np.testing.assert_allclose(moments.scatters[arm], scatter_of(own), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("last_alone", [False, True])
def test_adding_by_hand(last_alone: bool) -> None:
    # (1, 0), (3, 0) and then (5, 6): means (2, 0) and (5, 6), 2 * 1/3 times the squared distance.
    moments, zero = no_moments(2, 2), np.zeros((2, 2))
    add_block(moments, 0, 1, 2, np.array([4.0, 0.0]), np.array([[2.0, 0.0], [0.0, 0.0]]))
    last = np.array([5.0, 6.0])
    if last_alone:
        add_pull(moments, 2, 1, last)
    else:
        add_block(moments, 2, 1, 1, last, zero)
    assert moments.sums.tolist() == [[0.0, 0.0], [9.0, 6.0]]
    np.testing.assert_allclose(moments.centres, [[0.0, 0.0], [3.0, 2.0]], rtol=1e-15)
    np.testing.assert_allclose(moments.scatters[1], [[2.0 + 6.0, 12.0], [12.0, 24.0]], rtol=1e-14)
    assert not moments.scatters[0].any()


def test_sums_of_whole_numbers_are_exact() -> None:
    """Estimates that are sums / counts may then be compared with a threshold for equality."""
    stream = np.random.default_rng(7)
    own = stream.integers(0, 9, (1000, 2)).astype(np.float64)
    for one_by_one in (False, True):
        moments, _ = added([np.split(own, [7, 300, 301, 990])], 2, one_by_one=one_by_one)
        assert moments.sums[0].tolist() == own.sum(axis=0).tolist()


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_small_scatter_far_from_zero_is_kept(one_by_one: bool) -> None:
    """Sums of squares would lose it: a spread of 1 at a distance of 1e8."""
    stream = np.random.default_rng(1)
    own = 1e8 + stream.normal(size=(1000, 2))
    moments, _ = added([np.split(own, 250)], 2, one_by_one=one_by_one)
    np.testing.assert_allclose(moments.scatters[0], scatter_of(own), rtol=1e-5)


# ----------------------------------------------------------------------------- covariances


SIZES = ([5, 9, 2], [1, 30], [0, 4, 1], [2, 2, 2, 2], [400], [12] * 9)
RATIOS = (1.0, 1.5, 30.0)  # of the deviations of an arm and the one before


def unlike(sizes: list[int], ratio: float) -> tuple[Floats, Integers, Floats]:
    """Return scatters, counts and means of arms of which the last attribute is still in the first.

    Its scatters are those that NumPy finds.
    """
    samples = samples_of(2, sizes, 3)
    for arm, own in enumerate(samples):
        own *= ratio**arm
    samples[0][:, 2] = 7.0
    truth = np.array([scatter_of(own) for own in samples])
    means = np.array([own.mean(axis=0) if len(own) else np.zeros(3) for own in samples])
    return truth, np.array(sizes), means


def fill_anew(
    found: Floats, scatters: Floats, *seen: Any, fill: Callable[..., None] = fill_covariances
) -> None:
    """Fill covariances in from evidence of which nothing was kept."""
    fill(found, scatters, *seen, no_log_variances(*scatters.shape[:2]))


def check_covariances(fill: Callable[..., None]) -> None:
    """Compare with the formulas, by SciPy's functions, whether arms are alike or not."""
    for sizes in SIZES:
        for ratio in RATIOS:
            scatters, counts, means = unlike(sizes, ratio)
            pooled, found = np.zeros((3, 3)), np.full((len(sizes), 3, 3), np.nan)
            fill_pooled(pooled, scatters, counts)
            fill_anew(found, scatters, counts, pooled, means, MEANS, fill=fill)
            np.testing.assert_allclose(found, transcribed(scatters, counts, ~MEANS), rtol=1e-9)


def test_covariances_equal_the_formulas() -> None:
    check_covariances(fill_covariances)


@pytest.mark.parametrize("sizes", SIZES)
def test_pooled_noise_equals_the_formulas(sizes: list[int]) -> None:
    samples = samples_of(2, sizes, 3)
    moments, counts = added([[own] for own in samples], 3)
    within = sum(map(scatter_of, samples), np.zeros((3, 3))) / np.maximum(counts - 1, 0).sum()
    pooled, scales = np.full((3, 3), np.nan), np.full(3, np.nan)
    fill_pooled(pooled, moments.scatters, counts)
    np.testing.assert_allclose(pooled, within, rtol=1e-9)
    fill_scales(scales, pooled)
    np.testing.assert_allclose(scales, np.sqrt(1.0 / (2.0 * np.diag(within))), rtol=1e-9)


def test_one_arm_pooled_is_numpys_covariance() -> None:
    """Beside it, its own covariance is that with the room that 49 degrees of freedom leave."""
    own = samples_of(3, [50], 3)[0]
    moments, counts = added([np.split(own, 10)], 3)
    scatters = moments.scatters
    pooled, covariances = np.zeros((3, 3)), np.zeros((1, 3, 3))
    fill_pooled(pooled, scatters, counts)
    np.testing.assert_allclose(pooled, np.cov(own.T), rtol=1e-9)
    fill_anew(covariances, scatters, counts, pooled, means_of(moments, counts), MEANS)
    room = np.exp(np.log(24.5) - digamma(24.5) + 0.5 * polygamma(1, 24.5))
    assert room == pytest.approx(49.0 / 47.0, rel=2e-3)
    np.testing.assert_allclose(covariances[0], room * np.cov(own.T), rtol=1e-9)


def test_noise_by_hand() -> None:
    # Scatters 6 from 4 pulls and 1 from 2: pooled 7/4, sqrt(1/(2 * 7/4)) = sqrt(2/7).
    scatters, counts = np.array([[[6.0]], [[1.0]], [[0.0]]]), np.array([4, 2, 1])
    pooled, scales, covariances = np.zeros((1, 1)), np.zeros(1), np.zeros((3, 1, 1))
    fill_pooled(pooled, scatters, counts)
    assert pooled[0, 0] == 1.75
    fill_scales(scales, pooled)
    assert scales[0] == pytest.approx(np.sqrt(2.0 / 7.0), rel=1e-15)
    fill_anew(covariances, scatters, counts, pooled, np.zeros((3, 1)), MEANS)
    assert BORROWED_PULLS == 10.0
    # psi(1/2) = -gamma - 2 ln 2 and psi'(1/2) = pi^2/2; each step of one adds 1/x, takes 1/x^2.
    psi, tri = -np.euler_gamma - 2.0 * np.log(2.0), np.pi**2 / 2.0
    logs, weights = (
        np.array([np.log(3.0) - psi - 2.0, np.log(0.5) - psi]),
        1.0 / np.array([tri - 4.0, tri]),
    )
    centre = logs @ weights / weights.sum()  # alike: nothing between them
    five = tri - 4.0 * (1.0 + 1.0 / 9.0 + 1.0 / 25.0 + 1.0 / 49.0 + 1.0 / 81.0)
    expected = [
        np.exp((3.0 * logs[0] + 10.0 * centre) / 13.0 + 0.5 * (five - 4.0 / 121.0)),
        np.exp((logs[1] + 10.0 * centre) / 11.0 + 0.5 * five),
        np.exp(centre),
    ]
    np.testing.assert_allclose(covariances[:, 0, 0], expected, rtol=1e-13)


def test_inputs_are_left_alone() -> None:
    samples = samples_of(4, [3, 8], 2)
    moments, counts = added([[own] for own in samples], 2)
    scatters = moments.scatters
    before = scatters.copy(), counts.copy()
    scatters.setflags(write=False)
    counts.setflags(write=False)
    pooled, scales, covariances = np.zeros((2, 2)), np.zeros(2), np.zeros((2, 2, 2))
    fill_pooled(pooled, scatters, counts)
    pooled.setflags(write=False)
    fill_scales(scales, pooled)
    fill_anew(covariances, scatters, counts, pooled, means_of(moments, counts), MEANS)
    np.testing.assert_array_equal(scatters, before[0])
    np.testing.assert_array_equal(counts, before[1])


# ------------------------------------------------------------------------------- the edges


@pytest.mark.parametrize("counts", [[1, 1, 1], [0, 1, 0], [0, 0, 0]])
def test_nothing_is_known_of_noise_before_a_second_pull(counts: list[int]) -> None:
    scatters = np.zeros((3, 2, 2))
    pooled, scales = np.full((2, 2), np.nan), np.full(2, np.nan)
    covariances = np.full((3, 2, 2), np.nan)
    fill_pooled(pooled, scatters, np.array(counts))
    fill_scales(scales, pooled)
    fill_anew(covariances, scatters, np.array(counts), pooled, np.zeros((3, 2)), MEANS)
    assert not pooled.any()
    assert scales.tolist() == [1.0, 1.0]
    assert not covariances.any()


@pytest.mark.parametrize(
    ("value", "one_by_one"),
    [
        (0.25, False),
        (-7.0, False),
        (0.25, True),
        (0.1, True),
        (1e6 / 3.0, True),
    ],
)
def test_a_metric_that_never_varies_is_exact(value: float, one_by_one: bool) -> None:
    """Its covariances are zero and its scale is 1, whatever the blocks; the others' are theirs."""
    samples = samples_of(5, [29, 13], 3)
    for arm, own in enumerate(samples):
        own[:, 1] = value * (arm + 1)
    blocks = [
        np.split(samples[0], np.cumsum([1, 2, 3, 7, 10, 1])),
        np.split(samples[1], np.cumsum([3, 6])),
    ]
    moments, counts = added(blocks, 3, one_by_one=one_by_one)
    scatters = moments.scatters
    pooled, scales, covariances = np.zeros((3, 3)), np.zeros(3), np.zeros((2, 3, 3))
    fill_pooled(pooled, scatters, counts)
    fill_scales(scales, pooled)
    fill_anew(covariances, scatters, counts, pooled, means_of(moments, counts), MEANS)
    assert scales[1] == 1.0
    assert scales[0] != 1.0
    for array in (pooled, *covariances):
        assert not array[1].any()
        assert not array[:, 1].any()
        assert array[0, 0] > 0.0
        assert array[0, 2] != 0.0


def test_a_metric_that_varies_in_one_arm_only_is_noisy_in_all() -> None:
    samples = samples_of(6, [6, 6], 2)
    samples[0][:, 1] = 4.0
    moments, counts = added([[own] for own in samples], 2)
    scatters = moments.scatters
    pooled, covariances = np.zeros((2, 2)), np.zeros((2, 2, 2))
    fill_pooled(pooled, scatters, counts)
    fill_anew(covariances, scatters, counts, pooled, means_of(moments, counts), MEANS)
    assert scatters[0, 1, 1] == 0.0
    # As if one further pull had brought what is common to the others, here exp(log S/2 - psi(5/2)).
    common = scatters[1, 1, 1] / 2.0 * np.exp(-digamma(2.5))
    assert covariances[0, 1, 1] == pytest.approx(common / 6.0)
    assert covariances[1, 1, 1] == pytest.approx(common * np.exp(0.5 * polygamma(1, 2.5)))


# --------------------------------------------------------------------------- zeros and ones


def noise_of(
    samples: list[Floats], fill: Callable[..., None] = fill_covariances
) -> tuple[Floats, bool]:
    """Return the variances of samples of one attribute, and whether it passes for yes or no."""
    moments, counts = added([[own] for own in samples], 1, one_by_one=True)
    pooled, covariances = np.zeros((1, 1)), np.zeros((len(samples), 1, 1))
    means = means_of(moments, counts)
    fill_pooled(pooled, moments.scatters, counts)
    fill_anew(covariances, moments.scatters, counts, pooled, means, MEANS, fill=fill)
    return covariances[:, 0, 0], is_yes_or_no(0, means, moments.scatters, counts)


def events(count: int, pulls: int) -> Floats:
    """Return pulls of one attribute, of which the first are ones."""
    return (np.arange(pulls) < count).astype(np.float64)[:, None]


def check_rates(fill: Callable[..., None]) -> None:
    """An event that an arm has not had counts as one, in rates and in nothing else.

    Scatters 0, 3.75 and 5 from 100, 64 and 20 pulls: pooled 8.75/(99 + 63 + 19).
    """
    borrowed = 10.0 * 8.75 / 181.0
    expected = [
        (0.0 + borrowed + 1.0) / 109.0,
        (3.75 + borrowed + (1.0 - 2.0 / 16.0) ** 2) / 73.0,
        (5.0 + borrowed + 0.0) / 29.0,
    ]
    for sign in (1.0, -1.0):
        found, _ = noise_of([sign * events(*one) for one in ((0, 100), (4, 64), (10, 20))], fill)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    for samples in OTHERS.values():
        scatters = np.array([scatter_of(own)[0, 0] for own in samples])
        plain = variances(scatters, np.array([len(own) for own in samples]))
        np.testing.assert_allclose(noise_of(samples, fill)[0], plain, rtol=1e-9)


OTHERS = {
    "never varied, and neither nought nor one": [np.full((5, 1), 1e-12), events(0, 9)],
    "of another size": [events(2, 5), events(3, 9) * 2.0],
    "shifted": [events(2, 5), events(3, 9) - 1.0, events(1, 4) + 0.25],
    "a half among them": [events(2, 5), np.array([[0.0], [1.0], [0.5]])],
    "tiny": [1e-12 * events(2, 5), 1e-12 * events(3, 9)],
}


def test_the_noise_of_rates() -> None:
    check_rates(fill_covariances)
    assert noise_of([events(0, 100), events(4, 64)])[1]


@pytest.mark.parametrize("samples", [[(0, 5), (0, 9)], [(5, 5), (9, 9)], [(0, 5), (9, 9)]], ids=str)
def test_what_was_never_seen_may_come(samples: list[tuple[int, int]]) -> None:
    """Nothing but zeros, or nothing but ones: one more event is counted, in every arm."""
    covariances, is_rate = noise_of([events(*one) for one in samples])
    assert is_rate
    np.testing.assert_allclose(covariances, [1.0 / (n + 9.0) for _, n in samples])


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_rate(kind: str) -> None:
    assert not noise_of(OTHERS[kind])[1]


def test_an_arm_without_a_pull_may_be_anything() -> None:
    moments, counts = added([[events(0, 0)], [events(3, 9)]], 1, one_by_one=True)
    means = means_of(moments, counts)
    means[0] = np.nan
    assert is_yes_or_no(0, means, moments.scatters, counts)


def test_a_spread_of_nought_is_no_rate() -> None:
    """The variance of a metric that never varied is zero, and not a share of events."""
    covariances, nothing = np.full((2, 1, 1), np.nan), np.zeros((2, 1, 1))
    counts = np.array([5, 9])
    for means, expected in ((True, [1 / 14, 1 / 18]), (False, [0.0, 0.0])):
        fill_anew(
            covariances, nothing, counts, np.zeros((1, 1)), np.zeros((2, 1)), np.array([means])
        )
        np.testing.assert_allclose(covariances[:, 0, 0], expected)
