"""The command `gate`: whether one arm is proven to keep its limits, as an exit code for a pipeline.

May touch every room.
"""

from pathlib import Path
from typing import Annotated

import typer

from ringfence.interfaces.cli import completing, output
from ringfence.interfaces.cli.options import Json
from ringfence.interfaces.cli.study import StorageUrl, StudyName, open_study

_EXIT_CODES = {"keeps": 0, "breaks": 3, "open": 4}


def gate(
    study: StudyName,
    *,
    candidate: Annotated[
        str,
        typer.Option("--candidate", help="The arm to let pass.", autocompletion=completing.arms),
    ],
    confidence: Annotated[
        float | None,
        typer.Option(
            "--confidence",
            metavar="P",
            help="Above 0.5 and below 1; by default the study's stop.confidence, or 0.95.",
        ),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option("--summary", help="Add a Markdown table to a file.", dir_okay=False),
    ] = None,
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Let an arm pass: exit code 0 proven to keep all limits, 3 to break one, 4 open."""
    from ringfence.reports.certificate import certificate_lines, gate_document, gate_sentence
    from ringfence.reports.gate_summary import gate_markdown

    found = open_study(study, storage).gate(candidate, confidence)
    if summary is not None:
        with summary.open("a", encoding="utf-8") as file:
            file.write(gate_markdown(found))
    if json:
        output.print_json({"gate": gate_document(found)})
    else:
        output.say(gate_sentence(found))
        for line in certificate_lines(found):
            output.say(f"- {line}")
    raise SystemExit(_EXIT_CODES[found.status])
