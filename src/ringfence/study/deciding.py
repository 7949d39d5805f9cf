"""The next round of a study, from all that it has seen: who leaves, and who is pulled how often.

The rules are the policies' own functions, the very same that are simulated. What is decided depends
on the definition, the budget and the observations alone. May touch policies and core.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from ringfence.core.arrays import Integers, Mask
from ringfence.core.attributes import Functions
from ringfence.core.errors import InputError
from ringfence.core.gaps import apparent_best, gap, pair
from ringfence.core.noise import NOISE_EDITION
from ringfence.core.problem import Problem
from ringfence.core.schedule import Phase
from ringfence.core.stated import StatedNoise
from ringfence.core.streams import order_of_arms, round_stream
from ringfence.policies.course import Opening
from ringfence.policies.evidence import Evidence
from ringfence.policies.evidence import apparent_answer as apparent_answer_to
from ringfence.policies.policy import Policy
from ringfence.policies.registry import find_policy, rules_in_words
from ringfence.study.book import Book, least_pulls
from ringfence.study.facts import (
    FAILED_METRIC,
    Cause,
    Definition,
    Rejection,
    Round,
)
from ringfence.study.snapshot import Snapshot


@dataclass(frozen=True)
class Plan:
    """A definition made ready to decide: its problem, its policy, its order of arms."""

    definition: Definition
    problem: Problem
    policy: Policy

    @classmethod
    def of(
        cls,
        definition: Definition,
        functions: Functions | None = None,
        policy: Policy | None = None,
    ) -> "Plan":
        """Read a definition's expressions and find its policy, unless it is given."""
        problem = Problem.parse(definition.objective, definition.constraints, functions=functions)
        return cls(definition, problem, policy or find_policy(definition.policy))

    @property
    def arm_count(self) -> int:
        """How many arms there are."""
        return len(self.definition.arms)

    @property
    def baseline(self) -> int | None:
        """The arm that limits may be relative to, and that is never rejected."""
        name = self.definition.baseline
        return None if name is None else self.definition.arm_names.index(name)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that every observation has, in their order."""
        return self.definition.metrics or self.problem.metrics

    @property
    def untold(self) -> tuple[str, ...]:
        """The metrics that need no telling: the built-in `failed`, 0 where nothing is said."""
        return (FAILED_METRIC,) if self.definition.counts_failures else ()

    @property
    def told_metrics(self) -> tuple[str, ...]:
        """The metrics that every observation must have."""
        return tuple(one for one in self.metrics if one not in self.untold)

    @cached_property
    def noise(self) -> StatedNoise:
        """What was stated of the metrics' noise, and is not estimated."""
        return StatedNoise.read(
            self.definition.noise,
            self.problem,
            arms=tuple(self.definition.arms),
            recorded=self.definition.metrics,
        )

    @cached_property
    def needs_samples(self) -> bool:
        """Whether an attribute is shown otherwise than it is judged, from the pulls themselves."""
        return self.problem.attributes != self.problem.judged.attributes

    @cached_property
    def priority(self) -> Integers:
        """Each arm's rank where ties must be broken, drawn from the seed."""
        return order_of_arms(self.definition.seed, self.arm_count)

    @property
    def least_pulls(self) -> int:
        """The pulls of an arm without which nothing can be said of it."""
        return least_pulls(self.problem.judged, self.noise)

    def opening(self, budget: int) -> Opening:
        """Return what each arm gets first, and the phases; a budget without room is refused."""
        return self.policy.opening(
            self.arm_count,
            budget,
            least=self.least_pulls,
            wanted=self.problem.judged.first_pulls,
        )

    def first_pulls(self, budget: int) -> int:
        """Return what each arm gets in the first round; a budget without room is refused."""
        return self.opening(budget).first_pulls

    def new_book(self) -> Book:
        """Return a book without observations."""
        return Book(
            self.problem,
            self.definition.arm_names,
            self.metrics,
            baseline=self.baseline,
            noise=self.noise,
            counts_failures=self.definition.counts_failures,
        )


