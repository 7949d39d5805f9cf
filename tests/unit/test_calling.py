"""Functions are given what their parameters are called, or (arm, seed) by place."""

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import Mock

import pytest

from ringfence.core.errors import InputError
from ringfence.execution.calling import Call
from ringfence.execution.orders import Order

ORDER = Order(pull=9, lease=1, arm="a", keys={"depth": 3}, seed=5, item={"q": 1}, ordinal=4)
FUNCTIONS: list[tuple[Callable[..., Any], Any]] = [
    (lambda arm, seed: (arm, seed), ("a", 5)),
    (lambda seed, arm: (arm, seed), ("a", 5)),
    (lambda variant, chance: (variant, chance), ("a", 5)),
    (lambda arm, _: (arm, _), ("a", 5)),
    (lambda arm, chance=0: (arm, chance), ("a", 5)),
    (lambda arm, seed, /: (arm, seed), ("a", 5)),
    (lambda *given: given, ("a", 5)),
    (lambda arm: arm, "a"),
    (lambda item: item["q"], 1),
    (lambda item, arm: (item["q"], arm), (1, "a")),
    (lambda arm, item, seed: (arm, item["q"], seed), ("a", 1, 5)),
    (lambda arm, *, keys, ordinal: (arm, keys["depth"], ordinal), ("a", 3, 4)),
    (lambda variant, chance, *, item: (variant, chance, item["q"]), ("a", 5, 1)),
    (lambda arm, seed=0, item=None: (arm, seed, item["q"]), ("a", 5, 1)),
    (lambda arm, seed, table=7: (arm, seed, table), ("a", 5, 7)),
    (lambda **given: sorted(given), ["arm", "item", "keys", "ordinal", "seed"]),
    (partial(lambda table, arm, seed: (table, arm, seed), 7), (7, "a", 5)),
    (partial(lambda arm, seed, table: (table, arm, seed), table=7), (7, "a", 5)),
]


@pytest.mark.parametrize(("function", "wanted"), FUNCTIONS)
def test_a_function_gets_what_its_parameters_are_called(
    function: Callable[..., Any], wanted: Any
) -> None:
    assert Call.of(function).make(function, ORDER) == wanted


def test_what_does_not_say_is_called_as_always() -> None:
    stand_in = Mock()
    Call.of(stand_in).make(stand_in, ORDER)
    stand_in.assert_called_once_with("a", 5)


def test_a_default_for_the_item_stays_where_there_is_none() -> None:
    without = Order(pull=9, lease=1, arm="a", keys={}, seed=5)

    def evaluate(arm: str, item: Any = "none") -> Any:
        return arm, item

    assert not Call.of(evaluate).needs_item
    assert Call.of(evaluate).make(evaluate, without) == ("a", "none")


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda option, item: 0, "'option'.*arm, item, seed, keys, ordinal.*Rename"),
        (lambda arm, seed, rng: 0, "'rng'"),
        (lambda item, arm, seeds: 0, "'seeds'.*Did you mean 'seed'"),
        (lambda arm, *, table: 0, "'table'"),
        (lambda variant: 0, "'variant'"),
    ],
)
def test_a_parameter_that_nothing_is_known_for_is_refused(
    function: Callable[..., Any], named: str
) -> None:
    with pytest.raises(InputError, match=named):
        Call.of(function)
