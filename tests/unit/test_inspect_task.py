"""What is refused of a task of inspect-ai; that it runs is shown by `make evaluations`."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.execution.calling import Call
from ringfence.execution.ways import way_of


def test_a_task_is_called_with_arm_item_and_keys_and_names_itself() -> None:
    task = rf.InspectTask("package/sums", timeout_seconds=5)
    assert Call.of(task).needs_item
    assert way_of(task) == way_of(rf.Function(task)) == "inspect-ai package/sums 5"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"task": "none.py@sums"}, "file 'none.py' does not exist"),
        ({"timeout_seconds": 0}, "timeout_seconds = 0 must be above 0"),
        ({"timeout_seconds": 1.5}, "timeout_seconds = 1.5 must be a whole number"),
        ({"processes": 0}, "processes = 0 must be from 1 to 64"),
    ],
)
def test_mistakes_are_refused(
    changes: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=said):
        rf.InspectTask(**{"task": "sums"} | changes)


def test_without_the_package_the_extra_is_named() -> None:
    assert importlib.util.find_spec("inspect_ai") is None, "it is in an environment of its own"
    with pytest.raises(rf.MissingExtraError, match=r"ringfence\[inspect\]"):
        rf.InspectTask("sums").items()
