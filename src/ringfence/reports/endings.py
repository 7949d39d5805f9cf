"""What ended a study before its budget, in words. May touch study."""

from collections.abc import Mapping
from typing import Any

from ringfence.core.stop import CONFIDENCE
from ringfence.study.accounts import Account
from ringfence.study.plan import Plan
from ringfence.study.reading import View
from ringfence.study.stopping import PROVEN


def ending_in_words(
    plan: Plan, view: View, account: Account, blocks: Mapping[str, Any] | None
) -> list[str]:
    """Return that a proof or the items ended a study, and which arms saw all of these."""
    finished, out = view.head.finished, (blocks or {}).get("exhausted", [])
    is_proven = finished and view.last is not None and PROVEN in view.last.seen
    lines = []
    if out:
        is_end = finished and not is_proven and _is_left(account)
        end = ": the study ended with them, whatever is left of its budget" if is_end else ""
        lines.append(f"all items were seen by {', '.join(out)}{end}")
    if is_proven:
        level = plan.under(view.head.stops).stop.get("confidence", CONFIDENCE)
        lines.append(f"the study ended with a proof at {100 * level:.6g}%")
    return lines


def _is_left(account: Account) -> bool:
    """Tell whether the budget would have paid for one more pull of any arm."""
    return account.left >= max((one.price for one in account.arms), default=1.0)
