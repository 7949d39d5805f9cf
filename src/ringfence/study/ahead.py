"""What was read of pulls before their round was over, and need not be read again.

May touch the ports.
"""

from typing import NamedTuple

from ringfence.study.facts import Harvest
from ringfence.study.ports import Ledger


class Ahead(NamedTuple):
    """Pulls after number `read`, as they were found when so many pardons had been granted."""

    read: int
    rows: Harvest
    pardons: int

    def resolved(self) -> "Ahead":
        """Return those before the first that may still change."""
        rows = self.rows
        is_open = rows.is_charged & ~rows.is_told & ~rows.is_failed
        until = int(is_open.argmax()) if is_open.any() else None
        return self._replace(rows=rows.part(slice(until)))


def harvest_of(ledger: Ledger, first: int, last: int, ahead: Ahead | None) -> Harvest:
    """Return what became of a stretch of pulls, reading only what is not ahead."""
    if ahead is None or ahead.read != first - 1:
        return ledger.harvest(first, last)
    known = ahead.rows.part(slice(last - ahead.read))
    start = first + len(known.arms)
    return known if start > last else Harvest.joined([known, ledger.harvest(start, last)])
