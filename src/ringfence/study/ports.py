"""What a study needs of the world: a ledger that survives, and a clock.

A transaction is exclusive among writers of one study and all or nothing. May touch core.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

from ringfence.study.facts import (
    Definition,
    Harvest,
    Head,
    Kept,
    Pardon,
    PastFact,
    PullFact,
    Round,
    Tally,
)
from ringfence.study.surveying import Survey

Clock: TypeAlias = Callable[[], float]
"""Seconds since the epoch."""
IsGone: TypeAlias = Callable[[str, float], bool]
"""Whether the holder of a lease, silent for so many seconds, is gone for certain."""


def is_never_gone(holder: str, silent_seconds: float) -> bool:
    """Tell of no holder that it is gone."""
    return False


class Ledger(Protocol):
    """The facts of one study, inside one transaction."""

    @property
    def definition(self) -> Definition:
        """What was fixed before the first pull."""

    @property
    def created_at(self) -> float:
        """When the study was created, in seconds since the epoch."""

    @property
    def now(self) -> float:
        """The time, by the one clock that all who use this storage can share."""

    @property
    def head(self) -> Head:
        """Where the study stands."""

    def set_head(self, head: Head) -> None:
        """Remember where the study stands now."""

    def round(self, number: int) -> Round:
        """Return a round."""

    def rounds(self, start: int = 0, stop: int | None = None) -> Sequence[Round]:
        """Return the rounds from a number on, in order, up to before another."""

    def rounds_at(self, numbers: Sequence[int]) -> Sequence[Round]:
        """Return rounds by number, in order; the others are not read."""

    def add_round(self, fresh: Round) -> None:
        """Remember a round that was decided."""

    def pulls(self, numbers: Sequence[int]) -> Sequence[PullFact]:
        """Return pulls by number, in the order of their numbers; missing ones are left out."""

    def pulls_between(self, first: int, last: int) -> Sequence[PullFact]:
        """Return the pulls with first <= number <= last, in the order of their numbers."""

    def pulls_with_errors(self, first: int, last: int) -> Sequence[PullFact]:
        """Return the pulls with first <= number <= last that say what went wrong, in order."""

    def pulls_of_arm(self, arm: int, first: int, last: int) -> Sequence[PullFact]:
        """Return an arm's pulls with first <= ordinal <= last."""

    def pulls_at(self, places: Sequence[tuple[int, int]]) -> Sequence[PullFact]:
        """Return pulls by arm and ordinal, in the order of their numbers, without missing ones."""

    def harvest(self, first: int, last: int) -> Harvest:
        """Return what became of the pulls with first <= number <= last, as arrays."""

    def survey(self, first: int, last: int) -> Survey | None:
        """Return all facts of the pulls with first <= number <= last as columns.

        None where any of them is not as a study would have written it.
        """

    def extras(self) -> Mapping[int, Mapping[str, float]]:
        """Return the further numbers that came with observations, by the numbers of the pulls."""

    def expired(self, now: float, most: int) -> Sequence[PullFact]:
        """Return up to `most` issued pulls whose lease has run out, the oldest numbers first."""

    def leases(self) -> Mapping[str | None, float]:
        """Return the latest deadline of each holder's issued pulls, and under None that of all."""

    def add_pulls(self, fresh: Iterable[PullFact]) -> None:
        """Remember pulls that were not issued before."""

    def set_pulls(self, changed: Iterable[PullFact]) -> None:
        """Remember what became of pulls."""

    def past(self, start: int = 0) -> Sequence[PastFact]:
        """Return the observations that were brought along, in order, without the first ones."""

    def brought(self) -> int:
        """Return how many observations were brought along, without reading them."""

    def add_past(self, fresh: Iterable[PastFact]) -> None:
        """Remember observations that were brought along."""

    def pardons(self) -> Sequence[Pardon]:
        """Return all pardons that were granted, in order."""

    def add_pardon(self, fresh: Pardon) -> None:
        """Remember a pardon; that the head counts it is the caller's business."""

    def tally(self) -> Tally | None:
        """Return the latest tally, if there is one."""

    def set_tally(self, tally: Tally) -> None:
        """Remember a tally in place of the last one."""

    def items(self, numbers: Sequence[int]) -> Sequence[Any]:
        """Return items of the study by number, in the order asked for; all must be there."""

    def kept(self, kind: str, key: str) -> Kept | None:
        """Return what was kept of a kind, if it is under this very key."""


class Storage(Protocol):
    """Studies by name."""

    @property
    def url(self) -> str:
        """Where they are, for people; without secrets."""

    def create(self, definition: Definition, head: Head, items: Sequence[Any] = ()) -> None:
        """Remember a new study with its items, if any; a name that is taken is refused."""

    def names(self) -> Sequence[str]:
        """Return the names of all studies."""

    def delete(self, name: str) -> None:
        """Forget a study."""

    def keep(self, name: str, kept: Kept) -> None:
        """Remember what was worked out in place of the last of its kind, at once or not at all.

        Nobody waits for it, nothing hinders it to be lost, and it is no error where it cannot be.
        """

    def writing(self, name: str) -> AbstractContextManager[Ledger]:
        """Open a transaction; what it wrote is on disk when it ends well, and gone when not."""

    def reading(self, name: str) -> AbstractContextManager[Ledger]:
        """Open a consistent view that changes nothing."""
