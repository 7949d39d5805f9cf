"""Pulls added up or kept, against measuring the whole sample: any blocks, any order, any merge."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from ringfence.core import running
from ringfence.core.arrays import Floats, Integers
from ringfence.core.expressions import parse_constraint, parse_objective
from ringfence.core.measurement import measure_sample
from ringfence.core.problem import Problem
from ringfence.core.running import Recipe
from ringfence.core.streams import Generator
from ringfence.policies.registry import find_policy
from ringfence.simulation import cpu, records
from ringfence.simulation.course import make_body, shuffle
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from ringfence.simulation.tally import Tally
from tests.choosing import few_of

METRICS = ("x", "y")
RUNNING = (
    "minimize variance(x)",
    "mean(x) >= 0",
    "std(y) <= 0",
    "share(y > 1) <= 0",
    "mean(y) <= 0",
    "share(x <= 2) >= 0",
    "std(x) >= 0",
)
SAMPLED = (
    "maximize p90(x)",
    "cvar(y, 0.8) <= 0",
    "mean(y) >= 0",
    "std(x) <= 0",
    "quantile(y, 0.3) >= 0",
    "lower_cvar(x, 0.25) >= 0",
    "robust_mean(x) <= 0",
    "share(x > 1) <= 0",
)


def problem_of(texts: Sequence[str]) -> Problem:
    return Problem(parse_objective(texts[0]), tuple(map(parse_constraint, texts[1:])))


def measured(problem: Problem, pulls: Floats) -> tuple[Floats, Floats]:
    """Return oriented attributes and scatters of all of an arm's pulls [pull, metric]."""
    signs = problem.signs
    sample = {metric: pulls[:, METRICS.index(metric)] for metric in METRICS}
    found = measure_sample(problem.attributes, sample, signs=signs.tolist())
    scatter = found.covariance * (found.count - 1)
    return signs * found.estimates, np.outer(signs, signs) * scatter


def recipe_of(problem: Problem) -> Recipe:
    """Return the recipe with the metrics in the order of METRICS, whatever comes first."""
    order = np.array([METRICS.index(metric) for metric in problem.metrics])
    recipe = problem.recipe
    return recipe._replace(metric_of=order[recipe.metric_of], other_of=order[recipe.other_of])


def assert_same(
    found: tuple[Floats, Floats], expected: tuple[Floats, Floats], pulls: Floats
) -> None:
    """Compare attributes and scatters, up to the rounding of values of that size."""
    size = max(1.0, float(np.abs(pulls).max()))
    spread = np.sqrt(np.maximum(np.diagonal(expected[1]), 0.0))
    assert_allclose(found[0], expected[0], rtol=1e-9, atol=1e-11 * size)
    loose = 1e-9 + 1e-12 * size
    limit = loose * np.outer(spread, spread) + 1e-13 * size
    worst = np.abs(found[1] - expected[1]) - limit
    assert (worst <= 0.0).all(), (np.unravel_index(worst.argmax(), worst.shape), found[1])


# ---------------------------------------------------------------------- features of the pulls


def streamed(
    room: ModuleType, recipe: Recipe, pulls: Floats, *, arms: int = 3, arm: int = 1
) -> Any:
    """Return what pulls of one arm add up to, added one by one."""
    state = room.no_running(recipe, arms, pulls.shape[1])
    for count, pull in enumerate(pulls):
        room.add_running_pull(state, recipe, arm, count, pull)
    return state


def filled(
    room: ModuleType, recipe: Recipe, state: Any, count: int, *, arms: int = 3, arm: int = 1
) -> tuple[Floats, Floats]:
    width = len(recipe.kinds)
    estimates, scatters = np.full((arms, width), np.nan), np.full((arms, width, width), np.nan)
    room.fill_running(estimates, scatters, state, recipe, arm, count)
    others = [i for i in range(arms) if i != arm]
    assert np.isnan(estimates[others]).all()
    assert np.isnan(scatters[others]).all()
    return estimates[arm], scatters[arm]


