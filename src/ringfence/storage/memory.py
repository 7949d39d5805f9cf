"""Studies in memory: for tests, simulations and short scripts. Gone when the process ends.

May touch study and core.
"""

import copy
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

from ringfence.core.errors import MissingStudyError, NameTakenError, nearest
from ringfence.study.facts import (
    Definition,
    Harvest,
    Head,
    Kept,
    Pardon,
    PastFact,
    PullFact,
    Round,
    State,
    Tally,
)
from ringfence.study.surveying import Survey


class _Pages:
    """One study's facts; also its own ledger."""

    def __init__(self, definition: Definition, head: Head, items: Sequence[Any]) -> None:
        self.definition, self.head, self._items = definition, head, items
        self.metric_count = len(definition.metrics)
        self.created_at = time.time()
        self._rounds: list[Round] = []
        self._pulls: dict[int, PullFact] = {}
        self._issued: set[int] = set()
        self._places: dict[tuple[int, int], int] = {}
        self._past: list[PastFact] = []
        self._pardons: list[Pardon] = []
        self._tally: Tally | None = None
        self._kept: dict[str, Kept] = {}

    @property
    def now(self) -> float:
        return time.time()

    def set_head(self, head: Head) -> None:
        self.head = head

    def round(self, number: int) -> Round:
        return self._rounds[number]

    def rounds(self, start: int = 0, stop: int | None = None) -> Sequence[Round]:
        return self._rounds[start:stop]

    def rounds_at(self, numbers: Sequence[int]) -> Sequence[Round]:
        return [self._rounds[number] for number in sorted({*numbers})]

    def add_round(self, fresh: Round) -> None:
        self._rounds.append(fresh)

    def pulls(self, numbers: Sequence[int]) -> Sequence[PullFact]:
        return [self._pulls[number] for number in sorted({*numbers}) if number in self._pulls]

    def pulls_between(self, first: int, last: int) -> Sequence[PullFact]:
        numbers = range(max(first, 1), min(last, len(self._pulls)) + 1)
        return [self._pulls[number] for number in numbers]

    def pulls_with_errors(self, first: int, last: int) -> Sequence[PullFact]:
        return [pull for pull in self.pulls_between(first, last) if pull.error is not None]

    def pulls_of_arm(self, arm: int, first: int, last: int) -> Sequence[PullFact]:
        most = min(last, len(self._places))  # an arm has no more pulls than there are
        return self.pulls_at([(arm, ordinal) for ordinal in range(first, most + 1)])

    def pulls_at(self, places: Sequence[tuple[int, int]]) -> Sequence[PullFact]:
        numbers = sorted(self._places[place] for place in places if place in self._places)
        return [self._pulls[number] for number in numbers]

    def harvest(self, first: int, last: int) -> Harvest:
        return Harvest.of(self.pulls_between(first, last), self.metric_count)

    def survey(self, first: int, last: int) -> Survey | None:
        return Survey.of(self.pulls_between(first, last), self.metric_count)

    def extras(self) -> Mapping[int, Mapping[str, float]]:
        return {n: pull.extras for n, pull in sorted(self._pulls.items()) if pull.extras}

    def expired(self, now: float, most: int) -> Sequence[PullFact]:
        found = (pull for pull in self._in_flight() if pull.deadline <= now)
        return sorted(found, key=lambda pull: pull.number)[:most]

    def leases(self) -> Mapping[str | None, float]:
        latest: dict[str | None, float] = {}
        for pull in self._in_flight():
            for key in {None, pull.holder}:
                latest[key] = max(latest.get(key, pull.deadline), pull.deadline)
        return latest

    def _in_flight(self) -> Iterable[PullFact]:
        return (self._pulls[number] for number in self._issued)

    def _put(self, pull: PullFact) -> None:
        self._pulls[pull.number] = pull
        if pull.state == State.ISSUED:
            self._issued.add(pull.number)
        else:
            self._issued.discard(pull.number)

    def add_pulls(self, fresh: Iterable[PullFact]) -> None:
        for pull in fresh:
            self._before.setdefault(pull.number, None)
            self._put(pull)
            self._places[pull.arm, pull.ordinal] = pull.number

    def set_pulls(self, changed: Iterable[PullFact]) -> None:
        for pull in changed:
            self._before.setdefault(pull.number, self._pulls[pull.number])
            self._put(pull)

    def past(self, start: int = 0) -> Sequence[PastFact]:
        return self._past[start:]

    def brought(self) -> int:
        return len(self._past)

    def add_past(self, fresh: Iterable[PastFact]) -> None:
        self._past += fresh

    def pardons(self) -> Sequence[Pardon]:
        return tuple(self._pardons)

    def add_pardon(self, fresh: Pardon) -> None:
        self._pardons.append(fresh)

    def tally(self) -> Tally | None:
        return self._tally

    def set_tally(self, tally: Tally) -> None:
        self._tally = tally

    def items(self, numbers: Sequence[int]) -> Sequence[Any]:
        return [self._items[number] for number in numbers]

    def kept(self, kind: str, key: str) -> Kept | None:
        found = self._kept.get(kind)
        return found if found is not None and found.key == key else None

    def keep(self, kept: Kept) -> None:
        self._kept[kept.kind] = kept

    def begin(self) -> None:
        lengths = (len(self._rounds), len(self._past), len(self._pardons))
        self._saved = (self.head, self._tally, *lengths)
        self._before: dict[int, PullFact | None] = {}

    def roll_back(self) -> None:
        self.head, self._tally, rounds, past, pardons = self._saved
        del self._rounds[rounds:], self._past[past:], self._pardons[pardons:]
        for number, pull in self._before.items():
            if pull is not None:
                self._put(pull)
            else:
                gone = self._pulls.pop(number)
                self._issued.discard(number)
                del self._places[gone.arm, gone.ordinal]


