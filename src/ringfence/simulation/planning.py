"""The least budget that reaches a target error, and what makes an instance hard.

The logarithm of the error is nearly a straight line in the budget, so a few estimates along it
suffice. May touch core, policies and simulation.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import numpy as np

from ringfence.core.attributes import Constraint
from ringfence.core.errors import InputError
from ringfence.policies.policy import MOST_PULLS, Policy
from ringfence.simulation.instance import Instance

_MOST_STEPS = 40
_LEAST_TARGET = 1e-140  # whose square is a number too
_LEAST_APART = 1e-9  # in units of the noise: more pulls than anybody has
_LONGEST_LEAP = 4.0
CAUTION = 2.0  # standard errors by which the estimate must lie below the target
_NEAR = 2.0  # budgets that differ by no more lie on one line
_SHORTEST_STEP = 1.004


@dataclass(frozen=True)
class Point:
    """How likely an error is at a budget."""

    budget: int
    error_rate: float
    std_error: float
    interval: tuple[float, float]
    warnings: tuple[str, ...] = ()
    has_few_errors: bool = False  # its estimate rests on too few

    @property
    def log(self) -> float:
        """The logarithm, of half a standard error where no error was seen."""
        return math.log(max(self.error_rate, 0.5 * self.std_error, 1e-300))

    @property
    def relative(self) -> float:
        """The standard error of the logarithm."""
        return self.std_error / self.error_rate if self.error_rate > 0.0 else 1.0

    def is_below(self, target: float, caution: float = CAUTION) -> bool:
        """Tell whether the error is at most the target, by so many standard errors."""
        return self.log + caution * self.relative <= math.log(target)


RateAt = Callable[[int], Point]


def least_budget(
    rate_at: RateAt, target: float, *, start: int, least: int, precision: float = 1.003,
    caution: float = CAUTION,
) -> list[Point]:  # fmt: skip
    """Return every point that was looked at on the way; the last is the least that is enough.

    `start` is a guess, `least` what the policy needs to begin with; budgets whose ratio is less
    than `precision` are one. A point is enough if it is so by `caution` standard errors.
    """
    seen: dict[int, Point] = {}

    def look(budget: int) -> Point:
        if budget not in seen:
            seen[budget] = rate_at(budget)
        return seen[budget]

    low: Point | None = None  # too few
    high: Point | None = None  # enough
    budget = max(least, start)
    for _ in range(_MOST_STEPS):
        point = look(budget)
        if point.is_below(target, caution):
            high = point if high is None or point.budget < high.budget else high
        else:
            low = point if low is None or point.budget > low.budget else low
        if low is not None and high is not None and low.budget >= high.budget:
            low = None  # noise: what was too few is not, or the schedule jumps
        budget = _next_budget(low, high, target, least, precision, caution)
        if budget > MOST_PULLS:
            raise InputError(
                f"target_error = {target:g} is out of reach: even {MOST_PULLS:,} pulls are not "
                "enough. Raise the target, or relax the problem."
            )
        if high is not None and budget >= high.budget:
            break
    if high is None:
        raise InputError(
            f"target_error = {target:g} was not reached within {budget:,} pulls: the error does "
            "not fall steadily. Raise the target."
        )
    return sorted(seen.values(), key=lambda one: (one is high, one.budget))


def _next_budget(
    low: Point | None, high: Point | None, target: float, least: int, precision: float,
    caution: float,
) -> int:  # fmt: skip
    """Return where to look next; one that is not less than `high` ends the search."""
    wanted = math.log(target)
    if high is None:
        if low is None:
            return least
        leap = wanted / low.log if low.log < 0.0 else _LONGEST_LEAP
        return math.ceil(low.budget * min(_LONGEST_LEAP, max(1.02, 1.05 * leap)))
    if low is None:
        if high.budget <= least:
            return high.budget
        shrink = (wanted - caution * high.relative) / high.log
        return max(least, math.floor(high.budget * min(0.98, max(1.0 / _LONGEST_LEAP, shrink))))
    if high.budget <= max(low.budget + 1, precision * low.budget):
        return high.budget
    top = high.log + caution * high.relative
    bottom = low.log + caution * low.relative
    share = (wanted - bottom) / (top - bottom) if top < bottom else 0.5
    share = min(0.9, max(0.1, share + 0.02))
    middle = round(low.budget + share * (high.budget - low.budget))
    return min(high.budget - 1, max(low.budget + 1, middle))


def fitted_budget(points: list[Point], target: float, *, least: int, caution: float) -> int:
    """Return where the line through the points around the last one meets the target.

    It is the line of ln(error) over the budget, by how sure each point is; `caution` counts
    standard errors of the line. Without a line that falls it is the last point's budget.
    """
    last = points[-1].budget
    near = [one for one in points if 1.0 / _NEAR <= one.budget / last <= _NEAR]
    if len(near) == 1:
        return last
    budgets, logs, errors = np.array([(one.budget, one.log, one.relative) for one in near]).T
    weights = errors**-2
    middle, level = np.average(budgets, weights=weights), np.average(logs, weights=weights)
    spread = np.sum(weights * (budgets - middle) ** 2)
    slope = np.sum(weights * (budgets - middle) * (logs - level)) / spread
    if not slope < 0.0:
        return last
    error = math.sqrt(1.0 / weights.sum() + (last - middle) ** 2 / spread)
    found = float(middle + (math.log(target) - caution * error - level) / slope)
    return max(least, math.ceil(min(max(found, last / _NEAR), _NEAR * last)))


def next_try(point: Point, target: float) -> int:
    """Return a budget that suffices, as far as can be told from one at which the error is above.

    A step that is too short would be tried again until an estimate is low by luck.
    """
    excess = point.log + point.relative - math.log(target)
    step = 1.0 + excess / max(-math.log(target), 1.0)
    return max(point.budget + 1, math.ceil(max(_SHORTEST_STEP, step) * point.budget))


@dataclass(frozen=True)
class Hard:
    """A reason why an instance is hard, with its share of H1."""

    what: str
    share: float


def hardest(instance: Instance) -> list[Hard]:
    """Return what makes an instance hard: who must be told apart from what, by share of H1."""
    theory, names = instance.hardness, instance.arms
    best, slack = names[theory.optimal], abs(theory.arms[theory.optimal].margin)
    shares: dict[str, float] = {}
    for name, arm in zip(names, theory.arms, strict=True):
        if arm.Delta is None or arm.delta is None:
            continue
        if theory.asks_arms_alone:
            what = f"{name} against the threshold"
        elif arm.delta > slack * (1.0 + 1e-9):
            what = f"{best} against the threshold"
        elif arm.margin > 0.0 and arm.delta <= arm.margin and theory.feasible:
            what = f"{name} against the threshold"
        else:
            what = f"{name} against {best}"
        shares[what] = shares.get(what, 0.0) + arm.Delta**-2 / theory.h1
    ranked = sorted(shares.items(), key=lambda one: -one[1])
    return [Hard(what, share) for what, share in ranked]


def require_possible(instance: Instance, target: float) -> None:
    """Refuse a target that is none, and an instance that no budget can settle."""
    if not 0.0 < target < 1.0:
        raise InputError(f"target_error = {target!r} must lie between 0 and 1. Use 0.01, or 1e-9.")
    if target < _LEAST_TARGET:
        raise InputError(
            f"target_error = {target:g} is too small for numbers. Use {_LEAST_TARGET:g} or more."
        )
    untold = _untold(instance)
    if untold:
        raise InputError(
            f"instance {instance.name!r}: no budget tells {', nor '.join(untold)}. Move the "
            "threshold, or drop the arm."
        )


def _untold(instance: Instance) -> list[str]:
    """Return which arms no budget can tell from a limit that they lie on, or from the best.

    The gap of every arm is capped by the slack of the best one, so gaps do not say who is at fault.
    """
    theory = instance.hardness
    found = []
    for place, (name, arm) in enumerate(zip(instance.arms, theory.arms, strict=True)):
        apart = abs(arm.margin) if arm.delta is None else arm.delta
        if apart >= _LEAST_APART:
            continue
        alone = arm.delta is None or theory.asks_arms_alone
        if instance.problem.constraints and (alone or (theory.feasible and arm.margin > 0.0)):
            limit = _nearest_limit(instance, place)
            found.append(f"arm {name!r} from its limit (it lies on {limit})")
        else:
            found.append(f"arm {name!r} from {instance.arms[theory.optimal]!r} (they tie)")
    return found


def _nearest_limit(instance: Instance, arm: int) -> Constraint:
    """Return the limit that an arm's margin is about."""
    violations = instance.scales[1:] * (instance.compared[arm, 1:] - instance.judged.thresholds)
    return instance.problem.constraints[int(violations.argmax())]


def whole_target(target: float) -> float:
    """Return a target as a plain number, or refuse it."""
    if isinstance(target, str) or not isinstance(target, Real):
        raise InputError(f"target_error = {target!r} must be a number. Use 0.01, or 1e-9.")
    return float(target)


def first_guess(instance: Instance, policy: Policy, target: float) -> tuple[int, str]:
    """Return a budget in the right region, and by what it is: an oracle's rate, or H1."""
    known = instance.oracle
    if known is not None and known.rate > 0.0:
        rate, how = known.rate, "the rate of the best static allocation"
    else:
        rate, how = instance.hardness.conjectured_rate, "H1"
    need = max(-math.log(target) - 1.0, 0.5)
    least = policy.minimum_budget(len(instance.arms))
    return min(MOST_PULLS, max(least, math.ceil(need / rate))), how
