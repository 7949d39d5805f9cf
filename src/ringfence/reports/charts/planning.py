"""A plan as a picture: error against budget, beside what theory says, with the target."""

import math
from collections.abc import Mapping
from typing import Any

from ringfence.reports.charts.saving import altair
from ringfence.reports.charts.themes import Theme, themed
from ringfence.reports.figures.planning import plan_rows

_DASHES = [[1, 0], [7, 3], [2, 3]]
_WIDTH, _HEIGHT = 560, 340


def plan_figure(
    document: Mapping[str, Any], *, theme: str | Theme = "light", fluid: bool = False
) -> Any:
    """Return the error against the budget, with the target and the budget that reaches it.

    With `fluid` it is as wide as what holds it, and transparent.
    """
    alt = altair()
    rows = plan_rows(document)
    x = alt.X("budget:Q", title=f"budget T, in {document['unit']}", scale=alt.Scale(zero=False))
    y = alt.Y("log_error:Q", title="ln(error)")
    lines = list(dict.fromkeys(row["line"] for row in rows))
    legend = alt.Legend(symbolType="stroke", symbolSize=400)
    colour = alt.Color("line:N", title=None, scale=alt.Scale(domain=lines), legend=legend)
    dash = alt.StrokeDash(
        "line:N", title=None, scale=alt.Scale(domain=lines, range=_DASHES), legend=legend
    )
    measured = [row for row in rows if "log_low" in row]
    curves = (
        alt.Chart(alt.Data(values=rows)).mark_line().encode(x=x, y=y, color=colour, strokeDash=dash)
    )
    marks = (
        alt.Chart(alt.Data(values=measured)).mark_point(filled=True).encode(x=x, y=y, color=colour)
    )
    spans = (
        alt.Chart(alt.Data(values=measured))
        .mark_rule()
        .encode(x=x, y=alt.Y("log_low:Q"), y2="log_high:Q", color=colour)
    )
    goal = [{"log_error": math.log(document["target_error"]), "budget": document["budget"]}]
    target = alt.Chart(alt.Data(values=goal)).mark_rule(style="limit")
    title = (
        f"{document['policy']} on {document['instance']}: {document['budget']:,} "
        f"{document['unit']} for an error of {document['target_error']:g}"
    )
    chart = (curves + spans + marks + target.encode(y=y) + target.encode(x=x)).properties(
        width="container" if fluid else _WIDTH,
        height=_HEIGHT,
        title=alt.TitleParams(
            title,
            subtitle="error against budget, with 95% intervals; dashed rules: the target",
        ),
        description=f"Error against budget. {title}.",
    )
    return themed(chart, theme, transparent=fluid)
