"""Studies from the command line, with real programs as arms and a database on disk."""

import csv
import json
import shlex
import shutil
import sqlite3
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.reports.departures import departure
from tests.e2e.command_line import Outcome, process, ringfence, ringfence_process
from tests.unit.drawing import BROKE

PROGRAM = """\
import json, random, sys
arm, seed = sys.argv[1], int(sys.argv[2])
rng = random.Random(seed)
cost = {"cheap": 1.0, "solid": 2.0, "dear": 3.0}.get(arm, 2.0)
risk = {"cheap": 0.9, "solid": 0.3, "dear": 0.2}.get(arm, 0.3)
print(json.dumps({"cost": rng.gauss(cost, 0.5), "risk": rng.gauss(risk, 0.2)}))
"""
# Without the packages of this environment it starts in half the time, and it is started often.
COMMAND = [sys.executable, "-IS", "evaluate.py", "{arm}", "{seed}"]
KEYS = {"arm", "feasible", "verdict", "confidence", "pulls_used", "budget", "arms"}


def write_study(folder: Path, *, program: str = PROGRAM, **changes: Any) -> Path:
    """Write a study of three arms, evaluated by a program, and return its file."""
    script = folder / "evaluate.py"
    script.write_text(program, encoding="utf-8")
    content: dict[str, Any] = {
        "name": "trial",
        "objective": "minimize mean(cost)",
        "constraints": ["mean(risk) <= 0.6"],
        "budget": 60,
        "policy": "constrained-sr",
        "arms": ["cheap", "solid", "dear"],
        "seed": 5,
    } | changes
    pull = content.pop("pull", {"command": COMMAND})
    lines = [f"{key} = {json.dumps(value)}" for key, value in content.items()]
    lines += ["[pull]", *(f"{key} = {json.dumps(value)}" for key, value in pull.items())]
    path = folder / "trial.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def document(done: Outcome) -> dict[str, Any]:
    """Return the JSON on standard output, which must be all there is."""

    def refuse(word: str) -> Any:
        raise AssertionError(f"not strict: {word}")

    found = json.loads(done.out, parse_constant=refuse)
    assert isinstance(found, dict)
    return found


