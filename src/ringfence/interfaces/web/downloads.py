"""What can be taken away from a study: tables, the decision record, pictures.

Everything is sent so that a browser runs nothing of it on our origin. May touch every room.
"""

from typing import Any
from urllib.parse import quote

from fastapi import Response

from ringfence.core.strict import strict_json
from ringfence.interfaces.studies import Study
from ringfence.interfaces.study_views import ROUNDS_DRAWN
from ringfence.interfaces.web.problems import NotHereError
from ringfence.interfaces.web.shelf import Look
from ringfence.reports.charts import chart_bytes, study_chart, themed
from ringfence.reports.tables import table_bytes
from ringfence.study.exploring import what_if

TABLES = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
}
PICTURES = {
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
}
_INERT = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


def observations(study: Study, kind: str) -> Response:
    """Return every observation as a table."""
    columns = study.observations()
    content = strict_json(columns).encode() if kind == "json" else table_bytes(kind, columns)
    return _attachment(content, TABLES[kind], f"{study.name}.{kind}")


def record(study: Study) -> Response:
    """Return the decision record."""
    return _attachment(study.record().encode(), "text/html", f"{study.name}.html")


def figure(
    look: Look, kind: str, form: str, theme: str, *, constraint: int, threshold: float | None
) -> Response:
    """Return a chart of a study, perhaps of what would be with another threshold."""
    plan, verdict = look.study.desk.plan, look.verdict
    if verdict is not None and threshold is not None:
        verdict = what_if(plan, look.view, constraint, threshold)
    if verdict is None:
        raise NotHereError("there is nothing to draw yet: too few pulls were told. Wait.")
    rounds = look.study.rounds(most=ROUNDS_DRAWN)
    chart = study_chart(kind, plan, verdict, rounds, theme=theme, fluid=form == "json")
    return _picture(chart, form)


def plain_figure(chart: Any, form: str, theme: str) -> Response:
    """Return a chart that has no colours yet."""
    return _picture(themed(chart, theme, transparent=form == "json"), form)


def _picture(chart: Any, form: str) -> Response:
    if form == "json":
        return Response(strict_json(chart.to_dict()), media_type=PICTURES[form])
    headers = {"Content-Security-Policy": _INERT}
    return Response(chart_bytes(chart, f".{form}"), media_type=PICTURES[form], headers=headers)


def _attachment(content: bytes, kind: str, name: str) -> Response:
    """Return a file to be kept, not shown; its name may hold any letters."""
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}",
        "Content-Security-Policy": _INERT,
    }
    return Response(content, media_type=kind, headers=headers)
