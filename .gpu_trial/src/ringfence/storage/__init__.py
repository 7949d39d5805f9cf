"""Remembering: the facts of studies in memory, in SQLite or in PostgreSQL.

Fills the ports that study defines. May touch study, core, and the database that was named.
"""
