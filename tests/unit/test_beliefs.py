"""What the truth may be: Betas, skewed means, open quantiles, and what arms have in common."""

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from ringfence.core.answers import DRAWS
from ringfence.core.beliefs import Beliefs, quantile_interval, share_interval, students, unskewed
from ringfence.core.priors import beta_prior, normal_prior
from ringfence.core.problem import Problem
from ringfence.core.sparse import normal_variance, with_sparse_tails
from ringfence.core.streams import verdict_stream
from ringfence.interfaces.studies import Study
from ringfence.simulation.logs import read_log
from ringfence.study.book import Book
from ringfence.study.snapshot import Snapshot

NEAR = 4.5 * 0.5 / DRAWS**0.5  # of a share of draws


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


def beliefs_of(events: list[int], counts: list[int], constraint: str) -> Beliefs:
    """Return what is believed of arms with so many events, and objectives without skewness."""
    problem = Problem.parse("minimize mean(x)", constraint)
    n, k = np.array(counts), np.array(events)
    estimates = problem.signs * np.column_stack([np.linspace(1.0, 2.0, len(n)), k / n])
    scatters = np.zeros((len(n), 2, 2))
    scatters[:, 0, 0], scatters[:, 1, 1] = n, k * (1.0 - k / n)
    covariances = scatters / n[:, None, None]
    return Beliefs.of(problem, estimates, scatters, np.zeros((len(n), 2)), n, covariances)


# ------------------------------------------------------------------------------------ shares


@pytest.mark.parametrize("written", ["share(bad > 0.5)", "mean(bad)"])
@pytest.mark.parametrize("events", [0, 1, 5, 29])
@pytest.mark.parametrize("limit", [0.02, 0.1, 0.35])
def test_a_verdict_is_as_sure_as_the_events_allow(written: str, events: int, limit: float) -> None:
    """A single arm has nothing in common with others: its share is Jeffreys'."""
    verdict = study_of(f"{written} <= {limit}", [events], 60).recommend()
    truth = stats.beta(events + 0.5, 60 - events + 0.5)
    assert abs(verdict.chance_feasible - truth.cdf(limit)) < NEAR
    assert verdict.chance_keeps_limits == verdict.chance_feasible == verdict.arms[0].chance_feasible
    estimate = verdict.arms[0].estimates[written]
    assert estimate.value == pytest.approx(events / 60)
    low = 0.0 if events == 0 else truth.ppf(0.025)
    assert (estimate.low, estimate.high) == pytest.approx((low, truth.ppf(0.975)))
    arm = verdict.arms[0]
    low, margin, high = (float(x or 0.0) for x in (arm.margin_low, arm.margin, arm.margin_high))
    assert low <= margin <= high
    assert (high > 0.0) == (truth.ppf(0.975) > limit)


@pytest.mark.parametrize("written", ["share(bad > 0.5)", "mean(bad)"])
@pytest.mark.parametrize("stated", [None, {"bad": {"bounds": [0, 1]}}])
def test_no_event_at_all_is_not_certainty(written: str, stated: Any) -> None:
    """Two arms, ten pulls each and no failure: however it is written, 1% is not proven."""
    verdict = study_of(f"{written} <= 0.01", [0, 0], 10, noise=stated).recommend()
    assert verdict.verdict == "too-close-to-call"
    assert verdict.confidence < 0.5
    estimate = verdict.arms[0].estimates[written]
    assert (estimate.low, estimate.high) == pytest.approx((0.0, stats.beta(0.5, 10.5).ppf(0.975)))


@pytest.mark.parametrize("policy", ["top-two", "ocba-co", "thompson"])
@pytest.mark.parametrize("chance", [0.0, 0.05, 0.3])
def test_arms_are_chosen_alike_however_a_yes_or_no_limit_is_written(
    policy: str, chance: float
) -> None:
    """As a mean, as a share, or with stated bounds: pull by pull, and in the verdict."""
    found = []
    for written, noise in (
        ("mean(bad)", None), ("mean(bad)", {"bad": {"bounds": [0, 1]}}), ("share(bad > 0.5)", None)
    ):  # fmt: skip
        study = Study.create(
            "s", arms=["a", "b", "c"], objective="maximize mean(x)", noise=noise, budget=60,
            constraints=f"{written} <= 0.1", policy=policy, storage="memory://", seed=1, batch=4,
        )  # fmt: skip
        asked = ""
        for pull in study.pulls():
            rng = np.random.default_rng(pull.seed)
            x = rng.normal({"a": 0.5, "b": 0.55, "c": 0.52}[pull.arm], 0.1)
            study.tell(pull, {"x": x, "bad": float(rng.random() < chance)})
            asked += pull.arm
        verdict = study.recommend()
        found.append((asked, verdict.arm, verdict.verdict, verdict.chance_keeps_limits))
    assert found[0] == found[1] == found[2]
    assert found[0][0] != "abc" * 20, "else nothing was chosen"


