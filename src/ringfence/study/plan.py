"""A definition made ready to decide: what is asked, by which policy, about which arms.

Everything here follows from the definition alone, and from functions that were handed in. May touch
policies and core.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from ringfence.core.allowance import (
    Allowance,
    require_whole,
)
from ringfence.core.arrays import Integers
from ringfence.core.attributes import Functions
from ringfence.core.problem import Problem
from ringfence.core.sharing import fill_sharing
from ringfence.core.stated import StatedNoise
from ringfence.core.streams import order_of_arms
from ringfence.policies.course import Course, Opening
from ringfence.policies.policy import Policy
from ringfence.policies.registry import find_policy, require_answer
from ringfence.study.book import Book, least_pulls
from ringfence.study.exhausting import room_of
from ringfence.study.facts import (
    FAILED_METRIC,
    Definition,
    Round,
)
from ringfence.study.patience import Patient, Quicken
from ringfence.study.sharing import Sharing


@dataclass(frozen=True)
class Plan:
    """A definition made ready to decide: its problem, its policy, its order of arms."""

    definition: Definition
    problem: Problem
    policy: Policy
    quicken: Quicken | None = None

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
        return self.policy.course_for(self.problem.question, shares=shares, hours=hours)

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
    def prices(self) -> tuple[int, ...]:
        """What a pull of each arm takes of the budget."""
        return self.allowance(0).prices

    def allowance(self, budget: int) -> Allowance:
        """Return a budget with the prices of arms."""
        prices = self.definition.prices
        return Allowance.or_pulls(require_whole(budget), prices, self.arm_count)

    def opening(self, budget: int) -> Opening:
        """Return what each arm gets first, and the phases; a budget without room is refused."""
        allowance = self.allowance(budget)
        cut = self.policy.opening(
            self.arm_count,
            allowance.pulls,
            least=self.least_pulls,
            wanted=self.problem.judged.first_pulls,
            shares=self.sharing.blocks_of_truth is not None,
        )
        if cut.phases:  # they end with the items
            self.sharing.require_enough(self.least_pulls)
        else:
            self.sharing.require_enough(cut.first_pulls)
        return cut._replace(prices=allowance.prices)

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
