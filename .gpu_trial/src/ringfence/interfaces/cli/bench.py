"""`ringfence bench`: speed as ratios, measured in one run. May touch simulation and wiring."""

from typing import Annotated

import typer

from ringfence.interfaces.cli import output
from ringfence.interfaces.cli.options import Json, Seed


def bench(
    *,
    repeats: Annotated[
        int, typer.Option("--repeats", help="How often each measurement is repeated.")
    ] = 5,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Measure the simulator against the limit of its generator, NumPy and the reference."""
    from ringfence.core.streams import whole_seed
    from ringfence.interfaces.benchmark import measurements

    whole_seed(seed)
    names = len(measurements())
    rows = []
    with output.progress_bar("measurements", names) as advance:
        for measure in measurements():
            rows += measure(repeats, seed)
            advance(1)
    if json:
        output.print_json({"rows": [vars(row) for row in rows]})
        return
    shown = [
        [row.what, output.number(row.ratio, 3), output.number(row.value, 4), row.unit, row.goal]
        for row in rows
    ]
    columns = ["what", "ratio", "value", "unit", "goal"]
    output.show_table(f"Speed, median of {repeats} interleaved repeats", columns, shown)
