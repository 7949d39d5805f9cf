"""Studies that stop when proven: from their files, by scripts, over HTTP, in Python."""

import tomllib
from pathlib import Path

import pytest

import ringfence as rf
from tests.e2e.command_line import ringfence
from tests.e2e.serving import Served, new_name, strict

FILE = """
name = "s"
objective = "maximize mean(solved)"
constraints = ["mean(unsafe) <= 0.5"]
budget = 600
arms = ["old", "new"]
seed = 1
noise = {{ solved = {{ bounds = [0, 1] }}, unsafe = {{ bounds = [0, 1] }} }}

[pull]
python = "{module}:evaluate"

{stop}
"""
MODULE = """
def evaluate(arm, seed):
    return {"solved": float(arm == "new"), "unsafe": float(seed % 10 == 0)}
"""
STOP = "[stop]\nconfidence = 0.95\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def file_in(folder: Path, stop: str, module: str) -> str:
    (folder / f"{module}.py").write_text(MODULE)
    (folder / "s.toml").write_text(FILE.format(module=module, stop=stop))
    return "s.toml"


def test_a_run_ends_when_it_is_proven_and_says_so(folder: Path) -> None:
    file = file_in(folder, STOP, "stops_when_proven")
    some = ringfence("ask", file, "-n", "1", "--json").document["pulls"][0]
    ringfence("tell", file, some["pull"], some["lease"], '{"solved": 0, "unsafe": 0}')
    done = ringfence("run", file, "--json", "--require-certificate")
    assert done.code == 0, done.err
    assert done.document["certificate"]["status"] == "certified"
    assert done.document["pulls_used"] < 300
    assert done.document["finished"]
    said = ringfence("recommend", file)
    assert "Certified at 95%: new is the best feasible arm." in said.out
    assert ringfence("doctor", file).code == 0
    assert ringfence("certify", file).code == 0
    assert ringfence("run", file).code == 0  # there is nothing more to do
    assert ringfence("status", file, "--json").document["told"] == done.document["pulls_used"]
    assert "the study ended with a proof at 95%" in ringfence("status", file).out


def test_items_that_were_all_seen_did_not_end_what_a_proof_ended(folder: Path) -> None:
    file = file_in(folder, STOP + "[blocks]\nitems = 5\nscope = 'these'\n", "seen_and_proven")
    done = ringfence("run", file, "--json")
    assert done.document["certificate"]["status"] == "certified", done.err
    said = ringfence("status", file).out
    assert "all items were seen by " in said
    assert "ended with them" not in said
    assert "the study ended with a proof at 95%" in said


