"""The items that pulls are on, as they were kept with the study: whoever has it has them.

May touch policies and core, and the ports.
"""

import copy
import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from ringfence.study.facts import PullFact
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger, Storage

_MOST_KNOWN = 10_000


def hash_of(items: Iterable[Any]) -> str:
    """Return a hash of items in their order: the same content, the same hash."""
    found = hashlib.sha256()
    for item in items:
        found.update(json.dumps(item, sort_keys=True, ensure_ascii=True).encode() + b"\n")
    return found.hexdigest()


class Items:
    """The items of one study; what was read lately is not read again."""

    def __init__(self, plan: Plan, storage: Storage) -> None:
        """Begin without any."""
        self._plan, self._storage = plan, storage
        self._known: dict[int, Any] = {}

    def fetch(self, ledger: Ledger, pulls: Sequence[PullFact]) -> None:
        """Read the items of pulls, so that nothing need be read when they are evaluated."""
        if not self._plan.sharing.are_kept:
            return
        wanted = {self._plan.sharing.item_of(pull.ordinal) for pull in pulls}
        missing = sorted(wanted.difference(self._known))
        if len(self._known) + len(missing) > _MOST_KNOWN:
            self._known = {key: self._known[key] for key in wanted.difference(missing)}
        self._known |= zip(missing, ledger.items(missing), strict=True)

    def of(self, pull: PullFact) -> Any:
        """Return the item of a pull, a copy of one's own; None in a study without items."""
        sharing = self._plan.sharing
        if not sharing.has_items:
            return None
        number, known = sharing.item_of(pull.ordinal), self._known
        if not sharing.are_kept:
            return number
        if number not in known:
            with self._storage.reading(self._plan.definition.name) as ledger:
                self.fetch(ledger, [pull])
            known = self._known
        return copy.deepcopy(known[number])
