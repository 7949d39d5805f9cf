"""The life of a study over HTTP, and that every answer is the one that Python gives."""

import csv
import io
import json
import math
import time
from dataclasses import asdict
from typing import Any

import httpx
import pytest

import ringfence as rf
from ringfence.reports.verdict import explanation, verdict_document
from tests.e2e.serving import (
    Served,
    body_of,
    create,
    evaluate,
    feed,
    new_name,
    refused,
    reported,
    strict,
    study_at,
)

ASKED = {"pull", "lease", "arm", "seed", "deadline", "keys", "ordinal", "item"}
LISTED = {"pull", "arm", "state", "lease", "metrics", "extras", "cost", "error", "round"}
KINDS = ("map", "timeline", "allocation", "evidence")
MAGIC = {"svg": b"<svg", "png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-"}
TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}


def plain(value: Any) -> Any:
    """Return a document as strict JSON holds it."""
    return json.loads(json.dumps(value, allow_nan=False))


def names(answer: httpx.Response) -> set[str]:
    return {one["name"] for one in strict(answer)["studies"]}


@pytest.fixture(scope="module")
def finished(served: Served) -> str:
    """A study whose budget is spent, with a failed pull in it."""
    at = create(served, policy="constrained-sr", budget=90, metrics=["latency_ms", "size"])
    asked = strict(served.client.post(f"{at}/ask", json={}))["pulls"][0]
    lease = {"pull": asked["pull"], "lease": asked["lease"]}
    strict(served.client.post(f"{at}/fail", json=lease | {"error": "out of memory"}))
    while pulls := strict(served.client.post(f"{at}/ask", json={"n": 30}))["pulls"]:
        told = [reported(pull, size=pull["seed"] % 5) for pull in pulls]
        strict(served.client.post(f"{at}/tell-many", json={"pulls": told}))
    return at


def test_a_study_lives_from_its_creation_to_its_verdict(anywhere: Served) -> None:
    client, name = anywhere.client, new_name()
    body = body_of(name, policy="top-two", budget=40, batch=4, retries=1, lease_seconds=30.0)
    body["arms"] = {"plain": {}, "warm": {"model": "x", "heat": 0.5}, "effusive": {"n": [1, 2]}}
    assert name not in names(client.get("/api/studies"))
    definition = strict(client.post("/api/studies", json=body), 201)
    at = f"/api/studies/{name}"
    assert strict(client.get(f"{at}/definition")) == definition
    for key in body.keys() - {"arms"}:
        assert definition[key] == body[key], key
    assert definition["metrics"] == ["score", "latency_ms"]
    assert strict(client.get("/api/studies"))["studies"][-1].keys() == {
        "name", "done", "in_flight", "budget", "unit", "spent", "finished", "stopped_at",
        "archived_at", "created_at",
    }  # fmt: skip
    assert name in names(client.get("/api/studies"))

    before = time.time()
    asked = strict(client.post(f"{at}/ask", json={"n": 4}))
    assert not asked["finished"]
    pulls = asked["pulls"]
    assert [pull["pull"] for pull in pulls] == [1, 2, 3, 4]
    for pull in pulls:
        assert pull.keys() == ASKED
        assert pull["lease"] == 1
        assert before + 29.0 < pull["deadline"] < time.time() + 31.0
        assert pull["keys"] == body["arms"][pull["arm"]]
    assert strict(client.get(at))["issued"] == 4

    said = reported(pulls[0])
    assert strict(client.post(f"{at}/tell", json=said | {"cost": 1.5}))["status"] == "told"
    for _ in range(2):
        again = strict(client.post(f"{at}/tell", json=said | {"cost": 1.5}))
        assert again == {"status": "already-told", "notes": []}
    assert strict(client.get(at))["told"] == 1

    time.sleep(0.01)
    longer = {"pull": pulls[1]["pull"], "lease": pulls[1]["lease"]}
    assert strict(client.post(f"{at}/extend", json=longer))["deadline"] > pulls[1]["deadline"]
    lost = longer | {"error": "no answer"}
    assert strict(client.post(f"{at}/fail", json=lost)) == {"status": "retry"}
    retried = strict(client.post(f"{at}/ask", json={"n": 1}))["pulls"][0]
    assert {key: retried[key] for key in ("pull", "arm", "seed")} == {
        key: pulls[1][key] for key in ("pull", "arm", "seed")
    }
    assert retried["lease"] > pulls[1]["lease"]
    lost = {"pull": retried["pull"], "lease": retried["lease"], "retry": False, "charge": False}
    assert strict(client.post(f"{at}/fail", json=lost)) == {"status": "failed"}

    rest = {"pulls": [reported(pull) for pull in pulls[2:]]}
    assert strict(client.post(f"{at}/tell-many", json=rest))["statuses"] == ["told", "told"]
    again = strict(client.post(f"{at}/tell-many", json=rest))
    assert again["statuses"] == ["already-told", "already-told"]
    raised = strict(client.post(f"{at}/budget", json={"budget": 44}))
    assert raised["budget"] == 44
    assert raised == strict(client.get(at))
    feed(client, at, at_once=4)
    assert strict(client.post(f"{at}/ask", json={"n": 5})) == {
        "pulls": [], "finished": True, "stopped": False
    }  # fmt: skip

    study = study_at(anywhere, at)
    assert strict(client.get(at)) == plain(asdict(study.status()))
    assert strict(client.get(f"{at}/recommend")) == plain(verdict_document(study.recommend()))
    assert strict(client.get(f"{at}/recommend"))["pulls_used"] == 44
    assert strict(client.get(f"{at}/recommend"))["arm"] == "warm"
    assert study.doctor().problems == ()
    listed = {one["name"]: one for one in strict(client.get("/api/studies"))["studies"]}[name]
    assert before - 5.0 < listed.pop("created_at") < time.time()
    assert listed == {
        "name": name, "done": 45, "in_flight": 0, "budget": 44, "unit": "pulls", "spent": 44,
        "finished": True, "stopped_at": None, "archived_at": None,
    }  # fmt: skip


