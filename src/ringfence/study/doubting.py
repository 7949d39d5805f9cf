"""How likely one arm is what it seems: shares of draws of what the truth may be.

The same draws as the verdict's, with the same caveats. May touch policies and core.
"""

from dataclasses import dataclass

import numpy as np

from ringfence.study.deciding import Plan
from ringfence.study.reading import View
from ringfence.study.verdict import shares_of_draws


@dataclass(frozen=True)
class Doubt:
    """Chances of an arm: to be the best feasible one, and to break a limit."""

    right: float
    breaks: float


def doubt_of(plan: Plan, view: View, arm: int) -> Doubt | None:
    """Return what speaks for and against an arm; None where it was seen too rarely to judge."""
    seen = np.asarray(view.book.is_seen)
    if not seen[arm]:
        return None
    right, _ = shares_of_draws(plan, view.book, seen, arm, feasible=True)
    alone = np.zeros_like(seen)
    alone[arm] = True
    passes, _ = shares_of_draws(plan, view.book, alone, arm, feasible=True)
    return Doubt(right, 1.0 - passes)
