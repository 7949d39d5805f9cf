"""Families of random instances: reproducible, clear, and distributed as they say."""

import math
from typing import Any

import numpy as np
import pytest

from ringfence.core.arrays import Floats
from ringfence.core.errors import InputError
from ringfence.core.streams import family_stream
from ringfence.simulation.draws import BERNOULLI
from ringfence.simulation.families import FAMILIES, Family, find_family
from ringfence.simulation.instance import Instance
from ringfence.simulation.laws import GaussianLaw, MixedLaw

every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)

CONSTRAINTS = {
    "uniform": 1,
    "unequal": 1,
    "two-constraints": 2,
    "three-constraints": 3,
    "bernoulli": 1,
}
LEAST_CORRELATION = {"uniform": -0.8, "two-constraints": -0.4, "three-constraints": -0.3}
ARM_COUNTS = (2, 5, 12)
NUMBERS = range(24)


def drawn(family: Family) -> list[tuple[int, Instance]]:
    """Return instances of several sizes, each with its number."""
    return [
        (number, family.draw(number, arm_count=arm_count, seed=seed))
        for arm_count in ARM_COUNTS
        for seed in (0, 1)
        for number in NUMBERS
    ]


def content(instance: Instance) -> tuple[Any, ...]:
    law = instance.law
    return (
        instance.name,
        instance.arms,
        instance.means.tolist(),
        instance.problem.thresholds.tolist(),
        law.true_covariances.tolist(),
    )


# ------------------------------------------------------------------------------------- the names


def test_the_families_are_these() -> None:
    assert {family.name: family.constraint_count for family in FAMILIES} == CONSTRAINTS
    for family in FAMILIES:
        assert find_family(family.name) is family


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("unifrom", "uniform"), ("two-constraint", "two-constraints"), ("bernouli", "bernoulli")],
)
def test_an_unknown_family_is_answered_with_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(InputError) as info:
        find_family(name)
    message = str(info.value)
    assert f"family = {name!r} must be one of uniform, unequal, two-constraints" in message
    assert message.endswith(f"Did you mean {nearest!r}?")


def test_a_name_like_none_has_no_nearest() -> None:
    with pytest.raises(InputError, match=r"bernoulli\.$"):
        find_family("zzz")


# -------------------------------------------------------------------------------- reproducibility


@every_family
def test_an_instance_depends_on_its_seed_and_number_alone(family: Family) -> None:
    first = [content(instance) for _, instance in drawn(family)]
    backwards = [
        content(family.draw(number, arm_count=arm_count, seed=seed))
        for arm_count in reversed(ARM_COUNTS)
        for seed in (1, 0)
        for number in reversed(NUMBERS)
    ]
    assert backwards[::-1] == first
    means = [str(entry[2]) for entry in first]
    assert len(set(means)) == len(means)
    assert content(family.draw(3, arm_count=5)) == content(family.draw(3, arm_count=5, seed=0))


def test_families_share_no_numbers() -> None:
    means = [str(family.draw(0, arm_count=4).means[:, 0].tolist()) for family in FAMILIES]
    assert len(set(means)) == len(FAMILIES)


@pytest.mark.parametrize("arm_count", [-1, 0, 1])
def test_a_single_arm_is_no_choice(arm_count: int) -> None:
    with pytest.raises(InputError, match=rf"arms = {arm_count} must be at least 2"):
        find_family("uniform").draw(0, arm_count=arm_count)


# ------------------------------------------------------------------------------------- the arms


@every_family
def test_arms_and_names(family: Family) -> None:
    for arm_count in ARM_COUNTS:
        instance = family.draw(7, arm_count=arm_count)
        assert instance.name == f"{family.name}-{arm_count}-7"
        assert instance.arms == tuple(f"arm-{i}" for i in range(1, arm_count + 1))
        assert instance.means.shape == (arm_count, 1 + CONSTRAINTS[family.name])
        assert len(instance.problem.constraints) == CONSTRAINTS[family.name]


@every_family
def test_means_fill_the_unit_interval(family: Family) -> None:
    values = np.concatenate([instance.means.ravel() for _, instance in drawn(family)])
    assert 0.0 <= values.min() < 0.01
    assert 0.99 < values.max() <= 1.0


@every_family
def test_thresholds_take_turns(family: Family) -> None:
    """A mean is below with chance s^(1/m), all m constraints with chance s; the fourth, never."""
    m = CONSTRAINTS[family.name]
    never = -0.05 if family.name == "bernoulli" else -0.1
    for number, instance in drawn(family):
        expected = [0.5 ** (1 / m), 0.3 ** (1 / m), 0.8 ** (1 / m), never][number % 4]
        np.testing.assert_allclose(instance.problem.thresholds, [expected] * m, rtol=1e-15)
        if number % 4 == 3:
            assert not instance.hardness.feasible
            assert (instance.means[:, 1:] > instance.problem.thresholds).all()


