"""What a book shows at one moment, worked out once for all who ask: evidence and beliefs.

Whoever adds to the book takes another snapshot. May touch policies and core.
"""

from functools import cached_property

import numpy as np

from ringfence.core.arrays import Integers, Mask
from ringfence.core.beliefs import Beliefs
from ringfence.policies.evidence import Evidence
from ringfence.study.book import Book


class Snapshot:
    """A book that nobody adds to any more, and what follows from it."""

    def __init__(self, book: Book) -> None:
        """Keep the book; nothing is worked out before someone asks."""
        self.book = book

    def evidence(self, alive: Mask, priority: Integers) -> Evidence:
        """Return what the rules see of some arms; limits may be relative to the baseline."""
        return self._evidence._replace(alive=alive, priority=priority)

    @cached_property
    def beliefs(self) -> Beliefs:
        """What the truth of each arm by itself may be."""
        return self.book.beliefs(self._plain)

    @cached_property
    def _plain(self) -> Evidence:
        count = len(self.book.counts)
        return self.book.plain_evidence(np.zeros(count, np.bool_), np.arange(count))

    @cached_property
    def _evidence(self) -> Evidence:
        return self.book.compared(self._plain)
