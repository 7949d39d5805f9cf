"""A definition made ready to decide: what is asked, by which policy, about which arms.

Everything here follows from the definition alone, and from functions that were handed in. May touch
policies and core.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from ringfence.core.allowance import (
    Allowance,
    require_whole,
)
from ringfence.core.arrays import Integers
from ringfence.core.attributes import Functions
from ringfence.core.errors import InputError
from ringfence.core.money import PULLS
from ringfence.core.pricing import Paid, Pricing, fill_learned, nothing_paid
from ringfence.core.problem import Problem
from ringfence.core.sharing import fill_sharing
from ringfence.core.stated import StatedNoise
from ringfence.core.streams import order_of_arms
from ringfence.policies.course import Course, Opening
from ringfence.policies.policy import MOST_PULLS, Policy
from ringfence.policies.registry import find_policy, require_answer
from ringfence.study.book import Book, least_pulls
from ringfence.study.exhausting import room_of
from ringfence.study.facts import (
    FAILED_METRIC,
    Definition,
    Round,
    StopChange,
)
from ringfence.study.patience import Patient, Quicken
from ringfence.study.sharing import Sharing


@dataclass(frozen=True)
class Plan:
    """A definition made ready to decide: its problem, its policy, its order of arms.

    `stops` are what was said since of when the study ends by proof.
    """

    definition: Definition
    problem: Problem
    policy: Policy
    quicken: Quicken | None = None
    stops: tuple[StopChange, ...] = ()

    @classmethod
    def of(
        cls,
        definition: Definition,
        functions: Functions | None = None,
        policy: Policy | None = None,
        quicken: Quicken | None = None,
    ) -> "Plan":
        """Read a definition's expressions and find its policy, unless it is given.

        `quicken` makes what has taken long quicker.
        """
        problem = Problem.parse(
            definition.objective,
            definition.constraints,
            functions=functions,
            answer=definition.answer,
            units=definition.units,
        )
        chosen = require_answer(policy or find_policy(definition.policy), problem.question)
        return cls(definition, problem, chosen, quicken)

    @property
    def course(self) -> Course:
        """The course of its policy, for what is asked."""
        shares, hours = self.sharing.blocks_of_truth is not None, self.sharing.has_hours
        return self.policy.course_for(
            self.problem.question, shares=shares, hours=hours, proves=bool(self.stop)
        )

    @cached_property
    def stop(self) -> Mapping[str, Any]:
        """What ends the study by proof, as it is now."""
        if not self.stops:
            return self.definition.stop
        latest = self.stops[-1]
        changed = {"confidence": latest.confidence, "within": latest.within}
        return {**self.definition.stop, **changed}

    def under(self, stops: tuple[StopChange, ...]) -> "Plan":
        """Return the plan with what was said of proofs by some moment."""
        if stops == self.stops:
            return self
        return self._others.setdefault(stops, replace(self, stops=stops))

    @cached_property
    def _others(self) -> dict[tuple[StopChange, ...], "Plan"]:
        """The same plan under other stops: what they have worked out is kept."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: what follows from it is worked out again."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def decide(self) -> Patient:
        """What the course decides with."""
        return Patient(self.course.decide, self.quicken)

    @cached_property
    def share(self) -> Patient:
        """What finds out what arms tell of each other."""
        return Patient(fill_sharing, self.quicken)

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

    @cached_property
    def sharing(self) -> Sharing:
        """What pulls of different arms share."""
        return Sharing.of(self.definition)

    def room(self, before: Round | None) -> Integers:
        """Return how many more pulls each arm has items for, after a round."""
        return room_of(self.sharing, before, self.arm_count)

    @property
    def least_pulls(self) -> int:
        """The pulls of an arm without which nothing can be said of it."""
        return least_pulls(self.problem.judged, self.noise)

    @cached_property
    def pricing(self) -> Pricing | None:
        """What was written of prices, where the budget has a unit."""
        kept = self.definition.pricing
        return Pricing.from_dict(kept) if kept else None

    @property
    def require_pricing(self) -> Pricing:
        """What was written of prices, of a study in which some have been."""
        if self.pricing is None:
            raise InputError(f"study {self.definition.name!r} counts pulls, which have no price.")
        return self.pricing

    @property
    def learns_prices(self) -> bool:
        """Whether a metric says what a pull cost."""
        return self.definition.learns_prices

    @cached_property
    def price_column(self) -> int:
        """The place of the metric that says what a pull cost."""
        return self.metrics.index(self.require_pricing.metric or "")

    @cached_property
    def prices(self) -> tuple[int, ...]:
        """What a pull of each arm takes of the budget, as far as it is known at first."""
        if self.learns_prices:
            return self.learned(nothing_paid(self.arm_count))[0]
        return Allowance.or_pulls(0, self.definition.prices, self.arm_count).prices

    def learned(self, paid: Paid) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return what a pull of each arm costs, and what it reserves, by what was paid so far."""
        if not self.learns_prices:
            return self.prices, self.prices
        guesses, caps = self._first_prices
        prices, reserves = np.zeros_like(guesses), np.zeros_like(guesses)
        fill_learned(prices, reserves, paid, guesses, caps)
        return tuple(prices.tolist()), tuple(reserves.tolist())

    @cached_property
    def _first_prices(self) -> tuple[Integers, Integers]:
        """Guesses and caps, by arm; a pull keeps its cap for each time that it may be tried."""
        pricing, tries = self.require_pricing, self.definition.retries + 1
        caps = np.array(pricing.caps, np.int64)
        guesses = np.array(pricing.guesses, np.int64)
        return np.where(guesses > 0, guesses, caps), caps * tries

    def allowance(self, budget: int, prices: Sequence[int] = ()) -> Allowance:
        """Return a budget with the prices of arms, those of the moment where they are learned."""
        return Allowance.or_pulls(require_whole(budget), prices or self.prices, self.arm_count)

    def opening(self, budget: int, prices: Sequence[int] = ()) -> Opening:
        """Return what each arm gets first, and the phases; a budget without room is refused.

        With the `prices` of the moment it is cut as if it had room: something was learned since it
        was accepted.
        """
        allowance = self.allowance(budget, prices)
        pulls = allowance.pulls
        least = self.policy.least_budget(self.arm_count, least=self.least_pulls)
        if self.learns_prices:
            pulls = min(pulls, MOST_PULLS)
        if prices:
            pulls = max(pulls, least)
        elif self.pricing is not None and pulls < least:
            raise self._too_small(budget, pulls, least)
        cut = self.policy.opening(
            self.arm_count,
            pulls,
            least=self.least_pulls,
            wanted=self.problem.judged.first_pulls,
            shares=self.sharing.blocks_of_truth is not None,
        )
        if not prices:
            # Phases end with the items.
            self.sharing.require_enough(self.least_pulls if cut.phases else cut.first_pulls)
        return cut._replace(prices=allowance.prices)

    def _too_small(self, budget: int, pulls: int, least: int) -> InputError:
        pricing = self.require_pricing
        return InputError(
            f'budget = "{pricing.in_words(budget)}" pays for {pulls} pulls at the prices of the '
            f"arms on average, and {self.policy.name} needs {least} for {self.arm_count} arms. "
            "Raise the budget or drop arms."
        )

    @property
    def unit(self) -> str:
        """The unit of the budget."""
        return PULLS if self.pricing is None else self.pricing.unit

    def in_unit(self, amount: int) -> float:
        """Return an amount of the budget in its unit."""
        return amount if self.pricing is None else float(self.pricing.decimal(amount))

    def in_words(self, amount: int) -> str:
        """Return an amount of the budget with its unit, unless it counts pulls."""
        return str(amount) if self.pricing is None else self.pricing.in_words(amount)

    @property
    def pulls_in_words(self) -> str:
        """The word after an amount that counts pulls."""
        return " pulls" if self.pricing is None else ""

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
            prices=self.allowance(0).relative,
            blocks=self.sharing.blocks_of_truth,
            share=self.share,
            has_hours=self.sharing.has_hours,
            watches_time=not self.definition.blocks,
        )
