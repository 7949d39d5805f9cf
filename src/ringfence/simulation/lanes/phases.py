"""A fast path for policies with phases: many replications side by side.

It is for the best feasible arm, and known noise where sums of pulls suffice. One kernel is compiled
for each rejection rule, law and shape; the rules inside it are the plain functions of core and
policies. Replications run in lanes, a batch at a time, because many replications side by side are
what vector units are good at: for sums and estimates, and for a rule that is written like those of
core/gaps.py. May touch core, policies and simulation.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.gaps import leader
from ringfence.core.streams import Generator
from ringfence.policies.evidence import Reject
from ringfence.simulation.compilation import compile_kernel
from ringfence.simulation.course import shuffle
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.tally import Tally, errs

UNROLLED_ARMS = 8
MOST_LANES = 64
_LANE_WORK = 2**10
_LEAST_LANES = 8


class Design(NamedTuple):
    """What stays the same over replications, as arrays.

    `phases` has a row (pulls, extra, keep) a phase; `shuffled` tells whether the order of arms
    can matter, `shared` whether dead arms are drawn too, so that policies see the same pulls;
    `lanes` is how many replications run side by side.
    """

    phases: Integers
    scales: Floats
    thresholds: Floats
    optimal: Mask
    feasible: bool
    shuffled: bool
    shared: bool
    lanes: int


def suits(experiment: Experiment) -> bool:
    """Tell whether an experiment can run in these lanes."""
    asked = experiment.question.is_like(BEST_FEASIBLE)
    return asked and experiment.policy.has_phases and not experiment.is_recorded


def lanes_of(experiment: Experiment) -> int:
    """Return how many replications run side by side: fewer where arms are many, to stay in cache.

    Chunks have at least as many replications, whatever runs them.
    """
    return max(_LEAST_LANES, min(MOST_LANES, _LANE_WORK // len(experiment.instance.arms)))


def run(experiment: Experiment, streams: tuple[Generator, Generator], tally: Tally) -> None:
    """Run the replications of a tally."""
    law, design = experiment.instance.law, experiment.design
    kernel = kernel_for(
        experiment.course.rule,
        law.draw_block,
        arm_count=len(design.optimal),
        attribute_count=len(design.scales),
        normals=law.normals,
    )
    kernel(*streams, law.arrays, design_of(experiment), tally)


def design_of(experiment: Experiment) -> Design:
    """Return an experiment as arrays."""
    design = experiment.design
    return Design(
        phases=np.array(experiment.phases, dtype=np.int64),
        scales=design.scales,
        thresholds=design.thresholds,
        optimal=design.optimal,
        feasible=design.feasible,
        shuffled=design.shuffled,
        shared=experiment.shared,
        lanes=lanes_of(experiment),
    )


def comes_early(arm: int, lane: int, places: int, alive: Mask, priorities: Integers) -> bool:
    """Tell whether an arm survives and is among the first `places` survivors in priority."""
    ahead = 0
    for j in range(priorities.shape[0]):
        ahead += alive[j, lane] and priorities[j, lane] < priorities[arm, lane]
    return alive[arm, lane] and ahead < places


def kernel_for(
    reject: Reject,
    draw_block: Callable[..., None],
    *,
    arm_count: int,
    attribute_count: int,
    normals: int,
) -> Callable[..., None]:
    """Return the compiled kernel (rng, order_rng, arrays, design, tally) -> None."""
    few = arm_count if arm_count <= UNROLLED_ARMS else 0
    return _compiled(reject, draw_block, few, attribute_count, normals)


@cache
def _compiled(
    reject: Reject, draw_block: Callable[..., None], few: int, attribute_count: int, normals: int
) -> Callable[..., None]:
    return compile_kernel(make_kernel(reject, draw_block, few, attribute_count, normals))


def make_kernel(
    reject: Reject, draw_block: Callable[..., None], few: int, attribute_count: int, normals: int
) -> Callable[..., None]:
    """Return the plain kernel; the counts are constants in it, so that short loops unroll.

    `few` is the number of arms where that is small, and 0 where it is not worth a kernel.
    """

    def kernel(
        rng: Generator, order_rng: Generator, arrays: Any, design: Design, tally: Tally
    ) -> None:
        phases, scales, thresholds = design.phases, design.scales, design.thresholds
        optimal, shared, shuffled = design.optimal, design.shared, design.shuffled
        arm_count = few if few > 0 else optimal.shape[0]
        lanes = MOST_LANES if few > 0 else design.lanes
        replications = tally.wrong.shape[0]
        # Side by side: [arm, attribute, lane].
        sums = np.empty((arm_count, attribute_count, lanes))
        means = np.empty((arm_count, attribute_count, lanes))
        counts = np.empty((arm_count, lanes), np.int64)
        survives = np.empty((arm_count, lanes), np.bool_)
        priorities = np.empty((arm_count, lanes), np.int64)
        for i in range(arm_count):
            priorities[i] = i
        dropped = np.empty(lanes, np.int64)
        optimal_left = np.empty(lanes, np.int64)
        answers = np.empty(lanes, np.int64)
        margins = np.empty(lanes)
        noise = np.empty((normals, lanes))
        block = np.empty((attribute_count, lanes))
        everyone = np.ones((arm_count, lanes), np.bool_)
        early = np.empty((arm_count, lanes), np.bool_)

        for first in range(0, replications, lanes):
            sums[:] = 0.0
            counts[:] = 0
            survives[:] = True
            optimal_left[:] = optimal.sum()
            if shuffled:
                for lane in range(lanes):
                    shuffle(order_rng, priorities, lane)

            left = arm_count
            for phase in range(phases.shape[0]):
                extra, keep = phases[phase, 1], phases[phase, 2]
                for step in range(2 if extra > 0 else 1):
                    if step == 1:
                        for i in range(arm_count):
                            for lane in range(lanes):
                                early[i, lane] = comes_early(i, lane, extra, survives, priorities)
                    counted = survives if step == 0 else early
                    drawn = everyone if shared else counted
                    pulls = phases[phase, 0] if step == 0 else 1
                    for i in range(arm_count):
                        some = False
                        for lane in range(lanes):
                            some |= drawn[i, lane]
                        if not some or pulls == 0:
                            continue
                        for d in range(normals):
                            for lane in range(lanes):
                                noise[d, lane] = rng.standard_normal()
                        draw_block(rng, arrays, noise, drawn, i, pulls, block)
                        for lane in range(lanes):
                            counts[i, lane] += pulls if counted[i, lane] else 0
                        for c in range(attribute_count):
                            for lane in range(lanes):
                                sums[i, c, lane] += block[c, lane] if counted[i, lane] else 0.0
                                means[i, c, lane] = sums[i, c, lane] / counts[i, lane]

                for _ in range(left - keep):
                    for lane in range(lanes):  # nothing else in here, so that it vectorises
                        dropped[lane] = reject(
                            means[:, :, lane], counts[:, lane], survives[:, lane],
                            scales, thresholds, priorities[:, lane],
                        )  # fmt: skip
                    for lane in range(lanes):
                        out = dropped[lane]
                        if out < 0 or out >= arm_count or not survives[out, lane]:
                            tally.misjudged[0] += 1
                            continue
                        survives[out, lane] = False
                        if optimal[out]:
                            optimal_left[lane] -= 1
                            if optimal_left[lane] == 0 and first + lane < replications:
                                tally.lost_in_phase[phase] += 1
                left = keep

            for lane in range(lanes):
                answers[lane], _, margins[lane] = leader(
                    means[:, :, lane], survives[:, lane], scales, thresholds, priorities[:, lane]
                )
            for lane in range(min(lanes, replications - first)):
                answer, flag = answers[lane], margins[lane] <= 0.0
                # As `judge` does; but handing a tuple of arrays on, here, made it twice as slow.
                if optimal_left[lane] > 0 and not optimal[answer]:
                    tally.lost_in_phase[phases.shape[0] - 1] += 1
                tally.flag_wrong[first + lane] = flag != design.feasible
                tally.wrong[first + lane] = errs(optimal[answer], flag, design.feasible)
                tally.chosen[answer, int(flag)] += 1
            for i in range(arm_count):
                for lane in range(min(lanes, replications - first)):
                    tally.pulls[i] += counts[i, lane]

    return kernel
