"""Compiles what a study has to decide often, where that can be done. May touch simulation."""

from collections.abc import Callable
from typing import Any


def quicken(plain: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return a rule of ours compiled, or None: rules from outside may do what cannot be compiled.

    Where the compiler fails after all, the rule runs as it is.
    """
    try:
        from ringfence.simulation.compilation import CompilationError, compile_kernel, reachable
    except ImportError:
        return None
    if not all(part.__module__.startswith("ringfence.") for part in reachable(plain)):
        return None
    quick = compile_kernel(plain, allocates=False)

    def attempt(*arguments: Any) -> Any:
        nonlocal quick
        try:
            return quick(*arguments)
        except CompilationError:
            quick = plain
            return plain(*arguments)

    return attempt
