"""How likely one arm is what it seems: shares of draws of what the truth may be.

The same draws as the verdict's, with the same caveats. May touch policies and core.
"""

from dataclasses import dataclass

import numpy as np

from ringfence.study.deciding import Answer
from ringfence.study.plan import Plan
from ringfence.study.reading import View
from ringfence.study.verdict import answers_drawn


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
    answers = answers_drawn(plan, view.snapshot, seen, Answer((arm,), arm, feasible=True))
    return Doubt(answers.share([arm], feasible=True), 1.0 - float(answers.passing[arm]))
