"""The name of a way to evaluate, by which a cache tells its answers from those of another way.

Values only; touches nothing.
"""

import json
from functools import partial
from typing import Any

from ringfence.execution.evaluating import Command
from ringfence.execution.functions import AsyncFunction, Function


def way_of(evaluate: Any) -> str:
    """Return how pulls are evaluated: the arguments of a program, or a function's full name.

    What stands in the program or the function is no part of it.
    """
    if isinstance(evaluate, Command):
        return "command " + json.dumps(list(evaluate.arguments))
    named = evaluate.function if isinstance(evaluate, Function | AsyncFunction) else evaluate
    while isinstance(named, partial):
        named = named.func
    if isinstance(said := getattr(named, "way", None), str):  # an object that names itself
        return said
    if not hasattr(named, "__qualname__"):
        named = type(named)
    return f"python {named.__module__}:{named.__qualname__}"
