"""Attributes measured on a sample, against a slow transcription and the laws they must obey."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from ringfence.core.errors import EstimateError, InputError
from ringfence.core.expressions import parse_attribute
from ringfence.core.measurement import measure_sample
from ringfence.core.statistics import measure, measure_whole
from tests.oracle import attributes as oracle
from tests.unit.measuring import BOUNDS, X_ONLY, check_refused, estimate_of, measured, transcribed

# ------------------------------------------------------------------- against the slow transcription

UPPER_LEVELS = [0.5, 0.6, 0.7, 0.75, 0.9, 0.95, 0.99]
LOWER_LEVELS = [0.5, 0.4, 0.3, 0.25, 0.1, 0.05, 0.01]


def check_transcription(texts: list[str], sample: dict[str, list[float]]) -> None:
    found = measure_sample([parse_attribute(text) for text in texts], sample, arm="b")
    answers = [transcribed(text, sample) for text in texts]
    size = max(abs(value) for values in sample.values() for value in values)
    np.testing.assert_allclose(
        found.estimates, [estimate for estimate, _ in answers], rtol=1e-12, atol=1e-13 * size
    )
    expected = [[oracle.covariance(one, other) for _, other in answers] for _, one in answers]
    spread = np.sqrt(np.diagonal(expected))
    np.testing.assert_allclose(
        found.covariance, expected, rtol=1e-9, atol=1e-12 * float(np.outer(spread, spread).max())
    )
    np.testing.assert_array_equal(found.variances, np.diagonal(found.covariance))
    np.testing.assert_array_equal(found.covariance, found.covariance.T)
    assert found.count == len(sample["x"])


METRIC = st.sampled_from("xy")
ATTRIBUTES = st.one_of(
    st.builds("{}({})".format, st.sampled_from(["mean", "variance", "std"]), METRIC),
    st.builds(
        "share({} {} {})".format, METRIC, st.sampled_from(sorted(BOUNDS)), st.integers(-2, 2)
    ),
    st.builds("cvar({}, {})".format, METRIC, st.sampled_from(UPPER_LEVELS)),
    st.builds("lower_cvar({}, {})".format, METRIC, st.sampled_from(LOWER_LEVELS)),
)
GRID = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=2, max_size=41)
ORDINARY = st.floats(-1e3, 1e3).map(lambda value: round(value, 6))


@given(pairs=GRID, texts=st.lists(ATTRIBUTES, min_size=1, max_size=6))
@example(pairs=[(0, 0), (1, 4)], texts=["cvar(x, 0.5)", "lower_cvar(y, 0.5)", "std(x)"])
@example(pairs=[(k % 5, k % 3) for k in range(20)], texts=["cvar(x, 0.7)", "lower_cvar(x, 0.3)"])
def test_samples_full_of_ties_equal_the_transcription(
    pairs: list[tuple[int, int]], texts: list[str]
) -> None:
    sample = {"x": [float(a) for a, _ in pairs], "y": [float(b) for _, b in pairs]}
    check_transcription(texts, sample)


@given(
    pairs=st.lists(st.tuples(ORDINARY, ORDINARY), min_size=2, max_size=41),
    texts=st.lists(ATTRIBUTES, min_size=1, max_size=6),
)
def test_any_sample_equals_the_transcription(
    pairs: list[tuple[float, float]], texts: list[str]
) -> None:
    check_transcription(texts, {"x": [a for a, _ in pairs], "y": [b for _, b in pairs]})


@pytest.mark.parametrize("count", [2, 3, 20, 100, 257, 1000])
@pytest.mark.parametrize("law", ["normal", "exponential", "grid"])
def test_random_samples_equal_the_transcription(count: int, law: str) -> None:
    stream = np.random.default_rng(count)
    x = {
        "normal": stream.normal(3.0, 2.0, count),
        "exponential": stream.exponential(2.0, count),
        "grid": stream.integers(-9, 9, count).astype(np.float64),
    }[law]
    y = (x + stream.normal(size=count)).tolist()
    texts = ["mean(y)", "variance(y)", "share(y <= 1.5)"]
    texts += [text for text in X_ONLY if text[0] != "p" and text[0] != "r"]
    check_transcription(texts, {"x": x.tolist(), "y": y})


@given(
    values=st.lists(st.integers(-4, 4), min_size=2, max_size=30),
    level=st.sampled_from([*UPPER_LEVELS, 0.55, 0.123456, 0.999]).filter(lambda v: v >= 0.5),
)
def test_a_tail_mean_is_the_mean_of_the_tail(values: list[int], level: float) -> None:
    """Rockafellar and Uryasev's formula, against counting off the highest pulls one by one."""
    mass = 1 - oracle.written(level)
    highest = float(oracle.highest_by_counting(oracle.exact(values), mass))
    lowest = -float(oracle.highest_by_counting(oracle.exact([-v for v in values]), mass))
    assert estimate_of(f"cvar(x, {level})", values) == pytest.approx(highest, abs=1e-12)
    low = float(1 - oracle.written(level))
    assert estimate_of(f"lower_cvar(x, {low!r})", values) == pytest.approx(lowest, abs=1e-12)


