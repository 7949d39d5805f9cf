"""Open studies of one storage, shared by all requests: read once, looked at again when they change.

Looking only reads. May touch every room.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any

from ringfence.core.attributes import Functions
from ringfence.core.errors import InputError, MissingStudyError, RingfenceError
from ringfence.core.money import PULLS
from ringfence.core.pricing import Pricing
from ringfence.interfaces.checking import study_name
from ringfence.interfaces.leases import Status
from ringfence.interfaces.shared_views import outcomes_in
from ringfence.interfaces.storages import open_storage
from ringfence.interfaces.studies import Study
from ringfence.interfaces.study_plans import seen_instance
from ringfence.interfaces.web.work import StudySource
from ringfence.storage.memory import MemoryStorage
from ringfence.study.facts import Head
from ringfence.study.outcomes import Outcomes
from ringfence.study.reading import View
from ringfence.study.verdict import Verdict, in_the_running
from ringfence.study.waiting import Said

_PATIENCE = 4.0  # a look is good for that many times as long as it took


@dataclass(frozen=True, eq=False)
class Look:
    """A study as it was seen at one moment; without a verdict while nothing can be judged."""

    study: Study
    pulse: str
    view: View
    status: Status
    verdict: Verdict | None

    @cached_property
    def outcomes(self) -> Outcomes:
        """What arms did on items or in hours that they share, as it was when it was first asked."""
        return outcomes_in(self.study.desk)

    @cached_property
    def failures(self) -> list[Said]:
        """What failed pulls said, by arm."""
        return self.study.desk.failures()

    @cached_property
    def can_be_planned(self) -> bool:
        """Whether another process can plan from what was seen."""
        if self.study.desk.storage.url == MemoryStorage.url:
            return False
        try:
            seen_instance(self.study, self.view)
        except RingfenceError:
            return False
        return True


def _funds(head: Head, kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return budget and spending of a study by its head, in the unit of its budget."""
    if not kept:
        return {"budget": head.budget, "unit": PULLS, "spent": head.charged}
    pricing = Pricing.from_dict(kept)
    budget, spent = (float(pricing.decimal(one)) for one in (head.budget, head.charged))
    return {"budget": budget, "unit": pricing.unit, "spent": spent}


@dataclass(eq=False)
class _Place:
    study: Study
    created_at: float
    lock: Lock = field(default_factory=Lock)
    look: Look | None = None
    good_until: float = 0.0


class Shelf:
    """The studies of a storage by name."""

    def __init__(
        self,
        storage: str,
        functions: Mapping[str, Functions] | None = None,
        *,
        exists: bool = False,
    ) -> None:
        """Open a storage; `functions` are attributes of users' own, by study.

        With `exists`, a file that is missing is refused rather than made.
        """
        self.storage = open_storage(storage, exists=exists)
        self._url = storage
        self._functions = functions or {}
        self._places: dict[str, _Place] = {}
        self._lock = Lock()

    def names(self) -> list[str]:
        """Return the names of all studies."""
        return list(self.storage.names())

    def study(self, name: str) -> Study:
        """Return a study that exists; it is loaded once."""
        return self._place(name).study

    def source(self, name: str) -> StudySource:
        """Return how another process finds a study that exists."""
        found = self.study(name)
        if self._url == MemoryStorage.url:
            raise InputError(
                f"study {name!r} is kept in memory, where no other process finds it. Keep it in a "
                "file, with storage = 'sqlite:///NAME.db'."
            )
        return StudySource(found.name, self._url, self._functions.get(name))

    def brief(self, name: str) -> dict[str, Any]:
        """Return where a study stands by its head alone: one row, whatever its size."""
        with self.storage.reading(possible(name)) as ledger:
            head, created_at, pricing = ledger.head, ledger.created_at, ledger.definition.pricing
        return {
            "name": name,
            "done": head.issued - head.unresolved,
            "in_flight": head.unresolved,
            **_funds(head, pricing),
            "finished": head.finished,
            "stopped_at": head.stopped_at,
            "archived_at": head.archived_at,
            "created_at": created_at,
        }

    def news(self, name: str) -> dict[str, Any]:
        """Return where a study stands, with a word by which a reader knows whether it has that.

        The word is read first: what changes in between is news again. The other way round it
        would be taken for known, and lost.
        """
        version = self.pulse(name)
        return self.brief(name) | {"version": version}

    def listing(self) -> list[dict[str, Any]]:
        """Return where every study stands, those that can still be read."""
        found = []
        for name in self.names():
            with suppress(MissingStudyError):  # deleted a moment ago
                found.append(self.brief(name))
        return found

    def pulse(self, name: str) -> str:
        """Return a word that changes whenever the study does, cheaply."""
        return self._place(name).study.version()

    def look(self, name: str) -> Look:
        """Return the study as it is, or as it was a moment ago.

        One thread looks, the others wait for it. The longer a look takes, the rarer it is.
        """
        place = self._place(name)
        with place.lock:
            if place.look is not None and time.monotonic() < place.good_until:
                return place.look
            pulse = place.study.version()
            if place.look is None or place.look.pulse != pulse:
                started = time.monotonic()
                place.look = _looked(place.study, pulse)
                ended = time.monotonic()
                place.good_until = ended + _PATIENCE * (ended - started)
            return place.look

    def _place(self, name: str) -> _Place:
        with self.storage.reading(possible(name)) as ledger:
            created_at = ledger.created_at
        with self._lock:
            place = self._places.get(name)
            if place is None or place.created_at != created_at:  # a name may be used again
                study = Study.load(name, storage=self.storage, functions=self._functions.get(name))
                place = self._places[name] = _Place(study, created_at)
            return place


def _looked(study: Study, pulse: str) -> Look:
    view = study.view()
    verdict = study.verdict_on(view) if in_the_running(view).any() else None
    return Look(study, pulse, view, study.status(view, verdict), verdict)


def possible(name: str) -> str:
    """Return a name that a study can have: no other one is looked up."""
    try:
        return study_name(name)
    except InputError as error:
        raise MissingStudyError(f"there is no such study: {error}") from None
