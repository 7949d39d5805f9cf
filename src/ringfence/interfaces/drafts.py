"""New study files: what a user wants in, commented TOML and a first evaluation out.

What was typed is only ever written as quoted text, never into comments or code, so that no name can
become anything else. May touch core's expressions; writes nothing.
"""

import json
import keyword
import math
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ringfence.core.attributes import Attribute, Constraint
from ringfence.core.errors import InputError, nearest
from ringfence.core.problem import Problem

EXAMPLE_ARMS: tuple[str, ...] = ("small", "medium", "large")
EXAMPLE_OBJECTIVE = "maximize mean(score)"
EXAMPLE_CONSTRAINTS: tuple[str, ...] = ("mean(latency_ms) <= 200",)
EXAMPLE_PROGRAM = "./evaluate {arm} {seed}"
PLACEHOLDERS = ("arm", "seed", "pull", "item", "ordinal")
_PULLS_AN_ARM, _LEAST_BUDGET = 40, 100
_AMOUNT = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_BRACES = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class ByCommand:
    """A pull is a run of a program."""

    arguments: tuple[str, ...]

    @classmethod
    def of(cls, line: str) -> "ByCommand":
        """Read a command as it would be typed, without a shell's own signs."""
        try:
            arguments = tuple(shlex.split(line or EXAMPLE_PROGRAM))
        except ValueError as error:
            raise InputError(
                f"command = {line!r} cannot be read: {error}. Close the quotes."
            ) from None
        named = [name for word in arguments for name in _BRACES.findall(word)]
        for name in named:
            hint = nearest(name, PLACEHOLDERS)
            if name not in PLACEHOLDERS and hint:
                raise InputError(f"command = {line!r} has no use for {{{name}}}.{hint}")
        if "arm" not in named:
            raise InputError(
                f"command = {line!r} must hold {{arm}}, or all arms are evaluated alike. Add it, "
                f"such as: {EXAMPLE_PROGRAM}"
            )
        return cls(arguments)

    @property
    def line(self) -> str:
        """What the study file says."""
        return f"command = [{', '.join(map(quoted, self.arguments))}]"


@dataclass(frozen=True)
class ByPython:
    """A pull is a call of a function."""

    module: str
    function: str

    @classmethod
    def of(cls, text: str) -> "ByPython":
        """Read "module:function"."""
        module, _, function = text.partition(":")
        if not all(map(_is_name, [*module.split("."), function])):
            raise InputError(
                f"python = {text!r} must read 'module:function', such as 'evaluate_it:evaluate'."
            )
        if module.split(".")[0] in sys.stdlib_module_names:
            raise InputError(f"python = {text!r}: {module} is Python's own. Choose another name.")
        return cls(module, function)

    @classmethod
    def named_after(cls, study: str) -> "ByPython":
        """Return a module's name that no other package is likely to have."""
        return cls("evaluate_" + re.sub(r"\W", "_", study), "evaluate")

    @property
    def line(self) -> str:
        """What the study file says."""
        return f"python = {quoted(f'{self.module}:{self.function}')}"


@dataclass(frozen=True)
class ByTable:
    """A pull is a logged row, drawn anew."""

    path: str
    column: str

    @property
    def line(self) -> str:
        """What the study file says."""
        return f"table = {{ path = {quoted(self.path)}, arm = {quoted(self.column)} }}"


