"""Why an evaluation failed: of itself, of its time, or because the service was not to be had.

A service that is busy or down says nothing of the arm: such failures are never charged. May touch
core.
"""

import math
from collections.abc import Iterator
from typing import Any

from ringfence.core.errors import InputError, RingfenceError
from ringfence.core.strict import read_json

UNAVAILABLE_CODES = frozenset({429, 500, 502, 503, 504, 529})
_STATUS_NAMES = ("status_code", "status", "code")  # as HTTP clients call it
_LONGEST_WAIT_SECONDS = 3600.0
_LONGEST_SECONDS = 1e6  # the operating system waits no longer than 24 days for a program


class EvaluationError(RingfenceError):
    """An evaluation failed; its message is kept with the pull.

    `cost` is what it cost all the same, where an error says so, and `out` what a program printed.
    """

    cost: float | None = None
    out = b""
    timed_out = False
    unavailable = False
    retry_seconds = 0.0


class TimedOutError(EvaluationError):
    """An evaluation took longer than it may."""

    timed_out = True


class UnavailableError(EvaluationError):
    """The service that an evaluation needs is busy or down: try again later, charge nothing.

    Raise it in a function where a client has an error of its own for that. `retry_seconds` is how
    long to wait at least.

    >>> import ringfence as rf
    >>> raise rf.UnavailableError("the queue is full", retry_seconds=5)
    Traceback (most recent call last):
        ...
    ringfence.execution.failures.UnavailableError: the queue is full
    """

    unavailable = True

    def __init__(self, what: str = "", retry_seconds: float = 0.0) -> None:
        """Keep how long to wait at least beside what happened."""
        super().__init__(what)
        if not (isinstance(retry_seconds, int | float) and math.isfinite(retry_seconds)):
            raise InputError(
                f"retry_seconds = {retry_seconds!r} must be a number of seconds. Write one, or "
                "leave it out."
            )
        self.retry_seconds = min(max(0.0, float(retry_seconds)), _LONGEST_WAIT_SECONDS)


def require_timeout(seconds: float | None) -> None:
    """Refuse a time that nobody could keep, or that cannot be waited for."""
    if seconds is not None and not 0.0 < seconds <= _LONGEST_SECONDS:
        raise InputError(
            f"timeout_seconds = {seconds!r} must be above 0 and at most {_LONGEST_SECONDS:,.0f}. "
            "Write such a time, or leave it out: evaluations may then take as long as they like."
        )


def failure_of(error: BaseException) -> EvaluationError:
    """Return the failure of an evaluation that raised something, in words."""
    found = _kind_of(error)
    found.cost = _price(getattr(error, "cost", None))
    return found


def cost_of(error: EvaluationError, metric: str) -> float | None:
    """Return what a failed evaluation cost: as its error says, or a program printed as a metric."""
    if error.cost is not None or not error.out:
        return error.cost
    try:
        found = read_json(error.out)
    except (InputError, ValueError):
        return None
    return _price(found.get(metric)) if isinstance(found, dict) else None


def _price(cost: object) -> float | None:
    """Return what can be the price of a pull: a finite number that is not below 0."""
    if not isinstance(cost, int | float) or isinstance(cost, bool):
        return None
    return float(cost) if math.isfinite(cost) and cost >= 0 else None


def _kind_of(error: BaseException) -> EvaluationError:
    if isinstance(error, EvaluationError):
        return error
    if isinstance(error, SystemExit):
        return EvaluationError(
            f"it called sys.exit({'' if error.code is None else repr(error.code)})"
        )
    what = f"{type(error).__name__}: {error}"
    for one in _with_causes(error):
        if (said := _status_of(one)) is not None and said[0] in UNAVAILABLE_CODES:
            return UnavailableError(what, _retry_seconds(said[1]))
    return TimedOutError(what) if isinstance(error, TimeoutError) else EvaluationError(what)


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and those that it was raised from."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__


def _status_of(error: BaseException) -> tuple[int, Any] | None:
    """Return the HTTP status that a client's error has, and the headers beside it."""
    response = getattr(error, "response", None)
    for holder in (error, response):
        for name in _STATUS_NAMES:
            code = getattr(holder, name, None)
            if isinstance(code, int) and not isinstance(code, bool):
                headers = getattr(error, "headers", None) or getattr(response, "headers", None)
                return int(code), headers
    return None


def _retry_seconds(headers: Any) -> float:
    """Return the seconds of Retry-After; a date there is not read."""
    try:
        seconds = float(headers.get("retry-after") or headers.get("Retry-After") or 0.0)
    except (AttributeError, TypeError, ValueError):
        return 0.0
    return seconds if math.isfinite(seconds) else 0.0
