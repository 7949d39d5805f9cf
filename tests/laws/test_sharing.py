"""Laws of arms that share blocks: the joint covariance, and what may not change it."""

from itertools import pairwise
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ringfence.core import exhausting, sharing
from ringfence.core.arrays import Floats, Integers
from tests.oracle.sharing import block_correlations, joint_estimates


class Seen(NamedTuple):
    """Values [arm, block, attribute], how many each arm saw, and its covariance of one pull."""

    values: Floats
    counts: Integers
    covariances: Floats
    blocks: int


class Found(NamedTuple):
    """Estimates, their covariance [arm, attribute, arm, attribute], and how blocks correlate."""

    estimates: Floats
    covariance: Floats
    correlations: Floats
    exact: bool


def found_by(home: ModuleType, seen: Seen, priority: Integers | None = None) -> Found:
    """Return what the code makes of values, told to it one by one from the arms' first ones."""
    arm_count, _, width = seen.values.shape
    common = home.no_common(arm_count, width)
    told = seen.values - seen.values[:, :1]
    for i in range(arm_count):
        for t in range(seen.counts[i]):
            home.add_common(common, i, i, told[i, t], told[i, t])
            for j in range(i):
                if seen.counts[j] > t:
                    home.add_common(common, i, j, told[i, t], told[j, t])
    estimates = np.array(
        [v[:n].mean(axis=0) for v, n in zip(seen.values, seen.counts, strict=True)]
    )
    room, work = home.no_sharing(arm_count, width), home.sharing_work(arm_count, width)
    order = np.arange(arm_count) if priority is None else priority
    home.fill_correlations(common, seen.covariances, work)
    correlations = work.correlations.copy()
    home.fill_sharing(room, estimates, seen.covariances, common, order, seen.blocks, work)
    cells = [(i, c) for i in range(arm_count) for c in range(width)]
    covariance = np.array([[home.together(room, *a, *b) for b in cells] for a in cells])
    roots = room.roots / work.deviations[:, :, None]
    exact = np.allclose(np.einsum("icd,jkd->icjk", roots, roots), correlations, atol=1e-9)
    shape = (arm_count, width, arm_count, width)
    return Found(estimates, covariance.reshape(shape), correlations, exact)


def some_values(number: int, *, finite: bool) -> Seen:
    """Return two to five arms with one to three attributes, on unequal prefixes with ties."""
    rng = np.random.default_rng(number)
    arm_count, width = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    counts = rng.integers(6, 40, arm_count)
    if number % 3 == 0:
        counts[0] = counts[-1]
    shared = rng.normal(size=(1, 60, width)) * rng.uniform(0.0, 1.5)
    values = 3.0 + shared + rng.normal(size=(arm_count, 60, width))
    values *= rng.uniform(0.2, 5.0, (arm_count, 1, width))
    own = [np.atleast_2d(np.cov(v[:n].T)) for v, n in zip(values, counts, strict=True)]
    return Seen(values, counts, np.array(own), int(counts.max() + number % 5) if finite else 0)


def check_joint(home: Any) -> None:
    """Compare estimates and covariances with weighted least squares over prefixes."""
    exact = 0
    for number in range(60):
        seen = some_values(number, finite=number % 2 == 0)
        found = found_by(home, seen)
        expected = block_correlations(seen.values, seen.counts, seen.covariances)
        np.testing.assert_allclose(found.correlations, expected, atol=1e-9)
        if not found.exact:  # pairs contradicted each other, and were weakened
            continue
        exact += 1
        deviations = np.sqrt(np.diagonal(seen.covariances, axis1=1, axis2=2))
        sigma = expected * deviations[:, :, None, None] * deviations
        means, covariance = joint_estimates(seen.values, seen.counts, sigma, seen.blocks)
        scale = deviations.max() ** 2
        np.testing.assert_allclose(found.estimates, means, atol=1e-9 * deviations.max())
        np.testing.assert_allclose(found.covariance, covariance, atol=1e-9 * scale)
    assert exact >= 45, exact


def test_estimates_equal_weighted_least_squares_over_prefixes() -> None:
    check_joint(sharing)


def test_the_order_of_arms_and_of_items_changes_nothing() -> None:
    """Items keep who saw them: they are exchanged between two neighbouring counts."""
    for number in range(20):
        seen = some_values(number, finite=number % 2 == 0)
        rng, arm_count = np.random.default_rng(number + 1000), len(seen.counts)
        base = found_by(sharing, seen)
        values, ends = seen.values.copy(), [0, *sorted(set(seen.counts.tolist()))]
        for low, high in pairwise(ends):
            values[:, low:high] = values[:, low + rng.permutation(high - low)]
        items = found_by(sharing, seen._replace(values=values))
        order = rng.permutation(arm_count)
        arms = found_by(
            sharing,
            Seen(seen.values[order], seen.counts[order], seen.covariances[order], seen.blocks),
            rng.permutation(arm_count),
        )
        scale = np.abs(base.covariance).max()
        if not base.exact:
            continue
        np.testing.assert_allclose(items.estimates, base.estimates, atol=1e-8)
        np.testing.assert_allclose(items.covariance, base.covariance, atol=1e-9 * scale)
        np.testing.assert_allclose(arms.estimates, base.estimates[order], atol=1e-8)
        turned = base.covariance[order][:, :, order]
        np.testing.assert_allclose(arms.covariance, turned, atol=1e-9 * scale)