def check_streaming(room: ModuleType, pulls: Floats) -> None:
    """Compare features added up with measuring the whole sample, at every length."""
    problem = problem_of(RUNNING)
    recipe = recipe_of(problem)
    for count in {2, len(pulls) // 2, len(pulls)}:
        if count >= 2:
            state = streamed(room, recipe, pulls[:count])
            found = filled(room, recipe, state, count)
            assert_same(found, measured(problem, pulls[:count]), pulls)


def check_merging(
    room: ModuleType, pulls: Floats, cuts: Sequence[int], order: Sequence[int]
) -> None:
    """Compare blocks that were added up apart and merged in any order with adding one by one."""
    problem = problem_of(RUNNING)
    recipe = recipe_of(problem)
    edges = [0, *sorted(cut % (len(pulls) + 1) for cut in cuts), len(pulls)]
    blocks = [pulls[a:b] for a, b in pairwise(edges)]
    state, count = room.no_running(recipe, 3, 2), 0
    for place in sorted(range(len(blocks)), key=lambda k: (order[k % len(order)], k)):
        other = streamed(room, recipe, blocks[place])
        kept = other.moments.sums.copy(), other.moments.scatters.copy(), other.origins.copy()
        room.merge_running(state, recipe, 1, count, other, len(blocks[place]))
        for before, now in zip(
            kept, (other.moments.sums, other.moments.scatters, other.origins), strict=True
        ):
            np.testing.assert_array_equal(before, now)
        count += len(blocks[place])
    assert count == len(pulls)
    expected = measured(problem, pulls)
    assert_same(filled(room, recipe, state, count), expected, pulls)
    # A merged state goes on as any other.
    for more, pull in enumerate(pulls):
        room.add_running_pull(state, recipe, 1, count + more, pull)
    twice = np.concatenate([pulls, pulls])
    assert_same(filled(room, recipe, state, 2 * count), measured(problem, twice), twice)


def in_blocks(room: ModuleType, recipe: Recipe, pulls: Floats, cuts: Sequence[int]) -> Any:
    """Return what pulls of one arm add up to, added block by block."""
    state, count = room.no_running(recipe, 3, 2), 0
    edges = [0, *sorted(cut % (len(pulls) + 1) for cut in cuts), len(pulls)]
    for first, last in pairwise(edges):
        room.add_running_block(state, recipe, 1, count, pulls[first:last])
        count = last
    return state


def check_blocks(room: ModuleType, pulls: Floats, cuts: Sequence[int]) -> None:
    """Compare blocks of pulls, some of them empty, with measuring the whole sample."""
    problem = problem_of(RUNNING)
    recipe = recipe_of(problem)
    state = in_blocks(room, recipe, pulls, cuts)
    assert_same(filled(room, recipe, state, len(pulls)), measured(problem, pulls), pulls)


GRID = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=2, max_size=25)
OFFSETS = st.sampled_from([(0.0, 0.0), (1e6, -1e6), (0.1, 1e6 + 0.1), (-7.3, 1e3)])


def grid_pulls(pairs: Sequence[tuple[int, int]], offset: tuple[float, float]) -> Floats:
    return np.asarray(np.array(pairs) / 4.0 + np.array(offset), dtype=np.float64)


@given(pairs=GRID, offset=OFFSETS)
@example(pairs=[(0, 0), (0, 0)], offset=(0.1, 1e6 + 0.1))
@example(pairs=[(0, 0)] * 20 + [(1, 1)], offset=(1e6, -1e6))
def test_streaming_equals_measuring_the_whole(
    pairs: list[tuple[int, int]], offset: tuple[float, float]
) -> None:
    check_streaming(running, grid_pulls(pairs, offset))


@given(
    pairs=GRID,
    offset=OFFSETS,
    cuts=st.lists(st.integers(0, 25), max_size=5),
    order=st.lists(st.integers(0, 9), min_size=1, max_size=6),
)
@example(pairs=[(0, 1), (3, 2), (1, 1)], offset=(1e6, -1e6), cuts=[0, 0, 3, 3], order=[2, 1])
def test_merging_in_any_split_and_order_equals_adding_one_by_one(
    pairs: list[tuple[int, int]], offset: tuple[float, float], cuts: list[int], order: list[int]
) -> None:
    check_merging(running, grid_pulls(pairs, offset), cuts, order)


@given(pairs=GRID, offset=OFFSETS, cuts=st.lists(st.integers(0, 25), max_size=5))
@example(pairs=[(0, 1), (3, 2), (1, 1)], offset=(1e6, -1e6), cuts=[0, 0, 3, 3])
def test_adding_blocks_equals_adding_one_by_one(
    pairs: list[tuple[int, int]], offset: tuple[float, float], cuts: list[int]
) -> None:
    check_blocks(running, grid_pulls(pairs, offset), cuts)


