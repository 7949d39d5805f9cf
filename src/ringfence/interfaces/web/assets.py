"""What pages load besides themselves: our scripts and styles, and the installed chart library.

Every address holds a digest of what lies there, so browsers may keep it for ever. Our own files
share one digest, of all of them: they refer to each other by relative addresses.
The chart library takes seconds to build from the installed vl-convert, once for each version of it;
it is kept, compressed, in the user's cache folder, and believed only if it is whole and ours.
May touch the files of this package and the cache folder.
"""

import gzip
import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from threading import Lock

from ringfence.core.errors import MissingExtraError
from ringfence.simulation.caching import cache_folder

CHART_LIBRARY = "chart-library.js"
PREFIX = "/static"
_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
_DISTRIBUTION = "vl-convert-python"
# What the library leaves behind; by default it also sets `vega` and `vegaLite`, to null.
_SNIPPET = "window.vegaEmbed = vegaEmbed;"
_DIGEST_LENGTH = 16
# Below this size, compression saves less than its header costs.
_WORTH_COMPRESSING = 512
_building = Lock()


@dataclass(frozen=True)
class Asset:
    """A file as it is sent: `compressed` is its gzip form, or None where that saves nothing."""

    content: bytes
    compressed: bytes | None
    media_type: str
    digest: str

    @property
    def etag(self) -> str:
        """The entity tag, weak because both forms share it."""
        return f'W/"{self.digest}"'


def address(name: str) -> str:
    """Return where a page finds a file of ours, or the chart library.

    It builds nothing: a page can be shown before the chart library is there.
    """
    if name == CHART_LIBRARY:
        return f"{PREFIX}/{_library_key()}/{name}"
    if name not in _files():
        raise LookupError(f"There is no static file {name!r}.")
    return f"{PREFIX}/{_files_digest()}/{name}"


def asset(name: str) -> Asset | None:
    """Return what lies at that name, the chart library included, or None."""
    return chart_library() if name == CHART_LIBRARY else static_file(name)


def static_file(name: str) -> Asset | None:
    """Return a file of ours, or None. Names are looked up in a list, never in the file system."""
    return _files().get(name)


def chart_library() -> Asset:
    """Return the script that sets `vegaEmbed`; it has to be loaded as a module.

    Its other names are its own then, and cannot meet those of another script. The first call in
    a process may take seconds; later ones cost nothing.
    """
    with _building:
        return _chart_library()


@cache
def _chart_library() -> Asset:
    folder = cache_folder("web")
    kept = folder / f"{CHART_LIBRARY}.{_library_key()}" if folder else None
    compressed = _read(kept) if kept else None
    if compressed is not None:
        return _library(gzip.decompress(compressed), compressed)
    content = _build()
    compressed = _compress(content)
    if kept is not None:
        _keep(kept, compressed)
    return _library(content, compressed)


def _library(content: bytes, compressed: bytes) -> Asset:
    return Asset(content, compressed, _MEDIA_TYPES[".js"], _digest(content))


def _build() -> bytes:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtraError("The page", "web") from None
    script: str = vl_convert.javascript_bundle(_SNIPPET)
    return script.encode()


@cache
def _library_key() -> str:
    """Return what the kept library is known by: what it was built from."""
    try:
        version = metadata.version(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        raise MissingExtraError("The page", "web") from None
    return _digest(f"{_DISTRIBUTION} {version} {_SNIPPET}".encode())


def _read(path: Path) -> bytes | None:
    """Return what was kept, or None if it is not whole, or another user put it there."""
    try:
        with path.open("rb") as file:
            if hasattr(os, "getuid") and os.fstat(file.fileno()).st_uid != os.getuid():
                return None
            checksum, _, compressed = file.read().partition(b"\n")
    except OSError:
        return None
    return compressed if checksum.decode("latin-1") == _checksum(compressed) else None


def _keep(path: Path, compressed: bytes) -> None:
    """Write all of it, under its checksum, or nothing: readers never see a part of it."""
    try:
        number, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{CHART_LIBRARY}.")
        try:
            with os.fdopen(number, "wb") as file:
                file.write(_checksum(compressed).encode() + b"\n" + compressed)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError:  # a full disk, or a folder that is not ours: it stays in memory
        return


@cache
def _files() -> Mapping[str, Asset]:
    """Return our files by name. They are read once: what is served is what was addressed."""
    found = {}
    folder = resources.files(__package__) / "static"
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        media_type = _MEDIA_TYPES.get(Path(entry.name).suffix)
        if media_type is not None and entry.is_file():
            content = entry.read_bytes()
            compressed = _compress(content) if len(content) > _WORTH_COMPRESSING else None
            if compressed is not None and len(compressed) >= len(content):
                compressed = None
            found[entry.name] = Asset(content, compressed, media_type, _digest(content))
    return found


@cache
def _files_digest() -> str:
    names = (f"{name} {file.digest}" for name, file in _files().items())
    return _digest("\n".join(names).encode())


def _compress(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest(content: bytes) -> str:
    return _checksum(content)[:_DIGEST_LENGTH]
