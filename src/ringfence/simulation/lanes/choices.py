"""A fast path for policies that can choose for many replications side by side.

All replications are as far as each other at any time, because a batch is as long in each: only
which arms are pulled differs. So sums and draws go replication by replication, and the choice goes
lane by lane, as vector units like it. For the best feasible arm, batches that are decided whole,
and known noise where sums of pulls suffice; the policy says what else it needs. May touch core,
policies and simulation.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.streams import Generator
from ringfence.policies.evidence import Evidence
from ringfence.policies.groups import KNOWN_PART, is_cut
from ringfence.simulation.compilation import compile_kernel
from ringfence.simulation.course import Design, no_evidence, shuffle
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.lanes import top_two
from ringfence.simulation.lanes.rules import PULLS, RANK, LaneRule
from ringfence.simulation.tally import Tally, judge_of

LANES = 64
_WIDTH = 2  # an objective and a constraint
_MOST_WORK = 2**26  # of a choice times the arms: beyond, a chunk has too few replications
_RULES = {rule.alike: rule for rule in (top_two.RULE,)}


def suits(experiment: Experiment) -> bool:
    """Tell whether an experiment can run in these lanes."""
    asked = experiment.question.is_like(BEST_FEASIBLE)
    whole = asked and decides_whole(experiment)
    return whole and fills_lanes(experiment) and rule_of(experiment) is not None


def decides_whole(experiment: Experiment) -> bool:
    """Tell whether no batch is decided in groups, for which lanes have no room.

    Beside what is known a batch of one size is largest at first. One that grows is at most a part
    of what is known, and no more than what is left.
    """
    known, largest = experiment.warm_up * len(experiment.instance.arms), experiment.batch
    growth = experiment.growth
    if growth * KNOWN_PART > 1.0:
        largest = max(largest, int(growth / (1.0 + growth) * experiment.allowance.pulls))
    return not is_cut(known, largest)


def rule_of(experiment: Experiment) -> LaneRule | None:
    """Return what chooses as the policy does, for many replications under its noise, if any."""
    rule = _RULES.get(experiment.course.rule)
    suitable = rule is not None and rule.suits(experiment.design.covariances)
    return rule if suitable else None


def fills_lanes(experiment: Experiment) -> bool:
    """Tell whether as many replications as there are lanes make a chunk, and sums suffice."""
    work = experiment.choices * (4 + len(experiment.instance.arms))
    return not experiment.is_recorded and LANES * work <= _MOST_WORK


def run(experiment: Experiment, streams: tuple[Generator, Generator], tally: Tally) -> None:
    """Run the replications of a tally."""
    law, design, course = experiment.instance.law, experiment.design, experiment.course
    rule = rule_of(experiment)
    if rule is None:
        raise ValueError(f"no lanes suit {experiment.policy.name!r}")
    kernel = lane_kernel(rule, course.answer, law.draw_block, law.normals)
    room = make_room(design, rule, law.normals)
    kernel(*streams, law.arrays, design, room, experiment.new_state(), tally)


class Room(NamedTuple):
    """The arrays of as many replications as there are lanes, used again by the next ones.

    `arms` [arm, row, lane] and `front` [row, lane] are what the policy sees and writes in;
    `places` lists the arms and lanes that are pulled; `seen` is a single lane's evidence.
    """

    arms: Floats
    front: Floats
    sums: Floats
    fresh: Integers
    places: Integers
    priorities: Integers
    uniforms: Floats
    chosen: Integers
    noise: Floats
    everyone: Mask
    block: Floats
    seen: Evidence
    marked: Mask


def make_room(design: Design, rule: LaneRule, normals: int) -> Room:
    """Return the arrays that the kernel writes in."""
    arm_count = len(design.optimal)
    return Room(
        arms=np.zeros((arm_count, rule.arm_rows, LANES)),
        front=np.zeros((rule.front_rows, LANES)),
        sums=np.zeros((arm_count, _WIDTH, LANES)),
        fresh=np.zeros((arm_count, LANES), np.int64),
        places=np.zeros(arm_count * LANES + 1, np.int64),
        priorities=np.repeat(np.arange(arm_count)[:, None], LANES, axis=1),
        uniforms=np.zeros((design.slots, LANES)),
        chosen=np.zeros((design.slots, LANES), np.int64),
        noise=np.zeros((normals, 1)),
        everyone=np.ones((arm_count, 1), np.bool_),
        block=np.zeros((_WIDTH, 1)),
        seen=no_evidence(design),
        marked=np.zeros(arm_count, np.bool_),
    )


@cache
def lane_kernel(
    rule: LaneRule, recommend: Callable[..., Any], draw_block: Callable[..., None], normals: int
) -> Callable[..., None]:
    """Return the compiled kernel (rng, order_rng, arrays, design, room, state, tally) -> None."""
    return compile_kernel(
        make_kernel(rule.choose, recommend, draw_block, rule.arm_rows, normals), allocates=False
    )


def make_kernel(
    choose: Callable[..., None],
    recommend: Callable[..., Any],
    draw_block: Callable[..., None],
    rows: int,
    normals: int,
) -> Callable[..., None]:
    """Return the plain kernel; `rows` of an arm and `normals` of a draw are constants in it."""
    judge = judge_of(BEST_FEASIBLE)

    def kernel(
        rng: Generator,
        order_rng: Generator,
        arrays: Any,
        design: Design,
        room: Room,
        state: Any,
        tally: Tally,
    ) -> None:
        arms, front, fresh, places, seen = room.arms, room.front, room.fresh, room.places, room.seen
        sums, noise, block = room.sums, room.noise, room.block
        # With constant sizes the compiler sees that rows do not overlap, and unrolls short loops.
        if (
            arms.shape[1] != rows or arms.shape[2] != LANES or front.shape[1] != LANES
            or sums.shape[1] != _WIDTH or sums.shape[2] != LANES or fresh.shape[1] != LANES
            or noise.shape[0] != normals or noise.shape[1] != 1
            or block.shape[0] != _WIDTH or block.shape[1] != 1
        ):  # fmt: skip
            tally.misjudged[0] += 1  # so that nothing is taken for counted
            return
        arm_count, replications = arms.shape[0], tally.wrong.shape[0]
        for first in range(0, replications, LANES):
            sums[:] = 0.0
            fresh[:] = design.warm_up
            for lane in range(LANES):
                if design.shuffled:
                    shuffle(order_rng, room.priorities, lane)
                for i in range(arm_count):
                    arms[i, PULLS, lane] = 0.0
                    arms[i, RANK, lane] = room.priorities[i, lane]
            left = design.budget - arm_count * design.warm_up
            while True:
                for place in range(list_pulled(fresh, places)):
                    i = places[place] // LANES
                    lane = places[place] - i * LANES
                    for d in range(normals):
                        noise[d, 0] = rng.standard_normal()
                    draw_block(rng, arrays, noise, room.everyone, i, fresh[i, lane], block)
                    arms[i, PULLS, lane] += fresh[i, lane]
                    fresh[i, lane] = 0
                    for c in range(_WIDTH):
                        sums[i, c, lane] += block[c, 0]
                        arms[i, c, lane] = sums[i, c, lane] / arms[i, PULLS, lane]
                size = max(design.batch, int(design.growth * (design.budget - left)))
                size = min(size, left)
                if size <= 0:
                    break
                slots = min(size, design.slots)
                uniforms, chosen = room.uniforms[:slots], room.chosen[:slots]
                for k in range(slots):
                    for lane in range(LANES):
                        uniforms[k, lane] = order_rng.random()
                choose(
                    arms, front, design.covariances, design.scales, design.thresholds, left,
                    uniforms, chosen,
                )  # fmt: skip
                for k in range(slots):
                    pulls = size // slots + int(k < size % slots)
                    for lane in range(LANES):
                        fresh[chosen[k, lane], lane] += pulls
                left -= size

            for lane in range(min(LANES, replications - first)):
                for i in range(arm_count):
                    seen.counts[i] = int(arms[i, PULLS, lane])
                    seen.priority[i] = room.priorities[i, lane]
                    tally.pulls[i] += seen.counts[i]
                    for c in range(_WIDTH):
                        seen.estimates[i, c] = arms[i, c, lane]
                _, flag = recommend(seen, state, room.marked)
                judge(tally, first + lane, room.marked, flag, design.optimal, design.feasible, -1)

    return kernel


def list_pulled(fresh: Integers, places: Integers) -> int:
    """List the places of `fresh` that have pulls, and return how many they are.

    Without a jump at each place, which a processor would have to guess.
    """
    found = 0
    for i in range(fresh.shape[0]):
        for lane in range(fresh.shape[1]):
            places[found] = i * fresh.shape[1] + lane
            found += int(fresh[i, lane] > 0)
    return found
