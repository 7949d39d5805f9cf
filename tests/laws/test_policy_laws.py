"""Laws that every policy keeps, whatever the estimates; Hypothesis looks for exceptions.

Numbers are integers (or integers times the pull counts' common multiple), so that shifts and
rescalings are exact and an inequality never turns on a rounding. A policy's decision is the arm
that it drops together with the arm that looks best; a policy that never drops shows the latter.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.gaps import apparent_best
from ringfence.core.schedule import pulls_used
from ringfence.policies.course import never
from ringfence.policies.evidence import Reject
from ringfence.policies.policy import PhasePolicy
from ringfence.policies.registry import PHASE_POLICIES
from ringfence.simulation.compilation import compile_kernel
from tests.choosing import LONG
from tests.laws.checks import Arrays, cases, play, possible_counts

every_policy = pytest.mark.parametrize("policy", PHASE_POLICIES, ids=lambda policy: policy.name)

# Laws are deterministic too: the same examples in every run, on every machine.
lawful = settings(
    derandomize=True,
    max_examples=200 if LONG else 100,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow],
)


@dataclass(frozen=True)
class Scene:
    """The end of a phase: what a rule is given."""

    estimates: Floats
    counts: Integers
    alive: Mask
    scales: Floats
    thresholds: Floats
    priority: Integers

    def arrays(self) -> Arrays:
        """Return the scene in the order of a rule's arguments."""
        return Arrays(
            self.estimates, self.counts, self.alive, self.scales, self.thresholds, self.priority
        )


