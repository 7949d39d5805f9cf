"""Replays and instances with limits relative to a baseline: truth, doubts, errors, documents."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.core.schedule import Phase
from ringfence.policies.registry import find_phase_policy
from ringfence.reports.theory import theory_document
from ringfence.simulation import reference
from ringfence.simulation.doubts import doubts_of
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.gpu import engine as gpu_engine
from ringfence.simulation.instance import Instance
from ringfence.simulation.logs import Log, read_log
from ringfence.simulation.variations import relaxed, without
from tests.e2e.command_line import ringfence
from tests.unit.test_replay import KEYS

LIMIT = "mean(ms) <= 1.1 * baseline(mean(ms))"
QUESTION: dict[str, Any] = {
    "arm": "variant", "objective": "maximize mean(score)", "constraints": [LIMIT],
    "baseline": "control",
}  # fmt: skip
MEANS = {"control": (0.5, 100.0), "fine": (0.7, 104.0), "slow": (0.9, 122.0), "poor": (0.3, 90.0)}


def table(rows: int = 120, *, seed: int = 0, **changed: tuple[float, float]) -> dict[str, Any]:
    """Return a table that can answer: the best score is too slow for what control is."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[Any]] = {"variant": [], "score": [], "ms": []}
    for name, (score, delay) in (MEANS | changed).items():
        found["variant"] += [name] * rows
        found["score"] += rng.normal(score, 0.3, rows).tolist()
        found["ms"] += rng.normal(delay, 12.0, rows).tolist()
    return found


def log_of(rows: Any = None, **changes: Any) -> Log:
    return read_log(table() if rows is None else rows, **{**QUESTION, **changes})


def reasons(rows: Any, **changes: Any) -> dict[str, str]:
    return {doubt.kind: str(doubt) for doubt in doubts_of(log_of(rows, **changes))}


# ------------------------------------------------------------------------- the truth of the table


def test_the_truth_is_that_of_differences() -> None:
    """By pandas: kinds, margins in units of a difference's noise, and each arm's own readings."""
    log, frame = log_of(), pd.DataFrame(table())
    means = frame.groupby("variant", sort=False)["ms"].mean()
    variance = frame.groupby("variant", sort=False)["ms"].var(ddof=0).mean()
    scale = math.sqrt(0.5 / variance / (1.0 + 1.1**2))
    for arm in log.arms:
        assert arm.margin == pytest.approx(scale * (means[arm.name] - 1.1 * means["control"]))
        assert arm.readings["mean(ms)"].value == pytest.approx(means[arm.name])
    kinds = {arm.name: arm.kind for arm in log.arms}
    assert kinds == {
        "control": "feasible-suboptimal", "fine": "optimal", "slow": "deceiver",
        "poor": "feasible-suboptimal",
    }  # fmt: skip
    assert log.limits == pytest.approx([1.1 * means["control"]])
    assert doubts_of(log) == ()


@pytest.mark.parametrize("limit", [LIMIT, "p75(ms) <= 1.15 * baseline", "std(ms) <= baseline + 1"])
def test_the_confidence_is_that_of_a_study_that_saw_the_rows(limit: str) -> None:
    """The same draws, the baseline's too: a study with all rows told is as sure."""
    rows = table(40, seed=4, fine=(0.7, 106.0))
    study = rf.Study.create(
        "log", storage="memory://", arms=list(MEANS), objective=QUESTION["objective"],
        constraints=[limit], budget=300, policy="uniform", seed=9, baseline="control",
    )  # fmt: skip
    study.bring(rows, arm="variant", label="log")
    log = log_of(rows, constraints=[limit], seed=9)
    verdict = study.recommend()
    assert 0.05 < log.confidence < 0.999
    assert (verdict.arm, verdict.feasible) == (log.answer.name, log.feasible)
    assert verdict.confidence == pytest.approx(log.confidence, abs=0.02)


def test_the_baselines_noise_is_in_the_confidence() -> None:
    """An arm at two standard errors of its own from the limit is at 1.4 with the baseline's."""
    frame = pd.DataFrame(table(400))
    frame["ms"] -= frame.groupby("variant")["ms"].transform("mean")
    error = 12.0 / math.sqrt(400)
    centres = {"control": 100.0, "fine": 100.0 - 2.0 * error, "slow": 150.0, "poor": 150.0}
    frame["ms"] += frame["variant"].map(centres)
    log = log_of(frame, constraints=["mean(ms) <= baseline"])
    expected = 0.5 * math.erfc(-1.0)  # that a standard normal is below the square root of 2
    assert log.answer.name == "fine"
    assert log.confidence == pytest.approx(expected, abs=0.02)
    assert abs(0.9772 - expected) > 0.04  # what it would be with a baseline that is known


# --------------------------------------------------------------------------------------- refusals


