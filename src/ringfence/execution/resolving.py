"""What becomes of evaluations: told, failed or given back; and when the next ones may begin.

Failures are recorded as they come, so that rounds go on. When they turn out to be an outage they
are given back, and one evaluation at a time is tried until one succeeds: of a pull that failed, or
of one that was told before, whose seed is known to be good. What is given back and fails again when
the outage is over was no part of it. For threads and coroutines alike. May touch study and core.
"""

import math
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias

from ringfence.core.errors import (
    IgnoredWarning,
    InputError,
    LeaseError,
    OutageError,
    ShapeError,
    one_line,
)
from ringfence.execution.backoff import Backoff, Outage, Outaged, say_in_log
from ringfence.execution.failures import EvaluationError, cost_of
from ringfence.execution.holders import this_process
from ringfence.execution.outages import Outages, least_failures
from ringfence.study.desk import Desk, Report
from ringfence.study.facts import PullFact, State
from ringfence.study.observing import observation_of

_SAY_SECONDS = 60.0
_NAP_SECONDS = 0.05
_MOST_ASKED = 64
_MOST_COMEBACKS = 10  # of a pull whose service is away while those of others are not
_FAR_BACK = 1000  # pulls that are looked through for failures of an earlier process


Noted: TypeAlias = Callable[[str], None]
"""Called with what was told beside the metrics and is ignored, for the first pull that has it."""


def warn_of_ignored(note: str) -> None:
    """Warn that something told was ignored."""
    warnings.warn(note, IgnoredWarning, stacklevel=2)


