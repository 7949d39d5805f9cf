"""The evidence: what speaks against each challenger, and for the flag, as pulls came in."""

import math
from collections.abc import Sequence
from typing import Any

from ringfence.reports.charts.saving import altair
from ringfence.reports.figures.evidence import (
    MOST_CHALLENGERS,
    evidence_rows,
    evidence_title,
    latest,
)
from ringfence.reports.figures.labels import spread
from ringfence.reports.figures.words import IN_LABEL, counted, shortened
from ringfence.study.facts import Round
from ringfence.study.plan import Plan
from ringfence.study.verdict import Verdict

WIDTH, HEIGHT = 520, 320
_DASHES = ([1, 0], [8, 3], [2, 2], [8, 3, 2, 3], [5, 2], [1, 3], [12, 3], [4, 4], [10, 2, 2, 2])
_ONE_IN_A_HUNDRED = math.log(100.0)
_LINE = 14.0
_FEW = 30
_ENOUGH = 50.0  # nats: beyond any doubt that matters, and others would be squeezed


def evidence_chart(
    plan: Plan, verdict: Verdict, rounds: Sequence[Round], *, fluid: bool = False
) -> Any:
    """Return a line for the flag and one a challenger, each named at its end.

    The axis of evidence is stretched like a square root: linear in standard errors.
    """
    alt = altair()
    rows = evidence_rows(plan, verdict, rounds)
    rows = [{**row, "drawn": min(row["evidence"], _ENOUGH)} for row in rows]
    top = 1.08 * max([_ONE_IN_A_HUNDRED, *(row["drawn"] for row in rows)])
    first = min((row["pulls"] for row in rows), default=0)
    last = max((row["pulls"] for row in rows), default=1)
    few = len(rows) <= _FEW * len({row["series"] for row in rows})
    series = list(range(MOST_CHALLENGERS + 1))
    scale = alt.Scale(type="sqrt", domain=[0, top], nice=False)
    x = (
        alt.X("pulls:Q", title="pulls of the study")
        .axis(tickCount=8)
        .scale(domain=[first if first < last else 0, last], nice=False)
    )
    y = alt.Y("drawn:Q", title="evidence, in nats", scale=scale).axis(tickCount=6)
    colour = alt.Color("series:N", legend=None).scale(domain=series)
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(strokeWidth=1.8, point={"size": 22} if few else False)
        .encode(
            x=x,
            y=y,
            color=colour,
            strokeDash=alt.StrokeDash("series:N", legend=None).scale(
                domain=series, range=list(_DASHES)
            ),
            tooltip=[
                alt.Tooltip("name:N", title="challenger"),
                alt.Tooltip("leader:N", title="leader then"),
                alt.Tooltip("pulls:Q", title="pulls", format=","),
                alt.Tooltip("evidence:Q", title="nats", format=".3~g"),
            ],
        )
    )
    names = (
        alt.Chart(alt.Data(values=_ends(rows, top)))
        .mark_text(align="left", dx=8, baseline="middle")
        .encode(x=x, y=alt.Y("at:Q", scale=scale), text="label:N", color=colour)
    )
    guide = alt.Chart(alt.Data(values=[{"at": _ONE_IN_A_HUNDRED}]))
    layers = [
        guide.mark_rule(style="limit", opacity=0.7).encode(y=alt.Y("at:Q", scale=scale)),
        lines,
        names,
    ]
    title = evidence_title(rows)
    return alt.layer(*layers).properties(
        width="container" if fluid else WIDTH,
        height=HEIGHT,
        title=alt.TitleParams(title, subtitle=_subtitle(verdict, rows)),
        description=f"Evidence against challengers by pulls. {title}.",
    )


def _ends(rows: Sequence[dict[str, Any]], top: float) -> list[dict[str, Any]]:
    """Return the name of every series, near its end and apart from the others."""
    ends = latest(rows)
    wanted = [HEIGHT * (1.0 - math.sqrt(row["drawn"] / top)) for row in ends]
    places = spread(wanted, _LINE, 4.0, HEIGHT - 4.0)
    last = max((row["pulls"] for row in ends), default=0)
    return [
        {
            **row,
            "pulls": last,
            "at": top * (1.0 - place / HEIGHT) ** 2,
            "label": f"{shortened(row['name'], IN_LABEL + 4)}: {_figure(row['evidence'])}",
        }
        for row, place in zip(ends, places, strict=True)
    ]


def _figure(evidence: float) -> str:
    return f"{evidence:.2g}" if evidence < _ENOUGH else f"{evidence:,.0f}"


def _subtitle(verdict: Verdict, rows: Sequence[dict[str, Any]]) -> list[str]:
    if not rows:
        return ["it is reckoned whenever a round of pulls is over"]
    shown = len({row["series"] for row in rows} - {0})
    rest = len(verdict.arms) - shown - (not verdict.problem.question.settles)
    lines = [
        "how far estimates would have to move for another answer; dashed: 4.6 nats, about 1 in 100"
    ]
    more = [f"{counted(rest, 'arm')} further away not drawn"] * (rest > 0)
    more += [f"lines are drawn up to {_ENOUGH:g} nats"] * any(
        row["evidence"] > _ENOUGH for row in rows
    )
    return [*lines, "; ".join(more)] if more else lines
