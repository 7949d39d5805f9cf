"""Items that arms share, over HTTP and in a real browser: whoever wrote them, they stay text."""

from typing import Any
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browsing import Tab, new_tab
from tests.e2e.serving import Served, create, feed, new_name, refused, reported, strict
from tests.e2e.test_page import keep_picture

RUDE = (
    "<script>window.pwned = 1</script>",
    '"><img src=x onerror=window.pwned=1>',
    "{{7*7}} ${7*7}",
    "</title></script><b>loud</b>\n\u202e second line",
    "__proto__",
    "W" * 2_000,
)
ITEMS: list[Any] = [{"id": one, "text": one, "n": n} for n, one in enumerate(RUDE)]
ITEMS += [{"text": f"<b>question {n}</b>", "n": n} for n in range(len(RUDE), 40)]
WINS = {"plain": 5, "warm": 3, "effusive": 2}  # every how many items an arm fails


def filled(served: Served, name: str, **changes: Any) -> str:
    """Create a study on the items and tell all its pulls."""
    at = create(served, name, **{"budget": 90, "blocks": {"items": ITEMS}, **changes})
    while pulls := strict(served.client.post(f"{at}/ask", json={"n": 30}))["pulls"]:
        told = []
        for pull in pulls:
            score = float(pull["item"]["n"] % WINS.get(pull["arm"], 4) > 0)
            told.append(reported(pull, score=score))
        strict(served.client.post(f"{at}/tell-many", json={"pulls": told}))
    return at


@pytest.fixture(scope="module")
def shared(served: Served) -> str:
    """A study of three arms on rude items."""
    return filled(served, new_name("shared"))


def page_of(served: Served, at: str, rest: str = "") -> str:
    return f"{served.url}{at.removeprefix('/api')}{rest}"


def choose(page: Page, arm: str, rival: str) -> None:
    page.locator("select[name=arm]").select_option(arm)
    page.locator("select[name=rival]").select_option(rival)
    page.get_by_role("button", name="Compare").click()


# --------------------------------------------------------------------------- over HTTP


def test_results_are_plain_json_by_arm_and_item(served: Served, shared: str) -> None:
    found = strict(served.anyone.get(f"{shared}/items"))
    assert found["next"] is None
    content = {one["item"]: one["content"] for one in found["items"]}
    assert all(content[number] == ITEMS[number] for number in content)
    assert len(found["results"]) == 90
    for one in found["results"]:
        assert one["values"]["score"] == float(one["item"] % WINS[one["arm"]] > 0)
        assert one["pulls"] == 1
        assert set(one["values"]) == {"score", "latency_ms"}


def test_results_come_in_parts_that_are_the_whole(served: Served, shared: str) -> None:
    whole = strict(served.anyone.get(f"{shared}/items"))
    parts: dict[str, list[Any]] = {"items": [], "results": []}
    first: int | None = 0
    for _ in range(9):
        found = strict(served.anyone.get(f"{shared}/items?first={first}&limit=7"))
        assert len(found["items"]) <= 7
        for key, one in parts.items():
            one += found[key]
        first = found["next"]
        if first is None:
            break
    assert parts == {key: whole[key] for key in parts}
    refused(served.anyone.get(f"{shared}/items?limit=1001"), 422, "limit")
    refused(served.anyone.get(f"{shared}/items?first=-1"), 422, "first")


