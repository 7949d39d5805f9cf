"""What arms did on the items or in the hours that they share: as numbers, in words, in pictures."""

import json
import math
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from ringfence.core.errors import InputError
from ringfence.interfaces.shared_views import contents_at, outcomes_in
from ringfence.interfaces.studies import Study
from ringfence.reports.charts.items import items_chart
from ringfence.reports.charts.study import shared_chart
from ringfence.reports.figures.hours import MOST_LINES, hour_rows, hours_title
from ringfence.reports.figures.items import (
    MOST_ITEMS,
    MOST_ROWS,
    cell_rows,
    items_subtitle,
    matrix_of,
    run_rows,
)
from ringfence.reports.items import contest_in_words, item_name, item_text, rivals, told_of
from ringfence.reports.pictures import inline_svg
from ringfence.study.outcomes import Outcomes, contest_of
from tests.unit.drawing import HOSTILE, make_arm, make_verdict

NONE = math.nan
RIGHT = {"easy": "abc", "fair": "ab", "odd": "c", "hard": ""}  # who answers what


def table(results: Mapping[str, list[float]], sign: float = 1.0) -> Outcomes:
    """Return outcomes of one metric, from each arm's results on the items: lower is better."""
    values = np.array(list(results.values()))
    return Outcomes(
        arms=tuple(results), metrics=("loss",), blocks=np.arange(10, 10 + values.shape[1]),
        values=values[:, :, None], objective=sign * values, sign=sign,
        pulls=(~np.isnan(values)).astype(np.int64),
    )  # fmt: skip


