"""The calls of a study for an event loop: each runs its blocking twin in a thread.

May touch what it is mixed into.
"""

import asyncio
import inspect
import reprlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from ringfence.core.errors import InputError, LeaseError, StorageAwayError, StorageError
from ringfence.execution.evaluating import (
    Command,
    EvaluationError,
    Function,
    LoggedRows,
    what_was_raised,
)
from ringfence.execution.holders import this_process
from ringfence.interfaces.checking import at_least
from ringfence.interfaces.leases import Pull
from ringfence.study.desk import Desk
from ringfence.study.observing import values_of
from ringfence.study.verdict import Verdict

POLL_SECONDS = 0.1
BEATS = 3  # extensions in the time of a lease


class AsyncCalls(Protocol):
    """Ask, tell, fail and optimize without blocking the event loop; what they need comes first."""

    desk: Desk

    def ask(self, n: int = 1) -> list[Pull]:
        """Lease pulls."""

    def _leased(self, n: int, holder: str | None = None) -> list[Pull]:
        """Lease pulls for a holder."""

    def tell(self, pull: Pull | int, metrics: Mapping[str, float]) -> str:
        """Record a pull's metrics."""

    def fail(self, pull: Pull | int, error: str = "", *, charge: bool = True) -> str:
        """Record that an evaluation failed."""

    def recommend(self) -> Verdict:
        """Return the verdict."""

    async def ask_async(self, n: int = 1) -> list[Pull]:
        """Lease pulls without blocking the event loop; if cancelled meanwhile, give them back."""
        return await self._leased_async(n)

    async def _leased_async(self, n: int, holder: str | None = None) -> list[Pull]:
        asked = asyncio.ensure_future(asyncio.to_thread(self._leased, n, holder))
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
        """Yield leased pulls until the study is finished."""
        async for pull in self._pulls_of(None, n):
            yield pull

    async def _pulls_of(self, holder: str | None, n: int = 1) -> AsyncIterator[Pull]:
        while True:
            asked = await self._leased_async(n, holder)
            for pull in asked:
                yield pull
            if not asked:
                if await asyncio.to_thread(lambda: self.desk.is_finished):
                    return
                await asyncio.sleep(POLL_SECONDS)

    async def _keep(self, pull: Pull) -> None:
        """Keep a lease while its evaluation goes on."""
        while True:
            await asyncio.sleep(self.desk.plan.definition.lease_seconds / BEATS)
            with suppress(LeaseError, StorageAwayError):
                await asyncio.to_thread(self.desk.extend, pull.pull, pull.lease)

    async def optimize_async(
        self, evaluate: Callable[[str, int], Any], *, workers: int = 1
    ) -> Verdict:
        """Evaluate pulls with a coroutine function (arm, seed) -> metrics, `workers` at a time."""
        if not callable(evaluate):
            raise InputError(
                f"evaluate = {evaluate!r} must be a coroutine function (arm, seed) -> metrics. "
                "Give one."
            )
        if isinstance(evaluate, Command | Function | LoggedRows):
            raise _nothing_to_await(evaluate, "must be a coroutine function (arm, seed) -> metrics")

        async def work() -> None:
            async for pull in self._pulls_of(this_process()):
                await self._resolve(pull, evaluate)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(at_least("workers", workers, 1)):
                    group.create_task(work())
        except ExceptionGroup as errors:  # the first ended the others
            raise errors.exceptions[0] from None
        return await asyncio.to_thread(self.recommend)

    async def _resolve(self, pull: Pull, evaluate: Callable[[str, int], Any]) -> None:
        """Evaluate a pull and tell what came of it; give it back if nothing could."""
        beat = asyncio.create_task(self._keep(pull))
        try:
            with suppress(LeaseError):  # too late: whoever holds it now will tell
                try:
                    metrics = await self._evaluated(pull, evaluate)
                except EvaluationError as error:
                    await self.fail_async(pull, str(error))
                else:
                    await self.tell_async(pull, metrics)
        finally:
            beat.cancel()

    async def _evaluated(self, pull: Pull, evaluate: Callable[[str, int], Any]) -> Any:
        """Return metrics that can be told; what the evaluation raised is an `EvaluationError`."""
        try:
            given = evaluate(pull.arm, pull.seed)
            if inspect.isawaitable(given):
                metrics = await given
                values_of(self.desk.plan, metrics)
                return metrics
        except (Exception, SystemExit) as error:
            raise EvaluationError(what_was_raised(error)) from error
        except BaseException:
            self._give_back(pull)
            raise
        self._give_back(pull)
        raise _nothing_to_await(evaluate, f"gave {reprlib.repr(given)}, and nothing to await")

    def _give_back(self, pull: Pull) -> None:
        with suppress(InputError, StorageError):  # the way out: it must not hide why it is taken
            self.desk.release(pull.pull, pull.lease)


def _nothing_to_await(evaluate: object, rule: str) -> InputError:
    return InputError(
        f"evaluate = {evaluate!r} {rule}. Use it with study.optimize, or make it an async def."
    )
