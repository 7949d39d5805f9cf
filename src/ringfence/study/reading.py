"""Reads what a study's pulls became into a book: each round once, in the order of its numbers.

May touch policies and core, and the ports.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.pricing import Paid
from ringfence.study.ahead import Ahead, harvest_of
from ringfence.study.book import Book
from ringfence.study.facts import (
    Departure,
    Harvest,
    Head,
    Pardon,
    PastFact,
    Round,
    Tally,
    rejection_of,
)
from ringfence.study.keeping import Rows, by_arm
from ringfence.study.packing import pack, unpack
from ringfence.study.paying import Open, account_of, add_settled, copied
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger
from ringfence.study.snapshot import Snapshot
from ringfence.study.standing import Standing

_AT_ONCE = 256  # rounds whose pulls are read together


@dataclass(frozen=True, eq=False)
class View:
    """Where a study stands and what it has seen; `last` is its latest round.

    `alive` are the arms of that round, and those that come `back` with the next decision: these
    are not among the `departures` any more.
    `used` pulls were evaluated and charged. `samples` [pull, metric] are by arm, where an
    attribute as it was written cannot do without them, and none elsewhere. `failed` pulls are
    charged and nothing was told in their place; `failures` are, by arm, those and the pulls where
    something was. `lost` ones count as neither. `errors` are, by arm and on one line, what the
    last failed pulls of arms said that were withdrawn for failing. `harvest` are all pulls, where a
    proof ends the study. `paid` is what settled pulls took, and `open` what is known of the
    others, where the budget has a unit.
    """

    created_at: float
    head: Head
    last: Round | None
    alive: tuple[bool, ...]
    departures: tuple[Departure, ...]
    book: Book
    used: int
    samples: tuple[Floats, ...]
    brought: int
    told: int
    failed: int
    lost: int
    failures: Integers
    errors: Mapping[int, str]
    harvest: Harvest | None = None
    paid: Paid | None = None
    open: Open | None = None

    @property
    def pulse(self) -> str:
        """A word that is another for every other view."""
        return pulse_of(self.created_at, self.head, self.brought)

    @cached_property
    def snapshot(self) -> Snapshot:
        """What the book shows: whoever has this view shares it."""
        return Snapshot(self.book)


class Reader:
    """Reads rounds into a book, each once, in order.

    It has read the rounds `through`, with their pulls up to number `read`, and the first `past`
    observations that were brought along; all as they are after the first `pardons`. A further
    pardon changes what was read: then everything is read again, which happens once an outage.
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
        self.told = self.failed = self.lost = self.used = 0
        self.failures = np.zeros(plan.arm_count, np.int64)
        self.broken: dict[int, int] = {}
        self._missing = np.zeros(plan.arm_count, np.int64)
        self._failing = np.zeros(plan.arm_count, np.int64)
        self._lost = np.zeros(plan.arm_count, np.int64)  # of the last round
        self._read_of = np.zeros(plan.arm_count, np.int64)  # pulls, whatever became of them
        self._spent = 0  # an amount
        self._prices = plan.prices
        self._account = account_of(plan)
        self._granted: tuple[Pardon, ...] = ()
        self._void: Integers = np.zeros(0, np.int64)
        self._since = np.zeros(plan.arm_count, np.int64)
        self.kept = Rows()

    def copied(self) -> "Reader":
        """Return a reader that can go on without this one: other threads may be looking at it."""
        other = copy.copy(self)
        vars(other).update(
            book=self.book.copied(),
            broken=dict(self.broken),
            failures=self.failures.copy(),
            _missing=self._missing.copy(),
            _failing=self._failing.copy(),
            _lost=self._lost.copy(),
            _read_of=self._read_of.copy(),
            _account=copied(self._account),
        )
        return other

    @property
    def pardons(self) -> int:
        """How many pardons it knows of."""
        return len(self._granted)

    @property
    def void(self) -> list[int]:
        """The numbers of the pulls that no longer count."""
        return list(self._void.tolist())

    def since(self, arm: int) -> int:
        """Return the ordinal from which on an arm's failures count, if it was pardoned."""
        return int(self._since[arm])

    def heed(self, ledger: Ledger, count: int) -> None:
        """Take up the first so many pardons; if they are others than it knows, begin anew."""
        if count == self.pardons:
            return
        vars(self).update(vars(Reader(self.plan)))
        self._take_up(ledger.pardons()[:count])

    def _take_up(self, granted: Sequence[Pardon]) -> None:
        self._granted = tuple(granted)
        void = {number for pardon in granted for number in pardon.void}
        self._void = np.array(sorted(void), dtype=np.int64)
        for arm, ordinal in (one for pardon in granted for one in pardon.arms):
            self._since[arm] = max(self._since[arm], ordinal)

    def catch_up(
        self,
        ledger: Ledger,
        head: Head,
        *,
        until: int | None = None,
        keep: bool = False,
        ahead: Ahead | None = None,
    ) -> Standing:
        """Read what is new; a round that is not over is read as far as it goes, or `until` a pull.

        With `keep` the observations themselves are kept too, for `samples`. Pulls that are
        `ahead` are not read again.
        """
        self.heed(ledger, head.pardons)
        if ahead is not None and ahead.pardons != head.pardons:
            ahead = None  # some were issued again
        if keep:
            self._keep_skipped(ledger)
        brought = ledger.past(self.past)
        for start in range(self.through + 1, head.round + 1, _AT_ONCE):
            rounds = ledger.rounds(start, min(start + _AT_ONCE, head.round + 1))
            first = self.read + 1
            harvest = self._found(ledger, rounds[-1].through, ahead, keep=keep)
            for one in rounds:
                if self.last is not None:
                    self._add_until(min(self.last.seen_next, one.through), harvest, first)
                brought = self._bring(brought, one.number - 1)
                self._add_until(one.through, harvest, first)
                if one.through == self.read:  # else it was begun
                    self._replace_lost(one)
                self._part(one)
                self.through, self.last = one.number, one
        first, end, harvest = self.read + 1, 0, None
        if self.last is not None:
            end = min(self.last.end, head.issued) if until is None else until
            harvest = self._found(ledger, end, ahead, keep=keep)
            self._add_until(min(self.last.seen_next, end), harvest, first)
        self._bring(brought, head.round)
        self._add_until(end, harvest, first)
        in_flight, (prices, reserves) = self.in_flight, self.prices
        return Standing(
            budget=head.budget,
            spent=self.spent,
            broken=tuple(self.broken),
            back=self.back,
            missing=tuple(self._missing.tolist()),
            lost=tuple(self._lost.tolist()),
            gone=tuple((one.rejection.arm, one.phase) for one in self.departures),
            in_flight=in_flight,
            prices=prices,
            reserves=reserves,
        )

    @property
    def spent(self) -> int:
        """What was taken of the budget, as decisions count it."""
        if self._account is None or not self.plan.learns_prices:
            return self._spent
        return int(self._account.spent.sum()) + sum(amount for _, amount in self._sunk)

    @property
    def paid(self) -> Paid | None:
        """What settled pulls took, by arm, where the budget has a unit."""
        if self._account is None or not self._sunk:
            return self._account
        found = Paid(*(one.copy() for one in self._account))
        for arm, amount in self._sunk:
            found.spent[arm] += amount
        return found

    @property
    def prices(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What a pull of each arm costs, and what it reserves, by what was read so far."""
        if self._account is None:
            return self._prices, self._prices
        return self.plan.learned(self._account)

    @property
    def _sunk(self) -> list[tuple[int, int]]:
        """What was told as the cost of pulls that no longer count, by arm: it stays spent."""
        return [one for pardon in self._granted for one in pardon.sunk]

    def _found(
        self, ledger: Ledger, last: int, ahead: Ahead | None, *, keep: bool
    ) -> Harvest | None:
        """Return what became of the pulls after those that were read, up to number `last`."""
        first = self.read + 1
        if last < first:
            return None
        found = harvest_of(ledger, first, last, ahead)
        harvest = self._valid(found, first)
        self.latest = Ahead(self.read, found, self.pardons)
        self.kept = self.kept.followed_by(harvest, last) if keep else self.kept
        return harvest

    def _add_until(self, last: int, harvest: Harvest | None, first: int) -> None:
        """Add the pulls up to number `last`, of a harvest that begins with number `first`."""
        if harvest is not None and last > self.read:
            fresh = harvest.part(slice(self.read + 1 - first, last + 1 - first))
            self._add(fresh, self.read + 1)
            self.read = last

    @property
    def in_flight(self) -> tuple[int, ...]:
        """Return by arm the pulls that were decided and not read; none where rounds are whole."""
        if self.last is None or self.last.lag == 1:
            return ()
        promised = np.array(self.last.before) + np.array(self.last.allocation)
        return tuple((promised - self._read_of).tolist())

    def begin(self, ledger: Ledger, head: Head, until: int, ahead: Ahead | None) -> None:
        """Read the first pulls of the round that is not over, up to number `until`.

        They must be resolved. The round is gone on with later: the same pulls, added up in another
        order, and so with other last bits.
        """
        brought, current = ledger.past(self.past), ledger.round(head.round)
        self._bring(brought, current.number - 1)
        if current.through == self.read:
            self._replace_lost(current)
        first = self.read + 1
        self._add(self._valid(harvest_of(ledger, first, until, ahead), first), first)
        self.read = until

    def _replace_lost(self, one: Round) -> None:
        """Take lost pulls for never made where a round gives others in their place."""
        is_given = np.array(one.allocation) > 0
        self._missing += np.where(is_given & ~self.book.is_seen, self._lost, 0)
        self._lost[:] = 0

    def _valid(self, harvest: Harvest, first: int) -> Harvest:
        """Return a stretch of pulls, the void ones as if they had been cancelled."""
        start, stop = np.searchsorted(self._void, (first, first + len(harvest.arms)))
        return harvest.without(self._void[start:stop] - first)

    def _part(self, one: Round) -> None:
        """Remember which arms left with a round; those that came back have not."""
        if self._granted:
            self.departures = tuple(
                gone for gone in self.departures if not one.alive[gone.rejection.arm]
            )
        self.departures += tuple(Departure(x, one.number, one.phase) for x in one.left)

    @property
    def back(self) -> tuple[int, ...]:
        """Return the arms that come back with the next decision, but for those that lost."""
        lost = [one.rejection.arm for one in self.departures if not one.rejection.is_withdrawal]
        fresh = [pardon for pardon in self._granted if pardon.after == self.through]
        named = {arm for pardon in fresh for arm, _ in pardon.arms}
        return tuple(sorted(named.difference(lost)))

    @property
    def gone(self) -> tuple[Departure, ...]:
        """Return who left and is still gone: an arm that comes back may be the answer at once.

        One that was broken again before the next decision does not come back with it.
        """
        coming = set(self.back).difference(self.broken)
        return tuple(one for one in self.departures if one.rejection.arm not in coming)

    @property
    def alive(self) -> tuple[bool, ...]:
        """Return the arms in the running: all of them before the first round."""
        if self.last is None:
            return (True,) * self.plan.arm_count
        coming = set(self.back).difference(self.broken)
        return tuple(one or arm in coming for arm, one in enumerate(self.last.alive))

    def _bring(self, brought: Sequence[PastFact], round_number: int) -> Sequence[PastFact]:
        """Add observations that were brought along by the end of a round; return the others."""
        for place, past in enumerate(brought):
            if past.after > round_number:
                return brought[place:]
            self.book.add(past.arm, np.array([past.values]))
            self.past += 1
        return ()

    def _add(self, harvest: Harvest, first: int) -> None:
        """Add a round's observations, whose numbers begin at `first`, by arm in order of ordinals.

        What an arm yields after it failed too often in a row is left out: how much there is
        depends on who was quicker. For the same reason the rest of what was decided counts as
        spent, whether it was evaluated or not.
        """
        is_over = harvest.is_told | harvest.is_failed
        is_used = harvest.is_charged & is_over
        is_failed = harvest.is_charged & harvest.is_failed
        is_missing = ~harvest.is_charged & ~is_over
        is_lost = harvest.is_failed & ~harvest.is_charged
        sharing = self.plan.sharing
        on_blocks = sharing.blocks_of(harvest) if sharing.compares else None
        self.told += int(np.count_nonzero(harvest.is_told))
        self.failed += int(np.count_nonzero(is_failed))
        self.lost += int(np.count_nonzero(is_lost))
        self.used += int(np.count_nonzero(is_used))
        if self._account is not None:
            add_settled(self._account, self.plan, harvest)
        for arm, mine in by_arm(harvest.arms, self.plan.arm_count):
            self._read_of[arm] += len(mine)
            if arm in self.broken:
                self._spent += self._prices[arm] * len(mine)
                continue
            good = mine[: self._good(arm, harvest, mine)]
            used = int(np.count_nonzero(is_used[good])) + len(mine) - len(good)
            self._spent += self._prices[arm] * used
            self._missing[arm] += int(np.count_nonzero(is_missing[good]))
            if not self.plan.definition.counts_lost:
                self._lost[arm] += int(np.count_nonzero(is_lost[good]))
            told = good[harvest.is_told[good]]
            blocks = None if on_blocks is None else on_blocks[told]
            self.book.add(arm, harvest.values[told], blocks, first + told)
            failures = int(np.count_nonzero(is_failed[good]))
            self.failures[arm] += failures + int(np.count_nonzero(harvest.stand_in[good]))
            if failures:
                self.book.add_failures(arm, failures)
            if arm in self.broken:
                self.broken[arm] = int(harvest.ordinals[good[-1]])

    def _good(self, arm: int, harvest: Harvest, mine: Integers) -> int:
        """Return how many of an arm's pulls count: up to the one that broke it.

        Those that were lost, or made void, say nothing either way.
        """
        definition = self.plan.definition
        failed, says = harvest.is_failed[mine], harvest.is_charged[mine]
        if definition.counts_lost:
            says = says | failed
        if self._since[arm]:
            says = says & (harvest.ordinals[mine] >= self._since[arm])
        if not (failed & says).any():
            self._failing[arm] *= not says.any()
            return len(mine)
        for place in np.flatnonzero(says).tolist():
            self._failing[arm] = self._failing[arm] + 1 if failed[place] else 0
            if self._failing[arm] >= definition.max_failures:
                self.broken[arm] = place
                return int(place) + 1
        return len(mine)

    @property
    def progress(self) -> tuple[int, int, int, int]:
        """How far it has come: pardons, rounds, what was brought along, then what was kept."""
        return self.pardons, self.through, self.past, self.kept.read

    @property
    def is_kept(self) -> bool:
        """Whether the observations that were read were all kept."""
        return self.kept.read == self.read

    def take_kept(self, other: "Reader") -> None:
        """Take over what another, that has not come further, has kept."""
        if other.pardons == self.pardons and other.kept.read > self.kept.read:
            self.kept = other.kept

    def _keep_skipped(self, ledger: Ledger) -> None:
        """Read observations that a tally stood for."""
        if not self.is_kept:
            first = self.kept.read + 1
            harvest = self._valid(ledger.harvest(first, self.read), first)
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
            "lost": self.lost,
            "used": self.used,
            "spent": self._spent,
            "pardons": self.pardons,
            "broken": list(self.broken.items()),
            "failures": _pairs(self.failures),
            "missing": _pairs(self._missing),
            "failing": _pairs(self._failing),
            "losing": _pairs(self._lost),
            "departures": [[vars(one.rejection), one.round, one.phase] for one in self.departures],
        }
        if self._account is not None:
            plain["paid"] = [one.tolist() for one in self._account]
        if self.last is not None and self.last.lag > 1:
            plain["read of"] = _pairs(self._read_of)
        return Tally(self.through, pack(plain, sums, timeless=self.book.is_timeless))

    @classmethod
    def restored(cls, plan: Plan, tally: Tally, granted: Sequence[Pardon]) -> "Reader | None":
        """Return the reader that wrote a tally, or None where this version cannot tell.

        None also where other pardons were `granted` than it knew of.
        """
        found = unpack(tally.content)
        try:
            if found is None or found[0]["pardons"] != len(granted):
                return None
            reader = cls(plan)
            reader._take_up(granted)
            reader._go_on_from(tally, *found)
        except (ValueError, KeyError, TypeError, IndexError):  # damaged: the pulls are still there
            return None
        return reader

    def _go_on_from(self, tally: Tally, plain: dict[str, Any], sums: dict[str, Any]) -> None:
        """Take over what a tally has."""
        self.book.restore(sums)
        self.through, self.read, self.past = tally.through, plain["read"], plain["past"]
        self.told, self.failed, self.lost = plain["told"], plain["failed"], plain["lost"]
        self.used, self._spent = plain["used"], plain["spent"]
        self.broken = dict(plain["broken"])
        if self._account is not None:
            for mine, kept in zip(self._account, plain["paid"], strict=True):
                mine[:] = kept
        for key, counts in (
            ("failures", self.failures),
            ("missing", self._missing),
            ("failing", self._failing),
            ("losing", self._lost),
            ("read of", self._read_of),
        ):
            for arm, count in plain.get(key, ()) if key == "read of" else plain[key]:
                counts[arm] = count
        self.departures = tuple(
            Departure(rejection_of(rejection), number, phase)
            for rejection, number, phase in plain["departures"]
        )


def pulse_of(created_at: float, head: Head, brought: int) -> str:
    """Return a word that changes with all that a view shows."""
    resolved = head.issued - head.unresolved
    parts = (created_at.hex(), head.budget, head.round, head.issued, resolved)
    marks = [
        f"{kind}{at.hex()}"
        for kind, at in (("s", head.stopped_at), ("a", head.archived_at))
        if at is not None
    ]
    marks += [f"p{len(head.stops)}"] if head.stops else []
    return "-".join(map(str, (*parts, len(head.broken), brought, head.pardons, *marks)))


def _pairs(counts: Integers) -> list[tuple[int, int]]:
    """Return counts by arm, without those that are zero."""
    return [(int(arm), int(counts[arm])) for arm in np.flatnonzero(counts)]
