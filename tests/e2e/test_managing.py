"""Studies are created, stopped, put away and taken up again on the page, by who has the token."""

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from ringfence.reports.pictures import paper_rules
from tests.e2e.browsing import Tab, new_tab
from tests.e2e.command_line import ROOT
from tests.e2e.serving import Served, create, feed, new_client, new_name, strict, study_at

FORM = {
    "name": "by-hand",
    "arms": "plain\nwarm\n\n effusive ",
    "objective": "maximize mean(score)",
    "limits": "mean(latency_ms) <= 200",
    "budget": "1,200",
}
ACTS = ("stop", "resume", "archive", "unarchive")


def come_in(page: Page, served: Served) -> None:
    """Give the token, as the server's first words say."""
    page.goto(f"{served.url}/?token={served.token}")


def test_a_study_is_created_stopped_put_away_and_taken_up_again(served: Served, tab: Tab) -> None:
    page, name = tab.page, new_name("by-hand")
    come_in(page, served)
    page.get_by_role("link", name="New study").click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Options").fill(FORM["arms"])
    page.get_by_label("Budget").fill("many")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_contain_text("budget = 'many' must be a whole number")
    tab.settle()
    tab.errors.clear()  # the browser logs the status
    assert served.client.get(f"/api/studies/{name}").status_code == 404
    page.get_by_label("Budget").fill("90")
    page.get_by_label("Limits that").fill(FORM["limits"])
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    expect(page.get_by_role("region", name="How its pulls are made")).to_contain_text("latency_ms")
    at = f"/api/studies/{name}"
    made = strict(served.client.get(f"{at}/definition"))
    assert list(made["arms"]) == ["plain", "warm", "effusive"]
    assert (made["budget"], made["constraints"]) == (90, [FORM["limits"]])
    feed(served.client, at, 12)

    page.get_by_role("button", name=f"Stop {name}").click()
    expect(page.get_by_role("region", name="Budget")).to_contain_text("Stopped since 20")
    assert strict(served.client.post(f"{at}/ask", json={}))["stopped"]
    page.get_by_role("button", name=f"Archive {name}").click()
    assert page.url == f"{served.url}/"
    expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
    page.get_by_role("link", name=re.compile("archived")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Archived studies")
    page.get_by_role("button", name=f"List again {name}").click()
    expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    page.get_by_role("button", name=f"Resume {name}").click()
    expect(page.get_by_role("button", name=f"Stop {name}")).to_be_visible()
    feed(served.client, at)
    assert study_at(served, at).doctor().problems == ()
    assert study_at(served, at).status().finished


@pytest.mark.parametrize("act", ACTS)
def test_without_the_token_no_form_changes_anything(served: Served, act: str) -> None:
    at = create(served, new_name("safe"))
    before = strict(served.client.get(at))
    for headers in ({}, {"Cookie": "ringfence=wrong"}):
        answer = served.anyone.post(f"{at.removeprefix('/api')}/{act}", data={}, headers=headers)
        assert answer.status_code == 401
        assert 'type="password"' in answer.text
    assert served.anyone.post("/new", data=FORM).status_code == 401
    assert strict(served.client.get(at)) == before
    page = served.anyone.get("/").text
    assert "give the token" in page
    assert "<form" not in page
    assert "<form" not in served.anyone.get(at.removeprefix("/api")).text.split("what-if", 1)[0]


def test_a_page_of_another_origin_stops_nothing(served: Served) -> None:
    """Its browser would send our cookie along where only the port differs: the origin tells."""
    at = create(served, new_name("foreign"))
    with new_client(served.url) as visitor:
        visitor.post("/token", data={"token": served.token})
        for origin in ("http://127.0.0.1:1", "http://evil.example", "null"):
            answer = visitor.post(
                f"{at.removeprefix('/api')}/stop", data={}, headers={"Origin": origin}
            )
            assert answer.status_code in (400, 403), origin
        assert strict(served.client.get(at))["stopped_at"] is None
        assert visitor.post(f"{at.removeprefix('/api')}/stop", data={}).status_code == 303
    assert strict(served.client.get(at))["stopped_at"] is not None


def test_a_read_only_server_offers_no_change(read_only: Served, served: Served) -> None:
    at = create(served, new_name("fixed"))
    for path in ("/", at.removeprefix("/api")):
        page = read_only.client.get(path).text
        assert "/stop" not in page
        assert 'href="/new"' not in page
    for act in ACTS:
        answer = read_only.client.post(f"{at.removeprefix('/api')}/{act}", data={})
        assert answer.status_code == 403


@pytest.mark.parametrize(
    ("change", "code", "word"),
    [
        ({"name": ""}, 422, "name"),
        ({"arms": " "}, 422, "arms"),
        ({"arms": "one\none"}, 422, "one"),
        ({"objective": "as good as can be"}, 422, "objective"),
        ({"limits": "latency < fast"}, 422, "latency"),
        ({"budget": "-3"}, 422, "budget"),
        ({"budget": "9" * 30}, 422, "budget"),
        ({"policy": "guessing"}, 422, "guessing"),
        ({"name": "<b>x</b>/"}, 422, "name"),
    ],
)
def test_a_form_that_breaks_a_rule_creates_nothing_and_is_kept(
    served: Served, change: dict[str, str], code: int, word: str
) -> None:
    form = FORM | {"name": new_name("wrong")} | change
    before = served.client.get("/api/studies?archived=true").content
    answer = served.client.post("/new", data=form)
    assert (answer.status_code, word in answer.text) == (code, True)
    assert 'role="alert"' in answer.text
    assert "warm" in answer.text or "arms" in change
    assert "<b>x</b>" not in answer.text
    assert served.client.get("/api/studies?archived=true").content == before


def test_a_name_that_is_taken_is_said_to_be(served: Served) -> None:
    at = create(served, new_name("taken"))
    answer = served.client.post("/new", data=FORM | {"name": at.rpartition("/")[2]})
    assert (answer.status_code, "exists already" in answer.text) == (409, True)


def test_a_page_says_who_holds_what_a_decision_waits_for(served: Served, tab: Tab) -> None:
    at = create(served, new_name("held"), policy="top-two", batch=4, budget=60)
    feed(served.client, at, 8)
    held = strict(served.client.post(f"{at}/ask", json={"n": 3}))["pulls"]
    assert held
    tab.page.goto(f"{served.url}{at.removeprefix('/api')}")
    waits = tab.page.get_by_role("region", name="What the next decision waits for")
    row = waits.get_by_role("row").nth(1)
    expect(row).to_contain_text("a worker that does not say who it is")
    expect(row).to_contain_text(str(len(held)))
    expect(row).to_contain_text("UTC")


def test_a_page_says_which_arms_failed_and_what_they_said(served: Served, tab: Tab) -> None:
    at = create(served, new_name("failing"), budget=60, max_failures=50, policy="uniform")
    said = ["503: overloaded\nTraceback ...", "503: overloaded\nanother", "no <b>answer</b>"]
    for error in said:
        pull = strict(served.client.post(f"{at}/ask", json={"n": 1}))["pulls"][0]
        lease = {"pull": pull["pull"], "lease": pull["lease"]}
        strict(served.client.post(f"{at}/fail", json=lease | {"error": error}))
    feed(served.client, at, 12)
    tab.page.goto(f"{served.url}{at.removeprefix('/api')}")
    table = tab.page.get_by_role("region", name="Failures by arm").last
    rows = {row.inner_text() for row in table.get_by_role("row").all()[1:]}
    assert sum("503: overloaded" in row for row in rows) == len(
        {one.arm for one in study_at(served, at).desk.failures() if "503" in one.error}
    )
    assert any("no <b>answer</b>" in row for row in rows)
    assert not any("Traceback" in row for row in rows)


def test_planning_is_offered_only_where_it_works(served: Served, read_only: Served) -> None:
    ready = create(served, new_name("ready"), policy="uniform", budget=60)
    early = create(served, new_name("early"), policy="uniform", budget=60)
    feed(served.client, ready, 30)
    feed(served.client, early, 1)
    offer = "Plan with what was seen"
    assert offer in served.client.get(ready.removeprefix("/api")).text
    assert offer not in served.client.get(early.removeprefix("/api")).text
    assert offer not in read_only.client.get(ready.removeprefix("/api")).text


def test_the_paper_is_reached_from_the_planner_alone(served: Served, page: Page) -> None:
    page.goto(served.url)
    names = page.get_by_role("navigation").get_by_role("link").all_inner_texts()
    assert names == ["Studies", "Planner"]
    page.get_by_role("link", name="Planner").click()
    page.get_by_role("link", name="four panels").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The paper")


def test_a_dark_page_prints_dark_on_white_and_whole(served: Served, chromium: Browser) -> None:
    """Every chart is there without having been scrolled to, in colours that paper shows."""
    at = create(served, new_name("paper"), policy="constrained-sr", budget=60)
    feed(served.client, at)
    with new_tab(chromium, scheme="dark") as tab:
        page = tab.page
        page.goto(f"{served.url}{at.removeprefix('/api')}")
        page.wait_for_function(
            "() => [...document.querySelectorAll('figure[data-figure]')]"
            ".every(one => one.dataset.state === 'drawn')"
        )
        page.emulate_media(media="print", color_scheme="dark")
        page.set_viewport_size({"width": 794, "height": 1123})
        shades = page.evaluate(
            """() => [document.body, ...document.querySelectorAll("svg text, h1, td")].map(one => {
              const style = getComputedStyle(one);
              const colour = one === document.body ? style.backgroundColor
                : one.tagName === "text" ? style.fill : style.color;
              const parts = colour.match(/[\\d.]+/g).map(Number);
              return parts.length > 3 && parts[3] === 0 ? 0 : parts[0] + parts[1] + parts[2];
            })"""
        )
        assert shades[0] == 3 * 255
        assert len(shades) > 40
        assert max(shades[1:]) < 450, "all that is written is dark"
        hidden = page.evaluate(
            "[...document.querySelectorAll('.wide')].map(one => one.scrollWidth - one.clientWidth)"
        )
        assert max(hidden) <= 0
        assert not page.get_by_role("button").filter(visible=True).count()


def test_the_rules_for_paper_are_those_of_the_themes() -> None:
    folder = ROOT / "src" / "ringfence" / "interfaces" / "web" / "static"
    assert paper_rules() in Path(folder / "print.css").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", ["/", "/new", "/plan", "STUDY"])
def test_pages_with_forms_keep_nobody_out(served: Served, chromium: Browser, path: str) -> None:
    long = new_name("a-name-that-is-too-long-for-the-screen-of-any-phone-" + "x" * 40)
    at = create(served, long, policy="top-two", batch=4)
    feed(served.client, at, 8)
    strict(served.client.post(f"{at}/ask", json={"n": 2}))
    with new_tab(chromium) as tab:
        come_in(tab.page, served)
        for scheme in ("light", "dark"):
            for width in (1280, 800, 390):
                tab.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
                tab.page.set_viewport_size({"width": width, "height": 900})
                tab.page.goto(f"{served.url}{path.replace('STUDY', at.removeprefix('/api'))}")
                wide = tab.page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, (path, width, wide)
                found = Axe().run(tab.page).response["violations"]
                serious = [one for one in found if one["impact"] in ("serious", "critical")]
                assert serious == [], (path, scheme, width)
