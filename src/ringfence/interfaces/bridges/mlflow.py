"""Logs a study to MLflow, which is imported when it is called for. May touch every room."""

from typing import Any

from ringfence.core.errors import InputError
from ringfence.interfaces.studies import Study
from ringfence.reports.verdict import sentence, verdict_document

_SIGNS = ((">=", "from"), ("<=", "up to"), (">", "above"), ("<", "below"))
_LONGEST = 500  # characters of a parameter, which MLflow limits


def log_to_mlflow(study: Study, *, client: Any = None) -> str:
    """Log a study as one run, with a nested run for each arm; return the run's id.

    Inside of an active run it is nested as well. `client` stands in for the module `mlflow`.
    """
    mlflow = client or _mlflow()
    verdict, definition = study.recommend(), study.definition
    nested = mlflow.active_run() is not None
    with mlflow.start_run(run_name=study.name, nested=nested) as run:
        limits = {f"constraint_{i}": text for i, text in enumerate(definition.constraints)}
        fixed: dict[str, object] = {"objective": definition.objective, **limits}
        fixed |= {key: getattr(definition, key) for key in ("policy", "seed", "batch")}
        fixed["budget"] = verdict.budget
        mlflow.log_params({key: str(value)[:_LONGEST] for key, value in fixed.items()})
        mlflow.set_tags(
            {"arm": verdict.arm, "verdict": verdict.verdict, "sentence": sentence(verdict)}
        )
        numbers = ("confidence", "chance_feasible", "pulls_used")
        mlflow.log_metrics({key: float(getattr(verdict, key)) for key in numbers})
        for arm in verdict.arms:
            with mlflow.start_run(run_name=arm.name, nested=True):
                keys = definition.arms[arm.name]
                mlflow.log_params({key: str(value)[:_LONGEST] for key, value in keys.items()})
                mlflow.set_tags({"status": arm.status, "kind": arm.kind or "not judged"})
                found = {_key(name): one.value for name, one in arm.estimates.items()}
                found |= {} if arm.margin is None else {"margin": arm.margin}
                mlflow.log_metrics({**found, "pulls": float(arm.pulls)})
        mlflow.log_text(study.record(), "record.html")
        mlflow.log_dict(verdict_document(verdict), "verdict.json")
        return str(run.info.run_id)


def _mlflow() -> Any:
    try:
        import mlflow
    except ImportError:
        raise InputError("log_to_mlflow needs mlflow. Install it: pip install mlflow.") from None
    return mlflow


def _key(attribute: str) -> str:
    """Return a metric's name in the letters that MLflow allows: mean(x) is "mean x"."""
    for sign, word in _SIGNS:
        attribute = attribute.replace(sign, word)
    letters = (one if one.isalnum() or one in "_-./" else " " for one in attribute)
    return " ".join("".join(letters).split())
