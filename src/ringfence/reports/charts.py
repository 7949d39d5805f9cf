"""Charts, drawn by Altair from figure data; PNG, SVG and PDF without browser or network.

Blue and orange are told apart by colour-blind readers, and by shape without any colour.
May touch reports' figure data, and the file that the user named.
"""

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ringfence.core.errors import InputError, MissingExtraError
from ringfence.reports.paper import (
    PANELS,
    POLICY_NAMES,
    UNPUBLISHED_INSTANCE,
    PaperPoint,
    PaperReport,
)
from ringfence.reports.scenes import Scene
from ringfence.reports.tournament import Tournament
from ringfence.simulation.rare.results import RareResult
from ringfence.simulation.results import SimulationResult

FORMATS = (".png", ".svg", ".pdf")
_COLOURS = ("#0072B2", "#D55E00")
_THIRD_COLOUR = "#009E73"
_SHAPES = ("triangle-up", "circle")
_SCENE_WIDTH = 7
_TITLES = {
    1: "(a) first instance: just inside the threshold",
    2: "(b) second instance: within noise of the threshold",
    3: "(c) third instance: every kind of arm; the two coincide",
    4: "(d) fourth instance: nothing is feasible; the two coincide",
}


def require_chart_path(path: Path) -> None:
    """Refuse a figure that could not be written, before the work that leads to it."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"figure = {str(path)!r} must end in {', '.join(FORMATS)}.")
    folder = path.parent
    if not folder.is_dir():
        raise InputError(f"figure = {str(path)!r} cannot be written: no folder {str(folder)!r}.")
    target = path if path.exists() else folder
    if path.is_dir() or not os.access(target, os.W_OK):
        raise InputError(f"figure = {str(path)!r} cannot be written. Choose another place.")
    _altair()


def save_chart(chart: Any, path: str | Path) -> Path:
    """Write a chart as PNG, SVG or PDF, by the suffix of the path."""
    target = Path(path)
    require_chart_path(target)
    try:
        kind = target.suffix.lower().removeprefix(".")
        chart.save(target, format=kind, scale_factor=2 if kind == "png" else 1)
    except OSError as error:
        raise InputError(f"figure = {str(target)!r} cannot be written: {error.strerror}.") from None
    return target


def paper_rows(report: PaperReport, instance: int) -> list[dict[str, Any]]:
    """Return the figure data of one panel: ours with intervals, and the published points.

    A point without an error is drawn at the upper end of its interval, as a bound.
    """
    rows = []
    for point in report.points:
        if point.instance == instance:
            rows.append(_row(point.result, "ours"))
            rows += _published_row(point)
    if instance == UNPUBLISHED_INSTANCE:
        replaced = {(result.policy, result.budget) for result in report.unpublished}
        rows = [
            row
            for row in rows
            if row["source"] != "ours" or (row["policy"], row["budget"]) not in replaced
        ]
        rows += [_row(result, "ours") for result in report.unpublished]
    return rows


def paper_figure(report: PaperReport) -> Any:
    """Return the four panels in the paper's arrangement, published points as open marks."""
    alt = _altair()
    panels = [
        _panel(paper_rows(report, place), _TITLES[place]) for place in range(1, len(PANELS) + 1)
    ]
    runs = report.points[0].result.replications
    rows = [alt.hconcat(*panels[:2], spacing=28), alt.hconcat(*panels[2:], spacing=28)]
    return (
        alt.vconcat(*rows, spacing=22)
        .properties(
            title=alt.TitleParams(
                "Error probability against budget: ours and the published points",
                subtitle=f"ln(error), {runs:,} replications a point, 95% intervals; "
                "open marks are the paper's own",
                anchor="start",
                fontSize=15,
                offset=14,
            ),
            background="white",
        )
        .configure_axis(labelFontSize=11, titleFontSize=12, gridColor="#e6e6e6")
        .configure_view(stroke="#bbbbbb")
        .configure_legend(orient="bottom", titleFontSize=12, labelFontSize=12, symbolSize=90)
    )


