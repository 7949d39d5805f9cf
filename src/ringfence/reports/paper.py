"""The paper's four panels beside ours: points, z-scores, decay rates, statements.

Paper: section "Numerical experiments"; our readings R6 and R7. Pure: numbers in, numbers out;
reads only the published points that ship with the package.
"""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from ringfence.core.schedule import log_bar
from ringfence.simulation.instance import Instance
from ringfence.simulation.rare.results import RareResult
from ringfence.simulation.results import SimulationResult

BUDGETS = tuple(range(1000, 10_001, 1000))
POLICY_NAMES = ("constrained-sr", "infeasible-first")
UNPUBLISHED_INSTANCE, UNPUBLISHED_BUDGETS = 4, (9000, 10_000)
PANELS = ("a", "b", "c", "d")

_PUBLISHED_NAMES = {"Constrained-SR": "constrained-sr", "Infeasible First": "infeasible-first"}
_SAME_WITHIN = 0.1


@dataclass(frozen=True)
class PublishedPoint:
    """A point of the paper's figure; the log error rate is None for minus infinity."""

    log_error_rate: float | None
    replications: int

    @property
    def errors(self) -> int:
        """The errors that the paper must have counted."""
        if self.log_error_rate is None:
            return 0
        return round(math.exp(self.log_error_rate) * self.replications)


@dataclass(frozen=True)
class PaperPoint:
    """One of the 80 points: ours, the paper's, and how far apart they are."""

    instance: int
    result: SimulationResult
    published: PublishedPoint

    @property
    def z(self) -> float:
        """The two-sample z-score of the counts, with the pooled rate; 0 when nobody erred."""
        ours, theirs = self.result, self.published
        pooled = (ours.errors + theirs.errors) / (ours.replications + theirs.replications)
        spread = pooled * (1.0 - pooled) * (1.0 / ours.replications + 1.0 / theirs.replications)
        if spread == 0.0:
            return 0.0
        return (ours.error_rate - theirs.errors / theirs.replications) / math.sqrt(spread)

    def to_dict(self) -> dict[str, Any]:
        """Return the point under the keys that other programs rely on."""
        low, high = self.result.interval
        return {
            "instance": self.instance,
            "policy": self.result.policy,
            "budget": self.result.budget,
            "replications": self.result.replications,
            "errors": self.result.errors,
            "error_rate": self.result.error_rate,
            "ci_low": low,
            "ci_high": high,
            "published_log_error_rate": self.published.log_error_rate,
            "published_errors": self.published.errors,
            "published_replications": self.published.replications,
            "z": self.z,
        }


@dataclass(frozen=True)
class Curve:
    """One policy on one instance: agreement over ten budgets, and the decay fitted to them."""

    instance: int
    policy: str
    chi_square: float
    rate: float
    rate_std_error: float
    published_rate: float
    conjectured_rate: float
    upper_bound_rate: float

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain values."""
        return dict(vars(self))


@dataclass(frozen=True)
class Statement:
    """A sentence of the paper about the figure, and whether our replications bear it out.

    `holds` is None when the replications are too few to tell.
    """

    instance: int
    text: str
    ratio: float
    low: float
    high: float
    holds: bool | None

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain values."""
        return dict(vars(self))


