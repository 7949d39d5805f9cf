"""Every command, as people and programs call it: its document, its words, its refusals."""

import contextlib
import io
import json
import math
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main
from rich.text import Text

from benchmarks import speed
from ringfence.interfaces import reproducing
from ringfence.interfaces.cli.app import app
from ringfence.policies.registry import POLICIES, QUICK_POLICIES
from tests.choosing import few_of
from tests.e2e.command_line import Outcome, process, ringfence, ringfence_process, timeless

INSTANCE = """
objective = "{objective}"
constraints = {constraints}
metrics = {metrics}

[noise]
{noise}

[arms]
{arms}
"""
NOISE = 'family = "gaussian"\ncovariance = [[1.0, 0.5], [0.5, 1.0]]'


def write(
    folder: Path,
    *arms: list[float],
    name: str = "instance",
    objective: str = "minimize mean(loss)",
    constraints: tuple[str, ...] = ("mean(risk) <= 1.0",),
    noise: str = NOISE,
    names: tuple[str, ...] = (),
) -> Path:
    """Write an instance file."""
    labels = names or [f"arm-{place}" for place in range(1, len(arms) + 1)]
    lines = [
        f"{json.dumps(label)} = {{ mean = {mean} }}"
        for label, mean in zip(labels, arms, strict=True)
    ]
    path = folder / f"{name}.toml"
    path.write_text(
        INSTANCE.format(
            objective=objective,
            constraints=list(constraints),
            metrics=["loss", "risk"],
            noise=noise,
            arms="\n".join(lines),
        ),
        encoding="utf-8",
    )
    return path


def document(*arguments: object) -> Any:
    """Return the document of a command that must succeed and print nothing else."""
    done = ringfence(*arguments, "--json")
    assert done.code == 0, done.err
    return done.document


def shown(*arguments: object) -> str:
    """Return what a command that must succeed shows to people."""
    done = ringfence(*arguments)
    assert done.code == 0, done.err
    return done.out


def refused(done: Outcome, *words: str) -> None:
    """Check that bad input ended with code 2, nothing on standard output, and these words."""
    assert done.code == 2
    assert done.out == ""
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err


# ------------------------------------------------------------------ simulate


SIMULATE_KEYS = {
    "error_rate",
    "std_error",
    "ci_low",
    "ci_high",
    "replications",
    "errors",
    "wrong_arm",
    "wrong_flag",
    "lost_in_phase",
    "seconds",
    "replications_per_second",
    "engine",
    "mean_pulls",
    "chosen",
}


def simulate(*arguments: object, replications: int = 2000) -> Any:
    return document("simulate", *arguments, "--replications", replications)


def test_simulate_gives_a_document() -> None:
    result = simulate("paper-3", "--policy", "constrained-sr", "--budget", 2000)
    assert set(result) >= SIMULATE_KEYS
    assert result["replications"] == 2000
    assert result["error_rate"] == result["errors"] / 2000
    rate = result["error_rate"]
    assert result["std_error"] == pytest.approx(math.sqrt(rate * (1 - rate) / 2000))
    assert result["ci_low"] < rate < result["ci_high"]
    # The published rate is 0.2478; six standard errors of 2,000 replications are 0.058.
    assert rate == pytest.approx(0.2478, abs=0.058)
    assert len(result["lost_in_phase"]) == 3
    assert sum(result["lost_in_phase"]) == result["wrong_arm"]
    assert result["wrong_arm"] <= result["errors"] <= result["wrong_arm"] + result["wrong_flag"]
    assert list(result["mean_pulls"]) == ["one", "two", "three", "four"]
    assert list(result["chosen"]) == ["one", "two", "three", "four"]
    assert sum(sum(flags.values()) for flags in result["chosen"].values()) == 2000
    assert sum(flags["infeasible"] for flags in result["chosen"].values()) == result["wrong_flag"]
    assert 2000 - result["chosen"]["one"]["feasible"] == result["errors"]
    assert sum(result["mean_pulls"].values()) == pytest.approx(1999) == result["pulls_used"]
    assert result["engine"] == "cpu"
    assert result["seconds"] > 0


def test_simulate_speaks_to_people() -> None:
    text = shown("simulate", "paper-3", "--budget", 2000, "--replications", 2000)
    for words in ("constrained-sr on paper-3 at T = 2000", "1999 pulls", "95% interval", "one "):
        assert words in text
    assert "{" not in text


def test_simulate_by_the_reference() -> None:
    arguments = ("simulate", "paper-3", "--budget", 60, "--replications", 40)
    result = document(*arguments, "--engine", "reference")
    assert set(result) >= SIMULATE_KEYS
    assert (result["engine"], result["replications"]) == ("reference", 40)
    assert "(reference)" in shown(*arguments, "--engine", "reference")


def test_the_same_seed_gives_the_same_document() -> None:
    arguments = ("paper-3", "--budget", 500)
    first = timeless(simulate(*arguments, "--seed", 7))
    assert timeless(simulate(*arguments, "--seed", 7)) == first
    assert timeless(simulate(*arguments)) == timeless(simulate(*arguments, "--seed", 0))
    assert timeless(simulate(*arguments, "--seed", 8)) != first | {"seed": 8}


