"""Drifts: they bring the answer to the brink, and cost exactly what the cost function says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.core.arrays import Floats
from ringfence.core.baseline import Versus
from ringfence.core.cost import (
    NEVER,
    beating_cost,
    cost_work,
    failing_cost,
    nearing_cost,
    passing_cost,
)
from ringfence.core.drifts import (
    beating_drift,
    energy_of,
    failing_drift,
    nearing_drift,
    passing_drift,
)
from ringfence.core.gaps import margin
from ringfence.core.hardness import hardness
from ringfence.core.oracle import Truth
from ringfence.core.threats import ARM, fill_move, make_threats, threat_cost


def random_truth(seed: int, arms: int, constraints: int, *, feasible: bool) -> Truth:
    """Return a random instance in which some arm is feasible, or none."""
    rng = np.random.default_rng(seed)
    width = 1 + constraints
    means = rng.normal(size=(arms, width))
    thresholds = np.full(constraints, 0.3)
    means[:, 1:] = np.abs(means[:, 1:]) + 0.4
    if feasible:
        means[rng.integers(arms), 1:] = -0.2
    roots = rng.normal(size=(arms, width, width))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(width)
    scales = rng.uniform(0.5, 2.0, width)
    return Truth(hardness(means, scales, thresholds), means, covariances, scales, thresholds)


def others(truth: Truth) -> list[int]:
    return [arm for arm in range(len(truth.means)) if arm != truth.theory.optimal]


CASES = given(
    st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 3), st.floats(1, 50), st.floats(1, 50)
)


@settings(max_examples=60, deadline=None)
@CASES
def test_arms_of_a_feasible_instance_move_to_the_brink(
    seed: int, arms: int, constraints: int, best_n: float, n: float
) -> None:
    truth = random_truth(seed, arms, constraints, feasible=True)
    best, work = truth.theory.optimal, cost_work(1 + constraints)
    pulls = np.full(arms, n)
    pulls[best] = best_n
    for arm in others(truth):
        drift = beating_drift(truth, arm, best_n, n)
        assert drift is not None
        moved = truth.means + drift
        assert moved[arm, 0] <= moved[best, 0] + 1e-7
        assert (moved[arm, 1:] <= truth.thresholds + 1e-7).all()
        given_ = (truth.means, truth.covariances, best, best_n, arm, n, truth.thresholds, work)
        cost = beating_cost(*given_)[0]
        assert energy_of(drift, truth, pulls) == pytest.approx(cost, rel=1e-6, abs=1e-9)
    fails = [failing_drift(truth, c) for c in range(constraints)]
    costs = [energy_of(drift, truth, pulls) for drift in fails if drift is not None]
    least = failing_cost(truth.means, truth.covariances, best, best_n, truth.thresholds)
    assert min(costs) == pytest.approx(least, rel=1e-9)
    for c, drift in enumerate(fails):
        assert drift is not None
        assert truth.means[best, c + 1] + drift[best, c + 1] == pytest.approx(truth.thresholds[c])


@settings(max_examples=60, deadline=None)
@CASES
def test_arms_of_an_infeasible_instance_move_to_the_brink(
    seed: int, arms: int, constraints: int, best_n: float, n: float
) -> None:
    truth = random_truth(seed, arms, constraints, feasible=False)
    best, work = truth.theory.optimal, cost_work(1 + constraints)
    pulls = np.full(arms, n)
    pulls[best] = best_n

    def closeness(means: Floats, arm: int) -> float:
        return float(margin(means, arm, truth.scales, truth.thresholds))

    for arm in others(truth):
        drift = nearing_drift(truth, arm, best_n, n)
        assert drift is not None
        moved = truth.means + drift
        assert closeness(moved, arm) <= closeness(moved, best) + 1e-7
        given_ = (truth.means, truth.covariances, best, best_n, arm, n)
        cost = nearing_cost(*given_, truth.scales, truth.thresholds, work)[0]
        assert energy_of(drift, truth, pulls) == pytest.approx(cost, rel=1e-6, abs=1e-9)
    for arm in range(arms):
        drift = passing_drift(truth, arm)
        assert drift is not None
        assert ((truth.means + drift)[arm, 1:] <= truth.thresholds + 1e-7).all()
        cost = passing_cost(
            truth.means, truth.covariances, arm, float(pulls[arm]), truth.thresholds, work
        )
        assert energy_of(drift, truth, pulls) == pytest.approx(cost, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("feasible", [True, False])
@settings(max_examples=60, deadline=None)
@CASES
def test_drifts_are_the_moves_of_threats(
    feasible: bool, seed: int, arms: int, constraints: int, best_n: float, n: float
) -> None:
    truth = random_truth(seed, arms, constraints, feasible=feasible)
    best, width = truth.theory.optimal, 1 + constraints
    pulls = np.full(arms, n)
    pulls[best] = best_n
    threats, work = make_threats(arms, width), cost_work(width)
    count = truth.question.fill_threats(
        np.ones(arms, np.bool_), truth.marked, best, feasible, truth.scales, truth.thresholds,
        Versus.of(None, np.zeros(constraints)), threats,
    )  # fmt: skip
    cheapest: dict[tuple[int, int, int], tuple[float, Floats]] = {}
    for t in range(count):
        arm, rival, _ = threats.arms[t].tolist()
        about = (truth.means, truth.covariances, pulls, truth.thresholds, work)
        cost, move = threat_cost(threats, t, *about), np.zeros_like(truth.means)
        fill_move(move, threats, t, truth.covariances, pulls, work)
        breaks = int(threats.rows[t, 0, ARM].argmin()) if threats.strict[t] else 0
        key = arm, rival, breaks
        if key not in cheapest or cost < cheapest[key][0]:
            cheapest[key] = cost, move
    assert len(cheapest) == (constraints if feasible else arms) + arms - 1
    for (arm, rival, breaks), (_, move) in cheapest.items():
        if rival == best:
            closed = (beating_drift if feasible else nearing_drift)(truth, arm, best_n, n)
        else:
            closed = failing_drift(truth, breaks - 1) if breaks else passing_drift(truth, arm)
        assert closed is not None
        np.testing.assert_allclose(move, closed, rtol=1e-7, atol=1e-9)


def test_what_never_varies_cannot_drift() -> None:
    means = np.array([[0.0, 0.0], [1.0, 2.0]])
    covariances = np.array([[[1.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]])
    thresholds, scales = np.array([1.0]), np.ones(2)
    truth = Truth(hardness(means, scales, thresholds), means, covariances, scales, thresholds)
    assert failing_drift(truth, 0) is None
    assert beating_drift(truth, 1, 5.0, 5.0) is None
    work = cost_work(2)
    assert beating_cost(means, covariances, 0, 5.0, 1, 5.0, thresholds, work)[0] == NEVER
