"""Attributes of the user's own: their noise by leaving pulls out, their errors by name."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringfence.core.arrays import Floats
from ringfence.core.attributes import Attribute, Own
from ringfence.core.errors import EstimateError, InputError
from ringfence.core.expressions import parse_attribute
from ringfence.core.measurement import measure_sample
from ringfence.interfaces.studies import Study
from tests.oracle import attributes as oracle
from tests.statistical.checks import LIMIT
from tests.unit.measuring import X_ONLY, check_refused, transcribed


def ratio(x: Sequence[float], y: Sequence[float]) -> float:
    return math.fsum(x) / math.fsum(y)


def own_of(text: str, **functions: Any) -> Attribute:
    return parse_attribute(text, functions)


@pytest.mark.parametrize("count", [3, 4, 50, 256])
def test_a_function_of_ones_own_is_jackknifed(count: int) -> None:
    stream = np.random.default_rng(count)
    x, y = stream.exponential(2.0, count), 1.0 + stream.exponential(1.0, count)
    listed = [own_of("ratio(x, y)", ratio=ratio), *map(parse_attribute, ["mean(x)", "variance(y)"])]
    found = measure_sample(listed, {"x": x, "y": y})
    influences: list[Sequence[float]] = [
        oracle.jackknife(ratio, x.tolist(), y.tolist()),
        transcribed("mean(x)", {"x": x.tolist()})[1],
        transcribed("variance(y)", {"y": y.tolist()})[1],
    ]
    assert found.estimates[0] == pytest.approx(x.sum() / y.sum(), rel=1e-14)
    expected = [[oracle.covariance(one, other) for other in influences] for one in influences]
    spread = np.sqrt(np.diagonal(expected))
    np.testing.assert_allclose(
        found.covariance, expected, rtol=1e-6, atol=1e-8 * float(np.outer(spread, spread).max())
    )


def test_ones_own_mean_has_the_noise_of_a_mean() -> None:
    x = np.random.default_rng(15).normal(size=120)
    mine = own_of("mine(x)", mine=lambda values: values.mean())
    found = measure_sample([mine, parse_attribute("mean(x)")], {"x": x})
    np.testing.assert_allclose(found.covariance, np.full((2, 2), x.var(ddof=1)), rtol=1e-9)


def test_many_pulls_are_left_out_in_groups() -> None:
    """At most 256 further calls, and still the right noise: on average over forty samples."""
    stream, ratios = np.random.default_rng(16), []
    for _ in range(40):
        calls: list[int] = []

        def mine(values: Floats, calls: list[int] = calls) -> float:
            calls.append(len(values))
            return float(values.mean())

        x = stream.normal(size=1000)
        found = measure_sample(own_of("mine(x)", mine=mine), {"x": x})
        assert calls[0] == 1000
        assert len(calls) == 257
        assert sum(1000 - size for size in calls[1:]) == 1000
        assert max(calls[1:]) - min(calls[1:]) <= 1
        ratios.append(found.variances[0] / x.var(ddof=1))
    error = math.sqrt(2.0 / 255.0 / 40.0)
    assert abs(np.mean(ratios) - 1.0) <= LIMIT * error


def test_noise_beside_a_function_of_ones_own_is_the_same() -> None:
    stream = np.random.default_rng(17)
    x = stream.exponential(size=200)
    beside = [parse_attribute(text) for text in X_ONLY]
    alone = measure_sample(beside, {"x": x})
    both = measure_sample([*beside, own_of("mine(x)", mine=np.ptp)], {"x": x})
    np.testing.assert_array_equal(both.estimates[:-1], alone.estimates)
    np.testing.assert_allclose(both.covariance[:-1, :-1], alone.covariance, rtol=1e-9)


def test_a_stated_variance_replaces_the_variance_and_keeps_correlations() -> None:
    stream = np.random.default_rng(18)
    x, y = stream.normal(size=60), stream.normal(size=60)
    plain = own_of("mine(x, y)", mine=lambda a, b: (a * b).mean())
    stated = own_of(
        "mine(x, y)", mine=Own(lambda a, b: (a * b).mean(), variance=lambda a, b: a.size / 10.0)
    )
    others = [parse_attribute("mean(x)"), parse_attribute("variance(y)")]
    found = [measure_sample([own, *others], {"x": x, "y": y}) for own in (plain, stated)]
    np.testing.assert_array_equal(found[0].estimates, found[1].estimates)
    assert found[1].variances[0] == 6.0
    np.testing.assert_allclose(found[1].covariance[1:, 1:], found[0].covariance[1:, 1:], rtol=1e-12)
    correlations = [m.covariance / np.sqrt(np.outer(m.variances, m.variances)) for m in found]
    np.testing.assert_allclose(correlations[1], correlations[0], rtol=1e-9, atol=1e-12)


def test_a_stated_variance_may_be_zero_or_new() -> None:
    x = [1.0, 2.0, 4.0, 8.0]
    certain = own_of("mine(x)", mine=Own(np.mean, variance=lambda values: 0.0))
    found = measure_sample([certain, parse_attribute("mean(x)")], {"x": x})
    assert not found.covariance[0].any()
    assert not found.covariance[:, 0].any()
    constant = own_of("mine(x)", mine=Own(lambda values: 7.0, variance=lambda values: 9.0))
    found = measure_sample([constant, parse_attribute("mean(x)")], {"x": x})
    assert found.covariance[0].tolist() == [9.0, 0.0]


def test_two_stated_variances_keep_their_correlation() -> None:
    x = np.random.default_rng(19).normal(size=40)
    one = own_of("one(x)", one=Own(np.mean, variance=lambda values: 4.0))
    two = own_of("two(x)", two=Own(lambda values: -2.0 * values.mean(), variance=lambda v: 9.0))
    found = measure_sample([one, two], {"x": x})
    np.testing.assert_allclose(found.covariance, [[4.0, -6.0], [-6.0, 9.0]], rtol=1e-9)


def test_a_function_that_changes_its_arguments_changes_nothing_of_ours() -> None:
    def greedy(x: Floats, y: Floats) -> float:
        answer = float(x.mean() - y.mean())
        x.sort()
        x[:] = -1.0
        y *= 1000.0
        return answer

    stream = np.random.default_rng(20)
    x, y = stream.normal(size=30), stream.normal(size=30)
    kept = x.copy(), y.copy()
    own = own_of("greedy(x, y)", greedy=Own(greedy, variance=greedy_variance))
    found = measure_sample([own, parse_attribute("mean(x)"), own], {"x": x, "y": y})
    np.testing.assert_array_equal(x, kept[0])
    np.testing.assert_array_equal(y, kept[1])
    answer = kept[0].mean() - kept[1].mean()
    np.testing.assert_allclose(found.estimates, [answer, kept[0].mean(), answer], rtol=1e-12)
    assert found.variances.tolist()[0] == 30.0


def greedy_variance(x: Floats, y: Floats) -> float:
    x[:] = y[:] = math.nan
    return float(x.size)


def fails(*_: Floats) -> float:
    raise ZeroDivisionError("no tails today")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (fails, ["ZeroDivisionError", "no tails today"]),
        (lambda x: math.nan, ["nan"]),
        (lambda x: math.inf, ["inf"]),
        (lambda x: -np.inf, ["inf"]),
        (lambda x: None, []),
        (lambda x: "many", []),
        (lambda x: "3.5", []),
        (lambda x: 1j, []),
        (lambda x: x, []),
        (lambda x: [1.0], []),
        (lambda: 1.0, ["TypeError"]),
    ],
)
def test_a_function_of_ones_own_that_fails_is_named(function: Any, words: list[str]) -> None:
    sample = {"x": [1.0, 2.0, 5.0, 7.0]}
    check_refused(own_of("mine(x)", mine=function), sample, "function", *words)
    stated = own_of("mine(x)", mine=Own(np.mean, variance=function))
    check_refused(stated, sample, "variance", *words)


def test_a_negative_variance_is_refused() -> None:
    own = own_of("mine(x)", mine=Own(np.mean, variance=lambda x: -0.25))
    check_refused(own, {"x": [1.0, 2.0, 3.0]}, "-0.25", "variance")


def test_a_function_that_fails_only_with_pulls_left_out_is_named_too() -> None:
    def picky(x: Floats) -> float:
        return math.nan if x.max() < 5.0 else 1.0

    check_refused(own_of("mine(x)", mine=picky), {"x": [1.0, 2.0, 5.0]}, "left out", "nan")


def test_a_function_of_ones_own_says_how_many_pulls_it_needs() -> None:
    seen: list[int] = []

    def mine(x: Floats) -> float:
        seen.append(len(x))
        return float(x.sum())

    own = own_of("mine(x)", mine=Own(mine, least_pulls=4))
    check_refused(own, {"x": [1.0] * 4}, "4 pulls", "at least 5")
    assert not seen
    measure_sample(own, {"x": [1.0] * 5})
    assert min(seen) == 4
    check_refused(own_of("mine(x)", mine=mine), {"x": [1.0, 2.0]}, "at least 3")


def test_the_error_of_a_function_keeps_its_cause() -> None:
    with pytest.raises(EstimateError) as caught:
        measure_sample(own_of("mine(x)", mine=fails), {"x": [1.0, 2.0, 3.0]})
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_function_that_exits_is_an_error_by_name() -> None:
    def leaves(values: Floats) -> float:
        raise SystemExit(9)

    with pytest.raises(EstimateError, match=r"leaves\(x\).*raised SystemExit: 9"):
        measure_sample(own_of("leaves(x)", leaves=leaves), {"x": np.arange(5.0)}, arm="a")


def test_a_function_that_returns_much_is_quoted_in_short() -> None:
    with pytest.raises(EstimateError) as refused:
        measure_sample(own_of("all(x)", all=list), {"x": np.arange(500.0)})
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"estimate": 3}, "estimate = 3 must be a function"),
        ({"estimate": len, "variance": 3.0}, r"variance = 3\.0 must be a function"),
        ({"estimate": len, "least_pulls": -3}, "least_pulls = -3 must be a whole number"),
        ({"estimate": len, "least_pulls": 2.5}, r"least_pulls = 2\.5 must be a whole number"),
        ({"estimate": len, "least_pulls": "a"}, "least_pulls = 'a' must be a whole number"),
    ],
)
def test_what_is_stated_of_a_function_is_checked_at_once(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Own(**given)


def test_a_study_loaded_without_its_functions_says_so(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/own.db"
    told: dict[str, Any] = {"functions": {"sharpe": lambda x: float(np.mean(x))}}
    Study.create(
        "own", arms=["a", "b"], objective="maximize sharpe(x)", constraints="mean(y) <= 1",
        budget=20, storage=storage, **told,
    )  # fmt: skip
    with pytest.raises(InputError, match=r"functions = \['sharpe'\] must be given again"):
        Study.load("own", storage=storage)
    assert Study.load("own", storage=storage, **told).status().told == 0


def test_where_a_study_stands_is_told_though_its_function_fails() -> None:
    def fails(values: Floats) -> float:
        raise ZeroDivisionError("no spread")

    study = Study.create(
        "own", arms=["a", "b"], objective="maximize fails(x)", constraints="mean(y) <= 1",
        budget=20, storage="memory://", functions={"fails": fails}, policy="uniform",
    )  # fmt: skip
    pulls = study.ask(8)
    study.tell_many(pulls, [{"x": float(place), "y": 0.0} for place in range(8)])
    with pytest.raises(EstimateError, match="no spread"):
        study.recommend()
    stands = study.status()
    assert (stands.told, stands.issued, stands.arm, stands.feasible) == (8, 0, None, None)


def test_arms_that_share_items_have_ones_own_attribute_and_no_mean_in_its_place() -> None:
    study = Study.create(
        "s", arms=["a", "b"], objective="minimize most(x)", constraints="mean(y) <= 9", budget=40,
        storage="memory://", functions={"most": max}, policy="uniform", seed=1,
        blocks={"items": 30},
    )  # fmt: skip
    told: dict[str, list[float]] = {"a": [], "b": []}
    for pull in study.pulls():
        told[pull.arm].append(pull.seed % 11 + (pull.arm == "b"))
        study.tell(pull, {"x": told[pull.arm][-1], "y": 1.0})
    found = {arm.name: arm.estimates["most(x)"].value for arm in study.recommend().arms}
    assert found == {name: max(values) for name, values in told.items()}
