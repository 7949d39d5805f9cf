"""Runs chunks of work on threads; compiled kernels leave Python's lock, so threads suffice.

May touch nothing but its arguments.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

Outcome = TypeVar("Outcome")
Progress = Callable[[int], None]


def available_threads() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_chunks(
    work: Callable[[int, int], Outcome],
    sizes: Sequence[int],
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Return work(number, size) for every chunk, in order, whichever thread ran it.

    `progress` is told how many replications were finished, from the calling thread. When a chunk
    fails, or the user interrupts, the chunks that have not begun are dropped.
    """
    count = available_threads() if threads is None else threads
    outcomes: dict[int, Outcome] = {}
    pool = ThreadPoolExecutor(max_workers=min(count, len(sizes)))
    try:
        waiting = {pool.submit(work, number, size): number for number, size in enumerate(sizes)}
        for done in as_completed(waiting):
            number = waiting[done]
            outcomes[number] = done.result()
            if progress is not None:
                progress(sizes[number])
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return [outcomes[number] for number in range(len(sizes))]
