"""Instances whose arms share blocks: what their files say, and what is known of them."""

from typing import Any

import numpy as np
import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.reports.theory import theory_document
from ringfence.simulation.families import find_family
from ringfence.simulation.shared_laws import BlockLaw
from ringfence.simulation.variations import without
from tests.choosing import first_of

ABSENT = object()


def content(**changes: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "objective": "maximize mean(score)",
        "constraints": ["mean(ms) <= 200", "mean(score) >= 0.2"],
        "metrics": ["ms", "unused", "score"],
        "noise": {"family": "gaussian", "covariance": np.diag([900.0, 1.0, 0.04]).tolist()},
        "blocks": {"variance": [1600.0, 5.0, 0.36]},
        "arms": {
            "a": {"mean": [120.0, 0.0, 0.5]},
            "b": {"mean": [150.0, 0.0, 0.6]},
            "c": {"mean": [260.0, 0.0, 0.9]},
        },
    }
    return {key: value for key, value in {**plain, **changes}.items() if value is not ABSENT}


def instance(**changes: Any) -> rf.Instance:
    return rf.Instance.from_dict(content(**changes))


def test_effects_go_by_metric_and_direction() -> None:
    """Score is turned in the objective and in its limit: both share one effect."""
    law = instance().law
    assert isinstance(law, BlockLaw)
    shared = law.effects @ law.effects.T
    np.testing.assert_allclose(shared, [[0.36, 0.0, 0.36], [0.0, 1600.0, 0.0], [0.36, 0.0, 0.36]])
    plain = instance(blocks=ABSENT).law
    np.testing.assert_allclose(law.true_covariances, plain.true_covariances + shared)
    np.testing.assert_array_equal(law.means, plain.means)


def test_there_is_no_oracle_and_no_bound_where_arms_share_blocks() -> None:
    """With equal effects of zero too: what is shown of independent arms is proven of them alone."""
    shared, plain = instance(), instance(blocks=ABSENT)
    assert plain.oracle is not None
    assert (shared.oracle, shared.lower_bound_rate, shared.upper_bound(500)) == (None,) * 3
    document = theory_document(shared, 500)
    assert document["shares_blocks"]
    assert (
        document["conjectured_rate"] is document["oracle_rate"] is document["upper_bound"] is None
    )
    assert not theory_document(plain)["shares_blocks"]


def test_what_all_arms_share_does_not_set_them_apart() -> None:
    """The limits are far: only the difference in score is in doubt, in which effects cancel."""
    easy = {"constraints": ["mean(ms) <= 5000"]}
    rates = {
        name: rf.simulate(
            one, "uniform", budget=60, replications=4000, scales="estimated"
        ).error_rate
        for name, one in {
            "alone": instance(**easy, blocks=ABSENT),
            "shared": instance(**easy),
            "as noisy": instance(
                **easy, blocks=ABSENT,
                noise={"family": "gaussian", "covariance": np.diag([2500.0, 6.0, 0.4]).tolist()},
            ),
        }.items()
    }  # fmt: skip
    assert abs(rates["shared"] - rates["alone"]) < 0.02
    assert rates["as noisy"] > rates["shared"] + 0.05


def test_an_effect_of_zero_changes_no_error_rate() -> None:
    plain, shared = instance(blocks=ABSENT), instance(blocks={"variance": [0.0, 0.0, 0.0]})
    rates = [
        rf.simulate(one, "uniform", budget=30, replications=6000, scales="known").error_rate
        for one in (plain, shared)
    ]
    assert abs(rates[0] - rates[1]) < 4.9 * np.sqrt(0.5 / 6000)


@pytest.mark.parametrize("scales", first_of(["estimated", "known"]))
def test_compiled_and_plain_bodies_draw_and_choose_alike(scales: str) -> None:
    compiled, plain = (
        rf.simulate(
            instance(), "top-two", budget=40, replications=5, scales=scales, batch=4, engine=engine
        )
        for engine in ("cpu", "reference")
    )
    assert compiled.mean_pulls == plain.mean_pulls
    assert compiled.chosen == plain.chosen


def test_an_arm_may_be_left_out() -> None:
    fewer = without(instance(), 2)
    assert fewer is not None
    assert isinstance(fewer.law, BlockLaw)
    assert fewer.law.means.shape == (2, 3)


def test_rare_errors_are_refused() -> None:
    with pytest.raises(InputError, match="share blocks"):
        rf.simulate(instance(), "constrained-sr", budget=100, method="importance")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"blocks": {"variance": [1.0, 2.0]}}, ("= [1.0, 2.0]", "3 (ms, unused, score)")),
        ({"blocks": {"variance": [1.0, -2.0, 0.0]}}, ("blocks.variance[1] = -2.0", "at least 0")),
        ({"blocks": {"variance": [1.0, float("inf"), 0.0]}}, ("variance[1] = inf", "finite")),
        ({"blocks": {}}, ("blocks.variance is missing", "one number a metric")),
        ({"blocks": {"varience": [1.0]}}, ("'blocks.varience'", "Did you mean 'variance'")),
        ({"blocks": {"variance": 2.0}}, ("blocks.variance = 2.0", "list")),
        (
            {"noise": {"family": ["gaussian", "poisson", "gaussian"],
                       "covariance": [[900.0, 0.0], [0.0, 0.04]]},
             "metrics": ["ms", "score", "unused"], "constraints": ["mean(score) <= 3"],
             "objective": "minimize mean(ms)"},
            ("blocks.variance", "gaussian"),
        ),
        ({"constraints": ["p95(ms) <= 300"]}, ("blocks.variance", "means of gaussian")),
        (
            {"noise": {"family": "table", "path": "x.csv", "arm": "arm"}, "arms": ABSENT},
            ("blocks", "family = 'table'"),
        ),
    ],
)  # fmt: skip
def test_bad_blocks_are_refused(changes: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as refusal:
        instance(**changes)
    for word in words:
        assert word in str(refusal.value), str(refusal.value)


def test_a_family_with_a_correlation_has_the_same_arms_on_shared_blocks() -> None:
    for name in ("uniform", "unequal", "two-constraints"):
        family = find_family(name)
        plain = family.draw(3, arm_count=4, seed=2)
        shared = family.draw(3, arm_count=4, seed=2, correlation=0.75)
        np.testing.assert_array_equal(shared.means, plain.means)
        assert isinstance(shared.law, BlockLaw)
        own = np.diagonal(plain.law.true_covariances, axis1=1, axis2=2).mean(axis=0)
        np.testing.assert_allclose(np.diag(shared.law.effects @ shared.law.effects.T), 3.0 * own)


@pytest.mark.parametrize("correlation", [-0.1, 1.0, float("nan")])
def test_a_correlation_that_is_none_is_refused(correlation: float) -> None:
    with pytest.raises(InputError, match="correlation = "):
        rf.tournament(correlation=correlation, count=1)


def test_a_family_of_yes_or_no_has_no_effects() -> None:
    with pytest.raises(InputError, match="bernoulli"):
        rf.tournament("bernoulli", correlation=0.5, count=1)