def test_what_is_too_close_counts_the_baselines_noise() -> None:
    rows = table(200, seed=3, fine=(0.7, 110.0))
    log = log_of(rows)
    errors, means = log.errors[:, 1, 1], log.instance.means[:, 1]
    distance = abs(means[1] - 1.1 * means[0]) / math.sqrt(errors[1] + 1.21 * errors[0])
    said = reasons(rows)["too-close"]
    assert f"'fine' from {LIMIT} is {distance:.1f} standard errors" in said


def test_a_baseline_is_not_close_to_itself() -> None:
    """It is on its own limit, surely: what is too close is the rival."""
    rows = table(200, seed=3, fine=(0.5, 90.0), slow=(0.1, 150.0))
    said = reasons(rows, constraints=["mean(ms) <= baseline"])["too-close"]
    assert "'control'" in said
    assert "0.0 standard errors" not in said
    assert " in mean(score) is " in said


def test_a_baseline_without_variation_is_doubted_where_it_moves_a_limit() -> None:
    """What its rows do not show may come in 3 of 60: enough for an arm at 104, not at 60."""
    near = table(60, seed=1, slow=(0.2, 160.0))
    far = table(60, seed=1, slow=(0.2, 160.0), fine=(0.7, 60.0))
    for rows in (near, far):
        rows["ms"][:60] = [100.0] * 60
    said = reasons(near, constraints=["mean(ms) <= 1.04 * baseline"])["no-variation"]
    assert "mean(ms) never varies in 1 of 4 arms ('control')" in said
    assert "no-variation" not in reasons(far, constraints=["mean(ms) <= 1.04 * baseline"])


def test_an_arm_without_variation_is_compared_with_a_noisy_baseline() -> None:
    rows = table(60, seed=1)
    rows["ms"][60:120] = [104.0] * 60
    assert "no-variation" in reasons(rows, constraints=["mean(ms) <= 1.06 * baseline"])
    assert "no-variation" not in reasons(rows, constraints=["mean(ms) <= 2 * baseline"])


def test_shares_need_rows_beyond_what_the_limit_is() -> None:
    rows = table(90)
    said = reasons(rows, constraints=["share(ms > 118) <= 0.7 * baseline"])
    rate = np.mean(np.array(rows["ms"][:90]) > 118)
    assert 0.0 < rate < 0.07
    assert f"fewer than {math.ceil(5 / (0.7 * rate))} rows" in said["few-rows"]


def small(**changes: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "objective": "minimize mean(x)",
        "constraints": ["mean(y) <= 1.1 * baseline"],
        "baseline": "a",
        "metrics": ["x", "y"],
        "noise": {"family": "gaussian", "covariance": [[1.0, 0.0], [0.0, 1.0]]},
        "arms": {"a": {"mean": [1.0, 2.0]}, "b": {"mean": [0.5, 2.0]}, "c": {"mean": [0.0, 3.0]}},
    }
    return {key: value for key, value in {**plain, **changes}.items() if value is not None}


