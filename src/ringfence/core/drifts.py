"""The moves that change an answer at the least cost: where errors come from.

A drift [arm, attribute] is added to the true attributes; with it the answer is on the brink of
being another one. Its energy, the sum of n/2 (move)' Sigma^-1 (move), is the cost of that change
(see cost): such errors have probability exp(-energy) to first order. Where no move of the noise
can bring a change about, there is no drift. Touches its arguments only.
"""

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.core.cost import NEVER, cost_work, least_energy
from ringfence.core.oracle import Truth


def failing_drift(truth: Truth, constraint: int) -> Floats | None:
    """Return the move that takes the feasible best arm to a constraint's threshold."""
    best, c = truth.theory.optimal, constraint + 1
    covariance = truth.covariances[best]
    if covariance[c, c] <= 0.0:
        return None
    drift = np.zeros_like(truth.means)
    slack = truth.thresholds[constraint] - truth.means[best, c]
    drift[best] = covariance[:, c] * (slack / covariance[c, c])
    return drift


def passing_drift(truth: Truth, arm: int) -> Floats | None:
    """Return the move that makes an infeasible arm meet all its constraints."""
    covariance = truth.covariances[arm]
    found = _pressures(truth.means[arm, 1:] - truth.thresholds, covariance[1:, 1:])
    if found is None:
        return None
    drift = np.zeros_like(truth.means)
    drift[arm] = -covariance[:, 1:] @ found[1]
    return drift


def beating_drift(truth: Truth, arm: int, best_n: float, n: float) -> Floats | None:
    """Return the move that makes an arm feasible and as good as the feasible best one."""
    best = truth.theory.optimal
    mine, bests = truth.covariances[arm], truth.covariances[best]
    lead = truth.means[arm, 0] - truth.means[best, 0]
    demands = np.concatenate([[lead], truth.means[arm, 1:] - truth.thresholds])
    spread = mine / n
    spread[0, 0] += bests[0, 0] / best_n
    found = _pressures(demands, spread)
    if found is None:
        return None
    drift = np.zeros_like(truth.means)
    drift[arm] = -mine @ found[1] / n
    drift[best] = bests[:, 0] * (found[1][0] / best_n)
    return drift


def nearing_drift(truth: Truth, arm: int, best_n: float, n: float) -> Floats | None:
    """Return the move that brings an arm as close to feasibility as the least infeasible one."""
    best, scales = truth.theory.optimal, truth.scales[1:]
    mine, bests = truth.covariances[arm], truth.covariances[best]
    own = scales * (truth.means[arm, 1:] - truth.thresholds)
    held = scales * (truth.means[best, 1:] - truth.thresholds)
    scaled = np.outer(scales, scales) * mine[1:, 1:]
    least, drift = NEVER, None
    for b, violation in enumerate(held):  # it must get below some violation of the best arm's
        bests_variance = scales[b] ** 2 * bests[b + 1, b + 1] / best_n
        found = _pressures(own - violation, scaled / n + bests_variance)
        if found is not None and found[0] < least:
            least, drift = found[0], np.zeros_like(truth.means)
            drift[arm] = -mine[:, 1:] @ (scales * found[1]) / n
            drift[best] = bests[:, b + 1] * (scales[b] * found[1].sum() / best_n)
    return drift


def sum_drift(truth: Truth, arm: int, best_n: float, n: float) -> Floats | None:
    """Return the move that makes an arm's sum of scaled attributes as low as the best one's.

    Nobody should go by that sum, but a policy may.
    """
    best, scales = truth.theory.optimal, truth.scales
    mine, bests = truth.covariances[arm] @ scales, truth.covariances[best] @ scales
    lead = float(scales @ (truth.means[arm] - truth.means[best]))
    spread = float(scales @ mine) / n + float(scales @ bests) / best_n
    if lead <= 0.0 or spread <= 0.0:
        return None
    drift = np.zeros_like(truth.means)
    drift[arm] = -mine * (lead / spread / n)
    drift[best] = bests * (lead / spread / best_n)
    return drift


def energy_of(drift: Floats, truth: Truth, pulls: Floats) -> float:
    """Return what a drift costs over so many pulls of each arm."""
    return 0.5 * float(np.einsum("i,ic,icd,id->", pulls, drift, truth.precisions, drift))


def _pressures(demands: Floats, spread: Floats) -> tuple[float, Floats] | None:
    """Return energy and multipliers of the least move that meets demands; None if none does."""
    size = len(demands)
    work = cost_work(size)
    work.linear[:] = demands
    work.tableau[:, :size] = spread
    energy = least_energy(work, size)
    return None if energy >= NEVER else (energy, work.multipliers.copy())
