"""Limits relative to a baseline arm: how they are read, judged, and kept."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import digamma, polygamma

import ringfence as rf
from ringfence.core.baseline import difference_covariances, difference_scales, differences
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.errors import ExpressionError, InputError, NoAnswerError
from ringfence.core.expressions import parse_constraint
from ringfence.interfaces.studies import Study
from ringfence.interfaces.study_file import read_study_file
from ringfence.policies.registry import policies_for
from ringfence.storage.memory import MemoryStorage
from ringfence.study.verdict import Verdict

READ = {
    "mean(x) <= 1.1 * baseline(mean(x))": (1.1, 0.0),
    "mean(x) <= 1.1*baseline": (1.1, 0.0),
    "mean(x) >= baseline(mean(x))": (1.0, 0.0),
    "mean(x) <= baseline + 0.5": (1.0, 0.5),
    "mean(x) <= baseline(mean(x)) - 2e3": (1.0, -2000.0),
    "mean(x) >= 0.9 * baseline -1": (0.9, -1.0),
    "p95(x) <= 2 * baseline(p95(x)) +3": (2.0, 3.0),
}
UNREADABLE = {
    "mean(x) <= 1.1 * basline": 17,
    "mean(x) <= 1.1 *": 16,
    "mean(x) <= 1.1 * 2": 17,
    "mean(x) <= -1 * baseline": 11,
    "mean(x) <= 0 * baseline": 11,
    "mean(x) <= baseline(mean(y))": 20,
    "mean(x) <= baseline(p95(x))": 20,
    "mean(x) <= baseline(mean(x)": 27,
    "mean(x) <= baseline / 2": 20,
    "mean(x) <= 2 * baseline * 2": 24,
    "mean(x) <= baseline +": 21,
    "mean(x) <= baseline + 1 2": 24,
    "mean(x) <= baseline + 1e999": 22,
}
ARMS = {"control": (0.5, 100.0), "slow": (0.9, 125.0), "fine": (0.7, 105.0), "poor": (0.3, 90.0)}
BLIND = ("successive-rejects", "scalarised")  # they drop arms without regard to limits
LIMIT = "mean(ms) <= 1.1 * baseline(mean(ms))"


def evaluate(arm: str, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    score, delay = ARMS[arm]
    return {"score": score + 0.05 * rng.normal(), "ms": delay + 5.0 * rng.normal()}


def make(policy: str = "top-two", **changed: object) -> Study:
    settings: dict[str, object] = {
        "arms": list(ARMS), "objective": "maximize mean(score)", "constraints": [LIMIT],
        "budget": 160, "policy": policy, "baseline": "control", "storage": MemoryStorage(),
        "seed": 2,
    }  # fmt: skip
    return Study.create("guarded", **(settings | changed))  # type: ignore[arg-type]


@pytest.mark.parametrize("text", READ)
def test_relative_limits_are_read_and_written(text: str) -> None:
    found = parse_constraint(text)
    assert (found.factor, found.threshold) == READ[text]
    assert parse_constraint(str(found)) == found


@pytest.mark.parametrize("text", UNREADABLE)
def test_an_unreadable_limit_is_pointed_at(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_constraint(text)
    assert caught.value.position == UNREADABLE[text]


def test_differences_have_the_covariance_of_differences() -> None:
    """By simulation of the estimates themselves: the baseline's noise is in all of them."""
    rng = np.random.default_rng(5)
    counts, factors = np.array([40, 25, 10]), np.array([1.2, 0.0])
    roots = rng.normal(size=(3, 3, 3))
    covariances = roots @ roots.transpose(0, 2, 1)
    found = difference_covariances(covariances, counts, 1, factors)
    draws = np.stack(
        [
            rng.multivariate_normal(np.zeros(3), covariances[arm] / counts[arm], 200_000)
            for arm in range(3)
        ],
        axis=1,
    )
    seen = np.array([differences(one, 1, factors) for one in draws])
    for arm in range(3):
        scatter = counts[arm] * np.cov(seen[:, arm].T)
        spread = np.sqrt(np.outer(np.diag(found[arm]), np.diag(found[arm])))
        assert np.abs(scatter - found[arm]).max() < 0.02 * spread.max()
    assert difference_scales(np.array([1.0, 2.0, 3.0]), factors) == pytest.approx(
        [1.0, 2.0 / math.sqrt(1.0 + 1.44), 3.0]
    )


@pytest.mark.parametrize("policy", [policy.name for policy in policies_for(BEST_FEASIBLE)])
def test_the_best_arm_within_the_baselines_limits_is_found(policy: str) -> None:
    study = make(policy)
    verdict = study.optimize(evaluate)
    assert verdict is not None
    if policy not in BLIND:
        assert (verdict.arm, verdict.feasible) == ("fine", True)
    kinds = {arm.name: arm.kind for arm in verdict.arms}
    assert kinds["slow"] == "deceiver"
    slow = next(arm for arm in verdict.arms if arm.name == "slow")
    assert slow.blocked_by == (LIMIT,)
    assert slow.estimates["mean(ms)"].value == pytest.approx(125.0, abs=5.0)  # its own units
    assert "control" in study.status().alive
    assert verdict.pulls_used <= verdict.budget
    assert study.doctor().is_sound


@pytest.mark.parametrize("policy", ["constrained-sr", "infeasible-first", "sequential-halving"])
def test_a_baseline_is_never_rejected_however_bad(policy: str) -> None:
    study = make(policy, baseline="poor", constraints=["mean(ms) <= 1.2 * baseline"])
    verdict = study.optimize(evaluate)
    assert verdict is not None
    assert "poor" in study.status().alive
    assert len(study.status().alive) == 2
    assert (verdict.arm, verdict.feasible) == ("fine", True)


