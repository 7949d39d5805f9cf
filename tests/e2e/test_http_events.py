"""A study that is followed: changes arrive by themselves, and nobody who works is held up."""

import json
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from queue import Empty, Queue
from typing import Any

import httpx
import pytest

import ringfence as rf
from tests.e2e.serving import Served, create, evaluate, feed, new_client, reported, strict

SOON = 3.0
FOLLOWERS = 20


class Followed:
    """The events of a study, as they arrive."""

    def __init__(self, answer: httpx.Response) -> None:
        """Read in a thread, until the stream ends."""
        assert answer.status_code == 200
        assert answer.headers["content-type"].partition(";")[0] == "text/event-stream"
        assert "no-store" in answer.headers["cache-control"] or (
            "no-cache" in answer.headers["cache-control"]
        )
        self.lines: Queue[str] = Queue()
        self._thread = threading.Thread(target=self._read, args=(answer,), daemon=True)
        self._thread.start()

    def _read(self, answer: httpx.Response) -> None:
        try:
            for line in answer.iter_lines():
                self.lines.put(line)
        except (httpx.HTTPError, httpx.StreamError, OSError):
            pass  # we left

    def change(self, done: int, seconds: float = SOON) -> dict[str, Any]:
        """Return the first change that says that so many pulls are told or failed."""
        end = time.monotonic() + seconds
        event, data = "message", ""
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, end - time.monotonic()))
            except Empty:
                raise AssertionError(f"no change to {done} within {seconds} s") from None
            if line.startswith("event:"):
                event = line.partition(":")[2].strip()
            elif line.startswith("data:"):
                data += line.partition(":")[2].strip()
            elif line == "" and data:
                assert event == "change"
                found: dict[str, Any] = json.loads(data)
                assert found["done"] <= done
                if found["done"] == done:
                    return found
                event, data = "message", ""


@contextmanager
def following(served: Served, at: str) -> Iterator[Followed]:
    with (
        new_client(served.url) as client,
        client.stream("GET", f"{at}/events") as answer,
    ):
        yield Followed(answer)
        # A thread still reads: only this ends the connection at once.
        answer.extensions["network_stream"].get_extra_info("socket").shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module", autouse=True)
def quiet(served: Served) -> Iterator[Followed]:
    """A stream of a study that never changes, opened before the other tests."""
    with following(served, create(served)) as followed:
        yield followed


def test_a_change_by_another_process_arrives_soon(anywhere: Served) -> None:
    at = create(anywhere, budget=12)
    study = rf.Study.load(at.rpartition("/")[2], storage=anywhere.storage)
    with following(anywhere, at) as followed:
        for told in range(1, 4):
            (pull,) = study.ask(1)
            study.tell(pull, evaluate(pull.arm, pull.seed))
            found = followed.change(told)
            assert (found["budget"], found["finished"]) == (12, False)
        feed(anywhere.client, at)
        assert followed.change(12)["finished"]


def test_a_raised_budget_and_a_failure_are_changes_too(served: Served) -> None:
    at = create(served, budget=12)
    with following(served, at) as followed:
        pull = strict(served.client.post(f"{at}/ask", json={}))["pulls"][0]
        strict(served.client.post(f"{at}/budget", json={"budget": 15}))
        lease = {"pull": pull["pull"], "lease": pull["lease"]}
        strict(served.client.post(f"{at}/fail", json=lease))
        assert followed.change(1)["budget"] == 15


def test_a_stream_ends_when_its_client_leaves(served: Served) -> None:
    at = create(served)
    before = served.connections()
    with ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(following(served, at))
        assert served.connections() >= before + 5
    end = time.monotonic() + 5.0
    while served.connections() > before and time.monotonic() < end:
        time.sleep(0.05)
    assert served.connections() <= before


def test_followers_hold_up_nobody(anywhere: Served) -> None:
    """Twenty streams are open, and slow readers among them: asks and tells go on."""
    at = create(anywhere, budget=60)
    with ExitStack() as stack:
        streams = [stack.enter_context(following(anywhere, at)) for _ in range(FOLLOWERS)]
        lazy = stack.enter_context(new_client(anywhere.url))
        stack.enter_context(lazy.stream("GET", f"{at}/events"))  # never read from
        times = []
        for _ in range(20):
            began = time.monotonic()
            pull = strict(anywhere.client.post(f"{at}/ask", json={}))["pulls"][0]
            said = strict(anywhere.client.post(f"{at}/tell", json=reported(pull)))
            times.append(time.monotonic() - began)
            assert said == {"status": "told", "notes": []}
        assert statistics.median(times) < 1.0
        for followed in streams:
            assert followed.change(20, 10.0)["budget"] == 60
    assert feed(anywhere.client, at) == 40
    study = rf.Study.load(at.rpartition("/")[2], storage=anywhere.storage)
    assert study.doctor().problems == ()


def test_who_looks_changes_nothing_and_waits_for_nobody(served: Served) -> None:
    """Pages are read all the while; the course is that of a study that nobody looked at."""
    course: dict[str, Any] = {"policy": "top-two", "batch": 3, "budget": 30}
    watched, alone = create(served, **course), create(served, **course)
    done = threading.Event()

    def look() -> int:
        seen = 0
        with new_client(served.url) as client:
            while not done.is_set():
                for path in (watched.removeprefix("/api"), watched, f"{watched}/pulls"):
                    assert client.get(path).status_code == 200
                    seen += 1
        return seen

    with ThreadPoolExecutor(2) as pool:
        looks = [pool.submit(look) for _ in range(2)]
        feed(served.client, watched, at_once=3)
        done.set()
        assert all(one.result() > 0 for one in looks)
    feed(served.client, alone, at_once=3)
    first, second = (
        served.client.get(f"{at}/export?format=csv").content for at in (watched, alone)
    )
    assert first == second


@pytest.mark.parametrize("name", ["no-such", "a%00b"])
def test_a_study_that_is_not_there_has_no_events(served: Served, name: str) -> None:
    assert served.anyone.get(f"/api/studies/{name}/events").status_code == 404


def test_a_stream_without_changes_is_kept_alive(quiet: Followed) -> None:
    """By comments, so that what stands between does not cut it off."""
    end = time.monotonic() + 20.0
    while not quiet.lines.get(timeout=max(0.1, end - time.monotonic())).startswith(":"):
        pass
