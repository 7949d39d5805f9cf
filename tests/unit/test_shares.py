"""Shares with few events: what may be true of them, and that nothing else changes."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from ringfence.core.answers import DRAWS
from ringfence.core.problem import Problem
from ringfence.core.shares import FEW, Shares
from ringfence.interfaces.studies import Study
from ringfence.simulation.logs import read_log
from ringfence.study.doubting import doubt_of

NEAR = 4.5 * 0.5 / DRAWS**0.5  # of a share of draws


def shares_of(constraint: str, counts: list[int], events: list[int]) -> tuple[Shares, Any]:
    """Return the shares of arms with so many events, and their estimates."""
    problem = Problem.parse("minimize mean(x)", constraint)
    n, k = np.array(counts), np.array(events)
    estimates = problem.signs * np.column_stack([np.linspace(1.0, 2.0, len(n)), k / n])
    scatters = np.zeros((len(n), 2, 2))
    scatters[:, 0, 0], scatters[:, 1, 1] = n, k * (1.0 - k / n)
    return Shares.among(problem, estimates, scatters, n), estimates


def study_of(constraint: str, events: list[int], count: int, **changes: Any) -> Study:
    """Return a study that was brought that many pulls of each arm, some with an event."""
    arms = [f"arm {i}" for i in range(len(events))]
    study = Study.create(
        "s", arms=arms, objective="minimize mean(x)", constraints=constraint, budget=1000,
        policy="uniform", storage="memory://", seed=1, **changes,
    )  # fmt: skip
    study.bring(table_of(events, count), arm="arm", label="log")
    return study


def table_of(events: list[int], count: int) -> dict[str, Any]:
    return {
        "arm": np.repeat([f"arm {i}" for i in range(len(events))], count).tolist(),
        "x": np.concatenate([i + np.linspace(-1.0, 1.0, count) for i in range(len(events))]),
        "bad": np.concatenate([np.arange(count) < k for k in events]).astype(float),
    }


@pytest.mark.parametrize("written", ["share(bad > 0.5)", "mean(bad)"])
@pytest.mark.parametrize("events", [0, 1, 5, 29])
@pytest.mark.parametrize("limit", [0.02, 0.1, 0.35])
def test_a_verdict_is_as_sure_as_the_events_allow(written: str, events: int, limit: float) -> None:
    """One arm can pass; the other, with an event every second pull, cannot."""
    verdict = study_of(f"{written} <= {limit}", [events, 30], 60).recommend()
    truth = stats.beta(events + 0.5, 60 - events + 0.5)
    assert abs(verdict.chance_feasible - truth.cdf(limit)) < NEAR
    estimate = verdict.arms[0].estimates[written]
    assert estimate.value == pytest.approx(events / 60)
    low = 0.0 if events == 0 else truth.ppf(0.025)
    assert (estimate.low, estimate.high) == pytest.approx((low, truth.ppf(0.975)))
    arm = verdict.arms[0]
    low, margin, high = (float(x or 0.0) for x in (arm.margin_low, arm.margin, arm.margin_high))
    assert low <= margin <= high
    assert (high > 0.0) == (truth.ppf(0.975) > limit)


def test_no_event_at_all_is_not_certainty() -> None:
    """Without a single event in any arm nothing varied: a share is doubted all the same."""
    verdict = study_of("share(bad > 0.5) <= 0.01", [0, 0], 40).recommend()
    assert verdict.verdict == "too-close-to-call"
    assert verdict.exact == ()
    passes = stats.beta(0.5, 40.5).cdf(0.01)
    assert abs(verdict.chance_feasible - (1.0 - (1.0 - passes) ** 2)) < NEAR


def test_a_mean_that_never_varied_stays_exact() -> None:
    verdict = study_of("mean(bad) <= 0.02", [0, 0], 40).recommend()
    assert (verdict.verdict, verdict.exact) == ("feasible", ("mean(bad)",))


@pytest.mark.parametrize("written", ["share(bad > 0.5) <= 0", "share(bad <= 0.5) >= 1"])
def test_a_limit_of_no_event_is_met_when_none_was_seen(written: str) -> None:
    verdict = study_of(written, [0, 0], 40).recommend()
    assert (verdict.verdict, verdict.chance_feasible) == ("feasible", 1.0)
    estimate = list(verdict.arms[0].estimates.values())[-1]
    assert 0.0 <= estimate.low < estimate.high <= 1.0


def test_limits_from_below_are_turned() -> None:
    verdict = study_of("share(bad <= 0.5) >= 0.98", [0, 30], 60).recommend()
    assert abs(verdict.chance_feasible - stats.beta(60.5, 0.5).sf(0.98)) < NEAR
    estimate = verdict.arms[0].estimates["share(bad <= 0.5)"]
    assert (estimate.low, estimate.high) == pytest.approx((stats.beta(60.5, 0.5).ppf(0.025), 1.0))


def test_a_limit_on_a_quantile_is_as_doubtful_as_its_share() -> None:
    verdict = study_of("p95(bad) <= 0.5", [0, 30], 60).recommend()
    assert abs(verdict.chance_feasible - stats.beta(0.5, 60.5).cdf(0.05)) < NEAR


def test_stated_variances_hold() -> None:
    verdict = study_of("mean(bad) <= 0.02", [0, 30], 60, noise={"bad": {"sigma": 0.1}}).recommend()
    assert abs(verdict.chance_feasible - stats.norm.cdf(0.02 * 60**0.5 / 0.1)) < NEAR


def test_means_of_other_numbers_are_no_shares() -> None:
    problem = Problem.parse("minimize mean(x)", ["mean(y) <= 0.5", "share(y > 2) <= 0.1"])
    rng = np.random.default_rng(1)
    samples = rng.random((3, 50, 2))
    estimates = np.column_stack([samples.mean(axis=1), np.zeros(3)])
    scatters = np.zeros((3, 3, 3))
    for i, sample in enumerate(samples):
        scatters[i, :2, :2] = np.cov(sample.T) * 49
    found = Shares.among(problem, estimates, scatters, np.full(3, 50))
    assert found.which.tolist() == [False, False, True]


def test_many_events_are_left_normal() -> None:
    found, estimates = shares_of("share(y > 1) <= 0.2", [100, 100, 100], [29, 30, 71])
    assert FEW == 30.0
    assert [found.posterior(estimates, arm, 1) is None for arm in range(3)] == [False, True, False]


@pytest.mark.parametrize("events", [0, 3])
def test_draws_keep_what_goes_with_what(events: int) -> None:
    found, estimates = shares_of("share(y > 1) <= 0.2", [50, 50], [events, 10])
    rng = np.random.default_rng(3)
    draw = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.7], [0.7, 1.0]], DRAWS)
    before = draw.copy()
    found.redraw(rng, draw, estimates, 0)
    assert (draw[:, 0] == before[:, 0]).all()
    assert stats.spearmanr(draw[:, 1], before[:, 1]).statistic == pytest.approx(1.0)
    assert stats.kstest(draw[:, 1], stats.beta(events + 0.5, 50.5 - events).cdf).pvalue > 1e-6


def test_arms_without_noise_are_drawn_apart() -> None:
    """Of two arms without any event each has draws of its own: no order joins them."""
    found, estimates = shares_of("share(y > 1) <= 0.2", [50, 50], [0, 0])
    rng = np.random.default_rng(4)
    columns = []
    for arm in range(2):
        draw = np.zeros((DRAWS, 2))
        found.redraw(rng, draw, estimates, arm)
        columns.append(draw[:, 1])
    assert abs(stats.spearmanr(*columns).statistic) < 4.5 / DRAWS**0.5


@pytest.mark.parametrize("count", [20, 60, 200])
def test_intervals_cover_on_average(count: int) -> None:
    """Over all shares, exactly: every number of events by its probability."""
    ends = []
    for k in range(count + 1):
        found, estimates = shares_of("share(y > 1) <= 0.2", [count, count], [k, k])
        normal = 1.96 * (k / count * (1 - k / count) / count) ** 0.5
        ends.append(found.interval(estimates, 0, 1) or (k / count - normal, k / count + normal))
    low, high = np.array(ends).T
    true = np.linspace(0.0005, 0.9995, 1000)
    inside = (low <= true[:, None]) & (true[:, None] <= high)
    covers = (stats.binom.pmf(np.arange(count + 1), count, true[:, None]) * inside).sum(axis=1)
    assert 0.94 < covers.mean() < 0.96
    assert 0.94 < covers[true < 0.1].mean() < 0.975


def test_a_table_is_judged_alike() -> None:
    log = read_log(
        table_of([0, 30], 60), arm="arm", objective="minimize mean(x)",
        constraints="mean(bad) <= 0.02",
    )  # fmt: skip
    truth = stats.beta(0.5, 60.5)
    assert abs(float(log.answers.feasible.mean()) - truth.cdf(0.02)) < NEAR
    reading = log.arms[0].readings["mean(bad)"]
    assert (reading.low, reading.high) == pytest.approx((0.0, truth.ppf(0.975)))


def test_a_limit_beside_a_baseline_has_draws_of_both_and_a_normal_margin() -> None:
    """What an arm is beyond a baseline is no share itself: its margin keeps a normal interval."""
    study = study_of("mean(bad) <= 1.5 * baseline", [2, 0, 30], 60, baseline="arm 0")
    for arm in study.recommend().arms:
        low, margin, high = (float(x or 0.0) for x in (arm.margin_low, arm.margin, arm.margin_high))
        assert low < margin < high
        assert margin - low == pytest.approx(high - margin)
    doubt = doubt_of(study.desk.plan, study.view(), 1)
    rng = np.random.default_rng(5)
    base, own = (rng.beta(k + 0.5, 60.5 - k, 1_000_000) for k in (2, 0))
    assert doubt is not None
    assert abs(doubt.breaks - float((own > 1.5 * base).mean())) < NEAR
