"""Runs the application: a server of its own, or one beside a running study.

May touch the web's own rooms.
"""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn

from ringfence.core.errors import InputError, RingfenceError
from ringfence.interfaces.web.app import make_app
from ringfence.interfaces.web.assets import chart_library
from ringfence.interfaces.web.connections import Connection, most_connections
from ringfence.interfaces.web.door import Door
from ringfence.interfaces.web.live import Watch

_GRACE_SECONDS = 2
_START_SECONDS = 20.0
_LAST_SECONDS = 2.0


class _Server(uvicorn.Server):
    """A server that ends its event streams when it is told to stop."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: those who follow a study would otherwise keep it up."""
        self.end_streams()
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at a signal, and be done with it: it is not raised again, so the exit code is 0."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()

    @property
    def followers(self) -> int:
        """How many follow a study."""
        watch = self._watch
        return 0 if watch is None else watch.followers

    def end_streams(self) -> None:
        """End the streams, and with them the last reason to stay."""
        watch = self._watch
        if watch is not None:
            watch.close()

    @property
    def _watch(self) -> Watch | None:
        """The watch, once the application has begun."""
        return getattr(self.config.app.state, "watch", None)  # type: ignore[union-attr]


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol by name: asyncio sends small answers at once (TCP_NODELAY) only where it sees it,
    # and each would else wait 40 ms for the client's kernel.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except (OSError, OverflowError) as error:
        made.close()
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{host}:{port} cannot be listened on: {reason}. Choose another --host or --port; "
            "--port 0 takes a free one."
        ) from None
    made.listen(128)
    return made


def address_of(listening: socket.socket, host: str) -> str:
    """Return the page's address."""
    port = listening.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/"


@contextmanager
def served(storage: str, door: Door, functions: Any = None) -> Iterator[str]:
    """Serve on a free loopback port while the block runs; yields the page's address."""
    listening = listen("127.0.0.1", 0)
    server = make_server(storage, door, functions)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    until = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > until:
            raise RingfenceError("the page's server did not start.")
        time.sleep(0.02)
    try:
        yield address_of(listening, "127.0.0.1")
        if server.followers:
            time.sleep(_LAST_SECONDS)  # so that those who look see how it ended
    finally:
        server.end_streams()
        server.should_exit = True
        thread.join(2 * _GRACE_SECONDS)


def make_server(storage: str, door: Door, functions: Any = None) -> _Server:
    """Return a server that is ready to run; a storage that cannot be used is refused here."""
    app = make_app(storage, door, functions)
    # The chart library takes seconds to be put together: it is begun before anyone asks.
    threading.Thread(target=chart_library, daemon=True).start()
    Connection.most = most_connections()
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        limit_concurrency=Connection.most + 1,
        log_level="error",  # who sends what is no request must not fill the log
        access_log=False,  # addresses may hold a token
        server_header=False,
        date_header=False,
        lifespan="on",
        timeout_graceful_shutdown=_GRACE_SECONDS,
        h11_max_incomplete_event_size=64 * 1024,
    )
    return _Server(config)
