"""The arms of a verdict as a table, and what is left out of it where there is less room. Pure.

The command line, the decision record and notebooks show this one table. The columns that one
decides by come first, the answer is the first row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ringfence.core.attributes import Constraint
from ringfence.core.units import Unit
from ringfence.reports.chances import NEARLY_NEVER, NEARLY_SURE
from ringfence.reports.ordering import ordered_arms, shown_arms
from ringfence.reports.verdict import reason, shown
from ringfence.study.verdict import ArmVerdict, Verdict

MANY, FEW = 20, 12  # so many arms are too many for a screen, and so many of them are shown there
LOOKS = {
    "optimal": "the answer",
    "feasible-suboptimal": "feasible",
    "deceiver": "deceiver",
    "infeasible-suboptimal": "past a limit",
    "infeasible": "past a limit",
    None: "not judged",
}
_MISSING = "-"
_ABREAST = 5  # estimates with their intervals, on a page of paper
_NARROW_NAME, _LONG_NAME = 12, 40
_NARROW_REASON, _LONG_REASON = 36, 72


@dataclass(frozen=True)
class Column:
    """A heading, line by line, and cells. Text may be folded to `least`, numbers never."""

    head: tuple[str, ...]
    cells: tuple[str, ...]
    least: int | None = None
    most: int | None = None


@dataclass(frozen=True)
class Layout:
    """The columns of a table, and the names of those that it leaves out."""

    columns: tuple[Column, ...]
    left_out: tuple[str, ...] = ()


def layouts(
    verdict: Verdict, limits: Sequence[Constraint], arms: Sequence[ArmVerdict]
) -> list[Layout]:
    """Return the table of some arms with ever fewer columns, all of them first.

    Each of the `limits` stands in the heading of what it limits.
    """
    names = list(dict.fromkeys(name for arm in verdict.arms for name in arm.estimates))
    name = _text("arm", [arm.name for arm in arms], least=_LONG_NAME, most=_LONG_NAME)
    slim = replace(name, least=_NARROW_NAME)
    has_limits = bool(verdict.problem.constraints)
    chances = [_numbers(("chance", "best"), [brief_chance(arm.chance_best) for arm in arms])]
    if has_limits:
        feasible = [brief_chance(arm.chance_feasible) for arm in arms]
        chances.append(_numbers(("chance", "feasible"), feasible))
    units = {one: verdict.problem.unit(one) for one in names}
    whole = [_estimates(one, limits, arms, units[one], whole=True) for one in names]
    brief = [_estimates(one, limits, arms, units[one], whole=False) for one in names]
    folded = [replace(one, head=_folded(one.head)) for one in brief]
    counts = [_numbers(("pulls",), [f"{arm.pulls}" for arm in arms])]
    if any(arm.failed for arm in verdict.arms):
        counts.append(_numbers(("failed",), [f"{arm.failed}" for arm in arms]))
    margins = _numbers(("margin",), ["-" if arm.margin is None else f"{arm.margin:.3g}"
                                     for arm in arms])  # fmt: skip
    looks = _text("looks", [LOOKS[arm.kind] for arm in arms], least=len("past a limit"))
    reasons = [reason(arm, verdict, brief=True) for arm in arms]
    why = _text("why", reasons, least=_NARROW_REASON, most=_LONG_REASON)
    sides = [looks] if has_limits else []  # without limits there are no sides to be on
    rich = [
        [name, *chances, *whole, *counts, *[margins] * has_limits, *sides, why],
        [name, *chances, *brief, *counts, *[margins] * has_limits, *sides, why],
        [name, *chances, *brief, *counts, *sides, why],
        [name, *chances, *brief, *counts, *sides],
        [name, *chances, *folded, *counts, *sides],
        [name, *chances, *brief, *counts],
    ]
    found = [Layout(tuple(columns)) for columns in rich]
    for kept in range(len(folded), -1, -1):
        columns = (slim, *chances, *folded[:kept], *counts)
        found.append(Layout(columns, tuple(names[kept:])))
    return found


def narrow_tables(
    verdict: Verdict, limits: Sequence[Constraint], arms: Sequence[ArmVerdict]
) -> list[Layout]:
    """Return the whole table as several that fit a page: first what became of arms, then estimates.

    A table has a few attributes; all of them are in some table.
    """
    columns = layouts(verdict, limits, arms)[0].columns
    count = len({name for arm in verdict.arms for name in arm.estimates})
    first = 1 + (2 if verdict.problem.constraints else 1)  # after the name and the chances
    found, rest = columns[first : first + count], columns[first + count :]
    parts = [found[k : k + _ABREAST] for k in range(0, count, _ABREAST)]
    return [
        Layout((*columns[:first], *rest)),
        *(Layout((columns[0], *part)) for part in parts),
    ]


def arms_of(verdict: Verdict, *, every: bool) -> list[ArmVerdict]:
    """Return the arms that a screen shows: of very many, those that matter."""
    if every or len(verdict.arms) < MANY:
        return ordered_arms(verdict)
    return shown_arms(verdict, FEW)


def rows_of(layout: Layout) -> tuple[list[str], list[list[str]]]:
    """Return a table's headings and rows, for pages."""
    head = [" ".join(column.head) for column in layout.columns]
    return head, [list(row) for row in zip(*(one.cells for one in layout.columns), strict=True)]


def _text(head: str, cells: list[str], least: int, most: int | None = None) -> Column:
    return Column((head,), tuple(cells), least, most)


def _numbers(head: tuple[str, ...], cells: list[str]) -> Column:
    return Column(head, tuple(cells))


def _estimates(
    name: str, limits: Sequence[Constraint], arms: Sequence[ArmVerdict], unit: Unit, *, whole: bool
) -> Column:
    cells = []
    for arm in arms:
        one = arm.estimates.get(name)
        found = "-" if one is None else shown(one, unit) if whole else unit.show(one.value)
        cells.append(found)
    mine = [limit for limit in limits if str(limit.attribute) == name]
    own = ", ".join(f"{limit.relation} {limit.limit}" for limit in mine)
    return _numbers((name, own) if own else (name,), cells)


def _folded(head: tuple[str, ...]) -> tuple[str, ...]:
    """Return a heading whose attribute is broken after its bracket: "mean(" over "latency_ms)"."""
    statistic, bracket, rest = head[0].partition("(")
    return (statistic + bracket, rest, *head[1:]) if rest else head


def brief_chance(chance: float | None) -> str:
    """Return a chance as short as a column wants it, and not more exactly than draws can tell."""
    if chance is None:
        return _MISSING
    if chance > NEARLY_SURE:
        return f">{100 * NEARLY_SURE:g}%"
    return f"<{100 * NEARLY_NEVER:g}%" if chance < NEARLY_NEVER else f"{100 * chance:.1f}%"
