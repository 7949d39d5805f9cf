"""The timeline: when each arm left, or how an adaptive policy's pulls moved between arms."""

from collections.abc import Sequence
from typing import Any

from ringfence.reports.charts.saving import altair
from ringfence.reports.figures.timeline import (
    ANSWER,
    MOST_BARS,
    REJECTED,
    RUNNING,
    SETTLED,
    WITHDRAWN,
    share_levels,
    timeline_rows,
    timeline_title,
)
from ringfence.reports.figures.words import counted
from ringfence.study.facts import Round
from ringfence.study.plan import Plan
from ringfence.study.verdict import Verdict

WIDTH, STEP = 560, 19
_NOTE_LIMIT = 210
_STYLES = {
    ANSWER: "first",
    WITHDRAWN: "second",
    RUNNING: "third",
    SETTLED: "quiet",
    REJECTED: "quiet",
}


def timeline_chart(
    plan: Plan, verdict: Verdict, rounds: Sequence[Round], *, fluid: bool = False
) -> Any:
    """Return bars of a phase policy's arms, strips of an adaptive one's."""
    alt = altair()
    rows = timeline_rows(plan, verdict, rounds)
    adaptive = not plan.policy.has_phases
    end = max((row["end"] for row in rows), default=1)
    x = alt.X(
        "start:Q",
        title="pulls of the study",
        axis=alt.Axis(grid=False, tickCount=8),
        scale=alt.Scale(domain=[0, end], nice=False),
    )
    y = alt.Y("name:N", title=None, sort=alt.EncodingSortField("place", op="min"))
    axes = {"x": x, "x2": "end:Q", "y": y}
    tips = [alt.Tooltip("name:N", title="arm"), alt.Tooltip("note:N", title="fate")]
    if adaptive:
        tips += [
            alt.Tooltip("start:Q", title="after pull", format=","),
            alt.Tooltip("end:Q", title="up to pull", format=","),
            alt.Tooltip("pulls:Q", title="its pulls", format=","),
            alt.Tooltip("share:Q", title="share", format=".0%"),
        ]
        levels = share_levels(rows)
        legend = alt.Legend(orient="bottom", symbolType="square") if levels else None
        opacity = alt.Opacity("level:O", title="share of pulls", sort=None, legend=legend).scale(
            type="ordinal", domain=levels, range=[(k + 1) / len(levels) for k in range(len(levels))]
        )
        strips = alt.Chart(alt.Data(values=rows)).mark_rect(style="first", height=STEP - 4)
        bars = [
            strips.encode(
                **axes,
                opacity=opacity,
                tooltip=tips,
            )
        ]
    else:
        tips += [
            alt.Tooltip("end:Q", title="left after pull", format=","),
            alt.Tooltip("pulls:Q", title="its pulls", format=","),
        ]
        bars = [
            alt.Chart(alt.Data(values=[row for row in rows if row["fate"] == fate]))
            .mark_bar(style=style, height=STEP - 9, opacity=0.75 if style == "quiet" else 1.0)
            .encode(**axes, tooltip=tips)
            for fate, style in _STYLES.items()
            if any(row["fate"] == fate for row in rows)
        ]
    notes = _notes(alt, rows, y, adaptive=adaptive)
    left_out = len(verdict.arms) - min(len(verdict.arms), MOST_BARS)
    title = timeline_title(plan, verdict, rows)
    return alt.layer(*bars, notes).properties(
        width="container" if fluid else WIDTH,
        height=STEP * max(len({row["name"] for row in rows}), 2),
        view=alt.ViewBackground(strokeOpacity=0),
        title=alt.TitleParams(title, subtitle=_subtitle(adaptive=adaptive, left_out=left_out)),
        description=f"Timeline of {counted(len(verdict.arms), 'arm')}. {title}.",
    )


def _notes(alt: Any, rows: Sequence[dict[str, Any]], y: Any, *, adaptive: bool) -> Any:
    """Return what became of each arm, at the end of its bar; of strips, what is out of order."""
    ends = {row["name"]: row for row in rows}
    said = [
        {**row, "at": row["end"]}
        for row in ends.values()
        if not adaptive or row["fate"] in (ANSWER, WITHDRAWN)
    ]
    if adaptive:
        last = max((row["end"] for row in rows), default=1)
        said = [{**row, "at": last if row["fate"] == ANSWER else row["end"]} for row in said]
    return (
        alt.Chart(alt.Data(values=said))
        .mark_text(style="note", align="left", dx=6, limit=_NOTE_LIMIT)
        .encode(x=alt.X("at:Q"), y=y, text="note:N")
    )


def _subtitle(*, adaptive: bool, left_out: int) -> list[str]:
    if adaptive:
        lines = ["each arm's share of the pulls, as the study went on; the stronger, the more"]
        rest = "less often pulled"
    else:
        lines = ["a bar ends where its arm left: in which phase, and behind whom if not the answer"]
        rest = "that left no later"
    return [*lines, f"{counted(left_out, 'arm')} {rest} not drawn"] if left_out else lines
