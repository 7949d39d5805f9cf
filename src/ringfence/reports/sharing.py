"""What pulls of different arms share, in words. Pure."""

from collections.abc import Mapping
from typing import Any

_CLAIMS = {"such": "items such as these", "these": "these items alone"}


def shared_in_words(blocks: Mapping[str, Any] | None) -> str:
    """Return what pulls share, as `Sharing.plain` has it; nothing where they share nothing."""
    if blocks is None:
        return ""
    if "every" in blocks:
        return f"hours, of {blocks['every']:g} seconds each"
    if "items" not in blocks:
        return "random seeds: the n-th pulls of all arms have the same"
    often = f", each up to {blocks['repeats']} times" if blocks["repeats"] > 1 else ""
    group = f", grouped by {blocks['group']}" if "group" in blocks else ""
    twice = "; answered twice, an item gives the same" if "evaluation" in blocks else ""
    return f"{blocks['items']} items{often}{group}: claims are of {_CLAIMS[blocks['scope']]}{twice}"


def exhausted_in_words(blocks: Mapping[str, Any] | None, *, finished: bool) -> str:
    """Return which arms in the running have seen all items, as `Status` has it; else nothing."""
    out = [] if blocks is None else blocks.get("exhausted", [])
    if not out:
        return ""
    end = ": the study ended with them, whatever is left of its budget" if finished else ""
    return f"all items were seen by {', '.join(out)}{end}"
