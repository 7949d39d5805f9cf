"""Attributes of the user's own in a simulation: tables only, in plain Python, errors by name."""

import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ringfence
from ringfence.core.arrays import Floats
from ringfence.core.attributes import Own
from ringfence.core.errors import EstimateError, ExpressionError, InputError
from ringfence.policies.registry import find_policy
from ringfence.reports.theory import theory_document
from ringfence.simulation import cpu, reference
from ringfence.simulation.counts import Counts
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from tests.e2e.command_line import ringfence as command
from tests.statistical.checks import check_same_rate


def sharpe(gain: Floats) -> float:
    return float(gain.mean() / gain.std())


def ratio(gain: Floats, cost: Floats) -> float:
    return float(gain.sum() / cost.sum())


def frame() -> pd.DataFrame:
    """Return three arms: a good one, a worse one, and a better one that costs too much."""
    stream = np.random.default_rng(21)
    arms = [("good", 1.0, 1.0), ("worse", 0.6, 1.0), ("dear", 1.4, 4.0)]
    rows = [
        (name, float(gain), float(cost))
        for name, mean, price in arms
        for gain, cost in zip(
            mean + stream.normal(size=40), price * (0.5 + stream.random(40)), strict=True
        )
    ]
    return pd.DataFrame(rows, columns=["arm", "gain", "cost"])


def instance_of(objective: str, *constraints: str, **functions: Any) -> Instance:
    return Instance.from_frame(
        frame(), arm="arm", objective=objective, constraints=constraints, functions=functions
    )


def portfolio() -> Instance:
    return instance_of(
        "maximize sharpe(gain)", "ratio(gain, cost) >= 0.5", "p95(cost) <= 9",
        sharpe=sharpe, ratio=ratio,
    )  # fmt: skip


# ----------------------------------------------------------------------------- what is simulated


def test_the_truth_is_the_functions_value_on_the_rows() -> None:
    instance = portfolio()
    for place, (_, rows) in enumerate(frame().groupby("arm", sort=False)):
        gain, cost = rows["gain"].to_numpy(), rows["cost"].to_numpy()
        expected = [-sharpe(gain), -ratio(gain, cost), float((cost > 9).mean())]
        np.testing.assert_allclose(instance.means[place], expected, rtol=1e-12)
    assert instance.has_own
    assert [arm.kind for arm in instance.hardness.arms] == [
        "optimal",
        "feasible-suboptimal",
        "deceiver",
    ]


def test_the_noise_of_a_ratio_is_the_delta_methods() -> None:
    """Var(x - r y) / mean(y)^2, to first order."""
    instance = instance_of("maximize ratio(gain, cost)", "mean(gain) >= 0", ratio=ratio)
    for place, (_, rows) in enumerate(frame().groupby("arm", sort=False)):
        gain, cost = rows["gain"].to_numpy(), rows["cost"].to_numpy()
        rest = (gain - ratio(gain, cost) * cost) / cost.mean()
        expected = np.cov([-rest, -gain], ddof=0)
        found = instance.law.true_covariances[place]
        # Pulls are left out in 256 groups of the rows, four of them at a time: a noisy estimate.
        np.testing.assert_allclose(np.diagonal(found), np.diagonal(expected), rtol=0.3)


@pytest.mark.parametrize("scales", ["known", "estimated"])
@pytest.mark.parametrize("policy", ["constrained-sr", "uniform", "top-two"])
def test_functions_of_ones_own_are_simulated_by_the_reference_engine(
    policy: str, scales: str
) -> None:
    result = ringfence.simulate(
        portfolio(), policy, budget=60, replications=96, scales=scales, batch=8, seed=1
    )
    assert result.engine == "reference"
    assert result.replications == 96
    assert 0 < result.errors < 96
    again = ringfence.simulate(
        portfolio(), policy, budget=60, replications=96, scales=scales, batch=8, seed=1
    )
    assert (again.errors, again.mean_pulls) == (result.errors, result.mean_pulls)


def test_asking_for_the_reference_engine_changes_nothing() -> None:
    results = [
        ringfence.simulate(portfolio(), "uniform", budget=40, replications=20, engine=engine)
        for engine in ("cpu", "reference")
    ]
    assert results[0].engine == results[1].engine == "reference"
    assert results[0].errors == results[1].errors


def test_comparisons_take_functions_of_ones_own() -> None:
    rows = ringfence.compare(
        portfolio(), policies=["constrained-sr", "uniform"], budgets=[45], replications=40
    )
    assert [row.result.engine for row in rows] == ["reference", "reference"]
    alone = ringfence.simulate(portfolio(), "constrained-sr", budget=45, replications=40)
    assert rows[0].result.errors == alone.errors
    assert rows[0].ratio_to_first == 1.0


