"""Where the arms of a deceiver map lie, with their names: chosen before it is drawn. Pure."""

from collections.abc import Sequence
from typing import Any

from ringfence.core.strict import strict
from ringfence.reports.figures.axes import Reach, how_far, reach_of
from ringfence.reports.figures.labels import Box, Frame, labelled
from ringfence.reports.verdict import interval

WIDTH, HEIGHT = 640, 380
MOST_WITH_INTERVALS = 60


def placed(rows: Sequence[dict[str, Any]]) -> tuple[Frame, list[dict[str, Any]]]:
    """Return what part of the plane is shown, and rows of the map with where they are drawn.

    Points are `x` and `y`, the ends of their intervals `x_low` and so on, within the frame. A row
    has a `label` on a `side` where there is room for it.
    """
    across, up = _reaches(rows)
    frame = _frame(across, up)
    named = labelled(_placed(rows, across, up, frame), frame, [_border(frame)])
    return frame, [_clamped(row, frame) for row in named]


def _reaches(rows: Sequence[dict[str, Any]]) -> tuple[Reach, Reach]:
    """Return how far the axes reach: to the limit and the answer always."""
    if not rows:
        return Reach(-1.0, 1.0, ()), Reach(0.0, 1.0, ())
    spans = rows if len(rows) <= MOST_WITH_INTERVALS else rows[:1]
    named = [row for row in rows if row["is_answer"]]
    across = reach_of(
        [row["margin"] for row in rows],
        [row["margin_low"] for row in spans],
        [row["margin_high"] for row in spans],
        [0.0, *(row["margin"] for row in named)],
    )
    up = reach_of(
        [row["value"] for row in rows],
        [row["low"] for row in spans],
        [row["high"] for row in spans],
        [row["value"] for row in named],
    )
    return across, up


def _frame(across: Reach, up: Reach) -> Frame:
    wide = across.high - across.low
    left, right = min(across.low, -0.16 * wide), max(across.high, 0.16 * wide)  # room for two words
    return Frame(left, right, up.low, up.high + 0.08 * (up.high - up.low), WIDTH, HEIGHT)


def _placed(
    rows: Sequence[dict[str, Any]], across: Reach, up: Reach, frame: Frame
) -> list[dict[str, Any]]:
    """Return the rows with where they are drawn; one that lies `beyond` a border says how far."""
    placed = []
    for row, side, level in zip(rows, across.beyond, up.beyond, strict=True):
        far = [how_far(row["margin"], "→" if side > 0 else "←")] if side else []
        far += [how_far(row["value"], "↑" if level > 0 else "↓")] if level else []
        x = min(max(row["margin"], frame.left), frame.right)
        y = min(max(row["value"], frame.bottom), frame.top)
        placed.append({**row, "x": x, "y": y, "beyond": ", ".join(far)})
    return placed


def _border(frame: Frame) -> Box:
    """Return the room that the limit between feasible and infeasible takes."""
    at, _ = frame.place(0.0, 0.0)
    return at - 3.0, 0.0, at + 3.0, frame.height


def _clamped(row: dict[str, Any], frame: Frame) -> dict[str, Any]:
    """Return the row with the ends of its intervals as far as they are drawn."""
    return {
        **strict(row),
        "x_low": min(max(row["margin_low"], frame.left), frame.right),
        "x_high": max(min(row["margin_high"], frame.right), frame.left),
        "y_low": min(max(row["low"], frame.bottom), frame.top),
        "y_high": max(min(row["high"], frame.top), frame.bottom),
        "shown": f"{row['value']:.4g} ({interval(row['low'], row['high'])})",
        "shown_margin": f"{row['margin']:.3g} "
        f"({interval(row['margin_low'], row['margin_high'], digits=3)})",
    }
