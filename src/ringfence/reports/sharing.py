"""What pulls of different arms share, in words. Pure."""

from collections.abc import Mapping
from typing import Any

_CLAIMS = {"such": "items such as these", "these": "these items alone"}
_CHOSEN = "Probabilities are approximate: pulls were chosen by what was seen"
CAVEAT = f"{_CHOSEN}, and are taken to be independent."


def claim(blocks: Mapping[str, Any] | None) -> str:
    """Return of which items a verdict speaks, as `Sharing.plain` has them; else nothing."""
    if blocks is None or "items" not in blocks:
        return ""
    if blocks["scope"] == "such":
        return "on items such as these"
    return f"on these {blocks['items']} items" + ("" if is_fixed(blocks) else ", one answer each")


def is_fixed(blocks: Mapping[str, Any] | None) -> bool:
    """Tell whether a verdict speaks of given items, of which each has but one answer."""
    return blocks is not None and blocks.get("scope") == "these" and "evaluation" in blocks


def caveat(blocks: Mapping[str, Any] | None) -> str:
    """Return what the probabilities of a verdict leave out, whatever pulls share."""
    if blocks is None:
        return CAVEAT
    if "every" in blocks:
        return f"{_CHOSEN}. Arms are compared within the hours that they share."
    if "items" not in blocks:
        return f"{_CHOSEN}. The n-th pulls of all arms have their random seed in common."
    said = f"{_CHOSEN}. Arms are compared on the items that they share."
    if blocks["scope"] == "these" and not is_fixed(blocks):
        said += " Asked again, the same items may be answered otherwise."
    return said


def shared_in_words(blocks: Mapping[str, Any] | None) -> str:
    """Return what pulls share, as `Sharing.plain` has it; nothing where they share nothing."""
    if blocks is None:
        return ""
    if "every" in blocks:
        return f"stretches of {_time_in_words(blocks['every'])}"
    if "items" not in blocks:
        return "random seeds: the n-th pulls of all arms have the same"
    often = f", each up to {blocks['repeats']} times" if blocks["repeats"] > 1 else ""
    group = f", grouped by {blocks['group']}" if "group" in blocks else ""
    twice = "; answered twice, an item gives the same" if "evaluation" in blocks else ""
    return f"{blocks['items']} items{often}{group}: claims are of {_CLAIMS[blocks['scope']]}{twice}"


def _time_in_words(seconds: float) -> str:
    """Return a time in the largest unit that it is a whole number of."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        count = seconds / size
        if count == int(count):
            return f"{count:g} {unit}" + "s" * (count != 1)
    return f"{seconds:g} seconds"
