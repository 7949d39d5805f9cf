"""The first five minutes: `demo`, `init` by questions and by flags, and a shell's completion."""

import os
import pty
import subprocess
import sys
import tomllib
import urllib.request
import webbrowser
from pathlib import Path
from typing import Any

import pytest

from ringfence.core.problem import Problem
from ringfence.interfaces.cli import completing, demo
from ringfence.interfaces.cli.demo import ANSWER, VERSIONS
from ringfence.interfaces.cli.options import KINDS, THEMES
from ringfence.interfaces.drafts import ByPython, Draft, made_up, quoted, suggested_budget
from ringfence.policies.registry import POLICIES
from ringfence.reports.charts import THEMES as DRAWN_THEMES
from ringfence.reports.charts.study import SHARED_CHARTS, STUDY_CHARTS
from tests.e2e.command_line import Outcome, process, ringfence, ringfence_process

PROBLEM: list[object] = ["--objective", "minimize mean(cost)", "--constraint", "mean(risk) <= 0.5"]
HOSTILE = [
    'quo"te',
    "back\\slash",
    "comma, comma",
    "# [pull]",
    "a = 1",
    "'''",
    "naïve é 中",
    "😀 {x}",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def content(path: str) -> dict[str, Any]:
    return tomllib.loads(Path(path).read_text(encoding="utf-8"))


def refused(done: Outcome, *words: str) -> None:
    assert (done.code, done.out) == (2, "")
    for word in words:
        assert word in done.err


# ------------------------------------------------------------------ demo


def test_the_demo_is_right_where_luck_and_means_are_wrong() -> None:
    done = ringfence("demo", "--json")
    assert done.code == 0
    found = done.document
    assert found["truth"] == ANSWER == found["verdict"]["arm"]
    assert found["right"] is True
    assert found["verdict"]["verdict"] == "feasible"
    assert found["naive"]["best_single"]["arm"] == "moody"
    assert found["naive"]["best_mean"]["arm"] == "giant"
    assert found["naive"]["pulls"] == found["verdict"]["pulls_used"]
    assert "looks over mean(latency_ms) <= 200" in found["why"]["giant"]
    assert ringfence("demo", "--json").document == found
    assert ringfence("demo", "--json", "--seed", 1).document != found


def test_the_demo_tells_its_story_and_compiles_nothing(folder: Path) -> None:
    code = (
        "import sys\nsys.argv = ['ringfence', 'demo', '--keep', 'kept.db']\n"
        "from ringfence.interfaces.cli.app import main\nmain()\n"
        "assert not {'numba', 'llvmlite', 'altair', 'fastapi'} & set(sys.modules), 'heavy'\n"
    )
    done = process(sys.executable, "-c", code, folder=folder)
    assert done.code == 0, done.err
    for arm in VERSIONS:
        assert arm in done.out
    for words in ("Without ringfence", "best single rating", "outside the limit", "Why the others"):
        assert words in done.out
    assert "ringfence init" in done.out
    assert ringfence("doctor", "assistants", "--storage", "sqlite:///kept.db").code == 0
    refused(ringfence("demo", "--keep", "kept.db"), "exists already")


def test_the_demo_can_be_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def look(address: str) -> bool:
        with urllib.request.urlopen(address, timeout=30) as answer:
            seen.append(answer.read().decode())
        return True

    monkeypatch.setattr(webbrowser, "open", look)
    monkeypatch.setitem(demo._PAUSES, "page", 0.0)
    done = ringfence("demo", "--open", "--json")
    assert done.code == 0, done.err
    assert done.document["right"] is True
    (page,) = seen
    assert "assistants" in page
    assert "mean(latency_ms) &lt;= 200" in page


# ------------------------------------------------------------------ init from flags


def test_init_alone_writes_an_example_that_runs(folder: Path) -> None:
    done = ringfence_process("init", str(folder / "first.toml"))
    assert done.code == 0, done.err
    assert "ringfence run" in done.out
    assert "evaluate_first.py" in done.out
    text = (folder / "first.toml").read_text(encoding="utf-8")
    assert sum(line.startswith("#") for line in text.splitlines()) > 10
    verdict = ringfence("run", "first.toml", "--json")
    assert verdict.code == 0, verdict.err
    assert verdict.document["arm"] == "medium"  # the last is a deceiver
    assert [arm["kind"] for arm in verdict.document["arms"]][-1] == "deceiver"
    told = ringfence("explain", "first.toml").out.splitlines()
    small, below, medium, large, above = told
    assert below.startswith("  mean(score) -")
    assert above.endswith(" beside medium")
    assert (small, medium) == ("small: medium looks better", "medium: the answer")
    assert large.startswith("large: looks over mean(latency_ms) <= 200 (")


def test_init_never_overwrites_unasked(folder: Path) -> None:
    ringfence("init", "mine.toml")
    (folder / "evaluate_mine.py").write_text("# my own work\n", encoding="utf-8")
    before = (folder / "mine.toml").read_text(encoding="utf-8")
    refused(ringfence("init", "mine.toml", "--arms", "x,y", *PROBLEM), "exists already", "--force")
    assert (folder / "mine.toml").read_text(encoding="utf-8") == before
    done = ringfence("init", "mine.toml", "--arms", "x,y", *PROBLEM, "--force", "--json")
    assert done.code == 0, done.err
    assert done.document["written"] == ["mine.toml"]
    assert content("mine.toml")["arms"] == ["x", "y"]
    assert (folder / "evaluate_mine.py").read_text(encoding="utf-8") == "# my own work\n"


@pytest.mark.usefixtures("folder")
def test_init_keeps_hostile_names_as_they_are() -> None:
    arms = ",".join('"' + name.replace('"', '""') + '"' for name in HOSTILE)
    objective, limit = """minimize mean('a "b" # c')""", """mean("it's\\here") <= 0.5"""
    flags = ["--arms", arms, "--objective", objective, "--constraint", limit, "--json"]
    assert ringfence("init", "odd.toml", *flags).code == 0
    found = content("odd.toml")
    assert found["arms"] == HOSTILE
    assert (found["objective"], found["constraints"]) == (objective, [limit])
    done = ringfence("run", "odd.toml", "--json")
    assert done.code == 0, done.err
    assert done.document["arm"] == HOSTILE[-2]


@pytest.mark.parametrize("text", ["\x00", "\x7f", "\n", "a\tb", "\u2028", '"""', "\\u0041", "é😀"])
def test_any_text_survives_toml(text: str) -> None:
    assert tomllib.loads(f"x = {quoted(text)}")["x"] == text


def test_init_writes_a_program_where_there_is_none(folder: Path) -> None:
    flags = ["--arms", "a,b,c", *PROBLEM, "--budget", 30, "--seed", 3]
    done = ringfence("init", "by.toml", *flags, "--command", "", "--json")
    assert done.code == 0, done.err
    assert done.document["written"] == ["by.toml", "evaluate"]
    assert os.access(folder / "evaluate", os.X_OK)
    found = content("by.toml")
    assert found["pull"]["command"] == ["./evaluate", "{arm}", "{seed}"]
    assert (found["budget"], found["seed"]) == (30, 3)
    verdict = ringfence("run", "by.toml", "--json")
    assert verdict.document["arm"] == "b", verdict.err


def test_init_leaves_a_program_alone_that_is_there(folder: Path) -> None:
    flags = ["--arms", "a,b", *PROBLEM, "--command", "python3 'my tool.py' --arm {arm}"]
    assert ringfence("init", "by.toml", *flags, "--json").document["written"] == ["by.toml"]
    assert content("by.toml")["pull"]["command"] == ["python3", "my tool.py", "--arm", "{arm}"]


def test_init_takes_arms_from_a_table(folder: Path) -> None:
    (folder / "logs").mkdir()
    rows = "".join(f"{arm},{k % 3 + cost},0.{k % 5}\n" for k in range(20)
                   for arm, cost in (("dear", 2), ("cheap", 1)))  # fmt: skip
    (folder / "log.csv").write_text("variant,cost,risk\n" + rows, encoding="utf-8")
    flags = ["--table", "log.csv", "--arm-column", "variant", *PROBLEM, "--json"]
    done = ringfence("init", "logs/by.toml", *flags)
    assert done.code == 0, done.err
    assert done.document["arms"] == ["dear", "cheap"]
    assert content("logs/by.toml")["pull"]["table"] == {"path": "../log.csv", "arm": "variant"}
    assert ringfence("run", "logs/by.toml", "--json").document["arm"] == "cheap"


REFUSALS: dict[str, tuple[list[object], list[str]]] = {
    "no objective": (["--arms", "a,b"], ["--objective is missing", "maximize mean(score)"]),
    "no arms": (PROBLEM, ["--arms is missing"]),
    "an expression": (
        ["--arms", "a,b", "--objective", "minimize maen(x)", "--constraint", "mean(y) <= 1"],
        ["objective", "Did you mean 'mean'?", "^"],
    ),
    "two ways": (
        ["--arms", "a,b", *PROBLEM, "--python", "m:f", "--command", "x {arm}"],
        ["--command and --python exclude each other"],
    ),
    "no column": (["--arms", "a,b", *PROBLEM, "--table", "x.csv"], ["--arm-column"]),
    "no table": (
        [*PROBLEM, "--table", "x.csv", "--arm-column", "a"],
        ["--table = 'x.csv' does not exist"],
    ),
    "arms but no table": (
        ["--arms", "a,b", *PROBLEM, "--table", "x.csv", "--arm-column", "a"],
        ["pull.table.path = 'x.csv' does not exist"],
    ),
    "an arm twice": (["--arms", "a,a", *PROBLEM], ["'a'", "twice"]),
    "open quotes": (["--arms", '"a,b', *PROBLEM], ["arms", "quotes"]),
    "a policy": (["--arms", "a,b", *PROBLEM, "--policy", "top-tow"], ["Did you mean 'top-two'?"]),
    "a budget": (["--arms", "a,b", *PROBLEM, "--budget", 1], ["budget = 1"]),
    "no arm in the command": (["--arms", "a,b", *PROBLEM, "--command", "./x"], ["{arm}"]),
    "a misspelt place": (
        ["--arms", "a,b", *PROBLEM, "--command", "./x {arm} {sed}"],
        ["{sed}", "Did you mean 'seed'?"],
    ),
    "no module": (["--arms", "a,b", *PROBLEM, "--python", "f"], ["module:function"]),
    "Python's own": (["--arms", "a,b", *PROBLEM, "--python", "random:f"], ["Python's own"]),
    "a name": (["--name", "a/b"], ["name = 'a/b'"]),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_init_refuses_and_writes_nothing(folder: Path, case: str) -> None:
    flags, words = REFUSALS[case]
    refused(ringfence("init", *flags), *words)
    assert not list(folder.iterdir())


@pytest.mark.usefixtures("folder")
def test_init_wants_a_file_that_can_be_a_study() -> None:
    refused(ringfence("init", "study.txt"), ".toml")
    refused(ringfence("init", "nowhere/study.toml"), "no folder")


def test_init_says_what_could_not_be_written(folder: Path) -> None:
    (folder / "study.toml").symlink_to("/dev/full")  # a disk without room
    done = ringfence("init", "--force")
    assert (done.code, done.out) == (1, "")
    words = "file = 'study.toml' cannot be written: No space left on device. Make room, or choose"
    assert words in done.err


@pytest.mark.parametrize("limit", ["mean(x) <= 0", "mean(x) >= 3", "p95(x) <= 2", "p5(x) >= -1",
    "share(x > 1) <= 0.2", "share(x < 1) <= 0.2", "share(x <= 1) >= 0.5", "std(x) <= 2",
    "variance(x) >= 4", "cvar(x, 0.9) <= 5", "robust_mean(x) <= 1"])  # fmt: skip
def test_made_up_numbers_keep_and_break_their_limit(limit: str) -> None:
    """Drawn from the skeleton's own numbers: only the last arm breaks the limit."""
    import numpy as np

    from ringfence.core.measurement import measure_sample

    problem = Problem.parse("maximize mean(y)", [limit])
    rows = made_up(problem, ["a", "b", "c"])
    constraint = problem.constraints[0]
    for arm, row in rows.items():
        sample = np.random.default_rng(1).normal(*row["x"], size=(2000, 1))
        value = measure_sample([constraint.attribute], {"x": sample[:, 0]}).estimates[0]
        holds = value <= constraint.threshold
        assert (holds if constraint.relation == "<=" else not holds) == (arm != "c"), (arm, value)


def test_budgets_grow_with_arms_and_tails() -> None:
    def budget(limit: str, arms: int) -> int:
        return suggested_budget(Problem.parse("maximize mean(y)", [limit]), arms)

    assert budget("mean(x) <= 1", 2) == 100
    assert budget("mean(x) <= 1", 10) == 400
    assert budget("p95(x) <= 1", 10) == 2000


# ------------------------------------------------------------------ init by questions


def on_a_terminal(answers: list[str], *arguments: object) -> tuple[int, str]:
    """Run the command on a terminal of its own, with the answers typed ahead."""
    ours, theirs = pty.openpty()
    command = [str(Path(sys.executable).with_name("ringfence")), *map(str, arguments)]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        os.write(ours, "".join(f"{line}\n" for line in answers).encode())
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # the other end is closed
            pass
        code = running.wait(60)
    os.close(ours)
    return code, shown.decode()


def test_three_questions_write_a_study(folder: Path) -> None:
    answers = ["slow, quick", "maximise mean(score)", "maximize mean(score)", "p95(ms) = 20",
               "p95(ms) <= 20", "", "cmd", "c", "./try {arm}", ""]  # fmt: skip
    code, shown = on_a_terminal(answers, "init")
    assert code == 0, shown
    assert "Did you mean 'maximize'?" in shown  # asked again, with the reason
    assert "Write: p95(ms) <= 20" in shown
    assert "Did you mean 'command'?" in shown
    found = content("study.toml")
    assert found["arms"] == ["slow", "quick"]
    assert (found["objective"], found["constraints"]) == ("maximize mean(score)", ["p95(ms) <= 20"])
    assert found["budget"] == 400
    assert found["pull"]["command"] == ["./try", "{arm}"]
    assert os.access(folder / "try", os.X_OK)


def test_questions_that_are_not_answered_write_nothing(folder: Path) -> None:
    code, shown = on_a_terminal(["a, b", "\x04"], "init")
    assert code == 2
    assert "nothing was written" in shown
    assert not list(folder.iterdir())


def test_on_a_terminal_flags_ask_nothing(folder: Path) -> None:
    code, shown = on_a_terminal([], "init", "--arms", "a,b", *PROBLEM)
    assert code == 0, shown
    assert (folder / "study.toml").exists()


# ------------------------------------------------------------------ completion


def completed(line: str, folder: Path) -> list[str]:
    """Return what the shell would be offered for the last word of a line."""
    words = line.split(" ")
    done = ringfence_process_in(
        folder, _RINGFENCE_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1)
    )
    assert done.code == 0, done.err
    return done.out.split()


def ringfence_process_in(folder: Path, **environment: str) -> Outcome:
    command = Path(sys.executable).with_name("ringfence")
    return process(command, environment={"HOME": str(folder), **environment}, folder=folder)


@pytest.fixture
def home(folder: Path) -> Path:
    ringfence("init", "launch.toml")
    (folder / "kept.db").touch()
    (folder / "studies").mkdir()
    (folder / "studies" / "other.toml").touch()
    (folder / "notes.txt").touch()
    return folder


COMPLETIONS = {
    "ringfence de": ["demo"],
    "ringfence simulate paper-1 --pol": ["--policy"],
    "ringfence simulate paper-1 --policy to": ["top-two"],
    "ringfence simulate pa": ["paper-1", "paper-2", "paper-3", "paper-4"],
    "ringfence simulate paper-1 --engine c": ["cpu", "cuda"],
    "ringfence simulate paper-1 --method s": ["splitting"],
    "ringfence compare paper-1 --policies uniform,u": [],
    "ringfence compare paper-1 --policies uniform,th": ["uniform,thompson"],
    "ringfence compare --family unif": ["uniform"],
    "ringfence run ": ["launch.toml", "studies/"],
    "ringfence status ": ["launch.toml", "studies/", "kept"],
    "ringfence run studies/": ["studies/other.toml"],
    "ringfence explain launch.toml m": ["medium"],
    "ringfence figure launch.toml --kind ": list(KINDS),
    "ringfence figure launch.toml --theme d": ["dark"],
    "ringfence plan --from-study la": ["launch.toml"],
}


@pytest.mark.parametrize("line", COMPLETIONS)
def test_the_shell_is_offered_what_exists(home: Path, line: str) -> None:
    assert completed(line, home) == COMPLETIONS[line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_shown_for_every_shell_and_touches_no_file(folder: Path, shell: str) -> None:
    done = ringfence_process_in(folder, _RINGFENCE_COMPLETE=f"source_{shell}")
    assert done.code == 0, done.err
    assert "_RINGFENCE_COMPLETE" in done.out
    assert not list(folder.iterdir())


def test_completion_knows_every_name(folder: Path) -> None:
    assert completing.policies("") == [policy.name for policy in POLICIES]
    assert set(KINDS) == {*STUDY_CHARTS, *SHARED_CHARTS}
    assert set(THEMES) == set(DRAWN_THEMES)
    assert completing.files("nowhere/x") == []


def test_a_draft_names_its_module_after_the_study() -> None:
    way = ByPython.named_after("my study-2")
    assert way.module == "evaluate_my_study_2"
    draft = Draft("my", ("a",), "minimize mean(x)", ("mean(x) <= 1",), way, 10)
    compile(draft.module(), "module", "exec")
    compile(draft.script(), "script", "exec")


def test_an_evaluation_that_fails_is_told_of_with_its_reason(folder: Path) -> None:
    ringfence("init", "broken.toml")
    (folder / "evaluate_broken.py").write_text(
        "def evaluate(arm, seed):\n    raise OSError('no such model')\n", encoding="utf-8"
    )
    done = ringfence("run", "broken.toml", "--outage-minutes", "0")
    assert done.code == 1
    assert done.err.count("failed, the first to do so: OSError: no such model") == 1
