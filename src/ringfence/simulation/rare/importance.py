"""How likely an error is, however rare: pilots that find the modes, then one run of fixed size.

The first pilot draws from the modes of the cost function. Each mode that explains errors then gets
a companion that drifts as those errors did (a step of expectation and maximization, for blocks of
an exponential family: the weighed mean of what was pulled), and companions follow theirs in the
next. The last pilot says how much each mode contributes, and the run draws from them accordingly.
Only the run is reported: pooling it with pilots, or stopping when it looks precise, would be
biased. docs/explanation/rare-events.md explains. May touch core, policies and simulation.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias
from zlib import crc32

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.errors import InputError
from ringfence.core.streams import chunk_streams
from ringfence.simulation import cpu
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.rare.mixture import Mixture, Weighed
from ringfence.simulation.rare.modes import Mode, doubling_stages, modes_of, phase_stages
from ringfence.simulation.rare.tilts import require_tilts

LEAST_REPLICATIONS = 1000
_PILOTS = 4
_PILOT_SHARE = 0.05
_PLAIN_SHARE = 0.05
_FLOOR = 0.1
_LEAST_TO_FOLLOW = 0.003  # the share of errors that makes a mode worth a companion
_LEAST_EFFECTIVE = 5.0
_COURSES = 200  # plain replications that tell how a policy spends its pulls

RunMixture: TypeAlias = Callable[[Mixture, int, int], Weighed]
"""(mixture, round, replications) -> what they weigh; the round names the random streams."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """What the run said, with the mixture that it drew from."""

    mixture: Mixture
    weighed: Weighed

    @property
    def interval(self) -> tuple[float, float]:
        """A 95% interval, on the scale of logarithms; without errors it says nothing."""
        rate, error = self.weighed.error_rate, self.weighed.std_error
        if rate <= 0.0:
            return 0.0, 1.0
        factor = math.exp(1.96 * error / rate)
        return rate / factor, min(1.0, rate * factor)

    @property
    def effective_errors(self) -> float:
        """How many equally heavy errors the weighed ones are worth."""
        return self.weighed.weight**2 / self.weighed.squares if self.weighed.squares else 0.0

    @property
    def largest_share(self) -> float:
        """The largest share of one replication in the estimate."""
        return self.weighed.largest / self.weighed.weight if self.weighed.weight else 1.0

    @property
    def contributions(self) -> Floats:
        """The share of the error probability that each mode explains."""
        total = self.weighed.weight
        return self.weighed.by_mode / total if total else np.zeros(len(self.mixture.modes))


def estimate(experiment: Experiment, replications: int, *, seed: int, run: RunMixture) -> Estimate:
    """Return the estimate from a run of so many replications, after its pilots."""
    require_rare(experiment, replications)
    opened = mixture = opening(experiment, seed)
    for round_ in range(_PILOTS - 1):
        seen = run(mixture, round_, _pilot(replications))
        modes, shares = _with_companions(opened.modes, mixture, seen)
        mixture = Mixture.of(experiment, mixture.stages, modes, shares)
    last = run(mixture, _PILOTS - 1, _pilot(replications))
    mixture = replace(mixture, shares=_shares(last.by_mode))
    return Estimate(mixture, run(mixture, _PILOTS, replications))


def with_pilots(replications: int) -> int:
    """Return how many replications a run of so many takes with its pilots, for a progress bar."""
    return replications + _PILOTS * _pilot(replications)


def _pilot(replications: int) -> int:
    return max(LEAST_REPLICATIONS, int(_PILOT_SHARE * replications))


def require_rare(experiment: Experiment, replications: int) -> None:
    """Refuse what importance sampling cannot do."""
    require_tilts(experiment.instance)
    if experiment.estimated:
        raise InputError(
            "method = 'importance' needs scales = 'known'. Use method = 'monte-carlo' to estimate "
            "them."
        )
    if replications < LEAST_REPLICATIONS:
        raise InputError(
            f"replications = {replications} must be at least {LEAST_REPLICATIONS} for method = "
            "'importance'. Raise it."
        )
    if len(experiment.instance.hardness.optimal_arms) > 1:
        raise InputError(
            f"instance {experiment.instance.name!r} has several right answers; method = "
            "'importance' needs one. Use method = 'monte-carlo'."
        )


def opening(experiment: Experiment, seed: int) -> Mixture:
    """Return the mixture of the first pilot: every mode of the cost function alike."""
    if experiment.is_adaptive:
        tally = cpu.run_chunk(experiment, seed, 0, _COURSES)
        stages = doubling_stages(experiment, tally.pulls / _COURSES)
    else:
        stages = phase_stages(experiment)
    modes = modes_of(experiment.instance, stages)
    return Mixture.of(experiment, stages, modes, _shares(np.ones(len(modes))))


def run_chunk(mixture: Mixture, seed: int, round_: int, chunk: int, size: int) -> Weighed:
    """Run a chunk of a round; its streams are of its own."""
    experiment = mixture.experiment
    name = repr((experiment.policy.name, experiment.batch, experiment.growth, round_))
    streams = chunk_streams(seed, experiment.budget, chunk, schedule=crc32(name.encode()))
    return mixture.run_chunk(streams, size)


def _shares(contributions: Floats) -> Floats:
    """Return how often each mode is drawn: by what it contributes, none too seldom."""
    total = float(contributions.sum())
    even = np.full(len(contributions), 1.0 / len(contributions))
    fair = contributions / total if total > 0.0 else even
    shares = (1.0 - _FLOOR) * fair + _FLOOR * even
    if shares[0] < _PLAIN_SHARE:
        shares[1:] *= (1.0 - _PLAIN_SHARE) / shares[1:].sum()
        shares[0] = _PLAIN_SHARE
    return shares


def _with_companions(
    opening_modes: tuple[Mode, ...], mixture: Mixture, seen: Weighed
) -> tuple[list[Mode], Floats]:
    """Return the modes of the opening, one more for each that explains errors, and shares."""
    modes = list(opening_modes)
    contributions = list(seen.by_mode[: len(modes)])
    for place, mode in _companions(mixture, seen):
        modes.append(mode)
        contributions.append(seen.by_mode[place])
    return modes, _shares(np.array(contributions))


def _companions(mixture: Mixture, seen: Weighed) -> Iterator[tuple[int, Mode]]:
    """Yield modes that drift as the errors of a mode did."""
    if seen.squares <= 0.0:  # no error, or too rare for numbers
        return
    effective = seen.weight**2 / seen.squares
    means = mixture.experiment.instance.means
    for place, mode in enumerate(mixture.modes):
        share = seen.by_mode[place] / seen.weight
        if share < _LEAST_TO_FOLLOW or share * effective < _LEAST_EFFECTIVE:
            continue
        pulls, sums = seen.pulls[place], seen.sums[place]
        drawn = pulls > 0.01 * pulls.max()
        drift = np.zeros_like(sums)
        own = np.broadcast_to(means, sums.shape)[drawn]
        drift[drawn] = sums[drawn] / pulls[drawn][:, None] - own
        yield place, replace(mode, drift=drift)
