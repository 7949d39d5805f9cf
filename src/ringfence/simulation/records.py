"""What a replication remembers of its pulls, as plain functions for compiled code.

A `Recording` is three functions over a record that they share:

    forget(record)                                           before a replication
    add(rng, arrays, arm, count, pulls, record, scratch)     pulls of an arm that had `count` before
    look(record, arm, count, estimates)                      its estimates, from all its pulls

After a look, `record.scatters[arm]` is the scatter of the influences of the arm's pulls. Moments
suffice for means, features of the pulls for variances, and quantiles need the pulls themselves.

May touch core.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.errors import InputError
from ringfence.core.noise import Moments, drop_rounding, no_moments
from ringfence.core.running import (
    Recipe,
    Running,
    add_running_pull,
    fill_running,
    no_running,
)
from ringfence.core.statistics import RATIO, fill_ratio, measure
from ringfence.core.streams import Generator

MOST_BYTES = 2**30


@dataclass(frozen=True)
class Recording:
    """Functions over a record; `make(arm_count, capacity)` returns a fresh one."""

    make: Callable[[int, int], Any]
    forget: Callable[..., None]
    add: Callable[..., None]
    look: Callable[..., None]


class SumRecord(NamedTuple):
    """What known noise needs of the pulls: their sums; the rest is for drawing a block."""

    sums: Floats
    noise: Floats
    everyone: Mask
    block: Floats


def sums_recording(
    draw_block: Callable[..., None],
    width: int,
    normals: int,
    fill: Callable[..., None] | None = None,
) -> Recording:
    """Return a recording by sums, for attributes that are means under known noise.

    `fill(rng, noise)` fills the only lane of `noise` with standard normals.
    """

    def make(arm_count: int, _: int) -> SumRecord:
        return SumRecord(
            np.zeros((arm_count, width)),
            np.zeros((normals, 1)),
            np.ones((arm_count, 1), np.bool_),
            np.zeros((width, 1)),
        )

    return Recording(make, forget_sums, _sums_adder(draw_block, fill or fill_normals), look_at_sums)


def forget_sums(record: SumRecord) -> None:
    """Start anew."""
    for i in range(record.sums.shape[0]):
        for c in range(record.sums.shape[1]):
            record.sums[i, c] = 0.0


@cache
def _sums_adder(draw_block: Callable[..., None], fill: Callable[..., None]) -> Callable[..., None]:
    def add(
        rng: Any, arrays: Any, arm: int, count: int, pulls: int, record: SumRecord, scratch: Floats
    ) -> None:
        fill(rng, record.noise)
        draw_block(rng, arrays, record.noise, record.everyone, arm, pulls, record.block)
        for c in range(record.sums.shape[1]):
            record.sums[arm, c] += record.block[c, 0]

    return add


def fill_normals(rng: Generator, noise: Floats) -> None:
    """Fill the only lane of `noise` with standard normals, one after the other."""
    for d in range(noise.shape[0]):
        noise[d, 0] = rng.standard_normal()


def look_at_sums(record: SumRecord, arm: int, count: int, estimates: Floats) -> None:
    """Put an arm's means into `estimates`."""
    for c in range(estimates.shape[1]):
        estimates[arm, c] = record.sums[arm, c] / count


def moments_recording(add: Callable[..., None], width: int) -> Recording:
    """Return a recording by sums and scatters, for attributes that are means."""
    return Recording(
        lambda arm_count, _: no_moments(arm_count, width), forget_moments, add, look_at_moments
    )


def forget_moments(moments: Moments) -> None:
    """Start anew."""
    moments.sums[:] = 0.0
    moments.centres[:] = 0.0
    moments.scatters[:] = 0.0


def look_at_moments(moments: Moments, arm: int, count: int, estimates: Floats) -> None:
    """Put an arm's means into `estimates`."""
    for c in range(estimates.shape[1]):
        estimates[arm, c] = moments.sums[arm, c] / count
    drop_rounding(moments.scatters[arm], moments.centres[arm], count)


class RunningRecord(NamedTuple):
    """Features of the pulls, added up."""

    running: Running
    recipe: Recipe
    metrics: Floats
    scatters: Floats


def running_recording(draw_pull: Callable[..., None], recipe: Recipe, metrics: int) -> Recording:
    """Return a recording by features, for means, shares, variances and standard deviations."""
    width = len(recipe.kinds)

    def make(arm_count: int, _: int) -> RunningRecord:
        return RunningRecord(
            no_running(recipe, arm_count, metrics),
            recipe,
            np.zeros(metrics),
            np.zeros((arm_count, width, width)),
        )

    return Recording(make, forget_running, _running_adder(draw_pull), look_at_running)


def forget_running(record: RunningRecord) -> None:
    """Start anew."""
    forget_moments(record.running.moments)


