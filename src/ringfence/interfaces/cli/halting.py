"""Commands on a study as a whole: stop, resume, archive, unarchive. May touch every room."""

from ringfence.interfaces.cli.options import Json
from ringfence.interfaces.cli.study import StorageUrl, StudyName, open_study, show_status


def stop(study: StudyName, *, storage: StorageUrl = None, json: Json = False) -> None:
    """Stop a study: no further pulls, no further rounds, until it is resumed."""
    show_status(open_study(study, storage).stop(), json=json)


def resume(study: StudyName, *, storage: StorageUrl = None, json: Json = False) -> None:
    """Have a stopped study go on; `ringfence run` then takes it up."""
    show_status(open_study(study, storage).resume(), json=json)


def archive(study: StudyName, *, storage: StorageUrl = None, json: Json = False) -> None:
    """List a study no more that is finished or stopped; nothing of it is deleted."""
    show_status(open_study(study, storage).archive(), json=json)


def unarchive(study: StudyName, *, storage: StorageUrl = None, json: Json = False) -> None:
    """List a study again that was archived."""
    show_status(open_study(study, storage).unarchive(), json=json)
