"""Adaptive policies against independent programs: whole courses, not single decisions.

Two-sided at alpha = 1e-6 on fixed seeds, as everywhere here.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import ringfence as rf
from benchmarks.yardsticks import vectorised_top_two
from ringfence.core.arrays import Floats
from ringfence.core.noise import no_moments
from ringfence.policies import top_two
from ringfence.policies.registry import find_policy
from ringfence.simulation import cpu
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.families import find_family
from ringfence.simulation.laws import Law
from tests.choosing import LONG, few_of, first_of
from tests.faults.planting import Edit, planted
from tests.statistical.checks import check_rate

Z = float(stats.norm.isf(0.5e-6))


def check_courses(experiment: Experiment, size: int = 8000, *, anew: bool = False) -> None:
    """Compare mean pulls with the NumPy yardstick's, which was written apart.

    The mean of an arm's pulls has a deviation of at most half the budget over sqrt(size); what
    differs between chunks gives the real one.
    """
    _, theirs = vectorised_top_two(experiment, size, seed=3, anew=anew)
    tallies = [cpu.run_chunk(experiment, 4, c, 200) for c in range(size // 200)]
    chunks = np.array([tally.pulls / 200 for tally in tallies])
    spread = chunks.std(axis=0, ddof=1) * math.sqrt(200 / size)
    for arm in range(len(theirs)):
        tolerance = Z * max(spread[arm], 1e-3) * math.sqrt(2.0)
        assert abs(chunks[:, arm].mean() - theirs[arm]) < tolerance, f"pulls of arm {arm}"


@pytest.mark.parametrize("number", [0, 1, 3])
def test_top_two_pulls_as_the_vectorised_program_does(number: int) -> None:
    """Catches a value, a share or a leader that is computed differently; 3 has no feasible arm."""
    instance = find_family("uniform").draw(number, arm_count=5)
    check_courses(Experiment(instance, find_policy("top-two"), 120, batch=4))


def test_slopes_stand_in_for_values_computed_anew_within_a_batch() -> None:
    """Batches of a thirtieth of the budget: the pulls are those of values renewed every time."""
    instance = find_family("uniform").draw(0, arm_count=5)
    check_courses(Experiment(instance, find_policy("top-two"), 120, batch=4), anew=True)


@pytest.mark.skipif(not LONG, reason="a planted kernel of top-two takes long to compile")
def test_courses_that_differ_are_told_apart() -> None:
    """The comparison above fails when the leader's share is ignored."""
    edit = Edit("policies.top_two", "uniforms[k] < work.shares[arm]", "uniforms[k] < 0.5")
    faulty = replace(top_two.POLICY, choose=planted(edit)["policies.top_two"].choose)
    instance = find_family("uniform").draw(0, arm_count=5)
    with pytest.raises(AssertionError, match="pulls of arm"):
        check_courses(Experiment(instance, faulty, 120, batch=4))


# --------------------------------------------------------------------------- sums with scatters


def moments_of(law: Law, arm: int, blocks: list[int], size: int) -> tuple[Floats, Floats]:
    """Return means and scatters of blocks that were added one after the other."""
    rng = np.random.Generator(np.random.SFC64(5))
    width = law.means.shape[1]
    means, scatters = np.empty((size, width)), np.empty((size, width, width))
    for place in range(size):
        moments, count = no_moments(len(law.means), width), 0
        for pulls in blocks:
            law.recording.add(
                rng, law.arrays, arm, count, pulls, moments, np.zeros((width + 2, width))
            )
            count += pulls
        means[place], scatters[place] = moments.sums[arm] / count, moments.scatters[arm]
    return means, scatters


def gaussian_law() -> Law:
    return rf.Instance.from_dict(
        {
            "objective": "maximize mean(a)",
            "constraints": ["mean(b) <= 0.5", "mean(c) >= 0.2"],
            "metrics": ["a", "b", "c"],
            "noise": {
                "family": "gaussian",
                "covariance": [[1.0, 0.6, -0.3], [0.6, 1.0, 0.1], [-0.3, 0.1, 0.5]],
            },
            "arms": {"x": {"mean": [5.0, 1.0, -2.0]}, "y": {"mean": [0.0, 0.0, 0.0]}},
        }
    ).law


@pytest.mark.parametrize("blocks", [[2], [3], [12], [1, 1, 1, 1, 1], [2, 7, 1, 20]])
def test_scatters_of_gaussian_blocks_are_wishart(blocks: list[int]) -> None:
    """u'Wu / u'Sigma u is chi-square with n - 1 degrees, in any direction u, however it is cut.

    Catches degrees of freedom that are off by one, an ignored covariance, a merge without its
    between-block part, and a triangle that is cut short for few pulls.
    """
    law = gaussian_law()
    n, size = sum(blocks), 4000
    means, scatters = moments_of(law, 0, blocks, size)
    covariance = law.true_covariances[0]
    for direction in ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, -2.0, 0.5], [0.3, 0.3, 0.9]):
        u = np.array(direction)
        ratio = np.einsum("i,nij,j->n", u, scatters, u) / (u @ covariance @ u)
        assert stats.kstest(ratio, stats.chi2(n - 1).cdf).pvalue > 1e-6
        centred = (means - law.means[0]) @ u / math.sqrt(u @ covariance @ u / n)
        assert stats.kstest(centred, stats.norm.cdf).pvalue > 1e-6
        # Sum and scatter of normal samples are independent.
        assert abs(stats.spearmanr(centred**2, ratio).statistic) < Z / math.sqrt(size)


