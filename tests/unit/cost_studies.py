"""Studies to ask the costs about, and one way to ask all four of them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pytest

from ringfence.core import cost
from ringfence.core.arrays import Floats
from ringfence.core.cost import CostWork
from tests.oracle import least_moves
from tests.oracle.least_moves import Changes, Study

NEARLY_ONE = 0.999999


class Cost(NamedTuple):
    """One cost of the core, asked about a study, and the changes that it is the cheapest of."""

    ask: Callable[[Study, CostWork], tuple[float, float]]
    changes: Changes

    def __call__(self, study: Study) -> tuple[float, float]:
        return self.ask(study, used_work(study.estimates.shape[1]))


def used_work(attribute_count: int) -> CostWork:
    """Return room that another problem has left full of rubbish."""
    work = cost.cost_work(attribute_count)
    for part in (work.linear, work.tableau, work.diagonal, work.multipliers):
        part.fill(np.nan)
    work.active.fill(True)
    return work


def _beating(s: Study, work: CostWork) -> tuple[float, float]:
    return cost.beating_cost(
        s.estimates, s.covariances, s.best, s.best_n, s.arm, s.n, s.thresholds, work
    )


def _nearing(s: Study, work: CostWork) -> tuple[float, float]:
    return cost.nearing_cost(
        s.estimates, s.covariances, s.best, s.best_n, s.arm, s.n, s.scales, s.thresholds, work
    )


def _passing(s: Study, work: CostWork) -> tuple[float, float]:
    return cost.passing_cost(s.estimates, s.covariances, s.arm, s.n, s.thresholds, work), 0.0


def _failing(s: Study, work: CostWork) -> tuple[float, float]:
    return cost.failing_cost(s.estimates, s.covariances, s.arm, s.n, s.thresholds), 0.0


COSTS = {
    "beating": Cost(_beating, least_moves.beating),
    "passing": Cost(_passing, least_moves.passing),
    "failing": Cost(_failing, least_moves.failing),
    "nearing": Cost(_nearing, least_moves.nearing),
}


def two_arms(
    best: Sequence[float],
    arm: Sequence[float],
    thresholds: Sequence[float],
    *,
    covariance: object,
    best_covariance: object = None,
    best_n: float = 1.0,
    n: float = 1.0,
    scales: Sequence[float] | None = None,
) -> Study:
    """Return a study of two arms, for cases worked out by hand; the best one is arm 0."""
    own = np.array(covariance, dtype=np.float64)
    bests = own if best_covariance is None else np.array(best_covariance, dtype=np.float64)
    return Study(
        np.array([best, arm], dtype=np.float64),
        np.array([bests, own]),
        np.array(thresholds, dtype=np.float64),
        np.ones(len(best)) if scales is None else np.array(scales, dtype=np.float64),
        0,
        best_n,
        1,
        n,
    )


def check(found: tuple[float, float], energy: float, share: float) -> None:
    assert found[0] == pytest.approx(energy, rel=1e-12)
    assert found[1] == pytest.approx(share, rel=1e-12)


# ------------------------------------------------------------------------------ at random


def random_study(stream: np.random.Generator, constraint_count: int, name: str) -> Study:
    """Return a study that the named cost may be asked about, with two arms among four.

    Counts span nine orders of magnitude, noise four, and distances, in units of the noise, three;
    some are zero. Values lie on a grid on which differences are exact. In half the studies two
    attributes are all but copies of each other, up to their sign.
    """
    size = constraint_count + 1
    spread = 10.0 ** stream.uniform(-2.0, 2.0, size)
    distances = stream.choice([-1.0, 1.0], (2, size)) * 10.0 ** stream.uniform(-2.0, 1.0, (2, size))
    distances[stream.random((2, size)) < 0.1] = 0.0
    scales = np.sqrt(0.5) / spread * 10.0 ** stream.uniform(-0.3, 0.3, size)
    if name == "failing":
        distances = -np.abs(distances)
    if name == "nearing":
        distances = np.abs(distances) + 2.0**-20
        margins = (distances * spread * scales)[:, 1:].max(axis=1)
        distances = distances[np.argsort(margins)]
    centre = on_grid(stream.normal(size=size) * spread)
    best, arm = (int(i) for i in stream.permutation(4)[:2])
    estimates, covariances = np.full((4, size), np.nan), np.full((4, size, size), np.nan)
    for row, i in enumerate((best, arm)):
        estimates[i] = centre + on_grid(distances[row] * spread)
        covariances[i] = random_covariance(stream, spread, nearly_singular=stream.random() < 0.5)
    pulls = 10.0 ** stream.uniform(-3.0, 6.0, 2)
    return Study(
        estimates, covariances, centre[1:], scales, best, float(pulls[0]), arm, float(pulls[1])
    )


def on_grid(values: Floats) -> Floats:
    return np.asarray(np.round(values * 2.0**30) / 2.0**30)


def random_covariance(
    stream: np.random.Generator, spread: Floats, *, nearly_singular: bool
) -> Floats:
    size = len(spread)
    rows = stream.normal(size=(size + 1, size + 6))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    if nearly_singular:
        one, other = stream.permutation(size)[:2]
        sign = stream.choice([-1.0, 1.0])
        rows[one] = sign * NEARLY_ONE * rows[other] + np.sqrt(1.0 - NEARLY_ONE**2) * rows[size]
    covariance = (rows @ rows.T)[:size, :size] * np.outer(spread, spread)
    return np.asarray((covariance + covariance.T) / 2.0)
