"""Ratios of means: against numerical derivatives, large samples, and the coverage of intervals."""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

import ringfence as rf
from ringfence.core import running, statistics
from ringfence.core.arrays import Floats
from ringfence.core.errors import InputError
from ringfence.core.problem import Problem
from ringfence.simulation import records, truths
from ringfence.simulation.draws import FAMILIES
from tests.statistical.checks import ALPHA

PROBLEM = Problem.parse("minimize x / y", ["mean(y) / mean(x) >= 0", "x <= 0", "share(y > 0) >= 1"])
METRICS = ("x", "y")


def ratio_of(pulls: Floats, weights: Floats) -> float:
    """Return the ratio of weighted means."""
    return float((weights * pulls[:, 0]).sum() / (weights * pulls[:, 1]).sum())


def derivatives(pulls: Floats) -> Floats:
    """Return how the ratio moves with each pull's weight, numerically, times the pulls."""
    count, step = len(pulls), 1e-6
    found = []
    for k in range(count):
        up, down = np.ones(count), np.ones(count)
        up[k] += step
        down[k] -= step
        found.append((ratio_of(pulls, up) - ratio_of(pulls, down)) / (2.0 * step) * count)
    return np.array(found)


def random_pulls(seed: int, count: int = 40) -> Floats:
    stream = np.random.default_rng(seed)
    y = stream.exponential(2.0, count)
    return np.column_stack([3.0 * y + stream.normal(5.0, 2.0, count), y])


def check_influences(room: ModuleType, seed: int) -> None:
    """Compare influences with derivatives, which owe nothing to the formula."""
    pulls = random_pulls(seed)
    influences = np.zeros(len(pulls))
    found = room.fill_ratio(pulls[:, 0], pulls[:, 1], influences)
    assert found == pytest.approx(pulls[:, 0].mean() / pulls[:, 1].mean(), rel=1e-12)
    assert_allclose(influences, derivatives(pulls), rtol=1e-6, atol=1e-7)
    assert abs(influences.sum()) < 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_influences_are_the_derivatives_by_a_pulls_weight(seed: int) -> None:
    check_influences(statistics, seed)


def added_up(room: ModuleType, pulls: Floats, cut: int) -> tuple[Floats, Floats]:
    """Return estimates and scatters of pulls that were added one by one, in a block, and merged."""
    recipe, count, width = PROBLEM.recipe, len(pulls), len(PROBLEM.attributes)
    state, other = room.no_running(recipe, 1, 2), room.no_running(recipe, 1, 2)
    for number, pull in enumerate(pulls[: cut // 2]):
        room.add_running_pull(state, recipe, 0, number, pull)
    room.add_running_block(state, recipe, 0, cut // 2, pulls[cut // 2 : cut])
    room.add_running_block(other, recipe, 0, 0, pulls[cut:])
    room.merge_running(state, recipe, 0, cut, other, count - cut)
    estimates, scatters = np.zeros((1, width)), np.zeros((1, width, width))
    room.fill_running(estimates, scatters, state, recipe, 0, count)
    return estimates[0], scatters[0]


def check_adding_up(room: ModuleType, pulls: Floats, cut: int) -> None:
    signs = PROBLEM.signs
    whole = rf.measure_sample(PROBLEM.attributes, dict(zip(METRICS, pulls.T, strict=True)))
    estimates, scatters = added_up(room, pulls, cut)
    assert_allclose(estimates, signs * whole.estimates, rtol=1e-10)
    turned = np.outer(signs, signs) * whole.covariance * (len(pulls) - 1)
    size = np.sqrt(np.outer(np.diagonal(turned), np.diagonal(turned)))
    assert_allclose(scatters, turned, rtol=1e-8, atol=1e-9 * size.max())


@given(seed=st.integers(0, 50), cut=st.integers(0, 40))
def test_adding_up_equals_measuring_the_whole(seed: int, cut: int) -> None:
    check_adding_up(running, random_pulls(seed), cut)


@given(
    pairs=st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2)), min_size=2, max_size=20),
    cut=st.integers(0, 20),
)
def test_small_numbers_add_up_too(pairs: list[tuple[int, int]], cut: int) -> None:
    pulls = np.array(pairs, dtype=np.float64)
    assume(pulls[:, 1].sum() > 0.0 and pulls[:, 0].sum() != 0.0)
    check_adding_up(running, pulls, min(cut, len(pulls)))


