"""What pulls show of each arm by itself, and what arms that share something tell of each other.

May touch core.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.hours import Hours
from ringfence.core.known import KnownNoise
from ringfence.core.sharing import Sharing


class Alone(NamedTuple):
    """What pulls show of each arm by itself: `covariances` are those of one pull.

    `shared` attributes are means of what pulls contribute, and `means` those of metrics as they
    are. Arms that saw as much go by `priority`.
    """

    estimates: Floats
    covariances: Floats
    scatters: Floats
    pulls: Integers
    shared: Mask
    means: Mask
    known: KnownNoise
    priority: Integers


class Together(NamedTuple):
    """What arms are when all of them are looked at, and how their estimates go together.

    There are `hours` where it is these that arms share.
    """

    estimates: Floats
    sharing: Sharing
    hours: Hours | None


class SeenTogether(Protocol):
    """What arms were seen to do on what they share: blocks or hours."""

    def add(self, arm: int, blocks: Integers, values: Floats) -> None:
        """Add what pulls of an arm contributed [pull, attribute], each on its block."""

    def unseen(self, arm: int, count: int) -> Integers:
        """Return blocks that so many pulls of an arm may have been on that told nothing."""

    def copied(self) -> "SeenTogether":
        """Return one that can go on without this one."""

    def together(self, alone: Alone) -> Together:
        """Return what arms tell of each other."""

    def trials(self, pulls: Integers) -> Integers:
        """Return as how many pulls those count [arm, attribute] that were told."""

    def sums(self) -> dict[str, Any]:
        """Return what one like this needs to go on, as arrays by name."""

    def restore(self, sums: Mapping[str, Any]) -> None:
        """Take up what `sums` gave, without anything seen so far."""
