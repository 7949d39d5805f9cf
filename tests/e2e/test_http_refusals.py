"""What is refused over HTTP: with the status of the contract, in words, and nothing has changed."""

import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contracts.postgres import Server
from tests.e2e.serving import (
    Served,
    body_of,
    create,
    feed,
    new_name,
    refused,
    reported,
    serve_in_vain,
    strict,
    unchanged,
)

MOST_BYTES = 4 * 2**20
HUGE = 10**30
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Begun:
    """A study with some pulls told, one failed and two that are still leased."""

    at: str
    told: dict[str, Any]
    held: dict[str, Any]
    other: dict[str, Any]
    failed: dict[str, Any]

    def telling(self, **changes: Any) -> dict[str, Any]:
        """Return what tells the held pull, changed."""
        body = reported(self.held)
        return body | changes


@pytest.fixture(scope="module")
def begun(served: Served) -> Begun:
    at = create(served, budget=30)
    pulls = strict(served.client.post(f"{at}/ask", json={"n": 10}))["pulls"]
    told = [reported(pull) for pull in pulls[:7]]
    strict(served.client.post(f"{at}/tell-many", json={"pulls": told}))
    lost = {"pull": pulls[7]["pull"], "lease": pulls[7]["lease"]}
    strict(served.client.post(f"{at}/fail", json=lost))
    return Begun(at, told[0], pulls[8], pulls[9], lost)


@pytest.fixture
def client(served: Served, begun: Begun) -> Iterator[httpx.Client]:
    """A client whose calls may change nothing."""
    with unchanged(served, begun.at):
        yield served.client


METRICS = {
    "a metric is missing": ({"score": 0.5}, "latency_ms"),
    "a metric is misspelt": ({"score": 0.5, "latency": 1.0}, "latency_ms"),
    "a metric is a string": ({"score": "0.5", "latency_ms": 1.0}, "score"),
    "a metric is null": ({"score": None, "latency_ms": 1.0}, "score"),
    "a metric is a list": ({"score": [0.5], "latency_ms": 1.0}, "score"),
    "a metric is a table": ({"score": {"value": 0.5}, "latency_ms": 1.0}, "score"),
    "a metric is beyond all floats": ({"score": 10**400, "latency_ms": 1.0}, "score"),
    "metrics are empty": ({}, "score"),
    "metrics are a list": ([0.5, 1.0], "metrics"),
    "metrics are null": (None, "metrics"),
    "metrics are a string": ("score", "metrics"),
    "a metric has half a character for its name": ({"\ud800": 1.0}, ""),
    "a metric has an endless name": ({"x" * 100_000: 1.0}, ""),
}


@pytest.mark.parametrize("case", METRICS)
@pytest.mark.parametrize("call", ["tell", "tell-many"])
def test_metrics_that_are_none_are_refused(
    client: httpx.Client, begun: Begun, case: str, call: str
) -> None:
    metrics, word = METRICS[case]
    body: Any = begun.telling(metrics=metrics)
    if call == "tell-many":  # after one that would do
        body = {"pulls": [reported(begun.other), body]}
    answer = client.post(f"{begun.at}/{call}", content=json.dumps(body), headers=JSON)
    detail = refused(answer, 422, word)
    assert len(detail) < 2000


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
@pytest.mark.parametrize("call", ["tell", "tell-many"])
def test_what_is_no_finite_number_is_refused(
    client: httpx.Client, begun: Begun, number: str, call: str
) -> None:
    text = json.dumps(begun.telling(metrics={"score": 12345, "latency_ms": 1.0}))
    text = text.replace("12345", number)
    if call == "tell-many":
        text = f'{{"pulls": [{json.dumps(reported(begun.other))}, {text}]}}'
    refused(client.post(f"{begun.at}/{call}", content=text, headers=JSON), 422, "score")


TWICE = {
    "tell": '{"pull": 1, "lease": 1, "metrics": {"score": 0.1, "latency_ms": 1, "score": 0.9}}',
    "tell-many": '{"pulls": [{"pull": 1, "pull": 2, "lease": 1, "metrics": {}}]}',
    "ask": '{"n": 1, "n": 2}',
    "budget": '{"budget": 90, "budget": 900}',
}


