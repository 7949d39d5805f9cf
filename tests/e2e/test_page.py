"""The page as people use it, in a real browser: live, by mouse, by keyboard, on a small screen."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, expect

from ringfence.reports.verdict import sentence
from tests.e2e.browsing import Tab, new_tab
from tests.e2e.command_line import ROOT
from tests.e2e.serving import Served, create, environment, feed, new_name, serve, strict, study_at

LIMIT = "mean(latency_ms) <= 200"
MOST_BYTES = 200_000
SOON_MS = 20_000  # a worker is started meanwhile
TOLD = re.compile(r"told\s*(\d+)")
GROWN = """told => {
  const found = document.querySelector("main").innerText.match(/told\\s*(\\d+)/);
  return found !== null && Number(found[1]) > told;
}"""


@pytest.fixture(scope="module")
def finished(served: Served) -> str:
    """A study that is over: warm is right, effusive deceives."""
    at = create(served, new_name("finished"), policy="constrained-sr", budget=93)
    assert feed(served.client, at) == 91
    return at


def address(served: Served, at: str, rest: str = "") -> str:
    return f"{served.url}{at.removeprefix('/api')}{rest}"


def keep_picture(page: Page, name: str) -> None:
    """Keep a picture of the page where someone wants to look at it."""
    if folder := os.environ.get("RINGFENCE_SCREENSHOTS"):
        for figure in page.locator("figure").all():  # charts are drawn when they are seen
            figure.scroll_into_view_if_needed()
            expect(figure.locator("svg, canvas").first).to_be_visible()
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def verdict_on(page: Page) -> Locator:
    """Return where the page says the verdict, also to those who do not see it."""
    return page.get_by_role("region", name="Verdict").get_by_role("status")


def told_on(page: Page) -> int:
    found = TOLD.search(page.get_by_role("region", name="Budget").inner_text())
    assert found is not None
    return int(found.group(1))


def numbers_in(text: str) -> list[float]:
    return [float(one) for one in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", text)]


@contextmanager
def working(served: Served, at: str, nap_seconds: float) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a worker of its own process, that knows HTTP alone."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.http_worker", f"{served.url}{at}", str(nap_seconds)],
        cwd=ROOT, env=environment(served.token), stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield worker
    finally:
        if worker.poll() is None:
            worker.kill()
        _, err = worker.communicate()
        assert b"Traceback" not in err, err


def test_the_first_page_shows_where_every_study_stands(
    served: Served, finished: str, page: Page
) -> None:
    name = finished.rpartition("/")[2]
    page.goto(served.url)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    link = page.get_by_role("link", name=name, exact=True)
    line = page.get_by_role("row").filter(has=link)
    expect(line).to_contain_text("93")
    expect(line).to_contain_text("finished")
    keep_picture(page, "studies")
    link.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    assert page.url == address(served, finished)


def test_a_study_changes_before_ones_eyes(served: Served, page: Page) -> None:
    """Without being loaded again: what is set on the window stays there."""
    at = create(served, new_name("live"), policy="top-two", batch=2, budget=30)
    feed(served.client, at, 6, at_once=2)
    page.goto(address(served, at))
    page.evaluate("window.marker = 'still here'")
    assert told_on(page) == 6
    with working(served, at, 0.1):
        page.wait_for_function(GROWN, arg=6, timeout=SOON_MS)
        page.wait_for_function(GROWN, arg=told_on(page), timeout=SOON_MS)
        expect(verdict_on(page)).to_contain_text("So far")
        keep_picture(page, "live")
        page.wait_for_function(GROWN, arg=29, timeout=4 * SOON_MS)
    said = sentence(study_at(served, at).recommend())
    expect(verdict_on(page)).to_have_text(said)
    assert page.evaluate("window.marker") == "still here"


def test_a_first_verdict_needs_no_reload_either(served: Served, page: Page) -> None:
    at = create(served, new_name("new"), budget=30)
    page.goto(address(served, at))
    page.evaluate("window.marker = 'still here'")
    assert told_on(page) == 0
    feed(served.client, at, 12)
    expect(verdict_on(page)).to_contain_text("warm")
    expect(page.get_by_role("region", name=re.compile("What if"))).to_be_visible()
    assert page.evaluate("window.marker") == "still here"


def test_what_was_opened_stays_open_while_the_page_changes(served: Served, page: Page) -> None:
    at = create(served, new_name("open"), budget=60)
    feed(served.client, at, 9)
    page.goto(address(served, at))
    card = page.locator("details").filter(has_text="effusive").first
    card.locator("summary").click()
    card.locator("summary").focus()
    region, slider = slider_on(page)
    before = slider.input_value()
    feed(served.client, at, 9)
    page.wait_for_function(GROWN, arg=17, timeout=SOON_MS)
    assert card.evaluate("one => one.open")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    assert slider.input_value() == before
    expect(region).to_be_visible()


def test_a_finished_study_says_its_verdict_and_why(
    served: Served, finished: str, page: Page
) -> None:
    page.goto(address(served, finished))
    expect(verdict_on(page)).to_contain_text(sentence(study_at(served, finished).recommend()))
    for arm in ("plain", "warm", "effusive"):
        expect(
            page.get_by_role("table").get_by_role("row").filter(has_text=arm).first
        ).to_be_visible()
    for figure in page.locator("figure").all():
        figure.scroll_into_view_if_needed()
        expect(figure.locator("svg, canvas").first).to_be_visible()
    assert page.locator("figure").count() == 5
    explained = strict(served.client.get(f"{finished}/explain"))["arms"]
    for arm in explained:
        card = page.locator("details").filter(has_text=re.compile(f"Why (is|was) {arm['name']}"))
        expect(card).to_have_count(1)
        body = card.locator(":scope > :not(summary)").first
        expect(body).not_to_be_visible()
        card.locator("summary").click()
        expect(body).to_be_visible()
        assert len(body.inner_text()) > 20
    keep_picture(page, "finished")


def slider_on(page: Page) -> tuple[Locator, Locator]:
    """Return the region that asks what if, and its slider."""
    region = page.get_by_role("region", name=re.compile("What if", re.IGNORECASE))
    expect(region).to_contain_text("exploratory", ignore_case=True)
    return region, region.get_by_role("slider", name=re.compile(re.escape(LIMIT)))


def test_the_slider_finds_the_break_even_threshold_by_keyboard(
    served: Served, finished: str, page: Page
) -> None:
    page.goto(address(served, finished))
    region, slider = slider_on(page)
    flips = strict(served.client.get(f"{finished}/recommend"))["flips"]
    breaking = next(flip["threshold"] for flip in flips if flip["answer"] == "effusive")
    assert any(abs(one - breaking) < 0.005 * breaking for one in numbers_in(region.inner_text()))
    slider.focus()
    before = slider.input_value()
    page.keyboard.press("ArrowRight")
    assert slider.input_value() != before
    page.keyboard.press("End")
    expect(region).to_contain_text(re.compile("effusive (is|would be|looks)"))
    assert float(slider.input_value()) > breaking
    assert slider.get_attribute("aria-valuetext")
    page.keyboard.press("Home")
    expect(region).to_contain_text(re.compile("no arm (is|would be) feasible"))
    # What was fixed before the data stays what the page says first.
    expect(verdict_on(page).first).to_contain_text("warm")
    keep_picture(page, "what-if")


def test_the_slider_can_be_dragged_by_mouse(served: Served, finished: str, page: Page) -> None:
    page.goto(address(served, finished))
    region, slider = slider_on(page)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    low, high, now = (
        float(page.evaluate(f"one => Number(one.{key})", slider.element_handle()))
        for key in ("min", "max", "value")
    )
    thumb = 8 + (box["width"] - 16) * (now - low) / (high - low)
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + thumb, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 4, middle, steps=12)
    page.mouse.up()
    expect(region).to_contain_text(re.compile("effusive (is|would be|looks)"))
    assert strict(served.client.get(finished))["arm"] == "warm"


def test_the_record_and_the_observations_can_be_downloaded(
    served: Served, finished: str, page: Page, tmp_path: Path
) -> None:
    page.goto(address(served, finished))
    for link, rest, suffix in (
        ("CSV", "/export?format=csv", ".csv"),
        ("Decision record", "/record", ".html"),
    ):
        with page.expect_download() as saved:
            page.get_by_role("link", name=link).click()
        assert saved.value.suggested_filename.endswith(suffix)
        saved.value.save_as(tmp_path / link)
        assert (tmp_path / link).read_bytes() == served.client.get(f"{finished}{rest}").content


def test_pulls_are_paged(served: Served, finished: str, page: Page) -> None:
    page.goto(address(served, finished))
    page.get_by_role("link", name=re.compile("pulls", re.IGNORECASE)).first.click()
    assert page.url == address(served, finished, "/pulls")
    rows = page.get_by_role("row")
    expect(rows.nth(1)).to_contain_text("91")
    page.get_by_role("link", name=re.compile("Earlier|Older")).click()
    expect(rows.nth(1)).to_contain_text("41")
    keep_picture(page, "pulls")
    page.get_by_role("link", name=re.compile("Newer|Latest", re.IGNORECASE)).first.click()
    expect(rows.nth(1)).to_contain_text("91")


def test_the_planner_has_a_page(served: Served, page: Page) -> None:
    page.goto(served.url)
    page.get_by_role("navigation").get_by_role("link", name="Planner").click()
    assert page.url == f"{served.url}/plan"
    expect(page.get_by_role("heading", level=1)).to_have_text("Planner")
    keep_picture(page, "plan")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_pages_fit_every_screen_and_theme(
    served: Served, finished: str, chromium: Browser, scheme: Literal["light", "dark"], width: int
) -> None:
    with new_tab(chromium, width=width, height=900, scheme=scheme) as tab:
        for name, path in (
            ("studies", "/"),
            ("study", finished.removeprefix("/api")),
            ("pulls", f"{finished.removeprefix('/api')}/pulls"),
            ("plan", "/plan"),
            ("paper", "/paper"),
        ):
            tab.page.goto(f"{served.url}{path}")
            wide = tab.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{path} scrolls sideways: {wide}"
            shade = tab.page.evaluate(
                "getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number)"
            )
            red, green, blue = shade[:3]
            assert (red + green + blue < 384) == (scheme == "dark"), (path, shade)
            keep_picture(tab.page, f"{name}-{scheme}-{width}")


def test_a_record_fits_a_page_of_paper(served: Served, finished: str, chromium: Browser) -> None:
    """On paper nobody scrolls: what is too wide there is lost."""
    with new_tab(chromium, width=794, height=1123) as tab:
        tab.page.emulate_media(media="print")
        tab.page.set_content(study_at(served, finished).record())
        hidden = tab.page.evaluate(
            "[...document.querySelectorAll('.wide')].map(one => one.scrollWidth - one.clientWidth)"
        )
        assert len(hidden) == 6
        assert max(hidden) == 0


def test_a_record_fits_a_narrow_screen(served: Served, finished: str, chromium: Browser) -> None:
    with new_tab(chromium, width=960) as tab:
        tab.page.set_content(study_at(served, finished).record())
        hidden = tab.page.evaluate(
            "[...document.querySelectorAll('.wide')].map(one => one.scrollWidth - one.clientWidth)"
        )
        assert max(hidden) == 0


def test_a_page_is_light_and_asks_nobody_else(served: Served, finished: str, tab: Tab) -> None:
    """The chart library is counted apart: it is large, and loaded once."""
    sizes: dict[str, int] = {}

    def loaded(request: Request) -> None:
        sizes[request.url] = max(0, request.sizes()["responseBodySize"])

    tab.page.on("requestfinished", loaded)
    tab.page.goto(address(served, finished), wait_until="load")
    for figure in tab.page.locator("figure").all():
        figure.scroll_into_view_if_needed()
        expect(figure.locator("svg, canvas").first).to_be_visible()
    assert all(url.startswith(served.url) for url in sizes)
    own = {url: size for url, size in sizes.items() if "chart-library" not in url}
    assert sum(own.values()) < MOST_BYTES, own
    assert len(sizes) < 40


def test_a_server_that_stops_is_noticed_and_found_again(
    served: Served, chromium: Browser, tmp_path: Path
) -> None:
    """A page whose stream broke says that it is not live."""
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    with serve(storage, tmp_path / "serve") as running:
        at = create(running, "left", budget=12)
        with new_tab(chromium) as tab:
            tab.page.goto(address(running, at))
            expect(tab.page.get_by_role("main")).to_contain_text("live")
            running.stop()
            expect(tab.page.get_by_role("main")).to_contain_text("does not answer")
            tab.settle()
            tab.errors.clear()  # the browser itself logs a connection that failed
