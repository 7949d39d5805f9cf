"""Why arms left, in words: made of codes here, and nowhere else. Pure."""

import shlex
from collections.abc import Iterable

from ringfence.study.facts import Cause, Departure, Rejection
from ringfence.study.plan import Plan
from ringfence.study.reading import View
from ringfence.study.verdict import ArmVerdict

_MOST_NAMED = 8


def departure(left: Rejection) -> str:
    """Return why an arm left, such as "rejected by top-two"."""
    match left.cause:
        case Cause.REJECTED:
            return f"rejected by {left.policy}"
        case Cause.SETTLED:
            return f"settled by {left.policy}"
        case Cause.FAILING:
            return f"withdrawn: {left.failures} failed pulls in a row"
        case Cause.UNSEEN:
            return f"withdrawn: only {left.successes} of its pulls succeeded"
        case Cause.WITH_BASELINE:
            return f"withdrawn: it cannot be compared, since baseline {left.baseline} was"


def standing(arm: ArmVerdict) -> str:
    """Return that an arm is in the running, or why it left."""
    return "in the running" if arm.left is None else departure(arm.left)


def no_answer(plan: Plan, view: View) -> str:
    """Return why no arm can be named, and what to do about it."""
    name = plan.definition.name
    words = f"study {name!r} has no arm with enough observations to judge it by"
    gone = departed(plan, view, view.departures)
    if len(gone) > _MOST_NAMED:
        gone[_MOST_NAMED:] = [f"and {len(gone) - _MOST_NAMED} further arms"]
    words += f": {'; '.join(gone)}." if gone else "."
    if view.last is None or any(view.alive):
        return f"{words} Tell some pulls first."
    kept = " Study.bring takes what was told along." if view.told else ""
    remedy = "Fix the evaluations, then bring arms back while pulls are left"
    if not view.failures.any():
        remedy = (
            "No pull failed: the budget was spent too early. Raise it (in the study file, or "
            "Study.raise_budget), then bring every arm back"
        )
    return (
        f"{words} {remedy} (ringfence revive {shlex.quote(name)} ARM --storage URL, or "
        "Study.revive); or begin a study of another name, or delete this one (ringfence studies "
        f"--storage URL --delete {shlex.quote(name)}).{kept}"
    )


def departed(plan: Plan, view: View, departures: Iterable[Departure]) -> list[str]:
    """Return arms that left, a line each, with why; those that failed with their last error."""
    names = plan.definition.arm_names
    return [
        f"{names[one.arm]} {with_error(departure(one), view.errors.get(one.arm))}"
        for one in (gone.rejection for gone in departures)
    ]


def with_error(reason: str, error: str | None) -> str:
    """Return why an arm left, with what its last failed pull said."""
    return reason if error is None else f"{reason} (the last error: {error})"
