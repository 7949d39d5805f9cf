"""What was worked out of a study and is kept, so that whoever opens it need not do so again."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0006"


def upgrade() -> None:
    """Make the table; nothing is lost where it is empty."""
    owner = sa.ForeignKey("ringfence_studies.id", ondelete="CASCADE")
    op.create_table(
        "ringfence_kept",
        sa.Column("study", sa.Integer, owner, primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
