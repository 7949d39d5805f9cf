"""Kernels for a GPU: one replication a thread at a time, counted in the thread.

`course_kernel` runs the body of all simulations for every policy and law. `lean_kernel` is for what
must be fastest: few Gaussian arms under known noise and a phase policy of ours; see
docs/research/gpu.md.
Whatever the number of threads, replication r of a chunk draws the same numbers. What is counted is
added up in each block, and then once a block in `out`: faults of a rule, errors, wrong flags, pulls
by arm, losses by phase, answers by arm and flag.

May touch core, policies, simulation and numba-cuda.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import boolean, cuda, float64, int32, int64

from ringfence.core.gaps import apparent_best, margin
from ringfence.policies.evidence import Reject
from ringfence.simulation.gpu.compilation import device, kernel
from ringfence.simulation.gpu.draws import ORDER, PULLS, Philox, normal_pair, start

HEADER = 3  # entries of `out` before the pulls by arm
LEAN_REGISTERS = 128

_u32 = np.uint32


class Place(NamedTuple):
    """All that a thread writes in: room, the state of its course, its counts and its streams."""

    room: Any
    state: Any
    tally: Any
    words: Any
    order_words: Any


def add_up(
    block: Any,
    out: Any,
    misjudged: int,
    errors: int,
    flag_errors: int,
    pulls: Any,
    lost: Any,
    chosen: Any,
) -> None:
    """Add a thread's counts to its block's, and the block's to `out`."""
    cuda.atomic.add(block, 0, misjudged)
    cuda.atomic.add(block, 1, errors)
    cuda.atomic.add(block, 2, flag_errors)
    arm_count = pulls.shape[0]
    answers = HEADER + arm_count + lost.shape[0]
    for i in range(arm_count):
        cuda.atomic.add(block, HEADER + i, pulls[i])
        cuda.atomic.add(block, answers + 2 * i, int64(chosen[i, 0]))
        cuda.atomic.add(block, answers + 2 * i + 1, int64(chosen[i, 1]))
    for k in range(lost.shape[0]):
        cuda.atomic.add(block, HEADER + arm_count + k, lost[k])
    cuda.syncthreads()
    for place in range(cuda.threadIdx.x, block.shape[0], cuda.blockDim.x):
        cuda.atomic.add(out, place, block[place])


def clear(block: Any) -> None:
    """Begin a block's counts."""
    for place in range(cuda.threadIdx.x, block.shape[0], cuda.blockDim.x):
        block[place] = 0
    cuda.syncthreads()


def course_kernel(body: Callable[..., None], make_place: Any, width: int) -> Any:
    """Return the kernel (key, other_key, size, arrays, design, given, out) of a course.

    `body` runs the replications of a tally, here one; `make_place` copies a Place from `given`,
    and `width` is how many numbers are counted.
    """
    run = device(body)
    begin, zero, add = device(start), device(clear), device(add_up)

    def course(
        key: Any, other_key: Any, size: int, arrays: Any, design: Any, given: Any, out: Any
    ) -> None:
        block = cuda.shared.array(width, int64)
        zero(block)
        place = make_place(given)
        tally = place.tally
        rng, order_rng = Philox(place.words), Philox(place.order_words)
        errors, flag_errors = int64(0), int64(0)
        for replication in range(cuda.grid(1), size, cuda.gridsize(1)):
            begin(place.words, key, other_key, replication, PULLS)
            begin(place.order_words, key, other_key, replication, ORDER)
            tally.wrong[0], tally.flag_wrong[0] = False, False
            run(rng, order_rng, arrays, design, place.room, place.state, tally)
            errors += int64(tally.wrong[0])
            flag_errors += int64(tally.flag_wrong[0])
        add(
            block, out, tally.misjudged[0], errors, flag_errors,
            tally.pulls, tally.lost_in_phase, tally.chosen,
        )  # fmt: skip

    return kernel(course)


class Shape(NamedTuple):
    """What a lean kernel is compiled for: `keeps` are the survivors of each phase.

    `alike` tells whether all arms have the same noise.
    """

    arm_count: int
    width: int
    normals: int
    keeps: tuple[int, ...]
    alike: bool


class LeanDesign(NamedTuple):
    """What the lean kernel reads: arrays, and numbers that stay in registers.

    weights[phase] are what the earlier estimate, the mean and the noise of a block count for in
    the next estimate; totals[phase] are an arm's pulls up to then; `optimal` has a bit an arm.
    """

    weights: Any
    totals: Any
    means: Any
    factors: Any
    scales: Any
    thresholds: Any
    optimal: int
    optimal_count: int
    feasible: bool
    series: Any


