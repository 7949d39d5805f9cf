"""Limits relative to a baseline, simulated: engines agree, live studies agree, rates are right."""

import importlib
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ringfence as rf
from ringfence.core.arrays import Floats, Integers
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.streams import order_of_arms, round_stream
from ringfence.policies.policy import Policy
from ringfence.policies.registry import find_policy, policies_for
from ringfence.simulation import course, cpu
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from ringfence.simulation.tally import Tally
from ringfence.storage.memory import MemoryStorage
from tests.laws.recorded import RecordedLaw
from tests.laws.relative import ROOMS, check_relative, recorded_instance, run_plain
from tests.statistical.checks import check_same_rate

SEED = 5
every_policy = pytest.mark.parametrize(
    "policy", policies_for(BEST_FEASIBLE), ids=lambda policy: policy.name
)


def rooms() -> dict[str, ModuleType]:
    return {room: importlib.import_module(f"ringfence.{room}") for room in ROOMS}


@every_policy
@pytest.mark.parametrize("constraints", [1, 2])
def test_the_body_is_its_transcription_to_the_pull(policy: Policy, constraints: int) -> None:
    seen = check_relative(rooms(), policy, constraints=constraints, count=16)
    assert seen["right"] > 0
    assert seen["wrong"] > 0
    if policy.name != "uniform":
        for situation in (
            "on a limit",
            "tied",
            "nothing looks feasible",
            "the baseline looks best",
        ):
            assert seen[situation] >= 5, (situation, seen)
        met = not policy.has_phases
        assert seen["the baseline is pulled instead" if met else "the baseline is named"] >= 5


