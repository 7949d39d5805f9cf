"""Where arms share blocks, intervals of levels and of differences hold the truth as often as said.

Worlds have noise that differs by arm, outcomes of yes and no near both ends, and an effect of a
block that differs by arm. Arms saw 10 to 120 blocks in common, and some of them more. A coverage is
refused when it speaks against its band at alpha = 1e-6; what is taken for the noise of a difference
is never much wider than that of arms that share nothing.
"""

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.special import ndtr

from ringfence.core.arrays import Floats, Integers
from ringfence.core.problem import Problem
from ringfence.core.sharing import ENDLESS, fill_sharing
from ringfence.study.book import Book
from ringfence.study.snapshot import Snapshot
from tests.choosing import LONG
from tests.faults.planting import Edit, planted
from tests.statistical.checks import LIMIT

STUDIES = 2000 if LONG else 80
PROBLEM = Problem.parse("minimize mean(x)", "mean(y) <= 0.5")
DEVIATIONS = np.array([1.0, 4.0, 0.5, 2.0])
SEEN = np.array([1.0, 1.0, 1.5, 2.0])  # blocks of each arm, over those in common
LOWEST, HIGHEST, WIDEST = 0.94, 0.99, 1.1


class World(NamedTuple):
    """How arms vary on blocks: the part of the variance that all share, and that by arm."""

    shared: float
    shares: Floats  # how often y is 1, by arm


WORLDS = {
    "unequal": World(0.8, np.array([0.5, 0.4, 0.3, 0.6])),
    "near 0 and 1": World(0.6, np.array([0.06, 0.12, 0.9, 0.95])),
    "interaction": World(0.3, np.array([0.3, 0.3, 0.5, 0.5])),
    "nothing shared": World(0.0, np.array([0.2, 0.5, 0.8, 0.5])),
}
COMMON = (10, 30, 120)


def drawn(rng: Any, world: World, blocks: int) -> Floats:
    """Return what arms do on blocks [arm, block, metric]: x about 0, and y."""
    arm_count = len(DEVIATIONS)
    found = np.empty((arm_count, blocks, 2))
    for c in range(2):
        common, own = rng.normal(size=blocks), rng.normal(size=(arm_count, blocks))
        found[:, :, c] = world.shared**0.5 * common + (1.0 - world.shared) ** 0.5 * own
    if world is WORLDS["interaction"]:  # arms answer to a block's difficulty in different ways
        slopes = np.array([0.2, 0.6, 1.0, 1.4])
        difficulty = rng.normal(size=blocks)
        found[:, :, 0] += slopes[:, None] * difficulty
    found[:, :, 0] *= DEVIATIONS[:, None]
    found[:, :, 1] = ndtr(found[:, :, 1]) < world.shares[:, None]
    return found


def book_of(told: Floats, counts: Integers, *, share: Callable[..., None] | None) -> Book:
    """Return a book of prefixes of what arms do on blocks; without `share` arms share nothing."""
    arms = [f"arm {i}" for i in range(len(told))]
    if share is None:
        book = Book(PROBLEM, arms, ["x", "y"])
    else:
        book = Book(PROBLEM, arms, ["x", "y"], blocks=ENDLESS, share=share)
    for arm, count in enumerate(counts.tolist()):
        book.add(arm, told[arm, :count], None if share is None else np.arange(count))
    return book


class Held(NamedTuple):
    """By study: the part of levels and of differences that hold the truth, and their widths.

    Each is [study, attribute]; widths of differences are over those of arms that share nothing.
    """

    levels: Floats
    differences: Floats
    widths: Floats


def held(world: World, common: int, share: Callable[..., None]) -> Held:
    """Return what intervals of studies in a world hold."""
    rng = np.random.default_rng(common)
    counts = (SEEN * common).astype(np.int64)
    truth = np.column_stack([np.zeros(len(counts)), world.shares])
    found = np.zeros((3, STUDIES, 2))
    pairs = list(combinations(range(len(counts)), 2))
    for study in range(STUDIES):
        told = drawn(rng, world, int(counts.max()))
        mine = Snapshot(book_of(told, counts, share=share)).beliefs
        alone = Snapshot(book_of(told, counts, share=None)).beliefs
        for c in range(2):
            for arm in range(len(counts)):
                low, high = mine.interval(arm, c)
                found[0, study, c] += (low <= truth[arm, c] <= high) / len(counts)
            for i, j in pairs:
                _, low, high = mine.difference(i, j, c)
                found[1, study, c] += (low <= truth[i, c] - truth[j, c] <= high) / len(pairs)
                _, least, most = alone.difference(i, j, c)
                found[2, study, c] += (high - low) / max(most - least, 1e-9) / len(pairs)
    return Held(*found)


def check_coverage(world: World, common: int, share: Callable[..., None]) -> None:
    """Compare coverages with their band, and widths with those of arms that share nothing."""
    found = held(world, common, share)
    for what, parts in (("levels", found.levels), ("differences", found.differences)):
        mean = parts.mean(axis=0)
        error = LIMIT * parts.std(axis=0) / STUDIES**0.5
        assert (mean + error >= LOWEST).all(), f"{what} are too narrow: {mean}"
        assert (mean - error <= HIGHEST).all(), f"{what} are too wide: {mean}"
    widths = found.widths.mean(axis=0)
    assert (widths <= WIDEST).all(), (
        f"differences are wider than of arms that share nothing: {widths}"
    )


@pytest.mark.parametrize("common", COMMON)
@pytest.mark.parametrize("name", WORLDS)
def test_intervals_hold_levels_and_differences(name: str, common: int) -> None:
    check_coverage(WORLDS[name], common, fill_sharing)


def test_what_is_shared_makes_differences_narrower() -> None:
    found = held(WORLDS["unequal"], 30, fill_sharing)
    assert (found.widths.mean(axis=0) < 0.8).all()


FOUND = "one = (found[i, c, j, k] + LENT_BLOCKS * lent[c, k]) / blocks"
FAULTS = {
    "independent": ("unequal", Edit("core.sharing", FOUND, "one = 0.0")),
    "always alike": (
        "nothing shared",
        Edit("core.sharing", FOUND, "one = 1.0 if c == k else 0.0"),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_noticed(fault: str) -> None:
    name, edit = FAULTS[fault]
    share = planted(edit)["core.sharing"].fill_sharing
    with pytest.raises(AssertionError, match="differences are too"):
        check_coverage(WORLDS[name], 30, share)
