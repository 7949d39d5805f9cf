"""Tables that a user asked for: CSV or Parquet, to a file that was named or to memory."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ringfence.core.errors import InputError, MissingExtraError

Columns = Mapping[str, Sequence[Any]]


def write_table(path: Path, columns: Columns) -> None:
    """Write columns to a file, by its suffix; numbers read back as they were."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("csv", "parquet"):
        raise InputError(f"output = {str(path)!r} must end in .csv or .parquet.")
    path.write_bytes(table_bytes(kind, columns))


def table_bytes(kind: str, columns: Columns) -> bytes:
    """Return columns as `csv` or `parquet`."""
    if kind == "csv":
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return text.getvalue().encode()
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("Writing a Parquet table", "parquet") from None
    written = io.BytesIO()
    parquet.write_table(pa.table(dict(columns)), written)
    return written.getvalue()