@cache
def _running_adder(draw_pull: Callable[..., None]) -> Callable[..., None]:
    def add(
        rng: Generator,
        arrays: Any,
        arm: int,
        count: int,
        pulls: int,
        record: RunningRecord,
        scratch: Floats,
    ) -> None:
        for number in range(pulls):
            draw_pull(rng, arrays, arm, record.metrics)
            add_running_pull(record.running, record.recipe, arm, count + number, record.metrics)

    return add


def look_at_running(record: RunningRecord, arm: int, count: int, estimates: Floats) -> None:
    """Put an arm's attributes into `estimates`, with the scatter of their influences."""
    fill_running(estimates, record.scatters, record.running, record.recipe, arm, count)


class SampleRecord(NamedTuple):
    """The pulls themselves, arm by arm and metric by metric: as they came, and in order.

    The first ordered[arm, metric, :sorted[arm]] are in order; what came since is not in it yet.
    """

    values: Floats
    ordered: Floats
    sorted: Integers
    influences: Floats
    recipe: Recipe
    metrics: Floats
    scatters: Floats


def sample_recording(draw_pull: Callable[..., None], recipe: Recipe, metrics: int) -> Recording:
    """Return a recording by all pulls, for any attribute but a user's own."""
    width = len(recipe.kinds)

    def make(arm_count: int, capacity: int) -> SampleRecord:
        shape = (arm_count, metrics, capacity)
        needed = 16 * arm_count * metrics * capacity
        if needed > MOST_BYTES:
            raise InputError(
                f"{capacity} pulls of {arm_count} arms must be kept to find quantiles or tails: "
                f"{needed / 2**30:.1f} GiB, more than {MOST_BYTES / 2**30:.0f}. Lower the budget."
            )
        return SampleRecord(
            np.zeros(shape),
            np.zeros(shape),
            np.zeros(arm_count, np.int64),
            np.zeros((width, capacity)),
            recipe,
            np.zeros(metrics),
            np.zeros((arm_count, width, width)),
        )

    return Recording(make, forget_sample, _sample_adder(draw_pull), look_at_sample)


def forget_sample(record: SampleRecord) -> None:
    """Start anew."""
    record.sorted[:] = 0


@cache
def _sample_adder(draw_pull: Callable[..., None]) -> Callable[..., None]:
    def add(
        rng: Generator,
        arrays: Any,
        arm: int,
        count: int,
        pulls: int,
        record: SampleRecord,
        scratch: Floats,
    ) -> None:
        for number in range(count, count + pulls):
            draw_pull(rng, arrays, arm, record.metrics)
            for q in range(record.metrics.shape[0]):
                record.values[arm, q, number] = record.metrics[q]

    return add


def look_at_sample(record: SampleRecord, arm: int, count: int, estimates: Floats) -> None:
    """Put an arm's attributes into `estimates`, with the scatter of their influences."""
    recipe, scatters = record.recipe, record.scatters
    before = record.sorted[arm]
    for q in range(record.metrics.shape[0]):
        ordered = record.ordered[arm, q, :count]
        fresh = record.influences[0, : count - before]  # free until the influences are measured
        for k in range(before, count):
            fresh[k - before] = record.values[arm, q, k]
        sort(fresh)
        merge(ordered, before, fresh)
    record.sorted[arm] = count
    for c in range(recipe.kinds.shape[0]):
        q = recipe.metric_of[c]
        mine = record.influences[c, :count]
        if recipe.kinds[c] == RATIO:
            estimates[arm, c] = recipe.signs[c] * fill_ratio(
                record.values[arm, q, :count],
                record.values[arm, recipe.other_of[c], :count],
                mine,
            )
        else:
            estimates[arm, c] = recipe.signs[c] * measure(
                recipe.kinds[c],
                recipe.levels[c],
                recipe.signs[c],
                record.values[arm, q, :count],
                record.ordered[arm, q, :count],
                mine,
            )
        for d in range(c + 1):
            total = 0.0
            for k in range(count):
                total += mine[k] * record.influences[d, k]
            scatters[arm, c, d] = recipe.signs[c] * recipe.signs[d] * total
            scatters[arm, d, c] = scatters[arm, c, d]


def sort(values: Floats) -> None:
    """Sort in place, by shells: it needs no room of its own."""
    count = values.shape[0]
    stride = 1
    while stride < count // 3:
        stride = 3 * stride + 1
    while stride > 0:
        for k in range(stride, count):
            value, place = values[k], k
            while place >= stride and values[place - stride] > value:
                values[place] = values[place - stride]
                place -= stride
            values[place] = value
        stride //= 3


def merge(ordered: Floats, count: int, fresh: Floats) -> None:
    """Merge sorted fresh values into ordered[:count], which has room for them behind it."""
    left, right = count - 1, fresh.shape[0] - 1
    for place in range(count + right, -1, -1):
        if right < 0:
            break
        if left >= 0 and ordered[left] > fresh[right]:
            ordered[place] = ordered[left]
            left -= 1
        else:
            ordered[place] = fresh[right]
            right -= 1
