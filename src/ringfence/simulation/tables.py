"""Tables of logged outcomes as instances: CSV and Parquet files, and data frames.

May touch core and the file that was named.
"""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ringfence.core.errors import InputError, MissingExtraError, nearest
from ringfence.core.problem import Problem
from ringfence.simulation.instance import Instance, require_sound
from ringfence.simulation.laws import TableLaw

Columns = Mapping[str, Sequence[Any]]
_EMPTY = ("", "None", "nan", "NaN", "<NA>", "NaT")


def read_columns(path: Path, wanted: Sequence[str]) -> Columns:
    """Return the wanted columns of a CSV or Parquet file, chosen by its suffix."""
    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise InputError(f"noise.path = {str(path)!r} {what}. Give a CSV or Parquet file.")
    if path.suffix.lower() == ".csv":
        with path.open(newline="", encoding="utf-8-sig") as file:
            return _columns_of_csv(file, wanted)
    if path.suffix.lower() == ".parquet":
        try:
            from pyarrow import ArrowException, parquet
        except ImportError:
            raise MissingExtraError(f"Reading {path.name}", "parquet") from None
        try:
            return columns_of_frame(parquet.read_table(path), wanted)
        except (ArrowException, OSError) as error:
            raise InputError(f"noise.path = {str(path)!r} is not a Parquet file: {error}") from None
    raise InputError(f"noise.path = {str(path)!r} must end in .csv or .parquet.")


def columns_of_frame(frame: Any, wanted: Sequence[str]) -> Columns:
    """Return the wanted columns of a data frame of any library that narwhals knows."""
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(
            f"frame is a {type(frame).__name__}, which is no data frame. Give one of pandas, "
            "polars or Arrow."
        ) from None
    _require(wanted, table.columns)
    return {name: table[name].to_list() for name in wanted}


def table_instance(name: str, problem: Problem, columns: Columns, arm: str) -> Instance:
    """Return the instance whose truth is the table; arms in order of first appearance."""
    labels = [_label(value, arm, row) for row, value in enumerate(columns[arm], start=1)]
    arms = tuple(dict.fromkeys(labels))
    if not arms:
        raise InputError(f"The table has no rows: column {arm!r} names no arm.")
    metrics = {metric: _numbers(columns[metric], metric) for metric in problem.metrics}
    oriented = np.column_stack(
        [
            sign * attribute.contributions(metrics[attribute.metric]) + 0.0
            for sign, attribute in zip(problem.signs, problem.attributes, strict=True)
        ]
    )
    place = {label: i for i, label in enumerate(arms)}
    owner = np.array([place[label] for label in labels])
    by_arm = np.argsort(owner, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(owner))]).astype(np.int64)
    origin = np.concatenate([[0.0], problem.thresholds])
    law = TableLaw(oriented[by_arm] - origin, starts, origin)
    return require_sound(Instance(name, problem, arms, law))


def _columns_of_csv(file: Any, wanted: Sequence[str]) -> Columns:
    try:
        reader = csv.DictReader(file, strict=True)
        names = list(reader.fieldnames or [])
        _require(wanted, names)
        for name in wanted:
            if names.count(name) > 1:
                raise InputError(f"The table has more than one column {name!r}. Name each once.")
        columns: dict[str, list[Any]] = {name: [] for name in wanted}
        for number, row in enumerate(reader, start=1):
            if None in row:
                raise InputError(f"The table's row {number} has more cells than columns. Mend it.")
            for name in wanted:
                columns[name].append(row[name])
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"noise.path = {file.name!r} cannot be read as CSV: {error}") from None
    return columns


def _require(wanted: Sequence[str], present: Sequence[str]) -> None:
    for name in wanted:
        if name not in present:
            raise InputError(
                f"The table has no column {name!r}; "
                f"it has {', '.join(map(str, present)) or 'none'}."
                f"{nearest(name, map(str, present))}"
            )


def _label(value: Any, arm: str, row: int) -> str:
    if str(value).strip() in _EMPTY:
        raise InputError(f"Column {arm!r}, row {row} names no arm. Fill it or drop the row.")
    return str(value)


def _numbers(values: Sequence[Any], metric: str) -> Any:
    numbers = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            numbers[row] = float(value)
        except (TypeError, ValueError):
            numbers[row] = np.nan
        if not np.isfinite(numbers[row]):
            raise InputError(
                f"Column {metric!r}, row {row + 1} = {value!r} must be a finite number. "
                "Mend it or drop the row."
            )
    return numbers
