"""Threads that evaluate, and that nobody has to wait for: they do not keep a process alive.

A `ThreadPoolExecutor` waits at exit for evaluations that cannot be ended. Touches its arguments
only.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeAlias, TypeVar

_Found = TypeVar("_Found")
_Given = ParamSpec("_Given")
_Task: TypeAlias = "tuple[Future[Any], Callable[[], Any]]"


class Hands(Executor):
    """A few threads, begun as they are needed; each takes one task after the other."""

    def __init__(self, count: int) -> None:
        """Allow so many threads."""
        self._count, self._begun = count, 0
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()

    def submit(
        self, fn: Callable[_Given, _Found], /, *args: _Given.args, **kwargs: _Given.kwargs
    ) -> "Future[_Found]":
        """Let a free thread call it."""
        future: Future[_Found] = Future()
        self._tasks.put((future, partial(fn, *args, **kwargs)))
        if self._begun < self._count:
            self._begun += 1
            name = f"pull_{self._begun}"
            threading.Thread(target=_work, args=(self._tasks,), name=name, daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - as all executors have it
        """Let every thread end after its task; none is waited for."""
        for _ in range(self._begun):
            self._tasks.put(None)


def _work(tasks: "SimpleQueue[_Task | None]") -> None:
    while (task := tasks.get()) is not None:
        future, call = task
        if not future.set_running_or_notify_cancel():
            continue
        try:
            found = call()
        except BaseException as error:  # noqa: BLE001 - whoever asks for the result gets it
            future.set_exception(error)
        else:
            future.set_result(found)
