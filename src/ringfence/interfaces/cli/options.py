"""The options that several commands share. Touches nothing."""

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ringfence.core.errors import InputError
from ringfence.interfaces.cli import completing

KINDS = ("map", "timeline", "allocation", "evidence", "differences", "items", "hours")
THEMES = ("light", "dark", "print")

Answer = Annotated[
    str | None,
    typer.Option(
        "--answer",
        help="Which arms are asked for, such as 'all feasible'; else as the instance says.",
        autocompletion=completing.answers,
    ),
]
Batch = Annotated[
    int, typer.Option("--batch", help="How many pulls an adaptive policy decides at once.")
]
InstanceName = Annotated[
    str,
    typer.Argument(
        metavar="INSTANCE",
        help="A TOML file, or paper-1 to paper-4.",
        autocompletion=completing.instances,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one strict JSON document and nothing else.")
]
Replications = Annotated[
    int, typer.Option("--replications", help="How many replications to run for each point.")
]
POLICY_HELP = "One of {policies}."  # filled in when help is asked for: policies load numpy
Scales = Annotated[
    str,
    typer.Option(
        "--scales",
        help="known, or estimated: whether policies are told the noise or learn it.",
        autocompletion=completing.among("known", "estimated"),
    ),
]
StudyScales = Annotated[
    str | None,
    typer.Option(
        "--scales",
        help="known, or estimated: whether policies are told the noise or learn it. Unless stated, "
        "they learn it where one of them is adaptive, as in a study.",
        autocompletion=completing.among("known", "estimated"),
    ),
]
Money = Annotated[
    str | None,
    typer.Option(
        "--money",
        metavar="UNIT",
        help="Also in money, such as USD, of which pulls take what the instance's price says.",
    ),
]
Stop = Annotated[
    float | None,
    typer.Option(
        "--stop",
        metavar="P",
        help="End when the answer is proven this surely, such as 0.95.",
    ),
]
Within = Annotated[
    float | None,
    typer.Option(
        "--within", help="With --stop: an arm is as good that no other betters by more than this."
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="The seed of all randomness.")]
Units = Annotated[
    list[str] | None,
    typer.Option(
        "--unit",
        metavar="METRIC=UNIT",
        help="The unit in which a metric is measured, such as latency=ms; may be repeated.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", help="Threads to use; the result does not depend on it."),
]


def said(context: typer.Context, *options: str) -> list[str]:
    """Return those of some options that stand on the command line; others have their defaults."""
    found = []
    for option in options:
        source = context.get_parameter_source(option.removeprefix("--").replace("-", "_"))
        if source is not None and source.name == "COMMANDLINE":
            found.append(option)
    return found


def budget_in(text: str) -> int | str:
    """Return a budget as Python takes it: a whole number of pulls, else an amount with its unit."""
    try:
        return int(text)
    except ValueError:
        return text


def stop_of(stop: float | None, within: float | None) -> dict[str, float] | None:
    """Return what --stop and --within say together."""
    if stop is None:
        if within is not None:
            raise InputError(
                "--within goes with --stop, which says how sure. Write --stop 0.95, or leave it "
                "out."
            )
        return None
    return {"confidence": stop} | ({} if within is None else {"within": within})


class WithPolicies(TyperCommand):
    """A command whose help lists the policies."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Fill in their names."""
        from ringfence.policies.registry import POLICIES

        names = ", ".join(policy.name for policy in POLICIES)
        for parameter in self.params:
            help_text = getattr(parameter, "help", None)
            if help_text:
                parameter.help = help_text.replace("{policies}", names)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


def units_given(texts: list[str] | None) -> dict[str, str]:
    """Return units by metric, as --unit says them."""
    found = {}
    for text in texts or ():
        metric, is_there, unit = text.rpartition("=")
        if not (is_there and metric.strip() and unit.strip()):
            raise InputError(f"--unit {text!r} must read METRIC=UNIT. Write: --unit latency=ms")
        found[metric.strip()] = unit.strip()
    return found
