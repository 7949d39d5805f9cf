"""A verdict on a set of arms in words: which keep their limits, and how sure that is. Pure."""

from collections.abc import Sequence

from ringfence.reports.chances import percent
from ringfence.study.verdict import Flip, Outcome, Verdict

_MOST_NAMED = 8


def listed(names: Sequence[str]) -> str:
    """Return names as people list them: "a", "a and b", "a, b and 3 more"."""
    shown = [*names[:_MOST_NAMED]]
    if more := len(names) - len(shown):
        shown.append(f"{more} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def headline_of_set(verdict: Verdict) -> str:
    """Return which arms keep their limits, without how sure that is."""
    count, names = len(verdict.answer), listed(verdict.answer)
    if verdict.verdict == Outcome.TOO_CLOSE:
        return f"too close to call: {_look_feasible(verdict.answer)}"
    if not count:
        return "no arm keeps its limits"
    return (
        f"1 arm keeps its limits: {names}"
        if count == 1
        else (f"{count:,} arms keep their limits: {names}")
    )


def said_of_set(verdict: Verdict) -> str:
    """Return what a verdict says of a set, with the chances that it rests on."""
    said, one = headline_of_set(verdict), len(verdict.answer) == 1
    keeps, sure = percent(verdict.chance_keeps_limits), percent(verdict.confidence)
    if verdict.verdict == Outcome.FEASIBLE:
        does, alone = ("it does", "it is the only one") if one else ("they do", "no other does")
        return f"{said}; {keeps} sure that {does}, {sure} that {does} and {alone}."
    if verdict.verdict == Outcome.INFEASIBLE:
        return f"{said}: {percent(1.0 - verdict.chance_feasible)} sure."
    if verdict.doubts:
        return f"{said}, but what was not seen could change the answer."
    if verdict.answer:
        does = "it keeps its" if one else "they all keep their"
        return f"{said}; it is only {keeps} likely that {does} limits."
    return f"{said}, but it is {percent(verdict.chance_feasible)} likely that some arm is feasible."


def flipped_set(flip: Flip) -> str:
    """Return what a set would be with another threshold."""
    return _look_feasible(flip.arms, "would look")


def _look_feasible(names: Sequence[str], look: str = "") -> str:
    if not names:
        return f"no arm {look or 'looks'} feasible"
    if len(names) == 1:
        return f"{names[0]} alone {look or 'looks'} feasible"
    return f"{len(names):,} arms {look or 'look'} feasible: {listed(names)}"
