"""Hours: the objective of every arm as time went by, a line each, named at its end."""

from collections.abc import Mapping, Sequence
from typing import Any

from ringfence.reports.charts.saving import altair
from ringfence.reports.figures.hours import MOST_LINES, hour_rows, hours_title
from ringfence.reports.figures.labels import spread
from ringfence.reports.figures.words import IN_LABEL, counted, shortened
from ringfence.study.outcomes import Outcomes
from ringfence.study.verdict import Verdict

WIDTH, HEIGHT = 520, 300
_DASHES = ([1, 0], [8, 3], [2, 2], [8, 3, 2, 3], [5, 2], [1, 3], [12, 3], [4, 4])
_LINE = 14.0
_AIR = 0.05


def hours_chart(
    verdict: Verdict, outcomes: Outcomes, contents: Mapping[int, Any], *, fluid: bool = False
) -> Any:
    """Return a line for each of the arms that matter most; `contents` would be of items."""
    alt = altair()
    rows = hour_rows(verdict, outcomes)
    values = [row["value"] for row in rows] or [0.0]
    low, high = min(values), max(values)
    air = _AIR * (high - low) or abs(high) or 1.0
    low, high = low - air, high + air
    series = list(range(MOST_LINES))
    x = alt.X("hours:Q", title="hours since the study was created").axis(tickCount=8)
    y = alt.Y("value:Q", title=verdict.objective).scale(domain=[low, high], nice=False, zero=False)
    colour = alt.Color("series:N", legend=None).scale(domain=series)
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(strokeWidth=1.8, point={"size": 22})
        .encode(
            x=x,
            y=y,
            color=colour,
            detail="piece:N",
            strokeDash=alt.StrokeDash("series:N", legend=None).scale(
                domain=series, range=list(_DASHES)
            ),
            tooltip=[
                alt.Tooltip("name:N", title="arm"),
                alt.Tooltip("hours:Q", title="hours", format=".4~g"),
                alt.Tooltip("value:Q", title=verdict.objective, format=".4~g"),
                alt.Tooltip("pulls:Q", title="pulls", format=","),
            ],
        )
    )
    names = (
        alt.Chart(alt.Data(values=_ends(rows, low, high)))
        .mark_text(align="left", dx=8, baseline="middle")
        .encode(x=x, y=alt.Y("at:Q"), text="label:N", color=colour)
    )
    title = hours_title(verdict, outcomes)
    left_out = len(verdict.arms) - len({row["name"] for row in rows})
    lines_said = ["the mean of every arm in each stretch of time"]
    lines_said += [f"{counted(left_out, 'arm')} not drawn"] * (left_out > 0)
    return alt.layer(lines, names).properties(
        width="container" if fluid else WIDTH,
        height=HEIGHT,
        title=alt.TitleParams(title, subtitle=lines_said),
        description=f"The objective by time. {title}.",
    )


def _ends(rows: Sequence[dict[str, Any]], low: float, high: float) -> list[dict[str, Any]]:
    """Return the name of every line, near its end and apart from the others."""
    ends = list({row["series"]: row for row in rows}.values())
    wanted = [HEIGHT * (high - row["value"]) / (high - low) for row in ends]
    last = max((row["hours"] for row in rows), default=0.0)
    return [
        {**row, "hours": last, "at": high - place / HEIGHT * (high - low),
         "label": shortened(row["name"], IN_LABEL)}
        for row, place in zip(ends, spread(wanted, _LINE, 4.0, HEIGHT - 4.0), strict=True)
    ]  # fmt: skip