@pytest.mark.parametrize("call", TWICE)
def test_a_key_that_is_there_twice_is_refused(
    client: httpx.Client, begun: Begun, call: str
) -> None:
    key = {"tell": "score", "tell-many": "pull", "ask": "n"}.get(call, call)
    answer = client.post(f"{begun.at}/{call}", content=TWICE[call], headers=JSON)
    refused(answer, 422, f"key {key!r} is there twice in one JSON object. Give each key once.")


def test_a_study_with_a_key_twice_is_not_begun(client: httpx.Client) -> None:
    body = '{"name": "twice", "arms": {"a": {"x": 1, "x": 2}, "b": {}}, "budget": 30}'
    refused(client.post("/api/studies", content=body, headers=JSON), 422, "key 'x' is there twice")


@pytest.mark.parametrize("cost", ["NaN", "Infinity", "1e999", '"1"', "[1]"])
def test_a_cost_that_is_none_is_refused(client: httpx.Client, begun: Begun, cost: str) -> None:
    text = json.dumps(begun.telling(cost=12345)).replace("12345", cost)
    refused(client.post(f"{begun.at}/tell", content=text, headers=JSON), 422, "cost")


def _leases(**changes: Any) -> dict[str, Any]:
    return {"pull": "PULL", "lease": "LEASE"} | changes


BODIES: dict[str, tuple[str, Any, int, str]] = {
    "ask for none": ("ask", {"n": 0}, 422, "n"),
    "ask for fewer than none": ("ask", {"n": -1}, 422, "n"),
    "ask for too many": ("ask", {"n": 10_001}, 422, "10"),
    "ask for endlessly many": ("ask", {"n": HUGE}, 422, "n"),
    "ask for half a pull": ("ask", {"n": 1.5}, 422, "n"),
    "ask in words": ("ask", {"n": "2"}, 422, "n"),
    "ask for true": ("ask", {"n": True}, 422, "n"),
    "ask with an unknown key": ("ask", {"m": 1}, 422, "m"),
    "ask by a list": ("ask", [1], 422, ""),
    "ask by nothing": ("ask", None, 422, ""),
    "tell without a lease": ("tell", {"pull": "PULL", "metrics": {}}, 422, "lease"),
    "tell without a pull": ("tell", {"lease": 1, "metrics": {}}, 422, "pull"),
    "tell without metrics": ("tell", _leases(), 422, "metrics"),
    "tell with an unknown key": ("tell", _leases(metrics={}, note="x"), 422, "note"),
    "tell a pull in words": ("tell", _leases(pull="1", metrics={}), 422, "pull"),
    "tell half a pull": ("tell", _leases(pull=1.5, metrics={}), 422, "pull"),
    "tell many by nothing": ("tell-many", {}, 422, "pulls"),
    "tell many by a table": ("tell-many", {"pulls": {}}, 422, "pulls"),
    "tell many numbers": ("tell-many", {"pulls": [1, 2]}, 422, "pulls"),
    "tell too many": ("tell-many", {"pulls": [_leases(metrics={})] * 10_001}, 422, "10"),
    "fail without a lease": ("fail", {"pull": "PULL"}, 422, "lease"),
    "fail with a number for its error": ("fail", _leases(error=3), 422, "error"),
    "fail with a word for its charge": ("fail", _leases(charge="no"), 422, "charge"),
    "fail with an unknown key": ("fail", _leases(reason="x"), 422, "reason"),
    "extend without a lease": ("extend", {"pull": "PULL"}, 422, "lease"),
    "extend with an unknown key": ("extend", _leases(seconds=9), 422, "seconds"),
    "a budget that falls": ("budget", {"budget": 29}, 422, "only rise"),
    "a budget in words": ("budget", {"budget": "99"}, 422, "budget"),
    "a budget of half a pull": ("budget", {"budget": 99.5}, 422, "budget"),
    "a budget of true": ("budget", {"budget": True}, 422, "budget"),
    "no budget": ("budget", {}, 422, "budget"),
    "a budget that no database holds": ("budget", {"budget": HUGE}, 422, "budget"),
    "a pull that was never issued": ("fail", _leases(pull=999), 422, "999"),
    "a pull below all": ("fail", _leases(pull=-1), 422, "pull"),
    "a pull that no database holds": ("fail", _leases(pull=HUGE), 422, "pull"),
    "a lease that was never given": ("fail", _leases(lease=9), 409, "lease"),
    "a lease that no database holds": ("fail", _leases(lease=HUGE), 0, ""),
    "extend a lease that was never given": ("extend", _leases(lease=9), 409, "lease"),
    "extend a pull that was never issued": ("extend", _leases(pull=999), 422, "999"),
}


