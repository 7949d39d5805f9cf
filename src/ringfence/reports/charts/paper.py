"""The paper's figure: four panels of error against budget, ours beside the published points."""

from typing import Any

from ringfence.reports.charts.saving import altair
from ringfence.reports.charts.themes import Theme, themed
from ringfence.reports.figures.paper import paper_rows
from ringfence.reports.paper import PANELS, POLICY_NAMES, PaperReport

_SHAPES = ("triangle-up", "circle")
_TITLES = {
    1: "(a) first instance: just inside the threshold",
    2: "(b) second instance: within noise of the threshold",
    3: "(c) third instance: every kind of arm; the two coincide",
    4: "(d) fourth instance: nothing is feasible; the two coincide",
}


def paper_figure(report: PaperReport, *, theme: str | Theme = "light") -> Any:
    """Return the four panels in the paper's arrangement, published points as open marks.

    The example of `reproduce_paper` draws it.
    """
    alt = altair()
    panels = [
        _panel(paper_rows(report, place), _TITLES[place]) for place in range(1, len(PANELS) + 1)
    ]
    runs = report.points[0].result.replications
    rows = [alt.hconcat(*panels[:2], spacing=28), alt.hconcat(*panels[2:], spacing=28)]
    chart = alt.vconcat(*rows, spacing=22).properties(
        title=alt.TitleParams(
            "Error probability against budget: ours and the published points",
            subtitle=f"ln(error), {runs:,} replications a point, 95% intervals; "
            "open marks are the paper's own",
        ),
        description="Four panels: the logarithm of the error probability falls with the budget; "
        "our simulations and the published points.",
    )
    return themed(chart, theme)


def _panel(rows: list[dict[str, Any]], title: str) -> Any:
    alt = altair()
    data = alt.Data(values=rows)
    bottom = alt.Legend(orient="bottom")
    colour = alt.Color("policy:N", title=None, legend=bottom).scale(domain=POLICY_NAMES)
    shape = alt.Shape("policy:N", title=None, legend=bottom).scale(
        domain=POLICY_NAMES, range=list(_SHAPES)
    )
    x = alt.X("budget:Q", title="budget T").scale(domain=[500, 10_500]).axis(tickCount=5)
    y = alt.Y("log_error:Q", title="ln(error)").scale(zero=False)
    base = alt.Chart(data).encode(x, y, color=colour)
    ours = base.transform_filter("datum.source == 'ours' && !datum.bound")
    bars = (
        alt.Chart(data)
        .transform_filter("datum.source == 'ours'")
        .mark_rule(strokeWidth=1.5)
        .encode(
            x,
            alt.Y("log_low:Q", title="ln(error)").scale(zero=False),
            alt.Y2("log_high:Q"),
            color=colour,
        )
    )
    line = ours.mark_line(strokeWidth=1.2, opacity=0.7)
    dots = ours.mark_point(filled=True, size=45).encode(shape=shape)
    bounds = base.transform_filter("datum.source == 'ours' && datum.bound").mark_point(
        filled=True, size=60, shape="triangle-down"
    )
    published = (
        alt.Chart(data)
        .transform_filter("datum.source == 'published'")
        .mark_point(filled=False, size=150, strokeWidth=1.4, style="outline")
        .encode(x, y, shape=shape)
    )
    return (line + bars + published + dots + bounds).properties(
        width=350, height=230, title=alt.TitleParams(title, fontSize=12, offset=6)
    )
