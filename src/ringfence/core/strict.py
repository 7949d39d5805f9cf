"""Strict JSON, out and in: null for what is infinite or undefined, each key once.

Touches nothing.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from ringfence.core.errors import InputError, one_line


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
        return json.loads(text, object_pairs_hook=_each_once)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(
                f"key {one_line(key)!r} is there twice in one JSON object. Give each key once."
            )
        found[key] = value
    return found