def test_numpy_agrees_on_moments() -> None:
    stream = np.random.default_rng(5)
    x, y = stream.normal(size=50), stream.exponential(size=50)
    found = measured(["mean(x)", "mean(y)", "variance(x)", "std(y)", "share(y >= 1)"], x, y=y)
    answers = [x.mean(), y.mean(), x.var(ddof=1), y.std(ddof=1), (y >= 1).mean()]
    np.testing.assert_allclose(found.estimates, answers, rtol=1e-13)
    np.testing.assert_allclose(found.covariance[:2, :2], np.cov(x, y), rtol=1e-12)
    columns = np.column_stack([x, y, (x - x.mean()) ** 2])
    np.testing.assert_allclose(found.covariance[:3, :3], np.cov(columns.T), rtol=1e-12)


def test_an_attribute_may_be_given_alone_or_in_a_list() -> None:
    mean = parse_attribute("mean(x)")
    alone, listed = measure_sample(mean, {"x": [1, 2, 4]}), measure_sample([mean], {"x": [1, 2, 4]})
    assert alone.attributes == listed.attributes == (mean,)
    assert alone.estimates.tolist() == listed.estimates.tolist() == [7 / 3]
    assert alone.covariance.tolist() == listed.covariance.tolist()


@pytest.mark.parametrize(
    ("attributes", "sample", "message"),
    [
        (["mean(x)"], {"x": [1.0]}, "must be attributes. Read each text with parse_attribute"),
        ("mean(x)", {"x": [1.0]}, "attributes = 'mean\\(x\\)' must be attributes"),
        (None, {"x": [1.0]}, "attributes = None must hold at least one"),
        (parse_attribute("mean(x)"), [1.0], "sample = .* must be lists of values by metric"),
    ],
)
def test_what_cannot_be_measured_is_refused(attributes: Any, sample: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        measure_sample(attributes, sample)


def test_one_pull_has_a_mean_and_a_share_and_no_noise() -> None:
    found = measured(["mean(x)", "share(x > 1)"], [2.5])
    assert found.count == 1
    assert found.estimates.tolist() == [2.5, 1.0]
    assert found.covariance.tolist() == [[0.0, 0.0], [0.0, 0.0]]


# ---------------------------------------------------------------------------------- the robust mean


def check_robust(values: list[float]) -> None:
    """Check that a root of the two equations lies at the estimate, and what each pull moves it."""
    found = measured("robust_mean(x)", values)
    centre = float(found.estimates[0])
    assert min(values) <= centre <= max(values)
    plain = math.fsum(values) / len(values)
    size = max(abs(value) for value in values)
    if oracle.is_almost_constant(values) and math.isclose(centre, plain, abs_tol=1e-12 * size):
        answer = float(oracle.variance(oracle.exact(values))[0])
        assert found.variances[0] == pytest.approx(answer, rel=1e-9)
        return
    near = 1e-8 * (max(values) - min(values))
    places = (centre - near, centre, centre + near)
    below, _, above = (oracle.robust_pull(values, place) for place in places)
    assert below * above <= 0.0, (values, centre)
    answers = []
    for place in places:
        influences = oracle.robust_influences(values, place)
        answers.append(oracle.covariance(influences, influences))
    assert min(answers) * (1.0 - 1e-6) <= found.variances[0] <= max(answers) * (1.0 + 1e-6)


@given(st.lists(st.integers(-3, 3).map(float), min_size=2, max_size=40))
@example([0.0] * 39 + [1.0])
@example([0.0] * 20 + [1.0] * 20)
def test_a_robust_mean_solves_its_equations_with_ties(values: list[float]) -> None:
    check_robust(values)


@given(
    st.lists(
        st.floats(-1.0, 1.0).map(lambda u: round(math.sinh(8.0 * u), 3)), min_size=2, max_size=40
    )
)
@example([0.0, 1.0, 2.0, 1e5])
def test_a_robust_mean_solves_its_equations_far_and_wide(values: list[float]) -> None:
    check_robust(values)


@pytest.mark.parametrize("law", ["cauchy", "two heaps", "pareto", "normal"])
@pytest.mark.parametrize("count", [5, 50, 500])
def test_a_robust_mean_solves_its_equations_on_drawn_samples(law: str, count: int) -> None:
    stream = np.random.default_rng(count)
    for _ in range(5):
        x = {
            "cauchy": stream.standard_cauchy(count),
            "two heaps": 100.0 * stream.integers(0, 2, count) + stream.normal(size=count),
            "pareto": stream.pareto(1.2, count),
            "normal": stream.normal(size=count),
        }[law]
        check_robust(x.tolist())


def test_far_pulls_are_cut_and_near_ones_are_not() -> None:
    stream = np.random.default_rng(9)
    x = stream.normal(size=400)
    assert estimate_of("robust_mean(x)", x) == pytest.approx(x.mean(), abs=1e-9)
    x[:3] = 1e6
    assert abs(estimate_of("robust_mean(x)", x)) < 1.0 < 1000.0 < x.mean()


@pytest.mark.parametrize("far", [1e4, 1e6, 1e8, 1e10, 1e15, 1e100])
@pytest.mark.parametrize("pulls", [1, 3])
def test_how_far_a_pull_lies_does_not_matter_once_it_is_cut(far: float, pulls: int) -> None:
    x = np.random.default_rng(9).normal(size=400)
    x[:pulls] = 1e3
    near = measured("robust_mean(x)", x)
    x[:pulls] = far
    found = measured("robust_mean(x)", x)
    assert found.estimates[0] == pytest.approx(near.estimates[0], abs=1e-4)
    assert found.variances[0] == pytest.approx(near.variances[0], rel=1e-3)


def test_far_pulls_on_both_sides_do_not_matter_either() -> None:
    x = np.random.default_rng(9).normal(size=400)
    x[:2] = 1e3, -1e3
    near = measured("robust_mean(x)", x)
    x[:2] = 1e10, -1e10
    found = measured("robust_mean(x)", x)
    assert found.estimates[0] == pytest.approx(near.estimates[0], abs=1e-4)
    assert found.variances[0] == pytest.approx(near.variances[0], rel=1e-3)


def test_a_robust_mean_varies_with_what_is_measured_beside_it() -> None:
    stream = np.random.default_rng(10)
    x = stream.standard_t(2.0, 300)
    y = x + stream.normal(size=300)
    found = measured(["robust_mean(x)", "mean(y)", "variance(y)"], x, y=y)
    influences = oracle.robust_influences(x.tolist(), float(found.estimates[0]))
    beside = [
        oracle.mean(oracle.exact(y.tolist()))[1],
        oracle.variance(oracle.exact(y.tolist()))[1],
    ]
    for place, other in enumerate(beside, start=1):
        answer = oracle.covariance(influences, other)
        assert found.covariance[0, place] == pytest.approx(answer, rel=1e-5)


@pytest.mark.parametrize("odd", [[1.0], [1.0, -2.0]])
def test_where_hardly_any_pull_differs_it_is_the_plain_mean(odd: list[float]) -> None:
    values = [5.0] * 30 + [5.0 + v for v in odd]
    found = measured(["robust_mean(x)", "mean(x)"], values)
    assert found.estimates[0] == pytest.approx(found.estimates[1], rel=1e-15)
    np.testing.assert_allclose(found.covariance, np.full((2, 2), np.var(values, ddof=1)), rtol=1e-9)


# ------------------------------------------------------------------------ permutation, shift, scale

# What an attribute gains when x does: it is multiplied by scale^degree, then shifted or not.
DEGREES = {
    "mean(x)": (1, True),
    "robust_mean(x)": (1, True),
    "variance(x)": (2, False),
    "std(x)": (1, False),
    "quantile(x, 0.5)": (1, True),
    "p90(x)": (1, True),
    "cvar(x, 0.9)": (1, True),
    "lower_cvar(x, 0.25)": (1, True),
}


@given(
    values=st.lists(st.integers(-20, 20), min_size=2, max_size=40),
    shift=st.integers(-1000, 1000),
    power=st.integers(-6, 6),
)
@settings(max_examples=60)
def test_a_shift_and_a_scale_pass_through(values: list[int], shift: int, power: int) -> None:
    scale, x = 2.0**power, np.array(values, dtype=np.float64)
    here, there = measured(list(DEGREES), x), measured(list(DEGREES), scale * x + shift)
    degrees = np.array([degree for degree, _ in DEGREES.values()])
    shifts = np.array([shift if moves else 0.0 for _, moves in DEGREES.values()])
    size = max(1.0, float(np.abs(scale * x + shift).max()))
    np.testing.assert_allclose(
        there.estimates, scale**degrees * here.estimates + shifts, rtol=1e-8, atol=1e-8 * size
    )
    factors = scale ** np.add.outer(degrees, degrees)
    spread = np.sqrt(np.diagonal(factors * here.covariance))
    np.testing.assert_allclose(
        there.covariance,
        factors * here.covariance,
        rtol=1e-6,
        atol=1e-7 * float(np.outer(spread, spread).max()),
    )


@given(values=st.lists(st.integers(-9, 9), min_size=2, max_size=40), data=st.data())
@settings(max_examples=60)
def test_the_order_of_pulls_does_not_matter(values: list[int], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(values))))
    x, y = np.array(values, np.float64), np.arange(len(values), dtype=np.float64) ** 2
    texts = [*DEGREES, "share(x > 0)", "mean(y)"]
    here, there = measured(texts, x, y=y), measured(texts, x[order], y=y[order])
    np.testing.assert_allclose(there.estimates, here.estimates, rtol=1e-9, atol=1e-9)
    spread = np.sqrt(here.variances)
    np.testing.assert_allclose(
        there.covariance,
        here.covariance,
        rtol=1e-7,
        atol=1e-9 * float(np.outer(spread, spread).max()),
    )


