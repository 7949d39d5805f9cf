"""How many evaluations may begin in a minute: a bucket of tokens, shared by a process's workers.

Values and a clock; touches nothing.
"""

import math
import threading
import time
from collections.abc import Callable

from ringfence.core.errors import InputError

_MINUTE = 60.0


def rate_of(requests_per_minute: float | None) -> float | None:
    """Return a rate that can be kept, or none."""
    rate = requests_per_minute
    if rate is None:
        return None
    is_number = isinstance(rate, int | float) and not isinstance(rate, bool)
    if not is_number or not math.isfinite(rate) or rate <= 0:
        raise InputError(
            f"requests_per_minute = {rate!r} must be a positive number: how many evaluations may "
            "begin in a minute. Write one, such as 300, or leave it out."
        )
    return float(rate)


class Pace:
    """Tokens for evaluations: never more than `requests_per_minute` of them in any 60 seconds.

    A second's worth of tokens is saved up, so that a worker who comes late loses none. They refill
    a little slower than one would think, since a full bucket counts in the minute that it is
    emptied in. Without a rate there is always one.

    >>> from ringfence.execution.pace import Pace
    >>> clock = iter([0.0, 0.0, 10.0, 60.0])
    >>> pace = Pace(2, now=lambda: next(clock))
    >>> pace.take(5), pace.take(5), pace.take(5)
    (1, 0, 1)
    """

    def __init__(
        self, requests_per_minute: float | None = None, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin with a full bucket."""
        rate = rate_of(requests_per_minute)
        self._is_free = rate is None
        self._now, self._lock = now, threading.Lock()
        self._most = 1.0 if rate is None else max(1.0, math.floor(rate / _MINUTE))
        refilled = 1.0 if rate is None else rate - (self._most - 1.0)
        self._gap = _MINUTE / refilled
        self._tokens, self._then = self._most, now()

    def take(self, count: int) -> int:
        """Take up to so many tokens; return how many there were."""
        if self._is_free:
            return count
        with self._lock:
            self._refill()
            taken = min(count, math.floor(self._tokens + 1e-9))
            self._tokens -= taken
            return taken

    def give_back(self, count: int) -> None:
        """Return tokens for which nothing began."""
        if not self._is_free:
            with self._lock:
                self._tokens = min(self._most, self._tokens + count)

    @property
    def seconds(self) -> float:
        """How long until there is a token."""
        if self._is_free:
            return 0.0
        with self._lock:
            self._refill()
            return max(0.0, 1.0 - self._tokens) * self._gap

    def _refill(self) -> None:
        now = self._now()
        self._tokens = min(self._most, self._tokens + (now - self._then) / self._gap)
        self._then = now
