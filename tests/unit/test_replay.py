"""Replay: the truth of a table, how often policies find it, what that saves, what is refused."""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.core.strict import strict_json
from ringfence.interfaces import replaying
from ringfence.reports.charts import chart_bytes, replay_figure, replay_rows
from ringfence.reports.replay import (
    EACH,
    Curve,
    Needs,
    crossing,
    right_interval,
    rising,
    uniform_needs,
)
from ringfence.simulation.doubts import doubts_of, notes_of
from ringfence.simulation.logs import Log, read_log
from ringfence.simulation.results import SimulationResult
from ringfence.study.verdict import Verdict
from tests.choosing import few_of
from tests.unit.drawing import HOSTILE

QUESTION: dict[str, Any] = {
    "arm": "variant",
    "objective": "maximize mean(score)",
    "constraints": ["mean(latency) <= 200"],
}
QUICK = ("constrained-sr", "uniform", "top-two")


def columns(rows: int = 200, *, seed: int = 0) -> dict[str, list[Any]]:
    """Return a table that can answer: the best score breaks the limit, the next is right."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[Any]] = {"variant": [], "score": [], "latency": []}
    for name, score, latency in (("fast", 0.5, 100), ("fine", 0.65, 160), ("slow", 0.8, 260)):
        found["variant"] += [name] * rows
        found["score"] += (rng.random(rows) < score).astype(float).tolist()
        found["latency"] += rng.normal(latency, 60.0, rows).round(3).tolist()
    return found


def replay(table: Any = None, **changes: Any) -> rf.Replay:
    plain: dict[str, Any] = {
        **QUESTION,
        "budgets": [30, 120],
        "policies": QUICK,
        "replications": 200,
        "threads": 1,
    }
    return rf.replay(columns() if table is None else table, **{**plain, **changes})


def log_of(table: Any, **changes: Any) -> Log:
    return read_log(table, **{**QUESTION, **changes})


def essence(found: rf.Replay) -> dict[str, Any]:
    document = found.to_dict()
    return {key: document[key] for key in document if key not in ("seconds", "table")}


# ------------------------------------------------------------------------ exact on tiny tables


def test_one_row_an_arm_leaves_nothing_to_chance() -> None:
    """Every pull is that row, so every policy that looks at limits answers as the table does."""
    table = {"variant": ["a", "b", "c"], "score": [3.0, 2.0, 1.0], "latency": [250.0, 150.0, 90.0]}
    found = replay(table, policies=["constrained-sr", "uniform", "top-two", "ocba-co"], force=True)
    assert (found.log.answer.name, found.log.feasible) == ("b", True)
    assert [arm.kind for arm in found.log.arms] == ["deceiver", "optimal", "feasible-suboptimal"]
    assert [arm.rows for arm in found.log.arms] == [1, 1, 1]
    assert found.log.confidence == 1.0
    for row in found.rows:
        assert row.right_rate == 1.0
        assert row.result.chosen["b"] == {"feasible": 200, "infeasible": 0}
        assert row.answers == [("b", True, 1.0)]
        assert str(row.uniform).startswith("at most ")
    assert {doubt.kind for doubt in found.doubts} == {"few-rows", "no-variation"}


def test_where_nothing_is_feasible_the_nearest_is_right() -> None:
    table = {"variant": ["a", "b"], "score": [1.0, 0.0], "latency": [300.0, 220.0]}
    found = replay(table, policies=["uniform"], force=True)
    assert (found.log.answer.name, found.log.feasible) == ("b", False)
    assert found.rows[0].result.chosen["b"] == {"feasible": 0, "infeasible": 200}
    assert found.rows[0].right_rate == 1.0


def test_two_rows_an_arm_are_as_often_right_as_binomials_say() -> None:
    """Uniform with one pull an arm: right when the right arm shows 1, or ties go its way.

    Arm a always passes with score 0.5; b scores 0 or 1, half and half.
    """
    table = {
        "variant": ["a", "a", "b", "b"],
        "score": [0.4, 0.4, 0.0, 1.0],
        "latency": [0.0, 0.0, 0.0, 0.0],
    }
    found = replay(
        table, policies=["uniform"], budgets=[3], replications=40_000, scales="known", force=True
    )
    # T = 3 leaves a remainder of one: an arm drawn by chance is pulled twice.
    # b is right. Pulled once: it shows 1 in half. Pulled twice: 1/2 or 1, that is 3/4, beat 0.4.
    expected = 0.5 * 0.5 + 0.5 * 0.75
    spread = math.sqrt(expected * (1 - expected) / 40_000)
    assert abs(found.rows[0].right_rate - expected) < 4.9 * spread
    assert found.log.answer.name == "b"


# ------------------------------------------------------------------------------ the same as compare


@pytest.mark.parametrize("scales", few_of(["known", "estimated"], "estimated"))
def test_replay_is_compare_on_the_same_table(scales: str) -> None:
    policies = ["constrained-sr", "uniform", "top-two", "sequential-halving"]
    ours = replay(policies=policies, scales=scales, batch=1, seed=3)
    instance = rf.Instance.from_frame(pd.DataFrame(columns()), **QUESTION)
    theirs = rf.compare(
        instance, policies=policies, budgets=[30, 120], replications=200, scales=scales, seed=3
    )
    assert len(ours.rows) == len(theirs) == 8
    for row, other in zip(ours.rows, theirs, strict=True):
        here = replace(row.result, seconds=0.0)
        assert here == replace(other.result, seconds=0.0)
        assert row.right_rate == 1.0 - other.result.error_rate
        assert row.interval == pytest.approx([1 - end for end in reversed(other.result.interval)])
        assert sum(share for _, _, share in row.answers) == pytest.approx(1.0)


def test_threads_and_listed_policies_do_not_matter() -> None:
    several = replay(policies=["uniform", "constrained-sr"], threads=2)
    alone = replay(policies="constrained-sr")
    assert [replace(row.result, seconds=0.0) for row in several.rows[1::2]] == [
        replace(row.result, seconds=0.0) for row in alone.rows
    ]
    assert [point.budget for point in alone.uniform] == [point.budget for point in several.uniform]
    assert [point.errors for point in alone.uniform] == [point.errors for point in several.uniform]


def test_batches_grow_unless_said_otherwise() -> None:
    """With few pulls a hundredth of them is no batch: growing and single pulls err alike."""
    growing, single = replay(policies="top-two"), replay(policies="top-two", batch=1)
    assert growing.batch is None
    for here, there in zip(growing.rows, single.rows, strict=True):
        spread = math.hypot(here.result.std_error, there.result.std_error)
        assert abs(here.right_rate - there.right_rate) < 4.9 * spread + 1e-9


# ------------------------------------------------------------------------------ kinds of tables


def tables(folder: Path) -> dict[str, Any]:
    frame = pd.DataFrame(columns())
    arrow = pa.Table.from_pandas(frame)
    frame.to_csv(folder / "log.csv", index=False)
    parquet.write_table(arrow, folder / "log.parquet")
    feather.write_feather(arrow, folder / "log.arrow")
    return {
        "mapping": columns(),
        "arrays": {name: np.array(values) for name, values in columns().items()},
        "pandas": frame,
        "arrow": arrow,
        "csv": folder / "log.csv",
        "parquet": str(folder / "log.parquet"),
        "arrow file": folder / "log.arrow",
    }


def test_tables_of_every_kind_give_the_same_result(tmp_path: Path) -> None:
    results = {
        name: essence(replay(table, budgets=[60], policies=["top-two"], replications=50))
        for name, table in tables(tmp_path).items()
    }
    for name, result in results.items():
        assert result == results["mapping"], name


def test_polars_gives_the_same_result() -> None:
    polars = pytest.importorskip("polars")
    options: dict[str, Any] = {"budgets": [60], "policies": ["top-two"], "replications": 50}
    assert essence(replay(polars.DataFrame(columns()), **options)) == essence(replay(**options))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("nowhere.csv", ["table = 'nowhere.csv'", "does not exist"]),
        (7, ["is a int, which is no data frame"]),
        ({"variant": ["a"], "score": [1.0]}, ["no column 'latency'"]),
        (
            {"variant": ["a"], "score": [1.0, 2.0], "latency": [1.0]},
            ["columns differ in length", "'score': 2"],
        ),
        ({"variant": [], "score": [], "latency": []}, ["the table has no rows"]),
        (
            {"variant": ["a", ""], "score": [None, 1.0], "latency": [1.0, 1.0]},
            ["all 2 rows of the table have cells that hold nothing usable"],
        ),
    ],
)
def test_what_is_no_table_is_refused(table: Any, words: Sequence[str]) -> None:
    with pytest.raises(InputError) as refused:
        replay(table, force=True)
    for word in words:
        assert word in str(refused.value)


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    for name in ("log.xlsx", "log.feather", "log.parquet"):
        (tmp_path / name).write_text("no table", encoding="utf-8")
        with pytest.raises(InputError, match=r"table = .*(must end in|is not an? \w+ file)"):
            replay(tmp_path / name)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"budgets": []}, "budgets = [] must name at least one"),
        ({"budgets": [0]}, "budget = 0 must be at least 1"),
        ({"budgets": 3}, "budget = 3 is too small for 3 arms"),
        ({"policies": []}, "policies = [] must name at least one"),
        ({"policies": ["top-too"]}, "Did you mean 'top-two'?"),
        ({"replications": 0}, "replications = 0 must be at least 1"),
        ({"scales": "guessed"}, "scales = 'guessed' must be one of known, estimated"),
        ({"batch": 0}, "batch = 0 must be at least 1"),
        ({"seed": -1}, "seed = -1"),
        ({"objective": "maximize mean(scor)"}, "Did you mean 'score'?"),
        ({"objective": None}, "expression = None must be text"),
        ({"arm": "score"}, "arm = 'score' must name another column than the metrics"),
    ],
)
def test_bad_options_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as refused:
        replay(**changes)
    assert words in str(refused.value)


# ------------------------------------------------------------------------- the truth of the table


def test_the_truth_has_the_tables_own_means_and_errors() -> None:
    log = log_of(columns())
    frame = pd.DataFrame(columns())
    for arm in log.arms:
        rows = frame[frame["variant"] == arm.name]
        for name, metric in (("mean(score)", "score"), ("mean(latency)", "latency")):
            reading = arm.readings[name]
            assert reading.value == pytest.approx(rows[metric].mean(), rel=1e-12)
            error = rows[metric].std() / math.sqrt(len(rows))
            # An arm's noise is shrunk towards that of all arms, by ten rows in two hundred.
            assert (reading.high - reading.low) / 2 == pytest.approx(1.96 * error, rel=0.05)
    assert log.rows == 600
    assert sum(arm.chance for arm in log.arms) == pytest.approx(1.0)


def test_the_confidence_is_that_of_a_study_that_saw_the_rows() -> None:
    """The same draws: a study with all rows told gives the same confidence."""
    table = columns(40, seed=4)
    study = rf.Study.create(
        "log",
        storage="memory://",
        arms=["fast", "fine", "slow"],
        objective=QUESTION["objective"],
        constraints=QUESTION["constraints"],
        budget=200,
        policy="top-two",
        seed=9,
    )
    study.bring(table, arm="variant", label="log")
    log = log_of(table, seed=9)
    verdict: Verdict = study.recommend()
    assert 0.5 < log.confidence < 1.0
    assert verdict.arm == log.answer.name
    # A study subtracts nothing and sums in another order; the draws are the same.
    assert verdict.confidence == pytest.approx(log.confidence, abs=2e-3)


def test_a_limit_on_a_quantile_is_shown_as_one_and_judged_as_a_share() -> None:
    log = log_of(columns(), constraints=["p90(latency) <= 260"])
    fine = pd.DataFrame(columns()).query("variant == 'fine'")["latency"].to_numpy()
    reading = log.arms[1].readings["p90(latency)"]
    assert reading.value == np.sort(fine)[math.ceil(0.9 * len(fine)) - 1]
    assert reading.low < reading.value < reading.high
    assert str(log.instance.judged.attributes[1]) == "share(latency > 260)"


# --------------------------------------------------------------------------------------- refusals


def reasons(table: Any, **changes: Any) -> dict[str, str]:
    return {doubt.kind: str(doubt) for doubt in doubts_of(log_of(table, **changes))}


def test_a_table_that_can_answer_is_not_doubted() -> None:
    assert reasons(columns()) == {}
    assert notes_of(log_of(columns())) == ()


def test_every_reason_is_given_at_once_with_its_remedy() -> None:
    table = columns(29, seed=1)
    table["score"][0] = None
    table["latency"][5] = "soon"
    table["latency"][6] = float("inf")
    with pytest.raises(InputError) as refused:
        replay(table)
    said = str(refused.value)
    for words in (
        "'table' cannot answer this question:",
        "column 'score': 1 of 87 row holds nothing usable (row 1: None)",
        "column 'latency': 2 of 87 rows hold nothing usable (row 6: 'soon')",
        "Fill or drop them",
        "3 of 3 arms have fewer than 30 rows",
        "'fast' has 26",
        "Log more rows of them, or leave these arms out.",
        "--force",
    ):
        assert words in said, said


def test_force_drops_what_is_missing_and_marks_it() -> None:
    table = columns()
    table["score"][0] = None
    table["variant"][700 % 600] = "nan"
    found = replay(table, force=True, budgets=[30], policies=["uniform"])
    assert (found.log.rows, found.log.dropped) == (598, 2)
    document = found.to_dict()
    assert document["forced"]
    assert [doubt["kind"] for doubt in document["doubts"]] == ["missing", "missing"]
    assert document["rows_dropped"] == 2


def test_tails_need_more_rows() -> None:
    assert "few-rows" not in reasons(columns(100), constraints=["p95(latency) <= 300"])
    said = reasons(columns(99), constraints=["p95(latency) <= 300"])["few-rows"]
    assert "fewer than 100 rows, which it takes for 5 beyond the level of p95(latency)" in said
    share = reasons(columns(99), constraints=["share(latency > 300) <= 0.05"])["few-rows"]
    assert "fewer than 100 rows" in share
    tail = reasons(columns(240), constraints=["cvar(latency, 0.98) <= 330"])["few-rows"]
    assert "fewer than 250 rows" in tail


def test_an_arm_on_the_threshold_is_too_close() -> None:
    table = columns()
    at = np.mean(table["latency"][200:400])
    found = reasons(table, constraints=[f"mean(latency) <= {at}"])["too-close"]
    (share,) = re.findall(r"who is right: 'fine' \(feasible\) is so in (\d+)%", found)
    assert 47 <= int(share) <= 53
    assert f"'fine' from mean(latency) <= {at} is 0.0 standard errors" in found
    assert f"'fast' in {100 - int(share)}%" in found


def test_a_rival_as_good_is_too_close_and_a_bad_arm_on_the_threshold_is_not() -> None:
    table = columns()
    fast = np.mean(table["score"][:200])
    table["score"][200:400] = np.roll(table["score"][:200], 1).tolist()
    table["score"][200] = 1.0 - table["score"][200]
    said = reasons(table)["too-close"]
    assert "in mean(score) is 0.1 standard errors" in said
    assert abs(np.mean(table["score"][200:400]) - fast) == pytest.approx(1 / 200)
    slow = columns()
    at = np.mean(slow["latency"][:200])  # of the arm with the worst score
    shifted = {**slow, "latency": (np.array(slow["latency"]) - 60.0).tolist()}
    shifted["latency"][:200] = (np.array(slow["latency"][:200]) + 200.0 - at).tolist()
    shifted["latency"][400:] = [value + 60.0 for value in shifted["latency"][400:]]
    assert abs(np.mean(shifted["latency"][:200]) - 200.0) < 1e-6
    assert "too-close" not in reasons(shifted)


def test_equal_arms_are_both_right() -> None:
    """A tie of the whole table is no doubt: either answer is the table's."""
    table = columns()
    twin = {key: [*table[key], *table[key][200:400]] for key in table}
    twin["variant"][600:] = ["twin"] * 200
    log = log_of(twin)
    assert [arm.kind for arm in log.arms] == [
        "feasible-suboptimal", "optimal", "deceiver", "optimal",
    ]  # fmt: skip
    assert doubts_of(log) == ()
    found = replay(twin, budgets=[400], policies=["uniform"])
    chosen = found.rows[0].result.chosen
    right = chosen["fine"]["feasible"] + chosen["twin"]["feasible"]
    assert found.rows[0].right_rate == right / 200
    assert min(chosen["fine"]["feasible"], chosen["twin"]["feasible"]) > 40


