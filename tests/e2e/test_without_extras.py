"""The wheel, and the core without extras: each thing that needs one says which.

What is not to be had is made so by an entry of None in sys.modules, in a process of its own, which
is how Python remembers that an import failed. `make check-install` does the same in a fresh
environment, which takes too long for every day.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command_line import ROOT, process
from tests.install.wheels import wrong_with

EXTRAS = (
    "altair", "vl_convert", "pyarrow", "psycopg", "fastapi", "starlette", "uvicorn", "jinja2",
    "distributed", "dask", "numba_cuda", "causaldata", "pandas",
)  # fmt: skip

# Runs commands one after the other in one process without extras; prints what each left behind.
RUNNER = """
import contextlib, io, json, sys
extras, commands = json.loads(sys.argv[1])
for name in extras:
    sys.modules[name] = None
from ringfence.interfaces.cli.app import main
outcomes = []
for command in commands:
    sys.argv = ["ringfence", *command]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    outcomes.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(outcomes))
"""

NEEDS: dict[str, list[str]] = {
    "web": ["serve", "--storage", "sqlite:///study.db"],
    "web (run --open)": ["run", "study.toml", "--open"],
    "web (demo --open)": ["demo", "--open"],
    "plots": ["figure", "study.toml", "--output", "map.svg"],
    "plots (paper)": ["paper", "--figure", "paper.png"],
    "plots (plan)": ["plan", "paper-1", "--target-error", "0.1", "--figure", "plan.png"],
    "parquet": ["export", "study.toml", "--output", "pulls.parquet"],
    "parquet (reading)": ["gaps", "logged.toml"],
    "postgres": ["status", "study", "--storage", "postgresql://nobody@localhost/none"],
    "cuda": ["simulate", "paper-1", "--budget", "100", "--engine", "cuda"],
    "cases": ["run", str(ROOT / "examples" / "incentives.toml"), "--storage", "memory://"],
}
LOGGED = """\
objective = "minimize mean(cost)"
constraints = ["mean(risk) <= 0.6"]
noise = { family = "table", path = "log.parquet", arm = "arm" }
"""
FIRST = [["init", "study.toml", "--seed", "1"], ["run", "study.toml", "--record", "study.html"]]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("bare")
    (folder / "logged.toml").write_text(LOGGED, encoding="utf-8")
    (folder / "log.parquet").touch()
    commands = [*FIRST, *NEEDS.values()]
    given = json.dumps([EXTRAS, commands])
    done = process(sys.executable, "-c", RUNNER, given, folder=folder)
    assert done.code == 0, done.err
    found = json.loads(done.out.splitlines()[-1])
    names = ["init", "run", *NEEDS]
    return dict(zip(names, found, strict=True)) | {"folder": folder}


@pytest.mark.parametrize("case", NEEDS)
def test_what_needs_an_extra_says_which(outcomes: dict[str, Any], case: str) -> None:
    code, out, err = outcomes[case]
    extra = case.split(" ", maxsplit=1)[0]
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert f"pip install 'ringfence[{extra}]'" in err
    assert "Traceback" not in err


def test_a_study_runs_and_its_record_says_how_to_get_pictures(outcomes: dict[str, Any]) -> None:
    code, out, err = outcomes["run"]
    assert code == 0, err
    assert "medium is the best feasible arm" in out
    record = (outcomes["folder"] / "study.html").read_text(encoding="utf-8")
    assert "pip install &#x27;ringfence[plots]&#x27;" in record
    assert record.count("<svg") == 2, "simple pictures need no extra"


def test_the_wheel_is_small_and_whole(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]
    done = process(*command, folder=ROOT)
    assert done.code == 0, done.err
    (wheel,) = tmp_path.glob("*.whl")
    assert wrong_with(wheel, ROOT) == []


def test_a_wheel_that_is_not_whole_is_noticed(tmp_path: Path) -> None:
    import zipfile

    home = tmp_path / "src" / "ringfence"
    (home / "__pycache__").mkdir(parents=True)
    (home / "own.css").touch()
    (home / "__pycache__" / "kernel.nbc").touch()  # of the machine that builds, not of the wheel
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as made:
        made.writestr("tests/x.py", "")
    found = wrong_with(tmp_path / "a.whl", tmp_path)
    assert "ringfence/py.typed is missing" in found
    assert "ringfence/own.css is missing" in found
    assert "tests/x.py does not belong there" in found
    assert not [line for line in found if "kernel.nbc" in line]
