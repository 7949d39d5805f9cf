"""`ringfence replay`: every policy on logged data, against the truth of the table.

May touch wiring.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringfence.core.errors import InputError
from ringfence.interfaces.cli import completing, output
from ringfence.interfaces.cli.options import (
    Json,
    Replications,
    Scales,
    Seed,
    Stop,
    Threads,
    Units,
    Within,
    stop_of,
    units_given,
)

if TYPE_CHECKING:
    from ringfence.core.units import Unit
    from ringfence.reports.replay import Replay, ReplayRow
    from ringfence.simulation.logs import Reading

_MOST_ANSWERS = 2
_LEAST_SHARE = 0.005
_MOST_ARMS = 40
_UNIFORM = ("uniform needs", "times as many")


def replay(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A CSV, Parquet or Arrow file: a row a pull.")
    ],
    *,
    arm: Annotated[str, typer.Option("--arm", help="The column that names the arm.")],
    objective: Annotated[str, typer.Option("--objective", help="Such as 'maximize mean(score)'.")],
    constraint: Annotated[
        list[str] | None,
        typer.Option("--constraint", help="Such as 'p95(latency_ms) <= 200'; may be repeated."),
    ] = None,
    unit: Units = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            help="The arm that limits such as 'mean(ms) <= 1.1 * baseline' are relative to.",
        ),
    ] = None,
    item: Annotated[
        str | None,
        typer.Option(
            "--item",
            help="The column of what all arms were tried on, such as a task: each item once.",
        ),
    ] = None,
    budgets: Annotated[
        str | None,
        typer.Option("--budgets", help="Budgets with commas between; else a grid is tried."),
    ] = None,
    price: Annotated[
        str | None,
        typer.Option(
            "--price", help="The column of what each pull cost: budgets are then in its unit."
        ),
    ] = None,
    policies: Annotated[
        str | None,
        typer.Option(
            "--policies",
            help="Names with commas between: {policies}. By default all but thompson and va-lucb.",
            autocompletion=completing.several_policies,
        ),
    ] = None,
    replications: Replications = 1000,
    seed: Seed = 0,
    scales: Scales = "estimated",
    batch: Annotated[
        int | None,
        typer.Option(
            "--batch",
            help="How many pulls an adaptive policy decides at once; else 1% of those so far.",
        ),
    ] = None,
    stop: Stop = None,
    within: Within = None,
    threads: Threads = None,
    figure: Annotated[
        Path | None,
        typer.Option("--figure", help="Draw right answers against budget: .png, .svg, .pdf."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Show what a table that cannot answer shows, marked.")
    ] = False,
    json: Json = False,
) -> None:
    """Replay policies on logged data: what each would have chosen, and how often rightly."""
    from ringfence.interfaces import wiring
    from ringfence.policies.registry import QUICK_POLICIES

    if figure is not None:
        from ringfence.reports.charts import require_chart_path

        require_chart_path(figure)
    names = [policy.name for policy in QUICK_POLICIES]
    if policies is not None:
        names = [part.strip() for part in policies.split(",") if part.strip()]
    amounts = None if budgets is None else _budgets(budgets, price)
    points = len(amounts) if amounts else 1 if stop is not None else 10
    with output.progress_bar("replications", points * max(1, replications)) as advance:
        found = wiring.replay(
            table,
            arm=arm,
            objective=objective,
            constraints=constraint or [],
            units=units_given(unit),
            baseline=baseline,
            item=item,
            price=price,
            budgets=amounts,
            policies=names,
            replications=replications,
            seed=seed,
            scales=scales,
            batch=batch,
            stop=stop_of(stop, within),
            threads=threads,
            force=force,
            progress=advance,
        )
    if figure is not None:
        from ringfence.reports.charts import replay_figure, save_chart

        save_chart(replay_figure(found.to_dict()), figure)
    if json:
        output.print_json(found.to_dict())
        return
    _show_truth(found)
    _show_rows(found)
    if figure is not None:
        output.say(f"figure: {figure}")


def _show_truth(found: "Replay") -> None:
    log = found.log
    if found.doubts:
        output.say("FORCED: this table cannot answer the question. What follows is for looking at.")
        for doubt in found.doubts:
            output.say(f"  WARNING: {doubt}")
    problem = log.instance.problem
    units = {name: problem.unit(name) for name in log.answer.readings}
    readings = "; ".join(
        f"{name} = {units[name].show(one.value)}" for name, one in log.answer.readings.items()
    )
    what = "is the best feasible arm" if log.feasible else "comes nearest; no arm is feasible"
    what = what if problem.constraints else "is the best arm"
    output.say(f"truth of the table: {log.answer.name} {what} ({readings})")
    if log.item is None:
        output.say(f"  {log.confidence:.0%} sure, by the noise of its {log.rows:,} rows")
    else:
        output.say(f"  by {log.items:,} items ({log.item}), which each of {len(log.arms)} arms has")
    if log.instance.baseline is not None:
        output.say(f"  {_limits(found)}")
    for note in found.notes:
        output.say(f"  {note}")
    output.say(f"  {found.assumption}")
    arms = sorted(log.arms, key=lambda arm: (arm.kind != "optimal", -arm.chance))
    rows = [
        [
            arm.name,
            str(arm.rows),
            *(
                _reading(one, units[name], exact=log.item is not None)
                for name, one in arm.readings.items()
            ),
            *[output.number(arm.margin, 3)] * bool(problem.constraints),
            arm.kind,
        ]
        for arm in arms[:_MOST_ARMS]
    ]
    margin = ["margin"] if problem.constraints else []
    columns = ["arm", "rows", *log.answer.readings, *margin, "kind"]
    intervals = ", with 95% intervals" if log.item is None else ""
    output.show_table(f"Truth of the table{intervals}", columns, rows)
    if len(arms) > _MOST_ARMS:
        output.say(f"{len(arms) - _MOST_ARMS} more arms are in --json")


def _reading(one: "Reading", unit: "Unit", *, exact: bool) -> str:
    value = unit.show(one.value)
    return value if exact else f"{value} ({unit.number(one.low)}, {unit.show(one.high)})"


def _limits(found: "Replay") -> str:
    """Return in words what relative limits are by the table."""
    log = found.log
    problem = log.instance.judged
    said = [
        f"{constraint.attribute} {constraint.relation} "
        f"{log.instance.problem.unit(str(constraint.attribute)).show(sign * limit)}"
        for constraint, sign, limit in zip(
            problem.constraints, problem.signs[1:], log.limits, strict=True
        )
        if constraint.factor
    ]
    return f"baseline {log.instance.baseline}: by its rows {', '.join(said)}; it is never rejected"


def _show_rows(found: "Replay") -> None:
    from ringfence.reports.replay import GOAL

    rows = [
        [
            f"{row.result.budget:,}",
            row.result.policy,
            f"{row.right_rate:.1%}",
            "{:.1%} to {:.1%}".format(*row.interval),
            f"{row.result.wrong_arm / row.result.replications:.1%}",
            f"{row.result.wrong_flag / row.result.replications:.1%}",
            _answers(row),
            *_beside(row),
        ]
        for row in found.rows
    ]
    budget = "T" if found.unit == "pulls" else found.unit
    columns = [
        budget, "policy", "right", "95% interval", "wrong arm", "wrong flag", "chose most often",
        *(("certified", "wrongly", "pulls used") if found.stop else _UNIFORM),
    ]  # fmt: skip
    title = f"Against the truth of the table, {found.replications:,} replications"
    output.show_table(title, columns, rows)
    if found.stop is not None:
        output.say(found.headline)
        return
    needs = [[name, str(one), one.interval_in_words] for name, one in found.needs.items()]
    output.show_table(
        f"{found.unit.capitalize()} until right {GOAL:.0%} of the time",
        ["policy", found.unit, "95% interval"],
        needs,
    )
    if found.batch is None:
        output.say("adaptive policies decide up to 1% of their pulls so far at once")
    output.say(found.headline)
    if found.next_in_words is not None:
        output.say(found.next_in_words)


def _beside(row: "ReplayRow") -> list[str]:
    """Return what uniform needs for as much; or where pulls end by a proof, what that takes."""
    from ringfence.reports.proofs_taken import pulls_in_words

    result = row.result
    if result.stop is None:
        return ["" if result.policy == "uniform" else str(row.uniform), _ratio(row)]
    rates = (f"{result.certified_rate:.1%}", f"{result.wrong_certified_rate:.2%}")
    return [*rates, pulls_in_words(result)]


def _answers(row: "ReplayRow") -> str:
    said = [
        f"{name} {share:.0%}{'' if feasible else ' (as infeasible)'}"
        for name, feasible, share in row.answers[:_MOST_ANSWERS]
        if share >= _LEAST_SHARE
    ]
    return ", ".join(said)


def _ratio(row: "ReplayRow") -> str:
    if row.result.policy == "uniform":
        return ""
    low, at, high = map(row.ratio, (row.uniform.low, row.uniform.budget, row.uniform.high))
    if low is None:
        return f"> {row.uniform.most / row.result.budget:.2g}"
    if at is None:
        return f">= {low:.2g}"
    if row.uniform.budget is not None and row.uniform.budget <= row.uniform.least:
        return f"<= {at:.2g}"
    return f"{at:.2g} ({low:.2g} to {'more' if high is None else format(high, '.2g')})"


def _budgets(text: str, price: str | None) -> list[float | str]:
    """Return budgets as Python takes them: numbers, or amounts with a unit, once or each."""
    found: list[float | str] = []
    for part in (one.strip() for one in text.split(",") if one.strip()):
        if any(map(str.isspace, part)):  # a unit
            found.append(part)
        else:
            found.append(_whole(part) if price is None else _amount(part))
    return found


def _amount(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"budgets holds {text!r}, which must be an amount. Write --budgets 100,200,400, or "
            "'100 USD,200 USD'."
        ) from None


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(
            f"budgets holds {text!r}, which must be a whole number. Write --budgets 100,200,400."
        ) from None