def test_a_record_of_all_pulls_measures_the_same() -> None:
    """Where a quantile stands beside the ratio, pulls are kept."""
    problem = Problem.parse("minimize x / y", ["p90(x) <= 100", "y / x <= 3"])
    pulls, taken = random_pulls(3), iter(random_pulls(3))

    def draw(rng: Any, arrays: Any, arm: int, metrics: Floats) -> None:
        metrics[:] = next(taken)

    recording = records.sample_recording(draw, problem.recipe, 2)
    record, estimates = recording.make(1, 40), np.zeros((1, 3))
    recording.add(None, None, 0, 0, 40, record, np.zeros((1, 1)))
    recording.look(record, 0, 40, estimates)
    whole = rf.measure_sample(problem.attributes, {"x": pulls[:, 0], "y": pulls[:, 1]})
    assert_allclose(estimates[0], problem.signs * whole.estimates)
    assert_allclose(record.scatters[0], whole.covariance * 39, rtol=1e-9)


def test_what_never_varies_has_no_noise() -> None:
    for x, y in ((0.1, 0.3), (1e6 + 0.1, 1 / 3), (-2.0, 7.0)):
        pulls = np.tile([x, y], (7, 1))
        estimates, scatters = added_up(running, pulls, 3)
        assert estimates[0] == x / y
        assert not scatters.any()
        influences = np.ones(7)
        assert statistics.fill_ratio(pulls[:, 0], pulls[:, 1], influences) == x / y
        assert not influences.any()


def test_a_ratio_that_never_varies_has_no_noise_though_its_metrics_do() -> None:
    y = np.random.default_rng(1).exponential(size=50)
    pulls = np.column_stack([0.3 * y, y])
    influences = np.ones(50)
    assert statistics.fill_ratio(pulls[:, 0], pulls[:, 1], influences) == pytest.approx(0.3)
    assert not influences.any()
    assert added_up(running, pulls, 20)[1][0, 0] == 0.0


def test_without_anything_to_divide_by_half_an_event_is_taken() -> None:
    """An arm that solved nothing in ten tries is dear, and nobody knows how dear."""
    pulls = np.column_stack([np.arange(1.0, 11.0), np.zeros(10)])
    estimates, scatters = added_up(running, pulls, 4)
    assert estimates[0] == 55.0 / 0.5
    assert math.sqrt(scatters[0, 0]) / 10 == pytest.approx(math.sqrt(2.0) * 110.0)
    influences = np.zeros(10)
    assert statistics.fill_ratio(pulls[:, 0], pulls[:, 1], influences) == 110.0
    assert (influences**2).sum() == pytest.approx(scatters[0, 0])
    values = np.linalg.eigvalsh(scatters)
    assert values.min() >= -1e-9 * values.max()


# ------------------------------------------------------------------------------------- truths


def check_truth(true_attributes: Callable[..., tuple[Floats, Floats]]) -> None:
    """Compare the truth of correlated normals with the delta method, written out."""
    means, deviations, correlation = np.array([3.0, 2.0]), (0.7, 0.4), 0.6
    both = correlation * deviations[0] * deviations[1]
    covariance = np.array([[deviations[0] ** 2, both], [both, deviations[1] ** 2]])
    found, noise = true_attributes(
        PROBLEM.recipe, np.zeros(2, np.int64), means, np.linalg.cholesky(covariance)
    )
    ratio, other = 1.5, 2.0 / 3.0
    slopes = np.array([[1.0, -ratio], [-other / 3.0 * 2.0, 2.0 / 3.0], [2.0, 0.0]]) / 2.0
    assert_allclose(found[:3], [ratio, -other, 3.0])
    turned = slopes * np.array([1.0, -1.0, 1.0])[:, None]
    assert_allclose(noise[:3, :3], turned @ covariance @ turned.T, rtol=1e-8)


def test_the_truth_of_normals_is_that_of_the_delta_method() -> None:
    check_truth(truths.true_attributes)


def test_the_truth_of_other_laws_is_what_large_samples_show() -> None:
    families = np.array([FAMILIES.index("exponential"), FAMILIES.index("bernoulli")])
    means = np.array([700.0, 0.3])
    found, noise = truths.true_attributes(PROBLEM.recipe, families, means, np.zeros((2, 0)))
    assert found[0] == pytest.approx(700.0 / 0.3)
    variance = (700.0**2 + (700.0 / 0.3) ** 2 * 0.21) / 0.09
    assert noise[0, 0] == pytest.approx(variance, rel=1e-9)


