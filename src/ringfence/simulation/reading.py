"""Files that a user named, opened to be read: ordinary ones only, and text of a bounded size.

A folder, a pipe or a device is refused before it is read: it would never end, or never begin.
May touch the file that was named.
"""

import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

from ringfence.core.errors import InputError
from ringfence.core.strict import read_toml

MOST_BYTES = 16 * 2**20
_KINDS = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


def opened(path: Path, *, key: str, advice: str) -> BinaryIO:
    """Return a file that is open for reading; one that is missing is a FileNotFoundError.

    `key` is what errors call the path, `advice` what they say to give instead.
    """
    try:
        # Without waiting: a pipe would have us wait for its writer before we see what it is.
        file = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(
            f"{key} = {str(path)!r} cannot be read: {error.strerror}. {advice}"
        ) from None
    except ValueError:  # a NUL byte in its name
        raise InputError(f"{key} = {str(path)!r} is no name of a file. {advice}") from None
    mode = os.fstat(file).st_mode
    if not stat.S_ISREG(mode):
        os.close(file)
        kind = _KINDS.get(stat.S_IFMT(mode), "a device")
        raise InputError(f"{key} = {str(path)!r} cannot be read: it is {kind}. {advice}")
    return os.fdopen(file, "rb")


def toml_file(path: Path, *, key: str, advice: str) -> dict[str, Any]:
    """Return what a TOML file says; one that is missing is a FileNotFoundError."""
    with opened(path, key=key, advice=advice) as file:
        try:
            content = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise InputError(
                f"{key} = {str(path)!r} cannot be read: {error.strerror}. {advice}"
            ) from None
    if len(content) > MOST_BYTES:
        raise InputError(
            f"{key} = {str(path)!r} has more than {MOST_BYTES:,} bytes, which no such file needs. "
            f"{advice}"
        )
    return toml_of(path, content)


def toml_of(path: Path, content: bytes | str) -> dict[str, Any]:
    """Return what the content of a TOML file says; an error begins with the file's name."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        return read_toml(text)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not a TOML file: it is not text in UTF-8 ({error.reason} at byte "
            f"{error.start}; utf-8). Save it as UTF-8, or restore it from a copy."
        ) from None
    except ValueError as error:
        advice = " A name is used twice: give every arm and key its own." * (
            "overwrite" in str(error) or "twice" in str(error)
        )
        raise InputError(f"{path}: not a TOML file: {error}.{advice}") from None
