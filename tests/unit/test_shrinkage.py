"""Shrunk estimates: by hand, and where nothing can be told from the other arms."""

import numpy as np
import pytest

from ringfence.core.arrays import Floats
from ringfence.core.shrinkage import fill_shrunk


def shrunk(
    estimates: object, counts: list[int], *, noise: float = 1.0, threshold: float = 0.0
) -> tuple[Floats, Floats]:
    """Return where living arms of one constraint lie, and their backing; a NaN is a dead arm."""
    values = np.array(estimates, dtype=np.float64)
    places, backing = np.full_like(values, np.nan), np.full(len(values), np.nan)
    covariances = np.tile(np.diag([noise, noise]), (len(values), 1, 1))
    alive = ~np.isnan(values[:, 0])
    fill_shrunk(
        places, backing, values, np.array(counts), alive, covariances, np.array([threshold])
    )
    return places, backing


def test_by_hand() -> None:
    """A variance of 2.5 in objectives and 10 in the constraint, and a trust of a half of 2/4.

    So 1/10 and 1/40 of a pull are added at the means, 2 and 4.
    """
    places, backing = shrunk([[x, 2 * x] for x in range(5)], [1, 2, 4, 8, 16], threshold=3.0)
    n = np.array([1, 2, 4, 8, 16])
    x = np.arange(5.0)
    np.testing.assert_allclose(places[:, 0], (n * x + 0.1 * 2) / (n + 0.1), rtol=1e-14)
    np.testing.assert_allclose(places[:, 1], (n * 2 * x + 4 / 40) / (n + 1 / 40) - 3, rtol=1e-14)
    np.testing.assert_allclose(backing, n + 1 / 40)  # the fewest of its attributes


def test_objectives_are_told_from_the_least_and_constraints_from_their_limits() -> None:
    near, _ = shrunk([[1, 5], [2, 7], [4, 6], [8, 5]], [9] * 4, threshold=6.0)
    far, _ = shrunk([[1025, 69], [1026, 71], [1028, 70], [1032, 69]], [9] * 4, threshold=70.0)
    np.testing.assert_array_equal(near, far)
    assert near[0, 0] > 0.0
    assert near[1, 1] < 1.0


@pytest.mark.parametrize("arm_count", [1, 2, 3])
def test_up_to_three_arms_are_believed(arm_count: int) -> None:
    values = [[1.0, 0.5], [3.0, 0.25], [2.0, 1.0]][:arm_count]
    places, backing = shrunk(values, [7] * arm_count)
    np.testing.assert_array_equal(places, np.array(values) - [1.0, 0.0])
    np.testing.assert_array_equal(backing, 7.0)


def test_dead_arms_say_nothing() -> None:
    living = [[0, 1], [1, 3], [2, 2], [5, 4]]
    among, backing = shrunk([living[0], [np.nan, np.nan], *living[1:]], [3, 0, 4, 5, 6])
    alone, alone_backing = shrunk(living, [3, 4, 5, 6])
    np.testing.assert_array_equal(np.delete(among, 1, axis=0), alone)
    np.testing.assert_array_equal(np.delete(backing, 1), alone_backing)
    assert np.isnan(among[1]).all()


def test_arms_that_agree_by_accident_are_not_believed_to_be_alike() -> None:
    """Their spread counts as half of their noise: of 2/4 times that, no more than half of n."""
    places, backing = shrunk([[1, 1]] * 5, [10, 20, 30, 40, 50])
    np.testing.assert_array_equal(places, [[0, 1]] * 5)
    np.testing.assert_allclose(backing, [15, 30, 45, 60, 75])


def test_what_has_no_noise_is_not_shrunk() -> None:
    places, backing = shrunk([[1, 2], [1, 2], [4, 2], [2, 2]], [5] * 4, noise=0.0)
    np.testing.assert_array_equal(places[:, 0], [0, 0, 3, 1])
    np.testing.assert_array_equal(backing, 5.0)


def test_an_exact_attribute_does_not_take_away_what_backs_the_others() -> None:
    """A variance of 5/3 and a trust of a half of 1/3: 1/10 of a pull in the constraint."""
    values, places, backing = (
        np.array([[x, x] for x in range(4)], float),
        np.zeros((4, 2)),
        np.zeros(4),
    )
    covariances = np.tile(np.diag([0.0, 1.0]), (4, 1, 1))
    everyone, limit = np.ones(4, np.bool_), np.zeros(1)
    fill_shrunk(places, backing, values, np.array([5] * 4), everyone, covariances, limit)
    np.testing.assert_array_equal(places[:, 0], [0, 1, 2, 3])
    np.testing.assert_allclose(places[:, 1], (5 * np.arange(4) + 0.15) / 5.1)
    np.testing.assert_allclose(backing, 5.1)


def test_an_arm_far_out_does_not_move_the_others() -> None:
    values = [[0, -1], [1e200, -1], [-1e200, 1e200], [3, -1], [4, -1]]
    places, backing = shrunk(values, [5] * 5)
    np.testing.assert_allclose(places, np.array(values) - [-1e200, 0], atol=1e-100)
    np.testing.assert_allclose(backing, 5.0)


def test_noise_without_bounds_is_not_reckoned_with() -> None:
    places, backing = shrunk([[0, 1], [1, 2], [2, 3], [3, 4]], [5] * 4, noise=np.inf)
    np.testing.assert_array_equal(places, [[0, 1], [1, 2], [2, 3], [3, 4]])
    np.testing.assert_array_equal(backing, 5.0)
