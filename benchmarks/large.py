"""A study of 1,000 arms and 1,000,000 pulls: filled in bulk, then looked at and audited.

    python -m benchmarks.large [--pulls 1000000] [--policy uniform] [--batch 1000] [--sqlite]

Asks and tells in bulk, on SQLite and, where it is installed, on PostgreSQL on loopback. At the
parts of the budget that are named, each in a process of its own: status and recommend, both twice,
doctor, and the page of a server, twice. Seconds of CPU are those of the call, beyond what every
process needs to start and open the study; on PostgreSQL the server's are not among them.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import ringfence as rf
from benchmarks.load import first_byte
from tests.contracts.postgres import running_server
from tests.e2e.serving import Served, serve

ARMS = 1_000
NAME = "large"
LOOKS = ("status", "status", "recommend", "recommend", "doctor")
_TICKS = os.sysconf("SC_CLK_TCK")


def make(storage: str, pulls: int, policy: str, batch: int) -> rf.Study:
    """Make the study, without a pull."""
    return rf.Study.create(
        NAME, arms=[f"arm {arm}" for arm in range(ARMS)], objective="maximize mean(score)",
        constraints="mean(latency_ms) <= 200", budget=pulls, policy=policy, batch=batch,
        storage=storage, seed=7,
    )  # fmt: skip


def fill(study: rf.Study, until: int, at_once: int) -> None:
    """Ask and tell in bulk until so many pulls are told, and print what a pull took."""
    told = started = study.status().told
    wall, cpu, asking = time.perf_counter(), time.process_time(), 0.0
    while told < until:
        before = time.perf_counter()
        asked = study.ask(min(at_once, until - told))
        asking += time.perf_counter() - before
        if not asked:
            break
        values = {
            "score": [int(pull.arm[4:]) / 1e3 + pull.seed % 97 / 500 for pull in asked],
            "latency_ms": [150.0 + pull.seed % 101 for pull in asked],
        }
        study.tell_many(asked, values)
        told += len(asked)
    count = max(told - started, 1)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(
        f"  filled to {told:,}: {1e6 * wall / count:.0f} us a pull, of CPU "
        f"{1e6 * cpu / count:.0f}; ask {1e6 * asking / count:.0f}",
        flush=True,
    )


def look(storage: str, what: str) -> None:
    """Do one thing in this process, and say as JSON what it took."""
    study = rf.Study.load(NAME, storage=storage)
    does: dict[str, Callable[[], object]] = {
        "status": study.status,
        "recommend": study.recommend,
        "doctor": study.doctor,
    }
    wall, cpu = time.perf_counter(), time.process_time()
    found = does[what]()
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    if what == "doctor" and getattr(found, "problems", ()):
        raise SystemExit(f"the study is not sound: {found}")
    took["megabytes"] = most_memory()
    print(json.dumps(took))


def most_memory() -> float:
    """Return the most megabytes that this process has used; what started it does not count."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def show_looks(storage: str, folder: Path) -> None:
    """Print what looking takes, each in a process of its own, and the page of a fresh server."""
    for what in LOOKS:
        words = [sys.executable, "-m", "benchmarks.large", "--look", what, "--storage", storage]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        took = json.loads(done.stdout)
        print(
            f"  {what:9}: {took['cpu']:6.2f} s of CPU, {took['wall']:6.2f} s, "
            f"{took['megabytes']:.0f} MB",
            flush=True,
        )
    with serve(storage, folder) as served:
        for _ in range(2):
            before = cpu_of(served)
            _, whole, size = first_byte(served, f"/studies/{NAME}")
            cpu = cpu_of(served) - before
            print(
                f"  page     : {cpu:6.2f} s of CPU, {whole:6.2f} s, {size / 1e3:.0f} kB", flush=True
            )


def cpu_of(served: Served) -> float:
    """Return the seconds of CPU that a server has used."""
    fields = Path(f"/proc/{served.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


@contextlib.contextmanager
def places(folder: Path, *, only_sqlite: bool) -> Iterator[dict[str, str]]:
    """Give an empty place of every kind that there is."""
    found = {"SQLite": f"sqlite:///{folder / 'large.db'}"}
    if only_sqlite:
        yield found
        return
    with running_server() as server:
        if server is not None:
            found["PostgreSQL"] = server.new_place()
        yield found


def main() -> None:
    """Fill the study and look at it, on every storage."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--pulls", type=int, default=1_000_000)
    options.add_argument("--policy", default="uniform")
    options.add_argument("--batch", type=int, default=1_000)
    options.add_argument("--at-once", type=int, default=10_000, help="pulls in one ask and tell")
    options.add_argument("--parts", type=float, nargs="+", default=[0.59, 1.0])
    options.add_argument("--sqlite", action="store_true", help="leave PostgreSQL out")
    options.add_argument("--look", choices=sorted({*LOOKS}), help="for processes of its own")
    options.add_argument("--storage", help="with --look")
    chosen = options.parse_args()
    if chosen.look:
        look(chosen.storage, chosen.look)
        return
    with (
        tempfile.TemporaryDirectory(prefix="ringfence-large-") as made,
        places(Path(made), only_sqlite=chosen.sqlite) as found,
    ):
        for kind, storage in found.items():
            print(f"{kind}, {chosen.policy}: {ARMS:,} arms, {chosen.pulls:,} pulls", flush=True)
            study = make(storage, chosen.pulls, chosen.policy, chosen.batch)
            for part in chosen.parts:
                fill(study, round(part * chosen.pulls), chosen.at_once)
                if part == 1.0:
                    study.ask()  # decides that it is over
                show_looks(storage, Path(made) / f"{kind}-{part}")


if __name__ == "__main__":
    main()
