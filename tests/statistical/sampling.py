"""Draws from a law as the two engines do: whole blocks in compiled code, or single pulls.

This is the one file of these tests that knows how compiled code asks a law for a block.
"""

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any

import numba
import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.streams import Generator
from ringfence.simulation.compilation import register
from ringfence.simulation.laws import Law
from tests.faults.planting import Edit, planted

LANES = 50


@cache
def _loop_around(draw_block: Callable[..., None]) -> Callable[..., None]:
    """Compile a loop over blocks; it is not kept on disk, and so may hold a planted fault."""
    register(draw_block)

    def loop(
        rng: Generator, arrays: Any, arms: int, normals: int, arm: int, pulls: int, out: Floats
    ) -> None:
        noise = np.empty((normals, LANES))
        drawn = np.ones((arms, LANES), np.bool_)
        block = np.empty((out.shape[1], LANES))
        for first in range(0, out.shape[0], LANES):
            for lane in range(LANES):
                for d in range(normals):
                    noise[d, lane] = rng.standard_normal()
            draw_block(rng, arrays, noise, drawn, arm, pulls, block)
            for lane in range(LANES):
                for c in range(out.shape[1]):
                    out[first + lane, c] = block[c, lane]

    compiled: Callable[..., None] = numba.njit(loop)
    return compiled


def block_sums(law: Law, arm: int, pulls: int, *, size: int, seed: int = 1) -> Floats:
    """Return the sums [block, attribute] of many blocks of pulls of an arm."""
    assert size % LANES == 0
    rng = np.random.Generator(np.random.SFC64(seed))
    out = np.full((size, law.means.shape[1]), np.nan)
    _loop_around(law.draw_block)(rng, law.arrays, len(law.means), law.normals, arm, pulls, out)
    return np.asarray(out + pulls * law.origin, dtype=np.float64)


def single_pulls(law: Law, arm: int, *, size: int, seed: int = 1) -> Floats:
    """Return single pulls [pull, attribute] of an arm, as the reference engine draws them."""
    rng = np.random.Generator(np.random.SFC64(seed))
    return np.array([law.pull(rng, arm) + law.origin for _ in range(size)])


def law_with_fault(law: Law, edit: Edit) -> Law:
    """Return the same law, of a class that has a fault planted in it."""
    home = planted(edit)["simulation.laws"]
    real: Any = law
    content = {field.name: getattr(real, field.name) for field in fields(real)}
    faulty: Law = getattr(home, type(law).__name__)(**content)
    return faulty