def test_a_study_runs_from_a_file_to_a_verdict(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    done = ringfence("run", str(file), "--workers", "3", "--json")
    verdict = document(done)
    assert done.code == 0
    assert verdict.keys() >= KEYS
    assert (verdict["arm"], verdict["feasible"], verdict["verdict"]) == ("solid", True, "feasible")
    assert verdict["pulls_used"] <= verdict["budget"] == 60
    assert (tmp_path / "trial.db").exists()
    by_name = {arm["name"]: arm for arm in verdict["arms"]}
    assert by_name["cheap"]["kind"] == "deceiver"
    assert by_name["cheap"]["blocked_by"] == ["mean(risk) <= 0.6"]
    value = by_name["solid"]["estimates"]["mean(cost)"]
    assert value["low"] < value["value"] < value["high"]
    again = ringfence("run", str(file), "--json")
    assert document(again) == verdict  # finished: nothing is spent, the verdict stays
    assert ringfence("recommend", str(file), "--json").out == again.out


def test_the_same_study_gives_the_same_verdict_however_it_is_run(tmp_path: Path) -> None:
    """By commands with one worker and with four, and by a Python function."""
    verdicts = []
    for workers in ("1", "4"):
        folder = tmp_path / workers
        folder.mkdir()
        file = write_study(folder, policy="top-two", batch=4)
        verdicts.append(document(ringfence("run", str(file), "--workers", workers, "--json")))
    assert verdicts[0] == verdicts[1]

    def evaluate(arm: str, seed: int) -> dict[str, float]:
        done = process(sys.executable, "-IS", tmp_path / "1" / "evaluate.py", arm, seed)
        found: dict[str, float] = json.loads(done.out)
        return found

    study = rf.Study.create(
        "trial",
        arms=["cheap", "solid", "dear"],
        objective="minimize mean(cost)",
        constraints=["mean(risk) <= 0.6"],
        budget=60,
        policy="top-two",
        batch=4,
        seed=5,
        storage="memory://",
    )
    verdict = study.optimize(evaluate, workers=2)
    assert verdict is not None
    assert verdict.arm == verdicts[0]["arm"]
    assert verdict.confidence == verdicts[0]["confidence"]
    assert [arm.pulls for arm in verdict.arms] == [arm["pulls"] for arm in verdicts[0]["arms"]]


@pytest.mark.parametrize(
    ("limit", "code", "word"),
    [("mean(risk) <= 0.6", 0, "feasible"), ("mean(risk) <= -1", 3, "infeasible"),
     ("mean(risk) <= 0.2", 4, "too-close-to-call")],
)  # fmt: skip
def test_exit_codes_tell_the_verdict(tmp_path: Path, limit: str, code: int, word: str) -> None:
    file = write_study(tmp_path, constraints=[limit], arms=["dear", "solid"], budget=40)
    done = ringfence("run", str(file))
    assert done.code == code
    assert ringfence("recommend", str(file), "--json").code == code
    assert document(ringfence("recommend", str(file), "--json"))["verdict"] == word


def test_no_failure_in_ten_pulls_is_no_success_and_open_ends_are_shown(tmp_path: Path) -> None:
    """An exit 0 says that the named arm keeps its limits: that 1% of pulls fail ten do not show."""
    program = PROGRAM.replace('{"cost":', '{"fail": 0, "cost":')
    limits = ["mean(fail) <= 0.01", "p95(risk) <= 2"]
    file = write_study(
        tmp_path, program=program, constraints=limits, arms=["dear", "solid"], budget=20,
        policy="uniform",
    )  # fmt: skip
    for command in ("run", "recommend"):
        done = ringfence(command, str(file), "--json")
        found = document(done)
        assert (done.code, found["verdict"]) == (4, "too-close-to-call")
        assert found["chance_keeps_limits"] < 0.5
        for arm in found["arms"]:
            assert arm["estimates"]["p95(risk)"]["high"] is None
            assert 0.15 < arm["estimates"]["mean(fail)"]["high"] < 0.25
            assert 0.0 < arm["chance_best"] < 1.0
            assert (arm["chance_feasible"] < 0.5, arm["failed"]) == (True, 0)
    assert "(at least " in ringfence("recommend", str(file), "--wide").out


def test_a_verdict_below_the_confidence_that_was_asked_for_is_no_success(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    sure = document(ringfence("run", str(file), "--json"))["confidence"]
    assert 0.5 < sure <= 1.0
    for command in ("recommend", "run"):
        for least in (0, sure, 1):
            done = ringfence(command, str(file), "--min-confidence", repr(least), "--json")
            found = document(done)
            assert (done.code, found["min_confidence"]) == (4 if least > sure else 0, least)
            assert found["verdict"] == "feasible"  # what the data say stays as it is
    assert "min_confidence" not in document(ringfence("recommend", str(file), "--json"))


def test_a_verdict_that_is_too_unsure_says_why_it_ends_with_4(tmp_path: Path) -> None:
    program = PROGRAM.replace('"dear": 3.0', '"dear": 2.02')
    file = write_study(tmp_path, program=program)
    verdict = document(ringfence("run", str(file), "--json"))
    assert (verdict["verdict"], verdict["confidence"] < 0.99) == ("feasible", True)
    said = ringfence("recommend", str(file), "--min-confidence", "0.99")
    assert said.code == 4
    assert f"{100 * verdict['confidence']:.1f}% sure is less than the 99% asked for" in said.out
    assert ringfence("recommend", str(file)).code == 0


@pytest.mark.parametrize("least", ["-0.1", "1.01", "95", "nan", "inf"])
def test_a_confidence_that_is_no_chance_is_refused_before_any_work(
    tmp_path: Path, least: str
) -> None:
    file = write_study(tmp_path)
    done = ringfence("run", str(file), "--min-confidence", least)
    assert done.code == 2
    assert f"min-confidence = {least} must be between 0 and 1." in done.err
    assert ("Write 0.95 for 95%." in done.err) == (least == "95")
    assert not (tmp_path / "trial.db").exists()


def test_the_table_is_as_wide_as_it_is_asked_to_be(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    brief = ringfence_process("run", str(file), COLUMNS="80")
    assert brief.code == 0
    lines = brief.out.splitlines()
    first = next(place for place, line in enumerate(lines) if "───" in line) + 1
    assert max(map(len, lines[1 : first + 3])) <= 80
    rows = [line.split()[0] for line in lines[first : first + 3]]
    assert rows[0] == "solid"  # the answer
    assert set(rows) == {"cheap", "solid", "dear"}
    assert "chance" in lines[first - 3]
    wide = ringfence_process("recommend", str(file), "--wide", COLUMNS="80")
    assert " to " in wide.out
    assert "margin" in wide.out
    assert max(map(len, wide.out.splitlines())) > 100


def test_scripts_ask_and_tell(tmp_path: Path) -> None:
    file = str(write_study(tmp_path, budget=12, policy="uniform"))
    first = document(ringfence("ask", file, "-n", "2", "--json"))["pulls"]
    assert [pull["pull"] for pull in first] == [1, 2]
    assert first[0].keys() >= {"pull", "lease", "arm", "seed", "deadline"}
    metrics = '{"cost": 1.5, "risk": 0.1}'
    told = ringfence("tell", file, "1", "1", metrics, "--json")
    assert document(told) == {"status": "told", "notes": []}
    assert (
        document(ringfence("tell", file, "1", "1", metrics, "--json"))["status"] == "already-told"
    )
    other = ringfence("tell", file, "1", "1", '{"cost": 9, "risk": 0.1}')
    assert (other.code, other.out) == (2, "")
    assert "already told other values" in other.err
    never = ringfence("tell", file, "2", "7", metrics)
    assert "lease 7 of pull 2 of study 'trial' was never issued: lease 1 holds" in never.err
    assert never.code == 2
    assert (
        document(ringfence("fail", file, "2", "1", "--error", "no", "--json"))["status"] == "failed"
    )
    status = document(ringfence("status", file, "--json"))
    keys = ("told", "issued", "failed", "lost", "budget", "phase")
    assert {key: status[key] for key in keys} == {
        "told": 1, "issued": 0, "failed": 1, "lost": 0, "budget": 12, "phase": 0,
    }  # fmt: skip
    assert status["alive"] == ["cheap", "solid", "dear"]
    assert status.keys() >= {"arm", "feasible"}


def test_a_study_is_stopped_archived_and_run_again(tmp_path: Path) -> None:
    file = str(write_study(tmp_path, budget=30, policy="uniform"))
    storage = f"sqlite:///{tmp_path / 'trial.db'}"
    ringfence("ask", file, "-n", "2")
    early = ringfence("archive", file)
    assert (early.code, "is not over" in early.err) == (2, True)
    assert [ringfence("stop", file).out for _ in range(2)] == ["stopped\n", "already-stopped\n"]
    assert "to go on: ringfence resume trial" in ringfence("ask", file).out
    assert document(ringfence("ask", file, "--json"))["stopped"]
    assert "trial is stopped since 20" in ringfence("status", file).out
    assert document(ringfence("archive", file, "--json")) == {"status": "archived"}
    assert ringfence("studies", "--storage", storage).out == ""
    assert ringfence("studies", "--storage", storage, "--archived").out == "trial\n"
    assert ringfence("unarchive", file).out == "unarchived\n"
    assert ringfence("studies", "--storage", storage).out == "trial\n"
    assert ringfence("doctor", file).code == 0
    assert ringfence("resume", file).out == "resumed\n"
    assert "stopped" not in ringfence("status", file).out


def test_a_running_study_is_told_when_to_end(tmp_path: Path) -> None:
    file = str(write_study(tmp_path, budget=30, policy="top-two"))
    ringfence("ask", file, "-n", "2")
    said = ringfence("stop-when", file, "--confidence", "0.95").out
    assert said.startswith("set\nends when its answer is proven: confidence 0.95\nfirst come ")
    assert "ends when its answer is proven: confidence 0.95" in ringfence("status", file).out
    early = ringfence("stop-when", file, "--confidence", "0.9")
    assert (early.code, "less than the 0.95 by which the study ends" in early.err) == (2, True)
    wide = ("stop-when", file, "--confidence", "0.9", "--within", "0.1", "--note", "in a hurry")
    asked = {"confidence": 0.9, "within": 0.1}
    assert document(ringfence(*wide, "--json")) == {"status": "set", "stop": asked}
    assert ringfence(*wide).out.startswith("unchanged\n")
    assert ringfence("doctor", file).code == 0


def test_scripts_lose_pulls_and_bring_arms_back(tmp_path: Path) -> None:
    file = str(write_study(tmp_path, budget=30, policy="uniform", max_failures=2))
    given = document(ringfence("ask", file, "-n", "9", "--json"))["pulls"]
    mine = [pull["pull"] for pull in given if pull["arm"] == "cheap"]
    assert document(ringfence("lost", file, str(mine[0]), "1", "--json")) == {"status": "lost"}
    assert ringfence("lost", file, str(mine[0]), "1").out == "already-lost\n"
    for pull in mine[1:]:
        ringfence("fail", file, str(pull), "1", "--error", "429")
    assert ringfence("revive", file, "cheap").out == "revived\n"
    again = ringfence("revive", file, "cheap", "--json")
    assert document(again) == {"status": "already-in-the-running"}
    nobody = ringfence("revive", file, "chaep")
    assert (nobody.code, "Did you mean 'cheap'" in nobody.err) == (2, True)
    other = str(next(pull["pull"] for pull in given if pull["arm"] == "dear"))
    metrics = '{"cost": 1.5, "risk": 0.1, "kWh": 2, "log": "text"}'
    told = ringfence("tell", file, other, "1", metrics)
    assert told.out == "told\n"
    assert "'log' is no finite number, and was not recorded" in told.err
    table = tmp_path / "pulls.csv"
    ringfence("export", file, "--output", str(table))
    assert table.read_text().splitlines()[0] == "pull,arm,seed,cost,risk,kWh"
    assert ringfence("doctor", file).code == 0


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        ("{", ["JSON object"]),
        ("[1]", ["JSON object"]),
        ('{"cost": 1}', ["'risk'", "missing"]),
        ('{"cost": 1, "rsik": 2}', ["'risk' is missing", "'rsik'", "Did you mean 'risk'"]),
        ('{"cost": NaN, "risk": 1}', ["'cost'", "finite"]),
        ('{"cost": "1", "risk": 1}', ["'cost'", "finite"]),
        ('{"cost": null, "risk": 1}', ["'cost'", "finite"]),
    ],
)
def test_bad_metrics_are_refused_and_change_nothing(
    tmp_path: Path, metrics: str, words: list[str]
) -> None:
    file = str(write_study(tmp_path))
    ringfence("ask", file)
    before = ringfence("status", file, "--json").out
    done = ringfence("tell", file, "1", "1", metrics)
    assert (done.code, done.out) == (2, "")
    for word in words:
        assert word in done.err
    assert ringfence("status", file, "--json").out == before


BAD_PROGRAMS = {
    "hangs": ("import time; time.sleep(60)", "did not finish within 0.5 seconds"),
    "prints garbage": ("print('hello')", "no JSON object"),
    "prints nothing": ("", "no JSON object"),
    "exits with an error": ("import sys; sys.exit('disk on fire')", "disk on fire"),
    "prints NaN": ('print(\'{"cost": NaN, "risk": 1}\')', "'cost'"),
}


@pytest.mark.parametrize("fault", BAD_PROGRAMS)
def test_an_arm_whose_program_fails_is_withdrawn(tmp_path: Path, fault: str) -> None:
    """The other arms go on, the failures are kept, and explain says what happened."""
    body, words = BAD_PROGRAMS[fault]
    bad = "\n".join(f"    {line}" for line in (body or "pass").splitlines())
    head, _, rest = PROGRAM.partition("rng =")
    program = f"{head}if arm == 'dear':\n{bad}\n    sys.exit(0)\nrng ={rest}"
    pull = {
        "command": COMMAND,
        "timeout_seconds": 0.5 if fault == "hangs" else 20.0,
    }
    file = write_study(tmp_path, program=program, pull=pull, budget=30)
    done = ringfence("run", str(file), "--workers", "2", "--json")
    assert document(done)["arm"] == "solid"
    explained = document(ringfence("explain", str(file), "dear", "--json"))["arms"]
    assert [arm["name"] for arm in explained] == ["dear"]
    assert explained[0]["reason"].startswith(f"{departure(BROKE)} (the last error: ")
    assert words in explained[0]["reason"]
    assert "\n" not in explained[0]["reason"]
    assert f"dear {explained[0]['reason']}" in ringfence("status", str(file)).out
    assert document(ringfence("doctor", str(file), "--json"))["ok"]
    with sqlite3.connect(tmp_path / "trial.db") as connection:
        errors = connection.execute(
            "SELECT error FROM ringfence_pulls WHERE state = 'failed'"
        ).fetchall()
    connection.close()
    assert len(errors) >= 3
    assert words in errors[0][0]


def test_a_study_of_failing_arms_alone_stops_says_so_and_goes_on(tmp_path: Path) -> None:
    file = write_study(tmp_path, program="import sys; sys.exit(7)")
    done = ringfence("run", str(file), "--outage-minutes", "0")
    assert done.code == ringfence("recommend", str(file)).code == 1
    assert "6 evaluations in a row failed, over 3 arms" in done.err
    assert "the last error: exit code 7; it said: nothing" in done.err
    assert f"Go on with: ringfence run {file}" in done.err
    assert "Traceback" not in done.err
    assert ringfence("run", str(write_study(tmp_path))).code == 0, "fixed, and gone on with"


def test_observations_are_exported(tmp_path: Path) -> None:
    import pyarrow.parquet

    file = str(write_study(tmp_path, budget=12, policy="uniform"))
    ringfence("run", file)
    table, parquet = tmp_path / "pulls.csv", tmp_path / "pulls.parquet"
    assert ringfence("export", file, "--output", str(table)).code == 0
    assert document(ringfence("export", file, "--output", str(parquet), "--json"))["rows"] == 12
    with table.open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    assert list(rows[0]) == ["pull", "arm", "seed", "cost", "risk"]
    columns = pyarrow.parquet.read_table(parquet).to_pydict()
    assert [float(row["cost"]) for row in rows] == columns["cost"]
    assert [int(row["seed"]) for row in rows] == columns["seed"]
    wrong = ringfence("export", file, "--output", str(tmp_path / "pulls.xls"))
    assert wrong.code == 2
    assert ".csv, .parquet" in wrong.err
    nowhere = ringfence("export", file, "--output", str(tmp_path / "no" / "folder.csv"))
    assert (nowhere.code, nowhere.out) == (2, "")
    assert f"cannot be written: no folder {str(tmp_path / 'no')!r}" in nowhere.err


DAMAGE = {  # {p}: the table of pulls
    "an observation changed": "UPDATE {p} SET \"values\" = '[99.0, 0.1]' WHERE number = 3",
    "a pull removed": "DELETE FROM {p} WHERE number = 5",
    "a pull of another arm": "UPDATE {p} SET arm = 1 - arm, ordinal = 900 WHERE number = 1",
    "more pulls than the budget": "UPDATE ringfence_studies SET budget = 10",
    "a pull left open": "UPDATE {p} SET state = 'issued' WHERE number = 2",
    "a told pull without values": 'UPDATE {p} SET "values" = NULL WHERE number = 2',
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study that was run: a copy may be damaged."""
    folder = tmp_path_factory.mktemp("finished")
    assert ringfence("run", str(write_study(folder))).code == 0
    return folder


@pytest.mark.parametrize("damage", DAMAGE)
def test_the_doctor_finds_what_is_wrong(finished: Path, tmp_path: Path, damage: str) -> None:
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    file = str(tmp_path / "trial.toml")
    sound = ringfence("doctor", file, "--json")
    assert (sound.code, document(sound)["ok"], document(sound)["problems"]) == (0, True, [])
    connection = sqlite3.connect(tmp_path / "trial.db")
    connection.execute(DAMAGE[damage].format(p="ringfence_pulls"))
    connection.commit()
    connection.close()
    done = ringfence("doctor", "trial", "--storage", f"sqlite:///{tmp_path / 'trial.db'}", "--json")
    assert done.code == 1
    found = document(done)
    assert not found["ok"]
    assert found["problems"]
    assert found.keys() >= {"told", "issued", "failed", "budget"}


UNREADABLE = {  # what is damaged, and the problem that names it
    "values": ("UPDATE {p} SET \"values\" = 'garbage' WHERE number = 3", "pull 3 cannot be read"),
    "words": ('UPDATE {p} SET "values" = \'[1, "x"]\' WHERE number = 3', "values are '[1, \"x\"]'"),
    "missing values": ("UPDATE {p} SET \"values\" = '[1.0]' WHERE number = 3", "pull 3 has values"),
    "state": ("UPDATE {p} SET state = 'zzz' WHERE number = 3", "pull 3 cannot be read: its state"),
    "lease": ("UPDATE {p} SET lease = 'x' WHERE number = 3", "pull 3 cannot be read: its lease"),
    "decision": ("UPDATE {r} SET decided = '{{}}' WHERE number = 1", "round 1 cannot be read"),
    "arms": (
        "UPDATE {r} SET decided = json_set(decided, '$.before', json('[1]')) WHERE number = 1",
        "round 1 is not about 3 arms",
    ),
    "seen": (
        "UPDATE {r} SET decided = json_remove(decided, '$.seen.spent') WHERE number = 1",
        "round 1 does not say which spent it saw",
    ),
}


def damaged(finished: Path, folder: Path, statement: str) -> list[str]:
    """Damage a copy of a finished study; return the words that name it to commands."""
    shutil.copytree(finished, folder, dirs_exist_ok=True)
    connection = sqlite3.connect(folder / "trial.db")
    connection.execute(statement.format(p="ringfence_pulls", r="ringfence_rounds"))
    connection.commit()
    connection.close()
    return ["trial", "--storage", f"sqlite:///{folder / 'trial.db'}"]


@pytest.mark.parametrize("what", UNREADABLE)
def test_the_doctor_names_what_cannot_be_read(finished: Path, tmp_path: Path, what: str) -> None:
    statement, problem = UNREADABLE[what]
    done = ringfence("doctor", *damaged(finished, tmp_path, statement), "--json")
    assert (done.code, done.err) == (1, "")
    (found,) = document(done)["problems"]
    assert problem in found


def test_the_doctor_names_all_that_cannot_be_read(finished: Path, tmp_path: Path) -> None:
    statement = "UPDATE {p} SET \"values\" = 'garbage' WHERE number IN (2, 5)"
    done = ringfence("doctor", *damaged(finished, tmp_path, statement), "--json")
    found = document(done)
    assert [problem.partition(" cannot")[0] for problem in found["problems"]] == [
        "pull 2",
        "pull 5",
    ]


@pytest.mark.parametrize("command", ["doctor", "status", "recommend", "export"])
@pytest.mark.parametrize("key", ["definition", "broken", "budget"])
def test_a_study_that_cannot_be_read_is_an_error(
    finished: Path, tmp_path: Path, command: str, key: str
) -> None:
    words = damaged(finished, tmp_path, f"UPDATE ringfence_studies SET {key} = 'garbage'")
    words += ["--output", str(tmp_path / "pulls.csv")] if command == "export" else []
    done = ringfence(command, *words)
    assert (done.code, done.out) == (1, "")
    assert "study 'trial'" in done.err
    assert f"cannot be read: its {key} is 'garbage'. Restore the database from a backup" in done.err


@pytest.mark.parametrize("values", ["garbage", '[1, "x"]', "[1.0]", "5"])
def test_a_verdict_on_pulls_that_cannot_be_read_is_an_error(
    finished: Path, tmp_path: Path, values: str
) -> None:
    statement = f"UPDATE {{p}} SET \"values\" = '{values}' WHERE number = 3"
    words = damaged(finished, tmp_path, statement)
    export = ["--output", str(tmp_path / "pulls.csv")]
    for done in (ringfence("recommend", *words), ringfence("export", *words, *export)):
        if done.code == 0:  # sums are kept of the rounds before the last
            continue
        assert (done.code, done.out) == (1, "")
        assert f"pull 3 cannot be read: its values are {values!r}" in done.err
    assert done.code == 1


def test_a_database_that_cannot_be_read_or_written_is_no_bad_input(
    finished: Path, tmp_path: Path
) -> None:
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    database = tmp_path / "trial.db"
    with database.open("r+b") as opened:
        opened.seek(4096)
        opened.write(b"garbage " * 4096)
    done = ringfence("status", tmp_path / "trial.toml")
    assert (done.code, done.out) == (1, "")
    assert "cannot be used: " in done.err
    table = tmp_path / "pulls.csv"
    table.symlink_to("/dev/full")
    done = ringfence("export", finished / "trial.toml", "--output", table)
    assert (done.code, done.out) == (1, "")
    assert f"output = {str(table)!r} cannot be written: No space left on device. Make" in done.err


def test_studies_are_listed_and_deleted(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'all.db'}"
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        ringfence("ask", str(write_study(folder, name=name)), "--storage", url)
    assert document(ringfence("studies", "--storage", url, "--json"))["studies"] == ["one", "two"]
    assert ringfence("studies", "--storage", url, "--delete", "one").code == 0
    assert document(ringfence("studies", "--storage", url, "--json"))["studies"] == ["two"]
    gone = ringfence("studies", "--storage", url, "--delete", "one")
    assert gone.code == 2
    assert "'one'" in gone.err


@pytest.mark.parametrize("command", ["status", "run", "studies"])
def test_a_file_after_two_slashes_is_refused_with_the_third(tmp_path: Path, command: str) -> None:
    study = [] if command == "studies" else [str(write_study(tmp_path))]
    done = ringfence(command, *study, "--storage", "sqlite://duo.db")
    assert (done.code, done.out) == (2, "")
    assert "three slashes. Use sqlite:///duo.db." in done.err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"objective": "minimize mean(risk)"}, ["objective", "mean(cost)", "mean(risk)"]),
        ({"constraints": ["mean(risk) <= 0.5"]}, ["constraints", "0.6", "0.5"]),
        ({"arms": ["cheap", "solid"]}, ["arms", "dear"]),
        ({"policy": "uniform"}, ["policy", "constrained-sr", "uniform"]),
        ({"budget": 50}, ["budget = 50", "60", "only rise"]),
        ({"seed": 6}, ["seed", "5", "6"]),
        ({"lease_seconds": 30}, ["another lease_seconds: it has 600.0, now given 30.0"]),
        ({"max_failures": 5}, ["another max_failures: it has 3, now given 5"]),
        ({"max_leases": 5}, ["another max_leases: it has 10, now given 5"]),
        ({"pull": {"command": COMMAND, "retries": 2}}, ["another retries: it has 0, now given 2"]),
    ],
)
def test_a_changed_file_is_refused_and_shows_the_difference(
    tmp_path: Path, change: dict[str, Any], words: list[str]
) -> None:
    ringfence("ask", str(write_study(tmp_path)))
    done = ringfence("run", str(write_study(tmp_path, **change)))
    assert (done.code, done.out) == (2, "")
    for word in words:
        assert word in done.err


def test_a_failure_said_again_is_no_error(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    pull = document(ringfence("ask", file, "--json"))["pulls"][0]
    words = ["fail", file, pull["pull"], pull["lease"], "--error", "out of memory", "--json"]
    said = [document(ringfence(*words))["status"] for _ in range(2)]
    assert said == ["failed", "already-failed"]
    assert document(ringfence("status", file, "--json"))["failed"] == 1
    assert ringfence(*words, "--no-charge").code == 2


def test_what_a_file_leaves_unsaid_stays_as_it_was(tmp_path: Path) -> None:
    said: dict[str, Any] = {"lease_seconds": 30, "max_failures": 5, "max_leases": 4, "batch": 2}
    pull = {"command": COMMAND, "retries": 2}
    ringfence("ask", str(write_study(tmp_path, pull=pull, **said)))
    assert ringfence("ask", str(write_study(tmp_path))).code == 0
    kept = rf.Study.load("trial", storage=f"sqlite:///{tmp_path / 'trial.db'}").definition
    assert {key: getattr(kept, key) for key in (*said, "retries")} == {**said, "retries": 2}


def test_a_larger_budget_goes_on(tmp_path: Path) -> None:
    file = write_study(tmp_path, policy="top-two", budget=40)
    first = document(ringfence("run", str(file), "--json"))
    write_study(tmp_path, policy="top-two", budget=60)
    second = document(ringfence("run", str(file), "--json"))
    assert (first["pulls_used"], second["pulls_used"]) == (40, 60)
    assert document(ringfence("doctor", str(file), "--json"))["ok"]


def test_an_interrupted_run_gives_its_leases_back_and_resumes(tmp_path: Path) -> None:
    import signal
    import subprocess

    slow = PROGRAM.replace("print(", "import time; time.sleep(0.2); print(")
    file = write_study(tmp_path, program=slow, budget=40)
    code = "from ringfence.interfaces.cli.app import main; main()"
    running = subprocess.Popen(
        [sys.executable, "-c", code, "run", str(file), "--workers", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    until = time.monotonic() + 60
    while time.monotonic() < until:
        status = ringfence("status", str(file), "--json")
        if status.code == 0 and document(status)["told"] >= 3:
            break
        time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert out == b""
    assert b"Resume with: ringfence run" in err
    assert b"Traceback" not in err
    told = document(ringfence("status", str(file), "--json"))["told"]
    assert 3 <= told < 40
    write_study(tmp_path, budget=40)
    done = document(ringfence("run", str(file), "--workers", "4", "--json"))
    assert done["finished"]
    assert document(ringfence("doctor", str(file), "--json"))["ok"]


def test_rounds_are_counted_from_one_for_people(tmp_path: Path) -> None:
    file = write_study(tmp_path, budget=24)
    rf.Study.create(
        "trial", arms=["cheap", "solid", "dear"], objective="minimize mean(cost)", budget=24,
        constraints=["mean(risk) <= 0.6"], policy="constrained-sr",
        storage=f"sqlite:///{tmp_path / 'trial.db'}", seed=5,
    )  # fmt: skip
    assert "trial is not begun: 0 told" in ringfence("status", str(file)).out
    ringfence("ask", str(file))
    assert "trial is in round 1: 0 told" in ringfence("status", str(file)).out
    assert document(ringfence("status", str(file), "--json"))["phase"] == 0


def test_a_file_that_was_changed_since_is_spoken_of(tmp_path: Path) -> None:
    file = write_study(tmp_path, budget=24)
    ringfence("run", str(file), "--json")
    before = ringfence("recommend", str(file), "--json")
    write_study(tmp_path, budget=24, constraints=["mean(risk) <= 0.1"], policy="uniform")
    after = ringfence("recommend", str(file), "--json")
    assert (before.err, after.out) == ("", before.out)
    words = "trial.toml has another constraints, policy than study 'trial', which is shown as it"
    assert words in after.err
    assert words in ringfence("explain", str(file)).err


@pytest.mark.parametrize(
    ("stated", "said"),
    [({}, " and lag = 3 others"), ({"batch": 2}, " others"), ({"lag": 2}, " others")],
)
def test_a_drawn_seed_is_shown_with_the_lag_that_was_not_stated(
    tmp_path: Path, stated: dict[str, Any], said: str
) -> None:
    """An adaptive policy decides otherwise with another lag, which workers make."""
    file = write_study(tmp_path, budget=24, policy="top-two", **stated)
    file.write_text(file.read_text("utf-8").replace("seed = 5\n", ""), "utf-8")
    done = ringfence("run", file, "--workers", 3)
    seed = document(ringfence("status", file, "--json"))["seed"]
    assert f"seed {seed} was drawn: with seed = {seed}{said} can run the same." in done.err
    first = document(ringfence("recommend", file, "--json"))
    same = stated or {"lag": 3}
    again = write_study(tmp_path, name="again", budget=24, policy="top-two", seed=seed, **same)
    second = document(ringfence("run", again, "--json"))
    assert {**second, "study": "trial"} == first


def test_a_seed_that_was_drawn_is_shown_and_gives_the_same_study(tmp_path: Path) -> None:
    file = write_study(tmp_path, budget=24)
    lines = [one for one in file.read_text("utf-8").splitlines() if not one.startswith("seed")]
    file.write_text("\n".join(lines), "utf-8")
    done = ringfence("run", str(file))
    seed = document(ringfence("status", str(file), "--json"))["seed"]
    assert f"seed {seed} was drawn" in done.err
    assert f"seed: {seed}" in ringfence("status", str(file)).out
    first = document(ringfence("recommend", str(file), "--json"))
    again = write_study(tmp_path, name="again", budget=24, seed=seed)
    told = ringfence("run", str(again))
    assert "drawn" not in told.err
    second = document(ringfence("recommend", str(again), "--json"))
    assert first["arms"] == second["arms"]


def test_what_others_hold_is_waited_for_with_a_word_or_taken_over(tmp_path: Path) -> None:
    file = write_study(tmp_path, budget=24, lease_seconds=4.0)
    ringfence("ask", str(file), "-n", "2", "--json")
    waited = ringfence("run", str(file), "--json")
    assert (
        "waiting: other workers hold 2 pulls. If they are gone, leases run out from" in waited.err
    )
    assert "--take-over" in waited.err
    assert document(waited)["finished"]
    other = write_study(tmp_path, name="other", budget=24)
    ringfence("ask", str(other), "-n", "2", "--json")
    done = ringfence("run", str(other), "--take-over", "--json")
    assert "waiting" not in done.err
    assert document(done)["finished"]
    assert document(ringfence("doctor", str(other), "--json"))["ok"]


def test_how_to_resume_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the file is called."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    folder = tmp_path / "my studies"
    folder.mkdir()
    file, url = write_study(folder), f"sqlite:///{folder / 'all of them.db'}"
    monkeypatch.setattr(rf.Study, "optimize", interrupted)
    done = ringfence("run", str(file), "--storage", url)
    assert done.code == 130
    hint = done.err.strip().rpartition("Resume with: ")[2]
    assert shlex.split(hint) == ["ringfence", "run", str(file), "--storage", url]


def test_what_run_takes_is_what_its_help_says() -> None:
    assert "name of a study" not in ringfence("run", "--help").out
    assert "name of a study" in ringfence("status", "--help").out
    assert "must be a study file to run" in ringfence("run", "trial").err


def test_a_study_is_drawn_by_kind_and_theme(tmp_path: Path) -> None:
    file = write_study(tmp_path)
    ringfence("run", str(file), "--workers", "2", "--json")
    target = tmp_path / "map.svg"
    done = ringfence("figure", str(file), "--output", str(target))
    assert (done.code, done.err) == (0, "")
    assert str(target) in done.out
    assert "solid is the best feasible arm" in target.read_text(encoding="utf-8")
    for kind in ("timeline", "allocation", "evidence"):
        drawn = tmp_path / f"{kind}.png"
        options = ("--kind", kind, "--theme", "dark", "--output", str(drawn), "--json")
        found = document(ringfence("figure", str(file), *options))
        assert found == {"kind": kind, "theme": "dark", "output": str(drawn)}
        assert drawn.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--kind", "pie", "--output", "a.png"], ["kind = 'pie'", "map, timeline"]),
        (["--theme", "drak", "--output", "a.png"], ["theme = 'drak'", "Did you mean 'dark'"]),
        (["--output", "a.gif"], ["output = 'a.gif'", ".png, .svg, .pdf"]),
        (["--output", "no/such/folder/a.png"], ["output = ", "no folder"]),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_refused_before_any_work(
    options: list[str], words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The study does not even exist, and is not looked for."""
    monkeypatch.chdir(tmp_path)
    done = ringfence("figure", "nowhere", *options)
    assert (done.code, done.out) == (2, "")
    for word in words:
        assert word in done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["run", "recommend"])
@pytest.mark.parametrize(
    ("record", "words"),
    [
        ("trial.toml", ["record = ", "must end in .html"]),
        ("trial.db", ["must end in .html"]),
        ("no/folder/record.html", ["record = ", "no folder"]),
        ("folder.html", ["cannot be written"]),
    ],
)
def test_a_record_that_cannot_be_written_is_refused_before_any_work(
    command: str, record: str, words: list[str], tmp_path: Path
) -> None:
    """Above all it is not written over the study itself."""
    file = write_study(tmp_path)
    (tmp_path / "folder.html").mkdir()
    text = file.read_text(encoding="utf-8")
    done = ringfence(command, str(file), "--record", str(tmp_path / record))
    assert (done.code, done.out) == (2, "")
    for word in words:
        assert word in done.err
    assert file.read_text(encoding="utf-8") == text
    assert not (tmp_path / "trial.db").exists()
    assert not (tmp_path / "no").exists()


HOSTILE = [
    "<script>alert(1)</script>",
    "'; DROP TABLE pulls; --",
    "[bold red]loud[/]",
    "$(touch pwned)",
    "{seed}",
    "--help",
]


def test_hostile_names_are_inert_everywhere(tmp_path: Path) -> None:
    """In commands, in the database, on the screen and in the record they are text."""
    file = write_study(tmp_path, arms=HOSTILE, budget=60, policy="uniform")
    record = tmp_path / "record.html"
    done = ringfence("run", str(file), "--workers", "2", "--record", str(record))
    assert done.code in (0, 3, 4)
    for name in ("[bold red]loud[/]", "{seed}", "$(touch pwned)"):
        assert name in done.out
    assert not list(tmp_path.glob("pwned*"))
    names = [arm["name"] for arm in document(ringfence("recommend", str(file), "--json"))["arms"]]
    assert names == HOSTILE
    page = record.read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "http" not in page.replace("https://", "http://").split("<style>")[0]
    assert document(ringfence("doctor", str(file), "--json"))["ok"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../evil", ["name = '../evil'"]),
        ("a\x1b[31mb", ["name ="]),
        ("", ["name = ''"]),
        ("x" * 300, ["name = 'xxx", "at most 100"]),
    ],
)
def test_a_study_name_that_is_no_name_is_refused(
    tmp_path: Path, name: str, words: list[str]
) -> None:
    done = ringfence("run", str(write_study(tmp_path, name=name)))
    assert (done.code, done.out) == (2, "")
    for word in words:
        assert word in done.err


