"""What a chunk of replications counts, and how an answer is judged. Touches its arguments only."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from ringfence.core.arrays import Integers, Mask
from ringfence.core.question import Question


class Tally(NamedTuple):
    """What a chunk counted. `wrong` and `flag_wrong` have an entry a replication.

    `chosen` [arm, flag] counts the answers that an arm was in, infeasible first; `misjudged` the
    times when a rule named an arm that was not alive: the fault of a rule. `paid` is what
    all pulls cost, where that is drawn with them. `pulled` and `proven`
    have an entry a replication too: how many pulls it took, and what was proven then.
    """

    wrong: Mask
    flag_wrong: Mask
    lost_in_phase: Integers
    pulls: Integers
    chosen: Integers
    misjudged: Integers
    paid: Integers
    pulled: Integers
    proven: Integers


def errs(is_optimal: bool, flag: bool, feasible: bool) -> bool:  # noqa: FBT001
    """Tell whether an answer is wrong: its arm is, or its flag."""
    return not is_optimal or flag != feasible


@cache
def judge_of(question: Question) -> Callable[..., None]:
    """Return what counts a replication's answer to a question."""
    right = question.right

    def judge(
        tally: Tally,
        replication: int,
        marked: Mask,
        flag: bool,  # noqa: FBT001
        optimal: Mask,
        feasible: bool,  # noqa: FBT001
        lost_in: int,
    ) -> None:
        """Count an answer; `lost_in` is the phase that dropped what was right, or -1.

        One that has other arms than the right ones though none was dropped loses in the last phase.
        """
        has_right_arms = right(optimal, feasible, marked, feasible)
        tally.flag_wrong[replication] = flag != feasible
        tally.wrong[replication] = not has_right_arms or flag != feasible
        for i in range(marked.shape[0]):
            if marked[i]:
                tally.chosen[i, int(flag)] += 1
        if not has_right_arms:
            last = tally.lost_in_phase.shape[0] - 1
            tally.lost_in_phase[lost_in if lost_in >= 0 else last] += 1

    return judge
