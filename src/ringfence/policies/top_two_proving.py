"""Top-two where pulls end when the answer is proven: it aims at the proof, where that is in reach.

Every open question must be settled, and each is by the cheapest of its tests. Which one that is
shows as pulls come in, and two arms are compared on the pulls that both have had. So the arms that
are asked about go on side by side: the next pull is of the one that has had the fewest. To settle
what looks nearest first took a sixth more, since needs are extrapolated and the arm that leads may
yet be another. Where what is open needs more than is left, no proof will come, and the pulls are
better spent as top-two spends them. Touches its arguments only, and writes in `work` and `chosen`.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from ringfence.core.arrays import Floats, Integers
from ringfence.core.settling import PAIRED, SETTLED, Asked
from ringfence.policies.evidence import Choose, Evidence


@cache
def proving(choose: Choose, *, shares: bool) -> Choose:
    """Return the rule that aims at the proof, and where that is out of reach goes by `choose`."""
    has_room = _with_room(shares=shares)

    def choose_proving(seen: Evidence, uniforms: Floats, chosen: Integers, work: Any) -> None:
        done = 0
        if needed(seen.asked) <= seen.left[0]:
            done = go_on_evenly(seen, chosen)
        if done < chosen.shape[0]:
            choose(seen, uniforms[done:], chosen[done:], work)

    def go_on_evenly(seen: Evidence, chosen: Integers) -> int:
        """Fill in the arms that are asked about, and return how many pulls they have room for."""
        pulls = seen.asked.pulls
        for i in range(pulls.shape[0]):
            pulls[i] = seen.counts[i] + seen.in_flight[i]
        for k in range(chosen.shape[0]):
            least = -1
            for i in range(pulls.shape[0]):
                if not (seen.asked.arms[i] and seen.alive[i] and has_room(seen, i, pulls[i])):
                    continue
                is_tie = least >= 0 and pulls[i] == pulls[least]
                if (
                    least < 0
                    or pulls[i] < pulls[least]
                    or (is_tie and seen.priority[i] < seen.priority[least])
                ):
                    least = i
            if least < 0:
                return k
            chosen[k] = least
            pulls[least] += 1.0
        every: int = chosen.shape[0]
        return every

    return choose_proving


def needed(asked: Asked) -> float:
    """Return how many pulls it may take to settle what is open; inf where nobody can tell.

    The arm that leads is pulled as far as the longest comparison with it.
    """
    total, longest = 0.0, 0.0
    for i in range(asked.ways.shape[0]):
        if asked.ways[i] == SETTLED:
            continue
        if i == asked.leader[0]:
            longest = max(longest, asked.needs[i])
            continue
        total += asked.needs[i]
        if asked.ways[i] == PAIRED:
            longest = max(longest, asked.needs[i])
    if total + longest == 0.0:
        return math.inf
    return total + longest


@cache
def _with_room(*, shares: bool) -> Callable[[Evidence, int, float], bool]:
    """Return what tells whether an arm that was promised some pulls has room for another."""

    def has_room(seen: Evidence, i: int, pulls: float) -> bool:
        if shares:
            room: bool = pulls - seen.counts[i] < seen.sharing.rooms[i]
            return room
        return True

    return has_room