def decision(policy: PhasePolicy, scene: Scene) -> tuple[int, int]:
    """Return the arm that the policy drops (-1 for none) and the one that looks best."""
    estimates, _, alive, scales, thresholds, priority = given_arrays = scene.arrays()
    out = -1 if policy.reject is None else int(policy.reject(*given_arrays))
    return out, int(apparent_best(estimates, alive, scales, thresholds, priority))


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Draw a scene on a coarse grid: 2 to 6 arms, at least two of them alive.

    Hypothesis chooses the shape; the contents come from a seed, because independent uniform
    draws find a broken law far sooner than Hypothesis's liking for equal and small numbers.
    """
    arm_count, m = draw(st.integers(2, 6)), draw(st.integers(1, 3))
    reach = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    alive = rng.random(arm_count) < 0.8
    alive[rng.permutation(arm_count)[:2]] = True
    return Scene(
        rng.integers(-reach, reach + 1, (arm_count, 1 + m)).astype(np.float64),
        rng.integers(1, 10, arm_count),
        alive,
        rng.integers(1, 5, 1 + m).astype(np.float64),
        rng.integers(-1, reach + 1, m).astype(np.float64),
        rng.permutation(arm_count),
    )


# --------------------------------------------------------------------------------- one decision


@every_policy
@lawful
@given(scene=scenes(), data=st.data())
def test_relabelling_arms(policy: PhasePolicy, scene: Scene, data: st.DataObject) -> None:
    """No arm gains from its place in the list: old[k] is the arm now listed at place k."""
    old = np.array(data.draw(st.permutations(range(len(scene.estimates)))))
    moved = replace(
        scene,
        estimates=scene.estimates[old],
        counts=scene.counts[old],
        alive=scene.alive[old],
        priority=scene.priority[old],
    )
    names = [*old.tolist(), -1]
    found = decision(policy, moved)
    assert (names[found[0]], names[found[1]]) == decision(policy, scene)


@every_policy
@lawful
@given(scene=scenes(), shift=st.integers(-1000, 1000))
def test_shifting_the_objective(policy: PhasePolicy, scene: Scene, shift: int) -> None:
    estimates = scene.estimates.copy()
    estimates[:, 0] += shift
    assert decision(policy, replace(scene, estimates=estimates)) == decision(policy, scene)


@every_policy
@lawful
@given(scene=scenes(), data=st.data())
def test_shifting_constraints_with_their_thresholds(
    policy: PhasePolicy, scene: Scene, data: st.DataObject
) -> None:
    m = len(scene.thresholds)
    shifts = np.array(data.draw(st.lists(st.integers(-1000, 1000), min_size=m, max_size=m)))
    estimates = scene.estimates.copy()
    estimates[:, 1:] += shifts
    moved = replace(scene, estimates=estimates, thresholds=scene.thresholds + shifts)
    assert decision(policy, moved) == decision(policy, scene)


@every_policy
@lawful
@given(scene=scenes(), data=st.data())
def test_rescaling_attributes_with_their_scales(
    policy: PhasePolicy, scene: Scene, data: st.DataObject
) -> None:
    """Metres or millimetres: what is measured in a unit 1/f is f times as large."""
    size = len(scene.scales)
    units = np.array(
        data.draw(st.lists(st.integers(1, 5), min_size=size, max_size=size)), dtype=np.float64
    )
    coarse = replace(scene, scales=scene.scales * units)
    fine = replace(
        scene, estimates=scene.estimates * units, thresholds=scene.thresholds * units[1:]
    )
    assert decision(policy, fine) == decision(policy, coarse)


@every_policy
@lawful
@given(scene=scenes())
def test_dead_arms_are_inert(policy: PhasePolicy, scene: Scene) -> None:
    estimates = scene.estimates.copy()
    estimates[~scene.alive] = np.nan
    found = decision(policy, replace(scene, estimates=estimates))
    assert found == decision(policy, scene)
    assert scene.alive[found[1]]
    if policy.reject is not None:
        assert scene.alive[found[0]]


@every_policy
@lawful
@given(scene=scenes())
def test_inputs_are_not_mutated(policy: PhasePolicy, scene: Scene) -> None:
    before = [array.copy() for array in scene.arrays()]
    decision(policy, scene)
    for array, copy in zip(scene.arrays(), before, strict=True):
        np.testing.assert_array_equal(array, copy)
        array.flags.writeable = False
    decision(policy, scene)


def test_dropping_the_apparent_best_happens_only_where_it_is_said() -> None:
    """Constrained-SR never drops it; the others may, and the grid shows that they do."""
    dropped = {policy.name: 0 for policy in PHASE_POLICIES}
    for case in (case for m in (1, 2, 3) for case in cases(m)):
        scene = Scene(*case.arrays())
        for policy in PHASE_POLICIES:
            out, best = decision(policy, scene)
            dropped[policy.name] += out == best
    never = ("constrained-sr", "sequential-halving", "glr-halving", "uniform")
    assert all(dropped[name] == 0 for name in never)
    assert dropped["infeasible-first"] > 0
    assert dropped["successive-rejects"] > 0


# ---------------------------------------------------------------------------- compiled = plain


def make_batch(rule: Reject) -> Callable[..., None]:
    """Return a plain loop over scenes around a rule, to be compiled."""

    def batch(
        estimates: Floats,
        counts: Integers,
        alive: Mask,
        scales: Floats,
        thresholds: Floats,
        priority: Integers,
        out: Integers,
    ) -> None:
        for r in range(out.shape[0]):
            out[r] = rule(estimates[r], counts[r], alive[r], scales[r], thresholds[r], priority[r])

    return batch


def make_best_batch(rule: Callable[..., int]) -> Callable[..., None]:
    """Return the like for `apparent_best`, which takes no counts."""

    def batch(
        estimates: Floats,
        counts: Integers,
        alive: Mask,
        scales: Floats,
        thresholds: Floats,
        priority: Integers,
        out: Integers,
    ) -> None:
        for r in range(out.shape[0]):
            out[r] = rule(estimates[r], alive[r], scales[r], thresholds[r], priority[r])

    return batch


def stacked(rng: np.random.Generator, m: int, arm_count: int, *, integers: bool) -> Arrays:
    """Return many scenes of one shape in stacked arrays; dead arms are NaN."""
    size = 2000
    estimates = rng.normal(size=(size, arm_count, 1 + m))
    thresholds = rng.normal(size=(size, m))
    scales = rng.uniform(0.5, 2.0, (size, 1 + m))
    if integers:
        estimates = np.round(estimates)
        thresholds = np.round(thresholds)
        scales = np.ceil(2.0 * scales)
    alive = rng.random((size, arm_count)) < 0.8
    alive[np.arange(size), rng.integers(0, arm_count, size)] = True
    alive[:, :2] |= alive.sum(axis=1)[:, None] < 2
    estimates[~alive] = np.nan
    order = rng.permuted(np.tile(np.arange(arm_count), (size, 1)), axis=1)
    counts = rng.integers(1, 9, (size, arm_count))
    return Arrays(estimates, counts, alive, scales, thresholds, order)


@every_policy
def test_compiled_rule_is_the_plain_rule(policy: PhasePolicy) -> None:
    """The rule as compiled, inlined and optimized decides as the function one reads."""
    rule: Any = policy.reject if policy.reject is not None else never
    check_compiled(rule, compile_kernel(make_batch(rule)))


def test_compiled_apparent_best_is_the_plain_one() -> None:
    compiled = compile_kernel(make_best_batch(apparent_best))

    def plain(
        estimates: Floats,
        counts: Integers,
        alive: Mask,
        scales: Floats,
        thresholds: Floats,
        priority: Integers,
    ) -> int:
        return apparent_best(estimates, alive, scales, thresholds, priority)

    check_compiled(plain, compiled)


def check_compiled(rule: Reject, compiled: Callable[..., None]) -> None:
    rng = np.random.default_rng(3)
    for m, arm_count in ((1, 2), (1, 4), (2, 5), (3, 6)):
        for integers in (True, False):
            given_arrays = stacked(rng, m, arm_count, integers=integers)
            found = np.full(len(given_arrays.estimates), -2)
            compiled(*given_arrays, found)
            plain = [rule(*row) for row in zip(*given_arrays, strict=True)]
            np.testing.assert_array_equal(found, plain)


# ----------------------------------------------------------------------------------- whole runs


@dataclass(frozen=True)
class Run:
    """A whole run on recorded samples [arm, ordinal, attribute]."""

    samples: Floats
    budget: int
    scales: Floats
    thresholds: Floats
    priority: Integers

    def outcome(self, policy: PhasePolicy) -> tuple[int, bool, list[int], list[int]]:
        """Return (answer, flag, rejected arms, pulls by arm)."""
        return play(policy, self.samples, self.budget, self.scales, self.thresholds, self.priority)


@st.composite
def run_shapes(draw: st.DrawFn) -> tuple[int, int, int, int]:
    """Draw (arms, constraints, budget beyond the least, seed of the samples)."""
    return (
        draw(st.integers(1, 7)),
        draw(st.integers(1, 3)),
        draw(st.integers(0, 60)),
        draw(st.integers(0, 2**32 - 1)),
    )


def run_of(policy: PhasePolicy, shape: tuple[int, int, int, int]) -> Run:
    """Return a run of that shape on small integers times a number that all counts divide."""
    arm_count, m, beyond, seed = shape
    rng = np.random.default_rng(seed)
    budget = policy.minimum_budget(arm_count) + beyond
    phases = policy.phases(arm_count, budget)
    unit = math.lcm(*possible_counts(phases))
    length = sum(phase.pulls + 1 for phase in phases)
    assert unit * length < 2**45
    return Run(
        unit * rng.integers(-2, 3, (arm_count, length, 1 + m)).astype(np.float64),
        budget,
        rng.integers(1, 4, 1 + m).astype(np.float64),
        unit * rng.integers(-1, 2, m).astype(np.float64),
        rng.permutation(arm_count),
    )


@every_policy
@lawful
@given(shape=run_shapes())
@example(shape=(1, 1, 0, 0))
@example(shape=(4, 1, 18, 0))
def test_budget_is_never_exceeded(policy: PhasePolicy, shape: tuple[int, int, int, int]) -> None:
    run = run_of(policy, shape)
    arm_count = len(run.samples)
    answer, _, rejected, pulls = run.outcome(policy)
    phases = policy.phases(arm_count, run.budget)
    assert sum(pulls) == pulls_used(arm_count, phases) <= run.budget
    if policy.name in ("uniform", "sequential-halving", "glr-halving") or arm_count == 1:
        assert sum(pulls) == run.budget
    assert min(pulls) >= 1
    assert answer not in rejected
    assert len(set(rejected)) == len(rejected) == (arm_count - 1 if policy.reject else 0)
    # Whoever survives longer has at least as many pulls; ties within a phase aside.
    by_survival = [pulls[i] for i in rejected] + [pulls[answer]]
    allowance = 1 if any(phase.extra for phase in phases) else 0
    assert all(a <= b + allowance for a, b in pairwise(by_survival))


@every_policy
@lawful
@given(budget=st.integers(2, 10**7), arm_count=st.integers(1, 60))
def test_schedules_fit_any_budget(policy: PhasePolicy, budget: int, arm_count: int) -> None:
    if budget < policy.minimum_budget(arm_count):
        return
    phases = policy.phases(arm_count, budget)
    used = pulls_used(arm_count, phases)
    assert used <= budget
    if policy.name in ("uniform", "sequential-halving", "glr-halving") or arm_count == 1:
        assert used == budget
    assert all(phase.pulls >= 0 for phase in phases)
    alive = [arm_count, *(phase.keep for phase in phases)]
    assert alive == sorted(alive, reverse=True)
    assert alive[-1] == (1 if policy.reject is not None else arm_count)
    assert all(0 <= phase.extra < left for phase, left in zip(phases, alive, strict=False))


@every_policy
@lawful
@given(shape=run_shapes(), data=st.data())
def test_relabelling_arms_of_a_whole_run(
    policy: PhasePolicy, shape: tuple[int, int, int, int], data: st.DataObject
) -> None:
    run = run_of(policy, shape)
    old = np.array(data.draw(st.permutations(range(len(run.samples)))))
    moved = replace(run, samples=run.samples[old], priority=run.priority[old])
    answer, flag, rejected, pulls = moved.outcome(policy)
    by_old_name = [pulls[old.tolist().index(i)] for i in range(len(pulls))]
    back = (int(old[answer]), flag, [int(old[i]) for i in rejected], by_old_name)
    assert back == run.outcome(policy)


@every_policy
@lawful
@given(shape=run_shapes(), shift=st.integers(-50, 50), joint=st.integers(-50, 50))
def test_shifting_a_whole_run(
    policy: PhasePolicy, shape: tuple[int, int, int, int], shift: int, joint: int
) -> None:
    """A bonus for every arm, or a limit and its metric in another zero, changes nothing."""
    run = run_of(policy, shape)
    samples = run.samples.copy()
    samples[:, :, 0] += shift
    samples[:, :, 1:] += joint
    moved = replace(run, samples=samples, thresholds=run.thresholds + joint)
    assert moved.outcome(policy) == run.outcome(policy)
