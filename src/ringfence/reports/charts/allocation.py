"""The allocation: how many pulls each arm was given, and in which part of the study."""

from collections.abc import Sequence
from typing import Any

from ringfence.reports.charts.saving import altair
from ringfence.reports.figures.allocation import allocation_rows, allocation_title, parts_of
from ringfence.reports.figures.words import counted
from ringfence.study.facts import Round
from ringfence.study.plan import Plan
from ringfence.study.verdict import Verdict

WIDTH, STEP = 560, 19
_LABEL_ROOM = 1.22  # beyond the longest bar, for what is written there


def allocation_chart(
    plan: Plan, verdict: Verdict, rounds: Sequence[Round], *, fluid: bool = False
) -> Any:
    """Return a bar an arm, the most pulled first, later parts of the study darker."""
    alt = altair()
    rows = allocation_rows(plan, verdict, rounds)
    parts = parts_of(plan, rounds)
    y = alt.Y("name:N", title=None, sort=alt.EncodingSortField("place", op="min"))
    shades = [0.3 if len(parts) > 1 else 1.0, 1.0]
    opacity = alt.Opacity("when:N", title=None, sort=parts).scale(domain=parts, range=shades)
    bars = (
        alt.Chart(alt.Data(values=_end_to_end(rows)))
        .mark_bar(style="first", height=STEP - 7)
        .encode(
            x=alt.X("begin:Q", title="pulls given")
            .axis(grid=False, tickCount=8)
            .scale(domainMax=_LABEL_ROOM * max((row["total"] for row in rows), default=1)),
            x2="end:Q",
            y=y,
            opacity=opacity.legend(orient="bottom", symbolType="square", symbolStrokeWidth=0),
            tooltip=[
                alt.Tooltip("name:N", title="arm"),
                alt.Tooltip("when:N", title="when"),
                alt.Tooltip("pulls:Q", title="pulls then", format=","),
                alt.Tooltip("total:Q", title="pulls in all", format=","),
            ],
        )
    )
    ends = [{**row, "words": _words(row)} for row in {row["name"]: row for row in rows}.values()]
    totals = (
        alt.Chart(alt.Data(values=ends))
        .mark_text(style="note", align="left", dx=5)
        .encode(x=alt.X("total:Q"), y=y, text="words:N")
    )
    spent = rounds[-1].first - 1 + rounds[-1].size if rounds else 0
    title = allocation_title(verdict, rows, spent)
    left_out = len(verdict.arms) - len(ends)
    lines = [f"{counted(spent, 'pull')} given to {counted(len(verdict.arms), 'arm')}"]
    if left_out and rows:
        rest = spent - sum(row["total"] for row in ends)
        lines.append(f"{counted(left_out, 'arm')} with {counted(rest, 'pull')} in all not drawn")
    return alt.layer(bars, totals).properties(
        width="container" if fluid else WIDTH,
        height=STEP * max(len(ends), 2),
        view=alt.ViewBackground(strokeOpacity=0),
        title=alt.TitleParams(title, subtitle=lines),
        description=f"Pulls by arm. {title}.",
    )


def _end_to_end(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the parts of each bar one after the other.

    Vega could stack them, but loses its way where an arm is called "constructor" or "__proto__".
    """
    reached: dict[str, int] = {}
    laid = []
    for row in rows:
        begin = reached.get(row["name"], 0)
        reached[row["name"]] = end = begin + row["pulls"]
        laid.append({**row, "begin": begin, "end": end})
    return laid


def _words(row: dict[str, Any]) -> str:
    return f"{row['total']:,}, the answer" if row["is_answer"] else f"{row['total']:,}"
