"""Many clients on one study over HTTP, and the page of a very large study.

    python -m benchmarks.load [--clients 50] [--pulls 5000] [--large 1000000]

Starts `ringfence serve` on loopback, on PostgreSQL (where it is installed) and on SQLite.
Every client asks for a pull and tells it, one after the other, until the budget is spent: no answer
may be an error, and the budget is spent to the pull. Then the seconds until the first byte of the
page of a study with 1,000 arms. Clients and server share the machine's cores.
"""

import argparse
import contextlib
import http.client
import json
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

import ringfence as rf
from tests.contracts.postgres import running_server
from tests.e2e.serving import Served, body_of, reported, serve, strict, study_at

MOST_SECONDS = 600.0
NAP_SECONDS = 0.01
LARGE_ARMS = 1_000


@dataclass
class Load:
    """What many clients saw: seconds of every call, and whatever went wrong."""

    asks: list[float] = field(default_factory=list)
    tells: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0
    told: int = 0


class Client:
    """A client that keeps its connection; it costs less than the server that it measures."""

    def __init__(self, served: Served) -> None:
        """Connect when first used."""
        self._line = http.client.HTTPConnection(urlsplit(served.url).netloc, timeout=60)
        self._headers = {
            "Authorization": f"Bearer {served.token}",
            "Content-Type": "application/json",
        }

    def post(self, path: str, body: Any) -> tuple[float, Any]:
        """Return the seconds of a call and its answer; any error raises."""
        began = time.perf_counter()
        self._line.request("POST", path, json.dumps(body), self._headers)
        answer = self._line.getresponse()
        content = answer.read()
        seconds = time.perf_counter() - began
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {content!r}")
        return seconds, json.loads(content)

    def close(self) -> None:
        """Close the connection."""
        self._line.close()


def spend(served: Served, at: str, clients: int) -> Load:
    """Spend a study's budget with many clients at once."""
    load, lock = Load(), threading.Lock()
    start = threading.Barrier(clients + 1)
    end = time.monotonic() + MOST_SECONDS

    def work() -> None:
        client = Client(served)
        asks, tells = [], []
        try:
            start.wait()
            while time.monotonic() < end:
                seconds, asked = client.post(f"{at}/ask", {"n": 1})
                if asked["finished"]:
                    break
                if not asked["pulls"]:
                    time.sleep(NAP_SECONDS)
                    continue
                asks.append(seconds)
                for pull in asked["pulls"]:
                    seconds, said = client.post(f"{at}/tell", reported(pull))
                    if said["status"] != "told":
                        raise RuntimeError(f"told twice: {pull}")
                    tells.append(seconds)
        except (OSError, http.client.HTTPException, RuntimeError, ValueError) as error:
            with lock:
                load.errors.append(f"{type(error).__name__}: {error}")
        finally:
            client.close()
            with lock:
                load.asks += asks
                load.tells += tells
                load.told += len(tells)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    load.seconds = time.perf_counter() - began
    return load


def loaded(served: Served, name: str, clients: int, pulls: int, **changes: Any) -> Load:
    """Spend the budget of a new study, and check that nothing was lost or spent twice."""
    body = body_of(name, budget=pulls, **changes)
    strict(served.client.post("/api/studies", json=body), 201)
    at = f"/api/studies/{name}"
    load = spend(served, at, clients)
    status = strict(served.client.get(at))
    audit = study_at(served, at).doctor()
    wrong = [*load.errors, *audit.problems]
    if (load.told, status["told"], status["issued"], status["failed"]) != (pulls, pulls, 0, 0):
        wrong.append(f"{load.told} tells were answered, of {pulls}; the study says {status}")
    if wrong:
        raise RuntimeError("; ".join(wrong))
    return load


def percentile(times: list[float], share: float) -> float:
    """Return the milliseconds within which that share of calls was answered."""
    return 1e3 * sorted(times)[min(len(times) - 1, int(share * len(times)))]


def show(kind: str, load: Load, clients: int) -> None:
    """Print what one storage gave."""
    rate = load.told / load.seconds
    print(f"{kind}: {clients} clients, {load.told} pulls, {rate:.0f} a second, no error")
    for what, times in (("ask", load.asks), ("tell", load.tells)):
        half, most = percentile(times, 0.5), percentile(times, 0.99)
        print(f"{kind}: {what:4} median {half:7.1f} ms, 99th percentile {most:7.1f} ms")


def make_large(storage: str, pulls: int) -> None:
    """Make a study of 1,000 arms with all its pulls told."""
    study = rf.Study.create(
        "large", arms=[f"arm {k}" for k in range(LARGE_ARMS)], objective="maximize mean(score)",
        constraints="mean(latency_ms) <= 200", budget=pulls, policy="uniform", storage=storage,
        seed=7,
    )  # fmt: skip
    while asked := study.ask(min(pulls, 1_000_000)):
        study.tell_many(
            asked,
            {
                "score": [int(pull.arm[4:]) / 1e3 + pull.seed % 97 / 500 for pull in asked],
                "latency_ms": [150.0 + pull.seed % 101 for pull in asked],
            },
        )


def first_byte(served: Served, path: str) -> tuple[float, float, int]:
    """Return the seconds until the first byte and the last one of a page, and its bytes."""
    began = time.perf_counter()
    with httpx.stream("GET", f"{served.url}{path}", timeout=120.0, trust_env=False) as answer:
        pieces = answer.iter_raw()
        size = len(next(pieces))
        first = time.perf_counter() - began
        size += sum(map(len, pieces))
    if answer.status_code != 200:
        raise RuntimeError(f"{path}: {answer.status_code}")
    return first, time.perf_counter() - began, size


def show_large(folder: Path, pulls: int) -> None:
    """Print how long the pages of a very large study take."""
    storage = f"sqlite:///{folder / 'large.db'}"
    began = time.perf_counter()
    make_large(storage, pulls)
    print(f"{LARGE_ARMS:,} arms, {pulls:,} pulls: made in {time.perf_counter() - began:.0f} s")
    with serve(storage, folder / "large") as served:
        for path in ("/studies/large", "/studies/large/pulls", "/", "/api/studies/large/recommend"):
            times = [first_byte(served, path) for _ in range(6)]
            later = statistics.median(first for first, _, _ in times[1:])
            print(
                f"{path}: first byte {times[0][0]:.2f} s when first asked, {later:.2f} s later "
                f"(median of 5), {times[0][2] / 1e3:.0f} kB"
            )


@contextlib.contextmanager
def storages(folder: Path) -> Iterator[dict[str, str]]:
    """Give an empty place of every kind that there is."""
    places = {"SQLite": f"sqlite:///{folder / 'studies.db'}"}
    with running_server() as server:
        if server is not None:
            places = {"PostgreSQL": server.new_place()} | places
        yield places


def main() -> None:
    """Run everything and print it."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--clients", type=int, default=50)
    options.add_argument("--pulls", type=int, default=5_000)
    options.add_argument("--large", type=int, default=1_000_000, help="0 leaves it out")
    chosen = options.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ringfence-load-"))
    try:
        with storages(folder) as places:
            for kind, storage in places.items():
                with serve(storage, folder / kind) as served:
                    load = loaded(served, "load", chosen.clients, chosen.pulls)
                    show(kind, load, chosen.clients)
        if chosen.large:
            show_large(folder, chosen.large)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
