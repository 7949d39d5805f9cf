"""A policy from outside is checked: its budget, its schedule, and every arm that it drops."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

import ringfence as rf
from ringfence.core import gaps
from ringfence.core.schedule import Phase, one_more_than_arms, successive_rejects_phases
from ringfence.policies import constrained_sr
from ringfence.policies.policy import PhasePolicy

SOUND = PhasePolicy(
    name="mine",
    summary="",
    schedule=successive_rejects_phases,
    minimum_budget=one_more_than_arms,
    reject=constrained_sr.reject,
)


def always(arm: int) -> Callable[..., int]:
    def reject(
        estimates: Any, counts: Any, alive: Any, scales: Any, thresholds: Any, priority: Any
    ) -> int:
        return arm

    return reject


def by_module(
    estimates: Any, counts: Any, alive: Any, scales: Any, thresholds: Any, priority: Any
) -> int:
    """Call another module's function by its attribute; drop the last of the others."""
    best = gaps.apparent_best(estimates, alive, scales, thresholds, priority)
    worst = -1
    for i in range(estimates.shape[0]):
        if alive[i] and i != best:
            worst = i
    return worst


@pytest.mark.parametrize(
    ("phases", "rule"),
    [
        ((), "pull every arm in the first phase"),
        ((Phase(0, 3, 1),), "pull every arm in the first phase"),
        ((Phase(1, 0, 3), Phase(-1, 0, 1)), "never pull less than nothing"),
        ((Phase(1, 0, 0),), "keep at least one arm"),
        ((Phase(1, 0, 2), Phase(1, 0, 3)), "never more than before"),
        ((Phase(1000, 0, 1),), "stay within the budget"),
    ],
)
def test_an_unsound_schedule_is_refused(phases: tuple[Phase, ...], rule: str) -> None:
    policy = replace(SOUND, schedule=lambda arm_count, budget: phases)
    with pytest.raises(rf.InputError, match=rule):
        rf.simulate("paper-3", policy, budget=100, replications=10)


@pytest.mark.parametrize("phases", [((25, 0, 1),), (Phase(25.5, 0, 1),), 25, None])  # type: ignore[arg-type]
def test_a_schedule_is_made_of_phases_in_whole_numbers(phases: Any) -> None:
    policy = replace(SOUND, schedule=lambda arm_count, budget: phases)
    with pytest.raises(rf.InputError, match=r"must be a tuple of Phase.*Change its schedule"):
        rf.simulate("paper-3", policy, budget=102, replications=10, scales="estimated")


@pytest.mark.parametrize("engine", ["cpu", "reference"])
@pytest.mark.parametrize("warm_up", [26, 100, 2.5, None])
def test_a_warm_up_beyond_the_budget_is_refused(warm_up: Any, engine: str) -> None:
    policy = replace(cast("rf.AdaptivePolicy", rf.find_policy("top-two")), name="mine")
    greedy = replace(policy, warm_up=lambda arm_count, budget: warm_up)
    with pytest.raises(rf.InputError, match="must be a whole number, at most 25 for each arm"):
        rf.simulate("paper-3", greedy, budget=100, replications=10, engine=engine)
    all_at_once = replace(policy, warm_up=lambda arm_count, budget: budget // arm_count)
    spent = rf.simulate("paper-3", all_at_once, budget=103, replications=10, engine=engine)
    assert sum(spent.mean_pulls.values()) == spent.pulls_used == 103


def test_dropping_arms_takes_a_rule() -> None:
    with pytest.raises(rf.InputError, match="come with a rejection rule"):
        rf.simulate("paper-3", replace(SOUND, reject=None), budget=100, replications=10)


@pytest.mark.parametrize("engine", ["cpu", "reference"])
@pytest.mark.parametrize("arm", [0, -1, 7])
def test_a_rule_that_drops_no_survivor_is_refused(arm: int, engine: str) -> None:
    """An arm twice, none, or one that does not exist: refused, not a number, not a hang."""
    policy = replace(SOUND, reject=always(arm))
    with pytest.raises(rf.InputError, match="named an arm that is not alive"):
        rf.simulate("paper-3", policy, budget=100, replications=20, engine=engine)


def test_a_rule_may_call_functions_through_their_module() -> None:
    compiled = rf.simulate("paper-1", replace(SOUND, reject=by_module), budget=40)
    assert 0.0 < compiled.error_rate < 1.0


def test_a_rule_that_cannot_be_compiled_is_refused_in_words() -> None:
    def reject(*everything: Any) -> int:
        return int(open("a rule does not read files").read())  # noqa: PTH123

    with pytest.raises(rf.InputError, match="cannot be compiled"):
        rf.simulate("paper-3", replace(SOUND, reject=reject), budget=100, replications=10)


def with_arrays(
    estimates: Any, counts: Any, alive: Any, scales: Any, thresholds: Any, priority: Any
) -> int:
    """Allocate an array, which only kernels that allocate themselves compile."""
    return int(np.argmax(np.where(alive, estimates[:, 0], -np.inf)))


def that_reads(
    estimates: Any, counts: Any, alive: Any, scales: Any, thresholds: Any, priority: Any
) -> int:
    return int(open("a rule does not read files").read())  # noqa: PTH123


@pytest.mark.parametrize("reject", [with_arrays, that_reads])
def test_rare_events_and_plans_refuse_rules_in_words_too(reject: Any) -> None:
    policy = replace(SOUND, reject=reject)
    for method in ("importance", "splitting"):
        with pytest.raises(rf.InputError, match="policy 'mine': its rule cannot be compiled"):
            rf.simulate("paper-3", policy, budget=100, method=method)
    with pytest.raises(rf.InputError, match="policy 'mine': its rule cannot be compiled"):
        rf.plan("paper-3", policy, target_error=0.1, brief=True)


def test_splitting_refuses_a_rule_that_drops_no_survivor() -> None:
    with pytest.raises(rf.InputError, match="named an arm that is not alive"):
        rf.simulate("paper-3", replace(SOUND, reject=always(0)), budget=100, method="splitting")


@pytest.mark.parametrize("engine", ["cpu", "reference"])
def test_a_rule_that_raises_is_named(engine: str) -> None:
    def reject(
        estimates: Any, counts: Any, alive: Any, scales: Any, thresholds: Any, priority: Any
    ) -> int:
        if counts[0] > 0:
            raise KeyError("of mine")
        return 0

    with pytest.raises(rf.InputError, match="policy 'mine': its rule raised KeyError: 'of mine'"):
        rf.simulate(
            "paper-3", replace(SOUND, reject=reject), budget=100, replications=1, engine=engine
        )


@pytest.mark.parametrize("instance", [None, 3, ["paper-3"]])
def test_what_is_no_instance_is_refused(instance: Any) -> None:
    with pytest.raises(rf.InputError, match=r"instance = .* must be a name, the path"):
        rf.simulate(instance, budget=100)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seed": 1.5}, "seed = 1.5 must be a whole number"),
        ({"replications": 1e3}, "replications = 1000.0 must be a whole number"),
        ({"batch": 2.5}, "batch = 2.5 must be a whole number"),
    ],
)
def test_numbers_that_are_not_whole_are_said_to_be_so(given: Any, message: str) -> None:
    with pytest.raises(rf.InputError, match=message):
        rf.simulate("paper-3", budget=100, **given)


