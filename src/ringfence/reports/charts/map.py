"""The deceiver map: every arm by its worst margin and its objective, with intervals.

Feasible arms lie left of the limit and are dots or a star, infeasible ones lie right of it and are
crosses, triangles or a diamond: colour only helps.
"""

from collections.abc import Sequence
from typing import Any

from ringfence.reports.charts.saving import altair
from ringfence.reports.figures.labels import SIDES, Frame
from ringfence.reports.figures.map import map_rows, map_subtitle, map_title
from ringfence.reports.figures.map_places import HEIGHT, MOST_WITH_INTERVALS, WIDTH, placed
from ringfence.reports.figures.words import INSIDE, LEGEND, kinds_of
from ringfence.reports.verdict import sentence
from ringfence.study.facts import Round
from ringfence.study.plan import Plan
from ringfence.study.verdict import Verdict

_STAR = "M0,-1.1L.29,-.34L1.05,-.34L.47,.16L.65,.9L0,.5L-.65,.9L-.47,.16L-1.05,-.34L-.29,-.34Z"
_X = "M-.8,-.5L-.5,-.8L0,-.3L.5,-.8L.8,-.5L.3,0L.8,.5L.5,.8L0,.3L-.5,.8L-.8,.5L-.3,0Z"
_SHAPES = (_STAR, "triangle-up", "circle", _X, "diamond", _X)
_SIZES = (190, 95, 75, 110, 150, 110)
_FEW, _MANY = 12, 100
_NOTE = 0.4  # of the width: so much of a narrow map the words on the answer's level take
_PLACES: dict[str, dict[str, Any]] = {
    "upper right": {"align": "left", "baseline": "bottom", "dx": 6, "dy": -4},
    "lower right": {"align": "left", "baseline": "top", "dx": 6, "dy": 5},
    "upper left": {"align": "right", "baseline": "bottom", "dx": -6, "dy": -4},
    "lower left": {"align": "right", "baseline": "top", "dx": -6, "dy": 5},
}


def map_chart(plan: Plan, verdict: Verdict, rounds: Sequence[Round], *, fluid: bool = False) -> Any:
    """Return the map of all arms that could be judged."""
    alt = altair()
    rows = map_rows(verdict)
    frame, rows = placed(rows)
    objective = plan.problem.objective
    better = "lower" if objective.direction == "minimize" else "higher"
    x = alt.X(
        "x:Q",
        title="worst margin, in units of noise: feasible up to 0",
        scale=alt.Scale(domain=[frame.left, frame.right], nice=False, zero=False),
        axis=alt.Axis(tickCount=8),
    )
    y = alt.Y(
        "y:Q",
        title=f"{objective.attribute} ({better} is better)",
        scale=alt.Scale(domain=[frame.bottom, frame.top], nice=False, zero=False),
        axis=alt.Axis(tickCount=7),
    )
    kinds = kinds_of(verdict)
    here = [kind for kind in (INSIDE, *LEGEND) if any(row["kind"] == kind for row in rows)]
    legend = alt.Legend(orient="bottom", values=here, symbolSize=110)
    scale = alt.Scale(domain=list(kinds))
    colour = alt.Color("kind:N", title=None, legend=legend, scale=scale)
    feasible = verdict.feasible and not verdict.problem.question.settles
    layers = [
        *_limits(alt, rows, frame, feasible=feasible, better=better),
        *_intervals(alt, rows, x, y, colour),
        _marks(alt, rows, x, y, colour, kinds),
        *_names(alt, rows, x, y),
    ]
    return alt.layer(*layers).properties(
        width="container" if fluid else WIDTH,
        height=HEIGHT,
        title=alt.TitleParams(map_title(verdict), subtitle=map_subtitle(verdict, rows)),
        description=f"Map of {len(rows)} arms by worst margin and objective. {sentence(verdict)}",
    )


