"""What was counted over replications, chunk by chunk. May touch core and tallies."""

import operator
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.settling import NONE_FEASIBLE, OPEN
from ringfence.simulation.tally import Tally


@dataclass(frozen=True)
class Proofs:
    """How often an answer was `certified`, and wrongly so; and the pulls of every replication."""

    certified: int = 0
    wrong: int = 0
    pulls: Counter[int] = field(default_factory=Counter)

    @classmethod
    def of(cls, tally: Tally) -> "Proofs":
        """Count a chunk. That no arm is feasible is about the flag, and not about the arm."""
        flag_alone = tally.proven == NONE_FEASIBLE
        wrong = np.where(flag_alone, tally.flag_wrong, tally.wrong & (tally.proven != OPEN))
        return cls(
            certified=int(np.count_nonzero(tally.proven != OPEN)),
            wrong=int(wrong.sum()),
            pulls=Counter(tally.pulled.tolist()),
        )

    @property
    def mean_pulls(self) -> float:
        """The mean of the pulls of a replication."""
        return sum(pulls * times for pulls, times in self.pulls.items()) / self.pulls.total()

    def quantile(self, share: float) -> int:
        """Return the least number of pulls that this share of replications did not exceed."""
        seen, wanted = 0, share * self.pulls.total()
        for pulls in sorted(self.pulls):
            seen += self.pulls[pulls]
            if seen >= wanted:
                return pulls
        return 0

    def __add__(self, more: "Proofs") -> "Proofs":
        return Proofs(
            self.certified + more.certified, self.wrong + more.wrong, self.pulls + more.pulls
        )


@dataclass(frozen=True, eq=False)
class Counts:
    """What was counted over replications; sums of chunks, in any order.

    `chosen` [arm, flag] counts the answers, infeasible first. `only_here_wrong` and
    `only_first_wrong` count the replications on which this policy and the first of a comparison
    differ. `paid` is what all pulls cost, where that is drawn with them. `proofs` are counted where
    replications end when their answer is proven.
    """

    replications: int
    errors: int
    wrong_flag: int
    lost_in_phase: Integers
    pulls: Floats
    chosen: Integers
    only_here_wrong: int
    only_first_wrong: int
    paid: int = 0
    proofs: Proofs = field(default_factory=Proofs)

    @classmethod
    def of(cls, tally: Tally, *, first: Tally | None = None, proves: bool = False) -> "Counts":
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
            paid=int(tally.paid[0]),
            proofs=Proofs.of(tally) if proves else Proofs(),
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
