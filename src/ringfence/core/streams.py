"""Random streams: the one place where generators are made.

A stream is named by what it is for, never by who draws from it, so that a result depends on the
seed and not on threads, processes or machines. Touches nothing.
"""

from numbers import Integral
from typing import Any
from zlib import crc32

import numpy as np
from numpy.random import SFC64, Generator, SeedSequence

from ringfence.core.arrays import Integers
from ringfence.core.errors import InputError

__all__ = [
    "Generator",
    "bootstrap_stream",
    "chunk_key",
    "chunk_streams",
    "family_stream",
    "order_of_arms",
    "order_of_groups",
    "order_of_items",
    "pull_seed",
    "pull_seeds",
    "pull_stream",
    "round_stream",
    "shuffled_places",
    "verdict_stream",
    "whole_seed",
]

_PULLS, _ORDER, _FAMILY, _BOOTSTRAP, _GROUPS, _ARMS, _ROUND, _PULL, _VERDICT, _ITEMS, _BUNDLES = (
    range(11)
)
_COUNTED = 100
# Of NumPy's SeedSequence, whose results are fixed for good (NEP 19).
_INIT_A, _MULT_A, _INIT_B, _MULT_B = 0x43B0D7E5, 0x931E8875, 0x8B51F9DD, 0x58F38DED
_MIX_L, _MIX_R, _POOL, _WORD = 0xCA01F9DD, 0x4973F715, 4, 2**32


def chunk_streams(
    seed: int, budget: int, chunk: int, *, schedule: int = 0
) -> tuple[Generator, Generator]:
    """Return the streams of one chunk of replications: for pulls, and for the order of arms.

    They are two so that drawing an order of arms, or not, leaves the pulls the same. Policies on
    different schedules have different streams: their replications cannot be paired.
    """
    names = (budget, schedule, chunk)
    return _stream(seed, _PULLS, *names), _stream(seed, _ORDER, *names)


def chunk_key(seed: int, budget: int, chunk: int, *, schedule: int = 0) -> tuple[int, int]:
    """Return the key, two 32-bit words, of a chunk whose draws are numbered and not drawn in turn.

    A GPU works so: what a replication draws depends on this key and its number, not on its thread.
    """
    name = SeedSequence(seed, spawn_key=(_COUNTED, budget, schedule, chunk))
    first, second = name.generate_state(2)
    return int(first), int(second)


def family_stream(seed: int, family: str, arm_count: int, number: int) -> Generator:
    """Return the stream that draws one instance of a family."""
    return _stream(seed, _FAMILY, crc32(family.encode()), arm_count, number)


def bootstrap_stream(seed: int) -> Generator:
    """Return the stream that draws resamples of instances."""
    return _stream(seed, _BOOTSTRAP)


def shuffled_places(count: int) -> Integers:
    """Return 0 to count - 1 in an order that depends on the count alone."""
    return _stream(0, _GROUPS, count).permutation(count)


def order_of_arms(seed: int, arm_count: int) -> Integers:
    """Return each arm's rank in the order that decides ties in a study."""
    return _stream(seed, _ARMS).permutation(arm_count)


def order_of_items(seed: int, count: int) -> Integers:
    """Return the items of a study in the order in which every arm meets them."""
    return _stream(seed, _ITEMS).permutation(count)


def order_of_groups(seed: int, count: int) -> Integers:
    """Return the groups of a study's items in the order in which every arm meets them."""
    return _stream(seed, _BUNDLES).permutation(count)


def round_stream(seed: int, number: int) -> Generator:
    """Return the stream of one decision of a study."""
    return _stream(seed, _ROUND, number)


def pull_seed(seed: int, arm: int, ordinal: int) -> int:
    """Return the seed handed to the evaluation of a pull: a whole number below 2^31."""
    name = SeedSequence(seed, spawn_key=(_PULL, arm, ordinal))
    return int(name.generate_state(1)[0] >> 1)


def pull_seeds(seed: int, arms: Integers, ordinals: Integers) -> list[int]:
    """Return `pull_seed` of many pulls: all words but the last two are mixed once, not every time.

    The rest is SeedSequence's own mixing, on arrays.
    """
    if max(arms.max(initial=0), ordinals.max(initial=0)) >= _WORD:
        return [pull_seed(seed, int(arm), int(k)) for arm, k in zip(arms, ordinals, strict=True)]
    mixed = SeedSequence(seed, spawn_key=(_PULL,)).pool[:1]
    words = max(_POOL, -(-seed.bit_length() // 32)) + 1
    hashed = _POOL * _POOL + _POOL * (words - _POOL)  # as many words were hashed until here
    for place, column in enumerate((arms, ordinals)):
        constant = _INIT_A * pow(_MULT_A, hashed + _POOL * place, _WORD) % _WORD
        word = _hashed(column.astype(np.uint32), constant, _MULT_A)
        mixed = np.uint32(_MIX_L) * mixed - np.uint32(_MIX_R) * word
        mixed ^= mixed >> np.uint32(16)
    found: list[int] = (_hashed(mixed, _INIT_B, _MULT_B) >> np.uint32(1)).tolist()
    return found


def _hashed(word: Any, constant: int, factor: int) -> Any:
    word = (word ^ np.uint32(constant)) * np.uint32(constant * factor % _WORD)
    return word ^ (word >> np.uint32(16))


def pull_stream(seed: int) -> Generator:
    """Return the stream of one evaluation, from the seed that it was handed."""
    return _stream(seed, _PULL)


def verdict_stream(seed: int) -> Generator:
    """Return the stream that draws what the truth may be."""
    return _stream(seed, _VERDICT)


def whole_seed(seed: int) -> int:
    """Return the seed as a plain whole number, or refuse it."""
    if not isinstance(seed, Integral) or seed < 0:
        rule = "0 or more" if isinstance(seed, Integral) else "a whole number"
        raise InputError(f"seed = {seed!r} must be {rule}. Give a non-negative whole number.")
    return int(seed)


def _stream(seed: int, *names: int) -> Generator:
    return Generator(SFC64(SeedSequence(seed, spawn_key=names)))
