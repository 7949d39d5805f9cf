"""Attributes of what is measured, and objectives and limits that are made of them.

Every one is written as it is read: `str` gives the expression back. Touches its arguments only.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any, Literal, TypeAlias

from ringfence.core import statistics
from ringfence.core.errors import InputError
from ringfence.core.units import Unit, shortest

RATIO = "/"
BASELINE = "baseline"
SHARES = {
    ">": statistics.SHARE_ABOVE,
    ">=": statistics.SHARE_FROM,
    "<": statistics.SHARE_BELOW,
    "<=": statistics.SHARE_UP_TO,
}
_KINDS = {
    "mean": statistics.MEAN,
    "robust_mean": statistics.ROBUST_MEAN,
    "variance": statistics.VARIANCE,
    "std": statistics.STD,
    "quantile": statistics.QUANTILE,
    "cvar": statistics.CVAR,
    "lower_cvar": statistics.LOWER_CVAR,
    RATIO: statistics.RATIO,
}
OWN = -1  # the kind of a user's own function
PLAIN_NAME = re.compile(r"[^\W\d]\w*")
_TAIL_PULLS = 5  # in the tail of every arm, before its noise can be judged


@dataclass(frozen=True)
class Own:
    """A user's own attribute: a function of the sample, one array of pulls a metric.

    `variance`, if given, is a function of the same arrays: the estimate's asymptotic variance of
    one pull. Without it the noise is found by leaving pulls out, which suits smooth functions.
    `least_pulls` is the smallest sample for which both are defined.

    >>> import numpy as np
    >>> import ringfence as rf
    >>> def ratio(revenue, visits):
    ...     return np.sum(revenue) / np.sum(visits)
    >>> problem = rf.Problem.parse(
    ...     "maximize ratio(revenue, visits)",
    ...     "mean(refunds) <= 0.1",
    ...     functions={"ratio": rf.Own(ratio, least_pulls=3)},
    ... )
    >>> problem.metrics
    ('revenue', 'visits', 'refunds')
    """

    estimate: Callable[..., float]
    variance: Callable[..., float] | None = None
    least_pulls: int = 2

    def __post_init__(self) -> None:
        for key, one in (("estimate", self.estimate), ("variance", self.variance)):
            if not callable(one) and (key == "estimate" or one is not None):
                raise InputError(f"Own: {key} = {one!r} must be a function of arrays. Give one.")
        if not isinstance(self.least_pulls, Integral) or self.least_pulls < 1:
            raise InputError(
                f"Own: least_pulls = {self.least_pulls!r} must be a whole number. Use 1 or more."
            )


Functions: TypeAlias = Mapping[str, Callable[..., Any] | Own]


@dataclass(frozen=True)
class Attribute:
    """A statistic of one metric, such as mean(latency_ms), p95(latency_ms) or a user's own.

    `bound` and `level` belong to a share: the share of pulls whose metric lies beyond the level.
    `level` is also the probability of a quantile and of a tail. `others` are the further metrics
    of a user's own function, and what a ratio of means is divided by. How it was written does not
    count: `short` is a form such as "score" or "median(x)", where that was used, and `shown_in` the
    unit of a share's level.

    >>> import ringfence as rf
    >>> print(rf.Attribute("quantile", "latency_ms", level=0.95))
    p95(latency_ms)
    """

    statistic: str
    metric: str
    bound: str | None = None
    level: float | None = None
    others: tuple[str, ...] = ()
    own: Own | None = field(default=None, compare=False)
    short: str | None = field(default=None, compare=False, repr=False)
    shown_in: Unit = field(default=Unit(""), compare=False, repr=False)

    def __str__(self) -> str:
        if self.short is not None:
            return self.short
        if self.is_ratio:
            return " / ".join(f"mean({quoted(metric)})" for metric in self.metrics)
        metric = ", ".join(map(quoted, self.metrics))
        if self.level is None:
            return f"{self.statistic}({metric})"
        if self.bound is not None:
            return f"{self.statistic}({metric} {self.bound} {self.shown_in.write(self.level)})"
        if self.statistic == "quantile":
            percent = format((Decimal(repr(self.level)) * 100).normalize(), "f")
            if level_of(percent) == self.level:
                return f"p{percent}({metric})"
        return f"{self.statistic}({metric}, {shortest(self.level)})"

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that it is a statistic of."""
        return (self.metric, *self.others)

    @property
    def kind(self) -> int:
        """Its number in core's statistics, or OWN."""
        if self.bound is not None:
            return SHARES[self.bound]
        return OWN if self.own is not None else _KINDS[self.statistic]

    @property
    def is_ratio(self) -> bool:
        """Whether it is the mean of one metric divided by that of another."""
        return self.statistic == RATIO

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean of what each pull contributes."""
        return self.statistic in ("mean", "share") and self.own is None

    @property
    def least_pulls(self) -> int:
        """The pulls without which it is undefined; of an own function also one to leave out."""
        if self.own is not None:
            return self.own.least_pulls + 1
        return 1 if self.is_mean else 2

    @property
    def first_pulls(self) -> int:
        """The pulls that tell something of its noise: more for tails."""
        if self.level is None or self.bound is not None:
            return self.least_pulls
        return math.ceil(_TAIL_PULLS / min(_exact(self.level), 1 - _exact(self.level)))

    def unit(self, units: Mapping[str, str]) -> str:
        """Return the unit of its values, by those of metrics; empty where it has none."""
        if self.bound is not None or self.own is not None:
            return ""
        own = units.get(self.metric, "")
        if self.statistic == "variance":
            return f"{own}²" if own else ""
        if self.is_ratio:
            below = units.get(self.others[0], "")
            over = f"{own or '1'}/{below}" if below else own
            return "" if own == below else over
        return own


@dataclass(frozen=True)
class Objective:
    """What to optimize, as the user wrote it."""

    direction: Literal["minimize", "maximize"]
    attribute: Attribute

    def __str__(self) -> str:
        return f"{self.direction} {self.attribute}"


@dataclass(frozen=True)
class Constraint:
    """One limit, as the user wrote it; a value on the threshold satisfies it.

    With a `factor` the limit is that many times the baseline's own attribute, plus the threshold.
    How it was written does not count: `shown_in` is the unit of the threshold, and `times_after`
    says that the multiple stood behind the baseline.
    """

    attribute: Attribute
    relation: Literal["<=", ">="]
    threshold: float
    factor: float = 0.0
    shown_in: Unit = field(default=Unit(""), compare=False, repr=False)
    times_after: bool = field(default=False, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.attribute} {self.relation} {self.limit}"

    @property
    def limit(self) -> str:
        """What stands to the right of the relation."""
        if not self.factor:
            return self.shown_in.write(self.threshold)
        sign = "-" if self.threshold < 0.0 else "+"
        more = f" {sign} {self.shown_in.write(abs(self.threshold))}" if self.threshold else ""
        if self.times_after:
            return f"{BASELINE} * {shortest(self.factor)}{more}"
        times = "" if self.factor == 1.0 else f"{shortest(self.factor)} * "
        return f"{times}{BASELINE}({self.attribute}){more}"


def complement(level: float) -> float:
    """Return 1 - level as it would be written: 0.1 for 0.9, not the nearest float below it."""
    return float(1 - _exact(level))


def _exact(level: float) -> Fraction:
    """Return the fraction that was meant: 1/20 for 0.05, 5/6 for 0.8333333333333334."""
    near = Fraction(level).limit_denominator(10**6)
    return near if float(near) == level else Fraction(repr(level))


def level_of(percent: str) -> float:
    """Return the probability that a percentile stands for, as it would be written: p95 is 0.95."""
    return float(Decimal(percent) / 100)


def quoted(metric: str) -> str:
    """Return a metric's name as expressions hold it: in quotes where it is no plain name."""
    if PLAIN_NAME.fullmatch(metric):
        return metric
    return f'"{metric}"' if "'" in metric else f"'{metric}'"
