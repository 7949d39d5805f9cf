"""A course that ends when its answer is proven: any policy's, with a rule that says "enough".

Whoever runs it puts a `Proof` beside the evidence, which has the pulls of every arm in their order.
A look is due with each of the first pulls and then when there are a hundredth more. A phase is gone
through in steps of a hundredth, between which one may look. Arms that no open question is about get
nothing more where pulls are chosen: their pulls go to those asked about that have had the fewest.
May touch core.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.looks import is_due
from ringfence.core.settling import CERTIFIED, NONE_FEASIBLE, OPEN, conclude
from ringfence.policies.course import Course, Opening
from ringfence.policies.evidence import Evidence
from ringfence.policies.groups import pulls_of

STEP = 16  # pulls at least of a phase within which it may be enough
FIRST_OF_PHASES = 10  # of each arm, then

Answering: TypeAlias = Callable[[Evidence, Any, Mask], tuple[int, bool]]


class ProvingState(NamedTuple):
    """The state of the course within, with its own arrays, and what a phase still owes."""

    inner: Any
    owed: Integers
    dropped: Integers
    dropped_count: Integers
    phase: Integers
    faults: Integers


@cache
def until_proven(course: Course, *, shares: bool = False) -> Course:
    """Return a course that ends as soon as its answer is proven."""
    begin_inner, decide_inner = course.begin, course.decide
    chooses, answer = course.chooses, _answering(course)
    is_over, hand_on = _ending(shares=shares, chooses=chooses), _handing_on(shares=shares)

    def make_state(
        opening: Opening, arm_count: int, attribute_count: int, slots: int
    ) -> ProvingState:
        inner = course.make_state(opening, arm_count, attribute_count, slots)
        owed = np.zeros(arm_count, np.int64)
        return ProvingState(
            inner, owed, inner.dropped, inner.dropped_count, inner.phase, inner.faults
        )

    def begin(seen: Evidence, state: ProvingState, fresh: Integers) -> None:
        begin_inner(seen, state.inner, fresh)
        if not chooses:
            put_off(fresh, state.owed)
            take_step(fresh, state.owed, FIRST_OF_PHASES * fresh.shape[0])

    def decide(
        seen: Evidence, state: ProvingState, uniforms: Floats, size: int, fresh: Integers
    ) -> bool:
        proof, pulled = seen.proof, pulls_of(seen.counts)
        if is_due(proof.looked[0], pulled) or is_over(seen, state, uniforms):
            proof.looked[0] = pulled
            conclude(proof, seen.counts)
            if proof.status[0] != OPEN:
                return False
        if not chooses and take_step(fresh, state.owed, max(STEP, pulled // 100)):
            return True
        goes_on: bool = decide_inner(seen, state.inner, uniforms, size, fresh)
        if goes_on and chooses:
            hand_on(seen, fresh)
        elif goes_on:
            put_off(fresh, state.owed)
            take_step(fresh, state.owed, max(STEP, pulled // 100))
        return goes_on

    return course._replace(make_state=make_state, begin=begin, decide=decide, answer=answer)


def _answering(course: Course) -> Answering:
    """Return what answers with what is proven, and as the course does where nothing is."""
    answer_inner, settles = course.answer, course.question.settles

    def answer(seen: Evidence, state: ProvingState, marked: Mask) -> tuple[int, bool]:
        proof = seen.proof
        named, flag = answer_inner(seen, state.inner, marked)
        if proof.status[0] == NONE_FEASIBLE:
            flag = False
            if settles:
                marked[:] = False
        elif proof.status[0] == CERTIFIED:
            flag = False
            for i in range(marked.shape[0]):
                marked[i] = proof.answer[i]
                if marked[i]:
                    named, flag = i, True
        return named, flag

    return answer


@cache
def _ending(*, shares: bool, chooses: bool) -> Callable[..., bool]:
    """Return what tells whether a look is the last one there can be."""

    def is_over(seen: Evidence, state: ProvingState, uniforms: Floats) -> bool:
        if shares:
            rooms = 0
            for i in range(seen.counts.shape[0]):
                rooms += seen.sharing.rooms[i]
            if rooms == 0:
                return True
        if chooses:
            nothing_left: bool = uniforms.shape[0] == 0
            return nothing_left
        owed = 0
        for i in range(state.owed.shape[0]):
            owed += state.owed[i]
        last: bool = owed == 0 and state.phase[0] + 1 == state.inner.phases.shape[0]
        return last

    return is_over


@cache
def _handing_on(*, shares: bool) -> Callable[..., None]:
    """Return what gives pulls of arms that nothing is asked about to the others."""

    def hand_on(seen: Evidence, fresh: Integers) -> None:
        asked, counts = seen.asked.arms, seen.counts
        for i in range(fresh.shape[0]):
            while fresh[i] > 0 and not asked[i]:
                least = -1
                for j in range(fresh.shape[0]):
                    if not (asked[j] and seen.alive[j]):
                        continue
                    if shares and fresh[j] >= seen.sharing.rooms[j]:
                        continue
                    if least < 0 or counts[j] + fresh[j] < counts[least] + fresh[least]:
                        least = j
                if least < 0:
                    break
                fresh[least] += 1
                fresh[i] -= 1

    return hand_on


def put_off(fresh: Integers, owed: Integers) -> None:
    """Owe what a phase gives."""
    for i in range(fresh.shape[0]):
        owed[i] = fresh[i]
        fresh[i] = 0


def take_step(fresh: Integers, owed: Integers, size: int) -> bool:
    """Give about `size` of the pulls that are owed, evenly; False if there are none."""
    arms = 0
    for i in range(owed.shape[0]):
        arms += owed[i] > 0
    if arms == 0:
        return False
    each = -(-size // arms)
    for i in range(owed.shape[0]):
        fresh[i] = min(owed[i], each)
        owed[i] -= fresh[i]
    return True
