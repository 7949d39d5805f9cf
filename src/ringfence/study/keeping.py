"""Observations that are kept beside their sums, where an attribute cannot be shown without them.

May touch core.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.study.facts import Harvest

_FEW = 32  # stretches of kept observations, before they are made one


class Rows:
    """Observations that were kept, of the pulls up to number `read`. Never changed."""

    def __init__(self, read: int = 0, parts: tuple[tuple[Any, Any, Any], ...] = ()) -> None:
        """Keep nothing, or what others kept."""
        self.read, self.parts = read, parts

    def followed_by(self, harvest: Harvest, read: int) -> "Rows":
        """Return these and those that were told among further pulls, up to number `read`."""
        told = harvest.is_told
        part = (harvest.arms[told], harvest.ordinals[told], harvest.values[told])
        parts = (*self.parts, part)
        if len(parts) > _FEW:
            parts = (_joined(parts),)
        return Rows(read, parts)

    def by_arm(self, arm_count: int, width: int, broken: Mapping[int, int]) -> list[Floats]:
        """Return the observations of each arm up to the pull that broke it."""
        samples = [np.zeros((0, width))] * arm_count
        if self.parts:
            arms, ordinals, values = _joined(self.parts)
            for arm, mine in by_arm(arms, arm_count):
                good = mine[ordinals[mine] <= broken[arm]] if arm in broken else mine
                samples[arm] = values[good]
        return samples


def _joined(parts: Sequence[tuple[Any, Any, Any]]) -> tuple[Any, Any, Any]:
    arms, ordinals, values = zip(*parts, strict=True)
    return np.concatenate(arms), np.concatenate(ordinals), np.concatenate(values)


def by_arm(arms: Integers, arm_count: int) -> Iterator[tuple[int, Integers]]:
    """Yield each arm that occurs with its places, in order: by one sort, however many arms."""
    small = np.uint16 if arm_count <= 2**16 else np.int64  # short ones are sorted by digits
    order = np.argsort(arms.astype(small), kind="stable")
    ordered = arms[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1)).tolist()
    for start, stop in pairwise([*starts, len(order)]):
        yield int(ordered[start]), order[start:stop]
