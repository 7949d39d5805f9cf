"""Figure data of the paper's four panels: error against budget, ours and the published. Pure."""

import math
from typing import Any

from ringfence.reports.paper import UNPUBLISHED_INSTANCE, PaperPoint, PaperReport
from ringfence.simulation.rare.results import RareResult
from ringfence.simulation.results import SimulationResult


def paper_rows(report: PaperReport, instance: int) -> list[dict[str, Any]]:
    """Return the figure data of one panel: ours with intervals, and the published points.

    A point without an error is drawn at the upper end of its interval, as a bound.
    """
    rows = []
    for point in report.points:
        if point.instance == instance:
            rows.append(_row(point.result, "ours"))
            rows += _published_row(point)
    if instance == UNPUBLISHED_INSTANCE:
        replaced = {(result.policy, result.budget) for result in report.unpublished}
        rows = [
            row
            for row in rows
            if row["source"] != "ours" or (row["policy"], row["budget"]) not in replaced
        ]
        rows += [_row(result, "ours") for result in report.unpublished]
    return rows


def _row(result: SimulationResult | RareResult, source: str) -> dict[str, Any]:
    low, high = result.interval
    # An interval that reaches zero is drawn a fixed way down, since ln(0) has no place on paper.
    log_high = math.log(high)
    log_low = math.log(low) if low > 0.0 else log_high - 1.0
    return {
        "budget": result.budget,
        "policy": result.policy,
        "source": source,
        "bound": result.errors == 0,
        "log_error": math.log(result.error_rate) if result.errors else log_high,
        "log_low": log_low,
        "log_high": log_high,
    }


def _published_row(point: PaperPoint) -> list[dict[str, Any]]:
    logged = point.published.log_error_rate
    if logged is None:
        return []
    return [
        {
            "budget": point.result.budget,
            "policy": point.result.policy,
            "source": "published",
            "bound": False,
            "log_error": logged,
        }
    ]
