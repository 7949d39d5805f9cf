"""The options that several commands share. Touches nothing."""

from typing import Annotated

import typer

from ringfence.policies.registry import POLICIES, QUICK_POLICIES

Batch = Annotated[
    int, typer.Option("--batch", help="How many pulls an adaptive policy decides at once.")
]
InstanceName = Annotated[
    str, typer.Argument(metavar="INSTANCE", help="A TOML file, or paper-1 to paper-4.")
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one strict JSON document and nothing else.")
]
Replications = Annotated[
    int, typer.Option("--replications", help="How many replications to run for each point.")
]
POLICY_NAMES = ",".join(policy.name for policy in POLICIES)
QUICK_NAMES = ",".join(policy.name for policy in QUICK_POLICIES)
Scales = Annotated[
    str,
    typer.Option(
        "--scales", help="known, or estimated: whether policies are told the noise or learn it."
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="The seed of all randomness.")]
Threads = Annotated[
    int | None,
    typer.Option("--threads", help="Threads to use; the result does not depend on it."),
]
