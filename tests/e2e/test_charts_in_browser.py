"""Charts in a real browser, under the page's policy: what Vega would draw, and nothing else."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.browsing import Tab, new_tab
from tests.e2e.chart_site import Site
from tests.e2e.chart_specs import HANDMADE, RUDE_NAMES, ringfence_charts

MAP = "map with a limit"
EVALUATORS = (("ours", True), ("vega", False))


def figure(page: Page, place: int = 0) -> Locator:
    return page.locator("figure").nth(place)


def drawn(page: Page, place: int = 0) -> Locator:
    """Wait for a figure, and return its chart."""
    expect(figure(page, place)).to_have_attribute("data-state", "drawn")
    return figure(page, place).locator(".chart")


def markup(chart: Locator) -> str:
    """Return a chart's markup, without what differs between two pages that show the same.

    That is the page's own address, and identifiers, which count up in the order of drawing.
    """
    text = str(chart.evaluate("chart => chart.innerHTML"))
    text = re.sub(r"url\(http[^#]*#", "url(#", text)
    names: dict[str, str] = {}
    pattern = r"\b(clip|gradient_)\d+"
    return re.sub(pattern, lambda m: names.setdefault(m[0], f"{m[1]}-{len(names)}"), text)


def change(page: Page) -> None:
    page.evaluate("document.dispatchEvent(new CustomEvent('ringfence:change'))")


def until(page: Page, true: Callable[[], bool]) -> None:
    """Wait for something outside of the page."""
    for _ in range(500):
        if true():
            return
        page.wait_for_timeout(20)
    raise AssertionError("It never came true.")


# --------------------------------------------------------------------------- the same as Vega


def test_charts_are_what_vegas_own_evaluator_draws(site: Site, chromium: Browser) -> None:
    """Every chart is drawn twice: by ours under the policy, and without it by Vega's own."""
    site.specs |= ringfence_charts()
    names = list(site.specs)
    found = []
    for evaluator, policy in EVALUATORS:
        with new_tab(chromium, width=1000, height=12_000) as tab:
            tab.page.goto(site.address(*names, evaluator=evaluator, policy=policy))
            found.append([markup(drawn(tab.page, place)) for place in range(len(names))])
    assert all(ours.count("<path") + ours.count("<text") > 5 for ours in found[0])
    pairs = dict(zip(names, zip(*found, strict=True), strict=True))
    assert {name: pair for name, pair in pairs.items() if pair[0] != pair[1]} == {}


def test_without_our_evaluator_the_policy_stops_every_chart(tab: Tab, site: Site) -> None:
    """The planted fault: the comparison above is between evaluators, and the policy is real."""
    tab.page.goto(site.address(MAP, evaluator="vega"))
    expect(figure(tab.page)).to_have_attribute("data-state", "failed")
    tab.settle()
    assert any("script-src" in text and "eval" in text for text in tab.violations)
    tab.violations.clear()
    tab.errors.clear()


def over(chart: Locator, x: float, y: float) -> tuple[float, float]:
    box = chart.locator("svg").bounding_box()
    assert box is not None
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def hover_and_pick(page: Page, chart: Locator) -> Iterator[None]:
    page.mouse.move(*over(chart, 0.35, 0.6))
    yield
    chart.locator(".role-legend-symbol path").first.click(force=True)
    yield


def brush(page: Page, chart: Locator) -> Iterator[None]:
    page.mouse.move(*over(chart, 0.3, 0.5))
    page.mouse.down()
    page.mouse.move(*over(chart, 0.7, 0.4), steps=3)
    page.mouse.up()
    yield


def zoom(page: Page, chart: Locator) -> Iterator[None]:
    page.mouse.move(*over(chart, 0.5, 0.5))
    page.mouse.wheel(0, -200)
    yield


def slide(page: Page, chart: Locator) -> Iterator[None]:
    chart.locator("input[type=range]").fill("120")
    yield


MOVES: dict[str, Callable[[Page, Locator], Iterator[None]]] = {
    "hover": hover_and_pick,
    "brush": brush,
    "zoom": zoom,
    "parameters": slide,
}


def test_charts_answer_the_pointer_as_vegas_own_evaluator_does(
    site: Site, chromium: Browser
) -> None:
    found = []
    for evaluator, policy in EVALUATORS:
        with new_tab(chromium, width=600, height=2400) as tab:
            tab.page.goto(site.address(*MOVES, evaluator=evaluator, policy=policy))
            found.append(
                {
                    name: looks(tab.page, drawn(tab.page, place), MOVES[name])
                    for place, name in enumerate(MOVES)
                }
            )
    ours, vegas = found
    assert ours == vegas


