"""Logs of lm-evaluation-harness: samples_*.jsonl of `--log_samples`, and results_*.json beside.

May touch core and the files.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ringfence.core.errors import InputError
from ringfence.interfaces.logs.entries import Entry, json_of, member, metric_name, named, number_of
from ringfence.simulation.reading import opened

NAME = "lm-eval"
_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
_UNFILTERED = "none"


def is_results(document: Any) -> bool:
    """Tell whether a JSON document sums up a run: its samples are in files beside it."""
    return isinstance(document, Mapping) and {"results", "configs"} <= set(document)


def is_mine(first: Any) -> bool:
    """Tell whether the first line of a JSONL file is one of samples."""
    return isinstance(first, Mapping) and {"doc_id", "filtered_resps"} <= set(first)


def read_samples(path: Path) -> Iterator[Entry]:
    """Yield the answers of a samples_*.jsonl; of several filters each has metrics of its own."""
    place = named(path)
    found = _SAMPLES.fullmatch(path.name)
    task = found["task"] if found else path.stem
    option, setting = _model_of(path, found["date"] if found else None)
    by_item: dict[str, dict[str, float]] = {}
    content: dict[str, str] = {}
    filters: set[str] = set()
    rows: list[tuple[str, str, Mapping[str, Any], str]] = []
    with opened(path, key="log", advice="Give a samples_*.jsonl file.") as file:
        for at, line in enumerate(file, start=1):
            if not line.strip():
                continue
            where = f"{place}: line {at}"
            row = json_of(line, where)
            item = str(member(row, "doc_id", (int, str), where))
            kind = str(row.get("filter") or _UNFILTERED)
            filters.add(kind)
            rows.append((item, kind, row, where))
    for item, kind, row, where in rows:
        names = row.get("metrics")
        if not isinstance(names, list):  # logs of before 0.4.8 do not name them
            raise InputError(
                f"{where}: metrics is missing: the log is of an older lm-eval. Write it anew with "
                "lm-eval 0.4.8 or later."
            )
        mine = by_item.setdefault(item, {})
        content[item] = str(row.get("doc_hash") or "")
        for name in names:
            value = number_of(row.get(name))
            shown = str(name) if len(filters) == 1 else f"{name}_{kind}"
            if value is not None:
                mine[metric_name(shown)] = value
    for item, metrics in by_item.items():
        source = f"{place}: doc_id {item}"
        yield Entry(option, item, metrics, source, task, content[item] or None, setting)


def _model_of(path: Path, date: str | None) -> tuple[str, Mapping[str, Any]]:
    """Return the model that results of the same date name; without them, the folder's name."""
    beside = path.parent / f"results_{date}.json"
    if date is None or not beside.is_file():
        return path.resolve().parent.name, {}
    with opened(beside, key="log", advice="Leave it out.") as file:
        document = json_of(file.read(), named(beside))
    name = document.get("model_name") if isinstance(document, Mapping) else None
    config = member(document, "config", dict, named(beside), default={})
    setting = config.get("model_args")
    told = {"model_args": setting} if isinstance(setting, str) else setting
    known = {key: told[key] for key in told if key != "model"} if isinstance(told, dict) else {}
    generation = config.get("gen_kwargs")
    known |= generation if isinstance(generation, dict) else {}
    return str(name or path.resolve().parent.name), known
