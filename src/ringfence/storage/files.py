"""The file of a SQLite database while it is open, which must stay the one at its path.

A file that was deleted, replaced or emptied takes writes until it is closed, and then they are
gone. So it is looked at in every transaction. May touch core and the files of the database.
"""

from dataclasses import dataclass, field
from pathlib import Path

from ringfence.core.errors import StorageError

_BESIDE = ("-wal", "-shm")  # the newest writes, and who may write: as much a part of it
_SMALLEST = 512  # bytes: a page of a database, and every one has a page, or none
_Identity = tuple[int, int]


@dataclass
class OpenedFile:
    """A database's file, as one storage opened it first, for all connections."""

    path: Path
    url: str
    _own: _Identity | None = None

    def before_connecting(self) -> None:
        """Refuse another file than the first; beside a new one, take away what is of a former one.

        SQLite removes the log, and leaves its index: if whoever has the former database open still
        uses it, nothing of a new log is found after a crash.
        """
        left = Path(f"{self.path}-shm")
        if self._own is None and left.exists() and _is_nothing(self.path):
            left.unlink(missing_ok=True)
        self.require_same()

    def require_same(self) -> None:
        """Refuse another file than the first, or none in its place; and first what is no database.

        SQLite takes a file of a few bytes for an empty one, and writes over it.
        """
        if self._own is not None:
            _require(self.url, self.path, self._own)
            if _is_nothing(self.path):  # SQLite drops the log of a database without a page
                raise _lost(self.url, self.path, "was emptied")
        elif self.path.is_file() and 0 < self.path.stat().st_size < _SMALLEST:
            raise StorageError(
                f"storage {self.url} cannot be used: {str(self.path)!r} is not a database. Give "
                "the path of another file: this one is left as it is."
            )

    def connected(self) -> "OpenedJournals":
        """Take note of what a new connection has opened."""
        self._own = self._own or _identity(self.path)
        _require(self.url, self.path, self._own)
        return OpenedJournals(self)


@dataclass
class OpenedJournals:
    """What one connection has open: the database, and what SQLite writes beside it."""

    file: OpenedFile
    _own: dict[str, _Identity] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Look at what is there now."""
        self.require_same()

    def require_same(self) -> None:
        """Refuse to go on where a file is gone, or another one; it may have been put back."""
        self.file.require_same()
        for suffix in _BESIDE:
            path = Path(f"{self.file.path}{suffix}")
            if suffix in self._own:
                _require(self.file.url, path, self._own[suffix])
            elif (found := _identity(path)) is not None:
                self._own[suffix] = found


def _is_nothing(path: Path) -> bool:
    """Tell whether there is no database yet: one with a log has a page at least."""
    try:
        return path.stat().st_size == 0
    except FileNotFoundError:
        return True


def _identity(path: Path) -> _Identity | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _require(url: str, path: Path, own: _Identity | None) -> None:
    found = _identity(path)
    if found is None or found != own:
        what = "was deleted or moved" if found is None else "was replaced by another file"
        raise _lost(url, path, what)


def _lost(url: str, path: Path, what: str) -> StorageError:
    return StorageError(
        f"storage {url} cannot be used: {str(path)!r} {what} while it was open. Put it back, "
        "or end every program that has it open and start again with the file that is to be "
        "used. What was not acknowledged may not be kept: say it again."
    )
