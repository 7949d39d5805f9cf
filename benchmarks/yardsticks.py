"""What `benchmarks/speed.py` measures against: normals alone, and NumPy over replications."""

import math

import numba
import numpy as np

from ringfence.core import urgency
from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.shrinkage import BELIEF
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


def vectorised_top_two(
    experiment: Experiment, replications: int, *, seed: int = 0, anew: bool = True
) -> tuple[int, Floats]:
    """Count errors of top-two with one constraint, in NumPy vectorised over replications.

    Whole arrays over replications; only the arms that are pulled are drawn. Within a batch every
    value of every arm is computed `anew` for each pull, as one would at first, or grows by its
    slope, as in our own rule. It answers with the apparent best. Return the errors, and the mean
    pulls by arm.
    """
    law, design = experiment.instance.law, experiment.design
    if not isinstance(law, GaussianLaw) or len(design.scales) != 2:
        raise ValueError("the NumPy yardstick covers Gaussian arms with one constraint")
    rng, order_rng = chunk_streams(seed, experiment.budget, 0)
    arm_count = len(experiment.instance.arms)
    rows = np.arange(replications)
    fresh = np.full((replications, arm_count), design.warm_up)
    sums, counts = np.zeros((replications, arm_count, 2)), np.zeros((replications, arm_count))
    left, noise_of, limit = experiment.budget, design.covariances, design.thresholds[0]
    while True:
        where = np.nonzero(fresh)
        pulls, arms = fresh[where], where[1]
        normals = rng.standard_normal((len(pulls), law.factors.shape[2]))
        noise = np.einsum("pd,pcd->pc", normals, law.factors[arms])
        sums[where] += pulls[:, None] * law.means[arms] + np.sqrt(pulls)[:, None] * noise
        counts += fresh
        left -= int(fresh[0].sum())
        estimates = sums / counts[:, :, None]
        if left == 0:
            best, feasible = _leaders(estimates[:, :, 0], estimates[:, :, 1] - limit, 0.0)
            wrong = ~design.optimal[best] | (feasible != design.feasible)
            return int(wrong.sum()), counts.mean(axis=0)
        objectives, added = _shrunk(estimates[:, :, 0], counts, noise_of[:, 0, 0])
        limits, added_too = _shrunk(estimates[:, :, 1], counts, noise_of[:, 1, 1])
        excess, added = limits - limit, np.minimum(added, added_too)
        best, feasible = _leaders(objectives, excess, np.sqrt(noise_of[:, 1, 1] / counts))
        lead = objectives - objectives[rows, best][:, None]
        distance = excess - excess[rows, best][:, None]
        pulled, hindrances = counts.copy(), np.empty(0)
        costs, shares, hasty, values = hindrances, hindrances, hindrances, hindrances
        crowd = hindrances
        for place in range(min(experiment.batch, left)):
            if anew or place == 0:
                costs, shares = _top_two_costs(
                    lead, excess, distance, pulled + added, best, feasible, noise_of
                )
                costs[rows, best] *= urgency.ALONE
                slowness = shares * shares / pulled[rows, best][:, None]
                rests_on = 1.0 / (slowness + (1.0 - shares) ** 2 / pulled)
                hasty = costs * (1.0 + urgency.HASTE * rests_on / left)
                if place == 0:
                    hindrances = _hindrances(lead, excess, counts + added, best, noise_of)
                    hindrances[~feasible], hindrances[rows, best] = 1.0, 1.0
                    hindrances **= 1.25
                weights = np.where(shares < urgency.UNSHARED, urgency.SOLE, 1.0)
                crowd = np.maximum(pulled[rows, best] / pulled.mean(axis=1), 1.0)
                weights[rows, best] = crowd * crowd
                values = hasty + np.log(rests_on * hindrances * weights)
            arm = values.argmin(axis=1)
            share = shares[rows, arm]
            spared = urgency.SPARED * share * (1.0 - share)
            to_best = order_rng.random(replications) < share - spared
            arm = np.where(to_best, best, arm)
            if not anew:
                slopes = hasty * (2.0 - shares) - costs + 1.0
                slopes[rows, best] += 2.0 * (crowd > 1.0)
                values += hasty * shares * ((arm == best) / counts[rows, best])[:, None]
                values[rows, arm] += slopes[rows, arm] / pulled[rows, arm]
            pulled[rows, arm] += 1.0
        fresh = (pulled - counts).astype(np.int64)