def test_threads_do_not_matter() -> None:
    """Seven chunks or so, the last one not full."""
    arguments = ("paper-3", "--budget", 500)
    one, two, three = (
        timeless(simulate(*arguments, "--threads", threads, replications=100_001))
        for threads in (1, 2, 3)
    )
    assert one == two == three


@pytest.mark.parametrize(
    ("noise", "arms"),
    [
        ('family = "bernoulli"', [[0.2, 0.3], [0.1, 0.9]]),
        ('family = "poisson"', [[2.0, 0.3], [1.0, 3.0]]),
        ('family = "exponential"', [[2.0, 0.3], [1.0, 3.0]]),
        ('family = ["gaussian", "bernoulli"]\ncovariance = [[1.0]]', [[2.0, 0.3], [1.0, 0.9]]),
    ],
    ids=["bernoulli", "poisson", "exponential", "mixed"],
)
def test_every_family_is_simulated(noise: str, arms: list[list[float]], tmp_path: Path) -> None:
    """The first arm is right; the second is infeasible by more than five standard errors."""
    path = write(tmp_path, *arms, noise=noise, constraints=("mean(risk) <= 0.6",))
    for engine in few_of(["cpu", "reference"], "reference"):
        result = simulate(path, "--budget", 400, "--engine", engine, replications=40)
        assert result["errors"] == 0
    theory = document("gaps", path, "--budget", 400)
    assert theory["optimal"] == "arm-1"
    assert [arm["kind"] for arm in theory["arms"]] == ["optimal", "deceiver"]


def test_a_table_is_simulated(tmp_path: Path) -> None:
    rows = ["who,loss,risk"] + [
        f"{arm},{i % 3 + (arm == 'b')},{i % 2}" for i in range(6) for arm in "ab"
    ]
    (tmp_path / "rows.csv").write_text("\n".join(rows), encoding="utf-8")
    path = tmp_path / "logged.toml"
    path.write_text(
        'objective = "minimize mean(loss)"\nconstraints = ["mean(risk) <= 0.7"]\n'
        '[noise]\nfamily = "table"\npath = "rows.csv"\narm = "who"\n',
        encoding="utf-8",
    )
    for engine in few_of(["cpu", "reference"], "reference"):
        result = simulate(path, "--budget", 400, "--engine", engine, replications=40)
        assert result["instance"] == "logged"
        assert result["errors"] <= 4
    assert document("gaps", path, "--budget", 400)["upper_bound"] is None


# ------------------------------------------------------------------ gaps


GAPS_KEYS = {
    "optimal",
    "feasible",
    "arms",
    "H1",
    "H2",
    "lower_bound_rate",
    "conjectured_rate",
    "upper_bound",
    "oracle_rate",
    "oracle_allocation",
    "oracle_is_exact",
    "policy_rates",
}


def test_gaps_gives_a_document() -> None:
    theory = document("gaps", "paper-3")
    assert set(theory) >= GAPS_KEYS
    assert (theory["optimal"], theory["feasible"]) == ("one", True)
    for arm in theory["arms"]:
        assert set(arm) == {"name", "kind", "margin", "delta", "Delta", "rank"}
    assert {arm["name"]: arm["kind"] for arm in theory["arms"]} == {
        "one": "optimal",
        "two": "feasible-suboptimal",
        "three": "deceiver",
        "four": "infeasible-suboptimal",
    }
    assert {arm["name"]: arm["rank"] for arm in theory["arms"]}["one"] == 1
    # All gaps are capped by |margin of one|: Delta^2 = 0.05^2 / 2 = 1/800, three times.
    assert theory["H1"] == pytest.approx(2400)
    assert theory["H2"] == pytest.approx(3200)
    assert theory["conjectured_rate"] == pytest.approx(1 / 2400)
    assert theory["lower_bound_rate"] is None
    assert theory["upper_bound"] is None


def test_gaps_shows_what_an_oracle_would_do() -> None:
    theory = document("gaps", "paper-1")
    # All that matters is the first arm's own distance, 0.05: (1/2) 0.05^2 of all pulls.
    assert theory["oracle_rate"] == pytest.approx(0.00125, rel=1e-3)
    assert theory["oracle_allocation"]["one"] == pytest.approx(0.9998, abs=1e-4)
    assert sum(theory["oracle_allocation"].values()) == pytest.approx(1.0)
    assert theory["oracle_is_exact"] is True
    rates = theory["policy_rates"]
    # Three arms: two of them are left with 1/(2 logbar) = 3/8 of the pulls each; uniform has 1/3.
    assert rates["constrained-sr"] == pytest.approx(0.00125 * 3 / 8, rel=1e-6)
    assert rates["uniform"] == pytest.approx(0.00125 / 3, rel=1e-6)
    text = shown("gaps", "paper-1")
    assert "oracle, static" in text
    assert "The oracle's shares of the pulls: one 0.9998" in text
    assert "approximate" in shown("gaps", "examples/latency.toml")