@given(
    values=st.lists(st.integers(-9, 9), min_size=2, max_size=40),
    level=st.sampled_from([0.5, 0.7, 0.9]),
)
def test_a_tail_is_the_other_tail_of_the_negated(values: list[int], level: float) -> None:
    x = np.array(values, np.float64)
    low = round(1.0 - level, 9)
    here = measured([f"cvar(x, {level})", "mean(x)", "variance(x)"], x)
    there = measured([f"lower_cvar(x, {low})", "mean(x)", "variance(x)"], -x)
    turn = np.array([-1.0, -1.0, 1.0])
    np.testing.assert_allclose(there.estimates, turn * here.estimates, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        there.covariance, np.outer(turn, turn) * here.covariance, rtol=1e-9, atol=1e-9
    )
    above = estimate_of(f"quantile(x, {level})", x)
    assert estimate_of(f"quantile(x, {low})", -x, sign=-1.0) == -above


# ---------------------------------------------------------------------- what never varies, far away


@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, -1 / 3, 1e9 + 0.1, 1e-300, -1e150])
@pytest.mark.parametrize("count", [2, 3, 7, 100, 999])
def test_a_sample_that_never_varies_is_exact(value: float, count: int) -> None:
    found = measured([*X_ONLY, "mean(y)"], [value] * count, y=np.arange(float(count)))
    spreads = {"variance(x)", "std(x)"}
    answers = [0.0 if text in spreads else value for text in X_ONLY]
    answers[X_ONLY.index("share(x > 0)")] = float(value > 0.0)
    assert found.estimates[:-1].tolist() == answers
    assert not found.covariance[:-1].any()
    assert not found.covariance[:, :-1].any()
    assert found.covariance[-1, -1] > 0.0
    np.testing.assert_array_equal(found.intervals()[:-1].T, [answers, answers])