REFUSED: dict[str, tuple[str, Callable[[], object]]] = {
    "no baseline": (
        r"baseline is missing: the limit 'mean\(y\) <= 1.1 .* Name an arm, such as baseline = 'a'",
        lambda: Instance.from_dict(small(baseline=None)),
    ),
    "no arm": (
        "baseline = 'contrl' must be one of .* Did you mean 'control'?",
        lambda: rf.replay(table(), **{**QUESTION, "baseline": "contrl"}),
    ),
    "nothing relative": (
        "baseline = 'a': no limit is relative to it. Write one, such as 'mean.y. <= 1.1",
        lambda: Instance.from_dict(small(constraints=["mean(y) <= 2.5"])),
    ),
    "no baseline of a table": (
        "baseline is missing",
        lambda: rf.replay(table(), **{**QUESTION, "baseline": None}),
    ),
    "importance": (
        "method = 'importance': limits of 'instance' are relative to baseline = 'a'",
        lambda: rf.simulate(small(), budget=90, method="importance"),
    ),
    "splitting": (
        "method = 'splitting': limits of 'instance' are relative to baseline = 'a'",
        lambda: rf.simulate(small(), budget=90, method="splitting"),
    ),
    "a GPU": (
        "engine = 'cuda' cannot run instance 'instance': its limits are relative to baseline",
        lambda: gpu_engine.require_supported(
            Experiment(Instance.from_dict(small()), rf.find_policy("uniform"), 30)
        ),
    ),
    "a rare target": (
        "target_error = 1e-06 is too small .* limits are relative",
        lambda: rf.plan(small(), target_error=1e-6, brief=True),
    ),
    "a key": (
        "unknown key 'basline'.* Did you mean 'baseline'?",
        lambda: Instance.from_dict(small() | {"basline": "a"}),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_is_refused_with_a_remedy(case: str) -> None:
    if case == "a GPU":
        pytest.importorskip("numba_cuda")
    words, act = REFUSED[case]
    with pytest.raises(InputError, match=words):
        act()


def test_a_policy_that_goes_on_alone_has_no_room_for_a_baseline() -> None:
    alone = replace(
        find_phase_policy("constrained-sr"),
        name="alone",
        schedule=lambda arms, budget: (Phase(5, 0, 1), Phase(budget - 5 * arms, 0, 1)),
    )
    with pytest.raises(InputError, match="'alone' goes on pulling when one arm is left"):
        Experiment(Instance.from_dict(small()), alone, 60)


# --------------------------------------------------------------------- theory, plans, variations


def test_gaps_are_of_differences_and_bounds_are_left_out() -> None:
    theory = theory_document(Instance.from_dict(small()), 100)
    scale = math.sqrt(0.5 / (1.0 + 1.21))
    assert [arm["margin"] for arm in theory["arms"]] == pytest.approx(
        [scale * (y - 2.2) for y in (2.0, 2.0, 3.0)]
    )
    assert [arm["kind"] for arm in theory["arms"]] == ["feasible-suboptimal", "optimal", "deceiver"]
    assert theory["baseline"] == "a"
    assert math.isfinite(theory["H1"])
    for key in ("oracle_rate", "oracle_allocation", "policy_rates", "lower_bound_rate",
                "conjectured_rate", "upper_bound"):  # fmt: skip
        assert theory[key] is None, key


def test_variations_keep_the_baseline_and_move_what_the_limit_is() -> None:
    instance = Instance.from_dict(small())
    words, looser = relaxed(instance, 0)
    assert looser.problem.constraints[0].threshold == pytest.approx(0.05 * 2.2)
    assert words.endswith("relaxed to mean(y) <= 1.1 * baseline(mean(y)) + 0.11")
    assert without(instance, 0) is None
    fewer = without(instance, 2)
    assert fewer is not None
    assert fewer.baseline == "a"


def test_a_budget_can_be_planned() -> None:
    found = rf.plan(small(), "uniform", target_error=0.2, brief=True)
    assert found.point.error_rate <= 0.2
    assert found.oracle_rate is None
    assert set(found.upper_bounds) == {None}


# ----------------------------------------------------------------------------- the command, a file


def test_a_log_is_replayed_from_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    pd.DataFrame(table()).to_csv(path, index=False)
    asked = (
        "replay", path, "--arm", "variant", "--objective", QUESTION["objective"],
        "--constraint", LIMIT, "--budgets", "40,160", "--replications", 200,
        "--policies", "constrained-sr,ocba-co,uniform", "--batch", 3, "--threads", 1,
    )  # fmt: skip
    done = ringfence(*asked, "--baseline", "control")
    assert done.code == 0, done.err
    assert done.out.startswith("truth of the table: fine is the best feasible arm")
    limit = 1.1 * np.mean(table()["ms"][:120])
    assert f"baseline control: by its rows mean(ms) <= {limit:.4g}; it is never" in done.out
    document = ringfence(*asked, "--baseline", "control", "--json").document
    assert set(document) == KEYS
    assert (document["baseline"], document["constraints"]) == ("control", [LIMIT])
    assert document["truth"]["arm"] == "fine"
    for row in document["rows"]:
        most = max(row["mean_pulls"].values())
        assert row["mean_pulls"]["control"] >= most - 1.0
        assert row["right_rate"] > (0.5 if row["budget"] == 160 else 0.1)
    for wrong, words in (
        (("--baseline", "contrl"), "Did you mean 'control'?"),
        ((), "baseline is missing"),
        (("--baseline", "control", "--constraint", "p99(ms) <= baseline"), "500 rows"),
    ):
        refused = ringfence(*asked, *wrong)
        assert refused.code == 2
        assert words in " ".join(refused.err.split()), refused.err


def test_a_quantile_and_a_function_of_ones_own_may_be_relative() -> None:
    """Judged as what they are, pull by pull: a function of one's own has no other engine."""
    asked: dict[str, Any] = {
        **QUESTION, "budgets": [60], "policies": ["uniform"], "replications": 20,
        "constraints": ["p75(ms) <= 1.15 * baseline", "middle(ms) <= 1.1 * baseline"],
        "functions": {"middle": lambda values: float(np.median(values))},
    }  # fmt: skip
    found = rf.replay(table(), **asked)
    assert found.rows[0].result.engine == "reference"
    assert found.log.answer.name == "fine"
    assert str(found.log.instance.judged.attributes[1]) == "p75(ms)"


def test_an_instance_file_names_its_baseline(tmp_path: Path) -> None:
    path = tmp_path / "guarded.toml"
    frame = pd.DataFrame(table(30))
    frame.to_csv(tmp_path / "log.csv", index=False)
    path.write_text(
        f'objective = "maximize mean(score)"\nconstraints = ["{LIMIT}"]\nbaseline = "control"\n'
        '[noise]\nfamily = "table"\npath = "log.csv"\narm = "variant"\n'
    )
    instance = Instance.load(path)
    assert instance.baseline_place == 0
    tally = reference.run_chunk(Experiment(instance, rf.find_policy("top-two"), 60), 0, 0, 5)
    assert tally.pulls[0] >= tally.pulls.max() - 5
    shown = ringfence("gaps", path)
    assert shown.code == 0, shown.err
    assert "Limits are relative to control" in shown.out
    assert "1/H1" not in shown.out