def verdict_on(names: list[str] | tuple[str, ...], **changes: Any) -> Any:
    kinds: list[Any] = ["optimal", *["feasible-suboptimal"] * (len(names) - 1)]
    chances = {"chance_best": 0.1}
    arms = [
        make_arm(name, kind, -1.0, 1.0 + k, **chances)
        for k, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    return make_verdict(arms, **{"blocks": {"items": 99, "scope": "such"}, **changes})


def asked(**changes: Any) -> Study:
    """Return a study of three arms on four questions, of which two arms have seen all."""
    plain: dict[str, Any] = {
        "arms": ["a", "b", "c"], "objective": "maximize mean(right)",
        "constraints": "mean(cost) <= 9", "budget": 12, "policy": "uniform", "seed": 2,
        "storage": "memory://", "blocks": {"items": [{"id": name} for name in RIGHT]},
    }  # fmt: skip
    study = Study.create("s", **plain | changes)
    for pull in study.pulls():
        right = pull.arm in RIGHT[pull.item["id"]]
        study.tell(pull, {"right": right, "cost": 1 + pull.item["id"].count("d")})
    return study


# ------------------------------------------------------------------ numbers


def test_results_are_by_arm_and_item_whatever_the_order_of_the_pulls() -> None:
    study = asked()
    found = outcomes_in(study.desk)
    assert found.blocks.tolist() == [0, 1, 2, 3]
    assert found.pulls.tolist() == [[1] * 4] * 3
    assert found.metrics == ("right", "cost")
    expected = [[arm in who for who in RIGHT.values()] for arm in "abc"]
    assert found.values[:, :, 0].tolist() == expected
    assert found.values[0, :, 1].tolist() == [1 + name.count("d") for name in RIGHT]
    assert (found.objective == -found.values[:, :, 0]).all()
    assert found.written(2, 2) == 1.0
    assert contents_at(study.desk, found, [3, 1]) == {1: {"id": "fair"}, 3: {"id": "hard"}}


def test_repeats_of_an_item_are_one_mean_and_unseen_ones_none() -> None:
    blocks = {"items": 9, "repeats": 2}
    study = Study.create(
        "s", arms=["a", "b"], objective="minimize share(x > 0.5)", constraints="mean(y) <= 9",
        budget=20, policy="uniform", seed=2, storage="memory://", blocks=blocks,
    )  # fmt: skip
    for pull in study.ask(12):
        study.tell(pull, {"x": pull.ordinal % 2 + pull.item / 100, "y": pull.item})
    found = outcomes_in(study.desk)
    whole = found.pulls == 2
    assert whole.any()
    assert found.objective[whole].tolist() == [0.5] * int(whole.sum())
    assert (np.isnan(found.objective) == (found.pulls == 0)).all()
    items = np.broadcast_to(found.blocks.astype(float), found.pulls.shape)
    np.testing.assert_allclose(found.values[whole][:, 1], items[whole])
    assert contents_at(study.desk, found, [0]) == {int(found.blocks[0]): int(found.blocks[0])}


def test_a_void_pull_is_no_result() -> None:
    """What stood in for a failure goes with it, when that is forgiven."""
    study = Study.create(
        "s", arms=["a", "b"], objective="minimize mean(x)", constraints="mean(x) <= 9", budget=60,
        seed=2, batch=8, storage="memory://", on_failure={"x": 9.0}, blocks={"items": 40},
    )  # fmt: skip
    first = study.ask(60)
    for pull in first[1:]:
        study.tell(pull, {"x": 1.0})
    study.fail(first[0], "away", retry=False)
    study.ask(60)
    before = outcomes_in(study.desk)
    assert study.desk.forgive([first[0].pull]) == 1
    found = outcomes_in(study.desk)
    assert (np.nanmax(before.values), np.nanmax(found.values)) == (9.0, 1.0)
    assert int(found.pulls.sum()) == len(first) - 1


# ------------------------------------------------------------------ who wins what


def test_who_did_better_on_which_of_the_items_that_both_saw() -> None:
    outcomes = table({"a": [1, 5, 2, NONE, 3], "b": [2, 1, 2, 0, NONE]})
    contest = contest_of(outcomes, 0, 1)
    assert (contest.won, contest.lost, contest.even, contest.common) == ((0,), (1,), 1, 3)
    other = contest_of(outcomes, 1, 0)
    assert (other.won, other.lost, other.even) == (contest.lost, contest.won, 1)
    assert contest_in_words(contest, outcomes) == (
        "Of 3 items that both were tried on, a did better than b on 1, worse on 1 and as well on 1."
    )
    apart = table({"a": [1, NONE], "b": [NONE, 1]})
    said = contest_in_words(contest_of(apart, 0, 1), apart)
    assert said == "a and b were tried on no item in common."


def test_the_clearest_come_first_and_lists_end() -> None:
    outcomes = table({"a": [1, 2, 3, 4, 0], "b": [2, 5, 9, 1, 0]})
    contest = contest_of(outcomes, 0, 1)
    assert contest.won == (2, 1, 0)
    contents: dict[int, Any] = {10 + k: {"name": f"n{k}", "long": "x"} for k in range(5)}
    won, lost = told_of(contest, outcomes, contents, 2)
    assert [(one.name, one.own, one.rival) for one in won] == [("n2", "3", "9"), ("n1", "2", "5")]
    assert [one.name for one in lost] == ["n3"]
    assert won[0].text == '{"name": "n2", "long": "x"}'
    contents |= {11: {"text": "nameless"}, 12: "plain text"}
    won, _ = told_of(contest, outcomes, contents, 2)
    assert [(one.name, one.text) for one in won] == [
        ("12", "plain text"), ("11", '{"text": "nameless"}')
    ]  # fmt: skip


def test_where_higher_is_better_more_wins_and_is_shown_as_it_was_told() -> None:
    outcomes = table({"a": [3, 1], "b": [2, 2]}, sign=-1.0)
    contest = contest_of(outcomes, 0, 1)
    assert (contest.won, contest.lost) == ((0,), (1,))
    won, _ = told_of(contest, outcomes, {10: 10, 11: 11}, 9)
    assert (won[0].name, won[0].text, won[0].own, won[0].rival) == ("10", "", "3", "2")


def test_the_nearest_rival_is_the_likeliest_that_saw_an_item() -> None:
    arms = [
        make_arm("b", "optimal", -1.0, 1.0, chance_best=0.6),
        make_arm("a", "feasible-suboptimal", -1.0, 2.0, chance_best=0.1),
        make_arm("c", "feasible-suboptimal", -1.0, 3.0, chance_best=0.2),
        make_arm("d", "feasible-suboptimal", -1.0, 4.0, chance_best=0.9),
    ]
    outcomes = table({"b": [1], "a": [1], "c": [1], "d": [NONE]})
    assert rivals(make_verdict(arms), outcomes) == (0, 2)
    alone = table({"b": [1], "a": [NONE], "c": [NONE], "d": [NONE]})
    assert rivals(make_verdict(arms), alone) is None


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ({"id": 7, "name": "x"}, "7"),
        ({"name": "x", "text": "y"}, "x"),
        ({"id": None, "text": "y"}, '{"id": null, "text": "y"}'),
        ({"id": {"deep": 1}}, '{"id": {"deep": 1}}'),
        ("a\nb", "a ... b"),
        (12, "12"),
        ("x" * 500, f"{'x' * 30} ... {'x' * 30}"),
        ({"id": "<b>\u202e"}, "<b>"),
    ],
)
def test_an_item_is_called_by_its_key_or_by_itself_on_one_line(content: Any, name: str) -> None:
    assert item_name(content) == name
    assert "\n" not in item_text(content)
    assert len(item_text(content)) < 200


