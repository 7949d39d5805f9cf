"""Tables in which all arms were tried on the same items: every arm has one row of each.

What is not so is refused: a mean over other items is another question, and a missing outcome is no
zero. May touch core and simulation's tables.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ringfence.core.errors import InputError
from ringfence.core.problem import Problem
from ringfence.core.stated import LARGEST
from ringfence.simulation.tables import Columns, is_empty, loose_numbers, wanted_columns

_MOST_NAMED = 3


def item_columns(arm: str, item: str, problem: Problem, price: str | None = None) -> list[str]:
    """Return the columns of a table of items: the arm's, the item's, then metrics."""
    for attribute in problem.judged.attributes:
        if not attribute.is_mean:
            raise InputError(
                f"item = {item!r}: {attribute} is known for pulls that share nothing only; on "
                "shared items means and shares are, and limits on quantiles, which are judged as "
                "shares. Write one of these, or leave the item out."
            )
    names = wanted_columns(arm, problem, price)
    if item in names:
        what = "the arm" if item == arm else "a metric"
        raise InputError(
            f"item = {item!r} is the column of {what} already. Name the column that says which "
            "item a row is of."
        )
    return [arm, item, *names[1:]]


def in_order_of_items(
    columns: Columns, arm: str, item: str, metrics: Sequence[str]
) -> tuple[Columns, int]:
    """Return the arms and metrics of a table, each arm's rows in one order of items, and how many.

    Arms come in the order of their first rows, and so do items.
    """
    if len(columns[arm]) == 0:
        raise InputError("the table has no rows: there is nothing to replay. Fill it.")
    owners, arms = _places(columns[arm], arm, "arm")
    kinds, items = _places(columns[item], item, "item")
    place = np.full((len(arms), len(items)), -1)
    for row, (i, t) in enumerate(zip(owners, kinds, strict=True)):
        if place[i, t] >= 0:
            raise InputError(
                f"arm {arms[i]!r} has item {items[t]!r} ({item}) in rows {place[i, t] + 1} and "
                f"{row + 1}: each arm must have one row of an item. Keep one of them, or their "
                "average."
            )
        place[i, t] = row
    for i in np.flatnonzero((place < 0).any(axis=1))[:1]:
        absent = [repr(items[t]) for t in np.flatnonzero(place[i] < 0)]
        more = len(absent) - _MOST_NAMED
        named = ", ".join(absent[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        raise InputError(
            f"arm {arms[i]!r} has no row of item {named} ({item}), which other arms have: all must "
            "have the same items. Add the rows, or drop these items or this arm."
        )
    ordered = place.ravel()
    cleaned: dict[str, Any] = {arm: [arms[owners[row]] for row in ordered]}
    for metric in metrics:
        numbers = loose_numbers(columns[metric])
        for row in np.flatnonzero(~(np.abs(numbers) <= LARGEST))[:1]:
            raise InputError(
                f"arm {arms[owners[row]]!r}, item {items[kinds[row]]!r}: {metric} = "
                f"{columns[metric][row]!r} (row {row + 1}) must be a finite number, at most "
                f"{LARGEST:g} in size. Fill it, or drop the item of all arms."
            )
        cleaned[metric] = numbers[ordered]
    return cleaned, len(items)


def _places(values: Sequence[Any], column: str, what: str) -> tuple[list[int], list[str]]:
    """Return the place of each row's label among the labels, and these in order of appearance."""
    places: dict[str, int] = {}
    found = []
    for row, value in enumerate(values, start=1):
        if is_empty(value):
            raise InputError(f"Column {column!r}, row {row} names no {what}. Fill it or drop it.")
        found.append(places.setdefault(str(value), len(places)))
    return found, list(places)