def test_nothing_but_ones_is_not_certainty() -> None:
    verdict = study_of("mean(bad) >= 0.99", [10, 10], 10).recommend()
    assert verdict.verdict == "too-close-to-call"
    assert verdict.arms[0].estimates["mean(bad)"].low < 0.99


@pytest.mark.parametrize("written", ["share(bad > 0.5) <= 0", "share(bad <= 0.5) >= 1"])
def test_a_limit_of_no_event_is_never_proven(written: str) -> None:
    """None was seen, which draws take for none: that the next pull may have one is a doubt."""
    verdict = study_of(written, [0, 0], 40).recommend()
    assert (verdict.verdict, verdict.chance_feasible) == ("too-close-to-call", 1.0)
    assert [(one.kind, one.pulls) for one in verdict.doubts] == [("unseen", 40)]
    assert verdict.confidence <= 0.95
    estimate = list(verdict.arms[0].estimates.values())[-1]
    assert 0.0 <= estimate.low < estimate.high <= 1.0


def test_limits_from_below_are_turned() -> None:
    verdict = study_of("share(bad <= 0.5) >= 0.98", [0], 60).recommend()
    assert abs(verdict.chance_feasible - stats.beta(60.5, 0.5).sf(0.98)) < NEAR
    estimate = verdict.arms[0].estimates["share(bad <= 0.5)"]
    assert (estimate.low, estimate.high) == pytest.approx((stats.beta(60.5, 0.5).ppf(0.025), 1.0))


def test_a_limit_on_a_quantile_is_as_doubtful_as_its_share() -> None:
    verdict = study_of("p95(bad) <= 0.5", [0], 60).recommend()
    assert abs(verdict.chance_feasible - stats.beta(0.5, 60.5).cdf(0.05)) < NEAR


def test_stated_variances_hold() -> None:
    verdict = study_of("mean(bad) <= 0.02", [0], 60, noise={"bad": {"sigma": 0.1}}).recommend()
    assert abs(verdict.chance_feasible - stats.norm.cdf(0.02 * 60**0.5 / 0.1)) < NEAR


@pytest.mark.parametrize("limit", ["share(y > 1) <= 0.2", "share(y > 1) >= 0.01"])
@pytest.mark.parametrize(("events", "count"), [(0, 50), (3, 50), (40, 100)])
def test_draws_keep_what_goes_with_what(events: int, count: int, limit: str) -> None:
    """As oriented, like the noise they have: of a limit from below lower is more events."""
    beliefs = beliefs_of([events], [count], limit)
    noise = max(events, 1) / count * (1.0 - max(events, 1) / count) / count
    beliefs.covariances[0, 1, 1] = noise
    beliefs.covariances[0, 0, 1] = beliefs.covariances[0, 1, 0] = (
        0.7 * (beliefs.covariances[0, 0, 0] * noise) ** 0.5
    )
    rng = verdict_stream(3)
    draw = beliefs.draws(rng, 0, beliefs.common(rng, [0], DRAWS), DRAWS)
    truth = stats.beta(events + 0.5, count + 0.5 - events)
    if events < 30:  # from there on as good as normal
        assert stats.kstest(beliefs.signs[1] * draw[:, 1], truth.cdf).pvalue > 1e-6
    assert abs(stats.spearmanr(draw[:, 0], draw[:, 1]).statistic - 0.683) < 0.05


