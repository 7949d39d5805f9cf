"""Answers of several logs as one table: each option once on each item, metrics in columns.

What is ambiguous is refused with what to write; what is left out is said in `notes`. May touch core
and the file that is written.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringfence.core.errors import InputError, MissingExtraError, nearest
from ringfence.core.spreadsheets import inert
from ringfence.interfaces.logs.entries import PRICES, Entry

_MOST_NAMED = 3


@dataclass(frozen=True)
class ImportedLogs:
    """A row for each option on each item: `columns` by name, `option` and `item` first.

    >>> import ringfence as rf
    >>> logs = rf.ImportedLogs({"option": ["a", "b"], "item": ["1", "1"], "right": [1.0, 0.0]})
    >>> logs.options, logs.items, logs.metrics
    (('a', 'b'), ('1',), ('right',))
    """

    columns: Mapping[str, Sequence[Any]]
    notes: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """The options, in the order of the logs."""
        return tuple(dict.fromkeys(self.columns["option"]))

    @property
    def items(self) -> tuple[str, ...]:
        """The items, in the order of the logs."""
        return tuple(dict.fromkeys(self.columns["item"]))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The columns that are numbers."""
        return tuple(self.columns)[2:]

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write a .csv or .parquet file; one that is there is replaced only with `force`."""
        place = Path(path)
        require_place(place, force=force)
        if place.suffix.lower() == ".parquet":
            _write_parquet(place, self.columns)
            return place
        with place.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(self.columns)
            for row in zip(*self.columns.values(), strict=True):
                rows.writerow([inert(_short(cell)) for cell in row])
        return place


def require_place(path: Path, *, force: bool) -> None:
    """Refuse a table that cannot be written, before anything is read."""
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"to = {str(path)!r} must end in .csv or .parquet. Write table.csv.")
    if not path.parent.is_dir():
        raise InputError(
            f"to = {str(path)!r}: folder {str(path.parent)!r} does not exist. Make it first."
        )
    if path.exists() and not force:
        raise InputError(f"to = {str(path)!r} is there already. Name another, or use --force.")
    if path.suffix.lower() == ".parquet":
        try:
            import pyarrow as pa  # noqa: F401 - only to see whether it is there
        except ImportError:
            raise MissingExtraError(f"Writing {path.name}", "parquet") from None


def table_of(
    entries: Iterable[Entry],
    *,
    fill: Mapping[str, float] | None = None,
    only_common_items: bool = False,
) -> ImportedLogs:
    """Return one table of all answers.

    Repeats of an option on an item are averaged. `fill` says what stands where a metric is missing;
    `only_common_items` leaves out items on which some option has no answer, or an incomplete one.
    """
    found = list(entries)
    notes: list[str] = []
    many_tasks = len({(entry.group) for entry in found}) > 1
    named = _options(found)
    answers: dict[str, dict[str, list[Entry]]] = {}
    contents: dict[str, Entry] = {}
    for entry, option in zip(found, named, strict=True):
        item = f"{entry.group}:{entry.item}" if many_tasks else entry.item
        first = contents.setdefault(item, entry)
        if first.content != entry.content and None not in (first.content, entry.content):
            raise InputError(
                f"{entry.source}: item {item!r} is another one than in {first.source}. Options "
                "must have been tried on the same items: give logs of one version of the data."
            )
        answers.setdefault(option, {}).setdefault(item, []).append(entry)
    metrics = _common_metrics(answers, fill or {}, notes)
    rows = {
        option: {item: _averaged(given, metrics) for item, given in by_item.items()}
        for option, by_item in answers.items()
    }
    most = max(len(given) for by_item in answers.values() for given in by_item.values())
    if most > 1:
        notes.append(f"an option answered an item up to {most} times: its answers are averaged")
    items = _items(answers, rows, metrics, fill or {}, notes, only_common=only_common_items)
    columns: dict[str, list[Any]] = {"option": [], "item": []} | {name: [] for name in metrics}
    for option, by_item in rows.items():
        for item in items:
            columns["option"].append(option)
            columns["item"].append(item)
            for name in metrics:
                value = by_item.get(item, {}).get(name)
                columns[name].append((fill or {})[name] if value is None else value)
    return ImportedLogs(columns, tuple(notes))


def _options(entries: Sequence[Entry]) -> list[str]:
    """Return the names of options; those of one name and other settings have these in theirs."""
    settings: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries:
        known = settings.setdefault(entry.option, [])
        if entry.setting not in known:
            known.append(entry.setting)
    return [_with_setting(entry, settings[entry.option]) for entry in entries]


def _with_setting(entry: Entry, settings: Sequence[Mapping[str, Any]]) -> str:
    keys = dict.fromkeys(key for one in settings for key in one)
    differing = [
        key for key in keys if any(one.get(key) != settings[0].get(key) for one in settings)
    ]
    said = [f"{key}={entry.setting[key]}" for key in differing if key in entry.setting]
    return " ".join([entry.option, *said])


def _common_metrics(
    answers: Mapping[str, Mapping[str, Sequence[Entry]]],
    fill: Mapping[str, float],
    notes: list[str],
) -> list[str]:
    """Return the metrics that all options have somewhere; prices only where they have them all."""
    had = {
        option: dict.fromkeys(
            name for given in items.values() for one in given for name in one.metrics
        )
        for option, items in answers.items()
    }
    known = dict.fromkeys(name for names in had.values() for name in names)
    for name in fill:
        if name not in known:
            raise InputError(
                f"fill: {name!r} is no metric of these logs, which have {', '.join(known)}."
                f"{nearest(name, known)} Correct the name."
            )
    kept = [name for name in known if name in fill or all(name in names for names in had.values())]
    for name in known:
        if name not in kept:
            lacking = next(option for option, names in had.items() if name not in names)
            notes.append(f"{name} is left out: {lacking!r} has none")
    for name in PRICES:
        gaps = [
            one
            for items in answers.values()
            for given in items.values()
            for one in given
            if one.metrics and name not in one.metrics
        ]
        if name in kept and name not in fill and gaps:
            kept.remove(name)
            notes.append(f"{name} is left out: {gaps[0].source} has none")
    if not [name for name in kept if name not in PRICES]:
        one = next(iter(next(iter(answers.values())).values()))[0]
        raise InputError(
            f"{one.source}: the options have no metric in common that is a number. Give logs with "
            "the same scorers."
        )
    judged = [name for name in kept if name not in PRICES]
    return judged + [name for name in PRICES if name in kept]


def _averaged(given: Sequence[Entry], metrics: Sequence[str]) -> dict[str, float]:
    """Return the means over repeats; a metric that one of them lacks is missing."""
    return {
        name: sum(one.metrics[name] for one in given) / len(given)
        for name in metrics
        if all(name in one.metrics for one in given)
    }


def _items(
    answers: Mapping[str, Mapping[str, Sequence[Entry]]],
    rows: Mapping[str, Mapping[str, Mapping[str, float]]],
    metrics: Sequence[str],
    fill: Mapping[str, float],
    notes: list[str],
    *,
    only_common: bool,
) -> list[str]:
    """Return the items on which every option has all metrics; others are refused or left out."""
    every = dict.fromkeys(item for items in rows.values() for item in items)
    needed = [name for name in metrics if name not in fill]
    common = []
    for item in every:
        lacking = [
            (option, [name for name in needed if name not in items.get(item, {})])
            for option, items in rows.items()
        ]
        option, missing = next(((o, names) for o, names in lacking if names), ("", []))
        if not missing:
            common.append(item)
        elif not only_common:
            given = answers[option].get(item)
            where = f"{given[0].source}: " if given else ""
            what = f"metric {missing[0]!r}" if given else "answer"
            raise InputError(
                f"{where}option {option!r} has no {what} on item {item!r}. Write "
                f"--fill {missing[0]}=0 to count it so, or --common to leave such items out."
            )
    if not common:
        raise InputError("no item has answers of all options. Give logs of the same items.")
    if left := [item for item in every if item not in set(common)]:
        shown = ", ".join(left[:_MOST_NAMED]) + (", ..." if len(left) > _MOST_NAMED else "")
        notes.append(f"{len(left)} of {len(every)} items are left out: {shown}")
    return common


def _short(cell: Any) -> Any:
    """Return 1 for 1.0: a table of marks is easier to read."""
    return (
        int(cell) if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53 else cell
    )


def _write_parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({key: list(one) for key, one in columns.items()}), path)
