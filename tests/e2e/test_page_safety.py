"""Pages whatever arms and errors are called, and for people who use no mouse or no eyes."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.choosing import few_of
from tests.e2e.browsing import Tab, new_tab
from tests.e2e.serving import Served, create, feed, new_name, reported, strict

ARMS = [
    "<script>window.pwned = 1</script>",
    '"><img src=x onerror=window.pwned=1>',
    "'><svg/onload=window.pwned=1>",
    "{{7*7}}",
    "${7*7}",
    "javascript:window.pwned=1",
    "</title></script><b>loud</b>",
    "<!-- not seen -->",
    "شارع الملك &amp; חומוס",
    "__proto__",
    "constructor",
    "datum['x'] + signal",
    "a\\u003cb %3Cscript%3E",
    "W" * 200,
]
METRICS = ['<img src=x onerror="window.pwned=1">', "{{constructor}}", "__proto__"]
ERROR = "<script>window.pwned = 1</script>\n\"'><img src=x onerror=window.pwned=1> \u202e ${7*7}"
SERIOUS = ("serious", "critical")
FOCUS = """() => {
  const one = document.activeElement, style = getComputedStyle(one);
  const seen = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0)
    || style.boxShadow !== "none";
  const box = one.getBoundingClientRect();
  return {tag: one.tagName, role: one.getAttribute("role"), type: one.getAttribute("type"),
          text: (one.innerText || one.getAttribute("aria-label") || "").slice(0, 60),
          seen, shown: box.width > 1 && box.height > 1, body: one === document.body};
}"""


@pytest.fixture(scope="module")
def hostile(served: Served) -> str:
    """A study in which everything that people name is an attack."""
    at = create(
        served, new_name("hostile"), arms=ARMS, budget=200, metrics=METRICS, max_failures=2,
        policy="constrained-sr",
    )  # fmt: skip
    failed = 0
    while pulls := strict(served.client.post(f"{at}/ask", json={"n": 50}))["pulls"]:
        told = []
        for pull in pulls:
            lease = {"pull": pull["pull"], "lease": pull["lease"]}
            if pull["arm"] == ARMS[1] and failed < 2:
                failed += 1
                strict(served.client.post(f"{at}/fail", json=lease | {"error": ERROR}))
            else:
                told.append(reported(pull, **dict.fromkeys(METRICS, 1.0)))
        strict(served.client.post(f"{at}/tell-many", json={"pulls": told}))
    return at


@pytest.fixture(scope="module")
def finished(served: Served) -> str:
    at = create(served, new_name("finished"), policy="constrained-sr", budget=90)
    feed(served.client, at)
    return at


def inert(page: Page) -> None:
    """Check that nothing on a page came alive."""
    assert page.evaluate("window.pwned") is None
    found: dict[str, Any] = page.evaluate(
        """() => ({
          scripts: [...document.scripts].filter(one => !one.src && one.type !== "application/json")
            .map(one => one.outerHTML.slice(0, 100)),
          images: [...document.images].filter(one => one.getAttribute("src") === "x").length,
          handlers: [...document.querySelectorAll("*")].flatMap(one => [...one.attributes])
            .filter(one => /^on/i.test(one.name)).map(one => one.name),
          links: [...document.querySelectorAll("[href],[action],[src]")]
            .map(one => one.href || one.action || one.src)
            .filter(one => /^(javascript|vbscript|data:text)/i.test(String(one))),
          loud: [...document.querySelectorAll("b")].filter(one => one.innerText === "loud").length,
        })"""
    )
    assert found == {"scripts": [], "images": 0, "handlers": [], "links": [], "loud": 0}


def test_hostile_names_are_text_on_every_page(served: Served, hostile: str, tab: Tab) -> None:
    page, at = tab.page, f"{served.url}{hostile.removeprefix('/api')}"
    page.goto(at)
    for figure in page.locator("figure").all():
        figure.scroll_into_view_if_needed()
        expect(figure.locator("svg, canvas").first).to_be_visible()
    for card in page.locator("details").all():
        card.locator("summary").first.click()
    shown = page.get_by_role("main").inner_text()
    for arm in ARMS:
        assert arm in shown, arm
    inert(page)
    page.goto(f"{at}/pulls")
    for _ in range(4):
        inert(page)
        shown = page.get_by_role("main").inner_text()
        if "window.pwned = 1</script>" in shown and METRICS[0] in page.content().replace(
            "&lt;", "<"
        ):
            pass
        older = page.get_by_role("link", name=re.compile("Earlier|Older"))
        if not older.count():
            break
        older.click()
    page.goto(served.url)
    inert(page)
    charts = [
        f"/figures/{kind}?format=svg" for kind in ("map", "timeline", "allocation", "evidence")
    ]
    for rest in ("/record", *charts):
        answer = served.client.get(f"{hostile}{rest}")
        assert answer.status_code == 200
        assert b"<script>window" not in answer.content
        assert b"<img src=x" not in answer.content


def test_errors_are_shown_as_text(served: Served, hostile: str, tab: Tab) -> None:
    """The first pages of pulls are the oldest, where the failures are."""
    page = tab.page
    page.goto(f"{served.url}{hostile.removeprefix('/api')}/pulls?before=51")
    expect(page.get_by_role("main")).to_contain_text("window.pwned = 1</script>")
    expect(page.get_by_role("main")).to_contain_text("${7*7}")
    inert(page)


@pytest.mark.parametrize(
    "path",
    ["/studies/{evil}", "/studies/x/{evil}", "/{evil}", "/?token={evil}", "/studies/?q={evil}"],
)
def test_hostile_addresses_come_back_as_text(served: Served, chromium: Browser, path: str) -> None:
    evil = quote('<img src=x onerror="window.pwned=1">{{7*7}}', safe="")
    with new_tab(chromium) as tab:
        tab.page.goto(served.url + path.format(evil=evil))
        inert(tab.page)
        tab.settle()
        tab.errors.clear()  # the browser logs the status


def problems(page: Page) -> list[str]:
    """Return what axe finds that keeps people out."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['html'][:150]} {node['failureSummary'][:200]}"
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


