"""The reader of `core/expressions.py`, where the grammar stands: from left to right, word by word.

Every failure points at its character, and says what to write. Touches its arguments only.
"""

import math
import re
from collections.abc import Mapping
from typing import NamedTuple, NoReturn

from ringfence.core.attributes import (
    BASELINE,
    PLAIN_NAME,
    RATIO,
    SHARES,
    Attribute,
    Functions,
    Own,
    level_of,
    quoted,
)
from ringfence.core.errors import InputError, nearest
from ringfence.core.units import KNOWN, PERCENT, Unit, unit_between, units_like
from ringfence.core.words import Token, Words

_WITH_LEVEL = {
    "quantile": (0.0, 1.0, "between 0 and 1, such as 0.95"),
    "cvar": (0.5, 1.0, "from 0.5 to below 1: cvar(x, 0.95) is the mean of the highest 5%"),
    "lower_cvar": (0.0, 0.5, "above 0 up to 0.5: lower_cvar(x, 0.05) is the mean of the lowest 5%"),
}
STATISTICS = ("mean", "robust_mean", "variance", "std", "share", "quantile", "cvar", "lower_cvar")
MEDIAN = "median"
_MEANT = {  # what people call a statistic, and what it is here
    "avg": "mean({})",
    "average": "mean({})",
    "rate": "mean({})",
    "sum": "mean({})",
    "var": "variance({})",
    "sd": "std({})",
    "stdev": "std({})",
    "stddev": "std({})",
    "percentile": "p95({})",
    "max": "p99({})",
    "min": "p1({})",
    "count": "mean({})",
}

_PERCENTILE = re.compile(r"p\d+(?:\.\d+)?")


class Limit(NamedTuple):
    """What stands to the right of a relation."""

    threshold: float
    factor: float = 0.0
    unit: Unit = Unit("")
    times_after: bool = False


