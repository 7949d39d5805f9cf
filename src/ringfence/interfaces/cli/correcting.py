"""Commands that set right what went wrong outside a study: lost, revive.

May touch every room.
"""

from typing import Annotated

import typer

from ringfence.interfaces.cli import completing
from ringfence.interfaces.cli.options import Json
from ringfence.interfaces.cli.study import StorageUrl, StudyName, open_study, show_status


def lost(
    study: StudyName,
    pull: Annotated[int, typer.Argument(metavar="PULL", help="The pull's number.")],
    lease: Annotated[int, typer.Argument(metavar="LEASE", help="Its lease, as ask gave it.")],
    *,
    error: Annotated[str, typer.Option("--error", help="What happened, kept with it.")] = "",
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Record that a pull will never report, through no fault of its arm: it is not charged."""
    show_status(open_study(study, storage).lost(pull, error, lease=lease), json=json)


def revive(
    study: StudyName,
    arm: Annotated[
        str,
        typer.Argument(
            metavar="ARM", help="An arm that was withdrawn.", autocompletion=completing.arms
        ),
    ],
    *,
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Bring back an arm that was withdrawn: it is pulled again from the next decision on."""
    show_status(open_study(study, storage).revive(arm), json=json)
