"""Differences from the answer: as figure data, as a table, as a chart, in the record."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from ringfence.reports.arms_table import rows_of
from ringfence.reports.charts import STUDY_CHARTS, study_chart
from ringfence.reports.differences import (
    compared_arms,
    difference_in_words,
    difference_layouts,
    difference_title,
)
from ringfence.reports.figures.differences import (
    MOST_ROWS,
    difference_rows,
    difference_subtitle,
)
from ringfence.reports.figures.differences import difference_title as headline
from ringfence.reports.notebook import verdict_html
from ringfence.reports.record import record_html
from ringfence.study.verdict import ArmVerdict, Estimate, Verdict
from tests.unit.drawing import HOSTILE, make_arm, make_plan, make_verdict

LOSS, RISK = "mean(loss)", "mean(risk)"


def arm(name: str, kind: Any, *values: float, half: float = 0.5) -> ArmVerdict:
    told = {
        of: Estimate(value, value - half, value + half)
        for of, value in zip((LOSS, RISK), values, strict=False)
    }
    margin = 0.3 if kind == "deceiver" else -1.0
    return make_arm(name, kind, margin, 1.0 + sum(values[:1]), differences=told)


def some(**changes: Any) -> Verdict:
    return make_verdict(
        [
            arm("far", "feasible-suboptimal", 3.0, -1.0),
            arm("best", "optimal"),
            arm("near", "feasible-suboptimal", 0.2, 0.1),
            arm("tempting", "deceiver", -0.9, 0.4),
            make_arm("broken", None, None, 0.0),
        ],
        **changes,
    )


def test_every_attribute_has_its_arms_in_one_order_the_best_first() -> None:
    rows = difference_rows(some())
    assert [(row["attribute"], row["name"], row["place"]) for row in rows] == [
        (LOSS, "tempting", 0), (LOSS, "near", 1), (LOSS, "far", 2),
        (RISK, "tempting", 0), (RISK, "near", 1), (RISK, "far", 2),
    ]  # fmt: skip
    assert rows[2] == {
        "attribute": LOSS, "better": "lower", "name": "far", "place": 2, "value": 3.0, "low": 2.5,
        "high": 3.5, "is_clear": True, "is_better": False,
    }  # fmt: skip
    assert [row["is_clear"] for row in rows] == [True, False, True, False, False, True]
    assert [row["is_better"] for row in rows] == [True, False, False, False, False, True]


def test_where_higher_is_better_so_is_what_exceeds_the_answer() -> None:
    from ringfence.core.problem import Problem

    problem = Problem.parse("maximize mean(loss)", ["mean(risk) >= 1"])
    rows = difference_rows(some(problem=problem))
    assert [row["name"] for row in rows[:3]] == ["far", "near", "tempting"]
    assert {row["better"] for row in rows} == {"higher"}
    assert [row["is_better"] for row in rows[:3]] == [True, True, False]
    assert headline(some(problem=problem)) == (
        "By mean(loss), 1 of 3 arms is clearly worse than best, 1 clearly better"
    )


def test_the_headline_counts_who_is_clearly_apart() -> None:
    verdict = some()
    assert headline(verdict) == (
        "By mean(loss), 1 of 3 arms is clearly worse than best, 1 clearly better"
    )
    far, best, near, tempting, _ = verdict.arms
    assert headline(make_verdict([best, near])) == (
        "By mean(loss), no arm is clearly apart from best"
    )
    assert headline(make_verdict([best])) == "No arm can be compared with the answer yet"
    assert headline(make_verdict([best, tempting, near])) == (
        "By mean(loss), 1 of 2 arms is clearly better than best"
    )
    assert headline(make_verdict([best, far, replace(far, name="off")])) == (
        "By mean(loss), 2 of 2 arms are clearly worse than best"
    )


def test_of_many_arms_twenty_are_drawn_and_the_rest_is_told_of() -> None:
    arms = [arm("best", "optimal")]
    arms += [arm(f"f{k}", "feasible-suboptimal", 1.0 + k) for k in range(49)]
    verdict = make_verdict(arms)
    rows = difference_rows(verdict)
    assert len(rows) == MOST_ROWS
    assert headline(verdict) == "By mean(loss), 49 of 49 arms are clearly worse than best"
    assert difference_subtitle(verdict, rows)[1] == "29 arms not drawn"
    assert len(difference_subtitle(some(), difference_rows(some()))) == 1


def test_the_table_has_signs_and_intervals_and_gives_way() -> None:
    verdict = some()
    arms = compared_arms(verdict)
    assert [one.name for one in arms] == ["near", "far", "tempting"]
    layouts = difference_layouts(verdict, arms)
    head, rows = rows_of(layouts[0])
    assert head == ["arm", LOSS, RISK]
    assert rows[1] == ["far", "+3 (2.5 to 3.5)", "-1 (-1.5 to -0.5)"]
    assert [rows_of(one)[1][1] for one in layouts[1:]] == [["far", "+3", "-1"], ["far", "+3"]]
    assert layouts[-1].left_out == (RISK,)
    assert difference_title(some()) == "Differences from best"
    assert difference_in_words(Estimate(0.0, -1.0, 1.0)) == "+0 (-1 to 1)"


def test_the_chart_says_nothing_that_names_make_of_it() -> None:
    kinds: list[Any] = ["optimal", *["feasible-suboptimal"] * (len(HOSTILE) - 1)]
    arms = [
        arm(name, kind, *([1.0 + k, 0.0] if k else []))
        for k, (name, kind) in enumerate(zip(HOSTILE, kinds, strict=True))
    ]
    verdict, plan = make_verdict(arms), make_plan(HOSTILE)
    spec = study_chart("differences", plan, verdict, []).to_dict()
    assert "differences" in STUDY_CHARTS
    assert [panel["title"]["text"] for panel in spec["concat"]] == [LOSS, RISK]
    told = json.dumps(spec)
    assert all(json.dumps(name) in told for name in HOSTILE[1:])
    fluid = study_chart("differences", plan, verdict, [], fluid=True).to_dict()
    assert fluid["usermeta"]["panels"]["room"] == 184
    assert "usermeta" not in spec
    record = record_html(plan, verdict, [], {})
    assert "<script" not in record
    assert "Differences from &lt;/script&gt;" in record


def test_one_arm_has_no_differences_to_show() -> None:
    lone = make_verdict([make_arm("only", "optimal", -0.3, 1.0)])
    plan = make_plan(["only"])
    assert difference_rows(lone) == []
    assert study_chart("differences", plan, lone, []).to_dict()["concat"]
    assert "Differences" not in record_html(plan, lone, [], {})


@pytest.mark.parametrize(("blocks", "shows"), [(None, False), ({"seeds": True}, True)])
def test_notebooks_show_differences_where_arms_share_something(blocks: Any, *, shows: bool) -> None:
    found = verdict_html(some(blocks=blocks))
    assert bool(re.search("Differences from best", found)) is shows
