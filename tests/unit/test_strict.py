"""JSON that comes in: each key once, at any depth, wherever it is read."""

import sys
from pathlib import Path

import pytest

from ringfence.core.errors import InputError
from ringfence.core.strict import read_json
from ringfence.execution.evaluating import Command
from ringfence.execution.failures import EvaluationError
from ringfence.execution.orders import Order
from tests.e2e.command_line import ringfence
from tests.e2e.test_study_commands import document, write_study

TWICE = '{"cost": 1, "risk": 0, "cost": 2}'


def test_what_is_strict_is_read() -> None:
    text = '{"a": [1, {"b": null}], "b": {"a": 1.5}}'
    assert read_json(text) == read_json(text.encode()) == {"a": [1, {"b": None}], "b": {"a": 1.5}}


@pytest.mark.parametrize("text", [TWICE, f"[{TWICE}]", f'{{"cost": {TWICE}}}'])
def test_a_key_that_is_there_twice_is_named(text: str) -> None:
    with pytest.raises(InputError, match=r"key 'cost' is there twice .* Give each key once\.$"):
        read_json(text)


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", "[" * 100_000])
def test_what_is_no_json_is_no_value(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|nested") as caught:
        read_json(text)
    assert not isinstance(caught.value, InputError)


def test_a_command_that_says_a_metric_twice_has_failed() -> None:
    command = Command([sys.executable, "-c", f"print({TWICE!r})"])
    with pytest.raises(EvaluationError, match="standard output: key 'cost' is there twice"):
        command(Order(pull=1, lease=1, arm="a", keys={}, seed=5))


def test_a_metric_that_is_told_twice_in_one_object_is_refused(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    pull = document(ringfence("ask", file, "--json"))["pulls"][0]
    done = ringfence("tell", file, pull["pull"], pull["lease"], TWICE)
    assert (done.code, done.out) == (2, "")
    assert "key 'cost' is there twice in one JSON object. Give each key once." in done.err
    assert document(ringfence("status", file, "--json"))["told"] == 0
