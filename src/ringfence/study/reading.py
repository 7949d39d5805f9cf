"""Reads what a study's pulls became into a book: each round once, in the order of its numbers.

May touch policies and core, and the ports.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.study.book import Book
from ringfence.study.deciding import Plan, Standing
from ringfence.study.facts import Departure, Harvest, Head, PastFact, Rejection, Round, Tally
from ringfence.study.packing import pack, unpack
from ringfence.study.ports import Ledger

_AT_ONCE = 256  # rounds whose pulls are read together
_FEW = 32  # stretches of kept observations, before they are made one


@dataclass(frozen=True, eq=False)
class View:
    """Where a study stands and what it has seen; `last` is its latest round.

    `used` pulls were evaluated and charged. `samples` [pull, metric] are by arm, where an
    attribute as it was written cannot do without them, and none elsewhere. `errors` are, by arm
    and on one line, what the last failed pulls of arms said that were withdrawn for failing.
    """

    head: Head
    last: Round | None
    departures: tuple[Departure, ...]
    book: Book
    used: int
    samples: tuple[Floats, ...]
    brought: int
    told: int
    failed: int
    errors: Mapping[int, str]
    failures: Integers


class Ahead(NamedTuple):
    """Pulls after number `read`, as they were found."""

    read: int
    rows: Harvest

    def resolved(self) -> "Ahead":
        """Return those before the first that may still change."""
        rows = self.rows
        is_open = rows.is_charged & ~rows.is_told & ~rows.is_failed
        return Ahead(self.read, rows.part(slice(int(is_open.argmax()) if is_open.any() else None)))


class Reader:
    """Reads rounds into a book, each once, in order.

    It has read the rounds `through`, with their pulls up to number `read`, and the first `past`
    observations that were brought along.
    """

    def __init__(self, plan: Plan) -> None:
        """Begin before the first round."""
        self.plan = plan
        self.book = plan.new_book()
        self.through = -1
        self.read = self.past = 0
        self.last: Round | None = None
        self.latest: Ahead | None = None
        self.departures: tuple[Departure, ...] = ()
        self.told = self.failed = self.used = 0
        self.failures = np.zeros(plan.arm_count, np.int64)
        self.broken: dict[int, int] = {}
        self._failing = np.zeros(plan.arm_count, np.int64)
        self._spent = 0
        self.kept = _Rows()

    def copied(self) -> "Reader":
        """Return a reader that can go on without this one: other threads may be looking at it."""
        other = copy.copy(self)
        vars(other).update(
            book=self.book.copied(),
            broken=dict(self.broken),
            failures=self.failures.copy(),
            _failing=self._failing.copy(),
        )
        return other

    def catch_up(
        self, ledger: Ledger, head: Head, *, keep: bool = False, ahead: Ahead | None = None
    ) -> Standing:
        """Read what is new; a round that is not over is read as far as it goes.

        With `keep` the observations themselves are kept too, for `samples`. Pulls that are
        `ahead` are not read again.
        """
        if keep:
            self._keep_skipped(ledger)
        brought = ledger.past(self.past)
        for start in range(self.through + 1, head.round + 1, _AT_ONCE):
            rounds = ledger.rounds(start, min(start + _AT_ONCE, head.round + 1))
            first, end = self.read + 1, min(_end(rounds[-1]), head.issued)
            harvest = _harvest(ledger, first, end, ahead) if end >= first else None
            for one in rounds:
                brought = self._bring(brought, one.number - 1)
                if harvest is not None and one.size:
                    place = one.first - first
                    self._add(harvest.part(slice(place, place + one.size)))
                self.departures += tuple(Departure(x, one.number, one.phase) for x in one.left)
                self.through, self.last = one.number, one
            if harvest is not None:
                self.kept = self.kept.followed_by(harvest, end) if keep else self.kept
                self.latest, self.read = Ahead(self.read, harvest), end
        self._bring(brought, head.round)
        return Standing(head.budget, self._spent, tuple(self.broken))

    def _bring(self, brought: Sequence[PastFact], round_number: int) -> Sequence[PastFact]:
        """Add observations that were brought along by the end of a round; return the others."""
        for place, past in enumerate(brought):
            if past.after > round_number:
                return brought[place:]
            self.book.add(past.arm, np.array([past.values]))
            self.past += 1
        return ()

    def _add(self, harvest: Harvest) -> None:
        """Add a round's observations, arm by arm in the order of ordinals.

        What an arm yields after it failed too often in a row is left out: how much there is
        depends on who was quicker. For the same reason the rest of its round counts as spent,
        whether it was evaluated or not.
        """
        is_over = harvest.is_told | harvest.is_failed
        is_used = harvest.is_charged & is_over
        self.told += int(np.count_nonzero(harvest.is_told))
        self.failed += int(np.count_nonzero(harvest.is_failed))
        np.add.at(self.failures, harvest.arms[harvest.is_failed & harvest.is_charged], 1)
        self.used += int(np.count_nonzero(is_used))
        for arm, mine in _by_arm(harvest.arms, self.plan.arm_count):
            good = mine[: self._good(arm, harvest.is_failed[mine])]
            self._spent += int(np.count_nonzero(is_used[good]))
            self._spent += len(mine) - len(good)
            self.book.add(arm, harvest.values[good[harvest.is_told[good]]])
            if arm in self.broken:
                self.broken[arm] = int(harvest.ordinals[good[-1]])

    def _good(self, arm: int, failed: Any) -> int:
        """Return how many of an arm's pulls count: up to the one that broke it."""
        most = self.plan.definition.max_failures
        if not failed.any():
            self._failing[arm] = 0
            return len(failed)
        for place, one in enumerate(failed):
            self._failing[arm] = self._failing[arm] + 1 if one else 0
            if self._failing[arm] >= most:
                self.broken[arm] = place
                return place + 1
        return len(failed)

    @property
    def progress(self) -> tuple[int, int, int]:
        """How far it has come: rounds, then what was brought along, then what was kept."""
        return self.through, self.past, self.kept.read

    @property
    def is_kept(self) -> bool:
        """Whether the observations that were read were all kept."""
        return self.kept.read == self.read

    def take_kept(self, other: "Reader") -> None:
        """Take over what another, that has not come further, has kept."""
        if other.kept.read > self.kept.read:
            self.kept = other.kept

    def _keep_skipped(self, ledger: Ledger) -> None:
        """Read observations that a tally stood for."""
        if not self.is_kept:
            harvest = ledger.harvest(self.kept.read + 1, self.read)
            self.kept = self.kept.followed_by(harvest, self.read)

    def samples(self, past: Sequence[PastFact]) -> tuple[Floats, ...]:
        """Return all kept observations by arm that count, those that were brought along first."""
        earlier: dict[int, list[tuple[float, ...]]] = {}
        for one in past:
            earlier.setdefault(one.arm, []).append(one.values)
        found = self.kept.by_arm(self.plan.arm_count, len(self.plan.metrics), self.broken)
        for arm, values in earlier.items():
            found[arm] = np.concatenate([np.array(values), found[arm]])
        return tuple(found)

    def failing_pulls(self, arm: int) -> list[tuple[int, int]]:
        """Return where the failures are that an arm was withdrawn for, by arm and ordinal.

        The one that broke it, or any of its few pulls where too few succeeded.
        """
        if arm in self.broken:
            return [(arm, self.broken[arm])]
        if self.last is None or self.book.is_seen[arm]:
            return []  # it was withdrawn because of another
        count = self.last.before[arm] + self.last.allocation[arm]
        return [(arm, ordinal) for ordinal in range(count)]

    def tally(self) -> Tally | None:
        """Return what was read as a tally; None where sums do not suffice."""
        sums = self.book.sums()
        if sums is None:
            return None
        plain = {
            "read": self.read,
            "past": self.past,
            "told": self.told,
            "failed": self.failed,
            "used": self.used,
            "spent": self._spent,
            "broken": list(self.broken.items()),
            "failures": self.failures.tolist(),
            "failing": [(int(a), int(self._failing[a])) for a in np.flatnonzero(self._failing)],
            "departures": [
                (*vars(one.rejection).values(), one.round, one.phase) for one in self.departures
            ],
        }
        return Tally(self.through, pack(plain, sums))

    @classmethod
    def restored(cls, plan: Plan, tally: Tally) -> "Reader | None":
        """Return the reader that wrote a tally, or None where this version cannot tell."""
        found = unpack(tally.content)
        if found is None:
            return None
        plain, sums = found
        reader = cls(plan)
        reader.book.restore(sums)
        reader.through, reader.read, reader.past = tally.through, plain["read"], plain["past"]
        reader.told, reader.failed, reader.used = plain["told"], plain["failed"], plain["used"]
        reader._spent = plain["spent"]
        reader.broken = dict(plain["broken"])
        reader.failures[:] = plain["failures"]
        for arm, count in plain["failing"]:
            reader._failing[arm] = count
        reader.departures = tuple(
            Departure(Rejection(*rejection), number, phase)
            for *rejection, number, phase in plain["departures"]
        )
        return reader


