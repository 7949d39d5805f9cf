"""What every `make test` tries, and what waits for `make long`, which sets RINGFENCE_LONG.

A kernel is compiled for a rule and a law, in seconds, and there are many pairs. Rules and laws know
nothing of each other, and every rule is compared with its compiled self in tests/laws: every rule
with some law, and every law with some rule, is what must be tried each time.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

One = TypeVar("One")

LONG = bool(os.environ.get("RINGFENCE_LONG"))


def some_of(everything: Sequence[One], step: int = 8) -> Sequence[One]:
    """Return one in so many, or all of them where there is time."""
    return everything if LONG else everything[step // 2 :: step]


def first_of(everything: Sequence[One]) -> Sequence[One]:
    """Return the first alone, or all of them where there is time."""
    return everything if LONG else everything[:1]


def few_of(everything: Sequence[One], *few: One) -> Sequence[One]:
    """Return the few that are named, or all of them where there is time."""
    unknown = [one for one in few if one not in everything]
    assert not unknown, f"not among {everything}: {unknown}"
    return everything if LONG else few