def constant(arm: int, metric: str, value: float, rows: int = 200) -> dict[str, list[Any]]:
    table = columns(rows)
    table[metric][arm * rows : (arm + 1) * rows] = [value] * rows
    return table


def test_what_never_varies_is_doubted_where_it_may_change_the_answer() -> None:
    # A latency of 199 that never varied may be above 200 in 3 of 200 rows: up to 400 ms or so.
    said = reasons(constant(1, "latency", 199.0))["no-variation"]
    assert "mean(latency) never varies in 1 of 3 arms ('fine')" in said
    assert "(3 in 200)" in said
    # The slow arm at exactly 300: no unseen row brings it below the limit. Nor does fast matter.
    assert reasons(constant(2, "latency", 300.0)) == {}
    assert (
        "'slow', which cannot change the answer"
        in notes_of(log_of(constant(2, "latency", 300.0)))[0]
    )
    assert reasons(constant(0, "latency", 199.9)) == {}
    # The objective: fast may be better by 3/200, and fine worse by its own noise, 0.06.
    assert reasons(constant(0, "score", 0.0)) == {}
    near = float(np.mean(columns()["score"][200:400])) - 0.12
    assert reasons(constant(0, "score", near)) == {}
    assert "mean(score) never varies" in reasons(constant(0, "score", near + 0.06))["no-variation"]


