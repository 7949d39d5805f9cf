"""Studies, rounds, pulls and past observations."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _study() -> sa.Column[int]:
    owner = sa.ForeignKey("ringfence_studies.id", ondelete="CASCADE")
    return sa.Column("study", sa.Integer, owner, primary_key=True)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "ringfence_studies",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("budget", sa.BigInteger, nullable=False),
        sa.Column("round", sa.BigInteger, nullable=False),
        sa.Column("issued", sa.BigInteger, nullable=False),
        sa.Column("round_end", sa.BigInteger, nullable=False),
        sa.Column("unresolved", sa.BigInteger, nullable=False),
        sa.Column("charged", sa.BigInteger, nullable=False),
        sa.Column("finished", sa.Boolean, nullable=False),
        sa.Column("broken", sa.Text, nullable=False),
    )
    op.create_table(
        "ringfence_rounds",
        _study(),
        sa.Column("number", sa.BigInteger, primary_key=True),
        sa.Column("first", sa.BigInteger, nullable=False),
        sa.Column("decision", sa.Text, nullable=False),
    )
    op.create_table(
        "ringfence_pulls",
        _study(),
        sa.Column("number", sa.BigInteger, primary_key=True),
        sa.Column("arm", sa.Integer, nullable=False),
        sa.Column("ordinal", sa.BigInteger, nullable=False),
        sa.Column("round", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("lease", sa.Integer, nullable=False),
        sa.Column("deadline", sa.Float, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("values", sa.Text),
        sa.Column("cost", sa.Float),
        sa.Column("error", sa.Text),
        sa.Column("charged", sa.Boolean, nullable=False),
    )
    issued = sa.text("state = 'issued'")
    op.create_index(
        "ringfence_leases",
        "ringfence_pulls",
        ["study", "deadline"],
        sqlite_where=issued,
        postgresql_where=issued,
    )
    op.create_index(
        "ringfence_ordinals", "ringfence_pulls", ["study", "arm", "ordinal"], unique=True
    )
    op.create_table(
        "ringfence_past",
        _study(),
        sa.Column("place", sa.BigInteger, primary_key=True),
        sa.Column("arm", sa.Integer, nullable=False),
        sa.Column("values", sa.Text, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("after", sa.BigInteger, nullable=False),
    )
