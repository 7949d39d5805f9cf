"""The differences: how far each arm is from the answer, a panel for each attribute."""

from collections.abc import Sequence
from typing import Any

from ringfence.reports.charts.saving import altair
from ringfence.reports.charts.themes import LABEL_LIMIT
from ringfence.reports.figures.axes import how_far, reach_of
from ringfence.reports.figures.differences import (
    difference_rows,
    difference_subtitle,
    difference_title,
)
from ringfence.reports.figures.words import shortened
from ringfence.reports.verdict import interval
from ringfence.study.facts import Round
from ringfence.study.plan import Plan
from ringfence.study.verdict import Verdict

WIDTH, STEP = 300, 19
_COLUMNS = 2
_LETTER = 6.2
_BESIDE = 34  # around a panel, beside the names of its arms


def differences_chart(
    plan: Plan, verdict: Verdict, rounds: Sequence[Round], *, fluid: bool = False
) -> Any:
    """Return a panel for each attribute; a page that is `fluid` puts as many abreast as fit."""
    alt = altair()
    rows = difference_rows(verdict)
    names = list(dict.fromkeys(row["attribute"] for row in rows))
    panels = [_panel(alt, [row for row in rows if row["attribute"] == name]) for name in names]
    title = difference_title(verdict)
    longest = max((len(row["name"]) for row in rows), default=0)
    room = min(_LETTER * longest, LABEL_LIMIT) + _BESIDE
    chart = alt.concat(*panels or [_empty(alt)], columns=_COLUMNS).properties(
        title=alt.TitleParams(title, subtitle=difference_subtitle(verdict, rows)),
        description=f"Differences from {verdict.arm} by arm. {title}.",
        spacing=24,
    )
    return chart.properties(usermeta={"panels": {"room": round(room)}}) if fluid else chart


def _panel(alt: Any, rows: Sequence[dict[str, Any]]) -> Any:
    """Return the arms by one attribute, with a line where they would be level with the answer."""
    reach = reach_of(
        [row["value"] for row in rows],
        [row["low"] for row in rows],
        [row["high"] for row in rows],
        [0.0],
    )
    left, right = reach.low, reach.high

    def inside(value: float) -> float:
        return min(max(value, left), right)

    drawn = [
        {**row, "at": inside(row["value"]), "from": inside(row["low"]), "to": inside(row["high"]),
         "beyond": how_far(row["value"], "→" if side > 0 else "←", signed=True) if side else "",
         "shown": f"{row['value']:+.3g} ({interval(row['low'], row['high'], digits=3)})"}
        for row, side in zip(rows, reach.beyond, strict=True)
    ]  # fmt: skip
    scale = alt.Scale(domain=[left, right], nice=False, zero=False)
    x = alt.X("at:Q", scale=scale, axis=alt.Axis(tickCount=5)).title(
        f"difference ({rows[0]['better']} is better)"
    )
    y = alt.Y("name:N", title=None, sort=alt.EncodingSortField("place", op="min"))
    tips = [
        alt.Tooltip("name:N", title="arm"),
        alt.Tooltip("attribute:N", title="attribute"),
        alt.Tooltip("shown:N", title="difference"),
    ]
    layers = [
        alt.Chart(alt.Data(values=[{"at": 0.0}]))
        .mark_rule(style="limit", strokeWidth=1.5)
        .encode(x=alt.X("at:Q", scale=scale))
    ]
    for clear, style in ((True, "first"), (False, "quiet")):
        mine = [row for row in drawn if row["is_clear"] == clear]
        if not mine:
            continue
        base = alt.Chart(alt.Data(values=mine))
        ends = alt.X("from:Q", scale=scale)
        layers += [
            base.mark_rule(style=style).encode(x=ends, x2="to:Q", y=y, tooltip=tips),
            base.mark_point(style=style, filled=clear, size=60, opacity=1.0).encode(
                x=x, y=y, tooltip=tips
            ),
        ]
    for row in (row for row in drawn if row["beyond"]):
        right_of = row["at"] <= left
        note = alt.Chart(alt.Data(values=[row])).mark_text(
            style="note", align="left" if right_of else "right", dx=9 if right_of else -9
        )
        layers.append(note.encode(x=x, y=y, text="beyond:N"))
    return alt.layer(*layers).properties(
        width=WIDTH,
        height=STEP * max(len(rows), 2),
        title=alt.TitleParams(shortened(rows[0]["attribute"]), fontSize=12, offset=6),
        view=alt.ViewBackground(strokeOpacity=0),
    )


def _empty(alt: Any) -> Any:
    return (
        alt.Chart(alt.Data(values=[{}]))
        .mark_point(style="note", opacity=0)
        .properties(width=WIDTH, height=2 * STEP)
    )
