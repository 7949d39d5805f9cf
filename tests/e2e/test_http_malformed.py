"""Thousands of requests that are none, over real sockets: each is refused, and none does harm."""

import random
import select
import socket
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from tests.e2e.serving import TOKEN, Served, create, refused, strict, unchanged

SECONDS, PATIENCE = 20.0, 1.0
BASE = {
    "Host": "127.0.0.1",
    "Authorization": f"Bearer {TOKEN}",
    "Content-Type": "application/json",
    "Content-Length": "8",
    "Origin": "",
    "Cookie": "",
    "Accept": "*/*",
    "Accept-Encoding": "gzip",
    "Last-Event-ID": "1",
    "Connection": "close",
}
VALUES = [
    "http://[", "http://[::1", "http://]", "http://[v1.x]", "//[", "[", "]", "http://:99999999999",
    "http://a:b:c", "null", "\x01", "\x7f", "\xff\xfe", "é", "%", "%zz", "%00", "=", "=;;=", ";",
    ";;;;", ",", ",,", '"', '"\\', "\\" * 2000, '"' + "\\x" * 2000, "a=" * 3000, "ringfence=" * 500,
    'ringfence="' + "\\001" * 2000, "ringfence=\xff", "-1", "+8", "8, 8", "8, 9", " 8 ", "0x8",
    "8.0", "1e9", "9" * 30, "9" * 5000, "\xb2", "\u0663".encode().decode("latin-1"), "NaN", "",
    " ", "\t", "Bearer", "Bearer ", "Bearer  x", "Basic", "Basic ====", "Bearer " + "x" * 9000,
    "Bearer \xff", "bearer:" + TOKEN, "chunked", "chunked, chunked", "gzip, chunked", "identity",
    "xchunked", "close, keep-alive", "upgrade", "websocket", "h2c", "100-continue", "200-ok",
    "bytes=0-", "bytes=-1--1", "q=2", "text/html;q=nan", "*/*;q=1e999", "a/b/c/d", "/" * 3000,
    "application/json; charset=no-such", "application/json" * 300, "multipart/form-data; boundary=",
    "multipart/form-data", "application/x-www-form-urlencoded; charset=utf-7",
    "cross-site", "Sun, 99 Nov 9999 99:99:99 GMT", '"etag', 'W/"', "127.0.0.1:", "127.0.0.1:x",
    "127.0.0.1:-1", "[::1", "[::1]]", "::1", "[:::::::::]", "127.0.0.1:99999999999999999999",
    "127.0.0.1\t", "user@127.0.0.1", "127.0.0.1, 127.0.0.1", "localhost." + "a." * 1000,
]  # fmt: skip
NAMES = [
    *BASE, "Transfer-Encoding", "Expect", "Upgrade", "Range", "If-None-Match", "If-Modified-Since",
    "Referer", "Sec-Fetch-Site", "Sec-Fetch-Mode", "X-Forwarded-For", "X-Forwarded-Proto", "TE",
    "Forwarded", "X-HTTP-Method-Override", "Content-Encoding", "Keep-Alive", "Via", "Date",
]  # fmt: skip
TARGETS = [
    "*", "", "/\\", "//", "//[", "/%", "/%zz", "/%00", "/%ff%fe", "/?%", "/?token=%ff", "/?token",
    "/?" + "&" * 5000, "/?" + "a&" * 5000, "http://[", "http://127.0.0.1/", "//evil.example/%2f..",
    "/studies/%5b", "/studies/[", "/jobs/%0d%0aX: y", "/plan?study=%ff", "/paper?x", "/\xff",
    "/static/%2e%2e/%2e%2e", "/static/x/%00", "/api/studies/%5b/events", "/token?next=//[",
    "/token?needed=x&wrong=y", "/token?next=%5c%5cevil", "/#", "/" + "a" * 60_000, "127.0.0.1:80",
    "/api/studies?" + "x" * 60_000, "/studies/" + "%41" * 9000, "/api/studies//ask", "/api",
]  # fmt: skip
METHODS = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PRI"]


def request(
    method: str, target: str, headers: list[tuple[str, str]], body: bytes = b'{"n": 1}'
) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def changed(name: str, value: str) -> list[tuple[str, str]]:
    """Return the headers of a sound request with another value for one; none has no value."""
    headers = {key: old for key, old in BASE.items() if old} | {name: value}
    return list(headers.items())


def answer_to(served: Served, sent: bytes) -> bytes:
    """Return all that a server says to bytes after which nothing comes; it must come to an end."""
    with closing(socket.create_connection(("127.0.0.1", served.port), SECONDS)) as line:
        said, is_waiting = b"", True
        try:
            line.sendall(sent)
            while True:
                if is_waiting and not select.select([line], [], [], PATIENCE)[0]:
                    line.shutdown(socket.SHUT_WR)  # more was expected of us, or another request
                    is_waiting = False
                if not (chunk := line.recv(65536)):
                    break
                said += chunk
        except ConnectionError:  # it had said what there was to say before we were done
            pass
    return said