def looks(
    page: Page, chart: Locator, moves: Callable[[Page, Locator], Iterator[None]]
) -> list[str]:
    """Return how a chart looks before the first move and after each, which must show."""
    seen = [markup(chart)]
    for _ in moves(page, chart):
        until(page, lambda: markup(chart) != seen[-1])
        seen.append(at_rest(page, chart))
    return seen


def at_rest(page: Page, chart: Locator) -> str:
    """Return how a chart looks once it has stopped changing."""
    before = ""
    while before != (now := markup(chart)):
        before = now
        page.wait_for_timeout(100)
    return now


# --------------------------------------------------------------------------- tooltips and names


def test_a_tooltip_shows_rude_names_as_text(page: Page, site: Site) -> None:
    page.goto(site.address(MAP))
    chart = drawn(page)
    chart.locator(".mark-symbol path").first.hover()
    tip = page.locator(".chart-tooltip")
    expect(tip).to_be_visible()
    expect(tip.locator("dt")).to_have_text(["arm", "<b>latency</b>", "told", "nothing"])
    expect(tip.locator("dd")).to_have_text(
        [RUDE_NAMES[0], "90.0", "01 Mar 2025 00:30", "undefined"]
    )
    assert tip.locator("img, b").count() == 0
    assert page.title() == "charts"
    page.mouse.move(1, 1)
    expect(tip).to_be_hidden()


def test_a_tooltip_stays_on_the_screen(site: Site, chromium: Browser) -> None:
    with new_tab(chromium, width=420, height=320) as tab:
        tab.page.goto(site.address(MAP))
        drawn(tab.page).locator(".mark-symbol path").last.hover()
        box = tab.page.locator(".chart-tooltip").bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= 420 - box["width"]
        assert 0 <= box["y"] <= 320 - box["height"]


def test_a_chart_is_a_named_image(page: Page, site: Site) -> None:
    site.specs["named"] = {**site.specs[MAP], "description": "Where each arm stands"}
    page.goto(site.address(MAP, "named"))
    drawn(page, 1)
    expect(page.get_by_role("img", name="A caption")).to_have_count(1)
    expect(page.get_by_role("img", name="Where each arm stands")).to_have_count(1)


# --------------------------------------------------------------------------- keeping up


def test_a_change_redraws_what_changed_and_leaves_the_rest(page: Page, site: Site) -> None:
    page.goto(site.address(MAP, "brush"))
    for place in (0, 1):
        drawn(page, place).evaluate("chart => { chart.dataset.old = 'yes' }")
    page.evaluate(
        """() => {
          window.gaps = 0;
          const watch = new MutationObserver((records) => {
            gaps += records.filter((record) => record.addedNodes.length === 0).length;
          });
          for (const canvas of document.querySelectorAll(".canvas")) {
            watch.observe(canvas, { childList: true });
          }
        }"""
    )
    site.specs[MAP] = {**site.specs[MAP], "title": "Changed"}
    change(page)
    expect(drawn(page)).to_contain_text("Changed")
    until(page, lambda: site.times_asked("brush") == 2)
    expect(page.locator("[data-old]")).to_have_count(1)
    expect(figure(page, 1).locator("[data-old]")).to_have_count(1)
    assert page.evaluate("gaps") == 0  # at no moment was a canvas empty


# Counts in the page: a browser's cache lets requests for one address wait for each other.
COUNT_FETCHES = """
const fetched = { now: 0, most: 0, all: 0 };
const original = fetch;
window.fetch = (...given) => {
  fetched.all += 1;
  fetched.now += 1;
  fetched.most = Math.max(fetched.most, fetched.now);
  return original(...given).finally(() => { fetched.now -= 1; });
};
window.fetched = fetched;
"""


def test_one_figure_is_never_fetched_twice_at_once_and_ends_up_to_date(
    page: Page, site: Site
) -> None:
    page.add_init_script(COUNT_FETCHES)
    page.goto(site.address("brush"))
    drawn(page)
    site.delay_seconds = 0.1
    for number in range(12):
        site.specs["brush"] = {**site.specs["brush"], "title": f"Number {number}"}
        change(page)
        page.wait_for_timeout(20)
    expect(figure(page)).to_contain_text("Number 11")
    fetched = page.evaluate("fetched")
    assert fetched["most"] == 1
    assert 3 <= fetched["all"] < 8


