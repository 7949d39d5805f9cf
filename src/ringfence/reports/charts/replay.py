"""A replay as a picture: how often each policy finds the truth of the table, by budget."""

from collections.abc import Mapping
from typing import Any

from ringfence.reports.charts.saving import altair
from ringfence.reports.charts.themes import Theme, themed
from ringfence.reports.figures.replay import replay_rows
from ringfence.reports.figures.words import shortened

_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "stroke",
           "triangle-left", "triangle-right")  # fmt: skip
_WIDTH, _HEIGHT = 560, 340


def replay_figure(document: Mapping[str, Any], *, theme: str | Theme = "light") -> Any:
    """Return the right rate against the budget by policy, with 95% bands; `document` is JSON's.

    >>> import ringfence as rf
    >>> log = {"arm": ["a", "b"] * 60, "cost": [3, 1, 2, 2] * 30, "risk": [0, 1, 0, 1, 1, 1] * 20}
    >>> found = rf.replay(
    ...     log,
    ...     arm="arm",
    ...     objective="minimize mean(cost)",
    ...     constraints="mean(risk) <= 0.6",
    ...     budgets=[20, 40],
    ...     policies=["top-two", "uniform"],
    ...     replications=200,
    ... )
    >>> rf.save_chart(rf.replay_figure(found.to_dict()), "right.svg").name
    'right.svg'
    """
    alt = altair()
    rows = replay_rows(document)
    last = {row["policy"]: row["right"] for row in sorted(rows, key=lambda row: row["budget"])}
    order = sorted(last, key=lambda policy: -last[policy])
    data = alt.Data(values=rows)
    x = alt.X(
        "budget:Q",
        title=f"budget T, in {document.get('unit', 'pulls')}",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=sorted({row["budget"] for row in rows}), labelOverlap=True),
    )
    y = alt.Y(
        "right:Q",
        title="right, of all replications",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%"),
    )
    colour = alt.Color("policy:N", title=None, scale=alt.Scale(domain=order))
    shape = alt.Shape(
        "policy:N", title=None, scale=alt.Scale(domain=order, range=list(_SHAPES[: len(order)]))
    )
    base = alt.Chart(data)
    bands = base.mark_area(opacity=0.15).encode(
        x=x, y=alt.Y("low:Q", title="right, of all replications"), y2="high:Q", color=colour
    )
    lines = base.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=colour)
    marks = base.mark_point(filled=True, size=45).encode(x=x, y=y, color=colour, shape=shape)
    goal = alt.Chart(alt.Data(values=[{"right": document["goal"]}]))
    rule = goal.mark_rule(style="limit").encode(y=y)
    truth = document["truth"]
    flag = "feasible" if truth["feasible"] else "none is feasible; it comes nearest"
    source = (
        f"truth of the table: {shortened(truth['arm'])} ({flag}); {document['rows_used']:,} rows"
    )
    drawn = "rows resampled as if independent"
    if "items" in document:
        drawn = f"the same {document['items']:,} items for all arms, none repeated"
    method = f"{drawn}, {document['replications']:,} replications; bands: 95% intervals"
    title = document["headline"]
    doubtful = ["DOUBTFUL: the table cannot answer this question"] if document["forced"] else []
    chart = (bands + lines + rule + marks).properties(
        width=_WIDTH,
        height=_HEIGHT,
        title=alt.TitleParams(
            title,
            subtitle=[*doubtful, source, method],
        ),
        description=f"Right answers against budget, by policy. {title}.",
    )
    return themed(chart, theme)
