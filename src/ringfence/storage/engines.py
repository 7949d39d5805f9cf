"""Connections to SQLite and PostgreSQL, and what they say in words.

SQLite: write-ahead log, full sync, and `BEGIN IMMEDIATE`, so that a transaction that will write
never has to be upgraded. May touch core and the database that was named.
"""

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, make_url

from ringfence.core.errors import (
    InputError,
    MissingExtraError,
    StorageAwayError,
    StorageError,
    nearest,
)

_PATIENCE_SECONDS = 60
_NAP_SECONDS = 0.004
_BACKENDS = ("sqlite", "postgresql")
_PASSWORD = re.compile(r":[^/@:]*@")
_AWAY = ("08", "53300", "57P")  # PostgreSQL: connection lost, too many of them, shutting down


def open_engine(url: str) -> Engine:
    """Return the engine of a database that we know, set up for our transactions."""
    try:
        parsed = make_url(url)
    except (sa.exc.ArgumentError, ValueError):  # the latter of a port that is no number
        shown = _PASSWORD.sub(":***@", url)
        raise InputError(
            f"storage = {shown!r} is no storage URL. Use sqlite:///FILE.db or "
            "postgresql://USER@HOST/DATABASE."
        ) from None
    backend = parsed.get_backend_name()
    if backend == "postgresql":
        try:
            import psycopg  # noqa: F401 - only whether it is there
        except ImportError:
            raise MissingExtraError("PostgreSQL", "postgres") from None
        # Prepared statements are off: a pooler between us and the server may not know them.
        return sa.create_engine(
            parsed.set(drivername="postgresql+psycopg"), pool_pre_ping=True,
            connect_args={"prepare_threshold": None},
        )  # fmt: skip
    if backend != "sqlite":
        raise InputError(
            f"storage = {url!r}: {backend} is not known. Use sqlite:/// or postgresql://."
            f"{nearest(backend, _BACKENDS)}"
        )
    if parsed.host is not None or parsed.username is not None:
        raise InputError(
            f"storage = {url!r} names a server, where SQLite has a file: a path begins after three "
            f"slashes. Use sqlite:///{url.partition('://')[2]}."
        )
    engine = sa.create_engine(parsed, connect_args={"timeout": _PATIENCE_SECONDS})
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where the driver does
    cursor = connection.cursor()
    _when_unlocked(lambda: cursor.execute("PRAGMA journal_mode = WAL"))
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    """Begin; wait for the write lock in short naps: SQLite's own grow to a tenth of a second."""
    if not connection.info.pop("writes", False):
        connection.exec_driver_sql("BEGIN")
        return
    driver = connection.connection.driver_connection
    driver.execute("PRAGMA busy_timeout = 0")  # type: ignore[union-attr]
    try:
        _when_unlocked(lambda: driver.execute("BEGIN IMMEDIATE"))  # type: ignore[union-attr]
    finally:
        driver.execute(f"PRAGMA busy_timeout = {1000 * _PATIENCE_SECONDS}")  # type: ignore[union-attr]


def _when_unlocked(act: Callable[[], object]) -> None:
    """Do it as soon as no other process holds the lock."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            act()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(_NAP_SECONDS)
        else:
            return


@contextmanager
def in_words(url: str) -> Iterator[None]:
    """Turn what a database says into an error of ours; nothing was changed."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        kind = StorageAwayError if _is_away(error) else StorageError
        raise kind(
            f"storage {url} cannot be used: {reason}.{_hindrance(url)} What was not acknowledged "
            "was not written."
        ) from error


def _hindrance(url: str) -> str:
    """Return what hinders SQLite and what helps, which it does not say itself."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        return ""
    file = Path(parsed.database)
    if not file.parent.is_dir():
        return f" There is no folder {str(file.parent)!r}: make it, or mend the path."
    for path in (file.parent, file):
        if path.exists() and not os.access(path, os.W_OK):
            return (
                f" {str(path)!r} may not be written, and SQLite writes beside its file even to "
                f"read it: copy {file.name}, and {file.name}-wal if it is there, to a folder of "
                "your own."
            )
    return ""


def _is_away(error: Exception) -> bool:
    """Tell whether a server is stopped, starting, out of reach, or full: it may be back soon."""
    if not isinstance(error, sa.exc.OperationalError) or isinstance(error.orig, sqlite3.Error):
        return False
    code = getattr(error.orig, "sqlstate", None)  # None: the connection never came about, or broke
    return code is None or code.startswith(_AWAY)
