"""Who holds a lease: the process, where one said so, and a way to find them."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column; of leases of before it is not known."""
    op.add_column("ringfence_pulls", sa.Column("holder", sa.Text))
    held = sa.text("state = 'issued' AND holder IS NOT NULL")
    op.create_index(
        "ringfence_holders",
        "ringfence_pulls",
        ["study", "holder", "deadline"],
        sqlite_where=held,
        postgresql_where=held,
    )
