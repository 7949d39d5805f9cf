"""Many random numbers spun out of one, for rules that need chance and may not draw.

A rule is handed one uniform a pull, so that it stays a function of its arguments. One that needs
more, such as posterior draws for every arm, spins them out of it: L'Ecuyer's combination of two
multiplicative generators (1988), exact in floats, so that it gives the same numbers in Python, on
the CPU and on a GPU. Touches its arguments only; the state [2] is written in place.
"""

import math

from ringfence.core.arrays import Floats

_FIRST, _SECOND = 2147483563.0, 2147483399.0
_SKIPPED = 3  # the first numbers of neighbouring uniforms are neighbours themselves


def spin(state: Floats, uniform: float) -> None:
    """Start the numbers that belong to a uniform in [0, 1)."""
    scaled = uniform * (_FIRST - 1.0)
    state[0] = 1.0 + math.floor(scaled)
    state[1] = 1.0 + math.floor((scaled - math.floor(scaled)) * (_SECOND - 1.0))
    for _ in range(_SKIPPED):
        next_uniform(state)


def next_uniform(state: Floats) -> float:
    """Return the next uniform, strictly between 0 and 1."""
    state[0] = remainder(40014.0 * state[0], _FIRST)
    state[1] = remainder(40692.0 * state[1], _SECOND)
    difference: float = state[0] - state[1]
    if difference < 1.0:
        difference += _FIRST - 1.0
    return difference / _FIRST


def remainder(number: float, modulus: float) -> float:
    """Return number % modulus, for whole numbers, in less time.

    Exact: quotients are below 2^16, where floats lie much closer than one over a modulus.
    """
    return number - math.floor(number / modulus) * modulus


def next_normal(state: Floats) -> float:
    """Return the next standard normal (Box and Muller, one of the pair)."""
    radius = math.sqrt(-2.0 * math.log(next_uniform(state)))
    return radius * math.cos(2.0 * math.pi * next_uniform(state))
