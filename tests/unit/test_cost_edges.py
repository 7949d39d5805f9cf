"""Costs at their edges: exact values, ties, thresholds, several limits on one metric."""

import numpy as np
import pytest

from ringfence.core.cost import NEVER
from tests.oracle.least_moves import Study
from tests.unit.cost_studies import COSTS, check, two_arms

beating, passing, failing, nearing = COSTS.values()

EXACT_LIMIT = np.diag([1.0, 0.0])
EXACT_OBJECTIVE = np.diag([0.0, 1.0])


# ------------------------------------------------------------------------------ exact values


@pytest.mark.parametrize("n", [1e-3, 1.0, 1e6])
def test_what_is_known_exactly_never_moves(n: float) -> None:
    def certain(best: list[float], arm: list[float]) -> Study:
        return two_arms(best, arm, [0], covariance=EXACT_LIMIT, n=n, best_n=n)

    for lead in (-1, 0, 1):
        assert beating(certain([0, 0], [lead, 1])) == (NEVER, 0.0)
        assert passing(certain([0, 0], [lead, 1]))[0] == NEVER
    assert failing(certain([0, 0], [0, -1]))[0] == NEVER
    assert nearing(certain([0, 1], [0, 2]))[0] == NEVER


def test_what_is_known_exactly_and_right_is_ignored() -> None:
    for value in (-1, 0):
        check(beating(two_arms([0, 0], [1, value], [0], covariance=EXACT_LIMIT)), 1 / 4, 1 / 2)
        assert passing(two_arms([0, 0], [0, value], [0], covariance=EXACT_LIMIT))[0] == 0.0
    # The second limit is exact and met: the first alone counts. 4/(2 * 2) + 9/2, then 9/2.
    mixed = np.diag([1.0, 1.0, 0.0])
    study = two_arms([0, 0, 0], [2, 3, 0], [0, 1], covariance=mixed)
    check(beating(study), 5.5, 1 / 11)
    assert passing(study)[0] == 4.5
    # Not met, it makes everything impossible, in whichever place it stands.
    for arm, covariance in (([2, 3, 2], mixed), ([2, 1, 3], np.diag([1.0, 0.0, 1.0]))):
        study = two_arms([0, 0, 0], arm, [0, 1], covariance=covariance)
        assert beating(study) == (NEVER, 0.0)
        assert passing(study)[0] == NEVER


def test_failing_on_the_uncertain_constraint_only() -> None:
    covariance = np.diag([1.0, 0.0, 2.0])
    for exact in (-1, 0):  # even on its threshold, it will not pass it
        study = two_arms([0] * 3, [0, exact, -2], [0, 0], covariance=covariance)
        assert failing(study)[0] == 1.0


def test_exact_objectives() -> None:
    for size in (2, 3):
        exact = np.diag([0.0] + [1.0] * (size - 1))
        zeros, limits = [0.0] * size, [0.0] * (size - 1)
        inside, beyond = [-1.0] * (size - 1), [2.0] + [-1.0] * (size - 2)
        # Behind by what is certain; level or ahead by it, the limit alone decides.
        for limit_values, energy in ((inside, 0.0), (beyond, 2.0)):
            behind = two_arms(zeros, [1, *limit_values], limits, covariance=exact)
            assert beating(behind) == (NEVER, 0.0)
            for lead in (-1, 0):
                study = two_arms(zeros, [lead, *limit_values], limits, covariance=exact)
                assert beating(study) == (energy, 0.0)
        # One of the two exact: the other makes the whole move, of variance 1.
        sure, unsure = exact, np.eye(size)
        study = two_arms(zeros, [1, *inside], limits, covariance=sure, best_covariance=unsure)
        check(beating(study), 0.5, 1.0)
        study = two_arms(zeros, [1, *inside], limits, covariance=unsure, best_covariance=sure)
        check(beating(study), 0.5, 0.0)


def test_nearing_of_exact_values() -> None:
    study = two_arms([0, 1], [0, 2], [0], covariance=EXACT_LIMIT, best_covariance=np.eye(2))
    check(nearing(study), 0.5, 1.0)
    study = two_arms([0, 1], [0, 2], [0], covariance=np.eye(2), best_covariance=EXACT_LIMIT)
    check(nearing(study), 0.5, 0.0)
    assert nearing(two_arms([0, 1], [0, 1], [0], covariance=EXACT_LIMIT))[0] == 0.0


@pytest.mark.parametrize("violations", [(3, 2), (2, 3)])
def test_nearing_under_two_exact_constraints(violations: tuple[float, float]) -> None:
    # The best arm must rise to 3 in its one noisy violation, from 1 and with variance 1.
    noisy = np.diag([1.0, 0.0, 0.0, 1.0])
    study = two_arms([0, 0.5, 0.5, 1], [0, *violations, 0.5], [0, 0, 0], covariance=noisy)
    check(nearing(study), 2.0, 1.0)


# ------------------------------------------------------------------ several limits on a metric


