"""Items that pulls of different arms share, and the hour in which a pull was asked for."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0008"


def upgrade() -> None:
    """Make the table and the column; studies of before have neither."""
    owner = sa.ForeignKey("ringfence_studies.id", ondelete="CASCADE")
    op.create_table(
        "ringfence_items",
        sa.Column("study", sa.Integer, owner, primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True),
        sa.Column("content", sa.Text, nullable=False),
    )
    op.add_column("ringfence_pulls", sa.Column("block", sa.BigInteger))