def test_what_never_varies_anywhere() -> None:
    table = columns()
    same = {**table, "latency": [7.0] * 600}
    assert "the same in every row of the table" in reasons(same)["no-variation"]
    price = {**table, "latency": [100.0] * 200 + [150.0] * 200 + [250.0] * 200}
    assert reasons(price) == {}
    assert notes_of(log_of(price)) == (
        "mean(latency) never varies within an arm: it is taken to be exact",
    )
    averages = {**price, "score": [0.1] * 200 + [0.2] * 200 + [0.3] * 200}
    assert "nothing varies within any arm" in reasons(averages)["no-variation"]


@pytest.mark.parametrize(
    "limit",
    [
        "std(latency) <= 30",
        "variance(latency) <= 900",
        "cvar(latency, 0.9) <= 180",
        "lower_cvar(latency, 0.1) >= 159.5",
        "share(latency > 180) <= 0.01",
        "robust_mean(latency) <= 160",
    ],
)
def test_unseen_rows_move_every_kind_of_attribute(limit: str) -> None:
    """Fine at 159.9 sharp satisfies each limit, and may not, if 3 of 200 rows lie far out."""
    said = reasons(constant(1, "latency", 159.9), constraints=[limit])
    assert "('fine')" in said["no-variation"], said


def open_bandit() -> dict[str, list[Any]]:
    """Return a table like the Open Bandit sample: 10,000 impressions of 80 items, 38 clicks."""
    rng = np.random.default_rng(38)
    items = np.repeat(np.arange(80), 125)
    clicks = np.zeros(len(items))
    clicks[rng.choice(len(items), 38, replace=False)] = 1.0
    return {
        "item": [f"item {item}" for item in items],
        "click": clicks.tolist(),
        "position": rng.integers(1, 4, len(items)).tolist(),
    }


