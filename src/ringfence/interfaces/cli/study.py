"""Commands on a live study: recommend, ask, tell, fail, status, explain, export, doctor.

May touch every room.
"""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ringfence.core.errors import DamagedError, InputError, MissingStudyError, one_line
from ringfence.core.strict import read_json, strict_json
from ringfence.interfaces.cli import completing, output
from ringfence.interfaces.cli.options import Json
from ringfence.interfaces.cli.verdicts import (
    MinConfidence,
    Record,
    RequireCertificate,
    Wide,
    give_verdict,
    require_confidence,
    require_record,
    required_certificate,
    verdict_so_far,
    write_record,
)

_MOST_METRICS = 4 * 2**20  # as over HTTP

StudyName = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="A study file (.toml), or the name of a study.",
        autocompletion=completing.studies,
    ),
]
StorageUrl = Annotated[
    str | None,
    typer.Option("--storage", help="Where studies are kept; by default NAME.db beside the file."),
]


def recommend(
    study: StudyName,
    *,
    storage: StorageUrl = None,
    record: Record = None,
    wide: Wide = False,
    min_confidence: MinConfidence = None,
    require_certificate: RequireCertificate = False,
    json: Json = False,
) -> None:
    """Give the verdict so far."""
    require_confidence(min_confidence)
    if record is not None:
        require_record(record)
    known = open_study(study, storage)
    verdict = verdict_so_far(known, json=json)
    if record is not None:
        write_record(known, verdict, record, quiet=json)
    required = required_certificate(known, verdict) if require_certificate else None
    give_verdict(verdict, json=json, wide=wide, min_confidence=min_confidence, required=required)


