"""Where what took long to make is kept between processes: compiled kernels, the chart library.

Kernels are kept as pickles, and who reads a pickle runs it. So a folder is used only if nobody but
us can have written to it: it is ours, private, and so is all that lies in it. Else there is no
cache, and a warning says why. Apart from those who use it, so that finding the folder loads no
compiler. May touch that folder.
"""

import os
import stat
import sys
import warnings
from pathlib import Path

_PRIVATE = 0o700
_OTHERS, _OTHERS_WRITE, _ALL_WRITE = 0o077, 0o022, 0o002


class CacheWarning(UserWarning):
    """A cache is not used: others than its user may have written to it."""


def cache_folder(name: str) -> Path | None:
    """Return the folder of that name in the user's cache, or None if it cannot or must not be used.

    What lies in it was written by this user, and can have been by nobody else.
    """
    named = os.environ.get("RINGFENCE_CACHE_DIR")
    try:
        home = Path(named).absolute() if named else _user_cache() / "ringfence"
        folder = home / name
        home.parent.mkdir(parents=True, exist_ok=True)
        for place in (home, folder):
            place.mkdir(_PRIVATE, exist_ok=True)
        if not os.access(folder, os.W_OK):
            return None
        why = _distrust(home, folder)
    except (OSError, RuntimeError):  # no permission, or no home
        return None
    if why is None:
        return folder
    warnings.warn(
        f"compiled code is not kept: {why}, so that others may have put code of theirs there. "
        f"Delete {str(home)!r}, or set RINGFENCE_CACHE_DIR to a folder of your own.",
        CacheWarning,
        stacklevel=2,
    )
    return None


def make_private(path: Path) -> None:
    """Let nobody but us into a folder of ours."""
    if hasattr(os, "geteuid"):
        path.chmod(_PRIVATE)


def _distrust(home: Path, folder: Path) -> str | None:
    """Return why others may have written to a folder of a cache or what lies in it, or None."""
    if not hasattr(os, "geteuid"):  # Windows, where a profile is private
        return None
    for above in home.resolve().parents:
        mode = above.stat().st_mode
        if mode & _ALL_WRITE and not mode & stat.S_ISVTX:
            return f"{str(above)!r} can be written to by everybody"
    why = _not_ours(home, home.stat()) or _not_ours(folder, folder.lstat())
    if why is not None:
        return why
    if folder.lstat().st_mode & _OTHERS:  # readable by others, by an older version
        make_private(folder)
    for inside, folders, files in os.walk(folder):
        for one in (Path(inside) / entry for entry in (*folders, *files)):
            why = _not_ours(one, one.lstat())
            if why is not None:
                return why
    return None


def _not_ours(path: Path, facts: os.stat_result) -> str | None:
    if facts.st_uid != os.geteuid():
        return f"{str(path)!r} belongs to another user"
    if not stat.S_ISDIR(facts.st_mode) and not stat.S_ISREG(facts.st_mode):
        return f"{str(path)!r} is neither a file nor a folder"
    if facts.st_mode & _OTHERS_WRITE:
        return f"{str(path)!r} can be written to by others"
    return None


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
