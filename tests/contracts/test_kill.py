"""Workers killed at any moment: nothing acknowledged is lost, nothing counted twice.

This is the short version, with five kills; `make faults` asks for a hundred (RINGFENCE_KILLS).
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringfence.interfaces.studies import Study
from ringfence.study.facts import PullFact, State
from tests.contracts.kill_worker import evaluate
from tests.contracts.places import Place

ROOT = Path(__file__).parents[2]
ARMS = ("one", "two", "three", "four")
WORKERS = 3
KILLS = int(os.environ.get("RINGFENCE_KILLS", "5"))
BUDGET = 30 * KILLS
PATIENCE_SECONDS = 8.0 * KILLS


def make(storage: Any, policy: str, batch: int) -> Study:
    return Study.create(
        "s",
        arms=ARMS,
        objective="minimize mean(loss)",
        constraints="mean(risk) <= 1.0",
        budget=BUDGET,
        policy=policy,
        batch=batch,
        seed=5,
        storage=storage,
        lease_seconds=1.0,
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
            command = [sys.executable, script, self.url, "s"]
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


def work_and_kill(crew: Crew, rng: np.random.Generator) -> int:
    """Let the workers finish the study, but kill some on the way; return how many were killed."""
    end = time.monotonic() + PATIENCE_SECONDS
    moments = sorted(rng.integers(1, int(0.8 * BUDGET), KILLS).tolist())
    killed = 0
    for _ in range(WORKERS):
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
        time.sleep(0.002)
    return killed


@pytest.mark.parametrize(("policy", "batch"), [("constrained-sr", 1), ("top-two", 6)])
def test_workers_that_are_killed_change_nothing(
    sql_place: Place, tmp_path: Path, policy: str, batch: int
) -> None:
    wanted = make("memory://", policy, batch)
    verdict = wanted.optimize(evaluate)
    study = make(sql_place.open(), policy, batch)
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
    assert study.view().rounds == wanted.view().rounds
    assert study.recommend() == verdict
    assert max(pull.lease for pull in stored.values()) > 1, "some pulls were held by the dead"
