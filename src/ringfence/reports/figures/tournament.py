"""Figure data of a tournament: every instance, and the geometric means. Pure."""

from typing import Any

from ringfence.reports.tournament import Tournament


def tournament_rows(result: Tournament) -> list[dict[str, Any]]:
    """Return the figure data of a tournament: a mark for every instance, and the means."""
    first = result.duels[0].base.policy
    instances = [
        {
            "policy": duel.cell.policy,
            "size": f"{duel.cell.arms} arms",
            "ratio": duel.ratio,
            "kind": "instance",
            "instance": duel.cell.instance,
        }
        for duel in result.duels
        if duel.cell.policy != first
    ]
    means = [
        {
            "policy": standing.policy,
            "size": f"{standing.arms} arms",
            "ratio": standing.geometric_mean,
            "low": standing.low,
            "high": standing.high,
            "kind": "mean",
        }
        for standing in result.standings
        if standing.policy != first
    ]
    return instances + means