def test_without_correlation_arms_are_what_they_are_by_themselves() -> None:
    """Columns of a Hadamard matrix have no scatter in common; the last arm goes on alone."""
    signs = np.array([[1.0]])
    for _ in range(4):
        signs = np.block([[signs, signs], [signs, -signs]])
    values = np.zeros((4, 24, 1))
    values[:, :16, 0] = signs[:, 1:5].T
    values[3, 16:, 0] = [2.0, -1.0] * 4
    counts = np.array([16, 16, 16, 24])
    own = np.array([np.cov(v[:n].T).reshape(1, 1) for v, n in zip(values, counts, strict=True)])
    found = found_by(sharing, Seen(values, counts, own, 0))
    alone = [v[:n].mean() for v, n in zip(values, counts, strict=True)]
    np.testing.assert_allclose(found.estimates[:, 0], alone, atol=1e-12)
    np.testing.assert_allclose(
        found.covariance[:, 0, :, 0], np.diag(own[:, 0, 0] / counts), atol=1e-12
    )


def test_one_arms_block_tells_of_a_difference_what_its_own_part_says() -> None:
    """The better arms agree, the less: what it adds to one, the other has by regression."""
    for shared in (0.0, 2.0, 8.0):
        rng = np.random.default_rng(int(shared))
        values = shared * rng.normal(size=(1, 41, 1)) + rng.normal(size=(2, 41, 1))
        own = np.array([np.cov(v[:40].T).reshape(1, 1) for v in values])
        before = found_by(sharing, Seen(values, np.array([40, 40]), own, 0))
        after = found_by(sharing, Seen(values, np.array([41, 40]), own, 0))
        level, other = (after.estimates - before.estimates)[:, 0]
        slope = after.correlations[1, 0, 0, 0] * np.sqrt(own[1, 0, 0] / own[0, 0, 0])
        assert abs(level - other - (1.0 - slope) * level) <= 1e-9
        if shared == 8.0:  # correlations are shrunk: no pair of 40 blocks agrees more
            assert abs(level - other) <= 0.15 * abs(level)


def test_an_arm_that_saw_all_is_known_and_of_no_arm_more_than_its_items() -> None:
    seen = some_values(0, finite=True)._replace(blocks=60)
    known = seen._replace(counts=np.where(np.arange(len(seen.counts)) == 0, 60, seen.counts))
    found = found_by(sharing, known)
    np.testing.assert_allclose(found.covariance[0], 0.0, atol=1e-15)
    assert (np.diagonal(found.covariance[1, :, 1, :]) > 0.0).all()
    np.testing.assert_allclose(found.estimates[0], known.values[0].mean(axis=0), atol=1e-12)


def check_rooms(home: Any) -> None:
    """Nobody is given more than there are; others get equally many of what an arm cannot use."""
    alive, order, rooms = np.ones(3, np.bool_), np.array([1, 0, 2]), np.array([1, 6, 4])
    prices = np.ones(3, np.int64)
    fresh = np.array([6, 0, 1])
    assert home.keep_open(fresh, rooms, alive, order, prices, 8)
    assert fresh.tolist() == [1, 3, 3]
    fresh = np.array([4, 0, 0])
    assert home.keep_open(fresh, rooms, alive, order, prices, 8)
    assert fresh.tolist() == [1, 2, 1]
    fresh = np.array([4, 0, 0])
    assert home.keep_open(fresh, rooms, alive, order, np.array([2, 1, 5]), 8)
    assert fresh.tolist() == [1, 1, 1]
    fresh = np.array([9, 9, 9])
    assert home.keep_open(fresh, rooms, alive, order, prices, 8)
    assert fresh.tolist() == [1, 6, 4]
    nothing = np.zeros(3, np.int64)
    assert not home.keep_open(np.array([2, 0, 0]), nothing, alive, order, prices, 8)
    fresh = np.array([2, 2, 0])
    assert home.keep_open(fresh, nothing, alive, order, prices, 0)  # phases go on
    assert fresh.tolist() == [0, 0, 0]


def test_room_is_what_was_not_seen() -> None:
    rooms = sharing.no_sharing(3, 1)
    sharing.fill_rooms(rooms, np.array([9, 4, 6]), 10)
    assert rooms.rooms.tolist() == [1, 6, 4]


def test_what_an_exhausted_arm_cannot_use_goes_to_others() -> None:
    check_rooms(exhausting)
