"""`ringfence bench`: runs `benchmarks/speed.py`, which lies beside the sources in a clone only."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from ringfence.core.errors import InputError
from ringfence.interfaces.cli.options import Json, Seed

_CLONE = Path(__file__).resolve().parents[4]  # where this is src/ringfence/interfaces/cli/bench.py


def bench(
    *,
    repeats: Annotated[
        int, typer.Option("--repeats", help="How often each measurement is repeated.")
    ] = 5,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Measure the simulator against the limit of its generator, NumPy and the reference."""
    if not (_CLONE / "benchmarks" / "speed.py").is_file():
        raise InputError(
            "ringfence bench: this installation has no benchmarks. Speed is measured in a clone of "
            "the repository: run make bench there."
        )
    sys.path.insert(0, str(_CLONE))
    import_module("benchmarks.speed").report(repeats=repeats, seed=seed, json=json)