def test_the_open_bandit_sample_is_refused() -> None:
    question: dict[str, Any] = {
        "arm": "item",
        "objective": "maximize mean(click)",
        "constraints": ["mean(position) <= 2.5"],
    }
    with pytest.raises(InputError) as refused:
        rf.replay(open_bandit(), **question)
    said = str(refused.value)
    assert "mean(click) never varies in 5" in said
    assert "of 80 arms" in said
    assert "and 4" in said  # of the fifty or so, five are named
    assert "the table itself cannot say who is right" in said
    assert "of the truths that its noise allows, and 80% are asked for" in said
    shown = rf.replay(
        open_bandit(), **question, budgets=[400], policies=["uniform"], replications=50, force=True
    )
    assert {doubt.kind for doubt in shown.doubts} == {"no-variation", "too-close"}


# ------------------------------------------------------------------------ budgets, needs, sentences


def test_budgets_run_from_the_least_to_the_rows() -> None:
    found = replay(budgets=None, replications=60, policies=["uniform", "successive-rejects"])
    budgets = list(dict.fromkeys(row.result.budget for row in found.rows))
    assert budgets[0] == 8  # the least with two pulls of each arm in the first phase
    assert budgets == sorted(budgets)
    ratios = [after / before for before, after in pairwise(budgets)]
    assert all(1.5 < ratio < 2.6 for ratio in ratios)
    assert budgets[-1] == 600 or found.uniform[-1].error_rate == 0.0


