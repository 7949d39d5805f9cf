"""Parameter settings as arms: a readable name and plain keys for each. Pure."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

_LONGEST = 160
_LONGEST_VALUE = 60
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def arms_of_settings(settings: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return an arm for each setting, in order; keys are its parameters as plain values.

    Where names would be the same, or too long, the setting's place comes first.
    """
    names = [_name(setting) for setting in settings]
    often = Counter(names)
    found = {}
    for place, (name, setting) in enumerate(zip(names, settings, strict=True)):
        short = name if len(name) <= _LONGEST else name[: _LONGEST - 3] + "..."
        unique = f"{place}: {short}" if often[name] > 1 or short != name else name
        found[unique] = {str(key): plain(value) for key, value in setting.items()}
    return found


def plain(value: Any) -> Any:
    """Return a value as JSON has it, or as text that is the same in every process."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return _ADDRESS.sub("", repr(value))


def _name(setting: Mapping[str, Any]) -> str:
    parts = [f"{key}={_shown(value)}" for key, value in setting.items()]
    return ", ".join(parts) or "as it is"


def _shown(value: Any) -> str:
    words = plain(value)
    text = f"{words:g}" if isinstance(words, float) else str(words)
    if "\n" in text or len(text) > _LONGEST_VALUE:
        text = type(value).__name__ if hasattr(value, "get_params") else " ".join(text.split())
    printable = "".join(letter if letter.isprintable() else "?" for letter in text)
    return (
        printable if len(printable) <= _LONGEST_VALUE else printable[: _LONGEST_VALUE - 3] + "..."
    )
