"""Random streams: the one place where generators are made.

A stream is named by what it is for, never by who draws from it, so that a result depends on the
seed and not on threads, processes or machines. Touches nothing.
"""

from numbers import Integral
from zlib import crc32

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
    "pull_seed",
    "pull_stream",
    "round_stream",
    "shuffled_places",
    "verdict_stream",
    "whole_seed",
]

_PULLS, _ORDER, _FAMILY, _BOOTSTRAP, _GROUPS, _ARMS, _ROUND, _PULL, _VERDICT = range(9)
_COUNTED = 100


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


def round_stream(seed: int, number: int) -> Generator:
    """Return the stream of one decision of a study."""
    return _stream(seed, _ROUND, number)


def pull_seed(seed: int, arm: int, ordinal: int) -> int:
    """Return the seed handed to the evaluation of a pull: a whole number below 2^31."""
    name = SeedSequence(seed, spawn_key=(_PULL, arm, ordinal))
    return int(name.generate_state(1)[0] >> 1)


def pull_stream(seed: int) -> Generator:
    """Return the stream of one evaluation, from the seed that it was handed."""
    return _stream(seed, _PULL)


def verdict_stream(seed: int) -> Generator:
    """Return the stream that draws what the truth may be."""
    return _stream(seed, _VERDICT)


def whole_seed(seed: int) -> int:
    """Return the seed as a plain whole number, or refuse it."""
    if not isinstance(seed, Integral) or seed < 0:
        raise InputError(f"seed = {seed!r} must be 0 or more. Give a non-negative whole number.")
    return int(seed)


def _stream(seed: int, *names: int) -> Generator:
    return Generator(SFC64(SeedSequence(seed, spawn_key=names)))
