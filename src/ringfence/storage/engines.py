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
from functools import partial
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
from ringfence.storage.files import OpenedFile, OpenedJournals

_PATIENCE_SECONDS = 60
_NAP_SECONDS = 0.004
_OPENED = "ringfence_opened"  # in the notes of a connection
NOW = "now"  # of a connection that writes at once, or not at all
_BACKENDS = ("sqlite", "postgresql")
_PASSWORD = re.compile(r":[^/@:]*@")
_REFUSED = re.compile(  # what a server says that is up, and will not let us in later either
    r"does not exist|authentication failed|no password supplied|no pg_hba\.conf entry"
)
_REMEDIES = {
    "SQLITE_FULL": " Make room on its disk, and say the same again.",
    "SQLITE_NOTADB": " Give the path of another file: this one is left as it is.",
    "SQLITE_CORRUPT": " The database is damaged: restore it from a backup.",
}
_AWAY = (  # PostgreSQL: connection lost, too many of them, shutting down, not the primary yet
    *("08", "53300", "57P", "25006"),
)


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
    if parsed.database and parsed.database != ":memory:" and "uri" not in parsed.query:
        file = OpenedFile(Path(parsed.database).absolute(), parsed.render_as_string())
        # SQLite would make a new file in the place of one that is gone.
        sa.event.listen(engine, "do_connect", lambda *_: file.before_connecting())
        sa.event.listen(engine, "connect", partial(_prepare_sqlite, file))
    else:
        sa.event.listen(engine, "connect", partial(_prepare_sqlite, None))
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def require_same_file(connection: Connection) -> None:
    """Refuse to go on where SQLite's file, if it is one, is gone or was replaced."""
    opened: OpenedJournals | None = connection.info.get(_OPENED)
    if opened is not None:
        opened.require_same()


def _prepare_sqlite(file: OpenedFile | None, connection: Any, record: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where the driver does
    cursor = connection.cursor()
    _when_unlocked(lambda: cursor.execute("PRAGMA journal_mode = WAL"))
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()  # opens what lies beside it
    cursor.close()
    if file is not None:
        record.info[_OPENED] = file.connected()


def _begin_sqlite(connection: Connection) -> None:
    """Begin; wait for the write lock in short naps: SQLite's own grow to a tenth of a second."""
    writes = connection.info.pop("writes", False)
    require_same_file(connection)
    if not writes:
        connection.exec_driver_sql("BEGIN")
        return
    driver = connection.connection.driver_connection
    driver.execute("PRAGMA busy_timeout = 0")  # type: ignore[union-attr]
    try:
        if writes == NOW:
            driver.execute("BEGIN IMMEDIATE")  # type: ignore[union-attr]
        else:
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
            if not _is_locked(error) or time.monotonic() > until:
                raise
            time.sleep(_NAP_SECONDS)
        else:
            return


@contextmanager
def in_words(url: str) -> Iterator[None]:
    """Turn what a database says into an error of ours; nothing was changed."""
    try:
        yield
    except UnicodeDecodeError:  # of what SQLite says of damaged text: it quotes it
        raise StorageError(
            f"storage {url} cannot be used: it has text that is not UTF-8."
            f"{_REMEDIES['SQLITE_CORRUPT']}"
        ) from None
    except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        kind = StorageAwayError if _is_away(error) else StorageError
        raise kind(
            f"storage {url} cannot be used: {reason}.{_hindrance(url, error)} What was not "
            "acknowledged was not written."
        ) from error


def _hindrance(url: str, error: Exception) -> str:
    """Return what hinders SQLite and what helps, which it does not say itself."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        return ""
    if _is_locked(error):
        return (
            f" Another program has kept it locked for {_PATIENCE_SECONDS} seconds: let it finish, "
            "or end it."
        )
    file = Path(parsed.database)
    if not file.parent.is_dir():
        return f" There is no folder {str(file.parent)!r}: make it, or change the path."
    for path in (file.parent, file):
        if path.exists() and not os.access(path, os.W_OK):
            return (
                f" {str(path)!r} may not be written, and SQLite writes beside its file even to "
                f"read it: copy {file.name}, and {file.name}-wal if it is there, to a folder of "
                "your own."
            )
    if file.is_dir():
        return f" {str(file)!r} is a folder: give the path of a file."
    return _REMEDIES.get(_code(error), "")


def _is_away(error: Exception) -> bool:
    """Tell whether a server is stopped, starting, out of reach, or full, or a file is locked.

    It may be back soon; one that answers and does not let us in will not.
    """
    if _is_locked(error):
        return True
    if not isinstance(error, sa.exc.DBAPIError) or isinstance(error.orig, sqlite3.Error):
        return False
    if code := getattr(error.orig, "sqlstate", None):
        return str(code).startswith(_AWAY)
    never_connected = isinstance(error, sa.exc.OperationalError)  # or the connection broke
    return never_connected and not _REFUSED.search(str(error.orig))


def _is_locked(error: Exception) -> bool:
    """Tell whether another program has kept SQLite's lock for longer than we wait."""
    return _code(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _code(error: Exception) -> str:
    """Return SQLite's own name for what went wrong."""
    return str(getattr(getattr(error, "orig", error), "sqlite_errorname", ""))
