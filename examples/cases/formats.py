"""How to keep records: a program that writes and reads a batch of them, for `command` pulls.

    python formats.py json 42          prints {"ms": ..., "kb": ...}

Only Python's own formats are tried, and no other package is needed. Time is processor time of this
machine, so the limit is on size.
"""

import csv
import io
import json
import marshal
import pickle
import sys
import time
import zlib
from collections.abc import Callable
from random import Random
from typing import Any

from casebook import Table, write

ARM = "format"
OBJECTIVE = "minimize mean(ms)"
CONSTRAINTS = ["mean(kb) <= 110"]
ARMS = ("json", "json-indented", "pickle", "marshal", "csv", "json-zlib")
RECORDS = 3000


def records(seed: int) -> list[list[Any]]:
    """Return records of an identity, a name and two numbers."""
    rng = Random(seed)  # noqa: S311 - nothing is to be kept secret
    return [
        [number, f"customer {rng.randrange(10**6)}", rng.random(), rng.randrange(10, 50)]
        for number in range(RECORDS)
    ]


def _csv_out(rows: list[list[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _csv_in(kept: bytes) -> list[list[Any]]:
    found = csv.reader(io.StringIO(kept.decode()))
    return [[int(row[0]), row[1], float(row[2]), int(row[3])] for row in found]


def ways() -> dict[str, tuple[Callable[[Any], bytes], Callable[[bytes], Any]]]:
    """Return how each format is written and read."""
    return {
        "json": (lambda rows: json.dumps(rows).encode(), json.loads),
        "json-indented": (lambda rows: json.dumps(rows, indent=1).encode(), json.loads),
        "pickle": (pickle.dumps, pickle.loads),
        "marshal": (marshal.dumps, marshal.loads),
        "csv": (_csv_out, _csv_in),
        "json-zlib": (
            lambda rows: zlib.compress(json.dumps(rows).encode(), 6),
            lambda kept: json.loads(zlib.decompress(kept)),
        ),
    }


def measure(arm: str, seed: int) -> dict[str, float]:
    """Write and read one batch of records."""
    rows = records(seed)
    out, back = ways()[arm]
    started = time.process_time()
    kept = out(rows)
    again = back(kept)
    seconds = time.process_time() - started
    if again != rows:
        raise SystemExit(f"{arm} does not give back what it was given")
    return {"ms": 1000.0 * seconds, "kb": len(kept) / 1000.0}


def table(rows: int = 200) -> Table:
    """Log batches of every format, in turns."""
    log: dict[str, list[Any]] = {"format": [], "ms": [], "kb": []}
    for seed in range(rows):
        for arm in ARMS:
            log["format"].append(arm)
            for metric, value in measure(arm, seed).items():
                log[metric].append(value)
    return log


if __name__ == "__main__":
    if len(sys.argv) == 3:
        sys.stdout.write(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
    else:
        write(table)
