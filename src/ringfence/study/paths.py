"""What arms did in the order of their pulls, as far as nothing is missing: what proofs go by.

Whoever chooses what is pulled and when a study ends must not choose what a proof sees. So an arm's
pulls count in the order of their ordinals, up to the first that is in flight, was lost or was
cancelled: a slow answer holds up all that came after it, and is never passed over. A failure stays
a pull, told as what stands in for it or without values; a pardon takes nothing of it back. May
touch policies and core.
"""

from dataclasses import dataclass

import numpy as np

from ringfence.core.arrays import Integers
from ringfence.core.codes import Code
from ringfence.core.errors import DamagedError
from ringfence.core.proving import Path
from ringfence.study.facts import FAILED_METRIC, Harvest
from ringfence.study.keeping import by_arm
from ringfence.study.plan import Plan


class Gap(Code):
    """Why an arm's path ends where it does, though later pulls of it may be there."""

    IN_FLIGHT = "in-flight"
    LOST = "lost"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Held:
    """The pull that an arm's path ends before, by its number in the study."""

    pull: int
    gap: Gap


@dataclass(frozen=True, eq=False)
class Walked:
    """The path of an arm, the pulls that are on it, and what holds it up, if anything does.

    `ahead` are pulls beyond its last whole block.
    """

    path: Path
    pulls: Integers
    ahead: int = 0
    held: Held | None = None


def walked(plan: Plan, harvest: Harvest) -> list[Walked]:
    """Return the paths of all arms, of all pulls of a study in the order of their numbers."""
    columns = [plan.metrics.index(metric) for metric in plan.problem.metrics]
    _require_inside(plan, harvest)
    nothing = Walked(Path.of(np.zeros((0, len(columns)))), np.zeros(0, np.int64))
    found = [nothing] * plan.arm_count
    values = harvest.values.copy()
    if FAILED_METRIC in plan.untold:  # of a failure it is known though nothing was told
        values[harvest.is_failed, plan.metrics.index(FAILED_METRIC)] = 1.0
    for arm, places in by_arm(harvest.arms, plan.arm_count):
        mine = places[np.argsort(harvest.ordinals[places], kind="stable")]
        is_there = harvest.ordinals[mine] == np.arange(len(mine))
        is_over = harvest.is_told | (harvest.is_failed & harvest.is_charged)
        goes_on = is_there & is_over[mine]
        end = len(mine) if goes_on.all() else int(goes_on.argmin())
        held = None if end == len(mine) else Held(int(mine[end]) + 1, _gap(harvest, mine[end]))
        sizes = _whole_blocks(plan, end)
        pulls = mine[: int(sizes.sum())]
        path = Path(values[pulls][:, columns], sizes)
        found[arm] = Walked(path, pulls + 1, end - len(pulls), held)
    return found


def _gap(harvest: Harvest, place: Integers) -> Gap:
    if harvest.is_failed[place]:
        return Gap.LOST
    return Gap.IN_FLIGHT if harvest.is_charged[place] else Gap.CANCELLED


def _whole_blocks(plan: Plan, count: int) -> Integers:
    """Return how many pulls each block has that an arm has seen whole, after so many pulls."""
    sharing = plan.sharing
    if sharing.block_count is None:
        return np.ones(count, np.int64)
    sizes = sharing.block_sizes
    return np.asarray(sizes[np.cumsum(sizes) <= count])


def _require_inside(plan: Plan, harvest: Harvest) -> None:
    """Refuse values beyond stated bounds: no tell accepts them, and no proof may clip them."""
    for c, metric in enumerate(plan.metrics):
        low, high = plan.noise.bounds.get(metric, (-np.inf, np.inf))
        beyond = harvest.is_told & ~((harvest.values[:, c] >= low) & (harvest.values[:, c] <= high))
        if beyond.any():
            number = int(beyond.argmax()) + 1
            raise DamagedError(
                f"pull {number} has {metric!r} = {harvest.values[number - 1, c]:g}, beyond its "
                f"stated bounds [{low:g}, {high:g}]"
            )
