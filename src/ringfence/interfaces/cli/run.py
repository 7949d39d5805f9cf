"""The command `ringfence run`: a study from its file to its verdict. May touch every room."""

import shlex
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ringfence.core.errors import InputError, OutageError, RingfenceError
from ringfence.interfaces.cli import completing, output
from ringfence.interfaces.cli.display import Display, away_in_words
from ringfence.interfaces.cli.options import Json
from ringfence.interfaces.cli.signals import ending_as_interrupts, words_and_code
from ringfence.interfaces.cli.study import StorageUrl, is_file
from ringfence.interfaces.cli.verdicts import (
    MinConfidence,
    Record,
    RequireCertificate,
    Wide,
    give_verdict,
    require_confidence,
    require_record,
    required_certificate,
    write_record,
)

if TYPE_CHECKING:
    from ringfence.interfaces.studies import Study
    from ringfence.interfaces.study_file import StudyFile
    from ringfence.study.verdict import Verdict

StudyPath = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A study file (.toml): it says how pulls are evaluated.",
        autocompletion=completing.files,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", "--concurrency", help="How many evaluations run side by side (1)."),
]


def run(
    study: StudyPath,
    *,
    workers: Workers = None,
    requests_per_minute: Annotated[
        float | None,
        typer.Option(
            "--requests-per-minute", help="How many evaluations may begin in a minute (any)."
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache", help="A file of answers: what is there is not asked again.", dir_okay=False
        ),
    ] = None,
    storage: StorageUrl = None,
    record: Record = None,
    open_page: Annotated[
        bool, typer.Option("--open", help="Show the page of the study while it runs.")
    ] = False,
    take_over: Annotated[
        bool,
        typer.Option("--take-over", help="End the leases of all other workers: they are gone."),
    ] = False,
    wide: Wide = False,
    min_confidence: MinConfidence = None,
    require_certificate: RequireCertificate = False,
    outage_minutes: Annotated[
        float | None,
        typer.Option(
            "--outage-minutes",
            help="How long to wait where evaluations fail whatever the arm (30; 0: not at all).",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Run a study, or resume it, until its budget is spent; then give the verdict."""
    from ringfence.interfaces.cli.serve import require_web
    from ringfence.simulation.instance_file import nearest_file

    if not is_file(study):
        raise InputError(
            f"study = {study!r} must be a study file to run: it says how pulls are evaluated. "
            f"Write one with: ringfence init.{nearest_file(Path(study))}"
        )
    require_confidence(min_confidence)
    if workers is not None and workers < 1:
        raise InputError(f"workers = {workers} must be at least 1. Raise it.")
    if record is not None:
        require_record(record)
    if open_page:
        require_web()
    said = {"workers": workers, "requests_per_minute": requests_per_minute, "cache": cache}
    with output.aside(when=json):  # what evaluations print is no part of the document
        known, verdict = _finished(
            study, storage, said=said, open_page=open_page, take_over=take_over,
            outage_minutes=outage_minutes, proven=require_certificate, json=json,
        )  # fmt: skip
    if record is not None:
        write_record(known, verdict, record, quiet=json)
    required = required_certificate(known, verdict) if require_certificate else None
    give_verdict(verdict, json=json, wide=wide, min_confidence=min_confidence, required=required)


def _finished(
    study: str, storage: str | None, *, said: "dict[str, Any]", open_page: bool, take_over: bool,
    outage_minutes: float | None, proven: bool, json: bool,
) -> "tuple[Study, Verdict]":  # fmt: skip
    """Return the study once its budget is spent, and its verdict; an interrupt ends the command."""
    from ringfence.execution.patience import patiently
    from ringfence.interfaces.answers import cache_at
    from ringfence.interfaces.cli.serve import page_beside
    from ringfence.interfaces.study_file import read_study_file
    from ringfence.study.certifying import require_provable

    file = read_study_file(Path(study))
    evaluation, backoff = file.evaluation(), file.backoff
    work = file.work | {key: value for key, value in said.items() if value is not None}
    if outage_minutes is not None:
        backoff = replace(backoff, outage_minutes=outage_minutes)
    away = away_in_words()
    known = patiently(partial(file.open, storage=storage), away=away)
    if proven:
        require_provable(known.desk.plan)
    if take_over:
        patiently(known.take_back, away=away)
    if file.content.seed is None and not json:
        patiently(partial(known.desk.begin, work["workers"]), away=away)
        seed = known.definition.seed
        same = f"seed = {seed}" + _as_decided(known, file)
        sys.stderr.write(f"seed {seed} was drawn: with {same} others can run the same.\n")
    place = ["--storage", storage] if storage else []
    resume = shlex.join(["ringfence", "run", study, *place])
    beside: AbstractContextManager[None] = nullcontext()
    if open_page:
        beside = page_beside(storage or file.storage, known.name, file.functions)
    answers = None
    if work["cache"] is not None:
        answers = work["cache"] = cache_at(work["cache"], known.desk.plan, evaluation)
    display = Display(known, quiet=json)
    try:
        with ending_as_interrupts(), beside:
            verdict = known.optimize(
                evaluation,
                **work,
                told=display.told,
                away=display.away,
                waits=display.waits,
                stops=display.stops,
                outage=display.outage,
                notes=display.notes,
                outage_minutes=backoff.outage_minutes,
                backoff_seconds=backoff.backoff_seconds,
            )
    except KeyboardInterrupt as interrupt:
        words, code = words_and_code(interrupt)
        if display.in_outage:  # the run did not end as it should, whoever ended it
            words, code = f"{words} while evaluations fail whatever the arm", 1
        display.close()
        output.last_words(f"{words}; its leases were given back. Resume with: {resume}")
        raise SystemExit(code) from None
    except OutageError as error:
        recommend = shlex.join(["ringfence", "recommend", study, *place])
        raise RingfenceError(
            f"{error} Go on with: {resume}. The verdict so far: {recommend}"
        ) from None
    finally:
        display.close()
    if answers is not None and not json:
        count = f"{answers.reused} answer{'' if answers.reused == 1 else 's'}"
        sys.stderr.write(f"{count} came from {answers.path}, and cost nothing.\n")
    if known.desk.head.is_stopped:
        go_on = shlex.join(["ringfence", "resume", study, *place])
        sys.stderr.write(f"study {known.name!r} is stopped and issues no pulls. Go on: {go_on}\n")
    return known, verdict or known.recommend()  # its budget may have been raised a moment ago


def _as_decided(study: "Study", file: "StudyFile") -> str:
    """Return what others must state to run the same, beside the seed, if the file does not."""
    if file.content.batch is not None or file.content.lag is not None:
        return ""
    lag = study.lag or 1
    return f" and lag = {lag}" if lag > 1 else f" and batch = {study.definition.batch}"