PATHS = ["/", "STUDY", "STUDY/pulls", "/plan", "/paper", "/studies/no-such", "HOSTILE", "EMPTY"]


@pytest.mark.parametrize("path", few_of(PATHS, "/", "STUDY"))
def test_pages_keep_nobody_out(
    served: Served, finished: str, hostile: str, chromium: Browser, path: str
) -> None:
    """By axe: in light and dark, on a large and on a small screen."""
    empty = create(served, new_name("empty")) if path == "EMPTY" else ""
    for word, at in (("STUDY", finished), ("HOSTILE", hostile), ("EMPTY", empty)):
        path = path.replace(word, at.removeprefix("/api"))
    with new_tab(chromium) as tab:
        page = tab.page
        page.goto(f"{served.url}{path}")
        for scheme in ("light", "dark"):
            for width in (1280, 400):
                page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
                page.set_viewport_size({"width": width, "height": 900})
                page.wait_for_timeout(100)
                assert problems(page) == [], (path, scheme, width)
        assert page.locator("html").get_attribute("lang")
        assert page.title()
        expect(page.get_by_role("main")).to_have_count(1)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        tab.settle()
        if "no-such" in path:
            tab.errors.clear()  # the browser logs the status


def test_everything_can_be_done_by_keyboard(served: Served, finished: str, tab: Tab) -> None:
    page = tab.page
    page.goto(f"{served.url}{finished.removeprefix('/api')}")
    page.keyboard.press("Tab")
    first = page.evaluate(FOCUS)
    assert first["text"].lower().startswith("skip"), first
    assert first["shown"], "the link that skips is seen when it has the focus"
    page.keyboard.press("Enter")
    inside = page.evaluate(
        "document.activeElement.closest('main') !== null || location.hash.length > 1"
    )
    assert inside
    met = []
    for _ in range(60):
        page.keyboard.press("Tab")
        one = page.evaluate(FOCUS)
        if one["body"]:
            break
        assert one["seen"], f"no one sees that this has the focus: {one}"
        met.append(one)
        if one["tag"] == "SUMMARY" and one["text"].startswith("Why"):
            before = page.evaluate("document.activeElement.parentElement.open")
            page.keyboard.press("Enter")
            assert page.evaluate("document.activeElement.parentElement.open") != before
        if one["type"] == "range":
            value = page.evaluate("document.activeElement.value")
            page.keyboard.press("ArrowRight")
            assert page.evaluate("document.activeElement.value") != value
    assert any(one["type"] == "range" for one in met)
    assert sum(one["tag"] == "SUMMARY" for one in met) >= 3
    assert any("record" in one["text"].lower() for one in met)


def test_who_wants_no_motion_gets_none(served: Served, finished: str, chromium: Browser) -> None:
    with new_tab(chromium) as tab:
        tab.page.emulate_media(reduced_motion="reduce")
        tab.page.goto(f"{served.url}{finished.removeprefix('/api')}")
        moving = tab.page.evaluate(
            """() => [...document.querySelectorAll("*")].filter(one => {
              const style = getComputedStyle(one);
              return parseFloat(style.animationDuration) > 0.01
                || parseFloat(style.transitionDuration) > 0.01;
            }).map(one => one.tagName)"""
        )
        assert moving == []