@given(values=st.lists(st.integers(0, 2), min_size=2, max_size=60))
def test_nothing_is_ever_nan_or_negative(values: list[int]) -> None:
    found = measured(X_ONLY, values)
    assert np.isfinite(found.estimates).all()
    assert np.isfinite(found.covariance).all()
    assert (found.variances >= 0.0).all()
    scale = np.sqrt(np.outer(found.variances, found.variances))
    assert (np.abs(found.covariance) <= scale * (1.0 + 1e-9)).all()
    assert np.isfinite(found.intervals()).all()


@pytest.mark.parametrize("offset", [1e6, 1e9, -1e9])
def test_a_small_spread_far_from_zero_is_kept(offset: float) -> None:
    """Sums of squares would lose it; the steps are such that every value is exact."""
    stream = np.random.default_rng(11)
    noise = stream.integers(-(2**20), 2**20, 500) / 2.0**20
    here, there = measured(X_ONLY, noise), measured(X_ONLY, noise + offset)
    for text in ("variance(x)", "std(x)"):
        place = X_ONLY.index(text)
        answer, influences = transcribed(text, {"x": noise.tolist()})
        assert there.estimates[place] == pytest.approx(answer, rel=1e-9)
        variance = oracle.covariance(influences, influences)
        assert there.variances[place] == pytest.approx(variance, rel=1e-9)
    for place, text in enumerate(X_ONLY):
        if text != "share(x > 0)":
            assert there.variances[place] == pytest.approx(here.variances[place], rel=1e-5), text


