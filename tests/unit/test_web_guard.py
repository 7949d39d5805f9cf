"""The guard before the web application: who is let in, and what every answer carries."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ringfence.core.errors import InputError
from ringfence.interfaces.web.door import COOKIE, Door, is_loopback
from ringfence.interfaces.web.guard import MOST_BYTES, POLICY, Guard

TOKEN = "a-token-of-our-own"


class Echo:
    """Counts what came through, and answers with the size of the body."""

    def __init__(self) -> None:
        self.came = 0
        self.asked: list[tuple[str, bool]] = []  # for which page, and whether it may compute

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.came += 1
        self.asked.append((scope["path"], scope.get("may_compute", False)))
        size = 0
        while scope["method"] == "POST":
            message = await receive()
            size += len(message.get("body", b""))
            if not message.get("more_body"):
                break
        await PlainTextResponse(str(size))(scope, receive, send)


def ask(
    door: Door,
    method: str = "GET",
    path: str = "/",
    headers: dict[str, str] | None = None,
    content: Any = None,
) -> tuple[httpx.Response, int]:
    echo = Echo()
    app: ASGIApp = Guard(echo, door)

    async def call() -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as one:
            return await one.request(method, path, headers=headers, content=content)

    return asyncio.run(call()), echo.came


def through(
    door: Door, method: str, path: str, headers: dict[str, str], content: Any = b"", came: int = 1
) -> list[tuple[str, bool]]:
    """Return which pages a request gets to, and whether it may have something computed there."""
    echo = Echo()

    async def call() -> None:
        transport = httpx.ASGITransport(app=Guard(echo, door))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as one:
            await one.request(method, path, headers=headers, content=content)

    asyncio.run(call())
    assert echo.came == came
    return echo.asked


LOCAL = Door.of(token=TOKEN)
PUBLIC = Door.of("0.0.0.0", token=TOKEN, names=("box.example",))
BEARER = {"Authorization": f"Bearer {TOKEN}"}
JSON = {"Content-Type": "application/json"}


def test_a_write_needs_the_token_even_on_loopback() -> None:
    for headers in ({}, {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": f"Basic {TOKEN}"}):
        answer, came = ask(LOCAL, "POST", "/api/studies", {**headers, **JSON}, b"{}")
        assert (answer.status_code, came) == (401, 0)
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert TOKEN not in answer.text
    answer, came = ask(LOCAL, "POST", "/api/studies", {**BEARER, **JSON}, b"{}")
    assert (answer.status_code, came) == (200, 1)


def test_a_read_only_door_lets_no_write_in() -> None:
    door = Door.of(token=TOKEN, read_only=True)
    answer, came = ask(door, "POST", "/api/studies", {**BEARER, **JSON}, b"{}")
    assert (answer.status_code, came) == (403, 0)
    assert ask(door)[1] == 1


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8765", "",
        "127.0.0.1:80:80", "user@127.0.0.1", "127.0.0.1:8765@evil.example", "127.0.0.2",
        "[::2]", "localhost:http",
    ],
)  # fmt: skip
def test_a_name_of_another_site_is_refused(host: str) -> None:
    answer, came = ask(LOCAL, headers={"Host": host})
    assert (answer.status_code, came) == (400, 0)


@pytest.mark.parametrize("host", ["192.0.2.7:8765", "[2001:db8::1]:80", "[2001:db8::1]"])
def test_an_address_is_a_name_where_pages_need_the_token(host: str) -> None:
    """Another site's name can be pointed at us, an address cannot."""
    assert ask(PUBLIC, headers={"Host": host, **BEARER})[1] == 1
    assert ask(LOCAL, headers={"Host": host})[0].status_code == 400


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "LOCALHOST:1", "localhost", "[::1]:9", "[::1]"])
def test_its_own_names_are_let_in(host: str) -> None:
    assert ask(LOCAL, headers={"Host": host})[1] == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_no_page_of_another_origin_can_write(headers: dict[str, str]) -> None:
    for path in ("/api/studies", "/plan"):
        answer, came = ask(LOCAL, "POST", path, {**BEARER, **JSON, **headers}, b"{}")
        assert (answer.status_code, came) == (403, 0)


