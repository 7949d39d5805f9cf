"""The charts of a study, by name: one door for Python, commands, the record and the page."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ringfence.core.errors import one_of
from ringfence.reports.charts.allocation import allocation_chart
from ringfence.reports.charts.differences import differences_chart
from ringfence.reports.charts.evidence import evidence_chart
from ringfence.reports.charts.hours import hours_chart
from ringfence.reports.charts.items import items_chart
from ringfence.reports.charts.map import map_chart
from ringfence.reports.charts.themes import Theme, find_theme, themed
from ringfence.reports.charts.timeline import timeline_chart
from ringfence.study.facts import Round
from ringfence.study.outcomes import Outcomes
from ringfence.study.plan import Plan
from ringfence.study.verdict import Verdict

StudyChart = Callable[..., Any]
"""(plan, verdict, rounds, *, fluid) -> a chart without colours."""

STUDY_CHARTS: dict[str, StudyChart] = {
    "map": map_chart,
    "timeline": timeline_chart,
    "allocation": allocation_chart,
    "evidence": evidence_chart,
    "differences": differences_chart,
}


SHARED_CHARTS: dict[str, StudyChart] = {"items": items_chart, "hours": hours_chart}
"""(verdict, outcomes, contents, *, fluid) -> the same, where arms share items or hours."""


def require_study_chart(kind: str, theme: str | Theme = "light") -> None:
    """Refuse a kind of chart or a theme that does not exist, before the work that leads to it."""
    if kind not in STUDY_CHARTS and kind not in SHARED_CHARTS:
        raise one_of("kind", kind, [*STUDY_CHARTS, *SHARED_CHARTS])
    find_theme(theme)


def study_chart(
    kind: str,
    plan: Plan,
    verdict: Verdict,
    rounds: Sequence[Round],
    *,
    theme: str | Theme = "light",
    fluid: bool = False,
) -> Any:
    """Return a chart of a study: `map`, `timeline`, `allocation`, `evidence` or `differences`.

    With `fluid` it is as wide as what holds it, and transparent. Rounds may be thinned; the last
    one must be among them.
    """
    require_study_chart(kind, theme)
    chart = STUDY_CHARTS[kind](plan, verdict, rounds, fluid=fluid)
    return themed(chart, theme, transparent=fluid)


def shared_chart(
    kind: str,
    verdict: Verdict,
    outcomes: Outcomes,
    contents: Mapping[int, Any],
    *,
    theme: str | Theme = "light",
    fluid: bool = False,
) -> Any:
    """Return a chart of what arms share: `items` or `hours`.

    `contents` are the items that it may name, which one that is not `fluid` does not.
    """
    chart = SHARED_CHARTS[kind](verdict, outcomes, contents, fluid=fluid)
    return themed(chart, theme, transparent=fluid)
