"""The GitHub Action: its steps, run as GitHub runs them, in a folder of their own."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.command_line import Outcome, process

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STUDY = """
name = "change"
objective = "maximize mean(solved)"
constraints = ["mean(unsafe) <= 0.5"]
answer = "all feasible"
arms = ["main", "branch|*x*"]
policy = "uniform"
budget = {budget}
seed = 1
noise = {{ unsafe = {{ bounds = [0, 1] }} }}

[stop]
confidence = 0.95

[pull]
python = "evaluate_change:evaluate"
"""
FUNCTION = """
def evaluate(arm, seed):
    return {{"solved": seed % 10 > 1, "unsafe": seed % 10 < {unsafe}}}
"""


def stated(text: str, inputs: dict[str, str]) -> str:
    """Return a value in which inputs are filled in as GitHub does it."""
    for name, value in inputs.items():
        text = text.replace(f"${{{{ inputs.{name} }}}}", value)
    assert "${{" not in text
    return text


def run_step(name: str, folder: Path, **said: str) -> Outcome:
    """Run a step with GitHub's own flags of bash."""
    (step,) = [one for one in ACTION["runs"]["steps"] if one["name"] == name]
    inputs = {key: str(one.get("default", "")) for key, one in ACTION["inputs"].items()}
    inputs |= {key.replace("_", "-"): value for key, value in said.items()}
    environment = {key: stated(value, inputs) for key, value in step["env"].items()}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_OUTPUT": str(folder / "output"),
    }
    words = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"])
    return process(*words, environment=environment, folder=folder)


def prepared(folder: Path, *, unsafe: int, budget: int) -> dict[str, str]:
    (folder / "a change.toml").write_text(STUDY.format(budget=budget))
    (folder / "evaluate_change.py").write_text(FUNCTION.format(unsafe=unsafe))
    return {"study": "a change.toml", "candidate": "branch|*x*"}


@pytest.mark.parametrize(
    ("unsafe", "budget", "code", "status"),
    [(1, 160, 0, "keeps"), (10, 160, 3, "breaks"), (4, 8, 4, "open")],
)
def test_a_study_is_run_and_its_gate_is_shown(
    unsafe: int, budget: int, code: int, status: str, tmp_path: Path
) -> None:
    said = prepared(tmp_path, unsafe=unsafe, budget=budget)
    ran = run_step("Run the study", tmp_path, **said, workers="2", record="r.html")
    assert ran.code == 0, ran.err
    assert (tmp_path / "r.html").exists()
    done = run_step("Gate", tmp_path, **said)
    assert done.code == code, done.err
    assert (tmp_path / "output").read_text() == f"status={status}\n"
    shown = (tmp_path / "summary.md").read_text().splitlines()
    assert shown[0].startswith("### ")
    assert "branch\\|\\*x\\*" in shown[0]
    assert shown[2:4] == ["| claim | proven | evidence | pulls |", "| --- | --- | --- | --- |"]
    assert all(line.replace("\\|", "").count("|") == 5 for line in shown[2:5])
    if status == "open":
        (tmp_path / "output").unlink()
        let = run_step("Gate", tmp_path, **said, let_open_pass="true")
        assert let.code == 0
        assert (tmp_path / "output").read_text() == "status=open\n"


def test_what_goes_wrong_is_no_verdict(tmp_path: Path) -> None:
    said = prepared(tmp_path, unsafe=1, budget=8)
    assert run_step("Run the study", tmp_path, **said | {"study": "none.toml"}).code == 2
    assert run_step("Gate", tmp_path, **said | {"candidate": "nobody"}).code in (1, 2)
    assert not (tmp_path / "output").exists()


def test_every_input_is_used_and_nothing_is_filled_into_a_script() -> None:
    """What is filled into a script itself could be anybody's code."""
    text = (ROOT / "action.yml").read_text("utf-8")
    for name in ACTION["inputs"]:
        assert text.count(f"inputs.{name} ") >= 1, name
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
