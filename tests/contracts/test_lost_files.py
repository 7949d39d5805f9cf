"""A database file that is deleted, moved or replaced under a study acknowledges nothing more."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import ringfence as rf
from ringfence.core.errors import MissingStudyError, StorageAwayError, StorageError
from ringfence.interfaces.leases import Pull
from ringfence.storage import engines
from ringfence.storage.sql import SqlStorage
from ringfence.study.looking import TALLY_EVERY
from tests.contracts.kill_worker import evaluate
from tests.e2e.command_line import ringfence

ROOT = Path(__file__).parents[2]
MAIN = "from ringfence.interfaces.cli.app import main; main()"
PATIENCE_SECONDS = 60.0
WAS_LOST = r"was (deleted or moved|replaced|emptied).*it was open\. "


def new_study(path: Path) -> rf.Study:
    return rf.Study.create(
        "s", arms=("one", "two", "three", "four"), objective="minimize mean(loss)",
        constraints="mean(risk) <= 1.0", budget=40, policy="uniform", seed=5,
        storage=f"sqlite:///{path}",
    )  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "s.db"


@pytest.fixture
def study(path: Path) -> Iterator[rf.Study]:
    """A study in a file, with pulls that are told and pulls that are held."""
    path.parent.mkdir()
    made = new_study(path)
    yield made
    storage = made.desk.storage
    assert isinstance(storage, SqlStorage)
    storage.close()


def tell(study: rf.Study, pull: Pull) -> str:
    return study.tell(pull, evaluate(pull.arm, pull.seed))


def delete(path: Path) -> None:
    path.unlink()


def delete_all(path: Path) -> None:
    shutil.rmtree(path.parent)


def move(path: Path) -> None:
    path.rename(path.with_name("moved.db"))


def replace_by_a_copy(path: Path) -> None:
    shutil.copy(path, path.with_name("copy.db"))
    path.with_name("copy.db").replace(path)


def replace_by_nothing(path: Path) -> None:
    path.unlink()
    path.touch()


def empty(path: Path) -> None:
    os.truncate(path, 0)


def delete_the_log(path: Path) -> None:
    path.with_name("s.db-wal").unlink()


def delete_the_index_of_the_log(path: Path) -> None:
    path.with_name("s.db-shm").unlink()


def exchange_the_log(path: Path) -> None:
    path.with_name("s.db-wal").unlink()
    path.with_name("s.db-wal").touch()


LOSSES = (
    *(delete, delete_all, move, replace_by_a_copy, replace_by_nothing, empty),
    *(delete_the_log, delete_the_index_of_the_log, exchange_the_log),
)


@pytest.mark.parametrize("lose", LOSSES)
def test_nothing_is_acknowledged_in_a_file_that_is_lost(
    study: rf.Study, path: Path, lose: Callable[[Path], None]
) -> None:
    told, held, released = study.ask(3)
    assert tell(study, told) == "told"
    lose(path)
    before = sorted(path.parent.glob("*"))
    for act in (
        lambda: tell(study, held),
        lambda: tell(study, told),
        lambda: study.fail(held, "no"),
        lambda: study.extend(held),
        lambda: study.desk.release(released.pull, released.lease),
        lambda: study.ask(2),
        lambda: study.raise_budget(50),
        lambda: study.take_back(),
        lambda: study.status(),
    ):
        with pytest.raises(StorageError, match=WAS_LOST):
            act()
    assert sorted(path.parent.glob("*")) == before, "no file was made in its place"


def test_a_file_that_was_put_back_is_the_same_one(study: rf.Study, path: Path) -> None:
    first, second, third = study.ask(3)
    assert tell(study, first) == "told"
    move(path)
    with pytest.raises(StorageError, match="deleted or moved"):
        tell(study, second)
    path.with_name("moved.db").rename(path)
    assert tell(study, second) == "told"
    again = rf.Study.load("s", storage=f"sqlite:///{path}")
    assert again.status().told == 2
    assert tell(again, third) == "told"
    assert study.doctor().is_sound


def test_a_file_that_goes_in_the_middle_of_a_transaction_acknowledges_nothing(
    study: rf.Study, path: Path
) -> None:
    def lose_it_while_writing() -> None:
        with study.desk.storage.writing("s") as ledger:
            ledger.set_head(ledger.head)
            path.unlink()

    with pytest.raises(StorageError, match=r"deleted or moved.*may not be kept: say it again"):
        lose_it_while_writing()


def test_another_connection_makes_no_new_file(study: rf.Study, path: Path) -> None:
    """SQLite would: a second thread needs a connection when the file is gone."""
    with study.desk.storage.reading("s"):
        delete(path)
        failed: list[Exception] = []

        def ask() -> None:
            try:
                study.ask()
            except StorageError as error:
                failed.append(error)

        other = threading.Thread(target=ask)
        other.start()
        other.join()
    assert "deleted or moved" in str(failed[0])
    assert not path.exists()


def test_a_new_file_in_the_place_of_one_that_was_closed_is_as_good(path: Path) -> None:
    path.parent.mkdir()
    for _ in range(2):
        made = new_study(path)
        assert tell(made, made.ask()[0]) == "told"
        assert isinstance(made.desk.storage, SqlStorage)
        made.desk.storage.close()
        path.unlink()


def test_a_run_ends_with_words_when_its_file_goes(tmp_path: Path) -> None:
    (tmp_path / "slowly.py").write_text(
        "import time\n"
        "def evaluate(arm, seed):\n"
        "    time.sleep(0.02)\n"
        "    return {'loss': seed % 7, 'risk': 0.1}\n"
    )
    file = tmp_path / "s.toml"
    file.write_text(
        'name = "s"\nobjective = "minimize mean(loss)"\nconstraints = ["mean(risk) <= 1.0"]\n'
        'budget = 5000\npolicy = "uniform"\narms = ["one", "two"]\n'
        '[pull]\npython = "slowly:evaluate"\n'
    )
    path = tmp_path / "s.db"
    given = [sys.executable, "-c", MAIN, "run", str(file)]
    with subprocess.Popen(given, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as child:
        try:
            end = time.monotonic() + PATIENCE_SECONDS
            while not path.exists() or _told(path) < 5:
                assert time.monotonic() < end
                time.sleep(0.05)
            path.unlink()
            _, said = child.communicate(timeout=PATIENCE_SECONDS)
        finally:
            child.kill()
    assert child.returncode == 1, said
    assert f"error: storage sqlite:///{path} cannot be used: {str(path)!r} was deleted" in said
    assert "Traceback" not in said
    assert not path.exists()


def _told(path: Path) -> int:
    done = ringfence("status", "s", "--json", "--storage", f"sqlite:///{path}")
    return int(done.document["told"]) if done.code == 0 else 0


# ------------------------------------------------------------------- files that cannot be used


def test_a_folder_in_the_place_of_a_file_is_called_so(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StorageError, match=r"s\.db' is a folder: give the path of a file\."):
        new_study(path)


@pytest.mark.parametrize("content", [b"x", b"short notes\n", b"n" * 511, b"long notes\n" * 500])
def test_what_is_no_database_is_left_as_it_is(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"not a database\. Give the path of another file"):
        new_study(path)
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def test_a_damaged_file_is_said_to_be(study: rf.Study, path: Path) -> None:
    study.optimize(evaluate, most=30)
    assert isinstance(study.desk.storage, SqlStorage)
    study.desk.storage.close()
    os.truncate(path, 20_000)
    with pytest.raises(StorageError, match=r"malformed\. .* restore it from a backup"):
        rf.Study.load("s", storage=f"sqlite:///{path}").status()


def test_damaged_text_in_a_database_is_said_to_be(study: rf.Study, path: Path) -> None:
    """SQLite quotes what it cannot read, and Python cannot read the quotation."""
    assert isinstance(study.desk.storage, SqlStorage)
    study.desk.storage.close()
    content = path.read_bytes()
    opening = b"CREATE TABLE ringfence_rounds ("
    assert opening in content
    path.write_bytes(content.replace(opening, opening[:-1] + b"\xff"))
    with pytest.raises(StorageError, match=r"not UTF-8.* restore it from a backup"):
        rf.Study.load("s", storage=f"sqlite:///{path}")


def test_a_study_that_lost_its_name_is_not_found(study: rf.Study, path: Path) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("PRAGMA writable_schema = ON")
        other.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'name TEXT NOT NULL', 'name TEXT')"
        )
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE ringfence_studies SET name = NULL")
    with pytest.raises(MissingStudyError, match="'s' is not in"):
        rf.Study.load("s", storage=f"sqlite:///{path}")


@pytest.mark.parametrize(
    ("part", "damaged"),
    [
        (b'"pardons"', b'"pa\xc3\xa4dos"'),
        (b'"told":', b'"tolt":'),
    ],
)
def test_a_damaged_tally_is_read_anew(tmp_path: Path, part: bytes, damaged: bytes) -> None:
    path = tmp_path / "s.db"
    made = rf.Study.create(
        "s", arms=("one", "two", "three", "four"), objective="minimize mean(loss)",
        constraints="mean(risk) <= 1.0", budget=TALLY_EVERY + 400, batch=100, policy="top-two",
        seed=5, storage=f"sqlite:///{path}",
    )  # fmt: skip
    made.optimize(evaluate)
    before = made.recommend()
    with closing(sqlite3.connect(path)) as other, other:
        [(content,)] = other.execute("SELECT content FROM ringfence_tallies").fetchall()
        assert part in content
        other.execute("UPDATE ringfence_tallies SET content = ?", (content.replace(part, damaged),))
    assert rf.Study.load("s", storage=f"sqlite:///{path}").recommend() == before


def test_a_database_that_is_locked_for_long_is_waited_for_and_loses_nothing(
    study: rf.Study, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "_PATIENCE_SECONDS", 0.2)
    heard: list[str] = []
    acknowledged: list[int] = []
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageAwayError, match=r"locked.*let it finish, or end it"):
            study.ask()

        def away(error: StorageAwayError) -> None:
            heard.append(str(error))
            other.execute("ROLLBACK") if other.in_transaction else None

        study.optimize(evaluate, told=lambda pull, _: acknowledged.append(pull.number), away=away)
    assert len(heard) == 1
    assert sorted(acknowledged) == list(range(1, 41))
    assert study.doctor().is_sound


HOLD = """
import sys
import ringfence as rf
study = rf.Study.load("s", storage=sys.argv[1])
for pull in study.ask(int(sys.argv[2])):
    study.tell(pull, {"loss": 1.0, "risk": 0.1})
print("told", flush=True)
sys.stdin.read()
"""


def held(path: Path, pulls: int) -> "subprocess.Popen[bytes]":
    """Return a process that has told so many pulls, and has the study's file open."""
    given = [sys.executable, "-c", HOLD, f"sqlite:///{path}", str(pulls)]
    process = subprocess.Popen(given, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"told\n"
    return process


def create(path: Path) -> None:
    made = new_study(path).desk.storage
    assert isinstance(made, SqlStorage)
    made.close()


@pytest.mark.parametrize("renew", [delete, replace_by_nothing])
def test_a_new_file_beside_one_that_is_still_open_survives_a_kill(
    tmp_path: Path, renew: Callable[[Path], None]
) -> None:
    """Who has the deleted file open keeps its index of the log in use: a new log needs its own."""
    path = tmp_path / "s.db"
    create(path)
    with held(path, 9) as old:
        renew(path)
        create(path)
        with held(path, 5) as new:
            new.kill()
        old.kill()
    assert _told(path) == 5
    assert rf.Study.load("s", storage=f"sqlite:///{path}").doctor().is_sound
