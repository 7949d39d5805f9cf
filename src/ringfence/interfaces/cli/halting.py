"""Commands on a study as a whole: stop, stop-when, resume, archive. May touch every room."""

from typing import Annotated

import typer

from ringfence.interfaces.cli import output
from ringfence.interfaces.cli.options import Json
from ringfence.interfaces.cli.study import StorageUrl, StudyName, open_study, show_status


def stop(study: StudyName, *, storage: StorageUrl = None, json: Json = False) -> None:
    """Stop a study: no further pulls, no further rounds, until it is resumed."""
    show_status(open_study(study, storage).stop(), json=json)


def stop_when(
    study: StudyName,
    *,
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="P", help="How sure, such as 0.95.")
    ],
    within: Annotated[
        float | None,
        typer.Option(
            "--within",
            metavar="D",
            help="What is as good, in the objective's unit; by default as it is.",
        ),
    ] = None,
    note: Annotated[
        str, typer.Option("--note", help="Why it may be looser than before: the record keeps it.")
    ] = "",
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """End a running study as soon as its answer is proven, whatever is left of its budget."""
    from ringfence.reports.certificate import stop_in_words

    known = open_study(study, storage)
    became = known.stop_when(confidence, within=within, note=note)
    status = known.status()
    show_status(became, json=json, stop=status.stop)
    if not json and status.stop:
        output.say(f"ends when its answer is proven: {stop_in_words(status.stop)}")
        head = known.desk.head
        if ahead := head.round_end - head.issued:
            output.say(f"first come {ahead} pulls that are decided already")


def resume(study: StudyName, *, storage: StorageUrl = None, json: Json = False) -> None:
    """Have a stopped study go on; `ringfence run` then takes it up."""
    show_status(open_study(study, storage).resume(), json=json)


def archive(study: StudyName, *, storage: StorageUrl = None, json: Json = False) -> None:
    """List a study no more that is finished or stopped; nothing of it is deleted."""
    show_status(open_study(study, storage).archive(), json=json)


def unarchive(study: StudyName, *, storage: StorageUrl = None, json: Json = False) -> None:
    """List a study again that was archived."""
    show_status(open_study(study, storage).unarchive(), json=json)
