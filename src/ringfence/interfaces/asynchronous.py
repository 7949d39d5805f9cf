"""The calls of a study for an event loop: each runs its blocking twin in a thread.

May touch what it is mixed into.
"""

import asyncio
import inspect
import math
import reprlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from ringfence.core.errors import InputError, LeaseError, StorageAwayError, StorageError
from ringfence.execution.backoff import BACKOFF_SECONDS, OUTAGE_MINUTES, Backoff, Outaged
from ringfence.execution.cache import Cache
from ringfence.execution.calling import Call
from ringfence.execution.evaluating import Command, LoggedRows
from ringfence.execution.failures import EvaluationError, failure_of
from ringfence.execution.functions import AsyncFunction, Function, without_items
from ringfence.execution.orders import Order
from ringfence.execution.pace import Pace
from ringfence.execution.resolving import Resolver
from ringfence.execution.working import order_for
from ringfence.interfaces.answers import cache_at
from ringfence.interfaces.checking import at_least
from ringfence.interfaces.leases import Pull
from ringfence.study.desk import Desk
from ringfence.study.facts import PullFact, State
from ringfence.study.verdict import Verdict

POLL_SECONDS = 0.1
BEATS = 3  # extensions in the time of a lease


class AsyncCalls(Protocol):
    """Ask, tell, fail and optimize without blocking the event loop; what they need comes first."""

    desk: Desk

    def ask(self, n: int = 1) -> list[Pull]:
        """Lease pulls."""

    def tell(self, pull: Pull | int, metrics: Mapping[str, float]) -> str:
        """Record a pull's metrics."""

    def fail(self, pull: Pull | int, error: str = "", *, charge: bool = True) -> str:
        """Record that an evaluation failed."""

    def recommend(self) -> Verdict:
        """Return the verdict."""

    async def ask_async(self, n: int = 1) -> list[Pull]:
        """Lease pulls without blocking the event loop; if cancelled meanwhile, give them back."""
        asked = asyncio.ensure_future(asyncio.to_thread(self.ask, n))
        try:
            return await asyncio.shield(asked)
        except asyncio.CancelledError:
            with suppress(Exception):  # why it was cancelled is what counts
                for pull in await asked:
                    self._give_back(pull)
            raise

    async def tell_async(self, pull: Pull, metrics: Mapping[str, float]) -> str:
        """Record a pull without blocking the event loop."""
        return await asyncio.to_thread(self.tell, pull, metrics)

    async def fail_async(self, pull: Pull, error: str = "", *, charge: bool = True) -> str:
        """Record a failure without blocking the event loop."""
        return await asyncio.to_thread(self.fail, pull, error, charge=charge)

    async def pulls_async(self, n: int = 1) -> AsyncIterator[Pull]:
        """Yield leased pulls until the study is finished, or stopped."""
        while True:
            asked = await self.ask_async(n)
            for pull in asked:
                yield pull
            if not asked:
                if await asyncio.to_thread(lambda: self.desk.is_over):
                    return
                await asyncio.sleep(POLL_SECONDS)

    async def optimize_async(
        self,
        evaluate: Callable[..., Any],
        *,
        workers: int = 1,
        outage_minutes: float = OUTAGE_MINUTES,
        backoff_seconds: float = BACKOFF_SECONDS,
        outage: Outaged | None = None,
        requests_per_minute: float | None = None,
        cache: str | Path | Cache | None = None,
    ) -> Verdict:
        """Evaluate pulls with a coroutine function (arm, seed) -> metrics, `workers` at a time.

        Its parameters may be others, an outage is waited for, and `requests_per_minute` and
        `cache` hold as in `Study.optimize`.
        """
        if not callable(evaluate):
            raise InputError(
                f"evaluate = {evaluate!r} must be a coroutine function (arm, seed) -> metrics. "
                "Give one."
            )
        if isinstance(evaluate, Command | Function | LoggedRows):
            raise _nothing_to_await(evaluate, "must be a coroutine function (arm, seed) -> metrics")
        at_least("workers", workers, 1)
        backoff = Backoff(outage_minutes, backoff_seconds)
        resolver = Resolver(self.desk, workers, backoff, say=outage)
        answers = None if cache is None else cache_at(cache, self.desk.plan, evaluate)
        course = _Course(self.desk, evaluate, resolver, Pace(requests_per_minute), answers)
        await asyncio.to_thread(self.desk.begin, workers)
        await asyncio.to_thread(resolver.recall)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(course.work())
        except ExceptionGroup as errors:  # the first ended the others
            raise errors.exceptions[0] from None
        finally:
            if answers is not None:
                answers.close()
        return await asyncio.to_thread(self.recommend)

    def _give_back(self, pull: Pull) -> None:
        with suppress(InputError, StorageError):  # the way out: it must not hide why it is taken
            self.desk.release(pull.pull, pull.lease)


