"""Tilted laws: their likelihood ratios are those of the textbooks' densities."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ringfence.core.errors import InputError
from ringfence.simulation.instance import Instance
from ringfence.simulation.rare.tilts import require_tilts, tilt

FAMILIES = ("bernoulli", "poisson", "exponential", "gaussian")


def instance_of(family: str, **more: Any) -> Instance:
    noise: dict[str, Any] = {"family": family}
    if family == "gaussian":
        noise["covariance"] = [[1.0, 0.4], [0.4, 2.0]]
    return Instance.from_dict(
        {
            "objective": "maximize mean(x)",
            "constraints": ["mean(y) <= 0.6", "mean(y) >= 0.1"],
            "metrics": ["x", "y"],
            "noise": noise,
            "arms": {"a": {"mean": [0.5, 0.4]}, "b": {"mean": [0.7, 0.7]}},
            **more,
        }
    )


def log_density(family: str, mean: float, total: float, pulls: int) -> float:
    """Return the log-likelihood of a block's sum, up to what does not depend on the mean."""
    if family == "bernoulli":
        return float(stats.binom.logpmf(total, pulls, mean))
    if family == "poisson":
        return float(stats.poisson.logpmf(total, pulls * mean))
    return float(stats.gamma.logpdf(total, pulls, scale=mean))


@pytest.mark.parametrize("family", FAMILIES[:3])
def test_the_ratio_is_that_of_the_densities(family: str) -> None:
    law = instance_of(family).law
    drifts = np.zeros((1, 2, 3))
    drifts[0, 0] = [-0.1, 0.15, -0.15]  # of -x, of y, and of -y: one metric, one drift
    drifts[0, 1] = [0.2, -0.1, 0.1]
    tilted = tilt(law, drifts)
    pulls = 7
    for arm, (mean_x, mean_y) in enumerate([(0.5, 0.4), (0.7, 0.7)]):
        new_x, new_y = mean_x - drifts[0, arm, 0], mean_y + drifts[0, arm, 1]
        for total_x, total_y in [(0.0, 3.0), (2.0, 7.0), (6.0, 0.0)]:
            if family == "exponential":
                total_x, total_y = total_x + 0.5, total_y + 0.25
            block = np.array([-total_x, total_y, -total_y])
            found = tilted.slopes[arm] @ block - pulls * tilted.levels[arm]
            wanted = (
                log_density(family, new_x, total_x, pulls)
                - log_density(family, mean_x, total_x, pulls)
                + log_density(family, new_y, total_y, pulls)
                - log_density(family, mean_y, total_y, pulls)
            )
            assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_the_ratio_of_gaussians_is_that_of_their_density() -> None:
    """Three attributes on two metrics: their covariance is singular."""
    law = instance_of("gaussian").law
    drifts = np.zeros((1, 2, 3))
    drifts[0, 0] = [-0.1, 0.15, -0.15]
    tilted = tilt(law, drifts)
    covariance = np.array([[1.0, 0.4], [0.4, 2.0]])
    pulls = 5
    for total in ([1.0, 3.0], [-4.0, 2.0]):
        block = np.array([-total[0], total[1], -total[1]])
        found = tilted.slopes[0] @ block - pulls * tilted.levels[0]
        before = stats.multivariate_normal(pulls * np.array([0.5, 0.4]), pulls * covariance)
        after = stats.multivariate_normal(pulls * np.array([0.6, 0.55]), pulls * covariance)
        assert found == pytest.approx(after.logpdf(total) - before.logpdf(total), rel=1e-9)


def test_means_stay_in_their_range() -> None:
    law = instance_of("bernoulli").law
    drifts = np.zeros((2, 2, 3))
    drifts[0, :, 0], drifts[1, :, 0] = 5.0, -5.0
    tilted = tilt(law, drifts)
    assert (tilted.arrays.means > 0.0).all()
    assert (tilted.arrays.means < 1.0).all()
    assert np.isfinite(tilted.slopes).all()
    assert np.isfinite(tilted.levels).all()


def test_a_mean_at_the_edge_of_its_range_stays_there() -> None:
    """An arm that never fails cannot be tilted to fail."""
    arms = {"a": {"mean": [0.5, 0.0]}, "b": {"mean": [0.7, 1.0]}}
    law = instance_of("bernoulli", arms=arms).law
    drifts = np.zeros((1, 2, 3))
    drifts[0, 0, 1:], drifts[0, 1, 1:] = [0.3, -0.3], [-0.3, 0.3]
    tilted = tilt(law, drifts)
    np.testing.assert_array_equal(tilted.arrays.means[:, 1], [0.0, 1.0])
    np.testing.assert_array_equal(tilted.slopes, 0.0)
    np.testing.assert_array_equal(tilted.levels, 0.0)


def test_a_table_cannot_be_tilted() -> None:
    frame = {"arm": ["a", "a", "b", "b"], "x": [1.0, 2.0, 1.0, 3.0], "y": [0.1, 0.9, 0.4, 0.5]}

    table = Instance.from_frame(
        pd.DataFrame(frame), arm="arm", objective="minimize mean(x)",
        constraints=["mean(y) <= 0.6"],
    )  # fmt: skip
    with pytest.raises(InputError, match=r"cannot be tilted.*monte-carlo"):
        require_tilts(table)
