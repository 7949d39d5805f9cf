"""What a policy offers: its least budget, and phases with a rejection rule or a choosing rule.

May touch core.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.errors import InputError
from ringfence.core.gaps import apparent_best, margin
from ringfence.core.schedule import Phase, pulls_used

MOST_PULLS = 10**12  # a chunk's sums of pulls stay exact in 64 bits

Reject: TypeAlias = Callable[[Floats, Integers, Mask, Floats, Floats, Integers], int]
"""(estimates, counts, alive, scales, thresholds, priority) -> the arm to drop."""


class Evidence(NamedTuple):
    """What a choosing rule sees of one study.

    `estimates` come from `counts` pulls; `in_flight` are pulls issued and not yet told. Arms that
    are not alive (withdrawn) are left alone. `covariances[arm]` is that of one pull. `left`, of
    one number, are the pulls that may still be issued, those of this batch among them.
    """

    estimates: Floats
    counts: Integers
    in_flight: Integers
    alive: Mask
    covariances: Floats
    scales: Floats
    thresholds: Floats
    priority: Integers
    left: Integers


Choose: TypeAlias = Callable[[Evidence, Floats, Integers, Any], None]
"""(evidence, uniforms, chosen, work): fill `chosen` with the arms to pull next.

A batch is decided whole, one uniform a pull; `work` is room to write in.
"""


Answer: TypeAlias = Callable[[Evidence, Any], tuple[int, bool]]
"""(evidence, work) -> the arm to recommend, and whether it is feasible."""


def apparent_answer(seen: Evidence, work: Any) -> tuple[int, bool]:
    """Answer with the arm that looks best."""
    best = apparent_best(seen.estimates, seen.alive, seen.scales, seen.thresholds, seen.priority)
    return best, margin(seen.estimates, best, seen.scales, seen.thresholds) <= 0.0


def require_budget(name: str, arm_count: int, budget: int, least: int) -> int:
    """Return the budget as a plain whole number, or refuse it."""
    if not isinstance(budget, Integral):
        raise InputError(f"budget = {budget!r} must be a whole number of pulls. Round it.")
    if budget < least:
        arms = "1 arm" if arm_count == 1 else f"{arm_count} arms"
        raise InputError(
            f"budget = {budget} is too small for {arms}: {name} needs at least {least} "
            "pulls. Raise the budget or drop arms."
        )
    if budget > MOST_PULLS:
        raise InputError(f"budget = {budget} must be at most {MOST_PULLS}. Lower it.")
    return int(budget)


@dataclass(frozen=True)
class AdaptivePolicy:
    """A policy that warms every arm up and then chooses the arms of each batch afresh.

    It spends its budget exactly. `warm_up(arm_count, budget)` is what each arm gets first,
    `make_work(arm_count, attribute_count)` the room that `choose` and `answer` write in. `edition`
    counts the rules that have had this name: raise it with a rule that chooses otherwise, so that
    an audit does not take what the one before it chose for a mistake.

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

    def first_pulls(self, arm_count: int, budget: int, *, least: int = 1, wanted: int = 1) -> int:
        """Return the warm-up of each arm; a budget without room for `least` is refused.

        It is raised to the `wanted` pulls, but not beyond half of the arm's share of the budget.
        """
        needed = max(self.minimum_budget(arm_count), least * arm_count)
        budget = require_budget(self.name, arm_count, budget, needed)
        raised = min(wanted, budget // (2 * arm_count))
        own = self.warm_up(arm_count, budget)
        if not isinstance(own, Integral) or own * arm_count > budget:
            raise InputError(
                f"policy {self.name!r}: the warm-up for {arm_count} arms and {budget} pulls must "
                f"be a whole number, at most {budget // arm_count} for each arm. Mend its warm_up: "
                f"{own!r}"
            )
        return max(least, raised, int(own))


@dataclass(frozen=True)
class PhasePolicy:
    """A policy that pulls every survivor alike, phase by phase, and drops arms between phases.

    `reject` is None for a policy that never drops an arm; `by_gaps` tells whether it drops the
    largest gap, for those who explain what was dropped. `weights(scales)` are for a policy that
    drops the largest weighted sum of attributes, for those who say how often it errs. The answer is
    always the arm that looks best among the survivors. `edition` counts the rules that have had
    this name.

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

    def phases(self, arm_count: int, budget: int, *, least: int = 1) -> tuple[Phase, ...]:
        """Return the phases for a budget, which must reach the policy's minimum.

        That is the least budget whose first phase pulls every arm `least` times: noise can be
        estimated from two pulls, not from one.
        """
        needed = self.minimum_budget(arm_count)
        while least > 1 and self._sound_phases(arm_count, needed)[0].pulls < least:
            needed += 1
        budget = require_budget(self.name, arm_count, budget, needed)
        return self._sound_phases(arm_count, budget)

    def _sound_phases(self, arm_count: int, budget: int) -> tuple[Phase, ...]:
        """Cut a budget, or refuse a schedule that gives estimates of nothing or spends too much."""
        phases = self.schedule(arm_count, budget)
        if not isinstance(phases, tuple | list) or not all(map(_is_phase, phases)):
            raise InputError(
                f"policy {self.name!r}: the phases for {arm_count} arms and {budget} pulls must be "
                "a tuple of Phase(pulls, extra, keep), in whole numbers. Mend its schedule: "
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
                    f"must {rule}. Mend its schedule: {list(phases)}"
                )
        return tuple(phases)


def _is_phase(phase: object) -> bool:
    return isinstance(phase, Phase) and all(isinstance(number, Integral) for number in phase)


Policy: TypeAlias = PhasePolicy | AdaptivePolicy