def test_a_name_too_long_for_a_file_is_refused_as_a_name() -> None:
    assert ringfence("run", "x" * 300).code == 2
    done = ringfence("status", "x" * 300)
    assert (done.code, done.out) == (2, "")
    assert "at most 100" in done.err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bugdet": 3}, ["unknown key 'bugdet'", "Did you mean 'budget'"]),
        ({"budget": 3}, ["budget = 3", "at least", "Raise"]),
        ({"budget": "60"}, ["budget = '60' must be a whole number of pulls", "Write budget = 60"]),
        ({"budget": 60.5}, ["budget = 60.5 must be a whole number. Write 60"]),
        ({"lease_seconds": "5"}, ["lease_seconds = '5' must be a number"]),
        ({"batch": 0}, ["batch = 0", "1 or more"]),
        ({"policy": "top-tow"}, ["top-tow", "Did you mean 'top-two'"]),
        ({"constraints": ["mean(risk) = 1"]}, ["constraints[0]", "^"]),
        ({"arms": []}, ["arms"]),
        ({"arms": ["a", "a"]}, ["'a'", "twice"]),
        ({"pull": {}}, ["[pull]", "exactly one"]),
        ({"pull": {"python": "nowhere"}}, ["pull.python", "module:function"]),
        ({"pull": {"python": "nowhere:at_all"}}, ["pull.python", "cannot be loaded"]),
        ({"pull": {"command": ["/no/such/program"], "retires": 1}}, ["retires", "retries"]),
        ({"lease_seconds": 1e18}, ["lease_seconds = 1e+18", "at most 1,000,000,000"]),
    ],
)
def test_a_bad_file_gets_an_error_with_its_key_and_a_remedy(
    tmp_path: Path, change: dict[str, Any], words: list[str]
) -> None:
    file = write_study(tmp_path, **change)
    done = ringfence("run", str(file))
    assert (done.code, done.out) == (2, "")
    for word in [str(file), *words]:
        assert word in done.err
    assert not (tmp_path / "trial.db").exists()


