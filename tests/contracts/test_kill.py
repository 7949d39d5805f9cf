"""Workers and coordinators killed at any moment: nothing acknowledged lost or counted twice.

This is the short version, with five kills; `make faults` asks for a hundred (RINGFENCE_KILLS).
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringfence.core.errors import InputError
from ringfence.interfaces.studies import Study
from ringfence.study.facts import Cause, PullFact, Rejection, State
from tests.choosing import few_of
from tests.contracts.kill_worker import evaluate
from tests.contracts.places import Place
from tests.e2e.command_line import ringfence

ROOT = Path(__file__).parents[2]
ARMS = ("one", "two", "three", "four")
WORKERS = 3
KILLS = int(os.environ.get("RINGFENCE_KILLS", "5"))
BUDGET = 30 * KILLS
PATIENCE_SECONDS = 20.0 * KILLS


def make(storage: Any, policy: str, batch: int, **changes: Any) -> Study:
    plain: dict[str, Any] = {"budget": BUDGET, "lease_seconds": 1.0}
    return Study.create(
        "s",
        arms=ARMS,
        objective="minimize mean(loss)",
        constraints="mean(risk) <= 1.0",
        policy=policy,
        batch=batch,
        seed=5,
        storage=storage,
        **{**plain, **changes},
    )


def said(paper: Path) -> list[list[Any]]:
    """Return the lines that a worker printed; a torn last one says nothing."""
    lines = paper.read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


@dataclass
class Crew:
    """Worker processes, with a file of what each was told."""

    url: str
    folder: Path
    papers: list[Path] = field(default_factory=list)
    papers_of_workers: list[Path] = field(default_factory=list)
    deadly: str = ""
    workers: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    complaints: Path = field(init=False)

    def __post_init__(self) -> None:
        self.complaints = self.folder / "complaints"

    def hire(self) -> None:
        paper = self.folder / f"worker-{len(self.papers)}"
        self.papers.append(paper)
        self.papers_of_workers.append(paper)
        script = str(Path(__file__).with_name("kill_worker.py"))
        with paper.open("wb") as out, self.complaints.open("ab") as errors:
            command = [sys.executable, script, self.url, "s", self.deadly]
            self.workers.append(subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=errors))

    def busy(self) -> list[int]:
        """Return the workers whose last word is of a pull that they took."""
        last = [[["", 0], *said(paper)][-1][0] for paper in self.papers_of_workers]
        return [place for place, word in enumerate(last) if word == "took"]

    def kill(self, place: int) -> bool:
        """Kill a worker by its own id; tell whether it was alive."""
        worker = self.workers.pop(place)
        self.papers_of_workers.pop(place)
        was_alive = worker.poll() is None
        worker.kill()
        worker.wait()
        return was_alive

    def acknowledged(self) -> dict[int, tuple[float, float]]:
        """Return what the workers were told is on disk."""
        found: dict[int, tuple[float, float]] = {}
        for word, number, *values in (line for paper in self.papers for line in said(paper)):
            if word == "told":
                loss, risk = values
                assert found.setdefault(number, (loss, risk)) == (loss, risk)
        return found

    def end(self) -> None:
        while self.workers:
            self.kill(0)


def pulls_of(study: Study) -> list[PullFact]:
    with study.desk.storage.reading("s") as ledger:
        return list(ledger.pulls_between(1, 10_000))


def work_and_kill(
    crew: Crew,
    rng: np.random.Generator,
    *,
    workers: int = WORKERS,
    pulls: int = BUDGET,
    meanwhile: Callable[[], None] = lambda: None,
) -> int:
    """Let the workers finish the study, but kill some on the way; return how many were killed."""
    end = time.monotonic() + PATIENCE_SECONDS
    moments = sorted(rng.integers(1, int(0.8 * pulls), KILLS).tolist())
    killed = 0
    for _ in range(workers):
        crew.hire()
    while any(worker.poll() is None for worker in crew.workers):
        assert time.monotonic() < end, f"not finished: {crew.complaints.read_text()}"
        busy = crew.busy()
        if moments and busy and len(crew.acknowledged()) >= moments[0]:
            moments.pop(0)
            victim = int(rng.choice(busy))
            time.sleep(float(rng.uniform(0.0, 0.02)))
            killed += crew.kill(victim)
            crew.hire()
        meanwhile()
        time.sleep(0.002)
    return killed


@pytest.mark.parametrize(
    ("policy", "batch", "lag"),
    few_of(
        [("constrained-sr", 1, None), ("top-two", 6, None), ("top-two", 1, 9)],
        ("top-two", 6, None),
        ("top-two", 1, 9),
    ),
)
def test_workers_that_are_killed_change_nothing(
    sql_place: Place, tmp_path: Path, policy: str, batch: int, lag: int | None
) -> None:
    wanted = make("memory://", policy, batch, lag=lag)
    verdict = wanted.optimize(evaluate)
    study = make(sql_place.open(), policy, batch, lag=lag)
    crew = Crew(str(sql_place.url), tmp_path)
    try:
        killed = work_and_kill(crew, np.random.default_rng(7))
    finally:
        crew.end()
    assert crew.complaints.read_text() == ""
    assert killed >= KILLS - 1, "a worker that is done cannot be killed"

    audit = study.doctor()
    assert audit.problems == ()
    stored = {pull.number: pull for pull in pulls_of(study)}
    told = crew.acknowledged()
    assert len(told) >= 0.8 * len(stored)
    for number, values in told.items():
        assert stored[number].state == State.TOLD
        assert stored[number].values == values
    theirs = pulls_of(wanted)
    assert [(p.number, p.arm, p.ordinal, p.round, p.values) for p in stored.values()] == [
        (p.number, p.arm, p.ordinal, p.round, p.values) for p in theirs
    ]
    assert study.rounds() == wanted.rounds()
    assert study.recommend() == verdict
    assert max(pull.lease for pull in stored.values()) > 1, "some pulls were held by the dead"


def test_an_arm_that_kills_its_workers_is_withdrawn(tmp_path: Path) -> None:
    """They take two pulls at a time: what they hold beside a deadly one is not lost with it."""
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    study = make(url, "top-two", 4, budget=60, lease_seconds=0.8, max_leases=4)
    crew = Crew(url, tmp_path, deadly="two")
    end = time.monotonic() + 120.0
    try:
        while not study.status().finished:
            assert time.monotonic() < end, crew.complaints.read_text()
            dead = [i for i, worker in enumerate(crew.workers) if worker.poll() is not None]
            for place in reversed(dead):
                crew.kill(place)
            for _ in range(WORKERS - len(crew.workers)):
                crew.hire()
            time.sleep(0.05)
    finally:
        crew.end()
    pulls = pulls_of(study)
    failed = [pull for pull in pulls if pull.state == State.FAILED]
    assert {ARMS[pull.arm] for pull in failed} == {"two"}
    assert len(failed) >= 3
    assert study.explain("two")[0].left == Rejection(1, Cause.FAILING, failures=3)
    assert all("leases ran out without an answer" in str(pull.error) for pull in failed)
    assert study.recommend().arm == "three"
    assert sum(pull.charged for pull in pulls) <= 60
    assert study.doctor().problems == ()


# ------------------------------------------------------------------------------ the coordinator

STUDY = """\
name = "s"
objective = "minimize mean(loss)"
constraints = ["mean(risk) <= 1.0"]
budget = {budget}
policy = "top-two"
batch = 4
seed = 5
lease_seconds = 1.0
arms = ["one", "two", "three", "four"]
[pull]
command = ["{python}", "-IS", "evaluate.py", "{{arm}}", "{{seed}}"]
"""
PROGRAM = """\
import json, random, sys
place = ["one", "two", "three", "four"].index(sys.argv[1])
rng = random.Random(int(sys.argv[2]))
loss, risk = [(1.0, 0.5), (0.2, 1.6), (0.5, 0.6), (0.6, 0.9)][place]
print(json.dumps({"loss": rng.gauss(loss, 0.5), "risk": rng.gauss(risk, 0.5)}))
"""
MAIN = "from ringfence.interfaces.cli.app import main; main()"
PULLS_A_KILL = 8
COORDINATOR_KILLS = max(3, KILLS // 4)  # each of them takes seconds: a process must start


def test_a_coordinator_that_is_killed_is_simply_started_again(
    sql_place: Place, tmp_path: Path
) -> None:
    """`ringfence run` on programs, killed again and again in the middle of its work."""
    (tmp_path / "evaluate.py").write_text(PROGRAM, encoding="utf-8")
    file = tmp_path / "s.toml"
    budget = PULLS_A_KILL * (COORDINATOR_KILLS + 2)
    text = STUDY.format(budget=budget, python=sys.executable)
    file.write_text(text, encoding="utf-8")
    quiet = ringfence("run", file, "--json", "--storage", f"sqlite:///{tmp_path / 'quiet.db'}")
    place = ["--storage", str(sql_place.url)]
    rng = np.random.default_rng(11)
    for kill in range(COORDINATOR_KILLS):
        command = [sys.executable, "-c", MAIN, "run", str(file), "--workers", "3", *place]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _wait_until_told(sql_place, (kill + 1) * PULLS_A_KILL - int(rng.integers(4)), running)
        time.sleep(float(rng.uniform(0.0, 0.05)))
        assert running.poll() is None, "it was done before it could be killed"
        running.kill()
        running.wait()
    done = ringfence("run", file, "--workers", "3", "--json", *place)
    assert done.code == quiet.code
    assert done.document == quiet.document
    doctor = ringfence("doctor", file, "--json", *place).document
    assert (doctor["ok"], doctor["told"], doctor["issued"]) == (True, budget, 0)


def _wait_until_told(place: Place, count: int, running: "subprocess.Popen[bytes]") -> None:
    """Wait until so many pulls of the study are on disk."""
    end = time.monotonic() + 60.0
    while time.monotonic() < end and running.poll() is None:
        try:
            with place.open().reading("s") as ledger:
                if int(ledger.harvest(1, ledger.head.issued).is_told.sum()) >= count:
                    return
        except InputError:  # not created yet
            pass
        finally:
            place.close()
        time.sleep(0.02)
    raise AssertionError(f"{count} pulls were not told in time")