def test_a_table_tells_its_ratio() -> None:
    table = {"arm": ["a"] * 3 + ["b"] * 3, "x": [1.0, 2, 6, 4, 4, 5], "y": [1.0, 0, 1, 1, 1, 1]}
    pandas = pytest.importorskip("pandas")
    instance = rf.Instance.from_frame(
        pandas.DataFrame(table), arm="arm", objective="minimize x / y", constraints="y >= 10%"
    )
    assert instance.means[:, 0].tolist() == [4.5, 13.0 / 3.0]


@pytest.mark.parametrize("family", ["bernoulli", "table"])
def test_a_truth_that_divides_by_nothing_is_refused(family: str) -> None:
    if family == "table":
        pandas = pytest.importorskip("pandas")
        table = pandas.DataFrame(
            {"arm": ["a", "a", "b", "b"], "x": [1, 2, 3, 4], "y": [1, 1, 0, 0]}
        )

    def make() -> rf.Instance:
        if family == "table":
            return rf.Instance.from_frame(table, arm="arm", objective="minimize x / y")
        arms = {"a": {"mean": [0.5, 0.5]}, "b": {"mean": [0.5, 0.0]}}
        noise = {"family": family}
        content = {"objective": "minimize x / y", "metrics": ["x", "y"]}
        return rf.Instance.from_dict({**content, "noise": noise, "arms": arms})

    with pytest.raises(InputError, match=r"x / y cannot be told: the mean of 'y' is 0 in arm 'b'"):
        make()


# ---------------------------------------------------------------------------------- coverage

TIMES, PULLS = 4000, 400


def covered(*, forgets: bool = False) -> int:
    """Return how many of many 95% intervals cover 1000 / 0.4; `forgets` the noise below."""
    stream, hits = np.random.default_rng(11), 0
    recipe = Problem.parse("minimize x / y").recipe
    reach = stats.norm.ppf(0.975)
    for _ in range(TIMES):
        solved = stream.random(PULLS) < 0.4
        tokens = stream.exponential(1000.0, PULLS) * np.where(solved, 0.75, 7.0 / 6.0)
        state = running.no_running(recipe, 1, 2)
        pulls = np.column_stack([tokens, solved])
        running.add_running_block(state, recipe, 0, 0, pulls)
        estimates, scatters = np.zeros((1, 1)), np.zeros((1, 1, 1))
        running.fill_running(estimates, scatters, state, recipe, 0, PULLS)
        scatter = scatters[0, 0, 0]
        if forgets:
            scatter = state.moments.scatters[0, 0, 0] / solved.mean() ** 2
        error = math.sqrt(scatter / (PULLS - 1) / PULLS)
        hits += abs(estimates[0, 0] - 1000.0 / 0.4) <= reach * error
    return int(hits)


def fits(hits: int) -> bool:
    """Tell whether as many of the intervals may cover if 93.5% to 96% do."""
    low = stats.binom.cdf(hits, TIMES, 0.935) >= ALPHA
    return bool(low and stats.binom.sf(hits - 1, TIMES, 0.96) >= ALPHA)


def test_intervals_cover_as_often_as_they_say() -> None:
    """The mean of tokens is 0.4 * 750 + 0.6 * 1166.7 = 1000, of what is solved 0.4."""
    assert fits(covered())


def test_intervals_that_forget_the_noise_below_do_not() -> None:
    assert not fits(covered(forgets=True))


# -------------------------------------------------------------------------------- live studies


def test_a_study_asks_for_tokens_per_right_answer() -> None:
    study = rf.Study.create(
        "tokens",
        arms=["terse", "wordy", "guess"],
        objective="minimize tokens / correct",
        constraints=["tokens / correct <= 5000 tokens", "correct >= 20%"],
        units={"tokens": "tokens"},
        budget=300,
        storage="memory://",
        seed=3,
    )
    rates = {"terse": (500, 0.5), "wordy": (900, 0.6), "guess": (100, 0.05)}

    def evaluate(arm: str, seed: int) -> dict[str, float]:
        stream, (tokens, right) = np.random.default_rng(seed), rates[arm]
        return {"tokens": stream.gamma(4.0, tokens / 4), "correct": float(stream.random() < right)}

    verdict = study.optimize(evaluate)
    assert verdict is not None
    assert verdict.arm == "terse"
    one = verdict.arms[0].estimates["tokens / correct"]
    assert one.low < 1000.0 < one.high
    difference = verdict.arms[1].differences["tokens / correct"]
    assert difference.low < 500.0 < difference.high
    assert study.doctor().problems == ()
