"""Connections of clients: how many there may be, and how long one may take to say what it wants.

A client that never ends its request, or never reads its answer, would else hold a connection for
ever, and a few hundred of them the whole server. May touch the sockets that it was given.
"""

import asyncio
import sys
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ringfence.interfaces.web.problems import problem

MOST_CONNECTIONS = 500
HEAD_SECONDS = 10.0  # for the lines before a body
BODY_SECONDS = 60.0  # for a body, which may have 4 MiB
READ_SECONDS = 60.0  # for taking more of an answer, once what we may hold of it is full
_SPARE_FILES = 100  # what else a process has open


def most_connections() -> int:
    """Return how many connections this process can have open at once."""
    if sys.platform == "win32":
        return MOST_CONNECTIONS
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(16, min(MOST_CONNECTIONS, files - _SPARE_FILES))


class Connection(H11Protocol):
    """One connection, whose client has so long to say what it wants and to take the answer.

    Where there are too many, the one whose request is longest in coming makes room.
    """

    most = MOST_CONNECTIONS

    def __init__(self, *args: Any, **options: Any) -> None:
        """Begin without a clock."""
        super().__init__(*args, **options)
        self._owed: object = None  # what the client is to send: lines, or the body of a request
        self._clock: asyncio.TimerHandle | None = None
        self._reader_clock: asyncio.TimerHandle | None = None
        self._quiet_since = self.loop.time()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a client in, or tell it that there is no room."""
        super().connection_made(transport)
        if len(self.connections) > self.most and not self._make_room():
            self._refuse(503, "too many clients are connected. Try again in a few seconds.")
        self._set_clock()

    def data_received(self, data: bytes) -> None:
        """Take what the client sent."""
        if not self.transport.is_closing():
            super().data_received(data)
            self._set_clock()

    def on_response_complete(self) -> None:
        """Go on with the client's next request, part of which may be here."""
        self._quiet_since = self.loop.time()
        super().on_response_complete()
        self._set_clock()
        if self.transport.is_closing():  # once the client has taken the rest of the answer
            self._await_reader()

    def pause_writing(self) -> None:
        """Wait for the client to take more of its answer, but not for ever."""
        super().pause_writing()
        self._await_reader()

    def resume_writing(self) -> None:
        """Go on sending."""
        super().resume_writing()
        if self._reader_clock is not None:
            self._reader_clock.cancel()
            self._reader_clock = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client."""
        super().connection_lost(exc)
        for clock in (self._clock, self._reader_clock):
            if clock is not None:
                clock.cancel()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request; in the middle of an answer there is nothing left to say."""
        if self._is_answered and self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    @property
    def _is_answered(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    @property
    def _has_no_request(self) -> bool:
        """Whether no request is here as a whole: neither an answer nor work is lost with it."""
        return self._is_answered or self.conn.their_state is h11.SEND_BODY

    def _make_room(self) -> bool:
        """End the connection whose request is longest in coming, if there is one."""
        known: set[Connection] = self.connections  # type: ignore[assignment]
        waiting = [one for one in known if one is not self and one._has_no_request]  # noqa: SLF001
        if not waiting:
            return False
        longest = min(waiting, key=lambda one: one._quiet_since)  # noqa: SLF001 - its own kind
        known.discard(longest)
        longest.transport.abort()
        return True

    def _await_reader(self) -> None:
        if self._reader_clock is None:
            self._reader_clock = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def _set_clock(self) -> None:
        """Give the client so long for what it owes us, from when it began to owe it.

        Between two requests uvicorn has a clock of its own, which ends at the first byte.
        """
        state, owed = self.conn.their_state, None
        is_between = state is h11.IDLE and self.timeout_keep_alive_task is not None
        if state in (h11.IDLE, h11.SEND_BODY) and not (is_between or self.transport.is_closing()):
            owed = (state, self.cycle)
        if owed == self._owed:
            return
        self._owed = owed
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None
        if owed is not None:
            self._quiet_since = self.loop.time()
            seconds = HEAD_SECONDS if state is h11.IDLE else BODY_SECONDS
            self._clock = self.loop.call_later(seconds, self._end)

    def _end(self) -> None:
        """End a connection whose client took too long."""
        if self.cycle is None or not self.cycle.response_started:
            self._refuse(408, "the request did not come to its end in time. Send it again.")
        elif self._is_answered:
            self.transport.close()
        else:
            self.transport.abort()

    def _refuse(self, status: int, why: str) -> None:
        answer = problem(status, why, {"Connection": "close"})
        phrase = HTTPStatus(status).phrase.encode()
        lines = [b"HTTP/1.1 %d %s" % (status, phrase)]
        lines += [b"%s: %s" % header for header in answer.raw_headers]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(answer.body)]))
        self.transport.close()
        self._await_reader()
