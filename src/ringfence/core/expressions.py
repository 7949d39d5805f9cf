"""The language of objectives and constraints, read by a small grammar and never evaluated.

    objective  := ("minimize" | "maximize") attribute
    constraint := attribute ("<=" | ">=") (number | relative)
    relative   := [number "*"] "baseline" ["(" attribute ")"] [("+" | "-") number]
    attribute  := ("mean" | "robust_mean" | "variance" | "std") "(" metric ")"
                | "share" "(" metric (">" | ">=" | "<" | "<=") number ")"
                | "quantile" "(" metric "," number ")"     quantile(x, 0.95), also p95(x)
                | "cvar" "(" metric "," number ")"         cvar(x, 0.95): mean of the highest 5%
                | "lower_cvar" "(" metric "," number ")"   lower_cvar(x, 0.05): of the lowest 5%
                | name "(" metric ("," metric)* ")"        a function of the user's own
    metric     := a name, or any text in single or double quotes

Touches its arguments only.
"""

import math
import re
from typing import NamedTuple, NoReturn

from ringfence.core.attributes import (
    PLAIN_NAME,
    SHARES,
    Attribute,
    Constraint,
    Functions,
    Objective,
    Own,
    level_of,
)
from ringfence.core.errors import ExpressionError, InputError, nearest

