"""Results as data frames of any library, through one door."""

import math
from typing import Any

import narwhals as nw
import pytest

import ringfence as rf
from ringfence.interfaces.bridges import frames


@pytest.fixture(scope="module")
def study() -> rf.Study:
    made = rf.Study.create(
        "s",
        arms=["one", "two", "three"],
        objective="maximize mean(score)",
        constraints=["mean(risk) <= 1.0"],
        budget=30,
        policy="uniform",
        storage="memory://",
        seed=1,
    )
    means = {"one": (0.9, 1.5), "two": (0.5, 0.4), "three": (0.3, 0.2)}
    for pull in made.pulls():
        if pull.arm == "three":
            made.fail(pull, "it broke")
            continue
        score, risk = means[pull.arm]
        wobble = 0.01 * (pull.seed % 11 - 5)
        made.tell(pull, {"score": score + wobble, "risk": risk - wobble})
    return made


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_every_library_has_the_same_table(study: rf.Study, backend: str) -> None:
    pulls = nw.from_native(study.frame(backend=backend), eager_only=True)
    assert pulls.implementation.value == backend
    assert {name: pulls[name].to_list() for name in pulls.columns} == study.observations()
    arms = nw.from_native(study.frame("arms", backend=backend), eager_only=True)
    assert arms["arm"].to_list() == ["one", "two", "three"]
    assert arms["is_answer"].to_list() == [False, True, False]
    assert arms["kind"].to_list()[:2] == ["deceiver", "optimal"]
    verdict = study.recommend()
    assert arms["mean(risk) high"].to_list()[0] == verdict.arms[0].estimates["mean(risk)"].high
    missing = arms["margin"].to_list()[2]
    assert missing is None or math.isnan(missing)


def test_columns_of_an_arm_come_in_the_readers_order(study: rf.Study) -> None:
    assert list(frames.columns_of(study.recommend())) == [
        "arm", "is_answer", "kind", "pulls",
        "mean(score)", "mean(score) low", "mean(score) high",
        "mean(risk)", "mean(risk) low", "mean(risk) high",
        "margin", "margin low", "margin high", "blocked_by", "status", "reason",
    ]  # fmt: skip


def test_results_comparisons_and_plans() -> None:
    rows = rf.compare(
        "paper-1", policies=["constrained-sr", "uniform"], budgets=[200, 400], replications=2000
    )
    table = rf.to_frame(rows, backend="polars")
    assert table["policy"].to_list() == ["constrained-sr", "uniform"] * 2
    assert table["error_rate"].to_list() == [row.result.error_rate for row in rows]
    one = rf.to_frame(rows[0].result, backend="polars")
    arm = next(iter(rows[0].result.mean_pulls))
    assert one.shape[0] == 1
    assert {"error_rate", f"mean_pulls {arm}"} <= set(one.columns)
    assert "lost_in_phase" not in one.columns
    plan = rf.plan("paper-1", "constrained-sr", target_error=0.2, brief=True)
    curve = rf.to_frame(plan, backend="polars")
    assert curve["budget"].to_list() == [point.budget for point in plan.curve]
    html = plan._repr_html_()
    assert plan.headline in html
    assert f"<td class=short>{plan.curve[0].budget:,}</td>" in html
    shown = rows[0].result._repr_html_()
    assert shown is not None
    assert (
        f"constrained-sr errs on paper-1 with a probability of {rows[0].result.error_rate:.4g}"
        in shown
    )


def test_columns_and_mappings_are_taken_as_they_are() -> None:
    assert rf.to_frame({"a": [1, 2]}, backend="polars")["a"].to_list() == [1, 2]
    assert rf.to_frame([{"a": 1}, {"a": 2, "b": "x"}], backend="polars").to_dicts() == [
        {"a": 1, "b": None},
        {"a": 2, "b": "x"},
    ]
    assert rf.to_frame([], backend="polars").shape == (0, 0)


def test_the_first_library_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    there: set[str] = {"polars", "pyarrow"}
    monkeypatch.setattr(frames, "find_spec", lambda name: name if name in there else None)
    assert type(rf.to_frame({"a": [1]})).__module__.startswith("polars")
    with pytest.raises(rf.InputError, match="backend = 'pandas' needs pandas, which is not"):
        rf.to_frame({"a": [1]}, backend="pandas")
    there.clear()
    with pytest.raises(rf.InputError, match="needs pandas or polars or pyarrow"):
        rf.to_frame({"a": [1]})


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        ({"a": [1]}, {"backend": "panads"}, "Did you mean 'pandas'"),
        (3, {}, "int is no result that has rows"),
        ([1, 2], {}, "int is no result that has rows"),
    ],
)
def test_refusals(given: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(rf.InputError, match=words):
        rf.to_frame(given, **options)


def test_a_study_has_two_tables(study: rf.Study) -> None:
    with pytest.raises(rf.InputError, match="what = 'rounds' must be one of pulls, arms"):
        study.frame("rounds")


@pytest.mark.parametrize("backend", ["pandas", "pyarrow"])
def test_tables_whose_columns_are_not_told_apart_are_refused(backend: str) -> None:
    rows = [("a", "a", "b", "b"), (1.0, 2.0, 1.0, 3.0), (0.0, 0.1, 0.2, 0.3)]
    asked: dict[str, Any] = {"objective": "minimize mean(x)", "constraints": ["mean(y) <= 1"]}

    def table(*names: str) -> Any:
        if backend == "pandas":
            return pytest.importorskip("pandas").DataFrame(
                list(zip(*rows, strict=True)), columns=names
            )
        return pytest.importorskip("pyarrow").table(list(map(list, rows)), names=names)

    assert rf.Instance.from_frame(table("who", "x", "y"), arm="who", **asked).arms == ("a", "b")
    with pytest.raises(rf.InputError, match=r"more than one column.*'x' 2 times.*Name each once"):
        rf.Instance.from_frame(table("who", "x", "x"), arm="who", **asked)
    with pytest.raises(rf.InputError, match="arm = 'x' must name another column than the metrics"):
        rf.Instance.from_frame(table("who", "x", "y"), arm="x", **asked)
