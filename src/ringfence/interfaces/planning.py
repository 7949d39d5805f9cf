"""Composes the plan of a study before a pull is spent: budget, curve, reasons, alternatives.

May touch every room.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ringfence.core.errors import InputError
from ringfence.core.money import PULLS, Money
from ringfence.interfaces.counting import LEAST_TARGET, Wanted, counted, require_countable
from ringfence.interfaces.rare import Hands, by_importance
from ringfence.policies.policy import Policy
from ringfence.policies.registry import quick_policies_for
from ringfence.reports.notebook_results import plan_html
from ringfence.reports.proofs_taken import needs_of_proofs, proof_facts
from ringfence.simulation.cells import smallest_budget
from ringfence.simulation.experiment import Experiment, scales_for
from ringfence.simulation.funding import in_words, price_of_a_pull, shortened
from ringfence.simulation.instance import Instance
from ringfence.simulation.planning import (
    CAUTION,
    Hard,
    Point,
    first_guess,
    fitted_budget,
    hardest,
    least_budget,
    next_try,
    require_possible,
)
from ringfence.simulation.rare.guards import EFFECTIVE
from ringfence.simulation.rare.importance import LEAST_REPLICATIONS, require_rare
from ringfence.simulation.rare.results import ModeShare
from ringfence.simulation.results import SimulationResult
from ringfence.simulation.variations import relaxed, without

GROWTH = 0.01  # the share of its pulls so far that an adaptive policy decides at once
_LEARNING_GROWTH = 0.03  # the same where it learns the noise, which takes longer
_FINAL_SEED = 7919  # added to the seed, so that the last look is independent of the search
_APART = 0.06  # points of the curve, in relation to each other
_CURVE = (0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.15)
_TOO_MANY = 8  # times the budget of the plan: then a rival is not worth a number
_MOST_DROPPED = 3
_TOLD = (
    "errors this rare are not counted, so the policy is told the noise; a study estimates it and "
    "may need more pulls"
)

Advance = Callable[[str], None]


@dataclass(frozen=True)
class Effort:
    """How many replications an estimate gets, of a phase policy and of an adaptive one.

    And how near two budgets are that need not be told apart by them. Where errors are counted, an
    estimate rests on so many `errors`, and a line through several tells budgets apart.
    """

    phases: int
    adaptive: int
    precision: float
    adaptive_precision: float
    errors: int

    def of(self, policy: Policy) -> int:
        """Return those of a policy."""
        return self.phases if policy.has_phases else self.adaptive

    def precision_of(self, policy: Policy) -> float:
        """Return the precision of a policy's budget."""
        return self.precision if policy.has_phases else self.adaptive_precision


SEARCH = Effort(20_000, 3000, 1.003, 1.01, 100)
FINAL = Effort(60_000, 16_000, 1.0, 1.0, 400)
ROUGH = Effort(4000, 1000, 1.02, 1.05, 30)
_COUNTED_PRECISION, _LINE_CAUTION = 1.05, 1.0
FIRST, FOUND = "first estimate", "found"  # how stages begin that are answers already


@dataclass(frozen=True)
class Alternative:
    """Another way to go, and the budget that it needs; None if far more, or none suffices.

    It is doubtful where few errors carry the estimate: a way to err may be missing.
    """

    what: str
    budget: int | None
    is_rough: bool = True
    is_doubtful: bool = False


