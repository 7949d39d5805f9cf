"""Where a study stands when a decision is made, besides what was observed. Values only."""

from collections.abc import Sequence
from dataclasses import dataclass

from ringfence.study.facts import Round


@dataclass(frozen=True)
class Standing:
    """What a decision rests on, besides the observations in the book.

    `spent` is what was charged so far; `broken` arms failed too often in a row. Arms that come
    `back` were pardoned. By arm, `missing` are the pulls of its rounds that were never made or are
    void, and `lost` those of the last round that will never report. `gone` arms are named with the
    phase in which they first had no pulls. Pulls `in_flight`, by arm, were decided and are not
    seen. A pull of each arm costs its one of `prices` by what is known so far, and keeps one of
    `reserves` until it is settled: the same amounts where prices are stated.
    """

    budget: int
    spent: int
    broken: Sequence[int]
    back: Sequence[int] = ()
    missing: Sequence[int] = ()
    lost: Sequence[int] = ()
    gone: Sequence[tuple[int, int]] = ()
    in_flight: Sequence[int] = ()
    prices: Sequence[int] = ()
    reserves: Sequence[int] = ()

    @property
    def expected(self) -> int:
        """What pulls in flight are likely to cost."""
        return _sum(self.prices, self.in_flight)

    @property
    def left(self) -> int:
        """What may still be spent: neither spent nor reserved for pulls in flight."""
        return self.budget - self.spent - _sum(self.reserves, self.in_flight)

    def had(self, before: Round, arm: int) -> int:
        """Return how many pulls an arm had, with those that failed."""
        missing = self.missing[arm] if self.missing else 0
        return before.before[arm] + before.allocation[arm] - missing


def _sum(prices: Sequence[int], pulls: Sequence[int]) -> int:
    return sum(price * count for price, count in zip(prices, pulls, strict=False))
