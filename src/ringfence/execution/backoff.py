"""How long an outage is waited for, and what is said of it. Values only; may touch core."""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ringfence.core.errors import InputError

OUTAGE_MINUTES = 30.0
BACKOFF_SECONDS = 60.0
_FIRST_WAIT_SECONDS = 1.0
_LONGEST_SECONDS = 1e9


@dataclass(frozen=True)
class Backoff:
    """How long an outage is waited for, and how long at most between two tries.

    >>> from ringfence.execution.backoff import Backoff
    >>> backoff = Backoff(backoff_seconds=3)
    >>> backoff.after(0.0), backoff.after(1.0), backoff.after(2.0)
    (1.0, 2.0, 3.0)
    """

    outage_minutes: float = OUTAGE_MINUTES
    backoff_seconds: float = BACKOFF_SECONDS

    def __post_init__(self) -> None:
        """Refuse what cannot be waited for."""
        minutes, seconds = self.outage_minutes, self.backoff_seconds
        if not _is_number(minutes) or not 0.0 <= 60.0 * minutes <= _LONGEST_SECONDS:
            raise InputError(
                f"outage_minutes = {minutes!r} must be a number of minutes, 0 or more. Write how "
                "long an outage is waited for, such as 30; 0 ends the run at once."
            )
        if not _is_number(seconds) or not 0.0 < seconds <= _LONGEST_SECONDS:
            raise InputError(
                f"backoff_seconds = {seconds!r} must be a positive number of seconds. Write how "
                "long to wait at most between two tries, such as 60."
            )

    @property
    def outage_seconds(self) -> float:
        """How long an outage is waited for."""
        return 60.0 * self.outage_minutes

    def after(self, wait: float) -> float:
        """Return the wait after a wait; the first is after none."""
        return min(2.0 * wait or _FIRST_WAIT_SECONDS, float(self.backoff_seconds))


@dataclass(frozen=True)
class Outage:
    """What is waited for: how many evaluations failed in a row, over how many arms, and why.

    `is_unavailable` says that the service itself said that it is busy or down.
    """

    failures: int
    arms: int
    error: str
    next_try_seconds: float = 0.0
    is_over: bool = False
    is_unavailable: bool = False

    @property
    def summary(self) -> str:
        """What happened, without what comes next."""
        error = self.error.removesuffix(".")  # a sentence goes on or ends behind it
        if self.is_unavailable:
            return f"the service is busy or down: {error}"
        evaluations = "1 evaluation" if self.failures == 1 else f"{self.failures} evaluations"
        arms = "1 arm" if self.arms == 1 else f"{self.arms} arms"
        return f"{evaluations} in a row failed, over {arms}; the last error: {error}"

    def __str__(self) -> str:
        """Return it in words."""
        if self.is_over and self.is_unavailable:
            return "the service answers again: going on."
        if self.is_over:
            return f"evaluations succeed again, after {self.failures} that failed: going on."
        return (
            f"waiting: {self.summary}. Next try in {math.ceil(self.next_try_seconds)} s. Ctrl-C "
            "stops; nothing of it is charged."
        )


Outaged: TypeAlias = Callable[[Outage], None]
"""Called when an outage is found, about every minute while it lasts, and when it is over."""


def say_in_log(outage: Outage) -> None:
    """Log an outage as a warning: Python writes it to standard error if nobody says otherwise."""
    logging.getLogger("ringfence").warning("%s", outage)


def _is_number(value: Any) -> bool:
    is_plain = isinstance(value, int | float) and not isinstance(value, bool)
    return is_plain and math.isfinite(value)