@dataclass(frozen=True)
class Draft:
    """A study that is about to be written down."""

    name: str
    arms: tuple[str, ...]
    objective: str
    constraints: tuple[str, ...]
    way: ByCommand | ByPython | ByTable
    budget: int | str
    policy: str = "top-two"
    seed: int | None = None
    blocks: Mapping[str, str | int | bool] = field(default_factory=dict)
    stop: float | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    prices: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)

    @property
    def problem(self) -> Problem:
        """The objective and the limits, read."""
        return Problem.parse(self.objective, self.constraints, units=self.units)

    def toml(self) -> str:
        """Return the study file."""
        seed = "# seed = 7" if self.seed is None else f"seed = {self.seed}"
        return _FILE.format(
            name=quoted(self.name),
            objective=quoted(self.objective),
            constraints=_listed(self.constraints),
            units=self._units(),
            budget=quoted(self.budget) if isinstance(self.budget, str) else self.budget,
            prices=self._prices() or _NO_PRICES,
            policy=quoted(self.policy),
            arms=_listed(self.arms),
            seed=seed,
            pull=self.way.line,
            stand_ins="" if isinstance(self.way, ByTable) else _STAND_INS,
            blocks=self._blocks() or _NO_BLOCKS,
            stop=_NO_STOP if self.stop is None else f"[stop]\nconfidence = {self.stop}\n",
        )

    def _units(self) -> str:
        """Return the units of metrics as a line; an example if none was said."""
        said = ", ".join(f"{_key(key)} = {quoted(unit)}" for key, unit in self.units.items())
        return f"units = {{ {said} }}" if said else '# units = { x = "ms" }'

    def _prices(self) -> str:
        """Return what pulls take of the budget as lines of the file; none if it counts them."""
        return "".join(f"{key} = {_priced(value)}\n" for key, value in self.prices.items())

    def _blocks(self) -> str:
        """Return what options share as lines of the file; none if it was not said."""
        lines = [f"{key} = {_value(value)}\n" for key, value in self.blocks.items()]
        return "".join(["[blocks]\n", *lines]) if lines else ""

    def module(self) -> str:
        """Return a Python module that evaluates pulls with made-up numbers."""
        function = self.way.function if isinstance(self.way, ByPython) else "evaluate"
        item = "item: object, " if "items" in self.blocks else ""
        return _MODULE.format(made_up=self._made_up(), function=function, item=item)

    def script(self) -> str:
        """Return an executable program that does the same."""
        arguments = self.way.arguments if isinstance(self.way, ByCommand) else ()
        arm, seed = _positions(arguments)
        return _SCRIPT.format(made_up=self._made_up(), arm=arm, seed=seed)

    def _made_up(self) -> str:
        rows = made_up(self.problem, self.arms)
        price = self.prices.get("price")
        if isinstance(price, str) and not is_amount(price):
            for place, row in enumerate(rows.values()):
                row.setdefault(price, (_brief(0.02 * (place + 1)), _brief(0.002 * (place + 1))))
        inner = [
            f"    {arm!r}: {{"
            + ", ".join(f"{metric!r}: {pair}" for metric, pair in row.items())
            + "},\n"
            for arm, row in rows.items()
        ]
        return "{\n" + "".join(inner) + "}"


def suggested_budget(problem: Problem, arm_count: int) -> int:
    """Return a budget to begin with: some forty pulls an arm, and more where tails are judged."""
    wanted = arm_count * max(_PULLS_AN_ARM, 2 * problem.first_pulls)
    return max(_LEAST_BUDGET, 10 * math.ceil(wanted / 10))


def _priced(value: str | Mapping[str, str]) -> str:
    """Return a price as TOML has it: amounts as they were typed, the name of a metric quoted."""
    if isinstance(value, str):
        return value if is_amount(value) else quoted(value)
    return "{ " + ", ".join(f"{quoted(arm)} = {one}" for arm, one in value.items()) + " }"


def is_amount(text: str) -> bool:
    """Tell whether a text is a number as TOML writes it."""
    return _AMOUNT.fullmatch(text) is not None


def quoted(text: str) -> str:
    """Return any text as a basic string of TOML."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{text!r} is not text that can be written. Use other characters."
        ) from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def made_up(problem: Problem, arms: Sequence[str]) -> dict[str, dict[str, tuple[float, float]]]:
    """Return means and deviations by arm and metric, so that a new study runs as it is.

    Objectives improve from arm to arm, and the last of several breaks its limits: a deceiver.
    """
    rows: dict[str, dict[str, tuple[float, float]]] = {}
    for place, arm in enumerate(arms):
        breaks = len(arms) > 1 and place == len(arms) - 1
        row: dict[str, tuple[float, float]] = {}
        for constraint in problem.constraints:
            row.setdefault(constraint.attribute.metric, _limited(constraint, breaks=breaks))
        step = 0.2 * (place + 1) * (1 if problem.objective.direction == "maximize" else -1)
        row.setdefault(problem.objective.attribute.metric, (round(1.0 + step, 6), 0.2))
        for metric in problem.metrics:  # what ratios are divided by
            row.setdefault(metric, (1.0, 0.1))
        rows[arm] = row
    return rows


def _limited(constraint: Constraint, *, breaks: bool) -> tuple[float, float]:
    """Return the mean and deviation of a metric well inside its limit, or well past it."""
    attribute, threshold = constraint.attribute, constraint.threshold
    upwards = constraint.relation == "<="  # whether a large value breaks it
    if attribute.statistic in ("variance", "std"):
        root = math.sqrt(abs(threshold)) if attribute.statistic == "variance" else abs(threshold)
        return 0.0, _brief(root * (1.5 if breaks == upwards else 0.5))
    if attribute.statistic == "share":
        upwards = upwards == (attribute.bound in (">", ">="))
        threshold = _level(attribute)
    span = 0.2 * abs(threshold) or 0.2
    return _brief(threshold + (span if breaks == upwards else -span)), _brief(span / 4)


def _level(attribute: Attribute) -> float:
    return 0.0 if attribute.level is None else attribute.level


def _brief(value: float) -> float:
    return float(f"{value:.4g}")


def _positions(arguments: Sequence[str]) -> tuple[str, str]:
    """Return where a program finds the arm and the seed among its arguments."""
    found = {
        name: next((place for place, word in enumerate(arguments) if f"{{{name}}}" == word), None)
        for name in ("arm", "seed")
    }
    arm = f"sys.argv[{found['arm']}]" if found["arm"] is not None else repr("")
    return arm, f"sys.argv[{found['seed']}]" if found["seed"] is not None else "None"


def script_beside(draft: Draft, folder: Path) -> Path | None:
    """Return where the program of a command would be, if it is a file beside the study.

    Only a command that hands over the arm as a word of its own can be written an example for.
    """
    if not isinstance(draft.way, ByCommand):
        return None
    program, *others = draft.way.arguments
    is_beside = program.startswith("./") and "/" not in program[2:] and "{" not in program
    return folder / program if is_beside and program[2:] and "{arm}" in others else None


def _listed(texts: Sequence[str]) -> str:
    return "[]" if not texts else "[\n" + "".join(f"    {quoted(text)},\n" for text in texts) + "]"


def _key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else quoted(text)


def _value(value: str | int | bool) -> str:  # noqa: FBT001 - the value itself is what is written
    if isinstance(value, str):
        return quoted(value)
    return str(value).lower()


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


_FILE = """\
# A study: which option is best, among those that stay inside their limits?
# Run it with `ringfence run`, as often as you like: it goes on where it was.
name = {name}

