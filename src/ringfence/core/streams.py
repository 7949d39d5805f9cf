"""Random streams: the one place where generators are made.

A stream is named by what it is for, never by who draws from it, so that a result depends on the
seed and not on threads, processes or machines. Touches nothing.
"""

from numbers import Integral

from numpy.random import SFC64, Generator, SeedSequence

from ringfence.core.errors import InputError

__all__ = ["Generator", "chunk_streams", "require_seed"]

_PULLS, _ORDER = 0, 1


def chunk_streams(seed: int, budget: int, chunk: int) -> tuple[Generator, Generator]:
    """Return the streams of one chunk of replications: for pulls, and for the order of arms.

    They are two so that drawing an order of arms, or not, leaves the pulls the same.
    """
    return _stream(seed, _PULLS, budget, chunk), _stream(seed, _ORDER, budget, chunk)


def require_seed(seed: int) -> None:
    """Refuse a seed that cannot name a stream."""
    if not isinstance(seed, Integral) or seed < 0:
        raise InputError(f"seed = {seed!r} must be 0 or more. Give a non-negative whole number.")


def _stream(seed: int, *names: int) -> Generator:
    return Generator(SFC64(SeedSequence(seed, spawn_key=names)))
