"""Stands before every request: Host, origin, token, size of the body; and headers on every answer.

Plain ASGI, so that nothing is read or run before it has agreed. May touch the door.
"""

from collections.abc import MutableMapping
from typing import Any, TypeAlias
from urllib.parse import parse_qs, quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ringfence.interfaces.web.door import COOKIE, Door
from ringfence.interfaces.web.problems import problem

MOST_BYTES = 4 * 2**20
MOST_FORM_BYTES = 2**18  # what people type
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SAFE = ("GET", "HEAD", "OPTIONS")
_OPEN = ("/token", "/static/")  # what a page that asks for the token needs itself
_ONCE = ("host", "origin", "authorization", "content-type")  # headers that decide who comes in
_MOST_DIGITS = 20
_MOST_COOKIES = 4  # of our name: of other paths, or older
_READ_ONLY = "this server is read-only. Start one without --read-only."
_Scope: TypeAlias = MutableMapping[str, Any]


class TooLargeError(Exception):
    """A body beyond the limit."""


class GoneError(Exception):
    """The client left before the end of its body."""


class Guard:
    """Wraps an application; lets in what the door allows."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        """Stand before an application."""
        self.app, self.door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        if scope["method"] not in _SAFE:
            most = MOST_BYTES if str(scope["path"]).startswith("/api/") else MOST_FORM_BYTES
            try:
                receive = _replayed(await _whole_body(scope, receive, most))
            except GoneError:
                return
            except TooLargeError:
                refusal = problem(413, f"the body has more than {most} bytes. Send less.")
                await refusal(scope, receive, send_guarded)
                return
        await self.app(scope, receive, send_guarded)

    def _refusal(self, scope: _Scope) -> Response | None:
        """Return why a request is not let in, or None if it is."""
        headers, path = Headers(scope=scope), str(scope["path"])
        hosts = headers.getlist("host")
        for name in _ONCE:
            if len(headers.getlist(name)) > 1:
                return problem(400, f"the header {name!r} is there twice. Send it once.")
        if len(hosts) != 1 or not self.door.knows_host(hosts[0]):
            return problem(
                400,
                f"host = {', '.join(hosts)[:100]!r} is not a name of this server. Use its own "
                "address, or start it with --allow-host NAME.",
            )
        if _authority(headers.get("origin", "")) is None:
            return problem(400, "the header 'origin' is no address. Send another, or none.")
        writes = scope["method"] not in _SAFE
        if self._is_foreign(headers, hosts[0], writes=writes):
            return problem(403, "the request comes from a page of another origin.")
        is_api = path.startswith("/api/")
        if writes and is_api:
            return self._write_refusal(headers)
        knows = self._is_known(headers)
        scope["may_compute"] = knows and not self.door.read_only
        if writes and path != "/token":
            return self._work_refusal(scope, knows=knows)
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if given and not is_api:
            if self.door.is_token(given[0]):
                return admission(self.door, path)
            scope["path"], scope["query_string"] = "/token", b"wrong=1"
            return None
        if self.door.guards_pages and not path.startswith(_OPEN) and not knows:
            if is_api or path == "/openapi.json":
                return _unauthorized("this address needs the header 'Authorization: Bearer TOKEN'")
            return RedirectResponse("/token", 303)
        return None

    def _is_foreign(self, headers: Headers, host: str, *, writes: bool) -> bool:
        """Tell whether another site's page is behind a request that is no plain visit."""
        if headers.get("sec-fetch-site") == "cross-site" and (
            writes or headers.get("sec-fetch-mode") != "navigate"
        ):
            return True
        origin = headers.get("origin")
        return writes and origin is not None and _authority(origin) != host.lower()

    def _write_refusal(self, headers: Headers) -> Response | None:
        if self.door.read_only:
            return problem(403, _READ_ONLY)
        if not self._has_token(headers):
            return _unauthorized("a write needs the header 'Authorization: Bearer TOKEN'")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return problem(
                415, f"content-type = {kind[:100]!r} must be application/json. Send JSON."
            )
        return None

    def _work_refusal(self, scope: _Scope, *, knows: bool) -> Response | None:
        """Return why a page's form is not taken: what it starts takes this machine's time."""
        if self.door.read_only:
            return problem(403, _READ_ONLY)
        if not knows:  # the form for the token answers in its place
            back = quote(str(scope["path"]).removesuffix("/stop"), safe="").encode()
            scope.update(method="GET", path="/token", query_string=b"needed=1&next=" + back)
        return None

    def _is_known(self, headers: Headers) -> bool:
        if self._has_token(headers):
            return True
        cookies = (part.partition("=") for part in headers.get("cookie", "").split(";"))
        held = [value.strip() for name, _, value in cookies if name.strip() == COOKIE]
        return any(map(self.door.is_cookie, held[:_MOST_COOKIES]))

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and self.door.is_token(given.strip())


def admission(door: Door, path: str) -> Response:
    """Let a browser in that has the token: a cookie remembers it, and its address forgets it."""
    answer = RedirectResponse("/" + path.lstrip("/\\"), 303)  # never to another host
    answer.set_cookie(COOKIE, door.cookie, httponly=True, samesite="strict")
    return answer


def _unauthorized(why: str) -> Response:
    return problem(401, f"{why}, with the token of this server.", {"WWW-Authenticate": "Bearer"})


def _authority(origin: str) -> str | None:
    """Return the host and port of an origin, or None if it cannot be read."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


async def _whole_body(scope: _Scope, receive: Receive, most: int) -> bytes:
    """Read a body, as far as the limit."""
    said = Headers(scope=scope).get("content-length", "")
    if said.isdecimal() and (len(said) > _MOST_DIGITS or int(said) > most):
        raise TooLargeError
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise GoneError
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise TooLargeError
        if not message.get("more_body", False):
            break
    return b"".join(parts)


def _replayed(body: bytes) -> Receive:
    """Return a body that was read once, to be read again."""
    given = False

    async def receive() -> Message:
        nonlocal given
        if given:
            return {"type": "http.disconnect"}
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive
