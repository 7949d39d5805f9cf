"""Waits for a database that is away, by saying the same to it again and again.

Touches its arguments only.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from ringfence.core.errors import StorageAwayError
from ringfence.execution.interrupts import held_off

PATIENCE_SECONDS = 300.0
_NAP_SECONDS = 0.05
_LONGEST_NAP_SECONDS = 1.0
_Found = TypeVar("_Found")


def patiently(
    act: Callable[[], _Found],
    *,
    seconds: float = PATIENCE_SECONDS,
    away: Callable[[StorageAwayError], None] | None = None,
) -> _Found:
    """Do it, again and again while the database is away, for so long; `away` hears of it.

    An interrupt waits until it is done: a lease that nobody knows of is not given back, and what
    is left in the middle of a transaction may keep a database locked.
    """
    until, nap = time.monotonic() + seconds, _NAP_SECONDS
    while True:
        try:
            with held_off():
                return act()
        except StorageAwayError as error:
            if time.monotonic() > until:
                raise
            if away is not None:
                away(error)
        time.sleep(nap)
        nap = min(2.0 * nap, _LONGEST_NAP_SECONDS)
