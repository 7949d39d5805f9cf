"""`ringfence run` where evaluations fail: it waits, says so, ends, is killed, and goes on."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from tests.e2e.command_line import ringfence
from tests.e2e.test_run_interrupts import running, wait_for
from tests.e2e.test_study_commands import COMMAND, PROGRAM, document, write_study

# While there is a file `out`, the service is out; it notes every call.
SERVICE = f"""\
import os
with open("calls", "a") as calls:
    calls.write(".")
if os.path.exists("out"):
    raise SystemExit("429 too many requests")
{PROGRAM}"""
FUNCTION = """
import os, random

def evaluate(arm, seed):
    with open("calls", "a") as calls:
        calls.write(".")
    if os.path.exists("out"):
        raise RuntimeError("429 too many requests")
    chance = random.Random(seed)
    cost = {"cheap": 1.0, "solid": 2.0, "dear": 3.0}[arm]
    risk = {"cheap": 0.9, "solid": 0.3, "dear": 0.2}[arm]
    return {"cost": chance.gauss(cost, 0.5), "risk": chance.gauss(risk, 0.2)}
"""


def write(folder: Path, way: str, *, soon: float = 0.05, **changes: Any) -> Path:
    """Write a study whose evaluations fail while there is a file `out`."""
    (folder / "service.py").write_text(FUNCTION, encoding="utf-8")
    pull: dict[str, Any] = {"python": "service:evaluate"}
    if way == "command":
        pull = {"command": COMMAND}
    pull |= {"backoff_seconds": soon} | changes.pop("pull", {})
    return write_study(folder, program=SERVICE, pull=pull, policy="top-two", **changes)


def calls(folder: Path) -> int:
    place = folder / "calls"
    return place.stat().st_size if place.exists() else 0


def reached(folder: Path, goal: int) -> bool:
    return calls(folder) >= goal


def load(folder: Path) -> rf.Study:
    return rf.Study.load("trial", storage=f"sqlite:///{folder / 'trial.db'}")


def counts(folder: Path) -> tuple[int, int, int]:
    """Return how many pulls were told, failed and charged, and are held."""
    study = load(folder)
    stands = study.status()
    return stands.told, stands.failed, len(study.desk.held())


@contextmanager
def out(folder: Path) -> Iterator[Path]:
    """Let the service be out."""
    place = folder / "out"
    place.touch()
    try:
        yield place
    finally:
        place.unlink(missing_ok=True)


def run(folder: Path, *options: str) -> tuple[int, Any, str]:
    """Run the study to its end, in a process of its own."""
    with running(folder, "--json", *options) as process:
        said, heard = process.communicate(timeout=120)
    return process.returncode, json.loads(said) if said else None, heard.decode()


@pytest.mark.parametrize(("way", "workers"), [("command", 8), ("python", 1)])
def test_a_run_waits_for_the_end_of_an_outage(tmp_path: Path, way: str, workers: int) -> None:
    write(tmp_path, way)
    with running(tmp_path, "--workers", str(workers), "--json") as process:
        assert wait_for(lambda: calls(tmp_path) >= 12)
        with out(tmp_path):
            before = calls(tmp_path)
            assert wait_for(lambda: calls(tmp_path) >= before + 30)
        said, heard = process.communicate(timeout=60)
    words = heard.decode()
    assert process.returncode in (0, 4), words
    assert "waiting: " in words
    assert " evaluations in a row failed, over " in words
    assert "429 too many requests. Next try in " in words
    assert "Ctrl-C stops; nothing of it is charged." in words
    assert "evaluations succeed again" in words
    verdict = json.loads(said)
    assert verdict["pulls_used"] == 60
    assert counts(tmp_path) == (60, 0, 0)
    assert load(tmp_path).doctor().is_sound


def test_an_outage_that_lasts_ends_with_how_to_go_on(tmp_path: Path) -> None:
    write(tmp_path, "python", pull={"outage_minutes": 0.01})
    with out(tmp_path):
        with running(tmp_path, "--workers", "2") as process:
            said, heard = process.communicate(timeout=60)
        assert (process.returncode, said) == (1, b"")
        (last,) = heard.decode().splitlines()[-1:]
        assert last.startswith("error: ")
        for words in (
            "evaluations in a row failed, over 3 arms",
            "429 too many requests",
            "not charged",
            "Go on with: ringfence run trial.toml.",
            "The verdict so far: ringfence recommend trial.toml",
        ):
            assert words in last
        assert counts(tmp_path) == (0, 0, 0)
        before = calls(tmp_path)
        code, _, heard = run(tmp_path, "--outage-minutes", "0")
        assert (code, calls(tmp_path)) == (1, before + 6)
    code, verdict, _ = run(tmp_path)
    assert code in (0, 4)
    assert verdict["pulls_used"] == 60


def test_an_interrupt_ends_the_wait_at_once(tmp_path: Path) -> None:
    write(tmp_path, "command", soon=600.0)
    with out(tmp_path), running(tmp_path) as process:
        assert process.stderr is not None
        assert wait_for(lambda: calls(tmp_path) >= 8)  # the waits are 1, 2, and then 4 s
        process.send_signal(signal.SIGINT)
        _, heard = process.communicate(timeout=20)
    assert (process.returncode, calls(tmp_path)) == (1, 8), "the wait was not waited out"
    assert heard.decode().splitlines()[-1] == (
        "interrupted while evaluations fail whatever the arm; its leases were given back. Resume "
        "with: ringfence run trial.toml"
    )
    assert counts(tmp_path) == (0, 0, 0)


@pytest.mark.parametrize("workers", [1, 4])
def test_whoever_is_killed_in_an_outage_goes_on_after_it(tmp_path: Path, workers: int) -> None:
    write(tmp_path, "python", lease_seconds=1.0)
    with running(tmp_path, "--workers", str(workers)) as process:
        assert wait_for(lambda: calls(tmp_path) >= 20)
        with out(tmp_path):
            before = calls(tmp_path)
            assert wait_for(lambda: calls(tmp_path) >= before + 15)
            process.kill()
            process.wait()
    code, verdict, _ = run(tmp_path, "--workers", str(workers))
    assert code in (0, 4)
    assert verdict["pulls_used"] == 60
    assert counts(tmp_path) == (60, 0, 0)
    study = load(tmp_path)
    assert study.doctor().is_sound
    assert not [arm for arm in study.recommend().arms if arm.status == "withdrawn"]


def test_kills_at_any_moment_of_an_outage_withdraw_no_arm(tmp_path: Path) -> None:
    """Each is killed after a few failures, before and after an outage is found."""
    write(tmp_path, "python", lease_seconds=0.5, budget=40)
    with out(tmp_path):
        for kill in range(4):
            with running(tmp_path, "--workers", "3") as process:
                goal = calls(tmp_path) + 2 + 3 * kill
                assert wait_for(partial(reached, tmp_path, goal))
                process.kill()
                process.wait()
    assert run(tmp_path, "--workers", "3")[0] in (0, 4)
    told, failed, held = counts(tmp_path)
    assert (told + failed, held) == (40, 0)
    assert failed <= 5, "fewer than an outage"
    study = load(tmp_path)
    assert study.doctor().is_sound
    assert not [arm for arm in study.recommend().arms if arm.status == "withdrawn"]


# ------------------------------------------------------------------------------ failures as data

LATENCY = """\
import json, random, sys, time
arm, seed = sys.argv[1], int(sys.argv[2])
chance = random.Random(seed)
if arm == "b" and chance.random() < 0.12:
    time.sleep(60)