def plan_rows(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the figure data of a plan: the error by budget, beside what theory says."""
    rows = []
    for point in document["curve"]:
        if point["error_rate"] > 0.0:
            spread = 1.96 * point["std_error"] / point["error_rate"]
            rows.append(
                {
                    "budget": point["budget"],
                    "line": document["policy"],
                    "log_error": math.log(point["error_rate"]),
                    "log_low": math.log(point["error_rate"]) - spread,
                    "log_high": math.log(point["error_rate"]) + spread,
                }
            )
        theory = {}
        if point["upper_bound"] is not None:
            theory["proven bound"] = math.log(point["upper_bound"])
        if document["oracle_rate"] is not None:
            theory["an oracle's rate"] = -document["oracle_rate"] * point["budget"]
        for line, log in theory.items():
            rows.append({"budget": point["budget"], "line": line, "log_error": log})
    return rows


def plan_figure(document: Mapping[str, Any]) -> Any:
    """Return the error against the budget, with the target and the budget that reaches it."""
    alt = _altair()
    rows = plan_rows(document)
    x = alt.X("budget:Q", title="budget T, in pulls", scale=alt.Scale(zero=False))
    y = alt.Y("log_error:Q", title="ln(error)")
    lines = list(dict.fromkeys(row["line"] for row in rows))
    colours = list((*_COLOURS, _THIRD_COLOUR)[: len(lines)])
    scale = alt.Scale(domain=lines, range=colours)
    colour = alt.Color("line:N", title=None, scale=scale)
    measured = [row for row in rows if "log_low" in row]
    curves = alt.Chart(alt.Data(values=rows)).mark_line().encode(x=x, y=y, color=colour)
    marks = (
        alt.Chart(alt.Data(values=measured)).mark_point(filled=True).encode(x=x, y=y, color=colour)
    )
    spans = (
        alt.Chart(alt.Data(values=measured))
        .mark_rule()
        .encode(x=x, y=alt.Y("log_low:Q"), y2="log_high:Q", color=colour)
    )
    goal = [{"log_error": math.log(document["target_error"]), "budget": document["budget"]}]
    target = alt.Chart(alt.Data(values=goal))
    level = target.mark_rule(strokeDash=[4, 4], color="#888888").encode(y=y)
    there = target.mark_rule(strokeDash=[4, 4], color="#888888").encode(x=x)
    return (
        (curves + spans + marks + level + there)
        .properties(
            width=560,
            height=340,
            background="white",
            title=alt.TitleParams(
                f"{document['policy']} on {document['instance']}: {document['budget']:,} pulls for "
                f"an error of {document['target_error']:g}",
                subtitle="error against budget, with 95% intervals; dashed: the target",
                anchor="start",
                fontSize=15,
                offset=14,
            ),
        )
        .configure_axis(labelFontSize=11, titleFontSize=12, gridColor="#e6e6e6")
        .configure_view(stroke="#bbbbbb")
    )


def tournament_rows(result: Tournament) -> list[dict[str, Any]]:
    """Return the figure data of a tournament: a mark for every instance, and the means."""
    first = result.duels[0].base.policy
    instances = [
        {
            "policy": duel.cell.policy,
            "size": f"{duel.cell.arms} arms",
            "ratio": duel.ratio,
            "kind": "instance",
            "instance": duel.cell.instance,
        }
        for duel in result.duels
        if duel.cell.policy != first
    ]
    means = [
        {
            "policy": standing.policy,
            "size": f"{standing.arms} arms",
            "ratio": standing.geometric_mean,
            "low": standing.low,
            "high": standing.high,
            "kind": "mean",
        }
        for standing in result.standings
        if standing.policy != first
    ]
    return instances + means


def tournament_figure(result: Tournament) -> Any:
    """Return ratios of errors to the first policy's: every instance, and the geometric means."""
    alt = _altair()
    first = result.duels[0].base.policy
    sizes = list(dict.fromkeys(standing.arms for standing in result.standings))
    data = tournament_rows(result)
    means = {s.policy: s.geometric_mean for s in result.standings if s.arms == sizes[-1]}
    order = sorted((name for name in means if name != first), key=lambda name: means[name])
    ratios = [row["ratio"] for row in data]
    scale = alt.Scale(type="log", domain=[min(ratios), max(ratios)])
    x = alt.X("ratio:Q", scale=scale, title=f"error / {first}'s error")
    y = alt.Y("policy:N", sort=order, title=None)
    panels = []
    for size in sizes:
        rows = [row for row in data if row["size"] == f"{size} arms"]
        marks = [row for row in rows if row["kind"] == "instance"]
        centres = [row for row in rows if row["kind"] == "mean"]
        even = alt.Chart(alt.Data(values=[{"ratio": 1.0}])).mark_rule(color="#888888").encode(x=x)
        dots = (
            alt.Chart(alt.Data(values=marks))
            .mark_tick(color=_COLOURS[0], opacity=0.35, thickness=1.5, size=14)
            .encode(x=x, y=y)
        )
        spans = (
            alt.Chart(alt.Data(values=centres))
            .mark_rule(color=_COLOURS[1], strokeWidth=3)
            .encode(x=alt.X("low:Q", scale=scale), x2="high:Q", y=y)
        )
        points = (
            alt.Chart(alt.Data(values=centres))
            .mark_point(color=_COLOURS[1], filled=True, size=70)
            .encode(x=x, y=y)
        )
        panels.append((even + dots + spans + points).properties(title=f"{size} arms", width=300))
    return (
        alt.hconcat(*panels, spacing=20)
        .properties(
            title=alt.TitleParams(
                f"Errors at equal budget, family {result.family}, {result.scales} noise",
                subtitle=f"each mark an instance, at the budget where {first} errs "
                f"{100 * result.target_error:g}%; points: geometric means with 95% intervals",
                anchor="start",
                fontSize=15,
                offset=14,
            ),
            background="white",
        )
        .configure_axis(labelFontSize=11, titleFontSize=12, gridColor="#e6e6e6")
        .configure_view(stroke="#bbbbbb")
    )


def scene_figure(scenes: Sequence[Scene]) -> Any:
    """Return the paper's two scenes: what each policy drops, drawn at the arm that goes."""
    alt = _altair()
    return (
        alt.hconcat(*(_scene(alt, scene) for scene in scenes), spacing=36)
        .properties(background="white")
        .configure_axis(grid=False, labelFontSize=11, titleFontSize=12)
        .configure_view(stroke="#bbbbbb")
    )


def _scene(alt: Any, scene: Scene) -> Any:
    rows = [
        {
            "objective": x,
            "constraint": y,
            "status": "looks feasible" if y <= scene.threshold else "looks infeasible",
            "note": "\n".join([f"arm {place}", *scene.notes(place - 1)]),
        }
        for place, (x, y) in enumerate(scene.points, start=1)
    ]
    x = alt.X("objective:Q", title="estimated objective (lower is better)").axis(tickCount=7)
    y = alt.Y("constraint:Q", title="estimated constraint attribute").axis(tickCount=5)
    base = alt.Chart(alt.Data(values=rows)).encode(
        x.scale(domain=[0, _SCENE_WIDTH]), y.scale(domain=[0, 4.5])
    )
    dots = base.mark_point(filled=True, size=150, opacity=1).encode(
        color=alt.Color("status:N", title=None)
        .scale(domain=["looks feasible", "looks infeasible"], range=list(_COLOURS))
        .legend(orient="bottom"),
        shape=alt.Shape("status:N", title=None).scale(
            domain=["looks feasible", "looks infeasible"], range=["circle", "square"]
        ),
    )
    notes = base.mark_text(
        align="left", baseline="bottom", dx=11, dy=-1, fontSize=11, lineBreak="\n"
    ).encode(text="note:N")
    limit = alt.Data(values=[{"at": scene.threshold, "label": "threshold"}])
    rule = alt.Chart(limit).mark_rule(strokeDash=[5, 4], color="#555555").encode(y="at:Q")
    label = (
        alt.Chart(limit)
        .mark_text(align="right", dx=-4, dy=-7, color="#555555")
        .encode(y="at:Q", x=alt.datum(_SCENE_WIDTH), text="label:N")
    )
    return (rule + label + dots + notes).properties(
        width=400, height=270, title=alt.TitleParams(scene.title, anchor="start")
    )


def _panel(rows: list[dict[str, Any]], title: str) -> Any:
    alt = _altair()
    data = alt.Data(values=rows)
    colour = alt.Color("policy:N", title=None).scale(domain=POLICY_NAMES, range=list(_COLOURS))
    shape = alt.Shape("policy:N", title=None).scale(domain=POLICY_NAMES, range=list(_SHAPES))
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
    dots = ours.mark_point(filled=True, size=45, opacity=1).encode(shape=shape)
    bounds = base.transform_filter("datum.source == 'ours' && datum.bound").mark_point(
        filled=True, size=60, shape="triangle-down"
    )
    published = (
        base.transform_filter("datum.source == 'published'")
        .mark_point(filled=False, size=150, strokeWidth=1.4, color="#222222")
        .encode(shape=shape, color=alt.value("#222222"))
    )
    return (line + bars + published + dots + bounds).properties(
        width=350, height=230, title=alt.TitleParams(title, anchor="start", fontSize=12)
    )


def _row(result: SimulationResult | RareResult, source: str) -> dict[str, Any]:
    low, high = result.interval
    # An interval that reaches zero is drawn a fixed way down, since ln(0) has no place on paper.
    log_high = math.log(high)
    log_low = math.log(low) if low > 0.0 else log_high - 1.0
    return {
        "budget": result.budget,
        "policy": result.policy,
        "source": source,
        "bound": result.errors == 0,
        "log_error": math.log(result.error_rate) if result.errors else log_high,
        "log_low": log_low,
        "log_high": log_high,
    }


def _published_row(point: PaperPoint) -> list[dict[str, Any]]:
    logged = point.published.log_error_rate
    if logged is None:
        return []
    return [
        {
            "budget": point.result.budget,
            "policy": point.result.policy,
            "source": "published",
            "bound": False,
            "log_error": logged,
        }
    ]


def _altair() -> Any:
    try:
        import altair as alt
        import vl_convert  # noqa: F401
    except ImportError:
        raise MissingExtraError("Drawing a figure", "plots") from None
    return alt
