"""What ends studies by proof, where that was said or changed after they were created."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Make the column; in no study of before was it changed."""
    nothing = sa.text("'[]'")
    op.add_column(
        "ringfence_studies", sa.Column("stops", sa.Text, nullable=False, server_default=nothing)
    )
