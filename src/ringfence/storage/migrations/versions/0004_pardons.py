"""Pardons: what no longer counts, and since when. And further numbers of an observation."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table and the columns; no study of before has a pardon or further numbers."""
    owner = sa.ForeignKey("ringfence_studies.id", ondelete="CASCADE")
    op.create_table(
        "ringfence_pardons",
        sa.Column("study", sa.Integer, owner, primary_key=True),
        sa.Column("place", sa.BigInteger, primary_key=True),
        sa.Column("after", sa.BigInteger, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
    )
    count = sa.Column("pardons", sa.BigInteger, nullable=False, server_default=sa.text("0"))
    op.add_column("ringfence_studies", count)
    op.add_column("ringfence_pulls", sa.Column("extras", sa.Text))
