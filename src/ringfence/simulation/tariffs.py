"""What pulls cost where a metric says so: drawn with each pull, and told to whoever learns prices.

A tariff knows how to draw a pull together with its price, for the kinds of truth there are: rows of
a table, items that all arms were tried on, metrics of known families. May touch core and
simulation's recordings.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.errors import InputError, nearest
from ringfence.core.noise import Moments, add_pull, no_moments
from ringfence.core.pricing import Paid, nothing_paid, pay
from ringfence.core.sharing import Common
from ringfence.core.streams import Generator
from ringfence.simulation.records import Recording, forget_moments, look_at_moments


class PricedRecord(NamedTuple):
    """A record of pulls, and what was paid for them, in smallest amounts: `parts` make a unit."""

    inner: Any
    scatters: Floats
    common: Common | None
    paid: Paid
    parts: float


class PricedRows(NamedTuple):
    """Rows [row, attribute] with their prices, and where each arm's begin."""

    rows: Floats
    starts: Integers
    prices: Floats


class PricedItems(NamedTuple):
    """Rows [arm, item, attribute] with their prices [arm, item]."""

    rows: Floats
    prices: Floats


@dataclass(frozen=True, eq=False)
class Tariff:
    """How pulls are drawn with their prices, whose `means` are by arm.

    `arrays` are what the recording `base` draws from; `price_of(record, arrays, arm, number)` is
    what the pull cost that was just added.
    """

    metric: str
    means: Floats
    arrays: Any
    base: Recording
    price_of: Callable[..., float]

    def recording(self, parts: float) -> Recording:
        """Return the recording that also pays, in amounts of which so many make a unit."""
        make, has_common = self.base.make, self.price_of is price_of_item

        def make_priced(arm_count: int, capacity: int) -> PricedRecord:
            inner = make(arm_count, capacity)
            common = inner.common if has_common else None
            return PricedRecord(inner, inner.scatters, common, nothing_paid(arm_count), parts)

        parts_of = _priced(self.base.forget, self.base.add, self.base.look, self.price_of)
        return Recording(make_priced, *parts_of)


@cache
def _priced(
    forget: Callable[..., None],
    add: Callable[..., None],
    look: Callable[..., None],
    price_of: Callable[..., float],
) -> tuple[Callable[..., None], Callable[..., None], Callable[..., None]]:
    def forget_priced(record: PricedRecord) -> None:
        forget(record.inner)
        record.paid.spent[:] = 0
        record.paid.counts[:] = 0
        record.paid.most[:] = 0

    def add_priced(
        rng: Generator,
        arrays: Any,
        arm: int,
        count: int,
        pulls: int,
        record: PricedRecord,
        scratch: Floats,
    ) -> None:
        for number in range(count, count + pulls):
            add(rng, arrays, arm, number, 1, record.inner, scratch)
            price = price_of(record.inner, arrays, arm, number)
            pay(record.paid, arm, int(price * record.parts + 0.5))

    def look_priced(record: PricedRecord, arm: int, count: int, estimates: Floats) -> None:
        look(record.inner, arm, count, estimates)

    return forget_priced, add_priced, look_priced


class RowRecord(NamedTuple):
    """Moments of the pulls, and the row that was drawn last."""

    moments: Moments
    scatters: Floats
    row: Integers


def tariff_of_rows(metric: str, rows: Floats, starts: Integers, prices: Floats) -> Tariff:
    """Return the tariff of rows that are drawn with replacement."""

    def make(arm_count: int, _: int) -> RowRecord:
        moments = no_moments(arm_count, rows.shape[1])
        return RowRecord(moments, moments.scatters, np.zeros(1, np.int64))

    means = np.array([part.mean() for part in np.split(prices, starts[1:-1])])
    base = Recording(make, forget_rows, add_rows, look_at_rows)
    return Tariff(metric, means, PricedRows(rows, starts, prices), base, price_of_row)


def forget_rows(record: RowRecord) -> None:
    """Start anew."""
    forget_moments(record.moments)


def add_rows(
    rng: Generator,
    arrays: PricedRows,
    arm: int,
    count: int,
    pulls: int,
    record: RowRecord,
    scratch: Floats,
) -> None:
    """Add rows one by one, drawn with replacement."""
    for number in range(pulls):
        row = rng.integers(arrays.starts[arm], arrays.starts[arm + 1])
        add_pull(record.moments, count + number, arm, arrays.rows[row])
        record.row[0] = row


def look_at_rows(record: RowRecord, arm: int, count: int, estimates: Floats) -> None:
    """Put an arm's means into `estimates`."""
    look_at_moments(record.moments, arm, count, estimates)


def price_of_row(record: RowRecord, arrays: PricedRows, arm: int, number: int) -> float:
    """Return what the last row cost."""
    price: float = arrays.prices[record.row[0]]
    return price


def tariff_of_items(metric: str, rows: Floats, prices: Floats, base: Recording) -> Tariff:
    """Return the tariff of items that all arms were tried on, once each."""
    return Tariff(metric, prices.mean(axis=1), PricedItems(rows, prices), base, price_of_item)


def price_of_item(record: Any, arrays: PricedItems, arm: int, number: int) -> float:
    """Return what an arm's answer to an item cost."""
    price: float = arrays.prices[arm, record.order[number]]
    return price


def tariff_of_metrics(
    metric: str, means: Floats, arrays: Any, base: Recording, place: int
) -> Tariff:
    """Return the tariff of pulls that are drawn metric by metric; the price has a `place` there."""
    return Tariff(metric, means, arrays, base, _price_at(place))


@cache
def _price_at(place: int) -> Callable[..., float]:
    def price_of_metric(record: Any, arrays: Any, arm: int, number: int) -> float:
        price: float = record.metrics[place]
        return price

    return price_of_metric


def is_amount(price: Any) -> bool:
    """Tell whether a price is an amount, of every arm, and not the name of a metric."""
    return not isinstance(price, str) or price.strip()[:1].isdigit() or price.strip()[:1] == "-"


def require_prices(price: Any, arms: Sequence[str], metrics: Sequence[str]) -> None:
    """Refuse prices that leave an arm out, or name one or a metric that there is none of."""
    if isinstance(price, Mapping):
        for arm in price:
            if arm not in arms:
                raise InputError(
                    f"price has a price of arm {arm!r}, which there is none of. Change the name "
                    f"or leave it out.{nearest(arm, arms)}"
                )
        for arm in arms:
            if arm not in price:
                raise InputError(f"price has none for arm {arm!r}. Add it.")
    elif isinstance(price, str) and not is_amount(price) and price not in metrics:
        raise InputError(
            f"price = {price!r} is no metric; there are {', '.join(metrics) or 'none'}. Name one, "
            f"or state prices by arm.{nearest(price, metrics)}"
        )


def require_costs(metric: str, arms: tuple[str, ...], means: Floats, least: float) -> None:
    """Refuse costs below zero, and arms that cost nothing."""
    if least < 0.0:
        raise InputError(
            f"price = {metric!r}: a pull cost {least:g}, and must cost 0 or more. Correct it."
        )
    for arm, mean in zip(arms, means, strict=True):
        if not mean > 0.0:
            raise InputError(
                f"price = {metric!r}: pulls of arm {arm!r} cost nothing. A budget in money needs "
                "arms that cost something; give a budget in pulls."
            )
