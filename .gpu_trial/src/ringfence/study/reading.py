"""Reads what a study's pulls became into a book: each round once, in the order of its numbers.

May touch policies and core, and the ports.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats
from ringfence.study.book import Book
from ringfence.study.deciding import Plan, Standing
from ringfence.study.facts import Harvest, Head, PastFact, Round
from ringfence.study.ports import Ledger


@dataclass(frozen=True, eq=False)
class View:
    """Where a study stands and what it has seen; `samples` [pull, metric] are by arm.

    `used` pulls were evaluated and charged.
    """

    head: Head
    rounds: tuple[Round, ...]
    book: Book
    used: int
    samples: tuple[Floats, ...]
    brought: int
    told: int
    failed: int


class Reader:
    """Reads rounds into a book, each once, in order."""

    def __init__(self, plan: Plan) -> None:
        """Begin before the first round."""
        self.plan = plan
        self.book = plan.new_book()
        self._through = -1
        self._past = 0
        self._failing = np.zeros(plan.arm_count, np.int64)
        self.broken: dict[int, int] = {}
        self._spent = 0

    def copied(self) -> "Reader":
        """Return a reader that can go on without this one: other threads may be looking at it."""
        return copy.deepcopy(self, {id(self.plan): self.plan})

    def catch_up(self, ledger: Ledger, head: Head) -> Standing:
        """Read what is new; a round that is not over is read as far as it goes."""
        for one in ledger.rounds(self._through + 1):
            if one.number > head.round:
                break
            self._bring(ledger, one.number - 1)
            if one.size:
                last = one.first + one.size - 1
                self._add(ledger.harvest(one.first, min(last, head.issued)))
            self._through = one.number
        self._bring(ledger, head.round)
        return Standing(head.budget, self._spent, tuple(self.broken))

    def _bring(self, ledger: Ledger, round_number: int) -> None:
        """Add observations that were brought along by the end of a round."""
        brought = ledger.past()[self._past :]
        for past in brought:
            if past.after > round_number:
                break
            self.book.add(past.arm, np.array([past.values]))
            self._past += 1

    def _add(self, harvest: Harvest) -> None:
        """Add a round's observations, arm by arm in the order of ordinals.

        What an arm yields after it failed too often in a row is left out: how much there is
        depends on who was quicker. For the same reason the rest of its round counts as spent,
        whether it was evaluated or not.
        """
        for arm in range(self.plan.arm_count):
            mine = np.flatnonzero(harvest.arms == arm)
            if not len(mine):
                continue
            mine = mine[np.argsort(harvest.ordinals[mine], kind="stable")]
            good = mine[: self._good(arm, harvest.is_failed[mine])]
            resolved = harvest.is_told[good] | harvest.is_failed[good]
            self._spent += int((harvest.is_charged[good] & resolved).sum())
            self._spent += len(mine) - len(good)
            self.book.add(arm, harvest.values[good[harvest.is_told[good]]])
            if arm in self.broken:
                self.broken[arm] = int(harvest.ordinals[good[-1]])

    def _good(self, arm: int, failed: Any) -> int:
        """Return how many of an arm's pulls count: up to the one that broke it."""
        most = self.plan.definition.max_failures
        if not failed.any():
            self._failing[arm] = 0
            return len(failed)
        for place, one in enumerate(failed):
            self._failing[arm] = self._failing[arm] + 1 if one else 0
            if self._failing[arm] >= most:
                self.broken[arm] = place
                return place + 1
        return len(failed)


def samples_of(
    arm_count: int, harvest: Harvest, past: Sequence[PastFact], broken: Mapping[int, int]
) -> tuple[Floats, ...]:
    """Return all observations by arm that count, those that were brought along first."""
    samples = []
    for arm in range(arm_count):
        counts = harvest.is_told & (harvest.arms == arm)
        if arm in broken:
            counts &= harvest.ordinals <= broken[arm]
        mine = harvest.values[counts]
        earlier = [one.values for one in past if one.arm == arm]
        samples.append(np.concatenate([np.array(earlier), mine]) if earlier else mine)
    return tuple(samples)
