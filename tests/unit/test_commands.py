"""What a command may name in braces: what pulls have, and keys that all arms have."""

import sys

import pytest

from ringfence.core.errors import InputError
from ringfence.execution.evaluating import Command, filled
from ringfence.execution.orders import Order

ARMS = {
    "small": {"layers": 2, "rate": 0.1},
    "large": {"layers": 8, "rate": 0.01, "dropout": 0.5},
}


def check(*arguments: str) -> None:
    Command([sys.executable, *arguments]).require_runnable(ARMS)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--p={dropout}", r"command names \{dropout\}, a key that arm 'small' does not have"),
        ("{layer}", r"command names \{layer\}, a key that no arm has. Did you mean \{layers\}\?"),
        ("{Rate}", r"no arm has. Did you mean \{rate\}\?"),
        ("{sed}", r"Did you mean \{seed\}\? What is to stay as it stands has a space: \{ sed \}"),
        ("{rate}/{arms}", r"\{arms\}.* Did you mean \{arm\}"),
    ],
)
def test_a_key_that_would_not_be_filled_in_is_refused(argument: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check("{arm}", argument)


@pytest.mark.parametrize("key", ["arm", "seed", "pull"])
def test_a_key_that_the_pull_would_hide_is_refused_where_it_is_named(key: str) -> None:
    arms = {"small": {"layers": 2}, "large": {"layers": 8, key: 7}}
    words = rf"command names \{{{key}\}}, which is the pull's own and a key of arms too"
    with pytest.raises(InputError, match=words):
        Command([sys.executable, "{arm}", f"--x={{{key}}}"]).require_runnable(arms)
    Command([sys.executable, "{layers}"]).require_runnable(arms)


def test_what_pulls_and_all_arms_have_is_filled_in_and_other_braces_stay() -> None:
    named = ["{arm}", "{seed}", "{pull}", "--size={layers}x{rate}"]
    other = ["{print}", "{ layer }", "{}", '{"rate": 1}', "{", "}"]
    check(*named, *other)
    program = "import json, sys; print(json.dumps({'said': sys.argv[1:]}))"
    command = Command([sys.executable, "-c", program, *named, *other])
    told = command(Order(pull=1, lease=1, arm="small", keys=ARMS["small"], seed=5))
    assert told["said"] == ["small", "5", "1", "--size=2x0.1", *other]


def test_what_is_filled_in_is_not_read_again() -> None:
    words = {"arm": "{seed}", "seed": 5}
    assert filled("{arm} {{arm}} {other} {seed}", words) == "{seed} {{seed}} {other} 5"
