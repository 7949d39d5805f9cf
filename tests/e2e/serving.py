"""Starts `ringfence serve` as a real process, on a free loopback port, and ends it again.

Every answer that goes through a server's client is checked for what no answer may hold: the
token, or an error that the server did not handle. What the process wrote is checked at its end.
"""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

import httpx
import pytest

import ringfence as rf
from tests.contracts.postgres import Server
from tests.e2e.command_line import Outcome, ringfence

TOKEN = "a-token-of-the-tests-0123456789"
START_SECONDS = 60.0
STOP_SECONDS = 5.0
COMMAND = "from ringfence.interfaces.cli.app import main; main()"
TABLES = ("ringfence_studies", "ringfence_rounds", "ringfence_pulls", "ringfence_past")
_numbers = count(1)


def new_client(url: str, token: str | None = None) -> httpx.Client:
    """Return a client that fails the test on an answer that no call may have."""
    return httpx.Client(
        base_url=url,
        headers={} if token is None else {"Authorization": f"Bearer {token}"},
        timeout=30.0,
        trust_env=False,
        event_hooks={"response": [_sound]},
    )


def _sound(answer: httpx.Response) -> None:
    """Fail on a server error (but 503, which says that the database is away) and on a token."""
    assert answer.status_code < 500 or answer.status_code == 503, answer.read()
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        return
    held = answer.read() + repr(answer.headers.multi_items()).encode()
    assert TOKEN.encode() not in held, f"the token is in an answer to {answer.request.url}"


@dataclass
class Served:
    """A server that runs: where it is, what it serves, and a client that holds its token."""

    url: str
    token: str
    storage: str
    process: "subprocess.Popen[bytes]"
    folder: Path
    client: httpx.Client
    anyone: httpx.Client  # without the token

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.url.rpartition(":")[2])

    @property
    def out(self) -> str:
        """What the process wrote to standard output."""
        return (self.folder / "out").read_text("utf-8")

    @property
    def err(self) -> str:
        """What the process wrote to standard error."""
        return (self.folder / "err").read_text("utf-8")

    def raw(self, request: bytes, *, seconds: float = 10.0) -> tuple[int, bytes]:
        """Send bytes as they are and return the status and all that came back."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as line:
            line.sendall(request)
            answer = b""
            while chunk := line.recv(65536):
                answer += chunk
        assert answer.startswith(b"HTTP/1.1 "), answer[:200]
        return int(answer[9:12]), answer

    def connections(self) -> int:
        """Return how many connections clients hold open, as the kernel sees it."""
        local = f"0100007F:{self.port:04X}"
        rows = Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]
        return sum(row.split()[1] == local and row.split()[3] == "01" for row in rows)

    def stop(self, sent: int = signal.SIGTERM) -> int:
        """Ask the process to end and return its exit code; it has five seconds."""
        if self.process.poll() is None:
            self.process.send_signal(sent)
        return self.process.wait(timeout=STOP_SECONDS)


@contextmanager
def serve(
    storage: str,
    folder: Path,
    *options: object,
    token: str | None = TOKEN,
    expected: tuple[int, ...] = (0,),
) -> Iterator[Served]:
    """Run `ringfence serve`; at its end it must stop cleanly, and have complained of nothing.

    The token is given by the variable; with None the server draws one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen(
            serve_command("--storage", storage, "--port", 0, "--json", *options),
            stdout=out, stderr=err, cwd=folder, env=environment(token),
        )  # fmt: skip
    try:
        ready = _ready(process, folder)
        url, drawn = str(ready["page"]).rstrip("/"), ready["token"]
        assert (drawn is None) == (token is not None), "only a drawn token is shown"
        known = token or drawn
        with new_client(url, known) as client, new_client(url) as anyone:
            served = Served(url, known, storage, process, folder, client, anyone)
            yield served
        code = served.stop()
        assert code in expected, (code, served.err)
        assert "Traceback" not in served.err, served.err
        assert known not in served.err
        assert served.out.count(known) == (token is None)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def serve_command(*options: object) -> list[str]:
    """Return the command line that serves."""
    return [sys.executable, "-c", COMMAND, "serve", *map(str, options)]


def serve_in_vain(*options: object, token: str | None = None) -> Outcome:
    """Run `ringfence serve` in this process, where it should refuse to; what it left behind."""
    serves = mock.patch("uvicorn.Server.run", side_effect=AssertionError("it serves"))
    with serves, mock.patch.dict(os.environ, environment(token), clear=True):
        return ringfence("serve", "--port", 0, *options)


def environment(token: str | None) -> dict[str, str]:
    """Return this process's variables, with this token or without any."""
    kept = {key: value for key, value in os.environ.items() if key != "RINGFENCE_TOKEN"}
    return kept if token is None else kept | {"RINGFENCE_TOKEN": token}


