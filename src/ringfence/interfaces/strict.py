"""Strict JSON for every interface: what is infinite or undefined becomes null. Touches nothing."""

import json
import math
from collections.abc import Mapping
from typing import Any


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