def test_gaps_without_an_oracle(tmp_path: Path) -> None:
    """With two right answers there is no single rate; on the threshold there is none but zero."""
    twins = document("gaps", write(tmp_path, [1.0, 0.5], [1.0, 0.4], name="twins"))
    assert (twins["oracle_rate"], twins["oracle_allocation"]) == (None, None)
    edge = document("gaps", write(tmp_path, [1.0, 1.0], [2.0, 0.5], name="edge"))
    assert (edge["oracle_rate"], edge["oracle_allocation"]) == (0.0, None)
    assert set(edge["policy_rates"].values()) == {0.0}


def test_gaps_bounds_the_error_at_a_budget() -> None:
    bound = document("gaps", "paper-1", "--budget", 1_000_000)["upper_bound"]
    # K = 3, m = 1: c = 6 (3 + 5/3) + 2 = 30, H2 = 2400, logbar = 4/3.
    expected = 30 * math.exp(-(1_000_000 - 3) / (9 * 4 / 3 * 2400))
    assert bound == pytest.approx(expected, rel=1e-9)
    assert document("gaps", "paper-1", "--budget", 100)["upper_bound"] == 1.0


def test_gaps_where_nothing_is_feasible() -> None:
    theory = document("gaps", "paper-4")
    assert (theory["optimal"], theory["feasible"]) == ("three", False)
    assert {arm["kind"] for arm in theory["arms"]} == {"optimal", "infeasible"}
    assert "least infeasible" in shown("gaps", "paper-4")


def test_an_arm_on_the_threshold_makes_hardness_null(tmp_path: Path) -> None:
    path = write(tmp_path, [1.0, 1.0], [2.0, 0.5])
    theory = document("gaps", path, "--budget", 1000)
    assert theory["optimal"] == "arm-1"
    assert theory["H1"] is None
    assert theory["H2"] is None
    assert theory["conjectured_rate"] == 0.0
    assert theory["upper_bound"] == 1.0
    assert "inf" in shown("gaps", path)


def test_gaps_speaks_to_people() -> None:
    text = shown("gaps", "paper-3", "--budget", 1000)
    for words in (
        "minimize mean(loss), subject to mean(risk) <= 0.5",
        "one is the best feasible arm",
        "deceiver",
        "H1  2400",
        "T = 1000",
    ):
        assert words in text


def test_the_threshold_is_shown_as_it_is(tmp_path: Path) -> None:
    path = write(tmp_path, [1.0, 0.5], constraints=("mean(risk) <= 0.9999999",))
    assert "mean(risk) <= 0.9999999" in shown("gaps", path)


@pytest.mark.parametrize("name", ["gpt[v2]", "[/red]", "[bold]", "a\\[b]", "größe 3"])
def test_any_name_of_an_arm_is_shown(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, [1.0, 0.5], [2.0, 0.5], names=(name, "other"))
    text = shown("gaps", path)
    (row,) = (line for line in text.splitlines() if "optimal" in line and "-" in line[-12:])
    assert name in row
    assert document("gaps", path)["optimal"] == name


def test_any_name_of_a_file_is_shown(tmp_path: Path) -> None:
    path = write(tmp_path, [1.0, 0.5], name="[x] y")
    words = ("--replications", 10, "--policy", "uniform", "--engine", "reference")
    assert "[x] y" in shown("simulate", path, "--budget", 10, *words)


def test_long_names_hide_no_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, [1.0, 0.5], [2.0, 0.5], names=("x" * 150, "other"))
    text = shown("gaps", path)
    assert "Delta" in text
    assert "0.3536" in text  # |margin| of the optimal arm, sqrt(1/2) / 2


# ------------------------------------------------------------------ one and two arms


def test_one_arm_has_only_its_flag_in_question(tmp_path: Path) -> None:
    path = write(tmp_path, [1.0, 0.9])
    theory = document("gaps", path, "--budget", 10)
    assert (theory["H1"], theory["H2"]) == (0.0, 0.0)
    assert theory["conjectured_rate"] is None
    assert "inf" in shown("gaps", path)
    result = simulate(path, "--budget", 25)
    assert result["wrong_arm"] == 0
    assert result["errors"] == result["wrong_flag"]
    # The mean of 25 pulls lies above the threshold with probability Phi(-0.5) = 0.3085.
    assert result["error_rate"] == pytest.approx(0.3085, abs=6 * math.sqrt(0.25 / 2000))
    assert result["mean_pulls"] == {"arm-1": 25.0}


# Every policy's kernel for so few arms takes half a minute to compile.
COMPARED = few_of([policy.name for policy in QUICK_POLICIES], "constrained-sr", "top-two")


