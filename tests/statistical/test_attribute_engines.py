"""Attributes other than the mean, simulated: compiled against reference, and against closed forms.

A limit on a share fails as often as a binomial says, one on a variance as often as a chi-square
says, and order statistics decide between quantiles. All comparisons are two-sided at alpha = 1e-6
on fixed seeds; tests/faults runs them on planted faults, which must be noticed.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import ringfence
from ringfence.core.errors import InputError
from ringfence.policies.registry import find_policy
from ringfence.reports.theory import theory_document
from ringfence.simulation import cpu, reference
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from ringfence.simulation.laws import Law
from tests.choosing import few_of
from tests.statistical.checks import check_rate, check_same_rate
from tests.statistical.test_error_rates import Engine, Sample, check_same_engine, essence, sampled

BUDGET = 47  # leaves a remainder to every policy

# ------------------------------------------------------------------------------- the instances


def build(
    objective: str,
    constraints: list[str],
    noise: dict[str, Any],
    means: list[list[float]],
    **own: list[list[float]],
) -> Instance:
    """Return an instance of metrics x and y; `own` gives arms a covariance of their own."""
    arms = {
        f"arm{i}": {"mean": mean, **({"covariance": own[f"arm{i}"]} if f"arm{i}" in own else {})}
        for i, mean in enumerate(means)
    }
    return Instance.from_dict(
        {
            "objective": objective,
            "constraints": constraints,
            "metrics": ["x", "y"],
            "noise": noise,
            "arms": arms,
        }
    )


GAUSSIAN = {"family": "gaussian", "covariance": [[1.0, 0.5], [0.5, 2.0]]}
EXPONENTIAL = {"family": "exponential"}
ARMS = [[0.0, 0.0], [0.4, -0.3], [-0.2, 0.8]]


def latency() -> Instance:
    return build("minimize mean(x)", ["p95(y) <= 2.5"], GAUSSIAN, ARMS)


def least_quantile() -> Instance:
    means = [[1.0, 0.8], [1.5, 0.6], [0.8, 1.6]]
    return build("minimize p90(x)", ["mean(y) <= 1.1"], EXPONENTIAL, means)


def most_quantile() -> Instance:
    noise = {"family": ["gaussian", "bernoulli"], "covariance": [[1.0]]}
    means = [[0.7, 0.3], [0.2, 0.2], [0.9, 0.6]]
    return build("maximize quantile(x, 0.2)", ["mean(y) <= 0.45"], noise, means)


def spreads() -> Instance:
    return build(
        "minimize mean(x)",
        ["variance(y) <= 2.6", "std(x) >= 0.8"],
        GAUSSIAN,
        [[0.2, 0.0], [0.5, 0.0], [0.0, 5.0]],
        arm2=[[1.0, 0.0], [0.0, 4.0]],
    )


def tails() -> Instance:
    means = [[1.2, 0.9], [0.9, 0.6], [1.5, 1.4]]
    limits = ["cvar(y, 0.9) <= 3.6", "lower_cvar(x, 0.25) >= 0.05"]
    return build("maximize mean(x)", limits, EXPONENTIAL, means)


def shares() -> Instance:
    return build("minimize mean(x)", ["share(y > 1) <= 0.3"], GAUSSIAN, ARMS)


def counts() -> Instance:
    means = [[1.0, 0.9], [1.6, 0.8], [0.9, 1.9]]
    limits = ["share(y >= 2) <= 0.35", "p90(x) <= 4"]
    return build("minimize cvar(x, 0.8)", limits, {"family": "poisson"}, means)


@cache
def rows() -> Instance:
    """Return a table with far outliers, and few enough rows for ties."""
    stream = np.random.default_rng(8)
    table = [
        (f"v{arm}", float(x), float(y))
        for arm, (gain, spread, size) in enumerate([(0.0, 1.0, 9), (0.3, 0.8, 12), (-0.3, 2.0, 30)])
        for x, y in zip(
            np.round(gain + stream.standard_t(2.0, size), 2),
            np.round(spread * stream.normal(size=size), 1),
            strict=True,
        )
    ]
    return Instance.from_frame(
        pd.DataFrame(table, columns=["arm", "x", "y"]),
        arm="arm",
        objective="minimize robust_mean(x)",
        constraints=["variance(y) <= 1.5"],
    )


INSTANCES: dict[str, Callable[[], Instance]] = {
    instance.__name__: instance
    for instance in (latency, least_quantile, most_quantile, spreads, tails, shares, counts, rows)
}
# ------------------------------------------------------------------- compiled against reference

CELLS = [
    ("latency", "constrained-sr", "known"),
    ("latency", "constrained-sr", "estimated"),
    ("latency", "uniform", "known"),
    ("latency", "top-two", "estimated"),
    ("least_quantile", "constrained-sr", "known"),
    ("least_quantile", "constrained-sr", "estimated"),
    ("least_quantile", "uniform", "estimated"),
    ("least_quantile", "top-two", "known"),
    ("most_quantile", "constrained-sr", "estimated"),
    ("most_quantile", "top-two", "estimated"),
    ("spreads", "constrained-sr", "estimated"),
    ("spreads", "uniform", "known"),
    ("tails", "constrained-sr", "known"),
    ("tails", "constrained-sr", "estimated"),
    ("shares", "constrained-sr", "estimated"),
    ("counts", "constrained-sr", "estimated"),
    ("counts", "uniform", "estimated"),
    ("rows", "constrained-sr", "known"),
    ("rows", "constrained-sr", "estimated"),
    ("rows", "uniform", "known"),
]
FEW_CELLS = [  # nearly every instance, both kinds of scales, and every kind of policy
    ("latency", "constrained-sr", "estimated"),
    ("latency", "uniform", "known"),
    ("latency", "top-two", "estimated"),
    ("spreads", "constrained-sr", "estimated"),
    ("tails", "constrained-sr", "known"),
    ("shares", "constrained-sr", "estimated"),
    ("counts", "constrained-sr", "estimated"),
    ("rows", "constrained-sr", "known"),
]


def compiled(experiment: Experiment) -> Sample:
    return sampled(cpu.run_chunk, experiment, seed=1, chunks=100, size=200)


def plain(experiment: Experiment, run: Engine = reference.run_chunk) -> Sample:
    chunks = 20 if experiment.is_adaptive else 50
    return sampled(run, experiment, seed=2, chunks=chunks, size=20)


def cell(name: str, policy: str, scales: str) -> Experiment:
    return Experiment(INSTANCES[name](), find_policy(policy), BUDGET, scales=scales, batch=5)


@pytest.mark.parametrize(("name", "policy", "scales"), few_of(CELLS, *FEW_CELLS))
def test_compiled_engine_errs_as_often_as_the_reference(
    name: str, policy: str, scales: str
) -> None:
    """Catches pulls that are lost or kept, a wrong attribute, a wrong scatter, a wrong sign."""
    experiment = cell(name, policy, scales)
    fast = compiled(experiment)
    check_same_engine(fast, plain(experiment))
    rate = fast.counts.errors / fast.counts.replications
    assert 0.05 < rate < 0.95, f"an error rate of {rate} shows little"


# --------------------------------------------------------------------------------- closed forms

PULLS = 40


def single(limit: str, noise: dict[str, Any], mean: float, *, pulls: int = PULLS) -> Experiment:
    """Return one arm whose flag alone can be wrong; the objective is a metric of its own."""
    instance = build("minimize mean(x)", [limit], noise, [[0.0, mean]])
    return Experiment(instance, find_policy("uniform"), pulls)


def pair(objective: str, family: str, means: tuple[float, float], *, pulls: int) -> Experiment:
    """Return two arms that differ in the objective alone, and are always feasible."""
    noise = {"family": [family, "bernoulli"]}
    arms = [[mean, 0.5] for mean in means]
    return Experiment(
        build(objective, ["mean(y) <= 2"], noise, arms), find_policy("uniform"), 2 * pulls
    )


NORMAL = {"family": "gaussian", "covariance": [[1.0, 0.0], [0.0, 4.0]]}
WAITING = {"family": ["gaussian", "exponential"], "covariance": [[1.0]]}


def flag_forms() -> dict[str, tuple[Experiment, float]]:
    """Return experiments, and how often the flag of their only arm is wrong.

    40 pulls allow for two beyond a 95th percentile and eight below a fifth.
    """
    beyond = float(stats.norm.sf(3.0, 0.0, 2.0))
    below = float(stats.norm.cdf(-1.2, 0.0, 2.0))
    chi = stats.chi2(PULLS - 1)
    at_least = float(stats.expon.sf(2.0))
    return {
        "p95 kept": (
            single("p95(y) <= 3.6", NORMAL, 0.0),
            float(stats.binom.sf(2, PULLS, stats.norm.sf(1.8))),
        ),
        "p95 broken": (
            single("p95(y) <= 3.0", NORMAL, 0.0),
            float(stats.binom.cdf(2, PULLS, beyond)),
        ),
        "a fifth, broken": (
            single("quantile(y, 0.2) >= -1.2", NORMAL, 0.0),
            float(stats.binom.cdf(8, PULLS, below)),
        ),
        "share from": (
            single("share(y >= 2) >= 0.1", WAITING, 1.0),
            float(stats.binom.cdf(3, PULLS, at_least)),
        ),
        "variance kept": (
            single("variance(y) <= 4.8", NORMAL, 7.0),
            float(chi.sf((PULLS - 1) * 4.8 / 4.0)),
        ),
        "std broken": (
            single("std(y) >= 2.2", NORMAL, -3.0),
            float(chi.sf((PULLS - 1) * 4.84 / 4.0)),
        ),
        # Ten pulls: a tenth of them is one, the largest or the least.
        "cvar kept": (
            single("cvar(y, 0.9) <= 3.5", WAITING, 1.0, pulls=10),
            1.0 - float(stats.expon.cdf(3.5)) ** 10,
        ),
        "lower cvar broken": (
            single("lower_cvar(y, 0.1) >= 0.12", WAITING, 1.0, pulls=10),
            math.exp(-1.2),
        ),
    }


def earlier(rank: int, pulls: int, one: float, other: float) -> float:
    """Return how often the `rank`-th of one exponential's pulls is below another's."""
    law = stats.beta(rank, pulls + 1 - rank)
    found, _ = integrate.quad(
        lambda u: law.pdf(u) * law.sf(-math.expm1(one / other * math.log1p(-u))), 0.0, 1.0
    )
    return float(found)


def pair_forms() -> dict[str, tuple[Experiment, float]]:
    """Return experiments, and how often the wrong one of two arms is chosen.

    Of ten pulls exactly three have 0.3 of all up to them: the third counts to minimize, the fourth
    to maximize.
    """
    spread = Instance.from_dict(
        {
            "objective": "minimize std(x)",
            "constraints": ["mean(y) <= 9"],
            "metrics": ["x", "y"],
            "noise": {"family": "gaussian"},
            "arms": {
                "narrow": {"mean": [5.0, 0.0], "covariance": [[1.0, 0.3], [0.3, 1.0]]},
                "wide": {"mean": [-5.0, 0.0], "covariance": [[2.0, 0.0], [0.0, 1.0]]},
            },
        }
    )
    return {
        "median": (
            pair("minimize p50(x)", "exponential", (1.0, 1.5), pulls=11),
            1.0 - earlier(6, 11, 1.0, 1.5),
        ),
        "p90 of ten": (
            pair("minimize p90(x)", "exponential", (1.0, 1.5), pulls=10),
            1.0 - earlier(9, 10, 1.0, 1.5),
        ),
        "the third of ten": (
            pair("minimize quantile(x, 0.3)", "exponential", (1.0, 2.0), pulls=10),
            1.0 - earlier(3, 10, 1.0, 2.0),
        ),
        "the fourth of ten": (
            pair("maximize quantile(x, 0.3)", "exponential", (1.0, 2.0), pulls=10),
            1.0 - earlier(4, 10, 1.0, 2.0),
        ),
        "spreads": (
            Experiment(spread, find_policy("uniform"), 24),
            float(stats.f.sf(2.0, 11, 11)),
        ),
    }


FORMS = {**flag_forms(), **pair_forms()}


def check_form(run: Engine, name: str, *, size: int, law: Law | None = None) -> None:
    """Compare an error rate with its exact value; another law may stand in, to be found out."""
    experiment, rate = FORMS[name]
    if law is not None:
        instance = replace(experiment.instance, law=law)
        experiment = Experiment(instance, experiment.policy, experiment.budget)
    assert 0.02 < rate < 0.98, "a rate that shows something"
    tally = run(experiment, 6, 0, size)
    check_rate(int(tally.wrong.sum()), size, rate, name)
    if len(experiment.instance.arms) == 1:
        np.testing.assert_array_equal(tally.wrong, tally.flag_wrong)


@pytest.mark.parametrize("name", FORMS)
def test_errors_are_as_frequent_as_closed_forms_say(name: str) -> None:
    """Catches a lost pull, a wrong rank, a wrong divisor, a wrong side: in either engine."""
    check_form(cpu.run_chunk, name, size=20_000)
    check_form(reference.run_chunk, name, size=1000)


@pytest.mark.parametrize("policy", few_of(["constrained-sr", "uniform"], "constrained-sr"))
def test_a_share_errs_as_a_bernoulli_metric_does(policy: str) -> None:
    """The share of a metric beyond a number is a coin; the objective is independent of both.

    The noise is estimated: what is known of a coin is Hoeffding's bound, of a share its variance.
    """
    cut = 0.4
    levels = [-0.8, -1.2, 0.1]
    normal = {"family": "gaussian", "covariance": [[1.0, 0.0], [0.0, 1.0]]}
    here = build(
        "minimize mean(x)",
        [f"share(y > {cut}) <= 0.2"],
        normal,
        [[x, y] for x, y in zip([0.2, 0.5, 0.0], levels, strict=True)],
    )
    coins = {"family": ["gaussian", "bernoulli"], "covariance": [[1.0]]}
    there = build(
        "minimize mean(x)",
        ["mean(y) <= 0.2"],
        coins,
        [[x, float(stats.norm.sf(cut - y))] for x, y in zip([0.2, 0.5, 0.0], levels, strict=True)],
    )
    np.testing.assert_allclose(here.means, there.means, rtol=1e-12)
    experiments = [
        Experiment(instance, find_policy(policy), 60, scales="estimated")
        for instance in (here, there)
    ]
    tallies = [
        cpu.run_chunk(experiment, seed, 0, 40_000) for seed, experiment in enumerate(experiments)
    ]
    for what in ("wrong", "flag_wrong"):
        first, second = (int(getattr(tally, what).sum()) for tally in tallies)
        check_same_rate((first, 40_000), (second, 40_000), what)
        assert first > 0
    assert tallies[0].wrong.sum() > 4000


JUDGED = [
    ("p95(y) <= 2.5", "share(y > 2.5) <= 0.05"),
    ("quantile(y, 0.2) >= -1.5", "share(y < -1.5) <= 0.2"),
    ("p90(y) >= 1.5", "share(y < 1.5) <= 0.9"),
]


@pytest.mark.parametrize("policy", ["constrained-sr", "uniform", "top-two"])
@pytest.mark.parametrize(("limit", "share"), JUDGED)
def test_a_limit_on_a_quantile_is_the_share_written_by_hand(
    limit: str, share: str, policy: str
) -> None:
    """The same counts, to the replication."""
    instances = [build("minimize mean(x)", [text], GAUSSIAN, ARMS) for text in (limit, share)]
    given: dict[str, Any] = {"budget": BUDGET, "replications": 2000, "batch": 5}
    results = [
        essence(ringfence.simulate(instance, policy, scales="estimated", **given))
        for instance in instances
    ]
    assert results[0] == results[1]
    assert results[0]["errors"] > 0


# ------------------------------------------------------------------------------- consistency

EASY = {
    "latency": build("minimize mean(x)", ["p95(y) <= 4.0"], GAUSSIAN, [[0, 0], [1, 0], [-1, 4]]),
    "least_quantile": build(
        "minimize p90(x)", ["mean(y) <= 1.5"], EXPONENTIAL, [[1, 0.8], [3, 0.8], [0.5, 3]]
    ),
}


@pytest.mark.parametrize("policy", few_of(["constrained-sr", "uniform"], "constrained-sr"))
@pytest.mark.parametrize("name", EASY)
def test_errors_vanish_as_the_budget_grows(name: str, policy: str) -> None:
    results = [
        ringfence.simulate(
            EASY[name], policy, budget=budget, replications=4000, scales="estimated", seed=7
        )
        for budget in (12, 48, 768)
    ]
    for before, after in pairwise(results):
        assert after.interval[1] < before.interval[0]
    assert results[-1].error_rate <= 0.001


# ------------------------------------------------------------------------- what else must work


@pytest.mark.parametrize("name", few_of(["latency", "least_quantile", "rows"], "latency"))
def test_comparisons_take_any_attribute(name: str) -> None:
    policies = ["constrained-sr", "uniform"]
    found = ringfence.compare(
        INSTANCES[name](), policies=policies, budgets=[BUDGET], replications=1000, seed=3
    )
    assert [row.result.policy for row in found] == policies
    assert found[0].ratio_to_first == 1.0
    for row, policy in zip(found, policies, strict=True):
        alone = ringfence.simulate(
            INSTANCES[name](), policy, budget=BUDGET, replications=1000, seed=3
        )
        assert essence(row.result) == essence(alone)
    assert all(row.result.engine == "cpu" for row in found)


def test_the_theory_of_a_percentile_is_that_of_its_share() -> None:
    instance = latency()
    theory = theory_document(instance, 500)
    shares_beyond = stats.norm.sf((2.5 - np.array(ARMS)[:, 1]) / math.sqrt(2.0))
    scale = math.sqrt(0.5 / np.mean(shares_beyond * (1.0 - shares_beyond)))
    margins = [arm["margin"] for arm in theory["arms"]]
    np.testing.assert_allclose(margins, scale * (shares_beyond - 0.05), rtol=1e-9)
    assert theory["optimal"] == "arm0"
    assert theory["feasible"]
    assert [arm["kind"] for arm in theory["arms"]] == ["optimal", "feasible-suboptimal", "deceiver"]
    assert theory["oracle_rate"] > 0.0
    assert sum(theory["oracle_allocation"].values()) == pytest.approx(1.0)
    assert not theory["oracle_is_exact"]
    assert theory["upper_bound"] is None
    assert theory["lower_bound_rate"] is None
    for rate in theory["policy_rates"].values():
        assert 0.0 <= rate <= theory["oracle_rate"] * (1.0 + 1e-9)


@pytest.mark.parametrize("name", ["least_quantile", "most_quantile", "spreads", "tails", "rows"])
def test_every_theory_is_sound(name: str) -> None:
    theory = theory_document(INSTANCES[name]())
    assert theory["optimal"] in ("arm0", "v0")
    assert theory["feasible"]
    assert math.isfinite(theory["H1"])
    assert theory["oracle_rate"] > 0.0


BATCHED = [
    ("latency", "known"),
    ("latency", "estimated"),
    ("least_quantile", "known"),
    ("least_quantile", "estimated"),
]


@pytest.mark.parametrize(("name", "scales"), few_of(BATCHED, ("latency", "estimated")))
def test_batches_spend_the_budget(name: str, scales: str) -> None:
    result = ringfence.simulate(
        INSTANCES[name](), "top-two", budget=100, replications=200, scales=scales, batch=7
    )
    assert sum(result.mean_pulls.values()) == pytest.approx(100.0)
    assert result.pulls_used == 100
    assert result.batch == 7


LEAST = {"constrained-sr": 8, "uniform": 6, "sequential-halving": 12, "top-two": 6, "ocba-co": 6}


@pytest.mark.parametrize("policy", LEAST)
@pytest.mark.parametrize("name", ["spreads", "least_quantile"])
def test_a_budget_without_two_pulls_an_arm_is_refused(name: str, policy: str) -> None:
    least = LEAST[policy]
    match = f"budget = {least - 1} is too small for 3 arms: {policy} needs at least {least} pulls"
    with pytest.raises(InputError, match=match):
        ringfence.simulate(INSTANCES[name](), policy, budget=least - 1, replications=10)
    experiment = Experiment(INSTANCES[name](), find_policy(policy), least)
    assert reference.run_chunk(experiment, 0, 0, 3).pulls.min() >= 6


def test_a_share_needs_a_single_pull() -> None:
    experiment = Experiment(latency(), find_policy("uniform"), 4)
    pulls = cpu.run_chunk(experiment, 0, 0, 50).pulls
    assert pulls.sum() == 200
    assert pulls.min() >= 50


@pytest.mark.parametrize(
    ("name", "budget", "warm_up"),
    [
        ("least_quantile", 3000, 50),  # five beyond a 90th percentile
        ("least_quantile", 301, 50),
        ("least_quantile", 299, 49),  # at most half of an arm's share
        ("least_quantile", 90, 15),
        ("least_quantile", 6, 2),
        ("most_quantile", 3000, 25),
        ("tails", 3000, 50),
        ("latency", 3000, 10),  # judged as a share, whose noise shows at once
        ("spreads", 3000, 10),
        ("rows", 3000, 10),
    ],
)
def test_tails_are_warmed_up_longer(name: str, budget: int, warm_up: int) -> None:
    experiment = Experiment(INSTANCES[name](), find_policy("top-two"), budget)
    assert experiment.warm_up == warm_up
    if name == "least_quantile" and budget < 100:
        run = few_of([cpu.run_chunk, reference.run_chunk], reference.run_chunk)[0]
        tally = run(experiment, 0, 0, 20)
        assert tally.pulls.min() >= 20 * warm_up
        assert tally.pulls.sum() == 20 * budget
