"""Charts inside an HTML page: SVG without scripts, in colours that follow the reader's. Pure.

The pictures are drawn in the light theme; a style sheet turns each of its colours into the dark
theme's where the reader prefers dark. Names in them are text, as the drawing library escaped it,
and pass through a parser once more.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from ringfence.core.errors import MissingExtraError
from ringfence.reports.charts.saving import chart_bytes
from ringfence.reports.charts.study import SHARED_CHARTS, STUDY_CHARTS
from ringfence.reports.charts.themes import DARK, LIGHT, Theme, themed
from ringfence.study.facts import Round
from ringfence.study.outcomes import Outcomes
from ringfence.study.plan import Plan
from ringfence.study.verdict import Verdict

_SVG = "http://www.w3.org/2000/svg"
_LINKS = "{http://www.w3.org/1999/xlink}"


def study_pictures(
    plan: Plan, verdict: Verdict, rounds: Sequence[Round], kinds: Sequence[str]
) -> dict[str, str] | None:
    """Return pictures by kind as SVG text for a page; None where charts cannot be drawn here."""
    try:
        return {kind: inline_svg(STUDY_CHARTS[kind](plan, verdict, rounds), kind) for kind in kinds}
    except MissingExtraError:
        return None


def shared_picture(
    kind: str, verdict: Verdict, outcomes: Outcomes, contents: Mapping[int, Any]
) -> str:
    """Return the picture of items or hours as SVG text; nothing where charts cannot be drawn."""
    try:
        return inline_svg(SHARED_CHARTS[kind](verdict, outcomes, contents), kind)
    except MissingExtraError:
        return ""


def inline_svg(chart: Any, name: str) -> str:
    """Return a chart as an SVG element; `name` keeps its ids apart from other pictures'.

    It is as wide as it was drawn; its page says what becomes of it where there is less room.
    """
    drawn = chart_bytes(themed(chart, LIGHT, transparent=True), ".svg").decode()
    root = ET.fromstring(drawn)  # noqa: S314 - we drew it ourselves a moment ago
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{_SVG}}}")
        for key, value in list(element.attrib.items()):
            if key.startswith(_LINKS):
                del element.attrib[key]
            elif key == "id":
                element.set(key, f"{name}-{value}")
            elif value.startswith("url(#"):
                element.set(key, value.replace("url(#", f"url(#{name}-", 1))
    root.attrib.pop("height")  # follows from the width, which a narrow page lessens
    root.attrib.pop("class", None)
    root.set("role", "img")
    root.set("aria-label", str(chart.to_dict()["description"]))
    return ET.tostring(root, encoding="unicode")


def dark_rules() -> str:
    """Return style rules that turn the light theme's colours into the dark one's."""
    return _recoloured(LIGHT, DARK)


def paper_rules() -> str:
    """Return style rules that turn the dark theme's colours into the light one's, for paper."""
    return _recoloured(DARK, LIGHT)


def _recoloured(theme: Theme, other: Theme) -> str:
    rules = []
    for colour, its in zip(theme.colours, other.colours, strict=True):
        rules += [f'svg [{key}="{colour}"]{{{key}:{its}}}' for key in ("fill", "stroke")]
    return "\n".join(rules)
