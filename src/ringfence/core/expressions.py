"""The language of objectives and constraints, read by a small grammar and never evaluated.

    objective  := ("minimize" | "maximize") attribute
    constraint := attribute ("<=" | ">=") number
    attribute  := "mean" "(" metric ")"
                | "share" "(" metric (">" | ">=" | "<" | "<=") number ")"
    metric     := a name, or any text in single or double quotes

Touches its arguments only.
"""

import math
import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, NoReturn

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.errors import ExpressionError, nearest

BUILT_STATISTICS = ("mean", "share")
PLANNED_STATISTICS = ("variance", "std", "quantile", "cvar")
_BOUNDS = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?!\w))
      | (?P<name>[^\W\d]\w*)
      | (?P<quoted>'[^']*'|"[^"]*")
      | (?P<sign><=|>=|==|<|>|=|[(),])
    )""",
    re.VERBOSE,
)
_PERCENTILE = re.compile(r"p\d{1,2}(\.\d+)?$")
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Attribute:
    """A statistic of one metric, such as mean(latency_ms) or share(latency_ms > 200).

    `bound` and `level` belong to a share: the share of pulls whose metric lies beyond the level.
    """

    statistic: str
    metric: str
    bound: str | None = None
    level: float | None = None

    def __str__(self) -> str:
        metric = self.metric
        if not _PLAIN_NAME.fullmatch(metric):
            metric = f'"{metric}"' if "'" in metric else f"'{metric}'"
        if self.bound is not None and self.level is not None:
            metric = f"{metric} {self.bound} {shortest(self.level)}"
        return f"{self.statistic}({metric})"

    def contributions(self, values: Floats) -> Floats:
        """Return what each pull contributes: the attribute is the mean of these."""
        if self.bound is None or self.level is None:
            return values
        return np.asarray(_BOUNDS[self.bound](values, self.level), dtype=np.float64)


@dataclass(frozen=True)
class Objective:
    """What to optimize, as the user wrote it."""

    direction: Literal["minimize", "maximize"]
    attribute: Attribute

    def __str__(self) -> str:
        return f"{self.direction} {self.attribute}"


@dataclass(frozen=True)
class Constraint:
    """One limit, as the user wrote it; a value on the threshold satisfies it."""

    attribute: Attribute
    relation: Literal["<=", ">="]
    threshold: float

    def __str__(self) -> str:
        return f"{self.attribute} {self.relation} {shortest(self.threshold)}"


def shortest(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    brief = f"{value:g}"
    return brief if float(brief) == value else repr(value)


def parse_objective(text: str) -> Objective:
    """Read "minimize mean(loss)"."""
    reader = _Reader(text)
    direction = reader.take("name", "'minimize' or 'maximize'")
    if direction.text not in ("minimize", "maximize"):
        hint = nearest(direction.text, ("minimize", "maximize"))
        reader.fail(f"expected 'minimize' or 'maximize', got {direction.text!r}.{hint}", direction)
    attribute = reader.attribute()
    reader.end()
    return Objective("minimize" if direction.text == "minimize" else "maximize", attribute)


def parse_constraint(text: str) -> Constraint:
    """Read "mean(risk) <= 1.0"."""
    reader = _Reader(text)
    attribute = reader.attribute()
    relation = reader.take("sign", "'<=' or '>=' and a threshold")
    if relation.text in ("<", ">"):
        reader.fail(
            f"{relation.text!r} must be {relation.text}=: a value on the threshold is feasible",
            relation,
        )
    if relation.text not in ("<=", ">="):
        reader.fail(f"expected '<=' or '>=', got {relation.text!r}", relation)
    number = reader.take("number", f"a number after {relation.text!r}")
    threshold = float(number.text)
    if not math.isfinite(threshold):
        reader.fail(f"the threshold must be finite, got {number.text}", number)
    reader.end()
    return Constraint(attribute, "<=" if relation.text == "<=" else ">=", threshold)


class _Token(NamedTuple):
    kind: str
    text: str
    position: int


class _Reader:
    """Reads one expression from left to right; every failure points at its character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._split()
        self.next = 0

    def _split(self) -> list[_Token]:
        tokens, position = [], 0
        end = len(self.text.rstrip())
        while position < end:
            match = _TOKEN.match(self.text, position)
            if match is None or match.lastgroup is None:
                start = position + len(self.text[position:]) - len(self.text[position:].lstrip())
                found = self.text[start]
                why = "this quote is never closed" if found in "'\"" else f"cannot read {found!r}"
                raise ExpressionError(why, self.text, start)
            kind = match.lastgroup
            tokens.append(_Token(kind, match.group(kind), match.start(kind)))
            position = match.end()
        tokens.append(_Token("end", "", end))
        return tokens

    def fail(self, what: str, token: _Token) -> NoReturn:
        raise ExpressionError(what, self.text, token.position)

    def take(self, kind: str, wanted: str, *, exactly: str | None = None) -> _Token:
        token = self.tokens[self.next]
        if token.kind != kind or (exactly is not None and token.text != exactly):
            got = "the end" if token.kind == "end" else repr(token.text)
            self.fail(f"expected {wanted}, got {got}", token)
        self.next += 1
        return token

    def attribute(self) -> Attribute:
        statistic = self.take("name", "an attribute such as mean(metric)")
        name = statistic.text
        if name in PLANNED_STATISTICS or _PERCENTILE.match(name):
            self.fail(
                f"{name!r} is not built yet: mean(metric) and share(metric > number) are", statistic
            )
        if name not in BUILT_STATISTICS:
            hint = nearest(name, BUILT_STATISTICS)
            self.fail(
                f"unknown attribute {name!r}: use mean(metric) or share(metric > number).{hint}",
                statistic,
            )
        self.take("sign", f"'(' after {name!r}", exactly="(")
        kind = "quoted" if self.tokens[self.next].kind == "quoted" else "name"
        metric = self.take(kind, "a metric's name")
        text = metric.text[1:-1] if kind == "quoted" else metric.text
        if not text:
            self.fail("a metric's name cannot be empty", metric)
        bound, level = self.bound_and_level() if name == "share" else (None, None)
        self.take("sign", "')'", exactly=")")
        return Attribute(name, text, bound, level)

    def bound_and_level(self) -> tuple[str, float]:
        wanted = "'>', '>=', '<' or '<=' and a number"
        bound = self.take("sign", wanted)
        if bound.text not in _BOUNDS:
            self.fail(f"expected {wanted}, got {bound.text!r}", bound)
        number = self.take("number", f"a number after {bound.text!r}")
        if not math.isfinite(float(number.text)):
            self.fail(f"the number must be finite, got {number.text}", number)
        return bound.text, float(number.text)

    def end(self) -> None:
        token = self.tokens[self.next]
        if token.kind != "end":
            self.fail(f"nothing may follow here, got {token.text!r}", token)
