"""Numbers and arrays as bytes, to the bit: the form in which a tally is kept.

A line of JSON that says what follows, then the arrays, little-endian, one after the other. What
cannot be read is no tally: the pulls are still there. May touch core.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

FORMAT = 6
TIMELESS = 5  # the format before says nothing of when pulls were told
_KINDS = {"f": "<f8", "i": "<i8"}


def pack(plain: Mapping[str, Any], arrays: Mapping[str, Any], *, timeless: bool = False) -> bytes:
    """Return plain values and arrays of floats or whole numbers as bytes.

    What goes on from a timeless tally is one.
    """
    version = TIMELESS if timeless else FORMAT
    shapes = {name: [array.dtype.kind, *array.shape] for name, array in arrays.items()}
    head = json.dumps({"format": version, "arrays": shapes, **plain}, separators=(",", ":"))
    bodies = [
        np.ascontiguousarray(array, dtype=_KINDS[array.dtype.kind]).tobytes()
        for array in arrays.values()
    ]
    return b"".join([head.encode(), b"\n", *bodies])


def is_of_other_format(content: bytes) -> bool:
    """Tell whether another version packed it; what cannot be read at all is damaged instead."""
    try:
        return bool(json.loads(content.partition(b"\n")[0])["format"] != FORMAT)
    except (ValueError, KeyError, TypeError):
        return False


def unpack(content: bytes) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return what `pack` was given, or None for what this version did not write."""
    line, _, body = content.partition(b"\n")
    try:
        plain = json.loads(line)
        if plain.pop("format") not in (TIMELESS, FORMAT):
            return None
        arrays, start = {}, 0
        for name, (kind, *shape) in plain.pop("arrays").items():
            size = math.prod(shape)
            found = np.frombuffer(body, _KINDS[kind], size, start).reshape(shape)
            arrays[name] = found.astype(found.dtype.newbyteorder("="))
            start += found.nbytes
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return (plain, arrays) if start == len(body) else None