def test_ones_own_mean_errs_as_the_mean_does() -> None:
    """Catches pulls that a function does not see; the mean's error rate is the compiled one."""
    mine = instance_of("maximize mine(gain)", "mean(cost) <= 2", mine=lambda x: float(x.mean()))
    plain = instance_of("maximize mean(gain)", "mean(cost) <= 2")
    np.testing.assert_allclose(mine.means, plain.means, rtol=1e-12)
    policy, size = find_policy("uniform"), 200
    slow = Counts.of(reference.run_chunk(Experiment(mine, policy, 30), 1, 0, size))
    fast = Counts.of(cpu.run_chunk(Experiment(plain, policy, 30), 2, 0, 20_000))
    check_same_rate((slow.errors, size), (fast.errors, 20_000), "errors")
    assert fast.errors > 1000


def test_the_theory_takes_functions_of_ones_own() -> None:
    theory = theory_document(portfolio(), 100)
    assert theory["optimal"] == "good"
    assert theory["feasible"]
    assert math.isfinite(theory["H1"])
    assert theory["upper_bound"] is None


def test_compiled_code_refuses_functions_of_ones_own() -> None:
    experiment = Experiment(portfolio(), find_policy("uniform"), 40)
    with pytest.raises(InputError, match=r"cannot be compiled.*engine = 'reference'"):
        cpu.run_chunk(experiment, 0, 0, 1)


def test_methods_for_rare_errors_say_why_they_do_not_take_functions_of_ones_own() -> None:
    counted = ringfence.simulate(
        portfolio(), "uniform", budget=30, replications=20, seed=3, method="auto"
    )
    plain = ringfence.simulate(portfolio(), "uniform", budget=30, replications=20, seed=3)
    assert isinstance(counted, ringfence.SimulationResult)
    assert (counted.errors, counted.engine) == (plain.errors, "reference")
    with pytest.raises(InputError, match=r"cannot be tilted.*Use method = 'monte-carlo'"):
        ringfence.simulate(portfolio(), budget=30, method="importance")
    with pytest.raises(InputError, match=r"takes gaussian noise.*'monte-carlo'"):
        ringfence.simulate(portfolio(), budget=30, method="splitting")
    with pytest.raises(InputError, match=r"engine = 'reference' counts errors.*Leave one out"):
        ringfence.simulate(portfolio(), budget=30, method="auto", engine="reference")


def test_plans_refuse_functions_of_ones_own_with_a_way_out() -> None:
    with pytest.raises(InputError, match=r"functions of your own.*Simulate or replay the budgets"):
        ringfence.plan(portfolio(), target_error=0.1)


@pytest.mark.parametrize("policy", ["uniform", "top-two"])
def test_a_study_with_functions_of_ones_own_can_be_planned_from(policy: str) -> None:
    """Its estimates are taken for the truth: no function is called any more."""
    study = ringfence.Study.create(
        "own", arms=["good", "worse"], objective="maximize sharpe(gain)",
        constraints="mean(cost) <= 2", budget=60, functions={"sharpe": sharpe}, seed=1,
        storage="memory://",
    )  # fmt: skip
    rows = frame()
    study.bring(rows[rows["arm"] != "dear"], arm="arm", label="before")
    found = ringfence.plan(study, policy, target_error=0.2, brief=True)
    assert found.point.error_rate <= 0.2


# --------------------------------------------------------------------------------- what goes wrong


def needs(least: int) -> Callable[[Floats], float]:
    def picky(gain: Floats) -> float:
        if len(gain) < least:
            raise ZeroDivisionError(f"{len(gain)} pulls are too short")
        return float(gain.mean())

    return picky


@pytest.mark.parametrize("policy", ["constrained-sr", "uniform", "top-two"])
def test_a_function_that_raises_in_mid_simulation_is_named(policy: str) -> None:
    instance = instance_of("maximize picky(gain)", "mean(cost) <= 2", picky=needs(12))
    with pytest.raises(EstimateError) as caught:
        ringfence.simulate(instance, policy, budget=21, replications=5)
    message = str(caught.value)
    assert caught.value.arm in ("good", "worse", "dear")
    assert str(caught.value.attribute) == "picky(gain)"
    assert f"picky(gain) of arm {caught.value.arm!r}" in message
    assert "ZeroDivisionError" in message
    assert "too short" in message
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_function_may_say_how_many_pulls_it_needs() -> None:
    """Then too small a budget is refused before anything is pulled; one to leave out is added."""
    instance = instance_of(
        "maximize picky(gain)", "mean(cost) <= 2", picky=Own(needs(12), least_pulls=12)
    )
    with pytest.raises(InputError, match="uniform needs at least 39 pulls"):
        ringfence.simulate(instance, "uniform", budget=38, replications=5)
    assert ringfence.simulate(instance, "uniform", budget=39, replications=5).replications == 5
    for policy in ("constrained-sr", "top-two"):
        assert Experiment(instance, find_policy(policy), 200).warm_up >= 13


def test_a_function_that_fails_on_the_rows_is_named_at_once() -> None:
    with pytest.raises(EstimateError, match=r"hopeless\(gain\) of arm 'good'.*returned nan"):
        instance_of("maximize hopeless(gain)", "mean(cost) <= 2", hopeless=lambda x: math.nan)


