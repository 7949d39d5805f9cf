"""A verdict in words and as a document: what people read and programs rely on. Pure."""

from typing import Any

from ringfence.study.facts import WITHDRAWN
from ringfence.study.verdict import RUNNING, ArmVerdict, Estimate, Flip, Verdict, with_error

_NEARLY_SURE = 0.999
_MOST_NAMED = 8
EXPLORATORY = "Other thresholds are exploratory: they are to be fixed before the data."
CAVEAT = (
    "Probabilities are approximate: pulls were chosen by what was seen, and are taken to be "
    "independent."
)


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict under the keys that other programs rely on."""
    return {
        "study": verdict.study,
        "arm": verdict.arm,
        "feasible": verdict.feasible,
        "verdict": verdict.verdict,
        "confidence": verdict.confidence,
        "chance_feasible": verdict.chance_feasible,
        "chance_keeps_limits": verdict.chance_keeps_limits,
        "pulls_used": verdict.pulls_used,
        "budget": verdict.budget,
        "finished": verdict.finished,
        "arms": [_arm_document(arm) for arm in verdict.arms],
        "flips": [vars(flip) for flip in verdict.flips],
        "exact": list(verdict.exact),
        "brought": verdict.brought,
        "apparent": verdict.apparent,
        "doubts": [vars(doubt) for doubt in verdict.doubts],
    }


def _arm_document(arm: ArmVerdict) -> dict[str, Any]:
    return {
        **vars(arm),
        "estimates": {name: vars(one) for name, one in arm.estimates.items()},
        "blocked_by": list(arm.blocked_by),
    }


def sentence(verdict: Verdict) -> str:
    """Return the verdict as one sentence."""
    so_far = "" if verdict.finished else "So far: "
    sure = percent(verdict.confidence)
    if verdict.verdict == "feasible":
        best = "is the best feasible arm"
        if named(verdict, verdict.arm).blocked_by:
            best = "is likeliest to be the best feasible arm, though it seems to break a limit"
        return f"{so_far}{verdict.arm} {best} ({sure} sure of both)."
    if verdict.verdict == "infeasible":
        return f"{so_far}no arm is feasible; {verdict.arm} comes nearest ({sure} sure of both)."
    looks = "is feasible" if verdict.feasible else "is not feasible, nor any other"
    best = "looks best" if verdict.apparent == verdict.arm else "is the likeliest answer"
    return (
        f"{so_far}too close to call: {verdict.arm} {best}, and it looks as if it {looks}, but "
        f"{100 * verdict.chance_feasible:.0f}% of what the truth may be has a feasible arm."
    )


def percent(chance: float) -> str:
    """Return a chance in percent, and not more exactly than draws can tell."""
    return f"more than {100 * _NEARLY_SURE:g}%" if chance > _NEARLY_SURE else f"{100 * chance:.1f}%"


def remarks(verdict: Verdict) -> list[str]:
    """Return what else a reader should know, a line each."""
    flips = [flip_sentence(flip) for flip in verdict.flips]
    return [*findings(verdict), *flips, *[EXPLORATORY] * bool(flips), CAVEAT]


def findings(verdict: Verdict) -> list[str]:
    """Return what was found beside the answer, a line each."""
    chosen = named(verdict, verdict.arm)
    blocks = "seems broken" if verdict.feasible else "blocks it"
    lines = [f"{limit} {blocks}: {shown(limited(chosen, limit))}." for limit in chosen.blocked_by]
    lines += appearance(verdict)
    if not verdict.feasible:
        lines.append("How near arms come, their margin, is in units of the noise.")
    deceivers = [arm for arm in verdict.arms if arm.kind == "deceiver"]
    lines += [
        f"{arm.name} has {'as good an' if _objective(arm) == _objective(chosen) else 'the better'} "
        f"objective, but breaks {broken(arm)}."
        for arm in deceivers[:_MOST_NAMED]
    ]
    if len(deceivers) > _MOST_NAMED:
        lines.append(f"So do {len(deceivers) - _MOST_NAMED} further arms.")
    if tied := [arm.name for arm in verdict.arms if is_tied(arm, verdict)]:
        more = len(tied) - _MOST_NAMED
        names = ", ".join(tied[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        lines.append(f"As good as {verdict.arm}, by what was seen: {names}.")
    lines += [f"{name} never varied: it is taken to be exact." for name in verdict.exact]
    left_over = verdict.budget - verdict.pulls_used
    if verdict.finished and left_over and any(WITHDRAWN in arm.status for arm in verdict.arms):
        lines.append(f"{left_over} pulls were not made: those of withdrawn arms go to no other.")
    if verdict.brought:
        lines.append(f"{verdict.brought} observations were brought along and not charged.")
    return lines


def flip_sentence(flip: Flip) -> str:
    """Return where another threshold would change what looks best."""
    answer = f"{flip.answer} would look best"
    if flip.answer is None:
        answer = "no arm would look feasible"
    if flip.beyond is None:
        return f"With {flip.threshold:.6g} for the threshold in {flip.constraint}, {answer}."
    return f"With a threshold {flip.side} {flip.beyond:.6g} in {flip.constraint}, {answer}."


def named(verdict: Verdict, name: str) -> ArmVerdict:
    """Return what a verdict says of one arm."""
    return next(arm for arm in verdict.arms if arm.name == name)


def appearance(verdict: Verdict) -> list[str]:
    """Return a line on what estimates alone would answer, where that is another answer."""
    apparent = named(verdict, verdict.apparent)
    looks = "not feasible" if apparent.blocked_by else "feasible"
    if apparent.name != verdict.arm and not is_tied(apparent, verdict):
        best = f"By estimates alone {apparent.name} looks best, and {looks}"
        return [f"{best}, but {verdict.arm} is likelier to be right."]
    if verdict.feasible != (looks == "feasible"):
        return [f"By estimates alone {verdict.arm} looks {looks}, but the opposite is likelier."]
    return []


def is_tied(arm: ArmVerdict, verdict: Verdict) -> bool:
    """Tell whether an arm that is not the answer looks exactly as good."""
    chosen = named(verdict, verdict.arm)
    if arm is chosen or arm.kind is None:
        return False
    if not verdict.feasible:
        return arm.margin == chosen.margin
    return not arm.blocked_by and _objective(arm) == _objective(chosen)


def _objective(arm: ArmVerdict) -> float:
    """Return the objective's estimate; attributes begin with it."""
    return next(iter(arm.estimates.values())).value