def test_a_running_study_is_told_when_it_is_proven_enough(anywhere: Served) -> None:
    client, at = anywhere.client, create(anywhere, new_name(), budget=30)
    assert feed(client, at, 6) == 6
    body = {"confidence": 0.95}
    refused(anywhere.anyone.post(f"{at}/stop-when", json=body), 401)
    assert strict(client.post(f"{at}/stop-when", json=body)) == {"status": "set"}
    assert strict(client.post(f"{at}/stop-when", json=body)) == {"status": "unchanged"}
    assert strict(client.get(at))["stop"] == {"confidence": 0.95, "within": 0.0}
    looser = {"confidence": 0.9, "within": 0.1}
    refused(client.post(f"{at}/stop-when", json=looser), 422, "Say why in a note")
    refused(client.post(f"{at}/stop-when", json={"confidence": 95}), 422, "Write 0.95 for 95%")
    noted = {**looser, "note": "a first look"}
    assert strict(client.post(f"{at}/stop-when", json=noted)) == {"status": "set"}
    assert strict(client.get(at))["stop"] == looser
    assert study_at(anywhere, at).doctor().problems == ()


def test_a_study_is_stopped_put_away_and_taken_up_again(anywhere: Served) -> None:
    client, at = anywhere.client, create(anywhere, new_name(), budget=30)

    def say(act: str) -> str:
        return str(strict(client.post(f"{at}/{act}", json={}))["status"])

    def listed(**wanted: str) -> bool:
        found = strict(client.get("/api/studies", params=wanted))["studies"]
        return at.rpartition("/")[2] in {one["name"] for one in found}

    assert feed(client, at, 6) == 6
    refused(client.post(f"{at}/archive", json={}), 422, "is not over", "Stop it first")
    refused(anywhere.anyone.post(f"{at}/stop", json={}), 401)
    assert (say("stop"), say("stop")) == ("stopped", "already-stopped")
    gone = {"pulls": [], "finished": True, "stopped": True}
    assert strict(client.post(f"{at}/ask", json={"n": 3})) == gone
    status = strict(client.get(at))
    assert (status["finished"], status["archived_at"]) == (False, None)
    assert status["stopped_at"] == pytest.approx(time.time(), abs=60.0)
    assert (say("archive"), listed(), listed(archived="true")) == ("archived", False, True)
    assert (say("unarchive"), listed(), say("unarchive")) == ("unarchived", True, "already-listed")
    assert (say("resume"), say("resume")) == ("resumed", "already-running")
    feed(client, at)
    assert strict(client.get(at))["finished"]
    assert study_at(anywhere, at).doctor().problems == ()


