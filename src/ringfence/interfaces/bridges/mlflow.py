"""Logs a study to MLflow, which is imported when it is called for. May touch every room."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ringfence.core.errors import InputError
from ringfence.core.strict import strict
from ringfence.interfaces.studies import Study
from ringfence.reports.verdict import reason, sentence, verdict_document

_SIGNS = ((">=", "from"), ("<=", "up to"), (">", "above"), ("<", "below"))
_LONGEST = 500  # characters of a parameter, which older servers limit
_LONGEST_NAME = 250  # characters of a name, which all do


def log_to_mlflow(study: Study, *, client: Any = None) -> str:
    """Log a study as one run, with a nested run for each arm; return the run's id.

    Inside of an active run it is nested as well. `client` stands in for the module `mlflow`.
    Names are put into the letters that MLflow allows: `mean(x)` is the metric "mean x".

    >>> import mlflow
    >>> import ringfence as rf
    >>> study = rf.Study.create(
    ...     "pair",
    ...     arms=["old", "new"],
    ...     objective="maximize mean(score)",
    ...     constraints="mean(seconds) <= 1",
    ...     budget=20,
    ...     policy="uniform",
    ...     storage="memory://",
    ...     seed=1,
    ... )
    >>> for pull in study.pulls():
    ...     good = 0.8 if pull.arm == "new" else 0.6
    ...     _ = study.tell(pull, {"score": good, "seconds": 0.5 + 0.1 * (pull.seed % 3)})
    >>> mlflow.set_tracking_uri("sqlite:///mlflow.db")
    >>> run = mlflow.get_run(rf.log_to_mlflow(study))
    >>> run.data.tags["arm"], run.data.params["constraint_0"], run.data.metrics["pulls_used"]
    ('new', 'mean(seconds) <= 1', 20.0)
    """
    mlflow = _mlflow() if client is None else _module(client)
    verdict, definition = study.recommend(), study.definition
    metrics = _names(name for arm in verdict.arms for name in arm.estimates)
    params = _names(key for keys in definition.arms.values() for key in keys)
    nested = mlflow.active_run() is not None
    with mlflow.start_run(run_name=study.name, nested=nested) as run:
        limits = {f"constraint_{i}": text for i, text in enumerate(definition.constraints)}
        fixed: dict[str, object] = {"objective": definition.objective, **limits}
        fixed |= {key: getattr(definition, key) for key in ("policy", "seed", "batch")}
        fixed["budget"] = verdict.budget
        mlflow.log_params(_cut(fixed))
        mlflow.set_tags(
            {
                "arm": ", ".join(verdict.answer),
                "verdict": verdict.verdict.value,
                "sentence": sentence(verdict),
            }
        )
        numbers = ("confidence", "chance_feasible", "chance_keeps_limits", "pulls_used")
        mlflow.log_metrics(_finite({key: getattr(verdict, key) for key in numbers}))
        for arm in verdict.arms:
            with mlflow.start_run(run_name=arm.name, nested=True):
                keys = definition.arms[arm.name]
                mlflow.log_params(_cut({params[key]: value for key, value in keys.items()}))
                tags = {"status": arm.status.value, "reason": reason(arm, verdict)[:_LONGEST]}
                mlflow.set_tags({**tags, "kind": arm.kind or "not judged"})
                found = {metrics[name]: one.value for name, one in arm.estimates.items()}
                mlflow.log_metrics(_finite({**found, "margin": arm.margin, "pulls": arm.pulls}))
        mlflow.log_text(study.record(verdict=verdict), "record.html")
        mlflow.log_dict(strict(verdict_document(verdict)), "verdict.json")
        return str(run.info.run_id)


def _mlflow() -> Any:
    try:
        import mlflow
    except ImportError:
        raise InputError("log_to_mlflow needs mlflow. Install it: pip install mlflow.") from None
    return mlflow


def _module(client: Any) -> Any:
    if not hasattr(client, "start_run"):
        raise InputError(
            f"client = {type(client).__name__} must have the functions of the module mlflow, such "
            "as start_run. Leave it out, and set the place with mlflow.set_tracking_uri."
        )
    return client


def _cut(values: Mapping[str, object]) -> dict[str, str]:
    return {key: str(value)[:_LONGEST] for key, value in values.items()}


def _finite(values: Mapping[str, float | None]) -> dict[str, float]:
    """Return what is a number: databases keep no infinity as it is."""
    return {
        key: float(value)
        for key, value in values.items()
        if value is not None and math.isfinite(value)
    }


def _names(texts: Iterable[str]) -> dict[str, str]:
    """Return a name for each text, no two alike: where letters are lost, a number is added."""
    names: dict[str, str] = {}
    for text in dict.fromkeys(texts):
        name, number = _key(text), 1
        while name in names.values():
            number += 1
            name = f"{_key(text)[: _LONGEST_NAME - 8]} {number}"
        names[text] = name
    return names


def _key(text: str) -> str:
    """Return a name in the letters that MLflow allows: mean(x) is "mean x".

    It must be a path as well, to a file of its own: no empty steps, none upwards.
    """
    for sign, word in _SIGNS:
        text = text.replace(sign, word)
    letters = (one if one.isalnum() or one in "_-./" else " " for one in text)
    steps = " ".join("".join(letters).split()).split("/")
    path = "/".join(step for step in steps if step not in ("", ".", ".."))
    return path[:_LONGEST_NAME].rstrip("/. ") or "unnamed"