@pytest.mark.parametrize("arms", [1, 2])
def test_every_policy_takes_one_and_two_arms(arms: int, tmp_path: Path) -> None:
    path = write(tmp_path, *([1.0, 0.0], [5.0, 0.0])[:arms])
    for policy in POLICIES:
        arguments = ("simulate", path, "--policy", policy.name, "--budget", 100)
        asked = ("--answer", policy.questions[0].name)
        row = document(*arguments, *asked, "--replications", 5, "--engine", "reference")
        assert (row["policy"], row["error_rate"]) == (policy.name, 0.0)
    compared = few_of(COMPARED, "constrained-sr")
    rows = compare(path, "--budgets", 100, policies=",".join(compared), replications=100)
    assert [row["policy"] for row in rows] == list(compared)
    assert all(row["error_rate"] == 0.0 for row in rows)
    assert all(row["ratio_to_first"] is None for row in rows)


def test_two_arms_have_a_proven_limit(tmp_path: Path) -> None:
    theory = document("gaps", write(tmp_path, [1.0, 0.9], [3.0, 0.5]))
    assert theory["lower_bound_rate"] == pytest.approx(0.1**2 / 2)
    negative = NOISE.replace("0.5", "-0.5")
    theory = document("gaps", write(tmp_path, [1.0, 0.9], [3.0, 0.5], noise=negative))
    assert theory["lower_bound_rate"] is None


# ------------------------------------------------------------------ compare


def compare(*arguments: object, policies: str, replications: int = 2000) -> list[dict[str, Any]]:
    rows = document("compare", *arguments, "--policies", policies, "--replications", replications)[
        "rows"
    ]
    assert isinstance(rows, list)
    return rows


def test_compare_gives_a_document() -> None:
    names = "uniform,constrained-sr"
    rows = compare("paper-1", "paper-3", "--budgets", "400, 900", policies=names)
    assert [(row["instance"], row["budget"], row["policy"]) for row in rows] == [
        (instance, budget, policy)
        for instance in ("paper-1", "paper-3")
        for budget in (400, 900)
        for policy in ("uniform", "constrained-sr")
    ]
    for row in rows:
        assert set(row) >= {
            "instance",
            "policy",
            "budget",
            "scales",
            "error_rate",
            "std_error",
            "ratio_to_first",
        }
        assert row["scales"] == "known"
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        assert first["ratio_to_first"] == 1.0
        ratio = second["error_rate"] / first["error_rate"]
        assert second["ratio_to_first"] == pytest.approx(ratio)


def test_compare_speaks_to_people() -> None:
    policies, small = ",".join(COMPARED), ("--budgets", "500", "--replications", 500)
    text = shown("compare", "paper-3", "--policies", policies, *small)
    for policy in COMPARED:
        assert policy in text
    assert "estimated noise" in text
    assert "/ constrained-sr" in text


def test_compare_takes_families(tmp_path: Path) -> None:
    figure = tmp_path / "board.svg"
    arguments = (
        "compare", "--family", "two-constraints", "--policies", "constrained-sr,top-two",
        "--arms", "2,3", "--count", 2, "--errors", 10, "--most", 500,
    )  # fmt: skip
    found = document(*arguments)
    assert (found["family"], found["target_error"], found["scales"]) == (
        "two-constraints", 0.05, "known",
    )  # fmt: skip
    assert [(row["arms"], row["policy"], row["instances"]) for row in found["rows"]] == [
        (2, "constrained-sr", 2), (2, "top-two", 2), (3, "constrained-sr", 2), (3, "top-two", 2),
    ]  # fmt: skip
    assert len(found["cells"]) == 8
    for cell in found["cells"]:
        assert cell["errors"] >= 10 or cell["replications"] == 500
    text = shown(*arguments, "--figure", figure)
    assert "error / constrained-sr" in text
    assert figure.read_text(encoding="utf-8").count("top-two") >= 2


def test_common_random_numbers() -> None:
    """Reading note R6: the two differ in at most 4 of 100,000; drawn apart, in some 37,000."""
    names = "constrained-sr,infeasible-first"
    _, third = compare("paper-3", "--budgets", 2000, policies=names, replications=100_000)
    assert third["only_here_wrong"] + third["only_first_wrong"] <= 4
    assert third["errors"] == pytest.approx(
        24_779, abs=6 * math.sqrt(2 * 100_000 * 0.2478 * 0.7522)
    )
    _, first = compare("paper-1", "--budgets", 2000, policies=names, replications=100_000)
    assert first["only_here_wrong"] + first["only_first_wrong"] > 5000
    gained = first["only_here_wrong"] - first["only_first_wrong"]
    assert gained / 100_000 == pytest.approx(
        first["error_rate"] * (1 - 1 / first["ratio_to_first"])
    )


def test_a_policys_row_does_not_depend_on_its_company() -> None:
    """Alone or beside others, a policy sees the same pulls; so does a budget."""
    arguments = ("paper-3", "--budgets", 400)
    together = compare(*arguments, policies="constrained-sr,infeasible-first")
    (alone,) = compare(*arguments, policies="infeasible-first")
    assert alone["errors"] == together[1]["errors"]
    later = compare("paper-3", "--budgets", "300,400", policies="infeasible-first")[1]
    assert later["errors"] == alone["errors"]


