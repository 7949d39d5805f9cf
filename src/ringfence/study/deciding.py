"""The next round of a study, from all that it has seen: who leaves, and who is pulled how often.

The rules are the policies' own functions, the very same that are simulated. What is decided depends
on the definition, the budget and the observations alone. May touch policies and core.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ringfence.core.allowance import (
    add_extra,
    keep_paid,
    ration,
)
from ringfence.core.arrays import Integers, Mask
from ringfence.core.errors import InputError
from ringfence.core.gaps import pair
from ringfence.core.noise import NOISE_EDITION
from ringfence.core.schedule import Phase
from ringfence.core.settling import Asked, nothing_asked
from ringfence.core.streams import round_stream
from ringfence.policies.course import Opening, asked
from ringfence.policies.evidence import Evidence
from ringfence.policies.groups import GROUPS_EDITION, is_cut, pulls_of
from ringfence.policies.proving import FIRST_OF_PHASES, STEP
from ringfence.policies.registry import rules_in_words
from ringfence.study.book import Book
from ringfence.study.exhausting import handed_on
from ringfence.study.facts import (
    Cause,
    Rejection,
    Round,
)
from ringfence.study.paying import PRICES, RESERVES
from ringfence.study.plan import Plan
from ringfence.study.rationing import first_pulls_paid, phase_pulls_paid
from ringfence.study.snapshot import Snapshot
from ringfence.study.standing import Standing

SETTLED = "settled"  # the key of a round that says which arms get no more
PROOFS_EDITION = 2  # raise it with whatever proves, or asks, otherwise; the first did not say so
ASKED = "asked"  # the key of a round that says which questions are open
STOP = "stop"  # the key of a round that says what was said later of the end


def next_round(
    plan: Plan,
    before: Round | None,
    standing: Standing,
    book: Book,
    *,
    lag: int = 1,
    through: int = 0,
    proven: Mapping[str, Any] = MappingProxyType({}),
) -> Round:
    """Return the round after `before`, of which pulls may be in flight only where there is a lag.

    A budget raised within a phase is taken up at its end: the phase is first brought to its new
    total, and then ends. A first round is told the `lag` of the study. With one, the pulls
    `through` some number are in the book. `proven` is what a round says of proofs: arms that are
    settled get no more from an adaptive policy, so long as others can have it.
    """
    seen = _situation(plan, before, standing, through)
    if before is None:
        seen |= {"lag": lag} if lag > 1 else {}
        everyone = np.ones(plan.arm_count, np.bool_)
        return _round(plan, None, 0, _first_allocation(plan, standing), everyone, [], seen)
    alive = np.array(before.alive)
    alive[list(standing.back)] = True
    opening = _opening(plan, alive, standing, book, plan.room(before))
    first = _further_first_pulls(plan, before, alive, standing, book)
    spared = [*opening, *np.flatnonzero(first).tolist()]
    left = _withdraw(plan, alive, standing, book, spared=spared)
    if not alive.any():
        nothing = [0] * plan.arm_count
        return _round(plan, before, before.phase, nothing, alive, left, seen, is_last=True)
    if (first := np.where(alive, first, 0)).any():
        return _round(plan, before, before.phase, first.tolist(), alive, left, seen)
    evidence = _evidence(plan, alive, standing, book)
    seen |= {
        "noise": NOISE_EDITION,
        "counts": evidence.counts.tolist(),
        "estimates": evidence.estimates.tolist(),
        "scales": evidence.scales.tolist(),
    }
    if opening and (not plan.policy.has_phases or plan.learns_prices):
        allocation = [opening.get(arm, 0) for arm in range(plan.arm_count)]
        phase = before.phase + (not plan.policy.has_phases)
        return _round(plan, before, phase, allocation, alive, left, seen)
    phases = plan.opening(standing.budget, standing.prices).phases
    is_other = standing.budget != before.seen["budget"] or standing.back or opening
    if phases and (is_other or plan.stop or plan.learns_prices):
        allocation = _phase_allocation(plan, phases, before.phase, before, alive, standing, opening)
        if sum(allocation) > 0:
            allocation = _step(plan, before, allocation, opening)
            return _round(plan, before, before.phase, allocation, alive, left, seen)
    room, turns = plan.room(before), plan.priority
    if proven and not phases:
        seen |= proven
        evidence = evidence._replace(asked=_asked(plan, proven[ASKED], proven[SETTLED]))
        if proven[SETTLED]:
            room, turns = _without(proven[SETTLED], room, alive), _ranks(book.counts)
    decided = _decide(plan, before, standing, evidence, room)
    allocation = decided.allocation
    if phases and decided.goes_on:
        allocation = _phase_allocation(plan, phases, decided.phase, before, alive, standing)
        allocation = _step(plan, before, allocation)
    is_last = not decided.goes_on
    if not phases and not is_last:
        allocation = handed_on(allocation, room, alive, turns, standing.reserves or plan.prices)
        is_last = not any(allocation)  # every item was seen
    if decided.is_cut:
        seen["groups"] = GROUPS_EDITION
    return _round(
        plan, before, decided.phase, allocation, alive, [*left, *decided.left], seen,
        is_last=is_last,
    )  # fmt: skip


def last_round(
    plan: Plan, before: Round, standing: Standing, ended: Mapping[str, object], *, through: int
) -> Round:
    """Return the empty round that ends a study for what `ended` says; nobody leaves with it."""
    alive = np.array(before.alive)
    alive[list(standing.back)] = True
    seen = _situation(plan, before, standing, through) | dict(ended)
    nothing = [0] * plan.arm_count
    return _round(plan, before, before.phase, nothing, alive, [], seen, is_last=True)


def _situation(
    plan: Plan, before: Round | None, standing: Standing, through: int
) -> dict[str, object]:
    """Return what every round says of where the study stood when it was decided."""
    seen: dict[str, object] = {
        "budget": standing.budget,
        "spent": standing.spent,
        "edition": plan.policy.edition,
    }
    if plan.learns_prices:
        seen |= {PRICES: list(standing.prices), RESERVES: list(standing.reserves)}
    if plan.stop:
        seen["proofs"] = PROOFS_EDITION
    if plan.stops:
        seen[STOP] = dict(plan.stop)
    if before is not None and before.lag > 1:
        seen |= {"lag": before.lag, "through": through}
    return seen


def _evidence(plan: Plan, alive: Mask, standing: Standing, book: Book) -> Evidence:
    """Return what the rules see, with prices and what is left by what is known of both."""
    allowance = plan.allowance(standing.budget, standing.prices)
    taken = standing.spent + standing.expected
    evidence = book.evidence(alive, plan.priority, left=allowance.left(taken))
    if plan.learns_prices:
        evidence = evidence._replace(prices=allowance.relative)
    if standing.in_flight:
        evidence = evidence._replace(in_flight=np.array(standing.in_flight, np.int64))
    return evidence


@dataclass(frozen=True)
class _Decision:
    """What the policy's course decided: who is pulled how often, and whom it dropped.

    It `is_cut` if it decided a batch in groups.
    """

    goes_on: bool
    is_cut: bool
    phase: int
    allocation: list[int]
    left: list[Rejection]


def _asked(plan: Plan, facts: Mapping[str, Any], settled: Sequence[int]) -> Asked:
    """Return the open questions as rules see them; of all arms before one has looked."""
    asked = nothing_asked(plan.arm_count)
    if facts["needs"]:
        asked.needs[:] = [math.inf if one is None else one for one in facts["needs"]]
        asked.ways[:] = facts["ways"]
        asked.leader[0] = facts["leader"]
        asked.arms[:] = True
        asked.arms[list(settled)] = False
    return asked


def _ranks(counts: Integers) -> Integers:
    """Return the order in which arms get what others do not: who has least first."""
    return np.argsort(np.argsort(counts, kind="stable"), kind="stable")


def _without(settled: Sequence[int], room: Integers, alive: Mask) -> Integers:
    """Return the room of arms but for those settled, unless no other arm has any."""
    rest = room.copy()
    rest[list(settled)] = 0
    return rest if rest[alive].any() else room


def _decide(
    plan: Plan, before: Round, standing: Standing, evidence: Evidence, room: Integers
) -> _Decision:
    """Let the policy's own course decide, as simulations do; arms that it drops are not alive.

    Its state is what the definition, the budget and the round before say, so that a decision can
    be made again from what is stored.
    """
    course, opening = plan.course, plan.opening(standing.budget, standing.prices)
    reserves = plan.allowance(standing.budget, standing.reserves).array
    cheapest = int(reserves[evidence.alive].min())
    size = max(0, min(plan.definition.batch, standing.left // cheapest))
    slots = 0 if plan.policy.has_phases else size
    if evidence.sharing is not None:
        evidence.sharing.rooms[:] = room
    state = course.make_state(opening, plan.arm_count, len(evidence.scales), slots)
    state.phase[0] = before.phase
    fresh: Integers = np.zeros(plan.arm_count, np.int64)
    uniforms = round_stream(plan.definition.seed, before.number + 1).random(slots)
    compared = plan.policy.has_phases or plan.problem.is_relative
    seen = evidence._replace(
        estimates=np.ascontiguousarray(evidence.estimates),
        covariances=np.ascontiguousarray(evidence.covariances),
        baseline=np.array([-1 if plan.baseline is None or not compared else plan.baseline]),
    )
    alive = evidence.alive.copy()
    with rules_in_words(plan.policy):
        goes_on = bool(plan.decide(seen, state, uniforms, size, fresh))
    if goes_on and slots > 0:  # phases are cut to what is paid for by whoever fills them
        goes_on = keep_paid(fresh, reserves, standing.left, plan.priority)
    if state.faults[0]:
        raise InputError(f"policy {plan.policy.name!r}: its rule named an arm that is not alive.")
    left = _rejections(
        plan, seen._replace(alive=alive), state.dropped[: state.dropped_count[0]].tolist()
    )
    in_groups = slots > 0 and is_cut(pulls_of(evidence.counts), size)
    return _Decision(goes_on, in_groups, int(state.phase[0]), fresh.tolist(), left)


def _round(
    plan: Plan,
    before: Round | None,
    phase: int,
    allocation: Sequence[int],
    alive: Mask,
    left: Sequence[Rejection],
    seen: dict[str, object],
    *,
    is_last: bool = False,
) -> Round:
    counts = [0] * plan.arm_count
    if before is not None:
        counts = [a + b for a, b in zip(before.before, before.allocation, strict=True)]
    return Round(
        number=0 if before is None else before.number + 1,
        first=1 if before is None else before.first + before.size,
        allocation=tuple(int(count) for count in allocation),
        before=tuple(counts),
        alive=tuple(bool(one) for one in alive),
        phase=phase,
        is_last=is_last,
        left=tuple(left),
        seen=seen,
    )


def _opening(
    plan: Plan, alive: Mask, standing: Standing, book: Book, room: Integers
) -> dict[int, int]:
    """Return the pulls that arms get first of which too little was seen to judge them.

    Those that come back get what they lack, and others what they lost in the last round, if that
    is enough: lost pulls are no reason to withdraw an arm. All of it as there is budget, and as
    each arm has room.
    """
    prices = standing.reserves or plan.prices
    wanted = plan.least_pulls
    if not plan.policy.has_phases:
        wanted = max(wanted, plan.opening(standing.budget, standing.prices).first_pulls)
    pulls, least = dict[int, int](), dict[int, int]()
    for arm in np.flatnonzero(alive & ~book.is_seen).tolist():
        lacks = plan.least_pulls - int(book.counts[arm])
        lost = standing.lost[arm] if standing.lost else 0
        if room[arm] < lacks:
            continue
        if arm not in standing.broken and (arm in standing.back or lost >= lacks):
            more = wanted - int(book.counts[arm]) if arm in standing.back else lost
            pulls[arm] = min(more, int(room[arm]))
            least[arm] = lacks
    while pulls and sum(prices[arm] * pulls[arm] for arm in pulls) > standing.left:
        most = max(pulls, key=lambda arm: (pulls[arm] - least[arm], arm))
        pulls[most] -= 1
        if pulls[most] < least[most]:
            del pulls[most]
    return pulls


def _withdraw(
    plan: Plan, alive: Mask, standing: Standing, book: Book, *, spared: Sequence[int]
) -> list[Rejection]:
    """Take out arms that cannot be evaluated, or of which too little was seen to judge them.

    Those `spared` get the pulls that they lack first.
    """
    left = []
    for arm in np.flatnonzero(alive):
        if arm in standing.broken:
            times = plan.definition.max_failures
            left.append(Rejection(int(arm), Cause.FAILING, failures=times))
        elif not book.is_seen[arm] and arm not in spared:
            left.append(Rejection(int(arm), Cause.UNSEEN, successes=int(book.counts[arm])))
    baseline = plan.baseline
    if plan.problem.is_relative and baseline in [one.arm for one in left]:
        name = plan.definition.baseline
        left += [
            Rejection(int(arm), Cause.WITH_BASELINE, baseline=name)
            for arm in np.flatnonzero(alive)
            if arm not in [one.arm for one in left]
        ]
    for one in left:
        alive[one.arm] = False
    return left


def _rejections(plan: Plan, seen: Evidence, dropped: Sequence[int]) -> list[Rejection]:
    """Return who was dropped, one after the other, with the rival and the gap of each.

    Where the question settles arms none has a rival, and none has lost.
    """
    question = plan.problem.question
    cause = Cause.SETTLED if question.settles else Cause.REJECTED
    left: list[Rejection] = []
    alive, scales, thresholds = seen.alive, seen.scales, seen.thresholds
    for out in dropped:
        best, _, _ = question.reference(seen.estimates, alive, scales, thresholds, seen.priority)
        rival = None if best in (out, -1) else int(best)
        beside = out if rival is None else rival
        distance = float(question.gap(*pair(seen.estimates, beside, out, scales, thresholds)))
        left.append(Rejection(out, cause, rival, distance, policy=plan.policy.name))
        alive[out] = False
    return left


def _further_first_pulls(
    plan: Plan, before: Round, alive: Mask, standing: Standing, book: Book
) -> Integers:
    """Return what arms get before they are judged, where the first round did not pay for it."""
    running = alive.copy()
    running[list(standing.broken)] = False
    pulls = [0] * plan.arm_count
    if plan.learns_prices and running.any():
        phases = plan.opening(standing.budget, standing.prices).phases
        if phases and not book.is_seen[running].all():
            pulls = phase_pulls_paid(plan, phases, before.phase, before, running, standing)
        elif not phases and before.phase == 0:
            pulls = first_pulls_paid(plan, before, running, standing)
    return np.array(pulls, np.int64)


def _first_allocation(plan: Plan, standing: Standing) -> list[int]:
    opening, everyone = plan.opening(standing.budget), np.ones(plan.arm_count, np.bool_)
    if plan.learns_prices and not opening.phases:
        return first_pulls_paid(plan, None, everyone, standing)
    if plan.learns_prices:
        allocation = _phase_allocation(plan, opening.phases, 0, None, everyone, standing)
        return _step(plan, None, allocation)
    if not opening.phases:
        return [opening.first_pulls] * plan.arm_count
    totals = _totals(plan, opening.phases, 0, everyone, standing)
    allocation = [int(total) for total in np.minimum(totals, plan.room(None))]
    least = max(FIRST_OF_PHASES, plan.least_pulls, plan.problem.judged.first_pulls)
    return _step(plan, None, allocation, dict.fromkeys(range(plan.arm_count), least))


def _step(
    plan: Plan,
    before: Round | None,
    allocation: list[int],
    least: Mapping[int, int] = MappingProxyType({}),
) -> list[int]:
    """Return what a phase goes on with: all of it, but where the study may end within the phase.

    There it is a hundredth of the pulls so far, evenly, and some pulls at least: the rest of the
    phase follows.
    """
    if not plan.stop:
        return allocation
    so_far = 0 if before is None else before.end
    size = max(STEP, plan.definition.batch, so_far // 100)
    each = -(-size // max(1, int(np.count_nonzero(allocation))))
    return [min(count, max(each, least.get(arm, 0))) for arm, count in enumerate(allocation)]


def _phase_allocation(
    plan: Plan,
    phases: tuple[Phase, ...],
    phase: int,
    before: Round | None,
    alive: Mask,
    standing: Standing,
    opening: Mapping[int, int] = MappingProxyType({}),
) -> list[int]:
    """Return what brings every survivor to the total that the phase asks for.

    By totals, so that a budget raised in between, or an arm that comes back, takes effect from
    this phase on. Arms in the `opening` get at least the pulls that they lack. Where prices are
    learned it is what the phase's ration pays for next.
    """
    if before is None or plan.learns_prices:
        return phase_pulls_paid(plan, phases, phase, before, alive, standing)
    totals, cost = _totals(plan, phases, phase, alive, standing), plan.allowance(0).cost
    allocation, room = [0] * plan.arm_count, plan.room(before)
    for arm in np.flatnonzero(alive).tolist():
        lacks = int(totals[arm]) - standing.had(before, arm)
        allocation[arm] = min(int(room[arm]), max(0, lacks, opening.get(arm, 0)))
    while cost(allocation) > standing.left:  # earlier phases' extra pulls may leave one too few
        spare = [count - opening.get(arm, 0) for arm, count in enumerate(allocation)]
        allocation[int(np.argmax(spare))] -= 1
    return allocation


def _totals(
    plan: Plan, phases: tuple[Phase, ...], phase: int, alive: Mask, standing: Standing
) -> Integers:
    """Return the pulls that each survivor has by the end of a phase, as courses fill phases.

    Extra pulls of earlier phases are not among them, but what they cost is gone.
    """
    prices, rest = plan.allowance(standing.budget).array, 0
    totals: Integers = np.zeros(plan.arm_count, np.int64)
    for number, one in enumerate(phases[: phase + 1]):
        there = alive
        if number < phase:
            there = np.ones(plan.arm_count, np.bool_)
            there[[arm for arm, since in standing.gone if since <= number]] = False
            there |= alive  # one that comes back is taken for one that never left
        each, rest = ration(one.pulls, one.extra, there, prices, rest)
        totals += each
        more: Integers = np.zeros(plan.arm_count, np.int64)
        if one.extra > 0:
            rest = add_extra(more, there, plan.priority, prices, rest)
    return totals + more


@dataclass(frozen=True)
class Answer:
    """The `arms` of an answer by their places, the one that it names (-1: none), and its flag."""

    arms: tuple[int, ...]
    named: int
    feasible: bool

    def marks(self, arm_count: int) -> Mask:
        """Return its arms as a mask."""
        return np.isin(np.arange(arm_count), self.arms)


def answer_of(plan: Plan, alive: Mask, snapshot: Snapshot) -> Answer:
    """Return what the policy would answer now."""
    evidence, course = snapshot.evidence(alive, plan.priority), plan.course
    state = course.make_state(Opening(0), plan.arm_count, len(evidence.scales), 0)
    with rules_in_words(plan.policy):
        return _answered(plan, lambda marked: course.answer(evidence, state, marked))


def apparent_answer(plan: Plan, evidence: Evidence) -> Answer:
    """Return what looks right by estimates alone."""
    look = asked(plan.problem.question)
    return _answered(plan, lambda marked: look(evidence, None, marked))


def _answered(plan: Plan, answer: Callable[[Mask], tuple[int, bool]]) -> Answer:
    marked = np.zeros(plan.arm_count, np.bool_)
    named, feasible = answer(marked)
    return Answer(tuple(np.flatnonzero(marked).tolist()), int(named), bool(feasible))
