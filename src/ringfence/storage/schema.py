"""The tables in which studies are kept, the same in SQLite and PostgreSQL.

All names begin with ours: others (Optuna, MLflow) may use the same database. A change here is a
migration in `migrations/versions`, and a new HEAD. May touch nothing else.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)

HEAD = "0013"
VERSION_TABLE = "ringfence_version"

metadata = MetaData()

studies = Table(
    "ringfence_studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("definition", Text, nullable=False),  # JSON
    Column("created_at", Float, nullable=False),
    # Where it stands: read and written in every transaction, so that they are one after the other.
    Column("budget", BigInteger, nullable=False),
    Column("round", BigInteger, nullable=False),
    Column("issued", BigInteger, nullable=False),
    Column("round_end", BigInteger, nullable=False),
    Column("unresolved", BigInteger, nullable=False),
    Column("charged", BigInteger, nullable=False),
    Column("finished", Boolean, nullable=False),
    Column("broken", Text, nullable=False),  # JSON
    Column("pardons", BigInteger, nullable=False, server_default=text("0")),
    Column("stopped_at", Float),
    Column("archived_at", Float),
    Column("stops", Text, nullable=False, server_default=text("'[]'")),  # JSON, see StopChange
)

rounds = Table(
    "ringfence_rounds",
    metadata,
    Column("study", ForeignKey("ringfence_studies.id", ondelete="CASCADE"), primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("first", BigInteger, nullable=False),
    Column("decided", Text, nullable=False),  # JSON
)

pulls = Table(
    "ringfence_pulls",
    metadata,
    Column("study", ForeignKey("ringfence_studies.id", ondelete="CASCADE"), primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("arm", Integer, nullable=False),
    Column("ordinal", BigInteger, nullable=False),
    Column("round", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("lease", Integer, nullable=False),
    Column("deadline", Float, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("run_out", Integer, nullable=False, server_default=text("0")),
    Column("holder", Text),
    Column("values", Text),  # JSON: one number a metric, in the definition's order
    Column("cost", Float),
    Column("error", Text),
    Column("charged", Boolean, nullable=False),
    Column("extras", Text),  # JSON: further numbers by name
    Column("block", BigInteger),  # the hour in which it was first asked for
    Column("paid", BigInteger),  # what it took of the budget, where prices are learned
)
# Leases that may have run out: only issued pulls are in it, however many were told.
Index(
    "ringfence_leases",
    pulls.c.study,
    pulls.c.deadline,
    sqlite_where=text("state = 'issued'"),
    postgresql_where=text("state = 'issued'"),
)
# Those of processes that said who they are: a few, however many pulls others hold.
Index(
    "ringfence_holders",
    pulls.c.study,
    pulls.c.holder,
    pulls.c.deadline,
    sqlite_where=text("state = 'issued' AND holder IS NOT NULL"),
    postgresql_where=text("state = 'issued' AND holder IS NOT NULL"),
)
Index("ringfence_ordinals", pulls.c.study, pulls.c.arm, pulls.c.ordinal, unique=True)

past = Table(
    "ringfence_past",
    metadata,
    Column("study", ForeignKey("ringfence_studies.id", ondelete="CASCADE"), primary_key=True),
    Column("place", BigInteger, primary_key=True),
    Column("arm", Integer, nullable=False),
    Column("values", Text, nullable=False),  # JSON
    Column("label", Text, nullable=False),
    Column("after", BigInteger, nullable=False),
)

# What pulls are evaluated on, as it was when the study was created: read by number.
items = Table(
    "ringfence_items",
    metadata,
    Column("study", ForeignKey("ringfence_studies.id", ondelete="CASCADE"), primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("content", Text, nullable=False),  # JSON
)

# What no longer counts from some decision on; granted by hand or after an outage, and seldom.
pardons = Table(
    "ringfence_pardons",
    metadata,
    Column("study", ForeignKey("ringfence_studies.id", ondelete="CASCADE"), primary_key=True),
    Column("place", BigInteger, primary_key=True),
    Column("after", BigInteger, nullable=False),
    Column("content", Text, nullable=False),  # JSON: arms, void, reopened
)

# One row a study, written with the decision of a round: what the pulls before it add up to.
tallies = Table(
    "ringfence_tallies",
    metadata,
    Column("study", ForeignKey("ringfence_studies.id", ondelete="CASCADE"), primary_key=True),
    Column("through", BigInteger, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

# What was worked out of facts by somebody who looked, with what it rests on as its key.
kept = Table(
    "ringfence_kept",
    metadata,
    Column("study", ForeignKey("ringfence_studies.id", ondelete="CASCADE"), primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("key", Text, nullable=False),
    Column("content", LargeBinary, nullable=False),
)
