"""One sample of a task of inspect-ai, in a process of its own. Imports inspect-ai when it is used.

May touch the readers of logs, and execution's words for failures.
"""

import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ringfence.core.errors import one_line
from ringfence.execution.failures import EvaluationError, failure_of
from ringfence.interfaces.logs.inspect_ai import metrics_of

_OF_EVAL = ("task_args", "solver")


@dataclass(frozen=True)
class Ask:
    """What one pull asks for."""

    task: str
    model: str
    sample: str | int
    settings: Mapping[str, Any]
    time_limit: int | None
    log_dir: str | None


@dataclass(frozen=True)
class Answer:
    """What came of it; without an error there are metrics."""

    metrics: dict[str, float] = field(default_factory=dict)
    error: str = ""
    unavailable: bool = False
    retry_seconds: float = 0.0
    timed_out: bool = False


def begin() -> None:
    """Leave interrupts to the process that asks, and end when it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["INSPECT_DISPLAY"] = "none"
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def sample_ids(task: str) -> list[str | int]:
    """Return the ids of a task's samples."""
    from inspect_ai import eval as run

    with tempfile.TemporaryDirectory() as folder:
        (log,) = run(task, model="mockllm/model", run_samples=False, display="none", log_dir=folder)
        return list(log.eval.dataset.sample_ids or ())


def evaluate(asked: Ask) -> Answer:
    """Evaluate one sample with one model."""
    from inspect_ai import eval as run
    from inspect_ai.model import get_model

    failures: list[EvaluationError] = []
    of_eval = {key: asked.settings[key] for key in _OF_EVAL if key in asked.settings}
    model_args = asked.settings.get("model_args", {})
    others = (*_OF_EVAL, "model_args")
    generation = {key: value for key, value in asked.settings.items() if key not in others}
    try:
        model = get_model(asked.model, memoize=False, **model_args)
        _listen(model.api, failures)
        with tempfile.TemporaryDirectory() as folder:
            (log,) = run(
                asked.task,
                model=model,
                sample_id=asked.sample,
                time_limit=asked.time_limit,
                log_dir=asked.log_dir or folder,
                display="none",
                **{"max_retries": 0, **generation},
                **of_eval,
            )
            return _answer(log, asked, failures)  # it reads samples when it is asked for them
    except Exception as error:  # noqa: BLE001 - whatever it is, the pull has failed of it
        return _failed(failures, failure_of(error))


def _answer(log: Any, asked: Ask, failures: list[EvaluationError]) -> Answer:
    if not log.samples:
        said = log.error.message if log.error else f"no sample {asked.sample!r} in {asked.task}"
        return _failed(failures, EvaluationError(one_line(said)))
    sample = log.samples[0]
    if sample.limit is not None and sample.limit.type == "time":
        return Answer(error=f"it took longer than {asked.time_limit} seconds", timed_out=True)
    if sample.error is not None:
        return _failed(failures, EvaluationError(one_line(sample.error.message)))
    return Answer(metrics_of(sample.model_dump(mode="json"), f"sample {asked.sample}"))


def _listen(api: Any, failures: list[EvaluationError]) -> None:
    """Hear what a model's calls raise: inspect-ai's log keeps only words of it."""
    generate = api.generate

    async def heard(*given: Any, **named: Any) -> Any:
        try:
            return await generate(*given, **named)
        except Exception as error:
            failures.append(failure_of(error))
            raise

    api.generate = heard


def _failed(failures: list[EvaluationError], other: EvaluationError) -> Answer:
    """Return the last that a call raised, if its service was away; else what inspect-ai said."""
    last = failures[-1] if failures and failures[-1].unavailable else other
    what = one_line(str(last)) or "inspect-ai failed"
    return Answer({}, what, last.unavailable, last.retry_seconds, last.timed_out)