def test_the_grid_ends_when_uniform_is_sure() -> None:
    """Arms that three pulls tell apart: no budget of hundreds is tried."""
    far = columns()
    far["latency"] = [value * 0.1 + 20 * (k >= 400) * 60 for k, value in enumerate(far["latency"])]
    far["score"] = [value * 0.01 + (k >= 200) for k, value in enumerate(far["score"])]
    found = replay(far, budgets=None, replications=1000, policies=["uniform"])
    assert max(row.result.budget for row in found.rows) < 100


def test_large_tables_stop_at_ten_thousand() -> None:
    log = log_of(columns(4000))
    rerun = replaying.Rerun([rf.find_policy("uniform")], 10, 0, "estimated", None, 1, None)
    assert replaying.usual_budgets(log, rerun)[-1] == replaying.MOST_PULLS == 10_000
    few = log_of({key: values[::150] for key, values in columns().items()})
    assert replaying.usual_budgets(few, rerun) == [6]


def result(policy: str, budget: int, errors: int, replications: int = 1000) -> SimulationResult:
    return SimulationResult(
        instance="table", policy=policy, budget=budget, pulls_used=budget,
        replications=replications, errors=errors, wrong_arm=errors, wrong_flag=0,
        lost_in_phase=(errors,), mean_pulls={}, chosen={}, seed=0, scales="estimated", batch=1,
        engine="cpu", seconds=1.0,
    )  # fmt: skip


