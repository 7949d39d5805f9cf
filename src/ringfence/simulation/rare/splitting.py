"""How likely an error is, without a notion of where it comes from: multilevel splitting.

All normals of a replication are one point; the further a point must be moved out from the origin
before it is an error, the further it is from one. Points are drawn, the nearest fifth are kept and
moved about at random so long as they stay that near, and so on, level by level, until they are
errors; the shares that were kept multiply. It is rough, but it knows no modes: a mode that
importance sampling missed shows up here. Gaussian noise and phase policies only. May touch core,
policies and simulation.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.errors import InputError
from ringfence.core.streams import Generator, chunk_streams
from ringfence.simulation.cpu import run_course
from ringfence.simulation.draws import draw_gaussian_block
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.laws import GaussianLaw
from ringfence.simulation.rare.mixture import look
from ringfence.simulation.rare.modes import phase_stages
from ringfence.simulation.rare.tilts import require_modes
from ringfence.simulation.records import Recording

GROUPS = 8
_LEAST_POINTS, _MOST_POINTS = 100, 300
_WORK = 20_000  # blocks of a group
_KEPT = 0.2
_MOVES = 6
_STRETCHES = 1.15 ** np.arange(35)  # from 1 to more than a hundred
_HALVINGS = 6
_MOST_LEVELS = 400


class PointRecord(NamedTuple):
    """The normals of every block [replication, stage, arm, normal], to be played out."""

    number: Integers
    starts: Integers
    normals: Floats
    totals: Floats
    noise: Floats
    everyone: Mask
    block: Floats


def forget_points(record: PointRecord) -> None:
    """Go on to the next replication."""
    record.number[0] += 1
    record.totals[:] = 0.0


def play_block(
    rng: Generator,
    arrays: Any,
    arm: int,
    count: int,
    pulls: int,
    record: PointRecord,
    scratch: Floats,
) -> None:
    """Add the block that the given normals make."""
    stage = record.starts.shape[0] - 1
    while record.starts[stage] > count:
        stage -= 1
    for d in range(record.noise.shape[0]):
        record.noise[d, 0] = record.normals[record.number[0], stage, arm, d]
    draw_gaussian_block(rng, arrays, record.noise, record.everyone, arm, pulls, record.block)
    for c in range(record.totals.shape[1]):
        record.totals[arm, c] += record.block[c, 0]


@dataclass(frozen=True)
class Split:
    """What independent groups of points say of the logarithm of the probability."""

    logs: tuple[float, ...]

    @property
    def error_rate(self) -> float:
        """The mean over groups."""
        return float(np.mean(np.exp(self.logs)))

    @property
    def relative_error(self) -> float:
        """The standard error over the estimate, from the groups' spread."""
        rates = np.exp(self.logs)
        mean = float(rates.mean())
        if mean <= 0.0:
            return math.inf
        return float(rates.std(ddof=1) / math.sqrt(len(rates)) / mean)


def can_split(experiment: Experiment) -> bool:
    """Tell whether an experiment's replications are points."""
    known = isinstance(experiment.instance.law, GaussianLaw) and not experiment.estimated
    plain = not experiment.is_adaptive and not experiment.is_relative
    return known and plain and experiment.question.is_like(BEST_FEASIBLE)


def require_split(experiment: Experiment) -> None:
    """Refuse what splitting cannot do."""
    require_modes(experiment.instance, "splitting")
    if not can_split(experiment):
        raise InputError(
            "method = 'splitting' takes gaussian noise, known scales and a policy with phases. Use "
            "method = 'importance' or 'monte-carlo'."
        )


