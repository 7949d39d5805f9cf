"""Rare errors: estimates beside closed forms and counted errors, and guards that speak up."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.interfaces.rare import Hands, by_importance
from ringfence.policies.registry import QUICK_POLICIES, find_policy
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from ringfence.simulation.rare import importance
from ringfence.simulation.rare.modes import Mode, Stages, modes_of
from ringfence.simulation.rare.results import RareResult
from tests.choosing import few_of
from tests.e2e.command_line import ringfence

EXACT_AT_30000, EXACT_AT_60000 = 5.694e-8, 3.195e-14  # Phi(-0.05 sqrt(pulls of the best arm))


def experiment(instance: str | Instance, policy: str, budget: int, **more: Any) -> Experiment:
    loaded = Instance.load(instance) if isinstance(instance, str) else instance
    return Experiment(loaded, find_policy(policy), budget, **more)


def rare(instance: Any, budget: int, **more: Any) -> RareResult:
    found = rf.simulate(instance, budget=budget, **({"method": "importance"} | more))
    assert isinstance(found, RareResult)
    return found


def counted(instance: Any, policy: str, budget: int, n: int, **more: Any) -> tuple[float, float]:
    """Return the share of errors among plain replications, and its standard error."""
    told = {"scales": "known"} | more
    found = rf.simulate(instance, policy, budget=budget, replications=n, seed=99, **told)
    return found.error_rate, max(found.std_error, 1.0 / n)


# ------------------------------------------------------------------------------- closed forms


@pytest.mark.parametrize(("budget", "pulls"), [(30_000, 11_249), (60_000, 22_499)])
def test_the_first_instance_errs_as_a_normal_tail(budget: int, pulls: int) -> None:
    """There the best arm's own feasibility is all that matters in the end."""
    exact = float(stats.norm.sf(0.05 * math.sqrt(pulls)))
    found = rare("paper-1", budget, seed=3)
    assert abs(found.error_rate - exact) <= 4.0 * found.std_error
    assert found.std_error <= 0.012 * found.error_rate
    assert found.warnings == ()
    assert found.modes[0].what == "one seems to break constraint 1"


@pytest.mark.parametrize("budget", [400, 1000])
def test_a_policy_that_goes_by_a_sum_errs_as_a_normal_tail(budget: int) -> None:
    """Two arms, one phase: the difference of their sums has mean 1/2 and variance 4/n."""
    two = {
        "objective": "minimize mean(loss)",
        "constraints": ["mean(risk) <= 0"],
        "metrics": ["loss", "risk"],
        "noise": {"family": "gaussian", "covariance": [[1.0, 0.0], [0.0, 1.0]]},
        "arms": {"a": {"mean": [0.0, -0.5]}, "b": {"mean": [1.0, -1.0]}},
    }
    found = rare(two, budget, policy="scalarised", replications=20_000)
    exact = float(stats.norm.sf(0.25 * math.sqrt(found.pulls_used / 2)))
    assert abs(found.error_rate - exact) <= 4.0 * found.std_error
    assert found.modes[0].what == "b has a better sum of objective and constraints"


def test_splitting_knows_no_modes_and_agrees() -> None:
    found = rare("paper-1", 30_000, method="splitting")
    assert abs(math.log(found.error_rate / EXACT_AT_30000)) <= 4.0 * max(
        found.std_error / found.error_rate, 0.1
    )
    assert found.warnings == ()


# ------------------------------------------------------------------------------ counted errors


COUNTED = [
    (policy.name, instance, budget)
    for instance, budget in (("paper-3", 6000), ("paper-4", 2000))
    for policy in QUICK_POLICIES
]


@pytest.mark.parametrize(
    ("policy", "instance", "budget"),
    few_of(
        COUNTED,
        *((policy, "paper-3", 6000) for policy in ("infeasible-first", "uniform", "top-two")),
        ("constrained-sr", "paper-4", 2000),
    ),
)
def test_estimates_agree_with_counted_errors(policy: str, instance: str, budget: int) -> None:
    adaptive = experiment(instance, policy, budget).is_adaptive
    batch = budget // 100 if adaptive else 1
    n = 6000 if adaptive else 200_000
    plain, plain_error = counted(instance, policy, budget, n, batch=batch)
    drawn = by_importance(
        experiment(instance, policy, budget, batch=batch), min(n, 20_000), Hands(5),
        cross_check=False,
    )  # fmt: skip
    z = (drawn.error_rate - plain) / math.hypot(drawn.std_error, plain_error)
    assert abs(z) <= 4.0


def family_instance(family: Any) -> Instance:
    """Return three arms whose metrics are of one family, or of two."""
    noise: dict[str, Any] = {"family": family}
    if "gaussian" in family:
        noise["covariance"] = [[0.2]] if isinstance(family, list) else [[0.2, 0.05], [0.05, 0.2]]
    return Instance.from_dict(
        {
            "objective": "minimize mean(loss)",
            "constraints": ["mean(risk) <= 0.5"],
            "metrics": ["loss", "risk"],
            "noise": noise,
            "arms": {
                "good": {"mean": [0.5, 0.35]},
                "dear": {"mean": [0.7, 0.3]},
                "risky": {"mean": [0.35, 0.65]},
            },
        }
    )


FAMILIES: list[tuple[str, Any]] = [
    (policy, family)
    for policy in ("constrained-sr", "infeasible-first", "top-two")
    for family in ("bernoulli", "poisson", "exponential", ["gaussian", "bernoulli"])
]