def test_rising_averages_neighbours_that_fall() -> None:
    assert rising([0.1, 0.2, 0.3]) == (0.1, 0.2, 0.3)
    assert rising([0.1, 0.4, 0.2, 0.5]) == pytest.approx((0.1, 0.3, 0.3, 0.5))
    assert rising([0.9, 0.6, 0.3]) == pytest.approx((0.6, 0.6, 0.6))


def test_crossings_are_linear_in_the_logarithm_of_the_budget() -> None:
    assert crossing([100, 400], [0.5, 0.9], 0.7) == pytest.approx(200.0)
    assert crossing([100, 400], [0.5, 0.9], 0.9) == pytest.approx(400.0)
    assert crossing([100, 400], [0.5, 0.9], 0.3) == 100.0
    assert crossing([100, 400], [0.5, 0.9], 0.95) is None
    assert crossing([100, 400, 800], [0.5, 0.5, 0.9], 0.5) == 100.0


CURVE = [result("uniform", budget, errors) for budget, errors in
         ((100, 400), (200, 300), (400, 200), (800, 100), (1600, 30))]  # fmt: skip


def test_uniform_needs_what_its_curve_says() -> None:
    curve = Curve.of(CURVE, level=EACH)
    needs = uniform_needs(curve, result("top-two", 200, 200))
    assert needs.budget == pytest.approx(400.0)
    assert needs.low is not None
    assert needs.high is not None
    assert needs.low < 400.0 < needs.high
    # Rates of 0.8 from 1,000 replications differ at 5% by 1.96 sqrt(2) 0.0126; a doubling is 0.1.
    reach = 1.96 * math.sqrt(2 * 0.8 * 0.2 / 1000) / 0.1 * math.log(2)
    assert math.log(needs.high / needs.low) / 2 == pytest.approx(reach, rel=0.1)
    assert str(needs) == "400"
    assert str(uniform_needs(curve, result("x", 200, 20))).isdigit() is False
    never = uniform_needs(curve, result("x", 200, 0))
    assert never.budget is None
    assert never.low is None
    assert str(never) == "more than 1,600"
    worst = uniform_needs(curve, result("x", 200, 900))
    assert str(worst) == "at most 100"
    assert worst.interval_in_words == ""


