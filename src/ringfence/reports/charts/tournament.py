"""A tournament as a picture: errors beside the first policy's, at equal budget."""

from collections.abc import Sequence
from typing import Any

from ringfence.core.errors import InputError
from ringfence.reports.charts.saving import altair
from ringfence.reports.charts.themes import Theme, themed
from ringfence.reports.figures.tournament import tournament_rows
from ringfence.reports.tournament import Tournament


def require_rivals(policies: Sequence[str]) -> None:
    """Refuse a figure of ratios to the first policy where there is no other."""
    if len(policies) < 2:
        raise InputError(
            f"policies = {list(policies)!r} must name another beside the first for a figure: it "
            "draws ratios to the first one's errors. Add one, or leave the figure out."
        )


def tournament_figure(result: Tournament, *, theme: str | Theme = "light") -> Any:
    """Return ratios of errors to the first policy's: every instance, and the geometric means.

    >>> import ringfence as rf
    >>> result = rf.tournament(
    ...     arm_counts=3, count=4, policies=["constrained-sr", "uniform"], least_errors=50
    ... )
    >>> rf.save_chart(rf.tournament_figure(result), "tournament.svg").name
    'tournament.svg'
    """
    require_rivals(result.ranking)
    alt = altair()
    first = result.duels[0].base.policy
    sizes = list(dict.fromkeys(standing.arms for standing in result.standings))
    data = tournament_rows(result)
    order = [name for name in result.ranking if name != first]
    ends = [1.0, *(row[key] for row in data for key in ("ratio", "low", "high") if key in row)]
    scale = alt.Scale(type="log", domain=[min(ends), max(ends)])
    x = alt.X("ratio:Q", scale=scale, title=f"error / {first}'s error")
    y = alt.Y("policy:N", sort=order, title=None)
    panels = []
    for size in sizes:
        rows = [row for row in data if row["size"] == f"{size} arms"]
        marks = [row for row in rows if row["kind"] == "instance"]
        centres = [row for row in rows if row["kind"] == "mean"]
        even = alt.Chart(alt.Data(values=[{"ratio": 1.0}])).mark_rule().encode(x=x)
        dots = (
            alt.Chart(alt.Data(values=marks))
            .mark_tick(style="first", opacity=0.35, thickness=1.5, size=14)
            .encode(x=x, y=y)
        )
        spans = (
            alt.Chart(alt.Data(values=centres))
            .mark_rule(style="second", strokeWidth=3)
            .encode(x=alt.X("low:Q", scale=scale), x2="high:Q", y=y)
        )
        points = (
            alt.Chart(alt.Data(values=centres))
            .mark_point(style="second", filled=True, size=70)
            .encode(x=x, y=y)
        )
        title = alt.TitleParams(f"{size} arms", fontSize=12, offset=6)
        panels.append((even + dots + spans + points).properties(title=title, width=300))
    title = f"Errors at equal budget, family {result.family}, {result.scales} noise"
    chart = alt.concat(*panels, columns=2 if len(panels) == 4 else 3, spacing=20).properties(
        title=alt.TitleParams(
            title,
            subtitle=f"each mark an instance, at the budget where {first} errs "
            f"{100 * result.target_error:g}%; points: geometric means with 95% intervals",
        ),
        description=f"{title}: every policy's error as a ratio to that of {first}.",
    )
    return themed(chart, theme)
