"""The slow engine: one pull at a time, in plain Python and NumPy, with the same rules.

Nothing is summed ahead, nothing is compiled: it is what the compiled engine is checked against.
May touch core, policies and simulation.
"""

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.gaps import apparent_best, margin
from ringfence.core.streams import Generator
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.kernels import Tally


def run_chunk(experiment: Experiment, seed: int, chunk: int, replications: int) -> Tally:
    """Run the first `replications` of a chunk, pull by pull."""
    tally = experiment.empty_tally(replications)
    rng, order_rng = experiment.streams(seed, chunk)
    for replication in range(replications):
        _replicate(experiment, rng, order_rng, tally, replication)
    experiment.require_sound(tally)
    return tally


def _replicate(
    experiment: Experiment, rng: Generator, order_rng: Generator, tally: Tally, replication: int
) -> None:
    design, law = experiment.design, experiment.instance.law
    arm_count = len(experiment.instance.arms)
    sums, counts = np.zeros((arm_count, len(design.scales))), np.zeros(arm_count, np.int64)
    estimates = np.full_like(sums, np.nan)
    alive = np.ones(arm_count, np.bool_)
    priority = order_rng.permutation(arm_count)
    right = set(np.flatnonzero(design.optimal).tolist())
    rest = (design.scales, design.thresholds, priority)

    for place, phase in enumerate(experiment.phases):
        for arm in _by_priority(alive, priority):
            lucky = phase.extra > _ahead(arm, alive, priority)
            for _ in range(phase.pulls + lucky):
                sums[arm] += law.pull(rng, arm)
                counts[arm] += 1
        _estimate(estimates, sums, counts)
        while alive.sum() > phase.keep and experiment.policy.reject is not None:
            out = experiment.policy.reject(estimates, counts, alive, *rest)
            if out not in np.flatnonzero(alive):
                tally.misjudged[0] += 1
                break
            alive[out] = False
            if right and right.isdisjoint(np.flatnonzero(alive).tolist()):
                tally.lost_in_phase[place] += 1
                right = set()

    answer = apparent_best(estimates, alive, *rest)
    flag = margin(estimates, answer, design.scales, design.thresholds) <= 0.0
    if right and answer not in right:
        tally.lost_in_phase[-1] += 1
    tally.flag_wrong[replication] = flag != design.feasible
    tally.wrong[replication] = not design.optimal[answer] or flag != design.feasible
    tally.pulls[:] += counts


def _estimate(estimates: Floats, sums: Floats, counts: Integers) -> None:
    pulled = counts > 0
    estimates[pulled] = sums[pulled] / counts[pulled, None]


def _by_priority(alive: Mask, priority: Integers) -> list[int]:
    return sorted(np.flatnonzero(alive).tolist(), key=lambda arm: int(priority[arm]))


def _ahead(arm: int, alive: Mask, priority: Integers) -> int:
    return int((alive & (priority < priority[arm])).sum())