def whole_numbers(limits: list[str]) -> Instance:
    """Return a small table of whole numbers: arms tie all the time."""
    rng = np.random.default_rng(8)
    rows = [
        (f"v{arm}", float(x), float(y), float(z))
        for arm in range(4)
        for x, y, z in rng.integers(0, 4, (6, 3)) + np.array([arm % 2, arm // 2, 0])
    ]
    columns = dict(zip(("arm", "x", "y", "z"), zip(*rows, strict=True), strict=True))
    return Instance.from_frame(
        pd.DataFrame(columns), arm="arm", objective="minimize mean(x)", constraints=limits,
        baseline="v1",
    )  # fmt: skip


COMPILED = {
    "constrained-sr": ["mean(y) <= baseline(mean(y))"],
    "ocba-co": ["mean(y) <= 0.5 * baseline + 1", "mean(z) >= 1"],
}


@pytest.mark.parametrize("policy", COMPILED)
def test_compiled_code_is_its_body_to_the_bit(policy: str) -> None:
    experiment = Experiment(
        whole_numbers(COMPILED[policy]), find_policy(policy), 40, scales="estimated", batch=3
    )
    fast = cpu.run_chunk(experiment, 3, 1, 30)
    slow = run_plain(experiment, 3, 1, 30, rooms())
    for here, there in zip(fast, slow, strict=True):
        np.testing.assert_array_equal(here, there)
    assert 0 < slow.wrong.sum() < 30


# ------------------------------------------------------------------------------ a live study


class Uniforms:
    """The uniforms of a study's rounds, one after the other."""

    def __init__(self, batch: int, most: int) -> None:
        self.values = [u for r in range(1, most) for u in round_stream(SEED, r).random(batch)]

    def random(self) -> float:
        return float(self.values.pop(0))


def live(
    instance: Instance, samples: Floats, policy: str, budget: int, batch: int, **stated: Any
) -> Any:
    """Return the verdict of a study that is told the samples, arm by arm in their order."""
    metrics = instance.problem.metrics
    study = rf.Study.create(
        "live", arms=list(instance.arms), objective=str(instance.problem.objective),
        constraints=[str(one) for one in instance.problem.constraints], budget=budget,
        policy=policy, batch=batch, baseline=instance.baseline, seed=SEED, storage=MemoryStorage(),
        **stated,
    )  # fmt: skip
    taken = dict.fromkeys(instance.arms, 0)
    for pull in study.pulls(1):
        sample = samples[instance.arms.index(pull.arm), taken[pull.arm]]
        study.tell(pull, dict(zip(metrics, sample.tolist(), strict=True)))
        taken[pull.arm] += 1
    return study.recommend()


def same_order_of(arm_count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the body the study's own order of arms."""

    def same_order(_: Any, priorities: Integers, lane: int) -> None:
        priorities[:, lane] = order_of_arms(SEED, arm_count)

    monkeypatch.setattr(course, "shuffle", same_order)


def simulated(experiment: Experiment, monkeypatch: pytest.MonkeyPatch) -> Tally:
    """Return what the body does with the uniforms of a study's rounds."""
    order: Any = Uniforms(experiment.batch, experiment.budget)
    monkeypatch.setattr(Experiment, "streams", lambda *_: (None, order))
    return run_plain(experiment, 0, 0, 1, rooms())


def assert_same_course(verdict: Any, tally: Tally, instance: Instance, where: object) -> None:
    assert [arm.pulls for arm in verdict.arms] == tally.pulls.tolist(), where
    answer = instance.arms.index(verdict.arm)
    assert tally.chosen[answer, int(verdict.feasible)] == 1, where


@every_policy
def test_a_simulation_decides_as_a_live_study_on_the_same_pulls(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the study's own order of arms and uniforms, and pulls without ties."""
    arm_count, budget, batch = 5, 90, 4
    same_order_of(arm_count, monkeypatch)
    rng = np.random.default_rng(31)
    for number in range(4):
        means = rng.normal(0.0, 0.7, (arm_count, 1, 3)) + np.array([0.0, 2.0, 0.0])
        samples = means + rng.normal(size=(arm_count, budget, 3))
        instance = recorded_instance(samples, number, [1.1, 0.0], [0.2, 0.8], scales=np.ones(3))
        experiment = Experiment(instance, policy, budget, scales="estimated", batch=batch)
        tally = simulated(experiment, monkeypatch)
        verdict = live(instance, samples, policy.name, budget, batch)
        assert_same_course(verdict, tally, instance, number)


@dataclass(frozen=True)
class CorrelatedLaw(RecordedLaw):
    """A recording whose noise is known, correlations and all."""

    covariance: Floats

    @property
    def known_covariances(self) -> Floats:
        """The same of every arm."""
        return np.repeat(self.covariance[None], len(self.means), axis=0)


@every_policy
def test_a_study_with_its_noise_stated_is_the_simulation_that_knows_it(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Metrics in different units and correlated, with a baseline and without."""
    arm_count, budget, batch = 5, 90, 4
    same_order_of(arm_count, monkeypatch)
    rng = np.random.default_rng(32)
    deviations = np.array([0.5, 3.0, 1.0])
    correlations = np.array([[1.0, 0.6, -0.4], [0.6, 1.0, 0.1], [-0.4, 0.1, 1.0]])
    covariance = correlations * np.outer(deviations, deviations)
    others = 0
    for number, factor in enumerate([1.1, 0.0, 0.0]):
        means = (rng.normal(0.0, 0.7, (arm_count, 1, 3)) + np.array([0.0, 2.0, 0.0])) * deviations
        noise = rng.multivariate_normal(np.zeros(3), covariance, (arm_count, budget))
        constants = np.sqrt(0.5) / deviations
        limits = [0.6 if factor else 6.3, 0.4]
        instance = recorded_instance(means + noise, number, [factor, 0.0], limits, scales=constants)
        law: Any = instance.law
        law = CorrelatedLaw(law.means, law.constants, law.arrays, covariance)
        instance = replace(instance, law=law)
        experiment = Experiment(instance, policy, budget, scales="known", batch=batch)
        tally = simulated(experiment, monkeypatch)
        about = (instance, means + noise, policy.name, budget, batch)
        verdict = live(*about, noise={"covariance": covariance.tolist()})
        assert_same_course(verdict, tally, instance, number)
        others += live(*about) != verdict
    assert others == 3, "estimates would have given another verdict"


# ------------------------------------------------------------------- an independent calculation

MEANS = np.array([[1.0, 5.0], [0.5, 5.35], [0.2, 5.8], [1.6, 4.0]])
DEVIATIONS = np.array([1.0, 1.5])


def gaussian() -> Instance:
    return Instance.from_dict(
        {
            "objective": "minimize mean(x)",
            "constraints": ["mean(y) <= 1.1 * baseline(mean(y))"],
            "baseline": "a0",
            "metrics": ["x", "y"],
            "noise": {"family": "gaussian", "covariance": np.diag(DEVIATIONS**2).tolist()},
            "arms": {f"a{i}": {"mean": mean} for i, mean in enumerate(MEANS.tolist())},
        }
    )


def errors_by_hand(pulls: int, replications: int, *, baseline_varies: bool) -> int:
    """Return how often uniform errs, from nothing but normal means; arm 1 is right."""
    rng = np.random.default_rng(77)
    found = MEANS + rng.normal(size=(replications, *MEANS.shape)) * DEVIATIONS / np.sqrt(pulls)
    base = found[:, :1, 1] if baseline_varies else MEANS[0, 1]
    beyond = found[:, :, 1] - 1.1 * base
    objective = np.where(beyond <= 0.0, found[:, :, 0], np.inf)
    some = (beyond <= 0.0).any(axis=1)
    answer = np.where(some, objective.argmin(axis=1), beyond.argmin(axis=1))
    return int((~some | (answer != 1)).sum())


def test_uniform_errs_as_often_as_normal_means_say() -> None:
    """And not as often as with a baseline that is known: its noise is in every comparison."""
    replications, budget = 40_000, 80
    found = rf.simulate(gaussian(), "uniform", budget=budget, replications=replications, seed=9)
    by_hand = errors_by_hand(budget // 4, 200_000, baseline_varies=True)
    check_same_rate((found.errors, replications), (by_hand, 200_000), "errors")
    without = errors_by_hand(budget // 4, 200_000, baseline_varies=False)
    with pytest.raises(AssertionError):
        check_same_rate((found.errors, replications), (without, 200_000), "errors")
