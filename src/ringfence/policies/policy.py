"""What a policy offers: its least budget, its phases and its rejection rule.

May touch core.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import TypeAlias

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.errors import InputError
from ringfence.core.schedule import Phase, pulls_used

MOST_PULLS = 10**12  # a chunk's sums of pulls stay exact in 64 bits

Reject: TypeAlias = Callable[[Floats, Integers, Mask, Floats, Floats, Integers], int]
"""(estimates, counts, alive, scales, thresholds, priority) -> the arm to drop."""


@dataclass(frozen=True)
class PhasePolicy:
    """A policy that pulls every survivor alike, phase by phase, and drops arms between phases.

    `reject` is None for a policy that never drops an arm. The answer is always the arm that
    looks best among the survivors.
    """

    name: str
    summary: str
    schedule: Callable[[int, int], tuple[Phase, ...]]
    minimum_budget: Callable[[int], int]
    reject: Reject | None

    def phases(self, arm_count: int, budget: int) -> tuple[Phase, ...]:
        """Return the phases for a budget, which must reach the policy's minimum."""
        if not isinstance(budget, Integral):
            raise InputError(f"budget = {budget!r} must be a whole number of pulls. Round it.")
        budget = int(budget)
        least = self.minimum_budget(arm_count)
        if budget < least:
            arms = "1 arm" if arm_count == 1 else f"{arm_count} arms"
            raise InputError(
                f"budget = {budget} is too small for {arms}: {self.name} needs at least {least} "
                "pulls. Raise the budget or drop arms."
            )
        if budget > MOST_PULLS:
            raise InputError(f"budget = {budget} must be at most {MOST_PULLS}. Lower it.")
        phases = self.schedule(arm_count, budget)
        self._require_sound(phases, arm_count, budget)
        return phases

    def _require_sound(self, phases: tuple[Phase, ...], arm_count: int, budget: int) -> None:
        """Refuse a schedule that would give estimates of nothing, or spend too much."""
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