@dataclass(frozen=True)
class Plan:
    """The least budget that reaches a target error, and what there is to know about it.

    `point` is the estimate at that budget, independent of the search; `growth` the share of its
    pulls that an adaptive policy was let decide at once. `scales` says whether policies were told
    the noise ("known") or learnt it ("estimated"). With a stop, `proof` is how it went until the
    answer was proven.
    """

    instance: str
    policy: str
    target_error: float
    point: Point
    curve: tuple[Point, ...]
    hardest: tuple[Hard, ...]
    modes: tuple[ModeShare, ...]
    upper_bounds: tuple[float | None, ...]
    oracle_rate: float | None
    growth: float | None
    scales: str
    rivals: tuple[Alternative, ...] = ()
    savings: tuple[Alternative, ...] = ()
    seconds: float = 0.0
    study: dict[str, Any] | None = None
    notes: tuple[str, ...] = field(default=())
    proof: SimulationResult | None = None
    unit: str = PULLS

    @property
    def headline(self) -> str:
        """The plan in a sentence."""
        low, high = self.point.interval
        budget = in_words(self.point.budget, self.unit)
        return (
            f"{self.policy} on {self.instance} needs {budget} for an error of at most "
            f"{self.target_error:g}: {self.point.error_rate:.4g} ({low:.4g} to {high:.4g})"
        )

    @property
    def next_in_words(self) -> str | None:
        """What a tenth more money would add, at half the budget of the plan: a sentence."""
        if self.unit == PULLS or len(self.curve) < 2:
            return None
        budgets = np.log([one.budget for one in self.curve])
        logs = [one.log for one in self.curve]
        start = shortened(0.5 * self.point.budget)
        more = float(f"{start / 10.0:.0e}")
        errors = np.exp(np.interp(np.log([start, start + more]), budgets, logs))
        return (
            f"at {in_words(start, self.unit)}, the next {in_words(more, self.unit)} would raise "
            f"the chance to be right by {errors[0] - errors[1]:.2g}"
        )

    @property
    def proof_in_words(self) -> str | None:
        """What a proof takes, in a sentence."""
        return None if self.proof is None else needs_of_proofs(self.proof)

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        return plan_html(self.headline, self.curve, self.upper_bounds, self.hardest)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan under the keys that other programs rely on."""
        low, high = self.point.interval
        return {
            "instance": self.instance,
            "policy": self.policy,
            "target_error": self.target_error,
            "budget": self.point.budget,
            "unit": self.unit,
            "error_rate": self.point.error_rate,
            "ci_low": low,
            "ci_high": high,
            "hardest": [vars(one) for one in self.hardest],
            "modes": [vars(one) for one in self.modes],
            "curve": [
                {
                    "budget": point.budget,
                    "error_rate": point.error_rate,
                    "std_error": point.std_error,
                    "upper_bound": bound,
                }
                for point, bound in zip(self.curve, self.upper_bounds, strict=True)
            ],
            "rivals": [_entry("policy", one) for one in self.rivals],
            "savings": [_entry("what", one) for one in self.savings],
            "oracle_rate": self.oracle_rate,
            "growth": self.growth,
            "scales": self.scales,
            "study": self.study,
            "notes": list(self.notes),
            "warnings": list(self.point.warnings),
            "seconds": self.seconds,
            **({} if self.proof is None else {"proof": proof_facts(self.proof)}),
        }


@dataclass(frozen=True, eq=False)
class Planner:
    """Plans for one instance, target and noise; `advance` hears what is being done."""

    instance: Instance
    target: float
    hands: Hands
    advance: Advance
    scales: str = "known"
    unit: str = PULLS

    def plan(self, policy: Policy, *, brief: bool) -> Plan:
        """Return the plan for a policy; a brief one has no alternatives."""
        started = time.perf_counter()
        require_possible(self.instance, self.target)
        if not self.is_rare(self.instance, policy):
            require_countable(self.instance.name, self.target)
        guess, how = first_guess(self.instance, policy, self.target)
        self.advance(f"{FIRST}, by {how}: {self.said(guess)}")
        points = self.search(self.instance, policy, SEARCH, "searching", start=guess)
        budget = self.settled(self.instance, policy, points, _LINE_CAUTION)
        point, modes = self.made_sure(policy, budget)
        self.advance(f"{FOUND}: {self.said(point.budget)}")
        curve = self.curve(policy, point, points)
        found = Plan(
            instance=self.instance.name,
            policy=policy.name,
            target_error=self.target,
            point=point,
            curve=curve,
            hardest=tuple(hardest(self.instance)),
            modes=modes,
            upper_bounds=tuple(self.bound(policy, one.budget) for one in curve),
            oracle_rate=None if self.instance.oracle is None else self.instance.oracle.rate,
            growth=None if policy.has_phases else self.growth,
            scales=self.scales,
        )
        if not brief:
            found = replace(
                found,
                rivals=tuple(self.rivals(policy, point)),
                savings=tuple(self.savings(policy, point)),
            )
        if self.unit != PULLS:
            found = _in_money(found, self.unit, float(self.price(self.instance)))
        return replace(found, seconds=time.perf_counter() - started)

    def said(self, pulls: int) -> str:
        """Return a budget of the search in words."""
        if self.unit == PULLS:
            return f"{pulls:,} pulls"
        return in_words(shortened(float(pulls * self.price(self.instance))), self.unit)

    def price(self, instance: Instance) -> Fraction:
        """Return what a pull costs on average: budgets are searched in pulls at this price."""
        return price_of_a_pull(instance, self.unit)

    def bound(self, policy: Policy, budget: int) -> float | None:
        """Return the bound of the paper's Theorem 2, which is on constrained-sr."""
        is_theirs = policy.name == "constrained-sr"
        return self.instance.upper_bound(budget) if is_theirs else None

    def search(
        self, instance: Instance, policy: Policy, effort: Effort, what: str, *,
        start: int, most: float = math.inf,
    ) -> list[Point]:  # fmt: skip
        """Return the points of a search, for `what`; beyond `most` pulls it is given up."""
        is_rare = self.is_rare(instance, policy)

        def rate_at(budget: int) -> Point:
            if budget > most:
                raise InputError(f"{policy.name} needs more than {most:,.0f} pulls.")
            self.advance(f"{what}: {self.said(budget)}")
            return self.look(instance, policy, budget, effort)[0]

        least = self.least(instance, policy)
        return least_budget(
            rate_at, self.target, start=max(least, start), least=least,
            precision=effort.precision_of(policy) if is_rare else _COUNTED_PRECISION,
            caution=CAUTION if is_rare else 0.0,
        )  # fmt: skip

    def settled(
        self, instance: Instance, policy: Policy, points: list[Point], caution: float
    ) -> int:
        """Return the budget that a search settles on: of few counted errors, by all its points."""
        if self.is_rare(instance, policy):
            return points[-1].budget
        least = self.least(instance, policy)
        return fitted_budget(points, self.target, least=least, caution=caution)

    def look(
        self, instance: Instance, policy: Policy, budget: int, effort: Effort, *, more_seed: int = 0
    ) -> tuple[Point, tuple[ModeShare, ...]]:
        """Estimate the error at a budget."""
        experiment = self.experiment(instance, policy, budget)
        hands = replace(self.hands, seed=self.hands.seed + more_seed)
        if _is_rare(experiment):
            found = by_importance(experiment, effort.of(policy), hands, cross_check=False)
            few = any(one.what == EFFECTIVE and not one.ok for one in found.checks)
            point = Point(
                budget, found.error_rate, found.std_error, found.interval, found.warnings, few
            )
            return point, found.modes
        wanted = Wanted(self.target, effort.errors, whole=effort is FINAL)
        return replace(counted(experiment, wanted, hands), budget=budget), ()

    @property
    def growth(self) -> float:
        """The share of its pulls so far that an adaptive policy decides at once."""
        return GROWTH if self.scales == "known" else _LEARNING_GROWTH

    def experiment(self, instance: Instance, policy: Policy, budget: int) -> Experiment:
        """Return what is replicated at a budget."""
        growth = 0.0 if policy.has_phases else self.growth
        funds: Any = budget
        if self.unit != PULLS:
            funds = Money(Decimal(f"{float(budget * self.price(instance)):.9g}"), self.unit)
        return Experiment.funded(instance, policy, funds, growth=growth, scales=self.scales)

    def is_rare(self, instance: Instance, policy: Policy) -> bool:
        """Tell whether errors are estimated however rare, or counted."""
        least = self.least(instance, policy)
        return _is_rare(self.experiment(instance, policy, least))

    def least(self, instance: Instance, policy: Policy) -> int:
        """Return the least budget that the policy takes here."""
        return smallest_budget(instance, policy, scales=self.scales)

    def made_sure(self, policy: Policy, budget: int) -> tuple[Point, tuple[ModeShare, ...]]:
        """Return an estimate that is independent of the search, at a budget that it allows."""
        while True:
            self.advance(f"making sure: {self.said(budget)}")
            point, modes = self.look(self.instance, policy, budget, FINAL, more_seed=_FINAL_SEED)
            if point.error_rate <= self.target:
                return point, modes
            budget = next_try(point, self.target)

    def curve(self, policy: Policy, point: Point, seen: list[Point]) -> tuple[Point, ...]:
        """Return the error over budgets: what the search saw, and some more."""
        least = self.least(self.instance, policy)
        known = {point.budget: point}
        wanted = [round(share * point.budget) for share in _CURVE]
        by_budget = {one.budget: one for one in seen}
        for budget in [*by_budget, *wanted]:
            if budget >= least and all(abs(budget / other - 1.0) > _APART for other in known):
                found = by_budget.get(budget)
                if found is None:
                    self.advance(f"drawing the curve: {self.said(budget)}")
                    found = self.look(self.instance, policy, budget, ROUGH)[0]
                known[budget] = found
        return tuple(known[budget] for budget in sorted(known))

    def rivals(self, policy: Policy, point: Point) -> list[Alternative]:
        """Return what other policies need for the same target."""
        found = [Alternative(policy.name, point.budget, is_rough=False)]
        found += [
            self.rough(other.name, self.instance, other, point)
            for other in quick_policies_for(self.instance.problem.question)
            if other.name != policy.name
        ]
        return sorted(found, key=lambda one: (one.budget is None, one.budget))

    def savings(self, policy: Policy, point: Point) -> list[Alternative]:
        """Return what looser limits, or fewer arms, would need."""
        changed = dict(
            relaxed(self.instance, place) for place in range(len(self.instance.problem.constraints))
        )
        theory = self.instance.hardness
        others = [arm for arm in range(len(theory.arms)) if arm not in theory.optimal_arms]
        others.sort(key=lambda arm: theory.arms[arm].rank)
        for arm in others[:_MOST_DROPPED] if len(others) > 1 else ():
            fewer = without(self.instance, arm)
            if fewer is not None:
                changed[f"without {self.instance.arms[arm]}"] = fewer
        found = []
        for what, instance in changed.items():
            found.append(self.rough(what, instance, policy, point))
        return found

    def rough(self, what: str, instance: Instance, policy: Policy, point: Point) -> Alternative:
        """Return about what a variation needs."""
        try:
            require_possible(instance, self.target)
            most = _TOO_MANY * point.budget
            seen = self.search(instance, policy, ROUGH, what, start=point.budget, most=most)
            budget = self.settled(instance, policy, seen, 0.0)
            if self.unit != PULLS:  # in pulls at the price of the instance itself
                budget = round(budget * self.price(instance) / self.price(self.instance))
        except InputError:
            return Alternative(what, None)
        return Alternative(what, budget, is_doubtful=seen[-1].has_few_errors)


