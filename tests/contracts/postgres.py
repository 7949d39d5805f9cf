"""A PostgreSQL server of our own: on a loopback port, in a temporary folder, gone with the tests.

The server refuses to run as root; started by root it runs as another user, made if there is none.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

OWNER = "ringfence"
SYSTEM_USERS = ("postgres", "ringfence-tests")
PATIENCE_SECONDS = 30.0


@dataclass
class Server:
    """A server; every test asks it for an empty place of its own.

    That is a schema, which a connection takes for its database: it costs a hundredth of one.
    """

    programs: Path
    folder: Path
    user: str | None
    port: int
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """The URL of the whole server."""
        return f"postgresql://{OWNER}@127.0.0.1:{self.port}/postgres"

    def new_place(self) -> str:
        """Make an empty place and return its URL."""
        import psycopg

        name = f"contract_{next(self._numbers)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"{self.url}?options=-csearch_path%3D{name}"

    def make(self) -> None:
        """Make its files."""
        command = [str(self.programs / "initdb"), "--pgdata", str(self.folder / "data")]
        command += ["--username", OWNER, "--auth", "trust", "--encoding", "UTF8"]
        command += ["--no-locale", "--no-sync"]
        subprocess.run(command, user=self.user, cwd=self.folder, check=True, capture_output=True)

    def start(self, *settings: str, waits: bool = True) -> None:
        """Start it, and wait until it takes connections."""
        command = [str(self.programs / "postgres"), "-D", str(self.folder / "data")]
        command += ["-k", str(self.folder), "-p", str(self.port)]
        command += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
        command += [word for setting in settings for word in ("-c", setting)]
        log = self.folder / "log"
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                command, user=self.user, cwd=self.folder, stdout=out, stderr=out
            )
        if waits:
            _answers(self.url, self._process, log)

    def stop(self, *, crash: bool = False) -> None:
        """Stop it: cut sessions off and close its files, or crash and leave those as they are."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT if crash else signal.SIGINT)
            self._process.wait(timeout=PATIENCE_SECONDS)
            self._process = None


def binaries() -> Path | None:
    """Return the folder with the server's programs, if they are installed."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    return None


def _system_user() -> str | None:
    """Return whom the server runs as, where it may not run as us."""
    if os.getuid() != 0:
        return None
    known = {one.pw_name for one in pwd.getpwall()}
    for user in SYSTEM_USERS:
        if user in known:
            return user
    subprocess.run(["useradd", "--system", SYSTEM_USERS[-1]], check=True)
    return SYSTEM_USERS[-1]


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _answers(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Wait until the server takes connections."""
    import psycopg

    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            psycopg.connect(url, connect_timeout=2).close()
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL does not start: {log.read_text()}") from None
            time.sleep(0.05)
        else:
            return


@contextmanager
def running_server() -> Iterator[Server | None]:
    """Run a server; None where its programs are not installed."""
    programs = binaries()
    if programs is None:
        yield None
        return
    user = _system_user()
    folder = Path(tempfile.mkdtemp(prefix="ringfence-postgres-"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        server = Server(programs, folder, user, _free_port())
        server.make()
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A server for this session; tests that need it are skipped where none is installed."""
    pytest.importorskip("psycopg", reason="PostgreSQL: psycopg is not installed")
    with running_server() as server:
        if server is None:
            pytest.skip("PostgreSQL: no initdb on PATH or under /usr/lib/postgresql/*/bin")
        yield server
