"""Thirty portfolios, 819 months: the highest mean return whose worst months stay bearable.

The data are `french` of the package linearmodels: monthly returns of Kenneth French's industry,
size-value and size-momentum portfolios, 1949 to 2017. A row is a month of a portfolio.
"""

import bz2
import csv
from functools import cache

from casebook import Table, by_arm, drawn, file_of, write

ARM = "portfolio"
OBJECTIVE = "maximize mean(gain)"
CONSTRAINTS = ["cvar(loss, 0.95) <= 0.11"]
FACTORS = ("dates", "MktRF", "SMB", "HML", "Mom", "RF")


@cache
def table() -> Table:
    """Return every month of every portfolio, as gain and as loss."""
    path = file_of("linearmodels", "datasets", "french", "french.csv.bz2")
    with bz2.open(path, "rt", newline="", encoding="utf-8") as file:
        months = list(csv.DictReader(file))
    names = [name for name in months[0] if name not in FACTORS]
    gains = [float(month[name]) for name in names for month in months]
    return {
        "portfolio": [name for name in names for _ in months],
        "gain": gains,
        "loss": [-gain for gain in gains],
    }


@cache
def _rows() -> dict[str, list[dict[str, float]]]:
    return by_arm(table(), ARM)


def month(arm: str, seed: int) -> dict[str, float]:
    """Draw one month of a portfolio."""
    return drawn(_rows(), arm, seed)


if __name__ == "__main__":
    write(table)