# ----------------------------------------------------------------------------------- clear answers


def is_clear(means: Floats, thresholds: Floats) -> bool:
    """Tell whether the answer stays the same, whatever one arm's attributes do within 0.05.

    The right arm keeps 0.05 off every threshold. Another arm would be the right one if it were
    allowed and better by the objective, or, where none is allowed, closer.
    """
    excess = means[:, 1:] - thresholds
    worst = excess.max(axis=1)
    allowed = [i for i in range(len(means)) if worst[i] <= 0.0]
    if allowed:
        right = min(allowed, key=lambda i: float(means[i, 0]))
        needed = {
            i: max(float(means[i, 0] - means[right, 0]), float(worst[i]))
            for i in range(len(means))
            if i != right
        }
    else:
        right = int(np.argmin(worst))
        needed = {i: float(worst[i] - worst[right]) for i in range(len(means)) if i != right}
    return bool(np.abs(excess[right]).min() >= 0.05) and min(needed.values()) >= 0.05


@every_family
def test_answers_are_clear(family: Family) -> None:
    seen = {True: 0, False: 0}
    for _, instance in drawn(family):
        assert is_clear(instance.means, instance.problem.thresholds)
        assert len(instance.hardness.optimal_arms) == 1
        seen[instance.hardness.feasible] += 1
    assert min(seen.values()) > 20


@every_family
def test_an_instance_is_the_first_clear_draw(family: Family) -> None:
    """Noise is drawn first, then means until they are clear: nothing else selects instances."""
    redrawn = 0
    for arm_count in ARM_COUNTS:
        for number in NUMBERS:
            instance = family.draw(number, arm_count=arm_count, seed=5)
            stream = family_stream(5, family.name, arm_count, number)
            if family.name == "unequal":
                stream.random(3 * arm_count)
            elif family.name != "bernoulli":
                stream.random()
            shape = (arm_count, 1 + CONSTRAINTS[family.name])
            means = stream.random(shape)
            while not is_clear(means, instance.problem.thresholds):
                means = stream.random(shape)
                redrawn += 1
            np.testing.assert_array_equal(instance.means, means)
    assert redrawn > 20


# ---------------------------------------------------------------------------------------- the noise


@pytest.mark.parametrize("name", LEAST_CORRELATION)
def test_one_covariance_of_unit_variances(name: str) -> None:
    """The same for all arms, one correlation for all pairs, uniform on its range."""
    correlations: list[float] = []
    for _, instance in drawn(find_family(name)):
        assert isinstance(instance.law, GaussianLaw)
        covariance = instance.law.true_covariances[0]
        assert (instance.law.true_covariances == covariance).all()
        assert (np.diagonal(covariance) == 1.0).all()
        others = set(covariance[~np.eye(len(covariance), dtype=bool)].tolist())
        assert len(others) == 1
        correlations += others
        assert np.linalg.eigvalsh(covariance).min() > 0.0
    check_uniform(np.array(correlations), LEAST_CORRELATION[name], 0.8)


def test_own_covariances() -> None:
    """Deviations 2^u, u uniform on [-1, 1], two for each arm, and a correlation for each arm."""
    deviations, correlations = [], []
    for _, instance in drawn(find_family("unequal")):
        assert isinstance(instance.law, GaussianLaw)
        for covariance in instance.law.true_covariances:
            spread = np.sqrt(np.diagonal(covariance))
            deviations += spread.tolist()
            correlations.append(float(covariance[0, 1] / spread.prod()))
            assert covariance[0, 1] == covariance[1, 0]
    assert len(set(correlations)) == len(correlations)
    check_uniform(np.log2(deviations), -1.0, 1.0)
    check_uniform(np.array(correlations), -0.8, 0.8)


def test_bernoulli_arms() -> None:
    for _, instance in drawn(find_family("bernoulli")):
        assert isinstance(instance.law, MixedLaw)
        assert (instance.law.families == BERNOULLI).all()
        means = instance.means
        for i, covariance in enumerate(instance.law.true_covariances):
            np.testing.assert_allclose(covariance, np.diag(means[i] * (1.0 - means[i])))


def check_uniform(values: Floats, low: float, high: float) -> None:
    """Ask for the range, and for the mean within 4.89 standard errors (alpha = 1e-6)."""
    assert low <= values.min() < low + 0.1 * (high - low)
    assert high - 0.1 * (high - low) < values.max() <= high
    error = (high - low) / math.sqrt(12 * len(values))
    assert abs(values.mean() - (low + high) / 2) <= 4.892 * error
