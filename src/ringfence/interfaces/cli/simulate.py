"""`ringfence simulate`: the error rate of a policy. May touch wiring."""

from typing import TYPE_CHECKING, Annotated

import typer

from ringfence.interfaces.cli import completing, output
from ringfence.interfaces.cli.options import (
    POLICY_HELP,
    Answer,
    Batch,
    InstanceName,
    Json,
    Replications,
    Seed,
    Stop,
    StudyScales,
    Threads,
    Within,
    budget_in,
    said,
    stop_of,
)

if TYPE_CHECKING:
    from ringfence.simulation.rare.results import RareResult
    from ringfence.simulation.results import SimulationResult

_MOST_SHOWN = 12
_MOST_MODES = 5


def simulate(
    context: typer.Context,
    instance: InstanceName,
    *,
    policy: Annotated[
        str,
        typer.Option("--policy", help=POLICY_HELP, autocompletion=completing.policies),
    ] = "constrained-sr",
    budget: Annotated[
        str,
        typer.Option(
            "--budget", help="The budget T, in pulls; or '50 USD', where the instance has prices."
        ),
    ],
    answer: Answer = None,
    replications: Replications = 100_000,
    seed: Seed = 0,
    scales: StudyScales = None,
    batch: Batch = 1,
    stop: Stop = None,
    within: Within = None,
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            help="cpu, cuda (NVIDIA GPUs), auto, or reference: one pull at a time, slowly.",
            autocompletion=completing.among("cpu", "cuda", "auto", "reference"),
        ),
    ] = "cpu",
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="monte-carlo counts errors; importance and splitting estimate rare ones; auto.",
            autocompletion=completing.among("monte-carlo", "importance", "splitting", "auto"),
        ),
    ] = "monte-carlo",
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Estimate how often a policy gives a wrong answer on an instance."""
    from ringfence.core.money import PULLS
    from ringfence.interfaces import wiring
    from ringfence.interfaces.rare import no_replications
    from ringfence.simulation.funding import in_words
    from ringfence.simulation.rare.importance import with_pilots
    from ringfence.simulation.results import SimulationResult

    if method == "splitting" and said(context, "--replications"):
        raise no_replications(replications)
    total = with_pilots(replications) if method == "importance" else replications
    with output.progress_bar("replications", total) as advance:
        result = wiring.simulate(
            instance,
            policy,
            budget=budget_in(budget),
            answer=answer,
            replications=replications,
            seed=seed,
            scales=scales,
            batch=batch,
            stop=stop_of(stop, within),
            engine=engine,
            method=method,
            threads=threads,
            progress=advance,
        )
    if json:
        output.print_json(result.to_dict())
        return
    used, budget = str(result.pulls_used), str(result.budget)
    if isinstance(result, SimulationResult) and result.unit != PULLS:
        budget = in_words(result.budget, result.unit)
        used = f"{in_words(result.spent, result.unit)} and {sum(result.mean_pulls.values()):,.0f}"
    if isinstance(result, SimulationResult) and result.stop is not None:
        used = f"{result.pulls_used_mean:,.0f}"
    output.say(
        f"{result.policy} on {result.instance} at T = {budget} "
        f"({used} pulls used): error rate {result.error_rate:.4g}"
    )
    lines = _counted(result) if isinstance(result, SimulationResult) else _estimated(result)
    if result.mean_pulls:
        more = " (the most pulled)" if len(result.mean_pulls) > _MOST_SHOWN else ""
        pulls = ", ".join(f"{arm} {pulls:.1f}" for arm, pulls in _longest(result.mean_pulls))
        lines.append(("mean pulls", pulls + more))
    speed = f"{result.replications_per_second:,.0f} replications/s ({result.engine})"
    for name, text in [*lines, ("noise", result.scales), ("speed", speed)]:
        output.say(f"  {name:<13}{text}")
    if not isinstance(result, SimulationResult):
        for warning in result.warnings:
            output.say(f"  WARNING      {warning}")


def _counted(result: "SimulationResult") -> list[tuple[str, str]]:
    from ringfence.reports.proofs_taken import counted_proofs

    low, high = result.interval
    return [
        *counted_proofs(result),
        ("95% interval", f"{low:.4g} to {high:.4g} ({result.errors} of {result.replications})"),
        ("wrong arm", f"{result.wrong_arm}, lost in phase {_brief(result.lost_in_phase)}"),
        ("wrong flag", str(result.wrong_flag)),
    ]


def _estimated(result: "RareResult") -> list[tuple[str, str]]:
    low, high = result.interval
    ways = result.modes[:_MOST_MODES]
    return [
        ("95% interval", f"{low:.4g} to {high:.4g}, by {result.method}"),
        *(("how it errs", f"{mode.share:6.1%}  {mode.what}") for mode in ways),
        *(("checked", f"{one.what}: {one.found}") for one in result.checks if one.ok),
    ]


def _brief(lost: tuple[int, ...], limit: int = _MOST_SHOWN) -> str:
    """Return the losses of every phase, or of the worst phases where they are many."""
    if len(lost) <= limit:
        return str(list(lost))
    worst = sorted(range(len(lost)), key=lambda phase: -lost[phase])[:5]
    shown = ", ".join(f"{phase + 1}: {lost[phase]}" for phase in worst)
    return f"(worst of {len(lost)}) {shown}"


def _longest(mean_pulls: dict[str, float], limit: int = _MOST_SHOWN) -> list[tuple[str, float]]:
    """Return the most pulled arms, in the instance's order unless there are too many to show."""
    if len(mean_pulls) <= limit:
        return list(mean_pulls.items())
    return sorted(mean_pulls.items(), key=lambda entry: -entry[1])[:limit]