@pytest.mark.parametrize("spread", ["variance", "std"])
@pytest.mark.parametrize("count", [10, 30, 100])
def test_intervals_of_spreads_of_yes_and_no_cover_on_average(spread: str, count: int) -> None:
    """Over all shares, exactly, and where events are rare or all but some: they say p (1 - p)."""
    outcomes = np.arange(count + 1)
    ends = np.array([spread_of_events(spread, [int(k)], count)[0] for k in outcomes])
    true = np.linspace(0.0005, 0.9995, 1000)
    spreads = true * (1.0 - true) if spread == "variance" else (true * (1.0 - true)) ** 0.5
    inside = (ends[:, 0] <= spreads[:, None]) & (spreads[:, None] <= ends[:, 1])
    covers = (stats.binom.pmf(outcomes, count, true[:, None]) * inside).sum(axis=1)
    assert 0.94 < covers.mean() < 0.975
    assert covers.min() > 0.83
    rare = np.minimum(true, 1.0 - true) < 0.03
    assert covers[rare].mean() > 0.93
    assert ends.min() == 0.0
    assert ends.max() == (0.25 if spread == "variance" else 0.5)


def spread_of_events(spread: str, events: list[int], count: int) -> list[tuple[float, float]]:
    """Return the intervals of arms' spreads as a study sees them."""
    book = Book(
        Problem.parse("minimize mean(x)", f"{spread}(bad) <= 0.1"), ["a", "b"], ["x", "bad"]
    )
    for arm, some in enumerate(events):
        bad = (np.arange(count) < some).astype(float)
        book.add(arm, np.column_stack([np.linspace(-1.0, 1.0, count), bad]))
    beliefs = Snapshot(book).beliefs
    return [beliefs.interval(arm, 1) for arm in range(len(events))]


@pytest.mark.parametrize(("written", "power"), [("variance(bad)", 1.0), ("std(bad)", 0.5)])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("events", [0, 2, 40])
def test_a_spread_of_yes_and_no_is_as_sure_as_their_share(
    written: str, power: float, turned: bool, events: int
) -> None:
    """One arm: the chance is that of Jeffreys' share, on the side of 1/2 where it was seen."""
    seen, limit = 100 - events if turned else events, 0.16**power
    verdict = study_of(f"{written} <= {limit}", [seen], 100).recommend()
    truth = stats.beta(events + 0.5, 100.5 - events)
    assert abs(verdict.chance_feasible - truth.cdf(0.2) - truth.sf(0.8)) < NEAR
    estimate = verdict.arms[0].estimates[written]
    ends = [0.0 if events == 0 else truth.ppf(0.025), truth.ppf(0.975)]
    low, high = ((end * (1.0 - end)) ** power for end in ends)
    assert (estimate.low, estimate.high) == pytest.approx((low, high))
    assert verdict.exact == ()


def test_a_table_judges_spreads_of_yes_and_no_alike() -> None:
    """Though a table's own variance is over its rows, and a study's over one less."""
    table, limit = table_of([0, 30], 60), "variance(bad) <= 0.02"
    log = read_log(table, arm="arm", objective="minimize mean(x)", constraints=limit, seed=1)
    verdict = study_of(limit, [0, 30], 60).recommend()
    assert float(log.answers.feasible.mean()) == verdict.chance_feasible
    for arm, one in zip(log.arms, verdict.arms, strict=True):
        reading, estimate = arm.readings["variance(bad)"], one.estimates["variance(bad)"]
        assert (reading.low, reading.high) == (estimate.low, estimate.high)


def test_a_metric_of_three_values_has_no_share() -> None:
    """Nor one whose zeros and ones were stated to be exact."""
    book = Book(Problem.parse("minimize mean(x)", "variance(bad) <= 0.1"), ["a"], ["x", "bad"])
    book.add(0, np.column_stack([np.linspace(-1.0, 1.0, 30), np.arange(30) % 3 / 2.0]))
    assert not Snapshot(book).beliefs.shares[1]
    verdict = study_of("variance(bad) <= 0.1", [0], 30, noise={"exact": ["bad"]}).recommend()
    estimate = verdict.arms[0].estimates["variance(bad)"]
    assert (estimate.low, estimate.high) == (0.0, 0.0)
    assert verdict.exact == ("variance(bad)",)