def random_pulls(seed: int, count: int = 200) -> Floats:
    stream = np.random.default_rng(seed)
    x = stream.exponential(2.0, count)
    return np.column_stack([x, 0.5 * x + stream.normal(size=count)])


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_many_pulls_stream_and_merge(offset: float) -> None:
    pulls = random_pulls(1) + offset
    check_streaming(running, pulls)
    check_merging(running, pulls, [50, 51, 120], [3, 1, 2, 0])
    check_blocks(running, pulls, [50, 51, 120])


WAYS: dict[str, Callable[[Recipe, Floats, int], Any]] = {
    "one by one": lambda recipe, pulls, cut: streamed(running, recipe, pulls),
    "in blocks": lambda recipe, pulls, cut: in_blocks(running, recipe, pulls, [cut]),
    "merged": lambda recipe, pulls, cut: merged(recipe, pulls, cut),
}


def merged(recipe: Recipe, pulls: Floats, cut: int) -> Any:
    state, other = (streamed(running, recipe, part) for part in (pulls[:cut], pulls[cut:]))
    running.merge_running(state, recipe, 1, cut, other, len(pulls) - cut)
    return state


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("value", [0.1, -0.3, 1e6 + 0.1, 1 / 3])
def test_pulls_that_never_vary_have_no_noise_at_all(way: str, value: float) -> None:
    """Exactly none: a variance of 1e-33 lies above a limit of 0, and its scale is not 1."""
    recipe = recipe_of(problem_of(RUNNING))
    for count in (2, 3, 7, 10, 40):
        pulls = np.full((count, 2), value)
        for cut in range(count):
            state = WAYS[way](recipe, pulls, cut)
            estimates, scatters = filled(running, recipe, state, count)
            assert not scatters.any(), (count, cut)
            assert not estimates[[0, 2, 6]].any(), "variance(x), std(y), std(x)"


def test_what_can_run_are_moments_and_shares() -> None:
    attributes = problem_of([*RUNNING, *SAMPLED[1:]]).attributes
    able = [running.can_run(attribute.kind) for attribute in attributes]
    moments = [
        attribute.statistic in ("mean", "share", "variance", "std") for attribute in attributes
    ]
    assert able == moments
    assert not running.can_run(-1), "a user's own function"


# ------------------------------------------------------------------------------- recordings


class Script(NamedTuple):
    """Pulls [arm, ordinal, metric] that are handed out in order, and how many were."""

    samples: Floats
    taken: Integers


def draw_scripted_pull(rng: Generator, arrays: Script, arm: int, metrics: Floats) -> None:
    for q in range(metrics.shape[0]):
        metrics[q] = arrays.samples[arm, arrays.taken[arm], q]
    arrays.taken[arm] += 1


class Step(NamedTuple):
    """Some pulls of an arm, and whether its estimates are looked at after them."""

    arm: int
    pulls: int
    looks: bool


Plan = Sequence[Sequence[Step]]  # steps, replication by replication
ARMS = 2
QUANTILES = ("p90", "quantile")
RECORDINGS = {
    "running": RUNNING,
    "sample": SAMPLED,
    "sample, no quantiles": tuple(
        text for text in ("minimize mean(x)", *SAMPLED[1:]) if not text.startswith(QUANTILES)
    ),
}


def recording_of(room: ModuleType, name: str) -> tuple[Problem, Any]:
    problem = problem_of(RECORDINGS[name])
    make = getattr(room, f"{name.partition(',')[0]}_recording")
    return problem, make(draw_scripted_pull, recipe_of(problem), len(METRICS))


def check_recording(room: ModuleType, name: str, plan: Plan, samples: Floats) -> int:
    """Follow a plan and compare every look with measuring all pulls so far; return the looks."""
    problem, recording = recording_of(room, name)
    width = len(problem.attributes)
    record = recording.make(ARMS, samples.shape[1])
    estimates, scratch = np.zeros((ARMS, width)), np.zeros((width + 2, width))
    looks = 0
    script = Script(samples, np.zeros(ARMS, np.int64))
    for steps in plan:
        recording.forget(record)
        first, counts = script.taken.copy(), np.zeros(ARMS, np.int64)
        for arm, pulls, looking in steps:
            room_left = samples.shape[1] - script.taken[arm]
            fresh = min(pulls, int(room_left))
            recording.add(None, script, arm, counts[arm], fresh, record, scratch)
            counts[arm] += fresh
            if not looking or counts[arm] < 2:
                continue
            recording.look(record, arm, counts[arm], estimates)
            seen = samples[arm, first[arm] : first[arm] + counts[arm]]
            assert_same((estimates[arm], record.scatters[arm]), measured(problem, seen), seen)
            looks += 1
    return looks


