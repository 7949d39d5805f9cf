"""How a verdict is told: to people as a table that fits, to programs as JSON, by an exit code.

May touch every room.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ringfence.core.errors import InputError
from ringfence.interfaces.cli import output

if TYPE_CHECKING:
    from ringfence.study.certificates import Certificate
    from ringfence.study.verdict import ArmVerdict, Verdict

_UNSURE = 4
EXIT_CODES = {"feasible": 0, "infeasible": 3, "too-close-to-call": _UNSURE}
PROOF_CODES = {"certified": 0, "equivalent": 0, "none-feasible": 3, "open": _UNSURE}

MinConfidence = Annotated[
    float | None,
    typer.Option(
        "--min-confidence",
        metavar="P",
        help="Exit with 4 where the confidence is below this, such as 0.9.",
    ),
]
RequireCertificate = Annotated[
    bool,
    typer.Option(
        "--require-certificate",
        help="Exit with 4 where nothing is proven, at the study's stop.confidence, or 0.95.",
    ),
]
Record = Annotated[
    Path | None, typer.Option("--record", help="Write the decision record to this HTML file.")
]
Wide = Annotated[
    bool, typer.Option("--wide", help="Show every arm, every column and all intervals.")
]


def require_confidence(least: float | None) -> None:
    """Refuse a confidence that is no chance, before the work that leads to it."""
    if least is None or 0.0 <= least <= 1.0:
        return
    meant = f" Write {least / 100:g} for {least:g}%." if 1.0 < least <= 100.0 else ""
    raise InputError(
        f"min-confidence = {least:g} must be between 0 and 1.{meant or ' Write 0.9 for 90%.'}"
    )


def verdict_so_far(known: Any, *, json: bool) -> "Verdict":
    """Return the verdict; what functions of one's own print is no part of a document."""
    with output.aside(when=json):
        verdict: Verdict = known.recommend()
    return verdict


def required_certificate(known: Any, verdict: "Verdict") -> "Certificate":
    """Return what is proven of a study, be it that it ends by that or not."""
    found: Certificate = verdict.certificate or known.certificate()
    return found


def give_verdict(
    verdict: "Verdict",
    *,
    json: bool,
    wide: bool = False,
    min_confidence: float | None = None,
    required: "Certificate | None" = None,
) -> None:
    """Show the verdict, and end with its exit code, or that of a `required` certificate."""
    from ringfence.reports.certificate import certificate_document, certificate_sentence
    from ringfence.reports.verdict import verdict_document

    code = EXIT_CODES[verdict.verdict] if required is None else PROOF_CODES[required.status]
    unsure = min_confidence is not None and verdict.confidence < min_confidence
    if json:
        asked: dict[str, Any] = {}
        if min_confidence is not None:
            asked["min_confidence"] = min_confidence
        if required is not None:
            asked["certificate"] = certificate_document(required)
        output.print_json({**verdict_document(verdict), **asked})
    else:
        show_verdict(verdict, wide=wide)
        if required is not None and verdict.certificate is None:
            output.say(f"- {certificate_sentence(required)}")
        if required is not None and code == _UNSURE:
            output.say("- A certificate was asked for, and there is none: exit code 4.")
        if unsure:
            output.say(
                f"- {100 * verdict.confidence:.1f}% sure is less than the "
                f"{100 * (min_confidence or 0.0):g}% asked for: exit code 4."
            )
    raise SystemExit(_UNSURE if unsure else code)


def show_verdict(verdict: "Verdict", *, wide: bool = False) -> None:
    """Show a verdict to people: the sentence, the arms, and what else there is to know."""
    from ringfence.reports.accounts import used_in_words
    from ringfence.reports.arms_table import arms_of, layouts
    from ringfence.reports.verdict import remarks, sentence

    output.say(sentence(verdict))
    arms = arms_of(verdict, every=wide)
    shown = output.show_fitting(
        used_in_words(verdict),
        layouts(verdict, verdict.problem.constraints, arms),
        whole=wide,
    )
    hidden = [f"{count} more arms"] if (count := len(verdict.arms) - len(arms)) else []
    if shown.left_out:
        hidden.append(", ".join(shown.left_out))
    if hidden:
        output.say(f"Not shown: {' and '.join(hidden)}. With --wide the table has everything.")
    _show_differences(verdict, arms, wide=wide)
    for line in remarks(verdict):
        output.say(f"- {line}")


def _show_differences(verdict: "Verdict", arms: Sequence["ArmVerdict"], *, wide: bool) -> None:
    """Show how far arms are from the answer."""
    from ringfence.reports.differences import compared_arms, difference_layouts, difference_title

    compared = compared_arms(verdict, arms)
    if compared:
        layouts = difference_layouts(verdict, compared)
        output.show_fitting(difference_title(verdict), layouts, whole=wide, stands_out=False)


def require_record(path: Path) -> None:
    """Refuse a record that could not be written, before the work that leads to it."""
    from ringfence.reports.files import require_path

    require_path(path, [".html"], key="record")


def write_record(known: Any, verdict: "Verdict", path: Path, *, quiet: bool) -> None:
    """Write the decision record."""
    from ringfence.reports.files import write_file

    write_file(path, known.record(verdict=verdict).encode(), key="record")
    if not quiet:
        output.say(f"decision record: {path}")