class _Rows:
    """Observations that were kept, of the pulls up to number `read`. Never changed."""

    def __init__(self, read: int = 0, parts: tuple[tuple[Any, Any, Any], ...] = ()) -> None:
        self.read, self.parts = read, parts

    def followed_by(self, harvest: Harvest, read: int) -> "_Rows":
        told = harvest.is_told
        part = (harvest.arms[told], harvest.ordinals[told], harvest.values[told])
        parts = (*self.parts, part)
        if len(parts) > _FEW:
            parts = (_joined(parts),)
        return _Rows(read, parts)

    def by_arm(self, arm_count: int, width: int, broken: Mapping[int, int]) -> list[Floats]:
        """Return the observations of each arm up to the pull that broke it."""
        samples = [np.zeros((0, width))] * arm_count
        if self.parts:
            arms, ordinals, values = _joined(self.parts)
            for arm, mine in _by_arm(arms, arm_count):
                good = mine[ordinals[mine] <= broken[arm]] if arm in broken else mine
                samples[arm] = values[good]
        return samples


def _joined(parts: Sequence[tuple[Any, Any, Any]]) -> tuple[Any, Any, Any]:
    arms, ordinals, values = zip(*parts, strict=True)
    return np.concatenate(arms), np.concatenate(ordinals), np.concatenate(values)


def _by_arm(arms: Integers, arm_count: int) -> Iterator[tuple[int, Integers]]:
    """Yield each arm that occurs with its places, in order: by one sort, however many arms."""
    small = np.uint16 if arm_count <= 2**16 else np.int64  # short ones are sorted by digits
    order = np.argsort(arms.astype(small), kind="stable")
    ordered = arms[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1)).tolist()
    for start, stop in pairwise([*starts, len(order)]):
        yield int(ordered[start]), order[start:stop]


def _harvest(ledger: Ledger, first: int, last: int, ahead: Ahead | None) -> Harvest:
    """Return what became of a stretch of pulls, reading only what is not ahead."""
    if ahead is None or ahead.read != first - 1:
        return ledger.harvest(first, last)
    known = ahead.rows.part(slice(last - ahead.read))
    start = first + len(known.arms)
    return known if start > last else Harvest.joined([known, ledger.harvest(start, last)])


def _end(one: Round) -> int:
    """Return the number of a round's last pull."""
    return one.first + one.size - 1
