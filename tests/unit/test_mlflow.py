"""A study in real MLflow: what was logged is read back by MLflow's own client.

The package is mlflow-skinny, MLflow without its server and its web page; the runs are kept in
SQLite, as MLflow does by default.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import ringfence as rf
from ringfence.interfaces.bridges.mlflow import _LONGEST_NAME, _key, _names

# MLflow's own, on the newest SQLAlchemy.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*loader strategy is deprecated"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def mlflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """MLflow with an empty store of its own, which forgets afterwards that it was used."""
    folder, before = tmp_path_factory.mktemp("mlflow"), dict(os.environ)
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{folder / 'mlflow.db'}"
    import mlflow

    made = mlflow.create_experiment("studies", artifact_location=(folder / "files").as_uri())
    os.environ["MLFLOW_EXPERIMENT_ID"] = made
    yield mlflow
    os.environ.clear()
    os.environ.update(before)


def study_of(
    arms: Mapping[str, Mapping[str, Any]], constraints: list[str], **latencies: float
) -> rf.Study:
    study = rf.Study.create(
        "launch",
        arms=arms,
        objective="maximize mean(score)",
        constraints=constraints,
        budget=10 * len(arms),
        policy="uniform",
        storage="memory://",
        seed=1,
    )

    def evaluate(arm: str, seed: int) -> dict[str, float]:
        wobble = 0.01 * (seed % 11)
        late = {metric: latencies.get(arm, 0.5) + wobble for metric in study.desk.plan.metrics}
        return late | {"score": latencies.get(arm, 0.5) + 3 * wobble}

    study.optimize(evaluate)
    return study


def arms_of(mlflow: Any, run: Any) -> dict[str, Any]:
    nested = mlflow.MlflowClient().search_runs(
        [run.info.experiment_id], f"tags.`mlflow.parentRunId` = '{run.info.run_id}'"
    )
    return {one.info.run_name: one for one in nested}


def artifact(mlflow: Any, run: Any, name: str, folder: Path) -> str:
    path = mlflow.MlflowClient().download_artifacts(run.info.run_id, name, str(folder))
    return Path(path).read_text("utf-8")


@pytest.mark.parametrize("inside", [False, True])
def test_a_study_is_read_back(mlflow: Any, inside: bool, tmp_path: Path) -> None:
    arms: dict[str, dict[str, Any]] = {
        "big": {"depth": 9, "note": "x" * 7000},
        "small": {"depth": 3},
    }
    study = study_of(arms, ["mean(late) <= 0.7", "share(late > 2) <= 0.5"], big=0.9)
    if inside:
        with mlflow.start_run(run_name="around") as around:
            made = rf.log_to_mlflow(study)
            assert mlflow.active_run().info.run_id == around.info.run_id
    else:
        made = rf.log_to_mlflow(study)
    assert mlflow.active_run() is None

    run, verdict = mlflow.MlflowClient().get_run(made), study.recommend()
    assert (run.info.run_name, run.info.status) == ("launch", "FINISHED")
    assert run.data.tags.get("mlflow.parentRunId") == (around.info.run_id if inside else None)
    assert run.data.params == {
        "objective": "maximize mean(score)",
        "constraint_0": "mean(late) <= 0.7",
        "constraint_1": "share(late > 2) <= 0.5",
        "policy": "uniform",
        "seed": "1",
        "batch": "1",
        "budget": "20",
    }
    assert run.data.metrics == {
        "confidence": verdict.confidence,
        "chance_feasible": verdict.chance_feasible,
        "chance_keeps_limits": verdict.chance_keeps_limits,
        "pulls_used": 20.0,
    }
    assert run.data.tags["arm"] == "small"
    assert run.data.tags["verdict"] == verdict.verdict == "feasible"
    assert run.data.tags["sentence"].startswith("small is the best feasible arm")
    assert artifact(mlflow, run, "record.html", tmp_path) == study.record()
    document = json.loads(artifact(mlflow, run, "verdict.json", tmp_path))
    assert [document["arm"], document["arms"][0]["kind"]] == ["small", "deceiver"]

    found = arms_of(mlflow, run)
    assert set(found) == {"big", "small"}
    big, small = (found[name].data for name in ("big", "small"))
    assert big.params == {"depth": "9", "note": "x" * 500}
    assert small.params == {"depth": "3"}
    assert (big.tags["kind"], small.tags["kind"]) == ("deceiver", "optimal")
    assert small.tags["status"] == "in the running"
    told = verdict.arms[1]
    assert small.metrics == {
        "mean score": told.estimates["mean(score)"].value,
        "mean late": told.estimates["mean(late)"].value,
        "share late above 2": 0.0,
        "margin": told.margin,
        "pulls": 10.0,
    }


def test_names_that_mlflow_refuses_are_mended(mlflow: Any) -> None:
    """Letters, lengths and paths: each of these was refused, or overwrote its neighbour."""
    keys = {"top(p)": 0.9, "a//b": 1, "../up": 2, "..": 3, "k" * 300: 4, "100%": 5, "100": 6}
    limits = ['mean("u v") <= 1', 'mean("u(v)") <= 1', 'mean("s//late") <= 1']
    study = study_of({"one": keys, "two": {}}, limits)
    run = mlflow.MlflowClient().get_run(rf.log_to_mlflow(study))
    one = arms_of(mlflow, run)["one"].data
    assert one.params == {
        "top p": "0.9", "a/b": "1", "up": "2", "unnamed": "3", "k" * 250: "4", "100": "5",
        "100 2": "6",
    }  # fmt: skip
    assert set(one.metrics) == {
        "mean score", "mean u v", "mean u v 2", "mean s/late", "margin", "pulls",
    }  # fmt: skip


def test_every_name_is_a_path_to_a_file_of_its_own(mlflow: Any) -> None:
    from mlflow.utils.validation import _validate_metric_name

    texts = ["/", "", "a/./b", "a/b/", "a/b", "mean(a)/..", "é:ü", "x" * 260, "x" * 270, "x.", "."]
    names = _names(texts)
    assert len(set(names.values())) == len(texts)
    for name in names.values():
        _validate_metric_name(name)
        assert 0 < len(name) <= _LONGEST_NAME


def test_a_client_is_no_stand_in_for_the_module(mlflow: Any) -> None:
    study = study_of({"one": {}, "two": {}}, ["mean(late) <= 1"])
    with pytest.raises(rf.InputError, match=r"client = MlflowClient must have the functions"):
        rf.log_to_mlflow(study, client=mlflow.MlflowClient())


def test_a_run_that_breaks_off_is_marked_as_failed(
    mlflow: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(text: str, name: str) -> None:
        raise OSError("no space left")

    study = study_of({"one": {}, "two": {}}, ["mean(late) <= 1"])
    monkeypatch.setattr(mlflow, "log_text", full)
    with pytest.raises(OSError, match="no space left"):
        rf.log_to_mlflow(study)
    assert mlflow.active_run() is None
    newest = mlflow.MlflowClient().search_runs(
        [mlflow.get_experiment_by_name("studies").experiment_id],
        "attributes.run_name = 'launch'",
        order_by=["attributes.start_time DESC"],
        max_results=1,
    )
    assert newest[0].info.status == "FAILED"


def test_names_of_metrics_stay_apart() -> None:
    names = ["share(x > 1)", "share(x < 1)", "share(x >= 1)", "share(x <= 1)", "quantile(x, 0.95)"]
    assert [_key(name) for name in names] == [
        "share x above 1", "share x below 1", "share x from 1", "share x up to 1",
        "quantile x 0.95",
    ]  # fmt: skip
