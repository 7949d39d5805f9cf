"""The probabilities of answers, against draws from the posterior they speak of."""

from dataclasses import replace

import numpy as np
import pytest

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.gaps import apparent_best, margin
from ringfence.core.posterior import (
    EVEN,
    NODES,
    chance_feasible_best,
    chance_nearest,
    fill_passing,
    likeliest_answer,
    may_be_best,
    may_be_nearest,
    most_doubt,
)
from ringfence.core.sharing import no_sharing
from ringfence.policies.course import Opening
from ringfence.policies.evidence import Evidence
from ringfence.policies.top_two import POLICY

DRAWS = 40_000
LIMIT = np.zeros(1)
SCALES = np.ones(2)


def studies(correlation: float) -> list[tuple[Floats, Floats, Integers]]:
    """Return estimates, covariances and counts of studies in which much is undecided."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(12):
        arm_count = int(rng.integers(2, 6))
        estimates = rng.normal(scale=0.25, size=(arm_count, 2)) + rng.choice([0.0, 0.3])
        covariances = np.tile([[1.0, correlation], [correlation, 1.0]], (arm_count, 1, 1))
        found.append((estimates, covariances, rng.integers(10, 200, arm_count)))
    return found


def rooms(arm_count: int) -> tuple[Floats, Floats]:
    return np.zeros((arm_count, NODES)), np.zeros((arm_count, NODES + 1))


def drawn(estimates: Floats, covariances: Floats) -> tuple[Integers, Mask]:
    """Return the answer of draws around the estimates, and whether an arm is feasible in them."""
    rng = np.random.default_rng(1)
    draws = np.stack(
        [
            rng.multivariate_normal(at, noise, DRAWS)
            for at, noise in zip(estimates, covariances, strict=True)
        ]
    )
    objectives, risks = draws[:, :, 0], draws[:, :, 1]
    passes = np.asarray((risks <= 0.0).any(axis=0))
    best = np.where(risks <= 0.0, objectives, np.inf).argmin(axis=0)
    return np.asarray(np.where(passes, best, risks.argmin(axis=0))), passes


@pytest.mark.parametrize("correlation", [0.0, 0.6, -0.6], ids=str)
def test_chances_are_those_of_draws(correlation: float) -> None:
    undecided = 0
    for estimates, covariances, counts in studies(correlation):
        arm_count = len(counts)
        alive = np.ones(arm_count, np.bool_)
        answers, passes = drawn(estimates, covariances / counts[:, None, None])
        passing, reached = rooms(arm_count)
        for i in range(arm_count):
            fill_passing(passing, reached, i, estimates, counts, covariances, LIMIT)
        best = apparent_best(estimates, alive, SCALES, LIMIT, np.arange(arm_count))
        for i in range(arm_count):
            as_best = chance_feasible_best(
                i, estimates, counts, alive, covariances, passing, reached
            )
            as_nearest = chance_nearest(i, estimates, counts, alive, covariances, SCALES, LIMIT)
            mine = answers == i
            seen = float((mine & passes).mean()), float((mine & ~passes).mean())
            noise = 5.0 / np.sqrt(DRAWS)
            assert as_best == pytest.approx(seen[0], abs=0.005 + noise)
            assert as_nearest == pytest.approx(seen[1], abs=0.005 + noise)
            undecided += 0.1 < as_best < 0.9 or 0.1 < as_nearest < 0.9
            # What is left out of the weighing could not have won.
            if not may_be_best(i, best, 0.3, estimates, counts, covariances, reached):
                assert as_best < 0.3 + 1e-6
            if not may_be_nearest(i, best, 0.3, estimates, counts, covariances, SCALES, LIMIT):
                assert as_nearest < 0.3 + 1e-6
    assert undecided > 20


@pytest.mark.parametrize("correlation", [0.0, 0.6, -0.6], ids=str)
def test_what_is_little_in_doubt_is_not_weighed(correlation: float) -> None:
    rng = np.random.default_rng(8)
    little = much = 0
    for estimates, covariances, _ in studies(correlation) * 8:
        arm_count = len(estimates)
        alive, counts = np.ones(arm_count, np.bool_), rng.integers(10, 800, arm_count)
        best = apparent_best(estimates, alive, SCALES, LIMIT, np.arange(arm_count))
        given = estimates, counts, alive, covariances
        passing, reached = rooms(arm_count)
        for i in range(arm_count):
            fill_passing(passing, reached, i, estimates, counts, covariances, LIMIT)
        if margin(estimates, best, SCALES, LIMIT) <= 0.0:
            own = chance_feasible_best(best, *given, passing, reached)
        else:
            own = chance_nearest(best, *given, SCALES, LIMIT)
        doubt = most_doubt(best, *given, SCALES, LIMIT)
        assert doubt >= 1.0 - own - 1e-3
        little += doubt < EVEN
        much += doubt >= EVEN
    assert min(little, much) >= 20


def test_metrics_without_noise_have_certain_answers() -> None:
    estimates = np.array([[0.0, -1.0], [-1.0, 1.0], [1.0, -1.0]])
    nothing, counts = np.zeros((3, 2, 2)), np.full(3, 4)
    alive, order = np.ones(3, np.bool_), np.arange(3)
    found = likeliest_answer(estimates, counts, alive, nothing, SCALES, LIMIT, order, *rooms(3))
    assert found == (0, True)
    estimates[:, 1] = [3.0, 1.0, 2.0]
    found = likeliest_answer(estimates, counts, alive, nothing, SCALES, LIMIT, order, *rooms(3))
    assert found == (1, False)


@pytest.mark.parametrize("cheapest", [1.0, 2.9])
def test_arms_that_tie_without_noise_do_not_beat_each_other(cheapest: float) -> None:
    """Two arms at one price keep the limit: together they must not seem the less likely answer."""
    estimates = np.array([[3.0, -0.6], [cheapest, 0.3], [3.0, -0.5]])
    covariances, counts = np.tile(np.diag([0.0, 1.0]), (3, 1, 1)), np.array([60, 60, 60])
    alive, order = np.ones(3, np.bool_), np.arange(3)
    found = likeliest_answer(estimates, counts, alive, covariances, SCALES, LIMIT, order, *rooms(3))
    assert found == (0, True)
    passing, reached = rooms(3)
    for i in range(3):
        fill_passing(passing, reached, i, estimates, counts, covariances, LIMIT)
    given = estimates, counts, alive, covariances
    chances = [chance_feasible_best(i, *given, passing, reached) for i in range(3)]
    dear = 1.0 - reached[1, NODES]  # the cheap one breaks its limit
    assert chances == pytest.approx([dear, reached[1, NODES], dear], abs=1e-3)
    assert most_doubt(0, *given, SCALES, LIMIT) < EVEN
    assert may_be_best(2, 0, 0.5, estimates, counts, covariances, reached)


@pytest.mark.parametrize("shares", [False, True])
def test_top_two_answers_with_the_likeliest_whether_arms_share_blocks_or_not(shares: bool) -> None:
    """An arm that looks best and feasible by a hair is neither; one behind it is safe."""
    estimates = np.array([[0.0, -0.001], [0.01, -1.0]])
    covariances, counts = np.tile(np.eye(2), (2, 1, 1)), np.array([30, 30])
    seen = Evidence(
        estimates=estimates, counts=counts, in_flight=np.zeros_like(counts),
        alive=np.ones(2, np.bool_), covariances=covariances, scales=SCALES, thresholds=LIMIT,
        priority=np.arange(2), left=np.zeros(1), prices=np.ones(2),
        sharing=no_sharing(2, 2) if shares else None,
    )  # fmt: skip
    for policy, arm in ((POLICY, 1), (replace(POLICY, answer_sharing=None), 0 if shares else 1)):
        course = policy.course_for(BEST_FEASIBLE, shares=shares)
        state, marked = course.make_state(Opening(10), 2, 2, 1), np.zeros(2, np.bool_)
        assert course.answer(seen, state, marked) == (arm, True)
        assert marked.tolist() == [arm == 0, arm == 1]
