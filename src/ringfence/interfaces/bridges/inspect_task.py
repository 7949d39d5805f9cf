"""A task of inspect-ai as the evaluations of a study: an option answers one sample in each pull.

Each pull is one evaluation by inspect-ai itself, with its solvers, tools and scorers. inspect-ai
runs one evaluation at a time in a process, so pulls that run side by side are in processes of their
own (`inspect_worker.py`). May touch those and execution's errors.
"""

import atexit
import multiprocessing
import threading
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ringfence.core.errors import InputError, MissingExtraError
from ringfence.execution.failures import (
    EvaluationError,
    TimedOutError,
    UnavailableError,
    require_timeout,
)
from ringfence.interfaces.bridges.inspect_worker import Answer, Ask, begin, evaluate, sample_ids

_MOST_PROCESSES = 64


@dataclass
class InspectTask:
    """A task of inspect-ai, such as "sums.py@sums", as a function for `Study.optimize`.

    An option's `model` is its key of that name, or else its own name; `task_args`, `model_args` and
    `solver` are inspect-ai's, and its other keys are settings of generation, such as temperature.
    Metrics are the scorers' values, `input_tokens`, `output_tokens`, `seconds` and, where
    inspect-ai knows it, `price`. `items` lists the samples. A rate limit or a server error is an
    outage, never the option's. A sample that takes longer than `timeout_seconds` has timed out.
    `log_dir` keeps inspect-ai's own logs; `processes` is how many samples run side by side.

    >>> import ringfence as rf
    >>> task = rf.InspectTask("package/sums", timeout_seconds=30)
    >>> task.way  # then: study.optimize(task, concurrency=8)
    'inspect-ai package/sums 30'
    """

    task: str
    timeout_seconds: int | None = None
    log_dir: str | Path | None = None
    processes: int = 16
    _pool: ProcessPoolExecutor | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _items: list[dict[str, Any]] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a task, a time or a number that cannot be."""
        path, _, _ = self.task.partition("@")
        if path.endswith(".py") and not Path(path).is_file():
            raise InputError(
                f"task = {self.task!r}: file {path!r} does not exist, seen from here. Give the "
                "path of a Python file and the name of its task, such as 'sums.py@sums'."
            )
        require_timeout(self.timeout_seconds)
        if self.timeout_seconds is not None and int(self.timeout_seconds) != self.timeout_seconds:
            raise InputError(
                f"timeout_seconds = {self.timeout_seconds!r} must be a whole number: inspect-ai "
                "counts whole seconds. Write such as 30."
            )
        if not 1 <= self.processes <= _MOST_PROCESSES:
            raise InputError(
                f"processes = {self.processes!r} must be from 1 to {_MOST_PROCESSES}. Write 16."
            )

    @property
    def way(self) -> str:
        """What a cache of answers calls this way to evaluate."""
        return f"inspect-ai {self.task} {self.timeout_seconds}"

    def items(self) -> list[dict[str, Any]]:
        """Return the samples of the task as items of a study, by their ids."""
        if self._items is None:
            self._items = [{"id": one} for one in self._submit(sample_ids, self.task)]
        return self._items

    def __call__(self, arm: str, item: Any, keys: Mapping[str, Any]) -> dict[str, float]:
        """Have an option answer a sample, and return what scorers and the log say of it."""
        asked = Ask(
            task=self.task,
            model=str(keys.get("model", arm)),
            sample=self._sample(item),
            settings={key: value for key, value in keys.items() if key != "model"},
            time_limit=self.timeout_seconds,
            log_dir=None if self.log_dir is None else str(self.log_dir),
        )
        answer: Answer = self._submit(evaluate, asked)
        if answer.unavailable:
            raise UnavailableError(answer.error, answer.retry_seconds)
        if answer.timed_out:
            raise TimedOutError(answer.error)
        if answer.error:
            raise EvaluationError(answer.error)
        return answer.metrics

    def _sample(self, item: Any) -> str | int:
        """Return the id of an item: its key `id`, itself if it is a text, or its number's."""
        if isinstance(item, Mapping) and isinstance(item.get("id"), str | int):
            return item["id"]  # type: ignore[no-any-return]
        if isinstance(item, str):
            return item
        if isinstance(item, int) and 0 <= item < len(self.items()):
            return self.items()[item]["id"]  # type: ignore[no-any-return]
        raise EvaluationError(
            f"item {item!r} is no sample of {self.task}. Write blocks = {{'items': task.items()}}"
        )

    def _submit(self, function: Any, given: Any) -> Any:
        with self._lock:
            if self._pool is None:
                _require_inspect()
                self._pool = ProcessPoolExecutor(
                    self.processes, multiprocessing.get_context("spawn"), initializer=begin
                )
                atexit.register(self._pool.shutdown, wait=False, cancel_futures=True)
            pool = self._pool
        try:
            return pool.submit(function, given).result()
        except BrokenProcessPool:
            with self._lock:
                self._pool = None  # a process was killed: the next pull begins anew
            raise EvaluationError("a process of inspect-ai was killed") from None


def _require_inspect() -> None:
    try:
        import inspect_ai  # noqa: F401 - only to see whether it is there
    except ImportError:
        raise MissingExtraError("A task of inspect-ai", "inspect") from None
