"""Looks at a study that others may be working on, and remembers what it read between looks.

Rounds that are over never change: they are read once, or taken from the tally that was written
with a decision. What was read is never changed once others may see it, but copied and gone on
with; so any number of threads may look while another decides. May touch policies and core, and
the ports.
"""

from dataclasses import replace
from threading import Lock

from ringfence.core.errors import MissingStudyError, one_line
from ringfence.study.ahead import Ahead
from ringfence.study.begun import Begun
from ringfence.study.facts import Head, Round, State
from ringfence.study.paying import reserved_of
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger, Storage
from ringfence.study.reading import Reader, View

TALLY_EVERY = 16  # pulls; see decision 11
_MANY = 4096  # pulls, from which on a tally that grows is written more rarely


def is_due(reader: Reader, decided: Round) -> bool:
    """Tell whether a tally of what was read is to be written with a decision.

    Whenever the pulls pass another multiple of a few, so that whoever opens the study has little
    left to read, and a study that decides every pull does not pay for it every time. Where arms
    share something a tally grows with the pulls: of many it is written more rarely.
    """
    last, pulls = reader.last, decided.first - 1
    if last is None:
        return False
    every = TALLY_EVERY
    if reader.plan.sharing.compares:
        every <<= (pulls // _MANY).bit_length()
    return decided.is_last or pulls // every > (last.first - 1) // every


def furthest(reader: Reader, ledger: Ledger, head: Head) -> Reader:
    """Return the reader, or a new one from the tally where that has come further.

    One that knows other pardons than were granted has read everything in vain.
    """
    if reader.pardons != head.pardons:
        reader = Reader(reader.plan)
    if head.round - 1 > reader.through and head.issued - reader.read > TALLY_EVERY:
        tally = ledger.tally()
        if tally is not None and reader.through < tally.through < head.round:
            granted = ledger.pardons() if head.pardons else ()
            found = Reader.restored(reader.plan, tally, granted)
            if found is not None:
                found.take_kept(reader)
                return found
    return reader


class Lookout:
    """What one process has read of a study."""

    def __init__(self, plan: Plan) -> None:
        """Begin without having read anything."""
        self.plan = plan
        self.reader = Reader(plan)  # never changed, only exchanged
        self._ahead: Ahead | None = None
        self._created_at: float | None = None
        self._errors: dict[tuple[int, int], str] = {}  # of arms withdrawn in a round
        self._begun = Begun()
        self._one_reads = Lock()

    def keep(self, reader: Reader) -> None:
        """Go on from what was read, where that is further."""
        if reader.progress > self.reader.progress:
            reader.take_kept(self.reader)
            reader.latest = None  # nobody needs those rows once more
            self.reader = reader

    def look(self, storage: Storage, *, samples: bool) -> View:
        """Return where the study stands and all that it has seen so far."""
        wanted = samples and self.plan.needs_samples
        known, ahead = self.reader, self._ahead  # before the view, which must not be older
        begun, kept = self._begun, None
        with storage.reading(self.plan.definition.name) as ledger:
            self.require_same(ledger)
            head, brought = ledger.head, ledger.brought()
            with self._one_reads:  # the others then find it read
                reader = self._settled(known, ahead, ledger, head, brought, keep=wanted)
            is_whole = reader.through == head.round
            if not is_whole and samples:
                reader = reader.copied()
                reader.catch_up(ledger, head, keep=wanted, ahead=ahead)
                self._ahead = reader.latest and reader.latest.resolved()
            elif not is_whole:
                reader, self._begun, kept = begun.gone_on_from(reader, ledger, head)
            view = View(
                created_at=ledger.created_at,
                head=head,
                last=reader.last,
                alive=reader.alive,
                departures=reader.gone,
                book=reader.book,
                used=reader.used,
                samples=reader.samples(ledger.past()) if wanted else (),
                brought=brought,
                told=reader.told,
                failed=reader.failed,
                lost=reader.lost,
                errors=self._last_errors(reader, ledger),
                failures=reader.failures,
                harvest=ledger.harvest(1, head.issued)
                if samples and self.plan.under(head.stops).stop
                else None,
                paid=reader.paid,
                open=None if self.plan.pricing is None else reserved_of(self.plan, ledger),
            )
        if kept is not None:
            storage.keep(self.plan.definition.name, kept)
        return view

    def _last_errors(self, reader: Reader, ledger: Ledger) -> dict[int, str]:
        """Return what the last failed pull of every withdrawn arm said, each read once."""
        gone = {one.rejection.arm: one.round for one in reader.gone if one.rejection.is_withdrawal}
        fresh = [arm for arm, round_ in gone.items() if (arm, round_) not in self._errors]
        if fresh:
            known = self._errors | {(arm, gone[arm]): "" for arm in fresh}
            places = [place for arm in fresh for place in reader.failing_pulls(arm)]
            for pull in ledger.pulls_at(places):
                if pull.state == State.FAILED:
                    known[pull.arm, gone[pull.arm]] = one_line(pull.error or "")
            self._errors = known
        return {arm: said for arm, at in gone.items() if (said := self._errors[arm, at])}

    def _settled(
        self,
        known: Reader,
        ahead: Ahead | None,
        ledger: Ledger,
        head: Head,
        brought: int,
        *,
        keep: bool,
    ) -> Reader:
        """Return what was read of all rounds that are over, nothing of others.

        With a lag it is what the last decision saw: the next one goes on from there.
        """
        current = ledger.round(head.round) if head.round >= 0 else None
        is_over = head.round_is_over and (current is None or current.seen_next == current.end)
        over = head if is_over else replace(head, round=head.round - 1)
        until = None if is_over or current is None else current.through
        latest = self.reader  # by another thread, perhaps of a later moment than this view
        if latest.progress[:3] <= (head.pardons, over.round, brought):
            known = latest if latest.progress[:2] >= known.progress[:2] else known
        is_old = known.pardons < head.pardons or known.through < over.round
        is_old = is_old or (is_over and known.past < brought)
        if is_old or (keep and not known.is_kept):
            known = furthest(known, ledger, head).copied()
            known.catch_up(ledger, over, until=until, keep=keep, ahead=ahead)
            self.keep(known)
        return known

    def require_same(self, ledger: Ledger) -> None:
        """Refuse a study that was made anew since: what was read is not of that one."""
        if self._created_at is None:
            self._created_at = ledger.created_at
        elif self._created_at != ledger.created_at:
            raise MissingStudyError(
                f"study {self.plan.definition.name!r} was deleted and made anew. Load it again."
            )


def spread(count: int, most: int) -> list[int]:
    """Return at most so many numbers below a count: the first, the last, and some between."""
    if count <= most:
        return list(range(count))
    step = -(-(count - 1) // (most - 1))
    return [*range(0, count - 1, step), count - 1]
