"""The loop over replications: phases, blocks of pulls, rejections, the answer, the tally.

One kernel is compiled for each rejection rule, law and number of attributes; the rules inside it
are the plain functions of core and policies. May touch core, policies and simulation's laws.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.gaps import apparent_best, margin
from ringfence.core.streams import Generator
from ringfence.policies.policy import Reject
from ringfence.simulation.compilation import compile_kernel


class Design(NamedTuple):
    """What stays the same over replications, as arrays.

    `phases` has a row (pulls, extra, keep) a phase; `shuffled` tells whether the order of arms
    can matter, `shared` whether dead arms are drawn too, so that policies see the same pulls;
    `blocks` is how many blocks of pulls one replication may draw.
    """

    phases: Integers
    scales: Floats
    thresholds: Floats
    optimal: Mask
    feasible: bool
    shuffled: bool
    shared: bool
    blocks: int


class Tally(NamedTuple):
    """What a chunk counted. `wrong` and `flag_wrong` have an entry a replication."""

    wrong: Mask
    flag_wrong: Mask
    lost_in_phase: Integers
    pulls: Integers


def never(
    estimates: Floats,
    counts: Integers,
    alive: Mask,
    scales: Floats,
    thresholds: Floats,
    priority: Integers,
) -> int:
    """Stand in for the rejection rule of a policy that never rejects."""
    return -1


def shuffle(rng: Generator, priority: Integers) -> None:
    """Put a uniformly random order of arms into `priority`."""
    for i in range(priority.shape[0]):
        priority[i] = i
    for i in range(priority.shape[0] - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        priority[i], priority[j] = priority[j], priority[i]


@cache
def kernel_for(
    reject: Reject | None,
    add_block: Callable[..., None],
    attribute_count: int,
    normals_per_block: int,
) -> Callable[..., None]:
    """Return the compiled kernel (rng, order_rng, arrays, design, tally) -> None."""
    rule = reject if reject is not None else never
    return compile_kernel(
        make_kernel(rule, add_block, attribute_count, normals_per_block),
        rule, add_block, apparent_best, margin, shuffle,
    )  # fmt: skip


def make_kernel(
    reject: Reject, add_block: Callable[..., None], attribute_count: int, normals_per_block: int
) -> Callable[..., None]:
    """Return the plain kernel. The two counts are constants in it, so that short loops unroll."""

    def kernel(
        rng: Generator, order_rng: Generator, arrays: Any, design: Design, tally: Tally
    ) -> None:
        phases, scales, thresholds = design.phases, design.scales, design.thresholds
        optimal, shared = design.optimal, design.shared
        arm_count = optimal.shape[0]
        optimal_count = optimal.sum()
        sums = np.zeros((arm_count, attribute_count))
        estimates = np.zeros((arm_count, attribute_count))
        counts = np.zeros(arm_count, np.int64)
        alive = np.ones(arm_count, np.bool_)
        priority = np.arange(arm_count)
        noise = np.empty((design.blocks, normals_per_block))
        for replication in range(tally.wrong.shape[0]):
            if design.shuffled:
                shuffle(order_rng, priority)
            for block in range(noise.shape[0]):
                for d in range(normals_per_block):
                    noise[block, d] = rng.standard_normal()
            left = arm_count
            optimal_left = optimal_count
            block = 0
            for phase in range(phases.shape[0]):
                extra = phases[phase, 1]
                for i in range(arm_count):
                    if phase == 0:
                        alive[i] = True
                        counts[i] = 0
                        for c in range(attribute_count):
                            sums[i, c] = 0.0
                    elif not alive[i] and not shared:
                        continue
                    pulls = phases[phase, 0]
                    if extra > 0:
                        ahead = 0
                        for j in range(arm_count):
                            ahead += (alive[j] or phase == 0) and priority[j] < priority[i]
                        pulls += ahead < extra
                    if pulls > 0:  # what a dead arm adds is never read
                        add_block(rng, arrays, noise, block, i, pulls, sums)
                        if alive[i]:
                            counts[i] += pulls
                            for c in range(attribute_count):
                                estimates[i, c] = sums[i, c] / counts[i]
                    block += 1
                while left > phases[phase, 2]:
                    out = reject(estimates, counts, alive, scales, thresholds, priority)
                    alive[out] = False
                    left -= 1
                    if optimal[out]:
                        optimal_left -= 1
                        if optimal_left == 0:
                            tally.lost_in_phase[phase] += 1
            answer = apparent_best(estimates, alive, scales, thresholds, priority)
            flag = margin(estimates, answer, scales, thresholds) <= 0.0
            if optimal_left > 0 and not optimal[answer]:
                tally.lost_in_phase[phases.shape[0] - 1] += 1
            tally.flag_wrong[replication] = flag != design.feasible
            tally.wrong[replication] = not optimal[answer] or flag != design.feasible
            for i in range(arm_count):
                tally.pulls[i] += counts[i]

    return kernel
