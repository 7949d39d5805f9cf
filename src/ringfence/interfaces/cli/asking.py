"""The three questions of `ringfence init`, asked on a terminal. Touches the terminal only."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ringfence.core.errors import InputError, one_of
from ringfence.core.expressions import parse_constraint, parse_objective
from ringfence.interfaces import drafts
from ringfence.interfaces.checking import arms_of
from ringfence.interfaces.cli import output
from ringfence.interfaces.drafts import ByCommand, ByPython, ByTable, Draft

T = TypeVar("T")
WAYS = ("command", "python", "table")


def named_arms(text: str) -> tuple[str, ...]:
    """Read names with commas between; one that holds a comma goes in double quotes."""
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise InputError(f"arms = {text!r} cannot be read: {error}. Close the quotes.") from None
    return tuple(arms_of([name.strip() for row in rows for name in row if name.strip()]))


def asked(known: Draft, budget: int | str | None) -> Draft:
    """Ask what is to be chosen, by what, and how it is measured; a mistake is asked again."""
    output.say("1. What are the options? Their names, with commas between.")
    arms = _answer("   options", named_arms, example="small, medium, large")
    output.say("\n2. What is to be optimised, and what are the limits?")
    output.say("   A statistic of what you measure: x (its mean), p95(x), share(x > 200), ...")
    objective = _answer("   objective", _objective, example="maximize mean(score)")
    constraints = list[str]()
    question = "   limit, or nothing (such as: p95(latency_ms) <= 200)"
    while further := _answer(question, lambda text: text and _constraint(text)):
        constraints.append(further)
        question = "   another limit (or nothing)"
    output.say("\n3. How is an option evaluated, once?")
    output.say("   command: a program that prints JSON; python: a function; table: logged rows")
    ways: dict[str, Callable[[], ByCommand | ByPython | ByTable]] = {
        "command": _command,
        "python": lambda: _python(known.name),
        "table": _table,
    }
    way = ways[_answer("   way", _way, default="python")]()
    draft = replace(known, arms=arms, objective=objective, constraints=tuple(constraints), way=way)
    if budget is None:
        suggested = drafts.suggested_budget(draft.problem, len(arms))
        asks = "   budget, in evaluations of one option"
        budget = _answer(asks, _budget, default=str(suggested))
    output.say("")
    return replace(draft, budget=budget)


def _answer(
    question: str, read: Callable[[str], T], *, default: str | None = None, example: str = ""
) -> T:
    """Ask until the answer can be read."""
    hint = f" [{default}]" if default is not None else f" (such as: {example})" if example else ""
    while True:
        text = input(f"{question}{hint}: ").strip()
        try:
            return read(text or (default or ""))
        except InputError as error:
            output.say(f"   {error}")


def _objective(text: str) -> str:
    return str(parse_objective(text)) and text


def _constraint(text: str) -> str:
    return str(parse_constraint(text)) and text


def _way(text: str) -> str:
    found = [way for way in WAYS if text and way.startswith(text.lower())]
    if not found:
        raise one_of("way", text, WAYS)
    return found[0]


def _command() -> ByCommand:
    output.say("   {arm} and {seed} are filled in; it is no shell line.")
    return _answer("   command", ByCommand.of, default=drafts.EXAMPLE_PROGRAM)


def _python(study: str) -> ByPython:
    default = ByPython.named_after(study)
    return _answer("   function", ByPython.of, default=f"{default.module}:{default.function}")


def _table() -> ByTable:
    path = _answer("   CSV or Parquet file", _file)
    return ByTable(path, _answer("   the column that names the option", str, default="arm"))


def _file(text: str) -> str:
    if not Path(text).is_file():
        raise InputError(f"table = {text!r} is no file. Give a CSV or Parquet file.")
    return text


def _budget(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"budget = {text!r} must be a whole number of pulls, 1 or more.")
    return int(text)
