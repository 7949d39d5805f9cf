"""Rows of the tables as facts of a study, and many of them as arrays.

A stretch of pulls is read as a few long texts that the database joins: a million rows one by one,
and their numbers parsed by Python, would take six times as long. May touch study and core.
"""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import sqlalchemy as sa
from pydantic_core import from_json
from sqlalchemy.engine import Connection

from ringfence.storage import schema
from ringfence.study.facts import Harvest, Head, PullFact, Rejection, Round, State

_AT_ONCE = 500_000  # values in one text: a database has limits


def harvest_between(
    connection: Connection, study: int, width: int, first: int, last: int
) -> Harvest:
    """Return what became of the pulls with first <= number <= last, of `width` metrics each."""
    first, many = max(first, 1), max(_AT_ONCE // width, 1)
    if last - first >= many:
        numbers = schema.pulls.c.number
        query = sa.select(sa.func.max(numbers)).where(schema.pulls.c.study == study)
        last = min(last, connection.execute(query).scalar() or 0)
    parts = [
        _part(connection, study, width, start, min(start + many - 1, last))
        for start in range(first, last + 1, many)
    ]
    return Harvest.joined(parts) if parts else Harvest.of([], width)


def _part(connection: Connection, study: int, width: int, first: int, last: int) -> Harvest:
    columns = schema.pulls.c
    became = sa.case({State.TOLD.value: 2, State.FAILED.value: 4}, value=columns.state, else_=0)
    nothing = "[" + ",".join(["NaN"] * width) + "]"
    rows = (
        sa.select(
            columns.number,
            columns.arm,
            columns.ordinal,
            (became + sa.case((columns.charged, 1), else_=0)).label("became"),
            sa.func.coalesce(columns["values"], nothing).label("observed"),
        )
        .where(columns.study == study, columns.number.between(first, last))
        .order_by(columns.number)
        .subquery()
    )
    is_postgres = connection.dialect.name == "postgresql"
    join = sa.func.string_agg if is_postgres else sa.func.group_concat
    texts = [
        join(sa.cast(rows.c[name], sa.Text), between)
        for name, between in zip(rows.c.keys(), (",", ",", ",", "", ","), strict=True)
    ]
    numbers, arms, ordinals, codes, observed = connection.execute(sa.select(*texts)).one()
    if numbers is None:
        return Harvest.of([], width)
    code = np.frombuffer(codes.encode(), np.uint8) - ord("0")
    flat = from_json("[" + observed[1:-1].replace("],[", ",") + "]")
    found = Harvest(
        arms=np.fromstring(arms, np.int64, sep=","),
        ordinals=np.fromstring(ordinals, np.int64, sep=","),
        is_told=(code & 2) > 0,
        is_failed=(code & 4) > 0,
        is_charged=(code & 1) > 0,
        values=np.array(flat, np.float64).reshape(len(code), width),
    )
    order = np.fromstring(numbers, np.int64, sep=",")
    if (np.diff(order) > 0).all():
        return found
    return found.part(np.argsort(order))  # no database must join in the order of its rows


def head_row(head: Head) -> dict[str, Any]:
    """Return where a study stands as columns."""
    return {**vars(head), "broken": json.dumps(head.broken)}


def pull_row(pull: PullFact) -> dict[str, Any]:
    """Return a pull as columns."""
    values = None if pull.values is None else json.dumps(pull.values)
    return {**vars(pull), "state": pull.state.value, "values": values}


def pull_of(row: Any) -> PullFact:
    """Return the pull of a row."""
    values = row["values"]
    facts = {key: row[key] for key in row if key != "study"}
    return replace(
        PullFact(**{**facts, "state": State(row["state"])}),
        values=None if values is None else tuple(json.loads(values)),
        charged=bool(row["charged"]),
    )


def round_of(row: Any) -> Round:
    """Return the round of a row."""
    plain = json.loads(row.decision)
    return Round(
        number=row.number,
        first=row.first,
        allocation=tuple(plain["allocation"]),
        before=tuple(plain["before"]),
        alive=tuple(plain["alive"]),
        phase=plain["phase"],
        is_last=plain["is_last"],
        left=tuple(Rejection(**one) for one in plain["left"]),
        seen=plain["seen"],
    )
