"""Keeps evaluations of a study in flight until it is finished, on any executor.

Only this loop tells: an evaluation may be repeated, an observation never is. Leases of evaluations
that take long are extended; on an interrupt they are given back. A database server that is away
is waited for: whatever is said to it may be said twice. May touch study and core.
"""

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

from ringfence.core.errors import InputError, LeaseError, StorageAwayError
from ringfence.core.streams import pull_seed
from ringfence.execution.evaluating import Evaluate, EvaluationError, Order
from ringfence.study.desk import Desk, Report
from ringfence.study.facts import PullFact
from ringfence.study.observing import values_of

Told: TypeAlias = Callable[[PullFact, str], None]
"""Called after each pull with what became of it: told, already-told, retry, failed or late."""
Away: TypeAlias = Callable[[StorageAwayError], None]
"""Called each time the database server is found to be away."""
Waits: TypeAlias = Callable[[int, float], None]
"""Called while others hold all pulls that are left: how many, and when the first lease runs out."""

_NAP_SECONDS = 0.05
_LONGEST_NAP_SECONDS = 1.0
_Found = TypeVar("_Found")


def order_for(desk: Desk, pull: PullFact) -> Order:
    """Return what the evaluation of a pull is told."""
    definition = desk.plan.definition
    name = definition.arm_names[pull.arm]
    seed = pull_seed(definition.seed, pull.arm, pull.ordinal)
    return Order(pull.number, pull.lease, name, definition.arms[name], seed)


@dataclass
class Crew:
    """Workers on one study, here or wherever the executor is.

    A database server that is away is waited for `patience_seconds`.
    """

    desk: Desk
    evaluate: Evaluate
    workers: int = 1
    executor: Executor | None = None
    told: Told | None = None
    away: Away | None = None
    waits: Waits | None = None
    patience_seconds: float = 300.0
    _flying: dict["Future[Any]", PullFact] = field(default_factory=dict)

    def run(self, *, most: int | None = None) -> int:
        """Work until the study is finished, or `most` pulls are resolved; return how many were."""
        if self.executor is not None:
            return self._run(self.executor, most)
        with ThreadPoolExecutor(self.workers, thread_name_prefix="pull") as executor:
            return self._run(executor, most)

    def _run(self, executor: Executor, most: int | None) -> int:
        done, nap = 0, _NAP_SECONDS
        try:
            while most is None or done < most:
                room = self.workers - len(self._flying)
                if most is not None:
                    room = min(room, most - done - len(self._flying))
                for pull in self._ask(room):
                    future = executor.submit(self.evaluate, order_for(self.desk, pull))
                    self._flying[future] = pull
                if self._flying:
                    done += self._land()
                    nap = _NAP_SECONDS
                elif self._patiently(lambda: self.desk.is_finished):
                    break
                else:  # others hold the last pulls of this round
                    if nap >= _LONGEST_NAP_SECONDS:
                        self._say_who_is_waited_for()
                    time.sleep(nap)
                    nap = min(2.0 * nap, _LONGEST_NAP_SECONDS)
        except BaseException:
            self._give_back()
            raise
        return done

    def _ask(self, room: int) -> list[PullFact]:
        return self._patiently(lambda: self.desk.ask(room)) if room > 0 else []

    def _say_who_is_waited_for(self) -> None:
        with suppress(StorageAwayError):  # the next question waits for it
            if self.waits is not None and (pulls := self.desk.held()):
                self.waits(len(pulls), min(pull.deadline for pull in pulls))

    def _patiently(self, act: Callable[[], _Found]) -> _Found:
        """Do it, again and again while the database server is away."""
        until, nap = time.monotonic() + self.patience_seconds, _NAP_SECONDS
        while True:
            try:
                return act()
            except StorageAwayError as error:
                if time.monotonic() > until:
                    raise
                if self.away is not None:
                    self.away(error)
            time.sleep(nap)
            nap = min(2.0 * nap, _LONGEST_NAP_SECONDS)

    def _land(self) -> int:
        """Wait for evaluations and record those that are done; extend the leases of the others."""
        beat = self.desk.plan.definition.lease_seconds / 3.0
        over, _ = wait(self._flying, timeout=beat, return_when=FIRST_COMPLETED)
        for future in over:
            pull = self._flying[future]
            became = self._patiently(partial(self._record, pull, future))
            del self._flying[future]
            if self.told is not None:
                self.told(pull, became)
        soon = self.desk.clock() + 2.0 * beat
        for future, pull in self._flying.items():
            if pull.deadline < soon:
                with suppress(LeaseError, StorageAwayError):  # the next beat comes in time, or none
                    deadline = self.desk.extend(pull.number, pull.lease)
                    self._flying[future] = replace(pull, deadline=deadline)
        return len(over)

    def _record(self, pull: PullFact, future: "Future[Any]") -> str:
        try:
            try:
                metrics = future.result()
                report = Report(pull.number, pull.lease, values_of(self.desk.plan, metrics))
            except (EvaluationError, InputError) as error:
                return self.desk.fail(pull.number, pull.lease, str(error), charge=True, retry=True)
            return self.desk.tell([report])[0]  # already-told: its answer was lost on the way
        except LeaseError:
            return "late"

    def _give_back(self) -> None:
        """Give the leases of unfinished evaluations back, so that a resumed study has them."""
        for future, pull in self._flying.items():
            future.cancel()
            with suppress(Exception):  # the way out: an error here must not hide the first one
                self.desk.release(pull.number, pull.lease)
        self._flying.clear()
