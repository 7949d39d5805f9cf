"""A certificate in words, and as the document that programs read. Pure."""

from collections.abc import Mapping
from typing import Any

from ringfence.core.certificate import Kind, Passage, Status
from ringfence.core.grounds import Basis
from ringfence.core.proving import Hindrance
from ringfence.study.certificates import Assumed, Certificate, Explored, ProofStep
from ringfence.study.gating import Gate
from ringfence.study.paths import Gap

_MOST_LINES = 12
_ASSUMED = {
    Assumed.STEADY: "what an arm yields does not depend on when it is pulled",
    Assumed.SAMPLE: "its items are drawn at random from those that it speaks of",
    Assumed.BOUNDS: "{} lies within its stated bounds",
    Assumed.YES_OR_NO: "{} is 0 or 1, as all that was told of it",
    Assumed.CONSTANT: "{} is a constant of each arm, as stated",
    Assumed.NORMAL: "{} varies as a normal law does",
    Assumed.MANY: "{} was told often enough: no bounds of it are stated",
    Assumed.ONE_ANSWER: "it is about these items, one answer each",
}
_EXPLORED = {
    Explored.BROUGHT: "observations were brought along, which may have shaped what was asked",
    Explored.LEVEL: "a looser proof than was fixed before the first pull was chosen after looking",
}
_HINDERED = {
    Hindrance.STATISTIC: "only means, shares and limits on quantiles can be proven",
    Hindrance.FAILURES: "pulls failed, and nothing bounds what they would have told",
    Hindrance.CHANGES: "it changed while the study ran, so that no arm has a mean to be proven",
    Hindrance.VARIES: "what was stated to be a constant varied",
}
_HELD = {
    Gap.IN_FLIGHT: "is in flight",
    Gap.LOST: "was lost",
    Gap.CANCELLED: "was cancelled",
}


def stop_in_words(stop: Mapping[str, Any]) -> str:
    """Return what ends a study by proof."""
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in stop.items() if value)