class Resolver:
    """Asks for pulls and resolves them, for one process at work on a study.

    In an outage it hands out one pull at a time, after longer and longer waits, and raises
    `OutageError` when that has lasted too long. Coroutines call it from several threads: they ask
    one at a time, and resolve side by side.
    """

    def __init__(
        self,
        desk: Desk,
        workers: int,
        backoff: Backoff,
        *,
        say: Outaged | None = None,
        note: Noted | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin without calls."""
        self.desk, self._backoff, self._now = desk, backoff, now
        self._say = say_in_log if say is None else say
        self._note: Noted | None = warn_of_ignored if note is None else note
        self._lock = threading.Lock()
        self._calls = Outages(least_failures(workers))
        self._recorded: set[int] = set()  # pulls of the row whose failures are on disk
        self._given_back = 0
        self._error = ""
        self._is_unavailable = False  # whether that error says so of its service
        # In an outage:
        self._began = self._wait = self._next_try = self._next_word = 0.0
        self._is_spent = self._is_said = False
        self._tries = 0
        self._in_outage: set[int] = set()  # pulls that were given back
        self._again: set[int] = set()  # those of outages that are over
        self._good: PullFact | None = None  # the last that was told
        self._probe: tuple[int, int] | None = None
        self._unavailable: dict[
            int, tuple[float, int]
        ] = {}  # since when; how many outages it began

    def recall(self) -> bool:
        """Take up failures that other processes heard of and left unsettled.

        Return whether they are an outage that was not known yet. A study that is finished is left
        as it is, unless no arm is left to it.
        """
        left, self._good = _left_behind(self.desk)
        if self._calls.is_on or not left or (self.desk.is_finished and not self._none_left()):
            return False
        with self._lock:
            self._calls.recall((pull.number, pull.arm) for pull in left)
            self._recorded.update(pull.number for pull in left)
            self._error, self._is_unavailable = one_line(left[-1].error or ""), False
        self._look()
        return self._calls.is_on

    @property
    def is_waiting(self) -> bool:
        """Whether an outage is waited for."""
        return self._calls.is_on

    def uncount(self, pull: PullFact) -> None:
        """Forget that a pull began: its answer was known, and says nothing of the world now."""
        with self._lock:
            self._calls.leave((pull.number, pull.lease))

    @property
    def seconds_to_try(self) -> float:
        """How long to wait until a pull may begin: for ever if another must end first."""
        if not self._calls.is_on:
            return 0.0
        return math.inf if self._calls.is_probing else max(0.0, self._next_try - self._now())

    def ask(self, count: int) -> list[PullFact]:
        """Lease pulls that may begin now: in an outage none while it is waited, then one."""
        asked = self._one_to_try() if self._calls.is_on else self._leased(count)
        with self._lock:
            for pull in asked:
                self._calls.begin((pull.number, pull.lease))
        return asked

    def _leased(self, count: int) -> list[PullFact]:
        """Lease pulls in the name of this process: if it is killed, nobody waits for them."""
        return self.desk.ask(count, holder=this_process())

    def tell(self, pull: PullFact, metrics: Mapping[str, Any]) -> str:
        """Tell what was observed; an observation of the wrong shape is a `ShapeError`.

        One whose numbers cannot be used is a failure.
        """
        if pull.state == State.TOLD:
            self._succeed(pull)
            return "tried"
        try:
            seen = observation_of(self.desk.plan, metrics)
        except ShapeError:
            raise
        except InputError as error:
            return self.fail(pull, EvaluationError(str(error)))
        report = Report(pull.number, pull.lease, seen.values, extras=seen.extras)
        try:
            became = self.desk.tell([report])[0]  # already-told: its answer was lost on the way
        except LeaseError:
            became = "late"
        self._good = replace(pull, state=State.TOLD)
        self._succeed(pull)
        if seen.notes:
            self._note_once(seen.notes)
        return became

    def _succeed(self, pull: PullFact) -> None:
        with self._lock:
            before = self._outage() if self._calls.is_on else None
            self._calls.succeed((pull.number, pull.lease))
            self._unavailable.pop(pull.number, None)
            self._recorded &= set(self._calls.pulls)
            self._again.discard(pull.number)
            is_over = before is not None and not self._calls.is_on
            if is_over:
                self._again |= self._in_outage - {pull.number}
                self._in_outage.clear()
        if before is not None and is_over and self._is_said:
            self._say(replace(before, is_over=True))

    def fail(self, pull: PullFact, error: EvaluationError) -> str:
        """Record a failure, or give the pull back while an outage lasts."""
        call = (pull.number, pull.lease)
        if error.unavailable:
            return self._try_later(pull, error)
        is_on = self._calls.is_on
        try:
            if is_on:
                became = self._pass_on(pull)
            else:
                became = self.desk.fail(
                    *call, str(error), charge=True, retry=True, timed_out=error.timed_out,
                    cost=self._cost_of(error),
                )  # fmt: skip
        except LeaseError:
            self._leave(call)
            return "late"
        if not is_on and pull.number in self._again:  # its own failure, then and now
            self._leave(call)
            return became
        with self._lock:
            self._error, self._is_unavailable = one_line(str(error)), error.unavailable
            self._calls.fail(call, pull.number, pull.arm)
            if not is_on:
                self._recorded.add(pull.number)
        self._end_of_try(call)
        self._look()
        return became

    def _cost_of(self, error: EvaluationError) -> float | None:
        """Return what a failed evaluation cost, where that is the price of its pull."""
        plan = self.desk.plan
        return cost_of(error, plan.metrics[plan.price_column]) if plan.learns_prices else None

    def give_back(self, pull: PullFact) -> str:
        """Give a pull back without a result."""
        self._leave((pull.number, pull.lease))
        with suppress(LeaseError):  # it ran out: another has it
            self.desk.release(pull.number, pull.lease)
        return "given-back"

    def given_back(self) -> int:
        """Return how many failures turned out to be an outage since this was asked last."""
        with self._lock:
            count, self._given_back = self._given_back, 0
        return count

    def say(self) -> None:
        """Say what is waited for, about every minute."""
        if self._calls.is_on and self._now() >= self._next_word:
            self._next_word = self._now() + _SAY_SECONDS
            self._is_said = True
            self._say(self._outage())

    def _note_once(self, notes: Sequence[str]) -> None:
        with self._lock:
            note, self._note = self._note, None
        if note is not None:
            note("; ".join(notes))

    # ------------------------------------------------------------------------- in an outage

    def _look(self) -> None:
        """See whether the failures so far are an outage; if so, give them back."""
        with self._lock:
            if not self._calls.is_on and self._is_outage():
                self._begin_outage()
            if self._calls.is_on and self._recorded:  # also what was on its way meanwhile
                self.desk.forgive(sorted(self._recorded))
                self._given_back += len(self._recorded)
                self._in_outage |= self._recorded
                self._recorded.clear()
        self.say()

    def _begin_outage(self) -> None:
        self._calls.find()
        self._tries = 0
        self._probe, self._began, self._wait = None, self._now(), 0.0
        if not self._is_unavailable:  # a service that is often busy is named once a minute
            self._next_word = self._began
        self._is_said = False
        self._wait_longer()

    def _try_later(self, pull: PullFact, error: EvaluationError) -> str:
        """Give back a pull whose service is busy or down: one such failure is an outage.

        Where others succeed meanwhile, such a pull is tried as long as an outage lasts at most.
        """
        call = (pull.number, pull.lease)
        try:
            became = self._pass_on(pull)
        except LeaseError:
            self._leave(call)
            return "late"
        with self._lock:
            self._error, self._is_unavailable = one_line(str(error)), error.unavailable
            self._calls.fail(call, pull.number, pull.arm)
            since, begun = self._unavailable.get(pull.number, (self._now(), 0))
            if not self._calls.is_on:
                self._begin_outage()
                begun += 1
            self._unavailable[pull.number] = (since, begun)
        self._end_of_try(call)
        with self._lock:
            self._next_try = max(self._next_try, self._now() + error.retry_seconds)
            is_late = self._now() >= since + self._backoff.outage_seconds
            self._is_spent = self._is_spent or (begun >= _MOST_COMEBACKS and is_late)
        self._look()
        return became

    def _is_outage(self) -> bool:
        if self._calls.is_found(none_left=False):
            return True
        return self._calls.is_found(none_left=True) and self._none_left()

    def _none_left(self) -> bool:
        """Tell whether no arm is in the running any more but such as failed too often in a row.

        Also where all were withdrawn because too few of their pulls succeeded: first rounds may
        have fewer pulls than make an outage.
        """
        with self.desk.storage.reading(self.desk.name) as ledger:
            head = ledger.head
            if head.round < 0:
                return False
            alive = ledger.round(head.round).alive
        return all(arm in head.broken for arm, is_alive in enumerate(alive) if is_alive)

    def _wait_longer(self) -> None:
        """Set when the next pull is tried: the last one when the time is up."""
        now, ends = self._now(), self._began + self._backoff.outage_seconds
        self._wait = self._backoff.after(self._wait)
        self._next_try = min(now + self._wait, ends)
        self._is_spent = now >= ends

    def _one_to_try(self) -> list[PullFact]:
        """Return one pull, if it is time; another one each time, if there are others."""
        self.say()
        if self._calls.is_probing:
            return []
        if self._is_spent:
            minutes = self._backoff.outage_minutes
            raise OutageError(self._outage().summary, minutes)
        if self._now() < self._next_try:
            return []
        turn, self._tries = self._tries, self._tries + 1
        if turn % 2 == 1 and self._good is not None:
            return [self._tried(self._good)]
        asked = self._leased(min(turn + 1, _MOST_ASKED))
        if not asked:  # others hold them
            self._is_spent = self._now() >= self._began + self._backoff.outage_seconds
            self._next_try = self._now() + _NAP_SECONDS
            return []
        one = asked[turn % len(asked)]
        for other in asked:
            if other is not one:
                self.desk.release(other.number, other.lease)
        return [self._tried(one)]

    def _tried(self, pull: PullFact) -> PullFact:
        self._probe = (pull.number, pull.lease)
        return pull

    def _pass_on(self, pull: PullFact) -> str:
        """Give back a pull that failed in an outage; one that was told before is not held."""
        if pull.state == State.TOLD:
            return "tried"
        self.desk.release(pull.number, pull.lease)
        self._in_outage.add(pull.number)
        return "given-back"

    def _end_of_try(self, call: tuple[int, int]) -> None:
        with self._lock:
            if call == self._probe:
                self._probe = None
                self._wait_longer()

    def _leave(self, call: tuple[int, int]) -> None:
        with self._lock:
            self._calls.leave(call)
        self._end_of_try(call)

    def _outage(self) -> Outage:
        failures = len(self._calls.unsettled)
        wait = max(0.0, self._next_try - self._now())
        return Outage(
            failures, self._calls.arms, self._error, wait, is_unavailable=self._is_unavailable
        )


def _left_behind(desk: Desk) -> tuple[list[PullFact], PullFact | None]:
    """Return the failures that no success followed, by the numbers of pulls, and the last success.

    A pull that nobody survives, or that was not charged, is no failure.
    """
    found: list[PullFact] = []
    with desk.storage.reading(desk.name) as ledger:
        last = ledger.head.issued
        void = {number for pardon in ledger.pardons() for number in pardon.void}
        for pull in reversed(ledger.pulls_between(max(1, last - _FAR_BACK + 1), last)):
            if pull.state == State.TOLD and pull.error is None:
                return found[::-1], pull
            has_failed = pull.state in (State.FAILED, State.TOLD) and pull.charged
            was_tried = pull.run_out < desk.plan.definition.max_leases
            if has_failed and was_tried and pull.number not in void:
                found.append(pull)
    return found[::-1], None
