"""What was counted over replications, chunk by chunk. May touch core and tallies."""

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.simulation.tally import Tally


@dataclass(frozen=True, eq=False)
class Counts:
    """What was counted over replications; sums of chunks, in any order.

    `chosen` [arm, flag] counts the answers, infeasible first. `only_here_wrong` and
    `only_first_wrong` count the replications on which this policy and the first of a comparison
    differ.
    """

    replications: int
    errors: int
    wrong_flag: int
    lost_in_phase: Integers
    pulls: Floats
    chosen: Integers
    only_here_wrong: int
    only_first_wrong: int

    @classmethod
    def of(cls, tally: Tally, *, first: Tally | None = None) -> "Counts":
        """Count a chunk, beside the first policy's on the same random numbers if there is one."""
        other = tally.wrong if first is None else first.wrong
        return cls(
            replications=len(tally.wrong),
            errors=int(tally.wrong.sum()),
            wrong_flag=int(tally.flag_wrong.sum()),
            lost_in_phase=tally.lost_in_phase,
            pulls=tally.pulls.astype(np.float64),
            chosen=tally.chosen,
            only_here_wrong=int((tally.wrong & ~other).sum()),
            only_first_wrong=int((other & ~tally.wrong).sum()),
        )

    def __add__(self, more: "Counts") -> "Counts":
        return Counts(**{key: value + getattr(more, key) for key, value in vars(self).items()})


def chunk_sizes(replications: int, size: int) -> Iterator[int]:
    """Yield how many replications each chunk runs."""
    for start in range(0, replications, size):
        yield min(size, replications - start)


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum of at least one chunk's counts."""
    return reduce(operator.add, counts)
