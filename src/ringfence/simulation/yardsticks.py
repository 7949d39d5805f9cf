"""What `ringfence bench` measures against: normals alone, and NumPy over replications.

May touch core and simulation.
"""

import math

import numba
import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.streams import Generator, chunk_streams
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.laws import GaussianLaw


@numba.njit(nogil=True)  # type: ignore[untyped-decorator]
def sum_of_normals(rng: Generator, count: int) -> float:
    """Draw normals and do nothing else with them: the limit of any simulation that needs them."""
    total = 0.0
    for _ in range(count):
        total += rng.standard_normal()
    return total


def vectorised_errors(experiment: Experiment, replications: int, *, seed: int = 0) -> int:
    """Count errors of Constrained-SR with one constraint, in NumPy vectorised over replications.

    Written as one would without a compiler: whole arrays over replications, every arm drawn in
    every phase, rejected arms masked out.
    """
    law, design = experiment.instance.law, experiment.design
    if not isinstance(law, GaussianLaw) or len(design.scales) != 2:
        raise ValueError("the NumPy yardstick covers Gaussian arms with one constraint")
    rng, _ = chunk_streams(seed, experiment.budget, 0)
    arm_count = len(experiment.instance.arms)
    sums = np.zeros((replications, arm_count, 2))
    alive = np.ones((replications, arm_count), np.bool_)
    rows = np.arange(replications)
    margins = objectives = np.empty((replications, arm_count))
    count = 0
    for pulls, _, keep in experiment.phases:
        normals = rng.standard_normal((replications, arm_count, law.factors.shape[2]))
        sums += pulls * law.means + math.sqrt(pulls) * np.einsum(
            "rkd,kcd->rkc", normals, law.factors
        )
        count += pulls
        objectives = sums[:, :, 0] / count
        margins = design.scales[1] * (sums[:, :, 1] / count - design.thresholds[0])
        if keep < arm_count:
            alive[rows, _farthest(objectives, margins, alive, design.scales[0])] = False
    answer = np.argmax(alive, axis=1)
    flag = margins[rows, answer] <= 0.0
    return int((~design.optimal[answer] | (flag != design.feasible)).sum())


def _farthest(objectives: Floats, margins: Floats, alive: np.ndarray, scale: float) -> Integers:
    """Return the arm that Constrained-SR drops in each replication."""
    rows = np.arange(len(objectives))
    feasible = alive & (margins <= 0.0)
    some = feasible.any(axis=1)
    best = np.where(
        some,
        np.where(feasible, objectives, np.inf).argmin(axis=1),
        np.where(alive, margins, np.inf).argmin(axis=1),
    )
    best_margin = margins[rows, best][:, None]
    lead = scale * (objectives - objectives[rows, best][:, None])
    apart = np.where(
        best_margin > 0.0,
        margins - best_margin,
        np.where(margins <= 0.0, lead, np.maximum(margins, lead)),
    )
    gaps = np.minimum(np.abs(best_margin), apart)
    gaps[~alive] = -np.inf
    gaps[rows, best] = -np.inf
    tied = gaps == gaps.max(axis=1)[:, None]
    infeasible = tied & (margins > 0.0)
    chosen: Integers = np.where(
        infeasible.any(axis=1),
        np.where(infeasible, margins, -np.inf).argmax(axis=1),
        np.where(tied, objectives, -np.inf).argmax(axis=1),
    )
    return chosen
