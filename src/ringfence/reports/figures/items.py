"""Figure data of items by arms: who did how well on which, the easiest items first. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.reports.figures.words import counted
from ringfence.reports.items import item_name
from ringfence.reports.ordering import shown_arms
from ringfence.study.outcomes import Outcomes
from ringfence.study.verdict import Verdict

MOST_ITEMS, MOST_ROWS = 200, 24
SHADES = 7  # so many can be told apart beside each other
_TAIL = 0.05  # of all results at either end that set no scale
_FEW = 2


@dataclass(frozen=True, eq=False)
class Matrix:
    """The part of a table of arms by items that is drawn.

    `arms` are places among the arms, the answer first, and `items` places among the blocks that
    were seen, the easiest first. `shades` [arm, item] are from 0, the worst result, to 1, the best;
    NaN where an arm was not tried.
    """

    arms: Integers
    items: Integers
    shades: Floats
    item_count: int
    arm_count: int


def matrix_of(verdict: Verdict, outcomes: Outcomes) -> Matrix:
    """Return what is drawn: at most 24 arms, and of very many items those that separate arms most.

    An item is the easier, the better arms did on it than they do on the items that they saw.
    """
    seen = outcomes.was_tried
    names = [arm.name for arm in shown_arms(verdict, MOST_ROWS)]
    arms = np.array(
        [place for name in names if seen[place := outcomes.arms.index(name)]], dtype=np.int64
    )
    mine = outcomes.objective[arms]
    was_seen = ~np.isnan(mine)
    counts = was_seen.sum(axis=1, keepdims=True)
    means = np.where(was_seen, mine, 0.0).sum(axis=1, keepdims=True) / np.maximum(counts, 1)
    away = np.where(was_seen, mine - means, 0.0)
    tries = was_seen.sum(axis=0)
    hardness = away.sum(axis=0) / np.maximum(tries, 1)
    apart = np.where(was_seen, away - hardness, 0.0)
    separation = (apart**2).sum(axis=0)
    some = np.flatnonzero(tries)
    chosen = some[np.argsort(-separation[some], kind="stable")][:MOST_ITEMS]
    items = np.sort(chosen)
    items = items[np.argsort(hardness[items], kind="stable")]
    return Matrix(
        arms, items, _shades(mine[:, items]), len(outcomes.blocks), len(outcomes.arms)
    )  # fmt: skip


def _shades(objective: Floats) -> Floats:
    """Return results between 0, the worst, and 1, the best; a few at either end set no scale."""
    told = objective[~np.isnan(objective)]
    if not len(told):
        return objective
    distinct = np.unique(told)
    low, high = distinct[0], distinct[-1]
    if len(distinct) > _FEW:
        low, high = np.quantile(told, [_TAIL, 1.0 - _TAIL])
    if low == high:
        low, high = distinct[0], distinct[-1]
    if low == high:
        return np.where(np.isnan(objective), np.nan, 1.0)
    found = np.clip((high - objective) / (high - low), 0.0, 1.0)
    return np.asarray(np.rint(found * (SHADES - 1)) / (SHADES - 1))


def cell_rows(
    matrix: Matrix, outcomes: Outcomes, contents: Mapping[int, Any]
) -> list[dict[str, Any]]:
    """Return a row for every arm, with a list of all its results, to be looked at one by one.

    Lists are of one length: the n-th entries of a row belong together.
    """
    called = [item_name(contents[int(number)]) for number in outcomes.blocks[matrix.items]]
    rows = []
    for place, arm in enumerate(matrix.arms.tolist()):
        columns = np.flatnonzero(~np.isnan(matrix.shades[place]))
        told = [outcomes.written(arm, item) for item in matrix.items[columns].tolist()]
        row = _row(matrix, outcomes, place, columns, columns + 1)
        rows.append({**row, "item": [called[k] for k in columns.tolist()], "value": told})
    return rows


def run_rows(matrix: Matrix, outcomes: Outcomes) -> list[dict[str, Any]]:
    """Return the same picture in shorter lists: neighbours of one shade are drawn as one."""
    rows = []
    for place, shades in enumerate(matrix.shades):
        begins = np.flatnonzero(np.append([True], shades[1:] != shades[:-1]))
        ends = np.append(begins[1:], len(shades))
        drawn = ~np.isnan(shades[begins])
        rows.append(_row(matrix, outcomes, place, begins[drawn], ends[drawn]))
    return rows


def _row(
    matrix: Matrix, outcomes: Outcomes, place: int, begins: Integers, ends: Integers
) -> dict[str, Any]:
    return {
        "name": outcomes.arms[matrix.arms[place]],
        "place": place,
        "begin": begins.tolist(),
        "end": ends.tolist(),
        "shade": matrix.shades[place, begins].round(3).tolist(),
    }


def items_subtitle(verdict: Verdict, matrix: Matrix) -> list[str]:
    """Return how the picture is read, and what it leaves out, a line each."""
    first = f"the stronger, the better by {verdict.objective}; blank: not tried"
    items, arms = len(matrix.items), len(matrix.arms)
    left = []
    if items < matrix.item_count:
        left.append(f"{items:,} of {matrix.item_count:,} items: those that separate arms most")
    if arms < matrix.arm_count:
        left.append(f"{counted(matrix.arm_count - arms, 'arm')} not drawn")
    return [first, "; ".join(left)] if left else [first]