def test_no_spread_at_all_is_never_proven() -> None:
    verdict = study_of("variance(bad) <= 0", [0, 0], 40).recommend()
    assert (verdict.verdict, verdict.chance_feasible) == ("too-close-to-call", 1.0)
    assert [one.kind for one in verdict.doubts] == ["unseen"]


@pytest.mark.parametrize("count", [10, 20, 60, 200])
def test_intervals_of_shares_cover_on_average(count: int) -> None:
    """Over all shares, exactly: every number of events by its probability."""
    low, high = np.array([share_interval(k, count) for k in range(count + 1)]).T
    true = np.linspace(0.0005, 0.9995, 1000)
    inside = (low <= true[:, None]) & (true[:, None] <= high)
    covers = (stats.binom.pmf(np.arange(count + 1), count, true[:, None]) * inside).sum(axis=1)
    assert 0.94 < covers.mean() < 0.965
    assert covers[true < 0.1].mean() > 0.94


def test_a_table_is_judged_alike() -> None:
    table, limit = table_of([0, 30], 60), "mean(bad) <= 0.02"
    log = read_log(table, arm="arm", objective="minimize mean(x)", constraints=limit, seed=1)
    verdict = study_of(limit, [0, 30], 60).recommend()
    assert float(log.answers.feasible.mean()) == verdict.chance_feasible
    reading, estimate = log.arms[0].readings["mean(bad)"], verdict.arms[0].estimates["mean(bad)"]
    assert (reading.low, reading.high) == (estimate.low, estimate.high)


@pytest.mark.parametrize("written", ["mean(failed)", "share(failed > 0.5)"])
def test_pulls_that_failed_count_in_the_share_of_failures(written: str) -> None:
    """Forty pulls of each arm, of which five and none fail; of those nothing else is known."""
    study = Study.create(
        "s", arms=["a", "b"], objective="minimize mean(x)", constraints=f"{written} <= 0.1",
        budget=80, policy="uniform", storage="memory://", seed=1,
    )  # fmt: skip
    count = {"a": 0, "b": 0}
    for pull in study.pulls():
        count[pull.arm] += 1
        if pull.arm == "a" and count["a"] % 8 == 1:
            study.fail(pull, "boom")
        else:
            study.tell(pull, {"x": (3.0 if pull.arm == "a" else 1.0) + count[pull.arm] % 3})
    first, second = study.recommend().arms
    assert (first.pulls, first.failed, second.failed) == (35, 5, 0)
    estimates = first.estimates[written], second.estimates[written]
    assert [one.value for one in estimates] == pytest.approx([5 / 40, 0.0])
    assert (estimates[0].low, estimates[0].high) == pytest.approx(
        tuple(stats.beta(5.5, 35.5).ppf([0.025, 0.975]))
    )
    assert estimates[1].high == pytest.approx(stats.beta(0.5, 40.5).ppf(0.975))
    alone = Book(
        study.desk.plan.problem, ["a"], ["x", "failed"], counts_failures=True
    )  # fmt: skip
    alone.add(0, np.column_stack([np.arange(35.0) % 3, np.zeros(35)]))
    alone.add_failures(0, 5)
    noise = alone.plain_evidence(np.ones(1, np.bool_), np.arange(1)).covariances[0, 1, 1]
    assert noise / 35 == pytest.approx(0.125 * 0.875 / 40, rel=0.2)
    assert study.doctor().problems == ()


# ------------------------------------------------------------------------------ skewed means


@pytest.mark.parametrize("skew", [-3.0, -0.5, 0.0, 2.0, 6.0])
@pytest.mark.parametrize("count", [2, 10, 1000])
def test_halls_cubic_is_solved(skew: float, count: int) -> None:
    """Hall 1992: T + g T^2/(3 sqrt n) + g^2 T^3/(27 n) + g/(6 sqrt n) is nearly normal."""
    scores = np.linspace(-4.0, 4.0, 41)
    found, root = unskewed(scores, skew, count), count**0.5
    again = (
        found + skew * found**2 / 3.0 / root + skew**2 * found**3 / 27.0 / count
        + skew / 6.0 / root
    )  # fmt: skip
    np.testing.assert_allclose(again, scores, atol=1e-9)
    assert (np.diff(found) > 0.0).all()


