"""Limits relative to a baseline: the body of all simulations against its transcription, exactly.

The body runs as plain Python on recorded whole numbers, with factors of a half, one and two, so
that arms tie and lie on their limits all the time. The transcription draws the same order of arms
and the same uniforms: every count of the two must be the same. That compiled code does what the
body says is another test.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.gaps import apparent_best, margin
from ringfence.core.problem import Problem
from ringfence.policies.policy import Policy
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from ringfence.simulation.tally import Tally
from tests.laws.recorded import LANES, RecordedArrays, RecordedLaw
from tests.oracle import course as oracle

REPLICATIONS = 3
ROOMS = ("simulation.course", "simulation.experiment")


def is_adaptive(policy: Any) -> bool:
    """Tell whether a policy chooses batches, be it of a real module or of one loaded afresh."""
    return hasattr(policy, "choose")


def recorded_instance(
    samples: Floats, baseline: int, factors: list[float], limits: list[float], *, scales: Floats
) -> Instance:
    """Return an instance that plays samples [arm, ordinal, attribute]; factor 0 is a number."""
    texts = [
        f"mean(c{c}) <= {f'{factor:g} * baseline + ' if factor else ''}{limit:g}"
        for c, (factor, limit) in enumerate(zip(factors, limits, strict=True))
    ]
    arm_count = len(samples)
    taken = np.zeros((arm_count, LANES), np.int64)
    return Instance(
        "recorded",
        Problem.parse("minimize mean(x)", texts),
        tuple(f"arm{i}" for i in range(arm_count)),
        RecordedLaw(samples[:, 0], scales**2, RecordedArrays(samples, taken)),
        f"arm{baseline}" if any(factors) else None,
    )


def run_plain(
    experiment: Experiment, seed: int, chunk: int, replications: int, rooms: Mapping[str, Any]
) -> Tally:
    """Run a chunk through the body, as plain Python."""
    body = rooms["simulation.course"].make_body
    law, course = experiment.instance.law, experiment.policy.course
    recording, tally = law.recording, experiment.empty_tally(replications)
    kernel = body(
        course, recording.forget, recording.add, recording.look,
        estimated=experiment.estimated, relative=experiment.is_relative,
    )  # fmt: skip
    room, state = experiment.new_room(recording), experiment.new_state()
    kernel(*experiment.streams(seed, chunk), law.arrays, experiment.design, room, state, tally)
    return tally


def watched(policy: Any, baseline: int, seen: Counter[str]) -> Any:
    """Return a policy that counts the delicate situations that its rule meets."""

    def note(estimates: Floats, alive: Any, scales: Floats, thresholds: Floats) -> None:
        margins = [margin(estimates, int(i), scales, thresholds) for i in np.flatnonzero(alive)]
        seen["on a limit"] += 0.0 in margins
        seen["tied"] += len(set(margins)) < len(margins)
        seen["nothing looks feasible"] += min(margins) > 0.0
        order = np.arange(len(alive))
        best = apparent_best(estimates, alive, scales, thresholds, order)
        seen["the baseline looks best"] += best == baseline

    if is_adaptive(policy):

        def choose(evidence: Any, uniforms: Floats, chosen: Integers, work: Any) -> None:
            policy.choose(evidence, uniforms, chosen, work)
            note(evidence.estimates, evidence.alive, evidence.scales, evidence.thresholds)
            behind = evidence.counts[baseline] < evidence.counts[chosen[0]]
            seen["the baseline is pulled instead"] += bool(behind)

        return replace(policy, choose=choose)
    if policy.reject is None:
        return policy
    rule = policy.reject

    def reject(
        estimates: Floats, counts: Integers, alive: Any, scales: Floats, thresholds: Floats,
        priority: Integers,
    ) -> int:  # fmt: skip
        out = int(rule(estimates, counts, alive, scales, thresholds, priority))
        note(estimates, alive, scales, thresholds)
        seen["the baseline is named"] += out == baseline
        return out

    return replace(policy, reject=reject)


def check_relative(
    rooms: Mapping[str, ModuleType], policy: Policy, *, constraints: int, count: int = 24
) -> Counter[str]:
    """Compare the body with its transcription on many recordings."""
    rng = np.random.default_rng(11 + constraints)
    seen: Counter[str] = Counter()
    for number in range(count):
        arm_count = int(rng.integers(2, 6))
        budget = 2 * policy.minimum_budget(arm_count) + int(rng.integers(2 * arm_count, 30))
        samples = rng.integers(-1, 3, (arm_count, REPLICATIONS * budget, 1 + constraints))
        factors = rng.choice([0.5, 1.0, 2.0], constraints)
        factors[1:] *= rng.integers(0, 2, constraints - 1)  # some limits are numbers
        baseline = int(rng.integers(arm_count))
        instance = recorded_instance(
            samples.astype(np.float64),
            baseline,
            factors.tolist(),
            rng.integers(-1, 2, constraints).tolist(),
            scales=rng.integers(1, 4, 1 + constraints).astype(np.float64),
        )
        scales = ("known", "estimated")[number % 2]
        make = rooms["simulation.experiment"].Experiment
        batch = int(rng.integers(1, 4))
        experiment = make(instance, policy, budget, scales=scales, batch=batch)
        assert all(phase.keep >= 2 for phase in experiment.phases)
        taken = instance.law.arrays.taken
        fast = run_plain(experiment, 17, number, REPLICATIONS, rooms)
        given = taken[:, 0].copy()
        taken[:] = 0
        slow = oracle.run_chunk(
            replace(experiment, policy=watched(policy, baseline, seen)),
            17, number, REPLICATIONS,
        )  # fmt: skip
        for name, here, there in zip(fast._fields, fast, slow, strict=True):
            where = f"{policy.name}, {number}, {scales}: {name} {here} and {there}"
            assert here.tolist() == there.tolist(), where
        assert given.tolist() == taken[:, 0].tolist() == fast.pulls.tolist()
        if is_adaptive(policy):
            assert fast.pulls.sum() == REPLICATIONS * budget
            assert max(fast.pulls) <= fast.pulls[baseline] + REPLICATIONS
        else:  # it is never dropped, so no arm has more than it, but for what is left over
            extra = sum(phase.extra > 0 for phase in experiment.phases)
            assert fast.pulls[baseline] >= max(fast.pulls) - REPLICATIONS * extra
        seen["right"] += int((~fast.wrong).sum())
        seen["wrong"] += int(fast.wrong.sum())
    return seen
