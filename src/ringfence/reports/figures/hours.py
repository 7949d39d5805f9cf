"""Figure data of hours: how arms did by the objective as time went by. Pure."""

from typing import Any

import numpy as np

from ringfence.reports.ordering import shown_arms
from ringfence.study.outcomes import Outcomes
from ringfence.study.verdict import Verdict

MOST_LINES = 8
_HOUR = 3600.0


def hour_rows(verdict: Verdict, outcomes: Outcomes) -> list[dict[str, Any]]:
    """Return the mean of the objective of every arm and stretch of time, in a reader's order.

    At most eight arms. `hours` are from the creation of the study to the beginning of the stretch.
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
        }
        for series, (arm, place) in enumerate(zip(arms, places, strict=True))
        for at in np.flatnonzero(outcomes.pulls[place]).tolist()
    ]


def hours_title(verdict: Verdict, outcomes: Outcomes) -> str:
    """Return by how much all arms together moved, as a headline."""
    if not len(outcomes.blocks):
        return "No pull was told yet"
    pulls = np.where(outcomes.pulls > 0, outcomes.pulls, 0)
    totals = np.where(pulls > 0, outcomes.objective, 0.0) * pulls
    means = outcomes.sign * totals.sum(axis=0) / pulls.sum(axis=0)
    if len(means) == 1:
        return f"By {verdict.objective}, all pulls fell into one stretch of time"
    return (
        f"{verdict.objective} of all arms moved between {means.min():.3g} and {means.max():.3g} "
        "as time went by"
    )
