"""What pulls of different arms share: items in one order, seeds, hours; and arms that run out."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from ringfence.core.arrays import Integers
from ringfence.study.exhausting import handed_on, room_of
from ringfence.study.facts import Harvest, PullFact, Round, State
from ringfence.study.sharing import Sharing


def sharing(seed: int = 7, **blocks: Any) -> Sharing:
    return Sharing(seed, blocks)


def pull(ordinal: int, *, arm: int = 0, hour: int | None = None) -> PullFact:
    return PullFact(1, arm, ordinal, 0, State.ISSUED, 1, 0.0, block=hour)


@pytest.mark.parametrize("repeats", [1, 3])
def test_all_arms_meet_all_items_in_one_order_each_so_often(repeats: int) -> None:
    found = sharing(items=40, repeats=repeats)
    seen = [found.item_of(ordinal) for ordinal in range(40 * repeats)]
    assert Counter(seen) == dict.fromkeys(range(40), repeats)
    assert seen == np.repeat(seen[::repeats], repeats).tolist()  # in succession
    assert seen == found.items_of(np.arange(40 * repeats)).tolist()
    assert seen[::repeats] != sorted(seen[::repeats])
    assert [found.block_of(pull(ordinal, arm=ordinal % 3)) for ordinal in range(12)] == [
        ordinal // repeats for ordinal in range(12)
    ]


def test_the_order_is_of_the_seed() -> None:
    one, same, other = (sharing(seed, items=50).order.tolist() for seed in (7, 7, 8))
    assert one == same != other


def test_items_of_a_group_follow_each_other_and_are_one_block() -> None:
    sizes = [3, 1, 4, 2]
    found = sharing(items=10, repeats=2, group="document", groups=sizes)
    group_of = np.repeat(np.arange(4), sizes)
    assert sorted(found.order.tolist()) == list(range(10))
    met = group_of[found.order]
    assert len(np.flatnonzero(np.diff(met))) == 3
    harvest = Harvest.of([pull(ordinal) for ordinal in range(20)], 1)
    blocks = found.blocks_of(harvest).tolist()
    assert blocks == [found.block_of(pull(ordinal)) for ordinal in range(20)]
    assert blocks == sorted(blocks)
    assert Counter(blocks) == {
        rank: 2 * sizes[group] for rank, group in enumerate(met[np.r_[True, np.diff(met) != 0]])
    }
    assert found.block_count == 4


def test_groups_are_met_in_an_order_of_their_own_and_items_in_a_group_too() -> None:
    """Neither goes by the file: those that stand first in it would always be seen first."""
    firsts, within = set(), set()
    for seed in range(40):
        found = sharing(seed, items=6, group="d", groups=[2, 4])
        firsts.add(int(found.order[0]) < 2)
        within.add(tuple(item for item in found.order.tolist() if item < 2))
    assert firsts == {True, False}
    assert within == {(0, 1), (1, 0)}


def test_shared_seeds_are_those_of_all_arms() -> None:
    found, apart = sharing(seeds=True), sharing()
    assert found.seed_of(2, 5) == found.seed_of(0, 5) != found.seed_of(0, 6)
    assert apart.seed_of(2, 5) != apart.seed_of(0, 5)
    arms, ordinals = np.array([0, 1, 2, 1]), np.array([3, 3, 9, 0])
    for one in (found, apart):
        wanted = [one.seed_of(int(a), int(k)) for a, k in zip(arms, ordinals, strict=True)]
        assert one.seeds_of(arms, ordinals) == wanted
    assert found.block_of(pull(5, arm=2)) == 5


def test_hours_count_from_when_the_study_was_created() -> None:
    found = sharing(every=3600)
    assert [found.hour_of(1000.0, 1000.0 + s) for s in (0.0, 3599.9, 3600.0, 9000.0)] == [
        0,
        0,
        1,
        2,
    ]
    assert found.hour_of(1000.0, 900.0) == 0  # a clock that was put back
    assert sharing(items=5).hour_of(1000.0, 9000.0) is None
    assert found.block_of(pull(0, hour=4)) == 4
    harvest = Harvest.of([pull(0, hour=4), pull(1, hour=2), pull(2)], 1)
    assert found.blocks_of(harvest).tolist() == [4, 2, -1]
    assert harvest.without(np.array([0])).part(slice(1, 3)).hours.tolist() == [2, -1]


def test_without_blocks_there_are_none() -> None:
    found = sharing()
    assert found.block_of(pull(3)) == -1
    assert found.plain() is None
    assert found.column is None
    assert (room_of(found, None, 2) > 10**15).all()


def test_what_is_shown_leaves_out_what_only_we_need() -> None:
    told: dict[str, Any] = {"items": 4, "scope": "such", "repeats": 1, "group": "d"}
    assert sharing(**told, groups=[2, 2], hash="ab").plain() == told


# ------------------------------------------------------------------------------ running out


def given(allocation: list[int], room: list[int], **others: Any) -> list[int]:
    count = len(allocation)
    return handed_on(
        allocation,
        np.array(room),
        np.array(others.get("alive", [True] * count)),
        np.array(others.get("priority", range(count))),
        others.get("prices", [1] * count),
    )


@pytest.mark.parametrize(
    ("allocation", "room", "others", "wanted"),
    [
        ([3, 2, 0], [9, 9, 9], {}, [3, 2, 0]),
        ([6, 2, 0], [2, 9, 9], {}, [2, 4, 2]),
        ([5, 0, 0], [2, 9, 9], {}, [2, 2, 1]),
        ([5, 0, 0], [2, 9, 9], {"priority": [0, 2, 1]}, [2, 1, 2]),
        ([6, 0, 0], [0, 1, 9], {}, [0, 1, 5]),
        ([6, 0, 0], [0, 1, 2], {}, [0, 1, 2]),
        ([6, 0, 0], [0, 9, 9], {"alive": [True, False, True]}, [0, 0, 6]),
        ([6, 0, 0], [0, 9, 9], {"prices": [2, 5, 3]}, [0, 1, 2]),
        ([1, 0, 0], [0, 9, 9], {"prices": [2, 5, 3]}, [0, 0, 0]),
        ([4, 4], [0, 0], {}, [0, 0]),
    ],
)
def test_what_an_arm_cannot_use_goes_to_others(
    allocation: list[int], room: list[int], others: dict[str, Any], wanted: list[int]
) -> None:
    assert given(allocation, room, **others) == wanted


def test_it_never_costs_more_nor_goes_beyond_the_room() -> None:
    rng = np.random.default_rng(3)

    def some(most: int) -> Integers:
        return rng.integers(0, most, 5)

    for _ in range(300):
        allocation, room, prices = some(9), some(9), some(4) + 1
        alive = some(2) > 0
        allocation[~alive] = 0
        found = np.array(
            given(allocation.tolist(), room.tolist(), alive=alive, prices=prices.tolist())
        )
        spare = allocation @ prices - found @ prices
        assert spare >= 0
        assert (found <= room).all()
        assert (found >= np.minimum(allocation, room)).all()
        assert (found[~alive] == 0).all()
        still = alive & (found < room)
        assert not still.any() or spare < prices[still].min(), "it would have paid for another"


def test_room_is_what_the_items_leave() -> None:
    before = Round(2, 11, (3, 0, 1), (7, 5, 19), (True, False, True))
    assert room_of(sharing(items=10, repeats=2), before, 3).tolist() == [10, 15, 0]
