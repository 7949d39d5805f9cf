"""A round that is not over and has many pulls: its resolved beginning is kept, added up.

Only looks that need no verdict go on from it: sums of the same pulls in another order have other
last bits. It is kept by whoever looked and had much to read. May touch policies and core, and the
ports.
"""

from typing import NamedTuple

from ringfence.study.ahead import Ahead
from ringfence.study.facts import Head, Kept, Tally
from ringfence.study.ports import Ledger
from ringfence.study.reading import Reader

MANY = 20_000  # pulls: what fewer would save is not worth a transaction
_KIND = "begun"


class Begun(NamedTuple):
    """What one process knows of the beginning of the current round; never changed."""

    reader: Reader | None = None
    ahead: Ahead | None = None

    def gone_on_from(
        self, settled: Reader, ledger: Ledger, head: Head
    ) -> tuple[Reader, "Begun", Kept | None]:
        """Return a reader of all pulls, what is known then, and what of it is to be kept.

        The `settled` one has read all rounds before this one.
        """
        start = self._best(settled, ledger, head)
        reader = start.copied()
        reader.catch_up(ledger, head, ahead=self.ahead)
        latest = reader.latest and reader.latest.resolved()
        known = Begun(None if start is settled else start, latest)
        if latest is None or latest.read != start.read or len(latest.rows.arms) < MANY:
            return reader, known, None
        further = start.copied()
        further.begin(ledger, head, start.read + len(latest.rows.arms), latest)
        if set(further.broken) != set(start.broken):
            return reader, known, None  # what arms yield after they broke does not count
        tally = further.tally()
        kept = None if tally is None else Kept(_KIND, _key(ledger, settled), tally.content)
        return reader, Begun(further), kept

    def _best(self, settled: Reader, ledger: Ledger, head: Head) -> Reader:
        """Return who has read most of the round, of those that are of this very course."""
        known = self.reader
        if known is not None and (known.through, known.pardons) == (settled.through, head.pardons):
            return known
        if head.issued - settled.read < MANY:
            return settled
        kept = ledger.kept(_KIND, _key(ledger, settled))
        if kept is None:
            return settled
        granted = ledger.pardons() if head.pardons else ()
        found = Reader.restored(settled.plan, Tally(settled.through, kept.content), granted)
        if found is None or not settled.read < found.read <= head.issued:
            return settled
        return found


def _key(ledger: Ledger, settled: Reader) -> str:
    """Return what a beginning rests on: the study and its rounds that are over.

    What had been pardoned by then a tally says itself.
    """
    return f"{ledger.created_at.hex()}-{settled.through}"
