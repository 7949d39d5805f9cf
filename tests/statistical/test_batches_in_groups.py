"""What is looked ahead at is distributed as told pulls would be, and large batches err little."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from ringfence.policies import groups
from ringfence.policies.evidence import Evidence
from ringfence.policies.registry import find_policy
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.families import find_family
from ringfence.simulation.reference import run_chunk

ALPHA = 1e-6
DRAWS = 20_000
COUNTS, FRESH = np.array([10, 40, 7, 10]), np.array([30, 5, 0, 1000])
SPREAD = np.array([[4.0, 1.5, 0.0], [1.5, 1.0, -0.3], [0.0, -0.3, 9.0]])


def evidence() -> Evidence:
    rng = np.random.default_rng(0)
    return Evidence(
        np.asfortranarray(rng.normal(size=(4, 3))), COUNTS, np.zeros(4, np.int64),
        np.array([True, True, True, False]), np.tile(SPREAD, (4, 1, 1)), np.ones(3), np.zeros(2),
        np.arange(4), np.array([50.0]),
    )  # fmt: skip


def check_ahead(home: Any) -> None:
    """Compare many looks with the normal of what 1/n is above 1/(n + k): means and covariances.

    What was promised nothing, or is not alive, stays as it is. The looks are unrelated to the
    uniforms that the rule chooses by.
    """
    seen, rng = evidence(), np.random.default_rng(1)
    ahead, uniforms = home.make_ahead(4, 3), rng.random((DRAWS, 5))
    found = np.empty((DRAWS, 2, 3))
    for row, given in zip(found, uniforms, strict=True):
        home.begin_ahead(seen, given, ahead)
        then = home.look_ahead(seen, FRESH, ahead)
        row[:] = then.estimates[:2]
    np.testing.assert_array_equal(then.estimates[2:], seen.estimates[2:])
    np.testing.assert_array_equal(then.counts, COUNTS + FRESH)
    assert then.left[0] == 15.0
    for arm in (0, 1):
        n, k = COUNTS[arm], FRESH[arm]
        root = np.linalg.cholesky(SPREAD * (1.0 / n - 1.0 / (n + k)))
        scores = np.linalg.solve(root, (found[:, arm] - seen.estimates[arm]).T)
        reach = stats.norm.isf(ALPHA / 60)
        np.testing.assert_allclose(scores.mean(axis=1), 0.0, atol=reach / DRAWS**0.5)
        np.testing.assert_allclose(np.cov(scores), np.eye(3), atol=reach * (2.0 / DRAWS) ** 0.5)
        for place in (0, -1):
            related = [stats.spearmanr(one, uniforms[:, place])[0] for one in scores]
            np.testing.assert_allclose(related, 0.0, atol=reach / DRAWS**0.5)
        assert min(stats.kstest(one, "norm").pvalue for one in scores) > ALPHA


def test_what_is_looked_ahead_at_is_what_may_be_seen_by_then() -> None:
    check_ahead(groups)


def check_errors(run: Callable[..., Any], make: Callable[..., Any]) -> None:
    """Half of the budget in one batch: 0.5% of errors, where batches are decided whole 18%."""
    one = find_family("uniform").draw(25, arm_count=8)
    found = run(make(one, find_policy("top-two"), 1300, scales="estimated", batch=650), 0, 0, 200)
    assert stats.binom.sf(found.wrong.sum() - 1, 200, 0.01) > ALPHA


def test_batches_of_half_the_budget_err_little() -> None:
    check_errors(run_chunk, Experiment)
