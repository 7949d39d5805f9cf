"""Laws of arms that share blocks: a table of all arms by all items, and Gaussian arms with effects.

May touch core and simulation.
"""

from dataclasses import dataclass

from ringfence.core.arrays import Floats
from ringfence.core.sharing import ENDLESS
from ringfence.simulation.laws import GaussianLaw, TableLaw
from ringfence.simulation.records import Recording
from ringfence.simulation.shared_records import (
    BlockArrays,
    ItemArrays,
    draw_item,
    draw_on_block,
    shared_recording,
)


@dataclass(frozen=True, eq=False)
class ItemLaw(TableLaw):
    """Rows by arm and item as the truth: a pull is the arm's row of the next item, each once.

    `rows` hold arm after arm, each with the same items in the same order.
    """

    @property
    def blocks(self) -> int:
        """How many items there are."""
        return len(self.rows) // (len(self.starts) - 1)

    @property
    def needs_pulls(self) -> bool:
        """True: what arms share is in the pulls, not in their sums."""
        return True

    @property
    def arrays(self) -> ItemArrays:
        """The rows by arm and item."""
        return ItemArrays(self.rows.reshape(len(self.starts) - 1, self.blocks, -1))

    @property
    def recording(self) -> Recording:
        """Item by item, in an order that each replication draws."""
        return shared_recording(draw_item, self.rows.shape[1], self.blocks)


@dataclass(frozen=True, eq=False)
class BlockLaw(GaussianLaw):
    """Gaussian arms whose n-th pulls share an effect: there is no end of blocks.

    `effects` times its transpose is the effects' covariance, which `covariance` contains;
    `factors` are those of the rest, by arm.
    """

    effects: Floats

    @property
    def blocks(self) -> int:
        """Endless."""
        return ENDLESS

    @property
    def needs_pulls(self) -> bool:
        """True: what arms share is in the pulls, not in their sums."""
        return True

    @property
    def covariances(self) -> None:
        """None: the bounds that go by them are of arms that share nothing."""
        return

    @property
    def constants_are_proven(self) -> bool:
        """False: what is proven is so of arms that share nothing."""
        return False

    @property
    def arrays(self) -> BlockArrays:
        """Means, factors and effects."""
        return BlockArrays(self.means, self.factors, self.effects)

    @property
    def recording(self) -> Recording:
        """Block by block, with an effect that is drawn when the first arm comes to it."""
        return shared_recording(draw_on_block, self.means.shape[1], ENDLESS)


def on_blocks(law: GaussianLaw, effects: Floats) -> BlockLaw:
    """Return a law whose n-th pulls share effects [attribute, normal], beside its own noise."""
    return BlockLaw(law.means, law.covariance + effects @ effects.T, law.factors, effects)
