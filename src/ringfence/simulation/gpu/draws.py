"""Random numbers for a GPU, as plain functions: numbered, not drawn in turn.

Philox 4x32-10 (Salmon, Moraes, Dror and Shaw 2011) scrambles a counter under a key: what a
replication draws depends on the key of its chunk, its own number and the number of the draw, and
never on which thread of how many ran it. Everything here also runs as it is, in plain Python,
which is how the tests read it.

Uniforms have 53 bits or more. Normals are exact to about 1e-13, far below what any number of
replications could notice: a radius from 64 bits, so that tails reach 9.4 standard deviations, and
sine and cosine by Taylor's series. A `Philox` offers the methods of NumPy's generators that
simulation's draws use, so that these need no second version. Touches nothing.
"""

import math
from typing import Any, NamedTuple

import numpy as np

PULLS, ORDER = 0, 1  # what a stream of a replication is for
STATE = 8  # words of a stream

_u32, _u64 = np.uint32, np.uint64
_LOW = 0xFFFFFFFF
_FIRST_FACTOR, _SECOND_FACTOR = np.uint32(0xD2511F53), np.uint32(0xCD9E8D57)
_FIRST_STEP, _SECOND_STEP = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10
_SMALL_MEAN = 10.0


def _taylor() -> tuple[float, ...]:
    """Return sin(pi/2 x) = x S(x^2), seven terms, and cos(pi/2 x) = C(x^2), eight.

    For |x| <= 1/2 the first terms left out are 2e-14 and 1e-15.
    """
    quarter = math.pi / 2.0
    powers = [*range(1, 14, 2), *range(0, 15, 2)]
    return tuple((-1.0) ** (k // 2) * quarter**k / math.factorial(k) for k in powers)


SERIES = _taylor()


def wide_product(a: Any, b: Any) -> Any:
    """Return the 64-bit product of two 32-bit words; one instruction on a GPU."""
    return _u64(a) * _u64(b)


def philox(key: Any, other_key: Any, a: Any, b: Any, c: Any) -> Any:
    """Return the four words of the block numbered (a, b, c)."""
    d = _u32(0)
    for _ in range(_ROUNDS):
        p = wide_product(a, _FIRST_FACTOR)
        q = wide_product(c, _SECOND_FACTOR)
        a = _u32(_u32(q >> _u64(32)) ^ b ^ key)
        c = _u32(_u32(p >> _u64(32)) ^ d ^ other_key)
        b = _u32(q & _u64(_LOW))
        d = _u32(p & _u64(_LOW))
        key = _u32((int(key) + _FIRST_STEP) & _LOW)
        other_key = _u32((int(other_key) + _SECOND_STEP) & _LOW)
    return a, b, c, d


def normal_pair(
    key: Any, other_key: Any, replication: Any, draw: Any, series: Any
) -> tuple[float, float]:
    """Return two independent standard normals (Box and Muller), from one block.

    The angle is one of four quarters, chosen by two bits, and a place x in it. `series` is SERIES,
    handed in because a GPU reads parameters of a kernel faster than constants of its code.
    """
    w0, w1, w2, w3 = philox(key, other_key, replication, draw, _u32(PULLS))
    uniform = w0 * 2.0**-32 + (w1 * 2.0**-64 + 2.0**-65)
    x = (w2 >> _u32(2)) * 2.0**-30 + (w3 * 2.0**-62 + (2.0**-63 - 0.5))
    s = x * x
    sine = x * (
        series[0]
        + s * (series[1] + s * (series[2] + s * (series[3] + s * (series[4] + s * (
            series[5] + s * series[6]
        )))))
    )  # fmt: skip
    cosine = series[7] + s * (
        series[8]
        + s * (series[9] + s * (series[10] + s * (series[11] + s * (series[12] + s * (
            series[13] + s * series[14]
        )))))
    )  # fmt: skip
    radius = math.sqrt(-2.0 * math.log(uniform))
    if w2 & _u32(1):
        radius = -radius
    if w2 & _u32(2):
        return radius * cosine, radius * sine
    return radius * sine, radius * cosine


class Philox(NamedTuple):
    """A stream of one replication, with the methods of NumPy's generators that draws use."""

    words: Any

    def random(self) -> float:
        """Return a uniform in [0, 1), of 53 bits."""
        return next_uniform(self.words)

    def integers(self, low: int, high: int) -> int:
        """Return a whole number from `low` on and below `high`."""
        return low + int(next_uniform(self.words) * (high - low))

    def standard_normal(self) -> float:
        """Return a standard normal."""
        return next_normal(self.words)

    def standard_exponential(self) -> float:
        """Return a waiting time of mean 1."""
        return -math.log(1.0 - next_uniform(self.words))

    def standard_gamma(self, shape: float) -> float:
        """Return a gamma variate of scale 1."""
        return next_gamma(self.words, shape)

    def poisson(self, mean: float) -> int:
        """Return a Poisson count."""
        return next_poisson(self.words, mean)

    def binomial(self, count: int, chance: float) -> int:
        """Return the number of successes in `count` trials."""
        return next_binomial(self.words, count, chance)


def start(words: Any, key: int, other_key: int, replication: int, purpose: int) -> None:
    """Begin a stream of a replication.

    Words 0 to 4 name its next block; 5 to 7 keep half of one.
    """
    words[0] = key
    words[1] = other_key
    words[2] = replication
    words[3] = 0
    words[4] = purpose
    words[5] = 0


def next_words(words: Any) -> Any:
    """Return the next two words; a block holds two such pairs."""
    if words[5] == 1:
        words[5] = 0
        return words[6], words[7]
    a, b, c, d = philox(words[0], words[1], words[2], words[3], words[4])
    words[3] += _u32(1)
    words[5] = 1
    words[6] = c
    words[7] = d
    return a, b


def next_uniform(words: Any) -> float:
    """Return a uniform in [0, 1), of 53 bits."""
    high, low = next_words(words)
    return float((high * 2.0**21 + (low >> _u32(11))) * 2.0**-53)


def next_pair(words: Any) -> tuple[float, float]:
    """Return two independent standard normals, of the stream for pulls."""
    pair = normal_pair(words[0], words[1], words[2], words[3], SERIES)
    words[3] += _u32(1)
    return pair


def next_normal(words: Any) -> float:
    """Return a standard normal, one of a pair."""
    normal, _ = next_pair(words)
    return normal


def next_gamma(words: Any, shape: float) -> float:
    """Return a gamma variate of scale 1 (Marsaglia and Tsang 2000)."""
    boost = 1.0
    if shape < 1.0:
        boost = (1.0 - next_uniform(words)) ** (1.0 / shape)
        shape += 1.0
    centre = shape - 1.0 / 3.0
    spread = 1.0 / math.sqrt(9.0 * centre)
    while True:
        normal = next_normal(words)
        root = 1.0 + spread * normal
        if root <= 0.0:
            continue
        cube = root * root * root
        log_uniform = math.log(1.0 - next_uniform(words))
        if log_uniform < 0.5 * normal * normal + centre * (1.0 - cube + math.log(cube)):
            return boost * centre * cube


def stirling_rest(count: float) -> float:
    """Return log(count!) less Stirling's (count + 1/2) log(count) - count + log(2 pi)/2.

    `count` must be at least 1.
    """
    if count < _SMALL_MEAN:
        stirling = (count + 0.5) * math.log(count) - count + 0.5 * math.log(2.0 * math.pi)
        return math.lgamma(count + 1.0) - stirling
    inverse = 1.0 / (count * count)
    return (1.0 / 12.0 - (1.0 / 360.0 - inverse / 1260.0) * inverse) / count


def deviance(count: float, mean: float) -> float:
    """Return count log(count / mean) + mean - count, without cancellation where they are close."""
    apart = (mean - count) / count
    if abs(apart) > 0.1:
        return count * (apart - math.log1p(apart))
    v = apart / (2.0 + apart)  # log(1 + apart) = 2 (v + v^3/3 + v^5/5 + ...)
    rest, power = 0.0, v
    for k in range(3, 15, 2):
        power *= v * v
        rest += 2.0 * power / k
    return count * (apart * v - rest)


def next_poisson(words: Any, mean: float) -> int:
    """Return a Poisson count: by products of uniforms, or by transformed rejection (Hormann 1993).

    The probability of a count enters as a deviance: with huge means its terms would cancel.
    """
    if mean < _SMALL_MEAN:
        least = math.exp(-mean)
        found = -1
        product = 1.0
        while product > least:
            product *= 1.0 - next_uniform(words)
            found += 1
        return found if mean > 0.0 else 0
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    while True:
        u = next_uniform(words) - 0.5
        v = 1.0 - next_uniform(words)
        us = 0.5 - abs(u)
        if us <= 0.0:
            continue
        k = math.floor((2.0 * a / us + b) * u + mean + 0.43)
        if us >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2.0):
            return int(k)
        if k < 0.0 or (us < 0.013 and v > us):
            continue
        if math.log(v * inverse_alpha / (a / (us * us) + b)) <= log_poisson(k, mean):
            return int(k)


def log_poisson(k: float, mean: float) -> float:
    """Return the log of a Poisson probability."""
    if k == 0.0:
        return -mean
    return -deviance(k, mean) - 0.5 * math.log(2.0 * math.pi * k) - stirling_rest(k)


def next_binomial(words: Any, count: int, chance: float) -> int:
    """Return the successes of `count` trials: by waiting times, or by transformed rejection."""
    turned = chance > 0.5
    p = 1.0 - chance if turned else chance
    found = 0
    if p > 0.0:
        if count * p < _SMALL_MEAN:
            found = _few_successes(words, count, p)
        else:
            found = _many_successes(words, count, p)
    return count - found if turned else found


def _few_successes(words: Any, count: int, p: float) -> int:
    """Count successes by the trials between them, which are geometric."""
    per_trial = math.log1p(-p)
    found, trials = -1, 0.0
    while trials <= count:
        trials += math.floor(math.log(1.0 - next_uniform(words)) / per_trial) + 1.0
        found += 1
    return found


def _many_successes(words: Any, count: int, p: float) -> int:
    """Count successes by transformed rejection (Hormann 1993), with deviances as for Poisson."""
    n = float(count)
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    alpha = (2.83 + 5.1 / b) * spread
    while True:
        u = next_uniform(words) - 0.5
        v = 1.0 - next_uniform(words)
        us = 0.5 - abs(u)
        if us <= 0.0:
            continue
        k = math.floor((2.0 * a / us + b) * u + n * p + 0.5)
        if us >= 0.07 and v <= 0.92 - 4.2 / b:
            return int(k)
        if k < 0.0 or k > n:
            continue
        mode = math.floor((n + 1.0) * p)
        log_ratio = log_binomial(k, n, p) - log_binomial(mode, n, p)
        if math.log(v * alpha / (a / (us * us) + b)) <= log_ratio:
            return int(k)


def log_binomial(k: float, n: float, p: float) -> float:
    """Return the log of a binomial probability."""
    if k == 0.0:
        return n * math.log1p(-p)
    if k == n:
        return n * math.log(p)
    return (
        stirling_rest(n) - stirling_rest(k) - stirling_rest(n - k)
        - deviance(k, n * p) - deviance(n - k, n * (1.0 - p))
        + 0.5 * math.log(n / (2.0 * math.pi * k * (n - k)))
    )  # fmt: skip
