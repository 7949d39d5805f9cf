"""The command `ringfence`: its subcommands and what becomes of errors.

May touch every room, through the commands.
"""

import sys
import warnings
from typing import Annotated, TextIO

import typer

from ringfence.core.errors import InputError, RingfenceError
from ringfence.interfaces.cli import (
    bench,
    certify,
    compare,
    correcting,
    demo,
    figure,
    gaps,
    gate,
    halting,
    import_logs,
    init,
    paper,
    plan,
    replay,
    run,
    serve,
    simulate,
    study,
)
from ringfence.interfaces.cli.options import WithPolicies

EXIT_FAILURE, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 1, 2, 130

app = typer.Typer(
    name="ringfence",
    help="Find the best option that stays inside its limits, on a fixed budget.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo.demo)
app.command("init", cls=WithPolicies)(init.init)
app.command("paper")(paper.paper)
app.command("simulate", cls=WithPolicies)(simulate.simulate)
app.command("gaps")(gaps.gaps)
app.command("compare", cls=WithPolicies)(compare.compare)
app.command("plan", cls=WithPolicies)(plan.plan)
app.command("replay", cls=WithPolicies)(replay.replay)
app.command("import")(import_logs.import_logs)
for _command in (
    run.run, study.recommend, certify.certify, gate.gate, study.ask, study.tell, study.fail,
    correcting.lost, correcting.revive, halting.stop, halting.resume, halting.archive,
    halting.unarchive, study.status, study.explain, study.export, study.doctor,
    study.studies,
):  # fmt: skip
    app.command(_command.__name__)(_command)
app.command("stop-when")(halting.stop_when)
app.command("serve")(serve.serve)
app.command("figure")(figure.figure)
app.command("bench")(bench.bench)


def _version(wanted: bool) -> None:  # noqa: FBT001 - a callback of the option parser
    if wanted:
        from importlib.metadata import version

        typer.echo(f"ringfence {version('ringfence')}")
        raise typer.Exit


@app.callback()
def ringfence(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Find the best option that stays inside its limits, on a fixed budget."""


def _noted(
    message: Warning | str, category: type[Warning], filename: str, lineno: int,
    file: TextIO | None = None, line: str | None = None,
) -> None:  # fmt: skip
    """Show a warning of ours as a note, without the line of our code that it came from."""
    if category.__module__.startswith("ringfence."):
        sys.stderr.write(f"note: {message}\n")
    else:
        said = warnings.formatwarning(message, category, filename, lineno, line)
        (file or sys.stderr).write(said)


def main() -> None:
    """Run the command line; an error ends with one message, never a traceback.

    Its exit code is 2 where the input is to blame, and 1 where it is not.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _noted
            app()
    except RingfenceError as error:
        sys.stderr.write(f"error: {error}\n")
        code = EXIT_BAD_INPUT if isinstance(error, InputError) else EXIT_FAILURE
        raise SystemExit(code) from None
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(EXIT_INTERRUPTED) from None
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): nothing is left to say to it.
        sys.stderr.close()
        raise SystemExit(EXIT_FAILURE) from None
    except OSError as error:
        sys.stderr.write(f"error: {error}\n")
        raise SystemExit(EXIT_FAILURE) from None
