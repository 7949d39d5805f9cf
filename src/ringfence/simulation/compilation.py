"""Makes plain rules callable from compiled code, and keeps what was compiled on disk.

Rules carry no decorator: when a kernel needs one, it and every plain function that it calls are
registered with Numba, to be inlined. The cache folder is named by a hash of the code that was
loaded and of the compilers' versions, because Numba alone does not notice an edited rule in
another file. Rules from outside ringfence are compiled afresh in every process.

May touch core, policies and the cache folder.
"""

import hashlib
import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.extending import register_jitable

from ringfence.simulation.caching import cache_folder, make_private

CompilationError = numba.core.errors.NumbaError

_KNOWN_TO_NUMBA = ("numpy", "numba", "math")
_lock = RLock()
_registered: set[FunctionType] = set()


def register(function: Callable[..., Any]) -> None:
    """Let compiled code call a plain function, and whatever plain functions it calls.

    What draws random numbers keeps reference counts even in a kernel without them: some of
    Numba's generators need them.
    """
    for called in reachable(function):
        if called not in _registered:
            draws = "rng" in called.__code__.co_varnames[: called.__code__.co_argcount]
            options: dict[str, Any] = {"_nrt": True} if draws else {}
            options["pipeline_class"] = compiler_of(called)
            register_jitable(forceinline=True, **options)(called)
            _registered.add(called)


def compiler_of(function: Callable[..., Any]) -> type | None:
    """Return what compiles a function that will be inlined; None is Numba's own way.

    Rules from outside may print or raise, and that needs what only Numba's own way makes.
    """
    if not function.__module__.startswith("ringfence."):
        return None
    try:
        from ringfence.simulation.inlining import Inlined
    except ImportError:  # a Numba that we do not know
        return None
    return Inlined


def reachable(function: Any, found: dict[FunctionType, None] | None = None) -> list[FunctionType]:
    """Return a plain function and every plain function that it calls.

    What Numba knows by itself is not followed.
    """
    found = {} if found is None else found
    if is_plain(function) and function not in found:
        found[function] = None
        for value in _names_of(function).values():
            reachable(value, found)
    return list(found)


def is_plain(value: Any) -> bool:
    """Tell whether a value is a Python function that Numba does not know by itself."""
    if not isinstance(value, FunctionType):
        return False
    return value.__module__.partition(".")[0] not in _KNOWN_TO_NUMBA


def compile_kernel(kernel: Callable[..., Any], *, allocates: bool = True) -> Callable[..., Any]:
    """Return the kernel compiled, with all the plain functions that it calls.

    One that allocates no array is compiled without reference counts, which else are kept for
    every field taken from a tuple of arrays: rules that hand such tuples on ran ten times slower.
    """
    with _lock:
        parts = reachable(kernel)[1:]
        for part in parts:
            register(part)
        ours = all(part.__module__.startswith("ringfence.") for part in parts)
        folder = cache_folder(fingerprint(kernel)) if ours else None
        before = numba.config.CACHE_DIR
        try:
            numba.config.CACHE_DIR = str(folder or "")
            compiled = _compiled(kernel, kept=folder is not None, allocates=allocates)
        finally:
            numba.config.CACHE_DIR = before
        # Where Numba cannot write, on a full disk say, it would go on to the folder of the sources.
        if folder is not None and folder not in Path(compiled.stats.cache_path).parents:
            compiled = _compiled(kernel, kept=False, allocates=allocates)
        elif folder is not None:
            _keep_privately(compiled)
        made: Callable[..., Any] = compiled
        return made


def _compiled(kernel: Callable[..., Any], *, kept: bool, allocates: bool) -> Any:
    # NumPy's division rules: no check for zero on every estimate. Counts are never zero.
    return numba.njit(nogil=True, error_model="numpy", cache=kept, _nrt=allocates)(kernel)


def _keep_privately(compiled: Any) -> None:
    """Have Numba keep a kernel where nobody else can write, whatever the umask."""
    files = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    open_for_write = getattr(files, "_open_for_write", None)
    if open_for_write is None or not hasattr(os, "fchmod"):  # a Numba that we do not know
        return
    make_private(Path(compiled.stats.cache_path))

    @contextmanager
    def open_privately(path: str) -> Iterator[Any]:
        with open_for_write(path) as file:
            os.fchmod(file.fileno(), 0o600)
            yield file

    vars(files)["_open_for_write"] = open_privately


def fingerprint(function: Callable[..., Any]) -> str:
    """Return a hash of a function and all it calls, as they were loaded, and of the compilers.

    The files on disk are not asked: they may have been edited since they were imported.
    """
    facts = [sys.version, numba.__version__, np.__version__, platform.machine()]
    for called in reachable(function):
        code = called.__code__
        numbers = {
            name: value
            for name, value in _names_of(called).items()
            if isinstance(value, int | float | str)
        }
        facts += [called.__module__, called.__qualname__, code.co_code.hex(), repr(numbers)]
        facts += [
            repr(code.co_names),
            repr([c for c in code.co_consts if not hasattr(c, "co_code")]),
        ]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


def _names_of(function: FunctionType) -> dict[str, Any]:
    """Return what a function's names stand for: globals, attributes of modules, cells."""
    names = function.__code__.co_names
    known = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for module in [value for value in known.values() if isinstance(value, ModuleType)]:
        known |= {
            f"{module.__name__}.{name}": vars(module)[name]
            for name in names
            if name in vars(module)
        }
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return known | {name: cell.cell_contents for name, cell in cells}
