"""How fast errors can fall when the pulls are split as an oracle would, knowing the truth.

A static allocation w errs with probability exp(-T rate(w)) to first order, where rate(w) is the
least cost of a change of answer (see cost). The oracle's allocation maximizes it. No policy is
proven to reach this rate, and for many arms none does everywhere (Degenne 2023); adaptive ones can
beat it on an instance. docs/reference/theory.md. Touches its arguments only.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ringfence.core.arrays import Floats, Mask
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.cost import NEVER, CostWork, cost_work
from ringfence.core.hardness import Hardness
from ringfence.core.question import Question

_PRECISION = 1e-13
_ROUNDING = 2.0**-53  # of a share that is all but 1
_LARGEST_WEIGHT = 1e12


@dataclass(frozen=True)
class Oracle:
    """The best rate of a static allocation, and the allocation, a share of the pulls for each arm.

    Where no allocation has a positive rate, the allocation is None.

    >>> import ringfence as rf
    >>> best = rf.Instance.load("paper-3").oracle
    >>> [round(float(share), 2) for share in best.allocation]
    [0.49, 0.49, 0.01, 0.01]
    """

    rate: float
    allocation: Floats | None


def inverses(covariances: Floats) -> Floats:
    """Return the inverse of each covariance; of a singular one, on what varies.

    Inverted as correlations: units may differ by any factor.
    """
    deviations = np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1))
    units = np.where(deviations > 0.0, deviations, 1.0)
    scale = units[..., :, None] * units[..., None, :]
    return np.asarray(np.linalg.pinv(covariances / scale, hermitian=True) / scale, dtype=np.float64)


@dataclass(frozen=True)
class Truth:
    """A known instance with a single right answer, as the costs need it."""

    theory: Hardness
    means: Floats
    covariances: Floats
    scales: Floats
    thresholds: Floats
    question: Question = BEST_FEASIBLE

    @cached_property
    def precisions(self) -> Floats:
        """The inverse of each arm's covariance; of a singular one, on what varies."""
        return inverses(self.covariances)

    @cached_property
    def marked(self) -> Mask:
        """The arms that are right."""
        marked = np.zeros(len(self.means), np.bool_)
        marked[list(self.theory.optimal_arms)] = True
        return marked

    @property
    def is_settled(self) -> bool:
        """Whether there is one right answer only: with several, which of them decides nothing."""
        return self.theory.asks_arms_alone or len(self.theory.optimal_arms) == 1

    def own_cost(self, arm: int, n: float, work: CostWork) -> float:
        """Return the cost for an arm's feasibility to be other than it is, if that matters."""
        return self.question.own_cost(
            self.means, self.covariances, arm, n, bool(self.marked[arm]), self.theory.feasible,
            self.thresholds, work,
        )  # fmt: skip

    def pair_cost(self, arm: int, best_n: float, n: float, work: CostWork) -> tuple[float, float]:
        """Return the cost for another arm to take the best one's place, and the best's share."""
        return self.question.pair_cost(
            self.means, self.covariances, self.theory.optimal, best_n, arm, n,
            self.theory.feasible, self.scales, self.thresholds, work,
        )  # fmt: skip


def static_rate(truth: Truth, allocation: Floats, among: list[int] | None = None) -> float:
    """Return the rate of a static allocation, of errors among some of the arms if so asked.

    Where one arm is the answer, only its own feasibility matters: to come nearer than it is never
    dearer for another one than to pass.
    """
    best = truth.theory.optimal
    arms = list(range(len(allocation))) if among is None else among
    if any(allocation[arm] <= 0.0 for arm in arms) or not truth.is_settled:
        return 0.0
    work = cost_work(truth.means.shape[1])
    if truth.theory.asks_arms_alone:
        return min((truth.own_cost(arm, allocation[arm], work) for arm in arms), default=NEVER)
    if best not in arms:
        return 0.0
    costs = [truth.own_cost(best, allocation[best], work)]
    others = [arm for arm in arms if arm != best]
    costs += [truth.pair_cost(arm, allocation[best], allocation[arm], work)[0] for arm in others]
    return min(costs)


