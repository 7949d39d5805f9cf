"""Takes stock for an audit: what all stored pulls are, and which of them no study would have told.

Pulls are taken by the stretch, as columns; a stretch in which something is not right is gone
through pull by pull, so that it can be named. May touch policies and core, and a ledger.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

import numpy as np

from ringfence.core.arrays import Integers, Mask
from ringfence.core.errors import DamagedError
from ringfence.core.stated import LARGEST
from ringfence.study.facts import NO_HOUR, PullFact, State
from ringfence.study.failing import stand_in
from ringfence.study.paying import takes_otherwise
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger
from ringfence.study.surveying import UNPAID, Survey

AT_ONCE = 20_000  # pulls
_LARGEST = 2**62

Fact = TypeVar("Fact")
Advance: TypeAlias = Callable[[int], None]
"""Hears of so many more pulls that are done with."""


@dataclass
class Stock:
    """All pulls: how many of each kind, and of each where it belongs; void ones count as nothing.

    `unread` names what is damaged, `problems` values that no tell accepts. `parts` are where pulls
    belong; `seen` the arms and ordinals of those that were told, and count. `most` is what the
    dearest pull of each arm took, where prices are learned.
    """

    unread: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    told: int = 0
    issued: int = 0
    failed: int = 0
    lost: int = 0
    void: int = 0
    charged: int = 0
    most: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    open: int = 0
    parts: list[tuple[Integers, ...]] = field(default_factory=list)
    seen: list[tuple[Integers, Integers]] = field(default_factory=list)

    def places(self) -> tuple[Integers, ...]:
        """Return of every pull its number, arm, ordinal and round."""
        return tuple(np.concatenate(one) for one in zip(*self.parts, strict=True))

    def add(self, survey: Survey, void: Integers, plan: Plan) -> None:
        """Count some more pulls.

        What they are charged is by the prices of arms, or was paid by those that are settled.
        """
        counts = ~np.isin(survey.numbers, void)
        self.void += int(np.count_nonzero(~counts))
        self.told += int(np.count_nonzero(counts & survey.is_told))
        self.issued += int(np.count_nonzero(counts & survey.is_issued))
        self.failed += int(np.count_nonzero(counts & survey.is_failed & survey.is_charged))
        self.lost += int(np.count_nonzero(counts & survey.is_failed & ~survey.is_charged))
        is_charged = counts & survey.is_charged & ~survey.is_cancelled
        if plan.learns_prices:
            self.most = np.concatenate([self.most, np.zeros(plan.arm_count, np.int64)])
            self.most = self.most[: plan.arm_count]
            np.maximum.at(self.most, np.clip(survey.arms, 0, plan.arm_count - 1), survey.paid)
            self.charged += int(np.maximum(survey.paid, 0)[counts].sum())
        else:
            prices = np.array(plan.prices, dtype=np.int64)
            self.charged += int(np.take(prices, survey.arms[is_charged], mode="clip").sum())
        is_seen = counts & survey.is_told
        self.seen.append((survey.arms[is_seen], survey.ordinals[is_seen]))
        self.open += int(np.count_nonzero(survey.is_issued))
        self.parts.append((survey.numbers, survey.arms, survey.ordinals, survey.rounds))


def take_stock(
    plan: Plan, ledger: Ledger, void: set[int], *, at_once: int, advance: Advance
) -> Stock:
    """Go through all pulls, so many at once."""
    stock, numbers = Stock(), np.array(sorted(void), dtype=np.int64)
    for first, last in _stretches(ledger.head.issued, at_once):
        survey = ledger.survey(first, last)
        if survey is None or not _fits(plan, survey):
            pulls, unread = readable(
                lambda first=first, last=last: ledger.pulls_between(first, last),  # type: ignore[misc]
                ledger.pulls,
                range(first, min(last, ledger.head.issued) + 1),
            )
            stock.unread += unread
            stock.problems += _values(plan, pulls)
            stock.problems += [
                f"pull {one.number} took another amount of the budget than follows from it"
                for one in pulls
                if takes_otherwise(plan, ledger, one)
            ]
            survey = Survey.of([replace(one, values=None) for one in pulls], len(plan.metrics))
        if survey is not None:
            stock.add(survey, numbers, plan)
        advance(max(0, min(last, ledger.head.issued) - max(first, 1) + 1))
    return stock


def _stretches(issued: int, at_once: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of all stretches; what lies beyond the last pull is in the last."""
    starts = [0, *range(at_once + 1, issued + 1, at_once)]
    yield from zip(starts, [*(start - 1 for start in starts[1:]), _LARGEST], strict=True)