def test_integers_and_lists_are_taken_as_they_are() -> None:
    whole = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
    for kind in (list, tuple, np.array, lambda v: np.array(v, np.int32), lambda v: np.array(v)[:]):
        found = measured(X_ONLY, kind(whole))
        again = measured(X_ONLY, [float(v) for v in whole])
        np.testing.assert_array_equal(found.estimates, again.estimates)
        np.testing.assert_array_equal(found.covariance, again.covariance)


def test_arrays_that_are_not_contiguous_are_read_right() -> None:
    table = np.random.default_rng(12).normal(size=(50, 3))
    table.setflags(write=False)
    found, again = measured(X_ONLY, table[::2, 1]), measured(X_ONLY, table[::2, 1].tolist())
    np.testing.assert_array_equal(found.estimates, again.estimates)
    np.testing.assert_array_equal(found.covariance, again.covariance)


# ---------------------------------------------------------------------------------------- intervals


def test_intervals_are_the_normal_ones() -> None:
    x = np.random.default_rng(13).normal(size=80)
    found = measured(["mean(x)", "variance(x)"], x)
    for level in (0.5, 0.9, 0.95, 0.999):
        reach = stats.norm.ppf(0.5 + level / 2.0) * np.sqrt(found.variances / 80.0)
        low, high = found.intervals(level=level).T
        np.testing.assert_allclose(low, found.estimates - reach, rtol=1e-12)
        np.testing.assert_allclose(high, found.estimates + reach, rtol=1e-12)
    np.testing.assert_array_equal(found.intervals(), found.intervals(level=0.95))


