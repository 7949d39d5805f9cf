"""Where the study of a file is kept: beside the file, wherever the command is given."""

from pathlib import Path

import pytest

from ringfence.interfaces.storages import placed_in
from tests.e2e.command_line import ringfence
from tests.e2e.test_study_commands import document, write_study


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory beside which a study file lies in a folder of its own."""
    here = tmp_path / "here"
    (tmp_path / "studies").mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    return here


def test_a_relative_storage_of_a_file_is_seen_from_the_file(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From wherever it is run, it is the same study: its budget is spent once."""
    folder = elsewhere.parent / "studies"
    file = write_study(folder, storage="sqlite:///sub.db", budget=12, policy="uniform")
    assert ringfence("run", f"../studies/{file.name}").code in (0, 3, 4)
    assert (folder / "sub.db").exists()
    assert not list(elsewhere.iterdir())
    for command in ("status", "recommend", "explain", "doctor", "ask"):
        done = ringfence(command, f"../studies/{file.name}", "--json")
        assert done.code in (0, 3, 4), done.err
    monkeypatch.chdir(folder)
    status = document(ringfence("status", file.name, "--json"))
    assert (status["told"], status["finished"]) == (12, True)


def test_a_storage_that_was_given_is_seen_from_the_working_directory(elsewhere: Path) -> None:
    file = write_study(elsewhere.parent / "studies", storage="sqlite:///sub.db")
    assert ringfence("ask", file, "--storage", "sqlite:///own.db").code == 0
    assert (elsewhere / "own.db").exists()
    assert not (file.parent / "sub.db").exists()


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("sqlite:///sub.db", "sqlite:////far/off/sub.db"),
        ("sqlite:///deep/sub.db", "sqlite:////far/off/deep/sub.db"),
        ("sqlite+pysqlite:///sub.db", "sqlite+pysqlite:////far/off/sub.db"),
        ("sqlite:////own/sub.db", "sqlite:////own/sub.db"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("sqlite://sub.db", "sqlite://sub.db"),
        ("postgresql://me@host/studies", "postgresql://me@host/studies"),
        ("memory://", "memory://"),
        ("", ""),
    ],
)
def test_only_relative_files_are_placed(said: str, meant: str) -> None:
    assert placed_in(Path("/far/off"), said) == meant
