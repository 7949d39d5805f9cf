"""Tables that a user asked for: CSV or Parquet, by the suffix of the file."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ringfence.core.errors import InputError, MissingExtraError


def write_table(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns to a file; numbers read back as they were."""
    if path.suffix.lower() == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    elif path.suffix.lower() == ".parquet":
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError:
            raise MissingExtraError(f"Writing {path.name}", "parquet") from None
        parquet.write_table(pa.table(dict(columns)), path)
    else:
        raise InputError(f"output = {str(path)!r} must end in .csv or .parquet.")