def readable(
    read: Callable[[], Sequence[Fact]],
    read_some: Callable[[Sequence[int]], Sequence[Fact]],
    numbers: Sequence[int],
) -> tuple[list[Fact], list[str]]:
    """Return the facts that can be read, one by one where not all can, and what is damaged."""
    try:
        return list(read()), []
    except DamagedError as error:
        first = error.what
    found, problems = list[Fact](), list[str]()
    for number in numbers:
        try:
            found += read_some([number])
        except DamagedError as error:
            problems.append(error.what)
    return found, problems or [first]


def _fits(plan: Plan, survey: Survey) -> bool:
    """Tell whether every pull of a stretch has the values that it may have."""
    lows, highs = np.array(
        [plan.noise.bounds.get(metric, (-LARGEST, LARGEST)) for metric in plan.metrics]
    ).T
    values = survey.values[survey.has_values]
    stood_in = survey.values[survey.stands_in]
    fits = np.zeros(len(stood_in), np.bool_)
    for one in _stand_ins(plan):
        if one is not None:
            fits |= (stood_in == np.array(one)).all(axis=1)
    return bool(
        survey.extras_fit
        and (survey.is_told == survey.has_values).all()
        and ((values >= lows) & (values <= highs) & (np.abs(values) <= LARGEST)).all()
        and fits.all()
        and (survey.is_cancelled | (survey.leases >= 1)).all()
        and ((survey.hours > NO_HOUR) == plan.sharing.has_hours).all()
        and not _unlikely_paid(plan, survey).any()
    )


def _unlikely_paid(plan: Plan, survey: Survey) -> Mask:
    """Return which pulls have to be looked at, since they may have taken what they did not tell.

    The rest took what they told, or nothing.
    """
    if not plan.learns_prices:
        return survey.paid > UNPAID
    pricing, told = plan.require_pricing, survey.is_told & ~survey.stands_in
    wanted = np.full(len(survey.paid), UNPAID, np.int64)
    values = survey.values[told, plan.price_column]
    wanted[told] = [pricing.amount(one) for one in values.tolist()]
    return np.asarray(survey.paid != wanted)


def _stand_ins(plan: Plan) -> set[tuple[float, ...] | None]:
    return {stand_in(plan, timed_out=one) for one in (False, True)}


def _values(plan: Plan, pulls: Sequence[PullFact]) -> list[str]:
    problems = []
    stand_ins = _stand_ins(plan)
    for pull in pulls:
        told = pull.state == State.TOLD
        if pull.stands_in and pull.values not in stand_ins:
            problems.append(f"pull {pull.number} failed, and what was told in place is another")
        if pull.extras is not None and not all(map(math.isfinite, pull.extras.values())):
            problems.append(f"pull {pull.number} has further numbers that no tell accepts")
        if told != (pull.values is not None):
            problems.append(f"pull {pull.number} is {pull.state}, and its values say otherwise")
        elif pull.values is not None and (
            len(pull.values) != len(plan.metrics)
            or not np.isfinite(pull.values).all()
            or plan.noise.outside(plan.metrics, pull.values) is not None
        ):
            problems.append(f"pull {pull.number} has values {pull.values} that no tell accepts")
        if pull.state != State.CANCELLED and pull.lease < 1:
            problems.append(f"pull {pull.number} was never leased")
        if plan.sharing.has_hours != (pull.block is not None and pull.block > NO_HOUR):
            word = "does not say" if plan.sharing.has_hours else "says"
            problems.append(f"pull {pull.number} {word} in which hour it was asked for")
    return problems
