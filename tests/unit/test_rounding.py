"""What varies by rounding alone does not vary, and what varies by more is not lost: both sides.

In every way in which pulls become a variance: one by one and in blocks, of kept pulls, of moments
in simulation, of functions of one's own; and in studies, which went on for ever or not at all.
"""

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from ringfence.core.arrays import Floats
from ringfence.core.attributes import Own
from ringfence.core.errors import EstimateError, InputError
from ringfence.core.measurement import measure_sample
from ringfence.core.noise import Moments, add_pull, is_rounding, no_moments
from ringfence.core.problem import Problem
from ringfence.interfaces.studies import Study
from ringfence.policies.registry import POLICIES
from ringfence.simulation import records
from ringfence.study.book import Book
from tests.unit.test_study_audit import Facts

EPSILON = 2.0**-52
TENTHS = (0.1, 0.1, 0.1, 0.7, 0.2)
OWN: Mapping[str, Any] = {
    "middle": lambda x: float(np.mean(np.sort(x)[len(x) // 4 : 3 * len(x) // 4])),
    "stated": Own(lambda x: float(np.mean(x)), variance=lambda x: float(np.var(x))),
}
RUNNING = ("mean(x)", "variance(x)", "std(x)")
KEPT = ("p50(x)", "p95(x)", "cvar(x, 0.8)", "robust_mean(x)", "middle(x)", "stated(x)")


def sums_in_any_order(count: int, seed: int = 1, parts: tuple[float, ...] = TENTHS) -> Floats:
    """Return sums of the same numbers, that differ by rounding alone, and do differ."""
    stream = random.Random(seed)
    found = np.array([sum(stream.sample(parts, len(parts))) for _ in range(count)])
    assert np.ptp(found) > 0.0
    return found


def noise_of(
    text: str, samples: list[Floats], *, blocks: int = 3, judged: str = "variance(y) <= 1"
) -> tuple[Floats, Floats]:
    """Return estimates and variances by arm of one attribute, as a study finds them."""
    if text not in RUNNING:
        judged = "p90(y) <= 1"
    problem = Problem.parse(f"minimize {text}", judged, functions=OWN)
    book = Book(problem, [f"arm{i}" for i in range(len(samples))], ["x", "y"])
    for arm, values in enumerate(samples):
        spread = np.random.default_rng(arm).normal(size=len(values))
        for block in np.array_split(np.column_stack([values, spread]), blocks):
            book.add(arm, block)
    alive = np.ones(len(samples), np.bool_)
    evidence = book.plain_evidence(alive, np.arange(len(samples)))
    still = evidence.covariances[:, 0, 0] == 0.0
    assert not evidence.covariances[still, 0].any()
    assert not evidence.covariances[still, :, 0].any()
    assert (evidence.scales[0] == 1.0) == still.all()
    return evidence.estimates[:, 0], evidence.covariances[:, 0, 0]


# ------------------------------------------------------------------------------- from below


@pytest.mark.parametrize("text", RUNNING + KEPT)
@pytest.mark.parametrize("unit", [1.0, -1.0, 1e60, 1e-60, 200.0 / 3.0])
def test_sums_in_another_order_do_not_vary(text: str, unit: float) -> None:
    samples = [unit * sums_in_any_order(12, 1), unit * 3.0 * sums_in_any_order(30, 2)]
    estimates, variances = noise_of(text, samples)
    assert not variances.any()
    if text in ("variance(x)", "std(x)"):
        assert not estimates.any()
    else:
        means = [values.mean() for values in samples]
        np.testing.assert_allclose(estimates, means, rtol=1e-14)


@pytest.mark.parametrize("text", RUNNING + KEPT)
@pytest.mark.parametrize("value", [1.2, -1e60, 1e-60, 1.0 / 3.0])
def test_an_ulp_does_not_vary(text: str, value: float) -> None:
    one = np.array([value, np.nextafter(value, 1e300), value, value, np.nextafter(value, -1e300)])
    assert not noise_of(text, [np.tile(one, 4), np.tile(one, 2)])[1].any()


@pytest.mark.parametrize("text", RUNNING)
def test_blocks_and_their_order_do_not_matter(text: str) -> None:
    values = sums_in_any_order(4000, 3, tuple(np.random.default_rng(3).random(200).tolist()))
    for blocks in (1, 7, 4000):
        assert not noise_of(text, [values], blocks=blocks)[1].any()


# ------------------------------------------------------------------------------- from above


@pytest.mark.parametrize("text", RUNNING + KEPT)
@pytest.mark.parametrize(
    ("unit", "relative"), [(1.0, 1e-9), (1.0, 1e-12), (1e60, 1e-12), (1e-60, 1e-9)]
)
def test_a_real_variation_is_not_lost(text: str, unit: float, relative: float) -> None:
    deviations = np.random.default_rng(5).normal(size=(2, 40))
    samples = [unit * (1.0 + relative * one) for one in deviations]
    estimates, variances = noise_of(text, samples)
    assert (variances > 0.0).all()
    size = (unit * relative) ** 2 if text not in ("variance(x)", "std(x)") else 0.0
    if size > 0.0:
        assert ((variances > 0.2 * size) & (variances < 50.0 * size)).all()
    elif text == "variance(x)":
        np.testing.assert_allclose(estimates, (unit * relative) ** 2, rtol=0.7)


@pytest.mark.parametrize("text", ["mean(x)", "stated(x)"])
@pytest.mark.parametrize("count", [10, 1000, 100_000])
def test_a_single_pull_that_differs_is_not_lost(text: str, count: int) -> None:
    values = np.full(count, 7.0)
    values[count // 2] *= 1.0 + 1e-9
    assert noise_of(text, [values])[1][0] > 0.0


@pytest.mark.parametrize("text", ["share(x > 1.2)", "share(x <= 1.2)"])
def test_shares_vary_as_their_events_do(text: str) -> None:
    """However close to its level the values lie: the limit says what counts."""
    values = np.where(np.arange(30) % 3 == 0, 1.2, np.nextafter(1.2, 2.0))
    for judged in ("variance(y) <= 1", "p90(y) <= 1"):
        _, variances = noise_of(text, [values], judged=judged)
        assert variances[0] >= 2.0 / 9.0


def check_rounding(rule: Callable[[float, int, float], bool]) -> None:
    """Sixteen units in the last place, all in all, are rounding; a few more are not."""
    for size in (1.2, -1e60, 1e-60):
        for count in (2, 10**6):
            at = count * (16.0 * EPSILON * size) ** 2
            assert rule(at * 0.999, count, size)
            assert not rule(at * 1.001, count, size)
    assert rule(0.0, 5, 0.0)
    assert rule(4.9e-280, 5, 0.0)  # powers of what is smaller are no numbers
    assert not rule(5.1e-280, 5, 0.0)


def test_where_rounding_ends() -> None:
    check_rounding(is_rounding)


# ------------------------------------------------------------------------ where parts cancel


def test_halves_have_no_negative_noise_of_a_variance() -> None:
    """As many ones as zeros: the parts of a variance's noise cancel, but for rounding."""
    for low, high in ((0.0, 1.0), (0.1, 0.7), (-1e60, 1e60), (3.3, 3.4)):
        for count in (4, 10, 1000):
            values = np.where(np.arange(count) % 2 == 0, low, high)
            for text in ("variance(x)", "std(x)"):
                for judged in ("variance(y) <= 1", "p90(y) <= 1"):
                    _, variances = noise_of(text, [values], judged=judged)
                    assert variances.tolist() == [0.0], (low, high, count, text)


def test_other_parts_than_halves_have_noise() -> None:
    values = np.where(np.arange(1000) % 4 == 0, 0.1, 0.7)
    for text, right in (("variance(x)", 0.36**2 * 0.25 * 0.75 * 0.25), ("std(x)", None)):
        _, variances = noise_of(text, [values])
        assert variances[0] > 0.0
        if right is not None:
            assert variances[0] == pytest.approx(right, rel=0.01)


# ----------------------------------------------------------------- moments, in simulation


def test_moments_of_a_replication_drop_rounding_when_they_are_looked_at() -> None:
    moments: Moments = no_moments(2, 2)
    still, other = sums_in_any_order(50), np.random.default_rng(1).normal(size=50)
    for number in range(50):
        add_pull(moments, number, 1, np.array([still[number], other[number]]))
    before = moments.scatters[1, 1, 1]
    assert moments.scatters[1, 0, 0] > 0.0
    estimates = np.zeros((2, 2))
    records.look_at_moments(moments, 1, 50, estimates)
    assert not moments.scatters[1, 0].any()
    assert not moments.scatters[1, :, 0].any()
    assert moments.scatters[1, 1, 1] == before
    np.testing.assert_allclose(estimates[1], [1.2, other.mean()], rtol=1e-12)


def test_a_user_own_function_returns_what_has_powers() -> None:
    for own in (lambda x: 1e200, Own(lambda x: 1.0, variance=lambda x: 1e250)):
        problem = Problem.parse("minimize own(x)", "mean(x) <= 1", functions={"own": own})
        with pytest.raises(EstimateError, match="powers of larger numbers overflow"):
            measure_sample(problem.objective.attribute, {"x": [1.0, 2.0, 4.0]})


def test_a_baseline_counts_only_so_often() -> None:
    with pytest.raises(InputError, match=r"constraints\[0\].* at most 1e\+20 times"):
        Study.create(
            "s", arms=["a", "b"], objective="minimize mean(x)", budget=20, baseline="a",
            constraints="mean(x) <= 1e30 * baseline(mean(x))", storage="memory://",
        )  # fmt: skip


# ------------------------------------------------------------------------------- studies


def one_ulp(arm: str, seed: int) -> dict[str, float]:
    """Return sums of the same numbers, whatever is evaluated."""
    stream = random.Random(seed)
    return {
        "score": sum(stream.sample(TENTHS, 5)),
        "lat": sum(stream.sample([10.1, 20.2, 30.3, 3.3], 4)),
    }


def default_study(**changes: Any) -> Study:
    plain: dict[str, Any] = {
        "arms": ["a", "b", "c"],
        "objective": "maximize mean(score)",
        "constraints": "mean(lat) <= 200",
        "budget": 60,
        "batch": 4,
        "storage": "memory://",
    }
    return Study.create("s", **{**plain, **changes})


@pytest.mark.parametrize("policy", POLICIES, ids=lambda one: one.name)
@pytest.mark.parametrize(
    ("objective", "limit"),
    [
        ("maximize mean(score)", "mean(lat) <= 200"),
        ("minimize std(score)", "variance(lat) <= 1"),
        ("maximize p50(score)", "cvar(lat, 0.8) <= 200"),
    ],
)
def test_a_study_of_rounding_goes_on_to_its_end(policy: Any, objective: str, limit: str) -> None:
    for seed in range(3):
        study = default_study(
            policy=policy.name, answer=policy.questions[0].name, objective=objective,
            constraints=limit, seed=seed,
        )  # fmt: skip
        verdict = study.optimize(one_ulp)
        assert verdict is not None
        assert verdict.finished
        assert verdict.feasible
        assert study.doctor().problems == ()
        assert all(one.seen["scales"] == [1.0, 1.0] for one in study.rounds() if one.number)


def test_rounds_of_another_edition_of_the_noise_are_sound() -> None:
    """A version before this one took rounding for noise: the rest of what it saw is checked."""
    study = default_study(policy="constrained-sr", seed=3)
    study.optimize(one_ulp)
    facts = Facts.of(study)
    last = len(facts.rounds) - 1
    before = {key: value for key, value in facts.rounds[last].seen.items() if key != "noise"}
    noisy = facts.with_round(last, seen={**before, "scales": [3.6e15, 4.4e13]})
    assert noisy.problems() == ()
    (note,) = noisy.notes()
    assert note.startswith(f"round {last} went by another edition of the noise than this version")
    other = np.array(before["estimates"]) + 1e-3
    wrong = facts.with_round(last, seen={**before, "estimates": other.tolist()})
    assert wrong.problems() == (f"round {last}: decided again, it has another seen",)
    counts = [count + 1 for count in before["counts"]]
    wrong = facts.with_round(last, seen={**before, "counts": counts})
    assert wrong.problems() == (f"round {last}: decided again, it has another seen",)


def test_scales_of_this_edition_are_checked() -> None:
    study = default_study(policy="constrained-sr", seed=3)
    study.optimize(one_ulp)
    facts = Facts.of(study)
    last = len(facts.rounds) - 1
    found = facts.with_round(last, seen={**facts.rounds[last].seen, "scales": [9.9, 1.0]})
    assert found.problems() == (f"round {last}: decided again, it has another seen",)


def test_limits_that_no_value_reaches() -> None:
    for limit, feasible in (("mean(lat) <= 1e300", True), ("mean(lat) >= 1e300", False)):
        verdict = default_study(constraints=limit, seed=1).optimize(one_ulp)
        assert verdict is not None
        assert verdict.feasible == feasible
        assert all(arm.margin is None or math.isfinite(arm.margin) for arm in verdict.arms)
