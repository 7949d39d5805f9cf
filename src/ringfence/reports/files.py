"""Files that a user asked for: whether they can be written, before the work that leads to them.

May touch the file that the user named.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from ringfence.core.errors import InputError, RingfenceError


def require_path(path: Path, suffixes: Sequence[str], *, key: str) -> None:
    """Refuse a file of another kind, or one that could not be written."""
    if path.suffix.lower() not in suffixes:
        raise InputError(f"{key} = {str(path)!r} must end in {', '.join(suffixes)}.")
    folder = path.parent
    if not folder.is_dir():
        raise InputError(f"{key} = {str(path)!r} cannot be written: no folder {str(folder)!r}.")
    target = path if path.exists() else folder
    if path.is_dir() or not os.access(target, os.W_OK):
        raise InputError(f"{key} = {str(path)!r} cannot be written. Choose another place.")


def write_file(path: Path, content: bytes, *, key: str, new: bool = False) -> None:
    """Write a file that was asked for under a key; a `new` one may not be there yet."""
    try:
        with path.open("xb" if new else "wb") as opened:
            opened.write(content)
    except OSError as error:
        raise RingfenceError(
            f"{key} = {str(path)!r} cannot be written: {error.strerror}. Make room, or choose "
            "another place."
        ) from None
