"""Figure data of a replay: how often each policy is right, by budget, with bands. Pure."""

from collections.abc import Mapping
from typing import Any


def replay_rows(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row for every policy and budget; uniform has those that it was followed at.

    It is followed far beyond the budgets that were asked for, and drawn up to them.
    """
    rows = [_row(row, row["policy"]) for row in document["rows"] if row["policy"] != "uniform"]
    budgets = [row["budget"] for row in document["rows"]]
    first, last = min(budgets), max(budgets)
    return rows + [
        _row(point, "uniform") for point in document["uniform"] if first <= point["budget"] <= last
    ]


def _row(point: Mapping[str, Any], policy: str) -> dict[str, Any]:
    return {
        "policy": policy,
        "budget": point["budget"],
        "right": point["right_rate"],
        "low": point["ci_low"],
        "high": point["ci_high"],
    }
