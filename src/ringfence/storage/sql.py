"""Studies in SQLite or PostgreSQL, through SQLAlchemy's core.

A writer takes SQLite's write lock, or locks the study's row in PostgreSQL, before it reads. Either
way writers of one study go one after the other, and what was committed is on disk.

May touch study, core, and the database that was named.
"""

import json
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ringfence.core.errors import DamagedError, InputError, StorageError
from ringfence.storage import schema
from ringfence.storage.engines import NOW, in_words, open_engine, require_same_file
from ringfence.storage.memory import missing, taken
from ringfence.storage.rows import (
    definition_of,
    extras_of,
    harvest_between,
    head_of,
    head_row,
    item_of,
    numbers_of,
    pardon_of,
    pardon_row,
    pull_of,
    pull_row,
    round_of,
)
from ringfence.storage.surveys import survey_between
from ringfence.study.facts import (
    Definition,
    Harvest,
    Head,
    Kept,
    Pardon,
    PastFact,
    PullFact,
    Round,
    Tally,
)
from ringfence.study.surveying import Survey

if TYPE_CHECKING:
    from alembic.config import Config

_LARGEST = 2**62
_MANY = 500  # numbers in one IN (...)
_MANY_ITEMS = 10_000  # rows that are written at once
_CHANGES = (  # what of a pull may be another once it was issued
    *("state", "lease", "deadline", "failures", "run_out", "holder"),
    *("values", "cost", "error", "charged", "extras", "paid"),
)
_CLOCK_OF_THE_SERVER: Any = sa.cast(
    sa.extract("epoch", sa.func.clock_timestamp()), sa.Double
).label("now")
_LATEST_DEADLINES = sa.text(  # of all issued pulls, and of each holder's: two small indexes
    "SELECT NULL AS holder, MAX(deadline) AS latest FROM ringfence_pulls "
    "WHERE study = :study AND state = 'issued' UNION ALL "
    "SELECT holder, MAX(deadline) FROM ringfence_pulls "
    "WHERE study = :study AND state = 'issued' AND holder IS NOT NULL GROUP BY holder"
)
_AT_ONCE = sa.text("SET LOCAL lock_timeout = '50ms'")
_FACTS = (
    *(schema.past, schema.pulls, schema.rounds, schema.tallies, schema.pardons, schema.kept),
    schema.items,
)
_MIGRATING = 7_465_327  # any number: the lock under which PostgreSQL's schema is brought up to date


