"""How long ringfence takes to import and to start, beside Optuna, in one run: `make bench-import`.

Every measurement is a fresh process, in turn, so that both see the same machine; the ratio of the
medians is what counts. The time of an empty interpreter is shown and not subtracted. Names of
ringfence are loaded on first use, so the first use of a study is shown too.
"""

import json
import statistics
import subprocess
import sys
import time

REPEATS = 15
GOAL = 0.3
INSIDE = """
import time
began = time.perf_counter()
import {name}
print(time.perf_counter() - began)
"""
START = (
    "import sys; from ringfence.interfaces.cli.app import main; sys.argv[1:] = ['--help']; main()"
)


def inside(name: str) -> float:
    """Return the seconds of an import, by a clock in the process itself."""
    done = subprocess.run(
        [sys.executable, "-c", INSIDE.format(name=name)], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def whole(code: str) -> float:
    """Return the seconds of a whole process."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return time.perf_counter() - began


def main() -> None:
    """Print medians and the ratio as JSON; exit code 1 if the goal is missed."""
    seen: dict[str, list[float]] = {}
    for repeat in range(REPEATS + 1):
        for what, seconds in (
            ("import ringfence", inside("ringfence")),
            ("import ringfence and first use of Study", inside("ringfence; ringfence.Study")),
            ("import optuna", inside("optuna")),
            ("python -c ''", whole("")),
            ("ringfence --help", whole(START)),
            ("python -c 'import optuna'", whole("import optuna")),
        ):
            if repeat:  # the first round fills the disk's cache
                seen.setdefault(what, []).append(seconds)
    medians = {what: statistics.median(values) for what, values in seen.items()}
    ratio = medians["import ringfence"] / medians["import optuna"]
    print(
        json.dumps(
            {
                "ratio": round(ratio, 4),
                "goal": GOAL,
                "repeats": REPEATS,
                "median_seconds": {what: round(value, 4) for what, value in medians.items()},
                "fastest_seconds": {what: round(min(one), 4) for what, one in seen.items()},
            },
            indent=2,
        )
    )
    raise SystemExit(ratio >= GOAL)


if __name__ == "__main__":
    main()