@pytest.mark.parametrize("case", BODIES)
def test_bodies_that_break_a_rule_are_refused(
    client: httpx.Client, begun: Begun, case: str
) -> None:
    call, body, status, word = BODIES[case]
    text = json.dumps(body).replace('"PULL"', str(begun.held["pull"]))
    text = text.replace('"LEASE"', str(begun.held["lease"]))
    answer = client.post(f"{begun.at}/{call}", content=text, headers=JSON)
    refused(answer, status or answer.status_code, word)
    assert 400 <= answer.status_code < 500


def test_what_was_told_stays_and_what_is_over_is_over(client: httpx.Client, begun: Begun) -> None:
    other = begun.told | {"metrics": {"score": 0.0, "latency_ms": 0.0}}
    refused(client.post(f"{begun.at}/tell", json=other), 409, "already told other values")
    both = {"pulls": [reported(begun.held), other]}
    refused(client.post(f"{begun.at}/tell-many", json=both), 409, "already told other values")
    lease = {key: begun.told[key] for key in ("pull", "lease")}
    refused(client.post(f"{begun.at}/fail", json=lease), 409, "is told")
    refused(client.post(f"{begun.at}/extend", json=lease), 409, "is told")
    late = begun.failed | {"metrics": begun.told["metrics"]}
    refused(client.post(f"{begun.at}/tell", json=late), 409, "is failed")
    otherwise = begun.failed | {"error": "for another reason"}
    refused(client.post(f"{begun.at}/fail", json=otherwise), 409, "is failed")
    never = reported(begun.held) | {"lease": 9}
    refused(client.post(f"{begun.at}/tell", json=never), 409, "was never issued")
    twice = {"pulls": [reported(begun.held)] * 2}
    refused(client.post(f"{begun.at}/tell-many", json=twice), 422, "twice")
    unknown = reported(begun.held) | {"pull": 999}
    refused(client.post(f"{begun.at}/tell", json=unknown), 422, "999")
    mixed = {"pulls": [reported(begun.held), unknown]}
    refused(client.post(f"{begun.at}/tell-many", json=mixed), 422, "999")


def test_the_same_said_again_is_no_error_and_no_change(client: httpx.Client, begun: Begun) -> None:
    assert strict(client.post(f"{begun.at}/tell", json=begun.told))["status"] == "already-told"
    failed = strict(client.post(f"{begun.at}/fail", json=begun.failed))
    assert failed == {"status": "already-failed"}
    stays = strict(client.post(f"{begun.at}/budget", json={"budget": 30}))
    assert (stays["budget"], stays["finished"]) == (30, False)
    nothing = strict(client.post(f"{begun.at}/tell-many", json={"pulls": []}))
    assert nothing == {"statuses": [], "notes": []}


NOT_JSON = {
    "empty": b"",
    "words": b"n=1",
    "cut off": b'{"n": 1',
    "two": b'{"n": 1} {"n": 1}',
    "a comma too many": b'{"n": 1,}',
    "single quotes": b"{'n': 1}",
    "not UTF-8": b'{"n": 1, "\xff\xfe": 2}',
    "endlessly deep": b"[" * 200_000,
    "endlessly deep tables": b'{"n":' * 100_000,
}


@pytest.mark.parametrize("case", NOT_JSON)
def test_a_body_that_is_not_json_is_refused(client: httpx.Client, begun: Begun, case: str) -> None:
    answer = client.post(f"{begun.at}/ask", content=NOT_JSON[case], headers=JSON)
    refused(answer, 422 if case == "empty" else 400, "JSON")