def statuses(served: Served, requests: Iterable[bytes]) -> Counter[int]:
    """Return how often each status answers requests, sixteen at a time."""

    def status(sent: bytes) -> int:
        return status_of(answer_to(served, sent), sent)

    with ThreadPoolExecutor(16) as pool:
        return Counter(pool.map(status, requests))


def status_of(said: bytes, sent: bytes) -> int:
    if not said:
        return 0
    assert said.startswith(b"HTTP/1.1 "), (sent[:300], said[:300])
    status = int(said[9:12])
    assert status < 500, (sent[:300], said[:500])
    assert b"Traceback" not in said
    return status


def test_headers_that_are_malformed_are_refused(served: Served) -> None:
    """Every value for every header, on a page, on a read and on a write."""
    at = create(served)
    calls = [("GET", "/"), ("GET", at), ("POST", f"{at}/extend"), ("POST", "/plan")]
    seen = statuses(served, [
        request(*calls[(place + len(name)) % len(calls)], changed(name, value))
        for name in NAMES
        for place, value in enumerate(VALUES)
    ])  # fmt: skip
    assert sum(seen.values()) > 2500
    assert seen[400] > 250
    assert "Traceback" not in served.err
    assert strict(served.client.get(at))["issued"] == 0


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_origin_that_cannot_be_read_is_refused(served: Served, method: str) -> None:
    for origin in ("http://[", "http://[::1", "http://]"):
        headers = {"Origin": origin}
        for path in ("/api/studies", "/plan", "/"):
            answer = served.client.request(method, path, headers=headers, json={})
            refused(answer, 400, "origin")


@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization", "Content-Type"])
def test_a_header_that_decides_may_be_there_once(served: Served, name: str) -> None:
    at = create(served)
    values = {"Origin": served.url, "Host": f"127.0.0.1:{served.port}"}
    twice = [(name, values.get(name) or BASE[name])] * 2
    headers = [one for one in changed("Host", values["Host"]) if one[0] != name]
    sent = request("POST", f"{at}/ask", headers + twice)
    assert status_of(answer_to(served, sent), sent) == 400
    once = request("POST", f"{at}/ask", headers + twice[:1])
    assert status_of(answer_to(served, once), once) == 200


def test_targets_and_methods_that_are_none_are_refused(served: Served) -> None:
    headers = changed("Accept", "*/*")
    seen = statuses(served, [request(one, to, headers) for one in METHODS for to in TARGETS])
    assert seen[400] > 20
    assert seen[0] < 20
    assert "Traceback" not in served.err


def damaged(sound: bytes, rng: random.Random) -> bytes:
    """Return a request in which a few bytes are others, more or fewer."""
    content = bytearray(sound)
    for _ in range(rng.randrange(1, 6)):
        place, kind = rng.randrange(len(content)), rng.random()
        if kind < 0.5:
            content[place] = rng.randrange(256)
        elif kind < 0.75:
            del content[place : place + rng.randrange(1, 9)]
        else:
            content[place:place] = rng.randbytes(rng.randrange(1, 9))
    return bytes(content)


def test_bytes_at_random_are_answered_or_cut_off(served: Served) -> None:
    at = create(served)
    rng = random.Random(11)
    sound = [
        request("GET", at, changed("Accept", "*/*"), b""),
        request("POST", f"{at}/extend", changed("Accept", "*/*")),
        request("POST", f"{at}/extend", [
            *((key, value) for key, value in changed("Accept", "*/*") if key != "Content-Length"),
            ("Transfer-Encoding", "chunked"),
        ], b"8\r\n" + b'{"n": 1}' + b"\r\n0\r\n\r\n"),
    ]  # fmt: skip
    requests = [damaged(bytes(rng.choice(sound)), rng) for _ in range(1500)]
    for place in range(0, 1500, 3):  # a second one on the heels of one that is being answered
        requests[place] = sound[0].replace(b"close", b"keep-alive") + requests[place]
    with unchanged(served, at):
        seen = statuses(served, requests)
    assert seen[400] > 200
    assert "Traceback" not in served.err


def test_cookies_that_are_hard_to_read_take_no_time(served: Served) -> None:
    """A standard reader of cookies takes the square of their backslashes in time."""
    cookie = 'ringfence="' + "\\001" * 15_000 + '"'
    for _ in range(20):
        assert served.anyone.get("/", headers={"Cookie": cookie}).status_code == 200


def test_a_form_with_endless_fields_is_refused(served: Served) -> None:
    for content, status in ((b"a=1&" * 30_000, 422), (b"token=" + b"x" * 2**18, 413)):
        answer = served.anyone.post("/token", content=content)
        assert answer.status_code == status
