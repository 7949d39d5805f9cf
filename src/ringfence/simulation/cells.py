"""One cell of a tournament: a policy on an instance, run until enough errors were seen.

And the budget at which a cell is fought: the least at which the base policy errs as seldom as was
asked for. May touch core, policies and simulation.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ringfence.core.errors import InputError
from ringfence.core.money import Money
from ringfence.policies.policy import Policy
from ringfence.simulation.counts import Counts, total
from ringfence.simulation.engines import CPU, Engine
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.funding import funds_of, unit_of
from ringfence.simulation.instance import Instance

_SEARCH_REPLICATIONS = 10_000
_SEARCH_ERRORS = 100  # that a search expects to see at its target, at the least
_SEARCH_PRECISION = 1.01
_LARGEST_BUDGET = 10**7
_BATCHES = 400
_AMPLE = Decimal(10) ** 6


@dataclass(frozen=True)
class Cell:
    """How often a policy erred on an instance at a budget."""

    instance: str
    arms: int
    policy: str
    budget: int
    batch: int
    errors: int
    replications: int

    @property
    def error_rate(self) -> float:
        """The share of errors; none counts as half an error, so that ratios are defined."""
        return max(self.errors, 0.5) / self.replications


def experiment_of(instance: Instance, policy: Policy, budget: int, **how: Any) -> Experiment:
    """Return a policy on an instance; where this has prices, a budget of pulls at their mean."""
    if not isinstance(instance.price, Mapping):
        return Experiment(instance, policy, budget, **how)
    funds = funds_of(instance, Money(_AMPLE, unit_of(instance.price)))
    paid = budget * sum(funds.prices) // len(funds.prices)
    return Experiment(instance, policy, **funds._replace(budget=paid)._asdict(), **how)


def budget_for(
    instance: Instance, policy: Policy, target: float, *, seed: int, scales: str = "known"
) -> int:
    """Return a budget at which a policy's error rate is close to a target.

    The least one, to a percent, at which ten thousand replications say so, or more where the target
    is rare. Where the policy errs less often even at its least budget, it is that.
    """
    replications = max(_SEARCH_REPLICATIONS, math.ceil(_SEARCH_ERRORS / target))

    def errs_too_often(budget: int) -> bool:
        experiment = experiment_of(instance, policy, budget, scales=scales)
        counts = CPU.count(experiment, seed, 0, replications)
        return counts.errors > target * counts.replications

    low = high = smallest_budget(instance, policy, scales=scales)
    while errs_too_often(high):
        low, high = high, 2 * high
        if high > _LARGEST_BUDGET:
            raise InputError(
                f"instance {instance.name!r}: {policy.name} errs more than {target:g} of the time "
                f"even with {_LARGEST_BUDGET:,} pulls. Raise the target error."
            )
    while high > low + 1 and high > _SEARCH_PRECISION * low:
        middle = min(max(int(math.sqrt(low * high)), low + 1), high - 1)
        if errs_too_often(middle):
            low = middle
        else:
            high = middle
    return high


def smallest_budget(instance: Instance, policy: Policy, *, scales: str = "known") -> int:
    """Return the least budget that a policy accepts."""
    experiment_of(instance, policy, _LARGEST_BUDGET, scales=scales)  # refuses what no budget helps
    budget = policy.minimum_budget(len(instance.arms))
    while not _is_enough(instance, policy, budget, scales):
        budget += 1
    return budget


def fight(
    instance: Instance,
    policy: Policy,
    budget: int,
    *,
    seed: int,
    scales: str = "known",
    least_errors: int,
    most_replications: int,
    engine: Engine = CPU,
) -> Cell:
    """Run a policy until so many errors were seen, or so many replications were run.

    An adaptive policy decides a four-hundredth of its budget at once. The streams are not those
    of the search for the budget. `engine` runs the chunks.
    """
    batch = max(1, budget // _BATCHES)
    experiment = experiment_of(instance, policy, budget, scales=scales, batch=batch)
    seen: list[Counts] = []
    done, errors, size = 0, 0, least_errors
    while errors < least_errors and done < most_replications:
        size = min(size, most_replications - done)
        seen.append(engine.count(experiment, seed + 1, len(seen), size))
        done, errors = done + size, errors + seen[-1].errors
        size = 2 * done
    counts = total(seen)
    return Cell(
        instance=instance.name,
        arms=len(instance.arms),
        policy=policy.name,
        budget=budget,
        batch=batch,
        errors=counts.errors,
        replications=counts.replications,
    )


def _is_enough(instance: Instance, policy: Policy, budget: int, scales: str) -> bool:
    try:
        experiment_of(instance, policy, budget, scales=scales)
    except InputError:
        return False
    return True
