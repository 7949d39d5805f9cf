"""Tables of logged outcomes as instances: CSV and Parquet files, and data frames.

May touch core and the file that was named.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.attributes import Attribute
from ringfence.core.errors import InputError, MissingExtraError, nearest, one_line
from ringfence.core.measurement import measure_sample
from ringfence.core.problem import Problem
from ringfence.core.spreadsheets import meant
from ringfence.core.stated import LARGEST
from ringfence.core.statistics import contributions
from ringfence.simulation.draws import TableArrays, draw_table_pull
from ringfence.simulation.instance import Instance, require_sound
from ringfence.simulation.laws import SampledLaw, TableLaw, recording_of
from ringfence.simulation.reading import opened
from ringfence.simulation.shared_laws import ItemLaw
from ringfence.simulation.tariffs import (
    Tariff,
    require_costs,
    tariff_of_items,
    tariff_of_metrics,
    tariff_of_rows,
)

Columns = Mapping[str, Sequence[Any]]
_MANY_ROWS = 1000
_ARROW = (".arrow", ".feather")
_EMPTY = ("", "None", "nan", "NaN", "<NA>", "NaT")


def read_columns(path: Path, wanted: Sequence[str], *, key: str = "noise.path") -> Columns:
    """Return the wanted columns of a CSV, Parquet or Arrow file, chosen by its suffix.

    `key` is what errors call the path.
    """
    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise InputError(f"{key} = {str(path)!r} {what}. Give a CSV or Parquet file.")
    suffix = path.suffix.lower()
    if suffix == ".csv":
        found = opened(path, key=key, advice="Give a CSV or Parquet file.")
        with io.TextIOWrapper(found, encoding="utf-8-sig", newline="") as file:
            return _columns_of_csv(file, wanted, f"{key} = {str(path)!r}")
    if suffix not in (".parquet", *_ARROW):
        raise InputError(
            f"{key} = {str(path)!r} must end in .csv or .parquet (or {' or '.join(_ARROW)})."
        )
    try:
        from pyarrow import ArrowException, feather, parquet
    except ImportError:
        raise MissingExtraError(f"Reading {path.name}", "parquet") from None
    try:
        found = feather.read_table(path) if suffix in _ARROW else parquet.read_table(path)
        found.validate(full=True)  # or a damaged file would have us read beyond its end
        return columns_of_frame(found, wanted)
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        kind = "an Arrow" if suffix in _ARROW else "a Parquet"
        raise InputError(
            f"{key} = {str(path)!r} is not {kind} file: {one_line(str(error))}. Save it anew, or "
            "restore it from a copy."
        ) from None


def wanted_columns(arm: str, problem: Problem, price: Any = None) -> list[str]:
    """Return the columns of a table that a question is about: the arm's, metrics, the price's."""
    if arm in problem.metrics:
        raise InputError(
            f"arm = {arm!r} must name another column than the metrics, which are "
            f"{', '.join(problem.metrics)}. Name the column that says which arm a row is of."
        )
    if price == arm:
        raise InputError(f"price = {price!r} is the column of the arm already. Name another.")
    is_more = isinstance(price, str) and price not in problem.metrics
    return [arm, *problem.metrics, *[price] * is_more]


def table_columns(table: Any, wanted: Sequence[str]) -> Columns:
    """Return the wanted columns of a file, a data frame or a mapping of columns."""
    if isinstance(table, str | Path):
        return read_columns(Path(table), wanted, key="table")
    if not isinstance(table, Mapping):
        return columns_of_frame(table, wanted)
    _require(wanted, list(table))
    columns = {name: list(table[name]) for name in wanted}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"The table's columns differ in length: {lengths}. Give a value a row.")
    return columns


def columns_of_frame(frame: Any, wanted: Sequence[str], *, whole: bool = False) -> Columns:
    """Return the wanted columns of a data frame of any library that narwhals knows.

    With `whole` all columns, the wanted ones among them.
    """
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
        present = table.columns
    except TypeError:
        raise InputError(
            f"frame is a {type(frame).__name__}, which is no data frame. Give one of pandas, "
            "polars or Arrow."
        ) from None
    except nw.exceptions.DuplicateError as error:
        raise InputError(
            f"frame has more than one column of a name: {one_line(str(error))}. Name each once."
        ) from None
    _require(wanted, present)
    return {name: table[name].to_list() for name in (present if whole else wanted)}


def table_instance(
    name: str,
    problem: Problem,
    columns: Columns,
    arm: str,
    *,
    baseline: str | None = None,
    on_items: bool = False,
    price: Any = None,
) -> Instance:
    """Return the instance whose truth is the table; arms in order of first appearance.

    With `on_items` each arm has a row of every item, in the same order: pulls go through them.
    `price` is what a pull costs, by arm or as a column.
    """
    labels = [_label(value, arm, row) for row, value in enumerate(columns[arm], start=1)]
    arms = tuple(dict.fromkeys(labels))
    if not arms:
        raise InputError(f"The table has no rows: column {arm!r} names no arm.")
    metrics = {metric: number_column(columns[metric], metric) for metric in problem.metrics}
    place = {label: i for i, label in enumerate(arms)}
    owner = np.array([place[label] for label in labels])
    by_arm = np.argsort(owner, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(owner))]).astype(np.int64)
    rows = np.column_stack([metrics[metric][by_arm] for metric in problem.metrics])
    judged = problem.judged
    linear = all(attribute.is_mean for attribute in judged.attributes)
    law: TableLaw | SampledLaw = (
        _law_of_means(judged, rows, starts) if linear else _law(judged, rows, starts, arms)
    )
    if on_items and isinstance(law, TableLaw):
        law = ItemLaw(law.rows, law.starts, law.origin)
    tariff = None
    if isinstance(price, str) and price in columns:
        costs = number_column(columns[price], price)[by_arm]
        tariff = _tariff(price, law, rows, starts, costs)
        require_costs(price, arms, tariff.means, float(costs.min()))
    return require_sound(Instance(name, problem, arms, law, baseline, price, tariff))


def _tariff(
    metric: str, law: TableLaw | SampledLaw, rows: Floats, starts: Integers, costs: Floats
) -> Tariff:
    """Return how rows are drawn with what they cost."""
    if isinstance(law, ItemLaw):
        items = law.arrays.rows
        return tariff_of_items(metric, items, costs.reshape(items.shape[:2]), law.recording)
    if isinstance(law, TableLaw):
        return tariff_of_rows(metric, law.rows, starts, costs)
    whole, place = np.column_stack([rows, costs]), rows.shape[1]
    means = np.array([part.mean() for part in np.split(costs, starts[1:-1])])
    recording = recording_of(law.draw_pull, law.recipe, place + 1)
    return tariff_of_metrics(metric, means, TableArrays(whole, starts), recording, place)


def _law_of_means(problem: Problem, rows: Floats, starts: Integers) -> TableLaw:
    """Return the law of what each row contributes to means and shares.

    Means are summed as deviations from their thresholds, so that rows on it stay on it; shares
    as ones and zeros, which sum exactly. What is compared with a baseline is summed as it is.
    """
    recipe, origin = problem.recipe, np.zeros(len(problem.attributes))
    columns = []
    for c, attribute in enumerate(problem.attributes):
        values = rows[:, recipe.metric_of[c]]
        if attribute.statistic == "share":
            values = contributions(attribute.kind, recipe.levels[c], values)
        elif c > 0 and not problem.constraints[c - 1].factor:
            origin[c] = problem.thresholds[c - 1]
        columns.append(recipe.signs[c] * values + 0.0 - origin[c])
    return TableLaw(np.column_stack(columns), starts, origin)


def _law(problem: Problem, rows: Floats, starts: Integers, arms: Sequence[str]) -> SampledLaw:
    """Return the law of attributes that are measured on a record of the rows drawn."""
    truths = [
        _truth(problem, part, arm)
        for part, arm in zip(np.split(rows, starts[1:-1]), arms, strict=True)
    ]
    return SampledLaw(
        arrays=TableArrays(rows, starts),
        draw_pull=draw_table_pull,
        metrics=problem.metrics,
        attributes=problem.attributes,
        recipe=problem.recipe,
        means=np.array([value for value, _ in truths]),
        true_covariances=np.array([covariance for _, covariance in truths]),
        has_ties=True,
    )


def _truth(problem: Problem, rows: Floats, arm: str) -> tuple[Floats, Floats]:
    """Return the attributes of an arm's rows as a distribution of their own.

    That is what a large sample drawn from them with replacement shows: every row, many times. They
    are put in order first: the same rows in another order are the same truth, to the bit.
    """
    copies = -(-_MANY_ROWS // len(rows))
    ordered = np.tile(rows[np.lexsort(rows.T)], (copies, 1))
    sample = dict(zip(problem.metrics, ordered.T, strict=True))
    signs = problem.signs
    found = measure_sample(problem.attributes, sample, arm=arm, signs=signs.tolist())
    values = found.estimates.copy()
    for c, attribute in enumerate(problem.attributes):
        column = sample[attribute.metric]
        if attribute.is_ratio:
            under = math.fsum(sample[attribute.others[0]])
            require_divisor(attribute, under, f"arm {arm!r}")
            values[c] = math.fsum(column) / under
            continue
        if np.ptp(column) == 0.0 or attribute.own is not None:
            continue
        if attribute.statistic in ("variance", "std"):
            values[c] = getattr(np, attribute.statistic[:3])(column)
        elif attribute.statistic in ("mean", "robust_mean"):
            values[c] = math.fsum(column) / len(column)  # what robust_mean tends to
    return signs * values + 0.0, np.outer(signs, signs) * found.covariance


def require_divisor(attribute: Attribute, mean: float, where: str) -> None:
    """Refuse a ratio whose truth divides by nothing."""
    if mean == 0.0:
        raise InputError(
            f"{attribute} cannot be told: the mean of {attribute.others[0]!r} is 0 in {where}. "
            "Drop the arm, or ask for something else."
        )


def _columns_of_csv(file: TextIO, wanted: Sequence[str], named: str) -> Columns:
    try:
        reader = csv.DictReader(file, strict=True)
        names = reader.fieldnames = [meant(name) for name in reader.fieldnames or ()]
        _require(wanted, names)
        for name in wanted:
            if names.count(name) > 1:
                raise InputError(f"The table has more than one column {name!r}. Name each once.")
        columns: dict[str, list[Any]] = {name: [] for name in wanted}
        for number, row in enumerate(reader, start=1):
            if None in row:
                raise InputError(
                    f"The table's row {number} has more cells than columns. Remove some."
                )
            for name in wanted:
                columns[name].append(meant(row[name]))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{named} cannot be read as CSV: it is not text in UTF-8 ({error.reason} at byte "
            f"{error.start}; utf-8). Save it as UTF-8, or restore it from a copy."
        ) from None
    except (csv.Error, OSError) as error:
        raise InputError(
            f"{named} cannot be read as CSV: {error}. Save it anew, or restore it from a copy."
        ) from None
    return columns


def _require(wanted: Sequence[str], present: Sequence[str]) -> None:
    for name in wanted:
        if name not in present:
            raise InputError(
                f"The table has no column {name!r}; "
                f"it has {', '.join(map(str, present)) or 'none'}."
                f"{nearest(name, map(str, present))}"
            )


def is_empty(value: Any) -> bool:
    """Tell whether a cell holds nothing."""
    return str(value).strip() in _EMPTY


def _label(value: Any, arm: str, row: int) -> str:
    if is_empty(value):
        raise InputError(f"Column {arm!r}, row {row} names no arm. Fill it or drop the row.")
    return str(value)


def number_column(values: Sequence[Any], metric: str) -> Any:
    """Return a column of finite numbers, or refuse it by its first bad row."""
    numbers = loose_numbers(values)
    for row in np.flatnonzero(~(np.abs(numbers) <= LARGEST))[:1]:
        raise InputError(
            f"Column {metric!r}, row {row + 1} = {values[row]!r} must be a finite number, at most "
            f"{LARGEST:g} in size. Change it or drop the row."
        )
    return numbers


def loose_numbers(values: Sequence[Any]) -> Floats:
    """Return a column as numbers, NaN for what is none."""
    numbers = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            numbers[row] = float(value)
        except (TypeError, ValueError, OverflowError):
            numbers[row] = np.nan
    return numbers
