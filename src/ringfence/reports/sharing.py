"""What pulls of different arms share, in words. Pure."""

from collections.abc import Mapping
from typing import Any

_CLAIMS = {"such": "items such as these", "these": "these items alone"}


def shared_in_words(blocks: Mapping[str, Any] | None) -> list[str]:
    """Return lines on blocks as `Status` and `Sharing.plain` have them; none without blocks."""
    if blocks is None:
        return []
    if "every" in blocks:
        return [f"the hour in which they are asked for: every {blocks['every']:g} seconds another"]
    if "items" not in blocks:
        return ["random seeds: the n-th pulls of all arms have the same"]
    often = f", each up to {blocks['repeats']} times" if blocks["repeats"] > 1 else ""
    group = f", grouped by {blocks['group']}" if "group" in blocks else ""
    twice = "; answered twice, an item gives the same" if "evaluation" in blocks else ""
    lines = [
        f"{blocks['items']} items{often}{group}: claims are of {_CLAIMS[blocks['scope']]}{twice}"
    ]
    if out := blocks.get("exhausted"):
        lines.append(f"no further items: all were seen by {', '.join(out)}")
    return lines
