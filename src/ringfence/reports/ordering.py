"""The order in which people read arms, and which of many they are shown. Pure."""

from collections import Counter

from ringfence.study.verdict import ArmVerdict, Verdict

_IN_QUESTION = 0.01  # an arm with a smaller chance to be the answer has no claim to be shown
_ANSWER, _INSIDE, _OUTSIDE, _UNJUDGED = range(4)


def ordered_arms(verdict: Verdict) -> list[ArmVerdict]:
    """Return the arms as a reader wants them: the answer, those that look feasible, the others.

    Each group by the objective, the best first, or by the margin where no arm looks feasible, or
    none is compared with another; at the end those that cannot be judged.
    """
    if verdict.problem.question.settles:
        return sorted(verdict.arms, key=lambda arm: _side(verdict, arm))
    arms = {arm.name: arm for arm in verdict.arms}
    best, apparent = arms[verdict.arm or ""], arms[verdict.apparent or ""]
    # Of the arms that look feasible none is better than the one that looks best.
    front = apparent if (apparent.margin or 0.0) <= 0.0 else best

    def value(arm: ArmVerdict) -> float:
        return arm.estimates[verdict.objective].value

    def rank(arm: ArmVerdict) -> tuple[int, float, float]:
        if arm is best:
            return _ANSWER, 0.0, 0.0
        if arm.kind is None or arm.margin is None:
            return _UNJUDGED, 0.0, 0.0
        group = _INSIDE if arm.margin <= 0.0 else _OUTSIDE
        if not verdict.feasible:
            return group, arm.margin, 0.0
        if group == _INSIDE:
            return group, abs(value(arm) - value(front)), arm.margin
        far = abs(value(arm) - value(best))
        return group, -far if arm.kind == "deceiver" else far, arm.margin

    return sorted(verdict.arms, key=rank)


def _side(verdict: Verdict, arm: ArmVerdict) -> tuple[int, float]:
    """Return the key of an arm of a set: the best named first, then the surest of the others."""
    if arm.kind is None or arm.margin is None:
        return _UNJUDGED, 0.0
    if arm.name not in verdict.answer:
        return _OUTSIDE, arm.margin
    sign = 1.0 if verdict.problem.objective.direction == "minimize" else -1.0
    return _INSIDE, sign * arm.estimates[verdict.objective].value


def shown_arms(verdict: Verdict, most: int) -> list[ArmVerdict]:
    """Return at most so many arms, in a reader's order.

    First come those that may well be the answer, by their chance; then every kind has its turn.
    """
    ordered = ordered_arms(verdict)
    if len(ordered) <= most:
        return ordered
    turn = Counter[str | None]()
    urgency = {}
    for arm in ordered:
        chance = arm.chance_best or 0.0
        is_open = chance >= _IN_QUESTION
        urgency[arm.name] = (0, -chance) if is_open else (1, float(turn[arm.kind]))
        turn[arm.kind] += 1
    if verdict.arm is not None:
        urgency[verdict.arm] = (-1, 0.0)
    chosen = {arm.name for arm in sorted(ordered, key=lambda arm: urgency[arm.name])[:most]}
    return [arm for arm in ordered if arm.name in chosen]
