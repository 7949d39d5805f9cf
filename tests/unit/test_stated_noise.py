"""Noise that a study states: what the rules then see, what is refused, and that it is kept."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import digamma, polygamma

from ringfence.core.arrays import Floats
from ringfence.core.errors import InputError
from ringfence.core.problem import Problem
from ringfence.core.stated import StatedNoise
from ringfence.interfaces.studies import Study
from ringfence.interfaces.study_file import read_study_file
from ringfence.reports.figures.evidence import evidence_rows
from ringfence.storage.memory import MemoryStorage
from ringfence.study.audit import audit
from ringfence.study.book import Book
from ringfence.study.facts import Definition, State

ARMS = {"plain": (0.5, 100.0), "warm": (0.7, 110.0), "slow": (0.9, 130.0)}
LIMIT = "mean(ms) <= 120"
COVARIANCE = [[0.04, 0.5], [0.5, 64.0]]
MIXED = Problem.parse(
    "maximize mean(x)", ["mean(y) <= 1", "std(y) <= 2", "share(x > 1) >= 0.2", "cvar(y, 0.8) <= 3"]
)
MEANS = (0, 1)  # of these attributes


def evaluate(arm: str, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    score, delay = ARMS[arm]
    return {"score": score + 0.2 * rng.normal(), "ms": delay + 8.0 * rng.normal()}


def make(name: str = "known", **changed: Any) -> Study:
    settings: dict[str, Any] = {
        "arms": list(ARMS), "objective": "maximize mean(score)", "constraints": [LIMIT],
        "budget": 60, "policy": "top-two", "storage": MemoryStorage(), "seed": 2,
    }  # fmt: skip
    return Study.create(name, **{**settings, **changed})


def told(values: list[float], **changed: Any) -> Study:
    """Return a study of one metric and one arm that was told these values."""
    study = make(
        "given", arms=["one"], objective="minimize mean(x)", policy="uniform", budget=len(values),
        **{"constraints": ["mean(x) <= 1"], **changed},
    )  # fmt: skip
    study.tell_many(study.ask(len(values)), {"x": values})
    return study


def book_of(samples: Floats, problem: Problem, noise: dict[str, Any]) -> Book:
    """Return a book of samples [arm, pull, metric]."""
    book = Book(
        problem, [f"arm{i}" for i in range(len(samples))], problem.metrics,
        noise=StatedNoise.read(noise, problem, arms=[f"arm{i}" for i in range(len(samples))]),
    )  # fmt: skip
    for arm, sample in enumerate(samples):
        book.add(arm, sample)
    return book


def seen(book: Book) -> tuple[Floats, Floats]:
    found = book.evidence(np.ones(len(book.counts), np.bool_), np.arange(len(book.counts)))
    return found.scales, found.covariances


# --------------------------------------------------------------------------------------
# What the rules see
# --------------------------------------------------------------------------------------

VALUES = [1.0, 3.0, 2.0, 4.0, 2.0, 3.0]  # mean 2.5
CONSTANTS: dict[str, tuple[dict[str, Any], str, float]] = {
    "sigma": ({"x": {"sigma": 2.0}}, "mean(x) <= 1", 0.5 / 4.0),
    "covariance": ({"covariance": [[9.0]]}, "mean(x) <= 1", 0.5 / 9.0),
    "bounds": ({"x": {"bounds": [0, 5]}}, "mean(x) <= 1", 2.0 / 25.0),
    "sigma and bounds": ({"x": {"sigma": 2.0, "bounds": [0, 5]}}, "mean(x) <= 1", 0.5 / 4.0),
    "a share": ({"x": {"bounds": [0, 5]}}, "share(x > 2) <= 0.25", 2.0),
    "a quantile": ({"x": {"bounds": [0, 5]}}, "p75(x) <= 2", 2.0),
    "a variance": ({"x": {"bounds": [0, 5]}}, "variance(x) <= 0.5", 2.0 / 625.0),
    "a deviation": ({"x": {"bounds": [0, 5]}}, "std(x) <= 0.5", 0.5 / 25.0),
    "a tail": ({"x": {"bounds": [0, 5]}}, "cvar(x, 0.5) <= 3", 2.0 * 0.25 / 25.0),
}


@pytest.mark.parametrize("case", CONSTANTS)
def test_margins_are_in_units_of_what_was_stated(case: str) -> None:
    noise, limit, constant = CONSTANTS[case]
    verdict, estimated = (
        told(VALUES, constraints=[limit], noise=one).recommend() for one in (noise, None)
    )
    margin = verdict.arms[0].margin
    assert margin is not None
    judged = Problem.parse("minimize mean(x)", limit).judged.constraints[0]
    estimates = {"share": 0.5, "mean": 2.5, "variance": 1.1, "std": math.sqrt(1.1), "cvar": 10 / 3}
    distance = estimates[judged.attribute.statistic] - judged.threshold
    assert margin == pytest.approx(math.sqrt(constant) * distance)
    assert margin != pytest.approx(estimated.arms[0].margin)


def test_intervals_and_confidence_rest_on_a_stated_sigma() -> None:
    verdict = told(VALUES, noise={"x": {"sigma": 20.0}}).recommend()
    estimate = verdict.arms[0].estimates["mean(x)"]
    assert estimate.high - estimate.value == pytest.approx(1.96 * 20.0 / math.sqrt(6), rel=1e-4)
    # 1.5 above the limit is 0.18 deviations of the mean: the flag is wrong in 43% of draws.
    assert verdict.chance_feasible == pytest.approx(0.4272, abs=0.02)
    assert told(VALUES).recommend().chance_feasible < 0.01


def test_what_is_stated_does_not_speak_of_other_attributes() -> None:
    """A sigma leaves the share and the deviation of the same metric as they were estimated."""
    rng = np.random.default_rng(3)
    samples = rng.normal(size=(2, 30, 2)) + 1.0
    plain_scales, plain = seen(book_of(samples, MIXED, {}))
    scales, found = seen(book_of(samples, MIXED, {"x": {"sigma": 5.0}}))
    assert scales[0] == pytest.approx(math.sqrt(0.5) / 5.0)
    assert scales[1:] == pytest.approx(plain_scales[1:], rel=0, abs=0)
    assert (found[:, 1:, 1:] == plain[:, 1:, 1:]).all()
    assert (found[:, 0, 0] == 25.0).all()


def test_a_sigma_may_be_an_arms_own() -> None:
    """It goes before that of all arms, and nothing else changes: not the unit of margins."""
    samples = np.random.default_rng(8).normal(size=(3, 20, 2))
    scales, plain = seen(book_of(samples, MIXED, {}))
    own = {"arms": {"arm1": {"y": {"sigma": 7.0}}}}
    again, found = seen(book_of(samples, MIXED, own))
    assert again == pytest.approx(scales, rel=0, abs=0)
    assert (found[[0, 2]] == plain[[0, 2]]).all()
    assert found[1, 1, 1] == 49.0
    np.testing.assert_allclose(correlations(found[1]), correlations(plain[1]), rtol=1e-12)
    scales, found = seen(book_of(samples, MIXED, {**own, "y": {"sigma": 3.0}}))
    assert found[:, 1, 1].tolist() == [9.0, 49.0, 9.0]
    assert scales[1] == pytest.approx(math.sqrt(0.5) / 3.0)


def test_a_sigma_of_an_arms_own_makes_its_interval() -> None:
    """Normal, of that width; the other arm's is Student's, from its own pulls."""
    given: dict[str, Any] = {"arms": ["one", "two"], "objective": "minimize mean(x)"}
    study = make(
        "given", **given, constraints=["mean(x) <= 9"], policy="uniform", budget=20,
        noise={"arms": {"one": {"x": {"sigma": 2.0}}}},
    )  # fmt: skip
    for pull in study.ask(20):
        study.tell(pull, {"x": 0.25 + pull.ordinal % 2})
    one, two = (arm.estimates["mean(x)"] for arm in study.recommend().arms)
    assert one.high - one.low == pytest.approx(2 * 1.959964 * 2.0 / math.sqrt(10.0), rel=1e-6)
    assert two.high - two.low < 1.0
    plain = {"arms": {"one": {"x": {"sigma": 2.0}}}}
    assert study.definition.noise == plain
    assert Study.load("given", storage=study.desk.storage).definition.noise == plain
    assert "x of one: sigma 2.0" in study.record()
    assert study.doctor().is_sound


def test_a_study_file_states_an_arms_own_noise(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(
        """
