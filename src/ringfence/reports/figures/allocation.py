"""Figure data of the allocation: how many pulls each arm was given, and when. Pure."""

from collections.abc import Sequence
from typing import Any

from ringfence.reports.figures.stretches import Stretch, stretches
from ringfence.reports.figures.timeline import MOST_BARS
from ringfence.reports.figures.words import shortened
from ringfence.study.facts import Round
from ringfence.study.plan import Plan
from ringfence.study.verdict import Verdict

MOST_PARTS = 8
QUARTERS = 4


def allocation_rows(plan: Plan, verdict: Verdict, rounds: Sequence[Round]) -> list[dict[str, Any]]:
    """Return the pulls that each arm was given in each part of the study, arms by their totals.

    The parts of a phase policy are its phases, where they are few; else quarters of the pulls. At
    most 40 arms: the named one and the most pulled. Pulls under way are counted, those that were
    brought along are not.
    """
    parts = _parts(plan, rounds)
    totals = [sum(part.pulls[arm] for _, part in parts) for arm in range(len(verdict.arms))]
    order = sorted(range(len(totals)), key=lambda arm: (-totals[arm], arm))
    drawn = order[:MOST_BARS]
    best = next((i for i, arm in enumerate(verdict.arms) if arm.name == verdict.arm), drawn[0])
    if best not in drawn:
        drawn[-1] = best
    rows = []
    for place, arm in enumerate(drawn):
        for at, (when, part) in enumerate(parts):
            if part.pulls[arm]:
                rows.append(
                    {
                        "name": verdict.arms[arm].name,
                        "place": place,
                        "is_answer": verdict.arms[arm].name in verdict.answer,
                        "when": when,
                        "part": at,
                        "pulls": part.pulls[arm],
                        "total": totals[arm],
                    }
                )
    return rows


def parts_of(plan: Plan, rounds: Sequence[Round]) -> list[str]:
    """Return the parts of the study in words, in their order."""
    return [when for when, _ in _parts(plan, rounds)]


def allocation_title(verdict: Verdict, rows: Sequence[dict[str, Any]], spent: int) -> str:
    """Return what the allocation shows, as a headline."""
    if not rows:
        return "No pulls yet"
    totals = {row["name"]: row["total"] for row in rows}
    if len(totals) > 1 and min(totals.values()) == max(totals.values()):
        return f"Every arm was given {rows[0]['total']:,} pulls"
    if verdict.problem.question.settles:
        return _given_to_set(verdict, totals, spent)
    answer = shortened(verdict.arm or "")
    if verdict.arm not in totals:
        return f"{answer}, the answer, was given no pull"
    share = 100 * totals[verdict.arm] / spent
    return f"{answer}, the answer, was given {share:.0f}% of the pulls"


def _given_to_set(verdict: Verdict, totals: dict[str, int], spent: int) -> str:
    most = max(totals, key=lambda name: totals[name])
    share = 100 * totals[most] / spent
    side = "looks feasible" if most in verdict.answer else "does not look feasible"
    return f"{shortened(most)}, which {side}, was given {share:.0f}% of the pulls"


def _parts(plan: Plan, rounds: Sequence[Round]) -> list[tuple[str, Stretch]]:
    """Return the stretches of pulls that are told apart, each with its name."""
    if plan.policy.has_phases:
        by_round = stretches(rounds)
        if len(by_round) <= MOST_PARTS:
            return [(f"phase {k}", part) for k, part in enumerate(by_round, start=1)]
    return [
        (f"pulls {part.start + 1:,} to {part.end:,}", part) for part in stretches(rounds, QUARTERS)
    ]
