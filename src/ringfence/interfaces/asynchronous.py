"""The calls of a study for an event loop: each runs its blocking twin in a thread.

May touch what it is mixed into.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from ringfence.core.errors import InputError, LeaseError, StorageAwayError
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

    def tell(self, pull: Pull | int, metrics: Mapping[str, float]) -> str:
        """Record a pull's metrics."""

    def fail(self, pull: Pull | int, error: str = "", *, charge: bool = True) -> str:
        """Record that an evaluation failed."""

    def recommend(self) -> Verdict:
        """Return the verdict."""

    async def ask_async(self, n: int = 1) -> list[Pull]:
        """Lease pulls without blocking the event loop."""
        return await asyncio.to_thread(self.ask, n)

    async def tell_async(self, pull: Pull, metrics: Mapping[str, float]) -> str:
        """Record a pull without blocking the event loop."""
        return await asyncio.to_thread(self.tell, pull, metrics)

    async def fail_async(self, pull: Pull, error: str = "", *, charge: bool = True) -> str:
        """Record a failure without blocking the event loop."""
        return await asyncio.to_thread(self.fail, pull, error, charge=charge)

    async def pulls_async(self, n: int = 1) -> AsyncIterator[Pull]:
        """Yield leased pulls until the study is finished."""
        while True:
            asked = await self.ask_async(n)
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

        async def work() -> None:
            async for pull in self.pulls_async():
                beat = asyncio.create_task(self._keep(pull))
                try:
                    metrics = await evaluate(pull.arm, pull.seed)
                    values_of(self.desk.plan, metrics)
                except Exception as error:  # noqa: BLE001 - kept with the pull, as a failure
                    with suppress(LeaseError):  # too late: whoever holds it now will tell
                        await self.fail_async(pull, f"{type(error).__name__}: {error}")
                else:
                    with suppress(LeaseError):
                        await self.tell_async(pull, metrics)
                finally:
                    beat.cancel()

        async with asyncio.TaskGroup() as group:
            for _ in range(at_least("workers", workers, 1)):
                group.create_task(work())
        return await asyncio.to_thread(self.recommend)
