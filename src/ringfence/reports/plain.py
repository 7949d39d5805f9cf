"""Simple pictures without any library: the map and the differences as SVG text. Pure.

For records where the drawing library is not installed. Colours are those of the light theme, so
that a page can turn them into the dark one's. Names are text.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

from ringfence.reports.charts.themes import LIGHT
from ringfence.reports.figures.axes import how_far, reach_of
from ringfence.reports.figures.differences import difference_rows, difference_title
from ringfence.reports.figures.map import map_rows, map_subtitle, map_title
from ringfence.reports.figures.map_places import HEIGHT, WIDTH, placed
from ringfence.reports.figures.words import (
    BEST,
    DECEIVER,
    INFEASIBLE,
    INFEASIBLE_SUBOPTIMAL,
    NEAREST,
    shortened,
)
from ringfence.study.plan import Plan
from ringfence.study.verdict import Verdict

_MARKS = {
    BEST: "★", NEAREST: "◆", DECEIVER: "▲", INFEASIBLE_SUBOPTIMAL: "✕", INFEASIBLE: "✕",
}  # fmt: skip
_INSIDE = "●"
_LEFT, _TOP, _BELOW, _STEP = 60, 54, 62, 21
_NAMES, _PANEL = 150, 460
_SHIFT = {"upper right": (6, -5), "lower right": (6, 15), "upper left": (-6, -5),
          "lower left": (-6, 15)}  # fmt: skip


def plain_pictures(plan: Plan, verdict: Verdict) -> dict[str, str]:
    """Return the pictures that can be drawn so, by kind; one without content is left out."""
    rows = map_rows(verdict)
    found = {"map": _map(plan, verdict, rows)} if rows and plan.problem.constraints else {}
    if differences := difference_rows(verdict):
        found["differences"] = _differences(verdict, differences)
    return found


def _map(plan: Plan, verdict: Verdict, rows: list[dict[str, Any]]) -> str:
    frame, drawn = placed(rows)
    objective = plan.problem.objective
    better = "lower" if objective.direction == "minimize" else "higher"

    def at(x: float, y: float) -> tuple[float, float]:
        across, down = frame.place(x, y)
        return _LEFT + across, _TOP + down

    limit, _ = at(0.0, frame.bottom)
    title = map_title(verdict)
    parts = [
        _text(_LEFT, 18, title, size=15, bold=True),
        *(_text(_LEFT, 34 + 14 * k, line, muted=True)
          for k, line in enumerate(map_subtitle(verdict, drawn)[:1])),
        _box(),
        _line(limit, _TOP, limit, _TOP + HEIGHT, LIGHT.muted, dashed=True),
        _text(limit - 7, _TOP + 14, "← feasible", end=True, muted=True),
        _text(limit + 7, _TOP + 14, "infeasible →", muted=True),
        _text(_LEFT, _TOP + HEIGHT + 18, f"{frame.left:.3g}", muted=True),
        _text(_LEFT + WIDTH, _TOP + HEIGHT + 18, f"{frame.right:.3g}", end=True, muted=True),
        _text(_LEFT - 6, _TOP + 10, f"{frame.top:.3g}", end=True, muted=True),
        _text(_LEFT - 6, _TOP + HEIGHT, f"{frame.bottom:.3g}", end=True, muted=True),
        _text(_LEFT, _TOP + HEIGHT + 36, "across: worst margin, in units of noise; "
              f"up: {objective.attribute} ({better} is better)", muted=True),
        _text(_LEFT, _TOP + HEIGHT + 54, "★ best feasible  ● feasible  ▲ deceiver  ✕ infeasible  "
              "◆ least infeasible", muted=True),
    ]  # fmt: skip
    for row in reversed(drawn):
        colour = LIGHT.categories[0 if row["is_answer"] else 2 if row["is_feasible"] else 1]
        x, y = at(row["x"], row["y"])
        (left, low), (right, high) = (
            at(row["x_low"], row["y_low"]),
            at(row["x_high"], row["y_high"]),
        )
        parts += [
            _line(left, y, right, y, colour), _line(x, low, x, high, colour),
            _text(x, y + 5, _MARKS.get(row["kind"], _INSIDE), size=15, fill=colour, middle=True),
        ]  # fmt: skip
        if row["label"]:
            dx, dy = _SHIFT[row["side"]]
            parts.append(_text(x + dx, y + dy, row["label"], end=dx < 0))
    description = f"Map of {len(drawn)} arms by worst margin and objective. {title}."
    return _svg(_LEFT + WIDTH + 14, _TOP + HEIGHT + _BELOW, parts, description)


def _differences(verdict: Verdict, rows: Sequence[dict[str, Any]]) -> str:
    title, y = difference_title(verdict), 40.0
    parts = [_text(0, 18, title, size=15, bold=True)]
    for name in dict.fromkeys(row["attribute"] for row in rows):
        mine = [row for row in rows if row["attribute"] == name]
        parts += _panel(mine, y)
        y += _STEP * (len(mine) + 2.4)
    return _svg(_NAMES + _PANEL + 14, y, parts, f"Differences from {verdict.arm} by arm. {title}.")


def _panel(rows: Sequence[dict[str, Any]], top: float) -> list[str]:
    """Return the arms by one attribute, the first of them below its name."""
    reach = reach_of(
        [row["value"] for row in rows], [row["low"] for row in rows],
        [row["high"] for row in rows], [0.0],
    )  # fmt: skip

    def at(value: float) -> float:
        inside = min(max(value, reach.low), reach.high)
        return _NAMES + _PANEL * (inside - reach.low) / (reach.high - reach.low)

    below = top + _STEP * (len(rows) + 0.3)
    head = f"{shortened(rows[0]['attribute'])} ({rows[0]['better']} is better)"
    parts = [
        _text(_NAMES, top + 8, head, bold=True),
        _line(at(0.0), top + 12, at(0.0), below, LIGHT.muted, dashed=True),
        _text(_NAMES, below + 14, f"{reach.low:.3g}", muted=True),
        _text(_NAMES + _PANEL, below + 14, f"{reach.high:.3g}", end=True, muted=True),
    ]
    for place, (row, side) in enumerate(zip(rows, reach.beyond, strict=True)):
        y = top + _STEP * (place + 1) + 6
        colour = LIGHT.categories[0] if row["is_clear"] else LIGHT.categories[5]
        x = at(row["value"])
        parts += [
            _text(_NAMES - 8, y + 4, shortened(row["name"], 22), end=True),
            _line(at(row["low"]), y, at(row["high"]), y, colour),
            _text(x, y + 5, "●" if row["is_clear"] else "○", size=14, fill=colour, middle=True),
        ]
        if side:
            arrow = how_far(row["value"], "→" if side > 0 else "←", signed=True)
            parts.append(_text(x - 9 * side, y + 4, arrow, end=side > 0, muted=True))
    return parts


def _svg(width: float, height: float, parts: Sequence[str], description: str) -> str:
    return (
        f'<svg width="{width:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="{escape(description)}" font-family="system-ui, sans-serif">'
        f"{''.join(parts)}</svg>"
    )


def _box() -> str:
    return (
        f'<rect x="{_LEFT}" y="{_TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" '
        f'stroke="{LIGHT.frame}"/>'
    )


def _line(
    x: float, y: float, to_x: float, to_y: float, colour: str, *, dashed: bool = False
) -> str:
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return (
        f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{colour}"'
        f'{dashes}/>'
    )  # fmt: skip


def _text(
    x: float, y: float, words: str, *, size: int = 11, bold: bool = False, muted: bool = False,
    end: bool = False, middle: bool = False, fill: str | None = None,
) -> str:  # fmt: skip
    colour = fill or (LIGHT.muted if muted else LIGHT.text)
    anchor = ' text-anchor="end"' if end else ' text-anchor="middle"' if middle else ""
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}"{anchor}{weight}>'
        f"{escape(words)}</text>"
    )
