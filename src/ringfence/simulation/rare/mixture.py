"""Replications drawn from a mixture of modes, and the weight of each under the law itself.

Replications run in the body of all simulations: here a record draws each block from the law of the
replication's mode and keeps its sum, by stage and arm. The weight of a whole
replication is then 1 / sum_m share_m exp(l_m), with l_m the log-likelihood ratio of mode m over the
blocks that were drawn: it is bounded wherever some mode leads, and unbiased whatever the modes. May
touch core, policies and simulation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.streams import Generator
from ringfence.simulation.cpu import chunk_size, run_course
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.rare.modes import Mode, Stages
from ringfence.simulation.rare.tilts import Tilted, tilt
from ringfence.simulation.records import Recording
from ringfence.simulation.tally import Tally

_MOST_NUMBERS = 2**19  # in the blocks that one chunk keeps
_MOST_CHUNK = 2**12


class BlockRecord(NamedTuple):
    """Sums [replication, stage, arm, attribute] and pulls of every block.

    `number` is that of the replication under way, `modes` the mode of each.
    """

    number: Integers
    modes: Integers
    starts: Integers
    sums: Floats
    pulls: Integers
    totals: Floats
    noise: Floats
    everyone: Mask
    block: Floats


@dataclass(frozen=True, eq=False)
class Mixture:
    """Modes with the share of replications drawn from each; the first is the law itself."""

    experiment: Experiment
    stages: Stages
    modes: tuple[Mode, ...]
    shares: Floats
    tilted: Tilted

    @classmethod
    def of(
        cls, experiment: Experiment, stages: Stages, modes: list[Mode], shares: Floats
    ) -> "Mixture":
        """Tilt the law for every mode and stage."""
        drifts = np.concatenate([mode.drift for mode in modes])
        tilted = tilt(experiment.instance.law, drifts)
        return cls(experiment, stages, tuple(modes), shares, tilted)

    @property
    def chunk_size(self) -> int:
        """How many replications make a chunk."""
        numbers = self.tilted.slopes.size // len(self.modes)
        return max(1, min(_MOST_CHUNK, chunk_size(self.experiment), _MOST_NUMBERS // numbers))

    def run_chunk(self, streams: tuple[Generator, Generator], replications: int) -> "Weighed":
        """Run replications from the mixture, and weigh them."""
        cells, law = self.stages.count, self.experiment.instance.law
        arm_count, width = law.means.shape
        bounds = np.cumsum(self.shares)
        modes = np.searchsorted(bounds / bounds[-1], streams[1].random(replications), side="right")
        record = BlockRecord(
            number=np.array([-1]),
            modes=modes.astype(np.int64),
            starts=self.stages.starts,
            sums=np.zeros((replications, cells, arm_count, width)),
            pulls=np.zeros((replications, cells, arm_count), np.int64),
            totals=np.zeros((arm_count, width)),
            noise=np.zeros((law.normals, 1)),
            everyone=np.ones((len(self.tilted.levels), 1), np.bool_),
            block=np.zeros((width, 1)),
        )
        tally = self.experiment.empty_tally(replications)
        recording = Recording(lambda *_: record, forget_blocks, block_adder(law.draw_block), look)
        run_course(self.experiment, streams, tally, recording, self.tilted.arrays)
        return Weighed.of(self, record, tally)


def forget_blocks(record: BlockRecord) -> None:
    """Go on to the next replication."""
    record.number[0] += 1
    record.totals[:] = 0.0


@cache
def block_adder(draw_block: Callable[..., None]) -> Callable[..., None]:
    """Return the function that draws a block from the law of the replication's mode."""

    def add(
        rng: Generator,
        arrays: Any,
        arm: int,
        count: int,
        pulls: int,
        record: BlockRecord,
        scratch: Floats,
    ) -> None:
        number, starts, noise = record.number[0], record.starts, record.noise
        stage = starts.shape[0] - 1
        while starts[stage] > count:
            stage -= 1
        arm_count, width = record.totals.shape
        cell = (record.modes[number] * starts.shape[0] + stage) * arm_count + arm
        for d in range(noise.shape[0]):
            noise[d, 0] = rng.standard_normal()
        draw_block(rng, arrays, noise, record.everyone, cell, pulls, record.block)
        record.pulls[number, stage, arm] += pulls
        for c in range(width):
            record.sums[number, stage, arm, c] += record.block[c, 0]
            record.totals[arm, c] += record.block[c, 0]

    return add


def look(record: BlockRecord, arm: int, count: int, estimates: Floats) -> None:
    """Put an arm's means into `estimates`."""
    for c in range(estimates.shape[1]):
        estimates[arm, c] = record.totals[arm, c] / count


@dataclass(frozen=True, eq=False)
class Weighed:
    """Sums over weighed replications.

    `weight` and `squares` are of errors, `all_weight` and `all_squares` of all replications;
    `plain` replications were drawn from the law itself; `flag_weight` is that of wrong flags.
    `by_mode` splits the weight of errors by the modes that explain them, and `sums`, `pulls` are
    what the errors of each mode looked like [mode, stage, arm(, attribute)], likewise weighed.
    """

    replications: int
    errors: int
    weight: float
    squares: float
    largest: float
    all_weight: float
    all_squares: float
    flag_weight: float
    plain: int
    plain_errors: int
    plain_pulls: Floats
    by_mode: Floats
    sums: Floats
    pulls: Floats

    @classmethod
    def of(cls, mixture: Mixture, record: BlockRecord, tally: Tally) -> "Weighed":
        """Weigh the replications of a chunk."""
        wrong, is_plain = tally.wrong, record.modes == 0
        count, modes = len(wrong), len(mixture.modes)
        sums, pulls = record.sums.reshape(count, -1), record.pulls.reshape(count, -1)
        slopes, levels = mixture.tilted.slopes, mixture.tilted.levels
        logs = sums @ slopes.reshape(modes, -1).T - pulls @ levels.reshape(modes, -1).T
        logs += np.log(mixture.shares)
        most = logs.max(axis=1, keepdims=True)
        parts = np.exp(logs - most)
        whole = parts.sum(axis=1)
        weights = np.exp(-most[:, 0]) / whole
        mine = np.where(wrong, weights, 0.0)
        explained = (parts / whole[:, None]) * mine[:, None]
        shape = record.sums.shape[1:]
        return cls(
            replications=count,
            errors=int(wrong.sum()),
            weight=float(mine.sum()),
            squares=float((mine**2).sum()),
            largest=float(mine.max(initial=0.0)),
            all_weight=float(weights.sum()),
            all_squares=float((weights**2).sum()),
            flag_weight=float(weights[tally.flag_wrong].sum()),
            plain=int(is_plain.sum()),
            plain_errors=int((wrong & is_plain).sum()),
            plain_pulls=record.pulls[is_plain].sum(axis=(0, 1)).astype(np.float64),
            by_mode=explained.sum(axis=0),
            sums=(explained.T @ sums).reshape(modes, *shape),
            pulls=(explained.T @ pulls).reshape(modes, *shape[:2]),
        )

    def __add__(self, more: "Weighed") -> "Weighed":
        added = {key: value + getattr(more, key) for key, value in vars(self).items()}
        return Weighed(**{**added, "largest": max(self.largest, more.largest)})

    @property
    def error_rate(self) -> float:
        """The estimated probability of an error."""
        return self.weight / self.replications

    @property
    def std_error(self) -> float:
        """The standard error of the estimate."""
        spread = self.squares / self.replications - self.error_rate**2
        return float(np.sqrt(max(spread, 0.0) / self.replications))
