"""Python functions as evaluations: plain ones, and coroutine functions.

They get an `Order` and return metrics, or raise `EvaluationError`. May touch what the user gave.
"""

import asyncio
import inspect
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ringfence.core.errors import InputError, ShapeError
from ringfence.execution.calling import Call
from ringfence.execution.failures import TimedOutError, failure_of, require_timeout
from ringfence.execution.orders import Order


@dataclass(frozen=True)
class Function:
    """Calls a Python function (arm, seed) -> metrics.

    Its parameters may also be any of `arm`, `item`, `seed`, `keys` and `ordinal`, by their names.

    >>> import ringfence as rf
    >>> def evaluate(arm, seed):
    ...     return {"score": len(arm) + seed % 2, "risk": seed % 3}
    >>> study = rf.Study.create(
    ...     "lengths",
    ...     arms=["short", "very long"],
    ...     objective="maximize mean(score)",
    ...     constraints="mean(risk) <= 2",
    ...     budget=40,
    ...     storage="memory://",
    ...     seed=1,
    ... )
    >>> study.optimize(rf.Function(evaluate)).arm  # or study.optimize(evaluate)
    'very long'
    """

    function: Callable[..., Mapping[str, Any]]

    def __post_init__(self) -> None:
        """Refuse what cannot be called, or returns no metrics, before every pull fails of it."""
        if not callable(self.function):
            raise InputError(
                f"evaluate = {self.function!r} must be a function (arm, seed) -> metrics. Give one."
            )
        if is_asynchronous(self.function):
            raise InputError(
                f"evaluate = {self.function!r} gives something to await, and must give metrics. "
                "Use ringfence.AsyncFunction, or hand the function itself to optimize."
            )
        Call.of(self.function)

    def require_items(self, *, has_items: bool) -> None:
        """Refuse a function that asks for an item in a study without, before any pull."""
        if Call.of(self.function).needs_item and not has_items:
            raise without_items(self.function)

    def __call__(self, order: Order) -> Mapping[str, Any]:
        """Call it for one pull."""
        try:
            found = Call.of(self.function).make(self.function, order)
        except (Exception, SystemExit) as error:
            raise failure_of(error) from error
        if inspect.isawaitable(found):
            if inspect.iscoroutine(found):
                found.close()  # or Python warns that nobody awaited it
            raise awaited_in_vain(f"evaluate = {self.function!r}")
        return _mapping(self.function, found)


def _mapping(function: object, found: Any) -> Mapping[str, Any]:
    """Return what a function returned, if it is metrics."""
    if not isinstance(found, Mapping):
        raise ShapeError(
            f"evaluate = {function!r} returned {reprlib.repr(found)}, not a mapping of metrics to "
            "numbers. Return one, such as {'score': 0.8, 'latency_ms': 143}."
        )
    return found


def without_items(function: object) -> InputError:
    """Return the error for a function that asks for an item where there is none."""
    return InputError(
        f"evaluate = {function!r} asks for an item, and the study has none. Give it some, such as "
        "blocks = {'items': 500}, or take the parameter out."
    )


def is_asynchronous(function: Any) -> bool:
    """Tell whether calling it gives something to await: an `async def`, bare or wrapped."""
    while isinstance(function, partial):
        function = function.func
    called = type(function).__call__ if callable(function) else None
    return any(map(inspect.iscoroutinefunction, (function, called)))


def awaited_in_vain(named: str) -> InputError:
    """Return the error for a plain function that turns out to give something to await."""
    return InputError(
        f"{named} gives something to await, and must give metrics. Write it as an async def, or "
        "call what it awaits by asyncio.run."
    )


@dataclass(frozen=True)
class AsyncFunction:
    """Awaits a coroutine function (arm, seed) -> metrics, for at most `timeout_seconds`.

    Its parameters may be others, as those of a `Function`.

    >>> import ringfence as rf
    >>> async def evaluate(arm, seed):
    ...     return {"score": len(arm) + seed % 2, "risk": seed % 3}
    >>> study = rf.Study.create(
    ...     "lengths",
    ...     arms=["short", "very long"],
    ...     objective="maximize mean(score)",
    ...     constraints="mean(risk) <= 2",
    ...     budget=40,
    ...     storage="memory://",
    ...     seed=1,
    ... )
    >>> study.optimize(evaluate, workers=8).arm  # or rf.AsyncFunction(evaluate, timeout_seconds=5)
    'very long'
    """

    function: Callable[..., Any]
    timeout_seconds: float | None = None

    def __post_init__(self) -> None:
        """Refuse what gives nothing to await, and a time that cannot be kept."""
        if not is_asynchronous(self.function):
            raise InputError(
                f"evaluate = {self.function!r} must be a coroutine function (arm, seed) -> "
                "metrics. Write it as an async def, or use it with ringfence.Function."
            )
        require_timeout(self.timeout_seconds)
        Call.of(self.function)

    def require_items(self, *, has_items: bool) -> None:
        """Refuse a function that asks for an item in a study without, before any pull."""
        if Call.of(self.function).needs_item and not has_items:
            raise without_items(self.function)

    async def __call__(self, order: Order) -> Mapping[str, Any]:
        """Await it for one pull."""
        try:
            async with asyncio.timeout(self.timeout_seconds) as limit:
                found = await Call.of(self.function).make(self.function, order)
        except TimeoutError as error:
            if not limit.expired():  # its own
                raise failure_of(error) from error
            raise TimedOutError(
                f"it did not finish within {self.timeout_seconds:g} seconds"
            ) from None
        except (Exception, SystemExit) as error:
            raise failure_of(error) from error
        return _mapping(self.function, found)
