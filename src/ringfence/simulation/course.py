"""The body of all simulations: replications of a policy's course, one after the other.

Whatever the policy, the law and the machine, one replication is this: pull the arms that the course
asks for and look at them, in their order; estimate the noise, where it is not known; take
differences, where limits are relative to a baseline; let the course decide; and judge its answer,
as its question says. A recording says how pulls are drawn and remembered. `cpu` compiles this body,
the engine for GPUs gives one replication to each thread, and `reference` runs it as it is. May
touch core, policies and simulation's recordings.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.allowance import keep_paid
from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.baseline import (
    fill_difference_covariances,
    fill_difference_scales,
    fill_differences,
)
from ringfence.core.exhausting import keep_open
from ringfence.core.noise import fill_covariances, fill_pooled, fill_scales
from ringfence.core.settling import forget_proof
from ringfence.core.sharing import (
    ENDLESS_ROOM,
    fill_difference_roots,
    fill_own,
    fill_rooms,
    fill_sharing,
    no_sharing,
    sharing_work,
)
from ringfence.core.streams import Generator
from ringfence.core.variances import LogVariances, no_log_variances
from ringfence.policies.course import Course
from ringfence.policies.evidence import Evidence
from ringfence.simulation.learning import extremes, fill_further, keep_room, settle
from ringfence.simulation.records import Recording
from ringfence.simulation.tally import Tally, judge_of

NO_AMOUNTS: Integers = np.zeros(0, np.int64)
NO_AMOUNTS.flags.writeable = False


class Design(NamedTuple):
    """What stays the same over replications.

    `budget` is an amount, and `prices` by arm what a pull takes of it: the `cheapest` and the
    `dearest`, and in `total` one of each. `scales` and `covariances` are those of known noise;
    estimated noise overwrites copies of them. `means` tells which attributes are means, `shuffled`
    whether the order of arms can matter. Batches are of `batch` pulls, or of the share `growth` of
    the pulls so far if that is more; a batch is decided in at most `slots` choices, each of which
    may stand for several pulls. A course without choices has no slots. There are `blocks` that arms
    share, or 0 where they are endless or there are none.

    Where prices are learned, `unstated` has a 0 for each arm, of which nothing is known before;
    `rations` are what may be spent by the end of each phase; `most` the pulls that an arm's record
    has room for; and a round that nothing chooses has `step` pulls of each, or as many as arms had.
    """

    warm_up: int
    budget: int
    prices: Integers
    cheapest: int
    dearest: int
    total: int
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
    blocks: int = 0
    unstated: Integers = NO_AMOUNTS
    rations: Integers = NO_AMOUNTS
    most: int = 0
    step: int = 1


class Room(NamedTuple):
    """The arrays of one replication, used again by the next.

    Where limits are relative to a baseline, `factors` are its multiples in them; `seen` holds
    differences then, and `estimates` and `covariances` are those of the arms themselves. Where arms
    share blocks, `covariances` are theirs of one pull, and `sharing` is a `SharingWork`. `marked`
    are the arms of the answer, `everyone` are all.
    """

    record: Any
    pooled: Floats
    log_variances: LogVariances
    seen: Evidence
    priorities: Integers
    fresh: Integers
    uniforms: Floats
    scratch: Floats
    estimates: Floats
    covariances: Floats
    factors: Floats
    marked: Mask
    everyone: Mask
    sharing: Any = None
    prices: Integers = NO_AMOUNTS
    reserves: Integers = NO_AMOUNTS
    rooms: Integers = NO_AMOUNTS


def make_room(
    design: Design,
    recording: Recording,
    most_pulls: int,
    *,
    baseline: int | None = None,
    factors: Floats | None = None,
    shares: bool = False,
    learns: bool = False,
) -> Room:
    """Return the arrays that the body writes in; no arm is pulled more than `most_pulls`."""
    arm_count, width = len(design.optimal), len(design.scales)
    relative = baseline is not None
    return Room(
        record=recording.make(arm_count, most_pulls),
        pooled=np.zeros((width, width)),
        log_variances=no_log_variances(arm_count, width),
        seen=no_evidence(design, baseline, shares=shares),
        priorities=np.zeros((arm_count, 1), np.int64),
        fresh=np.zeros(arm_count, np.int64),
        uniforms=np.zeros(design.slots),
        scratch=np.zeros((width + 2, width)),
        estimates=np.zeros((arm_count, width) if relative else (1, 1)),
        covariances=design.covariances.copy() if relative or shares else np.zeros((1, 1, 1)),
        factors=np.zeros(width - 1) if factors is None else factors,
        marked=np.zeros(arm_count, np.bool_),
        everyone=np.ones(arm_count, np.bool_),
        sharing=sharing_work(arm_count, width) if shares else None,
        prices=np.zeros(arm_count if learns else 0, np.int64),
        reserves=np.zeros(arm_count if learns else 0, np.int64),
        rooms=np.full(arm_count if learns else 0, ENDLESS_ROOM),
    )


def no_evidence(design: Design, baseline: int | None = None, *, shares: bool = False) -> Evidence:
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
        left=np.zeros(1),
        baseline=np.array([-1 if baseline is None else baseline]),
        prices=design.prices * arm_count / design.total,
        sharing=no_sharing(arm_count, width) if shares else None,
    )


def shuffle(rng: Generator, priorities: Integers, lane: int) -> None:
    """Put a uniformly random order of arms into a lane of `priorities`."""
    for i in range(priorities.shape[0]):
        priorities[i, lane] = i
    for i in range(priorities.shape[0] - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        kept = priorities[i, lane]
        priorities[i, lane] = priorities[j, lane]
        priorities[j, lane] = kept


def make_body(
    course: Course,
    forget: Callable[..., None],
    add: Callable[..., None],
    look: Callable[..., None],
    *,
    estimated: bool,
    relative: bool,
    shares: bool = False,
    proves: bool = False,
    learns: bool = False,
) -> Callable[..., None]:
    """Return the body (rng, order_rng, arrays, design, room, state, tally) -> None.

    It runs as many replications as the tally has room for; `rng` draws pulls, `order_rng` all else.
    `forget`, `add` and `look` are those of a recording. One that `proves` has a course that ends
    when its answer is proven. One that `learns` is told what pulls cost, by a record that is paid.
    """
    begin, decide, answer = course.begin, course.decide, course.answer
    chooses, drops, question = course.chooses, not course.chooses, course.question
    settles, is_lost, looks_so = question.settles, question.is_lost, question.answer
    judge = judge_of(question)

    def body(
        rng: Generator,
        order_rng: Generator,
        arrays: Any,
        design: Design,
        room: Room,
        state: Any,
        tally: Tally,
    ) -> None:
        record, seen, fresh, optimal = room.record, room.seen, room.fresh, design.optimal
        counts, alive, priority = seen.counts, seen.alive, seen.priority
        arm_count, prices = optimal.shape[0], design.prices
        baseline, factors, marked = seen.baseline[0], room.factors, room.marked
        if relative:
            estimates, covariances = room.estimates, room.covariances
        elif shares:
            estimates, covariances = seen.estimates, room.covariances
        else:
            estimates, covariances = seen.estimates, seen.covariances
        rooms = seen.sharing.rooms if shares else room.rooms

        for replication in range(tally.wrong.shape[0]):
            forget(record)
            if proves:
                forget_proof(seen.proof)
            room.log_variances.counts[:] = -1
            counts[:] = 0
            if drops:
                alive[:] = True
            if design.shuffled:
                shuffle(order_rng, room.priorities, 0)
                for i in range(arm_count):
                    priority[i] = room.priorities[i, 0]
            state.faults[0] = 0
            begin(seen, state, fresh)
            if shares:
                fill_rooms(seen.sharing, counts, design.blocks)
                keep_open(fresh, seen.sharing.rooms, alive, priority, prices, 0)
            pulled, spent, gone, lost_in, goes_on = 0, 0, 0, -1, True
            cheapest, dearest, total = design.cheapest, design.dearest, design.total
            first, opens = fresh[0], True
            if learns:
                settle(seen.prices, room.prices, room.reserves, record.paid, design.unstated)
                fresh[:] = 0
                if chooses:
                    goal, ration = first, design.budget
                else:
                    goal, ration = design.most, design.rations[0]
                fill_further(
                    fresh, counts, alive, priority, rooms, room.marked, room.prices,
                    room.reserves, design.step, goal, ration, design.budget, spent,
                )  # fmt: skip
            while goes_on:
                for i in range(arm_count):
                    if fresh[i] == 0:
                        continue
                    add(rng, arrays, i, counts[i], fresh[i], record, room.scratch)
                    look(record, i, counts[i] + fresh[i], estimates)
                    counts[i] += fresh[i]
                    pulled += fresh[i]
                    if not learns:
                        spent += prices[i] * fresh[i]
                    fresh[i] = 0
                if learns:
                    spent = settle(
                        seen.prices, room.prices, room.reserves, record.paid, design.unstated
                    )
                    prices = room.reserves
                    cheapest, dearest, total = extremes(room.prices, prices, alive)
                    if shares:
                        fill_rooms(seen.sharing, counts, design.blocks)
                    if not chooses:
                        ration = design.rations[state.phase[0]]
                    if opens and fill_further(
                        fresh,
                        counts,
                        alive,
                        priority,
                        rooms,
                        room.marked,
                        room.prices,
                        room.reserves,
                        design.step,
                        goal,
                        ration,
                        design.budget,
                        spent,
                    ):
                        continue
                    opens = not chooses
                if estimated:
                    fill_pooled(room.pooled, record.scatters, counts)
                    fill_scales(seen.scales, room.pooled)
                    if chooses:
                        fill_covariances(
                            covariances, record.scatters, counts, room.pooled, estimates,
                            design.means, room.log_variances,
                        )  # fmt: skip
                    if relative:
                        fill_difference_scales(seen.scales, seen.scales, factors)
                if shares:
                    fill_rooms(seen.sharing, counts, design.blocks)
                    if chooses:
                        fill_sharing(
                            seen.sharing, estimates, covariances, record.common, priority,
                            design.blocks, room.sharing,
                        )  # fmt: skip
                if relative:
                    fill_differences(seen.estimates, estimates, baseline, factors)
                    if chooses and shares:
                        fill_difference_roots(seen.sharing, baseline, factors)
                    elif chooses:
                        fill_difference_covariances(
                            seen.covariances, covariances, counts, baseline, factors
                        )
                if shares and chooses:
                    fill_own(seen.covariances, seen.sharing, counts)

                left, size, uniforms = design.budget - spent, 0, room.uniforms[:0]
                if chooses:
                    size = max(design.batch, int(design.growth * pulled))
                    if size * cheapest > left:
                        size = left // cheapest
                    uniforms = room.uniforms[: min(size, design.slots)]
                    for k in range(uniforms.shape[0]):
                        uniforms[k] = order_rng.random()
                    seen.left[0] = left * arm_count / total
                phase = state.phase[0]
                goes_on = decide(seen, state, uniforms, size, fresh)
                if state.faults[0] > 0:
                    tally.misjudged[0] += 1
                    return
                if shares and goes_on:
                    goes_on = keep_open(
                        fresh, seen.sharing.rooms, alive, priority, prices, design.slots
                    )
                if chooses and goes_on and size * dearest > left:
                    goes_on = keep_paid(fresh, prices, left, priority)
                if learns and chooses:
                    goes_on = goes_on and keep_room(fresh, counts, design.most)
                elif learns:
                    fresh[:] = 0  # what a phase pays for is seen when it begins
                if drops and state.dropped_count[0] > gone and lost_in < 0:
                    if settles:  # the sides that arms were settled on
                        looks_so(
                            seen.estimates, room.everyone, seen.scales, seen.thresholds, priority,
                            marked,
                        )  # fmt: skip
                    if is_lost(optimal, alive, marked):
                        lost_in = phase
                gone = state.dropped_count[0]

            if settles and drops:
                alive[:] = True
            _, flag = answer(seen, state, marked)
            judge(tally, replication, marked, flag, optimal, design.feasible, lost_in)
            tally.pulled[replication] = pulled
            if learns:
                tally.paid[0] += spent
            if proves:
                tally.proven[replication] = seen.proof.status[0]
            for i in range(arm_count):
                tally.pulls[i] += counts[i]

    return body
