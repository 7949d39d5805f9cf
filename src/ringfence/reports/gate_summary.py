"""A gate as Markdown, for the summary of a job or a comment on a pull request. Pure."""

from ringfence.reports.certificate import asked, certificate_lines, gate_sentence
from ringfence.study.certificates import ProofStep
from ringfence.study.gating import Gate


def gate_markdown(gate: Gate) -> str:
    """Return whether an arm passes, a table of what is proven of its limits, and what it lacks."""
    rows = [_row(one, is_proven=True) for one in gate.settled]
    rows += [_row(one, is_proven=False) for one in gate.open]
    table = ["| claim | proven | evidence | pulls |", "| --- | --- | --- | --- |", *rows]
    lines = [f"- {_plain(line)}" for line in certificate_lines(gate)]
    head = [f"### {_plain(gate_sentence(gate))}", ""]
    foot = ["", f"Study {_plain(gate.study)}, {gate.pulls_used:,} pulls.", "", *lines]
    return "\n".join([*head, *(table if rows else []), *foot]).rstrip() + "\n"


def _row(step: ProofStep, *, is_proven: bool) -> str:
    needed = f"{1.0 / step.level:.3g}"
    evidence = "certain" if step.e is None else f"{step.e:.3g} of {needed}"
    return (
        f"| {_plain(asked(step))} | {'yes' if is_proven else 'no'} | {evidence} | {step.blocks} |"
    )


def _plain(text: str) -> str:
    """Return a text in which nothing is Markdown: names of arms are anybody's."""
    shown = "".join(f"\\{one}" if one in "\\`*_[]<>|#~" else one for one in text)
    return " ".join(shown.split())
