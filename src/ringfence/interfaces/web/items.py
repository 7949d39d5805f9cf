"""Items that arms share: the page that compares two arms on them, and results as plain JSON.

Only what is shown is read of the items themselves. May touch every room.
"""

from typing import Any

import numpy as np

from ringfence.core.errors import nearest
from ringfence.interfaces.shared_views import contents_at, outcomes_in, places_listed
from ringfence.interfaces.web.problems import NotHereError
from ringfence.interfaces.web.shelf import Look
from ringfence.reports.items import contest_in_words, rivals, told_of
from ringfence.study.desk import Desk
from ringfence.study.outcomes import Outcomes, contest_of
from ringfence.study.verdict import Verdict

MOST_LISTED = 50


def items_content(look: Look, arm: str | None, rival: str | None) -> dict[str, Any]:
    """Return what the page of items shows, by default of the answer and its nearest rival."""
    desk, verdict = look.study.desk, look.verdict
    require_items(desk)
    content = {"name": look.study.name, "definition": look.study.definition, "contest": None}
    if verdict is None:
        return content
    pair = _pair(verdict, look.outcomes, arm, rival)
    if pair is None:
        return content
    outcomes, contest = look.outcomes, contest_of(look.outcomes, *pair)
    contents = contents_at(desk, outcomes, places_listed(contest, MOST_LISTED))
    won, lost = told_of(contest, outcomes, contents, MOST_LISTED)
    return content | {
        "contest": contest,
        "said": contest_in_words(contest, outcomes),
        "pair": [outcomes.arms[place] for place in pair],
        "objective": verdict.objective,
        "sides": [
            {"side": "better", "told": won, "more": len(contest.won) - len(won)},
            {"side": "worse", "told": lost, "more": len(contest.lost) - len(lost)},
        ],
    }


def _pair(
    verdict: Verdict, outcomes: Outcomes, arm: str | None, rival: str | None
) -> tuple[int, int] | None:
    """Return the arms that were chosen; who was not chosen is the usual one, or the other."""
    usual = rivals(verdict, outcomes)
    if usual is None:
        return None
    first = usual[0] if arm is None else _place(outcomes, arm)
    second = usual[1] if rival is None else _place(outcomes, rival)
    if first == second:
        second = usual[0] if first == usual[1] else usual[1]
    return first, second


def _place(outcomes: Outcomes, arm: str) -> int:
    if arm not in outcomes.arms:
        raise NotHereError(
            f"arm {arm!r} is not in the study. Choose another.{nearest(arm, outcomes.arms)}"
        )
    return outcomes.arms.index(arm)


def require_items(desk: Desk) -> None:
    """Refuse a study whose arms share no items."""
    if not desk.plan.sharing.has_items:
        raise NotHereError(f"the arms of study {desk.name!r} share no items. Look at its pulls.")


def item_results(desk: Desk, first: int, limit: int) -> dict[str, Any]:
    """Return what every arm was told, of so many items from a number on."""
    require_items(desk)
    outcomes = outcomes_in(desk)
    places = np.flatnonzero(outcomes.blocks >= first)
    shown, rest = places[:limit].tolist(), places[limit:]
    contents = contents_at(desk, outcomes, shown)
    results = [
        {
            "arm": name,
            "item": int(outcomes.blocks[place]),
            "values": dict(
                zip(outcomes.metrics, outcomes.values[arm, place].tolist(), strict=True)
            ),
            "pulls": int(outcomes.pulls[arm, place]),
        }
        for place in shown
        for arm, name in enumerate(outcomes.arms)
        if outcomes.pulls[arm, place]
    ]
    return {
        "items": [{"item": number, "content": content} for number, content in contents.items()],
        "results": results,
        "next": int(outcomes.blocks[rest[0]]) if len(rest) else None,
    }