@pytest.mark.parametrize("seconds", ["nan", "inf", "1e12", "-2", "0"])
def test_a_timeout_that_cannot_be_kept_is_refused_before_any_pull(
    tmp_path: Path, seconds: str
) -> None:
    file = write_study(tmp_path)
    text = file.read_text(encoding="utf-8")
    file.write_text(f"{text}\ntimeout_seconds = {seconds}\n", encoding="utf-8")
    done = ringfence("run", str(file))
    assert (done.code, done.out) == (2, "")
    for word in (str(file), f"timeout_seconds = {float(seconds)!r}", "above 0", "1,000,000"):
        assert word in done.err
    assert not (tmp_path / "trial.db").exists()


def test_the_longest_timeout_can_be_waited_for(tmp_path: Path) -> None:
    file = write_study(tmp_path, pull={"command": COMMAND, "timeout_seconds": 1e6}, budget=20)
    assert ringfence("run", str(file)).code in (0, 4)


def test_a_timeout_without_a_program_is_refused(tmp_path: Path) -> None:
    """A function cannot be ended: the limit would be ignored."""
    module = "def measured(arm, seed):\n    return {'cost': 1.0, 'risk': 0.1}\n"
    (tmp_path / "measured_here.py").write_text(module, encoding="utf-8")
    pull = {"python": "measured_here:measured", "timeout_seconds": 5}
    done = ringfence("run", str(write_study(tmp_path, pull=pull)))
    assert (done.code, done.out) == (2, "")
    for word in ("pull.timeout_seconds = 5", "no effect with python", "Leave it out", "program"):
        assert word in done.err
    assert not (tmp_path / "trial.db").exists()


