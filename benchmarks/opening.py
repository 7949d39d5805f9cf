"""Seconds to open a study of 1,000 arms and 1,000,000 pulls in a new process, and to look again.

    python benchmarks/opening.py [--arms 1000] [--pulls 1000000] [--keep FOLDER]

Builds the studies in SQLite by bulk ask and tell (some minutes; with --keep they are built once),
then opens each in a process of its own: the goal is a verdict in 3 seconds. `again` is a look at
what has not changed, `ratio` the time to open over the time to add up plain rows of a table.
"""

import argparse
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CASES: dict[str, tuple[dict[str, Any], float]] = {
    "finished, by tally": ({"policy": "sequential-halving"}, 1.0),
    "one round, half told": ({"policy": "uniform"}, 0.5),
    "limit on a quantile": (
        {"policy": "sequential-halving", "constraints": ["p90(risk) <= 2.3"]},
        1.0,
    ),
    "objective a quantile": (
        {"policy": "sequential-halving", "objective": "minimize p50(loss)"},
        1.0,
    ),
}
AT_ONCE = 100_000
REPEATS = 3
OPENING = """
import json, sys, time
began = time.perf_counter()
from ringfence.interfaces.studies import Study
import ringfence.storage.sql
imported, busy = time.perf_counter(), time.process_time()
study = Study.load("big", storage=sys.argv[1])
verdict = study.recommend()
opened, busy = time.perf_counter(), time.process_time() - busy
study.recommend()
again = time.perf_counter()
study.status()
stands = time.perf_counter()
study.version()
print(json.dumps({
    "imports": imported - began, "open": opened - imported, "busy": busy,
    "again": again - opened,
    "status": stands - again, "version": time.perf_counter() - stands, "arm": verdict.arm,
}))
"""


def build(path: Path, arms: int, pulls: int, changes: dict[str, Any], part: float) -> None:
    """Make a study and tell a part of its pulls."""
    import numpy as np

    import ringfence as rf

    study = rf.Study.create(
        "big",
        **{
            "arms": [f"arm {arm}" for arm in range(arms)],
            "objective": "minimize mean(loss)",
            "constraints": ["mean(risk) <= 1"],
            "budget": pulls,
            "storage": f"sqlite:///{path}",
            "seed": 0,
            **changes,
        },
    )
    rng, means, left = np.random.default_rng(0), np.linspace(0.0, 1.0, arms), int(part * pulls)
    while left and (asked := study.ask(min(AT_ONCE, left))):
        which = np.array([int(pull.arm.removeprefix("arm ")) for pull in asked])
        loss = means[which] + rng.normal(size=len(asked))
        risk = 1.5 - means[which] + rng.normal(size=len(asked))
        study.tell_many(asked, {"loss": loss, "risk": risk})
        left -= len(asked)
    study.ask(1)


def opened(path: Path) -> dict[str, Any]:
    """Open a study in a new process and return what that took."""
    command = [sys.executable, "-c", OPENING, f"sqlite:///{path}"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def plain_rows(path: Path) -> float:
    """Return the seconds in which SQLite goes through the rows of all pulls, and no more."""
    connection, times = sqlite3.connect(path), []
    for _ in range(REPEATS):
        began = time.perf_counter()
        connection.execute('SELECT sum(length("values")) FROM ringfence_pulls').fetchall()
        times.append(time.perf_counter() - began)
    connection.close()
    return statistics.median(times)


def main() -> None:
    """Run everything and print it."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--arms", type=int, default=1000)
    options.add_argument("--pulls", type=int, default=1_000_000)
    options.add_argument("--keep", type=Path, help="a folder for the studies, used again")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for name, (changes, part) in CASES.items():
            path = folder / f"{name.replace(' ', '-').replace(',', '')}.db"
            if not path.exists():
                began = time.perf_counter()
                build(path, chosen.arms, chosen.pulls, changes, part)
                print(f"{name}: built in {time.perf_counter() - began:.0f} s", flush=True)
            runs = [opened(path) for _ in range(REPEATS)]
            keys = [key for key in runs[0] if key != "arm"]
            best = {key: statistics.median(run[key] for run in runs) for key in keys}
            ratio = best["open"] / plain_rows(path)
            print(
                f"{name}: open + verdict {best['open']:.2f} s, {best['busy']:.2f} of a "
                f"processor (imports {best['imports']:.2f} s), "
                f"ratio {ratio:.1f}; again {best['again']:.2f} s, status "
                f"{1e3 * best['status']:.0f} ms, version {1e3 * best['version']:.1f} ms",
                flush=True,
            )


if __name__ == "__main__":
    main()
