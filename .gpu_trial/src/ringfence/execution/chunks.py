"""Runs chunks of work on threads; compiled kernels leave Python's lock, so threads suffice.

Any other executor will do, of processes or of a cluster: what comes back is the same. May touch
nothing but its arguments.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import TypeVar

Outcome = TypeVar("Outcome")
Progress = Callable[[int], None]
_AHEAD = 8


def available_threads() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_chunks(
    work: Callable[[int, int], Outcome],
    sizes: Iterable[int],
    *,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Iterator[Outcome]:
    """Yield work(number, size) for every chunk, in order, whoever ran it.

    A few chunks a thread are in hand at any time, so that memory does not grow with their number.
    `progress` is told how many replications were finished, from the calling thread. When a chunk
    fails, or the user interrupts, the chunks that have not begun are dropped.
    """
    count = available_threads() if threads is None else threads
    in_hand: deque[tuple[Future[Outcome], int]] = deque()

    def finished() -> Outcome:
        chunk, size = in_hand.popleft()
        outcome = chunk.result()
        if progress is not None:
            progress(size)
        return outcome

    pool = ThreadPoolExecutor(max_workers=count) if executor is None else executor
    try:
        for number, size in enumerate(sizes):
            in_hand.append((pool.submit(work, number, size), size))
            if len(in_hand) >= _AHEAD * count:
                yield finished()
        while in_hand:
            yield finished()
    finally:
        for chunk, _ in in_hand:
            chunk.cancel()
        if executor is None:
            pool.shutdown(wait=True, cancel_futures=True)