def test_compare_repeats_itself_on_any_threads() -> None:
    arguments = ("paper-3", "--budgets", "400")
    names = "constrained-sr,uniform"
    runs = [
        compare(*arguments, "--threads", threads, policies=names, replications=40_000)
        for threads in (1, 2, 2)
    ]
    assert runs[0] == runs[1] == runs[2]


# ------------------------------------------------------------------ paper


@pytest.fixture
def short_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the unpublished points few replications."""
    monkeypatch.setattr(reproducing, "UNPUBLISHED_REPLICATIONS", 1000)


POINT_KEYS = {
    "instance",
    "policy",
    "budget",
    "replications",
    "errors",
    "error_rate",
    "published_log_error_rate",
    "published_errors",
    "z",
}


@pytest.mark.usefixtures("short_paper")
def test_paper_gives_a_document() -> None:
    report = document("paper", "--replications", 300)
    points = report["points"]
    assert [(p["instance"], p["budget"], p["policy"]) for p in points] == [
        (instance, budget, policy)
        for instance in (1, 2, 3, 4)
        for budget in range(1000, 10_001, 1000)
        for policy in ("constrained-sr", "infeasible-first")
    ]
    for point in points:
        assert set(point) >= POINT_KEYS
        assert point["replications"] == 300
        assert abs(point["z"]) < 6
        if point["published_log_error_rate"] is None:
            assert (point["instance"], point["published_errors"]) == (4, 0)
    assert sum(point["published_log_error_rate"] is None for point in points) == 4
    assert timeless(document("paper", "--replications", 300)) == timeless(report)


@pytest.mark.usefixtures("short_paper")
@pytest.mark.parametrize("replications", [1, 2, 3])
def test_paper_takes_any_number_of_replications(replications: int) -> None:
    report = document("paper", "--replications", replications)
    assert all(math.isfinite(point["z"]) for point in report["points"])


@pytest.mark.usefixtures("short_paper")
def test_paper_speaks_to_people_and_draws(tmp_path: Path) -> None:
    figure = tmp_path / "paper.png"
    done = ringfence("paper", "--replications", 30, "--figure", figure)
    assert done.code == 0
    for words in (
        "Panel (a), instance 1",
        "Panel (d), instance 4",
        "-inf",
        "Decay rates",
        "Constrained-SR decays faster than Infeasible First",
        "80 points: largest |z|",
        "figure: ",
    ):
        assert words in done.out
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("short_paper")
def test_a_figure_leaves_the_document_alone(tmp_path: Path) -> None:
    figure = tmp_path / "paper.svg"
    report = document("paper", "--replications", 20, "--figure", figure)
    assert len(report["points"]) == 80
    assert figure.read_bytes().startswith(b"<svg")


# ------------------------------------------------------------------ bench


def test_bench_gives_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two measurements that are made soon; of all of them where there is time."""
    tried = few_of(speed.measurements(), speed._numpy, speed._one_by_one)
    monkeypatch.setattr(speed, "measurements", lambda: tried)
    rows = document("bench", "--repeats", 1)["rows"]
    assert len(rows) >= len(tried)
    for row in rows:
        assert set(row) >= {"what", "ratio", "value", "unit"}
        assert row["what"]
        assert row["unit"]
        assert row["value"] > 0
        assert row["ratio"] is None or row["ratio"] > 0


