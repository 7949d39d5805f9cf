"""The command `certify`: words, JSON, exit codes, and a file that another program checks."""

import subprocess
import sys
from pathlib import Path

import pytest

import ringfence as rf
from tests.e2e.command_line import ROOT, ringfence
from tests.e2e.test_study_commands import document

LIMITS = {"certified": "mean(unsafe) <= 0.5", "none-feasible": "mean(unsafe) <= -0.5"}
CODES = {"certified": 0, "none-feasible": 3, "open": 4}


def place_of(folder: Path, budget: int, limit: str) -> list[str]:
    """Return how a study on disk is named, which was told all its pulls."""
    url = f"sqlite:///{folder / 's.db'}"
    study = rf.Study.create(
        "s",
        arms=["old", "new"],
        objective="maximize mean(solved)",
        constraints=limit,
        noise={"solved": {"bounds": [0, 1]}, "unsafe": {"bounds": [-1, 1]}},
        budget=budget,
        policy="uniform",
        storage=url,
        seed=1,
    )
    while pulls := study.ask(50):
        study.tell_many(
            pulls,
            {
                "solved": [pull.arm == "new" for pull in pulls],
                "unsafe": [float(pull.ordinal % 4 == 0) for pull in pulls],
            },
        )
    return ["s", "--storage", url]


@pytest.mark.parametrize(
    ("status", "budget"), [("certified", 200), ("none-feasible", 200), ("open", 10)]
)
def test_exit_codes_tell_what_is_proven(tmp_path: Path, status: str, budget: int) -> None:
    place = place_of(tmp_path, budget, LIMITS.get(status, LIMITS["certified"]))
    said = ringfence("certify", *place)
    assert said.code == CODES[status]
    assert said.out.startswith("Open at 95%" if status == "open" else "Certified at 95%")
    done = ringfence("certify", *place, "--json")
    assert done.code == CODES[status]
    found = document(done)["certificate"]
    assert found["status"] == status
    assert found["arm"] == ("new" if status != "none-feasible" else None)
    assert found["confidence"] == 0.95
    assert found["rests_on"] == {"solved": "exact", "unsafe": "exact"}
    assert bool(found["open"]) == (status == "open")
    for one in found["open"]:
        assert one["e"] < 1.0 / one["level"]
        assert one["needs"] > 0
        assert not one["crossed"]


def test_it_is_more_easily_said_at_less_confidence_or_within_a_distance(tmp_path: Path) -> None:
    place = place_of(tmp_path, 44, LIMITS["certified"])
    assert ringfence("certify", *place).code == 4
    less = ringfence("certify", *place, "--confidence", "0.6")
    assert less.code == 0
    assert "Exploratory" in less.out
    done = ringfence("certify", *place, "--within", "-1")
    assert done.code == 2
    assert "within = -1.0 must be a number, 0 or more" in done.err
    assert ringfence("certify", *place, "--confidence", "95").code == 2


def test_the_file_it_writes_is_checked_by_a_program_that_shares_nothing(tmp_path: Path) -> None:
    place = place_of(tmp_path, 200, LIMITS["certified"])
    file = tmp_path / "proof.json"
    assert ringfence("certify", *place, "--observations", str(file)).code == 0
    command = [sys.executable, "-I", str(ROOT / "examples/check_certificate.py"), str(file)]
    assert subprocess.run(command, check=False).returncode == 0
    file.write_text(file.read_text().replace('"status": "certified"', '"status": "none-feasible"'))
    assert subprocess.run(command, check=False, capture_output=True).returncode == 1
    assert ringfence("certify", *place, "--observations", str(tmp_path / "proof.txt")).code == 2


# ---------------------------------------------------------------------------------- the gate


@pytest.mark.parametrize(
    ("limit", "budget", "code", "said"),
    [
        ("mean(unsafe) <= 0.5", 200, 0, "Passed at 95%: new keeps all its limits."),
        ("mean(unsafe) <= -0.5", 200, 3, "Failed at 95%: new breaks mean(unsafe) <= -0.5."),
        ("mean(unsafe) <= 0.5", 10, 4, "Open at 95%"),
    ],
)
def test_a_gate_tells_a_pipeline_by_its_exit_code(
    tmp_path: Path, limit: str, budget: int, code: int, said: str
) -> None:
    place = place_of(tmp_path, budget, limit)
    done = ringfence("gate", *place, "--candidate", "new")
    assert done.code == code
    assert done.out.startswith(said)
    found = document(ringfence("gate", *place, "--candidate", "new", "--json"))["gate"]
    assert found["status"] == {0: "keeps", 3: "breaks", 4: "open"}[code]
    assert found["rests_on"] == {"unsafe": "exact"}


def test_a_gate_is_for_an_arm_that_is_there_and_a_confidence_that_is_one(tmp_path: Path) -> None:
    place = place_of(tmp_path, 44, LIMITS["certified"])
    wrong = ringfence("gate", *place, "--candidate", "gnu")
    assert wrong.code == 2
    assert "arm 'gnu' is not in study 's'" in wrong.err
    assert ringfence("gate", *place).code == 2
    assert ringfence("gate", *place, "--candidate", "new", "--confidence", "95").code == 2
    less = ringfence("gate", *place, "--candidate", "new", "--confidence", "0.6")
    assert less.code == 0
    assert "Exploratory" in less.out


def test_the_study_of_the_page_about_gates_runs_and_ends_when_it_is_settled(tmp_path: Path) -> None:
    page = (ROOT / "docs/howto/gate.md").read_text(encoding="utf-8")
    file = tmp_path / "change.toml"
    file.write_text(page.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
    program = tmp_path / "evaluate"
    program.write_text('#!/bin/sh\necho "{\\"solved\\": 1, \\"cost\\": 0.5}"\n', encoding="utf-8")
    program.chmod(0o755)
    assert ringfence("run", file, "--workers", 2).code == 0
    assert ringfence("gate", file, "--candidate", "branch").code == 0
    status = document(ringfence("status", file, "--json"))
    assert status["finished"]
    assert status["told"] < 1000
