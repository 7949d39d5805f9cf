"""Where pulls are asked for, told and failed: the rules that hold whatever crashes.

Every method is one transaction. Budget and lease are checked and written together; a pull counts
once; a round is decided when all its pulls are resolved, from their observations in the order of
their numbers. May touch policies and core, and the ports.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

from ringfence.core.errors import InputError, LeaseError, ToldOtherwiseError
from ringfence.study import ending, halting
from ringfence.study.advancing import resolved_through, round_after
from ringfence.study.facts import Head, Kept, PastFact, PullFact, Round, State
from ringfence.study.failing import is_broken, stand_in
from ringfence.study.holding import end_what_lasts_too_long
from ringfence.study.items import Items
from ringfence.study.lagging import first_lag
from ringfence.study.looking import Lookout, furthest, is_due, spread
from ringfence.study.pardoning import NOBODYS, Pardoning
from ringfence.study.paying import settled_failure, told_cost_of
from ringfence.study.plan import Plan
from ringfence.study.ports import Clock, IsGone, Ledger, Storage, is_never_gone
from ringfence.study.reading import Reader, View, pulse_of
from ringfence.study.waiting import LATEST, Held, Said, held_by, said_by

MOST_AT_ONCE = 1_000_000
_LONGEST_ERROR = 2000
_ALONE = 0.5  # the part of a pull's leases after which it is issued alone


@dataclass(frozen=True)
class Report:
    """What is told of one pull under a lease."""

    number: int
    lease: int
    values: tuple[float, ...]
    cost: float | None = None
    extras: Mapping[str, float] = field(default_factory=dict)


class Desk:
    """One study's counter. It may be opened many times, in many processes."""

    def __init__(
        self,
        plan: Plan,
        storage: Storage,
        clock: Clock | None = None,
        is_gone: IsGone = is_never_gone,
    ) -> None:
        """Open the counter of a study that exists in the storage, whose own clock is the usual."""
        self.plan, self.storage, self.clock, self.is_gone = plan, storage, clock, is_gone
        self._lookout = Lookout(plan)
        self.items = Items(plan, storage)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what is pickled: what was read is read again, and locks stay here."""
        return Desk, (self.plan, self.storage, self.clock, self.is_gone)

    @property
    def name(self) -> str:
        """The study's name."""
        return self.plan.definition.name

    @property
    def head(self) -> Head:
        """Where the study stands."""
        with self.storage.reading(self.name) as ledger:
            return ledger.head

    @property
    def is_finished(self) -> bool:
        """Whether no pull is left to be made."""
        return self.head.finished

    @property
    def is_over(self) -> bool:
        """Whether nobody needs to ask any more: it is finished, or stopped."""
        return self.head.is_over

    def _now(self, ledger: Ledger) -> float:
        return ledger.now if self.clock is None else self.clock()

    def begin(self, workers: int) -> None:
        """Decide the first round for so many workers, unless somebody has: they say the lag."""
        if workers == 1 or self.head.round >= 0:
            return
        with self.storage.writing(self.name) as ledger:
            self._lookout.require_same(ledger)
            reader = self._lookout.reader
            if (
                ledger.head.round < 0
                and not ledger.head.is_stopped
                and (begun := self._advance(ledger, ledger.head, reader, workers=workers))
            ):
                ledger.set_head(begun[0])

    def ask(self, count: int = 1, *, holder: str | None = None) -> list[PullFact]:
        """Lease up to `count` pulls; none means that others must be told first, or that it is over.

        A pull whose lease ran out is issued again, before any new one; if that happened too often,
        it has failed. Half way there it is issued alone: if it brings its worker down, then no
        others with it. A `holder` is the process that will tell, or nobody will: when it is known
        to be gone, its leases have run out.
        """
        if not isinstance(count, Integral) or not 1 <= count <= MOST_AT_ONCE:
            raise InputError(f"n = {count!r} must be whole, from 1 to {MOST_AT_ONCE}. Use 1.")
        reader = self._lookout.reader
        with self.storage.writing(self.name) as ledger:
            self._lookout.require_same(ledger)
            before = head = ledger.head
            if head.is_stopped:
                return []
            now, lease_seconds = self._now(ledger), self.plan.definition.lease_seconds
            deadline = now + lease_seconds
            end_what_lasts_too_long(ledger, now, lease_seconds, self.is_gone)
            most = self.plan.definition.max_leases
            expired = self._expired(ledger, now, count)
            while lost := [pull for pull in expired if pull.run_out >= most]:
                for pull in lost:
                    head = self._give_up(ledger, head, pull)
                expired = self._expired(ledger, now, count)
            if alone := [pull for pull in expired if pull.run_out >= _ALONE * most]:
                expired, count = alone[:1], 1
            leased = [
                replace(
                    pull,
                    lease=pull.lease + (pull.deadline > NOBODYS),
                    deadline=deadline,
                    holder=holder,
                )
                for pull in expired
            ]
            ledger.set_pulls(leased)
            while len(leased) < count and not head.finished:
                if head.issued < head.round_end:
                    fresh, head = self._issue(ledger, head, count - len(leased), deadline, holder)
                    leased += fresh
                elif (advanced := self._advance(ledger, head, reader)) is not None:
                    head, reader = advanced
                else:
                    break
            if head != before:
                ledger.set_head(head)
            self.items.fetch(ledger, leased)
        self._lookout.keep(reader)  # what it read is on disk now
        return leased

    def _expired(self, ledger: Ledger, now: float, count: int) -> list[PullFact]:
        """Return pulls that nobody holds; if their last lease ran out, it is counted.

        One that was given back, or failed, did not.
        """
        return [
            replace(pull, run_out=pull.run_out + (pull.deadline > NOBODYS))
            for pull in ledger.expired(now, count)
        ]

    def _give_up(self, ledger: Ledger, head: Head, pull: PullFact) -> Head:
        """Record that no answer will come, perhaps because the arm kills whoever tries it."""
        error = (
            f"{pull.run_out} leases ran out without an answer: its workers died, or evaluations "
            f"take longer than lease_seconds = {self.plan.definition.lease_seconds:g}"
        )
        return self._fail(ledger, head, replace(pull, error=error), timed_out=False)

    def _fail(
        self, ledger: Ledger, head: Head, pull: PullFact, *, timed_out: bool,
        cost: float | None = None,
    ) -> Head:  # fmt: skip
        """Record a pull as failed, or tell what stands in; return where the study stands then."""
        values = stand_in(self.plan, timed_out=timed_out) if pull.charged else None
        if values is not None and cost is None and self.plan.learns_prices:
            cost = values[self.plan.price_column]
        pull = settled_failure(self.plan, ledger, pull, cost, is_over=True)
        state = State.FAILED if values is None else State.TOLD
        failed = replace(pull, state=state, values=values, failures=pull.failures + 1)
        ledger.set_pulls([failed])
        head = replace(head, unresolved=head.unresolved - 1)
        if state == State.FAILED and pull.arm not in head.broken:
            pardons = ledger.pardons() if head.pardons else ()
            named = [ordinal for one in pardons for arm, ordinal in one.arms if arm == pull.arm]
            if is_broken(ledger, self.plan.definition, failed, max(named, default=0)):
                head = replace(head, broken=(*head.broken, pull.arm))
        return head

    def _issue(
        self, ledger: Ledger, head: Head, count: int, deadline: float, holder: str | None
    ) -> tuple[list[PullFact], Head]:
        """Issue the next pulls of this round; those of a broken arm are cancelled instead."""
        current = ledger.round(head.round)
        start = head.issued + 1 - current.first
        hour = self.plan.sharing.hour_of(ledger.created_at, self._now(ledger))
        fresh = []
        for place, (arm, ordinal) in enumerate(current.order(start, start + count), start=start):
            off = arm in head.broken
            fresh.append(
                PullFact(
                    number=current.first + place,
                    arm=arm,
                    ordinal=ordinal,
                    round=current.number,
                    state=State.CANCELLED if off else State.ISSUED,
                    lease=0 if off else 1,
                    deadline=deadline,
                    charged=not off,
                    holder=None if off else holder,
                    block=hour,
                )
            )
        ledger.add_pulls(fresh)
        live = [pull for pull in fresh if pull.state == State.ISSUED]
        head = replace(
            head, issued=head.issued + len(fresh), unresolved=head.unresolved + len(live)
        )
        return live, head

    def _advance(
        self, ledger: Ledger, head: Head, reader: Reader, *, workers: int = 1
    ) -> tuple[Head, Reader] | None:
        """Decide the next round, if what it rests on is known.

        Return where the study stands then, and what was read.
        """
        plan = self.plan.under(head.stops)
        before = ledger.round(head.round) if head.round >= 0 else None
        resolved = resolved_through(ledger, head)
        lag = first_lag(self.plan, workers, head.budget) if before is None else before.lag
        reader = furthest(reader, ledger, head).copied()
        decided = round_after(plan, before, reader, ledger, head, resolved=resolved, lag=lag)
        if decided is None:
            return None
        ledger.add_round(decided)
        if is_due(reader, decided) and (tally := reader.tally()) is not None:
            ledger.set_tally(tally)
        head = replace(
            head,
            round=decided.number,
            round_end=decided.first + decided.size - 1,
            charged=int(decided.seen["spent"]),
            finished=decided.is_last,
        )
        return head, reader

    def tell(self, reports: Sequence[Report]) -> list[str]:
        """Record observations, all or none; each is `told`, or `already-told` with these values.

        When this returns they are on disk.
        """
        by_number = {report.number: report for report in reports}
        if len(by_number) < len(reports):
            raise InputError("the same pull is told twice in one call. Tell each pull once.")
        done: dict[int, str] = {}
        with self.storage.writing(self.name) as ledger:
            changed = []
            for pull in ledger.pulls(list(by_number)):
                report = by_number[pull.number]
                done[pull.number] = "told"
                if pull.state == State.TOLD:
                    self._require_same(pull, report)
                    done[pull.number] = "already-told"
                    continue
                self._require_leased(pull, report.lease)
                took = told_cost_of(self.plan, pull, report.values)
                told = {"state": State.TOLD, "values": report.values, "cost": report.cost} | took
                extras = report.extras or None
                changed.append(replace(pull, **told, error=None, extras=extras))
            for number in by_number:
                if number not in done:
                    raise self._unknown(ledger, number)
            ledger.set_pulls(changed)
            if changed:
                head = ledger.head
                ledger.set_head(replace(head, unresolved=head.unresolved - len(changed)))
        return [done[report.number] for report in reports]

    def fail(
        self,
        number: int,
        lease: int,
        error: str,
        *,
        charge: bool,
        retry: bool,
        timed_out: bool = False,
        cost: float | None = None,
    ) -> str:
        """Record that an evaluation failed: `retry` if it will be issued again, else `failed`.

        It is `failed` too where the study says what is told in place of a failure. One that is not
        charged was lost: no failure of its arm. The same failure of the same lease said again is
        `already-failed`, and changes nothing. The `cost` of what failed is taken from a budget
        whose prices are learned, whatever becomes of the pull.
        """
        error = _storable(error)
        with self.storage.writing(self.name) as ledger:
            for pull in ledger.pulls([number]):
                if _has_failed(pull, lease, error, charge=charge):
                    return "already-failed"
            pull = self._leased(ledger, number, lease)
            if retry and pull.failures < self.plan.definition.retries:
                # Its lease is over at once: whoever asks next gets it, with the same seed.
                again = replace(_given_back(pull), failures=pull.failures + 1, error=error)
                ledger.set_pulls([settled_failure(self.plan, ledger, again, cost, is_over=False)])
                return "retry"
            failed = replace(pull, error=error, charged=charge)
            ledger.set_head(self._fail(ledger, ledger.head, failed, timed_out=timed_out, cost=cost))
        return "failed"

    def lose(self, number: int, lease: int, error: str = "") -> str:
        """Record that no answer will ever come, through no fault of the arm: it is not charged.

        Returns `lost`, or `already-lost` where the same was said before.
        """
        became = self.fail(number, lease, error, charge=False, retry=False)
        return {"failed": "lost"}.get(became, "already-lost")

    def revive(self, arm: int) -> str:
        """Bring an arm back that was withdrawn, with the next decision: it is `revived`.

        One that has not left, or that comes back anyway, is `already-in-the-running`.
        """
        with self.storage.writing(self.name) as ledger:
            return self._pardoning(ledger).revive(arm)

    def forgive(self, numbers: Sequence[int]) -> int:
        """Give back pulls that failed in an outage, uncharged; return how many were.

        Those of the round that is not over are issued again. Those of earlier rounds are void from
        the next decision on, and arms that were withdrawn because of them come back with it. What
        did not fail, or was forgiven before, is left as it is.
        """
        with self.storage.writing(self.name) as ledger:
            wanted = sorted({*numbers})
            if strange := [one for one in wanted if not 0 < one <= ledger.head.issued]:
                raise self._unknown(ledger, strange[0])
            return self._pardoning(ledger).forgive(wanted)

    def _pardoning(self, ledger: Ledger) -> Pardoning:
        self._lookout.require_same(ledger)
        reader = furthest(self._lookout.reader, ledger, ledger.head).copied()
        reader.catch_up(ledger, ledger.head)
        return Pardoning(self.plan, ledger, reader)

    def extend(self, number: int, lease: int) -> float:
        """Give a lease more time, for an evaluation that is still alive; return its deadline."""
        with self.storage.writing(self.name) as ledger:
            pull = self._leased(ledger, number, lease)
            deadline = self._now(ledger) + self.plan.definition.lease_seconds
            ledger.set_pulls([replace(pull, deadline=deadline)])
        return deadline

    def release(self, number: int, lease: int) -> None:
        """Give a lease back, so that the pull can be issued again at once."""
        with self.storage.writing(self.name) as ledger:
            ledger.set_pulls([_given_back(self._leased(ledger, number, lease))])

    def held(self) -> list[PullFact]:
        """Return the pulls that somebody holds a lease of."""
        with self.storage.reading(self.name) as ledger:
            return self._held(ledger)

    def waits_for(self) -> list[Held]:
        """Return who holds what the next decision waits for."""
        with self.storage.reading(self.name) as ledger:
            return held_by(self.plan, ledger, self._now(ledger))

    def failures(self) -> list[Said]:
        """Return what the latest failed pulls said, by arm."""
        with self.storage.reading(self.name) as ledger:
            last = ledger.head.issued
            return said_by(ledger.pulls_with_errors(max(1, last - LATEST + 1), last))

    def _held(self, ledger: Ledger) -> list[PullFact]:
        now = self._now(ledger)
        return [pull for pull in ledger.expired(math.inf, MOST_AT_ONCE) if pull.deadline > now]

    def take_back(self) -> int:
        """End all leases, so that their pulls can be issued again at once; return how many.

        Whoever holds one and is not gone after all is told so, and nothing is counted twice.
        """
        with self.storage.writing(self.name) as ledger:
            held = self._held(ledger)
            ledger.set_pulls([_given_back(pull) for pull in held])
        return len(held)

    def raise_budget(self, budget: int) -> None:
        """Raise the budget; a phase policy takes it up at the end of the current phase.

        The budget that the study has changes nothing: a call may be made again.
        """
        if not isinstance(budget, Integral):
            raise InputError(f"budget = {budget!r} must be a whole number of pulls. Write 60.")
        with self.storage.writing(self.name) as ledger:
            head = ledger.head
            if budget == head.budget:
                return
            if budget < head.budget:
                raise InputError(
                    f"budget = {self.plan.in_words(budget)} is less than the "
                    f"{self.plan.in_words(head.budget)}{self.plan.pulls_in_words} that study "
                    f"{self.name!r} has. A budget can only rise: give more."
                )
            if head.finished and not self.plan.policy.takes_up_more:
                raise InputError(
                    f"study {self.name!r} is finished: {self.plan.policy.name} has dropped its "
                    "other arms for good. Begin a new study and import these observations."
                )
            self.plan.opening(budget)  # refuses what is no budget
            ledger.set_head(halting.going_on(replace(head, budget=int(budget))))

    def stop(self) -> str:
        """Issue nothing more and decide no further round, until somebody has the study go on."""
        with self.storage.writing(self.name) as ledger:
            return halting.stop(ledger, self._now(ledger))

    def stop_when(self, confidence: float, within: float | None = None, note: str = "") -> str:
        """Have the study end when its answer is proven so; a looser proof needs a note."""
        with self.storage.writing(self.name) as ledger:
            return ending.stop_when(
                self.plan, ledger, self._now(ledger),
                confidence=confidence, within=within, note=note,
            )  # fmt: skip

    def resume(self) -> str:
        """Go on after a stop."""
        with self.storage.writing(self.name) as ledger:
            return halting.resume(ledger)

    def archive(self) -> str:
        """Put a study away that is over: it is listed no more, and all of it is kept."""
        with self.storage.writing(self.name) as ledger:
            return halting.archive(ledger, self._now(ledger))

    def unarchive(self) -> str:
        """List a study again that was put away."""
        with self.storage.writing(self.name) as ledger:
            return halting.unarchive(ledger)

    def bring(self, past: Sequence[tuple[int, tuple[float, ...]]], label: str) -> int:
        """Bring observations along, uncharged; decisions after this round see them.

        The same ones under the same label are brought once: return how many are new.
        """
        if self.plan.definition.blocks:
            raise InputError(
                f"study {self.name!r} has blocks, and what is brought along has none: it is not "
                "known which item, seed or hour it was of. Begin a study without [blocks] with it."
            )
        with self.storage.writing(self.name) as ledger:
            known = [(one.arm, one.values) for one in ledger.past() if one.label == label]
            if known and known == list(past):
                return 0
            if known:
                raise InputError(
                    f"label = {label!r} has brought {len(known)} other observations along. Give "
                    "these another label."
                )
            if ledger.head.finished:
                raise InputError(
                    f"study {self.name!r} is finished: what is brought along now would change its "
                    "answer, and no decision. Begin a study of another name with it."
                )
            after = ledger.head.round
            ledger.add_past(PastFact(arm, values, label, after) for arm, values in past)
        return len(past)

    def look(self, *, samples: bool = True) -> View:
        """Return where the study stands and all that it has seen so far, half a round included.

        Without `samples` the view may not be enough for a verdict, and is there sooner.
        """
        return self._lookout.look(self.storage, samples=samples)

    def pulse(self) -> str:
        """Return a word that changes with all that a view shows: it costs two rows to read."""
        with self.storage.reading(self.name) as ledger:
            return pulse_of(ledger.created_at, ledger.head, ledger.brought())

    def kept(self, kind: str, program: str, view: View | None = None) -> Kept | None:
        """Return what a program worked out of a view, or of the study as it is now."""
        with self.storage.reading(self.name) as ledger:
            self._lookout.require_same(ledger)
            now = pulse_of(ledger.created_at, ledger.head, ledger.brought())
            return ledger.kept(kind, f"{now if view is None else view.pulse} {program}")

    def keep(self, kind: str, program: str, view: View, content: bytes) -> None:
        """Keep what a program worked out of a view."""
        self.storage.keep(self.name, Kept(kind, f"{view.pulse} {program}", content))

    def rounds(self, *, most: int | None = None) -> list[Round]:
        """Return all rounds, or at most so many: the first, the last, and some evenly between."""
        with self.storage.reading(self.name) as ledger:
            if most is None:
                return list(ledger.rounds())
            return list(ledger.rounds_at(spread(ledger.head.round + 1, most)))

    def turns(self) -> list[Round]:
        """Return the rounds in which an arm left, the first and the last."""
        view = self.look(samples=False)
        if view.last is None:
            return []
        with self.storage.reading(self.name) as ledger:
            left = (one.round for one in view.departures)
            return list(ledger.rounds_at([0, *left, view.last.number]))

    def _leased(self, ledger: Ledger, number: int, lease: int) -> PullFact:
        found = ledger.pulls([number])
        if not found:
            raise self._unknown(ledger, number)
        self._require_leased(found[0], lease)
        return found[0]

    def _require_leased(self, pull: PullFact, lease: int) -> None:
        if pull.state != State.ISSUED:
            raise LeaseError(
                f"pull {pull.number} of study {self.name!r} is {pull.state}: nothing more can be "
                "said of it. Ask for another."
            )
        if not 1 <= lease <= pull.lease:
            raise LeaseError(
                f"lease {lease} of pull {pull.number} of study {self.name!r} was never issued: "
                f"lease {pull.lease} holds. Give the lease that ask returned with the pull."
            )
        if pull.lease != lease:
            raise LeaseError(
                f"pull {pull.number} of study {self.name!r} was issued again: lease {lease} has "
                f"run out, lease {pull.lease} holds. Drop this result and ask for another pull; "
                "raise lease_seconds if evaluations take longer."
            )

    def _require_same(self, pull: PullFact, report: Report) -> None:
        if pull.values != report.values:
            kind = ToldOtherwiseError if pull.lease == report.lease else LeaseError
            raise kind(
                f"pull {pull.number} of study {self.name!r} was already told other values: "
                f"{list(pull.values or ())}, now {list(report.values)}. The first ones stay."
            )

    def _unknown(self, ledger: Ledger, number: int) -> InputError:
        return InputError(
            f"pull {number} of study {self.name!r} was never issued: there are "
            f"{ledger.head.issued}. Tell the pulls that ask returned."
        )


def _given_back(pull: PullFact) -> PullFact:
    """Return an issued pull that nobody holds: its lease is spent, whoever asks gets the next."""
    return replace(pull, lease=pull.lease + 1, deadline=NOBODYS, holder=None)


def _has_failed(pull: PullFact, lease: int, error: str, *, charge: bool) -> bool:
    """Tell whether this failure of a lease is recorded: as the pull's end, or before a retry."""
    if pull.state == State.FAILED or pull.stands_in:
        return (pull.lease, pull.error, pull.charged) == (lease, error, charge)
    is_tried_again = pull.state == State.ISSUED and pull.failures > 0
    return is_tried_again and (pull.lease, pull.error) == (lease + 1, error)


def _storable(text: str) -> str:
    """Return a text that every database can hold."""
    whole = text.replace("\x00", "\N{REPLACEMENT CHARACTER}")[:_LONGEST_ERROR]
    return whole.encode("utf-8", "replace").decode("utf-8")