def test_an_adaptive_policy_pulls_the_baseline_as_often_as_any_other() -> None:
    verdict = make(batch=4, budget=400).optimize(evaluate)
    assert verdict is not None
    pulls = {arm.name: arm.pulls for arm in verdict.arms}
    assert pulls["control"] >= max(pulls.values()) - 4


def test_a_baseline_that_cannot_be_evaluated_ends_the_study() -> None:
    study = make("constrained-sr")

    def broken(arm: str, seed: int) -> dict[str, float]:
        if arm == "control":
            raise OSError("gone")
        return evaluate(arm, seed)

    with pytest.raises(NoAnswerError, match="baseline control was"):
        study.optimize(broken)
    assert study.doctor().is_sound


def test_nothing_is_judged_before_the_baseline_was_seen() -> None:
    study = make()
    for pull in study.ask(40):
        if pull.arm != "control":
            study.tell(pull, evaluate(pull.arm, pull.seed))
    assert study.status().arm is None
    with pytest.raises(NoAnswerError, match="Tell some pulls first"):
        study.recommend()


def told(values: dict[str, list[float]], limit: str) -> Verdict:
    """Return the verdict on given values of one metric, by arm."""
    count = len(next(iter(values.values())))
    study = Study.create(
        "given", arms=list(values), objective="minimize mean(x)", constraints=[limit],
        budget=count * len(values), policy="uniform", baseline="base", storage=MemoryStorage(),
        seed=1,
    )  # fmt: skip
    seen = dict.fromkeys(values, 0)
    for pull in study.pulls(1):
        study.tell(pull, {"x": values[pull.arm][seen[pull.arm]]})
        seen[pull.arm] += 1
    return study.recommend()


def spread(mean: float) -> list[float]:
    """Return values of a mean, with a variance of one."""
    raw = np.linspace(-1.0, 1.0, 50)
    return list(mean + (raw - raw.mean()) / raw.std(ddof=1))


def test_chances_know_that_all_arms_share_the_baselines_noise() -> None:
    """Two arms near the limit: with a baseline of its own each, more draws would have one pass."""
    verdict = told(
        {"base": spread(10.0), "a": spread(8.0), "b": spread(8.0)}, "mean(x) <= 0.8*baseline"
    )
    alone = [arm.chance_feasible for arm in verdict.arms[1:]]
    assert alone[0] is not None
    assert alone == pytest.approx([alone[0]] * 2, abs=0.02)
    # a - 0.8 base is normal: what is common to both arms is 0.64 of 1.64 of its variance.
    start = stats.norm.ppf(alone[0]) * math.sqrt(1.64)

    def either(base: float) -> float:
        below = stats.norm.cdf(start + 0.8 * base)
        return float(stats.norm.pdf(base) * (1.0 - (1.0 - below) ** 2))

    shared, _ = integrate.quad(either, -8.0, 8.0)
    apart = 1.0 - (1.0 - alone[0]) ** 2
    noise = math.sqrt(shared * (1.0 - shared) / 10_000)
    assert apart - shared > 8.0 * noise
    assert abs(verdict.chance_feasible - shared) < 5.0 * noise
    assert verdict.arms[0].chance_feasible == 0.0, "the baseline is far above 0.8 times itself"


def test_a_margin_counts_the_baselines_noise() -> None:
    verdict = told({"base": spread(10.0), "a": spread(8.0)}, "mean(x) <= 0.8 * baseline + 1")
    arm = verdict.arms[1]
    scale = 1.0 / math.sqrt(2.0 * (1.0 + 0.64))
    assert arm.margin == pytest.approx(-1.0 * scale, rel=1e-6)
    assert arm.margin_high is not None
    assert arm.margin is not None
    doubt = math.log(24.5) - digamma(24.5) + polygamma(1, 29.5) / 2.0  # 49 pulls, and ten of others
    reach = 1.96 * scale * math.sqrt((1.0 + 0.64) / 50.0 * math.exp(doubt))
    assert arm.margin_high - arm.margin == pytest.approx(reach, rel=1e-3)


def test_it_is_kept_and_must_be_the_same(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'b.db'}"
    make(storage=storage)
    again = Study.load("guarded", storage=storage)
    assert again.definition.baseline == "control"
    with pytest.raises(InputError, match="another baseline"):
        make(storage=storage, baseline="fine", load_if_exists=True)


def test_a_study_file_names_it(tmp_path: Path) -> None:
    path = tmp_path / "guarded.toml"
    path.write_text(
        f'name = "guarded"\nobjective = "maximize mean(score)"\nconstraints = ["{LIMIT}"]\n'
        'budget = 100\narms = ["control", "new"]\nbaseline = "control"\n'
    )
    assert read_study_file(path).open().definition.baseline == "control"


REFUSED: dict[str, tuple[str, Callable[[], object]]] = {
    "no baseline": ("baseline is missing", lambda: make(baseline=None)),
    "no arm": ("Did you mean 'control'", lambda: make(baseline="contrl")),
    "what if": ("relative to the baseline", lambda: make().what_if(0, 1.0)),
    "planned": ("cannot be planned from yet", lambda: rf.plan(make(), target_error=0.1)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_with_it_is_refused(case: str) -> None:
    words, act = REFUSED[case]
    with pytest.raises(InputError, match=words):
        act()