def certificate_document(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate under the keys that other programs rely on."""
    return {
        "study": certificate.study,
        "status": certificate.status,
        "confidence": certificate.confidence,
        "within": certificate.within or None,
        "arm": certificate.arm,
        "answer": list(certificate.answer),
        "rests_on": dict(certificate.rests_on),
        "assumes": [said_of(*one) for one in certificate.assumes],
        "exploratory": [_EXPLORED[one] for one in certificate.exploratory],
        "open": [question_document(one) for one in certificate.open],
        "settled": [question_document(one) for one in certificate.settled],
        "pulls_used": certificate.pulls_used,
        "blocks": certificate.blocks,
    }


def gate_document(gate: Gate) -> dict[str, Any]:
    """Return a gate under the keys that other programs rely on."""
    return {
        "study": gate.study,
        "candidate": gate.candidate,
        "status": gate.status,
        "confidence": gate.confidence,
        "rests_on": dict(gate.rests_on),
        "assumes": [said_of(*one) for one in gate.assumes],
        "exploratory": [_EXPLORED[one] for one in gate.exploratory],
        "open": [question_document(one) for one in gate.open],
        "settled": [question_document(one) for one in gate.settled],
        "pulls_used": gate.pulls_used,
    }


def gate_sentence(gate: Gate) -> str:
    """Return whether an arm passes, in a sentence."""
    sure = _percent(gate.confidence)
    if gate.status == Passage.KEEPS:
        return f"Passed at {sure}: {gate.candidate} keeps all its limits."
    if gate.status == Passage.BREAKS:
        limits = " and ".join(str(one.limit) for one in gate.settled)
        return f"Failed at {sure}: {gate.candidate} breaks {limits}."
    return f"Open at {sure}: it is not proven on which side of its limits {gate.candidate} is."


def question_document(question: ProofStep) -> dict[str, Any]:
    """Return one question of a certificate as a document."""
    return {
        "question": asked(question),
        "kind": question.kind,
        "arm": question.arm,
        "limit": question.limit,
        "rival": question.rival,
        "e": question.e,
        "level": question.level,
        "crossed": question.settled,
        "certain": question.certain,
        "seen": question.blocks,
        "needs": question.needs,
        "why": None if question.hindrance is None else _HINDERED[question.hindrance],
        "held": {arm: f"pull {one.pull} {_HELD[one.gap]}" for arm, one in question.held.items()},
    }


def said_of(assumed: Assumed, metric: str | None) -> str:
    """Return what a certificate assumes, in words."""
    return _ASSUMED[assumed].format(metric)


def certificate_sentence(certificate: Certificate) -> str:
    """Return what is proven, in a sentence."""
    sure = _percent(certificate.confidence)
    named = ", ".join(certificate.answer)
    if certificate.status == Status.NONE_FEASIBLE:
        return f"Certified at {sure}: no arm keeps its limits."
    if certificate.status == Status.EQUIVALENT:
        keeps = f"{named} keeps its limits, and no arm that does is better"
        if not _has_limits(certificate):
            keeps = f"no arm is better than {named}"
        return f"Certified at {sure}: {keeps} by more than {certificate.within:g}."
    if certificate.status == Status.CERTIFIED and certificate.arm is None:
        return f"Certified at {sure}: of all arms {named} keep their limits, and no other does."
    if certificate.status == Status.CERTIFIED:
        best = "the best feasible arm" if _has_limits(certificate) else "the best arm"
        return f"Certified at {sure}: {named} is {best}."
    count = len(certificate.open)
    return f"Open at {sure}: {count} question{'s' * (count != 1)} left."


def _has_limits(certificate: Certificate) -> bool:
    """Tell whether arms had limits to keep: then that the named arm keeps them was proven too."""
    return any(one.kind != Kind.NO_BETTER for one in certificate.settled)


def _percent(confidence: float) -> str:
    return f"{100.0 * confidence:.6g}%"


def certificate_lines(certificate: Certificate | Gate, most: int = _MOST_LINES) -> list[str]:
    """Return what else there is to know of a certificate, a line each."""
    hardest = sorted(certificate.open, key=lambda one: (one.needs is None, one.needs), reverse=True)
    lines = [_open(one) for one in hardest[:most]]
    if (more := len(hardest) - most) > 0:
        lines.append(f"{more} more question{'s are' if more > 1 else ' is'} open.")
    if certificate.status.value == Status.NONE_FEASIBLE.value:
        lines.append("Which arm comes nearest is not proven.")
    bases = {one for one in certificate.rests_on.values() if one not in (None, Basis.EXACT)}
    for basis in sorted(bases):
        metrics = [name for name, one in certificate.rests_on.items() if one == basis]
        lines.append(f"The proof is {basis}, not exact, for {', '.join(metrics)}.")
    if certificate.assumes:
        lines.append(f"It rests on this: {'; '.join(said_of(*x) for x in certificate.assumes)}.")
    lines += [f"Exploratory: {_EXPLORED[one]}." for one in certificate.exploratory]
    return lines


def asked(question: ProofStep) -> str:
    """Return the question that a test answers, as the claim that it would prove."""
    if question.kind == Kind.KEEPS:
        return f"{question.arm} keeps {question.limit}"
    if question.kind == Kind.BREAKS:
        return f"{question.arm} breaks {question.limit}"
    return f"{question.arm} is no better than {question.rival}"


def _open(question: ProofStep) -> str:
    """Return an open question with what it lacks."""
    if question.hindrance is not None:
        return f"{asked(question)}: {_HINDERED[question.hindrance]}."
    value = "it is certain" if question.e is None else f"e = {question.e:.3g}"
    needs = "nobody can tell how many pulls it takes"
    if question.needs is not None:
        needs = f"about {question.needs:,} more pulls" if question.needs else "no more pulls"
    held = "".join(
        f"; pull {one.pull} of {arm} {_HELD[one.gap]} and holds it up"
        for arm, one in question.held.items()
    )
    return f"{asked(question)}: {value} of {1.0 / question.level:.3g}; {needs}{held}."
