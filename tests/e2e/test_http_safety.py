"""Who may do what: tokens, hosts, origins, and what every answer says to browsers."""

import csv
import io
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contracts.postgres import Server
from tests.e2e.serving import (
    TOKEN,
    Served,
    body_of,
    create,
    environment,
    feed,
    new_client,
    new_name,
    refused,
    serve,
    serve_command,
    serve_in_vain,
    strict,
    unchanged,
)

PAGES = ("/", "/plan", "/paper")
WRITES: dict[str, dict[str, Any]] = {
    "ask": {"n": 1},
    "tell": {"pull": 1, "lease": 1, "metrics": {"score": 1.0, "latency_ms": 1.0}},
    "tell-many": {"pulls": []},
    "fail": {"pull": 1, "lease": 1},
    "extend": {"pull": 1, "lease": 1},
    "budget": {"budget": 99},
}


@pytest.fixture(scope="module")
def at(served: Served) -> str:
    made = create(served, budget=30)
    feed(served.client, made, 12)
    strict(served.client.post(f"{made}/ask", json={"n": 2}))
    return made


@pytest.fixture(scope="module")
def exposed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on every address of the machine; we reach it through loopback alone."""
    folder = tmp_path_factory.mktemp("exposed")
    with serve(f"sqlite:///{folder / 'studies.db'}", folder, "--host", "0.0.0.0") as running:
        running.url = f"http://127.0.0.1:{running.port}"
        for client in (running.client, running.anyone):
            client.base_url = running.url
        create(running, "kept", budget=12)
        feed(running.client, "/api/studies/kept")
        yield running


WRONG = {
    "none": {},
    "another": {"Authorization": f"Bearer {TOKEN[:-1]}x"},
    "a beginning": {"Authorization": f"Bearer {TOKEN[:-1]}"},
    "more of it": {"Authorization": f"Bearer {TOKEN}x"},
    "in capitals": {"Authorization": f"Bearer {TOKEN.upper()}"},
    "empty": {"Authorization": "Bearer"},
    "without a scheme": {"Authorization": TOKEN},
    "as a password": {"Authorization": "Basic " + "YTp0b2tlbg=="},
    "in another header": {"X-Token": TOKEN, "Token": TOKEN},
    "in a cookie": {"Cookie": f"token={TOKEN}; ringfence={TOKEN}"},
    "beyond ASCII": {"Authorization": b"Bearer \xff\xfe\xe4"},
    "endless": {"Authorization": "Bearer " + "x" * 8000},
}


@pytest.mark.parametrize("case", WRONG)
def test_a_write_without_the_right_token_is_refused(served: Served, at: str, case: str) -> None:
    with unchanged(served, at):
        headers: Any = WRONG[case]
        for call, body in WRITES.items():
            answer = served.anyone.post(f"{at}/{call}", json=body, headers=headers)
            refused(answer, 401, "token")
            assert answer.headers["www-authenticate"].startswith("Bearer")
        answer = served.anyone.post("/api/studies", json=body_of("never"), headers=headers)
        refused(answer, 401, "token")
        asked = served.anyone.post(f"{at}/ask?token={TOKEN}", json={}, headers=headers)
        refused(asked, 401)


def test_the_token_is_asked_for_before_anything_else(served: Served, at: str) -> None:
    """Who has none learns nothing of studies, bodies or rules."""
    with unchanged(served, at):
        refused(served.anyone.post("/api/studies/no-such/ask", json={}), 401)
        refused(served.anyone.post(f"{at}/ask", content=b"not JSON"), 401)
        refused(served.anyone.post(f"{at}/ask", json={"n": -1}), 401)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_of_the_token_may_be_written_as_one_likes(served: Served, scheme: str) -> None:
    made = create(served)
    headers = {"Authorization": f"{scheme} {TOKEN}"}
    strict(served.anyone.post(f"{made}/ask", json={}, headers=headers))


def test_on_loopback_reading_needs_no_token(served: Served, at: str) -> None:
    for page in (*PAGES, at.removeprefix("/api"), f"{at.removeprefix('/api')}/pulls"):
        answer = served.anyone.get(page)
        assert answer.status_code == 200, page
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
    for what in ("", "/recommend", "/export?format=csv", "/pulls"):
        assert served.anyone.get(f"{at}{what}").status_code == 200
    assert served.anyone.get("/openapi.json").status_code == 200


EVIL_HOSTS = [
    "evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "notlocalhost",
    "localhost.evil.example:{port}", "evil.example#127.0.0.1", "evil.example/127.0.0.1",
    "127.0.0.1@evil.example", "evil.example@127.0.0.1:{port}", "user:pass@127.0.0.1:{port}", "",
    "127.0.0.1:{port},evil.example", "127.0.0.1:{port} evil.example", "[::1].evil.example",
    "[evil.example]:{port}", "127.0.0.1:{port}:80", "127.0.0.1:{port}\\evil", "*", "0",
    "localhost\\.evil.example", "127.0.0.1%00.evil.example",
]  # fmt: skip
HARMLESS_HOSTS = [  # ours in other words: answered or refused, and nothing else
    "LOCALHOST:{port}", "localhost.:{port}", "127.0.0.1.:{port}", "127.0.0.1:1", "localhost",
    "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:99999999",
    "[::1]:{port}", "0.0.0.0:{port}", "127.1:{port}", "127.0.0.2:{port}",
]  # fmt: skip


def asked_as(served: Served, *hosts: str, path: str = "/api/studies", version: str = "1.1") -> int:
    lines = "".join(f"Host: {host.format(port=served.port)}\r\n" for host in hosts)
    request = f"GET {path} HTTP/{version}\r\n{lines}Connection: close\r\n\r\n"
    return served.raw(request.encode("latin-1"))[0]


def test_our_own_names_are_answered(served: Served) -> None:
    for host in ("127.0.0.1:{port}", "localhost:{port}", "Localhost:{port}"):
        assert asked_as(served, host) == 200


@pytest.mark.parametrize("path", ["/", "/api/studies", "/openapi.json", "/nothing"])
@pytest.mark.parametrize("host", EVIL_HOSTS)
def test_a_host_that_is_not_ours_is_refused(served: Served, host: str, path: str) -> None:
    """Else a name of another site could be pointed at us, and its page would read studies."""
    assert asked_as(served, host, path=path) == 400


@pytest.mark.parametrize("host", HARMLESS_HOSTS)
def test_our_names_in_other_words_do_no_harm(served: Served, host: str) -> None:
    assert asked_as(served, host) in (200, 400)


def test_no_host_and_two_hosts_are_refused(served: Served) -> None:
    assert asked_as(served) == 400
    assert asked_as(served, version="1.0") == 400
    assert asked_as(served, "127.0.0.1:{port}", "evil.example") == 400
    assert asked_as(served, "evil.example", "127.0.0.1:{port}") == 400


def test_a_whole_address_does_not_hide_its_host(served: Served) -> None:
    """The address in the request line and the Host header must both be ours."""
    assert asked_as(served, "evil.example", path="http://127.0.0.1/api/studies") == 400
    status = asked_as(served, "127.0.0.1:{port}", path="http://evil.example/api/studies")
    assert status in (400, 404, 200)


def test_other_headers_do_not_stand_for_the_host(served: Served, at: str) -> None:
    headers = {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    answer = served.anyone.get(at.removeprefix("/api"), headers=headers)
    assert answer.status_code == 200
    assert "evil.example" not in answer.text
    wrong = {"Host": "evil.example", "X-Forwarded-Host": f"127.0.0.1:{served.port}"}
    refused(served.anyone.get("/api/studies", headers=wrong), 400, "evil.example", "--allow-host")


FOREIGN = ["http://evil.example", "null", "http://127.0.0.1:1",
           "http://127.0.0.1.evil.example:{port}", "http://localhost.evil.example", "evil",
           "http://127.0.0.1:{port}.evil.example", "file://", ""]  # fmt: skip


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_write_from_a_page_of_another_origin_is_refused(
    served: Served, at: str, origin: str
) -> None:
    """With the right token too: a browser that says where it comes from is believed."""
    with unchanged(served, at):
        headers = {"Origin": origin.format(port=served.port)}
        for call, body in WRITES.items():
            answer = served.client.post(f"{at}/{call}", json=body, headers=headers)
            if not origin and answer.status_code != 403:  # an empty one says nothing
                return
            refused(answer, 403, "origin")
            assert "access-control-allow-origin" not in answer.headers
        read = served.client.get(at, headers=headers)
        assert "access-control-allow-origin" not in read.headers


def test_a_write_from_our_own_page_is_taken(served: Served) -> None:
    made = create(served)
    headers = {"Origin": served.url}
    strict(served.client.post(f"{made}/ask", json={}, headers=headers))


def policy_of(answer: httpx.Response) -> dict[str, list[str]]:
    found = {}
    for rule in answer.headers["content-security-policy"].split(";"):
        key, *values = rule.split()
        found[key] = values
    return found


def test_pages_tell_browsers_what_they_may_not_do(served: Served, at: str) -> None:
    page = at.removeprefix("/api")
    for path in (*PAGES, page, f"{page}/pulls", "/nothing", "/studies/no-such"):
        answer = served.anyone.get(path)
        policy = policy_of(answer)
        assert policy["default-src"] in (["'none'"], ["'self'"]), path
        assert policy["frame-ancestors"] == ["'none'"]
        assert policy["base-uri"] in (["'none'"], ["'self'"])
        assert policy["form-action"] in (["'none'"], ["'self'"])
        words = [word for values in policy.values() for word in values]
        assert not [word for word in words if "unsafe" in word or "*" in word or "http" in word]
        assert policy.get("object-src", policy["default-src"]) in (["'none'"], ["'self'"])
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] in ("no-referrer", "same-origin")
        assert "no-store" in answer.headers["cache-control"]
        assert "set-cookie" not in answer.headers


def test_answers_are_never_taken_for_pages(served: Served, at: str) -> None:
    """Nor kept: they change with every pull."""
    for what in ("", "/recommend", "/export?format=csv", "/pulls", "/figures/map?format=svg"):
        answer = served.anyone.get(f"{at}{what}")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "no-store" in answer.headers["cache-control"]
    for path in ("/api/nothing", f"{at}/explain?arm=<script>alert(1)</script>"):
        answer = served.anyone.get(path)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-type"].startswith("application/problem+json")
    record = served.anyone.get(f"{at}/record")
    assert "script-src" not in policy_of(record) or policy_of(record)["script-src"] == ["'none'"]
    assert record.headers["x-content-type-options"] == "nosniff"
    drawn = served.anyone.get(f"{at}/figures/map?format=svg")
    assert policy_of(drawn)["default-src"] == ["'none'"]  # an image that is opened as a page


def test_a_table_that_is_taken_away_runs_nothing_in_a_spreadsheet(served: Served) -> None:
    arms = ["=1+1", "plain"]
    at = create(served, new_name("formulas"), arms=arms, metrics=["@weight"], budget=12)
    asked = served.client.post(f"{at}/ask", json={"n": 12}).json()["pulls"]
    for pull in asked:
        told = {"score": 1.0, "latency_ms": -2.0, "@weight": -3.0}
        body = {"pull": pull["pull"], "lease": pull["lease"], "metrics": told}
        assert served.client.post(f"{at}/tell", json=body).status_code == 200
    text = served.client.get(f"{at}/export?format=csv").text
    names, *rows = csv.reader(io.StringIO(text, newline=""))
    assert "'@weight" in names
    assert {row[1] for row in rows} == {"'=1+1", "plain"}
    assert {row[names.index("'@weight")] for row in rows} == {"-3.0"}
    document = served.client.get(f"{at}/export?format=json").json()
    assert set(document["arm"]) == set(arms)


def test_the_software_does_not_say_what_it_is(served: Served) -> None:
    assert "uvicorn" not in served.anyone.get("/").headers.get("server", "")


def test_an_address_that_others_reach_needs_a_token_of_ones_own(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    for host in ("0.0.0.0", "::"):
        done = serve_in_vain("--storage", storage, "--host", host)
        assert (done.code, done.out) == (2, ""), done
        for word in ("host", host, "token", "RINGFENCE_TOKEN"):
            assert word in done.err
        assert "Traceback" not in done.err


@pytest.mark.parametrize("token", ["short", "fifteen-letters", "", "with spaces in the midst"])
def test_a_token_that_is_none_is_refused(tmp_path: Path, token: str) -> None:
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    done = serve_in_vain("--storage", storage, "--host", "0.0.0.0", token=token)
    assert (done.code, done.out) == (2, ""), done
    assert "token" in done.err.lower()
    assert not token or token not in done.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--port", "99999"], ["port", "65535"]),
        (["--storage", "mysql://here/there"], ["mysql"]),
        (["--storage", "nowhere"], ["nowhere", "sqlite:///"]),
        (["--host", "no such host"], ["host", "no such host"]),
        (["--allow-host", "a/b"], ["allow-host", "a/b"]),
        (["--storage", "postgresql://nobody@127.0.0.1:1/none"], ["127.0.0.1"]),
    ],
)
def test_a_bad_option_gets_an_error_with_its_name_and_value(
    tmp_path: Path, options: list[str], words: list[str]
) -> None:
    if "--storage" not in options:
        options = ["--storage", f"sqlite:///{tmp_path / 'studies.db'}", *options]
    done = serve_in_vain(*options)
    assert done.code in (1, 2), done
    assert done.out == ""
    for word in words:
        assert word in done.err
    assert "Traceback" not in done.err


def test_a_port_that_is_taken_is_said_to_be(served: Served, tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    done = serve_in_vain("--storage", storage, "--port", served.port)
    assert done.code in (1, 2)
    assert done.out == ""
    assert str(served.port) in done.err
    assert "Traceback" not in done.err


def test_beyond_loopback_reading_needs_the_token_too(exposed: Served) -> None:
    with new_client(exposed.url) as stranger:
        for path in (
            "/api/studies", "/api/studies/kept", "/api/studies/kept/export?format=csv",
            "/api/studies/kept/record", "/api/studies/kept/figures/map", "/api/studies/no-such",
            "/api/studies/kept/events", "/openapi.json",
        ):  # fmt: skip
            answer = stranger.get(path)
            refused(answer, 401, "token")
            assert "www-authenticate" in answer.headers
        for path in ("/", "/studies/kept", "/studies/kept/pulls", "/plan", "/paper", "/docs",
                     "/studies/no-such", "//evil.example/x", "/studies/kept/what-if"):  # fmt: skip
            answer = stranger.get(path)
            assert answer.status_code in (401, 303), path
            assert answer.headers.get("location", "/").startswith("/")
            assert not answer.headers.get("location", "/").startswith("//")
            shown = stranger.get(path, follow_redirects=True)
            assert b"kept" not in shown.content
            assert b"warm" not in shown.content
        form = stranger.get("/", follow_redirects=True)
        assert 'type="password"' in form.text
        assert policy_of(form)["form-action"] == ["'self'"]
        for wrong in (TOKEN[:-1], "x", f"{TOKEN}x", "%ff", "x" * 5000):
            answer = stranger.get(f"/?token={wrong}")
            assert answer.status_code == 401
            assert "set-cookie" not in answer.headers
        with_header = {"Authorization": f"Bearer {TOKEN}"}
        assert strict(stranger.get("/api/studies", headers=with_header))["studies"]


def test_beyond_loopback_nobody_else_starts_work(exposed: Served) -> None:
    with new_client(exposed.url) as stranger:
        for path in ("/plan", "/paper"):
            answer = stranger.post(path, data={"source": "paper-1", "target": "0.1"})
            assert answer.status_code in (401, 303)
            assert answer.headers.get("location", "/token") == "/token"


def test_a_cookie_remembers_the_token_and_is_not_it(exposed: Served) -> None:
    with new_client(exposed.url) as visitor:
        answer = visitor.get("/", params={"token": TOKEN})
        assert answer.status_code in (302, 303)
        assert "token" not in answer.headers["location"]
        assert "no-store" in answer.headers["cache-control"]
        assert answer.headers["referrer-policy"] in ("no-referrer", "same-origin")
        cookie = SimpleCookie(answer.headers["set-cookie"])
        (one,) = cookie.values()
        assert one["httponly"]
        assert one["samesite"].lower() == "strict"
        assert one["path"] == "/"
        assert not one["domain"]
        assert TOKEN not in one.value
        assert len(one.value) >= 16
        for path in ("/", "/studies/kept", "/api/studies", "/api/studies/kept/recommend"):
            assert visitor.get(path, follow_redirects=True).status_code == 200
        for call, body in WRITES.items():
            refused(visitor.post(f"/api/studies/kept/{call}", json=body), 401, "token")
        refused(visitor.post("/api/studies", json=body_of("never")), 401)
        right = {"Authorization": f"Bearer {TOKEN}"}
        strict(visitor.post("/api/studies/kept/ask", json={}, headers=right))
    for forged in ("", one.value[:-1], one.value[:-1] + "~", "x" * len(one.value), TOKEN):
        with new_client(exposed.url) as forger:
            answer = forger.get("/api/studies", headers={"Cookie": f"{one.key}={forged}"})
            assert answer.status_code == 401


def test_the_form_of_the_page_takes_the_token(exposed: Served) -> None:
    """Sent as the form on the page sends it."""
    import re

    with new_client(exposed.url) as visitor:
        page = visitor.get("/", follow_redirects=True).text
        found = re.search(r"<form[^>]*>", page)
        assert found is not None
        assert 'method="post"' in found.group().lower(), "a token has no place in an address"
        action = re.search(r'action="([^"]*)"', found.group())
        field = re.search(r'<input[^>]*type="password"[^>]*>', page)
        assert field is not None
        name = re.search(r'name="([^"]*)"', field.group())
        assert name is not None
        target = action.group(1) if action else "/"
        own = {"Origin": exposed.url}
        wrong = visitor.post(target, data={name.group(1): "x" * 20}, headers=own)
        assert wrong.status_code == 401
        right = visitor.post(target, data={name.group(1): TOKEN}, headers=own)
        assert right.status_code == 303
        assert visitor.get("/").status_code == 200
        far = {"Origin": "http://evil.example"}
        answer = visitor.post(target, data={name.group(1): TOKEN}, headers=far)
        assert answer.status_code == 403


def test_beyond_loopback_hosts_are_checked_too(exposed: Served) -> None:
    assert asked_as(exposed, "evil.example") == 400
    assert asked_as(exposed, "127.0.0.1:{port}") == 401  # ours, and without a token


def test_a_password_in_the_storage_is_never_shown(postgres_server: Server, tmp_path: Path) -> None:
    """Neither on a page, nor in an error while the server is away, nor in what is logged."""
    secret = "a-geheimnis-of-the-tests"
    storage = postgres_server.new_place().replace("@", f":{secret}@", 1)
    with serve(storage, tmp_path) as running:
        create(running, "kept", budget=12)
        feed(running.client, "/api/studies/kept")
        paths = ("/", "/studies/kept", "/plan", "/api/studies", "/api/studies/kept/record")
        for path in paths:
            answer = running.client.get(path)
            assert answer.status_code == 200
            assert secret not in answer.text, path
        postgres_server.stop()
        try:
            for path in paths[:-1]:
                assert secret not in running.client.get(path).text, path
        finally:
            postgres_server.start()
        assert secret not in running.err


def test_further_names_can_be_allowed_and_a_drawn_token_is_shown(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    options = ("--allow-host", "studies.example", "--allow-host", "other.example")
    with serve(storage, tmp_path, *options, token=None) as running:
        assert len(running.token) >= 16
        for host in ("studies.example", "other.example", "studies.example:{port}"):
            assert asked_as(running, host) == 200
        assert asked_as(running, "evil.example") == 400
        assert asked_as(running, "x.studies.example") == 400
        create(running, "drawn")
        answers = [running.client.get(path) for path in ("/", "/studies/drawn", "/openapi.json")]
        assert all(running.token not in answer.text for answer in answers)


@pytest.mark.parametrize(
    ("sent", "codes"), [(signal.SIGINT, (0, 130)), (signal.SIGTERM, (0,))], ids=["INT", "TERM"]
)
def test_it_says_where_it_is_and_stops_when_told_with_streams_open(
    tmp_path: Path, sent: int, codes: tuple[int, ...]
) -> None:
    """In words, as people start it."""
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    with (tmp_path / "err").open("wb") as err:
        process = subprocess.Popen(
            serve_command("--storage", storage, "--port", 0),
            stdout=subprocess.PIPE, stderr=err, env=environment(TOKEN), text=True,
        )  # fmt: skip
    try:
        assert process.stdout is not None
        words = process.stdout.readline().split()
        assert words[0] == "page:"
        assert words[1].startswith("http://127.0.0.1:")
        second = process.stdout.readline().split()
        assert second == ["token:", "from", "RINGFENCE_TOKEN"]
        with new_client(words[1], TOKEN) as client:
            strict(client.post("/api/studies", json=body_of("followed")), 201)
            with client.stream("GET", "/api/studies/followed/events") as stream:
                assert stream.status_code == 200
                time.sleep(0.2)
                process.send_signal(sent)
                assert process.wait(timeout=5) in codes
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close() if process.stdout else None
    text = (tmp_path / "err").read_text("utf-8")
    assert "Traceback" not in text
    assert TOKEN not in text


def test_the_token_is_not_among_the_arguments_or_files(served: Served) -> None:
    """Others on the machine see arguments; the storage is shared."""
    arguments = Path(f"/proc/{served.process.pid}/cmdline").read_bytes()
    assert TOKEN.encode() not in arguments
    for path in Path(served.storage.removeprefix("sqlite:///")).parent.iterdir():
        if path.is_file() and os.access(path, os.R_OK):
            assert TOKEN.encode() not in path.read_bytes(), path