# What to optimise, and the limits, if there are any (a value on a limit is inside). Both are
# statistics of what a pull measures: mean(x), median(x), p95(x), share(x > 200), std(x),
# mean(x) / mean(y), ...; x alone is its mean. A limit is a number, with its unit where that of the
# metric is stated: "x <= 2s", "y <= 3%". A name with odd characters goes in quotes: 'first token'.
objective = {objective}
constraints = {constraints}
{units}

# Which arms are asked for: the best of those inside their limits, or every one of them.
# answer = "all feasible"

# How many pulls in all, or an amount: "50 USD", "3 h". It may rise later, never fall.
budget = {budget}

# What a pull takes of such an amount: by option, or a metric that is told with each pull.
{prices}

# What decides where the next pull goes; top-two errs least in our tournament.
policy = {policy}

# The same seed gives the same study, with the same lag: how many pulls may be open when one is
# decided, by default six times the workers. Without a seed one is drawn, kept and shown.
{seed}

# The options. Where each has settings of its own, a table [arms] with v1 = {{ temperature = 0.2 }}.
arms = {arms}

# What is known of the noise, if anything is; the rest is estimated from the pulls.
# noise = {{ x = {{ sigma = 0.2 }}, y = {{ bounds = [0, 1] }} }}

# How one pull is evaluated, by exactly one of
#   command = ["./evaluate", "{{arm}}", "{{seed}}"]   a program that prints {{"x": 0.8, "y": 143}}
#   python = "module:function"                    a function (arm, seed) -> {{"x": 0.8, "y": 143}}
#                                                 may also take item, keys and ordinal, by name
#   table = {{ path = "log.csv", arm = "column" }}  a logged row of the arm, drawn anew
[pull]
{pull}
# timeout_seconds = 60    # for a command; one that takes longer has failed
# retries = 1             # before a failed evaluation is charged to the budget
{stand_ins}# outage_minutes = 30     # how long to wait where evaluations fail whatever the option

# What all options share, if anything: test items, random seeds, or the hours of evaluations.
{blocks}
# Whether the study ends as soon as its answer is proven; the budget is then the most it may take.
{stop}"""

_NO_PRICES = """\
# price = "cost"          # or { small = 0.03, large = 1.1 }
# price_cap = 2           # what no pull exceeds; price_guess, what it is likely to be at first
"""

_NO_BLOCKS = """\
# [blocks]
# items = "questions.jsonl"    # an object a line, or a number; or seeds = true; or every = "1h"
"""

_NO_STOP = """\
# [stop]
# confidence = 0.95
"""

_STAND_INS = """\
# on_failure = { x = 0, y = 500 }    # what is told in place of a failure; without it, nothing is
# on_timeout = { x = 0, y = 500 }    # and in place of one that took too long
"""

_MODULE = '''\
"""How one pull is evaluated: one noisy measurement of one arm."""

import random

# REPLACE: made-up numbers (mean, deviation) of every arm, so that the study runs as it is.
MADE_UP = {made_up}


def {function}(arm: str, {item}seed: int) -> dict[str, float]:
    """Return what one evaluation of the arm measured.

    Let whatever is random follow from the seed, so that a pull can be repeated.
    """
    chance = random.Random(seed)
    return {{name: chance.gauss(*numbers) for name, numbers in MADE_UP[arm].items()}}
'''

_SCRIPT = '''\
#!/usr/bin/env python3
"""How one pull is evaluated: prints what one noisy measurement of one arm gave, as JSON.

Any language will do. Let whatever is random follow from the seed.
"""

import json
import random
import sys

# REPLACE: made-up numbers (mean, deviation) of every arm, so that the study runs as it is.
MADE_UP = {made_up}

arm, seed = {arm}, {seed}
chance = random.Random(seed)
print(json.dumps({{name: chance.gauss(*numbers) for name, numbers in MADE_UP[arm].items()}}))
'''