def test_bench_speaks_to_people(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = speed.Row("over something", 2.5, 1234.0, "replications/s", "at least 2")
    monkeypatch.setattr(speed, "measurements", lambda: (lambda repeats, seed: [quick],))
    text = shown("bench", "--repeats", 1)
    for words in ("over something", "2.5", "1234", "replications/s", "at least 2"):
        assert words in text


def test_bench_is_what_make_bench_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = speed.Row("over something", None, 1234.0, "replications/s", "")
    monkeypatch.setattr(speed, "measurements", lambda: (lambda repeats, seed: [quick] * repeats,))
    monkeypatch.setattr(sys, "argv", ["speed", "--repeats", "2", "--json"])
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        speed.main()
    assert json.loads(said.getvalue()) == document("bench", "--repeats", 2)


def test_bench_needs_a_clone(tmp_path: Path) -> None:
    """Sources that lie elsewhere have no benchmarks beside them."""
    home = Path(str(sys.modules["ringfence"].__file__)).parent
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(home, tmp_path / "lib" / "site" / "ringfence", ignore=ignored)
    done = process(
        sys.executable, "-c", "from ringfence.interfaces.cli.app import main; main()", "bench",
        environment={"PYTHONPATH": str(tmp_path / "lib" / "site")}, folder=tmp_path,
    )  # fmt: skip
    assert (done.code, done.out) == (2, "")
    assert "in a clone of the repository" in done.err
    assert "make bench" in done.err
    assert len(done.err.splitlines()) <= 3


# ------------------------------------------------------------------ refusals


SIMULATE = ("simulate", "paper-1", "--budget", "1000", "--replications", "10")
COMPARE = ("compare", "paper-1", "--budgets", "1000", "--replications", "10")

REFUSALS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "missing file": (
        ("gaps", "nowhere.toml"),
        ("instance = 'nowhere.toml'", "does not exist", "Give a TOML file", "paper-1"),
    ),
    "nearly a paper instance": (
        ("simulate", "paper3", "--budget", "100"),
        ("instance = 'paper3'", "Did you mean 'paper-3'?"),
    ),
    "one missing file of two": (
        ("compare", "paper-1", "nowhere.toml", "--budgets", "100"),
        ("instance = 'nowhere.toml'", "does not exist"),
    ),
    "unknown policy": (
        (*SIMULATE, "--policy", "constrained_sr"),
        ("policy = 'constrained_sr'", "must be one of", "Did you mean 'constrained-sr'?"),
    ),
    "unknown policy among others": (
        (*COMPARE, "--policies", "uniform,infeasable-first"),
        ("policy = 'infeasable-first'", "must be one of", "Did you mean 'infeasible-first'?"),
    ),
    "no policies": ((*COMPARE, "--policies", ","), ("policies", "at least one")),
    "unknown engine": (
        (*SIMULATE, "--engine", "gpu"),
        ("engine = 'gpu'", "must be one of cpu, cuda, auto, reference"),
    ),
    "unknown method": (
        (*SIMULATE, "--method", "monte-carla"),
        ("method = 'monte-carla'", "must be one of", "Did you mean 'monte-carlo'?"),
    ),
    "too few pulls to estimate noise": (
        ("simulate", "paper-3", "--budget", "7", "--scales", "estimated"),
        ("budget = 7", "4 arms", "constrained-sr needs at least 11"),
    ),
    "family and instance": (
        ("compare", "paper-1", "--family", "uniform"),
        ("INSTANCE cannot go with --family", "one or the other"),
    ),
    "family and budgets": (
        ("compare", "--family", "uniform", "--budgets", "10"),
        ("--budgets cannot go with --family",),
    ),
    "unknown family": (
        ("compare", "--family", "unifrom"),
        ("family = 'unifrom'", "must be one of", "Did you mean 'uniform'?"),
    ),
    "sizes that are no numbers": (
        ("compare", "--family", "uniform", "--arms", "3,many"),
        ("arms holds 'many'", "whole number"),
    ),
    "figure without family": (
        (*COMPARE, "--figure", "x.png"),
        ("--figure goes with --family",),
    ),
    "count without family": (
        (*COMPARE, "--count", "10"),
        ("--count goes with --family", "leave it out"),
    ),
    "target of budgets without family": (
        (*COMPARE, "--target-error", "0.05"),
        ("--target-error goes with --family",),
    ),
    "a target too rare to be counted": (
        ("compare", "--family", "uniform", "--target-error", "1e-7"),
        ("target_error = 1e-07", "between 0.0001 and 0.5", "Use 0.05"),
    ),
    "a target that no policy needs pulls for": (
        ("compare", "--family", "uniform", "--target-error", "0.9"),
        ("target_error = 0.9", "between 0.0001 and 0.5"),
    ),
    "replications of a family": (
        ("compare", "--family", "uniform", "--replications", "1000"),
        ("--replications does not go with --family", "--errors and --most"),
    ),
    "batch of a family": (
        ("compare", "--family", "uniform", "--batch", "1"),
        ("--batch does not go with --family", "Leave it out"),
    ),
    "storage of no study": (
        ("plan", "paper-1", "--target-error", "0.1", "--storage", "sqlite:///x.db"),
        ("--storage goes with --from-study", "leave it out"),
    ),
    "nothing to compare": (("compare",), ("INSTANCE is missing", "--family")),
    "budgets missing": (("compare", "paper-1"), ("--budgets is missing",)),
    "unwritable figure of a tournament": (
        ("compare", "--family", "uniform", "--figure", "nowhere/x.png"),
        ("figure = 'nowhere/x.png'", "cannot be written"),
    ),
    "replications of splitting": (
        (
            "simulate",
            "paper-1",
            "--budget",
            "60000",
            "--method",
            "splitting",
            "--replications",
            "100000",
        ),
        ("replications = 100000 does not go with method = 'splitting'", "Leave it out"),
    ),
    "a figure of the base alone": (
        ("compare", "--family", "uniform", "--policies", "uniform", "--figure", "ok.svg"),
        ("policies = ['uniform']", "must name another beside the first", "leave the figure out"),
    ),
    "a size twice": (
        ("compare", "--family", "uniform", "--arms", "3,3"),
        ("arm_counts = [3, 3]", "must name each once", "Leave the repeats out"),
    ),
    "a policy twice": (
        ("compare", "--family", "uniform", "--policies", "top-two,uniform,uniform"),
        ("policies", "must name each once: 'uniform'", "rename one that differs"),
    ),
    "no batch": (
        (*SIMULATE, "--batch", "0"),
        ("batch = 0", "must be at least 1"),
    ),
    "unknown scales": (
        (*SIMULATE, "--scales", "knwon"),
        ("scales = 'knwon'", "must be one of", "Did you mean 'known'?"),
    ),
    "budget too small": (
        ("simulate", "paper-1", "--budget", "3"),
        ("budget = 3", "3 arms", "constrained-sr needs at least 4", "Raise the budget"),
    ),
    "negative budget": (
        ("simulate", "paper-1", "--budget", "-5"),
        ("budget = -5", "too small", "Raise the budget"),
    ),
    "one small budget of two": (
        ("compare", "paper-3", "--budgets", "1000,7", "--policies", "sequential-halving"),
        ("budget = 7", "4 arms", "sequential-halving needs at least 8", "Raise the budget"),
    ),
    "budget of gaps too small": (
        ("gaps", "paper-1", "--budget", "3"),
        ("budget = 3", "must be more than the 3 arms", "Raise it"),
    ),
    "budget beyond any machine": (
        ("simulate", "paper-1", "--budget", "99999999999999999999"),
        ("budget = 99999999999999999999",),
    ),
    "no replications": (
        ("simulate", "paper-1", "--budget", "1000", "--replications", "0"),
        ("replications = 0", "at least 1", "Give a positive whole number"),
    ),
    "negative replications": (
        ("simulate", "paper-1", "--budget", "1000", "--replications", "-5"),
        ("replications = -5", "at least 1", "Give a positive whole number"),
    ),
    "no replications of compare": (
        ("compare", "paper-1", "--budgets", "1000", "--replications", "0"),
        ("replications = 0", "at least 1"),
    ),
    "negative replications of compare": (
        ("compare", "paper-1", "--budgets", "1000", "--replications", "-5"),
        ("replications = -5", "at least 1"),
    ),
    "no replications of paper": (("paper", "--replications", "0"), ("replications = 0",)),
    "negative replications of paper": (("paper", "--replications", "-5"), ("replications = -5",)),
    "negative seed": (
        (*SIMULATE, "--seed", "-1"),
        ("seed = -1", "0 or more", "Give a non-negative whole number"),
    ),
    "negative seed of compare": ((*COMPARE, "--seed", "-1"), ("seed = -1", "0 or more")),
    "negative seed of paper": (("paper", "--seed", "-1"), ("seed = -1", "0 or more")),
    "negative seed of bench": (
        ("bench", "--repeats", "1", "--seed", "-1"),
        ("seed = -1", "0 or more"),
    ),
    "no threads": ((*SIMULATE, "--threads", "0"), ("threads = 0", "at least 1")),
    "no threads of compare": ((*COMPARE, "--threads", "0"), ("threads = 0", "at least 1")),
    "no repeats": (("bench", "--repeats", "0"), ("repeats = 0", "at least 1")),
    "budgets with a word": (
        ("compare", "paper-1", "--budgets", "10,x"),
        ("budgets", '"x"', "whole number"),
    ),
    "budgets with a fraction": (
        ("compare", "paper-1", "--budgets", "10.5"),
        ("budgets", '"10.5"', "whole number"),
    ),
    "no budgets": (("compare", "paper-1", "--budgets", ","), ("budgets", "at least one")),
    "budget as a word": (
        ("simulate", "paper-1", "--budget", "x"),
        ("budget", "whole number", '"50 USD"'),
    ),
    "no budget": (("simulate", "paper-1"), ("--budget",)),
    "no instance": (("gaps",), ("INSTANCE",)),
    "unknown command": (("simulat", "paper-1"), ("simulat", "simulate")),
    "unknown option": (("gaps", "paper-1", "--buget", "9"), ("--buget", "--budget")),
    "figure in no folder": (
        ("paper", "--figure", "no/folder/f.png"),
        ("figure = 'no/folder/f.png'", "cannot be written", "no folder 'no/folder'"),
    ),
    "figure on a folder": (
        ("paper", "--figure", "folder.png"),
        ("figure = 'folder.png'", "cannot be written", "Choose another place"),
    ),
    "figure below a file": (
        ("paper", "--figure", "file/f.png"),
        ("figure = 'file/f.png'", "cannot be written"),
    ),
    "figure of another kind": (
        ("paper", "--figure", "f.gif"),
        ("figure", ".gif", "must end in .png, .svg, .pdf"),
    ),
}


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("case", REFUSALS)
def test_bad_input_is_refused(
    case: str, as_json: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "file").touch()
    arguments, words = REFUSALS[case]
    refused(ringfence(*arguments, *["--json"] * as_json), *words)


