"""What a policy offers: its least budget, and phases with a rejection rule or a choosing rule.

Both kinds are a `Policy`: whoever runs one, plans with it or reports on it asks it what it must
know, and not which kind it is. May touch core.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

from ringfence.core.allowance import require_whole
from ringfence.core.arrays import Floats
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.errors import InputError
from ringfence.core.question import Question
from ringfence.core.schedule import Phase, pulls_used
from ringfence.policies.course import Course, Opening, choosing, never, phased
from ringfence.policies.evidence import Answer, Choose, Reject, apparent_answer

MOST_PULLS = 10**12  # a chunk's sums of pulls stay exact in 64 bits


def require_budget(name: str, arm_count: int, budget: int, least: int) -> int:
    """Return the budget as a plain whole number, or refuse it."""
    budget = require_whole(budget)
    if budget < least:
        arms = "1 arm" if arm_count == 1 else f"{arm_count} arms"
        raise InputError(
            f"budget = {budget} is too small for {arms}: {name} needs at least {least} "
            "pulls. Raise the budget or drop arms."
        )
    if budget > MOST_PULLS:
        raise InputError(f"budget = {budget} must be at most {MOST_PULLS}. Lower it.")
    return budget


class Policy(ABC):
    """What both kinds of policies answer; make one as a PhasePolicy or an AdaptivePolicy.

    `has_phases` tells whether it decides between phases that its budget sets in advance, and not
    batch by batch. By `by_gaps` and `weights` it may explain whom it drops. `questions` are those
    that it answers.
    """

    name: str
    summary: str
    minimum_budget: Callable[[int], int]
    edition: int
    by_gaps: bool = False
    weights: Callable[[Floats], Floats] | None = None
    questions: tuple[Question, ...] = (BEST_FEASIBLE,)
    has_phases: ClassVar[bool]

    @abstractmethod
    def course_for(
        self,
        question: Question,
        *,
        shares: bool = False,
        hours: bool = False,
        proves: bool = False,
    ) -> Course:
        """Return what whoever runs the policy calls, to answer one of its questions.

        With `shares` arms meet the same blocks, and what they show there is compared. With `hours`
        arms are compared by their pulls in the same hours. One that `proves` is shown the open
        questions of a proof.
        """

    def own(self, question: Question) -> Question | None:
        """Return a question as the policy knows it; None if it does not answer it."""
        return next((one for one in self.questions if one.is_like(question)), None)

    @property
    def course(self) -> Course:
        """What is called to find the best feasible arm."""
        return self.course_for(BEST_FEASIBLE)

    @abstractmethod
    def opening(
        self,
        arm_count: int,
        budget: int,
        *,
        least: int = 1,
        wanted: int = 1,
        shares: bool = False,
    ) -> Opening:
        """Return the first pulls of each arm, and the phases; an unfit budget is refused.

        Without `least` pulls nothing can be said of an arm. A policy that chooses its pulls gives
        each the `wanted` ones first, but at most half of the arm's share of the budget. Where it
        `shares` blocks, arms may be compared after fewer.
        """

    @abstractmethod
    def least_budget(self, arm_count: int, *, least: int = 1) -> int:
        """Return the least budget that is accepted, where each arm must have `least` pulls."""

    @property
    def takes_up_more(self) -> bool:
        """Whether a larger budget can be used when a smaller one has been spent.

        What was dropped for good stays so.
        """
        return not self.has_phases

    def phases(self, arm_count: int, budget: int, *, least: int = 1) -> tuple[Phase, ...]:
        """Return the phases for a budget; there are none if pulls are chosen batch by batch."""
        return self.opening(arm_count, budget, least=least).phases

    def first_pulls(self, arm_count: int, budget: int, *, least: int = 1, wanted: int = 1) -> int:
        """Return what each arm gets before anything is decided."""
        return self.opening(arm_count, budget, least=least, wanted=wanted).first_pulls


@dataclass(frozen=True)
class AdaptivePolicy(Policy):
    """A policy that warms every arm up and then chooses the arms of each batch afresh.

    It spends its budget exactly.

    - `warm_up(arm_count, budget)`: how many pulls each arm gets first.
    - `make_work(arm_count, attribute_count)`: the room that `choose` and `answer` write in.
    - `choose`, `answer`: the rule for the best feasible arm. For other `questions` that a policy
      answers, `choose_for(question)` has the rule, if it is another. The answer is what looks
      right.
    - `edition`: counts the rules that have had this name. Raise it with a rule that chooses
      otherwise, so that an audit does not take what the one before it chose for a mistake.
    - `choose_sharing`, `choose_hours`: the rule for arms that share blocks, or hours. They go by
      the joint covariance, and work in what `make_sharing_work` and `make_hours_work` make. So does
      `answer_sharing`. `warm_up_sharing` is what each arm gets first where arms share blocks.
      Without these only the estimates know what is shared.
    - `choose_proving(choose, shares=...)`: makes of the rule one for pulls that end when the answer
      is proven: it is shown the open questions too.

    >>> import ringfence as rf
    >>> policy = rf.find_policy("top-two")
    >>> isinstance(policy, rf.AdaptivePolicy), policy.warm_up(4, 100)
    (True, 10)
    """

    name: str
    summary: str
    warm_up: Callable[[int, int], int]
    minimum_budget: Callable[[int], int]
    choose: Choose
    make_work: Callable[[int, int], Any]
    answer: Answer = apparent_answer
    edition: int = 1
    questions: tuple[Question, ...] = (BEST_FEASIBLE,)
    choose_for: Callable[[Question], Choose] | None = None
    choose_sharing: Choose | None = None
    make_sharing_work: Callable[[int, int], Any] | None = None
    answer_sharing: Answer | None = None
    warm_up_sharing: Callable[[int, int], int] | None = None
    choose_hours: Choose | None = None
    make_hours_work: Callable[[int, int], Any] | None = None
    choose_proving: Callable[..., Choose] | None = None
    has_phases: ClassVar[bool] = False

    def course_for(
        self,
        question: Question,
        *,
        shares: bool = False,
        hours: bool = False,
        proves: bool = False,
    ) -> Course:
        """Return the course of the warm-up, then batches that the rule chooses."""
        question = self.own(question) or question
        choose, answer, make_work, whole = self._rules(question, shares=shares, hours=hours)
        if proves and self.choose_proving is not None:
            choose = self.choose_proving(choose, shares=shares)
        return choosing(choose, answer, make_work, question, shares=shares, whole=whole)

    def _rules(
        self, question: Question, *, shares: bool, hours: bool
    ) -> tuple[Choose, Answer | None, Callable[[int, int], Any], bool]:
        """Return what chooses, what answers, their room, and whether batches are decided whole."""
        if not question.is_like(BEST_FEASIBLE):
            choose = self.choose if self.choose_for is None else self.choose_for(question)
            return choose, None, self.make_work, False
        if shares and self.choose_sharing is not None:
            make_work = self.make_sharing_work or self.make_work
            return self.choose_sharing, self.answer_sharing, make_work, False
        if hours and self.choose_hours is not None:
            return self.choose_hours, None, self.make_hours_work or self.make_work, True
        return self.choose, self.answer, self.make_work, False

    def least_budget(self, arm_count: int, *, least: int = 1) -> int:
        """Return the policy's own minimum, or what `least` pulls of each arm are."""
        return max(self.minimum_budget(arm_count), least * arm_count)

    def opening(
        self,
        arm_count: int,
        budget: int,
        *,
        least: int = 1,
        wanted: int = 1,
        shares: bool = False,
    ) -> Opening:
        """Return the warm-up, raised to what is needed."""
        needed = self.least_budget(arm_count, least=least)
        budget = require_budget(self.name, arm_count, budget, needed)
        raised = min(wanted, budget // (2 * arm_count))
        few = self.warm_up_sharing if shares else None
        own = (few or self.warm_up)(arm_count, budget)
        if not isinstance(own, Integral) or own * arm_count > budget:
            raise InputError(
                f"policy {self.name!r}: the warm-up for {arm_count} arms and {budget} pulls must "
                f"be a whole number, at most {budget // arm_count} for each arm. Change warm_up: "
                f"{own!r}"
            )
        return Opening(max(least, raised, int(own)))


@dataclass(frozen=True)
class PhasePolicy(Policy):
    """A policy that pulls every survivor alike, phase by phase, and drops arms between phases.

    `reject` is None for a policy that never drops an arm; `by_gaps` tells whether it drops the
    largest gap, for those who explain what was dropped. `weights(scales)` are for a policy that
    drops the largest weighted sum of attributes, for those who say how often it errs. The answer is
    always what looks right among the survivors. `edition` counts the rules that have had this name.
    `reject` is for the best feasible arm; of other `questions` that a policy answers,
    `reject_for(question)` has the rule, if it is another.

    >>> import ringfence as rf
    >>> policy = rf.find_policy("sequential-halving")
    >>> isinstance(policy, rf.PhasePolicy)
    True
    >>> [phase.keep for phase in policy.schedule(8, 400)]
    [4, 2, 1]
    """

    name: str
    summary: str
    schedule: Callable[[int, int], tuple[Phase, ...]]
    minimum_budget: Callable[[int], int]
    reject: Reject | None
    by_gaps: bool = False
    weights: Callable[[Floats], Floats] | None = None
    edition: int = 1
    questions: tuple[Question, ...] = (BEST_FEASIBLE,)
    reject_for: Callable[[Question], Reject] | None = None
    has_phases: ClassVar[bool] = True

    def course_for(
        self,
        question: Question,
        *,
        shares: bool = False,
        hours: bool = False,
        proves: bool = False,
    ) -> Course:
        """Return the course of the phases, with the rule that drops arms between them.

        Arms that share blocks are compared on the same ones: all survivors have seen as many.
        """
        question, rule = self.own(question) or question, self.reject
        if self.reject_for is not None and not question.is_like(BEST_FEASIBLE):
            rule = self.reject_for(question)
        return phased(never if rule is None else rule, question)

    def opening(
        self,
        arm_count: int,
        budget: int,
        *,
        least: int = 1,
        wanted: int = 1,
        shares: bool = False,
    ) -> Opening:
        """Return the phases for a budget, which must reach the policy's minimum."""
        needed = self.least_budget(arm_count, least=least)
        budget = require_budget(self.name, arm_count, budget, needed)
        phases = self._sound_phases(arm_count, budget)
        return Opening(phases[0].pulls, phases)

    def least_budget(self, arm_count: int, *, least: int = 1) -> int:
        """Return the least budget whose first phase pulls every arm `least` times.

        Noise can be estimated from two pulls, not from one.
        """
        needed = self.minimum_budget(arm_count)
        while least > 1 and self._sound_phases(arm_count, needed)[0].pulls < least:
            needed += 1
        return needed

    def _sound_phases(self, arm_count: int, budget: int) -> tuple[Phase, ...]:
        """Cut a budget, or refuse a schedule that gives estimates of nothing or spends too much."""
        phases = self.schedule(arm_count, budget)
        if not isinstance(phases, tuple | list) or not all(map(_is_phase, phases)):
            raise InputError(
                f"policy {self.name!r}: the phases for {arm_count} arms and {budget} pulls must be "
                "a tuple of Phase(pulls, extra, keep), in whole numbers. Change its schedule: "
                f"{phases!r}"
            )
        keeps = [arm_count, *(phase.keep for phase in phases)]
        rules = {
            "pull every arm in the first phase": bool(phases) and phases[0].pulls >= 1,
            "never pull less than nothing": all(p.pulls >= 0 and p.extra >= 0 for p in phases),
            "keep at least one arm, and never more than before": min(keeps) >= 1
            and keeps == sorted(keeps, reverse=True),
            "come with a rejection rule if they drop arms": self.reject is not None
            or keeps[-1] == arm_count,
            "stay within the budget": pulls_used(arm_count, phases) <= budget,
        }
        for rule, holds in rules.items():
            if not holds:
                raise InputError(
                    f"policy {self.name!r}: the phases for {arm_count} arms and {budget} pulls "
                    f"must {rule}. Change its schedule: {list(phases)}"
                )
        return tuple(phases)


def _is_phase(phase: object) -> bool:
    return isinstance(phase, Phase) and all(isinstance(number, Integral) for number in phase)