def test_the_course_is_the_one_that_python_takes(anywhere: Served) -> None:
    """The same seed and the same evaluations give the same pulls, and the same verdict."""
    body = body_of(new_name(), policy="top-two", batch=3, budget=36)
    at = create(anywhere, **body)
    feed(anywhere.client, at, at_once=3)
    beside = rf.Study.create(**body, storage="memory://")
    beside.optimize(evaluate)
    assert study_at(anywhere, at).observations() == beside.observations()
    over_http = strict(anywhere.client.get(f"{at}/recommend"))
    assert over_http == plain(verdict_document(beside.recommend()))


def test_a_definition_is_the_one_that_is_stored(served: Served, finished: str) -> None:
    definition = strict(served.client.get(f"{finished}/definition"))
    stored = plain(study_at(served, finished).definition.to_dict())
    assert {key: definition[key] for key in stored.keys() - {"arms"}} == {
        key: stored[key] for key in stored.keys() - {"arms"}
    }
    arms = definition["arms"]
    assert arms in (stored["arms"], dict(stored["arms"]))


def test_a_study_of_the_same_name_is_loaded_if_it_is_the_same(served: Served) -> None:
    at = create(served)
    feed(served.client, at, 6)
    body = body_of(at.rpartition("/")[2], load_if_exists=True)
    loaded = strict(served.client.post("/api/studies", json=body))
    assert loaded == strict(served.client.get(f"{at}/definition"))
    assert strict(served.client.get(at))["told"] == 6
    fresh = body_of(new_name(), load_if_exists=True)
    strict(served.client.post("/api/studies", json=fresh), 201)


def test_noise_is_stated_kept_and_held_to_as_in_python(served: Served) -> None:
    noise = {"score": {"bounds": [0, 2]}, "latency_ms": {"sigma": 12, "bounds": [0, 300]}}
    body = body_of(new_name(), policy="top-two", batch=3, budget=36, noise=noise)
    at = create(served, **body)
    kept = {"score": {"bounds": [0.0, 2.0]}, "latency_ms": {"sigma": 12.0, "bounds": [0.0, 300.0]}}
    assert strict(served.client.get(f"{at}/definition"))["noise"] == kept
    pulls = strict(served.client.post(f"{at}/ask", json={"n": 2}))["pulls"]
    before = strict(served.client.get(at)), strict(served.client.get(f"{at}/pulls"))
    out = reported(pulls[1])
    out["metrics"]["latency_ms"] = 300.5
    words = "metric 'latency_ms' = 300.5 lies outside its stated bounds [0, 300]"
    refused(served.client.post(f"{at}/tell", json=out), 422, words, "failed")
    both = {"pulls": [reported(pulls[0]), out]}
    refused(served.client.post(f"{at}/tell-many", json=both), 422, "row 1", words)
    assert (strict(served.client.get(at)), strict(served.client.get(f"{at}/pulls"))) == before
    served.client.post(f"{at}/tell-many", json={"pulls": [reported(pull) for pull in pulls]})
    feed(served.client, at, at_once=3)
    beside = rf.Study.create(**body, storage="memory://")
    beside.optimize(evaluate)
    wanted = plain(verdict_document(beside.recommend()))
    assert strict(served.client.get(f"{at}/recommend")) == wanted
    assert study_at(served, at).doctor().problems == ()
    again = strict(served.client.post("/api/studies", json=body | {"load_if_exists": True}))
    assert again["noise"] == kept


def test_a_time_out_counts_as_was_stated_and_an_open_end_is_null(served: Served) -> None:
    """Ten pulls an arm; of effusive's every second times out."""
    slow = {"score": 0.0, "latency_ms": 9000.0}
    limits = ["p95(latency_ms) <= 200", "mean(failed) <= 0.3"]
    stated: dict[str, Any] = {"constraints": limits, "budget": 30, "batch": 30, "max_failures": 9}
    found = {}
    for on_timeout in (slow, {}):
        at = create(served, **stated, on_timeout=on_timeout)
        pulls = strict(served.client.post(f"{at}/ask", json={"n": 30}))["pulls"]
        late = [pull for pull in pulls if pull["arm"] == "effusive"][::2]
        for pull in pulls:
            lease = {"pull": pull["pull"], "lease": pull["lease"]}
            if pull in late:
                answer = served.client.post(f"{at}/fail", json=lease | {"timed_out": True})
            else:
                answer = served.client.post(f"{at}/tell", json=reported(pull))
            strict(answer)
        verdict = strict(served.client.get(f"{at}/recommend"))
        found[bool(on_timeout)] = {arm["name"]: arm for arm in verdict["arms"]}
        assert 0.0 <= verdict["chance_keeps_limits"] <= verdict["chance_feasible"] <= 1.0
        assert sum(arm["chance_best"] for arm in verdict["arms"]) == pytest.approx(1.0)
    for was_told, arms in found.items():
        assert arms["warm"]["estimates"]["p95(latency_ms)"]["high"] is None
        assert [arms[name]["failed"] for name in ("plain", "warm", "effusive")] == [0, 0, 5]
        effusive = arms["effusive"]
        assert effusive["estimates"]["mean(failed)"]["value"] == pytest.approx(0.5)
        assert effusive["chance_feasible"] < 0.1 < arms["warm"]["chance_feasible"]
        quantile = effusive["estimates"]["p95(latency_ms)"]["value"]
        assert (effusive["untold"], quantile == 9000.0) == (0 if was_told else 5, was_told)


