"""A server that stops in the middle of a study, and a disk that fills up: nothing is lost."""

import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import ringfence as rf
from ringfence.core.errors import StorageAwayError, StorageError
from ringfence.execution.functions import Function
from ringfence.execution.working import Crew
from ringfence.study.facts import PullFact
from tests.contracts.kill_worker import evaluate
from tests.contracts.postgres import Server

BUDGET = 120
ARMS = ("one", "two", "three", "four")


def new_study(storage: str, policy: str = "top-two") -> rf.Study:
    return rf.Study.create(
        "s", arms=ARMS, objective="minimize mean(loss)", constraints="mean(risk) <= 1.0",
        budget=BUDGET, policy=policy, batch=6, seed=5, storage=storage, lease_seconds=5.0,
    )  # fmt: skip


def facts_of(study: rf.Study) -> list[tuple[int, int, object]]:
    with study.desk.storage.reading("s") as ledger:
        return [(one.number, one.arm, one.values) for one in ledger.pulls_between(1, BUDGET)]


@pytest.mark.parametrize("crash", [False, True], ids=["stopped", "crashed"])
def test_a_server_that_goes_away_and_comes_back_costs_time_alone(
    postgres_server: Server, crash: bool
) -> None:
    wanted = new_study("memory://")
    verdict = wanted.optimize(evaluate)
    study = new_study(postgres_server.new_place())
    acknowledged: list[int] = []
    complaints: list[str] = []

    def slowly(arm: str, seed: int) -> dict[str, float]:
        time.sleep(0.01)
        return evaluate(arm, seed)

    def interrupt() -> None:
        for moment in (20, 70):
            while len(acknowledged) < moment:
                time.sleep(0.002)
            postgres_server.stop(crash=crash)
            time.sleep(0.3)
            postgres_server.start()

    def told(pull: PullFact, became: str) -> None:
        assert became in ("told", "already-told")
        acknowledged.append(pull.number)

    breaker = threading.Thread(target=interrupt)
    breaker.start()
    try:
        found = study.optimize(
            slowly, workers=3, told=told, away=lambda error: complaints.append(str(error))
        )
    finally:
        breaker.join()
    assert complaints, "it was never away"
    assert sorted(acknowledged) == list(range(1, BUDGET + 1))
    assert study.doctor().problems == ()
    assert facts_of(study) == facts_of(wanted)
    assert found == verdict


def test_a_server_that_stays_away_ends_the_work_with_words(postgres_server: Server) -> None:
    study = new_study(postgres_server.new_place())
    study.optimize(evaluate, most=10)
    postgres_server.stop()
    try:
        with pytest.raises(StorageAwayError, match="What was not acknowledged was not written"):
            Crew(study.desk, Function(evaluate), patience_seconds=0.2).run()
    finally:
        postgres_server.start()
    assert study.status().told == 10


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("a small disk: there is no mount")
    if done.returncode != 0:
        pytest.skip(f"a small disk cannot be made: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Fill a disk to the last byte; return the file that does."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as out:
        for size in (65536, 4096, 512, 1):
            try:
                while out.write(b"x" * size) > 0:
                    pass
            except OSError:
                continue
    return ballast


@pytest.mark.parametrize("policy", ["top-two", "constrained-sr"])
def test_a_full_disk_loses_nothing_that_was_acknowledged(small_disk: Path, policy: str) -> None:
    wanted = new_study("memory://", policy)
    verdict = wanted.optimize(evaluate)
    study = new_study(f"sqlite:///{small_disk / 's.db'}", policy)
    acknowledged: list[int] = []
    study.optimize(evaluate, most=40, told=lambda pull, _: acknowledged.append(pull.number))

    ballast = fill(small_disk)
    with pytest.raises(StorageError, match=r"full|I/O|disk"):
        study.optimize(evaluate, told=lambda pull, _: acknowledged.append(pull.number))
    assert len(acknowledged) < BUDGET

    ballast.unlink()
    again = rf.Study.load("s", storage=f"sqlite:///{small_disk / 's.db'}")
    assert again.doctor().problems == ()
    told = {number: values for number, _, values in facts_of(again) if values is not None}
    assert set(acknowledged) <= set(told)
    assert again.optimize(evaluate) == verdict
    assert facts_of(again) == facts_of(wanted)
