"""Laws of arms that share blocks: a table of all arms by all items, and Gaussian arms with effects.

May touch core and simulation.
"""

from dataclasses import dataclass

from ringfence.simulation.laws import TableLaw
from ringfence.simulation.records import Recording
from ringfence.simulation.shared_records import (
    ItemArrays,
    draw_item,
    shared_recording,
)


@dataclass(frozen=True, eq=False)
class ItemLaw(TableLaw):
    """Rows by arm and item as the truth: a pull is the arm's row of the next item, each once."""

    @property
    def blocks(self) -> int:
        return len(self.rows) // (len(self.starts) - 1)

    @property
    def needs_pulls(self) -> bool:
        return True

    @property
    def arrays(self) -> ItemArrays:
        return ItemArrays(self.rows.reshape(len(self.starts) - 1, self.blocks, -1))

    @property
    def recording(self) -> Recording:
        return shared_recording(draw_item, self.rows.shape[1], self.blocks)
