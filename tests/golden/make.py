"""Writes the golden courses anew, or says which differ from those that are kept.

    python -m tests.golden.make            # write all files, or those that are named
    python -m tests.golden.make --check    # write nothing; exit code 1 if a course is another one

The files are what later versions are held to, to the bit. They change only with an intended change
of results, in a commit of its own that says what changes, why, and what was measured; a redesign
leaves them alone. So does whoever adds a course: it is written beside the others, which stay as
they were. A database is written once for a schema, and never again.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import conftest  # noqa: F401  # first: linear algebra on one thread, as in all tests
from tests.golden import cells, databases, plain, sets, studies, theory
from tests.golden.worlds import WORLDS

ROOT = Path(__file__).parents[2]


def on_gpu() -> dict[str, Any]:
    """Return what is counted under numba-cuda's simulator, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.golden.on_gpu"],
        cwd=ROOT,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def counts() -> dict[str, Any]:
    """Return what compiled kernels count, each cell and several at a time."""
    found = {key: cells.counted(cell) for key, cell in cells.COUNTED.items()}
    return found | {key: take() for key, take in cells.TOGETHER.items()}


FILES: dict[str, Callable[[], dict[str, Any]]] = {
    "traces": lambda: {world: cells.traced(world) for world in WORLDS},
    "theory": lambda: theory.on_evidence() | theory.of_worlds(),
    "studies": lambda: {
        name: play("memory://", name).facts() for name, play in studies.SCRIPTS.items()
    },
    "counts": counts,
    "rare": lambda: {key: cells.rare(**one) for key, one in cells.RARE.items()},
    "gpu": on_gpu,
    "sets": sets.courses,
}


def main() -> int:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.make")
    parser.add_argument("files", nargs="*", help=f"of {', '.join(FILES)}; all without any")
    parser.add_argument("--check", action="store_true", help="say which differ, write nothing")
    asked = parser.parse_args()
    if unknown := set(asked.files) - set(FILES):
        parser.error(f"no such file: {', '.join(sorted(unknown))}. There are {', '.join(FILES)}.")
    plain.HERE.mkdir(exist_ok=True)
    differing = 0
    for name in asked.files or FILES:
        found = FILES[name]()
        if asked.check:
            differing += _said(name, found)
        else:
            path = plain.HERE / f"{name}.json"
            path.write_text(plain.text_of(found), encoding="utf-8")
            sys.stdout.write(f"{path.name}: {len(found)} courses\n")
    if not asked.check and (not asked.files or "studies" in asked.files):
        schema, text = databases.written()
        path = plain.HERE / f"studies-{schema}.sql"
        if not path.exists():
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{path.name}: {len(studies.KEPT_ON_DISK)} studies\n")
    return 1 if differing else 0


def _said(name: str, found: dict[str, Any]) -> int:
    """Say what differs from the kept courses; return how many do."""
    kept, exactly = plain.read(name), plain.is_exact(name)
    wrong = [f"{key}: not among both" for key in sorted(found.keys() ^ kept.keys())]
    for key in sorted(found.keys() & kept.keys()):
        there = plain.differences(plain.plain(found[key]), kept[key], exactly=exactly, at=key)
        if first := next(there, None):
            wrong.append(first)
    sys.stdout.writelines(f"{name}: {line}\n" for line in wrong)
    sys.stdout.write(f"{name}: {len(wrong)} of {len(kept | found)} courses differ\n")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main())
