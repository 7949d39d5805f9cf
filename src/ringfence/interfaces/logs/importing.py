"""Logs of other tools, read into one table. Composes the formats; may touch the files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ringfence.core.errors import InputError
from ringfence.interfaces.logs.detecting import entries_at, require_tool
from ringfence.interfaces.logs.entries import Entry
from ringfence.interfaces.logs.tables import ImportedLogs, table_of

Logs = str | Path | Sequence[str | Path] | Mapping[str, str | Path]


def import_logs(
    logs: Logs,
    *,
    tool: str | None = None,
    fill: Mapping[str, float] | None = None,
    only_common_items: bool = False,
) -> ImportedLogs:
    """Return logs of inspect-ai, lm-evaluation-harness or promptfoo as one table.

    `logs` is a file, a folder, several of them, or a mapping that names the option of each. What
    tool wrote them is told from their content, unless `tool` says it. `fill={"score": 0}` says what
    stands where an answer was not judged; `only_common_items` leaves out items that not all options
    have answered.

    >>> import json, tempfile, pathlib
    >>> import ringfence as rf
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> row = {"doc_id": 0, "filtered_resps": ["3"], "metrics": ["exact_match"], "exact_match": 1.0}
    >>> _ = (folder / "samples_sums_2026-01-01T00-00-00.0.jsonl").write_text(json.dumps(row))
    >>> logs = rf.import_logs({"small": folder})
    >>> dict(logs.columns)
    {'option': ['small'], 'item': ['0'], 'exact_match': [1.0]}
    """
    require_tool(tool)
    for name, value in (fill or {}).items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"fill: {name} = {value!r} must be a number. Write {name}=0.")
    if isinstance(logs, Mapping):
        named: list[tuple[str | None, str | Path]] = [(name, one) for name, one in logs.items()]
    else:
        named = [(None, one) for one in ([logs] if isinstance(logs, str | Path) else logs)]
    if not named:
        raise InputError("logs = [] must name a log. Give a file or a folder.")
    return table_of(_entries(named, tool), fill=fill, only_common_items=only_common_items)


def _entries(named: Sequence[tuple[str | None, str | Path]], tool: str | None) -> Iterator[Entry]:
    for name, path in named:
        for entry in entries_at(Path(path), tool):
            yield entry if name is None else replace(entry, option=name, setting={})
