"""`ringfence run` that is started before its PostgreSQL server takes connections waits for it."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from ringfence.core.errors import StorageAwayError, StorageError
from ringfence.storage.sql import SqlStorage
from tests.contracts.postgres import Server, running_server

MAIN = "from ringfence.interfaces.cli.app import main; main()"
PATIENCE_SECONDS = 60.0
STARTING_SECONDS = 2
FILE = """\
name = "s"
objective = "minimize mean(loss)"
constraints = ["mean(risk) <= 1.0"]
budget = 8
policy = "uniform"
seed = 5
arms = ["one", "two"]
[pull]
python = "quickly:evaluate"
"""
QUICKLY = "def evaluate(arm, seed):\n    return {'loss': seed % 7, 'risk': 0.1}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "quickly.py").write_text(QUICKLY)
    (tmp_path / "s.toml").write_text(FILE)
    return tmp_path / "s.toml"


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of this test's own: it is stopped, and started slowly."""
    pytest.importorskip("psycopg", reason="PostgreSQL: psycopg is not installed")
    with running_server() as found:
        if found is None:
            pytest.skip("PostgreSQL: no initdb on PATH or under /usr/lib/postgresql/*/bin")
        yield found


def run(file: Path, url: str, *options: str) -> "subprocess.Popen[str]":
    given = [sys.executable, "-c", MAIN, "run", str(file), "--storage", url, *options]
    return subprocess.Popen(
        given, cwd=file.parent, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def first_words(child: "subprocess.Popen[str]") -> str:
    assert child.stderr is not None
    return child.stderr.readline()


def test_a_run_waits_for_a_server_that_is_not_there_yet_and_then_for_one_that_starts(
    server: Server, file: Path
) -> None:
    url = server.new_place()
    server.stop()
    with run(file, url, "--take-over") as child:
        try:
            words = first_words(child)
            assert words.startswith("waiting: storage postgresql")
            assert "Connection refused" in words
            assert "What was not acknowledged was not written." in words
            assert child.poll() is None
            # It recovers for a while from an archive: it takes nobody, and then no writes.
            (server.folder / "data" / "recovery.signal").touch()
            wait = f"restore_command=sleep {STARTING_SECONDS}; false"
            server.start(wait, waits=False)
            assert _says_that_it_starts(url)
            _, said = child.communicate(timeout=PATIENCE_SECONDS)
        finally:
            child.kill()
    assert child.returncode in (0, 3, 4), said
    assert "error" not in said
    storage = SqlStorage(url)
    with storage.reading("s") as ledger:
        assert len(ledger.pulls_between(1, 99)) == 8
    storage.close()


def _says_that_it_starts(url: str) -> bool:
    """Wait until the server answers that it starts; that is no reason to give up."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        try:
            SqlStorage(url).close()
        except StorageAwayError as error:
            if "starting up" in str(error) or "not yet accepting" in str(error):
                return True
        else:
            return False
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("ringfence@", "nobody@", 'role "nobody" does not exist'),
        ("/postgres", "/nowhere", 'database "nowhere" does not exist'),
    ],
)
def test_a_server_that_does_not_let_us_in_is_not_waited_for(
    server: Server, file: Path, old: str, new: str, words: str
) -> None:
    url = server.url.replace(old, new)
    with pytest.raises(StorageError, match=words) as caught:
        SqlStorage(url)
    assert not isinstance(caught.value, StorageAwayError)
    with run(file, url) as child:
        try:
            _, said = child.communicate(timeout=PATIENCE_SECONDS)
        finally:
            child.kill()
    assert child.returncode == 1
    assert said.startswith("error: ")
    assert words in said


def test_a_server_that_is_full_is_waited_for(server: Server) -> None:
    """Its answer when a connection is refused has no code, only words."""
    import psycopg

    server.stop()
    server.start("max_connections=4", "superuser_reserved_connections=0")
    with ExitStack() as taken:
        for _ in range(4):
            taken.enter_context(closing(psycopg.connect(server.url)))
        with pytest.raises(StorageAwayError, match="too many clients"):
            SqlStorage(server.url)