class Reader(Words):
    """Reads one expression from left to right; every failure points at its character."""

    def __init__(
        self, text: str, functions: Functions | None = None, units: Mapping[str, str] | None = None
    ) -> None:
        """Take the words of a text; functions that no expression can call are refused."""
        super().__init__(text)
        self.functions = dict(functions or {})
        self.units = dict(units or {})
        for name, function in self.functions.items():
            _require_usable(name, function)

    def directed(self) -> str:
        """Return how an objective is written that lacks its direction; nothing if it is no such."""
        try:
            attribute = Reader(self.text, self.functions, self.units).attribute()
        except InputError:
            return ""
        return f" Write: minimize {attribute}, or maximize {attribute}"

    def attribute(self) -> Attribute:
        """Read an attribute, or a ratio of two means."""
        start = self.tokens[self.next]
        found = self.single()
        if self.tokens[self.next].text != "/":
            return found
        self.next += 1
        token = self.tokens[self.next]
        if token.kind == "number":
            self.fail(f"a ratio is one of means. Write: {found} / mean(other)", token)
        below = self.single()
        for place, one in ((start, found), (token, below)):
            if one.statistic != "mean" or one.own is not None:
                right = " / ".join(f"mean({quoted(part.metric)})" for part in (found, below))
                self.fail(f"a ratio is one of means. Write: {right}", place)
        is_short = found.short is not None or below.short is not None
        short = f"{found} / {below}" if is_short else None
        return Attribute(RATIO, found.metric, others=(below.metric,), short=short)

    def single(self) -> Attribute:
        """Read a statistic of metrics; a metric alone is its mean."""
        token = self.tokens[self.next]
        if token.kind == "percentile":
            return self.percentile()
        if token.kind == "quoted":
            return self.bare(token)
        name = self.take("name", "an attribute such as mean(metric)").text
        if self.tokens[self.next].text != "(" and not self.is_statistic(name):
            self.next -= 1
            return self.bare(token)
        return self.call(token)

    def is_statistic(self, name: str) -> bool:
        """Tell whether a name is one of a statistic, which a metric follows in parentheses."""
        known = name in STATISTICS or name == MEDIAN or name in self.functions
        return known or _PERCENTILE.fullmatch(name) is not None

    def bare(self, token: Token) -> Attribute:
        """Read a metric that stands for its mean."""
        metric = self.metric()
        if self.tokens[self.next].kind in ("name", "quoted", "number"):
            self.fail(
                f"expected an end, or a sign such as <= after {metric!r}, got "
                f"{self.tokens[self.next].text!r}. A name with spaces goes in quotes",
                self.tokens[self.next],
            )
        return Attribute("mean", metric, short=quoted(metric) if metric != BASELINE else None)

    def call(self, statistic: Token) -> Attribute:
        """Read what follows the name of a statistic."""
        name = statistic.text
        is_median = name == MEDIAN and name not in self.functions
        is_percentile = _PERCENTILE.fullmatch(name) is not None
        if (
            not is_percentile
            and name not in STATISTICS
            and name not in self.functions
            and not is_median
        ):
            known = (*STATISTICS, MEDIAN, *self.functions)
            near = nearest(name, known)
            if name.lower() in _MEANT:
                near = f" Write: {_MEANT[name.lower()].format(self.inside())}"
            self.fail(
                f"unknown attribute {name!r}: use one of {', '.join(known)}, or a percentile "
                f"such as p95.{near}",
                statistic,
            )
        got = self.tokens[self.next]
        if got.text != "(":
            self.fail(
                f"expected '(' after {name!r}, got "
                f"{'the end' if got.kind == 'end' else repr(got.text)}. Write: {name}(metric)"
                f"{'' if got.kind != 'end' else f', or mean({name}) if that is a metric'}",
                got,
            )
        self.next += 1
        metric, bound, level, unit = self.metric(), None, None, Unit("")
        others = []
        if name == "share":
            bound, level, unit = self.bound_and_level(metric)
        elif name in _WITH_LEVEL:
            level = self.level(name)
        elif name in self.functions:
            while self.tokens[self.next].text == ",":
                self.next += 1
                others.append(self.metric())
        self.take("sign", "')'", exactly=")")
        if is_median:
            return Attribute("quantile", metric, None, 0.5, short=f"{MEDIAN}({quoted(metric)})")
        given = self.functions.get(name)
        own = given if given is None or isinstance(given, Own) else Own(given)
        return Attribute(name, metric, bound, level, tuple(others), own, shown_in=unit)

    def inside(self) -> str:
        """Return the metric in the parentheses that come, if there is one."""
        here = [token.text for token in self.tokens[self.next : self.next + 3]]
        return here[1] if here[0] == "(" and here[2:] == [")"] else "metric"

    def percentile(self) -> Attribute:
        """Read p95(x)."""
        token = self.take(self.tokens[self.next].kind, "a percentile")
        level = level_of(token.text[1:])
        if not 0.0 < level < 1.0:
            self.fail(f"{token.text!r} must lie between p0 and p100, such as p95", token)
        self.take("sign", f"'(' after {token.text!r}", exactly="(")
        metric = self.metric()
        self.take("sign", "')'", exactly=")")
        return Attribute("quantile", metric, None, level)

    def metric(self) -> str:
        """Read the name of a metric."""
        kind = "quoted" if self.tokens[self.next].kind == "quoted" else "name"
        metric = self.take(kind, "a metric's name")
        text = metric.text[1:-1] if kind == "quoted" else metric.text
        if not text:
            self.fail("a metric's name cannot be empty", metric)
        return text

    def level(self, name: str) -> float:
        """Read the level of a quantile or a tail."""
        low, high, rule = _WITH_LEVEL[name]
        self.take("sign", f"',' and a level {rule}", exactly=",")
        number = self.take("number", f"a level {rule}")
        level = float(number.text)
        if self.tokens[self.next].text == PERCENT:
            self.next += 1
            level = level_of(number.text)
        inclusive = (name == "cvar" and level == low) or (name == "lower_cvar" and level == high)
        if not (low < level < high or inclusive):
            self.fail(f"the level of {name} must be {rule}, got {number.text}", number)
        return level

    def limit(self, relation: str, attribute: Attribute) -> Limit:
        """Read a number, or what an arm may be beyond the baseline."""
        start = self.tokens[self.next]
        if start.text == BASELINE:
            return self.beyond_baseline(attribute, None)
        if start.kind == "name":
            self.fail(
                f"expected a number after {relation!r}, or {BASELINE}, got {start.text!r}. Write: "
                f"{attribute} {relation} 1, or {attribute} {relation} 1.1 * {BASELINE} with "
                f'{BASELINE} = "{start.text}" beside it',
                start,
            )
        after = [token.text for token in self.tokens[self.next + 1 : self.next + 3]]
        is_share = after[:1] == [PERCENT] and after[1:] and after[1] in ("*", "of", BASELINE)
        first, unit = self.number(
            f"a number after {relation!r}, or {BASELINE}", None if is_share else attribute
        )
        token = self.tokens[self.next]
        if token.text in (BASELINE, "of"):
            times = start.text + unit.name if unit.name == PERCENT else start.text
            self.fail(
                f"expected '*', got {token.text!r}. Write: {attribute} {relation} {times} * "
                f"{BASELINE}",
                token,
            )
        if token.text != "*":
            return Limit(first, unit=unit)
        self.next += 1
        return self.beyond_baseline(attribute, self.multiple(start, unit))

    def multiple(self, number: Token, unit: Unit) -> float:
        """Return how many times the baseline counts."""
        if unit.name not in ("", PERCENT):
            self.fail(f"a multiple of the baseline has no unit. Write: {number.text}", number)
        factor = float(number.text) if unit.name == "" else level_of(number.text)
        if factor <= 0.0:
            self.fail("the multiple of the baseline must be positive", number)
        return factor

    def beyond_baseline(self, attribute: Attribute, factor: float | None) -> Limit:
        """Read the baseline, how often it counts if that stands behind it, and what is added."""
        self.take("name", f"{BASELINE!r}", exactly=BASELINE)
        if self.tokens[self.next].text == "(":
            self.next += 1
            token = self.tokens[self.next]
            if self.attribute() != attribute:
                self.fail(
                    f"the baseline is compared by the same attribute, {attribute}. Write: "
                    f"{BASELINE}({attribute})",
                    token,
                )
            self.take("sign", "')'", exactly=")")
        times_after = factor is None and self.tokens[self.next].text == "*"
        if times_after:
            self.next += 1
            number = self.tokens[self.next]
            _, unit = self.number("a number after '*'", None)
            factor = self.multiple(number, unit)
        limit = self.added(attribute)
        return limit._replace(factor=1.0 if factor is None else factor, times_after=times_after)

    def added(self, attribute: Attribute) -> Limit:
        """Read what is added to the baseline, if anything is."""
        token = self.tokens[self.next]
        if token.kind == "end":
            return Limit(0.0)
        if token.kind == "number" and token.text[0] in "+-":
            sign = 1.0
        elif token.text in ("+", "-"):
            sign = 1.0 if token.text == "+" else -1.0
            self.next += 1
        else:
            known = f". Write: {BASELINE} * 1.1, or {BASELINE} + 5"
            self.fail(f"expected '+' or '-' and a number, got {token.text!r}{known}", token)
        number, after = self.tokens[self.next], self.tokens[self.next + 1 :]
        if number.kind == "number" and after[0].text == PERCENT:
            amount = sign * level_of(number.text)
            by = "+" if amount > 0.0 else "-"
            self.fail(
                f"{abs(100.0 * amount):g}% of what? Write: {BASELINE} * {1.0 + amount:.12g}, which "
                f"is a share of the baseline's own value, or {BASELINE} {by} "
                f"{self.plain(abs(100.0 * amount), attribute)}, which is added to it",
                number,
            )
        more, unit = self.number(f"a number after {token.text!r}", attribute)
        return Limit(sign * more, unit=unit)

    def plain(self, percent: float, attribute: Attribute) -> str:
        """Return how as many percent are written as a number of an attribute's own unit."""
        kept = attribute.unit(self.units)
        return f"{percent / 100.0:.12g}" if kept == "" else Unit(kept).beside("5").replace("%", "")

    def number(self, wanted: str, attribute: Attribute | str | None) -> tuple[float, Unit]:
        """Read a number and its unit, if it has one; `attribute` is what it is a value of."""
        token = self.take("number", wanted)
        unit = self.unit(token, attribute)
        value = unit.read(token.text)
        if not math.isfinite(value):
            self.fail(f"the number must be finite, got {token.text}", token)
        return value, unit

    def unit(self, number: Token, attribute: Attribute | str | None) -> Unit:
        """Read the unit behind a number, if there is one."""
        token = self.tokens[self.next]
        if token.text in (",", "_") or (token.kind == "name" and token.text[0] == "_"):
            self.fail(
                f"nothing may follow here, got {token.text!r}. Write a number as 1000 or 0.5", token
            )
        is_word = token.kind == "name" and token.text not in (BASELINE, "of", "and", "or")
        if token.text != PERCENT and not is_word:
            return Unit("")
        if isinstance(attribute, Attribute):
            kept = attribute.unit(self.units)
        else:
            kept = "" if attribute is None else self.units.get(attribute, "")
        found = unit_between(token.text, kept)
        if found is None:
            self.refuse_unit(number, token, attribute, kept)
        self.next += 1
        return found

    def refuse_unit(
        self, number: Token, token: Token, attribute: Attribute | str | None, kept: str
    ) -> NoReturn:
        """Refuse a unit that does not belong to what the number is a value of."""
        metric = attribute.metric if isinstance(attribute, Attribute) else attribute
        if metric is not None and kept:
            plain = kept == PERCENT or PLAIN_NAME.fullmatch(kept) is not None
            right = f"{number.text} {kept}" if plain else number.text
            others = ", ".join(one for one in units_like(kept) if one != kept)
            also = f" (or {others})" if plain and others else ""
            self.fail(
                f"{token.text!r} is no unit of {attribute}, which is in {kept}. Write: {right}"
                f"{also}",
                token,
            )
        if metric is None:
            self.fail(f"nothing may follow here, got {token.text!r}. Write: {number.text}", token)
        if isinstance(attribute, Attribute) and not attribute.unit({metric: "unit"}):
            self.fail(
                f"{token.text!r} is no unit of {attribute}, which has none. Write: {number.text}",
                token,
            )
        if token.text not in KNOWN and token.text not in self.units.values():
            self.fail(
                f"nothing may follow here, got {token.text!r}. If it is a unit, write: units = "
                f'{{ {_key(metric)} = "{token.text}" }}{nearest(token.text, KNOWN)}',
                token,
            )
        self.fail(
            f"{token.text!r} after a number says its unit, and that of {metric!r} is not stated. "
            f'Write: units = {{ {_key(metric)} = "{token.text}" }}, or the number alone',
            token,
        )

    def bound_and_level(self, metric: str) -> tuple[str, float, Unit]:
        """Read what lies beyond which value."""
        wanted = "'>', '>=', '<' or '<=' and a number"
        bound = self.take("sign", wanted)
        sign = {"≤": "<=", "≥": ">="}.get(bound.text, bound.text)
        if sign not in SHARES:
            self.fail(f"expected {wanted}, got {bound.text!r}", bound)
        return sign, *self.number(f"a number after {bound.text!r}", metric)


def _key(metric: str) -> str:
    return metric if metric.isidentifier() and metric.isascii() else f'"{metric}"'


def _require_usable(name: str, function: object) -> None:
    """Refuse what is no function, or has a name that is taken or that no expression can hold."""
    if not (callable(function) or isinstance(function, Own)):
        raise InputError(
            f"functions: {name!r} = {function!r} must be a function of arrays, or an Own."
        )
    if name in STATISTICS or _PERCENTILE.fullmatch(str(name)):
        raise InputError(f"functions: the name {name!r} is taken. Give your function another one.")
    if not isinstance(name, str) or not PLAIN_NAME.fullmatch(name):
        raise InputError(
            f"functions: {name!r} cannot be a name in an expression. Use letters, digits and "
            "underscores, a letter first."
        )
