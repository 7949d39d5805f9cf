"""Rows of the tables as facts of a study, and many of them as arrays.

What no study would have written is refused by name: a database may be damaged. A stretch of pulls
is read as a few long texts that the database joins: a million rows one by one, and their numbers
parsed by Python, would take six times as long. May touch study and core.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sqlalchemy as sa
from pydantic_core import from_json
from sqlalchemy.engine import Connection

from ringfence.core.errors import DamagedError
from ringfence.storage import schema
from ringfence.study.facts import (
    NO_HOUR,
    Definition,
    Harvest,
    Head,
    Pardon,
    PullFact,
    Round,
    State,
    StopChange,
    rejection_of,
)

_AT_ONCE = 500_000  # values in one text: a database has limits
_LONGEST_SHOWN = 60
_WHOLE_OF_HEAD = ("budget", "round", "issued", "round_end", "unresolved", "charged", "pardons")
_MOMENTS_OF_HEAD = ("stopped_at", "archived_at")
_WHOLE_OF_PULL = ("arm", "ordinal", "round", "lease", "failures", "run_out")
_STATES = frozenset(State)
_CHARGED, _TOLD, _FAILED = 1, 2, 4  # added up: one digit a pull
_STANDS_IN = _TOLD + _FAILED
_UNREADABLE = (AttributeError, KeyError, TypeError, ValueError)  # what damaged JSON may lead to


def harvest_between(
    connection: Connection, study: int, width: int, first: int, last: int, *,
    has_hours: bool, has_paid: bool,
) -> Harvest:  # fmt: skip
    """Return what became of the pulls with first <= number <= last, of `width` metrics each.

    Their hours are read where the study has some, and what they took where prices are learned.
    """
    first, many = max(first, 1), max(_AT_ONCE // width, 1)
    if last - first >= many:
        numbers = schema.pulls.c.number
        query = sa.select(sa.func.max(numbers)).where(schema.pulls.c.study == study)
        last = min(last, connection.execute(query).scalar() or 0)
    parts = [
        _part(
            connection,
            study,
            width,
            start,
            min(start + many - 1, last),
            has_hours=has_hours,
            has_paid=has_paid,
        )
        for start in range(first, last + 1, many)
    ]
    return Harvest.joined(parts) if parts else Harvest.of([], width)


def _part(
    connection: Connection, study: int, width: int, first: int, last: int, *,
    has_hours: bool, has_paid: bool,
) -> Harvest:  # fmt: skip
    columns = schema.pulls.c
    told, stands_in = columns.state == State.TOLD.value, columns.error.is_not(None)
    failed = columns.state == State.FAILED.value
    became = sa.case((told & stands_in, _STANDS_IN), (told, _TOLD), (failed, _FAILED), else_=0)
    nothing = "[" + ",".join(["NaN"] * width) + "]"
    rows = (
        sa.select(
            columns.number,
            columns.arm,
            columns.ordinal,
            (became + sa.case((columns.charged, _CHARGED), else_=0)).label("became"),
            sa.func.coalesce(columns["values"], nothing).label("observed"),
            (sa.func.coalesce(columns.block, NO_HOUR) if has_hours else sa.null()).label("hours"),
            (sa.func.coalesce(columns.paid, 0) if has_paid else sa.null()).label("paid"),
        )
        .where(columns.study == study, columns.number.between(first, last))
        .order_by(columns.number)
        .subquery()
    )
    is_postgres = connection.dialect.name == "postgresql"
    join = sa.func.string_agg if is_postgres else sa.func.group_concat
    texts = [
        join(sa.cast(rows.c[name], sa.Text), between)
        for name, between in zip(rows.c.keys(), (",", ",", ",", "", ",", ",", ","), strict=True)
    ]
    row = connection.execute(sa.select(*texts)).one()
    numbers, arms, ordinals, codes, observed, hours, paid = row
    if numbers is None:
        return Harvest.of([], width)
    code = np.frombuffer(codes.encode(), np.uint8) - ord("0")
    try:
        flat = from_json("[" + observed[1:-1].replace("],[", ",") + "]")
        values = np.array(flat, np.float64).reshape(len(code), width)
    except ValueError:
        raise _damaged_pull(connection, study, width, first, last) from None
    found = Harvest(
        arms=np.fromstring(arms, np.int64, sep=","),
        ordinals=np.fromstring(ordinals, np.int64, sep=","),
        is_told=(code & _TOLD) > 0,
        is_failed=(code & _STANDS_IN) == _FAILED,
        is_charged=(code & _CHARGED) > 0,
        stand_in=(code & _STANDS_IN) == _STANDS_IN,
        values=values,
        hours=np.full(len(code), NO_HOUR)
        if hours is None
        else np.fromstring(hours, np.int64, sep=","),
        paid=np.zeros(len(code), np.int64)
        if paid is None
        else np.fromstring(paid, np.int64, sep=","),
    )
    order = np.fromstring(numbers, np.int64, sep=",")
    if (np.diff(order) > 0).all():
        return found
    return found.part(np.argsort(order))  # no database must join in the order of its rows


def _damaged_pull(
    connection: Connection, study: int, width: int, first: int, last: int
) -> DamagedError:
    """Return the error for the first pull of a stretch that cannot be read."""
    columns = schema.pulls.c
    query = sa.select(schema.pulls).where(columns.study == study)
    query = query.where(columns.number.between(first, last)).order_by(columns.number)
    for row in connection.execute(query).mappings():
        try:
            values = pull_of(row).values
        except DamagedError as error:
            return error
        if values is not None and len(values) != width:
            return _damaged(f"pull {row['number']}", "values", row["values"])
    return DamagedError(f"pulls {first} to {last} cannot be read")


def _damaged(what: str, key: str, value: object) -> DamagedError:
    """Return the error for a fact that no study would have written."""
    shown = repr(value)
    shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}..."
    return DamagedError(
        f"{what} cannot be read: its {key} {'are' if key == 'values' else 'is'} {shown}"
    )


def _require_whole(what: str, row: Any, keys: Sequence[str]) -> None:
    """Refuse a row with words where whole numbers belong: SQLite keeps either."""
    for key in keys:
        if not isinstance(row[key], int):
            raise _damaged(what, key, row[key])


def numbers_of(what: str, text: str) -> tuple[float, ...]:
    """Return the numbers that were written as JSON, of a pull or an observation."""
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        raise _damaged(what, "values", text) from None
    if not isinstance(found, list) or not all(isinstance(one, int | float) for one in found):
        raise _damaged(what, "values", text)
    return tuple(found)


def definition_of(what: str, text: str) -> Definition:
    """Return the definition that was written as JSON."""
    try:
        return Definition.from_dict(json.loads(text))
    except _UNREADABLE:
        raise _damaged(what, "definition", text) from None


def head_of(what: str, row: Any) -> Head:
    """Return where the study of a row stands."""
    _require_whole(what, row, _WHOLE_OF_HEAD)
    try:
        broken = tuple(map(int, json.loads(row["broken"])))
    except (TypeError, ValueError):
        raise _damaged(what, "broken", row["broken"]) from None
    for key in _MOMENTS_OF_HEAD:
        if row[key] is not None and not isinstance(row[key], int | float):
            raise _damaged(what, key, row[key])
    try:
        stops = tuple(StopChange(**one) for one in json.loads(row["stops"]))
    except _UNREADABLE:
        raise _damaged(what, "stops", row["stops"]) from None
    plain = {key: row[key] for key in (*_WHOLE_OF_HEAD, *_MOMENTS_OF_HEAD)}
    return Head(**plain, finished=bool(row["finished"]), broken=broken, stops=stops)


def head_row(head: Head) -> dict[str, Any]:
    """Return where a study stands as columns."""
    stops = json.dumps([vars(one) for one in head.stops])
    return {**vars(head), "broken": json.dumps(head.broken), "stops": stops}


def pull_row(pull: PullFact) -> dict[str, Any]:
    """Return a pull as columns."""
    values = None if pull.values is None else json.dumps(pull.values)
    extras = json.dumps(dict(pull.extras)) if pull.extras else None
    return {**vars(pull), "state": pull.state.value, "values": values, "extras": extras}


def pull_of(row: Any) -> PullFact:
    """Return the pull of a row."""
    what, values = f"pull {row['number']}", row["values"]
    _require_whole(what, row, _WHOLE_OF_PULL)
    _require_whole(what, row, [key for key in ("block", "paid") if row[key] is not None])
    if row["state"] not in _STATES:
        raise _damaged(what, "state", row["state"])
    facts = {key: row[key] for key in row if key != "study"}
    return replace(
        PullFact(**{**facts, "state": State(row["state"])}),
        values=None if values is None else numbers_of(what, values),
        charged=bool(row["charged"]),
        extras=None if row["extras"] is None else extras_of(what, row["extras"]),
    )


def extras_of(what: str, text: str) -> Mapping[str, float]:
    """Return the further numbers of a pull, which were written as JSON."""
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        raise _damaged(what, "extras", text) from None
    if not isinstance(found, dict) or not all(isinstance(x, int | float) for x in found.values()):
        raise _damaged(what, "extras", text)
    return found


def item_of(number: int, text: str) -> Any:
    """Return the item that was written as JSON."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        raise _damaged(f"item {number}", "content", text) from None