class _Course:
    """Coroutines that evaluate pulls until their study is finished; they ask one at a time."""

    def __init__(
        self,
        desk: Desk,
        evaluate: Callable[..., Any],
        resolver: Resolver,
        pace: Pace,
        cache: Cache | None,
    ) -> None:
        self._desk, self._evaluate, self._resolver = desk, evaluate, resolver
        self._pace, self._cache = pace, cache
        self._call = None if isinstance(evaluate, AsyncFunction) else Call.of(evaluate)
        if isinstance(evaluate, AsyncFunction):
            evaluate.require_items(has_items=desk.plan.sharing.has_items)
        elif Call.of(evaluate).needs_item and not desk.plan.sharing.has_items:
            raise without_items(evaluate)
        self._asking = asyncio.Lock()

    async def work(self) -> None:
        """Ask, evaluate and tell, again and again."""
        while True:
            async with self._asking:
                while not self._pace.take(1):
                    await asyncio.sleep(self._pace.seconds)
                asked = await self._ask()
                self._pace.give_back(1 - len(asked))
            for pull in asked:
                await self._resolve(pull)
            if not asked:
                if await asyncio.to_thread(self._is_over):
                    return
                wait = self._resolver.seconds_to_try  # for ever, while one is tried
                await asyncio.sleep(max(POLL_SECONDS, min(wait, 1.0) if wait < math.inf else 0.0))

    def _is_over(self) -> bool:
        head = self._desk.head
        return head.is_stopped or (head.finished and not self._resolver.recall())

    async def _ask(self) -> list[PullFact]:
        """Lease a pull without blocking the event loop; if cancelled meanwhile, give it back."""
        asked = asyncio.ensure_future(asyncio.to_thread(self._resolver.ask, 1))
        try:
            return await asyncio.shield(asked)
        except asyncio.CancelledError:
            with suppress(Exception):  # why it was cancelled is what counts
                for pull in await asked:
                    self._give_back(pull)
            raise

    async def _resolve(self, pull: PullFact) -> None:
        """Evaluate a pull and tell what came of it; give it back if nothing could."""
        beat = asyncio.create_task(self._keep(pull))
        try:
            metrics = await self._answer(pull)
        except EvaluationError as error:
            await asyncio.to_thread(self._resolver.fail, pull, error)
        except BaseException:
            self._give_back(pull)
            raise
        else:
            await self._tell(pull, metrics)
        finally:
            beat.cancel()

    async def _answer(self, pull: PullFact) -> Any:
        """Return the answer of before, or ask for one."""
        order = order_for(self._desk, pull)
        if self._cache is not None:
            known = await asyncio.to_thread(self._known, self._cache, pull, order)
            if known is not None:
                self._pace.give_back(1)
                return known
        return await self._evaluated(order)

    def _known(self, cache: Cache, pull: PullFact, order: Order) -> Any:
        """Return the answer of before; who looks whether the world is well again asks anew."""
        if self._resolver.is_waiting or pull.state == State.TOLD:
            return None
        if (found := cache.find(order)) is not None:
            self._resolver.uncount(pull)
        return found

    async def _tell(self, pull: PullFact, metrics: Any) -> None:
        try:
            became = await asyncio.to_thread(self._resolver.tell, pull, metrics)
        except InputError:
            self._give_back(pull)
            raise
        if self._cache is not None and became == "told":
            await asyncio.to_thread(self._cache.keep, order_for(self._desk, pull), metrics)

    def _give_back(self, pull: PullFact) -> None:
        with suppress(InputError, StorageError):  # it must not hide why nothing could be told
            self._resolver.give_back(pull)

    async def _evaluated(self, order: Order) -> Any:
        """Return what can be told; what the evaluation raised is an `EvaluationError`."""
        try:
            call, evaluate = self._call, self._evaluate
            given = evaluate(order) if call is None else call.make(evaluate, order)
            if inspect.isawaitable(given):
                return await given
        except (Exception, SystemExit) as error:
            raise failure_of(error) from error
        raise _nothing_to_await(self._evaluate, f"gave {reprlib.repr(given)}, and nothing to await")

    async def _keep(self, pull: PullFact) -> None:
        """Keep a lease while its evaluation goes on."""
        while True:
            await asyncio.sleep(self._desk.plan.definition.lease_seconds / BEATS)
            with suppress(LeaseError, StorageAwayError):
                await asyncio.to_thread(self._desk.extend, pull.number, pull.lease)


def _nothing_to_await(evaluate: object, rule: str) -> InputError:
    return InputError(
        f"evaluate = {evaluate!r} {rule}. Use it with study.optimize, or make it an async def."
    )
