"""What a replication remembers where its answer is to be proven: every pull of every arm.

A proof goes through an arm's pulls in their order. Laws of arms that share blocks keep them anyway.
May touch core.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.errors import InputError
from ringfence.core.noise import Moments, add_pull, drop_rounding, no_moments
from ringfence.core.running import Recipe
from ringfence.core.statistics import contribution
from ringfence.core.streams import Generator
from ringfence.simulation.draws import GaussianArrays, MixedArrays, TableArrays, draw_mixed_pull
from ringfence.simulation.records import MOST_BYTES, Recording


class PathRecord(NamedTuple):
    """Pulls [arm, number, attribute], their moments, and room for the metrics of one."""

    moments: Moments
    scatters: Floats
    pulls: Floats
    recipe: Recipe
    metrics: Floats


def path_recording(
    draw: Callable[..., None], width: int, recipe: Recipe | None = None, metrics: int = 0
) -> Recording:
    """Return a recording of pulls that `draw(rng, arrays, record, arm, pull)` makes."""
    none: Integers = np.zeros(0, np.int64)
    some = recipe or Recipe(none, np.zeros(0), none, none, np.zeros(0))

    def make(arm_count: int, capacity: int) -> PathRecord:
        needed = 8 * arm_count * width * capacity
        if needed > MOST_BYTES:
            raise InputError(
                f"{capacity} pulls of {arm_count} arms must be kept to prove an answer: "
                f"{needed / 2**30:.1f} GiB, more than {MOST_BYTES / 2**30:.0f}. Lower the budget."
            )
        moments = no_moments(arm_count, width)
        pulls = np.zeros((arm_count, capacity, width))
        return PathRecord(moments, moments.scatters, pulls, some, np.zeros(metrics))

    return Recording(make, forget_path, _path_adder(draw), look_at_path)


def forget_path(record: PathRecord) -> None:
    """Start anew."""
    record.moments.sums[:] = 0.0
    record.moments.centres[:] = 0.0
    record.moments.scatters[:] = 0.0


@cache
def _path_adder(draw: Callable[..., None]) -> Callable[..., None]:
    def add(
        rng: Generator,
        arrays: Any,
        arm: int,
        count: int,
        pulls: int,
        record: PathRecord,
        scratch: Floats,
    ) -> None:
        for number in range(count, count + pulls):
            pull = record.pulls[arm, number]
            draw(rng, arrays, record, arm, pull)
            add_pull(record.moments, number, arm, pull)

    return add


def look_at_path(record: PathRecord, arm: int, count: int, estimates: Floats) -> None:
    """Put an arm's means into `estimates`."""
    for c in range(estimates.shape[1]):
        estimates[arm, c] = record.moments.sums[arm, c] / count
    drop_rounding(record.moments.scatters[arm], record.moments.centres[arm], count)


def draw_gaussian_attributes(
    rng: Generator, arrays: GaussianArrays, record: PathRecord, arm: int, pull: Floats
) -> None:
    """Put one Gaussian pull into `pull`."""
    for c in range(pull.shape[0]):
        pull[c] = arrays.means[arm, c]
    for d in range(arrays.factors.shape[2]):
        normal = rng.standard_normal()
        for c in range(pull.shape[0]):
            pull[c] += arrays.factors[arm, c, d] * normal


def draw_mixed_attributes(
    rng: Generator, arrays: MixedArrays, record: PathRecord, arm: int, pull: Floats
) -> None:
    """Put what one pull contributes to means and shares into `pull`."""
    recipe = record.recipe
    draw_mixed_pull(rng, arrays, arm, record.metrics)
    for c in range(pull.shape[0]):
        value = record.metrics[recipe.metric_of[c]]
        pull[c] = recipe.signs[c] * contribution(recipe.kinds[c], recipe.levels[c], value)


def draw_table_attributes(
    rng: Generator, arrays: TableArrays, record: PathRecord, arm: int, pull: Floats
) -> None:
    """Put one row of the arm into `pull`."""
    row = rng.integers(arrays.starts[arm], arrays.starts[arm + 1])
    for c in range(pull.shape[0]):
        pull[c] = arrays.rows[row, c]
