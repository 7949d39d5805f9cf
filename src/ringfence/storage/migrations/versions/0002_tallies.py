"""Tallies: what the pulls of a study add up to, so that they need not be read to open it."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table; studies of before have no tally until they decide again."""
    owner = sa.ForeignKey("ringfence_studies.id", ondelete="CASCADE")
    op.create_table(
        "ringfence_tallies",
        sa.Column("study", sa.Integer, owner, primary_key=True),
        sa.Column("through", sa.BigInteger, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