def reason(arm: ArmVerdict, verdict: Verdict | None = None) -> str:
    """Return why an arm was dropped or kept; beside a `verdict`, why it is not the answer.

    An adaptive policy drops no arm: that one is in the running says nothing of how it fared.
    """
    if verdict is not None and arm.status == RUNNING and arm.kind is not None:
        breaks = [f"it breaks {broken(arm)}"] * bool(arm.blocked_by)
        if arm.name == verdict.arm:
            return "; ".join(["the answer", *breaks])
        if is_tied(arm, verdict):
            return "; ".join([f"as good as {verdict.arm}", *breaks])
        if arm.name == verdict.apparent:
            return "; ".join([f"looks best, but {verdict.arm} is likelier to be right", *breaks])
        return breaks[0] if breaks else f"{verdict.apparent} looks better"
    words = with_error(arm.status, arm.error)
    if arm.rival is not None:
        words += f" in phase {arm.phase}, against {arm.rival}"
        words += "" if arm.gap is None else f" by a gap of {arm.gap:.3g}"
    if arm.blocked_by:
        words += f"; it breaks {broken(arm)}"
    return words


def broken(arm: ArmVerdict) -> str:
    """Return the limits that an arm seems to break, with its values."""
    return " and ".join(f"{limit} ({limited(arm, limit).value:.4g})" for limit in arm.blocked_by)


def limited(arm: ArmVerdict, limit: str) -> Estimate:
    """Return an arm's estimate of what a limit is about."""
    names = [name for name in arm.estimates if limit.startswith(f"{name} ")]
    return arm.estimates[max(names, key=len)]


def shown(estimate: Estimate) -> str:
    """Return an estimate with its interval."""
    return f"{estimate.value:.4g} ({estimate.low:.4g} to {estimate.high:.4g})"


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
            }
            for one in chosen
        ],
    }