class SqlStorage:
    """The studies of one database."""

    def __init__(self, url: str) -> None:
        """Open a database, and bring its tables up to date."""
        self.engine = open_engine(url)
        self.url = self.engine.url.render_as_string(hide_password=True)
        weakref.finalize(self, self.engine.dispose)
        self._known: dict[str, tuple[tuple[int, float], Definition]] = {}
        with in_words(self.url):
            self._migrate()

    def create(self, definition: Definition, head: Head, items: Sequence[Any] = ()) -> None:
        """Remember a new study."""
        row = {
            "name": definition.name,
            "definition": json.dumps(definition.to_dict()),
            "created_at": time.time(),
            **head_row(head),
        }
        with in_words(self.url), self._transaction() as connection:
            try:
                found = connection.execute(sa.insert(schema.studies).values(row))
            except sa.exc.IntegrityError:
                raise taken(definition.name) from None
            (study,) = found.inserted_primary_key or (None,)
            for start in range(0, len(items), _MANY_ITEMS):
                rows = [
                    {"study": study, "number": number, "content": json.dumps(items[number])}
                    for number in range(start, min(start + _MANY_ITEMS, len(items)))
                ]
                connection.execute(sa.insert(schema.items), rows)

    def names(self) -> Sequence[str]:
        """Return the names of all studies."""
        with in_words(self.url), self.engine.connect() as connection:
            found = connection.execute(sa.select(schema.studies.c.name)).scalars()
            return sorted(map(str, found))  # a damaged database may have one without a name

    def delete(self, name: str) -> None:
        """Forget a study."""
        with self.writing(name) as ledger:
            ledger.delete()
        self._known.pop(name, None)

    def keep(self, name: str, kept: Kept) -> None:
        """Remember what was worked out, if nobody is writing and we may."""
        mine = sa.select(schema.studies.c.id).where(schema.studies.c.name == name)
        table = schema.kept
        with suppress(StorageError), in_words(self.url), self._transaction(now=True) as connection:
            if (study := connection.execute(mine).scalar()) is None:
                return
            is_mine = sa.and_(table.c.study == study, table.c.kind == kept.kind)
            connection.execute(sa.delete(table).where(is_mine))
            connection.execute(sa.insert(table), {"study": study, **vars(kept)})

    @contextmanager
    def writing(self, name: str) -> Iterator["SqlLedger"]:
        """Open a transaction."""
        with in_words(self.url), self._transaction() as connection:
            yield self._ledger(connection, name, lock=True)

    @contextmanager
    def reading(self, name: str) -> Iterator["SqlLedger"]:
        """Open a consistent view."""
        one_view = {}
        if self.engine.dialect.name == "postgresql":
            one_view = {"isolation_level": "REPEATABLE READ"}
        engine = self.engine.execution_options(**one_view)
        with in_words(self.url), engine.connect() as connection:
            yield self._ledger(connection, name, lock=False)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def _ledger(self, connection: Connection, name: str, *, lock: bool) -> "SqlLedger":
        wanted = [schema.studies]
        if connection.dialect.name == "postgresql":
            wanted.append(_CLOCK_OF_THE_SERVER)
        query = sa.select(*wanted).where(schema.studies.c.name == name)
        row = connection.execute(query.with_for_update() if lock else query).mappings().first()
        if row is None:
            raise missing(name, self.names(), self.url)
        key = (row["id"], row["created_at"])  # a database may use an id again
        known = self._known.get(name)
        if known is None or known[0] != key:
            definition = definition_of(f"study {name!r} in {self.url}", row["definition"])
            self._known[name] = known = (key, definition)
        return SqlLedger(connection, row["id"], known[1], row)

    @contextmanager
    def _transaction(self, *, now: bool = False) -> Iterator[Connection]:
        """Open a transaction that writes; with `now`, fail rather than wait for others."""
        with self.engine.connect() as connection:
            if connection.dialect.name == "sqlite":
                connection.info["writes"] = NOW if now else True
            with connection.begin():
                if now and connection.dialect.name == "postgresql":
                    connection.execute(_AT_ONCE)
                yield connection
            require_same_file(connection)  # or it was written to a file that nobody will find

    def _migrate(self) -> None:
        """Make or renew the tables; one process does, the others wait for it."""
        with self.engine.connect() as connection:
            found = _version(connection)
        if found == schema.HEAD:
            return
        with self._transaction() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATING)))
            found = _version(connection)
            if found is not None and found > schema.HEAD:
                raise InputError(
                    f"storage {self.url} was written by a newer ringfence (schema {found}, this "
                    f"one knows {schema.HEAD}). Upgrade ringfence."
                )
            if found != schema.HEAD:
                _upgrade(connection)


