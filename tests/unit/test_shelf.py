"""What is told of a study that changes while one looks: a change may be told twice, never lost."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.interfaces.web.shelf import Shelf


@pytest.mark.parametrize("when", ["pulse", "brief"])
def test_what_changes_while_news_are_read_is_news_again(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = f"sqlite:///{tmp_path / 'shelf.db'}"
    study = rf.Study.create(
        "s",
        objective="minimize mean(x)",
        constraints=["mean(y) <= 1"],
        arms=["a", "b"],
        budget=12,
        storage=storage,
    )
    shelf = Shelf(storage)
    plain: Callable[[str], Any] = getattr(shelf, when)

    def and_then_a_pull_is_told(name: str) -> Any:
        found = plain(name)
        (pull,) = study.ask(1)
        study.tell(pull, {"x": 0.0, "y": 0.0})
        return found

    monkeypatch.setattr(shelf, when, and_then_a_pull_is_told)
    told = shelf.news("s")
    monkeypatch.undo()
    now = shelf.news("s")
    assert now["done"] == 1
    assert told["done"] == 1 or told["version"] != now["version"]
