"""Ways to evaluate a pull: a command, a Python function, a table of logged rows.

An evaluation gets an `Order` and returns metrics, or raises `EvaluationError`. It never decides and
never writes to a study. May touch study, core, and what the user named.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from ringfence.core.arrays import Floats
from ringfence.core.errors import InputError, ShapeError, closest
from ringfence.core.streams import Generator, pull_stream
from ringfence.core.strict import read_json
from ringfence.execution.failures import (
    EvaluationError,
    TimedOutError,
    UnavailableError,
    require_timeout,
)
from ringfence.execution.functions import AsyncFunction, Function, is_asynchronous
from ringfence.execution.orders import Order
from ringfence.execution.programs import Programs

_MOST_WORDS = 400
_TRY_LATER = 75  # EX_TEMPFAIL of sysexits.h
_OF_PULLS = ("arm", "seed", "pull")  # what every command may name, whatever keys arms have
_OF_ORDER = ("item", "ordinal")  # and these, where arms have no such keys
_EACH_ANOTHER = ("{seed}", "{pull}", "{item}", "{ordinal}")
_NAMED = re.compile(r"\{(\w+)\}")


Evaluate: TypeAlias = Callable[[Order], Any]
"""Gives metrics, or something to await that gives them."""


@dataclass(frozen=True)
class Command:
    """Runs a program and reads one JSON object of metrics from its standard output.

    An argument list, never a shell line: whatever an arm is called, it stays one argument.

    >>> import sys
    >>> import ringfence as rf
    >>> program = "import json, sys; print(json.dumps({'size': len(sys.argv[1]), 'risk': 0}))"
    >>> study = rf.Study.create(
    ...     "sizes",
    ...     arms=["short", "very long"],
    ...     objective="minimize mean(size)",
    ...     constraints="mean(risk) <= 1",
    ...     budget=6,
    ...     policy="uniform",
    ...     storage="memory://",
    ... )
    >>> study.optimize(rf.Command([sys.executable, "-c", program, "{arm}"])).arm
    'short'
    """

    arguments: Sequence[str]
    timeout_seconds: float | None = None
    folder: str | None = None

    def __post_init__(self) -> None:
        """Refuse a time that no program could keep, or that cannot be waited for."""
        require_timeout(self.timeout_seconds)

    def require_runnable(
        self, arms: Mapping[str, Mapping[str, Any]], *, has_items: bool = False
    ) -> None:
        """Refuse a program that cannot be run here, or not for all arms, before pulls fail of it.

        One that is named after the seed, the pull or its item is known only when that is.
        """
        if not self.arguments:
            raise InputError("command = [] must name a program. Add it.")
        _require_keys(self.arguments, arms, has_items=has_items)
        program = self.arguments[0]
        if any(word in program for word in _EACH_ANOTHER):
            return
        for one in dict.fromkeys(filled(program, {**arms[arm], "arm": arm}) for arm in arms):
            _require_program(one, Path(self.folder or ""))

    def __call__(self, order: Order) -> Mapping[str, Any]:
        """Run the program for one pull."""
        return self._run(Programs(), order)

    def among(self, programs: Programs) -> Evaluate:
        """Return the evaluation whose programs run among others, to be ended with them."""
        return partial(self._run, programs)

    def _run(self, programs: Programs, order: Order) -> Mapping[str, Any]:
        words = {"ordinal": order.ordinal, **order.keys}
        if order.item is not None:
            words["item"] = on_one_line(order.item)
        words |= {"arm": order.arm, "seed": order.seed, "pull": order.pull}
        arguments = [filled(argument, words) for argument in self.arguments]
        try:
            ended = programs.run(
                arguments, folder=self.folder, timeout_seconds=self.timeout_seconds
            )
        except subprocess.TimeoutExpired:
            raise TimedOutError(
                f"{arguments[0]!r} did not finish within {self.timeout_seconds:g} seconds"
            ) from None
        except (OSError, ValueError) as error:
            raise EvaluationError(f"{arguments[0]!r} cannot be run: {error}") from None
        if ended.code != 0:
            said = _tail(ended.err) or _tail(ended.out) or "nothing"
            kind = UnavailableError if ended.code == _TRY_LATER else EvaluationError
            failure = kind(f"exit code {ended.code}; it said: {said}")
            failure.out = ended.out
            raise failure
        return _metrics(ended.out)


def on_one_line(item: Any) -> str:
    """Return an item as one argument of a program: JSON, unless it is a text or a number."""
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)


def _require_keys(
    arguments: Sequence[str], arms: Mapping[str, Mapping[str, Any]], *, has_items: bool
) -> None:
    """Refuse the name of a key that some arm lacks, and what is nearly the name of one.

    Other names may be meant as they stand: awk's programs are in braces.
    """
    keys = list(dict.fromkeys(key for own in arms.values() for key in own))
    of_pulls = (*_OF_PULLS, "item") if has_items else _OF_PULLS
    for name in (name for argument in arguments for name in _NAMED.findall(argument)):
        if name in _OF_ORDER and name not in (*of_pulls, *keys):
            if name == "item":
                raise InputError(
                    "command names {item}, and the study has no items. Add items to [blocks], or "
                    "take {item} out. What is to stay as it stands has a space: { item }."
                )
            continue
        if name in of_pulls:
            if name in keys:
                raise InputError(
                    f"command names {{{name}}}, which is the pull's own and a key of arms too. "
                    "Give the key of the arms another name."
                )
            continue
        lacking = [arm for arm, own in arms.items() if name not in own]
        meant = closest(name, [*of_pulls, *_OF_ORDER[1:], *keys])
        if name in keys and lacking:
            raise InputError(
                f"command names {{{name}}}, a key that arm {lacking[0]!r} does not have. Give it "
                f"one, or take {{{name}}} out."
            )
        if name not in keys and meant is not None:
            raise InputError(
                f"command names {{{name}}}, a key that no arm has. Did you mean {{{meant}}}? What "
                f"is to stay as it stands has a space: {{ {name} }}."
            )


def _require_program(program: str, folder: Path) -> None:
    """Refuse what is no program on PATH nor, with a slash in its name, seen from the folder."""
    beside, has_place = folder / program, os.sep in program
    if "\0" not in program and shutil.which(str(beside) if has_place else program) is not None:
        return
    is_file = "\0" not in program and beside.is_file()
    if has_place and is_file:
        raise InputError(
            f"command = {program!r} may not be executed. Allow it with: "
            f"chmod +x {shlex.quote(str(beside))}"
        )
    if has_place:
        raise InputError(
            f"command = {program!r} does not exist, seen from {str(folder.resolve())!r}. Correct "
            "the path, or put the program there."
        )
    remedy = f"Write './{program}'." if is_file else "Install it, or give its path."
    raise InputError(f"command = {program!r} is no program on PATH. {remedy}")


def filled(argument: str, words: Mapping[str, Any]) -> str:
    """Return an argument with {arm}, {seed}, {item} and other words filled in.

    Braces around anything else stay as they are, and what is filled in is not read again.
    """
    parts = []
    while argument:
        before, brace, rest = argument.partition("{")
        name, closing, after = rest.partition("}")
        parts.append(before)
        if not brace:
            break
        if closing and name in words:
            parts.append(str(words[name]))
            argument = after
        else:
            parts.append("{")
            argument = rest
    return "".join(parts)


@dataclass(frozen=True, eq=False)
class LoggedRows:
    """Draws a row of logged data for the arm, with replacement, by the pull's seed.

    With `places`, of items among the rows, it takes the arm's row of the pull's item.

    >>> import numpy as np
    >>> import ringfence as rf
    >>> log = {"a": np.array([[0.9, 240.0], [0.8, 260.0]]), "b": np.array([[0.6, 120.0]])}
    >>> study = rf.Study.create(
    ...     "logged",
    ...     arms=list(log),
    ...     objective="maximize mean(score)",
    ...     constraints="mean(latency_ms) <= 200",
    ...     budget=20,
    ...     storage="memory://",
    ...     seed=1,
    ... )
    >>> study.optimize(rf.LoggedRows(["score", "latency_ms"], log)).arm
    'b'
    """

    metrics: Sequence[str]
    rows: Mapping[str, Floats]
    places: Mapping[Any, int] = field(default_factory=dict)

    def __call__(self, order: Order) -> Mapping[str, Any]:
        """Draw a row, or take that of the item."""
        mine = self.rows[order.arm]
        if self.places:
            place = self.places[order.item]
        else:
            rng: Generator = pull_stream(order.seed)
            place = int(rng.integers(len(mine)))
        return dict(zip(self.metrics, mine[place].tolist(), strict=True))


def evaluation_of(evaluate: Callable[..., Any]) -> Evaluate:
    """Return the evaluation that is meant: itself, or that of a function (arm, seed)."""
    if isinstance(evaluate, Command | Function | AsyncFunction | LoggedRows):
        return evaluate
    return AsyncFunction(evaluate) if is_asynchronous(evaluate) else Function(evaluate)


def _metrics(out: bytes) -> Mapping[str, Any]:
    try:
        found = read_json(out)
    except InputError as error:
        raise EvaluationError(f"standard output: {error}") from None
    except ValueError:
        raise EvaluationError(
            f"standard output is no JSON object of metrics, but {_tail(out) or 'empty'!r}"
        ) from None
    if not isinstance(found, dict):
        raise ShapeError(
            f"standard output is {_tail(out)}, not a JSON object of metrics. Print one, such as "
            '{"score": 0.8, "latency_ms": 143}.'
        )
    return found


def _tail(said: bytes) -> str:
    text = said.decode("utf-8", "replace").strip()
    return text if len(text) <= _MOST_WORDS else "..." + text[-_MOST_WORDS:]
