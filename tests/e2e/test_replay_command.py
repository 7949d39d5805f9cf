"""`ringfence replay`: a table in, the truth of the table first, then who finds it."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.e2e.command_line import ROOT, Outcome, process, ringfence
from tests.unit.test_replay import KEYS, columns, open_bandit

QUESTION = (
    "--arm", "variant", "--objective", "maximize mean(score)",
    "--constraint", "mean(latency) <= 200",
)  # fmt: skip
QUICK = ("--budgets", "30,120", "--policies", "top-two,uniform", "--replications", 200)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    pd.DataFrame(columns()).to_csv(path, index=False)
    return path


def refused(done: Outcome, *words: str) -> None:
    assert done.code == 2
    assert done.out == ""
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err, done.err


def test_people_see_the_truth_first_and_the_sentence_last(table: Path) -> None:
    done = ringfence("replay", table, *QUESTION, *QUICK)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].startswith("truth of the table: fine is the best feasible arm (mean(score) = ")
    assert "% sure, by the noise of its 600 rows" in lines[1]
    assert "as if independent" in lines[2]
    assert done.out.index("Truth of the table") < done.out.index("Against the truth of the table")
    assert "deceiver" in done.out
    assert "uniform needs" in done.out
    assert "is right 95% of the time with" in lines[-1]


def test_the_document_is_strict_and_the_same_for_a_seed(table: Path) -> None:
    documents = [
        ringfence("replay", table, *QUESTION, *QUICK, "--json", "--seed", 4).document
        for _ in range(2)
    ]
    assert set(documents[0]) == KEYS
    assert documents[0]["table"] == "log.csv"
    assert {row["policy"] for row in documents[0]["rows"]} == {"top-two", "uniform"}
    other = ringfence("replay", table, *QUESTION, *QUICK, "--json", "--seed", 5).document
    for document in (*documents, other):
        del document["seconds"]
    assert documents[0] == documents[1]
    assert other["rows"] != documents[0]["rows"]


def test_several_limits_and_a_figure(table: Path, tmp_path: Path) -> None:
    figure = tmp_path / "right.svg"
    done = ringfence(
        "replay", table, *QUESTION, "--constraint", "p90(latency) <= 290",
        "--budgets", "30,120", "--policies", "uniform", "--replications", 200,
        "--figure", figure, "--batch", 4, "--scales", "known",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert f"figure: {figure}" in done.out.replace("\n", "")
    assert "p90(latency)" in done.out
    assert "truth of the table" in figure.read_text("utf-8")


def test_what_cannot_answer_is_refused_with_reasons_and_shown_by_force(tmp_path: Path) -> None:
    path = tmp_path / "bandit.parquet"
    pd.DataFrame(open_bandit()).to_parquet(path)
    question = (
        "replay", path, "--arm", "item", "--objective", "maximize mean(click)",
        "--constraint", "mean(position) <= 2.5",
    )  # fmt: skip
    refused(
        ringfence(*question),
        "'bandit.parquet' cannot answer this question:",
        "mean(click) never varies in",
        "the table itself cannot say who is right",
        "Log more rows",
        "--force",
    )
    shown = ringfence(
        *question, "--force", "--budgets", 400, "--policies", "uniform", "--replications", 20
    )
    assert shown.code == 0, shown.err
    assert shown.out.startswith("FORCED: this table cannot answer the question.")
    assert "WARNING: mean(click) never varies" in shown.out
    assert "40 more arms are in --json" in shown.out


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (("--budgets", "many"), ["budgets holds 'many'", "--budgets 100,200,400"]),
        (("--policies", "best"), ["policy = 'best' must be one of"]),
        (("--figure", "out.gif"), ["figure = 'out.gif' must end in"]),
        (("--objective", "maximize mean(scores)"), ["no column 'scores'", "Did you mean 'score'?"]),
        (("--arm", "varient"), ["no column 'varient'", "Did you mean 'variant'?"]),
    ],
)
def test_bad_input_is_named(table: Path, changes: Any, words: list[str]) -> None:
    refused(ringfence("replay", table, *QUESTION, *changes), *words)


def test_names_are_text_and_not_markup(tmp_path: Path) -> None:
    table: dict[str, Any] = columns(60)
    renamed = {
        "[bold]arm[/]": [f"[red]{name}[/red]" for name in table["variant"]],
        "score": table["score"],
        "[link=x]ms": (np.array(table["latency"])).tolist(),
    }
    path = tmp_path / "log [odd] name.csv"
    pd.DataFrame(renamed).to_csv(path, index=False)
    done = ringfence(
        "replay", path, "--arm", "[bold]arm[/]", "--objective", "maximize mean(score)",
        "--constraint", "mean('[link=x]ms') <= 200", "--budgets", 40, "--policies", "uniform",
        "--replications", 20, "--force",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "[red]fine[/red]" in done.out
    assert "mean('[link=x]ms')" in done.out


def test_progress_goes_to_standard_error(table: Path) -> None:
    import sys

    command = Path(sys.executable).with_name("ringfence")
    done = process(command, "replay", table, *QUESTION, *QUICK, "--json", folder=ROOT)
    assert done.code == 0
    assert done.document["truth"]["arm"] == "fine"


def test_the_arm_column_is_no_metric(table: Path) -> None:
    asked = ("--objective", "maximize mean(score)", "--constraint", "mean(latency) <= 200")
    refused(
        ringfence("replay", table, "--arm", "score", *asked),
        "arm = 'score'", "must name another column than the metrics",
    )  # fmt: skip


def test_names_do_not_command_the_terminal(tmp_path: Path) -> None:
    path, rows = tmp_path / "log.csv", columns()
    rows["variant"] = [f"\x1b[31m{name}" for name in rows["variant"]]
    pd.DataFrame(rows).to_csv(path, index=False)
    done = ringfence("replay", path, *QUESTION, *QUICK)
    assert done.code == 0, done.err
    assert "\x1b" not in done.out
    assert r"\x1b[31mfine is the best feasible arm" in done.out


ITEMS = ("--item", "task", "--budgets", "60,400", "--policies", "uniform", "--replications", 100)


@pytest.fixture
def items(tmp_path: Path) -> Path:
    path = tmp_path / "items.csv"
    frame = pd.DataFrame(columns(100))
    frame["task"] = [f"t{k}" for k in range(100)] * 3
    frame.to_csv(path, index=False)
    return path


def test_arms_that_were_tried_on_the_same_items_are_compared_on_them(items: Path) -> None:
    done = ringfence("replay", items, *QUESTION, *ITEMS)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert "by 100 items (task), which each of 3 arms has" in lines[1]
    assert "no item is repeated" in lines[2]
    assert "independent" not in done.out
    assert "95% intervals" not in done.out
    document = ringfence("replay", items, *QUESTION, *ITEMS, "--json").document
    assert (document["item"], document["items"]) == ("task", 100)
    assert document["truth"]["confidence"] == 1.0
    seen_all = document["rows"][-1]
    assert seen_all["right_rate"] == 1.0
    assert sum(seen_all["mean_pulls"].values()) == 300


def test_a_table_without_an_item_of_an_arm_is_refused(items: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(items)
    frame.drop(index=105).to_csv(tmp_path / "holes.csv", index=False)
    done = ringfence("replay", tmp_path / "holes.csv", *QUESTION, *ITEMS)
    refused(done, "arm 'fine'", "no row of item 't5'", "(task)")
