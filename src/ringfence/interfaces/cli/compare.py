"""`ringfence compare`: policies side by side, on instances or families. May touch wiring."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ringfence.core.errors import InputError
from ringfence.interfaces.cli import completing, output
from ringfence.interfaces.cli.options import (
    Answer,
    Batch,
    Json,
    Replications,
    Seed,
    Stop,
    StudyScales,
    Threads,
    Within,
    said,
    stop_of,
)


def compare(
    context: typer.Context,
    instances: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[INSTANCE...]",
            help="TOML files, or paper-1 to paper-4.",
            autocompletion=completing.instances,
        ),
    ] = None,
    *,
    policies: Annotated[
        str | None,
        typer.Option(
            "--policies",
            help="Names with commas between, the first is the base: {policies}. "
            "By default all that answer what is asked, but thompson, which takes long, and "
            "va-lucb, which is for --stop.",
            autocompletion=completing.several_policies,
        ),
    ] = None,
    budgets: Annotated[
        str | None,
        typer.Option("--budgets", help="Budgets with commas between, in pulls or as '20,50 USD'."),
    ] = None,
    answer: Answer = None,
    replications: Replications = 100_000,
    seed: Seed = 0,
    scales: StudyScales = None,
    batch: Batch = 1,
    stop: Stop = None,
    within: Within = None,
    threads: Threads = None,
    family: Annotated[
        str | None,
        typer.Option(
            "--family",
            help="In place of instances: a family of random ones, with known noise unless --scales "
            "says otherwise.",
            autocompletion=completing.families,
        ),
    ] = None,
    count: Annotated[
        int, typer.Option("--count", help="With --family: how many instances of each size.")
    ] = 100,
    arms: Annotated[
        str, typer.Option("--arms", help="With --family: sizes with commas between.")
    ] = "3,8,20",
    target_error: Annotated[
        float,
        typer.Option(
            "--target-error", help="With --family: budgets at which the first policy errs so often."
        ),
    ] = 0.05,
    correlation: Annotated[
        float,
        typer.Option(
            "--correlation",
            help="With --family: arms share blocks, on which two pulls are so correlated.",
        ),
    ] = 0.0,
    prices: Annotated[
        str | None,
        typer.Option(
            "--prices",
            help="With --family: a pull costs one of these, such as 1,20; half of the arms each.",
        ),
    ] = None,
    errors: Annotated[
        int, typer.Option("--errors", help="With --family: how many errors to see in each cell.")
    ] = 200,
    most: Annotated[
        int, typer.Option("--most", help="With --family: the most replications of a cell.")
    ] = 200_000,
    engine: Annotated[
        str, typer.Option("--engine", help="With --family: cpu, or cuda to fight on GPUs.")
    ] = "cpu",
    figure: Annotated[
        Path | None, typer.Option("--figure", help="With --family: draw it as .png, .svg or .pdf.")
    ] = None,
    json: Json = False,
) -> None:
    """Compare policies at equal budgets, on instances or over a family of random ones."""
    from ringfence.interfaces import tournaments, wiring
    from ringfence.policies.registry import QUICK_POLICIES
    from ringfence.simulation.funding import budgets_of

    names = None if policies is None else _listed(policies)
    if family is not None:
        if instances or budgets is not None:
            given = "INSTANCE" if instances else "--budgets"
            raise InputError(
                f"{given} cannot go with --family, which draws instances and finds budgets. "
                "Give one or the other."
            )
        if others := said(context, "--stop", "--within"):
            raise InputError(
                f"{others[0]} goes with instances: families are fought at budgets where policies "
                "err. Leave it out."
            )
        if others := said(context, "--replications", "--batch"):
            raise InputError(
                f"{others[0]} does not go with --family, which counts errors and decides a "
                "four-hundredth of the budget at once. Leave it out; --errors and --most say how "
                "long a cell is fought."
            )
        if answer is not None:
            raise InputError(
                "--answer goes with instances: families ask for the best feasible arm. "
                "Leave it out."
            )
        names = [policy.name for policy in QUICK_POLICIES] if names is None else names
        sizes = [_whole_number("arms", text, "3,8,20") for text in _listed(arms)]
        if figure is not None:
            from ringfence.reports.charts import require_chart_path, require_rivals

            require_chart_path(figure)
            require_rivals(names)
        with output.progress_bar("instances", max(1, len(sizes) * count)) as advance:
            result = tournaments.tournament(
                family,
                arm_counts=sizes,
                count=count,
                policies=names,
                target_error=target_error,
                scales=scales or "known",
                correlation=correlation,
                prices=[_price(text) for text in _listed(prices or "")],
                least_errors=errors,
                most_replications=most,
                seed=seed,
                engine=engine,
                threads=threads,
                progress=advance,
            )
        _show_tournament(result, figure, as_json=json)
        return
    family_only = (
        "--figure", "--count", "--arms", "--target-error", "--correlation", "--prices",
        "--errors", "--most",
    )  # fmt: skip
    if others := said(context, *family_only):
        raise InputError(f"{others[0]} goes with --family. Name a family or leave it out.")
    if engine != "cpu":
        raise InputError(
            f"--engine {engine} goes with --family: common random numbers are the CPU's. "
            "Name a family or leave it out."
        )
    if not instances or budgets is None:
        missing = "INSTANCE" if not instances else "--budgets"
        raise InputError(
            f"{missing} is missing. Write: ringfence compare paper-1 --budgets 1000,2000, "
            "or: ringfence compare --family uniform."
        )
    amounts = budgets_of(_listed(budgets))
    points = len(instances) * len(amounts)
    with output.progress_bar("replications", points * replications) as advance:
        rows = wiring.compare(
            instances,
            policies=names,
            budgets=amounts,
            answer=answer,
            replications=replications,
            seed=seed,
            scales=scales,
            batch=batch,
            stop=stop_of(stop, within),
            threads=threads,
            progress=advance,
        )
    if json:
        output.print_json({"rows": [row.to_dict() for row in rows]})
    else:
        _show_rows(rows, rows[0].result.policy)


def _show_rows(rows: Any, first: str) -> None:
    shown = [
        [
            row.result.instance,
            row.result.policy,
            _budget(row.result),
            f"{row.result.error_rate:.4g}",
            f"{row.result.std_error:.1e}",
            output.number(row.ratio_to_first, 3),
            f"{row.only_here_wrong}/{row.only_first_wrong}",
            *_proven(row.result),
        ]
        for row in rows
    ]
    columns = ["instance", "policy", "T", "error rate", "std error", f"/ {first}", "differs"]
    if rows[0].result.stop is not None:
        columns += ["certified", "wrongly", "pulls used", "10% to 90%"]
    title = f"Error rates on common random numbers, {rows[0].result.scales} noise"
    output.show_table(title, columns, shown)
    output.say("differs: replications on which only this policy / only the first erred")


def _budget(result: Any) -> str:
    """Return a budget as tables show it: with its unit, unless that is pulls."""
    from ringfence.core.money import PULLS
    from ringfence.simulation.funding import in_words

    if result.unit == PULLS:
        return str(result.budget)
    return in_words(result.budget, result.unit)


def _proven(result: Any) -> list[str]:
    """Return what was proven, and by how many pulls; nothing where nothing was to be."""
    if result.stop is None:
        return []
    low, high = result.proofs.quantile(0.1), result.proofs.quantile(0.9)
    return [
        f"{result.certified_rate:.1%}",
        f"{result.wrong_certified_rate:.2%}",
        f"{result.pulls_used_mean:,.0f}",
        f"{low:,} to {high:,}",
    ]


def _show_tournament(result: Any, figure: Path | None, *, as_json: bool) -> None:
    if figure is not None:
        from ringfence.reports.charts import save_chart, tournament_figure

        save_chart(tournament_figure(result), figure)
    if as_json:
        output.print_json(result.to_dict())
        return
    first = result.duels[0].base.policy
    shown = [
        [
            str(row.arms),
            row.policy,
            f"{row.geometric_mean:.3f}",
            f"{row.low:.3f} to {row.high:.3f}",
            f"{row.worst:.2f}",
            str(row.harmed),
        ]
        for row in sorted(result.standings, key=lambda row: (row.arms, row.geometric_mean))
    ]
    columns = ["arms", "policy", f"error / {first}", "95% interval", "worst", "harmed"]
    title = (
        f"Family {result.family}, {result.standings[0].instances} instances a size, budgets where "
        f"{first} errs {100 * result.target_error:g}%, {result.scales} noise"
        + (f", blocks in common (correlation {result.correlation:g})" * (result.correlation > 0.0))
        + (f", prices {', '.join(map('{:g}'.format, result.prices))}" if result.prices else "")
    )
    output.show_table(title, columns, shown)
    output.say("error: geometric mean over instances. harmed: instances with a ratio surely > 1.1")
    if result.standings[0].instances == 1:
        output.say("One instance a size: intervals are of its errors, not of other instances.")
    if figure is not None:
        output.say(f"figure: {figure}")


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _price(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"prices holds {text!r}, which must be a number above 0. Write --prices 1,20."
        ) from None


def _whole_number(key: str, text: str, example: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(
            f"{key} holds {text!r}, which must be a whole number. Write --{key} {example}."
        ) from None