def test_a_skewed_mean_reaches_further_where_its_tail_is() -> None:
    rng = np.random.default_rng(4)
    costs = np.exp(rng.normal(size=40))
    study = Study.create(
        "s", arms=["a"], objective="minimize mean(x)", constraints="mean(x) <= 2", budget=100,
        policy="uniform", storage="memory://", seed=1,
    )  # fmt: skip
    study.bring({"arm": ["a"] * 40, "x": costs.tolist()}, arm="arm", label="log")
    estimate = study.recommend().arms[0].estimates["mean(x)"]
    assert estimate.high - estimate.value > 1.3 * (estimate.value - estimate.low)
    turned = Study.create(
        "t", arms=["a"], objective="maximize mean(x)", constraints="mean(x) >= -2", budget=100,
        policy="uniform", storage="memory://", seed=1,
    )  # fmt: skip
    turned.bring({"arm": ["a"] * 40, "x": (-costs).tolist()}, arm="arm", label="log")
    mirrored = turned.recommend().arms[0].estimates["mean(x)"]
    assert (-mirrored.high, -mirrored.low) == pytest.approx((estimate.low, estimate.high))


# -------------------------------------------------------------------------------- quantiles


@pytest.mark.parametrize("count", [5, 10, 30, 100])
@pytest.mark.parametrize("level", [0.05, 0.5, 0.95])
def test_intervals_of_quantiles_cover_and_are_no_longer_than_they_must(
    count: int, level: float
) -> None:
    """Whatever the distribution: as many pulls lie below the truth as a coin would give."""
    low, high = quantile_interval(np.arange(1.0, count + 1.0), level)
    below = np.arange(count + 1)  # with k pulls below, the truth lies between the k-th and the next
    chance = stats.binom.pmf(below, count, level)
    misses_low, misses_high = chance[below < low].sum(), chance[below >= high].sum()
    assert max(misses_low, misses_high) <= 0.025
    if low > -np.inf:
        assert chance[below < low + 1].sum() > 0.025
    if high < np.inf:
        assert chance[below >= high - 1].sum() > 0.025
    assert (low == -np.inf) == (chance[0] > 0.025)
    assert (high == np.inf) == (chance[-1] > 0.025)


LARGEST_ALIKE = [0.2, 0.29, 0.41, 0.5, 0.74, 0.87, 1.29, 1.68, 1.68, 1.7]
FURTHER_APART = [0.49, 0.57, 0.92, 0.95, 1.01, 1.09, 1.31, 1.68, 2.27, 2.35]


@pytest.mark.parametrize(("repeated", "least", "most"), [(1, 0.5, 0.85), (100, 0.99, 1.0)])
def test_a_p95_is_not_certain_where_the_largest_pulls_happen_to_be_alike(
    repeated: int, least: float, most: float
) -> None:
    """With ten pulls each, nobody knows how far up either goes; a thousand of them tell."""
    rows = {
        "arm": ["a"] * 10 * repeated + ["b"] * 10 * repeated,
        "x": LARGEST_ALIKE * repeated + FURTHER_APART * repeated,
        "y": np.tile(np.linspace(-1.0, 1.0, 10), 2 * repeated).tolist(),
    }
    study = Study.create(
        "s", arms=["a", "b"], objective="minimize p95(x)", constraints="mean(y) <= 9",
        budget=100, policy="uniform", storage="memory://", seed=1,
    )  # fmt: skip
    study.bring(rows, arm="arm", label="log")
    verdict = study.recommend()
    assert verdict.arm == "a"
    assert least < verdict.confidence <= most
    if repeated == 1:
        assert {arm.estimates["p95(x)"].high for arm in verdict.arms} == {np.inf}


