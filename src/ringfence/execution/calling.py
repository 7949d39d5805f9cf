"""How a function is called for a pull: its parameters say by their names what it wants to know.

A function of other names is called as (arm, seed). Touches its arguments only.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ringfence.core.errors import InputError, nearest
from ringfence.execution.orders import Order

NAMES = ("arm", "item", "seed", "keys", "ordinal")
_BY_PLACE = ("arm", "seed")
_PLACED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class Call:
    """What a function is given: some by place, the others by name."""

    placed: tuple[str, ...] = _BY_PLACE
    named: tuple[str, ...] = ()
    needs_item: bool = False

    @classmethod
    def of(cls, function: Callable[..., Any]) -> "Call":
        """Read a function's parameters; one that nothing is known for is refused."""
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):  # written in C: it does not say
            return cls()
        kinds = {one.kind for one in parameters}
        if inspect.Parameter.VAR_POSITIONAL in kinds:
            return cls()
        if not parameters or kinds == {inspect.Parameter.VAR_KEYWORD}:
            return cls((), NAMES if parameters else ())
        first = [one for one in parameters if one.kind in _PLACED][: len(_BY_PLACE)]
        strange = [one.name for one in first if one.name not in NAMES]
        by_name = [one for one in first if one.name in NAMES and one.name not in _BY_PLACE]
        is_placed = len(first) == len(_BY_PLACE) and bool(strange) and not by_name
        placed = list(_BY_PLACE) if is_placed else []
        if not is_placed:  # what may be given by place alone
            placed = [one.name for one in first if one.kind == inspect.Parameter.POSITIONAL_ONLY]
        others = [one for one in parameters if one.kind != inspect.Parameter.VAR_KEYWORD]
        others = others[len(placed) :]
        needed = [*placed, *(one.name for one in others if one.default is one.empty)]
        for name in needed:
            if name not in NAMES:
                raise _nothing_for(function, name)
        named = [one.name for one in others if one.name in NAMES]
        return cls(tuple(placed), tuple(named), "item" in needed)

    def make(self, function: Callable[..., Any], order: Order) -> Any:
        """Call a function for a pull; where there is no item, its default for it stays."""
        by_name = [name for name in self.named if name != "item" or order.item is not None]
        return function(
            *(getattr(order, name) for name in self.placed),
            **{name: getattr(order, name) for name in by_name},
        )


def _nothing_for(function: Callable[..., Any], name: str) -> InputError:
    known, hint = ", ".join(NAMES), nearest(name, NAMES)
    return InputError(
        f"evaluate = {function!r} has a parameter {name!r}, for which nothing is given: its "
        f"parameters may be {known}. Rename it, or write (arm, seed).{hint}"
    )
