"""Streams: named by what they are for, and different whenever the name differs."""

import itertools
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest

from ringfence.core.errors import InputError
from ringfence.core.streams import (
    Generator,
    chunk_streams,
    pull_seed,
    pull_seeds,
    whole_seed,
)
from ringfence.policies.registry import find_policy
from ringfence.simulation import cpu, reference
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from ringfence.simulation.tally import Tally

Engine: TypeAlias = Callable[[Experiment, int, int, int], Tally]

PULLS = [165989527072119110, 13969083676736130727]
ORDER = [10641522091785311876, 14559597508179178019]


def raw(stream: Generator, count: int = 4) -> list[int]:
    return [int(word) for word in stream.bit_generator.random_raw(count)]


def test_the_same_name_gives_the_same_stream() -> None:
    for place in (0, 1):
        assert raw(chunk_streams(7, 2000, 3)[place]) == raw(chunk_streams(7, 2000, 3)[place])


def test_streams_are_the_same_on_every_machine() -> None:
    """A change here changes every published number: it needs a line in the changelog."""
    pulls, order = chunk_streams(0, 2000, 0)
    assert raw(pulls, 2) == PULLS
    assert raw(order, 2) == ORDER


def test_different_names_give_different_streams() -> None:
    names = list(itertools.product((0, 1, 2, 2**32, 2**64), (0, 1, 2, 1000), (0, 1, 2, 1000)))
    streams = [tuple(raw(stream)) for name in names for stream in chunk_streams(*name)]
    assert len(set(streams)) == 2 * len(names)


def test_schedules_have_streams_of_their_own() -> None:
    streams = [chunk_streams(0, 1000, 0, schedule=schedule) for schedule in (0, 1, 2**32 - 1)]
    assert len({tuple(raw(stream)) for pair in streams for stream in pair}) == 6


def test_streams_do_not_share_words() -> None:
    """Overlapping or shifted streams would share some of their 64-bit words."""
    words = [raw(stream, 1000) for chunk in range(5) for stream in chunk_streams(0, 1000, chunk)]
    assert len(set(itertools.chain(*words))) == 10 * 1000


def test_streams_look_uniform_and_uncorrelated() -> None:
    """Sixteen means of 4,096 uniforms: six standard errors each, which fails once in 5e7 seeds."""
    for chunk in range(8):
        for stream in chunk_streams(0, 1000, chunk):
            assert abs(stream.random(4096).mean() - 0.5) < 6 * (1 / 12 / 4096) ** 0.5


@pytest.mark.parametrize("run", [cpu.run_chunk, reference.run_chunk])
def test_every_chunk_seed_and_budget_runs_on_streams_of_its_own(run: Engine) -> None:
    """Sixty-four answers, wrong about half of the time: equal by chance once in 1e17."""
    answers = {}
    for seed, budget, chunk in ((0, 40, 0), (0, 40, 1), (1, 40, 0), (0, 41, 0)):
        experiment = Experiment(Instance.load("paper-3"), find_policy("constrained-sr"), budget)
        wrong = run(experiment, seed, chunk, 64).wrong
        assert np.array_equal(wrong, run(experiment, seed, chunk, 64).wrong)
        answers[seed, budget, chunk] = tuple(wrong.tolist())
    assert len(set(answers.values())) == len(answers)


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**64, 10**30])
def test_any_whole_number_from_zero_is_a_seed(seed: int) -> None:
    assert whole_seed(seed) == seed
    chunk_streams(seed, 10, 0)


@pytest.mark.parametrize("seed", [-1, -(2**70)])
def test_a_negative_seed_is_refused(seed: int) -> None:
    with pytest.raises(InputError) as caught:
        whole_seed(seed)
    message = str(caught.value)
    assert f"seed = {seed} must be 0 or more" in message
    assert "Give a non-negative whole number" in message


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1, 2**32, 2**64 + 5, 2**128, 2**200 + 17])
def test_seeds_of_many_pulls_are_the_seeds_of_each(seed: int) -> None:
    rng = np.random.default_rng(0)
    arms = np.append(rng.integers(0, 2000, 60), [0, 2**32 - 1])
    ordinals = np.append(rng.integers(0, 2**32, 60), [0, 2**32 - 1])
    for longest in (62, 1, 0):
        places = list(zip(arms[:longest].tolist(), ordinals[:longest].tolist(), strict=True))
        found = pull_seeds(seed, arms[:longest], ordinals[:longest])
        assert found == [pull_seed(seed, *place) for place in places]
    beyond = np.array([1, 2**32, 2**40])
    assert pull_seeds(seed, arms[:3], beyond) == [
        pull_seed(seed, int(arm), int(k)) for arm, k in zip(arms[:3], beyond, strict=True)
    ]
