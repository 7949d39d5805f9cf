"""What a pull took of the budget, in studies whose prices are learned."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Make the column; in no study of before were prices learned."""
    op.add_column("ringfence_pulls", sa.Column("paid", sa.BigInteger))
