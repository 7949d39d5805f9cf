"""Charts, drawn by Altair from figure data, one definition for every use.

Notebooks, PNG, SVG and PDF files, the decision record and the page show the same charts. May touch
reports' figure data, and the file that the user named.
"""

from ringfence.reports.charts.paper import paper_figure
from ringfence.reports.charts.planning import plan_figure
from ringfence.reports.charts.saving import FORMATS, chart_bytes, require_chart_path, save_chart
from ringfence.reports.charts.scenes import scene_figure
from ringfence.reports.charts.study import STUDY_CHARTS, require_study_chart, study_chart
from ringfence.reports.charts.themes import DARK, LIGHT, PRINT, THEMES, Theme, find_theme, themed
from ringfence.reports.charts.tournament import tournament_figure
from ringfence.reports.figures.paper import paper_rows
from ringfence.reports.figures.planning import plan_rows
from ringfence.reports.figures.tournament import tournament_rows

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
    "require_chart_path",
    "require_study_chart",
    "save_chart",
    "scene_figure",
    "study_chart",
    "themed",
    "tournament_figure",
    "tournament_rows",
]