@pytest.mark.parametrize(
    "kind",
    ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/json",
     "application/jsonp", "application/json-seq", "application"],
)  # fmt: skip
@pytest.mark.parametrize(
    "call", ["ask", "tell", "tell-many", "fail", "extend", "budget", "/api/studies"]
)
def test_a_body_that_does_not_say_json_is_refused(
    client: httpx.Client, begun: Begun, kind: str, call: str
) -> None:
    """A form of another site can send these kinds without asking; none of them writes."""
    headers = {"Content-Type": kind} if kind else {}
    at = call if call.startswith("/") else f"{begun.at}/{call}"
    answer = client.post(at, content=b'{"n": 1}', headers=headers)
    refused(answer, 415, "application/json")


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
def test_a_body_may_say_json_in_more_words(served: Served, kind: str) -> None:
    at = create(served)
    answer = served.client.post(f"{at}/ask", content=b"{}", headers={"Content-Type": kind})
    assert len(strict(answer)["pulls"]) == 1


def padded(size: int) -> bytes:
    return b'{"n": 1' + b" " * (size - 8) + b"}"


def test_a_body_of_four_mebibytes_is_taken_and_one_byte_more_is_not(served: Served) -> None:
    at = create(served)
    taken = served.client.post(f"{at}/ask", content=padded(MOST_BYTES), headers=JSON)
    assert len(strict(taken)["pulls"]) == 1
    with unchanged(served, at):
        refused(served.client.post(f"{at}/ask", content=padded(MOST_BYTES + 1), headers=JSON), 413)


def test_a_body_in_pieces_is_counted_too(served: Served, begun: Begun) -> None:
    def pieces(size: int) -> Iterator[bytes]:
        whole = padded(size)
        for start in range(0, size, 65536):
            yield whole[start : start + 65536]

    with unchanged(served, begun.at):
        answer = served.client.post(f"{begun.at}/ask", content=pieces(MOST_BYTES + 1), headers=JSON)
        refused(answer, 413)
    at = create(served)
    taken = served.client.post(f"{at}/ask", content=pieces(100_000), headers=JSON)
    assert len(strict(taken)["pulls"]) == 1


@pytest.mark.parametrize("length", ["4194305", "99999999999999", "1" + "0" * 40])
def test_a_body_that_says_it_is_too_large_is_not_waited_for(
    served: Served, begun: Begun, length: str
) -> None:
    with unchanged(served, begun.at):
        began = time.monotonic()
        lines = f"Content-Length: {length}\r\nConnection: close"
        status, _ = served.raw(_post(served, f"{begun.at}/ask", lines))
        assert status in (413, 400) if len(length) > 15 else status == 413
        assert time.monotonic() - began < 3.0


@pytest.mark.parametrize(
    "lines",
    ["Content-Length: -1", "Content-Length: 8\r\nContent-Length: 9", "Content-Length: eight",
     "Content-Length: 8\r\nTransfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked"],
)  # fmt: skip
def test_bodies_of_no_certain_length_do_no_harm(served: Served, begun: Begun, lines: str) -> None:
    """The classic ways to smuggle a second call past a proxy."""
    with unchanged(served, begun.at):
        request = _post(served, f"{begun.at}/ask", f"{lines}\r\nConnection: close")
        status, _ = served.raw(request + b'0\r\n\r\n{"n":1}')
        assert 400 <= status < 500


def _post(served: Served, at: str, lines: str) -> bytes:
    return (
        f"POST {at} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
        f"Authorization: Bearer {served.token}\r\nContent-Type: application/json\r\n"
        f"{lines}\r\n\r\n"
    ).encode()