def test_what_is_left_out_has_the_values_of_python(served: Served) -> None:
    body = body_of(new_name())
    del body["seed"], body["policy"]
    definition = strict(served.client.post("/api/studies", json=body), 201)
    expected = {"policy": "top-two", "batch": 1, "lease_seconds": 600.0, "retries": 0}
    assert {key: definition[key] for key in expected} == expected
    assert definition["max_failures"] == 3
    assert definition["noise"] == {}
    assert isinstance(definition["seed"], int)


def test_a_lag_lets_so_many_pulls_be_open(served: Served) -> None:
    """As in Python: the oldest that is open says how far decisions go."""
    at = create(served, policy="top-two", lag=7, budget=60)
    assert strict(served.client.get(f"{at}/definition"))["lag"] == 7
    first = strict(served.client.post(f"{at}/ask", json={"n": 100}))["pulls"]
    told = [reported(pull) for pull in first]
    strict(served.client.post(f"{at}/tell-many", json={"pulls": told}))
    given = strict(served.client.post(f"{at}/ask", json={"n": 100}))["pulls"]
    assert len(given) == 7
    for pull in given[1:]:
        strict(served.client.post(f"{at}/tell", json=reported(pull)))
    assert strict(served.client.post(f"{at}/ask", json={"n": 100}))["pulls"] == []
    strict(served.client.post(f"{at}/tell", json=reported(given[0])))
    feed(served.client, at, at_once=3)
    assert study_at(served, at).doctor().is_sound


def test_explanations_are_those_of_the_command(served: Served, finished: str) -> None:
    verdict = study_at(served, finished).recommend()
    assert strict(served.client.get(f"{finished}/explain")) == plain(explanation(verdict))
    for arm in ("plain", "warm", "effusive"):
        one = strict(served.client.get(f"{finished}/explain", params={"arm": arm}))
        assert one == plain(explanation(verdict, arm))


@pytest.mark.parametrize("threshold", [60.0, 100.0, 121.5, 190.0, 200.0, 255.0, 300.0])
def test_another_threshold_gives_the_verdict_of_a_study_that_has_it(
    served: Served, threshold: float
) -> None:
    """Under uniform pulls the course does not depend on it, so that a second study can tell."""
    at = create(served, new_name("asked"), budget=30)
    feed(served.client, at)
    limit = f"mean(latency_ms) <= {threshold:g}"
    other = create(served, new_name("had"), budget=30, constraints=[limit])
    feed(served.client, other)
    had = strict(served.client.get(f"{other}/recommend"))
    before = strict(served.client.get(f"{at}/recommend"))
    found = strict(
        served.client.get(f"{at}/what-if", params={"constraint": 0, "threshold": threshold})
    )
    assert found["exploratory"] is True
    for key in ("arm", "feasible", "verdict", "confidence", "chance_feasible"):
        assert found[key] == had[key], key
    assert [flip["threshold"] for flip in found["flips"]] == [
        flip["threshold"] for flip in had["flips"]
    ]
    assert strict(served.client.get(f"{at}/recommend")) == before


