"""Watches studies for whoever follows them: one look at the head of each, however many follow.

A head is one row; watching writes nothing and locks nothing. May touch the shelf.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

from ringfence.core.errors import RingfenceError
from ringfence.core.strict import strict_json
from ringfence.interfaces.web.problems import BusyError
from ringfence.interfaces.web.shelf import Shelf

_POLL_SECONDS = 0.4
_KEEP_ALIVE_SECONDS = 10.0
_RETRY_MS = 2000
MOST_FOLLOWERS = 350  # of the connections that a server has: others want to work


class _Followed:
    """A study that someone follows: its pulse, and how many follow it."""

    def __init__(self) -> None:
        self.pulse: str | None = None
        self.followers = 0
        self.changed = asyncio.Event()
        self.task: asyncio.Task[None] | None = None


class Watch:
    """Tells followers of changes. Belongs to one event loop."""

    def __init__(self, shelf: Shelf) -> None:
        """Watch the studies of a shelf."""
        self._shelf, self._loop = shelf, asyncio.get_running_loop()
        self._followed: dict[str, _Followed] = {}
        self._closing = asyncio.Event()

    @property
    def followers(self) -> int:
        """How many follow a study."""
        return sum(followed.followers for followed in self._followed.values())

    def require_room(self) -> None:
        """Refuse another follower where there are too many."""
        if self.followers >= MOST_FOLLOWERS:
            raise BusyError(f"{MOST_FOLLOWERS} follow studies already. Try again later.")

    def close(self) -> None:
        """End all streams; any thread may say so."""
        self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        self._closing.set()
        for followed in self._followed.values():
            followed.changed.set()

    async def events(self, name: str) -> AsyncIterator[str]:
        """Yield server-sent events until the reader leaves: where the study stands, now and on."""
        followed = self._followed.setdefault(name, _Followed())
        followed.followers += 1
        told: str | None = None  # the version that this follower has heard of
        heard: str | None = ""  # the pulse that was last looked into
        try:
            if followed.task is None or followed.task.done():
                followed.task = asyncio.create_task(self._poll(name, followed))
                followed.task.add_done_callback(lambda _: followed.changed.set())
            yield f"retry: {_RETRY_MS}\n\n"
            # Where looking broke, the stream ends: a reader that comes back has it begin anew.
            while not (self._closing.is_set() or followed.task.done()):
                if heard != followed.pulse:
                    heard = followed.pulse
                    news = await self._news(name)
                    if news is None:
                        heard = ""
                        await asyncio.sleep(_POLL_SECONDS)
                    elif news["version"] != told:
                        told = news["version"]
                        yield f"event: change\ndata: {strict_json(news)}\n\n"
                    continue
                try:
                    await asyncio.wait_for(followed.changed.wait(), _KEEP_ALIVE_SECONDS)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            followed.followers -= 1
            if followed.followers == 0 and followed.task is not None:
                followed.task.cancel()
                self._followed.pop(name, None)

    async def _poll(self, name: str, followed: _Followed) -> None:
        """Look at a study's head again and again; wake the followers when it is another one."""
        while True:
            started = time.monotonic()
            try:
                pulse: str | None = await asyncio.to_thread(self._shelf.pulse, name)
            except RingfenceError:  # away, or deleted: those who follow keep what they have
                pulse = None
            if pulse is not None and pulse != followed.pulse:
                followed.pulse = pulse
                woken, followed.changed = followed.changed, asyncio.Event()
                woken.set()
            took = time.monotonic() - started
            await asyncio.sleep(max(_POLL_SECONDS, took))

    async def _news(self, name: str) -> dict[str, Any] | None:
        """Return where a study stands, or nothing while that cannot be said."""
        try:
            return await asyncio.to_thread(self._shelf.news, name)
        except RingfenceError:
            return None