CREATIONS: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({"name": None}, "name"),
    "a name that leads elsewhere": ({"name": "../evil"}, "name"),
    "a name with a slash": ({"name": "a/b"}, "name"),
    "an empty name": ({"name": ""}, "name"),
    "a name of half a character": ({"name": "a\ud800"}, "name"),
    "a name with a null": ({"name": "a\x00b"}, "name"),
    "an endless name": ({"name": "a" * 101}, "name"),
    "an objective of no expression": ({"objective": "biggest score"}, "objective"),
    "an objective that runs code": ({"objective": "maximize __import__('os')"}, "objective"),
    "no constraints that can be read": ({"constraints": ["mean(x) = 1"]}, "constraints"),
    "constraints that are numbers": ({"constraints": [1]}, "constraints"),
    "no arms": ({"arms": []}, "arms"),
    "arms twice": ({"arms": ["a", "a"]}, "twice"),
    "an arm without a name": ({"arms": ["a", ""]}, "arm"),
    "an arm with a line break": ({"arms": ["a\nb", "c"]}, "arm"),
    "an arm of half a character": ({"arms": ["a\ud800", "c"]}, "arm"),
    "an arm with an endless name": ({"arms": ["a" * 201, "c"]}, "arm"),
    "arms that are numbers": ({"arms": [1, 2]}, "arm"),
    "arms in one word": ({"arms": "abc"}, "arms"),
    "a budget without room": ({"budget": 1}, "budget"),
    "a budget of nothing": ({"budget": 0}, "budget"),
    "a budget in words": ({"budget": "60"}, "budget"),
    "a budget that no database holds": ({"budget": HUGE}, "budget"),
    "an unknown policy": ({"policy": "top-tow"}, "top-two"),
    "a seed below zero": ({"seed": -1}, "seed"),
    "a seed in words": ({"seed": "7"}, "seed"),
    "a batch of none": ({"batch": 0}, "batch"),
    "a lag of none": ({"lag": 0}, "lag"),
    "a lag before phases": ({"lag": 5, "policy": "uniform"}, "lag = 5 has no effect"),
    "no lease": ({"lease_seconds": 0}, "lease_seconds"),
    "a lease beyond clocks": ({"lease_seconds": 1e18}, "lease_seconds"),
    "retries below zero": ({"retries": -1}, "retries"),
    "no failures at all": ({"max_failures": 0}, "max_failures"),
    "no leases at all": ({"max_leases": 0}, "max_leases"),
    "metrics that are no list": ({"metrics": {"a": 1}}, "metrics"),
    "noise that is no table": ({"noise": [1.0]}, "noise"),
    "noise of no metric": ({"noise": {"latncy_ms": {"sigma": 1}}}, "latency_ms"),
    "a sigma of zero": ({"noise": {"score": {"sigma": 0}}}, "noise.score.sigma = 0"),
    "a sigma in words": ({"noise": {"score": {"sigma": "1"}}}, "noise.score.sigma = '1'"),
    "a sigma without end": ({"noise": {"score": {"sigma": math.inf}}}, "noise.score.sigma = inf"),
    "bounds about": ({"noise": {"score": {"bounds": [1, 0]}}}, "noise.score.bounds = [1, 0]"),
    "a small covariance": ({"noise": {"covariance": [[1.0]]}}, "2 x 2"),
    "a covariance that is none": (
        {"noise": {"covariance": [[1.0, 2.0], [2.0, 1.0]]}},
        "positive definite",
    ),
    "functions of one's own": ({"functions": {"f": "os:system"}}, "functions"),
    "a storage of one's own": ({"storage": "sqlite:////tmp/other.db"}, "storage"),
    "a key that is nearly one": ({"bugdet": 60}, "bugdet"),
    "a word for load_if_exists": ({"load_if_exists": "yes"}, "load_if_exists"),
}


@pytest.mark.parametrize("case", CREATIONS)
def test_a_study_that_breaks_a_rule_is_not_created(client: httpx.Client, case: str) -> None:
    change, word = CREATIONS[case]
    body = json.dumps(body_of(new_name()) | change)
    refused(client.post("/api/studies", content=body, headers=JSON), 422, word)


@pytest.mark.parametrize("key", ["name", "objective", "arms", "budget"])
def test_a_study_needs_its_keys(client: httpx.Client, key: str) -> None:
    body = body_of(new_name())
    del body[key]
    refused(client.post("/api/studies", json=body), 422, key)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_an_endless_lease_is_refused(client: httpx.Client, number: str) -> None:
    text = json.dumps(body_of(new_name(), lease_seconds=12345)).replace("12345", number)
    refused(client.post("/api/studies", content=text, headers=JSON), 422, "lease_seconds")


DIFFERENT: list[dict[str, Any]] = [
    {"objective": "minimize mean(score)"},
    {"constraints": ["mean(latency_ms) <= 201"]},
    {"arms": ["plain", "warm"]},
    {"policy": "top-two"},
    {"seed": 8},
    {"budget": 29},
    {"metrics": ["size"]},
    {"noise": {"score": {"sigma": 1.0}}},
]


