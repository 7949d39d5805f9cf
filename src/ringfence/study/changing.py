"""Outcomes that changed while a study ran, in all arms alike: arms were compared at other times.

Where pulls share hours that is reckoned with, and where they share items or seeds it is not what
comes of these. May touch core.
"""

from dataclasses import dataclass

from ringfence.core.constancy import RARE, chance_of_change
from ringfence.study.book import Book


@dataclass(frozen=True)
class Change:
    """A metric that was another at some times than at others, over so many stretches of pulls.

    `chance` is how likely it would look so if it had not changed.
    """

    metric: str
    stretches: int
    chance: float


def changes_of(book: Book) -> tuple[Change, ...]:
    """Return what changed from one time to another, metric by metric."""
    if book.over_time is None:
        return ()
    found = []
    for place, metric in enumerate(book.problem.metrics):
        chance, stretches = chance_of_change(book.over_time, place)
        if chance < RARE:
            found.append(Change(metric, stretches, chance))
    return tuple(found)
