"""`ringfence run`, killed and run again at once: leases of ten minutes are not waited for."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ringfence.core.errors import InputError
from ringfence.study.facts import PullFact, State
from tests.contracts.places import Place
from tests.e2e.command_line import Outcome, process, ringfence

ROOT = Path(__file__).parents[2]
MAIN = "from ringfence.interfaces.cli.app import main; main()"
LEASE_SECONDS = 600.0
AT_ONCE_SECONDS = 60.0  # processes start slowly; what matters is that it is no lease
BUDGET = 24
STUDY = """\
name = "s"
objective = "minimize mean(loss)"
constraints = ["mean(risk) <= 1.0"]
budget = {budget}
policy = "uniform"
seed = 5
lease_seconds = {lease_seconds}
max_leases = {max_leases}
max_failures = {max_failures}
arms = ["one", "two", "three", "four"]
[pull]
python = "slowly:evaluate"
"""
SLOWLY = """\
import os, random, signal, time
from pathlib import Path

def evaluate(arm, seed):
    if Path("deadly").exists() and arm == "three":
        os.kill(os.getpid(), signal.SIGKILL)
    began = time.monotonic()
    while Path(f"hold.{os.environ.get('WHO')}").exists() and time.monotonic() < began + 60:
        time.sleep(0.01)
    rng = random.Random(seed)
    return {"loss": rng.random(), "risk": rng.random()}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path)


def write(folder: Path, **changes: Any) -> Path:
    (folder / "slowly.py").write_text(SLOWLY, encoding="utf-8")
    settings = {
        "budget": BUDGET,
        "lease_seconds": LEASE_SECONDS,
        "max_leases": 10,
        "max_failures": 3,
    }
    text = STUDY.format(**(settings | changes))
    (folder / "s.toml").write_text(text, encoding="utf-8")
    return folder / "s.toml"


def command(file: Path, place: Place, *options: str) -> list[str]:
    return [
        *(sys.executable, "-c", MAIN, "run", str(file), "--json"),
        *("--storage", str(place.url), *options),
    ]