def test_a_certificate_may_be_required_of_any_study(folder: Path) -> None:
    file = file_in(folder, "", "spends_it_all")
    text = (folder / file).read_text().replace("budget = 600", "budget = 16")
    (folder / file).write_text(text)
    assert ringfence("run", file).code == 0
    done = ringfence("recommend", file, "--require-certificate")
    assert done.code == 4
    assert "Open at 95%" in done.out
    assert "there is none: exit code 4" in done.out
    assert ringfence("recommend", file, "--json").document["certificate"] is None
    asked = ringfence("recommend", file, "--json", "--require-certificate")
    assert (asked.code, asked.document["certificate"]["status"]) == (4, "open")
    (folder / file).write_text(text.replace("budget = 16", "budget = 300"))
    assert ringfence("run", file, "--require-certificate").code == 0


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        ("[stop]\nconfidence = 95", "stop.confidence = 95 must be a number between 0.5 and 1"),
        ("[stop]\nconfidence = true", "stop.confidence = True must be"),
        ("[stop]\nwithin = 0.1", "stop.confidence is missing"),
        ("[stop]\nconfidense = 0.95", "confidense"),
        ("[stop]\nconfidence = 0.95\nwithin = -1", "stop.within = -1 must be"),
        ('[stop]\nconfidence = 0.95\nrests_on = "luck"', "stop.rests_on = 'luck'"),
        (STOP + '[blocks]\nevery = "1h"', "cannot stand beside blocks.every"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_begun(folder: Path, stop: str, said: str) -> None:
    done = ringfence("run", file_in(folder, stop, "never_called"))
    assert done.code == 2
    assert said in done.err
    assert "s.toml" in done.err
    assert not (folder / "s.db").exists()


def test_a_certificate_cannot_be_required_of_hours_and_nothing_runs(folder: Path) -> None:
    file = file_in(folder, '[blocks]\nevery = "1h"', "runs_by_the_hour")
    done = ringfence("run", file, "--require-certificate")
    assert done.code == 2
    assert "nothing can be proven" in done.err
    assert ringfence("status", file, "--json").document["told"] == 0


def test_a_file_with_another_stop_is_refused(folder: Path) -> None:
    file = file_in(folder, STOP, "changes_its_stop")
    assert ringfence("ask", file).code == 0
    file_in(folder, STOP.replace("0.95", "0.9"), "changes_its_stop")
    done = ringfence("run", file)
    assert done.code == 2
    assert "another stop" in done.err
    assert "another stop" in ringfence("status", file).err


def test_init_writes_it(folder: Path) -> None:
    flags = ["--arms", "a,b", "--objective", "maximize mean(x)", "--constraint", "mean(y) <= 1"]
    made = ringfence("init", "new.toml", *flags, "--stop", "0.9", "--budget", "4000")
    assert made.code == 0, made.err
    content = tomllib.loads((folder / "new.toml").read_text(encoding="utf-8"))
    assert content["stop"] == {"confidence": 0.9}
    assert ringfence("init", "other.toml", *flags).code == 0
    assert "stop" not in tomllib.loads((folder / "other.toml").read_text(encoding="utf-8"))
    refused = ringfence("init", "third.toml", *flags, "--stop", "90")
    assert refused.code == 2
    assert "Write 0.9 for 90%" in refused.err
    assert not (folder / "third.toml").exists()


def test_it_goes_over_http(anywhere: Served) -> None:
    client, name = anywhere.client, new_name()
    body = {
        "name": name,
        "objective": "maximize mean(solved)",
        "constraints": ["mean(unsafe) <= 0.5"],
        "arms": ["old", "new"],
        "budget": 600,
        "noise": {"solved": {"bounds": [0, 1]}, "unsafe": {"bounds": [0, 1]}},
        "stop": {"confidence": 0.95, "within": 0.1},
    }
    refused = client.post("/api/studies", json=body | {"stop": {"confidence": 95}})
    assert refused.status_code == 422
    assert "Write 0.95 for 95%" in refused.json()["detail"]
    assert client.post("/api/studies", json=body | {"stop": {"sure": 1}}).status_code in (400, 422)
    made = client.post("/api/studies", json=body)
    assert strict(made, 201)["stop"] == body["stop"]
    at = f"/api/studies/{name}"
    while pulls := strict(client.post(f"{at}/ask", json={"n": 20}))["pulls"]:
        rows = [
            {
                "pull": pull["pull"],
                "lease": pull["lease"],
                "metrics": {"solved": float(pull["arm"] == "new"), "unsafe": 0.0},
            }
            for pull in pulls
        ]
        assert client.post(f"{at}/tell-many", json={"pulls": rows}).status_code == 200
    verdict = strict(client.get(f"{at}/recommend"))
    assert verdict["finished"]
    assert verdict["pulls_used"] < 300
    assert verdict["certificate"]["status"] == "certified"
    page = client.get(f"/studies/{name}").text
    assert "Certified at 95%" in page
    assert "Ends when its answer is proven at 95%" in page


def test_the_same_study_in_python(folder: Path) -> None:
    study = rf.Study.create(
        "s", arms=["old", "new"], objective="maximize mean(solved)",
        constraints="mean(unsafe) <= 0.5", budget=600, stop={"confidence": 0.95},
        noise={"solved": {"bounds": [0, 1]}, "unsafe": {"bounds": [0, 1]}},
        storage=f"sqlite:///{folder / 's.db'}", seed=1,
    )  # fmt: skip
    verdict = study.optimize(lambda arm, seed: {"solved": float(arm == "new"), "unsafe": 0.0})
    assert verdict is not None
    assert verdict.certificate is not None
    assert (verdict.arm, verdict.certificate.status) == ("new", "certified")
    assert verdict.pulls_used < 300
    workers = rf.Study.create(
        "w", arms=["old", "new"], objective="maximize mean(solved)",
        constraints="mean(unsafe) <= 0.5", budget=600, stop={"confidence": 0.95},
        noise={"solved": {"bounds": [0, 1]}, "unsafe": {"bounds": [0, 1]}},
        storage=f"sqlite:///{folder / 's.db'}", seed=1,
    )  # fmt: skip
    workers.optimize(lambda arm, seed: {"solved": float(arm == "new"), "unsafe": 0.0}, workers=4)
    assert workers.status().finished
    assert workers.status().told < 300
    assert workers.doctor().problems == ()