def pardon_row(pardon: Pardon) -> dict[str, Any]:
    """Return a pardon as columns."""
    content = {"arms": pardon.arms, "void": pardon.void, "reopened": pardon.reopened}
    content |= {"sunk": pardon.sunk} if pardon.sunk else {}
    return {"after": pardon.after, "content": json.dumps(content)}


def pardon_of(row: Any) -> Pardon:
    """Return the pardon of a row."""
    what = f"pardon {row['place']}"
    _require_whole(what, row, ("after",))
    try:
        plain = json.loads(row["content"])
        return Pardon(
            after=row["after"],
            sunk=tuple((int(arm), int(amount)) for arm, amount in plain.get("sunk", ())),
            arms=tuple((int(arm), int(ordinal)) for arm, ordinal in plain["arms"]),
            void=tuple(map(int, plain["void"])),
            reopened=int(plain["reopened"]),
        )
    except _UNREADABLE:
        raise _damaged(what, "content", row["content"]) from None


def round_of(row: Any) -> Round:
    """Return the round of a row."""
    try:
        plain = json.loads(row.decided)
        return Round(
            number=row.number,
            first=row.first,
            allocation=tuple(map(int, plain["allocation"])),
            before=tuple(map(int, plain["before"])),
            alive=tuple(plain["alive"]),
            phase=plain["phase"],
            is_last=plain["is_last"],
            left=tuple(map(rejection_of, plain["left"])),
            seen={**plain["seen"]},
        )
    except _UNREADABLE:
        raise _damaged(f"round {row.number}", "decision", row.decided) from None
