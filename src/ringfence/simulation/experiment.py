"""One policy, one instance, one budget: what is replicated, chunk by chunk, and what is counted.

A chunk is a fixed number of replications with streams of its own, so that its outcome depends on
the seed and its number alone. May touch core, policies and simulation.
"""

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, reduce
from zlib import crc32

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.errors import InputError
from ringfence.core.schedule import Phase, pulls_used
from ringfence.core.streams import Generator, chunk_streams
from ringfence.policies.policy import PhasePolicy
from ringfence.simulation.compilation import CompilationError
from ringfence.simulation.instance import Instance
from ringfence.simulation.kernels import MOST_LANES, Design, Tally, kernel_for

_CHUNK_WORK = 2**18
_MOST_CHUNK = 2**14
_LANE_WORK = 2**10
_LEAST_LANES = 8


@dataclass(frozen=True, eq=False)
class Counts:
    """What was counted over replications; sums of chunks, in any order.

    `only_here_wrong` and `only_first_wrong` count the replications on which this policy and the
    first of a comparison differ.
    """

    replications: int
    errors: int
    wrong_flag: int
    lost_in_phase: Integers
    pulls: Floats
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
            only_here_wrong=int((tally.wrong & ~other).sum()),
            only_first_wrong=int((other & ~tally.wrong).sum()),
        )

    def __add__(self, more: "Counts") -> "Counts":
        return Counts(**{key: value + getattr(more, key) for key, value in vars(self).items()})


@dataclass(frozen=True)
class Experiment:
    """A policy on an instance at a budget. With `shared`, dead arms are drawn too.

    Policies on the same schedule then see identical pulls for the same seed.
    """

    instance: Instance
    policy: PhasePolicy
    budget: int
    shared: bool = False
    phases: tuple[Phase, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Cut the budget into phases, or refuse it."""
        phases = self.policy.phases(len(self.instance.arms), self.budget)
        object.__setattr__(self, "phases", phases)
        object.__setattr__(self, "budget", int(self.budget))

    @property
    def pulls_used(self) -> int:
        """The pulls that the schedule spends."""
        return pulls_used(len(self.instance.arms), self.phases)

    @property
    def blocks(self) -> int:
        """How many blocks of pulls one replication draws at the most."""
        return len(self.instance.arms) * len(self.phases)

    @property
    def lanes(self) -> int:
        """How many replications run side by side: fewer where arms are many, to stay in cache."""
        return max(_LEAST_LANES, min(MOST_LANES, _LANE_WORK // len(self.instance.arms)))

    @property
    def chunk_size(self) -> int:
        """How many replications make a chunk: fewer where one costs more, whatever the machine.

        It is the same for every policy, so that a result does not depend on what it is compared
        with.
        """
        law, arm_count = self.instance.law, len(self.instance.arms)
        work = arm_count**2 * (2 + law.normals) + self.budget * law.draws_samples
        size: int = 2 ** (_CHUNK_WORK // work).bit_length()
        return max(self.lanes, min(_MOST_CHUNK, size))

    @cached_property
    def design(self) -> Design:
        """The experiment as arrays."""
        law, theory = self.instance.law, self.instance.hardness
        optimal = np.zeros(len(self.instance.arms), np.bool_)
        optimal[list(theory.optimal_arms)] = True
        return Design(
            phases=np.array(self.phases, dtype=np.int64),
            scales=self.instance.scales,
            thresholds=self.instance.problem.thresholds - law.origin[1:],
            optimal=optimal,
            feasible=theory.feasible,
            shuffled=law.has_ties or any(phase.extra for phase in self.phases),
            shared=self.shared,
            lanes=self.lanes,
        )

    def empty_tally(self, replications: int) -> Tally:
        """Return a tally with nothing counted."""
        return Tally(
            wrong=np.zeros(replications, np.bool_),
            flag_wrong=np.zeros(replications, np.bool_),
            lost_in_phase=np.zeros(len(self.phases), np.int64),
            pulls=np.zeros(len(self.instance.arms), np.int64),
            misjudged=np.zeros(1, np.int64),
        )

    def streams(self, seed: int, chunk: int) -> tuple[Generator, Generator]:
        """Return the streams of a chunk, the same for every policy on this schedule."""
        return chunk_streams(seed, self.budget, chunk, schedule=crc32(repr(self.phases).encode()))

    def require_sound(self, tally: Tally) -> None:
        """Refuse what a faulty rule produced: it must drop an arm that is still alive."""
        if tally.misjudged[0]:
            raise InputError(
                f"policy {self.policy.name!r}: its rule returned an arm that is not alive, "
                f"{tally.misjudged[0]} times. Mend the rule: it must return a survivor's index."
            )

    def run_chunk(self, seed: int, chunk: int, replications: int) -> Tally:
        """Run the first `replications` of a chunk, compiled."""
        tally = self.empty_tally(replications)
        law = self.instance.law
        kernel = kernel_for(
            self.policy.reject,
            law.draw_block,
            arm_count=len(self.instance.arms),
            attribute_count=len(self.design.scales),
            normals=law.normals,
        )
        try:
            kernel(*self.streams(seed, chunk), law.arrays, self.design, tally)
        except CompilationError as error:
            raise InputError(
                f"policy {self.policy.name!r}: its rule cannot be compiled. Write it with plain "
                f"loops and numbers, as in docs/skeleton_policy.py. The compiler says: {error}"
            ) from None
        self.require_sound(tally)
        return tally


def chunk_sizes(replications: int, size: int) -> Iterator[int]:
    """Yield how many replications each chunk runs."""
    for start in range(0, replications, size):
        yield min(size, replications - start)


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum of at least one chunk's counts."""
    return reduce(operator.add, counts)
