"""`ringfence simulate`: the error rate of a policy. May touch wiring."""

from typing import Annotated

import typer

from ringfence.interfaces.cli import output
from ringfence.interfaces.cli.options import (
    POLICY_NAMES,
    InstanceName,
    Json,
    Replications,
    Seed,
    Threads,
)


def simulate(
    instance: InstanceName,
    *,
    policy: Annotated[
        str, typer.Option("--policy", help=f"One of {POLICY_NAMES.replace(',', ', ')}.")
    ] = "constrained-sr",
    budget: Annotated[int, typer.Option("--budget", help="The budget T, in pulls.")],
    replications: Replications = 100_000,
    seed: Seed = 0,
    scales: Annotated[str, typer.Option("--scales", help="known")] = "known",
    engine: Annotated[
        str, typer.Option("--engine", help="cpu, or reference: one pull at a time, slowly.")
    ] = "cpu",
    method: Annotated[str, typer.Option("--method", help="monte-carlo")] = "monte-carlo",
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Estimate how often a policy gives a wrong answer on an instance."""
    from ringfence.interfaces import wiring

    with output.progress_bar("replications", replications) as advance:
        result = wiring.simulate(
            instance,
            policy,
            budget=budget,
            replications=replications,
            seed=seed,
            scales=scales,
            engine=engine,
            method=method,
            threads=threads,
            progress=advance,
        )
    if json:
        output.print_json(result.to_dict())
        return
    low, high = result.interval
    output.say(
        f"{result.policy} on {result.instance} at T = {result.budget} "
        f"({result.pulls_used} pulls used): error rate {result.error_rate:.4g}"
    )
    lines = [
        ("95% interval", f"{low:.4g} to {high:.4g} ({result.errors} of {result.replications})"),
        ("wrong arm", f"{result.wrong_arm}, lost in phase {list(result.lost_in_phase)}"),
        ("wrong flag", str(result.wrong_flag)),
        (
            "mean pulls",
            ", ".join(f"{arm} {pulls:.1f}" for arm, pulls in _longest(result.mean_pulls)),
        ),
        ("speed", f"{result.replications_per_second:,.0f} replications/s ({result.engine})"),
    ]
    for name, text in lines:
        output.say(f"  {name:<13}{text}")


def _longest(mean_pulls: dict[str, float], limit: int = 12) -> list[tuple[str, float]]:
    """Return the most pulled arms, in the instance's order unless there are too many to show."""
    if len(mean_pulls) <= limit:
        return list(mean_pulls.items())
    return sorted(mean_pulls.items(), key=lambda entry: -entry[1])[:limit]