def test_who_never_errs_has_a_bound_and_no_number() -> None:
    perfect = Curve.of([*CURVE, result("uniform", 3200, 0)], level=EACH)
    needs = uniform_needs(perfect, result("x", 400, 0))
    assert needs.budget is None
    assert needs.low is not None
    assert 1600 < needs.low < 3200
    assert str(needs).startswith("at least ")


def test_words_for_needs() -> None:
    assert Needs(350.4, 300.0, None, 100, 800).interval_in_words == "300 to over 800"
    assert Needs(350.4, 100.0, 400.0, 100, 800).interval_in_words == "under 100 to 400"
    assert str(Needs(1350.4, 300.0, None, 100, 8000)) == "1,350"


def made(rows: Sequence[SimulationResult], uniform: Sequence[SimulationResult]) -> rf.Replay:
    curve = Curve.of(uniform, level=EACH)
    return rf.Replay(
        log=log_of(columns()), doubts=(), notes=(),
        rows=tuple(rf.ReplayRow(one, uniform_needs(curve, one)) for one in rows),
        uniform=tuple(uniform), replications=1000, seed=0, scales="estimated", batch=None,
        seconds=1.0,
    )  # fmt: skip


def test_the_headline_names_the_cheapest_and_what_uniform_needs() -> None:
    steep = [result("top-two", 200, 90), result("top-two", 800, 10)]
    slow = [result("constrained-sr", 200, 200), result("constrained-sr", 800, 40)]
    found = made([*slow, *steep], CURVE)
    assert found.headline.startswith("top-two is right 95% of the time with 400 pulls; uniform ")
    assert "needs 1,313 (" in found.headline
    assert list(found.needs) == ["constrained-sr", "top-two", "uniform"]


def test_the_headline_admits_that_nobody_is_good_enough() -> None:
    found = made([result("top-two", 800, 400), result("uniform", 800, 500)], CURVE[:1])
    assert found.headline == (
        "no policy is right 95% of the time with 800 pulls; top-two comes nearest, with 60%"
    )
    found = made([result("successive-rejects", 800, 900)], CURVE)
    assert found.headline.startswith("uniform is right 95% of the time with 1,")


def test_a_uniform_row_needs_about_its_own_budget() -> None:
    found = replay(policies=["uniform"], budgets=[40, 80, 160], replications=500)
    for row in found.rows:
        assert row.uniform.low is not None
        assert row.uniform.low <= row.result.budget
        assert row.uniform.high is None or row.uniform.high >= row.result.budget


# ------------------------------------------------------------------------------- documents, figures


KEYS = {
    "table", "rows_used", "rows_dropped", "objective", "constraints", "baseline", "assumption",
    "truth", "unit", "forced", "doubts", "notes", "headline", "goal", "needs", "rows", "uniform",
    "replications", "seed", "scales", "batch", "seconds",
}  # fmt: skip
ROW_KEYS = {
    "policy", "budget", "unit", "spent", "pulls_used", "right_rate", "ci_low", "ci_high",
    "replications", "errors", "wrong_arm", "wrong_flag", "chosen", "mean_pulls",
    "uniform_budget", "ratio_to_uniform", "ratio_low", "ratio_high",
}  # fmt: skip


