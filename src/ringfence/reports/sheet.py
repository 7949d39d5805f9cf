"""What the page of a study shows beside its charts: kinds in words, limits to play with. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from ringfence.core.problem import Problem
from ringfence.study.verdict import Flip, Verdict

_ROOM = 0.05  # of the span of what was seen, on either side of a slider
KIND_WORDS = {
    "optimal": "the answer",
    "feasible-suboptimal": "feasible, not the best",
    "deceiver": "deceiver: better, but past a limit",
    "infeasible-suboptimal": "past a limit, and no better",
    "infeasible": "past a limit",
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
    unit: str = ""  # of the threshold as a number


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
                unit=constraint.attribute.unit(dict(problem.units)),
            )
        )
    return found


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Return a span that holds all values with some room; never an empty one."""
    low, high = min(values), max(values)
    room = _ROOM * (high - low) or abs(high) or 1.0
    return low - room, high + room
