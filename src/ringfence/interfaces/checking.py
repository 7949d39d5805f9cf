"""What users give to a study, checked once at the door: every error has key, value, rule, remedy.

May touch core, study's facts, and simulation's tables.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from ringfence.core.errors import InputError, closest

_NAME = re.compile(r"\w[\w .-]{0,99}")
_LONGEST_NAME = 200
_LONGEST_SECONDS = 1e9  # some thirty years; deadlines and waits beyond it have no room in a clock


def study_name(name: str) -> str:
    """Return a study's name if it can be one: it also names a file."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            f"name = {name!r} must be letters, digits, spaces, dots, dashes and underscores, at "
            "most 100, a letter or digit first. Choose another."
        )
    return name


def arms_of(arms: Sequence[str] | Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return arms with their own keys, each named once."""
    listed = dict(arms) if isinstance(arms, Mapping) else {}
    if not isinstance(arms, Mapping):
        if isinstance(arms, str) or not isinstance(arms, Iterable):
            raise InputError(f"arms = {arms!r} must be a list of names. Write ['a', 'b'].")
        for name in arms:
            if name in listed:
                raise InputError(f"arms: {name!r} is named twice. Name each arm once.")
            listed[name] = {}
    if not listed:
        raise InputError("arms = [] must hold at least one arm. Add one.")
    return {printable("arm", name): _own_keys(name, keys) for name, keys in listed.items()}


def _own_keys(arm: str, keys: Any) -> dict[str, Any]:
    """Return an arm's own keys, which are stored with the study."""
    try:
        if isinstance(keys, Mapping) and json.loads(json.dumps(dict(keys))) == dict(keys):
            return dict(keys)
    except (TypeError, ValueError):
        pass
    raise InputError(
        f"arms: {arm!r} = {keys!r} must be texts, numbers and lists by key. Write {{'size': 7}}."
    )


def text_of(key: str, text: Any) -> str:
    """Return what must be written as text."""
    if not isinstance(text, str):
        raise InputError(f"{key} = {text!r} must be text. Put it in quotes.")
    return text


def texts_of(key: str, texts: Any) -> tuple[str, ...]:
    """Return a list of texts; one alone would be taken for its letters."""
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise InputError(f"{key} = {texts!r} must be a list of texts. Write ['...'].")
    return tuple(text_of(key, text) for text in texts)


def listed(key: str, given: Any, one: tuple[type, ...] = ()) -> list[Any]:
    """Return what was given as a list that is not empty; `one` are kinds that are one by itself."""
    several = isinstance(given, Iterable) and not isinstance(given, one)
    values = list(given) if several else [given]
    if not values:
        raise InputError(f"{key} = [] must name at least one. Add one.")
    return values


def each_once(key: str, values: Sequence[Any], remedy: str = "Leave the repeats out.") -> None:
    """Refuse a list in which something stands twice."""
    for value in values:
        if values.count(value) > 1:
            raise InputError(
                f"{key} = {list(values)!r} must name each once: {value!r} stands there more often. "
                f"{remedy}"
            )


def printable(key: str, name: str) -> str:
    """Return a name that can be shown anywhere: printable, not empty, not endless."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise InputError(f"{key} = {name!r} must be printable text. Write another name.")
    if len(name) > _LONGEST_NAME:
        raise InputError(f"{key} = {name[:40]!r}... must have at most {_LONGEST_NAME} characters.")
    return name


def place_of(function: Any) -> str:
    """Return where a function can be found again, for the record."""
    inner = getattr(function, "estimate", function)
    return f"{getattr(inner, '__module__', '?')}:{getattr(inner, '__qualname__', '?')}"


def columns_of(metrics: Any, wanted: Sequence[str]) -> Mapping[str, Any]:
    """Return a mapping of arrays, or all columns of a data frame."""
    from ringfence.simulation.tables import columns_of_frame

    if isinstance(metrics, Mapping):
        return metrics
    return columns_of_frame(metrics, list(wanted), whole=True)


def rows_of(columns: Mapping[str, Any], wanted: Sequence[str], untold: Sequence[str] = ()) -> Any:
    """Return rows of metrics [pull, metric] from columns; those `untold` are 0 if they lack."""
    arrays = []
    needed = [name for name in wanted if name not in untold]
    for name in wanted:
        if name not in columns and name in untold:
            arrays.append(np.zeros(len(columns[needed[0]])))
            continue
        if name not in columns:
            meant = closest(name, [one for one in columns if one not in wanted])
            hint = "" if meant is None else f" {meant!r} was given. Did you mean {name!r}?"
            raise InputError(f"metric {name!r} is missing. Give {', '.join(needed)}.{hint}")
        values = np.asarray(columns[name])
        if values.ndim != 1 or values.dtype.kind not in "biuf":
            raise InputError(f"metric {name!r} must be a list of numbers. Give one a pull.")
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise InputError(
                f"metric {name!r} in row {row} = {values[row]} must be a finite number. Tell that "
                "pull as failed."
            )
        arrays.append(values.astype(np.float64))
    lengths = {name: len(values) for name, values in zip(wanted, arrays, strict=True)}
    if len(set(lengths.values())) > 1:
        raise InputError(f"the metrics have different numbers of rows: {lengths}. Give as many.")
    return np.column_stack(arrays)


def further_rows(columns: Mapping[str, Any], wanted: Sequence[str]) -> list[dict[str, Any]]:
    """Return what columns beyond the metrics say, a mapping a row; they must be as long."""
    others = {name: list(values) for name, values in columns.items() if name not in wanted}
    size = next(len(columns[name]) for name in wanted if name in columns)
    for name, values in others.items():
        if len(values) != size:
            raise InputError(
                f"{name!r} has {len(values)} rows, and the metrics {size}. Give as many."
            )
    return [{name: values[row] for name, values in others.items()} for row in range(size)]


def whole_budget(budget: Any) -> int:
    """Return a budget as a plain whole number."""
    if not isinstance(budget, Integral) or isinstance(budget, bool):
        raise InputError(f"budget = {budget!r} must be a whole number of pulls. Write 60.")
    return int(budget)


def at_least(key: str, value: int, least: int) -> int:
    """Return a whole number that is large enough."""
    if not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{key} = {value!r} must be a whole number, {least} or more. Change it.")
    return int(value)


def lag_or_none(lag: int | None, batch: int | None, policy: str, *, has_phases: bool) -> int | None:
    """Return the lag that was stated: also by a batch of one, which is decided pull by pull."""
    if lag is None:
        return 1 if batch == 1 else None
    stated = at_least("lag", lag, 1)
    if has_phases and stated > 1:
        raise InputError(
            f"lag = {stated} has no effect with {policy}: a phase waits for all pulls of the one "
            "before. Leave it out, or choose an adaptive policy, such as top-two."
        )
    return stated


def positive(key: str, value: float) -> float:
    """Return a positive number of seconds that a clock has room for."""
    if not isinstance(value, int | float) or not 0.0 < value <= _LONGEST_SECONDS:
        raise InputError(
            f"{key} = {value!r} must be a positive number of seconds, at most "
            f"{_LONGEST_SECONDS:,.0f}. Write 60."
        )
    return float(value)