def test_a_figure_far_below_waits_until_it_is_scrolled_to(page: Page, site: Site) -> None:
    page.goto(site.address("brush", far="zoom"))
    drawn(page)
    change(page)
    until(page, lambda: site.times_asked("brush") == 2)
    assert site.times_asked("zoom") == 0
    expect(figure(page, 1)).to_have_attribute("data-state", "waiting")
    figure(page, 1).scroll_into_view_if_needed()
    drawn(page, 1)
    assert site.times_asked("zoom") == 1


def test_figures_that_come_later_are_found(page: Page, site: Site) -> None:
    page.goto(site.address("brush"))
    drawn(page)
    page.evaluate(
        """() => {
          const figure = document.createElement("figure");
          figure.dataset.figure = "/figures/zoom";
          const canvas = figure.appendChild(document.createElement("div"));
          canvas.className = "canvas";
          document.querySelector("figure").replaceWith(figure);
        }"""
    )
    change(page)
    drawn(page)
    assert site.times_asked("zoom") == 1
    assert site.times_asked("brush") == 1


def test_the_theme_follows_the_system_and_the_pages_own_switch(page: Page, site: Site) -> None:
    page.goto(site.address("brush"))
    background = drawn(page).locator("svg")
    page.emulate_media(color_scheme="dark")
    expect(background).to_have_css("background-color", "rgb(17, 17, 17)")
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    expect(background).not_to_have_css("background-color", "rgb(17, 17, 17)")
    assert [theme for _, theme in site.asked] == ["light", "dark", "light"]


def test_the_width_follows_the_page(page: Page, site: Site) -> None:
    site.specs |= {"wide": {**site.specs["brush"], "width": 1000}}
    page.goto(site.address(MAP, "wide"))
    fluid, fixed = drawn(page, 0), drawn(page, 1)
    fluid.evaluate("chart => { chart.dataset.old = 'yes' }")
    room = 1280 - 40
    assert fluid.locator("svg").evaluate("svg => svg.clientWidth") == pytest.approx(room, abs=1)
    page.set_viewport_size({"width": 500, "height": 800})
    until(page, lambda: fluid.locator("svg").evaluate("svg => +svg.getAttribute('width')") <= 461)
    page.wait_for_timeout(150)  # it has settled, and is not drawn again
    expect(page.locator("[data-old]")).to_have_count(1)
    for chart in (fluid, fixed):
        box = chart.locator("svg").bounding_box()
        assert box is not None
        assert box["width"] == pytest.approx(460, abs=1)
    assert site.times_asked(MAP) == 1


# --------------------------------------------------------------------------- when it goes wrong

BROKEN: dict[str, Any] = {
    "no specification": {"nothing": "here"},
    "an unknown function": {"calculate": "nonsense(1)"},
    "a way out": {"calculate": "datum.constructor"},
    "a way out that shows late": {"calculate": "datum[datum.arm]"},
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_chart_that_cannot_be_drawn_says_so(what: str, page: Page, site: Site) -> None:
    broken = BROKEN[what]
    if "calculate" in broken:
        broken = {
            **HANDMADE["log scale"],
            "transform": [{**broken, "as": "x"}, {"filter": "datum.x"}],
        }
    site.specs = {"broken": broken}
    page.goto(site.address("broken"))
    expect(figure(page)).to_have_attribute("data-state", "failed")
    expect(figure(page)).to_contain_text("cannot be drawn")
    link = figure(page).get_by_role("link")
    expect(link).to_have_attribute("href", re.compile(r"/figures/broken\?format=svg&theme=light$"))
    site.specs = {"broken": HANDMADE["brush"]}
    change(page)
    drawn(page)
    expect(link).to_have_count(0)


def test_while_the_server_is_away_the_last_chart_stays(tab: Tab, site: Site) -> None:
    page = tab.page
    page.goto(site.address("brush"))
    chart = drawn(page)
    site.away = True
    change(page)
    expect(figure(page)).to_have_attribute("data-state", "stale")
    expect(chart.locator("svg")).to_be_visible()
    site.away = False
    change(page)
    drawn(page)
    assert all("503" in text for text in tab.errors)
    tab.errors.clear()