@dataclass(frozen=True)
class PaperReport:
    """Everything that `ringfence paper` shows."""

    points: tuple[PaperPoint, ...]
    curves: tuple[Curve, ...]
    statements: tuple[Statement, ...]
    unpublished: tuple[RareResult, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the report under the keys that other programs rely on."""
        return {
            "points": [point.to_dict() for point in self.points],
            "curves": [curve.to_dict() for curve in self.curves],
            "statements": [statement.to_dict() for statement in self.statements],
            "unpublished": [
                {"instance": UNPUBLISHED_INSTANCE} | _without_instance(result)
                for result in self.unpublished
            ],
        }


@lru_cache(maxsize=1)
def published_points() -> dict[tuple[int, str, int], PublishedPoint]:
    """Return the published points by instance, policy and budget."""
    text = resources.files("ringfence.reports").joinpath("published_curves.csv").read_text("utf-8")
    points = {}
    for row in csv.DictReader(text.splitlines()):
        logged = float(row["log_error_rate"])
        key = (int(row["instance"]), _PUBLISHED_NAMES[row["policy"]], int(row["budget"]))
        points[key] = PublishedPoint(
            logged if math.isfinite(logged) else None, int(row["replications"])
        )
    return points


def paper_report(
    results: Sequence[SimulationResult],
    unpublished: Sequence[RareResult],
    instances: Sequence[Instance],
) -> PaperReport:
    """Put our results beside the published points; `instances` are the paper's four, in order."""
    number = {instance.name: place for place, instance in enumerate(instances, start=1)}
    published = published_points()
    points = tuple(
        PaperPoint(
            number[result.instance],
            result,
            published[number[result.instance], result.policy, int(result.budget)],
        )
        for result in results
    )
    curves = tuple(
        _curve([p for p in points if p.instance == place and p.result.policy == policy], instance)
        for place, instance in enumerate(instances, start=1)
        for policy in POLICY_NAMES
    )
    statements = tuple(
        statement
        for place in range(1, len(instances) + 1)
        for statement in _statements(place, curves, points)
    )
    return PaperReport(points, curves, statements, tuple(unpublished))


def fit_decay(counts: Sequence[tuple[int, int, int]]) -> tuple[float, float]:
    """Return the rate r, and its standard error, of error ~ exp(c - r T).

    `counts` are (budget, errors, replications). Weighted least squares on the logarithm, each
    point weighted by its binomial precision; points without errors carry none and are left out.
    """
    used = [(t, errors, n) for t, errors, n in counts if 0 < errors < n]
    if len(used) < 2:
        return math.nan, math.inf
    weights = [errors * n / (n - errors) for _, errors, n in used]
    logs = [math.log(errors / n) for _, errors, n in used]
    budgets = [t for t, _, _ in used]
    scale = sum(weights)
    mean_budget = sum(w * t for w, t in zip(weights, budgets, strict=True)) / scale
    spread = sum(w * (t - mean_budget) ** 2 for w, t in zip(weights, budgets, strict=True))
    slope = sum(w * (t - mean_budget) * y for w, t, y in zip(weights, budgets, logs, strict=True))
    return -slope / spread, 1.0 / math.sqrt(spread)


def _curve(points: Sequence[PaperPoint], instance: Instance) -> Curve:
    theory = instance.hardness
    rate, std_error = fit_decay(
        [(int(p.result.budget), p.result.errors, p.result.replications) for p in points]
    )
    published_rate, _ = fit_decay(
        [(int(p.result.budget), p.published.errors, p.published.replications) for p in points]
    )
    return Curve(
        instance=points[0].instance,
        policy=points[0].result.policy,
        chi_square=sum(point.z**2 for point in points),
        rate=rate,
        rate_std_error=std_error,
        published_rate=published_rate,
        conjectured_rate=theory.conjectured_rate,
        upper_bound_rate=1.0 / (9.0 * float(log_bar(len(instance.arms))) * theory.h2),
    )


def _statements(
    place: int, curves: Sequence[Curve], points: Sequence[PaperPoint]
) -> list[Statement]:
    """Return what the paper says of a panel, checked."""
    ours, baseline = (
        next(curve for curve in curves if curve.instance == place and curve.policy == policy)
        for policy in POLICY_NAMES
    )
    ratio = ours.rate / baseline.rate if baseline.rate > 0.0 else math.nan
    # The two curves share their random numbers, so this error is on the safe side.
    error = (
        math.hypot(ours.rate_std_error, ratio * baseline.rate_std_error) / baseline.rate
        if baseline.rate > 0.0
        else math.nan
    )
    low, high = ratio - 1.96 * error, ratio + 1.96 * error
    if place == 1:
        faster = True if low > 1.0 else False if high < 1.0 else None
        text = "Constrained-SR decays faster than Infeasible First"
        return [Statement(place, text, ratio, low, high, faster)]
    inside = low >= 1.0 - _SAME_WITHIN and high <= 1.0 + _SAME_WITHIN
    outside = high < 1.0 - _SAME_WITHIN or low > 1.0 + _SAME_WITHIN
    text = f"both decay at the same rate (to within {_SAME_WITHIN:.0%})"
    same = Statement(place, text, ratio, low, high, True if inside else False if outside else None)
    return [same, _constant_factor(place, points)] if place == 2 else [same]


def _constant_factor(place: int, points: Sequence[PaperPoint]) -> Statement:
    """Check that Constrained-SR's error is smaller by a factor, on average over the budgets."""
    ours, baseline = (
        [p.result for p in points if p.instance == place and p.result.policy == policy]
        for policy in POLICY_NAMES
    )
    text = "Constrained-SR's error is smaller by a constant factor"
    logs, variance = [], 0.0
    for here, there in zip(ours, baseline, strict=True):
        if here.errors and there.errors:
            logs.append(math.log(here.error_rate / there.error_rate))
            variance += 1 / here.errors + 1 / there.errors
    if not logs:
        return Statement(place, text, math.nan, math.nan, math.nan, None)
    mean, error = sum(logs) / len(logs), math.sqrt(variance) / len(logs)
    low, high = math.exp(mean - 1.96 * error), math.exp(mean + 1.96 * error)
    holds = True if high < 1.0 else False if low > 1.0 else None
    return Statement(place, text, math.exp(mean), low, high, holds)


def _without_instance(result: RareResult) -> dict[str, Any]:
    return {key: value for key, value in result.to_dict().items() if key != "instance"}
