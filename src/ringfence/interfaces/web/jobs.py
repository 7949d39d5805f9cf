"""Work that takes seconds: planning, and the paper's panels. One at a time, beside the requests.

May touch wiring and reproducing.
"""

import secrets
import tomllib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from queue import Queue
from threading import Lock, Thread
from typing import Any

from ringfence.core.errors import InputError, RingfenceError
from ringfence.interfaces.studies import Study
from ringfence.interfaces.web.problems import NotHereError

MOST_WAITING = 4
MOST_KEPT = 20
MOST_REPLICATIONS = 1_000_000
_LONGEST_TEXT = 100_000
Advance = Callable[[str], None]


@dataclass(eq=False)
class Job:
    """A piece of work: what it is, how far it is, and in the end its result or what went wrong."""

    key: str
    kind: str
    title: str
    said: str = "waiting"
    result: Any = None
    problem: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.result is not None or self.problem is not None


class Jobs:
    """The latest pieces of work."""

    def __init__(self) -> None:
        """Begin without work."""
        self._kept: OrderedDict[str, Job] = OrderedDict()
        self._waiting: Queue[tuple[Job, Callable[[Advance], Any]]] = Queue()
        self._lock = Lock()
        # A daemon: work that nobody waits for any more must not keep a server from stopping.
        Thread(target=self._work, name="ringfence-jobs", daemon=True).start()

    def begin(self, kind: str, title: str, work: Callable[[Advance], Any]) -> Job:
        """Put work in line; too much of it is refused."""
        with self._lock:
            if sum(not job.is_over for job in self._kept.values()) > MOST_WAITING:
                raise InputError(f"{MOST_WAITING} pieces of work wait already. Try again later.")
            job = Job(secrets.token_urlsafe(9), kind, title)
            self._kept[job.key] = job
            over = [key for key, one in self._kept.items() if one.is_over]
            for key in over[: max(0, len(self._kept) - MOST_KEPT)]:
                del self._kept[key]
        self._waiting.put((job, work))
        return job

    def find(self, key: str) -> Job:
        """Return a piece of work."""
        with self._lock:
            if key not in self._kept:
                raise NotHereError("there is no such work, or it is too long ago. Begin anew.")
            return self._kept[key]

    def latest(self, kind: str) -> Job | None:
        """Return the latest work of a kind that has a result."""
        with self._lock:
            done = [job for job in self._kept.values() if job.kind == kind and job.result]
        return done[-1] if done else None

    def _work(self) -> None:
        while True:
            self._run(*self._waiting.get())

    def _run(self, job: Job, work: Callable[[Advance], Any]) -> None:
        job.said = "begun"
        try:
            job.result = work(lambda text: setattr(job, "said", text))
        except RingfenceError as error:
            job.problem = str(error)
        except Exception as error:  # noqa: BLE001 - shown where the result would have been
            job.problem = f"{type(error).__name__}: {error}"


def planning(
    source: Study | str, policy: str | None, target_error: float, *, brief: bool
) -> Callable[[Advance], Any]:
    """Return the work of planning for an instance, or from what a study has seen."""

    def work(advance: Advance) -> Any:
        from ringfence.interfaces import wiring

        return wiring.plan(source, policy, target_error=target_error, brief=brief, advance=advance)

    return work


def reproduction(replications: int) -> Callable[[Advance], Any]:
    """Return the work of drawing the paper's four panels."""

    def work(advance: Advance) -> Any:
        from ringfence.interfaces import reproducing

        done, total = 0, reproducing.paper_replications(replications)

        def progress(more: int) -> None:
            nonlocal done
            done += more
            advance(f"{done:,} of {total:,} replications")

        return reproducing.reproduce_paper(replications=replications, progress=progress)

    return work


def pasted_instance(text: str) -> Mapping[str, Any]:
    """Return an instance that was typed into the page; it may name no file and no code."""
    if len(text) > _LONGEST_TEXT:
        raise InputError(f"instance has {len(text)} characters: {_LONGEST_TEXT} are allowed.")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"instance is not TOML: {error}. Mend it.") from None
    noise = content.get("noise")
    named = isinstance(noise, dict) and ("path" in noise or noise.get("family") == "table")
    if named or "functions" in content:
        raise InputError(
            "instance must not name a file or a function here: the page reads and runs nothing "
            "of its server's. Use: ringfence plan FILE."
        )
    return content
