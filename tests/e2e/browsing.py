"""A real browser for the tests: headless Chromium that reaches nothing but this machine.

Every tab remembers what a page must not do: errors on its console, violations of its content
security policy, requests to anywhere else. It is asked about them when it closes.
"""

import ipaddress
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

COMMANDS = ("chromium", "chromium-browser")
ARGUMENTS = (
    "--no-sandbox",  # the tests may run as root
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # Port 9 answers nobody: what is not loopback, which goes round any proxy, ends there.
    "--proxy-server=127.0.0.1:9",
)
PATIENCE_MS = 20_000
WATCH = """
addEventListener("securitypolicyviolation", (event) => ringfenceViolation(
  [event.violatedDirective, event.blockedURI, event.sourceFile, event.lineNumber].join(" ")
), true);
"""


@dataclass
class Tab:
    """A page, and what it did wrong; a test that provokes something takes it from the list."""

    page: Page
    errors: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def settle(self) -> None:
        """Wait until what the page has done so far has been told."""
        self.page.evaluate("() => new Promise((done) => setTimeout(done, 20))")

    def check(self) -> None:
        """Fail if the page did what no page may do."""
        self.settle()
        assert self.strangers == []
        assert self.violations == []
        assert self.errors == []


def browser_command() -> str | None:
    """Return the browser that is installed, if any."""
    return next(filter(None, map(shutil.which, COMMANDS)), None)


@contextmanager
def browser() -> Iterator[Browser]:
    """Run a browser; tests that need one are skipped where none is installed."""
    command = browser_command()
    if command is None:
        pytest.skip(f"Chromium: none of {', '.join(COMMANDS)} is on PATH")
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE_MS)
        started = playwright.chromium.launch(executable_path=command, args=list(ARGUMENTS))
        try:
            yield started
        finally:
            started.close()


@contextmanager
def new_tab(
    chromium: Browser,
    *,
    width: int = 1280,
    height: int = 900,
    scheme: Literal["light", "dark"] = "light",
) -> Iterator[Tab]:
    """Open a tab with cookies and a cache of its own; check it when the test is through."""
    context = chromium.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, locale="en-GB"
    )
    try:
        context.set_default_timeout(PATIENCE_MS)
        tab = Tab(context.new_page())
        tab.page.expose_function("ringfenceViolation", lambda text: tab.violations.append(text))
        tab.page.add_init_script(WATCH)

        def heard(message: ConsoleMessage) -> None:
            if message.type == "error":
                tab.errors.append(message.text)

        def asked(request: Request) -> None:
            if not _is_near(request.url):
                tab.strangers.append(request.url)

        context.on("console", heard)
        context.on("weberror", lambda problem: tab.errors.append(str(problem.error)))
        context.on("request", asked)
        yield tab
        tab.check()
    finally:
        context.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for a module: while it is open, no other event loop can run in this thread."""
    with browser() as started:
        yield started


@pytest.fixture
def tab(chromium: Browser) -> Iterator[Tab]:
    """A tab of usual size and light colours, checked at the end."""
    with new_tab(chromium) as opened:
        yield opened


@pytest.fixture
def page(tab: Tab) -> Page:
    """The page of that tab."""
    return tab.page


def _is_near(url: str) -> bool:
    """Tell whether an address stays on this machine."""
    parts = urlsplit(url)
    if parts.scheme in ("data", "blob", "about"):
        return True
    if parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False
