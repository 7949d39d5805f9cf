"""Which noise is taken where none is stated: that of a study, for policies that choose."""

import json
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.interfaces import planning, wiring
from ringfence.interfaces.planning import Planner
from ringfence.policies.policy import Policy
from ringfence.simulation.experiment import scales_for
from ringfence.simulation.planning import Point
from tests.e2e.command_line import ringfence

NOISE = {"covariance": [[0.25, 0.0], [0.0, 0.25]]}


@pytest.mark.parametrize(
    ("stated", "policies", "taken"),
    [
        (None, ["uniform"], "known"),
        (None, ["top-two"], "estimated"),
        (None, ["uniform", "constrained-sr"], "known"),
        (None, ["uniform", "ocba-co"], "estimated"),
        ("known", ["top-two"], "known"),
        ("estimated", ["uniform"], "estimated"),
    ],
)
def test_noise_is_estimated_where_a_policy_is_adaptive(
    stated: str | None, policies: list[str], taken: str
) -> None:
    assert scales_for(stated, [rf.find_policy(name) for name in policies]) == taken


@pytest.mark.parametrize(
    ("policy", "options", "taken"),
    [
        ("top-two", {}, "estimated"),
        ("constrained-sr", {}, "known"),
        ("top-two", {"scales": "known"}, "known"),
        ("constrained-sr", {"scales": "estimated"}, "estimated"),
    ],
)
def test_simulate_says_which_noise_it_took(
    policy: str, options: dict[str, Any], taken: str
) -> None:
    given: dict[str, Any] = {"budget": 30, "replications": 3, "engine": "reference"}
    found = rf.simulate("paper-4", policy, **given, **options)
    assert found.scales == found.to_dict()["scales"] == taken
    stated = rf.simulate("paper-4", policy, **given, scales=taken)
    assert found.mean_pulls == stated.mean_pulls


def test_rare_errors_are_those_of_a_policy_that_is_told_the_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: dict[str, Any] = {"budget": 300, "replications": 1000, "method": "importance"}
    with pytest.raises(InputError, match="needs scales = 'known'"):
        rf.simulate("paper-4", "top-two", **given, scales="estimated")
    monkeypatch.setattr(wiring, "by_importance", lambda experiment, *_: experiment.scales)
    assert rf.simulate("paper-4", "top-two", **given) == "known"


@pytest.mark.parametrize(
    ("policies", "taken"),
    [(["uniform", "top-two"], "estimated"), (["uniform", "constrained-sr"], "known")],
)
def test_policies_that_are_compared_get_the_same_noise(
    policies: list[str], taken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        wiring, "side_by_side", lambda experiments, *_, **__: [one.scales for one in experiments]
    )
    assert rf.compare("paper-4", policies=policies, budgets=40) == [taken, taken]  # type: ignore[comparison-overlap]


def test_commands_say_which_noise_they_took() -> None:
    words = ("simulate", "paper-4", "--policy", "top-two", "--budget", 30, "--replications", 3)
    shown = ringfence(*words, "--engine", "reference")
    assert "noise        estimated" in shown.out
    told = json.loads(ringfence(*words, "--engine", "reference", "--scales", "known", "--json").out)
    assert told["scales"] == "known"


# --------------------------------------------------------------------------------------- plans


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the scales of all plans that begin."""
    seen: list[str] = []

    def plan(planner: Planner, policy: Policy, *, brief: bool) -> planning.Plan:
        seen.append(planner.scales)
        point = Point(100, 0.01, 0.001, (0.008, 0.012))
        return planning.Plan(
            planner.instance.name, policy.name, planner.target, point, (), (), (), (), None, None,
            planner.scales,
        )  # fmt: skip

    monkeypatch.setattr(Planner, "plan", plan)
    return seen


@pytest.mark.parametrize(
    ("policy", "target", "stated", "taken"),
    [
        ("top-two", 0.01, None, "estimated"),
        ("top-two", 1e-3, None, "estimated"),
        ("top-two", 1e-4, None, "known"),
        ("top-two", 1e-4, "estimated", "estimated"),
        ("top-two", 0.01, "known", "known"),
        ("constrained-sr", 0.01, None, "known"),
        ("constrained-sr", 0.01, "estimated", "estimated"),
    ],
)
def test_a_plan_learns_the_noise_as_its_study_will(
    planned: list[str], policy: str, target: float, stated: str | None, taken: str
) -> None:
    found = rf.plan("paper-4", policy, target_error=target, scales=stated)
    assert planned == [found.to_dict()["scales"]] == [taken]
    is_noted = any("told the noise" in note for note in found.notes)
    assert is_noted == (policy == "top-two" and target < 1e-3 and stated is None)


@pytest.mark.parametrize("noise", [None, NOISE])
def test_a_plan_from_a_study_takes_the_noise_that_it_states(
    planned: list[str], noise: dict[str, Any] | None
) -> None:
    study = rf.Study.create(
        "half way", arms=["good", "dear"], objective="minimize mean(loss)",
        constraints="mean(risk) <= 0.5", budget=60, policy="top-two", noise=noise, seed=1,
        storage="memory://",
    )  # fmt: skip
    study.optimize(lambda arm, seed: {"loss": seed % 7 + len(arm), "risk": seed % 3 / 9}, most=30)
    rf.plan(study, target_error=0.01)
    assert planned == ["estimated" if noise is None else "known"]


def test_a_target_too_rare_to_be_counted_is_refused_before_anything_is_computed() -> None:
    with pytest.raises(InputError, match=r"is estimated, .*scales = 'known'"):
        rf.plan("paper-4", "top-two", target_error=1e-4, scales="estimated")