STEPS = st.lists(st.builds(Step, st.integers(0, ARMS - 1), st.integers(1, 6), st.booleans()))
PLANS = st.lists(STEPS, min_size=1, max_size=3)
both_recordings = pytest.mark.parametrize("name", few_of(["running", "sample"], "running"))
every_recording = pytest.mark.parametrize("name", list(RECORDINGS))


@every_recording
@given(plan=PLANS, seed=st.integers(0, 5), tied=st.booleans())
@settings(max_examples=60)
def test_recordings_equal_measuring_the_whole(
    name: str, plan: list[list[Step]], seed: int, tied: bool
) -> None:
    check_recording(records, name, plan, recorded_samples(seed, tied=tied))


def recorded_samples(seed: int, *, tied: bool = False, count: int = 60) -> Floats:
    pulls = np.stack([random_pulls(seed + 10 * arm, count) for arm in range(ARMS)])
    return np.round(pulls) if tied else pulls


LONG_PLAN = [
    [Step(0, 9, True), Step(1, 4, False), Step(0, 1, True), Step(1, 7, True), Step(0, 5, True)],
    [Step(1, 3, True), Step(0, 2, True), Step(1, 6, True), Step(0, 8, False), Step(0, 1, True)],
    [Step(0, 20, True), Step(1, 20, True), Step(0, 14, True)],
]


def check_long_plan(room: ModuleType, name: str) -> None:
    for tied in (False, True):
        assert check_recording(room, name, LONG_PLAN, recorded_samples(3, tied=tied)) == 11


@every_recording
def test_a_replication_forgets_the_one_before(name: str) -> None:
    check_long_plan(records, name)


@pytest.mark.parametrize("name", ["running", "sample, no quantiles"])
def test_a_recording_that_remembers_would_be_noticed(name: str) -> None:
    """The check above fails where nothing is forgotten."""
    _, recording = recording_of(records, name)
    faulty = records.Recording(recording.make, lambda record: None, recording.add, recording.look)
    room = ModuleType("remembering")
    setattr(room, f"{name.partition(',')[0]}_recording", lambda *_: faulty)
    with pytest.raises((AssertionError, IndexError, ValueError)):
        check_long_plan(room, name)


def test_pulls_that_need_too_much_room_are_refused() -> None:
    _, recording = recording_of(records, "sample")
    with pytest.raises(ValueError, match=r"100000000 pulls of 20 arms.*GiB.*Lower the budget"):
        recording.make(20, 10**8)


# -------------------------------------------------------------------------- compiled recordings

INSTANCES = {
    "running": ("minimize mean(x)", ["p95(y) <= 2.0", "variance(x) <= 1.2", "std(y) >= 0.5"]),
    "sample": ("minimize p90(x)", ["cvar(y, 0.9) <= 2.1", "robust_mean(y) >= -0.5"]),
}


def gaussian_instance(name: str) -> Instance:
    objective, constraints = INSTANCES[name]
    return Instance.from_dict(
        {
            "objective": objective,
            "constraints": constraints,
            "metrics": ["x", "y"],
            "noise": {"family": "gaussian", "covariance": [[1.0, 0.5], [0.5, 1.0]]},
            "arms": {
                "a": {"mean": [0.0, 0.0]},
                "b": {"mean": [0.3, 0.1]},
                "c": {"mean": [0.1, 0.6], "covariance": [[2.0, 0.1], [0.1, 0.5]]},
            },
        }
    )


def run_plainly(experiment: Experiment, tally: Tally) -> None:
    """Run the body as plain Python, on the streams of seed 3 and chunk 1."""
    recording: Any = experiment.instance.law.recording
    body = make_body(
        experiment.policy.course, recording.forget, recording.add, recording.look,
        estimated=True, relative=False,
    )  # fmt: skip
    room, state = experiment.new_room(recording), experiment.new_state()
    arrays = experiment.instance.law.arrays
    body(*experiment.streams(3, 1), arrays, experiment.design, room, state, tally)