# ------------------------------------------------------------------ the picture


def test_arms_begin_with_the_answer_and_items_with_the_easiest() -> None:
    outcomes = table({"b": [1, 0, 1, 0], "a": [1, 0, 0, 0], "c": [1, 1, 0, 0]}, sign=1.0)
    matrix = matrix_of(verdict_on(["b", "a", "c"]), outcomes)
    assert [outcomes.arms[arm] for arm in matrix.arms] == ["b", "a", "c"]
    assert matrix.items.tolist()[0] == 3
    assert matrix.items.tolist()[-1] == 0
    assert matrix.shades[0].tolist() == [1.0 - outcomes.objective[0, k] for k in matrix.items]


def test_an_item_that_only_weak_arms_saw_is_not_hard_for_that() -> None:
    """The third item is the one that the weak arm does best on: as easy as they come."""
    outcomes = table({"good": [1, 2, NONE], "weak": [11, 12, 9]})
    items = matrix_of(verdict_on(["good", "weak"]), outcomes).items.tolist()
    assert items.index(2) == 0


def test_what_was_not_tried_is_left_blank_and_neighbours_alike_are_drawn_as_one() -> None:
    outcomes = table({"b": [0, 0, 1, 1, NONE], "a": [0, NONE, NONE, 1, 1]})
    matrix = matrix_of(verdict_on(["b", "a"]), outcomes)
    contents = {number: f"q{number}" for number in outcomes.blocks.tolist()}
    cells, runs = cell_rows(matrix, outcomes, contents), run_rows(matrix, outcomes)
    assert [len(row["shade"]) for row in cells] == [4, 3]
    for cell, run in zip(cells, runs, strict=True):
        drawn = dict(zip(cell["begin"], cell["shade"], strict=True))
        spread = {
            k: shade
            for begin, end, shade in zip(run["begin"], run["end"], run["shade"], strict=True)
            for k in range(begin, end)
        }
        assert drawn == spread
        lengths = {len(value) for value in cell.values() if isinstance(value, list)}
        assert len(lengths) == 1
    assert len(runs[0]["begin"]) == 2
    assert set(cells[0]["item"]) == {f"q{10 + k}" for k in range(4)}


def test_a_few_extremes_set_no_scale_and_no_spread_is_no_difference() -> None:
    rng = np.random.default_rng(1)
    steps = [*rng.random(99), 1e9]
    shades = matrix_of(verdict_on(["b"]), table({"b": steps})).shades
    assert len(np.unique(shades)) > 4
    assert matrix_of(verdict_on(["b"]), table({"b": [2, 2]})).shades.tolist() == [[1.0, 1.0]]


def test_of_many_items_those_that_separate_arms_are_drawn_and_it_is_said() -> None:
    rng = np.random.default_rng(5)
    count, arms = 1_000, [f"arm {k}" for k in range(50)]
    results = {arm: np.ones(count) for arm in arms}
    telling = rng.choice(count, 150, replace=False)
    for place in telling.tolist():
        for k in range(0, 50, 2):
            results[arms[k]][place] = 0.0
    outcomes = table({arm: one.tolist() for arm, one in results.items()})
    verdict = verdict_on(arms)
    matrix = matrix_of(verdict, outcomes)
    assert set(telling.tolist()) <= set(matrix.items.tolist())
    assert (len(matrix.items), len(matrix.arms)) == (MOST_ITEMS, MOST_ROWS)
    assert items_subtitle(verdict, matrix)[1] == (
        "200 of 1,000 items: those that separate arms most; 26 arms not drawn"
    )
    few = matrix_of(verdict_on(["b"]), table({"b": [1, 2]}))
    assert len(items_subtitle(verdict, few)) == 1


