"""What becomes of a failure: told as data, a reason to withdraw its arm, or nobody's fault.

May touch policies and core, and a ledger.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ringfence.core.errors import InputError, nearest
from ringfence.study.facts import Definition, PullFact, State
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger

_LONGEST_SHOWN = 60


def stand_in(plan: Plan, *, timed_out: bool) -> tuple[float, ...] | None:
    """Return what is told in place of a failure, in the order of the metrics; None for nothing."""
    definition = plan.definition
    stated = definition.on_failure
    if timed_out and definition.on_timeout:
        stated = definition.on_timeout
    if not stated:
        return None
    whole = dict.fromkeys(plan.untold, 1.0) | dict(stated)
    return tuple(float(whole[metric]) for metric in plan.metrics)


def require_stand_in(plan: Plan, key: str, stated: Any) -> dict[str, float]:
    """Return what a user wants to be told in place of a failure, or refuse it.

    Every metric must be named, but for the built-in `failed`: decisions rest on whole observations.
    """
    if not isinstance(stated, Mapping):
        example = ", ".join(f"{metric} = 0" for metric in plan.told_metrics)
        raise InputError(
            f"{key} = {repr(stated)[:_LONGEST_SHOWN]} must be a table of metrics to numbers. "
            f"Write {key} = {{ {example} }}."
        )
    for metric in stated:
        if metric not in plan.metrics:
            raise InputError(
                f"{key} names {repr(metric)[:_LONGEST_SHOWN]}, which is no metric of the study. "
                f"It has {', '.join(plan.metrics)}.{nearest(metric, plan.metrics)}"
            )
    for metric in plan.told_metrics if stated else ():
        if metric not in stated:
            raise InputError(
                f"{key} lacks {metric!r}: what is told in place of a failure must name every "
                f"metric of the study, {', '.join(plan.told_metrics)}. Add it."
            )
    found = {metric: _number(key, metric, value) for metric, value in stated.items()}
    error = plan.noise.outside(tuple(found), tuple(found.values()))
    if error is not None:
        raise InputError(f"{key}: {error}")
    return found


def _number(key: str, metric: str, value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        if is_number and math.isfinite(value):
            return float(value)
    except OverflowError:
        pass
    shown = repr(value)[:_LONGEST_SHOWN]
    raise InputError(f"{key}: {metric} = {shown} must be a finite number. Write one.")


def is_broken(ledger: Ledger, definition: Definition, failed: PullFact, since: int) -> bool:
    """Tell whether a pull that failed completes a run of too many in a row, by ordinal.

    Lost pulls neither lengthen nor end a run. Failures before ordinal `since` were pardoned.
    """
    most = definition.max_failures
    run = _says_failed(definition, failed) if failed.ordinal >= since else 0
    for step in (-1, 1):
        for pull in _beside(ledger, failed, step, most):
            if run >= most or pull.ordinal < since or pull.state not in _SPOKEN:
                break
            if pull.state == State.FAILED:
                run += _says_failed(definition, pull)
    return run >= most


_SPOKEN = (State.FAILED, State.CANCELLED)


def _says_failed(definition: Definition, pull: PullFact) -> int:
    """Return 1 for a failure of the arm, 0 for a pull that was lost."""
    return int(pull.charged or definition.counts_lost)


def _beside(ledger: Ledger, pull: PullFact, step: int, some: int) -> Iterator[PullFact]:
    """Yield the pulls of an arm before or after one, the nearest first, a few at a time."""
    at = pull.ordinal
    while True:
        ends = sorted((at + step, at + step * some))
        found = ledger.pulls_of_arm(pull.arm, *ends)
        yield from sorted(found, key=lambda one: step * one.ordinal)
        if len(found) < some:
            return
        at += step * some
