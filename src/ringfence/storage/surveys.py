"""A stretch of pulls as a survey: column by column, so that a million can be audited.

What is not as a study would have written it gives no survey: whoever wants to know what is wrong
reads the pulls one by one. May touch study and core.
"""

import math
from collections.abc import Sequence

import numpy as np
import sqlalchemy as sa
from pydantic_core import from_json
from sqlalchemy.engine import Connection

from ringfence.core.arrays import Floats, Mask
from ringfence.storage import schema
from ringfence.study.facts import State
from ringfence.study.surveying import Survey

_WHOLE = ("number", "arm", "ordinal", "round", "lease", "failures", "run_out")
_SURVEYED = 5  # of these, the first
_STATES = frozenset(one.value for one in State)
_OF_NUMBERS = b"0123456789+-.eE,[] "


def survey_between(
    connection: Connection, study: int, width: int, first: int, last: int
) -> Survey | None:
    """Return the pulls with first <= number <= last, of `width` metrics each, if all are whole."""
    columns = schema.pulls.c
    wanted = [columns[key] for key in (*_WHOLE, "state", "charged")]
    query = (
        sa.select(
            *wanted,
            columns.error.is_not(None),
            columns["values"],
            columns.extras,
            columns.block,
            columns.paid,
        )
        .where(columns.study == study, columns.number.between(first, last))
        .order_by(columns.number)
    )
    rows = connection.execute(query).all()
    if not rows:
        return Survey.of([], width)
    found = list(zip(*rows, strict=True))
    whole, others = found[: len(_WHOLE)], found[len(_WHOLE) :]
    states, charged, has_error, values, extras, hours, paid = others
    if any({*map(type, one)} != {int} for one in whole) or not _STATES.issuperset(states):
        return None
    if not {*map(type, hours), *map(type, paid)} <= {int, type(None)}:
        return None
    observed, extras_fit = _values_of(values, width), _extras_fit(extras)
    if observed is None or extras_fit is None:
        return None
    return Survey.of_columns(
        whole[:_SURVEYED], states, charged, has_error, observed, hours, paid,
        extras_fit=extras_fit,
    )  # fmt: skip


def _values_of(texts: Sequence[str | None], width: int) -> tuple[Mask, Floats] | None:
    """Return who has values, and which [pull, metric]; None where a text is no row of numbers."""
    told = [one for one in texts if one is not None]
    found = np.full((len(texts), width), np.nan)
    has_values = np.array([one is not None for one in texts], dtype=np.bool_)
    if told:
        joined = f"[{_joined(told)}]"
        plain = joined.encode("utf-8", "replace")
        if plain.translate(None, _OF_NUMBERS) or plain.count(b"[") != len(told) + 1:
            return None
        try:
            rows = np.array(from_json(joined), dtype=np.float64)
        except ValueError:
            return None
        if rows.shape != (len(told), width):
            return None
        found[has_values] = rows
    return has_values, found


def _extras_fit(texts: Sequence[str | None]) -> bool | None:
    """Tell whether all further numbers are finite; None where a text is no object of numbers."""
    told = [one for one in texts if one is not None]
    if not told:
        return True
    try:
        objects = from_json(f"[{_joined(told)}]")
    except ValueError:
        return None
    if len(objects) != len(told) or {*map(type, objects)} != {dict}:
        return None
    numbers = [number for one in objects for number in one.values()]
    if not {*map(type, numbers)} <= {int, float}:
        return None
    return all(map(math.isfinite, numbers))


def _joined(texts: Sequence[str]) -> str:
    return ",".join(map(str, texts))  # SQLite may keep something else