# ------------------------------------------------------------------------------ instance files

MODULE = """
from ringfence.core.attributes import Own

def ratio(x, y):
    return float(x.sum() / y.sum())

class Inner:
    value = 3

number = 7
own = Own(ratio, least_pulls=3)
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Write a table and a module with functions; the module can be imported meanwhile."""
    (tmp_path / "own_attributes_of_a_test.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "broken_attributes_of_a_test.py").write_text("def f(:\n", encoding="utf-8")
    (tmp_path / "raising_attributes_of_a_test.py").write_text("1 / 0\n", encoding="utf-8")
    frame().to_csv(tmp_path / "rows.csv", index=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in list(sys.modules):
        if name.endswith("_attributes_of_a_test"):
            del sys.modules[name]


FILE = """
objective = "{objective}"
constraints = ["mean(cost) <= 2"]
[functions]
{functions}
[noise]
family = "table"
path = "rows.csv"
arm = "arm"
"""


def write(folder: Path, functions: str, objective: str = "maximize mine(gain, cost)") -> Path:
    path = folder / "study.toml"
    text = FILE.format(functions=functions, objective=objective)
    path.write_text(dedent(text), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["ratio", "own"])
def test_a_file_names_its_functions(study: Path, name: str) -> None:
    path = write(study, f'mine = "own_attributes_of_a_test:{name}"')
    instance = Instance.load(path)
    expected = instance_of("maximize ratio(gain, cost)", "mean(cost) <= 2", ratio=ratio)
    np.testing.assert_allclose(instance.means, expected.means, rtol=1e-12)
    result = ringfence.simulate(path, "uniform", budget=30, replications=4)
    assert result.engine == "reference"


REFUSED = {
    "no module": ("nowhere_at_all.attributes:f", ["cannot be loaded", "nowhere_at_all"]),
    "no such function": ("own_attributes_of_a_test:ration", ["cannot be loaded", "ration"]),
    "no colon": ("own_attributes_of_a_test.ratio", ["must read 'package.module:function'"]),
    "nothing after the colon": ("own_attributes_of_a_test:", ["must read 'package.module:"]),
    "nothing before the colon": (":ratio", ["must read 'package.module:function'"]),
    "not callable": ("own_attributes_of_a_test:number", ["must be a function"]),
    "a relative module": (".own_attributes_of_a_test:ratio", ["'.own_attributes_of_a_test:ratio'"]),
    "a module with a mistake": ("broken_attributes_of_a_test:f", ["cannot be loaded"]),
    "a module that raises": ("raising_attributes_of_a_test:f", ["cannot be loaded", "division"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_function_that_cannot_be_loaded_is_named(study: Path, case: str) -> None:
    text, words = REFUSED[case]
    path = write(study, f'mine = "{text}"')
    with pytest.raises(InputError) as caught:
        Instance.load(path)
    assert str(caught.value).startswith(f"{path}: functions.mine = {text!r}")
    for word in words:
        assert word in str(caught.value)
    assert (
        str(caught.value)
        .partition(". Did you")[0]
        .rstrip(".")
        .endswith(("Correct or install it", "Name both", "Name one"))
    )


def test_the_command_refuses_it_without_a_traceback(study: Path) -> None:
    done = command("gaps", write(study, 'mine = "nowhere_at_all:f"'))
    assert done.code == 2
    assert done.out == ""
    assert "functions.mine = 'nowhere_at_all:f' cannot be loaded" in done.err


def test_functions_must_be_texts(study: Path) -> None:
    with pytest.raises(InputError, match=r"functions\.mine = 3 must be text"):
        Instance.load(write(study, "mine = 3"))


def test_a_name_that_is_taken_is_refused(study: Path) -> None:
    with pytest.raises(InputError, match="'mean' is taken"):
        Instance.load(write(study, 'mean = "own_attributes_of_a_test:ratio"'))


def test_a_misspelt_function_is_pointed_at(study: Path) -> None:
    path = write(study, 'mine = "own_attributes_of_a_test:ratio"', "maximize mined(gain, cost)")
    with pytest.raises(ExpressionError, match="Did you mean 'mine'"):
        Instance.load(path)


@pytest.mark.parametrize("family", ["gaussian", "bernoulli", "poisson", "exponential"])
def test_other_families_have_no_truth_for_functions_of_ones_own(study: Path, family: str) -> None:
    noise: dict[str, Any] = {"family": family}
    if family == "gaussian":
        noise["covariance"] = [[1.0, 0.0], [0.0, 1.0]]
    content = {
        "objective": "maximize mine(gain, cost)",
        "constraints": ["mean(cost) <= 2"],
        "metrics": ["gain", "cost"],
        "functions": {"mine": "own_attributes_of_a_test:ratio"},
        "noise": noise,
        "arms": {"one": {"mean": [0.5, 0.5]}},
    }
    with pytest.raises(InputError, match=r"mine\(gain, cost\).*family = 'table'.*Use a table"):
        Instance.from_dict(content)