def test_a_threshold_that_excludes_an_arm_is_shown_as_beyond_its_value(
    served: Served, finished: str
) -> None:
    verdict = strict(served.client.get(f"{finished}/recommend"))
    (flip,) = (flip for flip in verdict["flips"] if flip["beyond"] is not None)
    assert flip["beyond"] == math.nextafter(flip["threshold"], math.inf)
    page = finished.removeprefix("/api")
    where = {"constraint": "0", "threshold": repr(flip["threshold"])}
    shown = served.client.get(f"{page}/what-if", params=where).text
    assert f"With a threshold just below {flip['beyond']:.4g} for " in shown
    assert f"The answer changes below a threshold of {flip['beyond']:.4g}: " in shown
    where["threshold"] = "150"
    shown = served.client.get(f"{page}/what-if", params=where).text
    assert "With mean(latency_ms) &lt;= 150: " in shown
    assert "Break-even below <button" in served.client.get(page).text


def test_beyond_its_break_even_threshold_the_answer_is_another_one(
    served: Served, finished: str
) -> None:
    verdict = strict(served.client.get(f"{finished}/recommend"))
    assert {flip["answer"] for flip in verdict["flips"]} >= {"effusive"}
    for flip in verdict["flips"]:
        asked = {"constraint": 0, "threshold": flip["threshold"]}
        found = strict(served.client.get(f"{finished}/what-if", params=asked))
        assert found["feasible"] == (flip["answer"] is not None)
        if found["feasible"]:
            assert found["arm"] == flip["answer"]


def test_observations_are_exported_as_python_has_them(served: Served, finished: str) -> None:
    from pyarrow import parquet

    columns = study_at(served, finished).observations()
    assert list(columns) == ["pull", "arm", "seed", "score", "latency_ms", "size"]
    answer = served.client.get(f"{finished}/export", params={"format": "csv"})
    assert answer.headers["content-type"].partition(";")[0] == "text/csv"
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert list(rows[0]) == list(columns)
    assert [row["arm"] for row in rows] == columns["arm"]
    for metric in ("score", "latency_ms", "size"):
        assert [float(row[metric]) for row in rows] == columns[metric]
    assert [int(row["seed"]) for row in rows] == columns["seed"]
    answer = served.client.get(f"{finished}/export", params={"format": "parquet"})
    assert answer.headers["content-type"] == "application/vnd.apache.parquet"
    assert parquet.read_table(io.BytesIO(answer.content)).to_pydict() == columns
    answer = served.client.get(f"{finished}/export", params={"format": "json"})
    assert strict(answer) == columns
    assert (
        served.client.get(f"{finished}/export").text
        == served.client.get(f"{finished}/export?format=csv").text
    )


def test_a_csv_cell_is_never_a_formula_by_accident_of_encoding(served: Served) -> None:
    """Names with commas, quotes and other alphabets read back as they were."""
    arms = ["a,b", 'say "so"', "größer 漢字", "=1+1", " "]
    arms[-1] = "x y"
    at = create(served, arms=arms, budget=20)
    feed(served.client, at)
    text = served.client.get(f"{at}/export?format=csv").content.decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {row["arm"].lstrip("'") for row in rows} == set(arms)


def test_the_record_is_the_one_that_the_command_writes(served: Served, finished: str) -> None:
    study = study_at(served, finished)
    answer = served.client.get(f"{finished}/record")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.text == study.record()


@pytest.mark.parametrize("kind", KINDS)
def test_charts_come_in_every_format_and_theme(served: Served, finished: str, kind: str) -> None:
    at = f"{finished}/figures/{kind}"
    light, dark = (
        strict(served.client.get(at, params={"format": "json", "theme": theme}))
        for theme in ("light", "dark")
    )
    assert "vega-lite" in light["$schema"]
    assert light != dark
    assert strict(served.client.get(at)) == light
    text = json.dumps(light)
    assert "effusive" in text
    assert '"url"' not in text  # nothing is loaded from elsewhere
    drawn = {}
    for form in ("svg", "png"):
        answer = served.client.get(at, params={"format": form})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].partition(";")[0] == TYPES[form]
        assert answer.content.startswith(MAGIC[form])
        drawn[form] = answer
    assert "<script" not in drawn["svg"].text


def test_a_chart_can_be_printed(served: Served, finished: str) -> None:
    answer = served.client.get(f"{finished}/figures/map", params={"format": "pdf"})
    assert answer.headers["content-type"] == TYPES["pdf"]
    assert answer.content.startswith(MAGIC["pdf"])


