"""The command `ringfence import`: logs of other tools as a table. May touch every room."""

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringfence.core.errors import InputError
from ringfence.interfaces.cli import output
from ringfence.interfaces.cli.options import Json

if TYPE_CHECKING:
    from ringfence.interfaces.logs.tables import ImportedLogs

_PRICES = ("price", "output_tokens", "seconds")


def import_logs(
    logs: Annotated[
        list[str],
        typer.Argument(
            metavar="LOG...",
            help="Files or folders of inspect-ai, lm-eval or promptfoo; NAME=LOG names the option.",
        ),
    ],
    *,
    to: Annotated[Path, typer.Option("--to", help="The table to write: .csv or .parquet.")] = Path(
        "table.csv"
    ),
    tool: Annotated[
        str | None,
        typer.Option("--from", help="inspect-ai, lm-eval or promptfoo; else the content tells."),
    ] = None,
    fill: Annotated[
        list[str] | None,
        typer.Option("--fill", help="What stands for a missing metric, such as score=0."),
    ] = None,
    common: Annotated[
        bool, typer.Option("--common", help="Leave out items that not all options answered.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a table.")] = False,
    json: Json = False,
) -> None:
    """Read logs of inspect-ai, lm-evaluation-harness and promptfoo into one table."""
    from ringfence.interfaces.logs.importing import import_logs as read
    from ringfence.interfaces.logs.tables import require_place

    require_place(to, force=force)
    found = read(_named(logs), tool=tool, fill=_filled(fill or []), only_common_items=common)
    found.write(to, force=force)
    following = _next(to, found)
    if json:
        output.print_json(
            {
                "table": str(to),
                "options": list(found.options),
                "items": len(found.items),
                "metrics": list(found.metrics),
                "notes": list(found.notes),
                "next": following,
            }
        )
        return
    for note in found.notes:
        typer.echo(f"note: {note}.", err=True)
    rows = len(found.columns["option"])
    typer.echo(f"{to}: {len(found.options)} options on {len(found.items)} items, {rows} rows.")
    typer.echo(f"Options: {', '.join(found.options)}")
    typer.echo(f"Metrics: {', '.join(found.metrics)}")
    if following:
        typer.echo("\nWhat would a study have found with fewer answers?")
        typer.echo(f"  {following[0]}")
        typer.echo("As a study file, to run and to change:")
        typer.echo(f"  {following[1]}")
    else:
        typer.echo("\nOne option alone has nothing to be compared with. Import logs of others too.")


def _named(logs: list[str]) -> dict[str, str] | list[str]:
    """Return logs with the names of options that were given, of all or of none."""
    pairs = [one.partition("=") for one in logs]
    with_name = [
        bool(sign) and not Path(one).exists() for one, (_, sign, _) in zip(logs, pairs, strict=True)
    ]
    if not any(with_name):
        return logs
    if not all(with_name):
        plain = next(one for one, is_named in zip(logs, with_name, strict=True) if not is_named)
        raise InputError(f"log = {plain!r} has no name, and others have. Write NAME={plain}.")
    names = [name for name, _, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"option {twice!r} is named twice. Give each log a name of its own.")
    return {name: path for name, _, path in pairs}


def _filled(fill: list[str]) -> dict[str, float]:
    found = {}
    for one in fill:
        name, _, text = one.partition("=")
        try:
            found[name] = float(text)
        except ValueError:
            found[name] = math.nan
        if not name or not math.isfinite(found[name]):
            raise InputError(f"fill = {one!r} must be METRIC=NUMBER. Write such as score=0.")
    return found


def _next(to: Path, found: "ImportedLogs") -> list[str]:
    """Return the commands that use the table: its limit is 10% off the middle of the means."""
    if len(found.options) < 2:
        return []
    objective = f"maximize mean({found.metrics[0]})"
    metric = next((name for name in _PRICES if name in found.metrics), found.metrics[-1])
    sense, slack = ("<=", 1.1) if metric in _PRICES else (">=", 0.9)
    limit = f"mean({metric}) {sense} {slack * _middle(found, metric):.3g}"
    question = ["--objective", objective, "--constraint", limit]
    replay = ["ringfence", "replay", str(to), "--arm", "option", "--item", "item", *question]
    study = str(to.with_suffix(".toml"))
    init = ["ringfence", "init", study, "--table", str(to), "--arm-column", "option"]
    init += ["--items", "item", "--budget", str(len(found.columns["item"])), *question]
    return [shlex.join(replay), shlex.join(init)]


def _middle(found: "ImportedLogs", metric: str) -> float:
    values: dict[str, list[float]] = {}
    for option, value in zip(found.columns["option"], found.columns[metric], strict=True):
        values.setdefault(option, []).append(value)
    means = sorted(sum(mine) / len(mine) for mine in values.values())
    return means[(len(means) - 1) // 2]
