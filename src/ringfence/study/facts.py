"""The facts of a study, as they are remembered: its definition, rounds, pulls, and where it stands.

Values only. May touch core.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.codes import Code
from ringfence.core.pricing import Pricing

_SPARED = ("prices", "blocks", "lag", "stop", "units", "pricing")
NO_HOUR = -1  # in arrays, where no hour was kept
FAILED_METRIC = "failed"  # built in, where expressions use it and a study has none of its own


@dataclass(frozen=True)
class Definition:
    """What was fixed before the first pull. Only the budget may change later, and only rise.

    `arms` maps names to an arm's own keys. `functions` name attributes of the user's own by
    "package.module:function", where they have such a name. `batch` is how many pulls an adaptive
    policy decides at once. `baseline` is the arm that limits may be relative to; it is never
    rejected. `noise` is what is known of metrics, by name, as core's `StatedNoise` writes it. A
    pull of which `max_leases` leases ran out has failed; an arm whose pulls failed `max_failures`
    times in a row is withdrawn. `on_failure` and `on_timeout` are what is told in place of a
    failure, of every metric, where they are not empty. `counts_failures` says that the metric
    `failed` is the built-in one: 0 where nobody tells it, 1 in place of a failure. With
    `counts_lost`, as in studies of earlier versions, a lost pull is one of too many in a row.
    `answer` is which arms are asked for. `prices` are what a pull takes of the budget, by arm, both
    in the smallest amount that counts; without them the budget is one of pulls. `pricing` is what
    was written of them, also of those that are learned, as core's `Pricing` keeps it. With a `lag`
    pull t is decided from the pulls up to t - lag; without one, whoever begins the study says.
    `blocks` say what pulls of different arms share, as `study/sharing.py` reads it. With a `stop`
    the study ends when its answer is proven at that "confidence", as `study/stopping.py` reads it.
    The texts of `objective` and `constraints` are kept as they were written; `units` are those of
    metrics.
    """

    name: str
    objective: str
    constraints: tuple[str, ...]
    arms: Mapping[str, Mapping[str, Any]]
    budget: int
    policy: str
    seed: int
    batch: int = 1
    metrics: tuple[str, ...] = ()
    functions: Mapping[str, str] = field(default_factory=dict)
    lease_seconds: float = 600.0
    retries: int = 0
    max_failures: int = 3
    max_leases: int = 10
    baseline: str | None = None
    noise: Mapping[str, Any] = field(default_factory=dict)
    on_failure: Mapping[str, float] = field(default_factory=dict)
    on_timeout: Mapping[str, float] = field(default_factory=dict)
    counts_failures: bool = False
    counts_lost: bool = False
    answer: str = BEST_FEASIBLE.name
    prices: tuple[int, ...] = ()
    blocks: Mapping[str, Any] = field(default_factory=dict)
    lag: int | None = None
    stop: Mapping[str, Any] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    pricing: Mapping[str, Any] = field(default_factory=dict)

    @property
    def arm_names(self) -> tuple[str, ...]:
        """The arms in their order."""
        return tuple(self.arms)

    @property
    def learns_prices(self) -> bool:
        """Whether a metric says what a pull cost."""
        return bool(self.pricing.get("metric"))

    @property
    def written_prices(self) -> dict[str, Any]:
        """What was said of prices, under the keys of study files; nothing where pulls have none."""
        return Pricing.from_dict(self.pricing).written(self.arm_names) if self.pricing else {}

    def to_dict(self) -> dict[str, Any]:
        """Return the definition as plain values, for storage; of `_SPARED` only what it has."""
        plain = {key: value for key, value in vars(self).items() if value or key not in _SPARED}
        plain["arms"] = [[name, dict(keys)] for name, keys in self.arms.items()]
        return plain | {
            "constraints": list(self.constraints),
            "metrics": list(self.metrics),
            "functions": dict(self.functions),
            "noise": dict(self.noise),
            "on_failure": dict(self.on_failure),
            "on_timeout": dict(self.on_timeout),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Definition":
        """Return the definition that `to_dict` wrote."""
        return cls(
            **{
                **plain,
                "counts_lost": plain.get("counts_lost", True),  # none of before said so
                "arms": dict(plain["arms"]),
                "constraints": tuple(plain["constraints"]),
                "metrics": tuple(plain["metrics"]),
                "prices": tuple(plain.get("prices", ())),
            }
        )


class State(StrEnum):
    """What became of a pull. A lease that ran out leaves it issued, to be issued again."""

    ISSUED = "issued"
    TOLD = "told"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class PullFact:
    """One pull: `number` counts from 1 in the study, `ordinal` from 0 within its arm.

    `lease` rises when it is issued or given back; only the latest may be told. `failures` are of
    earlier leases that a retry may fix, `run_out` counts those that ended without a word. A pull
    that was told and has an `error` failed: its values were told in place of that. `block` is the
    hour in which it was first asked for, where hours are what pulls share. A failed pull
    that is not charged was lost, through no fault of its arm; a cancelled one, of a withdrawn arm,
    is never charged. `extras` are further numbers that came with its values. `paid` is what it took
    of a budget whose prices are learned, in smallest amounts; `cost` what was told of that.
    """

    number: int
    arm: int
    ordinal: int
    round: int
    state: State
    lease: int
    deadline: float
    failures: int = 0
    run_out: int = 0
    values: tuple[float, ...] | None = None
    cost: float | None = None
    error: str | None = None
    charged: bool = True
    holder: str | None = None  # the process that holds the lease, where it said so
    extras: Mapping[str, float] | None = None
    block: int | None = None
    paid: int | None = None

    @property
    def stands_in(self) -> bool:
        """Whether it failed, and something was told in place of that."""
        return self.state == State.TOLD and self.error is not None

    @property
    def is_lost(self) -> bool:
        """Whether no answer will ever come, through no fault of its arm."""
        return self.state == State.FAILED and not self.charged


@dataclass(frozen=True, eq=False)
class Harvest:
    """What became of many pulls, as arrays in the order of their numbers.

    `values` [pull, metric] are NaN where a pull was not told. Those that `stand_in` were told in
    place of a failure. `hours` are -1 where none was kept. `paid` is nothing where prices are not
    learned.
    """

    arms: Integers
    ordinals: Integers
    is_told: Mask
    is_failed: Mask
    is_charged: Mask
    stand_in: Mask
    values: Floats
    hours: Integers
    paid: Integers

    @classmethod
    def of(cls, pulls: Sequence["PullFact"], metric_count: int) -> "Harvest":
        """Return the arrays of some pulls."""
        nothing = (np.nan,) * metric_count
        values = [pull.values if pull.values is not None else nothing for pull in pulls]
        return cls(
            arms=np.array([pull.arm for pull in pulls], dtype=np.int64),
            ordinals=np.array([pull.ordinal for pull in pulls], dtype=np.int64),
            is_told=np.array([pull.state == State.TOLD for pull in pulls], dtype=np.bool_),
            is_failed=np.array([pull.state == State.FAILED for pull in pulls], dtype=np.bool_),
            is_charged=np.array([pull.charged for pull in pulls], dtype=np.bool_),
            stand_in=np.array([pull.stands_in for pull in pulls], dtype=np.bool_),
            values=np.array(values, dtype=np.float64).reshape(len(pulls), metric_count),
            hours=np.array(
                [NO_HOUR if pull.block is None else pull.block for pull in pulls], dtype=np.int64
            ),
            paid=np.array([pull.paid or 0 for pull in pulls], dtype=np.int64),
        )

    def part(self, places: slice | Integers) -> "Harvest":
        """Return some of the pulls, by their places."""
        return Harvest(*(getattr(self, one.name)[places] for one in fields(self)))

    def without(self, places: Integers) -> "Harvest":
        """Return the same pulls, some as if they had been cancelled: unpaid, nothing told."""
        if not len(places):
            return self
        masks = {
            key: getattr(self, key).copy()
            for key in ("is_told", "is_failed", "is_charged", "stand_in", "paid")
        }
        for mask in masks.values():
            mask[places] = 0
        return replace(self, **masks)

    @classmethod
    def joined(cls, parts: Sequence["Harvest"]) -> "Harvest":
        """Return several stretches of pulls as one."""
        if len(parts) == 1:
            return parts[0]
        names = [one.name for one in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class Cause(Code):
    """Why an arm left.

    A rule REJECTED it, or SETTLED on which side of the limits it is; or it was withdrawn: it was
    FAILING too often in a row, stayed UNSEEN since too few of its pulls succeeded, or left
    WITH_BASELINE, to which its limits are relative.
    """

    REJECTED = "rejected"
    SETTLED = "settled"
    FAILING = "failing"
    UNSEEN = "unseen"
    WITH_BASELINE = "with-baseline"


@dataclass(frozen=True)
class Rejection:
    """Why an arm left. The words for it are made in reports.

    Of a rejected arm: the `policy`, the `rival` that it lost to and by which `gap`; of a settled
    one, which lost to nobody, the `policy` and the `gap`. Of a failing one: how many `failures` in
    a row. Of an unseen one: the `successes` that were too few.
    """

    arm: int
    cause: Cause
    rival: int | None = None
    gap: float | None = None
    policy: str | None = None
    failures: int | None = None
    successes: int | None = None
    baseline: str | None = None

    @property
    def is_withdrawal(self) -> bool:
        """Whether it could not be evaluated, rather than lost."""
        return self.cause not in (Cause.REJECTED, Cause.SETTLED)

    @property
    def is_beside_baseline(self) -> bool:
        """Whether it left because the baseline of its limits did."""
        return self.cause == Cause.WITH_BASELINE


def rejection_of(plain: Mapping[str, Any]) -> Rejection:
    """Return the rejection whose fields were written as plain values."""
    return Rejection(**{**plain, "cause": Cause(plain["cause"])})


@dataclass(frozen=True)
class Round:
    """A phase or a batch: how many pulls each arm gets, and what was seen when it was decided.

    `first` is the number of its first pull; `before` counts each arm's pulls in earlier rounds.
    `seen` holds the evidence, `left` the arms that left when it was decided. A round without pulls
    may still reject; after the one that `is_last` nothing is left to be done. With a `lag` above 1
    it was decided from the pulls `through` some number, while those after it were in flight.
    """

    number: int
    first: int
    allocation: tuple[int, ...]
    before: tuple[int, ...]
    alive: tuple[bool, ...]
    phase: int = 0
    is_last: bool = False
    left: tuple[Rejection, ...] = ()
    seen: Mapping[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many pulls it has."""
        return sum(self.allocation)

    @property
    def end(self) -> int:
        """The number of its last pull."""
        return self.first + self.size - 1

    @property
    def lag(self) -> int:
        """How far before a pull that is decided those lie that are known by then."""
        return int(self.seen.get("lag", 1))

    @property
    def through(self) -> int:
        """The number of the last pull that was seen when it was decided."""
        return int(self.seen.get("through", self.first - 1))

    @property
    def seen_next(self) -> int:
        """The number of the last pull that the next decision sees for certain.

        That is its own last where there is no lag, and after the first pulls of all arms.
        """
        if self.lag == 1 or self.number == 0:
            return self.end
        return max(self.through, self.end + 1 - self.lag)

    @property
    def edition(self) -> Any:
        """The edition of the rule that decided it; the first did not say so."""
        return self.seen.get("edition", 1)

    def order(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Return arm and ordinal of its pulls from place `start` to before `stop`."""
        arms, ordinals = self.places(start, stop)
        return list(zip(arms.tolist(), ordinals.tolist(), strict=True))

    def places(self, start: int, stop: int) -> tuple[Integers, Integers]:
        """Return the arms of its pulls from place `start` to before `stop`, and their ordinals.

        Every arm has its turn, so long as it has pulls left. Any prefix is as even as can be, so
        that a study that is stopped has seen every arm. Nothing is laid out: a round may be huge.
        """
        allocation, before = np.array(self.allocation), np.array(self.before)
        found = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
        place, turn = 0, 0  # the first pull of a stretch of turns, and its first turn
        for last in sorted(set(self.allocation) - {0}):
            arms = np.flatnonzero(allocation >= last)
            end = place + (last - turn) * len(arms)
            rest = np.arange(max(start, place), min(stop, end)) - place
            if len(rest):
                mine = arms[rest % len(arms)]
                found.append((mine, before[mine] + turn + rest // len(arms)))
            place, turn = end, last
            if place >= stop:
                break
        arms_of, ordinals_of = zip(*found, strict=True)
        return np.concatenate(arms_of), np.concatenate(ordinals_of)


@dataclass(frozen=True)
class Departure:
    """An arm that left, and in which round and phase."""

    rejection: Rejection
    round: int
    phase: int


@dataclass(frozen=True)
class Tally:
    """What is known after a round, added up: it saves reading the pulls up to it once more."""

    through: int
    content: bytes


@dataclass(frozen=True)
class Kept:
    """Something that was worked out of a study's facts, and the key of what it rests on.

    Under another key it is worth nothing. There is one of each kind, and it may be gone any time.
    """

    kind: str
    key: str
    content: bytes


@dataclass(frozen=True)
class StopChange:
    """What ends a study by proof from the decision after round `after` on.

    Where it is looser than before, a `note` says why. It was chosen `looking` where pulls had been
    issued by then.
    """

    after: int
    at: float
    confidence: float
    within: float
    note: str = ""
    looking: bool = True


@dataclass(frozen=True)
class Head:
    """Where a study stands. `issued` pulls exist; those of this round end before `round_end`.

    `unresolved` pulls are neither told nor failed. `charged` is what the pulls that this round was
    decided from took of the budget. `broken` arms failed too often in a row. `pardons` counts those
    that were granted. Somebody stopped it at `stopped_at`, or put it away at `archived_at`. `stops`
    are what ends it by proof, where that was said or changed since it was created.
    """

    budget: int
    round: int = -1
    issued: int = 0
    round_end: int = 0
    unresolved: int = 0
    charged: int = 0
    finished: bool = False
    broken: tuple[int, ...] = ()
    pardons: int = 0
    stopped_at: float | None = None
    archived_at: float | None = None
    stops: tuple[StopChange, ...] = ()

    @property
    def is_stopped(self) -> bool:
        """Whether no pull is issued until somebody has it go on."""
        return self.stopped_at is not None

    @property
    def is_over(self) -> bool:
        """Whether nobody needs to ask for pulls any more: it is finished, or stopped."""
        return self.finished or self.is_stopped

    @property
    def round_is_over(self) -> bool:
        """Whether every pull of this round was issued and resolved."""
        return self.issued == self.round_end and self.unresolved == 0


@dataclass(frozen=True)
class PastFact:
    """An observation from before the study, or beside it: labelled, and never charged.

    It is seen by decisions after round `after`.
    """

    arm: int
    values: tuple[float, ...]
    label: str
    after: int


@dataclass(frozen=True)
class Pardon:
    """What no longer counts, from the decision after round `after` on: for arms that come back.

    `void` pulls, which the round was decided from, are as if they had been cancelled; so many later
    ones were `reopened`: issued again. `arms` are those that come back, each with the ordinal from
    which on its failures count again towards too many in a row. `sunk` is what was told as the cost
    of these pulls, by arm in smallest amounts: it stays spent.
    """

    after: int
    arms: tuple[tuple[int, int], ...]
    void: tuple[int, ...] = ()
    reopened: int = 0
    sunk: tuple[tuple[int, int], ...] = ()
