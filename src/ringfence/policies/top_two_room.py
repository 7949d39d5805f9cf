"""The room in which top-two decides, and its answer: with shared blocks as without.

Touches its arguments only, and writes in `work`.
"""

from typing import NamedTuple

import numpy as np

from ringfence.core.arrays import Floats, Mask
from ringfence.core.cost import CostWork, cost_work
from ringfence.core.posterior import NODES, likeliest_answer
from ringfence.policies.evidence import Evidence


class Work(NamedTuple):
    """What is known of every arm's threat while a batch is decided.

    - `shrunk`: where every arm lies, objectives beyond the least and constraints beyond their
      limits (which are `zeros` then). `backing`: the pulls that this rests on.
    - `pulls`: those told, then also those in flight and promised.
    - `shares`: the best arm's in the cost, then in the pulls.
    - `hindrances`: how many times less likely the threat is than its cost says.
    - `weights`: what is taken the log of. `values`: how urgent the threats are, the least first.
    - `rises`: what every pull of the best arm adds to the values. `slopes`, over the arm's pulls:
      what one of its own adds.
    """

    shrunk: Floats
    backing: Floats
    zeros: Floats
    pulls: Floats
    costs: Floats
    shares: Floats
    hindrances: Floats
    weights: Floats
    values: Floats
    rises: Floats
    slopes: Floats
    passing: Floats
    reached: Floats
    marked: Mask
    cost: CostWork


def make_work(arm_count: int, attribute_count: int) -> Work:
    """Return room for `choose` and `answer`."""
    return Work(
        shrunk=np.zeros((arm_count, attribute_count)),
        backing=np.zeros(arm_count),
        zeros=np.zeros(attribute_count - 1),
        pulls=np.zeros(arm_count),
        costs=np.zeros(arm_count),
        shares=np.zeros(arm_count),
        hindrances=np.zeros(arm_count),
        weights=np.zeros(arm_count),
        values=np.zeros(arm_count),
        rises=np.zeros(arm_count),
        slopes=np.zeros(arm_count),
        passing=np.zeros((arm_count, NODES)),
        reached=np.zeros((arm_count, NODES + 1)),
        marked=np.zeros(arm_count, np.bool_),
        cost=cost_work(attribute_count),
    )


def answer(seen: Evidence, work: Work) -> tuple[int, bool]:
    """Answer with what the pulls make likeliest: mostly, but not always, the apparent best."""
    return likeliest_answer(
        seen.estimates, seen.counts, seen.alive, seen.covariances,
        seen.scales, seen.thresholds, seen.priority, work.passing, work.reached,
    )  # fmt: skip
