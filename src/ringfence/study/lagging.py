"""How far behind decisions are, where nobody says it.

With a lag L pull t is decided from exactly the pulls up to t - L; those between are in flight, and
what became of them so far is not looked at. So decisions depend on no worker's speed. With a lag
of 1 every round is decided from all pulls before it. May touch policies and core.
"""

from ringfence.study.plan import Plan

OF_A_WORKER = 6  # pulls of lag; see decision 28
_PART_OF_BUDGET = 10


def usual_lag(workers: int, pulls: int) -> int:
    """Return the lag for so many workers: they are busy, and little of the budget is in flight.

    At most a tenth of the budget, unless workers would then be idle. One is never idle without.
    """
    if workers == 1:
        return 1
    return max(workers, min(OF_A_WORKER * workers, pulls // _PART_OF_BUDGET))


def first_lag(plan: Plan, workers: int, budget: int) -> int:
    """Return the lag of a study that begins: as it says, or by workers if no batch was stated."""
    definition = plan.definition
    if definition.lag is not None:
        return definition.lag
    if plan.policy.has_phases or definition.batch > 1:
        return 1
    return usual_lag(workers, plan.allowance(budget).pulls)
