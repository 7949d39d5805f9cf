"""Makes plain rules callable from compiled code, and keeps what was compiled on disk.

Rules carry no decorator: when a kernel needs one, it and every plain function that it calls are
registered with Numba, to be inlined. The cache folder is named by a hash of ringfence's sources
and of the compilers' versions, because Numba alone does not notice an edited rule in another
file. Rules from outside ringfence are compiled afresh in every process.

May touch core, policies and the cache folder.
"""

import hashlib
import os
import platform
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba.extending import register_jitable

_registered: set[FunctionType] = set()


def register(function: Callable[..., Any]) -> None:
    """Let compiled code call a plain function, and whatever plain functions it calls."""
    if not isinstance(function, FunctionType) or function in _registered:
        return
    _registered.add(function)
    for name in function.__code__.co_names:
        register(function.__globals__.get(name))  # type: ignore[arg-type]
    register_jitable(forceinline=True)(function)


def compile_kernel(kernel: Callable[..., Any], *parts: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel compiled; `parts` are the plain functions that it closes over."""
    for part in parts:
        register(part)
    ours = all(part.__module__.startswith("ringfence.") for part in parts)
    folder = cache_folder() if ours else None
    # NumPy's division rules: no check for zero on every estimate. Counts are never zero there.
    options = {"nogil": True, "error_model": "numpy"}
    before = numba.config.CACHE_DIR
    try:
        numba.config.CACHE_DIR = str(folder or "")
        compiled: Callable[..., Any] = numba.njit(cache=folder is not None, **options)(kernel)
    finally:
        numba.config.CACHE_DIR = before
    return compiled


@lru_cache(maxsize=1)
def cache_folder() -> Path | None:
    """Return the folder for compiled kernels of these very sources, or None if unwritable."""
    named = os.environ.get("RINGFENCE_CACHE_DIR")
    folder = (Path(named) if named else _user_cache() / "ringfence") / _fingerprint()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for fact in (sys.version, numba.__version__, np.__version__, platform.machine()):
        digest.update(fact.encode())
    root = Path(__file__).parent.parent
    for room in ("core", "policies", "simulation"):
        for source in sorted((root / room).rglob("*.py")):
            digest.update(source.relative_to(root).as_posix().encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
