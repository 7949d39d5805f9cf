"""The ways in which a policy can err, as drifts of the pulls that make it do so.

A mode drifts every arm's pulls stage by stage. Stages are stretches of an arm's own pulls: a phase
policy's phases, or doublings for a policy that chooses its pulls. The first mode is no drift at
all. Modes come from the cost function: the best arm looks infeasible, others look better than it,
or none is feasible and one seems to be; at the end, or early, while pulls are few. May touch core
and simulation.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.drifts import (
    beating_drift,
    energy_of,
    failing_drift,
    nearing_drift,
    passing_drift,
    sum_drift,
)
from ringfence.core.gaps import margin
from ringfence.core.oracle import Truth
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance

_WINDOW = 12.0  # nats by which a mode may be dearer than the cheapest of the whole budget
_EARLY_RIVALS = 2
_SUM = "has a better sum of objective and constraints"
_RETREATS = np.concatenate([np.linspace(0.0, 2.0, 11), np.geomspace(2.5, 30.0, 6)])
_FIXED = 1e12  # pulls of an arm that cannot be moved
_DESERTIONS = (3.0, 8.0)  # nats at which the best arm may be deserted


@dataclass(frozen=True, eq=False)
class Mode:
    """A way to err, in words, with its drift [stage, arm, attribute].

    `energy` is what it costs to bring the answer to the brink; it is exact where the drift is of
    all pulls and leads to an error for sure.
    """

    what: str
    drift: Floats
    energy: float
    is_exact: bool = False


@dataclass(frozen=True, eq=False)
class Stages:
    """Stretches of an arm's pulls: stage s begins when it has had starts[s] of them.

    `keeps` are the arms that a phase policy keeps after each stage; a policy that chooses its
    pulls drops none. `pulls[arm]` is what an arm gets in all, if it is never dropped.
    """

    starts: Integers
    keeps: tuple[int, ...]
    pulls: Floats

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.starts)

    def until(self, stage: int) -> Floats:
        """Return how many pulls each arm has had after a stage."""
        ends = [*self.starts[1:].tolist(), math.inf]
        return np.minimum(self.pulls, float(ends[stage]))


def phase_stages(experiment: Experiment) -> Stages:
    """Return the phases of a phase policy as stages."""
    pulls = [phase.pulls for phase in experiment.phases]
    starts = np.concatenate([[0], np.cumsum(pulls)[:-1]])
    phases = [place for place, pull in enumerate(pulls) if pull > 0]
    arm_count = len(experiment.instance.arms)
    return Stages(
        starts=starts[phases].astype(np.int64),
        keeps=tuple(experiment.phases[place].keep for place in phases),
        pulls=np.full(arm_count, float(sum(pulls))),
    )


def doubling_stages(experiment: Experiment, mean_pulls: Floats) -> Stages:
    """Return stages that double, for a policy that gives arms so many pulls on average."""
    starts = [0, experiment.warm_up]
    while 2 * starts[-1] < experiment.budget:
        starts.append(2 * starts[-1])
    arm_count = len(mean_pulls)
    return Stages(np.array(starts), (arm_count,) * len(starts), mean_pulls)


def modes_of(instance: Instance, stages: Stages) -> list[Mode]:
    """Return the modes worth drawing from, the undrifted law first."""
    truth, last = instance.truth, stages.count - 1
    by_stage = [_modes_until(truth, instance.arms, stages, stage) for stage in range(last + 1)]
    found = [mode for modes in by_stage for mode in modes]
    if stages.keeps[0] == len(truth.means):
        found += _deserted(truth, instance.arms, stages)
    # Early modes are cheap, but do not always lead to an error: those of the whole budget do.
    sure = [mode.energy for mode in by_stage[last] if mode.is_exact]
    most = min(sure, default=math.inf) + _WINDOW
    shape = (stages.count, *truth.means.shape)
    return [
        Mode("by chance, without a drift", np.zeros(shape), 0.0),
        *(mode for mode in found if mode.energy <= most),
    ]


def _modes_until(truth: Truth, names: tuple[str, ...], stages: Stages, stage: int) -> list[Mode]:
    """Return the modes that drift pulls up to the end of a stage."""
    pulls, keep = stages.until(stage), stages.keeps[stage]
    is_last = stage == stages.count - 1
    drifts = _own_drifts(truth, names, is_last=is_last)
    pairs = _pair_drifts(truth, pulls)
    rivals = sorted(pairs, key=lambda arm: energy_of(pairs[arm], truth, pulls))
    if is_last or keep == len(truth.means):
        shown = rivals if is_last else rivals[:_EARLY_RIVALS]
        drifts += [(f"{names[arm]} looks better", pairs[arm]) for arm in shown]
    if not is_last and 0 < keep <= len(rivals):
        # To drop the best arm, about as many as are kept must look better than it.
        drifts += [(f"{keep} arms look better", drift) for drift in _joined(truth, pulls, keep)]
    if is_last:
        drifts += _sum_drifts(truth, names, pulls)
    when = "" if is_last else f" in its first {int(pulls.max())} pulls"
    cut = pulls < stages.pulls
    return [
        Mode(what + when, _spread(drift, stages, stage), energy, is_last and _SUM not in what)
        for what, drift in drifts
        if is_last or drift[cut].any()  # else it is the mode of the last stage again
        if (energy := energy_of(drift, truth, pulls)) > 0.0
    ]


def _deserted(truth: Truth, names: tuple[str, ...], stages: Stages) -> list[Mode]:
    """Return modes of a policy that may desert the best arm, because it looks bad early on.

    It moves past the brink: by so much that few pulls are spent on it again. All the others may
    then go to an arm that is infeasible, and seems to be less so.
    """
    best, toward = truth.theory.optimal, _half_feasible(truth)
    what = f"{names[best]} looks bad early and is deserted"
    modes = []
    for alone in _retreats(truth):
        for stage in range(stages.count - 1):
            pulls = stages.until(stage)
            brink = energy_of(alone, truth, pulls)
            if pulls[best] >= stages.pulls[best] or brink <= 0.0:
                continue
            for energy in _DESERTIONS:
                if energy > brink:
                    drift = _spread(alone * math.sqrt(energy / brink), stages, stage)
                    modes += [Mode(what, drift, energy), Mode(what, drift + toward, energy)]
    return modes


def _retreats(truth: Truth) -> list[Floats]:
    """Return moves of the best arm alone: to each threshold, and to the nearest other arm."""
    found = [_retreat(truth)]
    if truth.theory.feasible:
        found += [failing_drift(truth, c) for c in range(len(truth.thresholds))]
    return [drift for drift in found if drift is not None]


def _retreat(truth: Truth) -> Floats | None:
    """Return the move of the best arm alone to where the nearest other arm is."""
    pulls = np.full(len(truth.means), _FIXED)
    pulls[truth.theory.optimal] = 1.0
    pairs = list(_pair_drifts(truth, pulls).values())
    if not pairs:
        return None
    nearest = min(pairs, key=lambda drift: energy_of(drift, truth, pulls))
    alone = np.zeros_like(nearest)
    alone[truth.theory.optimal] = nearest[truth.theory.optimal]
    return alone if alone.any() else None


def _half_feasible(truth: Truth) -> Floats:
    """Return half of the move that makes the nearest infeasible arm feasible; or none."""
    ones = np.ones(len(truth.means))
    found = [
        passing_drift(truth, arm)
        for arm, theory in enumerate(truth.theory.arms)
        if theory.margin > 0.0
    ]
    drifts = [drift for drift in found if drift is not None]
    if not drifts:
        return np.zeros_like(truth.means)
    return 0.5 * min(drifts, key=lambda drift: energy_of(drift, truth, ones))


def _own_drifts(truth: Truth, names: tuple[str, ...], *, is_last: bool) -> list[tuple[str, Floats]]:
    """Return the drifts that change whether an arm looks feasible, in words."""
    found: list[tuple[str, Floats | None]] = []
    if truth.theory.feasible:
        what = f"{names[truth.theory.optimal]} seems to break constraint"
        count = len(truth.thresholds)
        found = [(f"{what} {c + 1}", failing_drift(truth, c)) for c in range(count)]
    elif is_last:
        found = [
            (f"{name} looks feasible", passing_drift(truth, arm)) for arm, name in enumerate(names)
        ]
    return [(what, drift) for what, drift in found if drift is not None]


def _sum_drifts(truth: Truth, names: tuple[str, ...], pulls: Floats) -> list[tuple[str, Floats]]:
    """Return the drifts by which other arms have a better sum of attributes than the best one."""
    best_n = float(pulls[truth.theory.optimal])
    found = [
        (f"{name} {_SUM}", sum_drift(truth, arm, best_n, float(pulls[arm])))
        for arm, name in enumerate(names)
        if arm not in truth.theory.optimal_arms
    ]
    return [(what, drift) for what, drift in found if drift is not None]


def _pair_drifts(truth: Truth, pulls: Floats) -> dict[int, Floats]:
    """Return the drifts by which each other arm looks better than the best one."""
    best = truth.theory.optimal
    found = {}
    for arm in range(len(truth.means)):
        if arm not in truth.theory.optimal_arms:
            move = beating_drift if truth.theory.feasible else nearing_drift
            drift = move(truth, arm, float(pulls[best]), float(pulls[arm]))
            if drift is not None:
                found[arm] = drift
    return found


def _joined(truth: Truth, pulls: Floats, count: int) -> list[Floats]:
    """Return the cheapest drifts by which so many arms look better than the best one.

    It retreats by some way, in each direction that it can, and those that are still behind come
    up to it; with the last of them, or another one in its place.
    """
    found = []
    for retreat in _retreats(truth):
        drifts: list[Floats] = []
        least = math.inf
        for share in _RETREATS:
            comings = _comings(truth, share * retreat, pulls)
            if len(comings) < count:
                continue
            sets = [[*comings[: count - 1], last] for last in comings[count - 1 : count + 2]]
            tried = [share * retreat + np.sum(one, axis=0) for one in sets]
            energy = energy_of(tried[0], truth, pulls)
            if energy < least:
                least, drifts = energy, tried
        found += drifts
    return found


def _comings(truth: Truth, retreat: Floats, pulls: Floats) -> list[Floats]:
    """Return the drifts by which others look better than a best arm in retreat, by cost."""
    best = truth.theory.optimal
    moved = replace(truth, means=truth.means + retreat)
    margins = [
        float(margin(moved.means, arm, moved.scales, moved.thresholds))
        for arm in range(len(moved.means))
    ]
    found = []
    for arm in range(len(moved.means)):
        if arm == best:
            continue
        if margins[best] <= 0.0:
            drift = beating_drift(moved, arm, _FIXED, float(pulls[arm]))
        elif margins[arm] <= 0.0:
            drift = np.zeros_like(moved.means)
        else:
            drift = nearing_drift(moved, arm, _FIXED, float(pulls[arm]))
        if drift is not None:
            found.append(drift)
    return sorted(found, key=lambda drift: energy_of(drift, truth, pulls))


def _spread(drift: Floats, stages: Stages, last: int) -> Floats:
    """Return a drift of every stage up to the last one given."""
    spread = np.zeros((stages.count, *drift.shape))
    spread[: last + 1] = drift
    return spread
