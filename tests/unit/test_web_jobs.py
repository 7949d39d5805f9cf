"""Work that pages begin: in a process of its own, bounded, and ended with whoever wanted it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.interfaces.web.jobs import MOST_WAITING, Job, Jobs
from ringfence.interfaces.web.problems import BusyError, NotHereError
from ringfence.interfaces.web.shelf import Shelf
from ringfence.interfaces.web.work import (
    MOST_ARMS,
    MOST_TEXT,
    Planning,
    StudySource,
    TextSource,
    Work,
    pasted_instance,
)
from tests.e2e.command_line import ROOT

SECONDS = 200.0  # kernels are compiled first
MEMORY = 2 * 2**30


@dataclass(frozen=True)
class Sleeping:
    """Writes the number of its process into a file, and sleeps."""

    file: str

    def run(self, advance: Callable[[str], None]) -> Any:
        Path(self.file).write_text(str(os.getpid()), "utf-8")
        advance("asleep")
        time.sleep(SECONDS)


@dataclass(frozen=True)
class Answering:
    """Says how far it is, then answers."""

    answer: object

    def run(self, advance: Callable[[str], None]) -> Any:
        sys.stdout.write("what libraries print is no answer")
        sys.stdout.flush()
        advance("half")
        return self.answer


@dataclass(frozen=True)
class Failing:
    """Fails as it is told."""

    how: str

    def run(self, advance: Callable[[str], None]) -> Any:
        if self.how == "memory":
            return len(bytes(3 * 2**30))
        if self.how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "depth":
            return self.run(advance)
        raise InputError("this cannot be")


@contextmanager
def working(**bounds: float) -> Iterator[Jobs]:
    jobs = Jobs(memory=MEMORY, **bounds)
    try:
        yield jobs
    finally:
        jobs.close()


def begin(jobs: Jobs, work: Work) -> Job:
    return jobs.begin("plan", "a title", work, {"source": "text"})


def until(claim: Callable[[], bool], seconds: float = SECONDS) -> None:
    end = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.02)


def ended(jobs: Jobs, work: Work) -> Job:
    job = begin(jobs, work)
    until(lambda: jobs.find(job.key).is_over)
    return job


def asleep(jobs: Jobs, folder: Path) -> tuple[Job, int]:
    """Begin to sleep, and return the number of the process that does."""
    job = begin(jobs, Sleeping(str(folder / "process")))
    until(lambda: jobs.find(job.key).said == "asleep")
    return job, int((folder / "process").read_text("utf-8"))


def is_running(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def test_an_answer_comes_from_another_process() -> None:
    with working() as jobs:
        job = ended(jobs, Answering({"pulls": 3}))
        assert (job.result, job.problem) == ({"pulls": 3}, None)
        assert jobs.latest("plan") is job
        assert jobs.latest("paper") is None
        with pytest.raises(NotHereError):
            jobs.find("another")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("refused", "this cannot be"),
        ("memory", "needs more than 2 GiB of memory"),
        ("killed", "exit code -9"),
        ("depth", "RecursionError"),
    ],
)
def test_what_goes_wrong_is_said_and_the_next_work_is_done(how: str, words: str) -> None:
    with working() as jobs:
        job = ended(jobs, Failing(how))
        assert job.result is None
        assert words in str(job.problem)
        assert ended(jobs, Answering(1)).result == 1


def test_work_that_is_stopped_ends_with_its_process(tmp_path: Path) -> None:
    with working() as jobs:
        job, number = asleep(jobs, tmp_path)
        waiting = begin(jobs, Sleeping(str(tmp_path / "never")))
        jobs.stop(waiting.key)
        assert is_running(number)
        jobs.stop(job.key)
        until(lambda: job.is_over and not is_running(number))
        assert job.problem == "this was stopped."
        until(lambda: waiting.is_over)
        assert not (tmp_path / "never").exists()
        assert ended(jobs, Answering(1)).result == 1


def test_work_that_nobody_looks_at_ends(tmp_path: Path) -> None:
    """As when the client that began it has gone."""
    with working(unwatched_seconds=3.0) as jobs:
        job, number = asleep(jobs, tmp_path)
        for _ in range(10):  # as long as someone looks, it goes on
            time.sleep(0.4)
            jobs.find(job.key)
        assert is_running(number)
        until(lambda: job.is_over and not is_running(number))
        assert "nobody looked at this" in str(job.problem)


def test_work_that_takes_too_long_ends(tmp_path: Path) -> None:
    with working(seconds=4.0) as jobs:
        job, number = asleep(jobs, tmp_path)
        until(lambda: jobs.find(job.key).is_over and not is_running(number))
        assert "more than 4 seconds" in str(job.problem)


def test_work_ends_with_the_server(tmp_path: Path) -> None:
    with working() as jobs:
        job, number = asleep(jobs, tmp_path)
    until(lambda: not is_running(number))
    assert job.problem == "the server was stopped."


def test_work_ends_with_a_server_that_was_killed(tmp_path: Path) -> None:
    code = (
        f"import sys, time; sys.path.insert(0, {str(ROOT)!r})\n"
        "from tests.unit.test_web_jobs import Jobs, Sleeping\n"
        "jobs = Jobs()\n"
        f"jobs.begin('plan', 'title', Sleeping({str(tmp_path / 'process')!r}), {{}})\n"
        "time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as server:
        until(lambda: (tmp_path / "process").exists() and bool((tmp_path / "process").read_text()))
        number = int((tmp_path / "process").read_text("utf-8"))
        assert is_running(number)
        server.kill()
    until(lambda: not is_running(number))


def test_so_many_wait_and_no_more(tmp_path: Path) -> None:
    with working() as jobs:
        asleep(jobs, tmp_path)
        for _ in range(MOST_WAITING):
            begin(jobs, Answering(1))
        with pytest.raises(BusyError, match="Try again later"):
            begin(jobs, Answering(1))


def test_work_that_no_other_process_can_take_is_refused() -> None:
    with working() as jobs:
        job = ended(jobs, StudySource("s", "sqlite:///s.db", {"own": lambda x: x}))  # type: ignore[arg-type]
        assert "functions of your own" in str(job.problem)


def plan(source: TextSource | StudySource) -> Planning:
    return Planning(source, None, 0.2, brief=True)


HOSTILE = {
    "a long key": "a" + ".a" * 20_000 + "=1",
    "deep lists": "x = " + "[" * 30_000,
    "deep and closed": "x = " + "[" * 3000 + "]" * 3000,
    "deep tables": "x = " + "{a=" * 20_000,
    "a huge number": "x = " + "9" * 60_000,
    "too long": "#" * (MOST_TEXT + 1),
    "too many arms": "[arms]\n" + "\n".join(f"a{k} = 1" for k in range(MOST_ARMS + 1)),
    "too many limits": f"constraints = {['mean(x) <= 1'] * 21}",
    "no TOML": "{",
    "a file": '[noise]\nfamily = "table"\npath = "/etc/passwd"',
    "a path": '[noise]\npath = "/etc/passwd"',
    "code": '[functions]\nf = "os:system"',
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_typed_in_is_refused_in_no_time(case: str) -> None:
    begun = time.process_time()
    with pytest.raises(InputError) as caught:
        pasted_instance(HOSTILE[case])
    assert time.process_time() - begun < 1.0, "the parser alone took eight times as long"
    assert len(str(caught.value)) < 500


def test_a_plan_is_work_that_another_process_takes(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    study = rf.Study.create(
        "kept", arms=["a", "b"], objective="maximize mean(score)",
        constraints=["mean(cost) <= 2"], budget=60, storage=storage, policy="constrained-sr",
    )  # fmt: skip
    study.optimize(lambda arm, seed: {"score": seed % 7 + (arm == "b"), "cost": seed % 5 / 4})
    source = Shelf(storage).source("kept")
    text = (
        'objective = "maximize mean(x)"\nconstraints = ["mean(y) <= 2"]\nmetrics = ["x", "y"]\n'
        '[noise]\nfamily = "gaussian"\ncovariance = [[1.0, 0.0], [0.0, 1.0]]\n'
        "[arms]\na = { mean = [0.0, 0.0] }\nb = { mean = [1.0, 1.0] }\n"
    )
    with working() as jobs:
        found = [ended(jobs, plan(one)) for one in (TextSource(text), source)]
        assert [job.problem for job in found] == [None] * 2
        assert [job.result.instance for job in found] == ["your instance", "kept"]
        refused = ended(jobs, plan(TextSource(HOSTILE["a long key"])))
        assert "nested too deeply" in str(refused.problem)


def test_a_study_in_memory_cannot_be_planned_from_elsewhere() -> None:
    shelf = Shelf("memory://")
    rf.Study.create(
        "lost", arms=["a", "b"], objective="maximize mean(score)",
        constraints=["mean(cost) <= 2"], budget=60, storage=shelf.storage,
    )  # fmt: skip
    with pytest.raises(InputError, match="kept in memory"):
        shelf.source("lost")
