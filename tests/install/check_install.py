"""Installs ringfence as a stranger would, and tries it: `make check-install`.

A wheel is built and installed, without extras, in a fresh environment with a fresh home; then the
same from the source folder. Distributions are counted without pip and setuptools. Takes a minute or
two and an index to install from; nothing outside a temporary folder is touched.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.install.wheels import wrong_with  # noqa: E402

MOST_DISTRIBUTIONS = 24
MOST_DEMO_SECONDS = 10.0
NEEDS = {
    "web": ["serve", "--storage", "sqlite:///study.db"],
    "web, run --open": ["run", "study.toml", "--open"],
    "plots": ["figure", "study.toml", "--output", "map.svg"],
    "parquet": ["export", "study.toml", "--output", "pulls.parquet"],
    "postgres": ["status", "study", "--storage", "postgresql://nobody@localhost/none"],
    "cuda": ["simulate", "paper-1", "--budget", "100", "--engine", "cuda"],
    "cases": ["run", str(ROOT / "examples" / "incentives.toml"), "--storage", "memory://"],
}


class Stranger:
    """Someone with a fresh environment and a fresh home."""

    def __init__(self, folder: Path) -> None:
        """Make the environment."""
        self.folder, self.bin = folder, folder / "environment" / "bin"
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        self.variables = kept | {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
        self.run(sys.executable, "-m", "venv", str(folder / "environment"))

    def run(self, *command: str) -> tuple[int, str, float]:
        """Run a command; return its exit code, what it said, and the seconds that it took."""
        started = time.monotonic()
        done = subprocess.run(
            command, cwd=self.folder, env=self.variables, text=True, encoding="utf-8",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, time.monotonic() - started

    def ringfence(self, *arguments: str) -> tuple[int, str, float]:
        """Run the command that was installed."""
        return self.run(str(self.bin / "ringfence"), *arguments)

    def pip(self, *arguments: str) -> tuple[int, str, float]:
        """Run the environment's own pip."""
        return self.run(str(self.bin / "python"), "-m", "pip", "--quiet", *arguments)


def checks(folder: Path) -> Iterator[tuple[str, bool, str]]:
    """Yield what was tried, whether it is right, and what was seen."""
    someone = Stranger(folder)
    source = folder / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".*", "out", "__pycache__"))
    someone.pip("wheel", "--no-deps", "--wheel-dir", str(folder / "wheels"), str(source))
    (wheel,) = (folder / "wheels").glob("*.whl")
    wrong = wrong_with(wheel, source)
    yield "wheel", not wrong, "; ".join(wrong) or f"{wheel.stat().st_size:,} bytes"

    code, said, seconds = someone.pip("install", str(wheel))
    yield "pip install of the wheel", code == 0, f"{seconds:.0f} s {said[-200:] if code else ''}"
    _, listed, _ = someone.run(str(someone.bin / "python"), "-m", "pip", "list", "--format=json")
    names = {one["name"] for one in json.loads(listed[listed.index("[") : listed.rindex("]") + 1])}
    count = len(names - {"pip", "setuptools", "wheel"})
    yield "distributions", count <= MOST_DISTRIBUTIONS, f"{count}, pip and setuptools not counted"

    for arguments in (
        ["--version"],
        ["demo"],
        ["init", "study.toml", "--seed", "1"],
        ["run", "study.toml", "--record", "study.html"],
        ["explain", "study.toml"],
        ["doctor", "study.toml"],
        ["gaps", "paper-1"],
        ["simulate", "paper-1", "--budget", "1000", "--replications", "1000"],
    ):
        code, said, seconds = someone.ringfence(*arguments)
        quick = arguments != ["demo"] or seconds < MOST_DEMO_SECONDS
        seen = f"{seconds:.1f} s" + (f", exit {code}: {said[-300:]}" if code else "")
        yield f"ringfence {' '.join(arguments)}", code == 0 and quick, seen
    record = (folder / "study.html").read_text(encoding="utf-8")
    told = "ringfence[plots]" in record and "<svg" not in record
    yield "the record says how to get pictures", told, ""
    for extra, arguments in NEEDS.items():
        code, said, _ = someone.ringfence(*arguments)
        wanted = f"pip install 'ringfence[{extra.partition(',')[0]}]'"
        right = code != 0 and wanted in said and "Traceback" not in said
        yield f"extra {extra}", right, said.strip()[-120:]

    code, said, _ = someone.ringfence("bench")
    yield "ringfence bench says where to run it", code == 2 and "make bench" in said, said.strip()

    code, said, _ = someone.pip("install", "--force-reinstall", "--no-deps", str(source))
    yield "pip install .", code == 0, said[-200:] if code else ""
    code, said, seconds = someone.ringfence("demo", "--json")
    right = code == 0 and json.loads(said)["right"]
    yield "ringfence demo --json, from the source", right, f"{seconds:.1f} s"


def main() -> int:
    """Print every check; return how many failed."""
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ringfence-install-") as folder:
        for what, right, seen in checks(Path(folder)):
            failed += not right
            print(f"{'ok  ' if right else 'FAIL'}  {what:<48}  {seen}", flush=True)
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
