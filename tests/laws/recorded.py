"""Recorded samples as a law, so that an engine can be compared with the transcription exactly.

Whatever an engine does with phases, blocks, survivors and extra pulls, one replication on given
samples has one right outcome. The law hands out an arm's samples in order, to compiled code block
by block and to the reference engine pull by pull.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.noise import Moments, add_pull
from ringfence.core.problem import Problem
from ringfence.core.schedule import Phase
from ringfence.core.streams import Generator
from ringfence.policies.policy import PhasePolicy
from ringfence.simulation import records
from ringfence.simulation.course import shuffle
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from ringfence.simulation.laws import GaussianLaw, MeansLaw
from ringfence.simulation.tally import Tally
from tests.laws.checks import Recording, record
from tests.oracle import transcription as paper

ATTRIBUTES = 3  # one objective, two constraints: a kernel is compiled for one number only
Engine = Callable[[Experiment, int, int, int], Tally]
OrdersOfArms = Callable[[Generator, int, int], list[Integers]]
ARM_COUNTS = (5, 9)
NOISELESS_ARM_COUNTS = (4, 9)
LANES = 4096  # more than any engine runs side by side


class RecordedArrays(NamedTuple):
    """Samples [arm, ordinal, attribute], and how many each arm has handed out, lane by lane."""

    samples: Floats
    taken: Integers


def draw_recorded_block(
    rng: Generator,
    arrays: RecordedArrays,
    noise: Floats,
    drawn: Mask,
    arm: int,
    pulls: int,
    block: Floats,
) -> None:
    """Put the sum of the arm's next samples into the drawn lanes."""
    for lane in range(block.shape[1]):
        if not drawn[arm, lane]:
            continue
        for c in range(block.shape[0]):
            block[c, lane] = 0.0
        for _ in range(pulls):
            for c in range(block.shape[0]):
                block[c, lane] += arrays.samples[arm, arrays.taken[arm, lane], c]
            arrays.taken[arm, lane] += 1


def add_recorded_pulls(
    rng: Generator,
    arrays: RecordedArrays,
    arm: int,
    count: int,
    pulls: int,
    moments: Moments,
    scratch: Floats,
) -> None:
    """Add the arm's next samples, of lane 0."""
    for number in range(pulls):
        add_pull(moments, count + number, arm, arrays.samples[arm, arrays.taken[arm, 0]])
        arrays.taken[arm, 0] += 1


@dataclass(frozen=True)
class RecordedLaw(MeansLaw):
    """A law that plays one recording, once in every lane; the reference engine has one lane."""

    means: Floats
    constants: Floats
    arrays: RecordedArrays
    has_ties = True
    constants_are_proven = False
    covariances = None
    normals = 0
    draws_samples = True
    draw_block = staticmethod(draw_recorded_block)

    @property
    def origin(self) -> Floats:
        """Zero."""
        return np.zeros(self.means.shape[1])

    @property
    def known_covariances(self) -> Floats:
        """1/(2 a) for every arm."""
        return np.repeat(np.diag(0.5 / self.constants)[None], len(self.means), axis=0)

    @property
    def true_covariances(self) -> Floats:
        """As the scales say."""
        return self.known_covariances

    @property
    def recording(self) -> records.Recording:
        """Sums and scatters of the arm's next samples."""
        return records.moments_recording(add_recorded_pulls, self.means.shape[1])

    def pull(self, rng: Generator, arm: int) -> Floats:
        """Return the arm's next sample."""
        sample: Floats = self.arrays.samples[arm, self.arrays.taken[arm, 0]]
        self.arrays.taken[arm, 0] += 1
        return sample


def instance_of(recording: Recording, means: Floats) -> Instance:
    """Return an instance that plays the recording; `means` says what the right answer is."""
    constraints = [f"mean(c{c}) <= {tau}" for c, tau in enumerate(recording.thresholds)]
    arm_count = len(recording.samples)
    return Instance(
        "recorded",
        Problem.parse("minimize mean(x)", constraints),
        tuple(f"arm{i}" for i in range(arm_count)),
        RecordedLaw(
            means,
            np.array(recording.scales, dtype=np.float64) ** 2,
            RecordedArrays(
                recording.samples.astype(np.float64), np.zeros((arm_count, LANES), np.int64)
            ),
        ),
    )


def shuffled(order_rng: Generator, arm_count: int, replications: int) -> list[Integers]:
    """Return the orders of arms that engines draw."""
    priorities = np.empty((arm_count, replications), np.int64)
    for lane in range(replications):
        shuffle(order_rng, priorities, lane)
    return list(priorities.T)


def lost_in(
    phases: tuple[Phase, ...], optimal: Mask, rejected: list[int], answer: int
) -> list[int]:
    """Return the phase in which the last right arm went, as a row of zeros with at most a one."""
    right, left, order = set(np.flatnonzero(optimal).tolist()), len(optimal), list(rejected)
    lost = [0] * len(phases)
    for place, phase in enumerate(phases):
        while order and left > phase.keep:
            right.discard(order.pop(0))
            left -= 1
            if not right:
                lost[place] = 1
                return lost
    lost[-1] = int(answer not in right)
    return lost


