"""What the contract suites share: a PostgreSQL server, and every kind of storage."""

from tests.contracts.places import place, sql_place
from tests.contracts.postgres import postgres_server

__all__ = ["place", "postgres_server", "sql_place"]