@contextmanager
def running(
    file: Path, place: Place, who: str, *options: str
) -> "Iterator[subprocess.Popen[bytes]]":
    """Run the study beside this process; its evaluations end when `hold.WHO` is gone."""
    (file.parent / f"hold.{who}").touch()
    with subprocess.Popen(
        command(file, place, *options),
        cwd=file.parent,
        env=os.environ | {"WHO": who},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as child:
        try:
            yield child
        finally:
            (file.parent / f"hold.{who}").unlink(missing_ok=True)
            child.kill()


def pulls(place: Place) -> list[PullFact]:
    try:
        with place.open().reading("s") as ledger:
            return list(ledger.pulls_between(1, 10_000))
    except InputError:  # not created yet
        return []
    finally:
        place.close()


def issued(place: Place, count: int, *, told: int = 0) -> list[PullFact]:
    """Wait until so many pulls are held, and so many told; return those that are held."""
    end = time.monotonic() + AT_ONCE_SECONDS
    while time.monotonic() < end:
        known = pulls(place)
        held = [pull for pull in known if pull.state == State.ISSUED]
        if len(held) >= count and len(known) - len(held) >= told:
            return held
        time.sleep(0.05)
    raise AssertionError(f"{count} pulls were not taken in time")


def kill(child: "subprocess.Popen[bytes]") -> None:
    child.kill()
    child.wait()


def run_again(file: Path, place: Place) -> tuple[Outcome, float]:
    began = time.monotonic()
    done = process(*command(file, place), folder=file.parent)
    return done, time.monotonic() - began


def require_sound(file: Path, place: Place, told: int) -> None:
    doctor = ringfence("doctor", file, "--json", "--storage", str(place.url)).document
    assert (doctor["ok"], doctor["told"], doctor["issued"]) == (True, told, 0)


def test_a_run_that_was_killed_is_gone_on_with_at_once(
    sql_place: Place, file: Path, tmp_path: Path
) -> None:
    (tmp_path / "quiet").mkdir()
    quiet = Place("sqlite", f"sqlite:///{tmp_path / 'quiet' / 's.db'}")
    wanted = process(*command(file, quiet), folder=file.parent)
    with running(file, sql_place, "first", "--workers", "3") as first:
        held = issued(sql_place, 3)
        kill(first)
    assert all(pull.deadline > time.time() + 0.5 * LEASE_SECONDS for pull in held)
    done, seconds = run_again(file, sql_place)
    assert seconds < AT_ONCE_SECONDS < LEASE_SECONDS
    assert (done.code, done.document) == (wanted.code, wanted.document)
    assert "waiting" not in done.err
    lost = {pull.number for pull in held}
    for pull in pulls(sql_place):
        assert pull.state == State.TOLD
        assert (pull.lease, pull.run_out) == ((2, 1) if pull.number in lost else (1, 0))
    require_sound(file, sql_place, BUDGET)


def test_a_live_run_takes_over_from_one_that_was_killed_and_keeps_its_own(
    sql_place: Place, file: Path
) -> None:
    with running(file, sql_place, "live", "--workers", "2") as live:
        own = {pull.number for pull in issued(sql_place, 2)}
        with running(file, sql_place, "dead", "--workers", "3") as dead:
            lost = {pull.number for pull in issued(sql_place, 5)} - own
            kill(dead)
        assert len(lost) == 3
        # A third one: it may have the leases of the dead, and not those of the living.
        with running(file, sql_place, "third", "--workers", "5"):
            end = time.monotonic() + AT_ONCE_SECONDS
            while (known := {one.number: one for one in pulls(sql_place)}) and not all(
                known[number].lease == 2 for number in lost
            ):
                assert time.monotonic() < end, "the leases of the dead were not given out"
                time.sleep(0.05)
            assert all(known[number].lease == 1 for number in own)
            for who in ("live", "third"):
                (file.parent / f"hold.{who}").unlink()
            _, said = live.communicate(timeout=AT_ONCE_SECONDS)
    assert live.returncode in (0, 3, 4), said
    for pull in pulls(sql_place):
        assert pull.state == State.TOLD
        assert (pull.lease, pull.run_out) == ((2, 1) if pull.number in lost else (1, 0))
    require_sound(file, sql_place, BUDGET)


def test_an_arm_that_kills_every_run_is_withdrawn_without_waiting_for_a_lease(
    tmp_path: Path,
) -> None:
    file = write(tmp_path, max_leases=2, max_failures=1)
    place = Place("sqlite", f"sqlite:///{tmp_path / 's.db'}")
    (tmp_path / "deadly").touch()
    began, lives = time.monotonic(), 0
    while (done := process(*command(file, place), folder=tmp_path)).code == -9:
        lives += 1
        assert lives < 20, "it was never withdrawn"
    assert time.monotonic() - began < 0.5 * LEASE_SECONDS
    assert done.code in (0, 3, 4), done.err
    broken = [pull for pull in pulls(place) if pull.arm == 2]
    failed = [pull for pull in broken if pull.state == State.FAILED]
    assert [(pull.run_out, pull.charged) for pull in failed] == [(2, True)]
    assert lives == 2, "as many as a pull may have leases"


def test_coroutines_that_were_killed_are_gone_on_with_at_once(sql_place: Place) -> None:
    program = (
        "import asyncio, sys\n"
        "import ringfence as rf\n"
        "async def evaluate(arm, seed):\n"
        "    print(arm, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "study = rf.Study.create('s', arms=['one', 'two'], objective='minimize mean(loss)',\n"
        "    constraints='mean(risk) <= 1', budget=8, policy='uniform', storage=sys.argv[1])\n"
        "asyncio.run(study.optimize_async(evaluate, workers=2))\n"
    )
    given = [sys.executable, "-c", program, str(sql_place.url)]
    with subprocess.Popen(given, cwd=ROOT, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert sorted(child.stdout.readline().strip() for _ in range(2)) == [b"one", b"two"]
        kill(child)
    asked = ringfence("ask", "s", "-n", "3", "--json", "--storage", str(sql_place.url)).document
    assert [(pull["pull"], pull["lease"]) for pull in asked["pulls"]] == [(1, 2), (2, 2), (3, 1)]


def test_what_a_script_asked_for_is_not_given_to_the_next_one(tmp_path: Path, file: Path) -> None:
    """It asked for somebody else, and has ended long before that one tells."""
    place = ["--storage", f"sqlite:///{tmp_path / 's.db'}"]
    ask = [sys.executable, "-c", MAIN, "ask", str(file), "--json", *place]
    first, second = (json.loads(process(*ask).out)["pulls"] for _ in range(2))
    assert [pull["pull"] for pull in (*first, *second)] == [1, 2]
    values = '{"loss": 0.5, "risk": 0.5}'
    told = ringfence("tell", file, 1, 1, values, "--json", *place)
    assert told.document["status"] == "told"
