"""Answers that take long wait for each other, and nobody else waits for them.

A route that is costly has a lane: a few are made at a time, in the order in which they were asked
for. Asking, telling and saying where a study stands have threads of their own, always. May touch
the requests.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Literal, TypeAlias, TypeVar

from fastapi import Request, Response

from ringfence.interfaces.web.bodies import StrictRoute
from ringfence.interfaces.web.problems import BusyError

Name: TypeAlias = Literal["verdicts", "documents"]
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])

AT_ONCE = 2
MOST_WAITING = 100
_lane_of: dict[Callable[..., Any], Name] = {}


def costly(lane: Name) -> Callable[[Endpoint], Endpoint]:
    """Give a route a lane: verdicts, which pages show, or documents, which are taken away."""

    def mark(endpoint: Endpoint) -> Endpoint:
        _lane_of[endpoint] = lane
        return endpoint

    return mark


class Lane:
    """Lets a few in at a time. Belongs to one event loop."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self._places = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn; too many who wait are refused."""
        if self._waiting >= MOST_WAITING:
            raise BusyError(f"{MOST_WAITING} such answers are waited for. Try again later.")
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._places.release()


class Lanes:
    """The lanes of a server by name."""

    def __init__(self) -> None:
        """Begin with nobody in them."""
        self._lanes: dict[Name, Lane] = {"verdicts": Lane(), "documents": Lane()}

    def turn(self, name: Name) -> Any:
        """Wait for a turn in a lane."""
        return self._lanes[name].turn()


class LaneRoute(StrictRoute):
    """A route that waits for its turn if its answer is costly.

    Only making the answer takes a place: a client that reads it slowly holds up nobody.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        answer, lane = super().get_route_handler(), _lane_of.get(self.endpoint)
        if lane is None:
            return answer

        async def answer_in_turn(request: Request) -> Response:
            async with request.app.state.lanes.turn(lane):
                if await request.is_disconnected():  # who has gone needs no answer
                    return Response(status_code=503)
                return await answer(request)

        return answer_in_turn
