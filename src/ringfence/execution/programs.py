"""Programs that run for one crew: each to its own end, or all ended at once, with what they began.

What a program writes goes to files without a name, not to pipes: a child that it left in the
background would hold a pipe open long after its end. Touches processes and those files only.
"""

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO

_MOST_BYTES = 1_000_000  # of what was written, the last is kept: metrics are short


@dataclass(frozen=True)
class Finished:
    """How a program ended, and the last of what it had written by then."""

    code: int
    out: bytes
    err: bytes


class Programs:
    """Runs programs from any number of threads until `end` is called."""

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_over = False

    def run(
        self, arguments: Sequence[str], *, folder: str | None, timeout_seconds: float | None
    ) -> Finished:
        """Run a program to its end; children that it left in the background stay as they are.

        Raises what `subprocess.Popen` raises, and `subprocess.TimeoutExpired` when it was ended.
        """
        with TemporaryFile(buffering=0) as out, TemporaryFile(buffering=0) as err:
            process = self._begin(arguments, folder, out, err)
            try:
                code = process.wait(timeout_seconds)
            except BaseException:
                _end(process)
                process.wait()
                raise
            finally:
                with self._lock:
                    self._running.discard(process)
            return Finished(code, _last_of(out), _last_of(err))

    def end(self) -> None:
        """End all that run, and begin no more."""
        with self._lock:
            self._is_over = True
            for process in self._running:
                if process.poll() is None:
                    _end(process)

    def _begin(
        self, arguments: Sequence[str], folder: str | None, out: IO[bytes], err: IO[bytes]
    ) -> "subprocess.Popen[bytes]":
        with self._lock:  # so that none is on its way when all are ended
            if self._is_over:
                raise InterruptedError("programs were ended")
            process = subprocess.Popen(  # noqa: S603 - the user's own program, without a shell
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=folder,
                start_new_session=True,
            )
            self._running.add(process)
            return process


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a program and whatever it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()


def _last_of(file: IO[bytes]) -> bytes:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _MOST_BYTES))
    return file.read(_MOST_BYTES)
