"""Work that takes seconds: one piece at a time, in a process of its own that can be ended.

A piece ends when it is stopped, when nobody has looked at it for a while, when it takes too long,
and with the server. May touch that process.
"""

import os
import pickle
import queue
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ringfence.interfaces.web.problems import BusyError, NotHereError
from ringfence.interfaces.web.work import Work
from ringfence.interfaces.web.worker import COMMAND, too_large

MOST_WAITING = 4
MOST_KEPT = 20
MOST_MEMORY = 4 * 2**30
MOST_SECONDS = 1200.0
UNWATCHED_SECONDS = 90.0  # browsers wake pages that are not seen once a minute
_LOOK_SECONDS = 0.2
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(eq=False)
class Job:
    """A piece of work: what it is, how far it is, and in the end its result or what went wrong.

    `form` is what the page was filled in with.
    """

    key: str
    kind: str
    title: str
    form: Mapping[str, str]
    said: str = "waiting"
    result: Any = None
    problem: str | None = None
    looked_at: float = field(default_factory=time.monotonic)
    is_stopped: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.result is not None or self.problem is not None


class Jobs:
    """The latest pieces of work, and the thread that has them done."""

    def __init__(
        self,
        *,
        memory: int = MOST_MEMORY,
        seconds: float = MOST_SECONDS,
        unwatched_seconds: float = UNWATCHED_SECONDS,
    ) -> None:
        """Begin without work."""
        self._memory, self._seconds, self._unwatched = memory, seconds, unwatched_seconds
        self._kept: OrderedDict[str, Job] = OrderedDict()
        self._waiting: deque[tuple[Job, Work]] = deque()
        self._changed = threading.Condition()
        self._is_closed = False
        # A daemon: work that nobody waits for any more must not keep a server from stopping.
        self._thread = threading.Thread(target=self._work, name="ringfence-jobs", daemon=True)
        self._thread.start()

    def begin(self, kind: str, title: str, work: Work, form: Mapping[str, str]) -> Job:
        """Put work in line; too much of it is refused."""
        with self._changed:
            if sum(not job.is_over for job in self._kept.values()) > MOST_WAITING:
                raise BusyError(f"{MOST_WAITING} pieces of work wait already. Try again later.")
            job = Job(secrets.token_urlsafe(9), kind, title, form)
            self._kept[job.key] = job
            over = [key for key, one in self._kept.items() if one.is_over]
            for key in over[: max(0, len(self._kept) - MOST_KEPT)]:
                del self._kept[key]
            self._waiting.append((job, work))
            self._changed.notify()
        return job

    def find(self, key: str) -> Job:
        """Return a piece of work, which someone looks at."""
        with self._changed:
            if key not in self._kept:
                raise NotHereError("there is no such work, or it is too long ago. Begin anew.")
            self._kept[key].looked_at = time.monotonic()
            return self._kept[key]

    def stop(self, key: str) -> Job:
        """End a piece of work, wherever it is."""
        job = self.find(key)
        job.is_stopped = True
        return job

    def latest(self, kind: str) -> Job | None:
        """Return the latest work of a kind that has a result."""
        with self._changed:
            done = [job for job in self._kept.values() if job.kind == kind and job.result]
        return done[-1] if done else None

    def close(self) -> None:
        """End what is done, and do no more."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join(_LOOK_SECONDS * 10)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not (self._waiting or self._is_closed):
                    self._changed.wait()
                if self._is_closed:
                    return
                job, work = self._waiting.popleft()
            job.problem = self._reason_to_end(job, begun=time.monotonic())
            if job.problem is None:
                self._do(job, work)

    def _do(self, job: Job, work: Work) -> None:
        """Have a piece of work done by a process, and end that process whatever comes."""
        try:
            order = pickle.dumps(work)
        except Exception as error:  # noqa: BLE001 - of functions of the user's own, anything
            job.problem = (
                f"functions of your own cannot be taken to another process ({error}). Use: "
                "ringfence plan."
            )
            return
        job.said, begun = "begun", time.monotonic()
        process = _begin(self._memory)
        told: queue.SimpleQueue[tuple[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(process, told), daemon=True).start()
        try:
            _give(process, order)
            while not job.is_over:
                job.problem = self._reason_to_end(job, begun)
                self._hear(job, told, process)
        finally:
            _end(process)

    def _hear(
        self, job: Job, told: "queue.SimpleQueue[tuple[str, Any] | None]",
        process: "subprocess.Popen[bytes]",
    ) -> None:  # fmt: skip
        """Wait a moment for what a process tells, and keep it."""
        try:
            heard = told.get(timeout=_LOOK_SECONDS)
        except queue.Empty:
            return
        if job.problem is not None:
            return
        if heard is None:
            code = process.wait()
            job.problem = f"{too_large(self._memory)[:-1]}, or it was ended (exit code {code})."
        else:
            setattr(job, *heard)

    def _reason_to_end(self, job: Job, begun: float) -> str | None:
        now = time.monotonic()
        if job.is_stopped:
            return "this was stopped."
        if self._is_closed:
            return "the server was stopped."
        if now - job.looked_at > self._unwatched:
            return f"nobody looked at this for {self._unwatched:g} seconds, so it was stopped."
        if now - begun > self._seconds:
            return f"this takes more than {self._seconds:g} seconds. Use: ringfence plan FILE."
        return None


def _begin(memory: int) -> "subprocess.Popen[bytes]":
    path = os.pathsep.join(place for place in sys.path if place)
    return subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-P", "-c", COMMAND, str(memory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # an interrupt from the keyboard is the server's
        env=os.environ | {"PYTHONPATH": path} | dict.fromkeys(_THREADS, "1"),
    )


def _give(process: "subprocess.Popen[bytes]", order: bytes) -> None:
    """Hand over what is to be done; the pipe stays open for as long as this server is there."""
    if process.stdin is not None:
        try:
            process.stdin.write(order)
            process.stdin.flush()
        except OSError:
            return  # it has ended, and its end is heard


def _listen(
    process: "subprocess.Popen[bytes]", told: "queue.SimpleQueue[tuple[str, Any] | None]"
) -> None:
    """Pass on what a process tells, and then that it has ended."""
    try:
        while process.stdout is not None:
            told.put(pickle.load(process.stdout))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - cut off in a word, it is over
        told.put(None)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and what it started."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (AttributeError, ProcessLookupError, PermissionError):
            process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                continue
