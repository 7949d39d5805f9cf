"""Figure data of hours: how arms did by the objective as time went by. Pure."""

from typing import Any

import numpy as np

from ringfence.reports.ordering import shown_arms
from ringfence.study.outcomes import Outcomes
from ringfence.study.verdict import Verdict

MOST_LINES = 8
_HOUR = 3600.0
_ENOUGH = 20  # pulls of all arms without which a stretch of time is not spoken of


def hour_rows(verdict: Verdict, outcomes: Outcomes) -> list[dict[str, Any]]:
    """Return the mean of the objective of every arm and stretch of time, in a reader's order.

    At most eight arms. `hours` are from the creation of the study to the beginning of the stretch.
    Rows of one `piece` follow each other without a gap.
    """
    every = float((verdict.blocks or {}).get("every", _HOUR))
    arms = shown_arms(verdict, MOST_LINES)
    places = [outcomes.arms.index(arm.name) for arm in arms]
    return [
        {
            "name": arm.name,
            "series": series,
            "hours": int(outcomes.blocks[at]) * every / _HOUR,
            "value": outcomes.written(place, at),
            "pulls": int(outcomes.pulls[place, at]),
            "piece": int(outcomes.blocks[at]) - order,
        }
        for series, (arm, place) in enumerate(zip(arms, places, strict=True))
        for order, at in enumerate(np.flatnonzero(outcomes.pulls[place]).tolist())
    ]


def hours_title(verdict: Verdict, outcomes: Outcomes) -> str:
    """Return by how much all arms together moved, as a headline."""
    if not len(outcomes.blocks):
        return "No pull was told yet"
    pulls, enough = outcomes.pulls, outcomes.pulls.sum(axis=0) >= _ENOUGH
    totals = np.where(pulls > 0, outcomes.objective, 0.0) * pulls
    means = outcomes.sign * totals.sum(axis=0)[enough] / pulls.sum(axis=0)[enough] + 0.0
    if len(means) < 2:
        return f"{verdict.objective} as time went by"
    return (
        f"{verdict.objective} of all arms moved between {means.min():.3g} and {means.max():.3g} "
        "as time went by"
    )
