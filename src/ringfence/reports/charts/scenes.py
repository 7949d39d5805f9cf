"""The paper's two scenes as a picture: what each policy drops, drawn at the arm that goes."""

from collections.abc import Sequence
from typing import Any

from ringfence.reports.charts.saving import altair
from ringfence.reports.charts.themes import Theme, themed
from ringfence.reports.scenes import Scene

_WIDTH = 7
_LOOKS = ["looks feasible", "looks infeasible"]


def scene_figure(scenes: Sequence[Scene], *, theme: str | Theme = "light") -> Any:
    """Return the scenes side by side."""
    alt = altair()
    chart = alt.hconcat(*(_scene(alt, scene) for scene in scenes), spacing=36).properties(
        description="Three arms at the end of a phase, and which of them two policies drop."
    )
    return themed(chart, theme)


def _scene(alt: Any, scene: Scene) -> Any:
    rows = [
        {
            "objective": x,
            "constraint": y,
            "status": _LOOKS[y > scene.threshold],
            "note": "\n".join([f"arm {place}", *scene.notes(place - 1)]),
        }
        for place, (x, y) in enumerate(scene.points, start=1)
    ]
    x = alt.X("objective:Q", title="estimated objective (lower is better)")
    y = alt.Y("constraint:Q", title="estimated constraint attribute")
    base = alt.Chart(alt.Data(values=rows)).encode(
        x.axis(tickCount=7, grid=False).scale(domain=[0, _WIDTH]),
        y.axis(tickCount=5, grid=False).scale(domain=[0, 4.5]),
    )
    dots = base.mark_point(filled=True, size=150).encode(
        color=alt.Color("status:N", title=None).scale(domain=_LOOKS).legend(orient="bottom"),
        shape=alt.Shape("status:N", title=None).scale(domain=_LOOKS, range=["circle", "square"]),
    )
    notes = base.mark_text(
        align="left", baseline="bottom", dx=11, dy=-1, fontSize=11, lineBreak="\n"
    ).encode(text="note:N")
    limit = alt.Chart(alt.Data(values=[{"at": scene.threshold, "label": "threshold"}]))
    rule = limit.mark_rule(style="limit").encode(y="at:Q")
    label = limit.mark_text(style="note", align="right", dx=-4, dy=-7).encode(
        y="at:Q", x=alt.datum(_WIDTH), text="label:N"
    )
    return (rule + label + dots + notes).properties(
        width=400, height=270, title=alt.TitleParams(scene.title, fontSize=13, offset=8)
    )
