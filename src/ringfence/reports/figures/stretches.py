"""The pulls of a study cut into stretches: how many each arm got in each. Pure.

Works on rounds that were thinned too: a round says how many pulls every arm had before it.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ringfence.study.facts import Round


@dataclass(frozen=True)
class Stretch:
    """Pulls after number `start` up to number `end`, and each arm's part of them."""

    start: int
    end: int
    pulls: tuple[int, ...]


def stretches(rounds: Sequence[Round], most: int | None = None) -> list[Stretch]:
    """Return the pulls in at most so many stretches of about equal length; None: by round.

    Borders are borders of rounds, so that a long round is one stretch.
    """
    tallies = [(one.first - 1, one.before) for one in rounds]
    if rounds:
        last = rounds[-1]
        counts = tuple(a + b for a, b in zip(last.before, last.allocation, strict=True))
        tallies.append((last.first - 1 + last.size, counts))
    borders = [
        one for place, one in enumerate(tallies) if place == 0 or one[0] > tallies[place - 1][0]
    ]
    if most is not None and len(borders) > most + 1:
        borders = _even(borders, most)
    return [
        Stretch(start, end, tuple(b - a for a, b in zip(had, has, strict=True)))
        for (start, had), (end, has) in pairwise(borders)
    ]


def _even(
    borders: Sequence[tuple[int, tuple[int, ...]]], most: int
) -> list[tuple[int, tuple[int, ...]]]:
    """Return the first and the last border, and those nearest to equal parts in between."""
    pulls = [one[0] for one in borders]
    chosen = {0, len(borders) - 1}
    for part in range(1, most):
        goal = pulls[0] + (pulls[-1] - pulls[0]) * part / most
        after = bisect_left(pulls, goal)
        before = after - 1
        chosen.add(before if goal - pulls[before] < pulls[after] - goal else after)
    return [borders[i] for i in sorted(chosen)]


def first_pull_after(rounds: Sequence[Round], number: int) -> int:
    """Return how many pulls there were when a round was decided, or the next one that is given."""
    later = [one.first - 1 for one in rounds if one.number >= number]
    if later:
        return later[0]
    return rounds[-1].first - 1 + rounds[-1].size if rounds else 0
