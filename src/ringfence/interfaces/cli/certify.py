"""The command `certify`: what is proven of a study by now, whatever chose its pulls.

May touch every room.
"""

from pathlib import Path
from typing import Annotated

import typer

from ringfence.interfaces.cli import output
from ringfence.interfaces.cli.options import Json
from ringfence.interfaces.cli.study import StorageUrl, StudyName, open_study
from ringfence.interfaces.cli.verdicts import PROOF_CODES


def certify(
    study: StudyName,
    *,
    confidence: Annotated[
        float | None,
        typer.Option(
            "--confidence",
            metavar="P",
            help="Above 0.5 and below 1; by default the study's stop.confidence, or 0.95.",
        ),
    ] = None,
    within: Annotated[
        float | None,
        typer.Option("--within", metavar="D", help="What is as good, in the objective's unit."),
    ] = None,
    observations: Annotated[
        Path | None,
        typer.Option("--observations", help="Write the certificate with all it rests on (.json)."),
    ] = None,
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Say what is proven: exit code 0 certified, 3 no arm is feasible, 4 open."""
    from ringfence.core.strict import strict_json
    from ringfence.interfaces.proofs import proof_on
    from ringfence.reports.certificate import (
        certificate_document,
        certificate_lines,
        certificate_sentence,
    )
    from ringfence.reports.files import require_path, write_file

    if observations is not None:
        require_path(observations, [".json"], key="observations")
    known = open_study(study, storage)
    proof = proof_on(known.desk, confidence, within=within)
    found = proof.certificate
    if observations is not None:
        from ringfence.reports.proof import proof_document

        content = strict_json(proof_document(known.desk.plan, proof), indent=1)
        write_file(observations, content.encode(), key="observations")
    if json:
        output.print_json({"certificate": certificate_document(found)})
    else:
        output.say(certificate_sentence(found))
        for line in certificate_lines(found):
            output.say(f"- {line}")
    raise SystemExit(PROOF_CODES[found.status])
