"""The loop over replications of a phase policy where sums of pulls do not suffice.

As in `kernels`, but one replication after the other, with a record of the pulls in place of their
sums: because the noise is estimated, with scales renewed after every phase, because attributes
are no means, or because limits are relative to a baseline, so that what the rules see are
differences. May touch core, policies and simulation's laws.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.baseline import Versus, fill_difference_scales, fill_differences, sparing
from ringfence.core.gaps import apparent_best, margin
from ringfence.core.noise import fill_pooled, fill_scales
from ringfence.core.streams import Generator
from ringfence.policies.policy import Reject
from ringfence.simulation.compilation import compile_kernel
from ringfence.simulation.kernels import Design, Tally, never, shuffle
from ringfence.simulation.records import Recording


class Room(NamedTuple):
    """The arrays of one replication, used again by the next.

    `differences` are what estimates are beyond the baseline, where limits are relative to one, as
    `versus` says. It is not in the design: kernels with lanes, which share that, took 4% longer.
    """

    record: Any
    pooled: Floats
    scales: Floats
    estimates: Floats
    counts: Integers
    alive: Mask
    priorities: Integers
    priority: Integers
    scratch: Floats
    differences: Floats
    versus: Versus


def make_room(design: Design, recording: Recording, most_pulls: int, versus: Versus) -> Room:
    """Return the arrays that the kernel writes in; no arm is pulled more than `most_pulls`."""
    arm_count, width = len(design.optimal), len(design.scales)
    return Room(
        record=recording.make(arm_count, most_pulls),
        pooled=np.zeros((width, width)),
        scales=design.scales.copy(),
        estimates=np.zeros((arm_count, width)),
        counts=np.zeros(arm_count, np.int64),
        alive=np.ones(arm_count, np.bool_),
        priorities=np.zeros((arm_count, 1), np.int64),
        priority=np.arange(arm_count),
        scratch=np.zeros((width + 2, width)),
        differences=np.zeros((arm_count, width) if versus.is_relative else (1, 1)),
        versus=versus,
    )


def is_early(arm: int, places: int, alive: Mask, priority: Integers) -> bool:
    """Tell whether a survivor is among the first `places` survivors in priority."""
    ahead = 0
    for j in range(alive.shape[0]):
        ahead += alive[j] and priority[j] < priority[arm]
    return ahead < places


def recorded_kernel(
    reject: Reject | None, recording: Recording, *, estimated: bool, relative: bool = False
) -> Callable[..., None]:
    """Return the compiled kernel (rng, order_rng, arrays, design, room, tally) -> None."""
    return _compiled(
        reject if reject is not None else never,
        recording.forget,
        recording.add,
        recording.look,
        estimated=estimated,
        relative=relative,
    )


@cache
def _compiled(
    reject: Reject,
    forget: Callable[..., None],
    add: Callable[..., None],
    look: Callable[..., None],
    *,
    estimated: bool,
    relative: bool,
) -> Callable[..., None]:
    return compile_kernel(
        make_kernel(reject, forget, add, look, estimated=estimated, relative=relative),
        reject, forget, add, look, apparent_best, margin, shuffle, is_early,
        fill_pooled, fill_scales, sparing(reject), fill_differences, fill_difference_scales,
        allocates=False,
    )  # fmt: skip


def make_kernel(
    reject: Reject,
    forget: Callable[..., None],
    add: Callable[..., None],
    look: Callable[..., None],
    *,
    estimated: bool,
    relative: bool = False,
) -> Callable[..., None]:
    """Return the plain kernel."""
    spare = sparing(reject)

    def kernel(
        rng: Generator,
        order_rng: Generator,
        arrays: Any,
        design: Design,
        room: Room,
        tally: Tally,
    ) -> None:
        record, scales, thresholds = room.record, room.scales, design.thresholds
        estimates, counts = room.estimates, room.counts
        alive, priority = room.alive, room.priority
        arm_count = estimates.shape[0]
        judged = room.differences if relative else estimates
        baseline, factors = room.versus.place[0], room.versus.factors

        for replication in range(tally.wrong.shape[0]):
            forget(record)
            counts[:] = 0
            alive[:] = True
            shuffle(order_rng, room.priorities, 0)
            for i in range(arm_count):
                priority[i] = room.priorities[i, 0]
            optimal_left = 0
            for i in range(arm_count):
                optimal_left += design.optimal[i]

            left = arm_count
            for phase in range(design.phases.shape[0]):
                for i in range(arm_count):
                    if not alive[i]:
                        continue
                    pulls = design.phases[phase, 0]
                    pulls += is_early(i, design.phases[phase, 1], alive, priority)
                    if pulls > 0:
                        add(rng, arrays, i, counts[i], pulls, record, room.scratch)
                        counts[i] += pulls
                        look(record, i, counts[i], estimates)
                if estimated:
                    fill_pooled(room.pooled, record.scatters, counts)
                    fill_scales(scales, room.pooled)
                    if relative:
                        fill_difference_scales(scales, scales, factors)
                if relative:
                    fill_differences(judged, estimates, baseline, factors)
                for _ in range(left - design.phases[phase, 2]):
                    if relative:
                        out = spare(judged, counts, alive, scales, thresholds, priority, baseline)
                    else:
                        out = reject(judged, counts, alive, scales, thresholds, priority)
                    if out < 0 or out >= arm_count or not alive[out]:
                        tally.misjudged[0] += 1
                        return
                    alive[out] = False
                    if design.optimal[out]:
                        optimal_left -= 1
                        if optimal_left == 0:
                            tally.lost_in_phase[phase] += 1
                left = design.phases[phase, 2]

            answer = apparent_best(judged, alive, scales, thresholds, priority)
            flag = margin(judged, answer, scales, thresholds) <= 0.0
            if optimal_left > 0 and not design.optimal[answer]:
                tally.lost_in_phase[-1] += 1
            tally.flag_wrong[replication] = flag != design.feasible
            tally.wrong[replication] = not design.optimal[answer] or flag != design.feasible
            tally.chosen[answer, int(flag)] += 1
            for i in range(arm_count):
                tally.pulls[i] += counts[i]

    return kernel
