"""Answers that were paid for, kept in a file: a study that is begun anew need not ask again.

An answer is known by the arm with its keys, the item, which of the arm's answers to it this is, the
seed where there is no item, and how pulls are evaluated. So every answer serves a study once: an
arm's second pull on an item is another question. May touch core and the file that was named.
"""

import hashlib
import json
import math
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from ringfence.core.errors import InputError, StorageError
from ringfence.execution.orders import Order

_WAIT_SECONDS = 30.0
_SCHEMA = """
create table if not exists answers (
    key text primary key,
    arm text not null,
    item text,
    repeat integer not null,
    seed text,
    metrics text not null
) without rowid
"""


def key_of(order: Order, *, repeats: int, way: str) -> tuple[str, str | None, int, str | None]:
    """Return the hash by which an answer is known, and its item, repeat and seed, as texts.

    With items the seed is no part of it: studies of other seeds meet the same items.
    """
    item = None if order.item is None else json.dumps(order.item, sort_keys=True)
    repeat = 0 if item is None else order.ordinal % repeats
    seed = str(order.seed) if item is None else None
    known = [way, order.arm, dict(order.keys), item, repeat, seed]
    text = json.dumps(known, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest(), item, repeat, seed


class Cache:
    """The answers in one file, for the pulls of one study.

    `way` names how pulls are evaluated, `metrics` are those that an answer must have to be of use.
    """

    def __init__(
        self, path: Path, *, way: str, metrics: Sequence[str] = (), repeats: int = 1
    ) -> None:
        """Open the file, or make it."""
        self.path, self._way, self._metrics, self._repeats = path, way, tuple(metrics), repeats
        self._lock = threading.Lock()
        self.reused = 0
        try:
            self._file = sqlite3.connect(path, timeout=_WAIT_SECONDS, check_same_thread=False)
            with self._lock, self._file:
                self._file.execute("pragma journal_mode = wal")
                self._file.execute(_SCHEMA)
                self._file.execute("select key, metrics from answers limit 0")
        except sqlite3.Error as error:
            raise InputError(
                f"cache = {str(path)!r} is no file of answers: {error}. Give the path of a new "
                "file, such as answers.db."
            ) from None

    def find(self, order: Order) -> Mapping[str, Any] | None:
        """Return the answer of before, if there is one with all metrics."""
        key = key_of(order, repeats=self._repeats, way=self._way)[0]
        try:
            with (
                self._lock,
                closing(
                    self._file.execute("select metrics from answers where key = ?", (key,))
                ) as rows,
            ):
                row = rows.fetchone()
        except sqlite3.Error as error:
            raise self._lost(error) from None
        if row is None:
            return None
        found: dict[str, Any] = json.loads(row[0])
        if any(name not in found for name in self._metrics):
            return None
        self.reused += 1
        return found

    def keep(self, order: Order, metrics: Mapping[str, Any]) -> None:
        """Keep an answer; one that lacks a metric that is wanted now gives way, another stays."""
        plain = {str(name): _plain(value) for name, value in metrics.items() if _is_number(value)}
        key, item, repeat, seed = key_of(order, repeats=self._repeats, way=self._way)
        row = (key, order.arm, item, repeat, seed, json.dumps(plain))
        try:
            with self._lock, self._file:
                old = self._file.execute("select metrics from answers where key = ?", (key,))
                known = old.fetchone()
                if known is None or any(name not in json.loads(known[0]) for name in self._metrics):
                    self._file.execute("replace into answers values (?, ?, ?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            raise self._lost(error) from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _lost(self, error: sqlite3.Error) -> StorageError:
        return StorageError(
            f"cache = {str(self.path)!r} cannot be read or written: {error}. What was told to the "
            "study is safe: run it again, with another cache or none."
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and math.isfinite(value)


def _plain(value: Any) -> int | float:
    return int(value) if isinstance(value, Integral) else float(value)