class MemoryStorage:
    """Studies in a dictionary, one transaction at a time."""

    url = "memory://"

    def __init__(self) -> None:
        """Begin without studies."""
        self._studies: dict[str, _Pages] = {}
        self._lock = RLock()

    def __getstate__(self) -> dict[str, _Pages]:
        """Return what is pickled: the studies, without the lock."""
        with self._lock:
            return {name: copy.copy(pages) for name, pages in self._studies.items()}

    def __setstate__(self, studies: dict[str, _Pages]) -> None:
        """Take up what was pickled."""
        self._studies, self._lock = studies, RLock()

    def create(self, definition: Definition, head: Head, items: Sequence[Any] = ()) -> None:
        """Remember a new study."""
        with self._lock:
            if definition.name in self._studies:
                raise taken(definition.name)
            self._studies[definition.name] = _Pages(definition, head, tuple(items))

    def names(self) -> Sequence[str]:
        """Return the names of all studies."""
        return sorted(self._studies)

    def delete(self, name: str) -> None:
        """Forget a study."""
        with self._lock:
            self._pages(name)
            del self._studies[name]

    def keep(self, name: str, kept: Kept) -> None:
        """Remember what was worked out, if the study is still there."""
        with self._lock:
            if name in self._studies:
                self._studies[name].keep(kept)

    @contextmanager
    def writing(self, name: str) -> Iterator[_Pages]:
        """Open a transaction; what it wrote is taken back if it does not end well."""
        with self._lock:
            pages = self._pages(name)
            pages.begin()
            try:
                yield pages
            except BaseException:
                pages.roll_back()
                raise

    @contextmanager
    def reading(self, name: str) -> Iterator[_Pages]:
        """Open a view."""
        with self._lock:
            yield self._pages(name)

    def _pages(self, name: str) -> _Pages:
        if name not in self._studies:
            raise missing(name, self.names(), self.url)
        return self._studies[name]


def taken(name: str) -> NameTakenError:
    """Return the error for a name that another study has."""
    return NameTakenError(
        f"study {name!r} exists already. Load it (Study.load({name!r}, ...), or Study.create with "
        "load_if_exists=True), delete it, or give the new one another name."
    )


def missing(name: str, names: Sequence[str], url: str) -> MissingStudyError:
    """Return the error for a name that no study has."""
    known = f"It has {', '.join(names)}" if names else "It has none"
    return MissingStudyError(
        f"study {name!r} is not in {url}. {known}; create it, or correct the name."
        f"{nearest(name, names)}"
    )
