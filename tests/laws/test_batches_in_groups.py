"""Large batches: where they are cut, that groups are decided as transcribed, who gets how much."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.core.arrays import Floats
from ringfence.core.chance import spin
from ringfence.policies import groups, ocba_co, thompson, top_two
from ringfence.policies.course import Opening
from ringfence.policies.evidence import Evidence
from ringfence.simulation.compilation import compile_kernel
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.families import find_family
from ringfence.simulation.lanes import choices
from tests.oracle import groups as oracle

SIX, BATCH, MOST_SHARE = 6, 4000, 0.42
counts = st.integers(0, 10**7)


@given(counts, st.integers(1, 10**6))
def test_groups_are_at_most_64_and_a_tenth_of_what_is_known(known: int, size: int) -> None:
    found, start = [], 0
    while start < size:
        end = groups.end_of_group(start, size, size, known)
        found.append(end - start)
        start = end
    assert found == oracle.sizes(known, size)
    assert len(found) <= groups.MOST_GROUPS
    assert (len(found) > 1) == groups.is_cut(known, size)
    assert min(found[:-1], default=16) >= 16
    assert sum(found) == size


@given(counts, st.integers(1, 16))
def test_small_batches_are_whole(known: int, size: int) -> None:
    assert not groups.is_cut(known, size)


@given(counts, st.integers(1, 10**6), st.integers(1, 300))
def test_choices_that_stand_for_several_pulls_end_their_groups_too(
    known: int, size: int, slots: int
) -> None:
    slots, start = min(size, slots), 0
    for _ in range(slots):
        start, before = groups.end_of_group(start, slots, size, known), start
        assert before < start <= slots
        if start == slots:
            break
    assert start == slots


def evidence(rng: np.random.Generator, arm_count: int, width: int = 2) -> Evidence:
    """Return a study without ties, with a baseline or prices or neither."""
    counts = rng.integers(2, 60, arm_count)
    roots = rng.normal(size=(arm_count, width, width)) + 2.0 * np.eye(width)
    baseline = int(rng.integers(arm_count)) if rng.random() < 0.3 else -1
    prices = rng.integers(1, 5, arm_count).astype(float) if rng.random() < 0.3 else np.ones(1)
    return Evidence(
        np.asfortranarray(rng.normal(size=(arm_count, width))), counts,
        np.zeros(arm_count, np.int64), np.ones(arm_count, np.bool_),
        np.asfortranarray(roots @ roots.transpose(0, 2, 1)), np.ones(width),
        rng.normal(size=width - 1), rng.permutation(arm_count),
        np.array([float(rng.integers(1, 3000))]), np.array([baseline]), prices,
    )  # fmt: skip


def decided(policy: Any, seen: Evidence, uniforms: Floats, size: int, decide: Any = None) -> Any:
    """Return the pulls of a batch, as the course has them; nothing that was seen has changed."""
    course = policy.course
    state = course.make_state(Opening(1), *seen.estimates.shape, len(uniforms))
    before, fresh = [np.array(one) for one in seen], np.zeros(len(seen.counts), np.int64)
    assert (decide or course.decide)(seen, state, uniforms, size, fresh)
    assert state.faults[0] == 0
    for one, other in zip(seen, before, strict=True):
        np.testing.assert_array_equal(one, other)
    return fresh


def check_decided(policy: Any, *, number: int = 60, decide: Any = None) -> None:
    """Compare with the transcription, to the pull."""
    rng, met = np.random.default_rng(3), Counter[str]()
    for _ in range(number):
        seen = evidence(rng, int(rng.integers(2, 7)))
        size = int(rng.integers(1, 200))
        slots = size if rng.random() < 0.7 else int(rng.integers(1, size + 1))
        uniforms = rng.random(slots)
        right = oracle.fresh_pulls(policy, seen, uniforms, size)
        found = decided(policy, seen, uniforms, size, decide)
        np.testing.assert_array_equal(found, right)
        known = int(seen.counts.sum())
        met["cut"] += groups.is_cut(known, size)
        met["whole"] += not groups.is_cut(known, size)
        met["relative"] += bool(groups.is_cut(known, size) and seen.baseline[0] >= 0)
        met["priced"] += bool(groups.is_cut(known, size) and len(seen.prices) > 1)
        met["several a choice"] += bool(groups.is_cut(known, size) and slots < size)
    assert min(met.values()) > 2, met


@pytest.mark.parametrize("policy", [top_two, ocba_co, thompson], ids=lambda one: one.POLICY.name)
def test_batches_are_decided_as_transcribed(policy: Any) -> None:
    check_decided(policy.POLICY)


def check_looked_ahead(room: Any, *, number: int = 100) -> None:
    """Compare what a group is decided from with the transcription, budget and prices too."""
    rng, met = np.random.default_rng(7), Counter[str]()
    for _ in range(number):
        seen = evidence(rng, int(rng.integers(2, 7)))
        fresh, uniforms = rng.integers(0, 40, len(seen.counts)), rng.random(2)
        ahead, state = room.make_ahead(*seen.estimates.shape), np.zeros(2)
        room.begin_ahead(seen, uniforms, ahead)
        spin(state, float(uniforms.sum() % 1.0))
        found, right = room.look_ahead(seen, fresh, ahead), oracle.ahead(seen, fresh, state)
        np.testing.assert_array_equal(found.left, right.left)
        np.testing.assert_array_equal(found.counts, right.counts)
        np.testing.assert_allclose(found.estimates, right.estimates, rtol=1e-9, atol=1e-9)
        met["priced, with a budget that is left"] += len(seen.prices) > 1 and right.left[0] > 0
        met["spent"] += right.left[0] == 0
    assert min(met.values()) > 2, met


def test_what_is_looked_ahead_at_is_as_transcribed() -> None:
    check_looked_ahead(groups)


def test_they_are_compiled_as_they_are() -> None:
    """Prices and a baseline have a place for each arm in simulations."""
    decide, rng = compile_kernel(ocba_co.POLICY.course.decide), np.random.default_rng(5)
    for _ in range(40):
        seen, uniforms = evidence(rng, 5), rng.random(int(rng.integers(1, 300)))
        found = decided(ocba_co.POLICY, seen, uniforms, len(uniforms), decide)
        right = decided(ocba_co.POLICY, seen, uniforms, len(uniforms))
        np.testing.assert_array_equal(found, right)


def largest_shares(policy: Any, studies: int) -> list[float]:
    """Return the share of a batch that went to one of six like arms, after ten pulls of each."""
    rng, found = np.random.default_rng(0), []
    for _ in range(studies):
        means = rng.normal(size=(SIX, 2)) / 10**0.5
        seen = Evidence(
            means, np.full(SIX, 10), np.zeros(SIX, np.int64), np.ones(SIX, np.bool_),
            np.tile(np.eye(2), (SIX, 1, 1)), np.ones(2), np.ones(1), np.arange(SIX),
            np.array([2.0 * BATCH]),
        )  # fmt: skip
        found.append(decided(policy, seen, rng.random(BATCH), BATCH).max() / BATCH)
    return found


def check_like_arms(policy: Any) -> None:
    """None gets more than .42 of a batch. Of batches that were decided whole one got all."""
    shares = largest_shares(policy, 12)
    assert max(shares) <= MOST_SHARE
    assert np.mean(shares) < 0.32


def test_no_arm_of_six_like_ones_gets_most_of_a_large_batch() -> None:
    check_like_arms(top_two.POLICY)


def test_side_by_side_are_only_batches_that_are_whole() -> None:
    """Also where they grow: a hundredth of the pulls so far is less than a group."""
    one, policy = find_family("uniform").draw(0, arm_count=8), top_two.POLICY
    for batch, growth, suits in (
        (1, 0.0, True), (16, 0.0, True), (17, 0.0, False), (1, 0.1, True), (1, 0.2, False),
    ):  # fmt: skip
        experiment = Experiment(one, policy, 1300, batch=batch, growth=growth)
        assert choices.suits(experiment) is suits
    assert choices.suits(
        Experiment(find_family("uniform").draw(0, arm_count=20), policy, 3500, batch=20)
    )
