"""What a policy offers: its least budget, its phases and its rejection rule.

May touch core.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import TypeAlias

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.errors import InputError
from ringfence.core.schedule import Phase

MOST_PULLS = 2**53  # counts of pulls stay exact as floats up to here

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
            raise InputError(f"budget = {budget!r} must be a whole number of pulls.")
        least = self.minimum_budget(arm_count)
        if budget < least:
            arms = "1 arm" if arm_count == 1 else f"{arm_count} arms"
            raise InputError(
                f"budget = {budget} is too small for {arms}: {self.name} needs at least {least} "
                "pulls. Raise the budget or drop arms."
            )
        if budget > MOST_PULLS:
            raise InputError(f"budget = {budget} must be at most {MOST_PULLS}. Lower it.")
        return self.schedule(arm_count, budget)