@dataclass(frozen=True)
class Standing:
    """What a decision rests on, besides the observations in the book.

    `spent` are the pulls charged so far; `broken` arms failed too often in a row. Arms that come
    `back` were pardoned. By arm, `missing` are the pulls of its rounds that were never made or are
    void, and `lost` those of the last round that will never report.
    """

    budget: int
    spent: int
    broken: Sequence[int]
    back: Sequence[int] = ()
    missing: Sequence[int] = ()
    lost: Sequence[int] = ()

    @property
    def left(self) -> int:
        """How many pulls may still be made."""
        return self.budget - self.spent

    def had(self, before: Round, arm: int) -> int:
        """Return how many pulls an arm had, with those that failed."""
        missing = self.missing[arm] if self.missing else 0
        return before.before[arm] + before.allocation[arm] - missing


def next_round(plan: Plan, before: Round | None, standing: Standing, book: Book) -> Round:
    """Return the round after `before`, which must be over.

    A budget raised within a phase is taken up at its end: the phase is first brought to its new
    total, and then ends.
    """
    seen: dict[str, object] = {
        "budget": standing.budget,
        "spent": standing.spent,
        "edition": plan.policy.edition,
    }
    if before is None:
        everyone = np.ones(plan.arm_count, np.bool_)
        return _round(plan, None, 0, _first_allocation(plan, standing), everyone, [], seen)
    alive = np.array(before.alive)
    alive[list(standing.back)] = True
    opening = _opening(plan, alive, standing, book)
    left = _withdraw(plan, alive, standing, book, spared=list(opening))
    if not alive.any():
        nothing = [0] * plan.arm_count
        return _round(plan, before, before.phase, nothing, alive, left, seen, is_last=True)
    evidence = book.evidence(alive, plan.priority, left=standing.left)
    seen |= {
        "noise": NOISE_EDITION,
        "counts": evidence.counts.tolist(),
        "estimates": evidence.estimates.tolist(),
        "scales": evidence.scales.tolist(),
    }
    if opening and not plan.policy.has_phases:
        allocation = [opening.get(arm, 0) for arm in range(plan.arm_count)]
        return _round(plan, before, before.phase + 1, allocation, alive, left, seen)
    phases = plan.opening(standing.budget).phases
    if phases and (standing.budget != before.seen["budget"] or standing.back or opening):
        allocation = _phase_allocation(plan, phases, before.phase, before, alive, standing, opening)
        if sum(allocation) > 0:
            return _round(plan, before, before.phase, allocation, alive, left, seen)
    decided = _decide(plan, before, standing, evidence)
    allocation = decided.allocation
    if phases and decided.goes_on:
        allocation = _phase_allocation(plan, phases, decided.phase, before, alive, standing)
    return _round(
        plan, before, decided.phase, allocation, alive, [*left, *decided.left], seen,
        is_last=not decided.goes_on,
    )  # fmt: skip


@dataclass(frozen=True)
class _Decision:
    """What the policy's course decided: who is pulled how often, and whom it dropped."""

    goes_on: bool
    phase: int
    allocation: list[int]
    left: list[Rejection]


def _decide(plan: Plan, before: Round, standing: Standing, evidence: Evidence) -> _Decision:
    """Let the policy's own course decide, as simulations do; arms that it drops are not alive.

    Its state is what the definition, the budget and the round before say, so that a decision can
    be made again from what is stored.
    """
    course, opening = plan.policy.course, plan.opening(standing.budget)
    size = max(0, min(plan.definition.batch, standing.left))
    slots = 0 if plan.policy.has_phases else size
    state = course.make_state(opening, plan.arm_count, len(evidence.scales), slots)
    state.phase[0] = before.phase
    fresh: Integers = np.zeros(plan.arm_count, np.int64)
    uniforms = round_stream(plan.definition.seed, before.number + 1).random(slots)
    compared = plan.policy.has_phases or plan.problem.is_relative
    seen = evidence._replace(
        baseline=np.array([-1 if plan.baseline is None or not compared else plan.baseline])
    )
    alive = evidence.alive.copy()
    with rules_in_words(plan.policy):
        goes_on = bool(course.decide(seen, state, uniforms, size, fresh))
    if state.faults[0]:
        raise InputError(f"policy {plan.policy.name!r}: its rule named an arm that is not alive.")
    left = _rejections(
        plan, seen._replace(alive=alive), state.dropped[: state.dropped_count[0]].tolist()
    )
    return _Decision(goes_on, int(state.phase[0]), fresh.tolist(), left)


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


