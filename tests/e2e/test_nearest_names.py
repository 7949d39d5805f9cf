"""A name that is almost right is answered with the right one, at every door."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.errors import nearest
from ringfence.interfaces.web import shapes
from ringfence.interfaces.web.api import tell_many
from ringfence.interfaces.web.problems import shape_problem
from tests.e2e.command_line import ringfence

STUDY = """\
name = "launch"
objective = "maximize mean(score)"
constraints = ["mean(latency_ms) <= 200"]
budget = 20
arms = ["small", "large"]
seed = 1

[pull]
python = "evaluate_launch:evaluate"
"""
MODULE = "def evaluate(arm, seed):\n    return {'score': 1.0 + seed % 3, 'latency_ms': 90.0}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "launch.toml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "evaluate_launch.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "log.csv").write_text("arm,score\nsmall,1\nlarge,2\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def changed(old: str, new: str) -> str:
    assert old in STUDY
    return STUDY.replace(old, new)


COMMANDS: dict[str, tuple[list[object], str]] = {
    "a command": (["simulat", "paper-1"], "simulate"),
    "an option": (["simulate", "paper-1", "--bugdet", 100], "--budget"),
    "an instance": (["gaps", "papr-1"], "paper-1"),
    "a file of an instance": (["gaps", "lunch.toml"], "launch.toml"),
    "a policy": (["simulate", "paper-1", "--budget", 100, "--policy", "Top_Two"], "top-two"),
    "one of several policies": (
        ["compare", "paper-1", "--budgets", 100, "--policies", "uniform,tomson"],
        "thompson",
    ),
    "an engine": (["simulate", "paper-1", "--budget", 100, "--engine", "cdua"], "cuda"),
    "a method": (["simulate", "paper-1", "--budget", 100, "--method", "spliting"], "splitting"),
    "the scales": (["simulate", "paper-1", "--budget", 100, "--scales", "estimate"], "estimated"),
    "a family": (["compare", "--family", "unifrm"], "uniform"),
    "a kind of figure": (["figure", "launch.toml", "--output", "a.svg", "--kind", "mpa"], "map"),
    "a theme": (["figure", "launch.toml", "--output", "a.svg", "--theme", "drak"], "dark"),
    "a study's file": (["run", "lanch.toml"], "launch.toml"),
    "a study's file without its ending": (["run", "launch"], "launch.toml"),
    "a storage": (["status", "launch", "--storage", "sqllite:///launch.db"], "sqlite"),
}


@pytest.mark.parametrize("case", COMMANDS)
@pytest.mark.usefixtures("folder")
def test_commands_name_the_nearest(case: str) -> None:
    arguments, meant = COMMANDS[case]
    done = ringfence(*arguments)
    assert (done.code, done.out) == (2, "")
    said = " ".join(done.err.replace("│", " ").split())
    assert f"Did you mean '{meant}'?" in said or f"(Possible options: {meant})" in said


FILES: dict[str, tuple[tuple[str, str], str]] = {
    "a key": (("budget = 20", "bugdet = 20"), "budget"),
    "a key of [pull]": (("python =", "pyton ="), "python"),
    "a policy": (("seed = 1", 'policy = "top-tow"'), "top-two"),
    "a direction": (("maximize mean", "maximise mean"), "maximize"),
    "a statistic": (("mean(score)", "maen(score)"), "mean"),
    "a statistic of a limit": (("mean(latency_ms)", "lower_cavr(latency_ms, 0.1)"), "lower_cvar"),
    "a module": (("evaluate_launch:", "evaluate_lunch:"), "evaluate_launch"),
    "a function": ((":evaluate", ":evalute"), "evaluate"),
    "an arm of a table": (
        ('python = "evaluate_launch:evaluate"', 'table = { path = "log.csv", arm = "arm" }'),
        "large",
    ),
    "a column of a table": (
        ('python = "evaluate_launch:evaluate"', 'table = { path = "log.csv", arm = "amr" }'),
        "arm",
    ),
    "a key of a table": (
        ('python = "evaluate_launch:evaluate"', 'table = { pth = "log.csv", arm = "arm" }'),
        "path",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_study_files_name_the_nearest(folder: Path, case: str) -> None:
    change, meant = FILES[case]
    text = changed(*change)
    if case.startswith("an arm"):
        text = text.replace('"large"]', '"lage"]').replace("mean(latency_ms)", "mean(score)")
    (folder / "launch.toml").write_text(text, encoding="utf-8")
    done = ringfence("run", "launch.toml")
    assert (done.code, done.out) == (2, "")
    assert f"Did you mean '{meant}'?" in done.err


def test_a_study_that_runs_names_the_nearest(folder: Path) -> None:
    assert ringfence("ask", "launch.toml", "--json").code == 0
    storage = "sqlite:///launch.db"
    told = ringfence("tell", "launch", 1, 1, json.dumps({"scor": 1, "latency_ms": 9}))
    assert "Did you mean 'score'?" in told.err
    assert "Did you mean 'launch'?" in ringfence("status", "lanch", "--storage", storage).err
    deleted = ringfence("studies", "--storage", storage, "--delete", "lunch")
    assert "Did you mean 'launch'?" in deleted.err
    known = rf.Study.load("launch", storage=storage)
    refusals: dict[str, Callable[[], Any]] = {
        "small": lambda: known.explain("smal"),
        "scre": lambda: known.bring({"arm": [], "scre": []}, arm="arm", label="x"),
        "latency_ms": lambda: known.tell_many([], {"score": [], "latency": []}),
    }
    for meant, refused in refusals.items():
        with pytest.raises(rf.InputError, match=f"Did you mean '{meant}'"):
            refused()


def test_python_names_the_nearest() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'simulate'"):
        rf.simulat  # type: ignore[attr-defined]  # noqa: B018 - the look-up is tested


@pytest.mark.parametrize(
    ("place", "meant"), [(["polls"], "pulls"), (["pulls", 2, "metrix"], "metrics")]
)
def test_bodies_name_the_nearest(place: list[int | str], meant: str) -> None:
    error = {"type": "extra_forbidden", "loc": ("body", *place), "msg": "", "input": 1}
    answer = shape_problem([error], lambda at: shapes.keys_at(tell_many, at))
    assert f"Did you mean '{meant}'?" in json.loads(bytes(answer.body))["detail"]


def test_what_is_like_nothing_gets_no_advice() -> None:
    assert nearest("zebra", ["mean", "p95"]) == ""
    assert nearest("MEAN", ["mean"]) == " Did you mean 'mean'?"