def test_a_name_that_is_taken_is_refused(client: httpx.Client, begun: Begun) -> None:
    same = body_of(begun.at.rpartition("/")[2], budget=30)
    refused(client.post("/api/studies", json=same), 409, same["name"])
    assert strict(client.post("/api/studies", json=same | {"load_if_exists": True}))
    for change in DIFFERENT:
        other = same | change
        refused(client.post("/api/studies", json=other), 409, same["name"])
        answer = client.post("/api/studies", json=other | {"load_if_exists": True})
        refused(answer, answer.status_code, next(iter(change)))
        assert answer.status_code in (409, 422), change


UNKNOWN = [
    "no-such",
    "a" * 300,
    "..",
    "%2e%2e",
    "a%00b",
    "%ff",
    "a%2Fb",
    "%F0%9F%98%80",
    "-",
    "x%0d%0ay",
]
READS = ["", "/definition", "/recommend", "/explain", "/what-if?constraint=0&threshold=1", "/pulls",
         "/export?format=csv", "/record", "/figures/map", "/events"]  # fmt: skip
WRITES: dict[str, dict[str, Any]] = {
    "ask": {"n": 1},
    "tell": {"pull": 1, "lease": 1, "metrics": {"score": 1.0, "latency_ms": 1.0}},
    "tell-many": {"pulls": [{"pull": 1, "lease": 1, "metrics": {"score": 1.0}}]},
    "fail": {"pull": 1, "lease": 1},
    "extend": {"pull": 1, "lease": 1},
    "budget": {"budget": 99},
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_study_that_is_not_there_is_not_found(anywhere: Served, name: str) -> None:
    """Whatever the name: no file is looked for, no database complains."""
    client = anywhere.client
    for what in READS:
        answer = client.get(f"/api/studies/{name}{what}")
        assert answer.status_code == 404 or (name in ("..", "%2e%2e") and not what), (what, answer)
    for call, body in WRITES.items():
        answer = client.post(f"/api/studies/{name}/{call}", json=body)
        assert answer.status_code in (404, 405), (call, answer.text)
    if name == "no-such":
        refused(client.get(f"/api/studies/{name}"), 404, name)
        refused(client.post(f"/api/studies/{name}/ask", json={}), 404, name)
    assert client.get(f"/studies/{name}").status_code in (404, 405, 307, 308) or ".." in name


def test_what_a_study_does_not_have_is_not_found(client: httpx.Client, begun: Begun) -> None:
    at = begun.at
    refused(client.get(f"{at}/explain", params={"arm": "wram"}), 404, "wram", "warm")
    for arm in ("a\x00b", "x" * 5000, "\U0001f600", ""):
        refused(client.get(f"{at}/explain", params={"arm": arm}), 404)
    refused(client.get(f"{at}/figures/pie"), 404, "pie")
    refused(client.get(f"{at}/nothing"), 404)
    refused(client.get("/api/nothing"), 404)
    assert client.get("/nothing").status_code == 404
    assert client.get("/static/../serve.py").status_code == 404
    for path in ("/static/%2e%2e/%2e%2e/app.py", "/static/..%2f..%2fapp.py", "/static//etc/passwd"):
        answer = client.get(path)
        assert answer.status_code == 404, path
        assert b"root:" not in answer.content


QUERIES = [
    "pulls?limit=0", "pulls?limit=-1", "pulls?limit=1001", "pulls?limit=ten", "pulls?limit=1.5",
    f"pulls?limit={HUGE}", "pulls?before=x", "pulls?before=nan",
    "what-if", "what-if?constraint=0", "what-if?constraint=1&threshold=1",
    "what-if?constraint=-1&threshold=1", "what-if?constraint=x&threshold=1",
    "what-if?constraint=0&threshold=nan", "what-if?constraint=0&threshold=inf",
    "what-if?constraint=0&threshold=1e999", "what-if?constraint=0&threshold=-Infinity",
    "what-if?constraint=0&threshold=", "what-if?constraint=0&threshold=ten",
    f"what-if?constraint={HUGE}&threshold=1",
    "export?format=xls", "export?format=", "figures/map?format=exe", "figures/map?theme=pink",
    "figures/map?format=../../etc/passwd",
]  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
def test_a_question_that_breaks_a_rule_is_refused(
    client: httpx.Client, begun: Begun, query: str
) -> None:
    refused(client.get(f"{begun.at}/{query}"), 422)


def test_pulls_before_any_number_can_be_asked_for(client: httpx.Client, begun: Begun) -> None:
    everything = strict(client.get(f"{begun.at}/pulls"))
    for before in (HUGE, 2**63, 11):
        found = client.get(f"{begun.at}/pulls?before={before}")
        assert found.status_code == 422 or strict(found) == everything
    for before in (1, 0, -1, -HUGE):
        found = client.get(f"{begun.at}/pulls?before={before}")
        assert found.status_code == 422 or strict(found)["pulls"] == []


@pytest.mark.parametrize("threshold", ["1e308", "-1e308", "0", "-0.0", "5e-324"])
def test_any_finite_threshold_has_an_answer(
    client: httpx.Client, begun: Begun, threshold: str
) -> None:
    found = strict(client.get(f"{begun.at}/what-if?constraint=0&threshold={threshold}"))
    assert found["feasible"] == (float(threshold) > 200)


def test_a_method_that_an_address_does_not_have_is_refused(
    client: httpx.Client, begun: Begun
) -> None:
    for what in READS:
        at = f"{begun.at}{what}"
        for method in ("PUT", "PATCH", "DELETE"):
            answer = client.request(method, at, json={})
            refused(answer, 405)
            assert "GET" in answer.headers["allow"]
        if what:
            refused(client.post(at, json={}), 405)
    for call in WRITES:
        answer = client.get(f"{begun.at}/{call}")
        refused(answer, 405)
        assert "POST" in answer.headers["allow"]
    assert client.post("/", json={}).status_code == 405
    assert client.post(begun.at.removeprefix("/api"), json={}).status_code == 405


def test_heads_and_options_are_answered_in_peace(client: httpx.Client, begun: Begun) -> None:
    for at in ("/", begun.at, begun.at.removeprefix("/api"), "/api/studies", "/openapi.json"):
        head = client.head(at)
        assert head.status_code in (200, 405)
        assert head.content == b""
        options = client.options(at, headers={"Access-Control-Request-Method": "POST"})
        assert options.status_code in (200, 204, 405)
        assert not [key for key in options.headers if key.startswith("access-control-")]


@pytest.mark.parametrize("call", ["/api/studies", *WRITES])
def test_a_read_only_server_refuses_every_write(
    served: Served, read_only: Served, begun: Begun, call: str
) -> None:
    body = WRITES.get(call, body_of("another"))
    at = call if call.startswith("/") else f"{begun.at}/{call}"
    with unchanged(served, begun.at):
        refused(read_only.client.post(at, json=body), 403, "read-only")


def test_a_read_only_server_answers_every_question(
    served: Served, read_only: Served, begun: Begun
) -> None:
    with unchanged(served, begun.at):
        for what in READS[:-1]:
            answers = [one.client.get(f"{begun.at}{what}") for one in (served, read_only)]
            assert answers[0].status_code == answers[1].status_code == 200
            if "figures" not in what:
                assert answers[0].content == answers[1].content
        for page in ("/", begun.at.removeprefix("/api")):
            assert read_only.anyone.get(page).status_code == 200


def test_a_read_only_server_leaves_a_missing_database_missing(
    tmp_path: Path,
) -> None:
    """Looking makes no file: the command says that there is none."""
    missing = tmp_path / "missing.db"
    done = serve_in_vain("--storage", f"sqlite:///{missing}", "--read-only")
    assert done.code == 2
    assert "missing.db" in done.err
    assert not missing.exists()


def test_a_database_server_that_is_away_is_said_to_be_and_waited_for(
    served_postgres: Served, postgres_server: Server
) -> None:
    at = create(served_postgres)
    pull = strict(served_postgres.client.post(f"{at}/ask", json={}))["pulls"][0]
    postgres_server.stop()
    try:
        for answer in (
            served_postgres.client.post(f"{at}/tell", json=reported(pull)),
            served_postgres.client.get(at),
            served_postgres.client.get("/api/studies"),
        ):
            refused(answer, 503, "cannot be used")
            assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert served_postgres.anyone.get(at.removeprefix("/api")).status_code == 503
    finally:
        postgres_server.start()
    assert strict(served_postgres.client.post(f"{at}/tell", json=reported(pull))) == {
        "status": "told",
        "notes": [],
    }
    assert feed(served_postgres.client, at) == 59
