"""Which arms are all feasible, from a file, over HTTP and on the page."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.browsing import Tab
from tests.e2e.command_line import ringfence
from tests.e2e.serving import Served, body_of, create, feed, new_name, refused, strict
from tests.e2e.test_page import address, verdict_on
from tests.e2e.test_study_commands import document, write_study

ALL = "all feasible"
POLICIES = ("constrained-sr", "uniform", "top-two", "apt")


@pytest.mark.parametrize(
    ("limit", "code", "word", "named"),
    [
        ("mean(risk) <= 0.6", 0, "feasible", ["solid", "dear"]),
        ("mean(risk) <= -1", 3, "infeasible", []),
        ("mean(risk) <= 0.3", 4, "too-close-to-call", None),
    ],
)
@pytest.mark.parametrize("policy", ["constrained-sr", "apt"])
def test_exit_codes_tell_the_verdict_on_a_set(
    tmp_path: Path, limit: str, code: int, word: str, named: list[str] | None, policy: str
) -> None:
    file = write_study(tmp_path, constraints=[limit], answer=ALL, policy=policy, budget=40)
    assert ringfence("run", str(file), "--record", str(tmp_path / "record.html")).code == code
    done = ringfence("recommend", str(file), "--json")
    verdict = document(done)
    assert (done.code, verdict["verdict"]) == (code, word)
    assert named is None or verdict["answer"] == named
    assert verdict["arm"] == (verdict["answer"] or [None])[0]
    assert verdict["feasible"] == bool(verdict["answer"])
    reasons = {arm["name"]: arm["reason"] for arm in verdict["arms"]}
    assert "rejected" not in str(reasons)
    assert ("settled by constrained-sr" in str(reasons)) == (policy == "constrained-sr")
    assert ringfence("explain", str(file), "solid").code == 0
    assert ringfence("doctor", str(file)).code == 0
    for kind in ("map", "timeline", "allocation", "evidence"):
        picture = tmp_path / f"{kind}.svg"
        assert ringfence("figure", str(file), "--kind", kind, "--output", str(picture)).code == 0


def test_a_study_does_not_go_on_with_another_answer(tmp_path: Path) -> None:
    assert ringfence("run", str(write_study(tmp_path, answer=ALL))).code == 0
    done = ringfence("run", str(write_study(tmp_path)))
    assert done.code == 2
    assert "another answer: it has 'all feasible', now given 'best feasible'" in done.err


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answer": "all feasibel"}, "answer = 'all feasibel' must be one of best feasible, all"),
        ({"answer": ALL, "policy": "thompson"}, "Use one of constrained-sr, uniform, top-two, apt"),
        ({"policy": "apt"}, "policy = 'apt' is not for answer = 'best feasible'"),
        ({"answer": 3}, "answer = 3 must be text in quotes"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    done = ringfence("run", str(write_study(tmp_path, **changes)))
    assert done.code == 2
    assert said in done.err.replace("\n", " ")
    assert not (tmp_path / "trial.db").exists()


def test_a_new_file_says_how_to_ask_for_a_set(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    assert ringfence("init", str(path)).code == 0
    line = f'answer = "{ALL}"'
    assert f"# {line}\n" in path.read_text("utf-8")
    assert tomllib.loads(path.read_text("utf-8").replace(f"# {line}", line))["answer"] == ALL


def test_commands_ask_instances_for_sets() -> None:
    asked = ("--answer", ALL, "--json")
    few = ("--replications", "400", *asked)
    one = document(ringfence("simulate", "paper-3", "--policy", "apt", "--budget", "300", *few))
    assert one["wrong_arm"] == one["errors"] < 400
    assert sum(count["feasible"] for count in one["chosen"].values()) > 400  # several at a time
    rows = document(ringfence("compare", "paper-4", "--budgets", "300", *few))["rows"]
    assert [row["policy"] for row in rows] == list(POLICIES)
    plan = document(ringfence("plan", "paper-4", "--target-error", "0.2", "--brief", *asked))
    assert plan["error_rate"] <= 0.2
    assert [point["upper_bound"] for point in plan["curve"]] == [None] * len(plan["curve"])
    assert all("against the threshold" in hard["what"] for hard in plan["hardest"])
    done = ringfence("compare", "--family", "uniform", "--answer", ALL)
    assert (done.code, "--answer goes with instances" in done.err) == (2, True)
    rare = ("--method", "importance", "--budget", "9000")
    done = ringfence("simulate", "paper-4", *rare, *asked)
    assert (done.code, "is for answer = 'best feasible'" in done.err) == (2, True)


def test_gaps_of_a_set_are_those_of_its_arms(tmp_path: Path) -> None:
    path = tmp_path / "three.toml"
    path.write_text(
        'objective = "minimize mean(a)"\nconstraints = ["mean(b) <= 0"]\nanswer = "all feasible"\n'
        'metrics = ["a", "b"]\n[noise]\nfamily = "gaussian"\ncovariance = [[1, 0], [0, 1]]\n'
        "[arms]\nx = { mean = [1.0, 0.4] }\ny = { mean = [0.0, 0.2] }\n",
        encoding="utf-8",
    )
    found = document(ringfence("gaps", str(path), "--budget", "100", "--json"))
    assert (found["answer"], found["optimal"], found["feasible"]) == (ALL, None, False)
    assert found["upper_bound"] is None
    assert found["lower_bound_rate"] is None
    assert found["policy_rates"].keys() == {"constrained-sr", "uniform"}
    assert "Arms that keep their limits: none." in ringfence("gaps", str(path)).out


def test_a_set_is_asked_for_over_http_and_shown_on_the_page(served: Served, tab: Tab) -> None:
    at = create(served, new_name("sets"), answer=ALL, policy="constrained-sr", budget=93)
    assert strict(served.client.get(f"{at}/definition"))["answer"] == ALL
    feed(served.client, at)
    verdict = strict(served.client.get(f"{at}/recommend"))
    assert (verdict["answer"], verdict["arm"]) == (["plain", "warm"], "warm")
    assert {arm["cause"] for arm in verdict["arms"]} == {None, "settled"}
    assert strict(served.client.get(f"{at}/explain"))["arms"]
    moved = strict(served.client.get(f"{at}/what-if?constraint=0&threshold=50"))
    assert (moved["answer"], moved["arm"], moved["feasible"]) == ([], None, False)
    body = body_of(new_name(), answer="some")
    refused(served.client.post("/api/studies", json=body), 422, "answer", "best feasible")
    page = tab.page
    page.goto(address(served, at))
    expect(verdict_on(page)).to_contain_text("2 arms keep their limits: plain and warm")
    expect(page.locator("#cards")).to_contain_text("settled")
    page.goto(address(served, at, "/what-if?constraint=0&threshold=50"))
    expect(page.locator("main")).to_contain_text("no arm keeps its limits")
    assert json.dumps(verdict)
