"""How many pulls arms get where prices are learned: what is paid for, a round at a time.

Nobody knows beforehand how many pulls a budget pays for. So first pulls and phases go on in rounds
that at most double what arms had, unless no pull can cost more than its cap: prices may be far from
what was guessed. May touch core.
"""

from collections.abc import Sequence

import numpy as np

from ringfence.core.arrays import Integers, Mask
from ringfence.core.pricing import fill_even, ration_through
from ringfence.core.schedule import Phase
from ringfence.study.facts import Round
from ringfence.study.plan import Plan
from ringfence.study.standing import Standing


def first_pulls_paid(
    plan: Plan, before: Round | None, alive: Mask, standing: Standing
) -> list[int]:
    """Return the next of the pulls that arms get before anything is chosen; none if they had them.

    An arm that was withdrawn meanwhile gets none.
    """
    first = plan.opening(standing.budget, standing.prices).first_pulls
    had, room = _had(plan, before, standing), plan.room(before)
    lacks = np.where(alive, np.minimum(room, first - had), 0)
    lacking = lacks > 0
    if not lacking.any():
        return [0] * plan.arm_count
    wanted = min(_step(plan, had[lacking]), int(lacks[lacking].max()))
    fresh = _filled(plan, had, wanted, lacking, standing, standing.left)
    return [int(count) for count in np.minimum(fresh, lacks)]


def phase_pulls_paid(
    plan: Plan,
    phases: Sequence[Phase],
    phase: int,
    before: Round | None,
    alive: Mask,
    standing: Standing,
) -> list[int]:
    """Return what survivors get next in a phase; nothing once its ration is spent."""
    ration = ration_through(standing.budget, phases, phase, plan.arm_count)
    had, room = _had(plan, before, standing), plan.room(before)
    open_ = alive & (room > 0)
    if not open_.any():
        return [0] * plan.arm_count
    left = ration - standing.spent - standing.expected
    fresh = _filled(plan, had, _step(plan, had[open_]), open_, standing, left)
    return [int(count) for count in np.minimum(fresh, room)]


def _filled(
    plan: Plan, had: Integers, wanted: int, alive: Mask, standing: Standing, ration: int
) -> Integers:
    fresh = np.zeros(plan.arm_count, np.int64)
    prices, reserves = (np.array(one, np.int64) for one in (standing.prices, standing.reserves))
    fill_even(fresh, had, wanted, alive, prices, reserves, ration, standing.left, plan.priority)
    return fresh


def _step(plan: Plan, had: Integers) -> int:
    """Return how many pulls of each arm a round may have, with what is known of their prices."""
    pricing = plan.require_pricing
    if pricing.is_capped:
        return int(np.iinfo(np.int64).max)
    return max(plan.least_pulls if pricing.is_known else 1, int(had.min()))


def _had(plan: Plan, before: Round | None, standing: Standing) -> Integers:
    if before is None:
        return np.zeros(plan.arm_count, np.int64)
    return np.array([standing.had(before, arm) for arm in range(plan.arm_count)], np.int64)
