"""The verdict's table: it fits its terminal, what it leaves out is said, numbers are never cut."""

from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len

import ringfence as rf
from ringfence.core.hardness import Kind
from ringfence.core.problem import Problem
from ringfence.interfaces.cli import output
from ringfence.interfaces.cli.verdicts import show_verdict
from ringfence.reports.arms_table import FEW, MANY, arms_of, brief_chance, layouts, rows_of
from ringfence.study.verdict import Estimate, Verdict
from tests.unit.drawing import make_arm, make_verdict

PROBLEM = Problem.parse(
    "maximize mean(accuracy)", ["p95(latency_ms) <= 200", "mean(cost_usd) <= 0.05"]
)
LIMITS = PROBLEM.constraints
ATTRIBUTES = ("mean(accuracy)", "p95(latency_ms)", "mean(cost_usd)")


def verdict_of(count: int, name: str = "model-{}", **changes: Any) -> Verdict:
    arms = []
    for k in range(count):
        estimates = {attribute: Estimate(123.4 + k, 120.0, 130.0) for attribute in ATTRIBUTES}
        kind: Kind = "optimal" if k == 1 else "feasible-suboptimal"
        arms.append(
            make_arm(
                name.format(k),
                kind,
                -1.0,
                0.0,
                estimates=estimates,
                chance_best=1.0 / count,
                chance_feasible=0.982,
                **changes,
            )
        )
    return make_verdict(arms, problem=PROBLEM)


def printed(
    verdict: Verdict,
    columns: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    whole: bool = False,
) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(columns))
    found = layouts(verdict, LIMITS, arms_of(verdict, every=whole))
    output.show_fitting("10 of 10 pulls", found, whole=whole)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("columns", [80, 100, 120, 200])
@pytest.mark.parametrize("count", [2, 8, 30])
@pytest.mark.parametrize("name", ["model-{}", "模型{}号 μ🙂", "very/long-{}/" + "x" * 90])
def test_the_table_fits_the_terminal(
    columns: int, count: int, name: str, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict = verdict_of(count, name, failed=2)
    lines = printed(verdict, columns, capsys, monkeypatch)
    assert max(map(cell_len, lines)) <= columns
    text = "\n".join(lines)
    for number in ("124.4", "98.2%", "failed", "chance", "feasible", "<= 200", "<= 0.05"):
        assert number in text  # no number is cut, no column that decides is gone
    body = lines[next(place for place, line in enumerate(lines) if "──" in line) + 1 :]
    assert body[0].startswith(verdict.answer[0][:12])  # the answer first
    assert sum("98.2%" in line for line in body) == min(count, FEW if count >= MANY else count)


def test_more_room_shows_more(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    heads = {}
    for columns in (75, 100, 125, 150):
        lines = printed(verdict_of(3), columns, capsys, monkeypatch)
        heads[columns] = "\n".join(lines)
    assert "looks" not in heads[75]
    assert "looks" in heads[100]
    assert "margin" in heads[125]
    assert "124.4 (120 to 130)" not in heads[125]
    assert "124.4 (120 to 130)" in heads[150]


def test_wide_shows_all_whatever_the_room(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(verdict_of(30), 80, capsys, monkeypatch, whole=True)
    text = "\n".join(lines)
    assert text.count("(120 to 130)") == 90
    assert "model-29 looks better" not in text
    assert all(word in text for word in ("margin", "looks", "why"))


def test_too_little_room_leaves_limits_out_and_names_them() -> None:
    found = layouts(verdict_of(2), LIMITS, verdict_of(2).arms)
    assert found[0].left_out == ()
    assert found[-1].left_out == ATTRIBUTES
    assert next(layout.left_out for layout in found if layout.left_out) == ATTRIBUTES[2:]


def test_failures_have_a_column_where_there_are_any() -> None:
    head, rows = rows_of(layouts(verdict_of(2, failed=4), LIMITS, verdict_of(2, failed=4).arms)[0])
    assert head[:3] == ["arm", "chance best", "chance feasible"]
    assert "p95(latency_ms) <= 200" in head
    assert rows[0][head.index("failed")] == "4"
    assert "failed" not in rows_of(layouts(verdict_of(2), LIMITS, verdict_of(2).arms)[0])[0]


def test_two_limits_on_one_attribute_share_its_heading() -> None:
    verdict = make_verdict([make_arm("b", "optimal", -1.0, 1.0)])
    limits = Problem.parse(
        "minimize mean(loss)", ["mean(loss) >= 1", "mean(loss) <= 1.5 * baseline"]
    ).constraints
    head, _ = rows_of(layouts(verdict, limits, verdict.arms)[0])
    assert "mean(loss) >= 1, <= 1.5 * baseline(mean(loss))" in head


def test_an_arm_that_cannot_be_judged_has_no_chances() -> None:
    arms = [make_arm("b", "optimal", -1.0, 1.0), make_arm("a", None, None, 0.0)]
    _, rows = rows_of(layouts(make_verdict(arms), (), arms)[0])
    assert rows[1][1:4] == ["-", "-", "-"]
    assert [brief_chance(one) for one in (1.0, 0.5, 0.0)] == [">99.9%", "50.0%", "<0.1%"]


def test_control_characters_of_names_are_spelt_out(
    capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict = verdict_of(2)
    arms = tuple(replace(arm, name=f"\x1b[31m{arm.name}[red]") for arm in verdict.arms)
    lines = printed(replace(verdict, arms=arms, arm=arms[1].name, apparent=arms[1].name), 100,
                    capsys, monkeypatch)  # fmt: skip
    text = "\n".join(lines)
    assert "\x1b" not in text
    assert r"\x1b[31mmodel-1[red]" in text


def test_what_is_left_out_is_said(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "44")
    study = rf.Study.create(
        "many", arms=[f"arm {k}" for k in range(25)], objective="minimize mean(cost)",
        constraints=["mean(risk) <= 1"], budget=75, policy="uniform", storage="memory://", seed=1,
    )  # fmt: skip
    verdict = study.optimize(
        lambda arm, seed: {"cost": float(arm.split()[1]) + seed % 3, "risk": 0.1 * (seed % 5)}
    )
    assert verdict is not None
    show_verdict(verdict)
    said = capsys.readouterr().out
    assert "Not shown: 13 more arms and mean(risk). With --wide the table has everything." in said
    show_verdict(verdict, wide=True)
    assert "Not shown" not in capsys.readouterr().out