def check_engine(
    run_chunk: Engine,
    policy: PhasePolicy,
    orders_of_arms: OrdersOfArms,
    *,
    most: int,
    arm_counts: tuple[int, ...] = ARM_COUNTS,
    count: int = 150,
    experiment_type: type[Experiment] = Experiment,
) -> Counter[str]:
    """Compare up to `most` replications on recorded samples with the transcription's whole runs.

    Replications of a chunk see the same samples and differ in their order of arms.
    """
    rng = np.random.default_rng(5)
    seen: Counter[str] = Counter()
    for number in range(count):
        arm_count = arm_counts[number % len(arm_counts)]
        budget = policy.minimum_budget(arm_count) + int(rng.integers(0, 12))
        phases = policy.phases(arm_count, budget)
        recording = record(rng, phases, arm_count, budget, ATTRIBUTES - 1)
        # What is right is up to the means: often one arm, sometimes several.
        means = np.sign(recording.samples[:, 0]) * float(max(map(abs, recording.thresholds)) or 1)
        experiment = experiment_type(
            instance_of(recording, means), policy, budget, shared=number % 4 == 0
        )
        replications = int(rng.integers(1, most + 1))
        tally = run_chunk(experiment, 17, number, replications)

        _, order_rng = experiment.streams(17, number)
        orders = orders_of_arms(order_rng, arm_count, replications)
        optimal, feasible = experiment.design.optimal, experiment.instance.hardness.feasible
        where = f"{policy.name}, {number}: {recording}"
        all_pulls, all_lost = np.zeros(arm_count, np.int64), np.zeros(len(phases), np.int64)
        answers = np.zeros((arm_count, 2), np.int64)
        for replication, priority in enumerate(orders):
            answer, flag, rejected, pulls = recording.play(policy.name, priority.tolist())
            lost = lost_in(phases, optimal, rejected, answer)
            right = bool(optimal[answer]) and flag == feasible
            all_pulls += pulls
            all_lost += lost
            answers[answer, int(flag)] += 1
            assert bool(tally.flag_wrong[replication]) == (flag != feasible), f"flag of {where}"
            assert bool(tally.wrong[replication]) == (not right), f"answer of {where}"
            seen["right"] += right
            seen["wrong flag"] += flag != feasible
            seen["wrong arm"] += not optimal[answer]
            seen["several right arms"] += optimal.sum() > 1
            seen["lost before the last phase"] += any(lost[:-1])
            seen["order of arms is not as listed"] += priority.tolist() != list(range(arm_count))
            seen["some arms pulled once more"] += any(phase.extra for phase in phases)
        assert tally.pulls.tolist() == all_pulls.tolist(), f"pulls {all_pulls}: {where}"
        assert tally.lost_in_phase.tolist() == all_lost.tolist(), f"lost in {all_lost}: {where}"
        assert tally.chosen.tolist() == answers.tolist(), f"answers {answers}: {where}"
    return seen


def noiseless(arm_count: int, rng: np.random.Generator) -> Instance:
    """Return an instance without noise or ties: every pull of an arm is its mean."""
    means = np.column_stack([rng.permutation(arm_count) for _ in range(ATTRIBUTES)])
    thresholds = rng.integers(-1, arm_count + 1, ATTRIBUTES - 1)
    constraints = [f"mean(c{c}) <= {tau}" for c, tau in enumerate(thresholds)]
    nothing = np.zeros((arm_count, ATTRIBUTES, ATTRIBUTES))
    return Instance(
        "noiseless",
        Problem.parse("minimize mean(x)", constraints),
        tuple(f"arm{i}" for i in range(arm_count)),
        GaussianLaw(means.astype(np.float64), nothing, nothing),
    )


def check_noiseless(
    run_chunk: Engine,
    policy: PhasePolicy,
    *,
    replications: int,
    arm_counts: tuple[int, ...] = NOISELESS_ARM_COUNTS,
    count: int = 60,
    experiment_type: type[Experiment] = Experiment,
) -> Counter[str]:
    """Compare many replications without noise with the transcription: all must agree with it.

    Means are ranks, so that the order of arms decides only who gets the extra pulls, whose sum is
    known, and between arms that come equally near when none is feasible.
    """
    rng = np.random.default_rng(9)
    seen: Counter[str] = Counter()
    for number in range(count):
        instance = noiseless(arm_counts[number % len(arm_counts)], rng)
        arm_count = len(instance.arms)
        budget = policy.minimum_budget(arm_count) + int(rng.integers(0, 30))
        experiment = experiment_type(instance, policy, budget, shared=number % 2 == 0)
        tally = run_chunk(experiment, 3, number, replications)

        rows, tau = instance.means.astype(int).tolist(), instance.problem.thresholds.astype(int)
        answer, flag, rejected, pulls = paper.run(
            policy.name,
            arm_count,
            budget,
            lambda arm, _, rows=rows: rows[arm],  # type: ignore[misc]
            [1] * ATTRIBUTES,
            tau.tolist(),
            list(range(arm_count)),
        )
        optimal, feasible = experiment.design.optimal, instance.hardness.feasible
        right = bool(optimal[answer]) and flag == feasible
        where = f"{policy.name}, T={budget}: {rows}, {tau}"
        assert tally.wrong.tolist() == [not right] * replications, where
        assert tally.flag_wrong.tolist() == [flag != feasible] * replications, where
        lost = lost_in(experiment.phases, optimal, rejected, answer)
        assert tally.lost_in_phase.tolist() == [replications * one for one in lost], where
        assert tally.pulls.sum() == replications * sum(pulls), where
        assert tally.chosen[:, int(flag)].sum() == tally.chosen.sum() == replications, where
        if sum(optimal) == 1:  # else their margins tie, and the order of arms decides between them
            assert tally.chosen[answer, int(flag)] == replications, where
        if not any(phase.extra for phase in experiment.phases):
            assert tally.pulls.tolist() == [replications * one for one in pulls], where
        seen["right"] += right
        seen["wrong"] += not right
        seen["feasible"] += feasible
        seen["infeasible"] += not feasible
    return seen
