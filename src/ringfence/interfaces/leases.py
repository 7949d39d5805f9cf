"""What a study hands out: leased pulls, and where it stands. Values only; may touch core."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ringfence.core.errors import InputError
from ringfence.study.accounts import ArmAccount


class Held(Protocol):
    """A pull under a lease, whatever else it has."""

    @property
    def pull(self) -> int:
        """Its number."""

    @property
    def lease(self) -> int:
        """The lease that it is held under."""


@dataclass(frozen=True)
class Pull:
    """A leased pull: evaluate the arm with the seed, then tell the metrics before the deadline.

    The seed depends on the study's seed, the arm and how often it was pulled before, so a pull
    that is issued again is the same evaluation. `ordinal` counts the arm's pulls from 0. `item` is
    what it is evaluated on, in a study whose arms share items.

    >>> import ringfence as rf
    >>> study = rf.Study.create(
    ...     "asking",
    ...     arms={"small": {"depth": 3}, "large": {"depth": 9}},
    ...     objective="maximize mean(score)",
    ...     constraints="mean(seconds) <= 1",
    ...     budget=40,
    ...     storage="memory://",
    ...     seed=1,
    ... )
    >>> pull = study.ask()[0]
    >>> pull.arm, pull.keys["depth"], pull.ordinal
    ('small', 3, 0)
    >>> study.tell(pull, {"score": 0.7, "seconds": 0.2})
    'told'
    """

    pull: int
    lease: int
    arm: str
    seed: int
    deadline: float
    keys: Mapping[str, Any]
    ordinal: int
    item: Any = None


@dataclass(frozen=True)
class Status:
    """Where a study stands.

    Of the `budget`, in its `unit`, so much is `spent`, `reserved` for pulls in flight, and `left`;
    `accounts` are those of arms where pulls have a price. It was stopped at `stopped_at` or
    archived at `archived_at`, in seconds since the epoch. `stop` is what ends it by proof, as that
    is now. `blocks` is what pulls of different arms
    share, if anything is; `exhausted` in it are the arms in the running that have no more items to
    be pulled on.
    """

    study: str
    told: int
    issued: int
    failed: int
    lost: int
    budget: float
    unit: str
    spent: float
    reserved: float
    left: float
    phase: int
    alive: tuple[str, ...]
    arm: str | None
    feasible: bool | None
    finished: bool
    seed: int
    stopped_at: float | None = None
    archived_at: float | None = None
    stop: Mapping[str, Any] | None = None
    blocks: Mapping[str, Any] | None = None
    accounts: tuple[ArmAccount, ...] = ()


def lease_of(pull: Pull | int, lease: int | None) -> tuple[int, int]:
    """Return the number of a pull and its lease, which a number alone must come with."""
    if isinstance(pull, Pull):
        return pull.pull, pull.lease if lease is None else lease
    if lease is None:
        raise InputError(f"pull {pull} needs its lease. Give lease=..., as ask returned it.")
    return int(pull), int(lease)
