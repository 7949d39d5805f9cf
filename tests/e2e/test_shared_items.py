"""Items from a file to the last observation: over the command line, and over HTTP."""

import json
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from tests.e2e.command_line import ringfence
from tests.e2e.serving import Served, body_of, new_name, refused, strict

QUESTIONS = [{"text": f"What is {n} + {n}?", "document": n // 4, "n": n} for n in range(24)]
STUDY = """\
name = "s"
objective = "maximize mean(right)"
constraints = ["mean(seconds) <= 9"]
budget = 200
policy = "top-two"
seed = 5
[arms]
small = {{ depth = 1 }}
large = {{ depth = 3 }}
[pull]
{pull}
retries = 1
[blocks]
items = "questions.jsonl"
{blocks}
"""
PROGRAM = """\
import json, pathlib, sys
arm, depth, item, seed = sys.argv[1:]
item = json.loads(item)
with open("seen", "a") as seen:
    seen.write(json.dumps([arm, item]) + "\\n")
once = pathlib.Path(f"failed-{arm}-{item['n']}")
if item["n"] % 5 == 0 and not once.exists():
    once.touch()
    sys.exit("the first try of every fifth fails")
print(json.dumps({"right": (item["n"] + int(depth)) % 3 > 0, "seconds": item["n"] % 7}))
"""
MODULE = """\
def evaluate(arm, item, keys, ordinal):
    assert item["text"] == f"What is {item['n']} + {item['n']}?"
    return {"right": (item["n"] + keys["depth"]) % 3 > 0, "seconds": item["n"] % 7}
"""
WORDS = '"it.py", "{arm}", "{depth}", "{item}", "{seed}"'
COMMAND = f'command = ["{sys.executable}", "-IS", {WORDS}]'
PYTHON = 'python = "answering:evaluate"'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study's folder with its items and both ways to evaluate them."""
    lines = [json.dumps(one) + "\n" for one in QUESTIONS]
    (tmp_path / "questions.jsonl").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "it.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "answering.py").write_text(MODULE, encoding="utf-8")
    return tmp_path


def file_in(folder: Path, pull: str, blocks: str = "") -> Path:
    path = folder / "s.toml"
    path.write_text(STUDY.format(pull=pull, blocks=blocks), encoding="utf-8")
    return path


def test_a_program_and_a_function_are_run_on_every_item(folder: Path) -> None:
    verdicts = []
    for pull in (COMMAND, PYTHON):
        file = file_in(folder, pull)
        place = ["--storage", f"sqlite:///{folder / pull[:6]}.db"]
        done = ringfence("run", file, "--workers", 3, "--json", *place)
        assert done.code in (0, 4), done.err
        verdicts.append(done.document)
        status = ringfence("status", file, "--json", *place).document
        assert (status["told"], status["failed"], status["finished"]) == (48, 0, True)
        assert status["blocks"] == {
            "items": 24, "scope": "such", "repeats": 1, "exhausted": ["small", "large"]
        }  # fmt: skip
        assert "all items were seen by small, large" in ringfence("status", file, *place).out
        doctor = ringfence("doctor", file, "--json", *place)
        assert (doctor.code, doctor.document["problems"]) == (0, [])
        table = folder / "out.csv"
        ringfence("export", file, "--output", table, *place)
        rows = [line.split(",") for line in table.read_text().splitlines()]
        arm, item = rows[0].index("arm"), rows[0].index("item")
        assert Counter((row[arm], row[item]) for row in rows[1:]) == {
            (name, str(number)): 1 for name in ("small", "large") for number in range(24)
        }
    assert verdicts[0] == verdicts[1]
    seen = [json.loads(line) for line in (folder / "seen").read_text().splitlines()]
    assert all(item in QUESTIONS for _, item in seen)
    tries = Counter((arm, item["n"]) for arm, item in seen)
    assert {key[1] % 5 == 0 for key, count in tries.items() if count == 2} == {True}
    assert {*tries.values()} == {1, 2}, "a retry is on the same item"


def test_items_that_changed_are_refused_and_nothing_is_lost(folder: Path) -> None:
    file, items = file_in(folder, PYTHON), folder / "questions.jsonl"
    asked = ringfence("ask", file, "-n", 3, "--json").document["pulls"]
    for pull in asked:
        told = json.dumps({"right": 1, "seconds": 2})
        ringfence("tell", file, pull["pull"], pull["lease"], told)
    before = ringfence("status", file, "--json").document
    content = items.read_text(encoding="utf-8")
    items.write_text(content.replace("What is 3 +", "What was 3 +"), encoding="utf-8")
    refusal = ringfence("run", file)
    assert refusal.code == 2
    assert "exists with other items" in refusal.err
    assert "Put them back as they were" in refusal.err
    known = ringfence("status", file, "--json")
    assert known.document == before
    assert "another blocks" in known.err
    items.write_text(content, encoding="utf-8")
    assert ringfence("run", file).code in (0, 4)


def test_whoever_has_the_database_has_the_items(folder: Path, tmp_path: Path) -> None:
    """On another machine there may be the study file and no file of items."""
    file = file_in(folder, PYTHON)
    first = ringfence("ask", file, "--json").document["pulls"][0]
    (folder / "questions.jsonl").unlink()
    assert ringfence("status", file, "--json").document["issued"] == 1
    for blocks in ('scope = "these"', "repeats = 2", 'group = "document"'):
        refusal = ringfence("run", file_in(folder, PYTHON, blocks))
        assert refusal.code == 2
        assert "exists with another blocks" in refusal.err
    file_in(folder, PYTHON)
    told = json.dumps({"right": 1, "seconds": 2})
    assert ringfence("tell", file, first["pull"], first["lease"], told).code == 0
    assert ringfence("run", file).code in (0, 4)
    assert ringfence("doctor", file).code == 0
    anew = ["--storage", f"sqlite:///{tmp_path / 'anew.db'}"]
    refusal = ringfence("run", file, *anew)
    assert refusal.code == 2
    assert "questions.jsonl' does not exist" in refusal.err
    assert "s.toml" in refusal.err


@pytest.mark.parametrize(
    ("pull", "blocks", "named"),
    [
        (COMMAND, "repeets = 2", "repeats"),
        (COMMAND, "repeats = 0", "blocks.repeats = 0"),
        (COMMAND, 'group = "page"', "line 1 has text, document, n"),
        (COMMAND.replace("{item}", "{itme}"), "", "Did you mean {item}"),
        (PYTHON.replace(":evaluate", ":missing"), "", "missing"),
    ],
)
def test_what_cannot_be_run_is_refused(folder: Path, pull: str, blocks: str, named: str) -> None:
    refusal = ringfence("run", file_in(folder, pull, blocks))
    assert refusal.code == 2
    assert named in refusal.err
    assert not (folder / "seen").exists()


def test_a_script_asks_for_items(folder: Path) -> None:
    file = file_in(folder, PYTHON, 'group = "document"\nscope = "these"')
    pulls = ringfence("ask", file, "-n", 12, "--json").document["pulls"]
    assert all(pull["item"] in QUESTIONS for pull in pulls)
    by_arm = {arm: [p["item"] for p in pulls if p["arm"] == arm] for arm in ("small", "large")}
    assert by_arm["small"] == by_arm["large"]
    assert [item["document"] for item in by_arm["small"]] == sorted(
        (item["document"] for item in by_arm["small"]),
        key=[item["document"] for item in by_arm["small"]].index,
    )
    word = "24 items, grouped by document: claims are of these items alone"
    assert word in ringfence("status", file).out
    record = folder / "record.html"
    for pull in pulls:
        told = json.dumps({"right": pull["item"]["n"] % 2, "seconds": 2})
        ringfence("tell", file, pull["pull"], pull["lease"], told)
    ringfence("recommend", file, "--record", record)
    assert word in record.read_text(encoding="utf-8")
    assert "SHA-256 of the items" in record.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("flags", "line", "module"),
    [
        (["--items", "questions.jsonl"], 'items = "questions.jsonl"', "evaluate_by_file"),
        (["--items", "60"], "items = 60", "evaluate_by_number"),
        (["--seeds"], "seeds = true", "evaluate_by_seed"),
        (["--every", "1h"], 'every = "1h"', "evaluate_by_hour"),
    ],
)
def test_a_draft_has_blocks_and_runs_as_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str], line: str, module: str
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    made = ringfence(
        "init", "new.toml", "--arms", "a,b", "--objective", "maximize mean(score)",
        "--constraint", "mean(cost) <= 2", "--python", f"{module}:evaluate", *flags,
    )  # fmt: skip
    assert made.code == 0, made.err
    assert f"[blocks]\n{line}\n" in (folder / "new.toml").read_text(encoding="utf-8")
    assert ringfence("run", "new.toml").code == 0
    assert ringfence("status", "new.toml", "--json").document["blocks"] is not None


