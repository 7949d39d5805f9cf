"""What the page of a study shows beside its charts: arms in order, limits to play with. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ringfence.core.problem import Problem
from ringfence.study.verdict import ArmVerdict, Flip, Verdict

_ROOM = 0.05  # of the span of what was seen, on either side of a slider
_KINDS = (
    "optimal", "feasible-suboptimal", "deceiver", "infeasible-suboptimal", "infeasible",
)  # fmt: skip
KIND_WORDS = {
    "optimal": "the answer",
    "feasible-suboptimal": "feasible, not the best",
    "deceiver": "deceiver: better, but breaks a limit",
    "infeasible-suboptimal": "breaks a limit, and no better",
    "infeasible": "breaks a limit",
    None: "too few pulls to judge",
}


@dataclass(frozen=True)
class Limit:
    """A constraint, the span in which its threshold is worth moving, and where answers change."""

    place: int
    text: str
    attribute: str
    relation: str
    threshold: float
    low: float
    high: float
    flips: tuple[Flip, ...]


def shown_arms(verdict: Verdict, most: int) -> list[ArmVerdict]:
    """Return at most so many arms, in a reader's order; every kind has its turn."""
    ordered = ordered_arms(verdict)
    if len(ordered) <= most:
        return ordered
    turn = Counter[str | None]()
    places = {}
    for arm in ordered:
        places[arm.name] = turn[arm.kind]
        turn[arm.kind] += 1
    chosen = {arm.name for arm in sorted(ordered, key=lambda arm: places[arm.name])[:most]}
    return [arm for arm in ordered if arm.name in chosen]


def ordered_arms(verdict: Verdict) -> list[ArmVerdict]:
    """Return the arms as a reader wants them: the answer, feasible ones, then by violation."""
    names = [next(iter(arm.estimates)) for arm in verdict.arms if arm.estimates]
    objective = names[0] if names else ""
    best = next(arm for arm in verdict.arms if arm.name == verdict.arm)

    def rank(arm: ArmVerdict) -> tuple[int, float, float]:
        if arm.kind is None:
            return len(_KINDS), 0.0, 0.0
        far = abs(arm.estimates[objective].value - best.estimates[objective].value)
        is_feasible = arm.kind in _KINDS[:2]
        return _KINDS.index(arm.kind), 0.0 if is_feasible else arm.margin or 0.0, far

    return sorted(verdict.arms, key=rank)


def limits_of(problem: Problem, verdict: Verdict) -> list[Limit]:
    """Return every constraint with a span that holds its threshold and what arms were seen at."""
    found = []
    for place, constraint in enumerate(problem.constraints):
        if constraint.factor:
            continue  # relative to a baseline: there is no number to move
        name = str(constraint.attribute)
        seen = [arm.estimates[name] for arm in verdict.arms if name in arm.estimates]
        flips = tuple(flip for flip in verdict.flips if flip.constraint == str(constraint))
        low, high = _span(
            [
                constraint.threshold,
                *(flip.threshold for flip in flips),
                *(one.value for one in seen),
            ]
        )
        found.append(
            Limit(
                place=place,
                text=str(constraint),
                attribute=name,
                relation=constraint.relation,
                threshold=constraint.threshold,
                low=low,
                high=high,
                flips=flips,
            )
        )
    return found


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Return a span that holds all values with some room; never an empty one."""
    low, high = min(values), max(values)
    room = _ROOM * (high - low) or abs(high) or 1.0
    return low - room, high + room