def sum_rate(truth: Truth, allocation: Floats, weights: Floats, among: list[int]) -> float:
    """Return the rate of errors of one who keeps the arm with the least weighted sum.

    The best arm must have it, and look as feasible as it is.
    """
    best = truth.theory.optimal
    costs = [truth.own_cost(best, allocation[best], cost_work(truth.means.shape[1]))]
    noise = np.einsum("c,icd,d->i", weights, truth.covariances, weights) / allocation
    for arm in among:
        if arm == best:
            continue
        lead = float(weights @ (truth.means[arm] - truth.means[best]))
        spread = float(noise[arm] + noise[best])
        if lead <= 0.0:
            return 0.0
        costs.append(lead * lead / (2.0 * spread) if spread > 0.0 else NEVER)
    return min(costs)


def oracle(truth: Truth, prices: Floats | None = None) -> Oracle | None:
    """Return the oracle's rate and allocation; None where several answers are right.

    With the `prices` of arms the rate is per unit of money, and the allocation of the pulls that it
    buys best.

    With weight 1 on the best arm, every other needs some least weight for all its costs to reach
    a level C; the rate is C over the sum of weights. It is largest where the best arm's pulls are
    worth as much as the others' together, or where C is the best arm's own cost.
    """
    best, arm_count = truth.theory.optimal, truth.means.shape[0]
    if not truth.is_settled:
        return None
    work, costly = cost_work(truth.means.shape[1]), np.ones(arm_count)
    if prices is not None:
        costly = prices
    if truth.theory.asks_arms_alone:
        return _even_oracle(truth, work, costly)
    others = [arm for arm in range(arm_count) if arm != best]
    highest = truth.own_cost(best, 1.0, work)
    for arm in others:
        highest = min(highest, truth.pair_cost(arm, 1.0, _LARGEST_WEIGHT, work)[0])
    if highest <= 0.0:
        return Oracle(0.0, None)

    weights = np.zeros(arm_count)
    low, high = 0.0, highest
    level = highest
    while True:
        excess = _weigh(truth, level, weights, others, costly, work)
        if excess > costly[best]:
            high = level
        else:
            low = level
        if high - low <= _PRECISION * high:
            break
        level = 0.5 * (low + high)
    _weigh(truth, low, weights, others, costly, work)
    weights[best] = 1.0
    return Oracle(low / float((weights * costly).sum()), weights / weights.sum())


def _even_oracle(truth: Truth, work: CostWork, costly: Floats) -> Oracle:
    """Return the oracle of arms that are asked about alone: all their costs are the same."""
    costs = np.array([truth.own_cost(arm, 1.0, work) for arm in range(len(truth.means))])
    if costs.min() <= 0.0:
        return Oracle(0.0, None)
    rate = 1.0 / float((costly / costs).sum())
    return Oracle(rate, 1.0 / costs / float((1.0 / costs).sum()))


def _weigh(
    truth: Truth,
    level: float,
    weights: Floats,
    others: list[int],
    costly: Floats,
    work: CostWork,
) -> float:
    """Fill in the least weights at which all costs reach a level.

    Return how much of what the other arms' weights cost one more pull of the best arm would save.
    """
    saved = 0.0
    for arm in others:
        weight, share = _least_weight(truth, arm, level, work)
        weights[arm] = weight
        if share > 0.0:
            saved += costly[arm] * weight * share / max(1.0 - share, _ROUNDING)
    return saved


def _least_weight(truth: Truth, arm: int, level: float, work: CostWork) -> tuple[float, float]:
    """Return the weight at which a pair's cost reaches a level, with the best arm's share there.

    Newton's method on 1/cost as a function of 1/weight, which is a straight line wherever a single
    demand decides; bisection where it leads astray.
    """
    low, high = 0.0, _LARGEST_WEIGHT
    weight, share = 1.0, 0.0
    for _ in range(200):
        cost, share = truth.pair_cost(arm, 1.0, weight, work)
        if abs(cost - level) <= _PRECISION * level:
            break
        if cost < level:
            low = weight
        else:
            high = weight
        inverse = 1.0 / weight
        if 0.0 < cost < NEVER and share < 1.0:
            inverse += (1.0 / level - 1.0 / cost) * cost / ((1.0 - share) * weight)
        weight = 1.0 / inverse if inverse > 0.0 else 0.0
        if not low < weight < high:
            weight = (low * high) ** 0.5 if low > 0.0 else 0.5 * high
        if high - low <= _PRECISION * high or high < 1.0 / _LARGEST_WEIGHT:
            break
    return weight, share
