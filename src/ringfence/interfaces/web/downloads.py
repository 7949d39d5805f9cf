"""What can be taken away from a study: tables, the decision record, pictures.

Everything is sent so that a browser runs nothing of it on our origin. May touch every room.
"""

from typing import Any
from urllib.parse import quote

from fastapi import Response

from ringfence.core.strict import strict_json
from ringfence.interfaces.shared_views import SHARED_KINDS, kind_shared, shared_chart_of
from ringfence.interfaces.studies import Study
from ringfence.interfaces.study_views import ROUNDS_DRAWN
from ringfence.interfaces.web.problems import NotHereError
from ringfence.interfaces.web.shelf import Look
from ringfence.reports.charts import chart_bytes, study_chart, themed
from ringfence.reports.tables import table_bytes
from ringfence.study.exploring import what_if
from ringfence.study.verdict import Verdict

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
    if kind in SHARED_KINDS:
        return _shared_figure(look, verdict, kind, form, theme)
    rounds = look.study.rounds(most=ROUNDS_DRAWN)
    chart = study_chart(kind, plan, verdict, rounds, theme=theme, fluid=form == "json")
    return _picture(chart, form)


def _shared_figure(look: Look, verdict: Verdict, kind: str, form: str, theme: str) -> Response:
    """Return a chart of items or hours, where arms share them."""
    desk, fluid = look.study.desk, form == "json"
    if kind_shared(desk.plan) != kind:
        raise NotHereError(f"the arms of study {look.study.name!r} share no {kind}. Draw another.")
    chart = shared_chart_of(desk, verdict, kind, look.outcomes, theme=theme, fluid=fluid)
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