def test_pulls_that_never_vary_have_no_scatter() -> None:
    """0.1 added up ten times is not 1.0: only a running mean keeps the scatter at zero."""
    frame = {"arm": ["a"] * 3 + ["b"] * 3, "x": [0.1] * 6, "y": [0.3, 0.1, 0.2, 0.7, 0.7, 0.7]}
    import pandas as pd

    law = rf.Instance.from_frame(
        pd.DataFrame(frame), arm="arm", objective="minimize mean(x)", constraints=["mean(y) <= 0.5"]
    ).law
    _, scatters = moments_of(law, 0, [1, 2, 7], 50)
    assert (scatters[:, 0, :] == 0.0).all()
    assert scatters[:, 1, 1].min() > 0.0
    _, scatters = moments_of(law, 1, [10], 5)
    assert (scatters == 0.0).all()


# ------------------------------------------------------------------ noise that says nothing


@pytest.mark.parametrize(
    "policy",
    few_of(
        ["constrained-sr", "top-two", "ocba-co", "thompson", "uniform"],
        "constrained-sr", "top-two",
    ),
)  # fmt: skip
def test_metrics_that_never_vary_break_nothing(policy: str) -> None:
    """An exact objective, an exact constraint on its threshold, both: the right arm is found."""
    import pandas as pd

    rows = [("cheap", 1.0, 0.5), ("cheap", 1.0, 0.5), ("dear", 2.0, 0.5), ("dear", 2.0, 0.5)]
    frame = pd.DataFrame(rows, columns=["arm", "price", "risk"])
    instance = rf.Instance.from_frame(
        frame, arm="arm", objective="minimize mean(price)", constraints=["mean(risk) <= 0.5"]
    )
    for scales in ("known", "estimated"):
        result = rf.simulate(instance, policy, budget=40, replications=50, scales=scales)
        assert result.errors == 0


@pytest.mark.parametrize("policy", few_of(["constrained-sr", "top-two"], "top-two"))
def test_estimated_noise_costs_little(policy: str) -> None:
    """With 500 pulls an arm the estimates are good: the error is that of known noise, or nearly."""
    known = rf.simulate(
        "paper-3", policy, budget=2000, replications=20_000, batch=10, scales="known"
    )
    learned = rf.simulate(
        "paper-3", policy, budget=2000, replications=20_000, batch=10, scales="estimated", seed=8
    )
    pooled = (known.errors + learned.errors) / 40_000
    noise = Z * math.sqrt(2 * pooled * (1 - pooled) / 20_000)
    assert abs(known.error_rate - learned.error_rate) < noise + 0.01


def test_a_single_arm_is_judged_by_its_flag() -> None:
    instance = rf.Instance.from_dict(
        {
            "objective": "minimize mean(x)",
            "constraints": ["mean(y) <= 1.0"],
            "metrics": ["x", "y"],
            "noise": {"family": "gaussian", "covariance": [[1.0, 0.3], [0.3, 2.25]]},
            "arms": {"only": {"mean": [0.0, 0.7]}},
        }
    )
    rate = float(stats.norm.cdf(-0.3 * math.sqrt(20) / 1.5))
    for policy in few_of(["top-two", "ocba-co", "thompson"], "top-two"):
        result = rf.simulate(instance, policy, budget=20, replications=40_000, scales="known")
        check_rate(result.errors, 40_000, rate, policy)
        assert result.wrong_arm == 0


@pytest.mark.parametrize(
    ("common", "budget", "size", "most"),
    first_of([(1.0, 40_000, 2000, 20), (4.0, 10_000, 4000, 14)]),
)
def test_top_two_names_no_arm_for_its_lucky_start(
    common: float, budget: int, size: int, most: int
) -> None:
    """Two arms break a limit on a rate by the least; called feasible in 0.3 and 0.15% of runs.

    It was 2.1 and 0.55% when an arm without an event passed for one that has none, and 7.4 and 2.4%
    when the end of the budget was weighed by little, too: such arms were never looked at again.
    """
    rates = {"a": (0.40, 0.010), "b": (0.40, 0.010), "c": (0.45, 0.014), "d": (0.50, 0.016)}
    found = rf.simulate(
        {
            "objective": "maximize mean(bought)",
            "constraints": [f"mean(error) <= {0.008 * common}"],
            "metrics": ["bought", "error"],
            "noise": {"family": "bernoulli"},
            "arms": {arm: {"mean": [good, bad * common]} for arm, (good, bad) in rates.items()},
        },
        "top-two",
        budget=budget,
        batch=budget // 400,
        replications=size,
        scales="estimated",
    )
    assert found.wrong_flag <= most
