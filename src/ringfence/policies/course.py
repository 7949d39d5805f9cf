"""A policy as a course: what whoever runs it calls, be it a simulation or a live study.

A course is plain functions over a state of its own. The runner pulls the arms, keeps the evidence
and draws the uniforms; the course says what is pulled next, and when it has seen enough:

    make_state(opening, arm_count, attribute_count, slots)    room for all that follows
    begin(seen, state, fresh)                                 fills `fresh` with the first pulls
    decide(seen, state, uniforms, size, fresh) -> bool        fills it with the next; False: enough
    answer(seen, state, marked) -> (arm, flag)                what the question asks for: it marks
                                                              the arms, names one, says the flag

`fresh` has the pulls of each arm and is all zeros when `decide` is called. `size` is how many pulls
the runner would have in a batch, and there is a uniform for each choice in it: of those that stand
for several pulls the first stand for one more. A course that drops arms takes them out of
`seen.alive`. Where its question settles arms, `answer` is asked with those alive again that were
settled. Every state has `phase`, the number of the phase or batch, and `faults`, how often a rule
named an arm that is not alive, both of one number; and the first `dropped_count` of `dropped` are
the arms that are gone, in their order. Kernels, GPUs and plain Python run the very same functions.

A policy that drops arms becomes a course by `phased`, one that chooses them by `choosing`. What a
baseline asks for is in these two: it is never dropped, and pulled beside the arms that are chosen.
A large batch is decided in groups.
May touch core.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.allowance import add_extra, ration
from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.baseline import add_choice, kept_beside
from ringfence.core.question import Question
from ringfence.core.schedule import Phase
from ringfence.policies.evidence import Answer, Choose, Evidence, Reject
from ringfence.policies.groups import (
    Ahead,
    begin_ahead,
    end_of_group,
    look_ahead,
    look_ahead_together,
    make_ahead,
    pulls_of,
)


class Course(NamedTuple):
    """What a policy is to whoever runs it.

    `question` is what `answer` answers. `rule` is the policy's own function, for engines that can
    ask it in a faster way. A course that `chooses` drops no arm. One that does not has phases: it
    is given no uniforms and a `size` of 0, and looks neither at covariances nor at what is left.
    """

    question: Question
    rule: Callable[..., Any]
    make_state: Callable[..., Any]
    begin: Callable[..., None]
    decide: Callable[..., bool]
    answer: Callable[[Evidence, Any, Mask], tuple[int, bool]]
    chooses: bool


class Opening(NamedTuple):
    """What a policy makes of a budget: the first pulls of each arm, and phases if it has any.

    `prices` of a pull, by arm, are those of the allowance; there are none where all are equal.
    """

    first_pulls: int
    phases: tuple[Phase, ...] = ()
    prices: tuple[int, ...] = ()


class PhaseState(NamedTuple):
    """The phases, a row (pulls, extra, keep) each, and the arms dropped so far, in their order.

    `prices` are by arm, and `rest` is what the phases so far leave to the next one, as `ration`
    counts it.
    """

    phases: Integers
    prices: Integers
    rest: Integers
    dropped: Integers
    dropped_count: Integers
    phase: Integers
    faults: Integers


class ChoiceState(NamedTuple):
    """First pulls of each arm, choices of a batch, and room for the rule; no arm is dropped.

    `ahead` is room for what a large batch is decided from.
    """

    first: Integers
    chosen: Integers
    work: Any
    ahead: Ahead
    dropped: Integers
    dropped_count: Integers
    phase: Integers
    faults: Integers


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


def make_phase_state(
    opening: Opening, arm_count: int, attribute_count: int, slots: int
) -> PhaseState:
    """Return the state of a course that has not begun."""
    return PhaseState(
        phases=np.array(opening.phases, np.int64),
        prices=np.array(opening.prices or (1,) * arm_count, np.int64),
        rest=np.zeros(1, np.int64),
        dropped=np.zeros(arm_count, np.int64),
        dropped_count=np.zeros(1, np.int64),
        phase=np.zeros(1, np.int64),
        faults=np.zeros(1, np.int64),
    )


def begin_phases(seen: Evidence, state: PhaseState, fresh: Integers) -> None:
    """Fill in the first phase's pulls."""
    state.phase[0] = 0
    state.dropped_count[0] = 0
    state.rest[0] = 0
    fill_phase(seen, state, fresh)


def fill_phase(seen: Evidence, state: PhaseState, fresh: Integers) -> None:
    """Fill in what every survivor gets in a phase, those first in priority once more."""
    phase, alive, prices = state.phase[0], seen.alive, state.prices
    pulls, extra = state.phases[phase, 0], state.phases[phase, 1]
    each, rest = ration(pulls, extra, alive, prices, state.rest[0])
    for i in range(fresh.shape[0]):
        fresh[i] = each if alive[i] else 0
    if extra > 0:
        rest = add_extra(fresh, alive, seen.priority, prices, rest)
    state.rest[0] = rest


