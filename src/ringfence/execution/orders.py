"""What an evaluation is told of a pull. Values only; touches nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Order:
    """The arm and its own keys, the pull's number and its seed, and the item that it is on.

    `ordinal` counts the arm's pulls from 0; `item` is None where arms share none.
    """

    pull: int
    lease: int
    arm: str
    keys: Mapping[str, Any]
    seed: int
    item: Any = None
    ordinal: int = 0