def _shrunk(estimates: Floats, counts: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Return estimates [replication, arm] shrunk towards their mean, and the pulls added there."""
    arm_count = estimates.shape[1]
    if arm_count <= 3:
        return estimates, np.zeros_like(counts)
    mean, between = estimates.mean(axis=1)[:, None], estimates.var(axis=1, ddof=1)[:, None]
    trust = BELIEF * (arm_count - 3) / (arm_count - 1)
    added = trust * noise / np.maximum(between, noise / (2.0 * counts))
    return (counts * estimates + added * mean) / (counts + added), added


def _leaders(objectives: Floats, excess: Floats, leniency: Floats | float) -> tuple[Integers, Mask]:
    """Return the arm that looks best in every replication, and whether it passes."""
    passes = np.asarray(excess <= leniency)
    feasible = np.asarray(passes.any(axis=1))
    best: Integers = np.where(
        feasible, np.where(passes, objectives, np.inf).argmin(axis=1), excess.argmin(axis=1)
    )
    return best, feasible


def _hindrances(
    lead: Floats, excess: Floats, counts: Floats, best: Integers, covariances: Floats
) -> Floats:
    """Return how many times less likely than its cost says a threat is, [replication, arm]."""
    best_variance = (covariances[best, 0, 0] / counts[np.arange(len(best)), best])[:, None]
    joint, variance = covariances[:, 0, 0] / counts + best_variance, covariances[:, 1, 1] / counts
    ahead, over = lead / np.sqrt(joint), excess / np.sqrt(variance)
    slope = covariances[:, 0, 1] / counts / np.sqrt(joint * variance)
    hardest, other = np.maximum(ahead, over), np.minimum(ahead, over)
    verge = (other - slope * hardest) / np.sqrt(1.0 - slope * slope)
    y = math.sqrt(math.pi / 2.0) * verge
    return np.asarray(1.0 + y + np.sqrt(1.0 + y * y))


def _top_two_costs(
    lead: Floats,
    excess: Floats,
    distance: Floats,
    pulled: Floats,
    best: Integers,
    feasible: np.ndarray,
    covariances: Floats,
) -> tuple[Floats, Floats]:
    """Return the cost of every arm's threat and the best arm's share in it, [replication, arm]."""
    rows = np.arange(len(best))
    variance, crossed = covariances[:, 1, 1] / pulled, covariances[:, 0, 1] / pulled
    best_variance = (covariances[best, 0, 0] / pulled[rows, best])[:, None]
    joint = covariances[:, 0, 0] / pulled + best_variance
    only_limit = (excess > 0.0) & (lead * variance <= crossed * excess)
    only_lead = (lead > 0.0) & (excess * joint <= crossed * lead) & ~only_limit
    inverse = 1.0 / (joint * variance - crossed * crossed)
    pressure = (variance * lead - crossed * excess) * inverse
    both = 0.5 * (lead * pressure + excess * (joint * excess - crossed * lead) * inverse)
    cost = np.where(
        only_limit,
        excess * excess / (2.0 * variance),
        np.where(only_lead, lead * lead / (2.0 * joint), both),
    )
    with np.errstate(all="ignore"):
        share = np.where(
            only_limit,
            0.0,
            np.where(
                only_lead,
                best_variance / joint,
                pressure * pressure * best_variance / (2.0 * both),
            ),
        )
    own = excess * excess / (2.0 * variance)
    if not feasible.all():
        limit_best = (covariances[best, 1, 1] / pulled[rows, best])[:, None]
        nearing = distance * distance / (2.0 * (variance + limit_best))
        closer = nearing < own
        cost = np.where(feasible[:, None], cost, np.where(closer, nearing, own))
        near_share = np.where(closer, limit_best / (variance + limit_best), 0.0)
        share = np.where(feasible[:, None], share, near_share)
    failed = feasible & (excess[rows, best] > 0.0)  # a best arm that only may be feasible
    cost[rows, best], share[rows, best] = np.where(failed, 0.0, own[rows, best]), 0.0
    return cost, share
