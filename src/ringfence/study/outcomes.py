"""What every arm did on every item, or in every hour: who did better on which. May touch core.

An arm counts once on an item, by the mean of its pulls there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.statistics import contributions
from ringfence.study.facts import Harvest
from ringfence.study.plan import Plan
from ringfence.study.ports import Ledger


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Means by arm and block, NaN where an arm has no pull: of `values` [arm, block, metric].

    `blocks` are the numbers of the items or hours that some arm was seen on, in rising order.
    `objective` [arm, block] is what they add to the objective, oriented: lower is better. `pulls`
    are the pulls that were told.
    """

    arms: tuple[str, ...]
    metrics: tuple[str, ...]
    blocks: Integers
    values: Floats
    objective: Floats
    pulls: Integers
    sign: float

    @property
    def was_tried(self) -> Mask:
        """Which arms were told of at all."""
        return np.asarray(self.pulls.any(axis=1))

    def written(self, arm: int, place: int) -> float:
        """Return what an arm adds to the objective on a block, as people read it."""
        return self.sign * float(self.objective[arm, place]) + 0.0


def outcomes_seen(plan: Plan, ledger: Ledger) -> Outcomes:
    """Return what was told so far, without void pulls, where arms share items or hours."""
    harvest = ledger.harvest(1, ledger.head.issued)
    pardons = ledger.pardons() if ledger.head.pardons else ()
    void = np.array([number - 1 for one in pardons for number in one.void], dtype=np.int64)
    return outcomes_of(plan, harvest.without(void))


def outcomes_of(plan: Plan, harvest: Harvest) -> Outcomes:
    """Return what pulls told, by arm and by item or hour."""
    told, sharing, problem = harvest.is_told, plan.sharing, plan.problem
    arms, values = harvest.arms[told], harvest.values[told]
    mine = harvest.hours if sharing.has_hours else sharing.items_of(harvest.ordinals)
    blocks, places = np.unique(mine[told], return_inverse=True)
    shape = plan.arm_count, len(blocks)
    cells = arms * len(blocks) + places
    pulls = np.bincount(cells, minlength=shape[0] * shape[1]).astype(np.int64)

    def mean(column: Floats) -> Floats:
        sums = np.bincount(cells, weights=column, minlength=len(pulls))
        return np.where(pulls > 0, sums / np.maximum(pulls, 1), np.nan).reshape(shape)

    metrics, objective = plan.metrics, problem.objective.attribute
    added = contributions(
        objective.kind, objective.level or 0.0, values[:, metrics.index(objective.metric)]
    )
    sign = float(problem.signs[0])
    return Outcomes(
        arms=plan.definition.arm_names,
        metrics=tuple(metrics),
        blocks=blocks.astype(np.int64),
        values=np.stack([mean(column) for column in values.T], axis=-1),
        objective=mean(sign * added),
        pulls=pulls.reshape(shape),
        sign=sign,
    )


def contents_of(plan: Plan, ledger: Ledger, numbers: Sequence[int]) -> Mapping[int, Any]:
    """Return items by their numbers: their content, or the number where they have none."""
    wanted = sorted({int(number) for number in numbers})
    if not plan.sharing.are_kept:
        return {number: number for number in wanted}
    return dict(zip(wanted, ledger.items(wanted), strict=True))


@dataclass(frozen=True)
class Contest:
    """On which of the blocks that both saw one arm did better than another, the clearest first.

    `won` and `lost` are places among the blocks, the `even` ones are counted.
    """

    arm: int
    rival: int
    won: tuple[int, ...]
    lost: tuple[int, ...]
    even: int

    @property
    def common(self) -> int:
        """How many blocks both have seen."""
        return len(self.won) + len(self.lost) + self.even


def contest_of(outcomes: Outcomes, arm: int, rival: int) -> Contest:
    """Return where one arm did better than another by the objective, and where it did worse."""
    behind = outcomes.objective[arm] - outcomes.objective[rival]
    order = np.argsort(-np.abs(behind), kind="stable")
    won, lost = order[behind[order] < 0.0], order[behind[order] > 0.0]
    even = int(np.count_nonzero(behind == 0.0))
    return Contest(arm, rival, tuple(won.tolist()), tuple(lost.tolist()), even)