def test_a_draft_that_would_forget_the_item_is_refused(folder: Path) -> None:
    refusal = ringfence(
        "init", folder / "new.toml", "--arms", "a,b", "--objective", "maximize mean(score)",
        "--constraint", "mean(cost) <= 2", "--items", "60", "--command", "./it {arm} {seed}",
    )  # fmt: skip
    assert refusal.code == 2
    assert "must hold {item}" in refusal.err
    assert not (folder / "new.toml").exists()


# --------------------------------------------------------------------------------- over HTTP


def test_items_go_over_http_and_back(anywhere: Served) -> None:
    client, name = anywhere.client, new_name()
    blocks = {"items": QUESTIONS, "group": "document", "repeats": 2}
    body = body_of(name, blocks=blocks, budget=120)
    definition = strict(client.post("/api/studies", json=body), 201)
    assert definition["blocks"]["items"] == 24
    at = f"/api/studies/{name}"
    pulls = strict(client.post(f"{at}/ask", json={"n": 60}))["pulls"]
    assert {json.dumps(pull["item"]) for pull in pulls} <= {json.dumps(one) for one in QUESTIONS}
    local = rf.Study.load(name, storage=anywhere.storage)
    assert [pull["item"] for pull in pulls[:3]] == [
        QUESTIONS[local.desk.plan.sharing.item_of(pull["ordinal"])] for pull in pulls[:3]
    ]
    status: Any = strict(client.get(at))
    assert status["blocks"] == {
        "items": 24, "scope": "such", "repeats": 2, "group": "document", "exhausted": []
    }  # fmt: skip
    again = strict(client.post("/api/studies", json=body | {"load_if_exists": True}))
    assert again == definition | {"lag": 1}  # what it began with
    others = body | {"load_if_exists": True, "blocks": blocks | {"items": QUESTIONS[1:]}}
    refused(client.post("/api/studies", json=others), 422, "exists with other items")


def test_no_file_of_the_server_is_read_over_http(served: Served, tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text('{"secret": 1}\n{"secret": 2}\n', encoding="utf-8")
    name = new_name()
    body = body_of(name, blocks={"items": str(path)})
    answer = served.client.post("/api/studies", json=body)
    assert answer.status_code == 422
    assert "secret" not in answer.text
    with closing(sqlite3.connect(served.storage.removeprefix("sqlite:///"))) as database:
        found = database.execute("SELECT name FROM ringfence_studies").fetchall()
    assert (name,) not in found


def test_hours_and_seeds_go_over_http(served: Served) -> None:
    for blocks, kept in (
        ({"every": "30m"}, {"every": 1800}),
        ({"seeds": True}, {"seeds": True}),
    ):
        name = new_name()
        made = strict(served.client.post("/api/studies", json=body_of(name, blocks=blocks)), 201)
        assert made["blocks"] == kept
        pulls = strict(served.client.post(f"/api/studies/{name}/ask", json={"n": 3}))["pulls"]
        assert len({pull["seed"] for pull in pulls}) == (1 if "seeds" in blocks else 3)
