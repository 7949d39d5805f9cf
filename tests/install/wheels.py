"""What a wheel must hold, and how little it may weigh."""

import zipfile
from pathlib import Path

MOST_BYTES = 1_000_000
NEEDED = (
    "ringfence/py.typed",
    "ringfence/reports/published_curves.csv",
    "ringfence/storage/migrations/versions/0001_studies.py",
    "ringfence/interfaces/web/static/page.js",
    "ringfence/interfaces/web/static/ringfence.css",
    "ringfence/interfaces/web/templates/study.html",
)
FOREIGN = ("tests/", "docs/", "benchmarks/", "examples/", "out/")


def wrong_with(wheel: Path, source: Path) -> list[str]:
    """Return what is wrong with a wheel that was built from a folder; nothing if it is right."""
    with zipfile.ZipFile(wheel) as opened:
        held = set(opened.namelist())
    ours = {
        str(Path("ringfence") / file.relative_to(source / "src" / "ringfence"))
        for file in (source / "src" / "ringfence").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    size = wheel.stat().st_size
    return [
        *[f"{size:,} bytes are not below {MOST_BYTES:,}"] * (size >= MOST_BYTES),
        *(f"{name} is missing" for name in sorted((ours | set(NEEDED)) - held)),
        *(f"{name} does not belong there" for name in sorted(held) if name.startswith(FOREIGN)),
    ]
