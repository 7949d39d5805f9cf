"""Answers that take long wait for each other; who asks, tells or looks at the status does not.

What is checked is who is answered while others are held, never how long anything took.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import Response

from ringfence.interfaces.studies import Study
from ringfence.interfaces.web import downloads, lanes
from ringfence.interfaces.web.door import Door
from ringfence.interfaces.web.server import served as served_here
from ringfence.interfaces.web.shelf import Shelf
from tests.e2e.serving import TOKEN, body_of, new_client, refused, reported, strict

MANY = 45
SECONDS = 30.0


class Gate:
    """Holds whoever comes until it is opened, and counts."""

    def __init__(self) -> None:
        self.opened, self.lock = threading.Event(), threading.Lock()
        self.inside = self.most = self.came = 0

    def holding(self, what: Callable[..., Any]) -> Callable[..., Any]:
        """Return what, after the gate."""

        def held(*arguments: Any, **options: Any) -> Any:
            with self.lock:
                self.inside += 1
                self.came += 1
                self.most = max(self.most, self.inside)
            assert self.opened.wait(SECONDS), "it was held for ever"
            with self.lock:
                self.inside -= 1
            return what(*arguments, **options)

        return held


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate()
    monkeypatch.setattr(Study, "record", made.holding(lambda *_: "<!doctype html>"))
    monkeypatch.setattr(downloads, "table_bytes", made.holding(lambda *_: b"pull,arm"))
    monkeypatch.setattr(downloads, "figure", made.holding(lambda *_, **__: Response("{}", 200)))
    yield made
    made.opened.set()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    with served_here(storage, Door.of(token=TOKEN)) as url, new_client(url, TOKEN) as made:
        strict(made.post("/api/studies", json=body_of("kept", budget=200)), 201)
        pulls = strict(made.post("/api/studies/kept/ask", json={"n": 30}))["pulls"]
        told = {"pulls": [reported(pull) for pull in pulls]}
        strict(made.post("/api/studies/kept/tell-many", json=told))
        yield made


def asked(client: httpx.Client, pool: ThreadPoolExecutor, path: str) -> "Future[httpx.Response]":
    """Ask on a connection of one's own."""

    def ask() -> httpx.Response:
        with new_client(str(client.base_url), TOKEN) as own:
            return own.get(path)

    return pool.submit(ask)


def everything_else_goes_on(client: httpx.Client) -> None:
    """Ask, tell, fail, extend, create, raise the budget and look: all are answered."""
    at = "/api/studies/kept"
    pulls = strict(client.post(f"{at}/ask", json={"n": 3}))["pulls"]
    assert strict(client.post(f"{at}/tell", json=reported(pulls[0]))) == {
        "status": "told",
        "notes": [],
    }
    lease = {"pull": pulls[1]["pull"], "lease": pulls[1]["lease"]}
    assert strict(client.post(f"{at}/extend", json=lease))["deadline"] > 0
    assert strict(client.post(f"{at}/fail", json=lease))["status"]
    before = strict(client.get(at))
    assert before["told"] >= 31
    strict(client.post(f"{at}/budget", json={"budget": before["budget"] + 1}))
    strict(client.post("/api/studies", json=body_of(f"other-{before['budget']}")), 201)
    assert strict(client.get("/api/studies"))["studies"]
    assert strict(client.get(f"{at}/pulls"))["pulls"]
    assert strict(client.get(f"{at}/definition"))["name"] == "kept"
    assert client.get("/").status_code == 200
    with client.stream("GET", f"{at}/events") as stream:
        assert any(line.startswith("data: ") for line in stream.iter_lines())


def test_records_hold_up_neither_writes_nor_status_nor_verdicts(
    client: httpx.Client, gate: Gate
) -> None:
    kinds = ["/record", "/export?format=csv", "/figures/map"]
    with ThreadPoolExecutor(MANY) as pool:
        waiting = [
            asked(client, pool, f"/api/studies/kept{kinds[place % 3]}") for place in range(MANY)
        ]
        while gate.came < lanes.AT_ONCE:
            threading.Event().wait(0.01)
        everything_else_goes_on(client)
        assert strict(client.get("/api/studies/kept/recommend"))["arm"]
        assert client.get("/studies/kept").status_code == 200
        assert not [one for one in waiting if one.done()]
        assert gate.came == lanes.AT_ONCE
        gate.opened.set()
        assert {one.result().status_code for one in waiting} == {200}
    assert gate.came == MANY
    assert gate.most == lanes.AT_ONCE


def test_verdicts_hold_up_neither_writes_nor_status(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    monkeypatch.setattr(Study, "recommend", gate.holding(Study.recommend))
    monkeypatch.setattr(Shelf, "look", gate.holding(Shelf.look))
    kinds = ["/api/studies/kept/recommend", "/api/studies/kept/explain", "/studies/kept"]
    with ThreadPoolExecutor(MANY) as pool:
        waiting = [asked(client, pool, kinds[place % 3]) for place in range(MANY)]
        while gate.came < lanes.AT_ONCE:
            threading.Event().wait(0.01)
        try:
            everything_else_goes_on(client)
            assert gate.came == lanes.AT_ONCE
        finally:
            gate.opened.set()
        assert {one.result().status_code for one in waiting} == {200}
    assert gate.most == lanes.AT_ONCE


def test_what_nobody_waits_for_any_more_is_not_made(client: httpx.Client, gate: Gate) -> None:
    def leave() -> None:
        with (
            httpx.Client(base_url=client.base_url, trust_env=False, timeout=0.5) as own,
            pytest.raises(httpx.ReadTimeout),
        ):
            own.get("/api/studies/kept/record")

    with ThreadPoolExecutor(20) as pool:
        for one in [pool.submit(leave) for _ in range(20)]:
            one.result()
        last = asked(client, pool, "/api/studies/kept/record")
        gate.opened.set()
        assert last.result().status_code == 200
    assert gate.came == lanes.AT_ONCE + 1


def test_too_many_who_wait_are_told_to_come_again(
    client: httpx.Client, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "MOST_WAITING", 3)
    with ThreadPoolExecutor(10) as pool:
        waiting = [asked(client, pool, "/api/studies/kept/record") for _ in range(9)]
        while sum(one.done() for one in waiting) < 9 - 3 - lanes.AT_ONCE:
            threading.Event().wait(0.01)
        gate.opened.set()
        answers = [one.result() for one in waiting]
    assert sorted(one.status_code for one in answers) == [200] * 5 + [503] * 4
    for one in answers:
        if one.status_code == 503:
            refused(one, 503, "Try again later")
            assert int(one.headers["retry-after"]) > 0
