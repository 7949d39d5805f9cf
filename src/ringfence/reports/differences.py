"""How far arms are from the answer, as a table: differences with intervals of their own. Pure.

Arms that are tried on the same items differ with less noise than their levels have: what tells two
of them apart is this table, and not whether the intervals of their levels overlap.
"""

from collections.abc import Sequence

from ringfence.core.units import PLAIN, Unit
from ringfence.reports.arms_table import Column, Layout
from ringfence.reports.ordering import ordered_arms
from ringfence.reports.verdict import interval
from ringfence.study.verdict import ArmVerdict, Estimate, Verdict

NOTE = "Differences are followed by 95% intervals of their own."
_LONG_NAME, _NARROW_NAME = 40, 12


def compared_arms(verdict: Verdict, arms: Sequence[ArmVerdict] | None = None) -> list[ArmVerdict]:
    """Return the arms whose difference from the answer is known, in a reader's order."""
    return [arm for arm in (arms or ordered_arms(verdict)) if arm.differences]


def attributes_of(arms: Sequence[ArmVerdict]) -> list[str]:
    """Return the attributes of which some arm has a difference, the objective first."""
    return list(dict.fromkeys(name for arm in arms for name in arm.differences))


def difference_layouts(verdict: Verdict, arms: Sequence[ArmVerdict]) -> list[Layout]:
    """Return the table of some arms, ever narrower: first without intervals, then attributes."""
    names = attributes_of(arms)
    name = Column(("arm",), tuple(arm.name for arm in arms), _NARROW_NAME, _LONG_NAME)
    units = {one: verdict.problem.unit(one) for one in names}
    whole = [_column(one, arms, units[one], whole=True) for one in names]
    brief = [_column(one, arms, units[one], whole=False) for one in names]
    fewer = [
        Layout((name, *brief[:count]), tuple(names[count:])) for count in range(len(names), 0, -1)
    ]
    return [Layout((name, *whole)), *fewer]


def difference_in_words(one: Estimate, unit: Unit = PLAIN) -> str:
    """Return a difference with its sign, and its interval."""
    by = unit.show(one.value, 3, sign="+")
    return f"{by} ({interval(one.low, one.high, unit, digits=3)})"


def differences_in_words(verdict: Verdict, arm: ArmVerdict) -> str:
    """Return an arm's differences from the answer on one line; nothing where there are none."""
    said = [
        f"{name} {difference_in_words(one, verdict.problem.unit(name))}"
        for name, one in arm.differences.items()
    ]
    return f"{', '.join(said)} beside {verdict.arm}" if said else ""


def difference_title(verdict: Verdict) -> str:
    """Return what the table of differences shows."""
    return f"Differences from {verdict.arm}"


def _column(name: str, arms: Sequence[ArmVerdict], unit: Unit, *, whole: bool) -> Column:
    cells = []
    for arm in arms:
        one = arm.differences.get(name)
        if one is None:
            cells.append("-")
        elif whole:
            cells.append(difference_in_words(one, unit))
        else:
            cells.append(unit.show(one.value, 3, sign="+"))
    return Column((name,), tuple(cells))
