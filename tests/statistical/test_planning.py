"""Plans: the budget that they return reaches the target, and a clearly smaller one does not."""

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.core.schedule import Phase
from ringfence.interfaces.cli import output
from ringfence.policies.policy import PhasePolicy
from ringfence.policies.registry import find_policy
from ringfence.simulation.instance import Instance
from ringfence.simulation.planning import (
    Point,
    first_guess,
    fitted_budget,
    hardest,
    least_budget,
    next_try,
)
from ringfence.simulation.variations import relaxed, without
from tests.choosing import LONG
from tests.e2e.command_line import ringfence

# --------------------------------------------------------------------------------- the search


def line(rate: float, *, noise: float = 0.0) -> Any:
    """Return an error that falls as exp(-rate T), estimated with some relative noise."""
    looked: list[int] = []

    def rate_at(budget: int) -> Point:
        looked.append(budget)
        error = math.exp(-rate * budget)
        return Point(budget, error, noise * error, (error, error))

    rate_at.looked = looked  # type: ignore[attr-defined]
    return rate_at


@pytest.mark.parametrize("start", [1, 10, 900, 100_000])
@pytest.mark.parametrize("target", [0.5, 0.01, 1e-9])
def test_the_search_finds_the_least_budget_from_anywhere(start: int, target: float) -> None:
    rate_at = line(0.002)
    found = least_budget(rate_at, target, start=start, least=5)
    exact = math.log(1.0 / target) / 0.002
    assert exact <= found[-1].budget <= 1.004 * exact + 1
    assert len(rate_at.looked) <= 20
    assert len(set(rate_at.looked)) == len(found)


def test_the_search_stops_at_the_least_budget_of_the_policy() -> None:
    assert least_budget(line(0.5), 0.1, start=50, least=40)[-1].budget == 40


@pytest.mark.parametrize("start", range(5, 60, 7))
def test_the_search_looks_at_neighbours_too(start: int) -> None:
    """Where budgets are few, the least one is found to the pull."""
    exact = math.ceil(math.log(100.0) / 0.1)
    assert least_budget(line(0.1), 0.01, start=start, least=3)[-1].budget == exact


def test_an_error_that_does_not_fall_is_out_of_reach() -> None:
    with pytest.raises(InputError, match="out of reach"):
        least_budget(line(1e-16), 0.01, start=50, least=5)


def estimated(budget: int, relative: float, off: float = 0.0) -> Point:
    """Return an estimate of exp(-budget / 500), off by so many standard errors."""
    error = math.exp(-budget / 500 + off * relative)
    return Point(budget, error, relative * error, (0.0, 1.0))


@pytest.mark.parametrize("last", [1200, 1400, 1600])
def test_a_line_through_all_points_tells_the_budget(last: int) -> None:
    exact = 500 * math.log(20.0)
    points = [estimated(budget, 0.1) for budget in (1000, 1300, 1700, last)]
    assert fitted_budget(points, 0.05, least=5, caution=0.0) == math.ceil(exact)
    careful = fitted_budget(points, 0.05, least=5, caution=2.0)
    assert exact < careful < exact + 500 * 2.0 * 0.1
    assert fitted_budget(points, 0.05, least=2000, caution=0.0) == 2000


def test_a_point_far_off_or_unsure_hardly_moves_the_line() -> None:
    sure = [estimated(budget, 0.01) for budget in (1300, 1700, 1500)]
    exact = fitted_budget(sure, 0.05, least=5, caution=0.0)
    far = Point(200, 0.99, 1e-3, (0.0, 1.0))
    assert fitted_budget([far, *sure], 0.05, least=5, caution=0.0) == exact
    unsure = estimated(1400, 1.0, off=2.0)
    assert fitted_budget([unsure, *sure], 0.05, least=5, caution=0.0) == pytest.approx(
        exact, rel=0.01
    )


def test_without_a_line_that_falls_the_last_point_stays() -> None:
    rising = [Point(100, 0.04, 0.004, (0.0, 1.0)), Point(120, 0.05, 0.005, (0.0, 1.0))]
    assert fitted_budget(rising, 0.05, least=5, caution=0.0) == 120
    assert fitted_budget(rising[:1], 0.05, least=5, caution=0.0) == 100


