"""What a choosing rule for many replications side by side offers, and what it sees.

May touch core and policies.
"""

from collections.abc import Callable
from typing import NamedTuple

from ringfence.core.arrays import Floats
from ringfence.policies.evidence import Choose

OBJECTIVE, LIMIT, PULLS, RANK = range(4)  # an arm's estimates, pulls and place in priority
SEEN_ROWS = 4


class LaneRule(NamedTuple):
    """A choosing rule for many replications: it chooses as `alike`, a policy's own, does for one.

    `choose(arms, front, covariances, scales, thresholds, left, uniforms, chosen)` fills `chosen`
    [pull, lane]. `arms` [arm, row, lane] begins with the rows above; its other rows, and `front`
    [row, lane], are room to write in. `suits(covariances)` tells whether it can choose at all.
    """

    alike: Choose
    choose: Callable[..., None]
    suits: Callable[[Floats], bool]
    arm_rows: int
    front_rows: int
