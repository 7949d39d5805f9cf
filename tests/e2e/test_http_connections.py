"""Clients that say nothing, or say it slowly, or never listen: they hold up nobody else."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPResponse
from pathlib import Path

import httpx
import pytest

from ringfence.interfaces.web import connections, live
from ringfence.interfaces.web.door import Door
from ringfence.interfaces.web.server import served as served_here
from tests.e2e.serving import TOKEN, body_of, new_client, serve, strict

HEAD, BODY, READ = 0.8, 1.6, 1.0
MOST = 24
SECONDS = 20.0
BEGUN = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """A server in this process, with little patience and room for a few."""
    monkeypatch.setattr(connections, "HEAD_SECONDS", HEAD)
    monkeypatch.setattr(connections, "BODY_SECONDS", BODY)
    monkeypatch.setattr(connections, "READ_SECONDS", READ)
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", MOST)
    with served_here(f"sqlite:///{tmp_path / 'studies.db'}", Door.of(token=TOKEN)) as address:
        yield address
    monkeypatch.undo()
    connections.Connection.most = connections.most_connections()


def port_of(url: str) -> int:
    return int(url.rstrip("/").rpartition(":")[2])


def line_to(url: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port_of(url)), timeout=SECONDS)


def answered(line: socket.socket) -> tuple[int, bytes]:
    """Return the status and the body of one answer, however it is cut on its way."""
    answer = HTTPResponse(line)
    answer.begin()
    return answer.status, answer.read()


def heard(line: socket.socket) -> bytes:
    """Return all that a server says before it ends a connection."""
    said = b""
    try:
        while chunk := line.recv(65536):
            said += chunk
    except ConnectionError:
        pass
    return said


@contextmanager
def dripping(line: socket.socket) -> Iterator[None]:
    """Send a byte now and then, until the other side has had enough."""
    over = threading.Event()

    def drip() -> None:
        while not over.wait(0.1):
            try:
                line.sendall(b"a")
            except OSError:
                return

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def until(claim: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not claim():
        assert time.monotonic() < end
        time.sleep(0.02)


def head_of(call: str, body: str = "Content-Length: 1000") -> bytes:
    return (
        f"POST {call} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Type: application/json\r\n{body}\r\n\r\n"
    ).encode()


@pytest.mark.parametrize("sent", [b"", b"G", BEGUN])
def test_a_request_that_does_not_come_is_not_waited_for(url: str, sent: bytes) -> None:
    with closing(line_to(url)) as line:
        line.sendall(sent)
        answer = heard(line)
    assert answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert b"application/problem+json" in answer
    assert b"did not come to its end in time" in answer


def test_a_request_that_comes_byte_by_byte_is_not_waited_for_either(url: str) -> None:
    with closing(line_to(url)) as line:
        line.sendall(BEGUN)
        with dripping(line):
            assert heard(line).startswith((b"HTTP/1.1 408", b""))


@pytest.mark.parametrize("body", ["Content-Length: 100000", "Transfer-Encoding: chunked"])
def test_a_body_that_does_not_come_to_an_end_changes_nothing(url: str, body: str) -> None:
    with new_client(url, TOKEN) as client:
        strict(client.post("/api/studies", json=body_of("kept")), 201)
        with closing(line_to(url)) as line:
            line.sendall(head_of("/api/studies/kept/ask", body))
            line.sendall(b"f\r\n" if "chunked" in body else b"{}  ")
            with dripping(line):
                said = heard(line)
            assert said.startswith(b"HTTP/1.1 408") or not said
        assert strict(client.get("/api/studies/kept"))["issued"] == 0


def test_a_client_that_leaves_before_the_end_of_its_body_changes_nothing(url: str) -> None:
    """What came of it may well read as a whole request."""
    with new_client(url, TOKEN) as client:
        strict(client.post("/api/studies", json=body_of("kept")), 201)
        with closing(line_to(url)) as line:
            line.sendall(head_of("/api/studies/kept/ask", "Content-Length: 100") + b'{"n": 1}')
            line.shutdown(socket.SHUT_WR)
            assert not heard(line)
        assert strict(client.get("/api/studies/kept"))["issued"] == 0


def test_a_body_that_was_refused_is_not_waited_for(url: str) -> None:
    with closing(line_to(url)) as line:
        line.sendall(head_of("/api/studies", "Content-Length: 100000").replace(b"Bearer", b"B"))
        with dripping(line):
            said = heard(line)
    assert said.startswith(b"HTTP/1.1 401")
    assert said.count(b"HTTP/1.1") == 1


def test_who_comes_back_in_time_is_answered_on_the_same_connection(url: str) -> None:
    request = b"GET /api/studies HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with closing(line_to(url)) as line:
        for _ in range(6):
            time.sleep(HEAD / 2)
            line.sendall(request)
            assert answered(line) == (200, b'{"studies":[]}')
        line.sendall(request * 5 + request[:10])  # five at once, and the beginning of a sixth
        said = heard(line)
    assert said.count(b"HTTP/1.1 200") == 5
    assert said.count(b"HTTP/1.1 408") <= 1


def test_followers_may_stay(url: str) -> None:
    with new_client(url, TOKEN) as client, ExitStack() as stack:
        strict(client.post("/api/studies", json=body_of("kept")), 201)
        streams = [
            stack.enter_context(client.stream("GET", "/api/studies/kept/events")) for _ in range(8)
        ]
        lines = [stream.iter_lines() for stream in streams]
        time.sleep(2 * max(HEAD, READ))
        strict(client.post("/api/studies/kept/ask", json={"n": 3}))
        for one in lines:
            assert any('"in_flight":3' in line for line in one)


def test_followers_leave_room_for_those_who_work(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_FOLLOWERS", 3)
    with new_client(url, TOKEN) as client, ExitStack() as stack:
        strict(client.post("/api/studies", json=body_of("kept")), 201)
        streams = [
            stack.enter_context(client.stream("GET", "/api/studies/kept/events")) for _ in range(3)
        ]
        lines = [stream.iter_lines() for stream in streams]
        assert all(next(one).startswith("retry") for one in lines)
        answer = client.get("/api/studies/kept/events")
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0


def test_silent_clients_make_room(url: str) -> None:
    """Three times as many as there is room for; who has something to say is heard."""
    with ExitStack() as stack, new_client(url, TOKEN) as client:
        strict(client.post("/api/studies", json=body_of("kept")), 201)
        for number in range(3 * MOST):
            line = stack.enter_context(closing(line_to(url)))
            line.sendall(BEGUN)
            if number % MOST == 0:
                with new_client(url, TOKEN) as other:
                    assert strict(other.get("/api/studies"))["studies"]


def test_who_finds_no_room_is_told_so(url: str) -> None:
    with ExitStack() as stack:
        client = stack.enter_context(new_client(url, TOKEN))
        strict(client.post("/api/studies", json=body_of("kept")), 201)
        ask = b"GET /api/studies/kept/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        for _ in range(MOST):  # the client's own connection is idle, and makes room
            line = stack.enter_context(closing(line_to(url)))
            line.sendall(ask)
            assert line.recv(4096).startswith(b"HTTP/1.1 200")
        with closing(line_to(url)) as late:
            said = heard(late)
        assert said.startswith(b"HTTP/1.1 503 Service Unavailable")
        assert b"too many clients" in said


def test_a_client_that_takes_no_answer_is_let_go(url: str) -> None:
    """Much is asked for at once, and nothing is read."""
    with httpx.Client(base_url=url, trust_env=False, timeout=60.0) as client:
        page = client.get("/paper").text
        library = next(
            part.partition('"')[0]
            for part in page.split('"/static/')
            if "chart-library" in part.partition('"')[0]
        )
    request = f"GET /static/{library} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    with closing(line_to(url)) as line:
        line.sendall(request * 20)
        began = time.monotonic()
        line.settimeout(SECONDS)
        until(lambda: connection_count(url) == 0)
        assert time.monotonic() - began > READ / 2
        size = len(heard(line))
    assert size > 0


def connection_count(url: str) -> int:
    local = f"0100007F:{port_of(url):04X}"
    rows = Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]
    return sum(row.split()[1] == local and row.split()[3] == "01" for row in rows)


def test_hundreds_who_say_nothing_hold_up_nobody(tmp_path: Path) -> None:
    """Against the command as it is run; fifty work beside them."""
    with ExitStack() as stack, serve(f"sqlite:///{tmp_path / 's.db'}", tmp_path) as running:
        strict(running.client.post("/api/studies", json=body_of("kept", budget=500)), 201)
        for _ in range(connections.MOST_CONNECTIONS + 60):
            line = stack.enter_context(closing(line_to(running.url)))
            line.sendall(BEGUN)
        until(lambda: running.connections() <= connections.MOST_CONNECTIONS + 1)

        def work(_: int) -> int:
            with new_client(running.url, TOKEN) as client:
                for _ in range(4):
                    strict(client.post("/api/studies/kept/ask", json={}))
                return client.get("/api/studies").status_code

        with ThreadPoolExecutor(50) as pool:
            assert list(pool.map(work, range(50))) == [200] * 50
        assert strict(running.client.get("/api/studies/kept"))["issued"] == 200