def test_a_budget_that_was_too_small_is_raised_by_what_it_lacks() -> None:
    """Not by a little again and again, until an estimate is low by luck."""
    assert next_try(estimated(1000, 0.05), math.exp(-2.0)) == 1025
    assert next_try(estimated(900, 0.1), math.exp(-2.0)) > 1000
    assert next_try(Point(3, 0.5, 0.0, (0.0, 1.0)), 0.5) == 4


# --------------------------------------------------------------------------------- the budget


def exact_first_instance(budget: int) -> float:
    """The error of constrained-sr on the first instance: its best arm's feasibility."""
    first = math.ceil((budget - 3) / (4.0 / 3.0) / 3.0)
    last = math.ceil((budget - 3) / (4.0 / 3.0) / 2.0)
    assert first < last
    return float(stats.norm.sf(0.05 * math.sqrt(last)))


@pytest.mark.parametrize("target", [1e-4, 1e-9])
def test_the_plan_for_the_first_instance_is_the_closed_form(target: float) -> None:
    found = rf.plan("paper-1", target_error=target, brief=True)
    budget = found.point.budget
    assert exact_first_instance(budget) <= 1.01 * target
    assert exact_first_instance(round(0.985 * budget)) > target
    low, high = found.point.interval
    assert low <= found.point.error_rate <= high
    assert found.point.error_rate <= target
    assert found.point.warnings == ()


@pytest.mark.parametrize("instance", ["paper-2", "paper-3", "paper-4"])
def test_counted_errors_agree_with_the_plan(instance: str) -> None:
    found = rf.plan(instance, target_error=0.01, brief=True)
    checked = rf.simulate(instance, budget=found.point.budget, replications=400_000, seed=77)
    assert checked.error_rate <= 0.01 + 3.0 * checked.std_error
    fewer = rf.simulate(
        instance, budget=round(0.95 * found.point.budget), replications=400_000, seed=78
    )
    assert fewer.error_rate > 0.01