def test_a_quantile_is_as_noisy_as_a_normal_ones_until_pulls_beyond_it_tell() -> None:
    problem = Problem.parse("minimize p95(x)", "mean(y) <= 1")
    counts = np.array([10, 100, 10_000])
    covariances = np.tile(np.array([[0.01, 0.05], [0.05, 1.0]]), (3, 1, 1))
    found = with_sparse_tails(problem.attributes, covariances, counts, [np.ones(3), np.ones(3)])
    whole = 0.95 * 0.05 / stats.norm.pdf(stats.norm.ppf(0.95)) ** 2
    beyond = 0.05 * counts
    expected = (beyond * 0.01 + 5.0 * whole) / (beyond + 5.0)
    assert found[:, 0, 0] == pytest.approx(expected, rel=2e-3)
    assert found[2, 0, 0] < 0.06
    assert found[:, 0, 1] / np.sqrt(found[:, 0, 0]) == pytest.approx([0.5] * 3)
    assert found[:, 1, 1].tolist() == [1.0] * 3
    assert normal_variance(0.5) == pytest.approx(np.pi / 2.0, rel=1e-3)
    assert covariances[0, 0, 0] == 0.01, "what is handed over stays as it is"
    noisy = with_sparse_tails(problem.attributes, 900.0 * covariances, counts, [np.ones(3)] * 2)
    assert noisy[:, 0, 0] == pytest.approx([9.0] * 3), "noise that is larger stays"


def test_a_quantile_of_zeros_and_ones_stays_between_them() -> None:
    estimate = study_of("p99(bad) <= 0.5", [1, 0], 10).recommend().arms[0].estimates["p99(bad)"]
    assert (estimate.value, estimate.high) == (1.0, 1.0)
    assert 0.0 <= estimate.low <= 1.0


def test_an_end_that_no_pull_can_give_is_open_or_at_the_stated_bound() -> None:
    rows = {"arm": ["a"] * 10, "x": list(range(10)), "y": list(range(10))}
    ends = {}
    for noise in (None, {"y": {"bounds": [0, 30]}}):
        study = Study.create(
            "s", arms=["a"], objective="minimize p95(x)", constraints="p95(y) <= 20", budget=100,
            policy="uniform", storage="memory://", seed=1, noise=noise,
        )  # fmt: skip
        study.bring(rows, arm="arm", label="log")
        found = study.recommend().arms[0].estimates
        ends[noise is None] = (found["p95(x)"].high, found["p95(y)"].high)
    assert ends[True] == (np.inf, np.inf)
    assert ends[False] == (np.inf, 30.0)


# ------------------------------------------------------------------- what arms have in common


def test_the_normal_prior_is_that_of_quadrature() -> None:
    """Against sums over a fine grid of widths and centres, written anew from the model."""
    estimates, variances = np.array([0.3, -0.2, 1.4, 0.1]), np.array([0.2, 0.3, 0.25, 0.1])
    unit = float(np.mean(1.0 / variances)) ** -0.5
    widths = np.geomspace(1e-4, 1e4, 2001) * unit
    before = np.gradient(-unit / (unit + widths))  # DuMouchel: P(width <= w) = w / (unit + w)
    centres = np.linspace(-40.0, 40.0, 8001)
    total = np.zeros(4)
    weight_sum = 0.0
    for width, weight in zip(widths, before, strict=True):
        spread = variances + width**2
        density = np.exp(
            stats.norm.logpdf(estimates[:, None], centres, spread[:, None] ** 0.5).sum(0)
        )
        trust = variances / spread
        total += weight * (
            density * (estimates[:, None] + trust[:, None] * (centres - estimates[:, None]))
        ).sum(1)
        weight_sum += weight * density.sum()
    prior = normal_prior(verdict_stream(1), estimates, variances, 400_000)
    assert prior is not None
    for arm in range(4):
        shift, left = prior.pulled(float(estimates[arm]), float(variances[arm]))
        mean = float(estimates[arm] + variances[arm] ** 0.5 * shift.mean())
        assert mean == pytest.approx(total[arm] / weight_sum, abs=0.006)
        assert (left < 1.0).all()


def test_the_prior_of_shares_is_that_of_quadrature() -> None:
    """Three arms; over the common share and what it counts for, by quadrature."""
    events, counts = np.array([0.0, 2.0, 9.0]), np.array([40.0, 50.0, 60.0])
    typical = 3.0 / (1.0 / counts).sum()

    def density(share: float, part: float, arm: int | None) -> float:
        pulls = part / (1.0 - part) * typical
        a, b = 0.5 + pulls * share, 0.5 + pulls * (1.0 - share)
        from scipy.special import betaln

        logs = float((betaln(a + events, b + counts - events) - betaln(a, b)).sum())
        value = np.exp(logs + 30.0) * (share * (1.0 - share)) ** -0.5
        if arm is not None:
            value *= (a + events[arm]) / (a + b + counts[arm])
        return float(value)

    parts = np.arange(48) / 48
    sums = [
        sum(integrate.quad(density, 0.0, 1.0, args=(part, arm), limit=200)[0] for part in parts)
        for arm in (None, 0, 1, 2)
    ]
    prior = beta_prior(verdict_stream(1), events, counts, 200_000)
    for arm in range(3):
        a, b = prior.posterior(float(events[arm]), float(counts[arm]))
        assert float((a / (a + b)).mean()) == pytest.approx(sums[1 + arm] / sums[0], rel=0.02)


