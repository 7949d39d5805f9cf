"""What a chunk of replications counts, and how an answer is judged. Touches its arguments only."""

from typing import NamedTuple

from ringfence.core.arrays import Integers, Mask


class Tally(NamedTuple):
    """What a chunk counted. `wrong` and `flag_wrong` have an entry a replication.

    `chosen` [arm, flag] counts the answers, infeasible first; `misjudged` the times when a rule
    named an arm that was not alive: the fault of a rule.
    """

    wrong: Mask
    flag_wrong: Mask
    lost_in_phase: Integers
    pulls: Integers
    chosen: Integers
    misjudged: Integers


def errs(is_optimal: bool, flag: bool, feasible: bool) -> bool:  # noqa: FBT001
    """Tell whether an answer is wrong: its arm is, or its flag."""
    return not is_optimal or flag != feasible


def judge(
    tally: Tally,
    replication: int,
    answer: int,
    flag: bool,  # noqa: FBT001
    optimal: Mask,
    feasible: bool,  # noqa: FBT001
    right_left: int,
) -> None:
    """Count a replication's answer; `right_left` are the right arms that were still there.

    One that leaves a right arm for a wrong one loses it in the last phase.
    """
    tally.flag_wrong[replication] = flag != feasible
    tally.wrong[replication] = errs(optimal[answer], flag, feasible)
    tally.chosen[answer, int(flag)] += 1
    if right_left > 0 and not optimal[answer]:
        tally.lost_in_phase[tally.lost_in_phase.shape[0] - 1] += 1
