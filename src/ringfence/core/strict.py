"""Strict JSON, out and in: null for what is infinite or undefined, each key once. TOML, in.

What comes in is nested to a depth that everything after it can follow. Touches nothing.
"""

import json
import math
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from ringfence.core.errors import InputError, one_line

DEEPEST = 64
_LARGEST = 2**63  # of TOML's whole numbers
# More parts of a dotted key than a table can be deep; the parser takes their square in time.
# A quote after a backslash belongs to the text around it, and begins no part of a key.
_LONG_KEY = re.compile(
    r"""(?<![\w"'\\-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){64}"""
)
_TOO_DEEP = f"nested too deeply: more than {DEEPEST} levels"


def strict(value: Any) -> Any:
    """Return the value with infinite and undefined numbers replaced by None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: strict(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [strict(entry) for entry in value]
    return value


def strict_json(document: Any, *, indent: int | None = None) -> str:
    """Return one strict JSON document in ASCII, which any text can be written in."""
    separators = (",", ":") if indent is None else None
    return json.dumps(strict(document), allow_nan=False, indent=indent, separators=separators)


def read_json(text: str | bytes) -> Any:
    """Return a document in which no object has a key twice; what is no JSON is a ValueError."""
    try:
        found = json.loads(text, object_pairs_hook=_each_once)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    opening = (b"[", b"{") if isinstance(text, bytes) else ("[", "{")
    if sum(map(text.count, opening)) > DEEPEST:  # type: ignore[arg-type]
        _require_shallow(found)
    return found


def read_toml(text: str) -> dict[str, Any]:
    """Return a TOML document; what is none is a ValueError."""
    if _LONG_KEY.search(text):
        raise ValueError(_TOO_DEEP)
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # of a number that Python would take too long to read
        raise ValueError(f"it has a number that cannot be used: {error}") from None
    _require_shallow(found, _LARGEST)
    return found


def _require_shallow(document: Any, largest: float = math.inf) -> None:
    """Refuse what is nested too deeply, and whole numbers beyond the largest."""
    level: list[Any] = [[document]]
    depth = 0
    while level:
        if depth > DEEPEST:
            raise ValueError(_TOO_DEEP)
        entries: list[Any] = []
        for one in level:
            entries += one.values() if isinstance(one, dict) else one
        if any(isinstance(one, int) and abs(one) > largest for one in entries):
            raise ValueError("a whole number has more than the 64 bits that TOML gives it")
        level = [one for one in entries if isinstance(one, dict | list)]
        depth += 1


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(
                f"key {one_line(key)!r} is there twice in one JSON object. Give each key once."
            )
        found[key] = value
    return found
