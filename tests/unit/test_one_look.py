"""A look works out its evidence once, and a run its verdict once: each takes draws of all arms."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.interfaces import kept_verdicts, study_views
from ringfence.interfaces.cli import app, display
from ringfence.interfaces.web import shelf
from ringfence.study import exploring, verdict
from ringfence.study.book import Book

FILE = """
name = "once"
arms = ["one", "two", "three"]
objective = "minimize mean(loss)"
constraints = ["mean(risk) <= 1.0"]
budget = 40
policy = "constrained-sr"
seed = 7
storage = "sqlite:///once.db"

[pull]
python = "evaluations:evaluate"
"""
EVALUATE = """
def evaluate(arm, seed):
    return {"loss": len(arm) + seed % 7, "risk": 0.1 * (seed % 5)}
"""


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often evidence is worked out, an answer named, and a verdict given."""
    counts = Counter[str]()

    def counted(place: Any, name: str) -> None:
        real: Callable[..., Any] = getattr(place, name)

        def counting(*given: Any, **named: Any) -> Any:
            counts[name] += 1
            return real(*given, **named)

        monkeypatch.setattr(place, name, counting)

    counted(Book, "plain_evidence")
    counted(Book, "beliefs")
    for place in (kept_verdicts, exploring):
        counted(place, "verdict_of")
    for place in (study_views, verdict):
        counted(place, "answer_of")
    return counts


def told(**changes: Any) -> rf.Study:
    plain: dict[str, Any] = {
        "arms": ["one", "two", "three"], "objective": "minimize mean(loss)",
        "constraints": ["mean(risk) <= 1.0"], "budget": 40, "policy": "constrained-sr",
        "storage": "memory://", "seed": 7,
    }  # fmt: skip
    study = rf.Study.create("once", **plain | changes)
    for pull in study.pulls():
        study.tell(pull, {"loss": len(pull.arm) + pull.seed % 7, "risk": 0.1 * (pull.seed % 5)})
    return study


ONCE = {"plain_evidence": 1, "beliefs": 1, "answer_of": 1, "verdict_of": 1}


@pytest.mark.parametrize("policy", ["constrained-sr", "top-two"])
@pytest.mark.parametrize(
    "look",
    [
        lambda study: study.recommend(),
        lambda study: study.explain("two"),
        lambda study: study.what_if(0, 0.2),
        lambda study: study.what_if(0, 1.0),
        lambda study: study._repr_html_(),
        lambda study: shelf._looked(study, "pulse"),
        lambda study: study.record(),
        lambda study: display._picture(study),
    ],
    ids=["recommend", "explain", "what if", "as fixed", "notebook", "page", "record", "screen"],
)
def test_one_look_works_out_everything_once(
    look: Callable[[rf.Study], Any], policy: str, calls: Counter[str]
) -> None:
    study = told(policy=policy)
    calls.clear()
    look(study)
    assert calls == ONCE


def test_where_limits_are_relative_too(calls: Counter[str]) -> None:
    study = told(constraints=["mean(risk) <= 1.2 * baseline"], baseline="one")
    calls.clear()
    study.recommend()
    assert calls == ONCE


@pytest.mark.parametrize("command", ["run", "recommend"])
def test_a_command_gives_one_verdict(
    command: str, calls: Counter[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("once.toml").write_text(FILE, encoding="utf-8")
    Path("evaluations.py").write_text(EVALUATE, encoding="utf-8")
    if command == "recommend":
        main("run", "once.toml", "--json", monkeypatch=monkeypatch)
    calls.clear()
    main(command, "once.toml", "--json", "--record", "once.html", monkeypatch=monkeypatch)
    assert calls["verdict_of"] == 1
    assert Path("once.html").read_text(encoding="utf-8").count("decision record")


def main(*words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the command line as it is called."""
    monkeypatch.setattr(sys, "argv", ["ringfence", *words])
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert ended.value.code in (0, 3, 4)
