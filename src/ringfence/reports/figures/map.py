"""Figure data of the deceiver map: every arm by its worst margin and its objective. Pure.

Feasible arms lie left of zero. To the right, an arm that is better than the answer is a deceiver:
it would win if nobody looked at its limits.
"""

import math
from typing import Any

from ringfence.reports.accounts import used_in_words
from ringfence.reports.figures.words import answer_of, counted, kind_in_words, shortened
from ringfence.reports.verdict import headline, reason
from ringfence.study.verdict import ArmVerdict, Outcome, Verdict

MOST_ARMS = 300
_TURN = {"deceiver": 0, "feasible-suboptimal": 1, "infeasible-suboptimal": 2}


def map_rows(verdict: Verdict) -> list[dict[str, Any]]:
    """Return a row for every arm that could be judged, 300 at most, those that matter first.

    The answer, then the other kinds in turn, deceivers first, and of each kind those first that
    seem nearest to being the answer: so that every kind is there, however many arms there are.
    Values are in the user's units, margins in units of the noise, with 95% intervals.
    """
    answer = answer_of(verdict)
    judged = [arm for arm in verdict.arms if arm.margin is not None and arm.estimates]
    judged.sort(key=lambda arm: distance(verdict, arm, answer))
    turns = {} if answer is None else {id(answer): (-1, 0)}
    of_kind: dict[str, int] = {}
    for arm in judged:
        kind = arm.kind or ""
        turns.setdefault(id(arm), (of_kind.get(kind, 0), _TURN.get(kind, 0)))
        of_kind[kind] = of_kind.get(kind, 0) + 1
    judged.sort(key=lambda arm: turns[id(arm)])
    return [_row(verdict, arm) for arm in judged[:MOST_ARMS]]


def distance(verdict: Verdict, arm: ArmVerdict, answer: ArmVerdict | None) -> float:
    """Return how far an arm seems from being the answer, in half-widths of 95% intervals.

    An infeasible arm must come inside its limits, one that is also worse must do both; when no arm
    is feasible, it must come nearer than the answer. Where a set is asked for, that is how far it
    is from the other side of its limits.
    """
    margins = _margins(arm)
    if answer is None or verdict.problem.question.settles:
        return _ratio(abs(margins[1]), _half(margins))
    if not verdict.feasible:
        others = _margins(answer)
        return _ratio(abs(margins[1] - others[1]), math.hypot(_half(margins), _half(others)))
    own, best = _objective(verdict, arm), _objective(verdict, answer)
    behind = _ratio(abs(own[1] - best[1]), math.hypot(_half(own), _half(best)))
    outside = _ratio(max(margins[1], 0.0), _half(margins))
    if arm.kind == "deceiver":
        return outside
    return behind if margins[1] <= 0.0 else max(behind, outside)


def map_title(verdict: Verdict) -> str:
    """Return what the map shows, as a headline."""
    said = headline(verdict, shortened(verdict.arm or ""))
    return said if verdict.verdict == Outcome.FEASIBLE else f"{said[0].upper()}{said[1:]}"


def map_subtitle(verdict: Verdict, rows: list[dict[str, Any]]) -> list[str]:
    """Return what else a reader of the map should know, a line each."""
    deceivers = sum(arm.kind == "deceiver" for arm in verdict.arms)
    first = []
    if deceivers:
        first.append(
            "1 deceiver looks better, but past a limit"
            if deceivers == 1
            else f"{deceivers:,} deceivers look better, but past a limit"
        )
    first.append(used_in_words(verdict, ","))
    first.append("bars: 95% intervals")
    unjudged = sum(arm.kind is None for arm in verdict.arms)
    left_out = len(verdict.arms) - unjudged - len(rows)
    second = []
    if left_out:
        second.append(f"{counted(left_out, 'arm')} further from the answer not drawn")
    if unjudged:
        second.append(f"{counted(unjudged, 'arm')} could not be judged")
    far = sum(bool(row.get("beyond")) for row in rows)
    if far:
        second.append(f"{counted(far, 'arm')} beyond the border, named with how far")
    lines = ["; ".join(first)]
    return [*lines, "; ".join(second)] if second else lines


def _row(verdict: Verdict, arm: ArmVerdict) -> dict[str, Any]:
    low, value, high = _objective(verdict, arm)
    margin_low, margin, margin_high = _margins(arm)
    return {
        "name": arm.name,
        "kind": kind_in_words(verdict, arm),
        "is_feasible": margin <= 0.0,
        "is_answer": arm.name in verdict.answer,
        "margin": margin,
        "margin_low": margin_low,
        "margin_high": margin_high,
        "value": value,
        "low": low,
        "high": high,
        "pulls": arm.pulls,
        "status": arm.status,
        "phase": arm.phase,
        "why": reason(arm, verdict, alone=True),
    }


def _objective(verdict: Verdict, arm: ArmVerdict) -> tuple[float, float, float]:
    """Return the objective between the ends of its interval."""
    one = arm.estimates[verdict.objective]
    return one.low, one.value, one.high


def _margins(arm: ArmVerdict) -> tuple[float, float, float]:
    at = arm.margin or 0.0
    low = at if arm.margin_low is None else arm.margin_low
    high = at if arm.margin_high is None else arm.margin_high
    return low, at, high


def _half(interval: tuple[float, float, float]) -> float:
    return (interval[2] - interval[0]) / 2.0


def _ratio(over: float, under: float) -> float:
    if over == 0.0:
        return 0.0
    return over / under if under > 0.0 else math.inf
