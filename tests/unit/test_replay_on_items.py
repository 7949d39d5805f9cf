"""Replay where all arms were tried on the same items: none is repeated, the table is the truth."""

from typing import Any

import numpy as np
import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.policies.registry import ADAPTIVE_POLICIES, PHASE_POLICIES
from ringfence.reports.charts import replay_figure
from ringfence.simulation.logs import Log, read_log
from tests.choosing import LONG, few_of

QUESTION: dict[str, Any] = {
    "arm": "variant",
    "objective": "maximize mean(score)",
    "constraints": ["mean(ms) <= 200"],
    "item": "task",
}
ITEMS = 40
FEW = ("uniform", "constrained-sr", "top-two", "ocba-co")


def columns(items: int = ITEMS, *, seed: int = 0) -> dict[str, list[Any]]:
    """Return a table of four arms whose scores go up and down with the item, in mixed order."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=items)
    found: dict[str, list[Any]] = {"variant": [], "task": [], "score": [], "ms": []}
    for name, level, ms in (("a", 0.2, 100), ("b", 0.6, 150), ("c", 0.4, 120), ("d", 1.2, 300)):
        found["variant"] += [name] * items
        found["task"] += [f"t{k}" for k in range(items)]
        found["score"] += (level + hard + 0.4 * rng.normal(size=items)).tolist()
        found["ms"] += rng.normal(ms, 20.0, items).tolist()
    order = rng.permutation(4 * items)
    return {name: [values[row] for row in order] for name, values in found.items()}


def replay(table: Any = None, **changes: Any) -> rf.Replay:
    plain: dict[str, Any] = {**QUESTION, "policies": ["uniform"], "replications": 200}
    return rf.replay(columns() if table is None else table, **{**plain, **changes})


def log_of(table: Any = None, **changes: Any) -> Log:
    return read_log(columns() if table is None else table, **{**QUESTION, **changes})


def without(rows: list[int]) -> dict[str, list[Any]]:
    return {
        name: [value for row, value in enumerate(values) if row not in rows]
        for name, values in columns().items()
    }


def row_of(arm: str, item: str) -> int:
    table = columns()
    return list(zip(table["variant"], table["task"], strict=True)).index((arm, item))


def test_rows_are_put_in_one_order_of_items() -> None:
    log, table = log_of(), columns()
    place = {label: i for i, label in enumerate(log.instance.arms)}
    for t, item in enumerate(dict.fromkeys(table["task"])):
        for arm, i in place.items():
            row = row_of(arm, item)
            assert log.samples[i]["score"][t] == table["score"][row]
            assert log.instance.law.arrays.rows[i, t, 1] == table["ms"][row] - 200.0


def test_the_table_is_the_truth_itself() -> None:
    """Thirty rows an arm and a rival as good would be refused of rows that are a sample."""
    log = log_of(columns(5))
    assert log.confidence == 1.0
    assert log.answer.name == "b"
    assert [arm.chance for arm in log.arms] == [float(arm.name == "b") for arm in log.arms]
    assert all(one.low == one.value == one.high for one in log.answer.readings.values())
    found = replay(columns(5), budgets=[12], policies=["uniform"])
    assert found.doubts == ()


def test_json_names_the_item_and_says_that_none_is_repeated() -> None:
    document = replay(budgets=[40]).to_dict()
    assert (document["item"], document["items"]) == ("task", ITEMS)
    assert "no item is repeated" in document["assumption"]
    assert "none repeated" in str(replay_figure(document).to_dict()["title"])
    plain = replay(item=None, budgets=[40], force=True).to_dict()
    assert set(document) - set(plain) == {"item", "items"}
    assert "independent" in plain["assumption"]


def test_sharing_items_is_worth_more_than_the_same_pulls_of_their_own() -> None:
    shared, apart = (replay(item=item, budgets=[40], force=True) for item in ("task", None))
    assert shared.rows[0].right_rate > apart.rows[0].right_rate + 0.05


@pytest.mark.parametrize(
    "name",
    few_of([one.name for one in (*PHASE_POLICIES, *ADAPTIVE_POLICIES)], *FEW),
)
def test_whoever_has_seen_all_items_answers_as_the_table(name: str) -> None:
    """Budgets above arms times items end there; nobody reads an item twice."""
    items = 12
    found = replay(columns(items), policies=[name], budgets=[16 * items], replications=20, batch=4)
    row = found.rows[0]
    assert sum(row.result.mean_pulls.values()) <= 4 * items
    assert all(pulls <= items for pulls in row.result.mean_pulls.values())
    if name in ("uniform", "top-two"):
        assert sum(row.result.mean_pulls.values()) == 4 * items
    if name != "successive-rejects":  # it ignores limits
        assert row.result.errors == 0


def test_a_limit_on_a_quantile_is_judged_as_a_share() -> None:
    log = log_of(constraints=["p90(ms) <= 200"])
    assert log.answer.name == "b"
    found = replay(constraints=["p90(ms) <= 200"], budgets=[4 * ITEMS])
    assert found.rows[0].result.errors == 0


@pytest.mark.skipif(not LONG, reason="kernels that know of a baseline take long to compile")
def test_limits_relative_to_a_baseline_are_of_the_same_items() -> None:
    found = replay(
        constraints=["mean(ms) <= 1.7 * baseline"], baseline="a", policies=["top-two", "uniform"],
        budgets=[4 * ITEMS],
    )  # fmt: skip
    assert found.log.answer.name == "b"
    assert [row.result.errors for row in found.rows] == [0, 0]


@pytest.mark.parametrize(
    ("table", "changes", "words"),
    [
        (without([row_of("c", "t3")]), {}, ("arm 'c'", "no row of item 't3'")),
        (without([row_of("c", f"t{k}") for k in range(6)]), {}, ("arm 'c'", "and 3 more")),
        (
            {**columns(), "task": ["t1" if item == "t2" else item for item in columns()["task"]]},
            {}, ("has item 't1'", "rows"),
        ),
        (
            {**columns(), "ms": [None if row == row_of("d", "t7") else ms
                                 for row, ms in enumerate(columns()["ms"])]},
            {}, ("arm 'd'", "item 't7'", "ms = None"),
        ),
        ({**columns(), "task": ["", *columns()["task"][1:]]}, {}, ("'task', row 1 names no item",)),
        (columns(), {"item": "tusk"}, ("no column 'tusk'", "Did you mean 'task'")),
        (columns(), {"item": "ms"}, ("item = 'ms'", "a metric")),
        (columns(), {"item": "variant"}, ("item = 'variant'", "the arm")),
        (columns(), {"objective": "minimize p95(score)"}, ("p95(score)", "means and shares")),
        (columns(), {"constraints": ["std(ms) <= 50"]}, ("std(ms)", "means and shares")),
        ({name: [] for name in columns()}, {}, ("no rows",)),
    ],
)  # fmt: skip
def test_what_is_not_the_same_items_is_refused_by_name(
    table: Any, changes: dict[str, Any], words: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as refusal:
        log_of(table, **changes)
    for word in words:
        assert word in str(refusal.value), str(refusal.value)
