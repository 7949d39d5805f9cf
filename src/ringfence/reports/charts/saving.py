"""Charts as files and as text: PNG, SVG and PDF without browser or network.

May touch the file that the user named.
"""

import io
from pathlib import Path
from typing import Any

from ringfence.core.errors import MissingExtraError
from ringfence.reports.files import require_path, write_file

FORMATS = (".png", ".svg", ".pdf")
_PNG_SCALE = 2


def require_chart_path(path: Path, *, key: str = "figure") -> None:
    """Refuse a figure that could not be written, before the work that leads to it."""
    require_path(path, FORMATS, key=key)
    altair()


def save_chart(chart: Any, path: str | Path, *, key: str = "figure") -> Path:
    """Write a chart as PNG, SVG or PDF, by the suffix of the path.

    >>> import ringfence as rf
    >>> study = rf.Study.create(
    ...     "pair",
    ...     arms=["old", "new"],
    ...     objective="maximize mean(score)",
    ...     constraints="mean(seconds) <= 1",
    ...     budget=20,
    ...     policy="uniform",
    ...     storage="memory://",
    ...     seed=1,
    ... )
    >>> for pull in study.pulls():
    ...     good = 0.8 if pull.arm == "new" else 0.6
    ...     _ = study.tell(pull, {"score": good, "seconds": 0.5 + 0.1 * (pull.seed % 3)})
    >>> rf.save_chart(study.figure("allocation", theme="dark"), "pulls.png").name
    'pulls.png'
    """
    target = Path(path)
    require_chart_path(target, key=key)
    write_file(target, chart_bytes(chart, target.suffix.lower()), key=key)
    return target


def chart_bytes(chart: Any, suffix: str) -> bytes:
    """Return a chart as the content of a file: `.png`, `.svg` or `.pdf`."""
    altair()
    if suffix == ".svg":
        text = io.StringIO()
        chart.save(text, format="svg")
        return text.getvalue().encode()
    content = io.BytesIO()
    scale = {"scale_factor": _PNG_SCALE} if suffix == ".png" else {}
    chart.save(content, format=suffix.removeprefix("."), **scale)
    return content.getvalue()


def altair() -> Any:
    """Return the library that charts are made with; where it is missing, name the extra."""
    try:
        import altair as alt
        import vl_convert  # noqa: F401
    except ImportError:
        raise MissingExtraError("Drawing a figure", "plots") from None
    return alt
