"""The socket that the server listens on."""

import asyncio
import resource
import socket

import pytest

from ringfence.core.errors import InputError
from ringfence.interfaces.web import connections
from ringfence.interfaces.web.server import address_of, listen


def sends_at_once(listening: socket.socket) -> bool:
    """Tell whether a connection to an asyncio server on a socket sends small answers at once."""

    async def ask() -> bool:
        found: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        async def accepted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            own = writer.get_extra_info("socket")
            found.set_result(own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0)
            writer.close()

        async with await asyncio.start_server(accepted, sock=listening):
            _, writer = await asyncio.open_connection(*listening.getsockname()[:2])
            answer = await asyncio.wait_for(found, 10.0)
            writer.close()
            await writer.wait_closed()
            return answer

    return asyncio.run(ask())


def test_small_answers_are_sent_at_once() -> None:
    """Else every call waits 40 ms for the acknowledgement of its answer's first half."""
    assert sends_at_once(listen("127.0.0.1", 0))


def test_a_port_that_is_taken_is_named() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert address_of(taken, "127.0.0.1") == f"http://127.0.0.1:{port}/"
        with pytest.raises(InputError, match=f"127.0.0.1:{port} cannot be listened on"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize(("files", "most"), [(20_000, 500), (256, 156), (40, 16)])
def test_there_is_room_for_as_many_as_the_system_allows(
    monkeypatch: pytest.MonkeyPatch, files: int, most: int
) -> None:
    """A server without a file left for a connection would neither answer nor say so."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    assert connections.most_connections() == most
