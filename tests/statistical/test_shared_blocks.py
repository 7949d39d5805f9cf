"""Shared blocks by simulation: levels and differences vary as the joint covariance says.

And what is drawn: an order of items that all arms meet, none twice; effects that all arms share.
"""

import math
from typing import Any

import numpy as np
import pytest

from ringfence.core import sharing
from ringfence.core.arrays import Floats, Integers
from ringfence.simulation import shared_records
from tests.statistical.checks import LIMIT

REPLICATIONS = 1500
COUNTS = np.array([100, 400, 200])
DEVIATIONS = np.array([1.0, 2.0, 0.5])
BLOCKS = 500
ESTIMATED = 0.02  # what correlations that are estimated may be off by
CORRELATIONS = (0.0, 0.5, 0.9)


def common_of(home: Any, values: Floats, counts: Integers) -> Any:
    """Return what pairs of arms saw of one attribute [arm, block], at once."""
    seen = np.arange(values.shape[1]) < counts[:, None]
    told = np.where(seen, values - values[:, :1], 0.0)
    return home.Common(
        np.minimum.outer(counts, counts),
        (told @ seen.T.astype(float))[:, :, None],
        (told @ told.T)[:, :, None, None],
    )


def ratios(home: Any, correlation: float, blocks: int, *, replications: int) -> Floats:
    """Return variances found over those stated, of three levels and then of three differences."""
    rng, arm_count = np.random.default_rng(int(10 * correlation) + blocks), len(COUNTS)
    contrasts = np.vstack([np.eye(3), [[1, -1, 0], [0, 1, -1], [1, 0, -1]]])
    errors, stated = np.zeros((replications, 6)), np.zeros(6)
    room, work = home.no_sharing(arm_count, 1), home.sharing_work(arm_count, 1)
    for k in range(replications):
        shared = rng.normal(size=(1, BLOCKS))
        values = math.sqrt(correlation) * shared
        values = values + math.sqrt(1.0 - correlation) * rng.normal(size=(arm_count, BLOCKS))
        values *= DEVIATIONS[:, None]
        truth = values.mean(axis=1) if blocks else np.zeros(arm_count)
        told = [v[:n] for v, n in zip(values, COUNTS, strict=True)]
        estimates = np.array([[one.mean()] for one in told])
        own = np.array([[[one.var(ddof=1)]] for one in told])
        common = common_of(home, values, COUNTS)
        home.fill_sharing(room, estimates, own, common, np.arange(arm_count), blocks, work)
        joint = np.array(
            [[home.together(room, i, 0, j, 0) for j in range(arm_count)] for i in range(arm_count)]
        )
        errors[k] = contrasts @ (estimates[:, 0] - truth)
        stated += np.einsum("ri,ij,rj->r", contrasts, joint, contrasts) / replications
    return np.asarray((errors**2).mean(axis=0) / stated)


def check_variances(home: Any, correlation: float, blocks: int) -> None:
    """Compare the variances of levels and differences with the joint covariance."""
    found = ratios(home, correlation, blocks, replications=REPLICATIONS)
    allowed = LIMIT * math.sqrt(2.0 / REPLICATIONS) + ESTIMATED
    assert (np.abs(found - 1.0) <= allowed).all(), found


@pytest.mark.parametrize("blocks", [0, BLOCKS])
@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_levels_and_differences_vary_as_stated(correlation: float, blocks: int) -> None:
    check_variances(sharing, correlation, blocks)


def check_items(home: Any) -> None:
    """All arms meet all items in one order, each once; the next replication draws another."""
    arm_count, items = 3, 7
    rows = (
        np.arange(items, dtype=float)[None, :, None] + 100.0 * np.arange(arm_count)[:, None, None]
    )
    recording = home.shared_recording(home.draw_item, 1, items)
    record, rng = recording.make(arm_count, 50), np.random.default_rng(5)
    first = np.zeros(items)
    replications = 1400
    for _ in range(replications):
        recording.forget(record)
        counts = np.zeros(arm_count, np.int64)
        while counts.min() < items:
            arm = int(rng.integers(arm_count))
            pulls = min(int(rng.integers(1, 4)), items - int(counts[arm]))
            recording.add(rng, home.ItemArrays(rows), arm, counts[arm], pulls, record, np.zeros(1))
            counts[arm] += pulls
        order = record.pulls[0, :, 0]
        assert sorted(order) == list(range(items)), order
        for arm in range(arm_count):
            assert (record.pulls[arm, :, 0] - 100.0 * arm == order).all()
        first[int(order[0])] += 1
    share = replications / items
    assert (np.abs(first - share) <= LIMIT * math.sqrt(share)).all(), first


def test_all_arms_meet_the_items_in_one_order_and_none_twice() -> None:
    check_items(shared_records)


def check_effects(home: Any) -> None:
    """Two arms' pulls on a block vary together by the effect's covariance, and on others not."""
    blocks, effects = 4000, np.array([[1.5, 0.0], [0.0, 0.5]])
    factors = np.array([[[1.0, 0.0], [0.6, 0.8]], [[0.5, 0.0], [0.0, 2.0]]])
    arrays = home.BlockArrays(np.array([[1.0, -2.0], [3.0, 0.0]]), factors, effects)
    recording = home.shared_recording(home.draw_on_block, 2, 0)
    record, rng = recording.make(2, blocks), np.random.default_rng(9)
    recording.forget(record)
    for arm, count, pulls in ((0, 0, 1500), (1, 0, blocks), (0, 1500, blocks - 1500)):
        recording.add(rng, arrays, arm, count, pulls, record, np.zeros(1))
    centred = record.pulls - arrays.means[:, None]
    own = factors @ factors.transpose(0, 2, 1) + effects @ effects.T
    for i, j, lag, wanted in (
        (0, 0, 0, own[0]), (1, 1, 0, own[1]), (0, 1, 0, effects @ effects.T),
        (0, 1, 1, np.zeros((2, 2))),
    ):  # fmt: skip
        size = blocks - lag
        found = centred[i, : blocks - lag].T @ centred[j, lag:] / size
        error = np.sqrt((np.outer(np.diag(own[i]), np.diag(own[j])) + wanted**2) / size)
        assert (np.abs(found - wanted) <= LIMIT * error).all(), (i, j, lag, found)


def test_pulls_on_a_block_share_its_effect() -> None:
    check_effects(shared_records)
