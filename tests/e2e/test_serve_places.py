"""`ringfence serve` shows what it is pointed at: a study file, a database, a storage.

And it says which token that takes.
"""

import os
from pathlib import Path
from socket import socket
from unittest import mock

import pytest

from ringfence.core.errors import InputError
from ringfence.interfaces.cli.serve import _place
from tests.e2e.command_line import ringfence

STUDY = (
    'name = "own"\nobjective = "maximize tidy(score)"\nconstraints = ["mean(score) <= 2"]\n'
    'budget = 30\narms = ["a", "b"]\n\n[functions]\ntidy = "tidying:tidy"\n'
)


def test_a_study_file_names_its_storage_and_its_functions(tmp_path: Path) -> None:
    (tmp_path / "tidying.py").write_text("def tidy(values):\n    return values.mean()\n")
    path = tmp_path / "own.toml"
    path.write_text(STUDY)
    place, functions = _place(str(path), None)
    assert place == f"sqlite:///{tmp_path / 'own.db'}"
    assert list(functions["own"]) == ["tidy"]
    assert _place(str(path), "sqlite:///other.db")[0] == "sqlite:///other.db"


def test_a_database_file_is_a_storage(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    path.touch()
    assert _place(str(path), None) == (f"sqlite:///{path}", {})
    with pytest.raises(InputError, match="without --storage"):
        _place(str(path), "sqlite:///other.db")


def test_what_is_neither_is_refused() -> None:
    done = ringfence("serve", "nothing-here")
    assert done.code == 2
    assert "study = 'nothing-here' does not exist. Give a study file (.toml), or a" in done.err
    assert "must be a study file" in ringfence("serve", "/").err
    assert _place(None, None) == ("sqlite:///ringfence.db", {})


def _close(sockets: list[socket]) -> None:
    for one in sockets:
        one.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "token: from RINGFENCE_TOKEN\n"),
        (("--read-only",), "token: none needed: this server is read-only\n"),
        (("--host", "0.0.0.0"), "token: from RINGFENCE_TOKEN\n"),
        (
            ("--host", "0.0.0.0", "--read-only"),
            "token: from RINGFENCE_TOKEN; reading needs it at this address, and writing is",
        ),
        (
            ("--host", "0.0.0.0", "--read-only", "--token", "another-of-the-tests"),
            "token: as given; reading needs it at this address, and writing is refused",
        ),
    ],
)
def test_the_token_that_is_needed_is_said(
    tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    """Beyond loopback reading needs one too (tests/e2e/test_http_safety.py)."""
    path = tmp_path / "some.db"
    path.touch()
    known = mock.patch.dict(os.environ, {"RINGFENCE_TOKEN": "a-token-of-the-tests"})
    with known, mock.patch("uvicorn.Server.run", side_effect=_close):
        done = ringfence("serve", path, "--port", 0, *options)
    assert done.code == 0, done.err
    assert said in done.out