class SqlLedger:
    """One study inside one transaction."""

    def __init__(
        self, connection: Connection, study: int, definition: Definition, row: Any
    ) -> None:
        """Read where it stands from its row."""
        self._connection, self._study = connection, study
        self.definition = definition
        self.created_at = float(row["created_at"])
        self.head = head_of(f"study {definition.name!r}", row)
        # Of several machines only the server has a clock in common; SQLite's users are on one.
        self.now = float(row["now"]) if "now" in row else time.time()

    def set_head(self, head: Head) -> None:
        """Write where it stands."""
        mine = schema.studies.c.id == self._study
        self._connection.execute(sa.update(schema.studies).where(mine), head_row(head))
        self.head = head

    def round(self, number: int) -> Round:
        """Return a round."""
        return self._rounds(schema.rounds.c.number == number)[0]

    def rounds(self, start: int = 0, stop: int | None = None) -> Sequence[Round]:
        """Return a stretch of rounds."""
        return self._rounds(
            schema.rounds.c.number.between(start, (_LARGEST if stop is None else stop) - 1)
        )

    def rounds_at(self, numbers: Sequence[int]) -> Sequence[Round]:
        """Return rounds by number."""
        ordered, found = sorted({*numbers}), list[Round]()
        for start in range(0, len(ordered), _MANY):
            found += self._rounds(schema.rounds.c.number.in_(ordered[start : start + _MANY]))
        return found

    def _rounds(self, which: Any) -> list[Round]:
        query = (
            sa.select(schema.rounds)
            .where(schema.rounds.c.study == self._study, which)
            .order_by(schema.rounds.c.number)
        )
        return [round_of(row) for row in self._connection.execute(query)]

    def add_round(self, fresh: Round) -> None:
        """Write a round."""
        decided = asdict(fresh)
        number, first = decided.pop("number"), decided.pop("first")
        row = {
            "study": self._study,
            "number": number,
            "first": first,
            "decided": json.dumps(decided),
        }
        self._connection.execute(sa.insert(schema.rounds), row)

    def pulls(self, numbers: Sequence[int]) -> Sequence[PullFact]:
        """Return pulls by number."""
        ordered = sorted({number for number in numbers if 0 < number < _LARGEST})
        if ordered and ordered[-1] - ordered[0] + 1 == len(ordered):
            return self.pulls_between(ordered[0], ordered[-1])
        found: list[PullFact] = []
        for start in range(0, len(ordered), _MANY):
            part = ordered[start : start + _MANY]
            found += self._pulls(schema.pulls.c.number.in_(part))
        return found

    def pulls_between(self, first: int, last: int) -> Sequence[PullFact]:
        """Return a stretch of pulls."""
        return self._pulls(schema.pulls.c.number.between(first, last))

    def pulls_with_errors(self, first: int, last: int) -> Sequence[PullFact]:
        """Return those of a stretch of pulls that say what went wrong."""
        numbers = schema.pulls.c.number
        return self._pulls(sa.and_(numbers.between(first, last), schema.pulls.c.error.is_not(None)))

    def pulls_of_arm(self, arm: int, first: int, last: int) -> Sequence[PullFact]:
        """Return a stretch of one arm's pulls."""
        return self._pulls(
            sa.and_(schema.pulls.c.arm == arm, schema.pulls.c.ordinal.between(first, last))
        )

    def pulls_at(self, places: Sequence[tuple[int, int]]) -> Sequence[PullFact]:
        """Return pulls by arm and ordinal."""
        place, found = sa.tuple_(schema.pulls.c.arm, schema.pulls.c.ordinal), list[PullFact]()
        for start in range(0, len(places), _MANY):
            found += self._pulls(place.in_(places[start : start + _MANY]))
        return sorted(found, key=lambda pull: pull.number)

    def harvest(self, first: int, last: int) -> Harvest:
        """Return what became of a stretch of pulls."""
        width = len(self.definition.metrics)
        return harvest_between(
            self._connection, self._study, width, first, last,
            has_hours="every" in self.definition.blocks,
            has_paid=self.definition.learns_prices,
        )  # fmt: skip

    def survey(self, first: int, last: int) -> Survey | None:
        """Return all facts of a stretch of pulls."""
        width = len(self.definition.metrics)
        return survey_between(self._connection, self._study, width, first, last)

    def extras(self) -> Mapping[int, Mapping[str, float]]:
        """Return further numbers of observations."""
        columns = schema.pulls.c
        query = (
            sa.select(columns.number, columns.extras)
            .where(columns.study == self._study, columns.extras.is_not(None))
            .order_by(columns.number)
        )
        rows = self._connection.execute(query)
        return {number: extras_of(f"pull {number}", text) for number, text in rows}

    def expired(self, now: float, most: int) -> Sequence[PullFact]:
        """Return issued pulls whose lease has run out."""
        columns = schema.pulls.c
        over = sa.and_(columns.state == sa.literal_column("'issued'"), columns.deadline <= now)
        return self._pulls(over, most)

    def leases(self) -> Mapping[str | None, float]:
        """Return the latest deadline of each holder's issued pulls, and under None that of all."""
        found = self._connection.execute(_LATEST_DEADLINES, {"study": self._study})
        return {holder: deadline for holder, deadline in found if deadline is not None}

    def _pulls(self, which: Any, most: int | None = None) -> list[PullFact]:
        query = (
            sa.select(schema.pulls)
            .where(schema.pulls.c.study == self._study, which)
            .order_by(schema.pulls.c.number)
        )
        if most is not None:
            query = query.limit(most)
        return [pull_of(row) for row in self._connection.execute(query).mappings()]

    def add_pulls(self, fresh: Iterable[PullFact]) -> None:
        """Write pulls that were not there."""
        rows = [{"study": self._study, **pull_row(pull)} for pull in fresh]
        if rows:
            self._connection.execute(sa.insert(schema.pulls), rows)

    def set_pulls(self, changed: Iterable[PullFact]) -> None:
        """Write what became of pulls."""
        rows = []
        for pull in changed:
            row = pull_row(pull)
            rows.append({f"new_{key}": row[key] for key in _CHANGES} | {"which": pull.number})
        if rows:
            update = (
                sa.update(schema.pulls)
                .where(
                    schema.pulls.c.study == self._study,
                    schema.pulls.c.number == sa.bindparam("which"),
                )
                .values({key: sa.bindparam(f"new_{key}") for key in _CHANGES})
            )
            self._connection.execute(update, rows)

    def past(self, start: int = 0) -> Sequence[PastFact]:
        """Return observations that were brought along."""
        query = (
            sa.select(schema.past)
            .where(schema.past.c.study == self._study, schema.past.c.place >= start)
            .order_by(schema.past.c.place)
        )
        found = []
        for row in self._connection.execute(query).mappings():
            values = numbers_of(f"observation {row['place']} brought along", row["values"])
            found.append(PastFact(row["arm"], values, row["label"], row["after"]))
        return found

    def brought(self) -> int:
        """Return how many there are."""
        last = sa.select(sa.func.max(schema.past.c.place)).where(schema.past.c.study == self._study)
        found = self._connection.execute(last).scalar()
        return 0 if found is None else int(found) + 1

    def add_past(self, fresh: Iterable[PastFact]) -> None:
        """Write observations that were brought along."""
        start = self.brought()
        rows = [
            {
                "study": self._study,
                "place": start + place,
                "arm": one.arm,
                "values": json.dumps(one.values),
                "label": one.label,
                "after": one.after,
            }
            for place, one in enumerate(fresh)
        ]
        if rows:
            self._connection.execute(sa.insert(schema.past), rows)

    def pardons(self) -> Sequence[Pardon]:
        """Return all pardons."""
        query = sa.select(schema.pardons).where(schema.pardons.c.study == self._study)
        rows = self._connection.execute(query.order_by(schema.pardons.c.place)).mappings()
        return [pardon_of(row) for row in rows]

    def add_pardon(self, fresh: Pardon) -> None:
        """Write a pardon after the others."""
        last = sa.select(sa.func.max(schema.pardons.c.place))
        found = self._connection.execute(last.where(schema.pardons.c.study == self._study)).scalar()
        row = {"study": self._study, "place": 0 if found is None else found + 1}
        self._connection.execute(sa.insert(schema.pardons), row | pardon_row(fresh))

    def tally(self) -> Tally | None:
        """Return the latest tally."""
        mine = schema.tallies.c.study == self._study
        row = self._connection.execute(sa.select(schema.tallies).where(mine)).first()
        return None if row is None else Tally(row.through, bytes(row.content))

    def set_tally(self, tally: Tally) -> None:
        """Write a tally over the last one."""
        table, row = schema.tallies, vars(tally)
        done = self._connection.execute(sa.update(table).where(table.c.study == self._study), row)
        if not done.rowcount:
            self._connection.execute(sa.insert(table), {"study": self._study, **row})

    def items(self, numbers: Sequence[int]) -> Sequence[Any]:
        """Return items by number."""
        columns, found = schema.items.c, dict[int, Any]()
        wanted = sorted({*numbers})
        for start in range(0, len(wanted), _MANY):
            query = sa.select(columns.number, columns.content).where(
                columns.study == self._study, columns.number.in_(wanted[start : start + _MANY])
            )
            found |= {row.number: row.content for row in self._connection.execute(query)}
        if missing := [number for number in wanted if number not in found]:
            raise DamagedError(f"item {missing[0]} is not there")
        return [item_of(number, found[number]) for number in numbers]

    def kept(self, kind: str, key: str) -> Kept | None:
        """Return what was kept under this key."""
        columns = schema.kept.c
        query = sa.select(columns.content).where(
            columns.study == self._study, columns.kind == kind, columns.key == key
        )
        content = self._connection.execute(query).scalar()
        return None if content is None else Kept(kind, key, bytes(content))

    def delete(self) -> None:
        """Remove the study with all its facts."""
        for table in _FACTS:
            self._connection.execute(sa.delete(table).where(table.c.study == self._study))
        mine = schema.studies.c.id == self._study
        self._connection.execute(sa.delete(schema.studies).where(mine))


def _version(connection: Connection) -> str | None:
    if not sa.inspect(connection).has_table(schema.VERSION_TABLE):
        return None
    table = sa.table(schema.VERSION_TABLE, sa.column("version_num"))
    return connection.execute(sa.select(table.c.version_num)).scalar()


def migrations_on(connection: Connection) -> "Config":
    """Return what alembic needs to run our migrations on a connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


def _upgrade(connection: Connection) -> None:
    from alembic import command

    command.upgrade(migrations_on(connection), schema.HEAD)
