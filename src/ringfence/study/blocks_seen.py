"""What arms were seen to do, block by block, and what that tells of each other.

A block of an arm counts once, by the mean of its pulls there: repeats of an item, or items of a
group, are no further evidence of their own. May touch core.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ringfence.core.arrays import Floats, Integers
from ringfence.core.sharing import (
    ENDLESS,
    Common,
    fill_rooms,
    fill_sharing,
    no_sharing,
    sharing_work,
)
from ringfence.study.together import Alone, Together

_LEAST = 64  # blocks that there is room for


class BlocksSeen:
    """Sums and numbers of pulls by arm and block, of what each pull contributes to attributes."""

    def __init__(
        self,
        arm_count: int,
        width: int,
        blocks: int,
        share: Callable[..., None] = fill_sharing,
    ) -> None:
        """Begin without pulls; there are so many blocks for whom the verdict is, or ENDLESS.

        `share` is `fill_sharing`, or the same compiled.
        """
        self.blocks, self._share = blocks, share
        self._sums = np.zeros((arm_count, _LEAST, width))
        self._told = np.zeros((arm_count, _LEAST), np.int64)

    def add(self, arm: int, blocks: Integers, values: Floats) -> None:
        """Add what pulls of an arm contributed [pull, attribute], each on its block."""
        self._make_room(blocks)
        np.add.at(self._sums[arm], blocks, values)
        np.add.at(self._told[arm], blocks, 1)

    def _make_room(self, blocks: Integers) -> None:
        """Make room for blocks; how much there is follows from the last one alone."""
        while blocks.max(initial=-1) >= self._told.shape[1]:
            self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)], axis=1)
            self._told = np.concatenate([self._told, np.zeros_like(self._told)], axis=1)

    def unseen(self, arm: int, count: int) -> Integers:
        """Return the first blocks that an arm was not seen on, so many of them."""
        free = np.flatnonzero(self._told[arm] == 0)
        beyond = self._told.shape[1] + np.arange(max(count - len(free), 0))
        return np.concatenate([free, beyond])[:count]

    def copied(self) -> "BlocksSeen":
        """Return one that can go on without this one."""
        other = BlocksSeen(0, 0, self.blocks, self._share)
        other._sums, other._told = self._sums.copy(), self._told.copy()
        return other

    @property
    def counts(self) -> Integers:
        """How many blocks each arm has seen."""
        return np.asarray((self._told > 0).sum(axis=1))

    @property
    def means(self) -> Floats:
        """Each arm's mean over its blocks; zero where it has seen none."""
        totals = (self._sums / np.maximum(self._told, 1)[:, :, None]).sum(axis=1)
        return np.asarray(totals / np.maximum(self.counts, 1)[:, None])

    @property
    def matrix(self) -> Floats:
        """What arms did on blocks [arm, block, attribute], NaN where an arm did not see one."""
        found = self._sums / np.maximum(self._told, 1)[:, :, None]
        return np.where((self._told > 0)[:, :, None], found, np.nan)

    def noise_of_blocks(self, covariances: Floats, pulls: Integers) -> Floats:
        """Return the covariance of one block of each arm, where that of one pull is given.

        With one pull a block they are the same. Else a block's scatter is its own, and that of
        pulls is borrowed as far as there are few blocks.
        """
        if self._told.max(initial=0) <= 1:
            return covariances
        found, borrowed = np.empty_like(covariances), 10.0
        values, counts = self.matrix, self.counts
        for i in range(len(found)):
            mine = values[i][self._told[i] > 0]
            away = mine - mine.mean(axis=0) if len(mine) else mine
            per_block = pulls[i] / max(counts[i], 1)
            lent = covariances[i]  # as if repeats told nothing more, which is the worst case
            freedom = max(counts[i] - 1, 0)
            found[i] = (away.T @ away + borrowed * lent) / (freedom + borrowed)
            found[i] = np.where(per_block > 1.0, found[i], lent)
        return found

    def common(self) -> Common:
        """Return what pairs of arms saw on blocks that both have seen."""
        mask = (self._told > 0).astype(np.float64)
        values = self._sums / np.maximum(self._told, 1)[:, :, None]
        first = np.argmax(mask, axis=1)
        origins = values[np.arange(len(values)), first]
        values = (values - origins[:, None, :]) * mask[:, :, None]
        arm_count, blocks, width = values.shape
        flat = values.transpose(0, 2, 1).reshape(arm_count * width, blocks)
        products = (flat @ flat.T).reshape(arm_count, width, arm_count, width)
        sums = (flat @ mask.T).reshape(arm_count, width, arm_count)
        return Common(
            (mask @ mask.T).astype(np.int64),
            np.ascontiguousarray(sums.transpose(0, 2, 1)),
            np.ascontiguousarray(products.transpose(0, 2, 1, 3)),
        )

    def together(self, alone: Alone) -> Together:
        """Return the estimates that arms' results on the same blocks give, and what they share.

        Attributes that are not `shared` stay as they are.
        """
        shared = alone.shared
        found = np.where(shared, self.means, alone.estimates)
        common = self.common()
        common.products[:, :, ~shared, :] = common.products[:, :, :, ~shared] = 0.0
        common.sums[:, :, ~shared] = 0.0
        sharing = no_sharing(*found.shape)
        noise = np.ascontiguousarray(self.noise_of_blocks(alone.covariances, alone.pulls))
        work = sharing_work(*found.shape)
        self._share(sharing, found, noise, common, alone.priority, self.blocks, work)
        fill_rooms(sharing, self.counts, ENDLESS)
        return Together(found, sharing, None)

    def trials(self, pulls: Integers) -> Integers:
        """Return as how many pulls those count that were told: repeats of a block are one.

        Of few blocks those that were seen tell more of the rest, as of a small urn.
        """
        seen = np.minimum(pulls, self.counts[:, None])
        if self.blocks != ENDLESS:
            left = np.maximum(1.0 - seen / self.blocks, 1.0 / self.blocks)
            seen = np.rint(seen / left).astype(np.int64)
        return seen

    def sums(self) -> dict[str, Any]:
        """Return the blocks that arms saw, by arm and number, with pulls and sums on each."""
        arms, blocks = np.nonzero(self._told)
        return {
            "arms": arms,
            "blocks": blocks,
            "told": self._told[arms, blocks],
            "sums": self._sums[arms, blocks],
        }

    def restore(self, sums: Mapping[str, Any]) -> None:
        """Take up what `sums` gave, without anything seen so far."""
        arms, blocks = sums["arms"], sums["blocks"]
        self._make_room(blocks)
        self._told[arms, blocks] = sums["told"]
        self._sums[arms, blocks] = sums["sums"]
