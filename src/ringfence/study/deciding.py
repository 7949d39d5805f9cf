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
from ringfence.core.baseline import add_choice, kept_beside, sparing
from ringfence.core.errors import InputError
from ringfence.core.gaps import apparent_best, gap, margin, pair
from ringfence.core.noise import NOISE_EDITION
from ringfence.core.problem import Problem
from ringfence.core.schedule import Phase
from ringfence.core.stated import StatedNoise
from ringfence.core.streams import order_of_arms, round_stream
from ringfence.policies.policy import AdaptivePolicy, Evidence, PhasePolicy, Policy
from ringfence.policies.registry import find_policy
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
    def of(cls, definition: Definition, functions: Functions | None = None) -> "Plan":
        """Read a definition's expressions and find its policy."""
        problem = Problem.parse(definition.objective, definition.constraints, functions=functions)
        return cls(definition, problem, find_policy(definition.policy))

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
            self.definition.noise, self.problem, recorded=self.definition.metrics
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

    def phases(self, budget: int) -> tuple[Phase, ...]:
        """Return the phases of a phase policy."""
        if isinstance(self.policy, AdaptivePolicy):
            return ()
        return self.policy.phases(self.arm_count, budget, least=self.least_pulls)

    def first_pulls(self, budget: int) -> int:
        """Return what each arm gets in the first round; a budget without room is refused."""
        if isinstance(self.policy, PhasePolicy):
            return self.phases(budget)[0].pulls
        wanted = self.problem.judged.first_pulls
        return self.policy.first_pulls(
            self.arm_count, budget, least=self.least_pulls, wanted=wanted
        )

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
    if isinstance(plan.policy, AdaptivePolicy):
        allocation = [opening.get(arm, 0) for arm in range(plan.arm_count)]
        if not opening:
            allocation = _batch(plan.policy, plan, before, evidence, standing)
        is_last = sum(allocation) == 0
        phase = before.phase + 1
        return _round(plan, before, phase, allocation, alive, left, seen, is_last=is_last)
    phases = plan.phases(standing.budget)
    if standing.budget != before.seen["budget"] or standing.back or opening:
        allocation = _phase_allocation(plan, phases, before.phase, before, alive, standing, opening)
        if sum(allocation) > 0:
            return _round(plan, before, before.phase, allocation, alive, left, seen)
    left += _reject(plan.policy, evidence, phases[before.phase].keep, plan.baseline)
    phase = before.phase + 1
    if phase == len(phases):
        nothing = [0] * plan.arm_count
        return _round(plan, before, before.phase, nothing, alive, left, seen, is_last=True)
    allocation = _phase_allocation(plan, phases, phase, before, alive, standing)
    return _round(plan, before, phase, allocation, alive, left, seen)


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
    if isinstance(plan.policy, AdaptivePolicy):
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


def _reject(
    policy: PhasePolicy, evidence: Evidence, keep: int, baseline: int | None
) -> list[Rejection]:
    """Let the policy drop arms until so many are left; a baseline is never dropped."""
    left: list[Rejection] = []
    alive, scales, thresholds = evidence.alive, evidence.scales, evidence.thresholds
    if policy.reject is None:
        return left
    seen = (evidence.estimates, evidence.counts, alive, scales, thresholds, evidence.priority)
    while alive.sum() > (keep if baseline is None else kept_beside(keep)):
        best = apparent_best(evidence.estimates, alive, scales, thresholds, evidence.priority)
        out = policy.reject(*seen) if baseline is None else sparing(policy.reject)(*seen, baseline)
        if out < 0 or out >= len(alive) or not alive[out]:
            raise InputError(f"policy {policy.name!r}: its rule named an arm that is not alive.")
        rival = None if out == best else int(best)
        distance = gap(*pair(evidence.estimates, best, out, scales, thresholds))
        why = Rejection(int(out), Cause.REJECTED, rival, float(distance), policy=policy.name)
        left.append(why)
        alive[out] = False
    return left


def _first_allocation(plan: Plan, standing: Standing) -> list[int]:
    pulls = plan.first_pulls(standing.budget)
    if isinstance(plan.policy, PhasePolicy):
        extra = plan.phases(standing.budget)[0].extra
        return [pulls + int(rank < extra) for rank in plan.priority]
    return [pulls] * plan.arm_count


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


def _batch(
    policy: AdaptivePolicy, plan: Plan, before: Round, evidence: Evidence, standing: Standing
) -> list[int]:
    size = min(plan.definition.batch, standing.left)
    allocation: Integers = np.zeros(plan.arm_count, np.int64)
    if size <= 0:
        return [0] * plan.arm_count
    uniforms = round_stream(plan.definition.seed, before.number + 1).random(size)
    chosen = np.full(size, -1)
    work = policy.make_work(plan.arm_count, len(evidence.scales))
    policy.choose(evidence, uniforms, chosen, work)
    baseline = plan.baseline if plan.problem.is_relative else None
    for arm in chosen:
        if arm < 0 or arm >= plan.arm_count or not evidence.alive[arm]:
            raise InputError(f"policy {policy.name!r}: its rule named an arm that is not alive.")
        if baseline is None:
            allocation[arm] += 1
        else:
            add_choice(allocation, evidence.counts, baseline, int(arm), 1)
    return [int(count) for count in allocation]


def answer_of(plan: Plan, alive: Mask, snapshot: Snapshot) -> tuple[int, bool]:
    """Return the arm that the policy would name now, and whether it looks feasible."""
    evidence = snapshot.evidence(alive, plan.priority)
    if isinstance(plan.policy, AdaptivePolicy):
        work = plan.policy.make_work(plan.arm_count, len(evidence.scales))
        arm, flag = plan.policy.answer(evidence, work)
        return int(arm), bool(flag)
    return apparent_answer(plan, alive, snapshot)


def apparent_answer(plan: Plan, alive: Mask, snapshot: Snapshot) -> tuple[int, bool]:
    """Return the arm that looks best by its estimates alone, and whether it looks feasible."""
    evidence = snapshot.evidence(alive, plan.priority)
    best = apparent_best(
        evidence.estimates, alive, evidence.scales, evidence.thresholds, evidence.priority
    )
    flag = margin(evidence.estimates, best, evidence.scales, evidence.thresholds) <= 0.0
    return int(best), bool(flag)
