"""Every kind of storage, as a place that can be opened many times."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ringfence.storage.memory import MemoryStorage
from ringfence.storage.sql import SqlStorage
from ringfence.study.ports import Storage
from tests.contracts.postgres import Server

SQL = ("sqlite", "postgresql")
KINDS = ("memory", *SQL)


@dataclass
class Place:
    """Where studies are kept; `url` is None in memory, which cannot be opened anew."""

    kind: str
    url: str | None
    _opened: list[SqlStorage] = field(default_factory=list)
    _memory: MemoryStorage = field(default_factory=MemoryStorage)

    def open(self) -> Storage:
        """Return a storage with connections of its own, as another process would have."""
        if self.url is None:
            return self._memory
        self._opened.append(SqlStorage(self.url))
        return self._opened[-1]

    def close(self) -> None:
        """Close all connections."""
        for storage in self._opened:
            storage.close()
        self._opened.clear()


def make_place(request: pytest.FixtureRequest, kind: str, folder: Path) -> Place:
    """Return a place of one kind with nothing in it."""
    if kind == "sqlite":
        return Place(kind, f"sqlite:///{folder / 'studies.db'}")
    if kind == "postgresql":
        server: Server = request.getfixturevalue("postgres_server")
        return Place(kind, server.new_place())
    return Place(kind, None)


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Every kind of storage."""
    made = make_place(request, request.param, tmp_path)
    yield made
    made.close()


@pytest.fixture(params=SQL)
def sql_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Every database."""
    made = make_place(request, request.param, tmp_path)
    yield made
    made.close()
