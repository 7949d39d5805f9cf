"""Keeps evaluations of a study in flight until it is finished, on any executor.

Only this loop tells: an evaluation may be repeated, an observation never is. Leases of evaluations
that take long are extended; on an interrupt they are given back, once nothing is evaluated under
them any more. A database server that is away is waited for: whatever is said to it may be said
twice. So are evaluations that fail whatever the arm: then few begin, or none for a while. May touch
study and core.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

from ringfence.core.errors import InputError, LeaseError, OutageError, StorageAwayError
from ringfence.execution.backoff import Backoff, Outaged
from ringfence.execution.cache import Cache
from ringfence.execution.coroutines import Coroutines
from ringfence.execution.evaluating import Command, Evaluate
from ringfence.execution.failures import EvaluationError
from ringfence.execution.functions import AsyncFunction
from ringfence.execution.hands import Hands
from ringfence.execution.interrupts import held_off
from ringfence.execution.orders import Order
from ringfence.execution.pace import Pace
from ringfence.execution.patience import PATIENCE_SECONDS, patiently
from ringfence.execution.programs import Programs
from ringfence.execution.resolving import Noted, Resolver
from ringfence.study.desk import Desk
from ringfence.study.facts import PullFact, State

Told: TypeAlias = Callable[[PullFact, str], None]
"""Called after each pull with what became of it: told, already-told, retry, failed, already-failed
or late; on an interrupt and in an outage also given-back, or tried, if it was told before."""
Away: TypeAlias = Callable[[StorageAwayError], None]
"""Called each time the database server is found to be away."""
Waits: TypeAlias = Callable[[int, float], None]
"""Called while others hold all pulls that are left: how many, and when the first lease runs out."""
Stops: TypeAlias = Callable[[int], None]
"""Called on an interrupt: how many evaluations cannot be ended, and are waited for."""

_NAP_SECONDS = 0.05
_LONGEST_NAP_SECONDS = 1.0
_UNRESOLVED = ("given-back", "tried")
_Found = TypeVar("_Found")


def order_for(desk: Desk, pull: PullFact) -> Order:
    """Return what the evaluation of a pull is told."""
    definition = desk.plan.definition
    name = definition.arm_names[pull.arm]
    return Order(
        pull.number,
        pull.lease,
        name,
        definition.arms[name],
        desk.plan.sharing.seed_of(pull.arm, pull.ordinal),
        desk.items.of(pull),
        pull.ordinal,
    )


def first_completed(flying: Iterable["Future[Any]"], seconds: float) -> "set[Future[Any]]":
    """Return evaluations that are over as soon as one is, or none after so many seconds.

    In short waits: an interrupt that comes just before a wait begins is heard when it ends.
    """
    until = time.monotonic() + seconds
    while True:
        left = until - time.monotonic()
        nap = max(0.0, min(left, _LONGEST_NAP_SECONDS))
        over, _ = wait(flying, timeout=nap, return_when=FIRST_COMPLETED)
        if over or left <= nap:
            return over


@dataclass
class Crew:
    """Workers on one study, here or wherever the executor is.

    A database server that is away is waited for `patience_seconds`, an outage of evaluations as
    `backoff` says. Evaluations begin no faster than `pace` allows; what `cache` knows is not
    evaluated again.
    """

    desk: Desk
    evaluate: Evaluate
    workers: int = 1
    executor: Executor | None = None
    told: Told | None = None
    away: Away | None = None
    waits: Waits | None = None
    stops: Stops | None = None
    outage: Outaged | None = None
    notes: Noted | None = None
    backoff: Backoff = field(default_factory=Backoff)
    patience_seconds: float = PATIENCE_SECONDS
    pace: Pace = field(default_factory=Pace)
    cache: Cache | None = None
    _flying: dict["Future[Any]", PullFact] = field(default_factory=dict)
    _programs: Programs | None = None
    _resolver: Resolver = field(init=False)

    def __post_init__(self) -> None:
        """Begin without evaluations."""
        self._resolver = Resolver(
            self.desk, self.workers, self.backoff, say=self.outage, note=self.notes
        )

    def run(self, *, most: int | None = None) -> int:
        """Work until the study is finished, or `most` pulls are resolved; return how many were."""
        if self.executor is not None:
            return self._run(self.executor, most)
        is_async = isinstance(self.evaluate, AsyncFunction)
        with Coroutines() if is_async else Hands(self.workers) as executor:
            return self._run(executor, most)

    def _run(self, executor: Executor, most: int | None) -> int:
        done, nap = 0, _NAP_SECONDS
        if isinstance(self.evaluate, Command) and isinstance(executor, Hands | ThreadPoolExecutor):
            self._programs = Programs()
            self.evaluate = self.evaluate.among(self._programs)
        try:
            self._patiently(partial(self.desk.begin, self.workers))
            self._patiently(self._resolver.recall)
            self._resolver.given_back()  # they were of others
            while most is None or done < most:
                room = self.workers - len(self._flying)
                if most is not None:
                    room = min(room, most - done - len(self._flying))
                if room > 0 and (room := self.pace.take(room)):
                    self._patiently(partial(self._issue, room, executor))
                if self._flying:
                    done = max(0, done + self._land(self._record) - self._resolver.given_back())
                    nap = _NAP_SECONDS
                elif self._patiently(self._is_over):
                    break
                elif (wait := max(self._resolver.seconds_to_try, self.pace.seconds)) > 0.0:
                    time.sleep(min(wait, _LONGEST_NAP_SECONDS))
                else:  # others hold the last pulls of this round
                    if nap >= _LONGEST_NAP_SECONDS:
                        self._say_who_is_waited_for()
                    time.sleep(nap)
                    nap = min(2.0 * nap, _LONGEST_NAP_SECONDS)
        except BaseException as error:
            self._leave(error)
            raise
        return done

    def _is_over(self) -> bool:
        """Tell whether the study is stopped, or finished, and not only because of an outage."""
        head = self.desk.head
        return head.is_stopped or (head.finished and not self._resolver.recall())

    def _issue(self, room: int, executor: Executor) -> None:
        asked: list[PullFact] = []
        begun = 0
        try:
            asked = self._resolver.ask(room)
            while asked:
                order = order_for(self.desk, asked[0])
                future = self._known(asked[0], order)
                if future is None:
                    future = executor.submit(self.evaluate, order)
                    begun += 1
                self._flying[future] = self._fresh(asked.pop(0))
        finally:
            self.pace.give_back(room - begun)
            for pull in asked:  # the executor takes no more
                self._resolver.give_back(pull)

    def _known(self, pull: PullFact, order: Order) -> "Future[Any] | None":
        """Return the answer of before; who looks whether the world is well again asks anew."""
        if self.cache is None or self._resolver.is_waiting or pull.state == State.TOLD:
            return None
        if (found := self.cache.find(order)) is None:
            return None
        self._resolver.uncount(pull)
        future: Future[Any] = Future()
        future.set_result(found)
        return future

    def _fresh(self, pull: PullFact) -> PullFact:
        """Return a pull whose lease begins now, with its deadline by a clock that never jumps."""
        lease_seconds = self.desk.plan.definition.lease_seconds
        return replace(pull, deadline=time.monotonic() + lease_seconds)

    def _say_who_is_waited_for(self) -> None:
        with suppress(StorageAwayError):  # the next question waits for it
            if self.waits is not None and (pulls := self.desk.held()):
                self.waits(len(pulls), min(pull.deadline for pull in pulls))

    def _patiently(self, act: Callable[[], _Found]) -> _Found:
        return patiently(act, seconds=self.patience_seconds, away=self.away)

    def _land(self, resolve: Callable[[PullFact, "Future[Any]"], str]) -> int:
        """Wait for evaluations and resolve those that are done; extend the leases of the others.

        Return how many pulls were resolved.
        """
        beat = self.desk.plan.definition.lease_seconds / 3.0
        wait = max(self._resolver.seconds_to_try, self._seconds_to_begin) or beat
        over, done = first_completed(self._flying, min(beat, wait)), 0
        for future in over:
            pull = self._flying[future]
            try:
                became = self._patiently(partial(resolve, pull, future))
            except InputError:  # the caller's mistake, not the arm's
                self._patiently(partial(self._resolver.give_back, self._flying.pop(future)))
                raise
            del self._flying[future]
            done += became not in _UNRESOLVED
            if self.told is not None:
                self.told(pull, became)
        soon = time.monotonic() + 2.0 * beat
        for future, pull in self._flying.items():
            if pull.deadline < soon:
                # The next beat comes in time, or none.
                with suppress(LeaseError, StorageAwayError), held_off():
                    self.desk.extend(pull.number, pull.lease)
                    self._flying[future] = self._fresh(pull)
        return done

    @property
    def _seconds_to_begin(self) -> float:
        """How long until a free worker may begin; 0 where none is free."""
        return self.pace.seconds if len(self._flying) < self.workers else 0.0

    def _record(self, pull: PullFact, future: "Future[Any]") -> str:
        """Tell what was observed; an `InputError` of the evaluation itself ends the work."""
        try:
            metrics = future.result()
        except EvaluationError as error:
            return self._resolver.fail(pull, error)
        return self._tell(pull, metrics)

    def _tell(self, pull: PullFact, metrics: Any) -> str:
        """Tell metrics, and keep them for other studies."""
        became = self._resolver.tell(pull, metrics)
        if self.cache is not None and became == "told":
            self.cache.keep(order_for(self.desk, pull), metrics)
        return became

    def _leave(self, why: BaseException) -> None:
        """End programs, wait for what cannot be ended, and give back the leases without a result.

        A second interrupt waits no longer, and after an outage nothing is waited for. Whatever
        goes wrong on this way out must not hide why it is taken.
        """
        if isinstance(why, StorageAwayError):
            self.patience_seconds = 0.0  # it is spent
        with suppress(Exception, KeyboardInterrupt):
            self._stop(is_interrupt=isinstance(why, KeyboardInterrupt))
            while self._flying and not isinstance(why, OutageError):
                self._land(self._tell_or_give_back)
        for future, pull in self._flying.items():
            with suppress(Exception), held_off():
                self._tell_or_give_back(pull, future)
        self._flying.clear()

    def _stop(self, *, is_interrupt: bool) -> None:
        """End the programs that run, and drop what has not begun."""
        if self._programs is not None:
            with held_off():
                self._programs.end()
        for future in [future for future in self._flying if future.cancel()]:
            self._patiently(partial(self._resolver.give_back, self._flying.pop(future)))
        if is_interrupt and self.stops is not None:
            going_on = [future for future in self._flying if not future.done()]
            self.stops(0 if self._programs is not None else len(going_on))

    def _tell_or_give_back(self, pull: PullFact, future: "Future[Any]") -> str:
        """Tell a result; what failed may have failed of the interrupt, and is given back."""
        if future.done() and future.exception() is None:
            with suppress(InputError):  # of the wrong shape
                return self._tell(pull, future.result())
        return self._resolver.give_back(pull)
