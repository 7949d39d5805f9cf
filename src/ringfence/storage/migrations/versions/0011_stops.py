"""Studies that somebody stopped or put away, and since when."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Make the columns; no study of before is stopped or archived."""
    op.add_column("ringfence_studies", sa.Column("stopped_at", sa.Float))
    op.add_column("ringfence_studies", sa.Column("archived_at", sa.Float))
