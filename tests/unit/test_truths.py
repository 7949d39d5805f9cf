"""True attributes of instances: against textbooks, large samples, and plain NumPy on a table."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from ringfence.core.arrays import Floats
from ringfence.core.attributes import Attribute
from ringfence.core.expressions import parse_constraint, parse_objective
from ringfence.core.measurement import measure_sample
from ringfence.core.problem import Problem
from ringfence.simulation import tables, truths
from ringfence.simulation.draws import FAMILIES
from ringfence.simulation.instance import Instance
from tests.oracle import attributes as oracle
from tests.oracle import truths as textbook
from tests.statistical.checks import ALPHA, LIMIT

TrueAttributes = Callable[..., tuple[Floats, Floats]]
TableInstance = Callable[..., Instance]


def problem_of(texts: Sequence[str], *, turned: bool = False) -> Problem:
    """Return a problem whose attributes are these; the limits' thresholds do not matter."""
    direction, relation = ("maximize", ">=") if turned else ("minimize", "<=")
    limits = [f"{text} {relation} 0" for text in texts[1:]] or [f"mean(x) {relation} 0"]
    return Problem(
        parse_objective(f"{direction} {texts[0]}"), tuple(parse_constraint(text) for text in limits)
    )


def truth_of(
    true_attributes: TrueAttributes,
    family: str,
    mean: float,
    deviation: float,
    texts: Sequence[str],
    *,
    turned: bool = False,
) -> tuple[Floats, Floats]:
    """Return the true attributes of one metric, x."""
    factors = np.array([[deviation]]) if family == "gaussian" else np.zeros((1, 0))
    families = np.array([FAMILIES.index(family)])
    recipe = problem_of(texts, turned=turned).recipe
    return true_attributes(recipe, families, np.array([mean]), factors)


# ------------------------------------------------------------------------- against textbooks

METRICS = [
    ("gaussian", 0.0, 1.0),
    ("gaussian", -3.0, 0.25),
    ("gaussian", 100.0, 7.0),
    ("exponential", 1.0, 0.0),
    ("exponential", 0.02, 0.0),
    ("exponential", 300.0, 0.0),
    ("poisson", 0.4, 0.0),
    ("poisson", 7.3, 0.0),
    ("poisson", 150.0, 0.0),
    ("bernoulli", 0.3, 0.0),
    ("bernoulli", 0.02, 0.0),
    ("bernoulli", 0.9, 0.0),
]
every_metric = pytest.mark.parametrize(("family", "mean", "deviation"), METRICS)


def numbers_of(family: str, mean: float, deviation: float) -> tuple[float, ...]:
    return (mean, deviation) if family == "gaussian" else (mean,)


def check_forms(
    true_attributes: TrueAttributes, family: str, mean: float, deviation: float
) -> None:
    """Compare every attribute's value and variance with its closed form, in both directions."""
    forms = textbook.FORMS[family][0](*numbers_of(family, mean, deviation))
    values = [form.value for form in forms.values()]
    variances = [form.variance for form in forms.values()]
    for turned in (False, True):
        found, covariance = truth_of(
            true_attributes, family, mean, deviation, list(forms), turned=turned
        )
        turn = -1.0 if turned else 1.0
        for place, text in enumerate(forms):
            assert found[place] == pytest.approx(turn * values[place], rel=1e-9, abs=1e-12), text
            near = pytest.approx(variances[place], rel=1e-8, abs=1e-12)
            assert covariance[place, place] == near, text
        assert not np.signbit(found[found == 0.0]).any(), "a zero without a sign"


def check_pairs(
    true_attributes: TrueAttributes, family: str, mean: float, deviation: float
) -> None:
    """Compare covariances of two attributes of one metric with closed forms, all in one call."""
    pairs = textbook.FORMS[family][1](*numbers_of(family, mean, deviation))
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    found, covariance = truth_of(true_attributes, family, mean, deviation, texts)
    assert len(found) == len(texts)
    spread = np.sqrt(np.diagonal(covariance))
    for (one, other), answer in pairs.items():
        i, j = texts.index(one), texts.index(other)
        near = pytest.approx(answer, rel=1e-8, abs=1e-9 * spread[i] * spread[j])
        assert covariance[i, j] == near, (one, other)
        assert covariance[j, i] == covariance[i, j]


