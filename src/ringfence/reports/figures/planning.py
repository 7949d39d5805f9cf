"""Figure data of a plan: the error by budget, beside what theory says. Pure."""

import math
from collections.abc import Mapping
from typing import Any


def plan_rows(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the figure data of a plan: the error by budget, beside what theory says."""
    rows = []
    for point in document["curve"]:
        if point["error_rate"] > 0.0:
            spread = 1.96 * point["std_error"] / point["error_rate"]
            rows.append(
                {
                    "budget": point["budget"],
                    "line": document["policy"],
                    "log_error": math.log(point["error_rate"]),
                    "log_low": math.log(point["error_rate"]) - spread,
                    "log_high": math.log(point["error_rate"]) + spread,
                }
            )
        theory = {}
        if point["upper_bound"] is not None:
            theory["proven bound"] = math.log(point["upper_bound"])
        if document["oracle_rate"] is not None:
            theory["an oracle's rate"] = -document["oracle_rate"] * point["budget"]
        for line, log in theory.items():
            rows.append({"budget": point["budget"], "line": line, "log_error": log})
    return rows
