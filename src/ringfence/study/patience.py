"""Rules run as they are while that is quick, and compiled once they have taken long.

A rule is one text. A study of a few arms never waits for a compiler; one of a thousand arms, or an
audit of many decisions, would wait longer without. What compiles is handed in: studies know no
compilers. Both give the same numbers, to the bit. May touch nothing else.
"""

from collections.abc import Callable
from copy import deepcopy
from threading import Thread
from time import perf_counter
from typing import Any, TypeAlias

Function: TypeAlias = Callable[..., Any]
Quicken: TypeAlias = Callable[[Function], Function | None]
"""Returns a function that does the same and is quicker, or None if it knows none."""

PATIENCE = 3.0  # seconds


class Patient:
    """A function that is exchanged for a quicker one when it has taken so many seconds in all.

    Nobody waits for the quicker one: it is made, and tried on copies, on a thread of its own.
    """

    def __init__(
        self, plain: Function, quicken: Quicken | None, *, patience: float = PATIENCE
    ) -> None:
        """Keep the function, and what may make it quicker."""
        self._function, self._quicken, self._left = plain, quicken, patience

    def __call__(self, *arguments: Any) -> Any:
        """Call it, and see how long it takes."""
        if self._quicken is None:
            return self._function(*arguments)
        copies = deepcopy(arguments) if self._left < 0.0 else ()
        started = perf_counter()
        found = self._function(*arguments)
        self._left -= perf_counter() - started
        if copies:
            making, self._quicken = self._quicken, None
            Thread(target=self._exchange, args=(making, copies)).start()
        return found

    def _exchange(self, quicken: Quicken, arguments: tuple[Any, ...]) -> None:
        quick = quicken(self._function)
        if quick is not None:
            quick(*arguments)
            self._function = quick
