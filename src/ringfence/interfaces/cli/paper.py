"""`ringfence paper`: the paper's figure beside the published points. May touch reproducing."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ringfence.interfaces.cli import output
from ringfence.interfaces.cli.options import Json, Replications, Seed, Threads


def paper(
    *,
    replications: Replications = 100_000,
    figure: Annotated[
        Path | None, typer.Option("--figure", help="Draw the four panels: .png, .svg or .pdf.")
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Reproduce the paper's four panels beside its 80 published points."""
    from ringfence.interfaces import reproducing

    if figure is not None:
        from ringfence.reports.charts import require_chart_path

        require_chart_path(figure)
    total = reproducing.paper_replications(replications)
    with output.progress_bar("replications", max(1, total)) as advance:
        report = reproducing.reproduce_paper(
            replications=replications, seed=seed, threads=threads, progress=advance
        )
    if figure is not None:
        from ringfence.reports.charts import paper_figure, save_chart

        save_chart(paper_figure(report), figure)
    if json:
        output.print_json(report.to_dict())
    else:
        _show(report, figure)


def _show(report: Any, figure: Path | None) -> None:
    from ringfence.reports.paper import PANELS, POLICY_NAMES

    for place, panel in enumerate(PANELS, start=1):
        rows = []
        points = [point for point in report.points if point.instance == place]
        for ours, baseline in zip(
            *([p for p in points if p.result.policy == name] for name in POLICY_NAMES), strict=True
        ):
            rows.append([str(ours.result.budget), *_cells(ours), *_cells(baseline)])
        columns = ["T", *("error", "published", "z") * 2]
        title = f"Panel ({panel}), instance {place}: {POLICY_NAMES[0]} | {POLICY_NAMES[1]}"
        output.show_table(title, columns, rows)
    _show_curves(report.curves)
    for statement in report.statements:
        span = f"ratio {statement.ratio:.3f}, {statement.low:.3f} to {statement.high:.3f}"
        panel = PANELS[statement.instance - 1]
        output.say(
            f"({panel}) {statement.text}: {span}: {output.mark(statement.holds)}", markup=True
        )
    for result in report.unpublished:
        low, high = result.interval
        output.say(
            f"(d) {result.policy} at T = {result.budget}, published as minus infinity: "
            f"{result.error_rate:.4g} ({low:.4g} to {high:.4g}), by importance sampling"
        )
    worst = max(report.points, key=lambda point: abs(point.z))
    output.say(
        f"80 points: largest |z| {abs(worst.z):.2f}; "
        f"largest sum of ten z^2 {max(curve.chi_square for curve in report.curves):.1f}"
    )
    if figure is not None:
        output.say(f"figure: {figure}")


def _cells(point: Any) -> list[str]:
    published = point.published.errors / point.published.replications
    return [
        f"{point.result.error_rate:.5f}",
        "0 (ln: -inf)" if point.published.log_error_rate is None else f"{published:.5f}",
        f"{point.z:+.2f}",
    ]


def _show_curves(curves: Any) -> None:
    from ringfence.reports.paper import PANELS

    rows = [
        [
            f"({PANELS[curve.instance - 1]}) {curve.policy}",
            f"{curve.chi_square:.1f}",
            f"{curve.rate:.3e}",
            f"{curve.rate_std_error:.0e}",
            f"{curve.published_rate:.3e}",
            f"{curve.conjectured_rate:.3e}",
            f"{curve.upper_bound_rate:.3e}",
        ]
        for curve in curves
    ]
    columns = ["curve", "sum z^2", "rate", "+-", "published", "1/H1", "theorem 2"]
    output.show_table("Decay rates: error ~ exp(-rate T) over T = 1,000 to 10,000", columns, rows)