def _limits(
    alt: Any, rows: Sequence[dict[str, Any]], frame: Frame, *, feasible: bool, better: str
) -> list[Any]:
    """Return the border of the feasible side, and the objective that a deceiver surpasses."""
    border = alt.Chart(alt.Data(values=[{"at": 0.0, "in": "← feasible", "out": "infeasible →"}]))
    x = alt.X("at:Q")
    layers = [
        border.mark_rule(style="limit", strokeWidth=1.5).encode(x=x),
        border.mark_text(style="note", align="right", dx=-7, fontSize=12).encode(
            x=x, y=alt.value(11), text="in:N"
        ),
        border.mark_text(style="note", align="left", dx=7, fontSize=12).encode(
            x=x, y=alt.value(11), text="out:N"
        ),
    ]
    best = [row for row in rows if row["is_answer"]]
    if feasible and best and len(rows) > 1:
        line = [{"at": best[0]["value"], "label": "as good as the answer"}]
        level = alt.Chart(alt.Data(values=line))
        # No feasible arm lies on the better side of the line: there is room for words.
        off = 10 if better == "lower" else -9
        near, _ = frame.place(best[0]["x"], best[0]["y"])
        end, align, dx = (0, "left", 6) if near > _NOTE * frame.width else ("width", "right", -6)
        layers += [
            level.mark_rule(style="limit", opacity=0.6).encode(y="at:Q"),
            level.mark_text(style="note", align=align, dx=dx, dy=off).encode(
                x=alt.value(end), y="at:Q", text="label:N"
            ),
        ]
    return layers


def _intervals(alt: Any, rows: Sequence[dict[str, Any]], x: Any, y: Any, colour: Any) -> list[Any]:
    """Return both intervals of every arm; of many arms, those of the named ones."""
    some = rows if len(rows) <= MOST_WITH_INTERVALS else [row for row in rows if row["label"]]
    base = alt.Chart(alt.Data(values=list(some)))
    opacity = 0.6 if len(some) <= _FEW else 0.35
    return [
        base.mark_rule(opacity=opacity).encode(
            x=alt.X("x_low:Q"), x2="x_high:Q", y=y, color=colour
        ),
        base.mark_rule(opacity=opacity).encode(
            x=x, y=alt.Y("y_low:Q"), y2="y_high:Q", color=colour
        ),
    ]


def _marks(
    alt: Any, rows: Sequence[dict[str, Any]], x: Any, y: Any, colour: Any, kinds: Sequence[str]
) -> Any:
    sizes = dict(zip(kinds, _SIZES, strict=True))
    part = 1 if len(rows) <= _MANY else 2
    sized = [{**row, "size": sizes[row["kind"]] // part} for row in reversed(rows)]
    return (
        alt.Chart(alt.Data(values=sized))
        .mark_point(filled=True, opacity=0.95)
        .encode(
            x=x,
            y=y,
            color=colour,
            shape=alt.Shape("kind:N", title=None, legend=colour["legend"]).scale(
                domain=list(kinds), range=list(_SHAPES)
            ),
            size=alt.Size("size:Q", scale=None, legend=None),
            tooltip=[
                alt.Tooltip("name:N", title="arm"),
                alt.Tooltip("kind:N", title="looks"),
                alt.Tooltip("shown:N", title="objective"),
                alt.Tooltip("shown_margin:N", title="margin"),
                alt.Tooltip("pulls:Q", title="pulls", format=","),
                alt.Tooltip("why:N", title="why"),
            ],
        )
    )


def _names(alt: Any, rows: Sequence[dict[str, Any]], x: Any, y: Any) -> list[Any]:
    layers = []
    for side in SIDES:
        mine = [row for row in rows if row["side"] == side]
        if mine:
            base = alt.Chart(alt.Data(values=mine))
            layers.append(base.mark_text(**_PLACES[side]).encode(x=x, y=y, text="label:N"))
    return layers
