"""A small server for charts alone: a page under the real policy, and one that lets Vega compile."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest

from ringfence.interfaces.web import assets
from tests.e2e.chart_specs import HANDMADE

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
# What makes our script use our evaluator; with the other, Vega compiles text.
OURS, VEGAS = b"ast: true", b"ast: false"
STYLE = b"""
body { margin: 20px; font-family: sans-serif; }
figure { margin: 0 0 20px; }
figure.far { margin-top: 5000px; }
.chart-tooltip { background: white; border: 1px solid gray; padding: 4px; max-width: 300px; }
"""


@dataclass
class Site:
    """What is served; tests change it while the page looks on."""

    specs: dict[str, Any]
    delay_seconds: float = 0.0
    away: bool = False
    asked: list[tuple[str, str]] = field(default_factory=list)
    port: int = 0

    def address(
        self, *names: str, far: str = "", evaluator: str = "ours", policy: bool = True
    ) -> str:
        """Return a page with these figures, and perhaps one far below."""
        asked = "&".join(f"figure={quote(name, safe='')}" for name in names)
        page = f"?{asked}&far={quote(far, safe='')}&evaluator={evaluator}&policy={int(policy)}"
        return f"http://127.0.0.1:{self.port}/{page}"

    def times_asked(self, name: str) -> int:
        """Return how often a figure was fetched."""
        return [one for one, _ in self.asked].count(name)

    def answer(self, address: str) -> tuple[int, str, bytes, bool]:
        """Return status, media type, body and whether the policy holds."""
        url = urlsplit(address)
        folder, _, name = url.path.strip("/").rpartition("/")
        query = parse_qs(url.query)
        if not name:
            return 200, "text/html; charset=utf-8", _page(query), query["policy"] == ["1"]
        if folder == "figures":
            return (*self._figure(unquote(name), query["theme"][0]), False)
        if name == "page.css":
            return 200, "text/css", STYLE, False
        found = assets.asset(name)
        if found is None:
            return 404, "text/plain", b"", False
        content = found.content
        if name == "charts.js" and folder == "static/vega":
            assert content.count(OURS) == 1
            content = content.replace(OURS, VEGAS)
        return 200, found.media_type, content, False

    def _figure(self, name: str, theme: str) -> tuple[int, str, bytes]:
        self.asked.append((name, theme))
        time.sleep(self.delay_seconds)
        if self.away:
            return 503, "application/problem+json", b"{}"
        config = {"background": "#111111"} if theme == "dark" else {}
        spec = {**self.specs[name], **config}
        return 200, "application/json", json.dumps(spec).encode()


def _page(query: dict[str, list[str]]) -> bytes:
    def figure(name: str, kind: str = "near") -> str:
        place = quote(quote(name, safe=""), safe="")
        return (
            f'<figure class="{kind}" data-figure="/figures/{quote(name, safe="")}" id="{place}">'
            '<div class="canvas"></div><figcaption>A caption</figcaption></figure>'
        )

    figures = [figure(name) for name in query.get("figure", [])]
    figures += [figure(name, "far") for name in query.get("far", [])]
    scripts = f"/static/{query['evaluator'][0]}"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>charts</title>'
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="/page.css">'
        f'<script type="module" src="{scripts}/{assets.CHART_LIBRARY}"></script>'
        f'<script type="module" src="{scripts}/charts.js"></script>'
        f"</head><body><main>{''.join(figures)}</main></body></html>"
    ).encode()


@contextmanager
def serving(specs: dict[str, Any]) -> Iterator[Site]:
    """Serve these charts on a loopback port."""
    site = Site(specs)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, media_type, body, guarded = site.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            if guarded:
                self.send_header("Content-Security-Policy", POLICY)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session")
def chart_server() -> Iterator[Site]:
    """One server for all tests of this process."""
    with serving({}) as site:
        yield site


@pytest.fixture
def site(chart_server: Site) -> Site:
    """The server, as new, with the small charts."""
    chart_server.specs = dict(HANDMADE)
    chart_server.asked.clear()
    chart_server.delay_seconds, chart_server.away = 0.0, False
    return chart_server