def test_a_link_from_elsewhere_opens_and_an_embedded_read_does_not() -> None:
    visit = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert ask(LOCAL, headers=visit)[1] == 1
    embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert ask(LOCAL, path="/api/studies", headers=embedded)[0].status_code == 403
    own = {"Origin": "http://127.0.0.1:8765", "Sec-Fetch-Site": "same-origin"}
    assert through(LOCAL, "POST", "/plan", {**own, **BEARER}) == [("/plan", True)]


def _in_pieces(size: int) -> Callable[[], Any]:
    async def pieces() -> Any:
        for _ in range(0, size, 2**16):
            yield b"x" * 2**16

    return pieces


def test_a_body_may_have_so_many_bytes_and_no_more() -> None:
    headers = {**BEARER, **JSON}
    answer, _ = ask(LOCAL, "POST", "/api/studies", headers, b"x" * MOST_BYTES)
    assert answer.text == str(MOST_BYTES)
    for content in (b"x" * (MOST_BYTES + 1), _in_pieces(MOST_BYTES + 1)()):
        answer, came = ask(LOCAL, "POST", "/api/studies", headers, content)
        assert (answer.status_code, came) == (413, 0)


def test_only_json_is_written() -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        headers = {**BEARER, "Content-Type": kind}
        assert ask(LOCAL, "POST", "/api/studies", headers, b"{}")[0].status_code == 415
    headers = {**BEARER, "Content-Type": "application/JSON; charset=utf-8"}
    assert ask(LOCAL, "POST", "/api/studies", headers, b"{}")[1] == 1


def test_beyond_loopback_pages_need_the_token_too() -> None:
    host = {"Host": "box.example"}
    answer, came = ask(PUBLIC, headers=host)
    assert (answer.status_code, answer.headers["Location"], came) == (303, "/token", 0)
    assert ask(PUBLIC, path="/api/studies", headers=host)[0].status_code == 401
    assert ask(PUBLIC, path="/openapi.json", headers=host)[0].status_code == 401
    assert ask(PUBLIC, headers={**host, **BEARER})[1] == 1
    for path in ("/token", "/static/x/ringfence.css"):
        assert ask(PUBLIC, path=path, headers=host)[1] == 1


def test_a_browser_is_let_in_once_it_has_shown_the_token() -> None:
    answer, came = ask(PUBLIC, path=f"/studies/x?token={TOKEN}")
    assert (answer.status_code, answer.headers["Location"], came) == (303, "/studies/x", 0)
    cookie = answer.headers["Set-Cookie"]
    assert TOKEN not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    held = {"Cookie": cookie.partition(";")[0]}
    assert ask(PUBLIC, headers=held)[1] == 1
    assert ask(PUBLIC, "POST", "/api/studies", {**held, **JSON}, b"{}")[0].status_code == 401
    for other in (f"{COOKIE}={TOKEN}", f"{COOKIE}=", "=;;=="):
        answer, came = ask(PUBLIC, headers={"Cookie": other})
        assert (answer.status_code, came) == (303, 0)


def test_a_wrong_token_opens_nothing_and_leads_nowhere_else() -> None:
    echo = Echo()
    scope: dict[str, Any] = {
        "type": "http", "method": "GET", "path": "/studies/x", "query_string": b"token=wrong",
        "headers": [(b"host", b"127.0.0.1")],
    }  # fmt: skip
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    asyncio.run(Guard(echo, PUBLIC)(scope, receive, send))
    assert (scope["path"], scope["query_string"]) == ("/token", b"wrong=1")  # the form, once more
    assert not any(name == b"set-cookie" for name, _ in sent[0]["headers"])
    answer, _ = ask(PUBLIC, path=f"//evil.example/?token={TOKEN}")
    assert not answer.headers.get("Location", "").startswith("//")


def test_every_answer_carries_the_policy() -> None:
    for headers in ({}, {"Host": "evil.example"}):
        answer, _ = ask(LOCAL, headers=headers)
        assert answer.headers["Content-Security-Policy"] == POLICY
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert answer.headers["Cache-Control"] == "no-store"
    assert "unsafe" not in POLICY


def test_an_address_beyond_loopback_needs_a_token_of_ones_own() -> None:
    for host in ("0.0.0.0", "192.0.2.1", "::", "box.example"):
        with pytest.raises(InputError, match="RINGFENCE_TOKEN"):
            Door.of(host)
        assert not is_loopback(host)
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "localhost")))
    with pytest.raises(InputError, match="16"):
        Door.of(token="short")
    with pytest.raises(InputError, match="ASCII"):
        Door.of(token="sixteen letters é")
    assert Door.of().token != Door.of().token


def test_a_page_has_nothing_computed_without_the_token() -> None:
    """The form for the token answers in its place; the body is not even read."""
    cookie = {"Cookie": f"{COOKIE}={LOCAL.cookie}"}
    for path in ("/plan", "/paper", "/jobs/x/stop"):
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": f"{COOKIE}={TOKEN}"}):
            assert through(LOCAL, "POST", path, headers, b"x" * 10**6) == [("/token", False)]
        for headers in (BEARER, cookie, {"Cookie": f"a=b; {COOKIE}=old; {cookie['Cookie']}"}):
            assert through(LOCAL, "POST", path, headers) == [(path, True)]
    assert through(LOCAL, "GET", "/plan", {}) == [("/plan", False)]
    assert through(LOCAL, "GET", "/plan", cookie) == [("/plan", True)]
    assert through(LOCAL, "POST", "/token", {}) == [("/token", False)]


def test_a_read_only_door_has_nothing_computed() -> None:
    door = Door.of(token=TOKEN, read_only=True)
    for path in ("/plan", "/paper", "/jobs/x/stop"):
        answer, came = ask(door, "POST", path, BEARER, b"")
        assert (answer.status_code, came) == (403, 0)
    assert through(door, "GET", "/plan", BEARER) == [("/plan", False)]


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "http://]"])
def test_an_origin_that_cannot_be_read_is_no_fault_of_ours(origin: str) -> None:
    for method, path in (("GET", "/"), ("POST", "/plan"), ("POST", "/api/studies")):
        answer, came = ask(LOCAL, method, path, {**BEARER, **JSON, "Origin": origin}, b"{}")
        assert (answer.status_code, came) == (400, 0)


def asked_raw(headers: list[tuple[bytes, bytes]], *messages: dict[str, Any]) -> tuple[int, int]:
    """Return how often the application and the client heard of a write with these messages."""
    echo, said = Echo(), list(messages)
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return said.pop(0)

    scope = {
        "type": "http", "method": "POST", "path": "/api/studies", "query_string": b"",
        "headers": [
            (b"host", b"127.0.0.1"), (b"authorization", f"Bearer {TOKEN}".encode()),
            (b"content-type", b"application/json"), *headers,
        ],
    }  # fmt: skip
    asyncio.run(Guard(echo, LOCAL)(scope, receive, send))
    return echo.came, len(sent)


def test_a_body_that_breaks_off_is_no_body() -> None:
    part = {"type": "http.request", "body": b'{"n": 1}', "more_body": True}
    assert asked_raw([], part, {"type": "http.disconnect"}) == (0, 0)
    assert asked_raw([], part | {"more_body": False})[0] == 1


@pytest.mark.parametrize("name", [b"host", b"origin", b"authorization", b"content-type"])
def test_a_header_that_decides_is_there_once(name: bytes) -> None:
    whole = {"type": "http.request", "body": b"{}", "more_body": False}
    values = {b"origin": b"http://127.0.0.1", b"authorization": f"Bearer {TOKEN}".encode()}
    twice = [(name, values.get(name, b"127.0.0.1"))] * 2
    assert asked_raw(twice, whole)[0] == 0


def test_a_length_beyond_all_numbers_is_too_large() -> None:
    assert asked_raw([(b"content-length", b"9" * 5000)])[0] == 0
