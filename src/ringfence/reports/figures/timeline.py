"""Figure data of the timeline: who left when, or where the pulls went as time passed. Pure.

A phase policy drops arms: a bar an arm, from the first pull to the one after which it left. An
adaptive policy drops none (only arms that cannot be evaluated are withdrawn), but pulls the
hopeless ones less and less: a strip an arm, of its share of each stretch of pulls.
"""

import math
from collections.abc import Sequence
from typing import Any

from ringfence.reports.figures.stretches import first_pull_after, stretches
from ringfence.reports.figures.words import counted, shortened
from ringfence.study.facts import Round
from ringfence.study.plan import Plan
from ringfence.study.verdict import ArmVerdict, Status, Verdict

MOST_BARS = 40
MOST_STRETCHES = 32
_LEVELS = 5
_STEPS = [unit / 10**power for power in range(9, 0, -1) for unit in (1, 2, 5)]
_SLACK = 1e-9  # of a step: shares are rounded
ANSWER, RUNNING, REJECTED = "the answer", "in the running", "rejected"
SETTLED, WITHDRAWN = "settled", "withdrawn"
_FATES = {
    Status.RUNNING: RUNNING,
    Status.REJECTED: REJECTED,
    Status.SETTLED: SETTLED,
    Status.WITHDRAWN: WITHDRAWN,
}


def timeline_rows(plan: Plan, verdict: Verdict, rounds: Sequence[Round]) -> list[dict[str, Any]]:
    """Return bars from pull `start` to pull `end`, arms in the order of `place`, 40 at most.

    `fate` says how an arm's bar ends, `note` says it in full. Strips have a row for every stretch
    in which the arm was pulled, with its `share` of the stretch; bars have the share 1.
    """
    if not rounds:
        return []
    if not plan.policy.has_phases:
        return _strips(verdict, rounds)
    end = rounds[-1].first - 1 + (0 if rounds[-1].is_last else rounds[-1].size)
    rows = []
    for place, arm in enumerate(by_departure(verdict)[:MOST_BARS]):
        left = end if arm.phase is None else first_pull_after(rounds, arm.phase)
        rows.append(_row(verdict, arm, place, 0, left, arm.pulls, 1.0))
    return rows


def _strips(verdict: Verdict, rounds: Sequence[Round]) -> list[dict[str, Any]]:
    cut = stretches(rounds, MOST_STRETCHES)
    arms = {arm.name: index for index, arm in enumerate(verdict.arms)}
    rows = []
    for place, arm in enumerate(by_pulls(verdict)[:MOST_BARS]):
        for one in cut:
            pulls = one.pulls[arms[arm.name]]
            if pulls:
                share = pulls / (one.end - one.start)
                rows.append(_row(verdict, arm, place, one.start, one.end, pulls, share))
    return rows


def share_levels(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Give each strip the `level` of its share, in words, and return all levels, least first.

    They are steps up to the largest share, of which no two read alike, however small it is.
    """
    most = max((row["share"] for row in rows), default=0.0)
    if most <= 0.0:
        return []
    step = next(step for step in _STEPS if most <= _LEVELS * step)
    words = [f"up to {100.0 * step * k:g}%" for k in range(1, math.ceil(most / step - _SLACK) + 1)]
    for row in rows:
        row["level"] = words[min(math.ceil(row["share"] / step - _SLACK), len(words)) - 1]
    return words


def by_departure(verdict: Verdict) -> list[ArmVerdict]:
    """Return the answer, the other arms in the running, then those that left, the latest first."""
    return sorted(
        verdict.arms,
        key=lambda arm: (arm.name != verdict.arm, arm.phase is not None, -(arm.phase or 0)),
    )


def by_pulls(verdict: Verdict) -> list[ArmVerdict]:
    """Return the answer, then the other arms, the most pulled first."""
    return sorted(verdict.arms, key=lambda arm: (arm.name != verdict.arm, -arm.pulls))


def fate_of(verdict: Verdict, arm: ArmVerdict) -> str:
    """Return what became of an arm, in a word or two."""
    if arm.name in verdict.answer and arm.status == Status.RUNNING:
        return ANSWER
    return _FATES[arm.status]


def timeline_title(plan: Plan, verdict: Verdict, rows: Sequence[dict[str, Any]]) -> str:
    """Return what the timeline shows, as a headline."""
    if not plan.policy.has_phases:
        end = max((row["end"] for row in rows), default=0)
        late = [row for row in rows if row["start"] >= 0.75 * end]
        pulls: dict[str, int] = {}
        for row in late:
            pulls[row["name"]] = pulls.get(row["name"], 0) + row["pulls"]
        if not pulls:
            return "No pulls yet"
        most = max(pulls, key=lambda one: pulls[one])
        spent = end - min(row["start"] for row in late)
        return f"{shortened(most)} took {100 * pulls[most] / spent:.0f}% of the latest pulls"
    gone = sum(arm.phase is not None for arm in verdict.arms)
    if not rows:
        return "No pulls yet"
    if verdict.problem.question.settles:
        return f"{counted(gone, 'arm')} settled; {counted(len(verdict.arms) - gone, 'arm')} left"
    name = shortened(verdict.arm or "")
    if not gone:
        return f"No arm has left; {name} looks best"
    if gone == len(verdict.arms) - 1:
        return f"{name} outlasted {counted(gone, 'other arm')}"
    return f"{counted(gone, 'arm')} left; {name} leads the rest"


def _row(
    verdict: Verdict, arm: ArmVerdict, place: int, start: int, end: int, pulls: int, share: float
) -> dict[str, Any]:
    fate = fate_of(verdict, arm)
    return {
        "name": arm.name,
        "place": place,
        "start": start,
        "end": end,
        "pulls": pulls,
        "share": share,
        "fate": fate,
        "note": _note(verdict, arm, fate),
    }


def _note(verdict: Verdict, arm: ArmVerdict, fate: str) -> str:
    if fate == WITHDRAWN:
        return f"{WITHDRAWN} in round {arm.phase}"
    if fate == SETTLED:
        side = "inside its limits" if arm.name in verdict.answer else "past a limit"
        return f"phase {arm.phase}, {side}"
    if fate == REJECTED:
        other = arm.rival is not None and arm.rival != verdict.arm
        return f"phase {arm.phase}" + f", behind {shortened(arm.rival or '', 24)}" * other
    return fate
