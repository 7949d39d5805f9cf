"""Observations, as they are told: every metric of the study, once, as a number that rules can bear.

Further finite numbers are kept beside them. May touch policies and core.
"""

import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ringfence.core.errors import InputError, ShapeError, closest
from ringfence.study.paying import amount_of
from ringfence.study.plan import Plan

MOST_EXTRAS = 100
LONGEST_EXTRA = 200
TAKEN = ("pull", "arm", "seed")  # columns that every export has
_LONGEST_SHOWN = 60


@dataclass(frozen=True)
class Observation:
    """What a pull gave: `values` in the study's order, `extras` beside them.

    `notes` say what else there was, and that it was ignored.
    """

    values: tuple[float, ...]
    extras: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def values_of(plan: Plan, metrics: Mapping[str, Any]) -> tuple[float, ...]:
    """Return an observation's values in the study's order, or refuse it."""
    return observation_of(plan, metrics).values


def observation_of(plan: Plan, metrics: Mapping[str, Any]) -> Observation:
    """Return an observation, or refuse one of the wrong shape: that is its caller's mistake."""
    if not isinstance(metrics, Mapping):
        shown = repr(metrics)[:_LONGEST_SHOWN]
        raise ShapeError(f"metrics = {shown} must be a mapping of metrics to numbers. Return one.")
    values = []
    for name in plan.metrics:
        if name in metrics:
            values.append(finite(f"metric {name!r}", metrics[name]))
        elif name in plan.untold:
            values.append(0.0)
        else:
            raise _missing(plan, name, metrics)
    extras, notes = _extras({key: metrics[key] for key in metrics if key not in plan.metrics})
    return Observation(inside(plan, values), extras, notes)


def _missing(plan: Plan, name: str, metrics: Mapping[str, Any]) -> ShapeError:
    """Return the error for a metric that was not told, with what came and what may be meant."""
    others = [one for one in metrics if isinstance(one, str) and one not in plan.metrics]
    meant = closest(name, others)
    told = "" if meant is None else f" {meant!r} was told. Did you mean {name!r}?"
    return ShapeError(
        f"metric {name!r} is missing: study {plan.definition.name!r} needs "
        f"{', '.join(plan.told_metrics)} of every pull, and was told {reprlib.repr(dict(metrics))}."
        f"{told} Add it."
    )


def _extras(further: Mapping[Any, Any]) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the finite numbers among what was told beyond the metrics, and notes on the rest."""
    found, notes = dict[str, float](), list[str]()
    for name, value in further.items():
        shown = repr(name)[:_LONGEST_SHOWN]
        number = _finite_or_none(value)
        if number is None:
            notes.append(f"{shown} is no finite number, and was not recorded")
        elif not isinstance(name, str) or not name.isprintable() or not name.strip():
            notes.append(f"{shown} is no printable name, and was not recorded")
        elif len(name) > LONGEST_EXTRA:
            notes.append(f"{shown}... is longer than {LONGEST_EXTRA}, and was not recorded")
        elif name in TAKEN:
            notes.append(f"{shown} is a column of every export already, and was not recorded")
        elif len(found) == MOST_EXTRAS:
            notes.append(f"{shown} is beyond {MOST_EXTRAS} further numbers, and was not recorded")
        else:
            found[name] = number
    return found, tuple(notes)


def inside(plan: Plan, values: Sequence[float]) -> tuple[float, ...]:
    """Return an observation's values if all are within stated bounds, or refuse it.

    So must what a pull cost be an amount, where it says its own price.
    """
    error = plan.noise.outside(plan.metrics, values)
    if error is not None:
        raise error
    if plan.learns_prices:
        amount_of(plan.require_pricing, values[plan.price_column])
    return tuple(values)


def row_of(plan: Plan, place: int, metrics: Mapping[str, Any]) -> Observation:
    """Return one observation of many, or refuse it by its place."""
    try:
        return observation_of(plan, metrics)
    except InputError as error:
        raise InputError(f"row {place}: {error}") from None


def observations_of(
    plan: Plan, rows: Any, further: Sequence[Mapping[str, Any]]
) -> list[Observation]:
    """Return rows of observations with what else came with each, or refuse them all."""
    return [
        Observation(values, *_extras(others))
        for values, others in zip(rows_inside(plan, rows), further, strict=True)
    ]


def rows_inside(plan: Plan, rows: Any) -> list[tuple[float, ...]]:
    """Return rows of observations, all within stated bounds, or refuse them all."""
    found = []
    for place, row in enumerate(rows.tolist()):
        try:
            found.append(inside(plan, row))
        except InputError as error:
            raise InputError(f"row {place}: {error}") from None
    return found


def finite(key: str, value: Any) -> float:
    """Return a finite number, or refuse it: what is no number at all is of the wrong shape."""
    found = _finite_or_none(value)
    if found is None:
        shown = repr(value)[:_LONGEST_SHOWN]
        kind = InputError if _is_number(value) else ShapeError
        raise kind(f"{key} = {shown} must be a finite number. Tell it as failed.")
    return found


def _finite_or_none(value: Any) -> float | None:
    if not _is_number(value):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def _is_number(value: Any) -> bool:
    """Tell whether a value can be taken for a number, be it too large or none that is finite."""
    if isinstance(value, str | bytes):
        return False
    try:
        float(value)
    except OverflowError:
        return True
    except (TypeError, ValueError):
        return False
    return True
