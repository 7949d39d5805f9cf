"""The examples in docstrings are run, and every public name that one can call has one.

Each example stands alone: it begins with its imports, in an empty folder. What it shows is compared
to the letter, so that a reader who copies it sees the same.
"""

import ast
import doctest
import importlib
import inspect
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf

SOURCE = Path(rf.__file__).parent
PROMPT = ">>> "
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL

# Values that one is handed and does not make, and the name whose example hands them out.
HANDED_OUT = {
    "ArmTheory": "Hardness",
    "ArmVerdict": "Verdict",
    "Audit": "Study",
    "ComparisonRow": "compare",
    "Curve": "reproduce_paper",
    "Duel": "tournament",
    "Estimate": "Verdict",
    "Evidence": "AdaptivePolicy",
    "Flip": "Verdict",
    "Measurement": "measure_sample",
    "OptunaReview": "from_optuna",
    "PaperPoint": "reproduce_paper",
    "PaperReport": "reproduce_paper",
    "Phase": "successive_rejects_phases",
    "ProofStep": "Certificate",
    "Replay": "replay",
    "ReplayRow": "replay",
    "SimulationResult": "simulate",
    "Standing": "tournament",
    "Statement": "reproduce_paper",
    "Status": "Study",
    "Tournament": "tournament",
}
# What costs seconds to make is used in the example that makes it.
USED_ELSEWHERE = {"paper_figure": "reproduce_paper"}


def examples(text: str, name: str = "") -> doctest.DocTest:
    return doctest.DocTestParser().get_doctest(text, {}, name, None, 0)


def documented(path: Path) -> Iterator[str]:
    """Yield the full names in a file whose docstrings hold an example."""
    text = path.read_text("utf-8")
    if PROMPT not in text:
        return
    module = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    waiting: list[tuple[str, ast.AST]] = [(module.removesuffix(".__init__"), ast.parse(text))]
    while waiting:
        name, node = waiting.pop()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if PROMPT in (ast.get_docstring(node) or ""):
                yield f"{module.removesuffix('.__init__')}:{name}"
            for child in node.body:
                if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    inside = "" if isinstance(node, ast.Module) else f"{name}."
                    waiting.append((f"{inside}{child.name}", child))


PLACES = sorted({place for path in SOURCE.rglob("*.py") for place in documented(path)})


def thing_at(place: str) -> Any:
    module, _, name = place.partition(":")
    found: Any = importlib.import_module(module)
    if name != module:
        for part in name.split("."):
            found = getattr(found, part)
    return found


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder, an MLflow that tells nobody, and the environment as it was."""
    monkeypatch.chdir(tmp_path)
    before = dict(os.environ)
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    yield
    if "mlflow" in sys.modules:
        sys.modules["mlflow"].set_tracking_uri(None)
    os.environ.clear()
    os.environ.update(before)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.filterwarnings("ignore:.*loader strategy is deprecated")  # MLflow's own
@pytest.mark.usefixtures("elsewhere")
def test_the_example_shows_what_it_says(place: str) -> None:
    found = examples(inspect.getdoc(thing_at(place)) or "", place)
    assert found.examples
    said: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(found, out=said.append)
    assert not said, "".join(said)


def test_every_public_name_that_can_be_called_has_an_example() -> None:
    names = {name: getattr(rf, name) for name in (*rf.__all__, "ConstrainedSearchCV")}
    callables = {name: one for name, one in names.items() if callable(one)}
    errors = {
        name
        for name, one in callables.items()
        if inspect.isclass(one) and issubclass(one, BaseException)
    }
    shown = {name for name, one in callables.items() if PROMPT in (inspect.getdoc(one) or "")}
    assert set(callables) - errors - shown == {*HANDED_OUT, *USED_ELSEWHERE}
    assert {*HANDED_OUT.values(), *USED_ELSEWHERE.values()} <= shown
    for name, place in USED_ELSEWHERE.items():
        assert f"rf.{name}(" in (inspect.getdoc(getattr(rf, place)) or "")


def test_what_is_shown_is_run() -> None:
    """Nothing is skipped, and the reader of docstrings is awake."""
    docs = [inspect.getdoc(thing_at(place)) or "" for place in PLACES]
    assert not [place for place, text in zip(PLACES, docs, strict=True) if "+SKIP" in text]
    assert {"ringfence:ringfence", "ringfence.interfaces.studies:Study.bring"} <= set(PLACES)
    wrong: list[str] = []
    test = examples(">>> 1 + 1\n3\n")
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=wrong.append)
    assert "Expected" in "".join(wrong)


def test_the_reference_has_every_public_name() -> None:
    text = (SOURCE.parents[1] / "docs/reference/python.md").read_text("utf-8")
    listed = {line.rpartition("ringfence.")[2] for line in text.splitlines() if ":: " in line}
    assert {*rf.__all__, "ConstrainedSearchCV"} - listed == {"POLICIES"}
