"""Costs worked out by hand, and their laws.

Against general solvers: test_cost_programs.py. Exact values, ties, ranges: test_cost_edges.py.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ringfence.core.arrays import Floats
from ringfence.core.cost import NEVER, cost_work
from tests.oracle.least_moves import Study
from tests.unit.cost_studies import COSTS, check, random_study, two_arms, used_work

each_cost = pytest.mark.parametrize("name", COSTS)
beating, passing, failing, nearing = COSTS.values()


# --------------------------------------------------------------------------------- by hand


def test_beating_by_hand() -> None:
    one = np.eye(2)
    # 1 behind in the objective, inside the limit: 1/(2 (1/n + 1/n_b)), split like the variances.
    check(beating(two_arms([0, 0], [1, -1], [0], covariance=one)), 1 / 4, 1 / 2)
    check(beating(two_arms([0, 0], [1, -1], [0], covariance=one, n=2)), 1 / 3, 2 / 3)
    # Better, but 3 beyond a limit of variance 2: 4 * 9/(2 * 2). The best arm need not move.
    deceiver = two_arms([0, 0], [-1, 5], [2], covariance=[[1, 0], [0, 2]], n=4)
    check(beating(deceiver), 9.0, 0.0)
    # 1 behind and 2 beyond, independent: 1/4 + 2; of the 1/4 the best arm has half.
    check(beating(two_arms([0, 0], [1, 2], [0], covariance=one)), 9 / 4, 1 / 18)
    # Inside and ahead already.
    assert beating(two_arms([0, 0], [-1, -1], [0], covariance=one))[0] == 0.0


def test_beating_with_correlation_by_hand() -> None:
    # G = [[2 + 2, 1], [1, 1]], c = (3, 2): eta = (1, 5)/3, the cost (3 * 1 + 2 * 5)/6 = 13/6, of
    # which the best arm has (1/3)^2 * 2/2 = 1/9.
    own, bests = [[2, 1], [1, 1]], [[2, 0], [0, 7]]
    both = two_arms([0, 0], [3, 2], [0], covariance=own, best_covariance=bests)
    check(beating(both), 13 / 6, (1 / 9) / (13 / 6))
    # With c = (3, 1/2) the objective alone is pressed, 9/(2 * 4), and the limit is met on the way:
    # the constraint falls by 1 * 3/4.
    objective = two_arms([0, 0], [3, 0.5], [0], covariance=own, best_covariance=bests)
    check(beating(objective), 9 / 8, 1 / 2)
    # With c = (1, 2) the limit alone, 4/2: the objective falls by 1 * 2 on the way.
    limit = two_arms([0, 0], [1, 2], [0], covariance=own, best_covariance=bests)
    check(beating(limit), 2.0, 0.0)
    # With the opposite correlation each makes the other dearer: eta = (5, 11)/3, (15 + 22)/6.
    own = [[2, -1], [-1, 1]]
    against = two_arms([0, 0], [3, 2], [0], covariance=own, best_covariance=bests)
    check(beating(against), 37 / 6, (25 / 9) / (37 / 6))


def test_beating_under_two_constraints_by_hand() -> None:
    # G = [[1 + 1, 1, 0], [1, 2, 1], [0, 1, 2]], c = (2, 1, 2): eta = (1, 0, 1), since the first
    # limit is overfulfilled on the way (G eta = (2, 2, 2)). The cost is (2 + 2)/2, the best's 1/2.
    own, bests = [[1, 1, 0], [1, 2, 1], [0, 1, 2]], np.eye(3)
    study = two_arms([0, 0, 0], [2, 1, 2], [0, 0], covariance=own, best_covariance=bests)
    check(beating(study), 2.0, 1 / 4)
    # Independent: the costs of violated limits add, 4/(2 * 2) + 1/2 + 9/2.
    study = two_arms([0, 0, 0], [2, 1, 3], [0, 0], covariance=np.eye(3))
    check(beating(study), 6.0, 1 / 12)


def test_passing_by_hand() -> None:
    assert passing(two_arms([0, 0], [0, 5], [2], covariance=[[1, 1], [1, 2]], n=4))[0] == 9.0
    assert passing(two_arms([0, 0], [0, 1], [2], covariance=np.eye(2)))[0] == 0.0

    def energy(first: float, second: float, correlation: float) -> float:
        covariance = np.eye(3)
        covariance[1, 2] = covariance[2, 1] = correlation
        arm = [0, first + 4, second + 7]
        return passing(two_arms([0, 0, 0], arm, [4, 7], covariance=covariance))[0]

    assert energy(2, -1, 0) == pytest.approx(2.0)  # 2^2/2
    assert energy(2, 1, 0) == pytest.approx(2.5)  # 2^2/2 + 1/2
    assert energy(1, 1, 0.5) == pytest.approx(2 / 3)  # eta = (2, 2)/3
    assert energy(1, 1, -0.5) == pytest.approx(2.0)  # eta = (2, 2)
    assert energy(1, 0.25, 0.5) == pytest.approx(0.5)  # the second falls by 0.5 on the way
    assert energy(1, -0.25, -0.5) == pytest.approx(0.5 + 0.25**2 / 1.5)  # it rises by 0.5


def test_failing_by_hand() -> None:
    def energy(*variances: float) -> float:
        covariance = np.diag([1.0, *variances])
        return failing(two_arms([0] * 3, [0, 1, -1], [2, 2], covariance=covariance, n=4))[0]

    assert energy(2, 36) == 0.5  # min(4 * 1/(2 * 2), 4 * 9/(2 * 36))
    assert energy(2, 9) == 1.0  # min(1, 4 * 9/(2 * 9))


def test_nearing_by_hand() -> None:
    # 2 further, variances 4/2 and 3/3: 4/(2 * 3), of which the best arm has one third.
    own, bests = [[1, 0], [0, 4]], [[1, 0], [0, 3]]
    study = two_arms([0, 3], [0, 5], [1], covariance=own, best_covariance=bests, n=2, best_n=3)
    check(nearing(study), 2 / 3, 1 / 3)
    # Violations (2, 1) and (4, 3). Below the best's first: r = (2, 1), G = [[2, 1], [1, 2]], so
    # eta = (1, 0) and the cost is 1; below its second it would be r = (3, 2), eta = (4, 1)/3, 7/3.
    study = two_arms([0, 2, 1], [0, 4, 3], [0, 0], covariance=np.eye(3))
    check(nearing(study), 1.0, 1 / 2)
    # The same in other units: the first attribute is halved, its scale doubled.
    halved = np.diag([1, 1 / 4, 1])
    study = two_arms([0, 1, 1], [0, 2, 3], [0, 0], covariance=halved, scales=[1, 2, 1])
    check(nearing(study), 1.0, 1 / 2)
    # The best's second violation, of variance 100, may easily be the larger one: r = (3, 2),
    # G = [[101, 100], [100, 101]], eta = (3/101, 0): 9/202, of which the best arm has 100/101.
    noisy = np.diag([1, 1, 100])
    study = two_arms([0, 2, 1], [0, 4, 3], [0, 0], covariance=np.eye(3), best_covariance=noisy)
    check(nearing(study), 9 / 202, 100 / 101)


# ------------------------------------------------------------------------------------ laws


@st.composite
def studies(draw: st.DrawFn, name: str) -> Study:
    """Two arms in sixteenths, whose noise is anything but singular, in the domain of the cost."""
    m = draw(st.integers(1, 3))
    size = m + 1

    def numbers(count: int, least: int, most: int) -> Floats:
        drawn = draw(st.lists(st.integers(least, most), min_size=count, max_size=count))
        return np.array(drawn, dtype=np.float64)

    mixtures = numbers(2 * size * size, -4, 4).reshape(2, size, size) / 4.0
    covariances = mixtures @ mixtures.transpose(0, 2, 1) + 0.25 * np.eye(size)
    thresholds, scales = numbers(m, -16, 16) / 16.0, numbers(size, 1, 16) / 8.0
    estimates = numbers(2 * size, -48, 48).reshape(2, size) / 16.0
    if name == "failing":
        estimates[:, 1:] = thresholds - np.abs(estimates[:, 1:])
    if name == "nearing":
        estimates[:, 1:] = thresholds + np.abs(estimates[:, 1:]) + 1.0 / 16.0
        margins = (scales[1:] * (estimates[:, 1:] - thresholds)).max(axis=1)
        estimates = estimates[np.argsort(margins)]
    pulls = st.floats(0.01, 1e4)
    return Study(estimates, covariances, thresholds, scales, 0, draw(pulls), 1, draw(pulls))


@each_cost
@given(st.data(), st.floats(1e-4, 1e4))
def test_costs_are_proportional_to_the_pulls(name: str, data: st.DataObject, k: float) -> None:
    study = data.draw(studies(name))
    energy, share = COSTS[name](study)
    scaled = COSTS[name](study.with_pulls(k * study.best_n, k * study.n))
    assert scaled[0] == pytest.approx(k * energy, rel=1e-9)
    if energy > 0.0 and name == "beating":
        assert scaled[1] == pytest.approx(share, rel=1e-9, abs=1e-12)


@each_cost
@given(st.data(), st.floats(1.0, 1e3), st.floats(1.0, 1e3))
def test_costs_never_fall_when_pulls_are_added(
    name: str, data: st.DataObject, more: float, bests_more: float
) -> None:
    study = data.draw(studies(name))
    before = COSTS[name](study)[0]
    after = COSTS[name](study.with_pulls(bests_more * study.best_n, more * study.n))[0]
    assert after >= before * (1.0 - 1e-9)


@each_cost
@given(st.data())
def test_the_order_of_constraints_does_not_matter(name: str, data: st.DataObject) -> None:
    study = data.draw(studies(name))
    order = np.array(data.draw(st.permutations(range(len(study.thresholds)))))
    all_of = np.concatenate([[0], order + 1])
    shuffled = replace(
        study,
        estimates=study.estimates[:, all_of],
        covariances=study.covariances[:, all_of][:, :, all_of],
        thresholds=study.thresholds[order],
        scales=study.scales[all_of],
    )
    assert COSTS[name](shuffled)[0] == pytest.approx(COSTS[name](study)[0], rel=1e-9)


@each_cost
@given(st.data(), st.floats(1e-2, 1e2))
def test_units_do_not_matter(name: str, data: st.DataObject, unit: float) -> None:
    """An attribute in other units; its scale is one over its unit."""
    study = data.draw(studies(name))
    units = np.ones(len(study.scales))
    units[data.draw(st.integers(0, len(units) - 1))] = unit
    changed = replace(
        study,
        estimates=study.estimates * units,
        covariances=study.covariances * np.outer(units, units),
        thresholds=study.thresholds * units[1:],
        scales=study.scales / units,
    )
    found, expected = COSTS[name](changed), COSTS[name](study)
    assert found[0] == pytest.approx(expected[0], rel=1e-9, abs=1e-20)
    if expected[0] > 0.0 and name == "beating":
        assert found[1] == pytest.approx(expected[1], rel=1e-9, abs=1e-12)


@each_cost
@given(st.data())
def test_shifting_values_and_thresholds_changes_nothing(name: str, data: st.DataObject) -> None:
    study = data.draw(studies(name))
    size = len(study.scales)
    shift = np.array(data.draw(st.lists(st.integers(-99, 99), min_size=size, max_size=size)))
    shifted = replace(
        study, estimates=study.estimates + shift, thresholds=study.thresholds + shift[1:]
    )
    assert COSTS[name](shifted) == COSTS[name](study)


@given(st.data())
def test_correlation_never_changes_the_cost_of_failing(data: st.DataObject) -> None:
    study = data.draw(studies("failing"))
    alone = study.covariances * np.eye(len(study.scales))
    assert failing(replace(study, covariances=alone)) == failing(study)


@each_cost
@given(st.data())
def test_only_what_may_matter_is_read(name: str, data: st.DataObject) -> None:
    """Only beating looks at objectives, and of the best arm at nothing else."""
    study = data.draw(studies(name))
    estimates, covariances = study.estimates.copy(), study.covariances.copy()
    if name == "beating":
        estimates[0, 1:] = covariances[0, 1:, :] = covariances[0, :, 1:] = np.nan
    else:
        estimates[:, 0] = covariances[:, 0, :] = covariances[:, :, 0] = np.nan
    if name in ("passing", "failing"):
        estimates[0], covariances[0] = np.nan, np.nan
    blinded = replace(study, estimates=estimates, covariances=covariances)
    assert COSTS[name](blinded) == COSTS[name](study)


@each_cost
@given(st.data())
def test_costs_are_finite_and_shares_are_shares(name: str, data: st.DataObject) -> None:
    energy, share = COSTS[name](data.draw(studies(name)))
    assert 0.0 <= energy < NEVER
    assert 0.0 <= share <= 1.0


@pytest.mark.parametrize("name", ["beating", "nearing"])
@given(st.data())
def test_the_share_is_the_slope_in_the_best_arms_pulls(name: str, data: st.DataObject) -> None:
    """share * cost/best_n lies between the slopes on both sides: costs are concave in the pulls.

    Where two changes tie there is a kink, and any slope in between will do; else they pinch it.
    """
    study = data.draw(studies(name))
    energy, share = COSTS[name](study)
    assume(energy > 0.0)
    step = 1e-4
    less, more = (
        COSTS[name](study.with_pulls((1.0 + side) * study.best_n, study.n))[0] / energy
        for side in (-step, step)
    )
    assert (more - 1.0) / step - 1e-7 <= share <= (1.0 - less) / step + 1e-7


def test_the_slopes_do_pinch_the_share() -> None:
    """Without kinks the two slopes of the law above are close, so that it says something."""
    stream = np.random.default_rng(8)
    widths = []
    for _ in range(300):
        study = random_study(stream, 2, "beating")
        energy = beating(study)[0]
        if energy > 0.0:
            less, more = (
                beating(study.with_pulls((1.0 + side) * study.best_n, study.n))[0] / energy
                for side in (-1e-4, 1e-4)
            )
            widths.append((2.0 - less - more) / 1e-4)
    assert len(widths) > 200
    assert max(widths) < 1e-3


# ------------------------------------------------------------------------------- the room


@each_cost
def test_inputs_are_left_alone(name: str) -> None:
    stream = np.random.default_rng(9)
    for m in (1, 2, 3):
        for _ in range(20):
            study = random_study(stream, m, name)
            arrays = (study.estimates, study.covariances, study.thresholds, study.scales)
            before = [array.copy() for array in arrays]
            for array in arrays:
                array.setflags(write=False)
            COSTS[name](study)
            for array, copy in zip(arrays, before, strict=True):
                np.testing.assert_array_equal(array, copy)


@each_cost
def test_room_may_be_used_again(name: str) -> None:
    """What an earlier and even a larger problem left behind changes nothing, to the last bit."""
    stream = np.random.default_rng(10)
    shared = used_work(4)
    for _ in range(200):
        study = random_study(stream, int(stream.integers(1, 4)), name)
        fresh = COSTS[name].ask(study, cost_work(study.estimates.shape[1]))
        assert COSTS[name].ask(study, shared) == fresh
        assert COSTS[name].ask(study, shared) == fresh
