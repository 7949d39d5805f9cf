"""`ringfence serve` shows what it is pointed at: a study file, a database, a storage."""

from pathlib import Path

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
    with pytest.raises(InputError, match="no --storage"):
        _place(str(path), "sqlite:///other.db")


def test_what_is_neither_is_refused() -> None:
    done = ringfence("serve", "nothing-here")
    assert done.code == 2
    assert "must be a study file" in done.err
    assert _place(None, None) == ("sqlite:///ringfence.db", {})