def test_an_unreadable_expression_is_pointed_at(tmp_path: Path) -> None:
    path = write(tmp_path, [1.0, 0.5], constraints=("mean(risk) = 1",))
    done = ringfence("gaps", path)
    refused(done, f"error: {path}: constraints[0] cannot be read", "Write: mean(risk) <= 1")
    _, text, caret = done.err.splitlines()
    assert text == "    mean(risk) = 1"
    assert caret == "               ^"
    assert text[caret.index("^")] == "="


def test_a_bad_file_is_refused_by_every_command(tmp_path: Path) -> None:
    path = write(tmp_path, [1.0, 0.5], [1.0])
    words = (f"error: {path}: ", "arms.arm-2.mean = [1.0]", "one number a metric")
    refused(ringfence("gaps", path), *words)
    refused(ringfence("simulate", path, "--budget", 100), *words)
    refused(ringfence("compare", path, "--budgets", 100), *words)


def test_a_figure_without_its_libraries_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    done = ringfence("paper", "--figure", tmp_path / "paper.png")
    assert (done.code, done.out) == (1, ""), "the input is not to blame"
    assert "figure" in done.err
    assert "pip install 'ringfence[plots]'" in done.err


# ------------------------------------------------------------------ the real process


def test_the_installed_command_refuses_without_a_traceback(tmp_path: Path) -> None:
    refused(ringfence_process("gaps", tmp_path / "nowhere.toml", "--json"), "does not exist")
    path = write(tmp_path, [1.0, 0.5], objective="minimise mean(loss)")
    refused(ringfence_process("gaps", path), "Did you mean 'minimize'?", "    ^")
    refused(ringfence_process("nonsense"), "nonsense")