def test_rows_of_a_table_can_be_pulled(tmp_path: Path) -> None:
    rows = ["arm,cost,risk"]
    rows += [f"cheap,{1 + k % 3},0.9" for k in range(20)]
    rows += [f"solid,{2 + k % 3},0.{k % 5}" for k in range(20)]
    (tmp_path / "log.csv").write_text("\n".join(rows), encoding="utf-8")
    pull = {"table": {"path": "log.csv", "arm": "arm"}}
    file = write_study(tmp_path, arms=["cheap", "solid"], pull={})
    text = file.read_text(encoding="utf-8").replace(
        "[pull]", f'[pull]\ntable = {{ path = "log.csv", arm = "{pull["table"]["arm"]}" }}'
    )
    file.write_text(text, encoding="utf-8")
    assert document(ringfence("run", str(file), "--json"))["arm"] == "solid"


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("./evl", ["command = './evl' does not exist", "Correct the path"]),
        ("./folder", ["command = './folder' does not exist"]),
        ("./plain", ["command = './plain' may not be executed", "chmod +x"]),
        ("plain", ["command = 'plain' is no program on PATH", "Write './plain'"]),
        ("no-such-program", ["is no program on PATH", "Install it"]),
        ("", ["command = '' is no program on PATH"]),
        ("./{arm}", ["command = './cheap' does not exist"]),
        ("a\0b", ["is no program on PATH"]),
    ],
)
def test_a_program_that_cannot_be_run_is_refused_before_any_pull(
    tmp_path: Path, program: str, words: list[str]
) -> None:
    (tmp_path / "plain").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    file = write_study(tmp_path, pull={"command": [program, "{arm}", "{seed}"]})
    done = ringfence("run", str(file))
    assert (done.code, done.out) == (2, "")
    for word in [str(file), *words]:
        assert word in done.err
    assert not (tmp_path / "trial.db").exists()


def test_a_program_may_be_named_after_the_pull(tmp_path: Path) -> None:
    """What it is called is known only then, so nothing is refused before."""
    for number in range(1, 21):
        script = tmp_path / f"evaluate-{number}"
        script.write_text(f"#!{sys.executable}\n{PROGRAM}", encoding="utf-8")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    pull = {"command": ["./evaluate-{pull}", "{arm}", "{seed}"]}
    assert ringfence("run", str(write_study(tmp_path, pull=pull, budget=20))).code == 0


def test_a_program_that_is_a_file_can_be_run_directly(tmp_path: Path) -> None:
    script = tmp_path / "evaluate"
    script.write_text(f"#!{sys.executable}\n{PROGRAM}", encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    file = write_study(tmp_path, pull={"command": ["./evaluate", "{arm}", "{seed}"]}, budget=20)
    assert ringfence("run", str(file)).code == 0
