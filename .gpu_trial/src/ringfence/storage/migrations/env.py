"""Runs migrations on the connection that `sql.py` hands over; there is no other way in."""

from alembic import context

from ringfence.storage.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
)
with context.begin_transaction():
    context.run_migrations()