@cache
def lean_kernel(reject: Reject, shape: Shape) -> Any:
    """Return the kernel (key, other_key, size, design, out) of a phase policy on few arms.

    Phases are unrolled, each with as many arms as are left, so that loops over arms are short and
    known: a rule sees survivors only, in order, which for our rules is the same.
    """
    begin = _phase(reject, shape, 0, shape.arm_count)
    zero, add = device(clear), device(add_up)
    arm_count, width, phase_count = shape.arm_count, shape.width, len(shape.keeps)
    counted = HEADER + 3 * arm_count + phase_count

    def lean(key: Any, other_key: Any, size: int, design: LeanDesign, out: Any) -> None:
        block = cuda.shared.array(counted, int64)
        zero(block)
        estimates = cuda.local.array((arm_count, width), float64)
        arms = cuda.local.array(arm_count, int32)
        pulls = cuda.local.array(arm_count, int64)
        lost = cuda.local.array(phase_count, int64)
        chosen = cuda.local.array((arm_count, 2), int32)  # one thread's replications are few
        for i in range(arm_count):
            pulls[i] = 0
            chosen[i, 0] = 0
            chosen[i, 1] = 0
        for k in range(phase_count):
            lost[k] = 0
        errors, flag_errors = int32(0), int32(0)
        for replication in range(cuda.grid(1), size, cuda.gridsize(1)):
            for i in range(arm_count):
                arms[i] = i
                for c in range(width):
                    estimates[i, c] = 0.0
            stream = key, other_key, _u32(replication)
            answer, flag = begin(
                stream, 0, arms, estimates, design, design.optimal_count, pulls, lost
            )
            for i in range(arm_count):
                if answer == i:
                    chosen[i, 0] += not flag
                    chosen[i, 1] += flag
            wrong_flag = flag != design.feasible
            flag_errors += int32(wrong_flag)
            errors += int32(wrong_flag or (design.optimal >> answer) & 1 == 0)
        add(block, out, 0, int64(errors), int64(flag_errors), pulls, lost, chosen)

    return kernel(lean, registers=LEAN_REGISTERS)


def _phase(reject: Reject, shape: Shape, number: int, slots: int) -> Any:
    """Return the function that pulls all that are left, drops arms, and runs the later phases."""
    width, normals, alike = shape.width, shape.normals, shape.alike
    pairs = (normals + 1) // 2
    rest = _drop(reject, shape, number, slots)
    pair = device(normal_pair)

    def phase(
        stream: Any,
        first: int,
        arms: Any,
        estimates: Any,
        design: LeanDesign,
        optimal_left: int,
        pulls: Any,
        lost: Any,
    ) -> tuple[int, bool]:
        key, other_key, replication = stream
        weights = design.weights
        kept, fresh, spread = weights[number, 0], weights[number, 1], weights[number, 2]
        for slot in range(slots):
            arm = arms[slot]
            own = 0 if alike else arm
            for d in range(pairs):
                draw = _u32(first + slot * pairs + d)
                x, y = pair(key, other_key, replication, draw, design.series)
                for c in range(width):
                    noise = design.factors[own, c, 2 * d] * x
                    if 2 * d + 1 < normals:
                        noise += design.factors[own, c, 2 * d + 1] * y
                    if d == 0:
                        before = kept * estimates[slot, c] + fresh * design.means[arm, c]
                    else:
                        before = estimates[slot, c]
                    estimates[slot, c] = before + spread * noise
        drawn = first + slots * pairs
        return rest(stream, drawn, arms, estimates, design, optimal_left, pulls, lost)  # type: ignore[no-any-return]

    return device(phase)


def _drop(reject: Reject, shape: Shape, number: int, slots: int) -> Any:
    """Return the function that drops one arm after a phase, or goes on when enough are gone."""
    arm_count, width = shape.arm_count, shape.width
    if slots == shape.keeps[number]:
        if number == len(shape.keeps) - 1:
            return _answer(number, slots, arm_count)
        return _phase(reject, shape, number + 1, slots)
    rest = _drop(reject, shape, number, slots - 1)
    rule = device(reject)
    fewer = slots - 1

    def drop(
        stream: Any,
        first: int,
        arms: Any,
        estimates: Any,
        design: LeanDesign,
        optimal_left: int,
        pulls: Any,
        lost: Any,
    ) -> tuple[int, bool]:
        counts = cuda.local.array(slots, int64)
        alive = cuda.local.array(slots, boolean)
        priority = cuda.local.array(slots, int64)
        fewer_arms = cuda.local.array(fewer, int32)
        fewer_estimates = cuda.local.array((fewer, width), float64)
        total = design.totals[number]
        for slot in range(slots):
            counts[slot] = total
            alive[slot] = True
            priority[slot] = slot
        gone = rule(estimates, counts, alive, design.scales, design.thresholds, priority)
        arm = arms[0]
        for slot in range(1, slots):
            if gone == slot:
                arm = arms[slot]
        for i in range(arm_count):
            if arm == i:
                pulls[i] += total
        if (design.optimal >> arm) & 1 != 0:
            optimal_left -= 1
            if optimal_left == 0:
                lost[number] += 1
        for slot in range(fewer):
            later = slot >= gone
            fewer_arms[slot] = arms[slot + 1] if later else arms[slot]
            for c in range(width):
                fewer_estimates[slot, c] = estimates[slot + 1, c] if later else estimates[slot, c]
        return rest(  # type: ignore[no-any-return]
            stream, first, fewer_arms, fewer_estimates, design, optimal_left, pulls, lost
        )

    return device(drop)


def _answer(number: int, slots: int, arm_count: int) -> Any:
    """Return the function that answers with the best-looking survivor, and with its flag."""
    best, measure = device(apparent_best), device(margin)

    def answer(
        stream: Any,
        first: int,
        arms: Any,
        estimates: Any,
        design: LeanDesign,
        optimal_left: int,
        pulls: Any,
        lost: Any,
    ) -> tuple[int, bool]:
        alive = cuda.local.array(slots, boolean)
        priority = cuda.local.array(slots, int64)
        for slot in range(slots):
            alive[slot] = True
            priority[slot] = slot
            for i in range(arm_count):
                if arms[slot] == i:
                    pulls[i] += design.totals[number]
        found = best(estimates, alive, design.scales, design.thresholds, priority)
        flag = measure(estimates, found, design.scales, design.thresholds) <= 0.0
        arm = arms[found]
        if optimal_left > 0 and (design.optimal >> arm) & 1 == 0:
            lost[number] += 1
        return arm, flag

    return device(answer)
