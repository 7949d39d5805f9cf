"""Numbered draws: Philox against a transcription of its paper, variates against their laws.

The functions are compiled for the CPU here, for samples large enough to notice small faults; the
same functions run on GPUs. Two-sided at alpha = 1e-6 on fixed keys.
"""

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from scipy import stats

from ringfence.core.arrays import Floats
from ringfence.core.streams import chunk_key
from ringfence.simulation.compilation import register
from ringfence.simulation.gpu import draws
from ringfence.simulation.gpu.draws import ORDER, PULLS, SERIES, STATE, Philox
from tests.statistical.checks import check_continuous, check_counts, check_rate

SIZE = 400_000


def transcribed(counter: tuple[int, ...], key: tuple[int, ...]) -> tuple[int, ...]:
    """Return Philox 4x32-10 as the paper defines it: ten rounds, the key bumped between them."""
    (x0, x1, x2, x3), (k0, k1) = counter, key
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * x0, 2**32)
        high1, low1 = divmod(0xCD9E8D57 * x2, 2**32)
        x0, x1, x2, x3 = high1 ^ x1 ^ k0, low1, high0 ^ x3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return x0, x1, x2, x3


KNOWN = [  # the authors' known answers: zeros, ones, digits of pi
    ((0, 0, 0, 0), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ((2**32 - 1,) * 4, (2**32 - 1,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_the_transcription_gives_the_known_answers(
    counter: tuple[int, ...], key: tuple[int, ...], answer: str
) -> None:
    assert " ".join(f"{word:08x}" for word in transcribed(counter, key)) == answer


def test_blocks_are_those_of_the_paper() -> None:
    rng = np.random.default_rng(1)
    for k0, k1, a, b, c in [(0,) * 5, *rng.integers(0, 2**32, (200, 5), dtype=np.uint32)]:
        words = [np.uint32(word) for word in (k0, k1, a, b, c)]
        found = tuple(int(word) for word in draws.philox(*words))
        assert found == transcribed((int(a), int(b), int(c), 0), (int(k0), int(k1)))


def stream(number: int = 0, purpose: int = PULLS) -> Any:
    """Return the words of a stream."""
    words = np.zeros(STATE, np.uint32)
    draws.start(words, 11, 12, number, purpose)
    return words


def sample(draw: Callable[..., Any], *arguments: float, size: int = SIZE) -> Floats:
    """Return many draws of one stream."""
    register(draw)

    def loop(words: Any, out: Floats) -> None:
        for i in range(out.shape[0]):
            out[i] = draw(words, *arguments)

    out = np.empty(size)
    numba.njit(loop)(stream(), out)
    return out


def test_normals_are_normal_far_into_their_tails() -> None:
    """Catches a radius of 32 bits, a quarter that is never drawn, a wrong series."""
    register(draws.normal_pair)
    pair = draws.normal_pair

    def loop(out: Floats) -> None:
        for i in range(out.shape[0]):
            word = np.uint32(i)
            out[i, 0], out[i, 1] = pair(np.uint32(3), np.uint32(4), word, np.uint32(7), SERIES)

    out = np.empty((4_000_000, 2))
    numba.njit(loop)(out)
    for column in out.T:
        check_continuous(column[:SIZE], stats.norm)
        for limit in (2.0, 3.0, 4.0, 4.5):
            for tail in (column > limit, column < -limit):
                check_rate(int(tail.sum()), len(column), float(stats.norm.sf(limit)))
    check_continuous(0.5 * (out[:SIZE] ** 2).sum(axis=1), stats.expon)
    check_continuous((np.arctan2(*out[:SIZE].T) / (2.0 * np.pi)) % 1.0, stats.uniform)


def test_sine_and_cosine_are_exact_to_1e_13() -> None:
    x = np.linspace(-0.5, 0.5, 1001)
    sine = x * np.polynomial.polynomial.polyval(x * x, SERIES[:7])
    cosine = np.polynomial.polynomial.polyval(x * x, SERIES[7:])
    assert np.abs(sine - np.sin(0.5 * np.pi * x)).max() < 1e-13
    assert np.abs(cosine - np.cos(0.5 * np.pi * x)).max() < 1e-13


def test_the_least_uniform_gives_a_finite_normal() -> None:
    """64 bits of zeros are 2^-65: 9.5 standard deviations, not infinity."""
    assert math.sqrt(-2.0 * math.log(2.0**-65)) == pytest.approx(9.49, abs=0.01)


@pytest.mark.parametrize("shape", [0.5, 1.0, 3.5, 400.0])
def test_gammas(shape: float) -> None:
    check_continuous(sample(draws.next_gamma, shape), stats.gamma(shape))


@pytest.mark.parametrize("mean", [0.3, 5.0, 9.9, 10.0, 47.0, 2000.0])
def test_poisson_counts(mean: float) -> None:
    """On both sides of the step from products to rejection."""
    check_counts(sample(draws.next_poisson, mean), stats.poisson(mean))


@pytest.mark.parametrize(
    ("count", "chance"),
    [(1, 0.3), (12, 0.5), (49, 0.2), (50, 0.2), (50, 0.8), (100, 0.5), (4000, 0.97), (10**6, 1e-5)],
)
def test_binomial_counts(count: int, chance: float) -> None:
    check_counts(sample(draws.next_binomial, count, chance), stats.binom(count, chance))


def test_huge_counts_are_nearly_normal() -> None:
    found = sample(draws.next_binomial, 10**12, 0.3, size=50_000)
    check_continuous((found - 3e11) / math.sqrt(2.1e11), stats.norm)
    found = sample(draws.next_poisson, 1e14, size=50_000)
    check_continuous((found - 1e14) / 1e7, stats.norm)


@pytest.mark.parametrize(("count", "chance", "found"), [(7, 0.0, 0), (7, 1.0, 7), (0, 0.5, 0)])
def test_certain_counts(count: int, chance: float, found: int) -> None:
    assert draws.next_binomial(stream(), count, chance) == found
    assert draws.next_poisson(stream(), 0.0) == 0


def test_streams_of_replications_and_purposes_differ() -> None:
    firsts = {
        Philox(stream(number, purpose)).random() for number in range(50) for purpose in (0, ORDER)
    }
    assert len(firsts) == 100
    assert all(0.0 <= first < 1.0 for first in firsts)


def test_uniforms_and_whole_numbers() -> None:
    check_continuous(sample(draws.next_uniform), stats.uniform)
    rng = Philox(stream())
    assert {rng.integers(3, 7) for _ in range(200)} == {3, 4, 5, 6}
    waits = np.array([rng.standard_exponential() for _ in range(20_000)])
    check_continuous(waits, stats.expon)


def test_keys_depend_on_every_part_of_their_name() -> None:
    keys = {
        chunk_key(seed, budget, chunk, schedule=schedule)
        for seed in (0, 1)
        for budget in (10, 11)
        for chunk in (0, 1)
        for schedule in (0, 5)
    }
    assert len(keys) == 16