def test_hostile_names_and_items_are_inert_in_the_picture() -> None:
    names = list(HOSTILE)
    outcomes = table({name: [float(k % 2), 1.0, 0.0] for k, name in enumerate(names)})
    verdict = verdict_on(names)
    svg = inline_svg(items_chart(verdict, outcomes, {}), "items")
    tags = {element.tag.rsplit("}", 1)[-1] for element in ET.fromstring(svg).iter()}
    assert tags <= {"svg", "g", "path", "text", "line", "rect", "defs", "clipPath"}
    assert "<script" not in svg
    contents = dict(zip(outcomes.blocks.tolist(), HOSTILE[:3], strict=True))
    spec = shared_chart("items", verdict, outcomes, contents, fluid=True).to_dict()
    data = json.dumps(spec.pop("data"))
    assert json.dumps(HOSTILE[1]) in data
    assert "expr" not in json.dumps(spec)
    assert (spec["width"], spec["background"]) == ("container", "transparent")


def test_a_study_without_items_has_no_picture_of_them() -> None:
    study = Study.create(
        "s", arms=["a", "b"], objective="minimize mean(x)", constraints="mean(x) <= 9",
        budget=9, storage="memory://",
    )  # fmt: skip
    with pytest.raises(InputError, match="kind = 'items' must be of a study whose arms share"):
        study.figure("items")
    with pytest.raises(InputError, match=r"kind = 'item' must be one of .*Did you mean 'items'"):
        study.figure("item")
    with pytest.raises(InputError, match="arms share hours"):
        asked().figure("hours")


def test_the_picture_and_the_record_say_what_the_answer_wins() -> None:
    study = asked()
    verdict = study.recommend()
    pair = rivals(verdict, outcomes_in(study.desk))
    assert pair is not None
    arm, rival = (verdict.arms[place].name for place in pair)
    better = sum(arm in who and rival not in who for who in RIGHT.values())
    title = study.figure("items").to_dict()["title"]["text"]
    assert title.startswith(f"{arm} does better than {rival} on {better} of 4 items")
    record = study.record()
    assert f"{arm} did better than {rival} on {better}, worse on" in record
    assert "<h2>Items</h2>" in record
    assert "on items such as these" in record.lower()
    assert "<script" not in record
    assert "independent" not in record


# ------------------------------------------------------------------ hours


def hourly(arms: int = 3) -> tuple[Study, list[float]]:
    now = [1e9]
    names = [f"arm {k}" for k in range(arms)]
    study = Study.create(
        "s", arms=names, objective="maximize mean(x)", constraints="mean(y) <= 9",
        budget=10 * arms * 3, policy="uniform", seed=2, storage="memory://",
        blocks={"every": "30m"}, clock=lambda: now[0],
    )  # fmt: skip
    now[0] = study.created_at
    while pulls := study.ask(10 * arms):
        for pull in pulls:
            hour = round((now[0] - study.created_at) / 1800)
            study.tell(pull, {"x": hour + names.index(pull.arm), "y": 1.0})
        now[0] += 1800 if now[0] == study.created_at else 3600
    return study, now


def test_hours_are_a_line_an_arm_with_gaps_where_nothing_was_told() -> None:
    study, _ = hourly()
    outcomes, verdict = outcomes_in(study.desk), study.recommend()
    assert outcomes.blocks.tolist() == [0, 1, 3]
    rows = hour_rows(verdict, outcomes)
    mine = [row for row in rows if row["name"] == verdict.arm]
    assert next(row["hours"] for row in mine) == 0.0
    for row in rows:
        place = outcomes.arms.index(row["name"])
        assert row["value"] == pytest.approx(2.0 * row["hours"] + place)
        assert (row["piece"] == 0) == (row["hours"] <= 0.5)
    assert {row["series"] for row in rows} == {0, 1, 2}
    assert hours_title(verdict, outcomes).startswith("mean(x) of all arms moved between ")
    assert "by time" in study.figure("hours").to_dict()["description"]
    assert "<h2>Hours</h2>" in study.record()


def test_at_most_eight_arms_have_a_line() -> None:
    study, _ = hourly(11)
    rows = hour_rows(study.recommend(), outcomes_in(study.desk))
    assert len({row["name"] for row in rows}) == MOST_LINES
    assert study.figure("hours").to_dict()["title"]["subtitle"][1] == "3 arms not drawn"
