"""What every log is read into: an option's metrics on an item. May touch core."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any

from ringfence.core.errors import InputError, one_line
from ringfence.core.strict import read_json

PRICES = ("input_tokens", "output_tokens", "seconds", "price")
"""What an answer took, as far as a log says: `price` in the currency of the log."""


@dataclass(frozen=True)
class Entry:
    """One answer: who gave it, to what, and how it was judged. A metric may be missing.

    `group` is the task of the item, `content` a text by which the same item is known again,
    `setting` what tells two options of one name apart.
    """

    option: str
    item: str
    metrics: Mapping[str, float]
    source: str
    group: str = ""
    content: str | None = None
    setting: Mapping[str, Any] = field(default_factory=dict)


def number_of(value: Any) -> float | None:
    """Return a number, also of a truth value or a text that is one; None of anything else."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if not isinstance(value, Real) or not math.isfinite(value):
        return None
    return float(value)


def metric_name(text: str) -> str:
    """Return a name that expressions can hold."""
    name = re.sub(r"\W+", "_", text).strip("_") or "metric"
    return f"m_{name}" if name[0].isdigit() else name


def json_of(content: bytes | str, place: str) -> Any:
    """Return a JSON document; `place` is what errors call it."""
    try:
        return read_json(content)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    except ValueError as error:
        raise InputError(
            f"{place} is not JSON: {one_line(str(error))}. Give a log as its tool wrote it."
        ) from None


def member(
    found: Any, key: str, kind: type | tuple[type, ...], place: str, *, default: Any = None
) -> Any:
    """Return a value of a kind under a key; without a default it has to be there."""
    value = found.get(key) if isinstance(found, Mapping) else None
    if value is None and default is not None:
        return default
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join(_KINDS[one] for one in kinds)
        said = "is missing" if value is None else f"= {one_line(repr(value), 60)}"
        raise InputError(f"{place}: {key} {said}, and must be {wanted}. Give a complete log.")
    return value


def named(path: Path) -> str:
    """Return what errors call a log."""
    return f"log = {str(path)!r}"


_KINDS = {
    dict: "an object",
    list: "a list",
    str: "a text",
    int: "a whole number",
    float: "a number",
}
