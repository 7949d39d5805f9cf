"""Signals that ask a command to end, taken for interrupts. Touches signal handlers."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Ended(KeyboardInterrupt):
    """An interrupt that is a signal to end: of a service manager, or of a terminal that closed."""

    def __init__(self, number: int) -> None:
        """Keep which signal it was."""
        self.number = number
        super().__init__(signal.Signals(number).name)


@contextmanager
def ending_as_interrupts() -> Iterator[None]:
    """Take signals to end for interrupts while the block runs, where nothing else is made of them.

    One that is ignored, as under nohup, stays so. Only the main thread may say what becomes of
    signals: in others nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in _ENDING if signal.getsignal(number) == signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, frame: Any) -> None:
    raise Ended(number)


def words_and_code(interrupt: KeyboardInterrupt) -> tuple[str, int]:
    """Return what to call an interrupt, and the exit code that shells know it by."""
    if isinstance(interrupt, Ended):
        return f"ended by {interrupt}", 128 + interrupt.number
    return "interrupted", 128 + signal.SIGINT
