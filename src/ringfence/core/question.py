"""What a study asks: which arms are the answer, and all that follows from asking so.

A question is a tuple of plain functions, like rules: those about estimates run as they are,
compiled and on a GPU. `best_feasible.py` has the first, `all_feasible.py` the second, and
`questions.py` lists them. Whoever simulates, decides, judges or explains asks these functions,
and nobody asks what the question is called. Touches its arguments only.

    estimates[arm, attribute], scales, thresholds and priority are as in gaps.py; where limits are
    relative, rules see differences (baseline.py), threats the attributes themselves
    named      the arm that an answer names: its best by the objective, -1 if it has none
    feasible   the flag: whether an arm of the answer keeps all limits
    marked     a mask: the arms that are the answer
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.baseline import Versus
from ringfence.core.cost import CostWork
from ringfence.core.threats import Threats

if TYPE_CHECKING:  # it brings more than rules need
    from ringfence.core.answers import Answers

Kind = Literal["optimal", "feasible-suboptimal", "deceiver", "infeasible-suboptimal", "infeasible"]


class Question(NamedTuple):
    """What is asked of the arms; every field but the first two is a plain function.

    A question `settles` arms where one that is no longer pulled still belongs to the answer or not,
    by its last estimate; else an arm that is dropped cannot be the answer.

    >>> from ringfence.core.questions import find_question
    >>> find_question("all feasible").gap(0.3, -2.0, 0.0)
    2.0
    """

    name: str
    settles: bool
    # (estimates, alive, scales, thresholds, priority) -> arm, objective and margin of the arm from
    # which gaps are taken; -1 where there is none
    reference: Callable[[Floats, Mask, Floats, Floats, Integers], tuple[int, float, float]]
    # (lead, margin, margin of the reference) -> delta: what separates an arm from the reference
    separation: Callable[[float, float, float], float]
    # the same -> Delta: the arm with the largest is settled first
    gap: Callable[[float, float, float], float]
    # (estimates, seen, scales, thresholds, priority, marked) -> named, feasible
    answer: Callable[[Floats, Mask, Floats, Floats, Integers, Mask], tuple[int, bool]]
    # (means, scales, thresholds, marked) -> feasible: marks every arm that is right
    optimal: Callable[[Floats, Floats, Floats, Mask], bool]
    # (optimal, truly feasible, marked, feasible) -> whether an answer is right
    right: Callable[[Mask, bool, Mask, bool], bool]
    # (optimal, alive, marked) -> whether arms that were dropped make every answer wrong
    is_lost: Callable[[Mask, Mask, Mask], bool]
    # (is marked, feasible, margin, objective, objective of the named arm) -> what an arm is
    kind: Callable[[bool, bool, float, float, float], Kind]
    # (seen, marked, named, feasible, scales, thresholds, versus, threats) -> how many threats
    fill_threats: Callable[[Mask, Mask, int, bool, Floats, Floats, Versus, Threats], int]
    # the cheapest threat of one arm alone, in closed form: (estimates, covariances, arm, n,
    # is marked, feasible, thresholds, work) -> cost
    own_cost: Callable[[Floats, Floats, int, float, bool, bool, Floats, CostWork], float]
    # the cheapest of an arm and the named one: (estimates, covariances, named, its n, arm, n,
    # feasible, scales, thresholds, work) -> cost and the named arm's share of it
    pair_cost: Callable[
        [Floats, Floats, int, float, int, float, bool, Floats, Floats, CostWork],
        tuple[float, float],
    ]
    # (draws of the truth, marked, feasible) -> the share of draws in which this answer is right
    chance: Callable[["Answers", Mask, bool], float]
    # draws of the truth -> for each arm, the share of draws in which it belongs to the answer
    arm_chances: Callable[["Answers"], Floats]

    def is_like(self, other: "Question") -> bool:
        """Tell whether another question is this one, be it loaded or sent here once more."""
        return self.name == other.name
