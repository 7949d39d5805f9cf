"""Observations, as they are told: every metric of the study, once, as a number that rules can bear.

May touch policies and core.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ringfence.core.errors import InputError, nearest
from ringfence.study.deciding import Plan

_LONGEST_SHOWN = 60


def values_of(plan: Plan, metrics: Mapping[str, Any]) -> tuple[float, ...]:
    """Return an observation's values in the study's order, or refuse it."""
    wanted, study = plan.metrics, plan.definition.name
    if not isinstance(metrics, Mapping):
        raise InputError(f"metrics = {metrics!r} must be a mapping of metrics to numbers. Mend it.")
    for name in metrics:
        if name not in wanted:
            raise InputError(
                f"metric {repr(name)[:_LONGEST_SHOWN]} is unknown to study {study!r}. "
                f"It has {', '.join(wanted)}.{nearest(name, wanted)}"
            )
    values = []
    for name in wanted:
        if name not in metrics:
            raise InputError(
                f"metric {name!r} is missing: study {study!r} needs "
                f"{', '.join(wanted)} of every pull. Add it."
            )
        values.append(finite(f"metric {name!r}", metrics[name]))
    return inside(plan, values)


def inside(plan: Plan, values: Sequence[float]) -> tuple[float, ...]:
    """Return an observation's values if all are within stated bounds, or refuse it."""
    error = plan.noise.outside(plan.metrics, values)
    if error is not None:
        raise error
    return tuple(values)


def row_of(plan: Plan, place: int, metrics: Mapping[str, Any]) -> tuple[float, ...]:
    """Return the values of one observation of many, or refuse it by its place."""
    try:
        return values_of(plan, metrics)
    except InputError as error:
        raise InputError(f"row {place}: {error}") from None


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
    """Return a finite number, or refuse it."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if isinstance(value, str) or not math.isfinite(found):
        shown = repr(value)[:_LONGEST_SHOWN]
        raise InputError(f"{key} = {shown} must be a finite number. Tell it as failed.")
    return found