_WITH_LEVEL = {
    "quantile": (0.0, 1.0, "between 0 and 1, such as 0.95"),
    "cvar": (0.5, 1.0, "from 0.5 to below 1: cvar(x, 0.95) is the mean of the highest 5%"),
    "lower_cvar": (0.0, 0.5, "above 0 up to 0.5: lower_cvar(x, 0.05) is the mean of the lowest 5%"),
}
STATISTICS = ("mean", "robust_mean", "variance", "std", "share", "quantile", "cvar", "lower_cvar")
BASELINE = "baseline"

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?!\w))
      | (?P<percentile>p\d+(?:\.\d+)?(?=\s*\())
      | (?P<name>[^\W\d]\w*)
      | (?P<quoted>'[^']*'|"[^"]*")
      | (?P<sign><=|>=|==|<|>|=|[(),*+-])
    )""",
    re.VERBOSE,
)
_PERCENTILE = re.compile(r"p\d+(?:\.\d+)?")


def parse_attribute(text: str, functions: Functions | None = None) -> Attribute:
    """Read "p95(latency_ms)"; `functions` are the user's own, by name.

    >>> import ringfence as rf
    >>> rf.parse_attribute("share(latency_ms > 200)").level
    200.0
    >>> rf.parse_attribute("meen(latency_ms)")
    Traceback (most recent call last):
    ringfence.core.errors.ExpressionError: ...
    """
    reader = _Reader(text, functions)
    attribute = reader.attribute()
    reader.end()
    return attribute


def parse_objective(text: str, functions: Functions | None = None) -> Objective:
    """Read "minimize mean(loss)"."""
    reader = _Reader(text, functions)
    direction = reader.take("name", "'minimize' or 'maximize'")
    if direction.text not in ("minimize", "maximize"):
        hint = nearest(direction.text, ("minimize", "maximize"))
        reader.fail(f"expected 'minimize' or 'maximize', got {direction.text!r}.{hint}", direction)
    attribute = reader.attribute()
    reader.end()
    return Objective("minimize" if direction.text == "minimize" else "maximize", attribute)


def parse_constraint(text: str, functions: Functions | None = None) -> Constraint:
    """Read "mean(risk) <= 1.0", or "mean(risk) <= 1.1 * baseline(mean(risk))"."""
    reader = _Reader(text, functions)
    attribute = reader.attribute()
    relation = reader.take("sign", "'<=' or '>=' and a threshold")
    if relation.text in ("<", ">"):
        reader.fail(
            f"{relation.text!r} must be {relation.text}=: a value on the threshold is feasible",
            relation,
        )
    if relation.text not in ("<=", ">="):
        reader.fail(f"expected '<=' or '>=', got {relation.text!r}", relation)
    factor, threshold = reader.limit(relation.text, attribute)
    reader.end()
    return Constraint(attribute, "<=" if relation.text == "<=" else ">=", threshold, factor)


class _Token(NamedTuple):
    kind: str
    text: str
    position: int


class _Reader:
    """Reads one expression from left to right; every failure points at its character."""

    def __init__(self, text: str, functions: Functions | None = None) -> None:
        if not isinstance(text, str):
            raise InputError(f"expression = {text!r} must be text, such as 'mean(cost)'. Write it.")
        self.text = text
        self.functions = dict(functions or {})
        for name, function in self.functions.items():
            _require_usable(name, function)
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
        if _PERCENTILE.fullmatch(self.tokens[self.next].text):
            return self.percentile()
        statistic = self.take("name", "an attribute such as mean(metric)")
        name = statistic.text
        if name not in STATISTICS and name not in self.functions:
            known = (*STATISTICS, *self.functions)
            self.fail(
                f"unknown attribute {name!r}: use one of {', '.join(known)}, or a percentile "
                f"such as p95.{nearest(name, known)}",
                statistic,
            )
        self.take("sign", f"'(' after {name!r}", exactly="(")
        metric, bound, level = self.metric(), None, None
        others = []
        if name == "share":
            bound, level = self.bound_and_level()
        elif name in _WITH_LEVEL:
            level = self.level(name)
        elif name in self.functions:
            while self.tokens[self.next].text == ",":
                self.next += 1
                others.append(self.metric())
        self.take("sign", "')'", exactly=")")
        given = self.functions.get(name)
        own = given if given is None or isinstance(given, Own) else Own(given)
        return Attribute(name, metric, bound, level, tuple(others), own)

    def percentile(self) -> Attribute:
        token = self.take(self.tokens[self.next].kind, "a percentile")
        level = level_of(token.text[1:])
        if not 0.0 < level < 1.0:
            self.fail(f"{token.text!r} must lie between p0 and p100, such as p95", token)
        self.take("sign", f"'(' after {token.text!r}", exactly="(")
        metric = self.metric()
        self.take("sign", "')'", exactly=")")
        return Attribute("quantile", metric, None, level)

    def metric(self) -> str:
        kind = "quoted" if self.tokens[self.next].kind == "quoted" else "name"
        metric = self.take(kind, "a metric's name")
        text = metric.text[1:-1] if kind == "quoted" else metric.text
        if not text:
            self.fail("a metric's name cannot be empty", metric)
        return text

    def level(self, name: str) -> float:
        low, high, rule = _WITH_LEVEL[name]
        self.take("sign", f"',' and a level {rule}", exactly=",")
        number = self.take("number", f"a level {rule}")
        level = float(number.text)
        inclusive = (name == "cvar" and level == low) or (name == "lower_cvar" and level == high)
        if not (low < level < high or inclusive):
            self.fail(f"the level of {name} must be {rule}, got {number.text}", number)
        return level

    def limit(self, relation: str, attribute: Attribute) -> tuple[float, float]:
        """Return the multiple of the baseline's attribute, and what is added to it."""
        if self.tokens[self.next].text == BASELINE:
            return 1.0, self.beyond_baseline(attribute)
        first = self.number(f"a number after {relation!r}, or {BASELINE}")
        if self.tokens[self.next].text != "*":
            return 0.0, first
        if first <= 0.0:
            self.fail("the multiple of the baseline must be positive", self.tokens[self.next - 1])
        self.next += 1
        return first, self.beyond_baseline(attribute)

    def beyond_baseline(self, attribute: Attribute) -> float:
        """Read the baseline, and return what is added to it."""
        self.take("name", f"{BASELINE!r}", exactly=BASELINE)
        if self.tokens[self.next].text == "(":
            self.next += 1
            token = self.tokens[self.next]
            if self.attribute() != attribute:
                self.fail(f"the baseline is compared by the same attribute, {attribute}", token)
            self.take("sign", "')'", exactly=")")
        token = self.tokens[self.next]
        if token.kind == "end":
            return 0.0
        if token.kind == "number" and token.text[0] in "+-":
            return self.number("a number")
        if token.text not in ("+", "-"):
            self.fail(f"expected '+' or '-' and a number, got {token.text!r}", token)
        self.next += 1
        more = self.number(f"a number after {token.text!r}")
        return more if token.text == "+" else -more

    def number(self, wanted: str) -> float:
        token = self.take("number", wanted)
        if not math.isfinite(float(token.text)):
            self.fail(f"the number must be finite, got {token.text}", token)
        return float(token.text)

    def bound_and_level(self) -> tuple[str, float]:
        wanted = "'>', '>=', '<' or '<=' and a number"
        bound = self.take("sign", wanted)
        if bound.text not in SHARES:
            self.fail(f"expected {wanted}, got {bound.text!r}", bound)
        return bound.text, self.number(f"a number after {bound.text!r}")

    def end(self) -> None:
        token = self.tokens[self.next]
        if token.kind != "end":
            self.fail(f"nothing may follow here, got {token.text!r}", token)


def _require_usable(name: str, function: object) -> None:
    """Refuse what is no function, or has a name that is taken or that no expression can hold."""
    if not (callable(function) or isinstance(function, Own)):
        raise InputError(
            f"functions: {name!r} = {function!r} must be a function of arrays, or an Own. Mend it."
        )
    if name in STATISTICS or _PERCENTILE.fullmatch(str(name)):
        raise InputError(f"functions: the name {name!r} is taken. Give your function another one.")
    if not isinstance(name, str) or not PLAIN_NAME.fullmatch(name):
        raise InputError(
            f"functions: {name!r} cannot be a name in an expression. Use letters, digits and "
            "underscores, a letter first."
        )
