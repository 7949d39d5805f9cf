"""The storage that a URL names. May touch every room."""

import re
from pathlib import Path

from ringfence.core.errors import InputError
from ringfence.storage.memory import MemoryStorage
from ringfence.study.ports import Storage

_FILE = re.compile(r"(sqlite(?:\+\w+)?:///)(?!:memory:|file:)(.+)")


def placed_in(folder: Path, storage: str) -> str:
    """Return a URL whose SQLite file, if its path is relative, is meant as seen from a folder."""
    found = _FILE.fullmatch(storage)
    return storage if found is None else f"{found[1]}{folder / found[2]}"


def has_study(storage: str, name: str) -> bool:
    """Tell whether a storage holds a study, without making the storage."""
    path = Path(storage.removeprefix("sqlite:///"))
    if storage.startswith("sqlite:///") and not path.exists():
        return False
    return name in open_storage(storage).names()


def open_storage(storage: str | Storage, *, exists: bool = False) -> Storage:
    """Return the storage that a URL names; with `exists`, a file that is missing is refused."""
    if not isinstance(storage, str):
        if not hasattr(storage, "writing"):
            raise InputError(
                f"storage = {storage!r} must be a URL, such as 'sqlite:///studies.db', or an open "
                "storage. Use one of them."
            )
        return storage
    if storage == MemoryStorage.url:
        return MemoryStorage()
    from ringfence.storage.sql import SqlStorage

    if exists and storage.startswith("sqlite:///"):
        path = Path(storage.removeprefix("sqlite:///"))
        if not path.exists():
            raise InputError(f"storage = {storage!r}: there is no file {str(path)!r}. Change it.")
    return SqlStorage(storage)