def _entry(key: str, one: Alternative) -> dict[str, Any]:
    """Return an alternative under the keys that other programs rely on."""
    facts = {"budget": one.budget, "rough": one.is_rough, "doubtful": one.is_doubtful}
    return {key: one.what} | facts


def _in_money(found: Plan, unit: str, price: float) -> Plan:
    """Return a plan whose budgets are amounts, and not pulls at the mean price."""

    def amount(pulls: float) -> Any:
        return shortened(pulls * price)

    return replace(
        found,
        unit=unit,
        point=replace(found.point, budget=amount(found.point.budget)),
        curve=tuple(replace(one, budget=amount(one.budget)) for one in found.curve),
        upper_bounds=(None,) * len(found.curve),
        oracle_rate=None,
        rivals=tuple(_priced(one, amount) for one in found.rivals),
        savings=tuple(_priced(one, amount) for one in found.savings),
    )


def _priced(one: Alternative, amount: Callable[[float], Any]) -> Alternative:
    return replace(one, budget=None if one.budget is None else amount(one.budget))


def _is_rare(experiment: Experiment) -> bool:
    if experiment.unit != PULLS:
        return False
    try:
        require_rare(experiment, LEAST_REPLICATIONS)
    except InputError:
        return False
    return True


def plan_instance(
    instance: Instance, policy: Policy, target: float, hands: Hands, advance: Advance | None = None,
    *, scales: str | None = None, brief: bool = False, unit: str | None = None,
) -> Plan:  # fmt: skip
    """Return the plan for an instance; with a `unit` in money, of which it has prices.

    Unless `scales` are stated, an adaptive policy learns the noise, as in a study; where the target
    is too rare to be counted, it is told.
    """
    if instance.has_own:
        raise InputError(
            f"instance {instance.name!r} has functions of your own, which are not compiled: the "
            "many replications of a plan would take too long. Simulate or replay the budgets in "
            "question, or plan from a study."
        )
    say = advance if advance is not None else _silent
    chosen = scales_for(scales, [policy])
    notes: tuple[str, ...] = ()
    if scales is None and chosen == "estimated" and target < LEAST_TARGET:
        chosen, notes = "known", (_TOLD,)
    planner = Planner(instance, target, hands, say, chosen, unit or PULLS)
    found = planner.plan(policy, brief=brief)
    return replace(found, notes=notes)


def _silent(_: str) -> None:
    """Say nothing."""