def points_of(experiment: Experiment) -> int:
    """Return how many points make a group: fewer where replications are long."""
    blocks = len(experiment.instance.arms) * len(experiment.phases)
    return max(_LEAST_POINTS, min(_MOST_POINTS, _WORK // blocks))


def split(experiment: Experiment, seed: int, group: int) -> float:
    """Return the logarithm of the error probability that one group of points finds."""
    return _Group(experiment, seed, group).run(points_of(experiment))


@dataclass(frozen=True, eq=False)
class _Group:
    experiment: Experiment
    seed: int
    group: int

    @cached_property
    def streams(self) -> tuple[Generator, Generator]:
        """The group's own streams."""
        name = crc32(repr((self.experiment.policy.name, "splitting")).encode())
        return chunk_streams(self.seed, self.experiment.budget, self.group, schedule=name)

    @cached_property
    def starts(self) -> Integers:
        """The stages' starts."""
        return phase_stages(self.experiment).starts

    def run(self, count: int) -> float:
        """Go from level to level."""
        rng = self.streams[0]
        law = self.experiment.instance.law
        points = rng.standard_normal((count, len(self.starts), len(law.means), law.normals))
        stretches = self.stretches(points, math.inf)
        log, reach = 0.0, 0.6
        for _ in range(_MOST_LEVELS):
            level = max(1.0, float(np.quantile(stretches, _KEPT)))
            near = np.flatnonzero(stretches <= level)
            if not np.isfinite(level) or len(near) == 0:
                return -math.inf
            log += math.log(len(near) / count)
            if level <= 1.0:
                return log
            chosen = near[rng.integers(0, len(near), count)]
            points, stretches = points[chosen], stretches[chosen]
            reach = self.move(points, stretches, level, reach)
        return -math.inf

    def move(self, points: Floats, stretches: Floats, level: float, reach: float) -> float:
        """Move points about within a level, in place; return a step that is about right."""
        rng = self.streams[0]
        for _ in range(_MOVES):
            fresh = rng.standard_normal(points.shape)
            tried = math.sqrt(1.0 - reach**2) * points + reach * fresh
            theirs = self.stretches(tried, level)
            taken = theirs <= level
            points[taken], stretches[taken] = tried[taken], theirs[taken]
            reach = min(0.95, max(0.02, reach * math.exp(taken.mean() - 0.35)))
        return reach

    def stretches(self, points: Floats, most: float) -> Floats:
        """Return by how much each point must be stretched to be an error; infinity if beyond."""
        found = np.full(len(points), math.inf)
        before = np.ones(len(points))
        for stretch in _STRETCHES[most >= _STRETCHES]:
            open_ = np.flatnonzero(~np.isfinite(found))
            wrong = self.are_wrong(points[open_], np.full(len(open_), stretch))
            found[open_[wrong]] = stretch
            before[open_[~wrong]] = stretch
        if np.isfinite(most):  # between the last that was tried and the level itself
            open_ = np.flatnonzero(~np.isfinite(found))
            wrong = self.are_wrong(points[open_], np.full(len(open_), most))
            found[open_[wrong]] = most
        halved = np.flatnonzero(np.isfinite(found) & (found > before))
        for _ in range(_HALVINGS):
            middle = 0.5 * (before[halved] + found[halved])
            wrong = self.are_wrong(points[halved], middle)
            found[halved[wrong]] = middle[wrong]
            before[halved[~wrong]] = middle[~wrong]
        return found

    def are_wrong(self, points: Floats, stretches: Floats) -> Mask:
        """Tell which stretched points are errors."""
        if len(points) == 0:
            return np.zeros(0, np.bool_)
        experiment, law = self.experiment, self.experiment.instance.law
        width = law.means.shape[1]
        record = PointRecord(
            number=np.array([-1]),
            starts=self.starts,
            normals=points * stretches[:, None, None, None],
            totals=np.zeros(law.means.shape),
            noise=np.zeros((law.normals, 1)),
            everyone=np.ones((len(law.means), 1), np.bool_),
            block=np.zeros((width, 1)),
        )
        tally = experiment.empty_tally(len(points))
        recording = Recording(lambda *_: record, forget_points, play_block, look)
        run_course(experiment, self.streams, tally, recording, law.arrays)
        return tally.wrong
