"""What the rules of policies see of one study, and the forms that these rules have.

May touch core.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.gaps import apparent_best, margin

NOBODY: Integers = np.array([-1])
NOBODY.flags.writeable = False
EQUAL: Floats = np.ones(1)
EQUAL.flags.writeable = False

Reject: TypeAlias = Callable[[Floats, Integers, Mask, Floats, Floats, Integers], int]
"""(estimates, counts, alive, scales, thresholds, priority) -> the arm to drop."""


class Evidence(NamedTuple):
    """What a choosing rule sees of one study.

    `estimates` come from `counts` pulls; `in_flight` are pulls issued and not yet told. Arms that
    are not alive (withdrawn) are left alone. `covariances[arm]` is that of one pull. `left`, of
    one number, is what may still be spent, in units of the reference price: where prices are equal,
    the pulls that may still be issued, those of this batch among them. `baseline`, of one place, is
    the arm that limits are relative to, or -1: whoever runs a policy sees to it that it is never
    dropped, and rules need not know. `prices` are relative to the reference price, by arm; whoever
    runs a policy also sees to it that no batch costs more than is left.

    Where arms share blocks, `sharing` is a `Sharing` with the joint covariance of the estimates,
    and `covariances` are what each arm's own estimates would have for one pull; else it is None.
    Where they share hours, `hours` has what is needed to foresee the next one. Where pulls end when
    the answer is proven, `asked` are the open questions; a simulation has its `proof` there too.
    """

    estimates: Floats
    counts: Integers
    in_flight: Integers
    alive: Mask
    covariances: Floats
    scales: Floats
    thresholds: Floats
    priority: Integers
    left: Floats
    baseline: Integers = NOBODY
    prices: Floats = EQUAL
    sharing: Any = None
    hours: Any = None
    asked: Any = None
    proof: Any = None


Choose: TypeAlias = Callable[[Evidence, Floats, Integers, Any], None]
"""(evidence, uniforms, chosen, work): fill `chosen` with the arms to pull next.

A batch is decided whole, one uniform a pull; `work` is room to write in.
"""


Answer: TypeAlias = Callable[[Evidence, Any], tuple[int, bool]]
"""(evidence, work) -> the arm to recommend, and whether it is feasible."""


def apparent_answer(seen: Evidence, work: Any) -> tuple[int, bool]:
    """Answer with the arm that looks best."""
    best = apparent_best(seen.estimates, seen.alive, seen.scales, seen.thresholds, seen.priority)
    return best, margin(seen.estimates, best, seen.scales, seen.thresholds) <= 0.0
