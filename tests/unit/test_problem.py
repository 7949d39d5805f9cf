"""Problems: how they are read, and how they are turned so that lower is better."""

import numpy as np
import pytest

from ringfence.core.errors import ExpressionError, InputError
from ringfence.core.problem import Problem

BOTH_WAYS = Problem.parse(
    "maximize mean(quality)",
    ["mean(latency) <= 200", "mean(quality) >= 0.5", "mean(cost) >= -3"],
)


def test_attributes_put_the_objective_first() -> None:
    assert [str(attribute) for attribute in BOTH_WAYS.attributes] == [
        "mean(quality)",
        "mean(latency)",
        "mean(quality)",
        "mean(cost)",
    ]


def test_each_metric_is_named_once_in_order_of_first_use() -> None:
    assert BOTH_WAYS.metrics == ("quality", "latency", "cost")


def test_signs_negate_what_should_be_large() -> None:
    assert BOTH_WAYS.signs.tolist() == [-1.0, 1.0, -1.0, -1.0]
    assert Problem.parse("minimize mean(a)", ["mean(b) <= 1"]).signs.tolist() == [1.0, 1.0]


def test_thresholds_are_oriented() -> None:
    assert BOTH_WAYS.thresholds.tolist() == [200.0, -0.5, 3.0]


@pytest.mark.parametrize("limit", ["mean(b) >= 0", "mean(b) <= -0.0", "mean(b) <= 0"])
def test_a_threshold_of_zero_has_no_sign(limit: str) -> None:
    (threshold,) = Problem.parse("minimize mean(a)", [limit]).thresholds
    assert threshold == 0.0
    assert not np.signbit(threshold)


def test_what_was_written_is_kept() -> None:
    assert str(BOTH_WAYS.objective) == "maximize mean(quality)"
    assert [str(constraint) for constraint in BOTH_WAYS.constraints] == [
        "mean(latency) <= 200",
        "mean(quality) >= 0.5",
        "mean(cost) >= -3",
    ]


def test_problems_are_values() -> None:
    again = Problem.parse("maximize mean( quality )", [str(c) for c in BOTH_WAYS.constraints])
    assert again == BOTH_WAYS
    assert hash(again) == hash(BOTH_WAYS)


def test_a_problem_needs_no_constraint() -> None:
    problem = Problem.parse("minimize mean(a)", [])
    assert problem == Problem.parse("minimize a")
    assert problem.attributes == (problem.objective.attribute,)
    assert problem.thresholds.shape == problem.factors.shape == (0,)
    assert problem.thresholds.dtype == problem.factors.dtype == np.float64
    assert problem.judged == problem.with_possible_limits() == problem
    assert not problem.is_relative


def test_all_feasible_arms_need_a_constraint() -> None:
    with pytest.raises(InputError, match=r"constraints = \[\] must hold a limit.*Add one"):
        Problem.parse("minimize mean(a)", [], answer="all feasible")


def test_an_unreadable_objective_is_named() -> None:
    with pytest.raises(ExpressionError, match=r"^objective cannot be read: ") as caught:
        Problem.parse("minimize (loss", ["mean(b) <= 1"])
    assert caught.value.position == 9
    assert str(caught.value).splitlines()[1:] == ["    minimize (loss", "             ^"]


def test_an_unreadable_constraint_is_counted_from_zero() -> None:
    with pytest.raises(ExpressionError, match=r"^constraints\[1\] cannot be read: ") as caught:
        Problem.parse("minimize mean(a)", ["mean(b) <= 1", "mean(c) = 2"])
    assert caught.value.position == 8
    assert caught.value.text == "mean(c) = 2"


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("share(y > 1) <= 5", r"between 0 and 1.*Write: 5%"),
        ("share(y > 1) >= 1.5", "between 0 and 1"),
        ("share(y > 1) <= -0.1", "between 0 and 1, and so must its limit be"),
        ("std(y) <= -1", "at least 0"),
        ("variance(y) >= -0.5", "at least 0"),
    ],
)
def test_limits_where_nothing_can_be_are_refused_when_they_are_new(limit: str, said: str) -> None:
    problem = Problem.parse("minimize mean(x)", ["mean(y) <= -9", limit])  # as stored ones are read
    with pytest.raises(InputError, match=rf"constraints\[1\] = '.*{said}"):
        problem.with_possible_limits()


@pytest.mark.parametrize(
    "limit",
    ["share(y > 1) <= 1", "share(y > 1) >= 0", "std(y) <= 0", "share(y > 1) <= 2 * baseline"],
)
def test_limits_on_the_edge_and_relative_ones_are_taken(limit: str) -> None:
    problem = Problem.parse("minimize mean(x)", limit)
    assert problem.with_possible_limits() is problem
