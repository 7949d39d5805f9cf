"""What the answer would be with another threshold. Exploratory: it is chosen after the data.

All that was seen is judged anew, by the policy's own rule for its answer; nothing is written.
May touch policies and core.
"""

import math
from dataclasses import replace
from numbers import Real

from ringfence.core.errors import InputError
from ringfence.study.book import Book
from ringfence.study.plan import Plan
from ringfence.study.reading import View
from ringfence.study.verdict import Verdict, in_the_running, verdict_of


def what_if(plan: Plan, view: View, place: int, threshold: float) -> Verdict:
    """Return the verdict with another threshold for one constraint, counted from 0.

    Arms that were dropped come back: under another limit they might not have been. They are
    judged by the few pulls that they had.
    """
    moved = _moved(plan, place, threshold)
    if moved.problem == plan.problem:
        return verdict_of(plan, view)
    book = _judged_anew(moved, view)
    among = book.is_comparable.copy()
    for departure in view.departures:
        if departure.rejection.is_withdrawal:
            among[departure.rejection.arm] = False
    if not among.any():
        among = in_the_running(replace(view, book=book))
    return verdict_of(moved, replace(view, book=book), among=among)


def _moved(plan: Plan, place: int, threshold: float) -> Plan:
    """Return the plan with another threshold."""
    constraints = plan.problem.constraints
    if not 0 <= place < len(constraints):
        raise InputError(
            f"constraint = {place} is not there: the study has {len(constraints)}, counted from 0."
        )
    if constraints[place].factor:
        raise InputError(
            f"constraint = {place}: {constraints[place]} is relative to the baseline. Ask about a "
            "limit that is a number."
        )
    if not isinstance(threshold, Real) or not math.isfinite(threshold):
        raise InputError(f"threshold = {threshold!r} must be finite. Give a number.")
    changed = replace(constraints[place], threshold=float(threshold))
    others = (*constraints[:place], changed, *constraints[place + 1 :])
    return replace(plan, problem=replace(plan.problem, constraints=others))


def _judged_anew(moved: Plan, view: View) -> Book:
    """Return the book under another problem.

    A limit on a quantile is judged as one on a share of pulls, which changes with the threshold:
    then all pulls are read again.
    """
    judged = moved.problem.judged
    if judged.attributes == view.book.problem.attributes:
        return view.book.judged_by(judged)
    book = moved.new_book()
    for arm, sample in enumerate(view.samples):
        book.add(arm, sample)
        book.add_failures(arm, int(view.book.failures[arm]))
    return book