# ------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("text", [t for t in X_ONLY if t not in ("mean(x)", "share(x > 0)")])
def test_one_pull_is_too_few(text: str) -> None:
    check_refused(parse_attribute(text), {"x": [1.0]}, "1 pull.", "at least 2")
    check_refused(parse_attribute(text), {"x": []}, "0 pulls")


@pytest.mark.parametrize("text", ["mean(x)", "share(x > 0)"])
def test_no_pull_is_too_few(text: str) -> None:
    check_refused(parse_attribute(text), {"x": []}, "0 pulls")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, None])
def test_values_must_be_finite(bad: float | None) -> None:
    check_refused(parse_attribute("mean(x)"), {"x": [1.0, bad, 2.0]}, "'x'", "finite")


@pytest.mark.parametrize("bad", [[[1.0, 2.0], [3.0, 4.0]], 3.0, [[1.0], [2.0, 3.0]], ["a", "b"]])
def test_values_must_be_a_list_of_numbers(bad: Any) -> None:
    check_refused(parse_attribute("mean(x)"), {"x": bad}, "'x'")


def test_a_metric_must_be_there() -> None:
    check_refused(parse_attribute("mean(y)"), {"x": [1.0]}, "'y'")
    listed = [parse_attribute("mean(x)"), parse_attribute("p95('a b')")]
    check_refused(listed, {"x": [1.0, 2.0]}, "'a b'", named="p95('a b')")


def test_metrics_must_have_as_many_pulls_each() -> None:
    listed = [parse_attribute("mean(x)"), parse_attribute("mean(y)")]
    with pytest.raises(EstimateError, match="different numbers of pulls") as caught:
        measure_sample(listed, {"x": [1.0, 2.0], "y": [1.0, 2.0, 3.0]}, arm="b")
    assert "'b'" in str(caught.value)


def test_a_metric_that_is_not_asked_for_does_not_matter() -> None:
    found = measure_sample(parse_attribute("mean(x)"), {"x": [1.0, 3.0], "y": [math.nan]})
    assert found.estimates.tolist() == [2.0]


def test_an_arm_without_a_name_is_not_named() -> None:
    with pytest.raises(EstimateError) as caught:
        measure_sample(parse_attribute("variance(x)"), {"x": [1.0]})
    assert caught.value.arm is None
    assert "None" not in str(caught.value)


def test_nothing_of_the_callers_changes() -> None:
    x = np.random.default_rng(14).normal(size=30)
    sample, before = {"x": x}, x.copy()
    x.setflags(write=False)
    measured_once = measure_sample([parse_attribute(text) for text in X_ONLY], sample)
    np.testing.assert_array_equal(x, before)
    assert list(sample) == ["x"]
    assert measured_once.estimates[0] == pytest.approx(before.mean())


@pytest.mark.parametrize("text", X_ONLY)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_whole_arrays_measure_to_the_bit_what_the_rule_does(text: str, sign: float) -> None:
    attribute = parse_attribute(text)
    rng = np.random.default_rng(5)
    samples = [rng.normal(size=count) * 10.0**power for count, power in [(2, 0), (7, 3), (400, -4)]]
    samples += [np.round(rng.normal(size=count), 1) for count in (3, 20, 301)]
    samples += [np.array([1.0, 1.0, 2.0]), np.array([-0.0, 0.0, -0.0]), np.full(5, 0.1)]
    for values in samples:
        wanted, found = np.full(len(values), np.nan), np.full((len(values), 2), np.nan)[:, 0]
        given = (attribute.kind, attribute.level or 0.0, sign, values, np.sort(values))
        estimates = np.array([measure(*given, wanted), measure_whole(*given, found)])
        assert estimates[:1].tobytes() == estimates[1:].tobytes()
        assert wanted.tobytes() == found.tobytes()


def test_sums_of_cubes_are_those_of_deviations() -> None:
    """By hand: 1, 2 and 6 lie -2, -1 and 3 from their mean, and -8 - 1 + 27 = 18."""
    found = measure_sample(parse_attribute("mean(x)"), {"x": [1.0, 2.0, 6.0]})
    assert found.thirds.tolist() == pytest.approx([18.0])
