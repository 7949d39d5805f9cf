"""Interrupts, held off where they would lose something. Touches signal handlers."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_HEARD = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


@contextmanager
def held_off() -> Iterator[None]:
    """Let an interrupt wait until the block is done, a second one not.

    What has just been leased would else be known to nobody. Only the main thread is interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: one for number in _HEARD if callable(one := signal.getsignal(number))}
    held: list[int] = []

    def later(number: int, frame: Any) -> None:
        held.append(number)
        if len(held) > 1:
            handlers[number](number, frame)

    for number in handlers:
        signal.signal(number, later)
    try:
        yield
    finally:
        for number, one in handlers.items():
            signal.signal(number, one)
        if len(held) == 1:
            handlers[held[0]](held[0], None)
