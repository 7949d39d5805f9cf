"""A verdict in words and as a document: what people read and programs rely on. Pure."""

import math
import sys
from collections.abc import Sequence
from typing import Any

from ringfence.core.units import PLAIN, Unit
from ringfence.reports.accounts import account_document, exceeded_in_words
from ringfence.reports.certificate import (
    certificate_document,
    certificate_lines,
    certificate_sentence,
)
from ringfence.reports.chances import percent
from ringfence.reports.departures import standing, with_error
from ringfence.reports.ordering import ordered_arms
from ringfence.reports.sets import flipped_set, headline_of_set, said_of_set
from ringfence.reports.sharing import caveat, claim, is_fixed
from ringfence.study.certificates import Certificate
from ringfence.study.changing import Change
from ringfence.study.unseen import Doubt
from ringfence.study.verdict import (
    SURE,
    ArmVerdict,
    Estimate,
    Flip,
    Outcome,
    Status,
    Verdict,
)

_LIKELY = 0.5
_MOST_NAMED, _MOST_LINES = 8, 4
_CONSTANT = (
    "Before the first pull a constant can be stated as exact under [noise], and how far values may "
    "lie as bounds. Else more pulls may show them."
)
_FAILURES = "What a failed pull counts as can be stated: on_failure and on_timeout under [pull]."
EXPLORATORY = "Other thresholds are exploratory: they are to be fixed before the data."


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict under the keys that other programs rely on."""
    return {
        "study": verdict.study,
        "arm": verdict.arm,
        "answer": list(verdict.answer),
        "feasible": verdict.feasible,
        "verdict": verdict.verdict,
        "confidence": verdict.confidence,
        "chance_feasible": verdict.chance_feasible,
        "chance_keeps_limits": verdict.chance_keeps_limits,
        "pulls_used": verdict.pulls_used,
        "budget": verdict.budget,
        **account_document(verdict.account),
        "finished": verdict.finished,
        "arms": [_arm_document(arm, verdict) for arm in verdict.arms],
        "flips": [_flip_document(flip) for flip in verdict.flips],
        "exact": list(verdict.exact),
        "brought": verdict.brought,
        "apparent": verdict.apparent,
        "doubts": [vars(doubt) for doubt in verdict.doubts],
        "changes": [vars(change) for change in verdict.changes],
        "certificate": None
        if verdict.certificate is None
        else certificate_document(verdict.certificate),
    }


def _flip_document(flip: Flip) -> dict[str, Any]:
    """Return a flip; the next number beside zero is as good as zero, and `side` says which side."""
    at = 0.0 if abs(flip.threshold) < sys.float_info.min else flip.threshold
    return {**vars(flip), "threshold": at, "side": flip.side, "arms": list(flip.arms)}


def _arm_document(arm: ArmVerdict, verdict: Verdict) -> dict[str, Any]:
    plain = {key: value for key, value in vars(arm).items() if key != "left"}
    return {
        **plain,
        "estimates": {name: vars(one) for name, one in arm.estimates.items()},
        "differences": {name: vars(one) for name, one in arm.differences.items()},
        "blocked_by": list(arm.blocked_by),
        "cause": None if arm.left is None else arm.left.cause,
        "reason": reason(arm, verdict),
    }


def sentence(verdict: Verdict, *, within: bool = False) -> str:
    """Return the verdict as a sentence, with the chances that it rests on.

    One that stands `within` another begins with a small letter.
    """
    said, of = _said(verdict), claim(verdict.blocks)
    said = f"{of}, {said}" if of else said
    if within:
        return said
    if not verdict.finished:
        return f"So far: {said}"
    by_name = verdict.verdict == Outcome.FEASIBLE and not of
    return said if by_name else f"{said[0].upper()}{said[1:]}"


def _said(verdict: Verdict) -> str:
    if is_certain(verdict):
        return f"{headline(verdict)}: that is certain."
    if verdict.problem.question.settles:
        return said_of_set(verdict)
    arm, sure = verdict.arm, percent(verdict.confidence)
    if verdict.verdict == Outcome.FEASIBLE:
        if not verdict.problem.constraints:
            return f"{headline(verdict)}: {sure} sure that it is."
        keeps = percent(verdict.chance_keeps_limits)
        both = f"{sure} sure that it keeps its limits and is the best that does"
        apart = f"{keeps} sure that it keeps its limits, {sure} that it is the best that does"
        return f"{headline(verdict)}: {both if keeps == sure else apart}."
    if verdict.verdict == Outcome.INFEASIBLE:
        none = percent(1.0 - verdict.chance_feasible)
        both = f"{sure} sure of both"
        apart = f"{none} sure that none is, {sure} that {arm} is the nearest"
        return f"{headline(verdict)}: {both if none == sure else apart}."
    best = "is the likeliest answer" if _is_likelier(verdict) else "is what the policy names"
    best = "looks best" if verdict.apparent == arm else best
    nearest = f"no arm looks feasible and {arm} comes nearest"
    if verdict.doubts:
        looks = f"{arm} {best}" if verdict.feasible else nearest
        return f"too close to call: {looks}, but what was not seen could change the answer."
    if verdict.feasible:
        keeps = percent(verdict.chance_keeps_limits)
        return f"too close to call: {arm} {best}, but is only {keeps} likely to keep its limits."
    return (
        f"too close to call: {nearest}, but it is "
        f"{percent(verdict.chance_feasible)} likely that some arm is feasible."
    )


def is_certain(verdict: Verdict) -> bool:
    """Tell whether nothing is left to chance: every arm has seen all items, which do not vary."""
    blocks = verdict.blocks
    if blocks is None or not is_fixed(blocks) or verdict.confidence < 1.0:
        return False
    return all(arm.pulls >= blocks["items"] for arm in verdict.arms if arm.kind is not None)


def headline(verdict: Verdict, name: str | None = None) -> str:
    """Return what the verdict says, without how sure it is; `name` is how the arm is called."""
    if verdict.problem.question.settles:
        return headline_of_set(verdict)
    name = verdict.arm if name is None else name
    sure, likely = verdict.confidence >= SURE, verdict.confidence >= _LIKELY
    if verdict.verdict == Outcome.TOO_CLOSE:
        looks = "looks best" if verdict.feasible else "comes nearest"
        return f"too close to call: {name} {looks}"
    if verdict.feasible:
        if not verdict.problem.constraints:
            chance = "" if sure else "probably " if likely else "perhaps "
            return f"{name} is {chance}the best arm"
        if sure:
            return f"{name} is the best feasible arm"
        return f"{name} is feasible, and {'probably' if likely else 'perhaps'} the best such arm"
    nearest = "comes nearest" if sure else "probably comes nearest" if likely else "may be nearest"
    return f"no arm is feasible; {name} {nearest}"


def remarks(verdict: Verdict) -> list[str]:
    """Return what else a reader should know, a line each."""
    of_set = verdict.problem.question.settles
    flips = [flip_sentence(flip, flip_unit(verdict, flip), of_set=of_set) for flip in verdict.flips]
    return [*findings(verdict), *flips, *[EXPLORATORY] * bool(flips), *cautions(verdict)]


def cautions(verdict: Verdict) -> list[str]:
    """Return what the probabilities leave out; nothing where there are none."""
    return [] if is_certain(verdict) else [caveat(verdict.blocks)]


def findings(verdict: Verdict) -> list[str]:
    """Return what was found beside the answer, a line each."""
    lines = [
        *_certified(verdict.certificate),
        *_doubted(verdict.doubts),
        *changed_in_words(verdict.changes),
    ]
    lines += _about_set(verdict) if verdict.problem.question.settles else _about_arm(verdict)
    withdrawn = [arm for arm in verdict.arms if arm.status == Status.WITHDRAWN]
    lines += _some(
        [f"{arm.name} was {with_error(standing(arm), arm.error)}." for arm in withdrawn],
        "arms were withdrawn too",
    )
    open_ = {doubt.attribute for doubt in verdict.doubts}
    exact = [name for name in verdict.exact if name not in open_]
    lines += [f"{name} never varied: it is taken to be exact." for name in exact]
    lines += exceeded_in_words(verdict.account)
    left_over = 0 if verdict.account.arms else verdict.budget - verdict.pulls_used
    if verdict.finished and left_over and withdrawn:
        lines.append(f"{left_over} pulls were not made: those of withdrawn arms go to no other.")
    if verdict.brought:
        lines.append(f"{verdict.brought} observations were brought along and not charged.")
    return lines


def _certified(certificate: Certificate | None) -> list[str]:
    """Return what is proven, and what is open."""
    if certificate is None:
        return []
    return [certificate_sentence(certificate), *certificate_lines(certificate, _MOST_LINES)]


def _about_set(verdict: Verdict) -> list[str]:
    """Return what was found about the arms of a set."""
    silent = [_silent(named(verdict, name), verdict.doubts) for name in verdict.answer]
    said = [lines[0] for lines in silent if lines]
    return [*_some(said, "arms of the answer have failed pulls"), *[_FAILURES] * bool(said)]


def _about_arm(verdict: Verdict) -> list[str]:
    """Return what was found about the one arm that is the answer, and those that rival it."""
    chosen, lines = named(verdict, verdict.arm), []
    if verdict.feasible and chosen.blocked_by:
        lines.append(f"{chosen.name} looks {outside(chosen, verdict)}.")
    elif chosen.blocked_by:
        lines += [
            f"{limit} blocks it: {_limited_in_words(chosen, verdict, limit)}."
            for limit in chosen.blocked_by
        ]
    lines += _silent(chosen, verdict.doubts)
    lines += appearance(verdict)
    if not verdict.feasible:
        lines.append("How near arms come, their margin, is in units of the noise.")
    deceivers = [arm for arm in ordered_arms(verdict) if arm.kind == "deceiver"]
    lines += _some([_deceives(arm, chosen, verdict) for arm in deceivers], "arms do so too")
    if tied := [arm.name for arm in verdict.arms if is_tied(arm, verdict)]:
        more = len(tied) - _MOST_NAMED
        names = ", ".join(tied[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        lines.append(f"As good as {verdict.arm}, by what was seen: {names}.")
    return lines


def _some(lines: list[str], rest: str) -> list[str]:
    """Return the first lines, and how many more there are."""
    more = len(lines) - _MOST_LINES
    return [*lines[:_MOST_LINES], *[f"{more} more {rest}."] * (more > 0)]


def _deceives(arm: ArmVerdict, chosen: ArmVerdict, verdict: Verdict) -> str:
    is_level = _objective(arm, verdict) == _objective(chosen, verdict)
    better = "is as good by" if is_level else "looks better by"
    return f"{arm.name} {better} {verdict.objective}, but {outside(arm, verdict)}."


def changed_in_words(changes: Sequence[Change]) -> list[str]:
    """Return which metrics changed over time, and what compares arms fairly then."""
    if not changes:
        return []
    names, were = " and ".join(change.metric for change in changes), "was"
    if len(changes) > 1:
        were = "were"
    line = (
        f"Outcomes changed over time: {names} {were} not the same in all stretches of pulls, "
        "whatever the arm. Arms that were pulled at other times are not compared fairly, and "
        'chances are too sure. In a study with every = "1h" under [blocks] arms are compared '
        "within the hour."
    )
    return [line]


def _doubted(doubts: Sequence[Doubt]) -> list[str]:
    """Return why a verdict is too close to call although draws may be sure, and what helps."""
    unseen = [
        f"{one.attribute} of {one.arm} never varied in {one.pulls} pulls: values that were not "
        "seen could change the answer."
        for one in doubts
        if one.kind == "unseen"
    ]
    failed = [
        f"{one.arm} has {one.failed} failed pulls beside {one.pulls} told: were each as bad as can "
        "be, the answer would be another."
        for one in doubts
        if one.kind == "failures"
    ]
    lines = _some(unseen, "are in doubt for the same reason")
    if unseen:
        lines.append(_CONSTANT)
    lines += _some(failed, "arms are in doubt for the same reason")
    return [*lines, *[_FAILURES] * bool(failed)]


def _silent(arm: ArmVerdict, doubts: Sequence[Doubt]) -> list[str]:
    """Return that pulls of an arm say nothing since they failed, where no doubt has said so."""
    if not arm.untold or any(one.kind == "failures" for one in doubts):
        return []
    pulls = f"{arm.untold} of {arm.pulls + arm.untold} pulls of {arm.name}"
    return [f"{pulls} failed and told nothing: what is said of it rests on the others.", _FAILURES]


def flip_unit(verdict: Verdict, flip: Flip) -> Unit:
    """Return the unit of the threshold that a flip moves."""
    limit = verdict.limit(flip.constraint)
    return limit.shown_in if limit.shown_in.name else verdict.problem.unit(str(limit.attribute))


def flip_sentence(flip: Flip, unit: Unit = PLAIN, *, of_set: bool = False) -> str:
    """Return where another threshold would change what looks best, or the set."""
    answer = flipped_set(flip) if of_set else f"{flip.answer} would look best"
    if flip.answer is None:
        answer = "no arm would look feasible"
    if flip.beyond is None:
        threshold = unit.show(flip.threshold, 6)
        return f"With {threshold} for the threshold in {flip.constraint}, {answer}."
    beyond = unit.show(flip.beyond, 6)
    return f"With a threshold {flip.side} {beyond} in {flip.constraint}, {answer}."


def named(verdict: Verdict, name: str | None) -> ArmVerdict:
    """Return what a verdict says of one arm."""
    return next(arm for arm in verdict.arms if arm.name == name)


def appearance(verdict: Verdict) -> list[str]:
    """Return a line on what estimates alone would answer, where that is another answer."""
    apparent = named(verdict, verdict.apparent)
    looks = "not feasible" if apparent.blocked_by else "feasible"
    if apparent.name != verdict.arm and not is_tied(apparent, verdict):
        return [f"By estimates alone {apparent.name} looks best, and {looks}, {_rather(verdict)}."]
    likely = verdict.chance_keeps_limits >= _LIKELY
    if verdict.feasible != (looks == "feasible") and verdict.feasible == likely:
        return [f"By estimates alone {verdict.arm} looks {looks}, but the opposite is likelier."]
    return []


def _rather(verdict: Verdict) -> str:
    """Return why the arm that looks best is not the answer."""
    if _is_likelier(verdict):
        return f"but {verdict.arm} is likelier to be right"
    return f"but the policy names {verdict.arm}"


def _is_likelier(verdict: Verdict) -> bool:
    """Tell whether the answer is likelier than what looks best: policies reckon otherwise."""
    answer, apparent = (named(verdict, name) for name in (verdict.arm, verdict.apparent))
    return (answer.chance_best or 0.0) >= (apparent.chance_best or 0.0)


def is_tied(arm: ArmVerdict, verdict: Verdict) -> bool:
    """Tell whether an arm that is not the answer looks exactly as good."""
    if arm.name in verdict.answer or arm.kind is None or verdict.problem.question.settles:
        return False
    chosen = named(verdict, verdict.arm)
    if not verdict.feasible:
        return arm.margin == chosen.margin
    return not arm.blocked_by and _objective(arm, verdict) == _objective(chosen, verdict)


def _objective(arm: ArmVerdict, verdict: Verdict) -> float:
    return arm.estimates[verdict.objective].value


def reason(arm: ArmVerdict, verdict: Verdict, *, alone: bool = False, brief: bool = False) -> str:
    """Return why an arm was dropped or kept; unless it is looked at `alone`, why it is no answer.

    An adaptive policy drops no arm: that one is in the running says nothing of how it fared. A
    `brief` one leaves out the numbers of limits, where these stand beside it.
    """
    past = []
    if arm.blocked_by:
        past.append(f"looks {outside(arm, verdict, values=not brief, chance=not brief)}")
    if verdict.problem.question.settles and arm.kind is not None:
        past = past or ["looks feasible"]
        if arm.status == Status.RUNNING and not alone:
            return past[0]
    elif not alone and arm.status == Status.RUNNING and arm.kind is not None:
        if arm.name in verdict.answer:
            return "; ".join(["the answer", *past])
        if is_tied(arm, verdict):
            return "; ".join([f"as good as {verdict.arm}", *past])
        if arm.name == verdict.apparent:
            return "; ".join([f"looks best, {_rather(verdict)}", *past])
        return past[0] if past else f"{verdict.apparent} looks better"
    words = with_error(standing(arm), arm.error)
    if arm.rival is not None:
        words += f" in phase {arm.phase}, against {arm.rival}"
    elif arm.status == Status.SETTLED:
        words += f" in phase {arm.phase}"
    if arm.gap is not None and (arm.rival is not None or arm.status == Status.SETTLED):
        words += f" by a gap of {arm.gap:.3g}"
    return "; ".join([words, *past])


def outside(arm: ArmVerdict, verdict: Verdict, *, values: bool = True, chance: bool = True) -> str:
    """Return the limits that an arm looks over or under, at which values, and how likely that is.

    These are estimates: an arm that looks over a limit may well keep it.
    """
    sides = []
    for limit in arm.blocked_by:
        side = "over" if verdict.limit(limit).relation == "<=" else "under"
        name = str(verdict.limit(limit).attribute)
        own = verdict.problem.unit(name).show(arm.estimates[name].value)
        value = f" ({own})" if values else ""
        sides.append(f"{side} {limit}{value}")
    words = " and ".join(sides)
    if arm.chance_feasible is None or not chance:
        return words
    return f"{words}: {percent(1.0 - arm.chance_feasible)} likely infeasible"


def _limited_in_words(arm: ArmVerdict, verdict: Verdict, limit: str) -> str:
    """Return an arm's estimate of what a limit is about."""
    name = str(verdict.limit(limit).attribute)
    return shown(arm.estimates[name], verdict.problem.unit(name))


def shown(estimate: Estimate, unit: Unit = PLAIN) -> str:
    """Return an estimate with its interval."""
    return f"{unit.show(estimate.value)} ({interval(estimate.low, estimate.high, unit)})"


def interval(low: float, high: float, unit: Unit = PLAIN, *, digits: int = 4) -> str:
    """Return an interval in words; an end that the data cannot give is open."""
    if math.isinf(low) and math.isinf(high):
        return "open"
    if math.isinf(high):
        return f"at least {unit.show(low, digits)}"
    if math.isinf(low):
        return f"at most {unit.show(high, digits)}"
    return f"{unit.number(low, digits)} to {unit.show(high, digits)}"


def explanation(verdict: Verdict, arm: str | None = None) -> dict[str, Any]:
    """Return why each arm was dropped or kept, as a document."""
    chosen = [one for one in verdict.arms if arm is None or one.name == arm]
    return {
        "study": verdict.study,
        "arms": [
            {
                "name": one.name,
                "reason": reason(one, verdict),
                "phase": one.phase,
                "rival": one.rival,
                "gap": one.gap,
                "differences": {name: vars(by) for name, by in one.differences.items()},
            }
            for one in chosen
        ],
    }
