"""What notebooks show, and that whatever is shown there is text; and what MLflow is given."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.showing import Rich, html_of
from ringfence.reports.departures import departure
from tests.unit.drawing import BROKE

EVIL = "<script>alert('&')</script>"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.depth = 0
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.opened.append(tag)
        self.depth += 1

    def handle_endtag(self, tag: str) -> None:
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str | None) -> Tags:
    assert html is not None
    tags = Tags()
    tags.feed(html)
    assert tags.depth == 0
    assert "script" not in tags.opened
    assert not {"style", "img", "link"} & set(tags.opened)
    return tags


def make(arms: Any = (EVIL, "two"), told: int = 20) -> rf.Study:
    study = rf.Study.create(
        "s",
        arms=arms,
        objective=f'maximize mean("{EVIL.replace(chr(39), "")}")',
        constraints=["mean(risk) <= 1.0"],
        budget=20 * len(arms),
        policy="uniform",
        storage="memory://",
        seed=1,
    )
    metric = study.desk.plan.metrics[0]
    for place, pull in enumerate(study.pulls()):
        if place == told:
            break
        first = pull.arm == study.definition.arm_names[0]
        wobble = 0.01 * (pull.seed % 11)
        study.tell(pull, {metric: 0.5 + 0.4 * first + wobble, "risk": 0.3 + first + wobble})
    return study


def test_a_study_and_its_verdict() -> None:
    study = make()
    verdict = study.recommend()
    shown = read(verdict._repr_html_())
    assert shown.text.startswith("So far: two is the best feasible arm: more than 99.9% sure")
    assert f"{EVIL} looks better by mean(" in shown.text
    assert "but over mean(risk) <= 1 (1.3" in shown.text
    assert "chance best" in shown.text
    assert "looks over mean(risk) <= 1" in shown.text
    assert shown.opened.count("tr") == 3
    whole = read(study._repr_html_())
    assert "Study s: maximize mean" in whole.text
    assert "20 of 40 pulls told, 0 failed, 1 issued; policy uniform." in whole.text
    assert shown.text in whole.text
    assert str(verdict).startswith("Verdict(study='s'")  # its text stays


def test_a_study_without_pulls_and_one_with_many_arms() -> None:
    assert "Nothing to judge yet." in read(make(told=0)._repr_html_()).text
    many = make([f"arm {k}" for k in range(40)], told=800)
    shown = read(many._repr_html_())
    assert shown.opened.count("tr") == 13
    assert "28 further arms are not shown." in shown.text
    assert ", finished; policy uniform." in shown.text


def test_a_study_without_arms_says_why() -> None:
    study = make(told=0)
    study.take_back()
    for pull in study.pulls():
        study.fail(pull, "no <disk>")
    shown = read(study._repr_html_()).text
    assert f"{departure(BROKE)} (the last error: no <disk>)" in shown
    assert "begin a study of another name" in shown


def test_what_nobody_taught_has_no_html() -> None:
    class Unknown(Rich):
        pass

    assert Unknown()._repr_html_() is None
    assert html_of(3) is None


def test_an_optuna_review() -> None:
    trials = [
        {"params": {"m": EVIL}, "value": 1.0 + k % 3, "constraints": {"c": k % 2 - 0.2}}
        for k in range(9)
    ]
    review = rf.from_optuna(trials, direction="maximize")
    shown = read(review._repr_html_())
    assert review.headline in shown.text
    assert f"m={EVIL}" in shown.text
    assert all(line in shown.text for line in review.lines)


class FakeMlflow:
    """Remembers what is logged, by run; as strict about names as MLflow is."""

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []
        self.open: list[dict[str, Any]] = []

    def active_run(self) -> Any:
        return self.open[-1] if self.open else None

    @contextmanager
    def start_run(self, *, run_name: str, nested: bool) -> Iterator[Any]:
        assert nested == bool(self.open)
        run = {"name": run_name, "params": {}, "metrics": {}, "tags": {}, "files": {}}
        self.runs.append(run)
        self.open.append(run)
        yield SimpleNamespace(info=SimpleNamespace(run_id=f"run-{len(self.runs)}"))
        self.open.pop()

    def log_params(self, params: dict[str, Any]) -> None:
        assert all(len(value) <= 500 for value in params.values())
        self.open[-1]["params"] |= params

    def log_metrics(self, metrics: dict[str, float]) -> None:
        letters = set("_-./ ")
        assert all(all(c.isalnum() or c in letters for c in key) for key in metrics)
        assert all(isinstance(value, float) for value in metrics.values())
        self.open[-1]["metrics"] |= metrics

    def set_tags(self, tags: dict[str, Any]) -> None:
        self.open[-1]["tags"] |= tags

    def log_text(self, text: str, name: str) -> None:
        self.open[-1]["files"][name] = text

    def log_dict(self, content: dict[str, Any], name: str) -> None:
        self.open[-1]["files"][name] = json.dumps(content)


@pytest.mark.parametrize("inside", [False, True])
def test_a_study_in_mlflow(inside: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make({"one": {"depth": 3, "note": "x" * 600}, "two": {}}, told=40)
    fake = FakeMlflow()
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    if inside:
        with fake.start_run(run_name="around", nested=False):
            assert rf.log_to_mlflow(study) == "run-2"
        del fake.runs[0]
    else:
        assert rf.log_to_mlflow(study) == "run-1"
    whole, one, two = fake.runs
    verdict = study.recommend()
    assert whole["params"]["constraint_0"] == "mean(risk) <= 1.0"
    assert whole["metrics"]["confidence"] == verdict.confidence
    assert whole["tags"]["arm"] == "two"
    assert whole["files"]["record.html"] == study.record()
    assert json.loads(whole["files"]["verdict.json"])["arm"] == "two"
    assert one["params"]["depth"] == "3"
    assert (one["tags"]["kind"], two["tags"]["kind"]) == ("deceiver", "optimal")
    assert two["metrics"]["mean risk"] == verdict.arms[1].estimates["mean(risk)"].value
    assert two["metrics"]["pulls"] == 20.0


def test_without_mlflow_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(rf.InputError, match="pip install mlflow"):
        rf.log_to_mlflow(make())
