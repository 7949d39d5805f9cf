"""Studies and instances without limits: the best arm is asked for, whatever else it does."""

from typing import Any

import numpy as np
import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.core.gaps import gap, margin, pair
from ringfence.policies.registry import POLICIES
from ringfence.reports.arms_table import layouts, rows_of
from ringfence.reports.verdict import sentence, verdict_document

CONTENT: dict[str, Any] = {
    "objective": "maximize score",
    "metrics": ["score"],
    "noise": {"family": "gaussian", "covariance": [[1.0]]},
    "arms": {
        name: {"mean": [mean]} for name, mean in zip("abcd", (0.0, 0.6, 1.4, 0.3), strict=True)
    },
}
FOR_ONE_ARM = sorted({one.name for one in POLICIES} - {"apt"})


def study_of(policy: str = "top-two", **more: Any) -> rf.Study:
    return rf.Study.create(
        "plain",
        arms=["a", "b", "c", "d"],
        objective="maximize score",
        policy=policy,
        budget=120,
        storage="memory://",
        seed=5,
        **more,
    )


def evaluate(arm: str, seed: int) -> dict[str, float]:
    mean = CONTENT["arms"][arm]["mean"][0]
    return {"score": float(np.random.default_rng(seed).normal(mean, 0.5))}


def test_every_arm_is_feasible_and_gaps_are_leads() -> None:
    estimates, scales, none = np.array([[0.0], [1.0]]), np.array([2.0]), np.zeros(0)
    assert margin(estimates, 0, scales, none) == -np.inf
    assert gap(*pair(estimates, 0, 1, scales, none)) == 2.0


@pytest.mark.parametrize("policy", FOR_ONE_ARM)
def test_every_policy_finds_the_best_arm_live(policy: str) -> None:
    study = study_of(policy)
    verdict = study.optimize(evaluate)
    assert verdict is not None
    assert (verdict.arm, verdict.verdict, verdict.chance_keeps_limits) == ("c", "feasible", 1.0)
    assert study.doctor().problems == ()


@pytest.mark.parametrize("scales", ["known", "estimated"])
@pytest.mark.parametrize("policy", FOR_ONE_ARM)
def test_every_policy_is_simulated(policy: str, scales: str) -> None:
    result = rf.simulate(
        rf.Instance.from_dict(CONTENT),
        policy,
        budget=60,
        replications=30,
        scales=scales,
        engine="reference",
    )
    assert result.error_rate < 0.5  # among four arms whoever guesses errs in three of four
    assert result.wrong_flag == 0


def test_without_limits_constrained_sr_is_successive_rejects() -> None:
    instance = rf.Instance.from_dict(CONTENT)
    mine, blind = (
        rf.simulate(instance, policy, budget=40, replications=200, engine="reference")
        for policy in ("constrained-sr", "successive-rejects")
    )
    assert 0 < mine.errors == blind.errors
    assert mine.mean_pulls == blind.mean_pulls


def test_the_theory_is_that_of_leads() -> None:
    instance = rf.Instance.from_dict(CONTENT)
    theory = instance.hardness
    assert [arm.kind for arm in theory.arms].count("feasible-suboptimal") == 3
    assert [arm.Delta for arm in theory.arms] == [arm.delta for arm in theory.arms]
    assert instance.oracle is not None
    assert instance.oracle.rate > 0.0
    assert instance.upper_bound(400) is not None


def test_what_people_and_programs_see_speaks_of_no_limits() -> None:
    study = study_of()
    verdict = study.optimize(evaluate)
    assert verdict is not None
    assert sentence(verdict).startswith("c is the best arm: ")
    assert "limit" not in sentence(verdict)
    head, _ = rows_of(layouts(verdict, (), verdict.arms)[0])
    assert head == ["arm", "chance best", "score", "pulls", "why"]
    document = verdict_document(verdict)
    assert [arm["margin"] for arm in document["arms"]] == [None] * 4
    assert document["flips"] == []
    assert "keep" not in study.record()


def test_the_best_arm_is_certified_and_nothing_is_gated() -> None:
    study = study_of(noise={"score": {"bounds": [-5, 7]}}, stop={"confidence": 0.9, "within": 3.0})
    verdict = study.optimize(evaluate)
    assert verdict is not None
    assert verdict.certificate is not None
    assert {str(one.kind) for one in verdict.certificate.open} <= {"no-better", "no_better"}
    with pytest.raises(InputError, match="has no limits"):
        study.gate("a")


def test_a_table_is_replayed() -> None:
    stream = np.random.default_rng(2)
    table = {
        "arm": np.repeat(["a", "b"], 200),
        "score": np.concatenate([stream.normal(0.0, 1.0, 200), stream.normal(2.0, 1.0, 200)]),
    }
    found = rf.replay(
        table, arm="arm", objective="maximize score", budgets=[20], policies=["uniform"],
        replications=20,
    )  # fmt: skip
    assert found.log.answer.name == "b"
    assert found.rows[0].right_rate == 1.0
