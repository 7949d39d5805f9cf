"""One door from results to data frames of any library: pandas, polars or Arrow, through narwhals.

None of them is a dependency. May touch every room.
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from ringfence.core.errors import InputError, one_of
from ringfence.interfaces.studies import Study
from ringfence.reports.verdict import reason
from ringfence.study.verdict import ArmVerdict, Verdict

BACKENDS = ("pandas", "polars", "pyarrow")
_PLAIN = (str, int, float, bool, type(None))


def to_frame(thing: Any, *, backend: str | None = None) -> Any:
    """Return a data frame, by default of the first of pandas, polars and pyarrow that is installed.

    A verdict gives a row for each arm, a study for each told pull, a plan for each point of its
    curve; a list of results, or of rows of a comparison, a row for each. A mapping of columns and a
    list of mappings are taken as they are. Lists within a row are left out.

    >>> import ringfence as rf
    >>> rows = rf.compare(
    ...     "paper-1", policies=["constrained-sr", "uniform"], budgets=[500, 1000],
    ...     replications=1000,
    ... )
    >>> frame = rf.to_frame(rows, backend="pandas")
    >>> list(frame.columns[:4]), len(frame)
    (['instance', 'policy', 'budget', 'unit'], 4)
    """
    import narwhals as nw

    if backend is not None and backend not in BACKENDS:
        raise one_of("backend", backend, BACKENDS)
    tried = BACKENDS if backend is None else (backend,)
    installed = next((name for name in tried if find_spec(name) is not None), None)
    if installed is None:
        raise InputError(
            f"backend = {backend!r} needs {' or '.join(tried)}, which is not installed. Install it "
            "with pip."
        )
    library: Any = installed
    return nw.from_dict(columns_of(thing), backend=library).to_native()


def columns_of(thing: Any) -> dict[str, list[Any]]:
    """Return the columns of a result, all of one length."""
    if isinstance(thing, Study):
        return thing.observations()
    if isinstance(thing, Verdict):
        return _columns([_arm_row(arm, thing) for arm in thing.arms])
    if isinstance(thing, Mapping):
        return {str(key): list(values) for key, values in thing.items()}
    if hasattr(thing, "curve") and hasattr(thing, "to_dict"):
        return _columns(thing.to_dict()["curve"])
    if isinstance(thing, Sequence) and not isinstance(thing, str):
        return _columns([_row(one) for one in thing])
    return _columns([_row(thing)])


def _row(one: Any) -> dict[str, Any]:
    plain = one.to_dict() if hasattr(one, "to_dict") else one
    if not isinstance(plain, Mapping):
        raise InputError(
            f"{type(one).__name__} is no result that has rows. Give a study, a verdict, a plan, "
            "results, or a list of mappings."
        )
    return _flat(plain)


def _flat(plain: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return numbers and texts by name; those within a mapping have both names."""
    found: dict[str, Any] = {}
    for key, value in plain.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{before}{key} ")
        elif isinstance(value, _PLAIN):
            found[f"{before}{key}"] = value
    return found


def _arm_row(arm: ArmVerdict, verdict: Verdict) -> dict[str, Any]:
    row: dict[str, Any] = {
        "arm": arm.name,
        "is_answer": arm.name in verdict.answer,
        "kind": arm.kind,
        "pulls": arm.pulls,
    }
    for name, one in arm.estimates.items():
        row |= {name: one.value, f"{name} low": one.low, f"{name} high": one.high}
    return row | {
        "margin": arm.margin,
        "margin low": arm.margin_low,
        "margin high": arm.margin_high,
        "blocked_by": "; ".join(arm.blocked_by),
        "status": arm.status.value,
        "reason": reason(arm, verdict),
    }


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns; what a row does not have is None there."""
    longest = max(rows, key=len, default={})  # its order is the one that people expect
    names = dict.fromkeys([*longest, *(name for row in rows for name in row)])
    return {name: [row.get(name) for row in rows] for name in names}