print(json.dumps({
    "latency_s": chance.gauss({"a": 1.2, "b": 0.8}[arm], 0.1),
    "correct": float(chance.random() < {"a": 0.8, "b": 0.9}[arm]),
}))
"""


def test_an_option_that_times_out_is_not_the_best(tmp_path: Path) -> None:
    file = write_study(
        tmp_path, program=LATENCY, arms=["a", "b"], objective="maximize mean(correct)",
        constraints=["p95(latency_s) <= 2"], budget=120, policy="uniform",
        pull={"command": COMMAND, "timeout_seconds": 0.5},
    )  # fmt: skip
    text = file.read_text("utf-8") + "\non_timeout = { latency_s = 10, correct = 0 }\n"
    file.write_text(text, encoding="utf-8")
    verdict = document(ringfence("run", file, "--workers", "4", "--json"))
    assert verdict["arm"] == "a"
    b = next(arm for arm in verdict["arms"] if arm["name"] == "b")
    assert b["kind"] != "optimal"
    assert max(load(tmp_path).observations()["latency_s"]) == 10.0


def test_scripts_tell_what_timed_out(tmp_path: Path) -> None:
    file = write(tmp_path, "python")
    text = file.read_text("utf-8") + "\non_timeout = { cost = 50, risk = 5 }\n"
    file.write_text(text, encoding="utf-8")
    for pull in ("1", "2"):
        ringfence("ask", file)
        late = ["--timed-out"] if pull == "1" else []
        assert ringfence("fail", file, pull, "1", *late).code == 0
    assert load(tmp_path).observations()["cost"] == [50.0]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("outage_minutes = -1", "outage_minutes = -1"),
        ("backoff_seconds = 0", "backoff_seconds = 0"),
        ("outage_minutes = '5'", "outage_minutes"),
        ("on_timeout = { cost = 1 }", "on_timeout"),
        ("on_failure = 7", "on_failure"),
        ("on_failure = { cost = 1, risk = 'high' }", "risk"),
    ],
)
def test_files_that_say_it_wrongly_are_refused(tmp_path: Path, line: str, words: str) -> None:
    file = write_study(tmp_path, pull={"command": COMMAND})
    file.write_text(file.read_text("utf-8") + f"\n{line}\n", encoding="utf-8")
    done = ringfence("run", file)
    assert done.code == 2
    assert str(file) in done.err
    assert words in done.err
    assert not (tmp_path / "trial.db").exists()


def test_time_outs_need_a_time(tmp_path: Path) -> None:
    file = write_study(tmp_path, pull={"command": COMMAND})
    text = file.read_text("utf-8") + "\non_timeout = { cost = 1, risk = 1 }\n"
    file.write_text(text, encoding="utf-8")
    done = ringfence("run", file)
    assert done.code == 2
    assert "pull.on_timeout has no effect without pull.timeout_seconds" in done.err


# -------------------------------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ('{"cost": 1.0, "rsik": 0.2}', ("'risk'", "missing", "'rsik'", "{'cost': 1.0")),
        ("[1.0, 0.2]", ("[1.0, 0.2]", "JSON object")),
    ],
)
def test_a_program_that_prints_the_wrong_shape_ends_the_run(
    tmp_path: Path, printed: str, words: tuple[str, ...]
) -> None:
    file = write_study(tmp_path, program=f"print('''{printed}''')", budget=20)
    done = ringfence("run", file, "--workers", "2")
    assert done.code == 2, done.err
    for word in words:
        assert word in done.err
    assert counts(tmp_path) == (0, 0, 0)
    (tmp_path / "evaluate.py").write_text(PROGRAM, encoding="utf-8")
    assert ringfence("run", file).code in (0, 4)
    assert counts(tmp_path)[1:] == (0, 0)


def test_no_process_is_left(tmp_path: Path) -> None:
    """A program that hangs in an outage is ended when the run gives up."""
    slow = (
        "import os, sys, time\n"
        "open(f'pid.{os.getpid()}', 'w').close()\n"
        "time.sleep(120) if sys.argv[1] == 'dear' else sys.exit('429')\n"
    )
    write_study(tmp_path, program=slow, pull={"command": COMMAND}, policy="uniform")
    command = [sys.executable, "-c", "from ringfence.interfaces.cli.app import main; main()"]
    done = subprocess.run(
        [*command, "run", "trial.toml", "--workers", "3", "--outage-minutes", "0"],
        cwd=tmp_path, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    hung = [int(one.suffix[1:]) for one in tmp_path.glob("pid.*")]
    assert wait_for(lambda: not any(Path(f"/proc/{one}").exists() for one in hung))
    assert counts(tmp_path) == (0, 0, 0)
