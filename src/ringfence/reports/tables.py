"""Tables that a user asked for: CSV or Parquet, to a file that was named or to memory."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ringfence.core.errors import MissingExtraError
from ringfence.core.spreadsheets import inert
from ringfence.reports.files import require_path, write_file

FORMATS = (".csv", ".parquet")
Columns = Mapping[str, Sequence[Any]]


def write_table(path: Path, columns: Columns) -> None:
    """Write columns to a file, by its suffix; numbers read back as they were."""
    require_table_path(path)
    write_file(path, table_bytes(path.suffix.lower().removeprefix("."), columns), key="output")


def require_table_path(path: Path) -> None:
    """Refuse a table that could not be written, before the work that leads to it."""
    require_path(path, FORMATS, key="output")


def table_bytes(kind: str, columns: Columns) -> bytes:
    """Return columns as `csv`, in which no text is a formula to a spreadsheet, or `parquet`."""
    if kind == "csv":
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(map(inert, columns))
        writer.writerows(map(inert, row) for row in zip(*columns.values(), strict=True))
        return text.getvalue().encode()
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("Writing a Parquet table", "parquet") from None
    written = io.BytesIO()
    parquet.write_table(pa.table(dict(columns)), written)
    return written.getvalue()
