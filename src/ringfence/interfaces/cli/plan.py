"""`ringfence plan`: the budget that a target error takes. May touch wiring."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ringfence.core.errors import InputError
from ringfence.interfaces.cli import completing, output
from ringfence.interfaces.cli.options import (
    POLICY_HELP,
    Answer,
    Json,
    Money,
    Seed,
    Stop,
    StudyScales,
    Threads,
    Within,
    stop_of,
)

if TYPE_CHECKING:
    from ringfence.interfaces.planning import Alternative, Plan

_MOST_SHOWN = 5
_LEAST_SHOWN = 0.005


def plan(
    instance: Annotated[
        str | None,
        typer.Argument(
            metavar="[INSTANCE]",
            help="paper-1 to paper-4, or an instance file.",
            autocompletion=completing.instances,
        ),
    ] = None,
    *,
    target_error: Annotated[
        float | None,
        typer.Option(
            "--target-error",
            help="The largest error probability allowed; with --stop P it is 1 - P unless given.",
        ),
    ] = None,
    stop: Stop = None,
    within: Within = None,
    money: Money = None,
    policy: Annotated[
        str | None,
        typer.Option("--policy", help=POLICY_HELP, autocompletion=completing.policies),
    ] = None,
    from_study: Annotated[
        str | None,
        typer.Option(
            "--from-study",
            help="Plan from what a study has seen: its file or name.",
            autocompletion=completing.studies,
        ),
    ] = None,
    storage: Annotated[
        str | None, typer.Option("--storage", help="Where that study is kept.")
    ] = None,
    answer: Answer = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="The budget alone, without alternatives.")
    ] = False,
    figure: Annotated[
        Path | None, typer.Option("--figure", help="Draw error against budget: .png, .svg, .pdf.")
    ] = None,
    scales: StudyScales = None,
    seed: Seed = 0,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Find the least budget that reaches a target error, and what would lower it."""
    from ringfence.interfaces import wiring
    from ringfence.interfaces.planning import FIRST, FOUND

    if (instance is None) == (from_study is None):
        raise InputError("give either an INSTANCE or --from-study STUDY. Name one of them.")
    if storage is not None and from_study is None:
        raise InputError("--storage goes with --from-study. Name a study or leave it out.")
    if figure is not None:
        from ringfence.reports.charts import require_chart_path

        require_chart_path(figure)
    source: Any = instance
    if from_study is not None:
        from ringfence.interfaces.cli.study import open_study

        source = open_study(from_study, storage)
    with output.stages("planning", answers=(FIRST, FOUND)) as advance:
        found = wiring.plan(
            source,
            policy,
            target_error=target_error,
            stop=stop_of(stop, within),
            money=money,
            answer=answer,
            seed=seed,
            scales=scales,
            brief=brief,
            threads=threads,
            advance=advance,
        )
    if figure is not None:
        from ringfence.reports.charts import plan_figure, save_chart

        save_chart(plan_figure(found.to_dict()), str(figure))
    if json:
        output.print_json(found.to_dict())
        return
    _show(found)
    if figure is not None:
        output.say(f"figure: {figure}")


def _show(found: "Plan") -> None:
    output.say(found.headline)
    if found.proof_in_words is not None:
        output.say(f"  {found.proof_in_words}")
    if found.study is not None:
        output.say(
            f"  the study has used {found.study['pulls_used']:,}: {found.study['more_pulls']:,} "
            f"more, or {found.study['budget_low']:,} to {found.study['budget_high']:,} in all if "
            "the truth differs as it may"
        )
    how = "learns the noise, as in a study" if found.scales == "estimated" else "is told the noise"
    output.say(f"  {found.policy} {how}")
    for hard in found.hardest[:_MOST_SHOWN]:
        output.say(f"  {hard.share:4.0%} of the difficulty is {hard.what}")
    for mode in found.modes[:_MOST_SHOWN]:
        if mode.share >= _LEAST_SHOWN:
            output.say(f"  {mode.share:4.0%} of the errors: {mode.what}")
    if found.growth is not None:
        output.say(f"  decided in batches of up to {found.growth:.0%} of the pulls so far")
    rows = [
        (f"{point.budget:,}", f"{point.error_rate:.3g}", output.number(bound, 3))
        for point, bound in zip(found.curve, found.upper_bounds, strict=True)
    ]
    output.show_table("error by budget", ["budget", "error", "proven bound"], rows)
    base = found.point.budget
    for title, column, others in (
        ("what policies need", "policy", found.rivals),
        ("what would help", "change", found.savings),
    ):
        if others:
            table = [[one.what, _pulls(one), _change(one, base)] for one in others]
            output.show_table(title, [column, found.unit, "beside this plan"], table)
    if found.next_in_words is not None:
        output.say(found.next_in_words)
    for warning in found.point.warnings:
        output.say(f"  WARNING: {warning}")


def _pulls(one: "Alternative") -> str:
    if one.budget is None:
        return "far more"
    about, doubt = "about " if one.is_rough else "", " (doubtful)" if one.is_doubtful else ""
    return f"{about}{one.budget:,}{doubt}"


def _change(one: "Alternative", base: float) -> str:
    return "" if one.budget is None else f"{one.budget / base - 1.0:+.0%}"