def _opening(plan: Plan, alive: Mask, standing: Standing, book: Book) -> dict[int, int]:
    """Return the pulls that arms get first of which too little was seen to judge them.

    Those that come back get what they lack, and others what they lost in the last round, if that
    is enough: lost pulls are no reason to withdraw an arm. All of it as there is room.
    """
    wanted = plan.least_pulls
    if not plan.policy.has_phases:
        wanted = max(wanted, plan.first_pulls(standing.budget))
    pulls, least = dict[int, int](), dict[int, int]()
    for arm in np.flatnonzero(alive & ~book.is_seen).tolist():
        lacks = plan.least_pulls - int(book.counts[arm])
        lost = standing.lost[arm] if standing.lost else 0
        if arm not in standing.broken and (arm in standing.back or lost >= lacks):
            pulls[arm] = wanted - int(book.counts[arm]) if arm in standing.back else lost
            least[arm] = lacks
    while pulls and sum(pulls.values()) > standing.left:
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
    """Return who was dropped, one after the other, with the rival and the gap of each."""
    left: list[Rejection] = []
    alive, scales, thresholds = seen.alive, seen.scales, seen.thresholds
    for out in dropped:
        best = apparent_best(seen.estimates, alive, scales, thresholds, seen.priority)
        rival = None if out == best else int(best)
        distance = float(gap(*pair(seen.estimates, best, out, scales, thresholds)))
        left.append(Rejection(out, Cause.REJECTED, rival, distance, policy=plan.policy.name))
        alive[out] = False
    return left


def _first_allocation(plan: Plan, standing: Standing) -> list[int]:
    pulls, phases = plan.opening(standing.budget)
    extra = phases[0].extra if phases else 0
    return [pulls + int(rank < extra) for rank in plan.priority]


def _phase_allocation(
    plan: Plan,
    phases: tuple[Phase, ...],
    phase: int,
    before: Round,
    alive: Mask,
    standing: Standing,
    opening: Mapping[int, int] = MappingProxyType({}),
) -> list[int]:
    """Return what brings every survivor to the total that the phase asks for.

    By totals, so that a budget raised in between, or an arm that comes back, takes effect from
    this phase on. Arms in the `opening` get at least the pulls that they lack.
    """
    total = sum(one.pulls for one in phases[: phase + 1])
    allocation = [0] * plan.arm_count
    ranked = sorted(np.flatnonzero(alive), key=lambda arm: int(plan.priority[arm]))
    for place, arm in enumerate(ranked):
        lacks = total + int(place < phases[phase].extra) - standing.had(before, int(arm))
        allocation[arm] = max(0, lacks, opening.get(int(arm), 0))
    while sum(allocation) > standing.left:  # earlier phases' extra pulls may leave one too few
        spare = [count - opening.get(arm, 0) for arm, count in enumerate(allocation)]
        allocation[int(np.argmax(spare))] -= 1
    return allocation


def answer_of(plan: Plan, alive: Mask, snapshot: Snapshot) -> tuple[int, bool]:
    """Return the arm that the policy would name now, and whether it looks feasible."""
    evidence = snapshot.evidence(alive, plan.priority)
    course = plan.policy.course
    state = course.make_state(Opening(0), plan.arm_count, len(evidence.scales), 0)
    with rules_in_words(plan.policy):
        arm, flag = course.answer(evidence, state)
    return int(arm), bool(flag)


def apparent_answer(plan: Plan, alive: Mask, snapshot: Snapshot) -> tuple[int, bool]:
    """Return the arm that looks best by its estimates alone, and whether it looks feasible."""
    arm, flag = apparent_answer_to(snapshot.evidence(alive, plan.priority), None)
    return int(arm), bool(flag)