@pytest.mark.parametrize("policy", [len, 3, None])
def test_what_is_no_policy_is_refused(policy: Any) -> None:
    with pytest.raises(rf.InputError, match="must be a name, a PhasePolicy or an AdaptivePolicy"):
        rf.simulate("paper-3", policy, budget=100, replications=10)


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    budget, replications, seed = cast("list[int]", list(np.array([2000, 1000, 3])))
    plain = rf.simulate("paper-3", budget=2000, replications=1000, seed=3)
    numpy = rf.simulate("paper-3", budget=budget, replications=replications, seed=seed)
    assert type(budget) is not int
    assert plain.errors == numpy.errors
    assert type(numpy.budget) is int
    budgets: Any = np.array([100, 200])
    rows = rf.compare("paper-3", policies="uniform", budgets=budgets, replications=10)
    assert [row.result.budget for row in rows] == [100, 200]
    # In 64 bits this schedule overflows.
    assert successive_rejects_phases(41, replications) == successive_rejects_phases(41, 1000)


def test_the_clock_runs_while_replications_do() -> None:
    started = time.perf_counter()
    result = rf.simulate("paper-3", budget=2000, replications=60, engine="reference")
    wall = time.perf_counter() - started
    assert 0.5 * wall <= result.seconds <= wall


def test_a_result_does_not_depend_on_its_company() -> None:
    alone = rf.compare("paper-3", policies=["uniform"], budgets=[500], replications=30_000)
    beside = rf.compare(
        "paper-3", policies=["constrained-sr", "uniform"], budgets=[500], replications=30_000
    )
    assert alone[0].result.errors == beside[1].result.errors


def test_an_instance_can_be_a_dictionary() -> None:
    content = {
        "objective": "minimize mean(x)",
        "constraints": ["mean(y) <= 1"],
        "metrics": ["x", "y"],
        "noise": {"family": "bernoulli"},
        "arms": {"a": {"mean": [0.1, 0.2]}, "b": {"mean": [0.9, 0.2]}},
    }
    assert rf.simulate(content, budget=40, replications=100).error_rate < 0.5


@pytest.mark.parametrize("scale", [1e-320, 1e308])
def test_numbers_beyond_floats_are_refused(scale: float) -> None:
    content = {
        "objective": "minimize mean(x)",
        "constraints": ["mean(y) <= 1"],
        "metrics": ["x", "y"],
        "noise": {"family": "gaussian", "covariance": [[scale, 0.0], [0.0, scale]]},
        "arms": {name: {"mean": [0.0, 0.0]} for name in "abcd"},
    }
    with pytest.raises(rf.InputError, match="other units"):
        rf.Instance.from_dict(content)


def test_rows_on_the_threshold_stay_on_it_however_many_are_summed() -> None:
    import pandas as pd

    frame = pd.DataFrame({"arm": ["u"] * 3, "x": [1.0, 2.0, 3.0], "y": [0.1] * 3})
    instance = rf.Instance.from_frame(
        frame, arm="arm", objective="minimize mean(x)", constraints=["mean(y) <= 0.1"]
    )
    assert instance.hardness.feasible
    for budget in (3, 4, 50, 300, 1000):
        assert rf.simulate(instance, "uniform", budget=budget, replications=64).errors == 0
