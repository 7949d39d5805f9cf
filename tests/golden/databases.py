"""Some of the golden studies as a database on disk, as it was written when they were made.

It is kept as the SQL that gives it back: neither today's tables nor a migration is needed to make
it anew. Later versions must open it. It is written once, beside those of earlier schemas.
"""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from ringfence.core.noise import NOISE_EDITION
from tests.golden import studies
from tests.golden.plain import HERE


def kept() -> list[Path]:
    """Return the files of all schemas of which a database was kept."""
    return sorted(HERE.glob("studies-*.sql"))


def of_this_noise() -> list[Path]:
    """Return the files of studies whose noise was estimated as it is now."""
    mark = f'"noise": {NOISE_EDITION}'
    return [one for one in kept() if mark in one.read_text(encoding="utf-8")]


def of_other_noise() -> list[Path]:
    """Return the files of studies whose noise was estimated otherwise."""
    return sorted({*kept()} - {*of_this_noise()})


def written() -> tuple[str, str]:
    """Play the studies that are kept on disk; return their schema and the database as SQL."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "golden.db"
        for name in studies.KEPT_ON_DISK:
            studies.SCRIPTS[name](f"sqlite:///{path}", name)
        with closing(sqlite3.connect(path)) as connection:
            (schema,) = connection.execute("SELECT version_num FROM ringfence_version").fetchone()
            return str(schema), "\n".join(connection.iterdump()) + "\n"


def restored(source: Path, folder: Path) -> str:
    """Make the database of a kept file in a folder; return its URL."""
    path = folder / "golden.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(source.read_text(encoding="utf-8"))
    return f"sqlite:///{path}"
