"""What can be seen of items and hours that arms share: results on each, pictures, who won which.

Nothing here changes a study. May touch every room.
"""

from collections.abc import Mapping
from typing import Any

from ringfence.core.errors import InputError
from ringfence.reports.figures.items import matrix_of
from ringfence.reports.items import rivals
from ringfence.reports.shared_record import MOST_LISTED
from ringfence.study.desk import Desk
from ringfence.study.outcomes import (
    Contest,
    Outcomes,
    contents_of,
    contest_of,
    outcomes_seen,
)
from ringfence.study.plan import Plan
from ringfence.study.verdict import Verdict

SHARED_KINDS = ("items", "hours")


def kind_shared(plan: Plan) -> str | None:
    """Return the chart of what arms share, if they share items or hours."""
    if plan.sharing.has_items:
        return "items"
    return "hours" if plan.sharing.has_hours else None


def require_shared(plan: Plan, kind: str) -> None:
    """Refuse a chart of what arms do not share."""
    if kind_shared(plan) != kind:
        raise InputError(
            f"kind = {kind!r} must be of a study whose arms share {kind}, and those of "
            f"{plan.definition.name!r} do not. Draw another kind."
        )


def outcomes_in(desk: Desk) -> Outcomes:
    """Return what every arm did on every item, or in every hour, as it is now."""
    with desk.storage.reading(desk.name) as ledger:
        return outcomes_seen(desk.plan, ledger)


def contents_drawn(desk: Desk, verdict: Verdict, outcomes: Outcomes) -> Mapping[int, Any]:
    """Return the items that a picture shows and a record lists, by their numbers."""
    if not desk.plan.sharing.has_items:
        return {}
    pair = rivals(verdict, outcomes)
    listed = [] if pair is None else places_listed(contest_of(outcomes, *pair), MOST_LISTED)
    return contents_at(desk, outcomes, [*matrix_of(verdict, outcomes).items.tolist(), *listed])


def places_listed(contest: Contest, most: int) -> list[int]:
    """Return the places of items that a list of both sides has, so many of each at most."""
    return [*contest.won[:most], *contest.lost[:most]]


def contents_at(desk: Desk, outcomes: Outcomes, places: list[int]) -> Mapping[int, Any]:
    """Return items by their numbers, of some places among those that were seen."""
    with desk.storage.reading(desk.name) as ledger:
        return contents_of(desk.plan, ledger, outcomes.blocks[places].tolist())


def shared_chart_of(
    desk: Desk,
    verdict: Verdict,
    kind: str,
    outcomes: Outcomes | None = None,
    *,
    theme: str = "light",
    fluid: bool = False,
) -> Any:
    """Return the chart of items or of hours; `outcomes` that are at hand are not read again."""
    from ringfence.reports.charts.study import shared_chart

    require_shared(desk.plan, kind)
    outcomes = outcomes or outcomes_in(desk)
    contents = contents_drawn(desk, verdict, outcomes) if fluid else {}
    return shared_chart(kind, verdict, outcomes, contents, theme=theme, fluid=fluid)
