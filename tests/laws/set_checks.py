"""Comparisons of courses whose answer is a set, as functions that faults can be run through.

Samples are integers whose means are integers too, so that ties and values on limits are frequent.
Every check takes an engine and the policy under test, and returns how often the delicate situations
occurred.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ringfence.core.arrays import Integers
from ringfence.policies.policy import Policy
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from ringfence.simulation.tally import Tally
from tests.laws.checks import Recording
from tests.laws.recorded import ATTRIBUTES, instance_of, shuffled
from tests.oracle import questions as slow
from tests.oracle.questions import Asked

Run = Callable[[Experiment, int, int, int], Tally]
MOST = 12  # pulls of an arm: their least common multiple is a small number


def recordings(count: int, *, least: Callable[[int], int]) -> Iterator[tuple[Instance, Asked, Any]]:
    """Yield instances that play a recording, what is asked of it, and its budget."""
    rng = np.random.default_rng(5)
    unit = math.lcm(*range(1, MOST + 1))
    for _ in range(count):
        arms = int(rng.integers(2, 5))
        budget = int(rng.integers(least(arms), MOST + arms))
        samples = unit * rng.integers(-2, 3, (arms, MOST, ATTRIBUTES))
        scales = tuple(rng.integers(1, 4, ATTRIBUTES).tolist())
        thresholds = tuple((unit * rng.integers(-1, 2, ATTRIBUTES - 1)).tolist())
        means = unit * rng.integers(-2, 3, (arms, ATTRIBUTES)).astype(np.float64)
        instance = instance_of(Recording(samples, budget, scales, thresholds), means)
        asked = Asked((), frozenset(range(arms)), scales, thresholds, range(arms))
        yield instance.asking("all feasible"), asked, (samples.tolist(), budget)


def right_set(instance: Instance, asked: Asked) -> set[int]:
    return slow.feasible_arms(asked._replace(estimates=instance.means.astype(int).tolist()))


def order_of(experiment: Experiment) -> Integers:
    """Return the order of arms that engines draw."""
    _, order_rng = experiment.streams(3, 0)
    return shuffled(order_rng, len(experiment.instance.arms), 1)[0]


def check_counts(
    tally: Tally, found: set[int], right: set[int], pulls: list[int], lost: list[int]
) -> None:
    assert bool(tally.wrong[0]) == (found != right)
    assert bool(tally.flag_wrong[0]) == (bool(found) != bool(right))
    assert tally.pulls.tolist() == pulls
    assert tally.lost_in_phase.tolist() == lost
    assert tally.chosen.tolist() == [[0, int(i in found)] for i in range(len(pulls))]


def check_settling(run: Run, policy: Policy) -> Counter[str]:
    """Compare courses of constrained-sr for all feasible arms with the transcription's."""
    seen = Counter[str]()
    for instance, asked, (samples, budget) in recordings(150, least=lambda arms: arms + 1):
        experiment = Experiment(instance, policy, budget)
        tally = run(experiment, 3, 0, 1)
        asked = asked._replace(priority=order_of(experiment).tolist())
        found, order, pulls = slow.run_settling(samples, budget, asked)
        right = right_set(instance, asked)
        wrong = [place for place, arm in enumerate(order) if (arm in found) != (arm in right)]
        lost = [0] * len(experiment.phases)
        if found != right:
            lost[wrong[0] if wrong else -1] = 1
        check_counts(tally, found, right, pulls, lost)
        seen["lost early"] += bool(wrong) and wrong[0] < len(order) - 1
        seen["right"] += found == right
        seen["a settled arm is in the set"] += order[0] in found
        seen["nothing is feasible"] += not found
    return seen


def check_apt(run: Run, policy: Policy, *, batch: int) -> Counter[str]:
    """Compare courses of APT with the transcription's."""
    seen = Counter[str]()
    for instance, asked, (samples, budget) in recordings(100, least=lambda arms: 2 * arms):
        experiment = Experiment(instance, policy, budget, batch=batch)
        tally = run(experiment, 3, 0, 1)
        asked = asked._replace(priority=order_of(experiment).tolist())
        found, pulls = slow.run_apt(samples, budget, batch, asked)
        backwards = asked._replace(priority=[-rank for rank in asked.priority])
        right = right_set(instance, asked)
        check_counts(tally, found, right, pulls, [int(found != right)])
        seen["by priority"] += slow.run_apt(samples, budget, batch, backwards)[1] != pulls
        seen["right"] += found == right
    return seen
