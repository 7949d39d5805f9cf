"""Which failures of calls belong to an outage: of what all arms need, not of the arms.

A failure is settled once a call that began after it succeeds: the world was well again, so the
failure was the arm's own. Values only: neither clock nor storage. May touch nothing.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

LEAST_FAILURES = 6
_SPARE = 2  # failures beyond one for each worker


def least_failures(workers: int) -> int:
    """Return how many failures in a row are an outage: more than were in flight at once."""
    return max(LEAST_FAILURES, workers + _SPARE)


@dataclass(frozen=True)
class Failure:
    """A call that failed, and the moment at which it was heard of."""

    moment: int
    pull: int
    arm: int


class Outages:
    """Is told of every call's begin and end; knows which failures are not settled yet.

    A moment is the number of what it was told so far. Calls are named by whatever can be hashed.

    >>> from ringfence.execution.outages import Outages
    >>> calls = Outages(least=2)
    >>> for pull, arm in enumerate([0, 1]):
    ...     calls.begin(pull)
    ...     calls.fail(pull, pull, arm)
    >>> calls.is_found(none_left=False)
    True
    >>> calls.pulls
    (0, 1)
    """

    def __init__(self, least: int) -> None:
        """Begin without calls; so many failures in a row, over two arms or more, are an outage."""
        self._least = least
        self._moment = 0
        self._begun: dict[Hashable, int] = {}
        self._row: list[Failure] = []
        self._since: int | None = None

    @property
    def is_on(self) -> bool:
        """Whether an outage was found and is not over."""
        return self._since is not None

    @property
    def unsettled(self) -> tuple[Failure, ...]:
        """The failures in a row that are not settled, in the order they were heard of."""
        return tuple(self._row)

    @property
    def pulls(self) -> tuple[int, ...]:
        """The pulls that failed in this row, each once."""
        return tuple(dict.fromkeys(one.pull for one in self._row))

    @property
    def arms(self) -> int:
        """Over how many arms they are."""
        return len({one.arm for one in self._row})

    @property
    def is_probing(self) -> bool:
        """Whether a call is in flight that began since the outage was found."""
        return self._since is not None and any(
            begun > self._since for begun in self._begun.values()
        )

    def is_found(self, *, none_left: bool) -> bool:
        """Tell whether the failures in a row are an outage.

        Where they leave no arm to be pulled they are one however few they are: there is nothing
        to go on with that could settle them.
        """
        if none_left:
            return bool(self._row)
        return len(self._row) >= self._least and self.arms > 1

    def find(self) -> None:
        """Take note that an outage goes on from now."""
        self._moment += 1
        self._since = self._moment

    def begin(self, call: Hashable) -> None:
        """Take note that a call begins."""
        self._moment += 1
        self._begun[call] = self._moment

    def succeed(self, call: Hashable) -> None:
        """Take note that a call succeeded: what failed before it began is settled.

        If it began after an outage was found, the outage is over.
        """
        self._moment += 1
        begun = self._begun.pop(call, 0)
        self._row = [one for one in self._row if one.moment > begun]
        if self._since is not None and begun > self._since:
            self._since = None

    def fail(self, call: Hashable, pull: int, arm: int) -> None:
        """Take note that a call failed; one that was heard of before changes nothing."""
        self._moment += 1
        if self._begun.pop(call, None) is not None:
            self._row.append(Failure(self._moment, pull, arm))

    def leave(self, call: Hashable) -> None:
        """Forget a call of which nothing will be heard that counts."""
        self._begun.pop(call, None)

    def recall(self, failures: Iterable[tuple[int, int]]) -> None:
        """Take up failures that others heard of, as (pull, arm); those of this row are known."""
        known = self.pulls
        for pull, arm in failures:
            if pull not in known:
                self._moment += 1
                self._row.append(Failure(self._moment, pull, arm))
