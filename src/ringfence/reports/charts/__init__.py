"""Charts, drawn by Altair from figure data, one definition for every use.

Notebooks, PNG, SVG and PDF files, the decision record and the page show the same charts. May touch
reports' figure data, and the file that the user named. Names are loaded on first use: a chart of a
study has no need of the simulator.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ringfence.reports.charts.paper import paper_figure
    from ringfence.reports.charts.planning import plan_figure
    from ringfence.reports.charts.replay import replay_figure
    from ringfence.reports.charts.saving import FORMATS, chart_bytes, require_chart_path, save_chart
    from ringfence.reports.charts.scenes import scene_figure
    from ringfence.reports.charts.study import STUDY_CHARTS, require_study_chart, study_chart
    from ringfence.reports.charts.themes import (
        DARK,
        LIGHT,
        PRINT,
        THEMES,
        Theme,
        find_theme,
        themed,
    )
    from ringfence.reports.charts.tournament import require_rivals, tournament_figure
    from ringfence.reports.figures.paper import paper_rows
    from ringfence.reports.figures.planning import plan_rows
    from ringfence.reports.figures.replay import replay_rows
    from ringfence.reports.figures.tournament import tournament_rows

_HOMES = {
    "DARK": "charts.themes",
    "FORMATS": "charts.saving",
    "LIGHT": "charts.themes",
    "PRINT": "charts.themes",
    "STUDY_CHARTS": "charts.study",
    "THEMES": "charts.themes",
    "Theme": "charts.themes",
    "chart_bytes": "charts.saving",
    "find_theme": "charts.themes",
    "paper_figure": "charts.paper",
    "paper_rows": "figures.paper",
    "plan_figure": "charts.planning",
    "plan_rows": "figures.planning",
    "replay_figure": "charts.replay",
    "replay_rows": "figures.replay",
    "require_chart_path": "charts.saving",
    "require_rivals": "charts.tournament",
    "require_study_chart": "charts.study",
    "save_chart": "charts.saving",
    "scene_figure": "charts.scenes",
    "study_chart": "charts.study",
    "themed": "charts.themes",
    "tournament_figure": "charts.tournament",
    "tournament_rows": "figures.tournament",
}

__all__ = [
    "DARK",
    "FORMATS",
    "LIGHT",
    "PRINT",
    "STUDY_CHARTS",
    "THEMES",
    "Theme",
    "chart_bytes",
    "find_theme",
    "paper_figure",
    "paper_rows",
    "plan_figure",
    "plan_rows",
    "replay_figure",
    "replay_rows",
    "require_chart_path",
    "require_rivals",
    "require_study_chart",
    "save_chart",
    "scene_figure",
    "study_chart",
    "themed",
    "tournament_figure",
    "tournament_rows",
]


if not TYPE_CHECKING:  # type checkers read the imports above, and notice a misspelt name

    def __getattr__(name: str) -> Any:
        """Load a public name from its home."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"ringfence.reports.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
