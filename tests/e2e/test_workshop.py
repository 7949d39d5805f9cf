"""Planning and the paper's panels on the page: for who has the token, and nobody waits for them."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.browsing import new_tab
from tests.e2e.serving import TOKEN, Served, create, feed, new_client, serve, strict

SECONDS = 100.0
FORM = {"source": "paper-1", "target": "0.1", "brief": "on"}
SLOW = {"source": "paper-4", "target": "1e-9", "policy": "thompson"}
HOSTILE = {
    "a long key": ("a" + ".a" * 20_000 + "=1", "nested too deeply"),
    "deep brackets": ("x = " + "[" * 30_000 + "]" * 30_000, "nested too deeply"),
    "no TOML": ("{", "not TOML"),
}


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Served]:
    with serve(f"sqlite:///{tmp_path / 'studies.db'}", tmp_path) as made:
        yield made


def begun(client: httpx.Client, form: dict[str, str]) -> str:
    answer = client.post("/plan", data=form)
    assert answer.status_code == 303, answer.text
    address = answer.headers["location"]
    assert address.startswith("/jobs/")
    return str(address)


def over(client: httpx.Client, address: str) -> str:
    """Return the page of work that is over."""
    end = time.monotonic() + SECONDS
    while "data-poll" in (page := client.get(address).text):
        assert time.monotonic() < end
        time.sleep(0.1)
    return page


@pytest.mark.parametrize("path", ["/plan", "/paper", "/jobs/x/stop", "/studies/x"])
def test_nothing_is_computed_without_the_token(served: Served, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": "ringfence=wrong"}):
        answer = served.anyone.post(path, data=FORM, headers=headers)
        assert answer.status_code == 401
        assert 'type="password"' in answer.text
        assert "location" not in answer.headers
        assert "set-cookie" not in answer.headers
    assert "data-poll" not in served.anyone.get("/paper").text


def test_a_page_says_that_it_needs_the_token_and_takes_it(served: Served) -> None:
    for path in ("/plan", "/paper", "/plan?study=x"):
        page = served.anyone.get(path).text
        assert "give the token" in page
        assert '<button type="submit">Plan' not in page
        assert '<button type="submit">Simulate' not in page
    with new_client(served.url) as visitor:
        onward = re.search(r'href="(/token\?next=[^"]*)"', visitor.get("/plan?study=x").text)
        assert onward is not None
        form = visitor.get(onward.group(1)).text
        assert 'name="next" value="/plan?study=x"' in form
        data = {"token": TOKEN, "next": "/plan?study=x"}
        answer = visitor.post("/token", data=data)
        assert (answer.status_code, answer.headers["location"]) == (303, "/plan?study=x")
        assert '<button type="submit">Plan' in visitor.get("/plan").text
        address = begun(visitor, FORM)
        assert visitor.post(f"{address}/stop").status_code == 303


@pytest.mark.parametrize(
    "onward",
    ["//evil.example", "/\\evil.example", "http://evil.example", "/plan/../x", "x", "/api"],
)
def test_the_token_leads_to_pages_of_ours_alone(served: Served, onward: str) -> None:
    with new_client(served.url) as visitor:
        answer = visitor.post("/token", data={"token": TOKEN, "next": onward})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        page = visitor.get("/token", params={"next": onward}).text
        assert 'name="next" value="/"' in page


def test_a_read_only_server_computes_nothing(read_only: Served) -> None:
    for path in ("/plan", "/paper"):
        page = read_only.client.get(path)
        assert page.status_code == 200
        assert "read-only" in page.text
        assert f"ringfence {path[1:]}" in page.text
        assert '<button type="submit"' not in page.text
        answer = read_only.client.post(path, data=FORM | {"replications": "1"})
        assert answer.status_code == 403
        assert "read-only" in answer.text


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_typed_in_holds_up_nobody(running: Served, case: str) -> None:
    text, words = HOSTILE[case]
    at = create(running)
    address = begun(running.client, FORM | {"source": "text", "text": text})
    while "data-poll" in running.client.get(address).text:
        strict(running.client.post(f"{at}/ask", json={}))
        strict(running.client.get(at))
    page = over(running.client, address)
    assert words in page
    assert "<textarea" in page, "the form is there again, as it was filled in"
    assert text[:1000] in page


def test_forms_that_break_a_rule_are_refused_and_begin_nothing(served: Served) -> None:
    for change, word in (
        ({"source": "text", "text": "x" * 70_000}, "70,000"),
        ({"source": "nowhere"}, "nowhere"),
        ({"source": "study:no-such"}, "no-such"),
        ({"policy": "top-tow"}, "top-tow"),
        ({"target": "none"}, "none"),
        ({"target": "9" * 5000}, "from 0 to 1"),
        ({"target": "nan"}, "from 0 to 1"),
    ):
        answer = served.client.post("/plan", data=FORM | change)
        assert answer.status_code in (404, 422), change
        assert word in answer.text
    for count in ("0", "-1", "x", "1e3", "9" * 5000, "1000001", "\u00b2"):
        answer = served.client.post("/paper", data={"replications": count})
        assert answer.status_code == 422, count


def test_work_can_be_stopped_and_waits_in_line(running: Served) -> None:
    first = begun(running.client, SLOW)
    others = [begun(running.client, SLOW) for _ in range(4)]
    answer = running.client.post("/plan", data=FORM)
    assert answer.status_code == 503
    assert "Try again later" in answer.text
    assert running.anyone.post(f"{first}/stop").status_code == 401
    assert "data-poll" in running.client.get(first).text
    for address in (*others, first):
        stopped = running.client.post(f"{address}/stop")
        assert (stopped.status_code, stopped.headers["location"]) == (303, address)
    for address in (first, *others):
        assert "this was stopped" in over(running.client, address)
    assert running.client.post("/jobs/none/stop").status_code == 404


def test_a_server_that_stops_ends_its_work(running: Served) -> None:
    create(running)
    begun(running.client, SLOW)
    children = Path(f"/proc/{running.process.pid}/task/{running.process.pid}/children")
    end = time.monotonic() + SECONDS
    while not (found := workers_of(running)):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert running.stop() == 0
    assert not children.exists()
    while any(Path(f"/proc/{number}").exists() for number in found):
        assert time.monotonic() < end
        time.sleep(0.05)


def workers_of(running: Served) -> list[int]:
    """Return the numbers of the processes that a server has begun."""
    found = []
    for task in Path(f"/proc/{running.process.pid}/task").iterdir():
        found += [int(word) for word in (task / "children").read_text("ascii").split()]
    return found


def test_a_visitor_plans_stops_and_plans_again(served: Served, chromium: Browser) -> None:
    at = create(served)
    feed(served.client, at)
    with new_tab(chromium) as tab:
        page = tab.page
        page.goto(f"{served.url}/plan")
        page.get_by_role("link", name="give the token").click()
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Come in").click()
        expect(page).to_have_url(f"{served.url}/plan")
        page.get_by_label("Largest error").fill("1e-9")
        page.get_by_label("Policy").select_option("thompson")
        page.get_by_role("button", name="Plan").click()
        expect(page.get_by_role("status")).to_contain_text("Working")
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_role("alert")).to_contain_text("this was stopped", timeout=10_000)
        expect(page.get_by_label("Largest error")).to_have_value("1e-9")
        page.get_by_label("Largest error").fill("0.1")
        page.get_by_label("Policy").select_option("constrained-sr")
        page.get_by_role("checkbox").check()
        page.get_by_role("button", name="Plan").click()
        expect(page.get_by_role("status")).to_contain_text("needs", timeout=SECONDS * 1000)
        tab.settle()
