"""Counts a policy's errors at a budget, no longer than it takes to see on which side of a target.

A replication of an adaptive policy that estimates the noise takes about a tenth of a millisecond,
and a plan needs a dozen budgets: most are far from the target, which few replications tell. May
touch every room.
"""

import math
from dataclasses import dataclass

from ringfence.core.errors import InputError
from ringfence.interfaces.rare import Hands
from ringfence.policies.policy import Policy
from ringfence.simulation.counts import Counts, total
from ringfence.simulation.engines import CPU
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.planning import Point
from ringfence.simulation.results import SimulationResult

LEAST_TARGET = 1e-3
_MOST_PLAIN = 2_000_000
_MOST_ADAPTIVE = 20_000
_FIRST_SHARE = 0.125  # of the replications, before the first look
_FAR = 4.0  # standard errors from what is expected at the target: more would tell nothing new


@dataclass(frozen=True)
class Wanted:
    """How sure a count is to be: so many errors where the error is the target.

    A `whole` count runs all its replications, whatever it sees: its interval is exact. One that may
    stop early is good enough to say where to look next.
    """

    target: float
    errors: int
    whole: bool = False

    def replications(self, policy: Policy) -> int:
        """Return how many replications that takes at the most."""
        most = _MOST_PLAIN if policy.has_phases else _MOST_ADAPTIVE
        return min(most, math.ceil(self.errors / self.target))


def require_countable(name: str, target: float) -> None:
    """Refuse a target so rare that counting would take too long."""
    if target < LEAST_TARGET:
        raise InputError(
            f"target_error = {target:g} is too small for {name!r}: its noise cannot be tilted or "
            "is estimated, several arms are right, or limits are relative, so errors must be "
            f"counted. Use {LEAST_TARGET:g} or more, or scales = 'known' and one right arm that is "
            "described by a family of noise, with limits that are numbers."
        )


def counted(experiment: Experiment, wanted: Wanted, hands: Hands) -> Point:
    """Return the error as counted."""
    replications = wanted.replications(experiment.policy)
    chunk = CPU.chunk_size(experiment)
    share = 1.0 if wanted.whole else _FIRST_SHARE
    seen: list[Counts] = []
    done = chunks = 0
    while True:
        wanted_chunks = math.ceil(share * replications / chunk)
        upto = min(replications, chunk * max(chunks + 1, wanted_chunks))
        seen.append(hands.count(experiment, upto - done, after=chunks))
        done, chunks, share = upto, math.ceil(upto / chunk), 2.0 * share
        counts = total(seen)
        if done == replications or _is_far(counts, wanted.target):
            return _point(experiment, counts, hands.seed)


def _point(experiment: Experiment, counts: Counts, seed: int) -> Point:
    plain = SimulationResult.of(experiment, counts, seed=seed, engine=CPU.name, seconds=0.0)
    error = max(plain.std_error, 1.0 / plain.replications)
    return Point(experiment.budget, plain.error_rate, error, plain.interval)


def _is_far(counts: Counts, target: float) -> bool:
    expected = target * counts.replications
    off = abs(counts.errors - expected)
    return off > _FAR * math.sqrt(min(expected, counts.errors + 1.0))