@every_metric
def test_values_and_variances_are_the_textbooks(family: str, mean: float, deviation: float) -> None:
    check_forms(truths.true_attributes, family, mean, deviation)


@every_metric
def test_covariances_on_one_metric_are_the_textbooks(
    family: str, mean: float, deviation: float
) -> None:
    check_pairs(truths.true_attributes, family, mean, deviation)


@pytest.mark.parametrize(("family", "mean"), [("bernoulli", 0.0), ("bernoulli", 1.0)])
def test_a_metric_that_never_varies_is_exact(family: str, mean: float) -> None:
    texts = ["mean(x)", "variance(x)", "std(x)", "p95(x)", "cvar(x, 0.9)", "lower_cvar(x, 0.1)"]
    found, covariance = truth_of(truths.true_attributes, family, mean, 0.0, texts)
    assert found.tolist() == [mean, 0.0, 0.0, mean, mean, mean]
    assert not covariance.any()


def test_no_counts_at_all_are_exact() -> None:
    texts = ["mean(x)", "variance(x)", "p95(x)", "cvar(x, 0.9)", "share(x > 0)", "share(x >= 0)"]
    found, covariance = truth_of(truths.true_attributes, "poisson", 0.0, 0.0, texts)
    assert found.tolist() == [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    assert not covariance.any()


@pytest.mark.parametrize(
    ("family", "mean", "text", "lower", "upper"),
    [
        ("bernoulli", 0.25, "quantile(x, 0.75)", 0.0, 1.0),
        ("bernoulli", 0.5, "p50(x)", 0.0, 1.0),
        ("bernoulli", 0.05, "p95(x)", 0.0, 1.0),
        ("bernoulli", 0.2, "p75(x)", 0.0, 0.0),
        ("bernoulli", 0.3, "p75(x)", 1.0, 1.0),
    ],
)
def test_a_quantile_between_two_values_is_the_one_that_errs_on_the_safe_side(
    family: str, mean: float, text: str, lower: float, upper: float
) -> None:
    """Where exactly the level lies below: the lower value to minimize, the upper to maximize."""
    found, _ = truth_of(truths.true_attributes, family, mean, 0.0, [text])
    assert found[0] == lower
    turned, _ = truth_of(truths.true_attributes, family, mean, 0.0, [text], turned=True)
    assert turned[0] == -upper


# A latency in microseconds, a date in seconds: the noise is that of the same metric at zero.
@pytest.mark.parametrize("offset", [1e3, 1e6, -1e9])
def test_an_offset_does_not_change_the_noise(offset: float) -> None:
    texts = ["mean(x)", "robust_mean(x)", "variance(x)", "std(x)", "p90(x)", "cvar(x, 0.9)"]
    texts += ["lower_cvar(x, 0.3)"]
    near, answer = truth_of(truths.true_attributes, "gaussian", 0.0, 1.5, texts)
    far, covariance = truth_of(truths.true_attributes, "gaussian", offset, 1.5, texts)
    shift = np.where(["variance" in text or "std" in text for text in texts], 0.0, offset)
    assert_allclose(far - shift, near, rtol=1e-6, atol=1e-6)
    assert_allclose(covariance, answer, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("level", [-40.0, -12.0, -10.0, -9.0, 9.0, 12.0, 40.0])
def test_a_share_that_is_next_to_certain_has_no_negative_variance(level: float) -> None:
    texts = [f"share(x > {level!r})", f"share(x <= {level!r})", "mean(x)"]
    found, covariance = truth_of(truths.true_attributes, "gaussian", 0.0, 1.0, texts)
    assert_allclose(found[:2], [level < 0.0, level > 0.0], atol=1e-15)
    assert (np.diagonal(covariance) >= 0.0).all()
    assert covariance[0, 0] < 1e-12


@pytest.mark.parametrize("mean", [1e4, 1e6])
def test_many_counts_are_nearly_normal(mean: float) -> None:
    texts = ["mean(x)", "variance(x)", "cvar(x, 0.9)", "lower_cvar(x, 0.2)"]
    counts, noise = truth_of(truths.true_attributes, "poisson", mean, 0.0, texts)
    normal, answer = truth_of(truths.true_attributes, "gaussian", mean, math.sqrt(mean), texts)
    deviation = math.sqrt(mean)
    assert_allclose((counts - normal)[[0, 2, 3]] / deviation, 0.0, atol=2.0 / deviation)
    assert_allclose(np.diagonal(noise) / np.diagonal(answer), 1.0, atol=20.0 / deviation)


# ------------------------------------------------------------------- two metrics, correlated

KINDS = (
    "mean({})",
    "robust_mean({})",
    "variance({})",
    "std({})",
    "share({} > 0.7)",
    "share({} <= -0.4)",
    "p90({})",
    "quantile({}, 0.3)",
    "cvar({}, 0.9)",
    "lower_cvar({}, 0.2)",
)
CORRELATED = [
    # means, deviations, correlation
    ((0.0, 0.0), (1.0, 1.0), 0.5),
    ((0.3, -0.5), (2.0, 0.5), -0.8),
    ((1.0, 0.2), (0.7, 3.0), 0.95),
    ((0.1, 0.1), (1.0, 1.0), 0.05),
]


def attributes_of(metric: str) -> list[str]:
    return [kind.format(metric) for kind in KINDS]


def factors_of(deviations: tuple[float, float], correlation: float) -> Floats:
    a, b = deviations
    both = correlation * a * b
    return np.linalg.cholesky(np.array([[a * a, both], [both, b * b]]))


def check_correlated(
    true_attributes: TrueAttributes,
    means: tuple[float, float],
    deviations: tuple[float, float],
    correlation: float,
) -> None:
    """Compare the covariances of every pair of kinds with Price's theorem."""
    texts = attributes_of("x"), attributes_of("y")
    recipe = problem_of([*texts[0], *texts[1]]).recipe
    _, covariance = true_attributes(
        recipe, np.zeros(2, np.int64), np.array(means), factors_of(deviations, correlation)
    )
    slopes = [
        [textbook.slope_of(text, mean, deviation) for text in listed]
        for listed, mean, deviation in zip(texts, means, deviations, strict=True)
    ]
    expected = [
        [textbook.covariance_of(one, other, correlation) for other in slopes[1]]
        for one in slopes[0]
    ]
    spread = np.sqrt(np.diagonal(covariance))
    assert (spread > 0.0).all()
    count = len(KINDS)
    scale = np.outer(spread[:count], spread[count:])
    assert_allclose(covariance[:count, count:] / scale, expected / scale, rtol=0, atol=1e-9)
    assert_allclose(covariance, covariance.T, rtol=0, atol=0)
    least = np.linalg.eigvalsh(covariance / np.outer(spread, spread))[0]
    assert least > -1e-9, "a covariance has no negative eigenvalue"


@pytest.mark.parametrize(("means", "deviations", "correlation"), CORRELATED)
def test_correlated_metrics_covary_as_price_says(
    means: tuple[float, float], deviations: tuple[float, float], correlation: float
) -> None:
    check_correlated(truths.true_attributes, means, deviations, correlation)


def test_price_knows_the_textbook() -> None:
    """Of one metric with itself, Price's integral to nearly 1 gives the variances again."""
    forms = textbook.normal_forms(0.5, 2.0)
    for text in ("mean(x)", "variance(x)", "std(x)", "cvar(x, 0.95)", "lower_cvar(x, 0.2)"):
        slope = textbook.slope_of(text, 0.5, 2.0)
        near = textbook.covariance_of(slope, slope, 1.0 - 1e-12)
        assert near == pytest.approx(forms[text].variance, rel=1e-4), text


def check_turned(true_attributes: TrueAttributes) -> None:
    """Compare attributes with some of them turned with what they are unturned."""
    texts = [*attributes_of("x"), *attributes_of("y")]
    plain, turned = problem_of(texts), problem_of(texts, turned=True)
    mixed = Problem.parse(
        f"maximize {texts[0]}",
        [f"{text} {'<=' if i % 3 else '>='} 0" for i, text in enumerate(texts[1:])],
    )
    given = np.zeros(2, np.int64), np.array([0.3, -0.5]), factors_of((2.0, 0.5), 0.6)
    values, covariance = true_attributes(plain.recipe, *given)
    for problem in (turned, mixed):
        signs = problem.signs
        found, noise = true_attributes(problem.recipe, *given)
        assert_allclose(found, signs * values, rtol=1e-12)
        assert_allclose(noise, np.outer(signs, signs) * covariance, rtol=1e-12, atol=1e-14)


def test_turning_an_attribute_turns_its_covariances() -> None:
    check_turned(truths.true_attributes)


def test_independent_metrics_do_not_covary() -> None:
    texts = ["mean(x)", "variance(y)", "cvar(z, 0.9)", "p90(w)", "share(y > 0)"]
    families = np.array([FAMILIES.index(name) for name in ("exponential", *["gaussian"] * 3)])
    factors = np.vstack([np.zeros(3), np.diag([1.0, 2.0, 3.0])])
    means = np.array([1.0, 0.5, 0.0, 2.0])
    _, covariance = truths.true_attributes(problem_of(texts).recipe, families, means, factors)
    apart = covariance.copy()
    apart[1, 4] = apart[4, 1] = 0.0
    assert np.count_nonzero(apart) == 5
    assert covariance[1, 4] == pytest.approx(-0.5 * textbook.density(0.5))


# ------------------------------------------------------------------ against simulated samples

MANY = 60_000
PARTS = 12


def density_error(attribute: Attribute) -> float:
    """Return the relative error of a density found from MANY pulls in Hall and Sheather's window.

    Its standard error, and a bias that is no larger.
    """
    if attribute.statistic != "quantile":
        return 0.0
    z, reach = stats.norm.ppf(attribute.level), stats.norm.ppf(0.975)
    window = (1.5 * stats.norm.pdf(z) ** 2 / (2.0 * z**2 + 1.0)) ** (1 / 3)
    window *= MANY ** (-1 / 3) * reach ** (2 / 3)
    return float(1.0 / math.sqrt(2.0 * MANY * window))


def drawn(family: str, mean: float, stream: np.random.Generator) -> Floats:
    if family == "exponential":
        return stream.exponential(mean, MANY)
    if family == "poisson":
        return stream.poisson(mean, MANY).astype(np.float64)
    return (stream.random(MANY) < mean).astype(np.float64)


def check_sample(
    values: Floats, covariance: Floats, texts: Sequence[str], sample: Mapping[str, Floats]
) -> None:
    """Compare the truth with a large sample's estimates and covariances.

    How much a covariance errs is seen between parts of the sample; that of a quantile also
    errs with its density.
    """
    attributes = problem_of(texts).attributes
    parts = [
        measure_sample(attributes, {key: part[k::PARTS] for key, part in sample.items()})
        for k in range(PARTS)
    ]
    estimates = np.mean([part.estimates for part in parts], axis=0)
    errors = np.sqrt(np.diagonal(covariance) / MANY)
    varies = errors > 0.0
    z = (estimates - values)[varies] / errors[varies]
    assert (np.abs(z) <= LIMIT).all(), dict(zip(np.array(texts)[varies], z.round(1), strict=True))
    covariances = np.array([part.covariance for part in parts])
    limit = float(stats.t.isf(ALPHA / 2, PARTS - 1))
    tolerance = limit * covariances.std(axis=0, ddof=1) / math.sqrt(PARTS)
    density = np.array([density_error(attribute) for attribute in attributes])
    scale = np.sqrt(np.outer(np.diagonal(covariance), np.diagonal(covariance)))
    tolerance += 1e-9 * scale
    tolerance += LIMIT * np.add.outer(density, density) * np.abs(covariance)
    off = np.abs(covariances.mean(axis=0) - covariance) > tolerance
    assert not off.any(), [(texts[i], texts[j]) for i, j in np.argwhere(off)]


def test_a_large_sample_of_correlated_metrics_shows_the_truth() -> None:
    texts = [*attributes_of("x"), *attributes_of("y")]
    factors = factors_of((2.0, 0.5), -0.6)
    means = np.array([0.3, -0.5])
    normals = np.random.default_rng(11).standard_normal((2, MANY))
    x, y = means[:, None] + factors @ normals
    truth = truths.true_attributes(problem_of(texts).recipe, np.zeros(2, np.int64), means, factors)
    check_sample(*truth, texts, {"x": x, "y": y})
    wrong = truths.true_attributes(
        problem_of(texts).recipe, np.zeros(2, np.int64), means, factors_of((2.0, 0.5), -0.5)
    )
    with pytest.raises(AssertionError):
        check_sample(*wrong, texts, {"x": x, "y": y})


@pytest.mark.parametrize(
    ("family", "mean"), [("exponential", 2.0), ("poisson", 3.3), ("bernoulli", 0.3)]
)
def test_a_large_sample_of_one_metric_shows_the_truth(family: str, mean: float) -> None:
    """Quantiles of counts have no density, and are left out there."""
    texts = [text for text in attributes_of("x") if family == "exponential" or text[0] not in "pq"]
    texts.remove("share(x <= -0.4)")
    truth = truth_of(truths.true_attributes, family, mean, 0.0, texts)
    check_sample(*truth, texts, {"x": drawn(family, mean, np.random.default_rng(12))})


# ----------------------------------------------------------------------------------- tables


def numpy_truth(text: str, rows: Floats, *, turned: bool) -> float:
    """Return an attribute of rows as a distribution: each as likely as any other."""
    attribute = problem_of([text]).objective.attribute
    listed = oracle.exact(rows.tolist())
    level = None if attribute.level is None else oracle.written(attribute.level)
    if attribute.statistic == "quantile":
        assert level is not None
        found = oracle.upper_quantile(listed, level) if turned else None
        return float(oracle.lower_quantile(listed, level) if found is None else found)
    if attribute.statistic == "cvar":
        assert level is not None
        return float(oracle.highest_by_counting(listed, 1 - level))
    if attribute.statistic == "lower_cvar":
        assert level is not None
        return -float(oracle.highest_by_counting([-row for row in listed], level))
    if attribute.statistic == "share":
        assert attribute.level is not None
        return float(np.mean(rows > attribute.level))
    plain: dict[str, Callable[[Floats], Any]] = {
        "mean": np.mean,
        "robust_mean": np.mean,
        "variance": np.var,
        "std": np.std,
    }
    return float(plain[attribute.statistic](rows))


TABLE_TEXTS = (
    "mean(x)",
    "robust_mean(x)",
    "variance(x)",
    "std(x)",
    "share(x > 3)",
    "p50(x)",
    "p95(x)",
    "quantile(x, 0.25)",
    "cvar(x, 0.9)",
    "cvar(x, 0.75)",
    "lower_cvar(x, 0.25)",
    "lower_cvar(x, 0.05)",
)


def table_of(arms: Mapping[str, Sequence[float]]) -> dict[str, list[Any]]:
    return {
        "arm": [arm for arm, rows in arms.items() for _ in rows],
        "x": [float(row) for rows in arms.values() for row in rows],
    }


def table_arms() -> dict[str, list[float]]:
    """Return arms of one row, of two, of ties, of spread values, and of many rows."""
    stream = np.random.default_rng(13)
    return {
        "one": [2.5],
        "two": [1.0, 4.0],
        "same": [3.0] * 7,
        "ties": [0.0, 1.0, 1.0, 1.0, 2.0, 3.0, 3.0, 8.0],
        "spread": np.round(stream.exponential(5.0, 41), 3).tolist(),
        "many": stream.normal(3.0, 2.0, 1500).tolist(),
    }


def check_table_values(table_instance: TableInstance) -> None:
    """Compare true attributes with plain NumPy on the rows, in both directions."""
    arms = table_arms()
    columns = table_of(arms)
    for text in TABLE_TEXTS:
        for turned in (False, True):
            # With a variance beside it no limit is judged as another: attributes stay as written.
            problem = Problem.parse(
                f"{'maximize' if turned else 'minimize'} {text}", ["variance(x) <= 1e9"]
            )
            found = table_instance("table", problem, columns, "arm").means[:, 0]
            turn = -1.0 if turned else 1.0
            expected = [
                turn * numpy_truth(text, np.array(rows), turned=turned) for rows in arms.values()
            ]
            assert_allclose(found, expected, rtol=1e-11, atol=1e-13, err_msg=f"{text} {turned}")


def check_table_noise(table_instance: TableInstance) -> None:
    """Compare the noise of moments with NumPy's, to the thousandth that the rows' number costs."""
    arms = table_arms()
    problem = problem_of(["mean(x)", "variance(x)", "std(x)", "share(x > 3)"])
    law = table_instance("table", problem, table_of(arms), "arm").law
    for place, values in enumerate(map(np.array, arms.values())):
        squares, deviation = (values - values.mean()) ** 2, max(values.std(), 1e-300)
        influences = [values, squares, squares / (2.0 * deviation), values > 3.0]
        expected = np.cov(influences, ddof=0) if len(values) > 1 else np.zeros((4, 4))
        assert_allclose(law.true_covariances[place], expected, rtol=1.1e-3, atol=1e-9)


def test_a_tables_truth_is_that_of_its_rows() -> None:
    check_table_values(tables.table_instance)


def test_a_tables_noise_is_that_of_its_rows() -> None:
    check_table_noise(tables.table_instance)


def frame_instance(
    rows: Sequence[tuple[str, float, float]], objective: str, *constraints: str
) -> Instance:
    frame = pd.DataFrame(rows, columns=["arm", "x", "y"])
    return Instance.from_frame(frame, arm="arm", objective=objective, constraints=constraints)


def test_rows_of_several_metrics_covary() -> None:
    stream = np.random.default_rng(14)
    x = stream.normal(size=60)
    y = 0.5 * x + stream.normal(size=60)
    law = frame_instance(
        [("a", float(u), float(v)) for u, v in zip(x, y, strict=True)],
        "maximize mean(x)",
        "std(y) <= 3",
    ).law
    expected = np.cov([-x, (y - y.mean()) ** 2 / (2.0 * y.std())], ddof=0)
    assert_allclose(law.true_covariances[0], expected, rtol=1.1e-3)


def test_columns_that_never_vary_lie_on_their_thresholds() -> None:
    """0.1, 0.3 and 0.7 are no binary fractions: a sum of them must not show."""
    rows = [("a", 0.1, 0.3)] * 3 + [("b", 0.1, 0.3)] * 7 + [("c", 0.7, 0.3)] * 11
    instance = frame_instance(
        rows,
        "minimize robust_mean(x)",
        "mean(y) <= 0.3", "mean(y) >= 0.3", "robust_mean(y) <= 0.3", "robust_mean(y) >= 0.3",
        "variance(y) <= 0", "std(y) <= 0", "cvar(y, 0.9) <= 0.3", "lower_cvar(y, 0.1) >= 0.3",
        "p95(y) <= 0.3", "p5(y) >= 0.3",
    )  # fmt: skip
    assert instance.means[:, 0].tolist() == [0.1, 0.1, 0.7]
    assert (instance.means[:, 1:] <= instance.judged.thresholds).all(), instance.means
    assert instance.hardness.feasible
    assert instance.hardness.optimal_arms == (0, 1)
    assert not instance.law.true_covariances.any()


SHUFFLED = [0.1, 0.2, 0.3, 0.7, 1e-3, 12.3, 1 / 3]


@pytest.mark.parametrize("text", [text for text in TABLE_TEXTS if "share" not in text])
def test_the_order_and_the_number_of_equal_rows_do_not_matter(text: str) -> None:
    """In another order, and each row repeated: it is the same distribution, up to rounding."""
    rows = [("a", x, 1.0) for x in SHUFFLED]
    rows += [("b", x, 1.0) for x in reversed(SHUFFLED)]
    rows += [("c", x, 1.0) for x in SHUFFLED * 2]
    rows += [("d", x, 1.0) for x in sorted(SHUFFLED * 300)]
    found = frame_instance(rows, f"minimize {text}", "std(y) <= 2").means[:, 0]
    assert_allclose(found, found[0], rtol=1e-13)


def test_one_row_is_all_there_is() -> None:
    instance = frame_instance(
        [("a", 2.0, 5.0), ("b", 1.0, 9.0)], "maximize p95(x)", "variance(y) <= 1", "std(y) <= 0"
    )
    assert instance.means.tolist() == [[-2.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]
    assert not instance.law.true_covariances.any()
    assert instance.scales.tolist() == [1.0, 1.0, 1.0]


def test_a_limit_on_a_quantile_of_a_table_is_a_share_of_its_rows() -> None:
    rows = [("a", float(k), float(k)) for k in range(20)]
    instance = frame_instance(rows, "minimize p50(x)", "p95(y) <= 18", "p10(y) >= 1")
    assert str(instance.problem.constraints[0]) == "p95(y) <= 18"
    assert [str(c) for c in instance.judged.constraints] == [
        "share(y > 18) <= 0.05",
        "share(y < 1) <= 0.1",
    ]
    assert instance.means.tolist() == [[9.0, 0.05, 0.05]]
    assert Fraction(instance.judged.thresholds[0]) == Fraction(0.05)
    assert instance.hardness.feasible
