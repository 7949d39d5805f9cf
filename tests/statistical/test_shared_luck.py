"""Where arms share blocks they share luck, and no verdict takes luck of all for what all are like.

Costs are mostly nothing and otherwise heavy: all arms miss the same dear blocks, so that all look
cheap at once.
"""

from typing import Any

import numpy as np
import pytest

from benchmarks.calibration import outcomes
from ringfence.core import beliefs
from ringfence.core.answers import less_sure
from ringfence.core.arrays import Floats
from ringfence.core.beliefs import Beliefs, InCommon
from ringfence.core.priors import JointScores, joint_scores, normal_prior
from tests.statistical.test_calibration import too_many

STUDIES, WRONG = 60, 0.03


def by_bayes(rng: Any, estimates: Floats, roots: Floats, shocks: Floats) -> JointScores:
    """Return draws by Bayes's rule: every width between arms counts by its likelihood."""
    noise, one = roots @ roots.T, np.eye(len(roots))
    widths = np.array([0.03, 0.1, 0.3, 1.0, 3.0]) * float(np.mean(1.0 / np.diagonal(noise))) ** -0.5
    draws, logs = [], []
    for width in widths:
        total = noise + width**2 * one
        weights = np.linalg.solve(total, np.ones(len(noise)))
        away = estimates - weights @ estimates / weights.sum()
        pulled = width**2 * np.linalg.solve(total, away) - away
        left = np.linalg.cholesky(width**2 * noise @ np.linalg.inv(total) + 1e-9 * noise)
        around = rng.standard_normal((len(shocks), 1)) / weights.sum() ** 0.5
        trust = 1.0 - width**2 * np.linalg.solve(total, np.ones(len(noise)))
        own = rng.standard_normal((len(shocks), len(noise))) @ left.T
        draws.append(pulled + own + around * trust)
        fit = np.linalg.slogdet(total)[1] + np.log(weights.sum())
        logs.append(-0.5 * (fit + away @ np.linalg.solve(total, away)))
    chances = np.exp(np.array(logs) - max(logs))
    chosen = rng.choice(len(widths), len(shocks), p=chances / chances.sum())
    drawn = np.array(draws)[chosen, np.arange(len(shocks))]
    return JointScores(drawn / np.sqrt(np.diagonal(noise)))


def in_common(self: Beliefs, rng: Any, draws: int) -> InCommon:
    """Stand in for draws in which arms have nothing in common."""
    return self.common(rng, range(len(self.estimates)), draws)


@pytest.mark.parametrize("is_planted", [False, True])
def test_verdicts_name_few_arms_that_break_their_limit(
    monkeypatch: pytest.MonkeyPatch, is_planted: bool
) -> None:
    """The planted fault: what all arms show makes each of them surer, by Bayes's rule."""
    if is_planted:
        monkeypatch.setattr(beliefs, "joint_scores", by_bayes)
        monkeypatch.setattr(Beliefs, "nothing_in_common", in_common)
    family = "zero-inflated costs"
    found = outcomes([family], [8], [10, 30], ["uniform"], STUDIES, correlation=0.6)
    wrong = sum(one.verdict == "feasible" and not one.passes for one in found)
    assert too_many(wrong, len(found), WRONG) == is_planted, wrong


def roots_of(deviations: Floats, correlation: float) -> Floats:
    """Return a root of a covariance in which all pairs are alike."""
    count = len(deviations)
    shared = np.full((count, count), correlation) + (1.0 - correlation) * np.eye(count)
    return np.asarray(deviations[:, None] * np.linalg.cholesky(shared))


def centres(estimates: Floats, deviations: Floats, correlation: float) -> Floats:
    """Return the mean of draws of each arm's truth."""
    rng = np.random.default_rng(3)
    shocks = rng.standard_normal((40_000, len(estimates)))
    drawn = joint_scores(rng, estimates, roots_of(deviations, correlation), shocks)
    return np.asarray(estimates + drawn.scores.mean(axis=0) * deviations)


@pytest.mark.parametrize("correlation", [0.5, 0.9])
def test_arms_are_pulled_to_where_arms_lie_and_not_beyond(correlation: float) -> None:
    """Bayes's rule pulls all below the quietest: it is certain that the loud were unlucky."""
    estimates, deviations = np.array([0.5, 0.55, 1.0]), np.array([0.1, 0.1, 0.6])
    found = centres(estimates, deviations, correlation)
    assert found.min() > 0.49
    assert found.max() < 1.0
    roots = roots_of(deviations, correlation)
    shocks = np.random.default_rng(4).standard_normal((40_000, 3))
    bayes = by_bayes(np.random.default_rng(5), estimates, roots, shocks)
    assert (estimates + bayes.scores.mean(axis=0) * deviations).min() < 0.49


def test_arms_that_share_nothing_are_drawn_as_independent_ones_are() -> None:
    """Means within five standard errors and deviations within 2%; a centre that is known is not."""
    estimates, deviations = np.array([0.0, 0.3, 1.5, 2.0]), np.array([1.0, 0.3, 0.5, 2.0])
    rng = np.random.default_rng(6)
    shocks = rng.standard_normal((100_000, 4))
    joint = (
        estimates + deviations * joint_scores(rng, estimates, np.diag(deviations), shocks).scores
    )
    prior = normal_prior(np.random.default_rng(7), estimates, deviations**2, 100_000)
    assert prior is not None
    for arm, (at, deviation) in enumerate(zip(estimates, deviations, strict=True)):
        shift, left = prior.pulled(at, deviation**2)
        alone = at + deviation * (shift + left * rng.standard_normal(100_000))
        error = (alone.var() / 50_000) ** 0.5
        assert abs(joint[:, arm].mean() - alone.mean()) < 5.0 * error
        assert joint[:, arm].std() / alone.std() == pytest.approx(1.0, abs=0.02)
        sharp = at + deviation * (shift.mean() + left.mean() * rng.standard_normal(100_000))
        assert sharp.std() / alone.std() < 0.98 or arm == 1


def test_what_is_stated_is_the_less_sure_of_two_chances() -> None:
    found = less_sure(np.array([0.9, 0.1, 0.2, 0.97]), np.array([0.7, 0.3, 0.8, 0.97]))
    np.testing.assert_array_equal(found, [0.7, 0.3, 0.5, 0.97])
