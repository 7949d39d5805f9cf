"""Coroutines as an executor: an event loop in a thread of its own, that nobody has to wait for.

A future that is cancelled ends its coroutine. Touches its arguments only.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

_Found = TypeVar("_Found")
_Given = ParamSpec("_Given")
_LONGEST_END_SECONDS = 5.0


class Coroutines(Executor):
    """Runs coroutine functions side by side; how many is up to who submits them."""

    def __init__(self) -> None:
        """Begin the loop."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="coroutines", daemon=True)
        self._thread.start()

    def submit(
        self, fn: Callable[_Given, _Found], /, *args: _Given.args, **kwargs: _Given.kwargs
    ) -> "Future[_Found]":
        """Await what a coroutine function gives, on the loop."""

        async def awaited() -> _Found:
            found: _Found = await fn(*args, **kwargs)  # type: ignore[misc]
            return found

        return asyncio.run_coroutine_threadsafe(awaited(), self._loop)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - as all executors have it
        """End what still runs, and the loop; a coroutine that will not end is left behind."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        if wait and threading.current_thread() is not self._thread:
            self._thread.join(_LONGEST_END_SECONDS)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            if left:
                self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()
