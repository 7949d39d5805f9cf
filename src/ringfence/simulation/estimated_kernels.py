"""The loop over replications of a phase policy that estimates the noise from its pulls.

As in `kernels`, but one replication after the other, with the scatter of the pulls beside their
sums, and with scales renewed after every phase. May touch core, policies and simulation's laws.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.gaps import apparent_best, margin
from ringfence.core.noise import Moments, fill_pooled, fill_scales, no_moments
from ringfence.core.streams import Generator
from ringfence.policies.policy import Reject
from ringfence.simulation.compilation import compile_kernel
from ringfence.simulation.kernels import Design, Tally, never, shuffle


class Room(NamedTuple):
    """The arrays of one replication, used again by the next."""

    moments: Moments
    pooled: Floats
    scales: Floats
    estimates: Floats
    counts: Integers
    alive: Mask
    priorities: Integers
    priority: Integers
    scratch: Floats


def make_room(arm_count: int, width: int) -> Room:
    """Return the arrays that the kernel writes in."""
    return Room(
        moments=no_moments(arm_count, width),
        pooled=np.zeros((width, width)),
        scales=np.ones(width),
        estimates=np.zeros((arm_count, width)),
        counts=np.zeros(arm_count, np.int64),
        alive=np.ones(arm_count, np.bool_),
        priorities=np.zeros((arm_count, 1), np.int64),
        priority=np.arange(arm_count),
        scratch=np.zeros((width + 2, width)),
    )


def is_early(arm: int, places: int, alive: Mask, priority: Integers) -> bool:
    """Tell whether a survivor is among the first `places` survivors in priority."""
    ahead = 0
    for j in range(alive.shape[0]):
        ahead += alive[j] and priority[j] < priority[arm]
    return ahead < places


def estimated_kernel(
    reject: Reject | None, draw_moments: Callable[..., None]
) -> Callable[..., None]:
    """Return the compiled kernel (rng, order_rng, arrays, design, room, tally) -> None."""
    return _compiled(reject if reject is not None else never, draw_moments)


@cache
def _compiled(reject: Reject, draw_moments: Callable[..., None]) -> Callable[..., None]:
    return compile_kernel(
        make_kernel(reject, draw_moments),
        reject, draw_moments, apparent_best, margin, shuffle, is_early, fill_pooled, fill_scales,
        allocates=False,
    )  # fmt: skip


def make_kernel(reject: Reject, draw_moments: Callable[..., None]) -> Callable[..., None]:
    """Return the plain kernel."""

    def kernel(
        rng: Generator,
        order_rng: Generator,
        arrays: Any,
        design: Design,
        room: Room,
        tally: Tally,
    ) -> None:
        moments, scales, thresholds = room.moments, room.scales, design.thresholds
        sums, estimates, counts = moments.sums, room.estimates, room.counts
        alive, priority = room.alive, room.priority
        arm_count, width = estimates.shape

        for replication in range(tally.wrong.shape[0]):
            sums[:] = 0.0
            moments.centres[:] = 0.0
            moments.scatters[:] = 0.0
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
                        draw_moments(rng, arrays, i, counts[i], pulls, moments, room.scratch)
                    counts[i] += pulls
                    for c in range(width):
                        estimates[i, c] = sums[i, c] / counts[i]
                fill_pooled(room.pooled, moments.scatters, counts)
                fill_scales(scales, room.pooled)
                for _ in range(left - design.phases[phase, 2]):
                    out = reject(estimates, counts, alive, scales, thresholds, priority)
                    if out < 0 or out >= arm_count or not alive[out]:
                        tally.misjudged[0] += 1
                        return
                    alive[out] = False
                    if design.optimal[out]:
                        optimal_left -= 1
                        if optimal_left == 0:
                            tally.lost_in_phase[phase] += 1
                left = design.phases[phase, 2]

            answer = apparent_best(estimates, alive, scales, thresholds, priority)
            flag = margin(estimates, answer, scales, thresholds) <= 0.0
            if optimal_left > 0 and not design.optimal[answer]:
                tally.lost_in_phase[-1] += 1
            tally.flag_wrong[replication] = flag != design.feasible
            tally.wrong[replication] = not design.optimal[answer] or flag != design.feasible
            for i in range(arm_count):
                tally.pulls[i] += counts[i]

    return kernel
