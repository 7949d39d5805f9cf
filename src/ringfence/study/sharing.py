"""What pulls of different arms share: items, random seeds, or the hours in which they are made.

All arms meet the items in one order, drawn from the seed of the study: which item a pull is on
follows from its place among the pulls of its arm, and from nothing else. So neither retries nor
workers that are killed show an item to an arm more often than it may be shown. May touch core.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ringfence.core.arrays import Integers
from ringfence.core.errors import InputError
from ringfence.core.sharing import ENDLESS
from ringfence.core.streams import order_of_groups, order_of_items, pull_seed, pull_seeds
from ringfence.study.facts import NO_HOUR, Definition, Harvest, PullFact

_ENDLESS = 2**62  # pulls
_LEAST_BLOCKS = 2
_TOLD = ("items", "scope", "repeats", "group", "evaluation", "seeds", "every")


@dataclass(frozen=True)
class Sharing:
    """The blocks of a study, as its definition has them.

    With `items`, how many there are: an arm's pulls are on each item in turn, `repeats` times in
    succession. Items of a group follow each other, and the group is the block: `groups` are their
    sizes, in the order in which items are kept. With `seeds` the n-th pulls of all arms have one
    seed. With `every`, in seconds, pulls share the hour in which they were first asked for.
    """

    seed: int
    blocks: Mapping[str, Any]

    @classmethod
    def of(cls, definition: Definition) -> "Sharing":
        """Return what pulls of a study share; nothing, where its definition says nothing."""
        return cls(definition.seed, definition.blocks)

    @property
    def has_items(self) -> bool:
        """Whether a pull is on an item."""
        return "items" in self.blocks

    @property
    def has_hours(self) -> bool:
        """Whether the hour of a pull is kept."""
        return "every" in self.blocks

    @property
    def item_count(self) -> int:
        """How many items there are."""
        return int(self.blocks.get("items", 0))

    @property
    def repeats(self) -> int:
        """How often an arm may be shown an item."""
        return int(self.blocks.get("repeats", 1))

    @property
    def are_kept(self) -> bool:
        """Whether items have a content of their own: else they are their numbers."""
        return "hash" in self.blocks

    @property
    def block_count(self) -> int | None:
        """How many blocks there are in all; None where there is no end of them."""
        return len(self._sizes) if self.has_items else None

    @property
    def blocks_of_truth(self) -> int | None:
        """How many blocks the verdict is about; ENDLESS where what was met is a sample of them.

        None where arms meet no blocks in one order.
        """
        if self.blocks.get("seeds"):
            return ENDLESS
        if not self.has_items:
            return None
        return self.block_count if self.blocks.get("scope") == "these" else ENDLESS

    @property
    def compares(self) -> bool:
        """Whether what arms did on the same blocks, or in the same hours, is compared."""
        return self.has_hours or self.blocks_of_truth is not None

    @property
    def answers_once(self) -> bool:
        """Whether the verdict is about these items, each answered once, and not always alike."""
        return (
            self.blocks.get("scope") == "these" and self.blocks.get("evaluation") != "deterministic"
        )

    @property
    def most_pulls(self) -> int:
        """How many pulls of an arm there are items for."""
        return self.item_count * self.repeats if self.has_items else _ENDLESS

    def require_enough(self, wanted: int) -> None:
        """Refuse items that are too few to begin with, where each arm needs so many pulls."""
        if not self.has_items:
            return
        if len(self._sizes) < _LEAST_BLOCKS:
            what = "groups" if "group" in self.blocks else "items"
            raise InputError(
                f"blocks.items: {len(self._sizes)} of {what} must be at least {_LEAST_BLOCKS}, or "
                f"nothing can be said of others like them. Add {what}, or leave [blocks] out."
            )
        if self.most_pulls < wanted:
            raise InputError(
                f"blocks.items: {self.item_count} items, each shown {self.repeats} times at most, "
                f"must be enough for the first {wanted} pulls of every arm. Add items, or lower "
                "the budget."
            )

    @cached_property
    def _sizes(self) -> Integers:
        """How many items each block has, in the order in which items are kept."""
        groups = self.blocks.get("groups")
        sizes = np.ones(self.item_count) if groups is None else groups
        return np.array(sizes, dtype=np.int64)

    @cached_property
    def block_sizes(self) -> Integers:
        """How many pulls of an arm there are on each block, in the order of blocks."""
        ordinals = np.arange(self.most_pulls)
        return np.bincount(self._blocks(ordinals, np.full(len(ordinals), NO_HOUR)))

    @cached_property
    def order(self) -> Integers:
        """The numbers of the items in the order in which every arm meets them."""
        order = order_of_items(self.seed, self.item_count)
        if "groups" not in self.blocks:
            return order
        return order[np.argsort(self._ranks[order], kind="stable")]

    @cached_property
    def _ranks(self) -> Integers:
        """The place of each item's group in the order of groups."""
        ranks = np.empty(len(self._sizes), np.int64)
        ranks[order_of_groups(self.seed, len(self._sizes))] = np.arange(len(self._sizes))
        return np.repeat(ranks, self._sizes)

    def items_of(self, ordinals: Integers) -> Integers:
        """Return the numbers of the items that an arm's pulls are on, by their ordinals."""
        return np.take(self.order, ordinals // self.repeats, mode="clip")

    def item_of(self, ordinal: int) -> int:
        """Return the number of the item that an arm's pull is on."""
        return int(self.items_of(np.array([ordinal]))[0])

    def blocks_of(self, harvest: Harvest) -> Integers:
        """Return the block of each pull: the same number, the same block, whatever the arm.

        Items and groups are numbered from 0 in the order in which arms meet them: after n blocks
        an arm has seen 0 to n - 1. Without blocks every pull is -1.
        """
        return self._blocks(harvest.ordinals, harvest.hours)

    def block_of(self, pull: PullFact) -> int:
        """Return the block of a pull."""
        hour = NO_HOUR if pull.block is None else pull.block
        return int(self._blocks(np.array([pull.ordinal]), np.array([hour]))[0])

    def _blocks(self, ordinals: Integers, hours: Integers) -> Integers:
        if self.has_hours:
            return hours
        if self.blocks.get("seeds"):
            return ordinals
        if not self.has_items:
            return np.full(len(ordinals), NO_HOUR)
        if "groups" not in self.blocks:
            return np.asarray(ordinals // self.repeats)
        return self._ranks[self.items_of(ordinals)]

    def seed_of(self, arm: int, ordinal: int) -> int:
        """Return the seed that the evaluation of a pull is handed."""
        return pull_seed(self.seed, 0 if self.blocks.get("seeds") else arm, ordinal)

    def seeds_of(self, arms: Integers, ordinals: Integers) -> list[int]:
        """Return `seed_of` of many pulls."""
        shared = np.zeros_like(arms) if self.blocks.get("seeds") else arms
        return pull_seeds(self.seed, shared, ordinals)

    def hour_of(self, created_at: float, now: float) -> int | None:
        """Return the hour in which something is asked for, where hours are kept."""
        if not self.has_hours:
            return None
        return max(0, int((now - created_at) // self.blocks["every"]))

    @property
    def column(self) -> str | None:
        """What exports call the block of a pull, beside its arm and seed."""
        return "item" if self.has_items else "hour" if self.has_hours else None

    def plain(self) -> dict[str, Any] | None:
        """Return what people are shown of blocks; None where there are none."""
        return {key: self.blocks[key] for key in _TOLD if key in self.blocks} or None
