"""`ringfence compare`: policies side by side on common random numbers. May touch wiring."""

from typing import Annotated

import typer

from ringfence.core.errors import InputError
from ringfence.interfaces.cli import output
from ringfence.interfaces.cli.options import POLICY_NAMES, Json, Replications, Seed, Threads


def compare(
    instances: Annotated[
        list[str],
        typer.Argument(metavar="INSTANCE...", help="TOML files, or paper-1 to paper-4."),
    ],
    *,
    policies: Annotated[
        str, typer.Option("--policies", help="Names with commas between; the first is the base.")
    ] = POLICY_NAMES,
    budgets: Annotated[str, typer.Option("--budgets", help="Budgets with commas between.")],
    replications: Replications = 100_000,
    seed: Seed = 0,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Compare policies at equal budgets; the same pulls for all policies on one schedule."""
    from ringfence.interfaces import wiring

    amounts = [_whole_number(text) for text in _listed(budgets)]
    names = _listed(policies)
    points = len(instances) * len(amounts)
    with output.progress_bar("replications", points * replications) as advance:
        rows = wiring.compare(
            instances,
            policies=names,
            budgets=amounts,
            replications=replications,
            seed=seed,
            threads=threads,
            progress=advance,
        )
    if json:
        output.print_json({"rows": [row.to_dict() for row in rows]})
        return
    shown = [
        [
            row.result.instance,
            row.result.policy,
            str(row.result.budget),
            f"{row.result.error_rate:.4g}",
            f"{row.result.std_error:.1e}",
            output.number(row.ratio_to_first, 3),
            f"{row.only_here_wrong}/{row.only_first_wrong}",
        ]
        for row in rows
    ]
    columns = ["instance", "policy", "T", "error rate", "std error", f"/ {names[0]}", "differs"]
    output.show_table("Error rates on common random numbers", columns, shown)
    output.say("differs: replications on which only this policy / only the first erred")


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(
            f"budgets holds {text!r}, which must be a whole number. Write --budgets 1000,2000."
        ) from None