@pytest.mark.parametrize(("policy", "family"), few_of(FAMILIES, *FAMILIES[:4]), ids=str)
def test_every_family_agrees_with_counted_errors(family: Any, policy: str) -> None:
    instance = family_instance(family)
    budget, batch = 400, 4 if policy == "top-two" else 1
    plain, plain_error = counted(
        instance, policy, budget, 200_000 if batch == 1 else 30_000, batch=batch
    )
    drawn = by_importance(
        experiment(instance, policy, budget, batch=batch), 20_000 if batch == 1 else 8000,
        Hands(5), cross_check=False,
    )  # fmt: skip
    z = (drawn.error_rate - plain) / math.hypot(drawn.std_error, plain_error)
    assert abs(z) <= 4.0
    mean = next(check for check in drawn.checks if check.what == "mean weight")
    assert mean.ok, mean.found


def test_intervals_cover_as_often_as_they_say() -> None:
    """A rate near 1e-4, known from two hundred million plain replications (seed 4)."""
    known, error = 1.0570e-4, 7.3e-7
    work = experiment("paper-4", "constrained-sr", 8700)
    hands = [Hands(seed, threads=1) for seed in range(200)]
    found = [by_importance(work, 2000, one, cross_check=False) for one in hands]
    covered = sum(
        one.interval[0] - 2 * error <= known <= one.interval[1] + 2 * error for one in found
    )
    assert covered >= 180
    rates = np.array([one.error_rate for one in found])
    z = (rates.mean() - known) / math.hypot(rates.std() / math.sqrt(200), error)
    assert abs(z) <= 4.0
    errors = np.array([one.std_error for one in found])
    assert rates.std() == pytest.approx(errors.mean(), rel=0.25)


# -------------------------------------------------------------------------------- guards


def test_a_mode_that_is_missing_makes_a_guard_speak_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the mode that explains nearly all errors, the estimate alone looks fine."""

    def fewer(instance: Instance, stages: Stages) -> list[Mode]:
        return [mode for mode in modes_of(instance, stages) if "better" not in mode.what]

    monkeypatch.setattr(importance, "modes_of", fewer)
    found = rare("paper-3", 40_000, replications=20_000)
    assert found.error_rate < 2e-5, "the truth is 3.5e-5"
    assert found.warnings
    assert found.to_dict()["warnings"] == list(found.warnings)


def test_guards_are_quiet_when_all_is_well() -> None:
    for instance, budget in (("paper-3", 40_000), ("paper-4", 10_000)):
        assert rare(instance, budget, replications=20_000).warnings == ()


@pytest.mark.parametrize("budget", [900_000, 5_000_000])
def test_errors_too_rare_for_numbers_are_said_to_be_so(budget: int) -> None:
    """About 1e-185, whose square is no number, and less than any number."""
    work = experiment("paper-1", "constrained-sr", budget)
    found = by_importance(work, 2000, Hands(0), cross_check=False)
    assert found.error_rate < 1e-150
    assert found.warnings


# ---------------------------------------------------------------------------- what is promised


def test_a_result_depends_on_the_seed_alone() -> None:
    one = rare("paper-4", 10_000, replications=5000, threads=1)
    two = rare("paper-4", 10_000, replications=5000, threads=2)
    other = rare("paper-4", 10_000, replications=5000, seed=1)
    assert (one.error_rate, one.std_error) == (two.error_rate, two.std_error)
    assert one.error_rate != other.error_rate


def test_auto_counts_what_can_be_seen_and_estimates_what_cannot() -> None:
    often = rf.simulate("paper-3", budget=1000, method="auto", replications=20_000)
    seldom = rf.simulate("paper-3", budget=40_000, method="auto", replications=20_000)
    assert (often.to_dict()["method"], seldom.to_dict()["method"]) == ("monte-carlo", "importance")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"scales": "estimated"}, "known"),
        ({"replications": 10}, "at least 1000"),
        ({"method": "magic"}, "monte-carlo"),
        ({"engine": "reference"}, "cpu"),
        ({"method": "splitting", "policy": "top-two"}, "phases"),
        ({"method": "splitting", "replications": 2000}, "replications = 2000 does not go with"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_remedy(more: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        rare("paper-1", **({"budget": 2000} | more))


def test_several_right_answers_are_refused() -> None:
    twins = Instance.from_dict(
        {
            "objective": "minimize mean(loss)",
            "constraints": ["mean(risk) <= 1"],
            "metrics": ["loss", "risk"],
            "noise": {"family": "gaussian", "covariance": [[1.0, 0.0], [0.0, 1.0]]},
            "arms": {"a": {"mean": [1.0, 0.5]}, "b": {"mean": [1.0, 0.5]}},
        }
    )
    with pytest.raises(InputError, match="several right answers"):
        rf.simulate(twins, budget=200, method="importance")


# -------------------------------------------------------------------------------- the command


def test_the_command_says_how_sure_it_is() -> None:
    asked = ("simulate", "paper-4", "--budget", "10000")
    words = (*asked, "--replications", "5000")
    done = ringfence(*words, "--method", "importance", "--json")
    assert (done.code, done.err) == (0, "")
    found = done.document
    assert found["method"] == "importance"
    assert found["ci_low"] <= found["error_rate"] <= found["ci_high"]
    assert found["warnings"] == [
        f"{check['what']}: {check['found']}" for check in found["checks"] if not check["ok"]
    ]
    assert {"slope", "splitting", "mean weight"} <= {check["what"] for check in found["checks"]}
    assert found["wrong_arm"] is None
    shown = ringfence(*words, "--method", "importance")
    assert shown.code == 0
    assert "how it errs" in shown.out
    assert "four looks better" in shown.out
    split = ringfence(*asked, "--method", "splitting", "--json").document
    assert 0.3 < split["error_rate"] / found["error_rate"] < 3.0
