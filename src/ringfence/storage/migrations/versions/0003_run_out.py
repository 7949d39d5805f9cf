"""Leases that ran out: how many of a pull's, apart from those that were given back or failed."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the count; of pulls of before it is not known, and begins anew."""
    count = sa.Column("run_out", sa.Integer, nullable=False, server_default=sa.text("0"))
    op.add_column("ringfence_pulls", count)