name = "own"
storage = "memory://"
objective = "minimize mean(x)"
constraints = ["mean(y) <= 1"]
arms = ["one", "two"]
budget = 40

[pull]
python = "nobody:evaluate"

[noise]
y = { sigma = 2.0 }

[noise.arms.two]
x = { sigma = 3.0 }
y = { sigma = 5.0 }
"""
    )
    stated = read_study_file(path).open().definition.noise
    assert stated["arms"] == {"two": {"x": {"sigma": 3.0}, "y": {"sigma": 5.0}}}
    assert stated["y"] == {"sigma": 2.0}


def test_a_metric_may_be_called_arms() -> None:
    problem = Problem.parse("minimize mean(arms)", "mean(x) <= 1")
    found = StatedNoise.read({"arms": {"sigma": 2.0}}, problem, arms=["one"])
    assert (dict(found.sigmas), dict(found.own)) == ({"arms": 2.0}, {})


def correlations(covariances: Floats) -> Floats:
    deviations = np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1))
    return np.asarray(covariances / (deviations[..., :, None] * deviations[..., None, :]))


@pytest.mark.parametrize("seed", range(12))
def test_stating_what_was_estimated_changes_nothing_but_its_doubt(seed: int) -> None:
    """Arms that differ in their means alone have one covariance, which can be stated.

    Variances that are estimated have room for what they may be, as far as pulls leave it open.
    """
    rng = np.random.default_rng(seed)
    deviations = rng.normal(size=(int(rng.integers(8, 40)), 2)) @ rng.normal(size=(2, 2))
    samples = deviations + 3.0 * rng.normal(size=(3, 1, 2))
    scales, covariances = seen(book_of(samples, MIXED, {}))
    block = np.cov(deviations.T)
    block[1, 0] = block[0, 1]
    freedom = len(deviations) - 1
    room = math.log(freedom / 2) - digamma(freedom / 2) + polygamma(1, freedom / 2 + 5.0) / 2.0
    for noise in (
        {"covariance": block.tolist()},
        {"x": {"sigma": math.sqrt(block[0, 0])}},
        {"x": {"sigma": math.sqrt(block[0, 0])}, "y": {"sigma": math.sqrt(block[1, 1])}},
    ):
        again, found = seen(book_of(samples, MIXED, noise))
        assert again == pytest.approx(scales, rel=1e-9)
        units = np.sqrt(covariances[0].diagonal())
        known = np.array([True, "y" in noise or "covariance" in noise])
        left = np.append(np.where(known, math.exp(-room / 2.0), 1.0), np.ones(3))
        assert np.abs(found - covariances * np.outer(left, left)).max(axis=0) == pytest.approx(
            np.zeros((5, 5)), abs=1e-6 * np.outer(units, units).max()
        )


@pytest.mark.parametrize("seed", range(12))
def test_a_stated_covariance_leaves_a_covariance(seed: int) -> None:
    """However it contradicts the pulls; other attributes keep their variances and correlations."""
    rng = np.random.default_rng(seed)
    samples = rng.normal(size=(3, 12, 1)) @ np.array([[1.0, 0.9]]) + 0.1 * rng.normal(
        size=(3, 12, 2)
    )
    if seed % 3 == 0:
        samples[:, :, seed % 2] = 0.25  # never varies
    _, plain = seen(book_of(samples, MIXED, {}))
    root = rng.normal(size=(2, 2)) * np.array([[1.0], [1e3]])
    stated = root @ root.T
    stated += 1e-3 * np.diag(stated.diagonal())
    stated[1, 0] = stated[0, 1]
    _, found = seen(book_of(samples, MIXED, {"covariance": stated.tolist()}))
    turned = stated * np.array([[1.0, -1.0], [-1.0, 1.0]])  # x is to be large
    assert (found[:, :2, :2] == turned).all()
    assert (found[:, 2:, 2:] == plain[:, 2:, 2:]).all()
    assert (found == found.transpose(0, 2, 1)).all()
    units = np.sqrt(np.diagonal(found, axis1=1, axis2=2))
    units = np.where(units > 0.0, units, 1.0)
    assert np.linalg.eigvalsh(found / (units[:, :, None] * units[:, None, :])).min() > -1e-9
    if seed % 3:
        assert np.abs(found[:, :2, 2:]).max() > 0.0, "what else was learned is not forgotten"


def test_a_stated_sigma_keeps_the_estimated_correlations() -> None:
    rng = np.random.default_rng(8)
    samples = rng.normal(size=(3, 20, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    _, plain = seen(book_of(samples, MIXED, {}))
    _, found = seen(book_of(samples, MIXED, {"x": {"sigma": 3.0}, "y": {"sigma": 0.1}}))
    assert correlations(found) == pytest.approx(correlations(plain))
    assert found[:, MEANS, MEANS] == pytest.approx(np.tile([9.0, 0.01], (3, 1)))


def test_a_metric_that_never_varied_is_exact_unless_its_sigma_is_stated() -> None:
    values = [0.5] * 6
    for noise in ({"exact": ["x"]}, {"x": {"bounds": [0, 1]}}):  # within which no limit is broken
        verdict = told(values, noise=noise).recommend()
        assert verdict.exact == ("mean(x)", "mean(x)")
        assert (verdict.confidence, verdict.doubts) == (1.0, ())
    doubted = told(values).recommend()
    assert (doubted.verdict, doubted.confidence) == ("too-close-to-call", 0.95)
    verdict = told(values, noise={"x": {"sigma": 1.0}}).recommend()
    assert verdict.exact == ()
    assert verdict.chance_feasible == pytest.approx(0.89, abs=0.02)  # P(Z < sqrt(6) / 2)


@pytest.mark.parametrize("limit", ["mean(x) <= 0", "share(x > 0.5) <= 0.01", "p95(x) <= 0.5"])
@pytest.mark.parametrize("policy", ["uniform", "top-two"])
def test_a_constant_of_zeros_and_ones_is_exact_where_that_is_stated(
    limit: str, policy: str
) -> None:
    """Six pulls of each arm, one of which needs a GPU; of what varies nothing is believed."""

    def verdict_on(values: Any, noise: Any) -> Any:
        study = make(
            arms=["a", "b"], objective="minimize mean(y)", constraints=[limit], noise=noise,
            budget=12, policy=policy, batch=4,
        )  # fmt: skip
        for place, pull in enumerate(study.pulls()):
            y = {"a": 9.0, "b": 1.0}[pull.arm] + place % 3
            study.tell(pull, {"x": values(pull.arm, place), "y": y})
        return study.recommend()

    constant = verdict_on(lambda arm, _: float(arm == "b"), {"exact": ["x"]})
    assert (constant.arm, constant.verdict, constant.confidence) == ("a", "feasible", 1.0)
    for arm in constant.arms:
        found = list(arm.estimates.values())[1]
        assert found.low == found.value == found.high
    assert verdict_on(lambda arm, _: float(arm == "b"), None).confidence < 1.0
    assert verdict_on(lambda _, place: float(place in (4, 5)), {"exact": ["x"]}).confidence < 0.9


@pytest.mark.parametrize(
    ("noise", "words"),
    [
        ({"exact": "x"}, "must be a list of metrics"),
        ({"exact": ["y"]}, "noise.exact names 'y', which is no metric of an expression: x"),
        ({"exact": {"x": 1}}, "must be a list of metrics"),
        ({"exact": [["x"]]}, "noise.exact names"),
        ({"exact": ["x"], "x": {"sigma": 1.0}}, "A constant has none"),
    ],
)
def test_what_is_no_constant_is_refused(noise: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        told([0.5] * 6, noise=noise)


def test_bounds_cap_a_variance_and_do_no_more() -> None:
    problem = Problem.parse("minimize mean(x)", "mean(x) <= 1")
    wide = np.array([[[0.0], [1.0]]])
    _, capped = seen(book_of(wide, problem, {"x": {"bounds": [0, 1]}}))
    assert capped[0, 0, 0] == 0.25, "two pulls at the ends have a variance of a half"
    narrow = np.array([[[0.4], [0.6]] * 5])
    _, plain = seen(book_of(narrow, problem, {}))
    _, found = seen(book_of(narrow, problem, {"x": {"bounds": [0, 1]}}))
    assert (found == plain).all()


def test_one_pull_is_enough_where_nothing_is_left_to_be_estimated() -> None:
    """As for a simulated policy that knows the noise."""
    given: dict[str, Any] = {"budget": 4, "policy": "constrained-sr"}
    with pytest.raises(InputError, match="budget = 4 is too small"):
        make(**given)
    with pytest.raises(InputError, match="budget = 4 is too small"):  # a correlation is estimated
        make(**given, noise={"score": {"sigma": 0.2}, "ms": {"sigma": 8.0}})
    study = make(**given, noise={"covariance": COVARIANCE})
    verdict = study.optimize(evaluate)
    assert verdict is not None
    assert verdict.arms[0].pulls == 1
    assert study.doctor().is_sound


# --------------------------------------------------------------------------------------
# What cannot be stated
# --------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no table": ({"noise": [1.0]}, r"noise = \[1.0\] must be a table of metrics"),
    "no metric": ({"noise": {"mss": {"sigma": 1}}}, "noise.mss is of no metric.*mean 'ms'"),
    "a number as a metric": ({"noise": {3: {"sigma": 1}}}, "noise.3 is of no metric"),
    "nobody's": (
        {"metrics": ["watts"], "noise": {"watts": {"sigma": 1}}},
        "noise.watts is of a metric that no expression uses.*Remove it",
    ),
    "a bare number": ({"noise": {"ms": 12.0}}, r"noise.ms = 12.0 must say sigma or bounds"),
    "nothing": ({"noise": {"ms": {}}}, r"noise.ms = \{\} must say sigma or bounds"),
    "no key": ({"noise": {"ms": {"sgima": 1}}}, r"'noise.ms.sgima'.*Did you mean 'sigma'"),
    **{
        f"sigma {value!r}": (
            {"noise": {"ms": {"sigma": value}}}, r"noise.ms.sigma = .* must be a positive number"
        )
        for value in (0, -1.0, math.nan, math.inf, "12", None, True, [1.0], 10**400, 1e-200)
    },
    "sigma without a mean": (
        {"constraints": ["p95(ms) <= 150"], "noise": {"ms": {"sigma": 8.0}}},
        r"noise.ms.sigma = 8.0 is of use for mean\(ms\) only, and the study has p95\(ms\)",
    ),
    **{
        f"bounds {value!r}": (
            {"noise": {"ms": {"bounds": value}}}, r"noise.ms.bounds = .* must be two finite numbers"
        )
        for value in (
            [1, 0], [1, 1], [0], [0, 1, 2], [0, math.inf], [-math.inf, 0], [math.nan, 1], "01", 5,
            ["0", "1"], None, [0, 1e300], {0: 1, 1: 2},
        )
    },
    "more than bounds allow": (
        {"noise": {"ms": {"sigma": 51.0, "bounds": [0, 100]}}}, "a deviation of 51 of 'ms' is more"
    ),
    "a covariance that bounds do not allow": (
        {"noise": {"ms": {"bounds": [0, 15]}, "covariance": COVARIANCE}}, "a deviation of 8 of 'ms'"
    ),
    "two variances": (
        {"noise": {"ms": {"sigma": 8.0}, "covariance": COVARIANCE}},
        "noise.ms.sigma = 8 and noise.covariance both say.*Remove one",
    ),
    **{
        f"covariance {value!r}": (
            {"noise": {"covariance": value}}, "must be 2 x 2: .* in the order score, ms"
        )
        for value in ([[1.0]], [[1.0, 0.0]], [[1.0, 0.0], [0.0]], 4.0, None, [1.0, 2.0], np.eye(3))
    },
    "a covariance of words": (
        {"noise": {"covariance": [["a", "b"], ["b", "a"]]}}, "must be finite"
    ),
    "a lopsided covariance": (
        {"noise": {"covariance": [[1.0, 0.1], [0.2, 1.0]]}}, "must be symmetric"
    ),
    "too much correlation": (
        {"noise": {"covariance": [[1.0, 2.0], [2.0, 1.0]]}}, "positive definite.*least eigenvalue"
    ),
    "a variance of zero": (
        {"noise": {"covariance": [[1.0, 0.0], [0.0, 0.0]]}}, "positive definite"
    ),
    "a tiny variance": (
        {"noise": {"covariance": [[1.0, 0.0], [0.0, 1e-300]]}}, "from 1e-60 to 1e.60.*units"
    ),
    "arms in a row": ({"noise": {"arms": [1.0]}}, r"noise.arms = \[1.0\] must be a table of arms"),
    "nobody's sigma": (
        {"noise": {"arms": {"warn": {"ms": {"sigma": 1.0}}}}},
        "noise.arms.warn is of no arm.*Did you mean 'warm'.*leave it out",
    ),
    "an arm's number": (
        {"noise": {"arms": {"warm": 3.0}}}, "noise.arms.warm = 3.0 must be a table of metrics"
    ),
    "an arm's lack of a metric": (
        {"noise": {"arms": {"warm": {"mss": {"sigma": 1.0}}}}},
        "noise.arms.warm.mss is of no metric.*mean 'ms'",
    ),
    "an arm's bounds": (
        {"noise": {"arms": {"warm": {"ms": {"bounds": [0, 1]}}}}},
        "noise.arms.warm.ms.bounds must be those of every arm.*noise.ms.bounds",
    ),
    "an arm's sigma of nothing": (
        {"noise": {"arms": {"warm": {"ms": {"sigma": 0}}}}},
        "noise.arms.warm.ms.sigma = 0 must be a positive number",
    ),
    "an arm's sigma beside a covariance": (
        {"noise": {"arms": {"warm": {"ms": {"sigma": 8.0}}}, "covariance": COVARIANCE}},
        "noise.arms.warm.ms.sigma = 8 and noise.covariance both say.*Remove one",
    ),
    "an arm's sigma that bounds do not allow": (
        {"noise": {"arms": {"warm": {"ms": {"sigma": 51.0}}}, "ms": {"bounds": [0, 100]}}},
        "a deviation of 51 of 'ms' is more",
    ),
    "an arm's sigma of a constant": (
        {"noise": {"arms": {"warm": {"ms": {"sigma": 5.0}}}, "exact": ["ms"]}},
        "noise.exact names 'ms', and noise states its deviation too",
    ),
    "a covariance without means": (
        {
            "objective": "maximize p50(score)", "constraints": ["p95(ms) <= 150"],
            "noise": {"covariance": COVARIANCE},
        },
        "is of means, and no expression has one",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_stated_is_refused_and_nothing_is_created(case: str) -> None:
    changes, message = REFUSED[case]
    storage = MemoryStorage()
    with pytest.raises(InputError, match=message):
        make(storage=storage, **changes)
    assert list(storage.names()) == []


# --------------------------------------------------------------------------------------
# Observations outside stated bounds
# --------------------------------------------------------------------------------------

OUT = {"score": 1.5, "ms": 90.0}
GOOD = {"score": 1.0, "ms": 90.0}
PAST = {"arm": ["warm", "slow"], "score": [0.5, 1.5], "ms": [90.0, 90.0]}
Act = Callable[[Study, list[Any]], object]
OUTSIDE: dict[str, tuple[Act, str]] = {
    "told": (lambda s, pulls: s.tell(pulls[0], OUT), "^metric 'score'"),
    "among others": (lambda s, pulls: s.tell_many(pulls, [GOOD, OUT]), "^row 1: metric 'score'"),
    "in columns": (
        lambda s, pulls: s.tell_many(pulls, {"score": [1.0, 1.5], "ms": [90.0, 90.0]}),
        "^row 1: metric 'score'",
    ),
    "brought along": (lambda s, _: s.bring(PAST, arm="arm", label="old"), "^row 1: metric 'score'"),
    "below": (lambda s, pulls: s.tell(pulls[0], {**GOOD, "score": -0.5}), "'score' = -0.5 lies"),
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_a_value_outside_its_bounds_is_refused_and_changes_nothing(case: str) -> None:
    act, message = OUTSIDE[case]
    study = make(noise={"score": {"bounds": [0, 1]}})
    pulls = study.ask(2)

    def state() -> object:
        with study.desk.storage.reading(study.name) as ledger:
            return ledger.head, ledger.pulls_between(1, 99), ledger.past(), ledger.rounds()

    before = state()
    with pytest.raises(InputError, match=message) as caught:
        act(study, pulls)
    assert "stated bounds [0, 1]" in str(caught.value)
    assert "tell it as failed" in str(caught.value)
    assert state() == before
    on_the_edge = [GOOD, {**GOOD, "score": 0.0}]
    assert study.tell_many(pulls, on_the_edge) == ["told", "told"], "and work goes on"


def test_an_evaluation_outside_its_bounds_has_failed() -> None:
    study = make(noise={"ms": {"bounds": [0, 200]}}, max_failures=2)

    def slow(arm: str, seed: int) -> dict[str, float]:
        found = evaluate(arm, seed)
        return {**found, "ms": 999.0} if arm == "plain" else found

    verdict = study.optimize(slow)
    assert verdict is not None
    assert verdict.arms[0].status == "withdrawn"
    with study.desk.storage.reading(study.name) as ledger:
        failed = [one for one in ledger.pulls_between(1, 99) if one.state == State.FAILED]
    assert "'ms' = 999 lies outside its stated bounds [0, 200]" in str(failed[0].error)
    assert study.doctor().is_sound


def test_an_audit_finds_a_value_that_no_tell_accepts() -> None:
    study = make(noise={"ms": {"bounds": [0, 200]}})
    pull = study.ask()[0]
    study.tell(pull, evaluate(pull.arm, pull.seed))
    with study.desk.storage.writing(study.name) as ledger:
        ledger.set_pulls([replace(ledger.pulls([1])[0], values=(0.5, 201.0))])
    assert any("no tell accepts" in one for one in study.doctor().problems)


# --------------------------------------------------------------------------------------
# A whole study, kept and read again
# --------------------------------------------------------------------------------------

STATED: dict[str, dict[str, Any]] = {
    "sigma": {"score": {"sigma": 0.2}},
    "bounds": {"ms": {"bounds": [0, 250]}, "score": {"bounds": (-1, 3)}},
    "covariance": {"covariance": np.array(COVARIANCE), "ms": {"bounds": [0.0, 250.0]}},
}
LIMITS: dict[str, dict[str, Any]] = {
    "a number": {"constraints": [LIMIT, "share(ms > 125) <= 0.2"]},
    "relative": {"constraints": ["mean(ms) <= 1.2 * baseline"], "baseline": "plain"},
}


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("case", STATED)
@pytest.mark.parametrize("policy", ["top-two", "constrained-sr"])
def test_a_study_with_stated_noise_is_sound_wherever_it_is_read(
    policy: str, case: str, limits: str
) -> None:
    """Decided again by the audit, read by its tally, asked what if."""
    storage = MemoryStorage()
    study = make(policy=policy, storage=storage, noise=STATED[case], **LIMITS[limits])
    verdict = study.optimize(evaluate)
    assert verdict is not None
    assert (verdict.arm, verdict.feasible) == ("warm", True)
    assert study.doctor().problems == ()
    again = Study.load("known", storage=storage)
    assert again.recommend() == verdict
    if limits == "a number":
        assert study.what_if(0, 90.0).feasible is False
    forgotten = replace(study.definition, noise={})
    other = replace(study.desk.plan, definition=forgotten)
    with storage.reading("known") as ledger:
        found = audit(other, ledger).problems
    assert any("decided again" in one for one in found), "without it, decisions are not repeated"


def test_the_record_says_what_was_stated() -> None:
    noise = {"covariance": COVARIANCE, "ms": {"bounds": [0, 250]}}
    study = make(policy="uniform", budget=12, noise=noise)
    study.optimize(evaluate)
    record = study.record()
    assert "ms: bounds [0.0, 250.0]" in record
    assert f"covariance of means: {COVARIANCE}" in record


def test_it_is_kept_in_one_form_and_must_be_the_same(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'b.db'}"
    make(storage=storage, noise={"ms": {"bounds": (0, 250), "sigma": np.float64(8.0)}})
    kept = Study.load("known", storage=storage).definition
    assert kept.noise == {"ms": {"sigma": 8.0, "bounds": [0.0, 250.0]}}
    assert Definition.from_dict(kept.to_dict()) == kept
    same = {"ms": {"sigma": 8, "bounds": [0, 250]}}
    make(storage=storage, noise=same, load_if_exists=True)
    for other in ({"ms": {"sigma": 8.0}}, None):
        with pytest.raises(InputError, match="exists with another noise"):
            make(storage=storage, noise=other, load_if_exists=True)


def test_a_definition_from_before_there_was_noise_has_none() -> None:
    plain = make().definition.to_dict()
    assert plain.pop("noise") == {}
    assert Definition.from_dict(plain).noise == {}


def test_a_study_file_states_it(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    text = (
        f'name = "s"\nobjective = "maximize mean(score)"\nconstraints = ["{LIMIT}"]\n'
        'budget = 100\narms = ["a", "b"]\n[noise]\nms = { sigma = 8, bounds = [0, 250] }\n'
    )
    path.write_text(text)
    found = read_study_file(path).open()
    assert found.definition.noise == {"ms": {"sigma": 8.0, "bounds": [0.0, 250.0]}}
    path.write_text(text.replace('"s"', '"t"').replace("\nms =", "\nm_s ="))
    with pytest.raises(InputError, match=r"s.toml: noise.m_s is of no metric.*Did you mean 'ms'"):
        read_study_file(path).open()
    assert not (tmp_path / "t.db").exists()


def test_a_metric_may_be_called_covariance() -> None:
    study = make(
        objective="maximize mean(covariance)", noise={"covariance": {"sigma": 2.0}}, budget=30
    )
    assert study.definition.noise == {"covariance": {"sigma": 2.0}}


def test_a_stated_scale_of_one_is_not_taken_for_an_exact_attribute() -> None:
    """1/(2 V) is 1 for a variance of a half; a scale of 1 else says that nothing varied."""
    study = make(noise={"covariance": [[0.5, 0.0], [0.0, 0.5]]}, policy="uniform", budget=30)
    verdict, rounds = study.optimize(evaluate), study.rounds()
    assert verdict is not None
    assert rounds[-1].seen["scales"] == [1.0, 1.0]
    rows = evidence_rows(study.desk.plan, verdict, rounds)
    gap = rounds[-1].seen["estimates"][1][0] - rounds[-1].seen["estimates"][0][0]
    against = next(row for row in rows if row["name"] == "plain")
    assert against["evidence"] == pytest.approx(10 * gap**2 / 2.0)  # n d^2 / (4 V)