def on_one_metric(
    x: float, *limits: tuple[int, float], lead: float = -1.0, n: float = 3.0
) -> Study:
    """Return an arm with a metric of variance 2, and limits +1 * x <= high or -1 * x <= -low."""
    signs = np.array([0.0, *(sign for sign, _ in limits)])
    covariance = 2.0 * np.outer(signs, signs)
    covariance[0, 0] = 1.0
    arm, best = [lead, *(signs[1:] * x)], [0.0] * len(signs)
    return two_arms(best, arm, [sign * limit for sign, limit in limits], covariance=covariance, n=n)


@pytest.mark.parametrize(
    ("x", "distance"),
    [
        (0.7, 0.6),
        (0.1, 0.0),
        (-0.1, 0.0),
        (0.0, 0.0),
        (-0.3, 0.2),
        (1e3, 999.9),
        (0.1 + 1e-9, 1e-9),
    ],
)
def test_a_range(x: float, distance: float) -> None:
    """-0.1 <= x <= 0.1 as two limits, of correlation -1: what counts is the distance to it."""
    for limits in (((1, 0.1), (-1, -0.1)), ((-1, -0.1), (1, 0.1))):
        study = on_one_metric(x, *limits)
        energy = 3.0 * distance**2 / (2.0 * 2.0)
        assert passing(study)[0] == pytest.approx(energy, rel=1e-6, abs=1e-30)
        check(beating(study), passing(study)[0], 0.0)
        # Behind in an independent objective: 1/(2 (1/3 + 1)) more, 3/4 of it the best arm's.
        share = (3 / 4 * 3 / 8) / (energy + 3 / 8)
        check(beating(on_one_metric(x, *limits, lead=1.0)), energy + 3 / 8, share)


def test_a_range_of_one_value_and_an_empty_range() -> None:
    for x in (-3.0, 0.5, 4.0):
        point = on_one_metric(x, (1, 0.5), (-1, 0.5))
        assert passing(point)[0] == pytest.approx(0.75 * (x - 0.5) ** 2)
        for limits in (((1, 0.5), (-1, 0.75)), ((-1, 0.75), (1, 0.5))):
            assert passing(on_one_metric(x, *limits))[0] == NEVER
            assert beating(on_one_metric(x, *limits)) == (NEVER, 0.0)


@pytest.mark.parametrize("limits", [(1.0, 3.0), (3.0, 1.0)])
def test_two_limits_on_one_metric(limits: tuple[float, float]) -> None:
    # x = 5, variance 2, three pulls: the tighter limit counts, 3 * 4^2/4. With the objective 3/8.
    study = on_one_metric(5.0, *((1, limit) for limit in limits))
    assert passing(study)[0] == pytest.approx(12.0)
    study = on_one_metric(5.0, *((1, limit) for limit in limits), lead=1.0)
    check(beating(study), 12.375, (9 / 32) / 12.375)
    # The looser one is met already, in either order.
    assert passing(on_one_metric(2.0, (1, limits[0]), (1, limits[1])))[0] == pytest.approx(0.75)


def test_one_limit_said_twice() -> None:
    for x in (5.0, 0.1 + 0.2, 1e-3):
        once, twice = on_one_metric(x, (1, 0.0)), on_one_metric(x, (1, 0.0), (1, 0.0))
        assert passing(twice)[0] == pytest.approx(passing(once)[0], rel=1e-12)
        check(beating(twice), *beating(once))
        thrice = on_one_metric(x, (1, 0.0), (1, 0.0), (1, 0.0))
        check(beating(thrice), *beating(once))


@pytest.mark.parametrize("unit", [1e-3, 1 / 3, 7.3, 60.0])
def test_one_limit_in_two_units(unit: float) -> None:
    """Neither demand is larger than the other, but for rounding, which must not decide."""
    stream = np.random.default_rng(11)
    for _ in range(100):
        x, limit, variance, n = stream.uniform([1, 0, 0.1, 1], [2, 0.9, 3, 50])
        once = two_arms([0, 0], [1, x], [limit], covariance=np.diag([1, variance]), n=n)
        for units in (np.array([0, 1, unit]), np.array([0, unit, 1])):
            covariance = variance * np.outer(units, units)
            covariance[0, 0] = 1.0
            arm, limits = [1, *(units[1:] * x)], units[1:] * limit
            twice = two_arms([0, 0, 0], arm, limits, covariance=covariance, n=n)
            assert passing(twice)[0] == pytest.approx(passing(once)[0], rel=1e-9)
            energy, share = beating(twice)
            assert energy == pytest.approx(beating(once)[0], rel=1e-9)
            assert share == pytest.approx(beating(once)[1], rel=1e-9)