def _ready(process: "subprocess.Popen[bytes]", folder: Path) -> dict[str, Any]:
    """Wait for the line that says where the page is."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        line, newline, _ = (folder / "out").read_text("utf-8").partition("\n")
        if newline:
            found = json.loads(line)
            assert isinstance(found, dict)
            return found
        if process.poll() is not None:
            break
        time.sleep(0.02)
    raise AssertionError(f"ringfence serve does not start: {(folder / 'err').read_text('utf-8')}")


def strict(answer: httpx.Response, status: int = 200) -> Any:
    """Return the strict JSON of an answer that must have this status."""
    assert answer.status_code == status, (answer.status_code, answer.text)
    assert answer.headers["content-type"].partition(";")[0] == "application/json"
    return json.loads(answer.content, parse_constant=_refuse)


def refused(answer: httpx.Response, status: int, *words: str) -> str:
    """Check that an answer is an error as the contract has it, and return its detail."""
    assert answer.status_code == status, (answer.status_code, answer.text)
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind == "application/problem+json", (kind, answer.text)
    problem = json.loads(answer.content, parse_constant=_refuse)
    assert problem["status"] == status
    assert isinstance(problem["title"], str)
    assert isinstance(problem["detail"], str)
    for word in words:
        assert word in problem["detail"], problem["detail"]
    assert "Traceback" not in problem["detail"]
    return str(problem["detail"])


def _refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is no strict JSON")


def new_name(what: str = "study") -> str:
    """Return a name that no other test of this process has."""
    return f"{what}-{next(_numbers)}"


def body_of(name: str, **changes: Any) -> dict[str, Any]:
    """Return what creates a small study: warm is right, effusive deceives, plain is worse."""
    body: dict[str, Any] = {
        "name": name,
        "objective": "maximize mean(score)",
        "constraints": ["mean(latency_ms) <= 200"],
        "arms": ["plain", "warm", "effusive"],
        "budget": 60,
        "policy": "uniform",
        "seed": 7,
    }
    return body | changes


def evaluate(arm: str, seed: int) -> dict[str, float]:
    """Return metrics that depend on arm and seed alone; any arm but the three is like warm."""
    quality = {"plain": 0.5, "warm": 0.7, "effusive": 0.9}.get(arm, 0.7)
    delay = {"plain": 90.0, "warm": 120.0, "effusive": 260.0}.get(arm, 120.0)
    return {"score": quality + 0.01 * (seed % 7 - 3), "latency_ms": delay + seed % 41 - 20}


def create(served: Served, name: str | None = None, **changes: Any) -> str:
    """Create a study and return its address."""
    body = body_of(name or new_name(), **changes)
    strict(served.client.post("/api/studies", json=body), 201)
    return f"/api/studies/{body['name']}"


def study_at(served: Served, at: str) -> rf.Study:
    """Return a study that is served, opened by this process on the same storage."""
    return rf.Study.load(at.rpartition("/")[2], storage=served.storage)


def feed(client: httpx.Client, at: str, most: int = 10**9, at_once: int = 20) -> int:
    """Ask and tell until a study is finished, or so many pulls are told; return how many."""
    told = 0
    while told < most:
        asked = strict(client.post(f"{at}/ask", json={"n": min(at_once, most - told)}))
        if not asked["pulls"]:
            assert asked["finished"]
            break
        pulls = [reported(pull) for pull in asked["pulls"]]
        statuses = strict(client.post(f"{at}/tell-many", json={"pulls": pulls}))["statuses"]
        assert statuses == ["told"] * len(pulls)
        told += len(pulls)
    return told


def reported(pull: Mapping[str, Any], **changes: float) -> dict[str, Any]:
    """Return what tells a pull that was asked for."""
    metrics = evaluate(pull["arm"], pull["seed"]) | changes
    return {"pull": pull["pull"], "lease": pull["lease"], "metrics": metrics}


def facts(served: Served) -> dict[str, list[Any]]:
    """Return every row of a SQLite storage."""
    path = served.storage.removeprefix("sqlite:///")
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return {
            table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
            for table in TABLES
        }
    finally:
        connection.close()


@contextmanager
def unchanged(served: Served, at: str) -> Iterator[None]:
    """Check that nothing that is stored, exported or said of a study changes in here."""

    def all_of_it() -> tuple[object, ...]:
        said = served.client.get(at), served.client.get(f"{at}/export?format=csv")
        return facts(served), *((one.status_code, one.content) for one in said)

    before = all_of_it()
    yield
    assert all_of_it() == before


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on SQLite: every test creates studies of its own."""
    folder = tmp_path_factory.mktemp("serve")
    with serve(f"sqlite:///{folder / 'studies.db'}", folder) as running:
        yield running


@pytest.fixture(scope="session")
def served_postgres(
    tmp_path_factory: pytest.TempPathFactory, postgres_server: Server
) -> Iterator[Served]:
    """A server on PostgreSQL."""
    with serve(postgres_server.new_place(), tmp_path_factory.mktemp("serve")) as running:
        yield running


@pytest.fixture(params=["served", "served_postgres"], ids=["sqlite", "postgresql"])
def anywhere(request: pytest.FixtureRequest) -> Served:
    """A server on each kind of storage."""
    found: Served = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="session")
def read_only(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A second server on the same storage, which refuses every write."""
    with serve(served.storage, tmp_path_factory.mktemp("read-only"), "--read-only") as running:
        yield running
