"""The public `Study`: what it refuses, and that nothing changes then; what it hands out and hears.

The verdict has a file of its own, `test_study_verdict.py`.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ringfence.core.errors import (
    InputError,
    LeaseError,
    NameTakenError,
    NoAnswerError,
)
from ringfence.execution.evaluating import Command
from ringfence.interfaces.leases import Pull
from ringfence.interfaces.studies import Study
from ringfence.reports.departures import departure
from ringfence.reports.verdict import reason
from ringfence.storage.memory import MemoryStorage
from ringfence.storage.sql import SqlStorage
from ringfence.study.book import Book
from ringfence.study.facts import Cause, Rejection, State

ARMS = ("one", "two", "three")
MEANS = {"one": (1.0, 0.5), "two": (0.2, 1.6), "three": (0.5, 0.6)}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def make(name: str = "s", **changes: Any) -> Study:
    plain: dict[str, Any] = {
        "arms": ARMS,
        "objective": "minimize mean(loss)",
        "constraints": "mean(risk) <= 1.0",
        "budget": 60,
        "policy": "constrained-sr",
        "storage": "memory://",
        "seed": 1,
    }
    return Study.create(name, **{**plain, **changes})


def evaluate(arm: str, seed: int) -> dict[str, float]:
    """Return metrics that depend on the arm and the seed alone."""
    rng = np.random.default_rng(seed)
    loss, risk = rng.normal(MEANS[arm], 0.3).tolist()
    return {"loss": loss, "risk": risk}


def finish(study: Study) -> Study:
    for pull in study.pulls(7):
        study.tell(pull, evaluate(pull.arm, pull.seed))
    return study


def state_of(study: Study) -> tuple[Any, ...]:
    """Return all that is known of a study, to be compared before and after."""
    view = study.view()
    with study.desk.storage.reading(study.name) as ledger:
        pulls, past = tuple(ledger.pulls_between(1, 10_000)), tuple(ledger.past())
    audit = study.doctor()
    assert audit.is_sound, audit.problems
    return audit, study.observations(), view.head, tuple(study.rounds()), pulls, past


class Scene(NamedTuple):
    """A study in the middle of its first round, with one pull of each fate."""

    study: Study
    told: Pull
    failed: Pull
    stale: Pull
    held: Pull
    other: Pull


def make_scene() -> Scene:
    clock = Clock()
    study = make(clock=clock, lease_seconds=10.0)
    told, failed, stale = study.ask(3)
    study.tell(told, {"loss": 0.1, "risk": 0.2})
    study.fail(failed, "it broke")
    clock.now += 11.0
    held = study.ask(1)[0]
    assert (held.pull, held.lease) == (stale.pull, 2)
    return Scene(study, told, failed, stale, held, study.ask(1)[0])


@pytest.fixture
def scene() -> Scene:
    return make_scene()


GOOD = {"loss": 0.5, "risk": 0.5}
Act = Callable[[Scene], object]
TELLS: dict[str, tuple[Act, str]] = {
    "misspelt metric": (
        lambda s: s.study.tell(s.held, {"loss": 0.5, "rsik": 1.0}),
        r"metric 'risk' is missing.*needs loss, risk.*'rsik' was told. Did you mean 'risk'",
    ),
    "missing metric": (
        lambda s: s.study.tell(s.held, {"loss": 1.0}),
        r"metric 'risk' is missing.*needs loss, risk.*Add it",
    ),
    "no metrics": (lambda s: s.study.tell(s.held, {}), "metric 'loss' is missing"),
    "NaN": (
        lambda s: s.study.tell(s.held, {**GOOD, "risk": float("nan")}),
        r"metric 'risk' = nan must be a finite number.*failed",
    ),
    "infinity": (
        lambda s: s.study.tell(s.held, {**GOOD, "risk": -float("inf")}),
        r"metric 'risk' = -inf must be a finite number",
    ),
    "a string": (
        lambda s: s.study.tell(s.held, {**GOOD, "risk": "0.5"}),  # type: ignore[dict-item]
        r"metric 'risk' = '0.5' must be a finite number",
    ),
    "none": (
        lambda s: s.study.tell(s.held, {**GOOD, "risk": None}),  # type: ignore[dict-item]
        r"metric 'risk' = None must be a finite number",
    ),
    "a list": (
        lambda s: s.study.tell(s.held, {**GOOD, "risk": [0.5]}),  # type: ignore[dict-item]
        r"metric 'risk' = \[0.5\] must be a finite number",
    ),
    "a number whose square is none": (
        lambda s: s.study.tell(s.held, {**GOOD, "risk": -1e200}),
        r"metric 'risk' = -1e\+200 must be at most 1e\+60 in size.*failed, or in other units",
    ),
    "such numbers, many at once": (
        lambda s: s.study.tell_many([s.held], {"loss": [1e61], "risk": [0.5]}),
        r"row 0: metric 'loss' = 1e\+61 must be at most 1e\+60 in size",
    ),
    "a number beyond floats": (
        lambda s: s.study.tell(s.held, {**GOOD, "risk": 10**400}),
        r"metric 'risk' = .* must be a finite number",
    ),
    "a complex number": (
        lambda s: s.study.tell(s.held, {**GOOD, "risk": 1j}),  # type: ignore[dict-item]
        r"metric 'risk' = 1j must be a finite number",
    ),
    "metrics that are a number": (
        lambda s: s.study.tell(s.held, 0.5),  # type: ignore[arg-type]
        "metrics",
    ),
    "metrics that are nothing": (
        lambda s: s.study.tell(s.held, None),  # type: ignore[arg-type]
        "metrics",
    ),
    "a stale lease": (
        lambda s: s.study.tell(s.stale, GOOD),
        r"pull 3 of study 's' was issued again: lease 1 has run out, lease 2 holds.*ask for",
    ),
    "a lease that was never given": (
        lambda s: s.study.tell(s.held.pull, GOOD, lease=9),
        "lease 9 of pull 3 of study 's' was never issued: lease 2 holds.*that ask returned",
    ),
    "lease zero": (
        lambda s: s.study.fail(s.held.pull, "x", lease=0),
        "lease 0 of pull 3 .*never issued",
    ),
    "no lease": (
        lambda s: s.study.tell(s.held.pull, GOOD),
        r"pull 3 needs its lease.*lease=\.\.\.",
    ),
    "a pull that was never issued": (
        lambda s: s.study.tell(99, GOOD, lease=1),
        r"pull 99 of study 's' was never issued: there are 4",
    ),
    "pull zero": (lambda s: s.study.tell(0, GOOD, lease=1), "pull 0 .*never issued"),
    "a pull below zero": (lambda s: s.study.tell(-1, GOOD, lease=1), "pull -1 .*never issued"),
    "a pull beyond counting": (
        lambda s: s.study.tell(2**70, GOOD, lease=1),
        f"pull {2**70} .*never issued",
    ),
    "other values": (
        lambda s: s.study.tell(s.told, {"loss": 0.1, "risk": 0.3}),
        r"pull 1 .*already told other values: \[0.1, 0.2\], now \[0.1, 0.3\].*stay",
    ),
    "a failed pull": (
        lambda s: s.study.tell(s.failed, GOOD),
        r"pull 2 of study 's' is failed: nothing more can be said of it\. Ask",
    ),
    "a cost that is text": (
        lambda s: s.study.tell(s.held, GOOD, cost="much"),  # type: ignore[arg-type]
        "cost = 'much'",
    ),
    "a cost that is NaN": (
        lambda s: s.study.tell(s.held, GOOD, cost=float("nan")),
        "cost = nan",
    ),
    "failing under a stale lease": (lambda s: s.study.fail(s.stale, "x"), "lease 1 has run out"),
    "failing what was told": (lambda s: s.study.fail(s.told, "x"), "pull 1 .*is told"),
    "failing what was never issued": (lambda s: s.study.fail(9, "x", lease=1), "never issued"),
    "extending a stale lease": (lambda s: s.study.extend(s.stale), "lease 1 has run out"),
    "extending what was told": (lambda s: s.study.extend(s.told), "pull 1 .*is told"),
}
MANY: dict[str, tuple[Act, str]] = {
    "a row too few": (
        lambda s: s.study.tell_many([s.held, s.other], [GOOD]),
        "metrics has 1 rows for 2 pulls",
    ),
    "NaN": (
        lambda s: s.study.tell_many([s.held, s.other], [GOOD, {**GOOD, "risk": float("nan")}]),
        r"row 1: metric 'risk' = nan must be a finite number",
    ),
    "strings": (
        lambda s: s.study.tell_many([s.held, s.other], [GOOD, {**GOOD, "risk": "0.5"}]),
        "risk.*finite number|must be numbers",
    ),
    "text": (
        lambda s: s.study.tell_many([s.held, s.other], {"loss": ["a", "b"], "risk": [1.0, 2.0]}),
        "must be a list of numbers",
    ),
    "a metric missing in a row": (
        lambda s: s.study.tell_many([s.held, s.other], [GOOD, {"loss": 1.0}]),
        "metric 'risk'.*missing",
    ),
    "a misspelt metric in a row": (
        lambda s: s.study.tell_many([s.held, s.other], [GOOD, {"loss": 1.0, "rsik": 1.0}]),
        "row 1: metric 'risk' is missing.*'rsik' was told. Did you mean 'risk'",
    ),
    "a misspelt column": (
        lambda s: s.study.tell_many([s.held], {"loss": [1.0], "rsik": [1.0]}),
        "'risk' is missing. Give loss, risk. 'rsik' was given. Did you mean 'risk'",
    ),
    "a further column of another length": (
        lambda s: s.study.tell_many([s.held], {"loss": [1.0], "risk": [1.0], "kWh": [1, 2]}),
        "'kWh' has 2 rows, and the metrics 1",
    ),
    "a missing column": (
        lambda s: s.study.tell_many([s.held], {"loss": [1.0]}),
        r"metric 'risk' is missing",
    ),
    "a missing column of a frame": (
        lambda s: s.study.tell_many([s.held], pd.DataFrame({"loss": [1.0]})),
        "risk",
    ),
    "columns of other lengths": (
        lambda s: s.study.tell_many([s.held], {"loss": [1.0], "risk": [1.0, 2.0]}),
        "different numbers of rows",
    ),
    "tables in a column": (
        lambda s: s.study.tell_many(
            [s.held, s.other], {"loss": np.ones((2, 2)), "risk": np.ones((2, 2))}
        ),
        "metric",
    ),
    "numbers for rows": (
        lambda s: s.study.tell_many([s.held, s.other], [1.0, 2.0]),
        "metrics",
    ),
    "an array without names": (
        lambda s: s.study.tell_many([s.held, s.other], np.ones((2, 2))),
        "data frame",
    ),
    "one pull twice": (
        lambda s: s.study.tell_many([s.held, s.held], [GOOD, GOOD]),
        "told twice in one call",
    ),
    "a good one and a stale one": (
        lambda s: s.study.tell_many([s.other, s.stale], [GOOD, GOOD]),
        "lease 1 has run out",
    ),
    "a good one and an other value": (
        lambda s: s.study.tell_many([s.other, s.told], [GOOD, GOOD]),
        "already told other values",
    ),
}
OTHERS: dict[str, tuple[Act, str]] = {
    "ask for none": (lambda s: s.study.ask(0), r"n = 0 must be whole, from 1 to 1000000\. Use 1"),
    "ask for fewer": (lambda s: s.study.ask(-2), "n = -2 must be whole, from 1"),
    "ask for too many": (lambda s: s.study.ask(10**9), "n = 1000000000 must be whole, from 1 to"),
    "ask for a part": (lambda s: s.study.ask(1.5), "n = 1.5"),  # type: ignore[arg-type]
    "ask in words": (lambda s: s.study.ask("two"), "n = 'two'"),  # type: ignore[arg-type]
    "a budget that falls": (
        lambda s: s.study.raise_budget(59),
        "budget = 59 is less than the 60 pulls that study 's' has. A budget can only rise",
    ),
    "a budget in parts": (
        lambda s: s.study.raise_budget(80.5),
        "budget = 80.5 must be a whole number",
    ),
    "a budget in words": (
        lambda s: s.study.raise_budget("more"),
        'budget = "more" must be',
    ),
    "a budget beyond counting": (lambda s: s.study.raise_budget(10**15), "must be at most"),
    "past of an unknown arm": (
        lambda s: s.study.bring(
            {"arm": ["won"], "loss": [1.0], "risk": [1.0]}, arm="arm", label="p"
        ),
        r"arm 'won' is not in study 's'\. It has one, two, three",
    ),
    "past without a metric": (
        lambda s: s.study.bring({"arm": ["one"], "loss": [1.0]}, arm="arm", label="p"),
        "no column 'risk'",
    ),
    "past without arms": (
        lambda s: s.study.bring({"loss": [1.0], "risk": [1.0]}, arm="arm", label="p"),
        "no column 'arm'",
    ),
    "past that is not finite": (
        lambda s: s.study.bring(
            {"arm": ["one", "two"], "loss": [1.0, 2.0], "risk": [1.0, float("inf")]},
            arm="arm",
            label="p",
        ),
        "must be a finite number",
    ),
    "past of uneven columns": (
        lambda s: s.study.bring(
            {"arm": ["one"], "loss": [1.0, 2.0], "risk": [1.0, 2.0]}, arm="arm", label="p"
        ),
        "arm|as many",
    ),
    "past without a label": (
        lambda s: s.study.bring(
            {"arm": ["one"], "loss": [1.0], "risk": [1.0]}, arm="arm", label=""
        ),
        "label = '' must be printable",
    ),
    "explaining an unknown arm": (lambda s: s.study.explain("tow"), "Did you mean 'two'"),
    "nothing to call": (
        lambda s: s.study.optimize(3),  # type: ignore[arg-type]
        r"evaluate = 3 must be a function \(arm, seed\) -> metrics\. Give one",
    ),
    "nothing to call, in an event loop": (
        lambda s: asyncio.run(s.study.optimize_async(3)),  # type: ignore[arg-type]
        r"evaluate = 3 must be a coroutine function",
    ),
    "no program": (
        lambda s: s.study.optimize(Command(["no-such-program", "{arm}"])),
        "command = 'no-such-program' is no program on PATH. Install it, or give its path",
    ),
    "no command": (lambda s: s.study.optimize(Command([])), r"command = \[\] must name a program"),
    "no workers": (lambda s: s.study.optimize(evaluate, workers=0), "workers = 0 must be"),
}


@pytest.mark.parametrize(
    ("act", "message"),
    [
        pytest.param(*case, id=f"{group}: {name}")
        for group, cases in (("tell", TELLS), ("tell many", MANY), ("other", OTHERS))
        for name, case in cases.items()
    ],
)
def test_what_is_refused_is_named_and_changes_nothing(scene: Scene, act: Act, message: str) -> None:
    before = state_of(scene.study)
    with pytest.raises(InputError, match=message):
        act(scene)
    assert state_of(scene.study) == before
    assert scene.study.tell(scene.held, GOOD) == "told", "and work goes on"


def test_a_stale_lease_is_an_error_of_its_own(scene: Scene) -> None:
    with pytest.raises(LeaseError):
        scene.study.tell(scene.stale, GOOD)


CREATIONS: dict[str, tuple[dict[str, Any], str]] = {
    "no arms": ({"arms": []}, r"arms = \[\] must hold at least one arm"),
    "an arm twice": ({"arms": ["a", "b", "a"]}, "arms: 'a' is named twice"),
    "arms in one string": ({"arms": "abc"}, "arms = 'abc' must be a list of names"),
    "an arm that is a number": ({"arms": [1, 2]}, "arm = 1 must be printable text"),
    "an arm without a name": ({"arms": ["a", " "]}, "arm = ' ' must be printable text"),
    "an arm that rings": ({"arms": ["a", "b\x07"]}, r"arm = 'b\\x07' must be printable"),
    "an arm with a line break": ({"arms": ["a", "b\nc"]}, "must be printable"),
    "an endless arm": ({"arms": ["a", "b" * 1000]}, "at most 200 characters"),
    "no list of arms": ({"arms": None}, "arms = None"),
    "keys that are none": ({"arms": {"a": None, "b": None}}, "arm"),
    "a tiny budget": ({"budget": 3}, "budget = 3 is too small for 3 arms: constrained-sr needs"),
    "a tiny budget, top-two": ({"budget": 5, "policy": "top-two"}, "budget = 5 is too small"),
    "no budget": ({"budget": 0}, "budget = 0 is too small"),
    "a budget below zero": ({"budget": -60}, "budget = -60 is too small"),
    "a budget in parts": ({"budget": 60.5}, "budget = 60.5 must be a whole number"),
    "a budget in words": ({"budget": "60"}, "budget = '60' must be a whole number"),
    "an endless budget": ({"budget": 10**13}, "must be at most"),
    "an unknown policy": ({"policy": "top-tow"}, "policy = 'top-tow' must be one of.*'top-two'"),
    "no objective": ({"objective": ""}, "objective cannot be read"),
    "an objective without a direction": ({"objective": "mean(loss)"}, "objective cannot be read"),
    "no constraints": (
        {"constraints": [], "answer": "all feasible"},
        r"constraints = \[\] must hold",
    ),
    "a constraint that is no sentence": ({"constraints": "risk"}, r"constraints\[0\] cannot be"),
    "no batch": ({"batch": 0}, "batch = 0 must be a whole number, 1 or more"),
    "a batch in parts": ({"batch": 1.5}, "batch = 1.5 must be a whole number"),
    "a seed below zero": ({"seed": -1}, "seed = -1 must be 0 or more"),
    "a seed in parts": ({"seed": 0.5}, "seed = 0.5 must be"),
    "no lease": ({"lease_seconds": 0}, "lease_seconds = 0 must be a positive number"),
    "an endless lease": ({"lease_seconds": float("inf")}, "lease_seconds = inf must be"),
    "a lease beyond clocks": ({"lease_seconds": 1e18}, r"lease_seconds = 1e\+18 must.* at most"),
    "a lease that is NaN": ({"lease_seconds": float("nan")}, "lease_seconds = nan must be"),
    "retries below zero": ({"retries": -1}, "retries = -1 must be a whole number, 0 or more"),
    "no failures": ({"max_failures": 0}, "max_failures = 0 must be a whole number, 1 or more"),
    "no leases": ({"max_leases": 0}, "max_leases = 0 must be a whole number, 1 or more"),
    "a metric that rings": ({"metrics": ["x\x07"]}, "metric = .* must be printable"),
    "one metric in letters": ({"metrics": "zz"}, "metrics = 'zz' must be a list of texts"),
    "metrics that are a number": ({"metrics": 5}, "metrics = 5 must be a list of texts"),
    "an objective that is nothing": ({"objective": None}, "objective = None must be text"),
    "constraints that are nothing": ({"constraints": None}, "constraints = None must be a list"),
    "a constraint that is a number": ({"constraints": [1]}, "constraints = 1 must be text"),
    "a storage that is a number": ({"storage": 5}, "storage = 5 must be a URL.*or an open storage"),
    "a storage that is a path": ({"storage": Path("s.db")}, "storage = .*must be a URL"),
    "no storage": ({"storage": "nowhere"}, "storage = 'nowhere' is no storage URL"),
}


@pytest.mark.parametrize(
    ("changes", "message"), [pytest.param(*case, id=name) for name, case in CREATIONS.items()]
)
def test_a_study_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    storage = MemoryStorage()
    with pytest.raises(InputError, match=message):
        make(**{"storage": storage, **changes})
    assert list(storage.names()) == []


@pytest.mark.parametrize(
    "name", ["", " s", "../s", "a/b", "a\\b", "x" * 101, "s\n", ".s", "-s", "a?b", "a%b", None, 5]
)
def test_a_bad_name_is_refused_before_a_file_is_made(
    name: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"name = .* must be letters, digits.*Choose another"):
        make(name, storage=None)
    assert list(tmp_path.iterdir()) == []


def test_a_refused_definition_makes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="too small"):
        make(storage=None, budget=2)
    with pytest.raises(InputError, match="there is no file"):
        Study.load("s")
    assert list(tmp_path.iterdir()) == []


def test_a_study_is_in_a_file_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    study = make("my study", storage=None, arms={"one": {"k": 1}, "two": {}, "three": {}})
    pull = study.ask()[0]
    assert dict(pull.keys) == {"k": 1}
    study.tell(pull, GOOD, cost=0.25)
    assert (tmp_path / "my study.db").exists()
    again = Study.load("my study")
    assert again.definition == study.definition
    assert state_of(again) == state_of(study)
    with pytest.raises(InputError, match=r"'other' is not in .*It has my study"):
        Study.load("other", storage="sqlite:///my study.db")
    with pytest.raises(NameTakenError, match="exists already") as taken:
        make("my study", storage=None)
    assert "Study.load('my study', ...)" in str(taken.value)
    assert "load_if_exists=True" in str(taken.value)
    for one in (study, again):
        assert isinstance(one.desk.storage, SqlStorage)
        one.desk.storage.close()


def test_a_study_says_what_it_is() -> None:
    study = make("said")
    budget = study.definition.budget
    assert repr(study) == f"<Study 'said': {study.definition.policy}, 0 of {budget} pulls>"
    told, held = study.ask(2)
    study.tell(told, GOOD)
    assert f", 1 of {budget} pulls>" in repr(study)
    study.tell(held, GOOD)
    assert repr(finish(study)).endswith(" pulls, finished>")
    study.desk.storage.delete("said")
    assert repr(study).endswith(", not to be read: MissingStudyError>")


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    with closing(SqlStorage(f"sqlite:///{tmp_path / 's.db'}")) as storage:
        study = make(
            storage=storage,
            budget=np.int64(60),
            seed=np.int64(3),
            batch=np.int64(2),
            retries=np.int32(1),
            lease_seconds=np.float64(5.0),
        )
        pull = study.ask(int(np.int64(2)))[0]
        study.tell(pull, {"loss": np.float32(0.5), "risk": np.int64(1)})  # type: ignore[dict-item]
        study.raise_budget(np.int64(80))  # type: ignore[arg-type]
        assert study.observations()["loss"] == [0.5]
        assert Study.load("s", storage=storage).status().budget == 80


# --------------------------------------------------------------------------------------
# The same study again
# --------------------------------------------------------------------------------------

DIFFERENT: dict[str, Any] = {
    "objective": "maximize mean(loss)",
    "constraints": "mean(risk) <= 1.5",
    "arms": ["one", "two", "four"],
    "policy": "uniform",
    "batch": 2,
    "metrics": ["seconds"],
    "lease_seconds": 30.0,
    "retries": 2,
    "max_failures": 4,
    "max_leases": 7,
    "seed": 2,
}


@pytest.mark.parametrize("key", DIFFERENT)
def test_another_definition_under_the_same_name_is_refused_with_the_difference(key: str) -> None:
    storage = MemoryStorage()
    study = make(storage=storage)
    study.tell(study.ask()[0], GOOD)
    before = state_of(study)
    with pytest.raises(InputError, match=f"exists with another {key}: it has .*now given") as seen:
        make(storage=storage, load_if_exists=True, **{key: DIFFERENT[key]})
    shown = DIFFERENT[key][-1] if isinstance(DIFFERENT[key], list) else str(DIFFERENT[key])
    assert shown in str(seen.value)
    assert state_of(study) == before


def test_the_same_definition_is_loaded() -> None:
    storage = MemoryStorage()
    study = make(storage=storage)
    study.tell(study.ask()[0], GOOD)
    again = make(storage=storage, load_if_exists=True)
    assert state_of(again) == state_of(study)
    unseeded = make(storage=storage, load_if_exists=True, seed=None)
    assert unseeded.definition.seed == 1
    assert make("t", storage=storage, load_if_exists=True).status().told == 0


def test_a_study_that_appears_meanwhile_is_loaded() -> None:
    class Racing(MemoryStorage):
        def create(self, definition: Any, head: Any, items: Any = ()) -> None:
            if "s" not in self.names():
                super().create(definition, head, items)  # somebody else is a moment earlier
            super().create(definition, head, items)

    study = make(storage=Racing(), load_if_exists=True)
    assert study.status().told == 0


# --------------------------------------------------------------------------------------
# Asking and telling
# --------------------------------------------------------------------------------------


def test_asking_for_more_than_a_round_gives_the_round() -> None:
    study = make()
    first = study.ask(1000)
    assert Counter(pull.arm for pull in first) == dict.fromkeys(ARMS, len(first) // 3)
    assert [pull.pull for pull in first] == list(range(1, len(first) + 1))
    assert study.ask(5) == [], "the rest must be told first"
    study.tell_many(first[1:], [evaluate(pull.arm, pull.seed) for pull in first[1:]])
    assert study.ask(5) == []
    study.tell(first[0], evaluate(first[0].arm, first[0].seed))
    second = study.ask(1000)
    assert len({pull.arm for pull in second}) == 2
    assert study.status().phase == 1


def test_a_round_may_be_asked_for_across_its_end_only_when_it_is_over() -> None:
    study = make(policy="top-two", batch=4, budget=30)
    first = study.ask(1000)
    assert len(first) == 15
    study.tell_many(first, [evaluate(pull.arm, pull.seed) for pull in first])
    assert len(study.ask(1000)) == 4


def test_a_study_is_finished_by_its_iterator() -> None:
    study = make()
    seen = []
    for pull in study.pulls():
        seen.append(pull.pull)
        study.tell(pull, evaluate(pull.arm, pull.seed))
    assert seen == list(range(1, len(seen) + 1))
    assert study.status().finished
    assert study.ask() == []
    assert list(study.pulls()) == []


def test_the_iterator_waits_for_what_others_hold() -> None:
    study = make(budget=12, policy="uniform")
    held = study.ask(2)

    def tell_later() -> None:
        for pull in held:
            study.tell(pull, evaluate(pull.arm, pull.seed))

    timer = threading.Timer(0.3, tell_later)
    timer.start()
    mine = [pull for pull in study.pulls(5) if study.tell(pull, evaluate(pull.arm, pull.seed))]
    timer.join()
    assert len(mine) == 10
    assert study.status().told == 12


def frames(study: Study, pulls: list[Pull]) -> Iterator[tuple[str, Any]]:
    rows = [evaluate(pull.arm, pull.seed) for pull in pulls]
    columns = {key: [row[key] for row in rows] for key in ("loss", "risk")}
    yield "list of dicts", rows
    yield "tuple of dicts", tuple(rows)
    yield "dict of lists", columns
    yield "dict of arrays", {key: np.array(column) for key, column in columns.items()}
    yield "pandas", pd.DataFrame(columns)
    yield (
        "pandas in another order",
        pd.DataFrame(columns)[["risk", "loss"]].set_index(pd.Index(range(100, 100 + len(rows)))),
    )
    yield "arrow", pa.table(columns)


def test_many_are_told_in_any_form() -> None:
    wanted: Any = None
    for place in range(7):
        study = make()
        first = study.ask(1000)
        name, rows = list(frames(study, first))[place]
        assert study.tell_many(first, rows) == ["told"] * len(first), name
        assert study.tell_many(first, rows) == ["already-told"] * len(first), name
        found = study.observations()
        wanted = wanted or found
        assert found == wanted, name
    assert len(wanted["loss"]) == len(first)
    assert make().tell_many([], []) == []


def test_telling_twice_is_no_more_than_once(scene: Scene) -> None:
    before = state_of(scene.study)
    assert scene.study.tell(scene.told, {"loss": 0.1, "risk": 0.2}) == "already-told"
    assert state_of(scene.study) == before


def test_observations_are_in_the_order_of_pulls() -> None:
    study = make(metrics=["seconds"])
    first = study.ask(6)
    for pull in reversed(first):
        study.tell(pull, {**evaluate(pull.arm, pull.seed), "seconds": float(pull.pull)})
    found = study.observations()
    assert list(found) == ["pull", "arm", "seed", "loss", "risk", "seconds"]
    assert found["pull"] == [1, 2, 3, 4, 5, 6]
    assert found["arm"] == [pull.arm for pull in first]
    assert found["seed"] == [pull.seed for pull in first]
    assert found["seconds"] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_a_lease_may_be_kept(scene: Scene) -> None:
    clock = Clock()
    study = make(clock=clock, lease_seconds=10.0)
    pull = study.ask()[0]
    clock.now += 9.0
    assert study.extend(pull) == clock.now + 10.0
    clock.now += 9.0
    assert study.ask()[0].pull == 2, "it still holds"
    clock.now += 1.0
    assert study.ask()[0].pull == 1, "it has run out"
    with pytest.raises(LeaseError):
        study.tell(pull, GOOD)


def test_a_pull_whose_leases_all_ran_out_has_failed() -> None:
    clock = Clock()
    study = make(clock=clock, lease_seconds=10.0, max_leases=3)
    for lease in (1, 2, 3):
        pull = study.ask()[0]
        assert (pull.pull, pull.lease) == (1, lease)
        clock.now += 10.0
    second = study.ask()[0]
    assert second.pull == 2
    assert (study.status().failed, study.status().issued) == (1, 1)
    study.tell(second, GOOD)
    with pytest.raises(LeaseError, match="pull 1 of study 's' is failed"):
        study.tell(pull, GOOD)
    with study.desk.storage.reading("s") as ledger:
        lost = ledger.pulls([1])[0]
    assert lost.charged
    assert lost.error is not None
    assert "3 leases ran out without an answer" in lost.error
    unharmed = finish(make("unharmed")).recommend()
    assert finish(study).recommend().pulls_used == unharmed.pulls_used


def test_leases_that_were_given_back_or_failed_did_not_run_out() -> None:
    clock = Clock()
    study = make(clock=clock, lease_seconds=10.0, max_leases=3, retries=2)
    for _ in range(2):
        study.fail(study.ask()[0], "no")
    clock.now += 10.0
    for lease in (3, 4, 5):
        pull = study.ask()[0]
        assert (pull.pull, pull.lease) == (1, lease), "two failures, and then three leases"
        clock.now += 10.0
    assert study.ask()[0].pull == 2
    other = make("t", clock=clock, max_leases=2)
    for ran_out in (0, 1):
        for _ in range(5):
            pull = other.ask()[0]
            assert pull.pull == 1
            other.desk.release(pull.pull, pull.lease)
        assert other.ask()[0].pull == 1, f"{ran_out} ran out"
        clock.now += 601.0
    assert other.ask()[0].pull == 2, "two did run out"


def test_leases_of_workers_that_are_gone_can_be_ended() -> None:
    clock = Clock()
    study = make(clock=clock, lease_seconds=600.0)
    gone = study.ask(3)
    study.tell(gone[0], GOOD)
    assert study.take_back() == 2
    assert study.take_back() == 0, "nobody holds them now"
    again = study.ask(3)
    assert [(pull.pull, pull.lease) for pull in again] == [(2, 2), (3, 2), (4, 1)]
    assert [pull.seed for pull in again[:2]] == [pull.seed for pull in gone[1:]]
    with pytest.raises(LeaseError, match="issued again"):
        study.tell(gone[1], GOOD)  # it was not gone after all
    assert study.tell(again[0], GOOD) == "told"


def test_who_waits_for_others_hears_of_it() -> None:
    study = make(lease_seconds=2.0)
    held = study.ask(1000)
    heard: list[tuple[int, float]] = []
    study.optimize(lambda arm, seed: GOOD, most=1, waits=lambda *one: heard.append(one))
    assert heard[0] == (len(held), held[0].deadline)


def test_a_pull_that_may_have_killed_is_issued_alone() -> None:
    clock = Clock()
    study = make(clock=clock, lease_seconds=10.0, max_leases=4)
    assert [pull.pull for pull in study.ask(3)] == [1, 2, 3]
    clock.now += 10.0
    assert [pull.pull for pull in study.ask(4)] == [1, 2, 3, 4], "once may be chance"
    clock.now += 10.0
    assert [pull.pull for pull in study.ask(4)] == [1]
    assert [pull.pull for pull in study.ask(4)] == [2]
    assert [pull.pull for pull in study.ask(4)] == [3]
    assert [pull.pull for pull in study.ask(2)] == [4, 5]


def test_an_arm_that_nobody_survives_is_withdrawn_and_the_study_goes_on() -> None:
    """Whoever evaluates it dies with all that it holds, five pulls at a time."""
    clock = Clock()
    study = make(clock=clock, policy="top-two", lease_seconds=10.0, max_leases=4, max_failures=2)
    deaths = 0
    while pulls := study.ask(5):
        for pull in pulls:
            if pull.arm == "one":
                deaths += 1
                clock.now += 10.0
                break
            study.tell(pull, evaluate(pull.arm, pull.seed))
        assert deaths < 100
    assert study.status().finished
    assert study.explain("one")[0].left == Rejection(0, Cause.FAILING, failures=2)
    with study.desk.storage.reading("s") as ledger:
        failed = [pull for pull in ledger.pulls_between(1, 100) if pull.state == State.FAILED]
    assert {ARMS[pull.arm] for pull in failed} == {"one"}, "nobody fails in company"
    assert study.doctor().is_sound


# --------------------------------------------------------------------------------------
# Seeds
# --------------------------------------------------------------------------------------


def seeds_of(study: Study) -> dict[tuple[str, int], int]:
    """Return the seed of every pull by its arm and its ordinal within the arm."""
    counts: Counter[str] = Counter()
    found = {}
    for pull in study.pulls(3):
        study.tell(pull, evaluate(pull.arm, pull.seed))
        found[pull.arm, counts[pull.arm]] = pull.seed
        counts[pull.arm] += 1
    return found


def test_a_seed_depends_on_the_studys_seed_the_arm_and_the_ordinal_alone() -> None:
    first = seeds_of(make())
    others = [
        seeds_of(make("t", policy="top-two", batch=3, budget=90)),
        seeds_of(make("u", policy="sequential-halving", constraints="mean(risk) <= 0.1")),
        seeds_of(make("v", policy="uniform", budget=40)),
    ]
    for other in others:
        common = first.keys() & other.keys()
        assert len(common) >= 30
        assert {key: first[key] for key in common} == {key: other[key] for key in common}
    assert len(set(first.values())) == len(first)
    assert all(0 <= seed < 2**31 for seed in first.values())
    assert not set(first.values()) & set(seeds_of(make(seed=2)).values())


def test_a_pull_that_is_issued_again_has_the_same_seed() -> None:
    clock = Clock()
    study = make(clock=clock, lease_seconds=10.0, retries=1)
    pull = study.ask()[0]
    clock.now += 10.0
    again = study.ask()[0]
    assert (again.pull, again.arm, again.seed) == (pull.pull, pull.arm, pull.seed)
    assert again.lease == 2
    assert study.fail(again, "first") == "retry", "a lease that ran out was no failure"
    third = study.ask()[0]
    assert (third.pull, third.seed, third.lease) == (pull.pull, pull.seed, 3)
    assert study.fail(third, "second") == "failed", "one retry"
    assert study.ask()[0].pull == 2


# --------------------------------------------------------------------------------------
# Budgets
# --------------------------------------------------------------------------------------


def test_a_finished_phase_study_is_not_raised() -> None:
    study = finish(make())
    before = state_of(study)
    with pytest.raises(InputError, match=r"study 's' is finished: constrained-sr .*Begin a new"):
        study.raise_budget(100)
    assert state_of(study) == before


@pytest.mark.parametrize("policy", ["constrained-sr", "top-two"])
def test_the_budget_that_a_study_has_changes_nothing(policy: str) -> None:
    study = make(policy=policy)
    study.raise_budget(60)
    study.optimize(evaluate)
    before = study.version()
    study.raise_budget(60)
    assert study.version() == before
    assert study.status().finished


def test_a_finished_adaptive_study_goes_on_when_it_is_raised() -> None:
    study = finish(make(policy="top-two", budget=40))
    assert study.status().told == 40
    study.raise_budget(50)
    assert not study.status().finished
    assert finish(study).status().told == 50
    assert study.doctor().is_sound


@pytest.mark.parametrize("policy", ["constrained-sr", "sequential-halving"])
def test_a_phase_study_takes_a_raised_budget_up_from_its_phase_on(policy: str) -> None:
    plain = finish(make(policy=policy, budget=120))
    study = make(policy=policy, budget=60)
    first = study.ask(1000)
    study.raise_budget(120)
    study.tell_many(first, [evaluate(pull.arm, pull.seed) for pull in first])
    finish(study)
    assert study.doctor().is_sound
    (best,) = study.recommend().answer
    longest = {arm.name: arm.pulls for arm in plain.explain()}[best]
    assert {arm.name: arm.pulls for arm in study.explain()}[best] == longest
    assert study.recommend().pulls_used <= 120


@pytest.mark.parametrize("policy", ["uniform", "constrained-sr", "sequential-halving"])
def test_a_budget_raised_in_the_last_phase_is_not_ignored(policy: str) -> None:
    """It is either refused, with nothing changed, or it is spent."""
    study = make(policy=policy, budget=60, arms=ARMS[:2])
    while True:
        held = study.ask(1000)
        last = study.view().head.round_end >= 55
        if last:
            break
        study.tell_many(held, [evaluate(pull.arm, pull.seed) for pull in held])
    try:
        study.raise_budget(120)
    except InputError:
        assert study.status().budget == 60
        return
    study.tell_many(held, [evaluate(pull.arm, pull.seed) for pull in held])
    finish(study)
    assert study.recommend().pulls_used > 60


def test_a_phase_that_pulls_nothing_still_rejects() -> None:
    """Four arms and eleven pulls have 2, 2 and 3 pulls of each by the end of each phase."""
    names = ["one", "two", "three", "four"]
    study = make(arms=names, budget=11)
    for pull in study.pulls(4):
        study.tell(pull, evaluate(pull.arm if pull.arm != "four" else "one", pull.seed))
    assert study.status().alive == (study.recommend().arm,)
    assert sorted(arm.pulls for arm in study.explain()) == [2, 2, 3, 3]


# --------------------------------------------------------------------------------------
# What was observed before
# --------------------------------------------------------------------------------------


def test_what_is_brought_along_is_labelled_uncharged_and_seen_from_the_next_round() -> None:
    study = make()
    rows = {"arm": ["one", "three", "one"], "loss": [1.0, 2.0, 3.0], "risk": [0.1, 0.2, 0.3]}
    assert study.bring(rows, arm="arm", label="last year") == 3
    first = study.ask(1000)
    study.tell_many(first[1:], [evaluate(pull.arm, pull.seed) for pull in first[1:]])
    frame = pd.DataFrame({"which": ["two"], "loss": [9.0], "risk": [9.0], "else": ["x"]})
    assert study.bring(frame, arm="which", label="a pilot") == 1
    assert study.status().told == len(first) - 1
    study.tell(first[0], evaluate(first[0].arm, first[0].seed))
    second = study.ask(1000)
    study.bring(rows, arm="arm", label="too late for this round")
    each = len(first) // 3
    assert study.rounds()[1].seen["counts"] == [each + 2, each + 1, each + 1]
    assert study.rounds()[1].seen["spent"] == len(first)
    study.tell_many(second, [evaluate(pull.arm, pull.seed) for pull in second])
    finish(study)
    counts = study.rounds()[2].seen["counts"]
    assert sum(counts) == len(first) + len(second) + 7
    verdict = study.recommend()
    assert verdict.brought == 7
    assert verdict.pulls_used == study.status().told == len(first) + len(second)
    assert len(study.observations()["pull"]) == verdict.pulls_used
    assert study.doctor().is_sound
    with study.desk.storage.reading("s") as ledger:
        assert [past.label for past in ledger.past()] == [
            *["last year"] * 3,
            "a pilot",
            *["too late for this round"] * 3,
        ]
        assert [past.after for past in ledger.past()] == [-1] * 3 + [0] + [1] * 3


def test_the_same_observations_are_brought_along_once() -> None:
    study = make()
    rows = {"arm": ["one", "three"], "loss": [1.0, 2.0], "risk": [0.1, 0.2]}
    assert study.bring(rows, arm="arm", label="log") == 2
    assert study.bring(rows, arm="arm", label="log") == 0
    with pytest.raises(InputError, match="label = 'log' has brought 2 other observations along"):
        study.bring({**rows, "loss": [1.0, 2.5]}, arm="arm", label="log")
    assert study.bring(rows, arm="arm", label="another log") == 2
    finish(study)
    assert study.recommend().brought == 4
    before = state_of(study)
    assert study.bring(rows, arm="arm", label="log") == 0, "a script may be run again"
    with pytest.raises(InputError, match="study 's' is finished: what is brought along now"):
        study.bring(rows, arm="arm", label="late")
    assert state_of(study) == before


def test_what_was_brought_along_is_judged_without_a_pull() -> None:
    study = make(policy="uniform")
    rows = {"arm": ["one", "three"] * 5, "loss": [1.0, 0.5] * 5, "risk": [0.1, 0.2] * 5}
    study.bring(rows, arm="arm", label="log")
    verdict = study.recommend()
    assert (verdict.arm, verdict.feasible, verdict.pulls_used) == ("three", True, 0)


# --------------------------------------------------------------------------------------
# Running
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("policy", "batch"), [("constrained-sr", 1), ("top-two", 3)])
def test_any_workers_give_the_same_verdict(policy: str, batch: int) -> None:
    wanted = make(policy=policy, batch=batch).optimize(evaluate)
    assert wanted is not None
    assert wanted.arm == "three"
    assert make(policy=policy, batch=batch).optimize(evaluate, workers=3) == wanted
    assert finish(make(policy=policy, batch=batch)).recommend() == wanted


def test_processes_give_the_same_verdict() -> None:
    wanted = make().optimize(evaluate)
    with ProcessPoolExecutor(2) as executor:
        found = make().optimize(evaluate, workers=4, executor=executor)
    assert found == wanted


def test_a_part_of_a_study_may_be_run() -> None:
    study = make()
    study.optimize(evaluate, most=1)
    assert study.status().told == 1
    assert study.optimize(evaluate, most=9, workers=4) is not None
    assert study.status().told == 10
    assert study.status().issued == 0
    assert study.optimize(evaluate, most=0) is not None
    assert study.status().told == 10
    assert study.optimize(evaluate) == make().optimize(evaluate)


def test_an_evaluation_that_fails_now_and_then_is_tried_again_with_its_seed() -> None:
    seen: Counter[tuple[str, int]] = Counter()

    def stumbling(arm: str, seed: int) -> dict[str, float]:
        seen[arm, seed] += 1
        if seed % 3 == 0 and seen[arm, seed] == 1:
            raise RuntimeError("not today")
        return evaluate(arm, seed)

    became: Counter[str] = Counter()
    study = make(retries=1)
    found = study.optimize(stumbling, told=lambda pull, how: became.update([how]))
    assert found == make(retries=1).optimize(evaluate)
    assert became["retry"] == sum(times == 2 for times in seen.values()) > 3
    assert study.status().failed == 0


def _returns(what: Any) -> Callable[[str, int], Any]:
    return lambda arm, seed: what if arm == "two" else evaluate(arm, seed)


def _raises(arm: str, seed: int) -> Mapping[str, float]:
    if arm == "two":
        raise ValueError("bad arm")
    return evaluate(arm, seed)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        pytest.param(_raises, "ValueError: bad arm", id="raises"),
        pytest.param(_returns({**GOOD, "risk": float("nan")}), "'risk' = nan must", id="NaN"),
        pytest.param(_returns({**GOOD, "risk": 10**400}), "'risk' = 1000", id="a huge number"),
    ],
)
@pytest.mark.parametrize("policy", ["constrained-sr", "top-two"])
def test_an_arm_that_cannot_be_evaluated_is_withdrawn(
    function: Callable[[str, int], Any], said: str, policy: str
) -> None:
    study = make(policy=policy, budget=80)
    verdict = study.optimize(function)
    assert verdict is not None
    assert verdict.arm == "three"
    two = study.explain("two")[0]
    assert (two.status, two.left) == ("withdrawn", Rejection(1, Cause.FAILING, failures=3))
    assert two.pulls == 0
    assert two.estimates == {}
    assert two.error is not None
    assert said in two.error
    assert f"(the last error: {two.error})" in reason(two, verdict)
    assert all(arm.error is None for arm in verdict.arms if arm.name != "two")
    assert escape(two.error) in study.record()
    with study.desk.storage.reading("s") as ledger:
        pulls = ledger.pulls_between(1, ledger.head.issued)
    failed = [pull for pull in pulls if pull.state == State.FAILED]
    assert len(failed) == 3
    assert all(said in (pull.error or "") for pull in failed)
    assert verdict.pulls_used == study.status().told + 3
    assert all(pull.arm == 1 for pull in pulls if pull.state == State.CANCELLED)
    assert study.doctor().is_sound
    assert "two" not in study.status().alive


def test_failures_break_an_arm_only_in_a_row_whoever_is_quicker() -> None:
    """By their ordinals, in whatever order they are heard of: a success between them settles it."""
    rng = np.random.default_rng(4)
    broke = 0
    for _ in range(80):
        study = make(policy="uniform", budget=30)
        mine = [pull for pull in study.ask(1000) if pull.arm == "one"]
        fails = rng.random(len(mine)) < 0.5
        for place in rng.permutation(len(mine)):
            if fails[place]:
                study.fail(mine[place], "no")
            else:
                study.tell(mine[place], GOOD)
        in_a_row = any(fails[first : first + 3].all() for first in range(len(mine) - 2))
        assert study.view().head.broken == ((0,) if in_a_row else ())
        assert study.doctor().is_sound
        broke += in_a_row
    assert 20 <= broke <= 60


def test_an_arm_of_which_too_little_was_seen_is_withdrawn() -> None:
    """From one pull no noise can be told, however few were failures in a row."""
    study = make(policy="constrained-sr", budget=30, max_failures=30)
    for pull in study.pulls():
        if pull.arm == "three" and pull.pull > 3:
            study.fail(pull, "no")
        else:
            study.tell(pull, evaluate(pull.arm, pull.seed))
    three = study.explain("three")[0]
    assert (three.left, three.pulls) == (Rejection(2, Cause.UNSEEN, successes=1), 1)
    assert three.error == "no"
    assert three.phase == 1
    assert study.recommend().arm == "one"
    assert study.doctor().is_sound


def test_an_uncharged_failure_costs_nothing() -> None:
    study = make(policy="top-two", budget=30)
    skipped = study.ask()[0]
    assert study.fail(skipped, "my mistake", charge=False) == "failed"
    finish(study)
    assert study.status().told == 30
    assert study.recommend().pulls_used == 30
    assert study.doctor().is_sound
    charged = make(policy="top-two", budget=30)
    assert charged.fail(charged.ask()[0], "no") == "failed"
    assert finish(charged).status().told == 29


def test_the_same_failure_said_again_changes_nothing() -> None:
    study = make(retries=1)
    pull = study.ask()[0]
    assert study.fail(pull, "no luck") == "retry"
    assert study.fail(pull, "no luck") == "already-failed"
    again = study.ask()[0]
    assert (again.pull, again.lease) == (pull.pull, pull.lease + 1)
    assert study.fail(pull, "no luck") == "already-failed", "while another tries it"
    for other in (pull.lease, "worse"), (again.lease + 1, "no luck"):
        with pytest.raises(LeaseError):
            study.fail(pull.pull, other[1], lease=other[0])
    assert study.fail(again, "no luck") == "failed"
    before = study.version()
    assert study.fail(again, "no luck") == "already-failed"
    for how in ({"charge": False}, {"error": "worse"}, {"lease": pull.lease}):
        with pytest.raises(LeaseError, match="is failed: nothing more can be said"):
            study.fail(again, **{"error": "no luck"} | how)
    with pytest.raises(InputError, match="never issued"):
        study.fail(999, "no luck", lease=1)
    assert study.version() == before
    assert study.status().failed == 1
    assert study.doctor().is_sound


def test_a_failure_need_not_be_tried_again() -> None:
    study = make(retries=5)
    assert study.fail(study.ask()[0], "hopeless", retry=False) == "failed"


@pytest.mark.parametrize("policy", ["constrained-sr", "top-two", "uniform"])
def test_a_study_without_arms_left_stops_with_an_error(policy: str) -> None:
    study = make(policy=policy)
    for pull in study.pulls():
        study.fail(pull, "429")
    assert study.status().finished
    assert study.status().alive == ()
    assert study.status().failed == 9
    assert study.doctor().is_sound
    with pytest.raises(NoAnswerError, match="no arm") as seen:
        study.recommend()
    for word in (
        f"one {departure(Rejection(0, Cause.FAILING, failures=3))} (the last error: 429)",
        "Fix the evaluations", "(ringfence revive s ARM --storage URL, or",
        "begin a study of another name", "--delete s).",
    ):  # fmt: skip
        assert word in str(seen.value)
    assert "Study.bring" not in str(seen.value), "nothing was told that could be taken along"


def test_a_budget_that_was_spent_too_early_is_to_be_raised() -> None:
    study = Study.create(
        "t", arms=ARMS, objective="maximize x", budget="0.01 USD", price="cost",
        storage="memory://", seed=1,
    )  # fmt: skip
    with pytest.raises(NoAnswerError, match=r"the budget was spent too early\. Raise it") as seen:
        study.optimize(lambda arm, seed: {"x": seed % 7, "cost": 0.004})
    assert "Fix the evaluations" not in str(seen.value)
    study.raise_budget("1 USD")
    for arm in ARMS:
        study.revive(arm)
    assert study.optimize(lambda arm, seed: {"x": seed % 7, "cost": 0.004}) is not None
    assert study.doctor().is_sound


def test_arms_that_all_break_late_are_judged_by_what_was_told() -> None:
    study = make(policy="top-two", budget=60)
    warm = study.ask(1000)
    study.tell_many(warm, [evaluate(pull.arm, pull.seed) for pull in warm])
    before = study.recommend()
    while pulls := study.ask(1):
        study.fail(pulls[0], "429")
    assert (study.status().finished, study.status().alive) == (True, ())
    verdict = study.recommend()
    assert (verdict.arm, verdict.verdict) == (before.arm, before.verdict)
    assert [arm.left for arm in verdict.arms] == [
        Rejection(arm, Cause.FAILING, failures=3) for arm in range(3)
    ]
    assert all(arm.kind is not None for arm in verdict.arms)
    moved = study.what_if(0, 10.0)
    assert moved.feasible
    assert study.status().arm == verdict.arm
    assert study.doctor().is_sound


def test_told_pulls_of_a_broken_arm_are_within_the_budget_of_the_audit() -> None:
    """They were evaluated by others before anybody knew, and are not charged."""
    study = make(policy="top-two", budget=60, max_failures=2)
    failures = 0
    for pull in study.ask(30):
        if pull.arm == "one" and failures < 2:
            failures += 1
            study.fail(pull, "no")
        else:
            study.tell(pull, evaluate(pull.arm, pull.seed))
    finish(study)
    assert study.recommend().pulls_used == 60
    assert study.doctor().problems == ()


def test_an_interrupt_gives_the_leases_back() -> None:
    clock = Clock()
    study = make(clock=clock)

    all_began = threading.Barrier(4)

    def stop(arm: str, seed: int) -> dict[str, float]:
        all_began.wait(20.0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.optimize(stop, workers=4)
    assert (study.status().told, study.status().issued) == (0, 4)
    again = study.ask(4)
    assert [pull.pull for pull in again] == [1, 2, 3, 4], "at once, without waiting for leases"
    assert [pull.lease for pull in again] == [2, 2, 2, 2]
    clock.now += 601.0
    assert study.optimize(evaluate) == make().optimize(evaluate)


@pytest.mark.parametrize("fails", [False, True])
def test_work_goes_on_when_another_was_quicker_with_other_values(fails: bool) -> None:
    """A machine that slept comes back to a pull that was issued again, and told."""
    clock = Clock()
    storage = MemoryStorage()
    study = make(clock=clock, lease_seconds=10.0, storage=storage)
    other = Study.load("s", storage=storage, clock=clock)
    became: list[str] = []

    def asleep(arm: str, seed: int) -> dict[str, float]:
        if not became:
            clock.now += 11.0
            again = other.ask()[0]
            assert again.seed == seed
            other.tell(again, GOOD)
            if fails:
                raise RuntimeError("a nightmare")
        return evaluate(arm, seed)

    found = study.optimize(asleep, told=lambda pull, how: became.append(how))
    assert found is not None
    assert found.finished
    assert became[0] == "late"
    assert study.observations()["loss"][0] == 0.5
    assert study.doctor().is_sound


def test_a_view_does_not_count_twice_what_another_thread_is_adding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqlStorage(f"sqlite:///{tmp_path / 's.db'}")) as storage:
        study = make(storage=storage)
        first = study.ask(1000)
        study.tell_many(first, [evaluate(pull.arm, pull.seed) for pull in first])
        plain, main = Book.add, threading.current_thread()
        seen: list[Any] = []

        def add(self: Book, *added: Any) -> None:
            plain(self, *added)
            if threading.current_thread() is main and not seen:
                seen.append(0)
                looking = threading.Thread(target=lambda: seen.append(study.view()))
                looking.start()
                looking.join()

        monkeypatch.setattr(Book, "add", add)
        study.ask()
        view = seen[1]
        assert view.book.counts.sum() == view.told == len(first)


# --------------------------------------------------------------------------------------
# Without blocking
# --------------------------------------------------------------------------------------


async def evaluate_async(arm: str, seed: int) -> dict[str, float]:
    await asyncio.sleep(0.0005 * (seed % 3))
    return evaluate(arm, seed)


def test_coroutines_give_the_same_verdict() -> None:
    wanted = make().optimize(evaluate)
    assert asyncio.run(make().optimize_async(evaluate_async, workers=4)) == wanted


def test_coroutines_may_ask_and_tell() -> None:
    async def work(study: Study) -> None:
        pull = (await study.ask_async(1))[0]
        assert await study.fail_async(pull, "no") == "failed"
        two = await study.ask_async(2)
        assert await study.tell_async(two[0], GOOD) == "told"
        assert await study.tell_async(two[0], GOOD) == "already-told"
        await study.tell_async(two[1], GOOD)
        async for one in study.pulls_async(3):
            await study.tell_async(one, evaluate(one.arm, one.seed))

    study = make()
    asyncio.run(work(study))
    assert study.status().finished
    assert study.status().failed == 1
    assert study.doctor().is_sound


def test_a_coroutine_that_fails_is_a_failure() -> None:
    async def bad(arm: str, seed: int) -> Any:
        if arm == "two":
            raise RuntimeError("no")
        return evaluate(arm, seed)

    study = make()
    verdict = asyncio.run(study.optimize_async(bad, workers=2))
    assert verdict.arm == "three"
    assert study.explain("two")[0].status == "withdrawn"
    assert study.doctor().is_sound


def test_coroutines_that_take_longer_than_their_lease_do_not_end_the_study() -> None:
    async def slow(arm: str, seed: int) -> dict[str, float]:
        await asyncio.sleep(0.1)
        return evaluate(arm, seed)

    study = make(lease_seconds=0.04, budget=12, policy="uniform")

    async def within() -> Any:
        return await asyncio.wait_for(study.optimize_async(slow, workers=4), timeout=20)

    assert asyncio.run(within()).finished
    assert study.doctor().is_sound


def test_hostile_names_are_only_names(tmp_path: Path) -> None:
    names = ["'; DROP TABLE pulls; --", "{seed}", "<script>alert(1)</script>"]
    with closing(SqlStorage(f"sqlite:///{tmp_path / 's.db'}")) as storage:
        study = make(storage=storage, arms=names, metrics=["'); --"])
        verdict = study.optimize(
            lambda arm, seed: {**evaluate(ARMS[names.index(arm)], seed), "'); --": 0.0}
        )
        assert verdict is not None
        assert verdict.arm == names[2]
        assert study.doctor().is_sound
        assert set(study.observations()["arm"]) == set(names)