def test_a_study_without_items_has_none(served: Served) -> None:
    at = create(served, new_name("alone"))
    feed(served.client, at)
    refused(served.anyone.get(f"{at}/items"), 404, "share no items")
    for kind in ("items", "hours"):
        refused(served.anyone.get(f"{at}/figures/{kind}"), 404, f"share no {kind}")
    assert strict(served.anyone.get(f"{at}/figures/differences"))["concat"]
    page = served.anyone.get(f"{at.removeprefix('/api')}/items", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert "Compare two arms" not in served.anyone.get(at.removeprefix("/api")).text


def test_an_arm_that_is_not_there_is_refused_by_name(served: Served, shared: str) -> None:
    answer = served.anyone.get(f"{shared.removeprefix('/api')}/items?arm=wram")
    assert answer.status_code == 404
    assert "Did you mean &#39;warm&#39;" in answer.text


def test_nothing_told_yet_is_said(served: Served) -> None:
    at = create(served, new_name("empty"), blocks={"items": ITEMS})
    assert strict(served.anyone.get(f"{at}/items")) == {"items": [], "results": [], "next": None}
    assert "No two arms were tried" in served.anyone.get(f"{at.removeprefix('/api')}/items").text
    refused(served.anyone.get(f"{at}/figures/items"), 404, "nothing to draw")


# --------------------------------------------------------------------------- in a browser


def test_the_page_of_a_study_leads_to_its_items(served: Served, shared: str, page: Page) -> None:
    page.goto(page_of(served, shared))
    expect(page.get_by_role("region", name="Verdict")).to_contain_text("n items such as these")
    expect(page.get_by_text("Arms share 40 items")).to_be_visible()
    for kind in ("differences", "items"):
        figure = page.locator(f"#{kind}-figure")
        figure.scroll_into_view_if_needed()
        expect(figure).to_have_attribute("data-state", "drawn")
    page.get_by_role("link", name="Compare two arms").click()
    expect(page.get_by_role("heading", name="Items", exact=True)).to_be_visible()


def test_two_arms_that_a_reader_chooses_are_compared(
    served: Served, shared: str, page: Page
) -> None:
    page.goto(page_of(served, shared, "/items"))
    choose(page, "plain", "effusive")
    results: dict[str, dict[int, float]] = {}
    for one in strict(served.anyone.get(f"{shared}/items"))["results"]:
        results.setdefault(one["arm"], {})[one["item"]] = one["values"]["score"]
    own, other = results["plain"], results["effusive"]
    common = own.keys() & other.keys()
    better = sum(own[item] > other[item] for item in common)
    worse = sum(own[item] < other[item] for item in common)
    said = f"on {better}, worse on {worse} and as well on {len(common) - better - worse}."
    expect(page.get_by_text(said)).to_be_visible()
    assert better
    rows = page.get_by_role("region", name="plain did better").get_by_role("row")
    expect(rows).to_have_count(better + 1)
    expect(page.locator("select[name=arm]")).to_have_value("plain")
    choose(page, "warm", "warm")
    expect(page.get_by_text("warm did better than")).to_be_visible()


def test_rude_items_stay_text(served: Served, shared: str, tab: Tab, chromium: Browser) -> None:
    tab.page.goto(page_of(served, shared, "/items"))
    for arm, rival in (("plain", "effusive"), ("warm", "effusive"), ("effusive", "plain")):
        choose(tab.page, arm, rival)
        expect(tab.page.locator("#items-figure")).to_have_attribute("data-state", "drawn")
        assert tab.page.evaluate("window.pwned") is None
        assert tab.page.locator("main b, main script, main img").count() == 0
        width = tab.page.evaluate("document.documentElement.scrollWidth")
        assert width <= 1280
    record = served.anyone.get(f"{shared}/record").text
    with new_tab(chromium) as other:
        other.page.set_content(record)
        assert other.page.evaluate("window.pwned") is None
        assert other.page.locator("script, img, b").count() == 0


def test_rude_arms_are_compared_by_their_names(served: Served, chromium: Browser) -> None:
    arms = [*RUDE[:3], "constructor", "ärm & ünd"]
    at = filled(served, new_name("rude"), arms=arms, budget=120)
    query = f"/items?arm={quote(arms[0])}&rival={quote(arms[3])}"
    with new_tab(chromium, width=390) as tab:
        tab.page.goto(page_of(served, at, query))
        expect(tab.page.locator("select[name=arm]")).to_have_value(arms[0])
        expect(tab.page.locator("#items-figure")).to_have_attribute("data-state", "drawn")
        assert tab.page.evaluate("window.pwned") is None
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (800, "dark"), (390, "light")])
def test_everybody_can_read_it(
    served: Served, shared: str, chromium: Browser, width: int, scheme: Any
) -> None:
    with new_tab(chromium, width=width, scheme=scheme) as tab:
        for rest in ("/items", ""):
            tab.page.goto(page_of(served, shared, rest))
            figure = tab.page.locator("#items-figure")
            figure.scroll_into_view_if_needed()
            expect(figure).to_have_attribute("data-state", "drawn")
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
            found = Axe().run(tab.page).response["violations"]
            assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
            keep_picture(tab.page, f"items{'' if rest else '-study'}-{width}-{scheme}")


def test_panels_stand_abreast_where_there_is_room(
    served: Served, shared: str, chromium: Browser
) -> None:
    """And below each other where there is none, also when the window changes."""
    with new_tab(chromium, width=1280) as tab:
        tab.page.goto(page_of(served, shared))
        figure = tab.page.locator("#differences-figure")
        figure.scroll_into_view_if_needed()
        expect(figure).to_have_attribute("data-state", "drawn")
        wide = figure.locator("svg").bounding_box()
        tab.page.set_viewport_size({"width": 390, "height": 900})
        tab.page.wait_for_timeout(1_000)
        narrow = figure.locator("svg").bounding_box()
        assert wide is not None
        assert narrow is not None
        assert narrow["height"] > 1.5 * wide["height"]
        assert narrow["width"] <= 390