@both_recordings
def test_compiled_phases_are_the_plain_ones(name: str) -> None:
    """The same streams through the same kernel, compiled and not: the same answers, to the bit."""
    experiment = Experiment(
        gaussian_instance(name), find_policy("constrained-sr"), 60, scales="estimated"
    )
    assert experiment.is_recorded
    replications = 12
    fast = cpu.run_chunk(experiment, 3, 1, replications)
    slow = experiment.empty_tally(replications)
    run_plainly(experiment, slow)
    for here, there in zip(fast, slow, strict=True):
        np.testing.assert_array_equal(here, there)
    assert 0 < slow.wrong.sum() < replications


@both_recordings
def test_compiled_estimates_are_those_of_the_pulls_that_were_drawn(name: str) -> None:
    """After many replications in compiled code, the last one's record is measured again."""
    instance = gaussian_instance(name)
    experiment = Experiment(instance, find_policy("uniform"), 61, scales="estimated")
    recording: Any = instance.law.recording
    kernel = cpu.compiled_body(
        experiment.policy.course, recording.forget, recording.add, recording.look,
        estimated=True, relative=False,
    )  # fmt: skip
    room, state = experiment.new_room(recording), experiment.new_state()
    tally = experiment.empty_tally(5)
    kernel(*experiment.streams(1, 0), instance.law.arrays, experiment.design, room, state, tally)
    problem = instance.judged
    # The pulls again, one by one from the same stream: each replication draws every arm in turn.
    rng, order_rng = experiment.streams(1, 0)
    for _ in range(5):
        order: Integers = np.zeros((3, 1), np.int64)
        shuffle(order_rng, order, 0)
        pulls = [
            np.array([instance.law.pull(rng, arm) for _ in range(20 + (order[arm, 0] == 0))])
            for arm in range(3)
        ]
    for arm in range(3):
        assert room.seen.counts[arm] == len(pulls[arm])
        expected = measured(problem, pulls[arm])
        assert_same((room.seen.estimates[arm], room.record.scatters[arm]), expected, pulls[arm])


@both_recordings
def test_compiled_batches_are_the_plain_ones(name: str) -> None:
    experiment = Experiment(
        gaussian_instance(name), find_policy("top-two"), 60, scales="estimated", batch=4
    )
    fast = cpu.run_chunk(experiment, 3, 1, 4)
    slow = experiment.empty_tally(4)
    run_plainly(experiment, slow)
    for here, there in zip(fast, slow, strict=True):
        np.testing.assert_array_equal(here, there)


# ---------------------------------------------------------------------------------- sorting


def check_sort(sort: Callable[[Floats], None], values: Sequence[float]) -> None:
    array = np.array([*values, math.nan])  # what lies behind the slice is left alone
    sort(array[:-1])
    assert array[:-1].tolist() == sorted(values)
    assert math.isnan(array[-1])


def check_merge(
    merge: Callable[[Floats, int, Floats], None], one: Sequence[float], other: Sequence[float]
) -> None:
    room = np.array([*sorted(one), *[math.nan] * len(other), math.inf])
    fresh = np.array(sorted(other))
    merge(room[:-1], len(one), fresh)
    assert room[:-1].tolist() == sorted([*one, *other])
    assert room[-1] == math.inf
    assert fresh.tolist() == sorted(other)


VALUES = st.lists(st.one_of(st.integers(-4, 4).map(float), st.floats(-1e9, 1e9)), max_size=40)


@given(VALUES)
def test_sorting_equals_sorted(values: list[float]) -> None:
    check_sort(records.sort, values)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 12, 13, 14, 39, 40, 41, 365, 1000])
def test_sorting_any_length(count: int) -> None:
    values = np.random.default_rng(count).integers(0, 100, count).astype(np.float64)
    check_sort(records.sort, values.tolist())
    check_sort(records.sort, sorted(values.tolist(), reverse=True))
    check_sort(records.sort, sorted(values.tolist()))


@given(one=VALUES, other=VALUES)
@example(one=[], other=[1.0])
@example(one=[1.0], other=[])
@example(one=[5.0, 6.0], other=[1.0, 2.0, 3.0])
def test_merging_equals_sorted(one: list[float], other: list[float]) -> None:
    check_merge(records.merge, one, other)