@pytest.mark.parametrize("unit", [1e-3, 1 / 3, 7.3, 60.0])
def test_an_empty_range_in_two_units(unit: float) -> None:
    """What is left to move is rounding, which must not be taken for noise."""
    stream = np.random.default_rng(12)
    for _ in range(100):
        x, low, variance, n = stream.uniform([-2, 0.1, 0.1, 1], [2, 0.9, 3, 50])
        for units in (np.array([0, 1, -unit]), np.array([0, -unit, 1])):
            covariance = variance * np.outer(units, units)
            covariance[0, 0] = 1.0
            arm, limits = (
                [1, *(units[1:] * x)],
                np.where(units[1:] < 0, units[1:] * low, 0.0).tolist(),
            )
            study = two_arms([0, 0, 0], arm, limits, covariance=covariance, n=n)
            assert passing(study)[0] == NEVER
            assert beating(study) == (NEVER, 0.0)


@pytest.mark.parametrize("covariance", [[[1, -1], [-1, 1]], [[0.36, -0.42], [-0.42, 0.49]]])
def test_objective_and_limit_on_one_metric_against_an_exact_best(
    covariance: list[list[float]],
) -> None:
    """The metric would have to fall for the objective and to rise for the limit: it cannot."""
    study = two_arms(
        [0, 0], [0.5, 1], [0], covariance=covariance, best_covariance=EXACT_OBJECTIVE, n=7
    )
    assert beating(study) == (NEVER, 0.0)


def test_objective_and_limit_on_one_metric() -> None:
    # Correlation 1, the best exact: the larger demand implies the other, 0.5^2/2 and 2^2/2.
    one = [[1, 1], [1, 1]]
    for arm, energy in (([0.5, 0.25], 0.125), ([0.5, 2], 2.0), ([0.5, 0.5], 0.125)):
        study = two_arms([0, 0], arm, [0], covariance=one, best_covariance=EXACT_OBJECTIVE)
        assert beating(study) == (energy, 0.0)
    # Correlation -1, the best of variance 1: G = [[2, -1], [-1, 1]], c = (1, 2). The arm must fall
    # by 2 for its limit, which takes it to 3 behind; eta = (3, 5), (3 + 10)/2, the best's 9/2.
    against = [[1, -1], [-1, 1]]
    study = two_arms([0, 0], [1, 2], [0], covariance=against, best_covariance=np.eye(2))
    check(beating(study), 6.5, 9 / 13)


def test_a_share_of_all_is_no_more_than_all() -> None:
    # On its limit, and nearer to it with every step ahead: only the best arm can move, 1/(2 * 2).
    against, bests = [[1, -1], [-1, 1]], 2.0 * np.eye(2)
    study = two_arms([0, 0], [1, 0], [0], covariance=against, best_covariance=bests, n=7)
    check(beating(study), 1 / 4, 1.0)
    assert beating(study)[1] <= 1.0


# ------------------------------------------------------------------------- ties and extremes


def test_on_the_threshold() -> None:
    on_it = two_arms([0, 0], [1, 0.3], [0.3], covariance=[[1, 0.5], [0.5, 1]])
    assert passing(on_it)[0] == 0.0
    assert failing(on_it)[0] == 0.0
    # Pressing on the objective lowers the constraint, too: it costs nothing more.
    check(beating(on_it), 1 / 4, 1 / 2)
    # With the opposite correlation it would rise by 0.5/2 on the way: G = [[2, -1/2], [-1/2, 1]],
    # c = (1, 0): c'G^-1 c/2 = 1/(2 * 1.75).
    on_it = two_arms([0, 0], [1, 0.3], [0.3], covariance=[[1, -0.5], [-0.5, 1]])
    assert beating(on_it)[0] == pytest.approx(1 / 3.5)


def test_ties_cost_nothing() -> None:
    for size in (2, 3, 4):
        tied = two_arms([0.3] * size, [0.3] * size, [0.3] * (size - 1), covariance=np.eye(size))
        for cost in COSTS.values():
            energy, share = cost(tied)
            assert energy == 0.0
            assert 0.0 <= share <= 1.0


@pytest.mark.parametrize("size", [2, 3])
def test_unthinkable_demands_cost_never(size: int) -> None:
    far = two_arms([0] * size, [1e60] * size, [0] * (size - 1), covariance=np.eye(size))
    assert beating(far)[0] == passing(far)[0] == nearing(far)[0] == NEVER
    # Each alone, so that every branch has its cap.
    for arm in ([1e60, *[-1.0] * (size - 1)], [-1.0, *[1e60] * (size - 1)]):
        far = two_arms([0] * size, arm, [0] * (size - 1), covariance=np.eye(size))
        assert beating(far)[0] == NEVER
    inside = two_arms([0] * size, [-1e60] * size, [0] * (size - 1), covariance=np.eye(size))
    assert failing(inside)[0] == NEVER


@pytest.mark.parametrize(
    "size",
    [
        2,
        3,
    ],
)
def test_vanishing_demands_cost_nothing(size: int) -> None:
    near = two_arms([0] * size, [1e-170] * size, [0] * (size - 1), covariance=np.eye(size))
    energy, share = beating(near)
    assert energy == 0.0
    assert 0.0 <= share <= 1.0
