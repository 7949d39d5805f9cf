"""Where what took long to make is kept between processes: compiled kernels, the chart library.

Apart from those who use it, so that finding the folder loads no compiler. May touch that folder.
"""

import os
import sys
from pathlib import Path


def cache_folder(name: str) -> Path | None:
    """Return the folder of that name in the user's cache, or None if unwritable."""
    named = os.environ.get("RINGFENCE_CACHE_DIR")
    try:
        folder = (Path(named) if named else _user_cache() / "ringfence") / name
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no permission, or no home
        return None
    return folder if os.access(folder, os.W_OK) else None


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
