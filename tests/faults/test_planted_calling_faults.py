"""Faults planted where models are called and their logs read: each is noticed by a named test."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ringfence.core.errors import InputError
from tests.faults.planting import planted_calls, require_applicable
from tests.faults.test_planted_faults import Fault, Named, Rooms, fault

PACES, AWAY, CACHES, LOGS = (
    f"tests.unit.test_{name}" for name in ("pace", "unavailable", "cache", "import_logs")
)
FAILING, PACE, CACHE, RESOLVING = (
    f"execution.{name}" for name in ("failures", "pace", "cache", "resolving")
)
TABLES, PROMPTFOO, INSPECT = (
    f"interfaces.logs.{one}" for one in ("tables", "promptfoo", "inspect_ai")
)


@cache
def of(home: str, test: str, *given: object) -> Named:
    name = f"{home.replace('.', '/')}.py::{test}"
    return Named(name, lambda rooms: getattr(rooms[home], test)(*given))


@cache
def beside(home: str, test: str) -> Named:
    """A test that needs a folder of its own."""

    def check(rooms: Rooms) -> None:
        run: Callable[[Path], None] = getattr(rooms[home], test)
        with TemporaryDirectory() as folder:
            run(Path(folder))

    return Named(f"{home.replace('.', '/')}.py::{test}", check)


KEYS = of(CACHES, "test_a_key_is_of_the_item_its_repeat_and_the_arm_and_not_of_the_pull")
FIRST = beside(CACHES, "test_the_first_answer_stays_and_numbers_alone_are_kept")
FAULTS: list[Fault] = [
    fault(
        "what is saved up comes on top", PACE,
        "rate - (self._most - 1.0)", "rate",
        of(PACES, "test_no_minute_has_more_than_stated_and_little_is_lost", 300, 0.003),
    ),
    fault(
        "tokens for which nothing began are lost", PACE,
        "min(self._most, self._tokens + count)", "self._tokens",
        of(PACES, "test_tokens_for_which_nothing_began_come_back"),
    ),
    fault(
        "a server's error is the arm's", FAILING,
        "frozenset({429, 500, ", "frozenset({429, ",
        of(AWAY, "test_what_clients_raise_is_understood", 500),
    ),
    fault(
        "what an error was raised from is not looked at", FAILING,
        "for one in _with_causes(error):", "for one in [error]:",
        of(AWAY, "test_a_cause_is_looked_at_and_other_errors_are_the_arms_own"),
    ),
    fault(
        "a service that is away is a failure", RESOLVING,
        "if error.unavailable:", "if False:",
        of(AWAY, "test_one_failure_of_a_service_stops_new_pulls_and_charges_nothing"),
    ),
    fault(
        "nobody waits as long as a service says", RESOLVING,
        "max(self._next_try, self._now() + error.retry_seconds)", "self._next_try",
        of(AWAY, "test_it_is_waited_as_long_as_the_service_says"),
    ),
    fault(
        "a pull whose service stays away is tried for ever", RESOLVING,
        "(begun >= _MOST_COMEBACKS and is_late)", "False",
        of(AWAY, "test_a_pull_whose_own_service_stays_away_ends_the_run_in_the_end"),
    ),
    fault(
        "a second answer is taken from the first", CACHE,
        "repeat = 0 if item is None else order.ordinal % repeats", "repeat = 0", KEYS,
    ),
    fault(
        "an answer without an item serves every seed", CACHE,
        "seed = str(order.seed) if item is None else None", "seed = None", KEYS,
    ),
    fault(
        "arms of one name are one", CACHE, "dict(order.keys), item", "item", KEYS, FIRST,
    ),
    fault(
        "the last answer stays", CACHE, "if known is None or ", "if True or ", FIRST,
    ),
    fault(
        "other items under one name are the same", TABLES,
        "if first.content != entry.content and", "if False and",
        beside(LOGS, "test_other_items_under_the_same_names_are_refused"),
    ),
    fault(
        "prices that some lack are kept", TABLES,
        "if name in kept and name not in fill and gaps:", "if False:",
        beside(LOGS, "test_prices_are_taken_and_left_out_where_one_lacks_them"),
    ),
    fault(
        "an error of a provider is a wrong answer", PROMPTFOO, "_ERROR = 2 ", "_ERROR = 9 ",
        beside(LOGS, "test_errors_of_a_provider_are_no_marks"),
    ),
    fault(
        "incorrect is half right", INSPECT, '"I": 0.0', '"I": 0.5',
        of(LOGS, "test_inspect_ai", "json"),
    ),
]  # fmt: skip
CASES = [pytest.param(one, killer, id=one.name) for one in FAULTS for killer in one.killed_by]
CONTROLS = list(dict.fromkeys(killer for one in FAULTS for killer in one.killed_by))


@pytest.mark.parametrize(("one", "killer"), CASES)
def test_fault_is_noticed(one: Fault, killer: Named) -> None:
    rooms = planted_calls(one.edit)
    with pytest.raises((AssertionError, pytest.fail.Exception, InputError, ValueError)):
        killer.check(rooms)


def test_control_the_sources_as_they_are_pass() -> None:
    rooms = planted_calls()
    for control in CONTROLS:
        control.check(rooms)


def test_every_fault_can_be_planted() -> None:
    for one in FAULTS:
        require_applicable(one.edit)