@pytest.mark.skipif(not LONG, reason="the command's own test plans it too")
def test_an_adaptive_policy_is_planned_in_growing_batches() -> None:
    found = rf.plan("paper-4", "top-two", target_error=0.1, brief=True)
    assert found.growth == 0.03
    assert found.scales == found.to_dict()["scales"] == "estimated"
    batch = max(1, found.point.budget // 200)
    checked = rf.simulate(
        "paper-4", "top-two", budget=found.point.budget, replications=10_000, seed=77, batch=batch
    )
    assert 0.08 <= checked.error_rate <= 0.1 + 4.0 * checked.std_error


def test_errors_that_can_only_be_counted_are_planned_too() -> None:
    rows = {"arm": ["a", "b"] * 40, "x": [1.0, 2.0] * 40, "y": [0.1, 0.2, 0.9, 1.0] * 20}
    import pandas as pd

    table = Instance.from_frame(
        pd.DataFrame(rows), arm="arm", objective="minimize mean(x)", constraints=["mean(y) <= 0.8"]
    )
    found = rf.plan(table, target_error=0.02, brief=True)
    checked = rf.simulate(table, budget=found.point.budget, replications=100_000, seed=5)
    assert checked.error_rate <= 0.02 + 3.0 * checked.std_error
    with pytest.raises(InputError, match=r"too small for 'table'.*family"):
        rf.plan(table, target_error=1e-6)


# ------------------------------------------------------------------------------ what it explains


def test_shares_of_the_difficulty_add_up() -> None:
    for name in ("paper-1", "paper-2", "paper-3", "paper-4"):
        shares = hardest(Instance.load(name))
        assert sum(one.share for one in shares) == pytest.approx(1.0)
        assert shares == sorted(shares, key=lambda one: -one.share)
    assert hardest(Instance.load("paper-2"))[0].what == "one against the threshold"
    words = {one.what for one in hardest(Instance.load("paper-3"))}
    assert words == {"one against the threshold", "two against one"}


def test_a_variation_changes_one_thing() -> None:
    instance = Instance.load("paper-3")
    what, looser = relaxed(instance, 0)
    assert what == "mean(risk) <= 0.5 relaxed to mean(risk) <= 0.525"
    assert (looser.means == instance.means).all()
    assert looser.judged.thresholds[0] == 0.525
    fewer = without(instance, 1)
    assert fewer is not None
    assert fewer.arms == ("one", "three", "four")
    assert (fewer.means == instance.means[[0, 2, 3]]).all()


@pytest.mark.skipif(not LONG, reason="every rival's kernel takes long to compile")
def test_a_plan_names_the_policy_that_needs_least_and_what_would_help() -> None:
    found = rf.plan("paper-4", target_error=0.1)
    rivals = {one.what: one.budget for one in found.rivals}
    top_two, uniform = rivals["top-two"], rivals["uniform"]
    assert top_two is not None
    assert uniform is not None
    assert top_two < found.point.budget < uniform
    assert rivals["constrained-sr"] == found.point.budget
    savings = {one.what: one.budget for one in found.savings}
    four = savings["without four"]
    assert four is not None
    assert four < 0.9 * found.point.budget
    document = found.to_dict()
    keys = {"budget", "error_rate", "ci_low", "ci_high", "hardest", "curve", "rivals", "savings"}
    assert keys <= set(document)
    budgets = [point["budget"] for point in document["curve"]]
    assert budgets == sorted(budgets)
    assert found.point.budget in budgets


# ------------------------------------------------------------------------------ from a study


def evaluate_half_way(arm: str, seed: int) -> dict[str, float]:
    means = {"good": (0.5, 0.35), "dear": (0.8, 0.3), "risky": (0.4, 0.7)}
    loss, risk = stats.norm.rvs(means[arm], 0.5, random_state=seed)
    return {"loss": loss, "risk": risk}


def half_way(policy: str = "constrained-sr", most: int = 300) -> rf.Study:
    study = rf.Study.create(
        "half way", arms=["good", "dear", "risky"], objective="minimize mean(loss)",
        constraints="mean(risk) <= 0.5", budget=600, policy=policy, seed=1, storage="memory://",
    )  # fmt: skip
    study.optimize(evaluate_half_way, most=most)
    return study


def test_a_plan_from_a_study_takes_its_estimates_for_the_truth() -> None:
    study = half_way()
    found = rf.plan(study, target_error=0.01, brief=True)
    assert found.policy == "constrained-sr"
    facts = found.study
    assert facts is not None
    assert facts["pulls_used"] == 300
    assert facts["more_pulls"] == max(0, found.point.budget - 300)
    assert facts["budget_low"] <= found.point.budget <= facts["budget_high"]
    # The truth itself needs a budget of the same size.
    truth = {
        "objective": "minimize mean(loss)",
        "constraints": ["mean(risk) <= 0.5"],
        "metrics": ["loss", "risk"],
        "noise": {"family": "gaussian", "covariance": [[0.25, 0.0], [0.0, 0.25]]},
        "arms": {
            "good": {"mean": [0.5, 0.35]},
            "dear": {"mean": [0.8, 0.3]},
            "risky": {"mean": [0.4, 0.7]},
        },
    }
    known = rf.plan(truth, target_error=0.01, brief=True)
    assert 0.2 < found.point.budget / known.point.budget < 5.0


def test_arms_that_a_study_dropped_are_planned_for_too() -> None:
    """The next study has them again; only what cannot be evaluated stays away."""
    study = half_way()
    study.optimize(evaluate_half_way)
    assert study.status().finished
    found = rf.plan(study, target_error=0.01, brief=True)
    assert sum(one.share for one in found.hardest) == pytest.approx(1.0)
    assert found.point.budget > 30


def test_an_arm_that_was_hardly_seen_is_named() -> None:
    study = half_way("top-two", most=4)
    with pytest.raises(InputError, match=r"too few observations to plan from of .*dear"):
        rf.plan(study, target_error=0.01)


def test_a_study_without_observations_cannot_be_planned_from() -> None:
    study = rf.Study.create(
        "empty", arms=["a", "b"], objective="minimize mean(x)", constraints="mean(y) <= 1",
        budget=100, storage="memory://",
    )  # fmt: skip
    with pytest.raises(InputError, match="too few observations"):
        rf.plan(study, target_error=0.01)


# --------------------------------------------------------------------------- what is far apart


def two_arms(**changes: Any) -> dict[str, Any]:
    return {
        "objective": "minimize mean(loss)",
        "constraints": ["mean(risk) <= 0"],
        "metrics": ["loss", "risk"],
        "noise": {"family": "gaussian", "covariance": [[1.0, 0.0], [0.0, 1.0]]},
        "arms": {"a": {"mean": [0.0, -0.5]}, "b": {"mean": [1.0, -1.0]}},
    } | changes


def test_units_may_differ_by_any_factor() -> None:
    """Nanoseconds beside a small rate: the plan is that of any other units."""
    noise = {"family": "gaussian", "covariance": [[1e16, 0.0], [0.0, 1.0]]}
    arms = {"a": {"mean": [0.0, -0.5]}, "b": {"mean": [1e8, -1.0]}}
    huge = rf.plan(two_arms(noise=noise, arms=arms), target_error=1e-4, brief=True)
    plain = rf.plan(two_arms(), target_error=1e-4, brief=True)
    assert huge.point.budget == pytest.approx(plain.point.budget, rel=0.02)


def test_a_bound_is_shown_for_the_policy_that_it_is_proven_for() -> None:
    ours = rf.plan(two_arms(), target_error=0.01, brief=True)
    other = rf.plan(two_arms(), "uniform", target_error=0.01, brief=True)
    assert all(bound is not None for bound in ours.upper_bounds)
    assert all(bound is None for bound in other.upper_bounds)


@pytest.mark.parametrize("distance", [1e-200, 1e-160, 1e-12])
def test_arms_that_hardly_differ_are_refused(distance: float) -> None:
    arms = {"a": {"mean": [0.0, -1.0]}, "b": {"mean": [distance, -1.0]}}
    with pytest.raises(InputError, match="no budget tells arm 'b'"):
        rf.plan(two_arms(arms=arms), target_error=0.01)


@pytest.mark.parametrize(
    ("arms", "said"),
    [
        ({"a": [1.0, -1.0], "b": [0.0, 0.0]}, ["'b' from its limit (it lies on mean(risk) <= 0)"]),
        ({"a": [0.0, 1e-12], "b": [1.0, -1.0]}, ["'a' from its limit (it lies on mean(risk) <="]),
        ({"a": [1.0, -1.0], "b": [1.0 - 1e-12, -1.0]}, ["arm 'a' from 'b' (they tie)"]),
        (
            {"a": [1.0, -1.0], "b": [0.0, 0.0], "c": [1e-12, -1.0]},
            ["'b' from its limit", ", nor arm 'c' from 'b' (they tie)"],
        ),
        ({"a": [1.0, 2.0], "b": [0.0, 1.0], "c": [0.0, 1.0 + 1e-12]}, ["arm 'c' from 'b' (they"]),
    ],
)
def test_the_arm_that_no_budget_tells_apart_is_named(
    arms: dict[str, list[float]], said: list[str]
) -> None:
    """Not those whose gap is capped by the slack of the best arm, which is none."""
    means = {name: {"mean": mean} for name, mean in arms.items()}
    with pytest.raises(InputError) as error:
        rf.plan(two_arms(arms=means), target_error=0.01)
    assert all(one in str(error.value) for one in said)
    assert str(error.value).count(" from ") == len(said)


@pytest.mark.parametrize(("target", "word"), [("0.01", "must be a number"), (None, "is missing")])
def test_a_target_must_be_a_number(target: Any, word: str) -> None:
    with pytest.raises(InputError, match=word):
        rf.plan(two_arms(), target_error=target)


def test_a_policy_that_no_budget_mends_is_refused() -> None:
    uniform = find_policy("uniform")
    assert isinstance(uniform, PhasePolicy)
    bad = replace(uniform, name="bad", schedule=lambda _, budget: (Phase(budget, 1, 0),))
    with pytest.raises(InputError, match="bad"):
        rf.plan(two_arms(), bad, target_error=0.01)


# ----------------------------------------------------------------------------- the command


def test_the_command_plans_and_draws(tmp_path: Path) -> None:
    picture = tmp_path / "plan.svg"
    done = ringfence(
        "plan", "paper-1", "--target-error", "0.01", "--brief", "--figure", picture, "--json"
    )
    assert done.code == 0
    found = done.document
    said = done.err.splitlines()
    assert all(line.startswith("planning: ") for line in said)
    assert said[0].startswith(
        "planning: first estimate, by the rate of the best static allocation: "
    )
    assert f"planning: found: {found['budget']:,} pulls" in said
    assert found["scales"] == "known"
    assert found["policy"] == "constrained-sr"
    assert found["ci_low"] <= found["error_rate"] <= found["ci_high"]
    assert found["hardest"][0] == {"what": "one against the threshold", "share": 1.0}
    drawn = picture.read_text(encoding="utf-8")
    assert "<svg" in drawn
    for line in ("constrained-sr", "proven bound", "oracle"):
        assert line in drawn
    shown = ringfence("plan", "paper-1", "--target-error", "0.01", "--brief")
    assert f"{found['budget']:,} pulls" in shown.out
    assert "100% of the difficulty is one against the threshold" in shown.out


def test_the_command_says_what_it_is_doing(monkeypatch: pytest.MonkeyPatch) -> None:
    """On standard error, so that a plan of a minute is not taken for one that hangs."""
    monkeypatch.setattr(output, "_PATIENCE_SECONDS", 0.0)
    done = ringfence("plan", "paper-1", "--target-error", "0.35", "--json")
    assert done.code == 0
    budget = done.document["budget"]
    lines = done.err.splitlines()
    assert all(re.fullmatch(r"planning: .+: [\d,]+ pulls", line) for line in lines)
    assert f"planning: making sure: {budget:,} pulls" in lines
    for what in ("searching", "drawing the curve", "top-two", "without two"):
        assert any(line.startswith(f"planning: {what}: ") for line in lines)


def test_the_first_estimate_says_what_it_is_by() -> None:
    """The rate of the oracle, or of H1 where there is none: where limits are relative."""
    known = Instance.load("paper-3")
    policy = find_policy("top-two")
    assert known.oracle is not None
    budget, how = first_guess(known, policy, 1e-4)
    assert how == "the rate of the best static allocation"
    assert budget == math.ceil((math.log(1e4) - 1.0) / known.oracle.rate)
    relative = two_arms(constraints=["mean(risk) <= 0.4 * baseline"], baseline="b")
    loaded = Instance.from_dict(relative)
    budget, how = first_guess(loaded, policy, 1e-4)
    assert how == "H1"
    assert budget == math.ceil((math.log(1e4) - 1.0) * loaded.hardness.h1)


def test_a_plan_from_a_study_tells_of_its_steps() -> None:
    heard: list[str] = []
    rf.plan(half_way(), target_error=0.1, brief=True, advance=heard.append)
    assert heard[0].startswith("first estimate, by the rate of the best static allocation: ")
    assert heard[1].startswith("searching: ")
    assert sum(one.startswith("found: ") for one in heard) == 1
    assert heard[-1] == "what else the truth may be"


ON_THE_THRESHOLD = """\
objective = "minimize mean(loss)"
constraints = ["mean(risk) <= 1.0"]
metrics = ["loss", "risk"]
[noise]
family = "gaussian"
covariance = [[1.0, 0.0], [0.0, 1.0]]
[arms]
one = { mean = [1.0, 1.0] }
two = { mean = [2.0, 0.5] }
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["paper-1", "--target-error", "0"], ["target_error = 0.0", "between 0 and 1"]),
        (["paper-1", "--target-error", "1e-280"], ["target_error = 1e-280", "Use 1e-140"]),
        (["on.toml", "--target-error", "0.01"], ["arm 'one'", "threshold", "drop the arm"]),
        (["--target-error", "0.01"], ["either an INSTANCE or --from-study"]),
        (["paper-1", "--target-error", "0.01", "--figure", "x.html"], ["x.html", ".png"]),
        (["paper-1", "--from-study", "x", "--target-error", "0.01"], ["either an INSTANCE or"]),
        (["paper-1", "--policy", "best", "--target-error", "0.01"], ["policy = 'best'"]),
        (
            ["paper-3", "--policy", "successive-rejects", "--target-error", "0.01", "--brief"],
            ["target_error = 0.01 is out of reach", "Raise the target"],
        ),
    ],
)
def test_what_cannot_be_planned_is_refused_with_a_remedy(
    tmp_path: Path, words: list[str], said: list[str]
) -> None:
    (tmp_path / "on.toml").write_text(ON_THE_THRESHOLD, encoding="utf-8")
    given = [str(tmp_path / word) if word.endswith(".toml") else word for word in words]
    done = ringfence("plan", *given)
    assert (done.code, done.out) == (2, "")
    for one in said:
        assert one in done.err