def test_arms_that_lie_far_apart_are_left_where_they_are() -> None:
    estimates, variances = np.array([0.0, 1e3, 5e6]), np.ones(3)
    prior = normal_prior(verdict_stream(1), estimates, variances, 1000)
    assert prior is not None
    for arm in range(3):
        shift, left = prior.pulled(float(estimates[arm]), 1.0)
        assert abs(shift).mean() < 0.2
        assert left.mean() > 0.98


@pytest.mark.parametrize("estimates", [[1.0], [1.0, 1.0]])
def test_what_has_no_noise_has_no_prior(estimates: list[float]) -> None:
    assert normal_prior(verdict_stream(1), np.array(estimates), np.zeros(len(estimates)), 9) is None


def test_huge_and_tiny_numbers_are_borne() -> None:
    for unit in (1e-60, 1e60):
        prior = normal_prior(
            verdict_stream(1), np.array([1.0, 2.0]) * unit, np.ones(2) * unit**2, 9
        )
        assert prior is not None
        shift, left = prior.pulled(unit, unit**2)
        assert np.isfinite(shift).all()
        assert np.isfinite(left).all()


def test_a_deviation_that_is_stated_far_too_small_ends_no_verdict() -> None:
    """Warnings are errors here: a third power of what varies, over one of what was said to."""
    study = Study.create(
        "tiny", arms=["a", "b"], objective="maximize mean(x)", constraints="mean(y) <= 1",
        budget=20, policy="uniform", noise={"x": {"sigma": 1e-60}}, storage="memory://",
    )  # fmt: skip
    for pull in study.pulls():
        study.tell(pull, {"x": 1e60 if pull.seed % 4 == 0 else -1e60, "y": pull.seed % 3})
    assert study.recommend().arm in ("a", "b")


def test_the_luckiest_of_thirty_is_not_believed() -> None:
    """Thirty arms a deviation above the limit: one of them looks two deviations below by luck."""
    rng = np.random.default_rng(3)
    verdict_names = []
    for seed in range(5):
        rows: dict[str, list[Any]] = {"arm": [], "x": [], "y": []}
        for arm in range(30):
            rows["arm"] += [f"arm {arm}"] * 50
            rows["x"] += rng.normal(size=50).tolist()
            rows["y"] += (rng.normal(size=50) + 0.04).tolist()
        study = Study.create(
            f"s{seed}", arms=[f"arm {i}" for i in range(30)], objective="minimize mean(x)",
            constraints="mean(y) <= 0", budget=3000, policy="uniform", storage="memory://", seed=1,
        )  # fmt: skip
        study.bring(rows, arm="arm", label="log")
        verdict_names.append(study.recommend().verdict)
    assert "feasible" not in verdict_names


@pytest.mark.parametrize("freedom", [1.0, 4.0, 8.0, 15.0, 200.0])
def test_scores_of_few_pulls_are_students(freedom: float) -> None:
    """Where an expansion stands in for draws, too: to the 99.9% point."""
    scores = stats.norm.ppf((np.arange(200_000) + 0.5) / 200_000)
    found = np.sort(students(verdict_stream(1), scores, freedom))
    for level in (0.01, 0.25, 0.5, 0.9, 0.99, 0.999):
        near = stats.t(freedom).ppf(level)
        error = 5.0 * (level * (1 - level) / 200_000) ** 0.5 / stats.t(freedom).pdf(near)
        assert np.quantile(found, level) == pytest.approx(near, abs=error, rel=0.005)


def test_known_noise_is_normal() -> None:
    scores = np.linspace(-3.0, 3.0, 7)
    assert students(verdict_stream(1), scores, 1e9) is scores