def test_pulls_are_listed_the_latest_first_a_page_at_a_time(served: Served, finished: str) -> None:
    at = f"{finished}/pulls"
    everything = strict(served.client.get(at, params={"limit": 1000}))["pulls"]
    count = strict(served.client.get(finished))
    assert len(everything) == count["told"] + count["failed"] <= 90
    numbers = [pull["pull"] for pull in everything]
    assert numbers == sorted(numbers, reverse=True)
    assert len(strict(served.client.get(at))["pulls"]) == 50
    paged: list[Any] = []
    before: dict[str, int] = {}
    while page := strict(served.client.get(at, params={"limit": 7, **before}))["pulls"]:
        assert len(page) <= 7
        paged += page
        before = {"before": page[-1]["pull"]}
    assert paged == everything
    columns = study_at(served, finished).observations()
    told = {pull["pull"]: pull for pull in everything if pull["state"] == "told"}
    assert sorted(told) == columns["pull"]
    for place, number in enumerate(columns["pull"]):
        pull = told[number]
        assert pull.keys() == LISTED
        assert pull["arm"] == columns["arm"][place]
        assert pull["metrics"] == {
            metric: columns[metric][place] for metric in ("score", "latency_ms", "size")
        }
    failed = [pull for pull in everything if pull["state"] == "failed"]
    assert [(pull["pull"], pull["error"], pull["metrics"]) for pull in failed] == [
        (1, "out of memory", None)
    ]


def test_further_numbers_are_kept_and_the_rest_is_noted(served: Served) -> None:
    at = create(served)
    pulls = strict(served.client.post(f"{at}/ask", json={"n": 3}))["pulls"]
    first, second, third = (reported(pull) for pull in pulls)
    first["metrics"] |= {"kWh": 0.5, "trace": "abc", "stack": [1], "on": None}
    said = strict(served.client.post(f"{at}/tell", json=first))
    assert said["status"] == "told"
    assert [note.split(" ")[0] for note in said["notes"]] == ["'trace'", "'stack'", "'on'"]
    second["metrics"] |= {"tokens": 812, "kWh": {"value": 1}}
    many = strict(served.client.post(f"{at}/tell-many", json={"pulls": [second, third]}))
    assert many["statuses"] == ["told", "told"]
    assert many["notes"] == ["'kWh' is no finite number, and was not recorded"]
    rows = strict(served.client.get(f"{at}/pulls"))["pulls"]
    assert [row["extras"] for row in rows] == [None, {"tokens": 812.0}, {"kWh": 0.5}]
    table = served.client.get(f"{at}/export").text.splitlines()
    assert table[0].split(",")[-2:] == ["kWh", "tokens"]
    assert [line.split(",")[-2:] for line in table[1:]] == [["0.5", ""], ["", "812.0"], ["", ""]]


def test_a_pull_is_lost_and_an_arm_comes_back(served: Served) -> None:
    at = create(served, max_failures=1)
    lost, *others = strict(served.client.post(f"{at}/ask", json={"n": 4}))["pulls"]
    held = {key: lost[key] for key in ("pull", "lease")}
    for word in ("lost", "already-lost"):
        assert strict(served.client.post(f"{at}/lost", json=held)) == {"status": word}
    stands = strict(served.client.get(at))
    assert (stands["failed"], stands["lost"], lost["arm"] in stands["alive"]) == (0, 1, True)
    broke = others[0]
    served.client.post(f"{at}/fail", json={key: broke[key] for key in ("pull", "lease")})
    for word in ("revived", "already-in-the-running"):
        said = served.client.post(f"{at}/revive", json={"arm": broke["arm"]})
        assert strict(said) == {"status": word}
    assert served.client.post(f"{at}/revive", json={"arm": "nobody"}).status_code == 422
    assert served.client.post(f"{at}/revive", json={}).status_code == 422


def test_costs_and_leases_are_listed_with_their_pulls(served: Served) -> None:
    at = create(served)
    pulls = strict(served.client.post(f"{at}/ask", json={"n": 2}))["pulls"]
    strict(served.client.post(f"{at}/tell", json=reported(pulls[0]) | {"cost": 0.25}))
    second, first = strict(served.client.get(f"{at}/pulls"))["pulls"]
    assert (first["state"], first["cost"], first["lease"]) == ("told", 0.25, 1)
    assert (second["state"], second["cost"], second["metrics"]) == ("issued", None, None)


