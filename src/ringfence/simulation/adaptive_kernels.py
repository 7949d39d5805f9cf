"""The loop over replications of a policy that chooses its pulls batch by batch.

One replication runs after the other: each has its own course. Under known noise a batch's pulls
of one arm enter through their sum; where the noise is estimated, or sums do not suffice, through a
record of the pulls. Where limits are relative to a baseline the rules see differences. The rules
inside are the plain functions of core and policies. May touch core, policies and simulation's laws.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.baseline import (
    Versus,
    add_choice,
    fill_difference_covariances,
    fill_difference_scales,
    fill_differences,
)
from ringfence.core.noise import fill_covariances, fill_pooled, fill_scales
from ringfence.core.streams import Generator
from ringfence.policies.policy import Answer, Choose, Evidence
from ringfence.simulation.compilation import compile_kernel
from ringfence.simulation.kernels import Tally, shuffle
from ringfence.simulation.records import Recording


class AdaptiveDesign(NamedTuple):
    """What stays the same over replications.

    `scales` and `covariances` are those of known noise; estimated noise overwrites copies of them.
    `means` tells which attributes are means.
    Batches are of `batch` pulls, or of the share `growth` of the pulls so far if that is more; a
    batch is decided in at most `slots` choices, each of which may stand for several pulls.
    """

    warm_up: int
    budget: int
    batch: int
    growth: float
    slots: int
    scales: Floats
    covariances: Floats
    means: Mask
    thresholds: Floats
    optimal: Mask
    feasible: bool
    shuffled: bool


class Room(NamedTuple):
    """The arrays of one replication, used again by the next.

    Where limits are relative, `versus` says to what; `seen` holds differences then, and `estimates`
    and `covariances` are those of the arms themselves.
    """

    record: Any
    sums: Floats
    pooled: Floats
    seen: Evidence
    priorities: Integers
    fresh: Integers
    uniforms: Floats
    chosen: Integers
    noise: Floats
    everyone: Mask
    block: Floats
    scratch: Floats
    estimates: Floats
    covariances: Floats
    versus: Versus


def make_room(
    design: AdaptiveDesign, normals: int, recording: Recording | None, versus: Versus
) -> Room:
    """Return the arrays that the kernel writes in; the laws see a single lane."""
    arm_count, width = len(design.optimal), len(design.scales)
    most = design.budget - (arm_count - 1) * design.warm_up
    relative = versus.is_relative
    return Room(
        record=None if recording is None else recording.make(arm_count, most),
        sums=np.zeros((arm_count, width)),
        pooled=np.zeros((width, width)),
        seen=no_evidence(design),
        priorities=np.zeros((arm_count, 1), np.int64),
        fresh=np.zeros(arm_count, np.int64),
        uniforms=np.zeros(design.slots),
        chosen=np.zeros(design.slots, np.int64),
        noise=np.zeros((normals, 1)),
        everyone=np.ones((arm_count, 1), np.bool_),
        block=np.zeros((width, 1)),
        scratch=np.zeros((width + 2, width)),
        estimates=np.zeros((arm_count, width) if relative else (1, 1)),
        covariances=design.covariances.copy() if relative else np.zeros((1, 1, 1)),
        versus=versus,
    )


def no_evidence(design: AdaptiveDesign) -> Evidence:
    """Return what a rule sees before any pull.

    Estimates and covariances lie arm beside arm, so that vector units can do several at once.
    """
    arm_count, width = len(design.optimal), len(design.scales)
    return Evidence(
        estimates=np.zeros((arm_count, width), order="F"),
        counts=np.zeros(arm_count, np.int64),
        in_flight=np.zeros(arm_count, np.int64),
        alive=np.ones(arm_count, np.bool_),
        covariances=np.array(design.covariances, order="F"),
        scales=design.scales.copy(),
        thresholds=design.thresholds,
        priority=np.arange(arm_count),
        left=np.zeros(1, np.int64),
    )


@cache
def adaptive_kernel(
    choose: Choose,
    recommend: Answer,
    draw_block: Callable[..., None],
) -> Callable[..., None]:
    """Return the compiled kernel (rng, order_rng, arrays, design, room, work, tally) -> None.

    The noise is known, and sums of pulls suffice.
    """
    return compile_kernel(
        make_kernel(choose, recommend, draw_block, None, None, None, estimated=False),
        choose, recommend, shuffle, draw_block,
        allocates=False,
    )  # fmt: skip


@cache
def recorded_kernel(
    choose: Choose,
    recommend: Answer,
    forget: Callable[..., None],
    add: Callable[..., None],
    look: Callable[..., None],
    *,
    estimated: bool,
    relative: bool = False,
) -> Callable[..., None]:
    """Return the compiled kernel (rng, order_rng, arrays, design, room, work, tally) -> None.

    Estimates come from a record of the pulls, and so does the noise where it is `estimated`.
    """
    return compile_kernel(
        make_kernel(
            choose, recommend, None, forget, add, look, estimated=estimated, relative=relative
        ),
        choose, recommend, shuffle, fill_pooled, fill_scales, fill_covariances,
        forget, add, look,
        fill_differences, fill_difference_covariances, fill_difference_scales, add_choice,
        allocates=False,
    )  # fmt: skip


def make_kernel(
    choose: Choose,
    recommend: Answer,
    draw_block: Any,
    forget: Any,
    add: Any,
    look: Any,
    *,
    estimated: bool,
    relative: bool = False,
) -> Callable[..., None]:
    """Return the plain kernel; `relative` limits need a record."""
    recorded = look is not None

    def kernel(
        rng: Generator,
        order_rng: Generator,
        arrays: Any,
        design: AdaptiveDesign,
        room: Room,
        work: Any,
        tally: Tally,
    ) -> None:
        arm_count, width = design.optimal.shape[0], design.scales.shape[0]
        record, sums, seen, fresh = room.record, room.sums, room.seen, room.fresh
        counts, priority = seen.counts, seen.priority
        if relative:
            estimates, covariances = room.estimates, room.covariances
        else:
            estimates, covariances = seen.estimates, seen.covariances
        baseline, factors = room.versus.place[0], room.versus.factors
        noise, block = room.noise, room.block

        for replication in range(tally.wrong.shape[0]):
            if recorded:
                forget(record)
            else:
                sums[:] = 0.0
            counts[:] = 0
            if design.shuffled:
                shuffle(order_rng, room.priorities, 0)
                for i in range(arm_count):
                    priority[i] = room.priorities[i, 0]
            left = design.budget
            fresh[:] = design.warm_up
            while left > 0:
                for i in range(arm_count):
                    if fresh[i] == 0:
                        continue
                    if recorded:
                        add(rng, arrays, i, counts[i], fresh[i], record, room.scratch)
                        look(record, i, counts[i] + fresh[i], estimates)
                    else:
                        for d in range(noise.shape[0]):
                            noise[d, 0] = rng.standard_normal()
                        draw_block(rng, arrays, noise, room.everyone, i, fresh[i], block)
                        for c in range(width):
                            sums[i, c] += block[c, 0]
                            estimates[i, c] = sums[i, c] / (counts[i] + fresh[i])
                    counts[i] += fresh[i]
                    left -= fresh[i]
                    fresh[i] = 0
                if estimated:
                    fill_pooled(room.pooled, record.scatters, counts)
                    fill_scales(seen.scales, room.pooled)
                    fill_covariances(
                        covariances, record.scatters, counts, room.pooled, estimates, design.means
                    )
                    if relative:
                        fill_difference_scales(seen.scales, seen.scales, factors)
                if relative:
                    fill_differences(seen.estimates, estimates, baseline, factors)
                    fill_difference_covariances(
                        seen.covariances, covariances, counts, baseline, factors
                    )
                size = max(design.batch, int(design.growth * (design.budget - left)))
                size = min(size, left)
                if size <= 0:
                    break
                slots = min(size, design.slots)
                uniforms, chosen = room.uniforms[:slots], room.chosen[:slots]
                for k in range(slots):
                    uniforms[k] = order_rng.random()
                    chosen[k] = -1
                seen.left[0] = left
                choose(seen, uniforms, chosen, work)
                for k in range(slots):
                    if chosen[k] < 0 or chosen[k] >= arm_count:
                        tally.misjudged[0] += 1
                        return
                    pulls = size // slots + int(k < size % slots)
                    if relative:
                        add_choice(fresh, counts, baseline, chosen[k], pulls)
                    else:
                        fresh[chosen[k]] += pulls

            answer, flag = recommend(seen, work)
            tally.flag_wrong[replication] = flag != design.feasible
            tally.wrong[replication] = not design.optimal[answer] or flag != design.feasible
            tally.chosen[answer, int(flag)] += 1
            tally.lost_in_phase[0] += not design.optimal[answer]
            for i in range(arm_count):
                tally.pulls[i] += counts[i]

    return kernel
