"""Items by arms: a row an arm, a column an item, the stronger the better, blank where not tried."""

from collections.abc import Mapping
from typing import Any

from ringfence.reports.charts.saving import altair
from ringfence.reports.figures.items import (
    MOST_ITEMS,
    cell_rows,
    items_subtitle,
    matrix_of,
    run_rows,
)
from ringfence.reports.figures.words import shortened
from ringfence.reports.items import rivals
from ringfence.study.outcomes import Outcomes, contest_of
from ringfence.study.verdict import Verdict

WIDTH, STEP = 640, 19
_FAINTEST = 0.13


def items_chart(
    verdict: Verdict, outcomes: Outcomes, contents: Mapping[int, Any], *, fluid: bool = False
) -> Any:
    """Return the picture; one that is `fluid` tells of every result that is pointed at."""
    alt = altair()
    matrix = matrix_of(verdict, outcomes)
    rows = cell_rows(matrix, outcomes, contents) if fluid else run_rows(matrix, outcomes)
    x = alt.X("begin:Q", title="items, the easiest first").axis(
        labels=False, ticks=False, grid=False
    )
    tips = [
        alt.Tooltip("name:N", title="arm"),
        alt.Tooltip("item:N", title="item"),
        alt.Tooltip("value:Q", title=verdict.objective, format=".4~g"),
    ]
    cells = (
        alt.Chart(alt.Data(values=rows))
        .transform_flatten(["begin", "end", "shade", *["item", "value"] * fluid])
        .mark_rect(style="first", height=STEP - 3, aria=False)
        .encode(
            x=x.scale(domain=[0, max(len(matrix.items), 1)], nice=False),
            x2="end:Q",
            y=alt.Y("name:N", title=None, sort=alt.EncodingSortField("place", op="min")),
            opacity=alt.Opacity("shade:Q", legend=None).scale(domain=[0, 1], range=[_FAINTEST, 1]),
            **({"tooltip": tips} if fluid else {}),
        )
    )
    title = _title(verdict, outcomes)
    return cells.properties(
        width="container" if fluid else WIDTH,
        height=STEP * max(len(matrix.arms), 2),
        view=alt.ViewBackground(strokeOpacity=0),
        title=alt.TitleParams(title, subtitle=items_subtitle(verdict, matrix)),
        description=f"Results of arms on items, at most {MOST_ITEMS} of them. {title}.",
    )


def _title(verdict: Verdict, outcomes: Outcomes) -> str:
    """Return what the answer wins of its nearest rival, and loses to it."""
    pair = rivals(verdict, outcomes)
    if pair is None:
        return "No two arms were tried on items yet"
    contest = contest_of(outcomes, *pair)
    arm, rival = (shortened(outcomes.arms[place]) for place in pair)
    if not contest.common:
        return f"{arm} and {rival} have no item in common yet"
    won, lost = len(contest.won), f"{len(contest.lost):,}" if contest.lost else "none"
    better = f"{arm} does better than {rival} on {won:,} of {contest.common:,} items"
    return f"{better}, worse on {lost}"