def test_the_module_is_the_command() -> None:
    done = process(sys.executable, "-m", "ringfence", "--version")
    assert (done.code, done.out) == (0, ringfence("--version").out)


def test_the_installed_command_prints_json_and_nothing_else() -> None:
    arguments = ("simulate", "paper-3", "--budget", "500", "--replications", "2000", "--json")
    done = ringfence_process(*arguments)
    assert done.code == 0
    assert all(line.startswith("replications: ") for line in done.err.splitlines())
    assert timeless(done.document) == timeless(ringfence(*arguments).document)


def test_output_is_plain_where_there_is_no_terminal() -> None:
    done = ringfence_process("gaps", "paper-1")
    assert done.code == 0
    assert "\x1b" not in done.out


def test_progress_goes_to_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from ringfence.interfaces.cli import output

    monkeypatch.setattr(output, "_PATIENCE_SECONDS", -1.0)
    done = ringfence(*SIMULATE, "--json")
    assert json.loads(done.out)["replications"] == 10
    assert done.err == "replications: 100%\n"


def test_the_version_and_the_help_are_shown() -> None:
    assert shown("--version").startswith("ringfence ")
    text = shown("--help")
    for command in ("paper", "simulate", "gaps", "compare", "bench"):
        assert command in text
        assert "--json" in shown(command, "--help")


def test_help_is_shown_as_it_is_written() -> None:
    """What stands in square brackets would be taken for a style, and left out."""
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    written = [
        text
        for command in commands.values()
        for text in (command.help, *(getattr(one, "help", None) for one in command.params))
        if text
    ]
    assert len(written) > 100
    assert [Text.from_markup(text).plain for text in written] == written


# ------------------------------------------------------------------ attributes beyond the mean

TAILS = {
    "objective": "minimize cvar(loss, 0.9)",
    "constraints": ("p95(risk) <= 2.5",),
    "noise": 'family = ["exponential", "gaussian"]\ncovariance = [[1.0]]',
}


def test_percentiles_and_tails_are_simulated_and_explained(tmp_path: Path) -> None:
    """Compiled where there is time: how engines compare is seen in statistical tests."""
    path = write(tmp_path, [1.0, 0.0], [2.0, 0.0], [0.7, 1.5], **TAILS)  # type: ignore[arg-type]
    for scales, engine, many in few_of(
        [("known", "cpu", 300), ("estimated", "cpu", 300), ("estimated", "reference", 120)],
        ("estimated", "reference", 120),
    ):
        result = document(
            "simulate", path, "--budget", 90, "--replications", many, "--scales", scales,
            "--engine", engine,
        )  # fmt: skip
        assert result["engine"] == engine
        assert result["pulls_used"] <= 90
        assert 0 < result["errors"] < many
    theory = document("gaps", path, "--budget", 900)
    assert theory["optimal"] == "arm-1"
    assert theory["feasible"]
    assert [arm["kind"] for arm in theory["arms"]] == [
        "optimal",
        "feasible-suboptimal",
        "deceiver",
    ]
    # The margin is that of the share beyond the limit, in units of its own noise.
    shares = [0.5 * math.erfc((2.5 - mean) / math.sqrt(2.0)) for mean in (0.0, 0.0, 1.5)]
    noise = sum(share * (1.0 - share) for share in shares) / 3.0
    assert [arm["margin"] for arm in theory["arms"]] == pytest.approx(
        [(share - 0.05) / math.sqrt(2.0 * noise) for share in shares]
    )
    assert theory["upper_bound"] is None
    text = shown("gaps", path)
    assert "minimize cvar(loss, 0.9), subject to p95(risk) <= 2.5" in text


def test_a_budget_too_small_for_a_tail_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, [1.0, 0.0], [2.0, 0.0], **TAILS)  # type: ignore[arg-type]
    words = ("budget = 3 is too small for 2 arms", "uniform needs at least 4 pulls")
    refused(ringfence("simulate", path, "--policy", "uniform", "--budget", 3), *words)