def ask(
    study: StudyName,
    *,
    count: Annotated[int, typer.Option("-n", help="How many pulls to lease.")] = 1,
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Lease pulls for a script: evaluate each, then tell it with its lease."""
    known = open_study(study, storage, create=True)
    pulls = known.ask(count)
    if json:
        head = known.desk.head
        output.print_json(
            {
                "pulls": [asdict(pull) for pull in pulls],
                "finished": head.is_over,
                "stopped": head.is_stopped,
            }
        )
        return
    for pull in pulls:
        on = "" if pull.item is None else f" item {strict_json(pull.item)}"
        output.say(f"pull {pull.pull} lease {pull.lease} arm {pull.arm} seed {pull.seed}{on}")
    if not pulls:
        output.say(_why_nothing(known))


def tell(
    study: StudyName,
    pull: Annotated[int, typer.Argument(metavar="PULL", help="The pull's number.")],
    lease: Annotated[int, typer.Argument(metavar="LEASE", help="Its lease, as ask gave it.")],
    metrics: Annotated[
        str, typer.Argument(metavar="JSON", help="A JSON object of metrics, or - for stdin.")
    ],
    *,
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Record a pull's metrics."""
    known = open_study(study, storage)
    became, notes = known.tell_noting(pull, _metrics_of(metrics), lease=lease)
    for note in notes if not json else ():
        sys.stderr.write(f"{note}\n")
    show_status(became, json=json, notes=list(notes))


def _metrics_of(argument: str) -> dict[str, Any]:
    """Return the metrics that were given, or are on standard input."""
    is_named, text = argument == "-", argument
    if is_named:
        content = sys.stdin.buffer.read(_MOST_METRICS + 1)
        if len(content) > _MOST_METRICS:
            raise InputError(
                f"standard input has more than {_MOST_METRICS:,} bytes, which no metrics need. "
                "Give one JSON object."
            )
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            raise InputError(
                f"standard input is not text in UTF-8: {error.reason} at byte {error.start}. "
                "Give one JSON object."
            ) from None
    shown = f"{'standard input' if is_named else 'metrics'} = {one_line(repr(text))}"
    try:
        found = read_json(text)
    except InputError as error:
        raise InputError(f"{shown}: {error}") from None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{shown} must be a JSON object, such as '{{\"score\": 0.8}}'. Write one.")
    return found


def fail(
    study: StudyName,
    pull: Annotated[int, typer.Argument(metavar="PULL", help="The pull's number.")],
    lease: Annotated[int, typer.Argument(metavar="LEASE", help="Its lease, as ask gave it.")],
    *,
    error: Annotated[str, typer.Option("--error", help="What went wrong, kept with it.")] = "",
    charge: Annotated[
        bool, typer.Option("--charge/--no-charge", help="Whether it counts against the budget.")
    ] = True,
    timed_out: Annotated[
        bool, typer.Option("--timed-out", help="It took too long, and was ended for that.")
    ] = False,
    cost: Annotated[
        float | None,
        typer.Option("--cost", help="What it cost, where prices are told with pulls."),
    ] = None,
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Record that an evaluation failed."""
    known = open_study(study, storage)
    became = known.fail(pull, error, lease=lease, charge=charge, timed_out=timed_out, cost=cost)
    show_status(became, json=json)


def status(study: StudyName, *, storage: StorageUrl = None, json: Json = False) -> None:
    """Show where a study stands."""
    from ringfence.reports.accounts import (
        HEADINGS,
        account_in_words,
        account_rows,
        exceeded_in_words,
    )
    from ringfence.reports.certificate import stop_in_words
    from ringfence.reports.departures import departed
    from ringfence.reports.endings import ending_in_words
    from ringfence.reports.figures.words import moment
    from ringfence.reports.sharing import shared_in_words
    from ringfence.study.accounts import account_on

    known = open_study(study, storage)
    view = known.desk.look(samples=False)
    document, account = asdict(known.status(view)), account_on(known.desk.plan, view)
    if json:
        output.print_json(document)
        return
    words = f"in round {document['phase'] + 1}" if document["phase"] >= 0 else "not begun"
    if document["stopped_at"] is not None:
        words = f"stopped since {moment(document['stopped_at'])}, {words}"
    words = "finished" if document["finished"] else words
    if document["archived_at"] is not None:
        words += ", archived"
    output.say(
        f"{document['study']} is {words}: {document['told']} told, {document['issued']} issued, "
        f"{document['failed']} failed{'.' if account.arms else f', of {account.budget} pulls.'}"
    )
    if account.arms:
        output.say(account_in_words(account))
        output.show_table(f"by arm, in {account.unit}", list(HEADINGS), account_rows(account.arms))
        for line in exceeded_in_words(account):
            output.say(line)
    output.say(f"in the running: {', '.join(document['alive']) or 'no arm'}")
    withdrawn = [one for one in view.departures if one.rejection.is_withdrawal]
    for line in departed(known.desk.plan, view, withdrawn):
        output.say(line)
    if document["arm"] is not None:
        flag = " (feasible)" if document["feasible"] else " (infeasible)"
        has_limits = bool(known.desk.plan.problem.constraints)
        output.say(f"looks best: {document['arm']}{flag if has_limits else ''}")
    if shared := shared_in_words(document["blocks"]):
        output.say(f"arms share {shared}")
    for line in ending_in_words(known.desk.plan, view, account, document["blocks"]):
        output.say(line)
    if document["stop"]:
        output.say(f"ends when its answer is proven: {stop_in_words(document['stop'])}")
    output.say(f"seed: {document['seed']}")


def explain(
    study: StudyName,
    arm: Annotated[
        str | None,
        typer.Argument(metavar="ARM", help="Only this arm.", autocompletion=completing.arms),
    ] = None,
    *,
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Say why each arm was dropped or kept."""
    from ringfence.reports.differences import differences_in_words
    from ringfence.reports.verdict import explanation

    known = open_study(study, storage)
    if arm is not None:
        known.require_arm(arm)
    verdict = known.recommend()
    document = explanation(verdict, arm)
    if json:
        output.print_json(document)
        return
    by_name = {one.name: one for one in verdict.arms}
    for one in document["arms"]:
        output.say(f"{one['name']}: {one['reason']}")
        if beside := differences_in_words(verdict, by_name[one["name"]]):
            output.say(f"  {beside}")


def export(
    study: StudyName,
    *,
    output_file: Annotated[
        Path, typer.Option("--output", help="A .csv or .parquet file to write.")
    ],
    storage: StorageUrl = None,
    json: Json = False,
) -> None:
    """Write every observation to a table: pull, arm, seed, then the metrics."""
    from ringfence.reports.tables import require_table_path, write_table

    require_table_path(output_file)
    columns = open_study(study, storage).observations()
    write_table(output_file, columns)
    count = len(columns["pull"])
    if json:
        output.print_json({"rows": count, "output": str(output_file)})
    else:
        output.say(f"{count} observations written to {output_file}")


def doctor(study: StudyName, *, storage: StorageUrl = None, json: Json = False) -> None:
    """Audit a study from its stored facts; exit code 1 if something is wrong."""
    from ringfence.reports.verdict import changed_in_words

    known = open_study(study, storage)
    steps = max(1, 2 * known.desk.head.issued)
    with output.progress_bar("auditing", steps, first="auditing") as advance:
        found = known.doctor(progress=advance)
    document = {"ok": found.is_sound, **asdict(found)}
    if json:
        output.print_json(document)
    else:
        if found.is_sound:
            plan = known.desk.plan
            budget = plan.in_words(known.desk.head.budget)
            again = "every decision" if not found.notes else "every other decision"
            output.say(
                f"{found.study} is sound: {found.told} told, {found.issued} issued, {found.failed} "
                f"failed, of {budget}; {again} is the same when made again."
            )
        for problem in found.problems:
            output.say(f"problem: {problem}")
        for note in found.notes:
            output.say(f"note: {note}")
        for line in changed_in_words(found.changes):
            output.say(f"note: {line}")
    if not found.is_sound:
        raise SystemExit(1)


def studies(
    *,
    storage: Annotated[str, typer.Option("--storage", help="Where studies are kept.")],
    delete: Annotated[str | None, typer.Option("--delete", help="Forget this study.")] = None,
    archived: Annotated[
        bool, typer.Option("--archived", help="List those that were archived, too.")
    ] = False,
    json: Json = False,
) -> None:
    """List the studies of a storage, but archived ones, or delete one."""
    from ringfence.interfaces.storages import open_storage

    opened = open_storage(storage, exists=True)
    if delete is not None:
        opened.delete(delete)
    names = [name for name in opened.names() if archived or not _is_archived(opened, name)]
    if json:
        output.print_json({"studies": names, "deleted": delete})
        return
    if delete is not None:
        output.say(f"deleted {delete}")
    for name in names:
        output.say(name)


def _is_archived(opened: Any, name: str) -> bool:
    try:
        with opened.reading(name) as ledger:
            return ledger.head.archived_at is not None
    except (DamagedError, MissingStudyError):  # whoever asks for it hears what is wrong
        return False


def is_file(study: str) -> bool:
    """Tell whether a study is named by its file."""
    try:
        return study.endswith(".toml") or Path(study).is_file()
    except OSError:  # too long for a file: it is refused as a name
        return False


def open_study(study: str, storage: str | None, *, create: bool = False) -> Any:
    """Return a study by its file or its name; only `ask` begins one that is not there."""
    from ringfence.interfaces.studies import Study
    from ringfence.interfaces.study_file import read_study_file

    if not is_file(study):
        return Study.load(study, storage=storage)
    file = read_study_file(Path(study))
    if create:
        return file.open(storage=storage)
    known = Study.load(file.content.name, storage=storage or file.storage, functions=file.functions)
    if others := file.differs_from(known.definition):
        sys.stderr.write(
            f"{study} has another {', '.join(others)} than study {known.name!r}, which is shown as "
            "it was begun.\n"
        )
    return known


def _why_nothing(known: Any) -> str:
    """Return why no pull was given."""
    head = known.desk.head
    if head.is_stopped:
        return f"stopped; to go on: ringfence resume {known.name}"
    return "finished" if head.finished else "nothing to do until others have told"


def show_status(became: str, *, json: bool, **others: Any) -> None:
    """Show what became of a call; the document says more."""
    if json:
        output.print_json({"status": became, **others})
    else:
        output.say(became)