def test_a_lease_that_ran_out_is_issued_again_and_the_old_one_is_refused(
    anywhere: Served,
) -> None:
    at = create(anywhere, lease_seconds=0.2)
    first = strict(anywhere.client.post(f"{at}/ask", json={}))["pulls"][0]
    time.sleep(0.3)
    second = strict(anywhere.client.post(f"{at}/ask", json={}))["pulls"][0]
    same = ("pull", "arm", "seed")
    assert [first[key] for key in same] == [second[key] for key in same]
    assert second["lease"] == first["lease"] + 1
    late = anywhere.client.post(f"{at}/tell", json=reported(first))
    assert late.status_code == 409
    assert strict(anywhere.client.post(f"{at}/tell", json=reported(second)))["status"] == "told"
    # The same values are the same observation, whoever brings them.
    again = anywhere.client.post(f"{at}/tell", json=reported(first))
    assert strict(again)["status"] == "already-told"


def test_an_answer_that_was_lost_is_asked_for_again(anywhere: Served) -> None:
    """A client that leaves before its answer has told all the same, and once."""
    at = create(anywhere)
    pull = strict(anywhere.client.post(f"{at}/ask", json={}))["pulls"][0]
    body = json.dumps(reported(pull)).encode()
    import socket

    with socket.create_connection(("127.0.0.1", anywhere.port), timeout=5) as line:
        line.sendall(
            f"POST {at}/tell HTTP/1.1\r\nHost: 127.0.0.1:{anywhere.port}\r\n"
            f"Authorization: Bearer {anywhere.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
    end = time.monotonic() + 5
    while strict(anywhere.client.get(at))["told"] == 0 and time.monotonic() < end:
        time.sleep(0.02)
    again = strict(anywhere.client.post(f"{at}/tell", json=reported(pull)))
    assert again["status"] == "already-told"
    assert strict(anywhere.client.get(at))["told"] == 1


def test_withdrawn_arms_and_studies_without_an_answer_are_told_as_they_are(
    served: Served,
) -> None:
    at = create(served, arms=["one", "two"], budget=12, max_failures=2)
    while pulls := strict(served.client.post(f"{at}/ask", json={"n": 4}))["pulls"]:
        for pull in pulls:
            if pull["arm"] == "one":
                strict(served.client.post(f"{at}/tell", json=reported(pull)))
            else:
                lease = {"pull": pull["pull"], "lease": pull["lease"]}
                strict(served.client.post(f"{at}/fail", json=lease))
    study = study_at(served, at)
    assert strict(served.client.get(f"{at}/recommend")) == plain(
        verdict_document(study.recommend())
    )
    assert strict(served.client.get(f"{at}/recommend"))["arm"] == "one"
    for kind in KINDS:
        strict(served.client.get(f"{at}/figures/{kind}"))
    assert served.anyone.get(at.removeprefix("/api")).status_code == 200
    listed = strict(served.client.get(f"{at}/pulls"))["pulls"]
    states = [pull["state"] for pull in listed]
    brief = {one["name"]: one for one in strict(served.client.get("/api/studies"))["studies"]}
    assert brief[at.rpartition("/")[2]]["done"] == len(states)
    assert set(states) == {"told", "failed", "cancelled"}


@pytest.mark.parametrize("told", [0, 1, 3, 5])
def test_a_study_that_has_hardly_begun_can_be_looked_at(served: Served, told: int) -> None:
    at = create(served)
    feed(served.client, at, told, at_once=1)
    status = strict(served.client.get(at))
    assert (status["told"], status["finished"]) == (told, False)
    assert status == plain(asdict(study_at(served, at).status()))
    for page in ("", "/pulls"):
        assert served.anyone.get(at.removeprefix("/api") + page).status_code == 200
    for kind in KINDS:
        assert served.client.get(f"{at}/figures/{kind}").status_code in (200, 404, 409, 422)
    answers = [served.client.get(f"{at}/{what}").status_code for what in ("recommend", "record")]
    assert answers == [200, 200] if status["arm"] else set(answers) <= {409, 422}


def test_a_study_whose_arms_all_failed_says_why_on_its_page(served: Served) -> None:
    at = create(served, policy="uniform", max_failures=1)
    while pulls := strict(served.client.post(f"{at}/ask", json={"n": 1}))["pulls"]:
        failed = {"pull": pulls[0]["pull"], "lease": pulls[0]["lease"], "error": "no <disk>\nleft"}
        strict(served.client.post(f"{at}/fail", json=failed))
    page = served.client.get(at.removeprefix("/api"))
    assert "(the last error: no &lt;disk&gt; ... left)" in page.text
    assert "begin a study of another name" in page.text