@cache
def asked(question: Question) -> Callable[[Evidence, Any, Mask], tuple[int, bool]]:
    """Return the answer of a course that answers a question as the estimates look."""
    look = question.answer

    def answer(seen: Evidence, state: Any, marked: Mask) -> tuple[int, bool]:
        return look(seen.estimates, seen.alive, seen.scales, seen.thresholds, seen.priority, marked)

    return answer


@cache
def phased(reject: Reject, question: Question) -> Course:
    """Return the course that pulls all survivors alike and drops arms by a rule between phases."""

    def decide(
        seen: Evidence, state: PhaseState, uniforms: Floats, size: int, fresh: Integers
    ) -> bool:
        alive, baseline = seen.alive, seen.baseline[0]
        keep = state.phases[state.phase[0], 2]
        if baseline >= 0:
            keep = kept_beside(keep)
        left = 0
        for i in range(alive.shape[0]):
            left += alive[i]
        spared = False  # the rule named the baseline, and is asked about the others alone
        while left > keep:
            if spared:
                alive[baseline] = False
            out = reject(
                seen.estimates, seen.counts, alive, seen.scales, seen.thresholds, seen.priority
            )
            if spared:
                alive[baseline] = True
            if baseline >= 0 and out == baseline and not spared:
                spared = True
                continue
            spared = False
            if out < 0 or out >= alive.shape[0] or not alive[out] or out == baseline:
                state.faults[0] += 1
                return False
            alive[out] = False
            state.dropped[state.dropped_count[0]] = out
            state.dropped_count[0] += 1
            left -= 1
        if state.phase[0] + 1 == state.phases.shape[0]:
            return False
        state.phase[0] += 1
        fill_phase(seen, state, fresh)
        return True

    return Course(
        question, reject, make_phase_state, begin_phases, decide, asked(question),
        chooses=False,
    )  # fmt: skip


def begin_choices(seen: Evidence, state: ChoiceState, fresh: Integers) -> None:
    """Fill in the warm-up of every arm."""
    state.phase[0] = 0
    for i in range(fresh.shape[0]):
        fresh[i] = state.first[0]


def add_chosen(
    seen: Evidence, chosen: Integers, start: int, end: int, size: int, fresh: Integers
) -> bool:
    """Add the pulls that some choices of a batch stand for; False: one is of nobody alive."""
    slots, baseline = chosen.shape[0], seen.baseline[0]
    for k in range(start, end):
        arm = chosen[k]
        if arm < 0 or arm >= fresh.shape[0] or not seen.alive[arm]:
            return False
        pulls = size // slots + int(k < size % slots)
        if baseline >= 0:
            add_choice(fresh, seen.counts, baseline, arm, pulls)
        else:
            fresh[arm] += pulls
    return True


@cache
def choosing(
    choose: Choose,
    recommend: Answer | None,
    make_work: Callable[[int, int], Any],
    question: Question,
    *,
    shares: bool = False,
    whole: bool = False,
) -> Course:
    """Return the course that warms every arm up and then pulls what a rule chooses.

    It answers with the arm that the policy would `recommend`, or else as the estimates look. With
    `shares` arms share blocks, and the rule is shown what they tell of each other. A rule that
    decides large batches in groups of its own has each `whole`.
    """
    further = look_ahead_together if shares else look_ahead

    def make_state(
        opening: Opening, arm_count: int, attribute_count: int, slots: int
    ) -> ChoiceState:
        return ChoiceState(
            first=np.array([opening.first_pulls]),
            chosen=np.zeros(slots, np.int64),
            work=make_work(arm_count, attribute_count),
            ahead=make_ahead(arm_count, attribute_count),
            dropped=np.zeros(0, np.int64),
            dropped_count=np.zeros(1, np.int64),
            phase=np.zeros(1, np.int64),
            faults=np.zeros(1, np.int64),
        )

    def decide(
        seen: Evidence, state: ChoiceState, uniforms: Floats, size: int, fresh: Integers
    ) -> bool:
        state.phase[0] += 1
        slots = uniforms.shape[0]
        if slots == 0:
            return False
        chosen = state.chosen[:slots]
        for k in range(slots):
            chosen[k] = -1
        known = pulls_of(seen.counts)
        end = slots if whole else end_of_group(0, slots, size, known)
        choose(seen, uniforms[:end], chosen[:end], state.work)
        sound = add_chosen(seen, chosen, 0, end, size, fresh)
        if end < slots:
            begin_ahead(seen, uniforms, state.ahead)
        while end < slots and sound:
            start, end = end, end_of_group(end, slots, size, known)
            then = further(seen, fresh, state.ahead)
            choose(then, uniforms[start:end], chosen[start:end], state.work)
            sound = add_chosen(seen, chosen, start, end, size, fresh)
        if not sound:
            state.faults[0] += 1
        return sound

    if recommend is None:
        answer = asked(question)
    else:

        def answer(seen: Evidence, state: ChoiceState, marked: Mask) -> tuple[int, bool]:
            arm, flag = recommend(seen, state.work)
            for i in range(marked.shape[0]):
                marked[i] = i == arm
            return arm, flag

    return Course(question, choose, make_state, begin_choices, decide, answer, chooses=True)