def test_the_document_has_its_keys_and_adds_up() -> None:
    found = replay()
    document = json.loads(strict_json(found.to_dict()))
    assert set(document) == KEYS
    assert len(document["rows"]) == 6
    for row in document["rows"]:
        assert set(row) == ROW_KEYS
        assert row["ci_low"] <= row["right_rate"] <= row["ci_high"]
        answers = sum(sum(flags.values()) for flags in row["chosen"].values())
        assert answers == row["replications"] == 200
        assert row["chosen"]["fine"]["feasible"] == 200 - row["errors"]
        assert sum(row["mean_pulls"].values()) == pytest.approx(row["pulls_used"])
    assert set(document["truth"]) == {"arm", "feasible", "confidence", "arms"}
    assert document["truth"]["arm"] == "fine"
    arm = document["truth"]["arms"][0]
    assert set(arm) == {"name", "rows", "estimates", "kind", "margin", "chance"}
    assert set(arm["estimates"]) == {"mean(score)", "mean(latency)"}
    assert "as if independent" in document["assumption"]
    assert [point["budget"] for point in document["uniform"]] == sorted(
        point.budget for point in found.uniform
    )


def test_figure_rows_are_the_documents_within_the_budgets() -> None:
    found = replay()
    rows = replay_rows(found.to_dict())
    assert {row["policy"] for row in rows} == set(QUICK)
    assert {row["budget"] for row in rows if row["policy"] == "top-two"} == {30, 120}
    uniform = [row for row in rows if row["policy"] == "uniform"]
    assert [row["budget"] for row in uniform] == [30, 60, 120]
    first = found.rows[0]
    low, high = right_interval(first.result)
    assert rows[0] == {
        "policy": "constrained-sr", "budget": 30, "right": first.right_rate, "low": low,
        "high": high,
    }  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_names(name: str) -> None:
    """Of arms and of columns: quoted in expressions, text everywhere."""
    quote = '"' if "'" in name else "'"
    table = columns(60)
    hostile = {
        f"{name} arm": [f"{name} {label}" for label in table["variant"]],
        "score": table["score"],
        name: table["latency"],
    }
    if quote in name:
        with pytest.raises(InputError):
            rf.replay(hostile, arm=f"{name} arm", objective="maximize mean(score)",
                      constraints=[f"mean({quote}{name}{quote}) <= 200"])  # fmt: skip
        return
    found = rf.replay(
        hostile,
        arm=f"{name} arm",
        objective="maximize mean(score)",
        constraints=[f"mean({quote}{name}{quote}) <= 200"],
        budgets=[40],
        policies=["uniform"],
        replications=20,
        force=True,
    )
    assert found.log.answer.name == f"{name} fine"
    document = json.loads(strict_json(found.to_dict()))
    assert f"{name} fine" in document["rows"][0]["chosen"]
    drawn = chart_bytes(replay_figure(document), ".svg").decode()
    assert drawn.startswith("<svg")
    assert "<script" not in drawn


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_the_figure_is_drawn(suffix: str) -> None:
    drawn: Callable[..., bytes] = chart_bytes
    document = replay().to_dict()
    for theme in ("light", "dark", "print"):
        assert len(drawn(replay_figure(document, theme=theme), suffix)) > 1000
    forced = {**document, "forced": True}
    assert "DOUBTFUL" in json.dumps(replay_figure(forced).to_dict())


def test_functions_of_your_own_are_replayed() -> None:
    found = rf.replay(
        columns(60),
        arm="variant",
        objective="maximize middle(score)",
        constraints=["mean(latency) <= 200"],
        functions={"middle": lambda values: float(values.mean())},
        budgets=[30],
        policies=["constrained-sr"],
        replications=20,
        force=True,
    )
    assert found.rows[0].result.engine == "reference"
    assert found.log.answer.name == "fine"
