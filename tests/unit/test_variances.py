"""How much of the others' variances is in an arm's: special functions, limits, laws."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from ringfence.core.arrays import Floats, Integers
from ringfence.core.noise import fill_covariances, fill_pooled
from ringfence.core.variances import (
    BORROWED_PULLS,
    digamma,
    fill_shrunk_variances,
    freedoms,
    likeness,
    log_variances_of,
    no_log_variances,
    trigamma,
)
from ringfence.policies import top_two
from ringfence.simulation import reference
from ringfence.simulation.compilation import compile_kernel
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.families import find_family
from tests.laws.degenerate import evidence
from tests.oracle import course as oracle


def test_moments_of_a_log_gamma_are_scipys() -> None:
    shapes = np.concatenate([np.arange(1, 400) / 2.0, np.geomspace(0.01, 5e8, 400)])
    means = [digamma(float(shape)) for shape in shapes]
    variances = [trigamma(float(shape)) for shape in shapes]
    np.testing.assert_allclose(means, special.digamma(shapes), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(variances, special.polygamma(1, shapes), rtol=1e-12)


def scattered(variances: Floats, counts: Integers) -> Floats:
    """Return scatters of one attribute in which every arm looks just as it is."""
    return np.asarray(variances * np.maximum(counts - 1, 0))[:, None, None]


def shrunk_variances(scatters: Floats, counts: Integers) -> Floats:
    """Return the variances of one attribute, by arm."""
    found = np.zeros_like(scatters)
    fill_shrunk_variances(0, found, log_variances_of(scatters, counts))
    return found[:, 0, 0]


def test_arms_that_look_alike_borrow_all_and_arms_worlds_apart_nothing() -> None:
    counts = np.full(10, 10)
    for ratio, least, most in (
        (1.0, 10.0, 10.0),
        (1.2, 2.0, 8.0),
        (2.0, 0.1, 0.2),
        (10.0, 0.0, 0.02),
    ):
        deviations = ratio ** np.arange(10.0)
        scatters = scattered(deviations**2, counts)
        _, borrowed = likeness(0, log_variances_of(scatters, counts))
        assert least <= borrowed <= most


def test_the_freedom_of_a_variance_is_its_own_pulls_where_arms_differ() -> None:
    """And then the noise is ten pulls' own: the scale of Student's with nine degrees."""
    counts = np.full(10, 10)
    for deviations in (np.ones(10), 1e3 ** np.arange(10.0)):
        scatters = scattered(deviations**2, counts)
        freedom, parts = freedoms(scatters, counts)
        alike = deviations[-1] == 1.0
        expected = 9.0 + BORROWED_PULLS if alike else 9.0
        np.testing.assert_allclose(freedom, expected, rtol=2e-3)
        scales = parts[:, 0] * shrunk_variances(scatters, counts)
        np.testing.assert_allclose(scales, deviations**2, rtol=0.08 if alike else 0.02)


def test_the_others_lend_no_more_than_they_have() -> None:
    scatters, counts = scattered(np.array([1.0, 1.0, 0.0]), np.array([30, 4, 2])), [30, 4, 2]
    found, _ = freedoms(scatters, np.array(counts))
    assert found[:, 0].tolist() == [29.0 + 4.0, 3.0 + 10.0, 1.0 + 10.0]


def test_an_arm_that_varied_alone_has_nobody_to_borrow_from() -> None:
    counts = np.array([10, 10])
    scatters = scattered(np.array([4.0, 0.0]), counts)
    assert likeness(0, log_variances_of(scatters, counts))[1] == 0.0
    found, parts = freedoms(scatters, counts)
    assert found[:, 0].tolist() == [9.0, 9.0]
    own = shrunk_variances(scatters, counts)[0]
    assert parts[0, 0] * own == pytest.approx(4.0, rel=1e-12)


def test_heavy_tails_are_not_taken_for_arms_that_differ() -> None:
    """Log variances that scatter three times as much as normal ones do: arms still borrow all.

    And what is common lies above the mean of the logs, as the log of a mean does.
    """
    counts = np.full(8, 10)
    spread = (3.0 * special.polygamma(1, 4.5)) ** 0.5
    beyond = 2.0 / (3.0 * (1.6**2 - 1.0) * float(special.polygamma(1, 4.5)))
    for widen, expected in ((0.99, BORROWED_PULLS), (1.6, beyond)):
        logs = widen * spread * np.array([-1.0, 1.0] * 4) * (7.0 / 8.0) ** 0.5
        scatters = scattered(np.exp(logs), counts)
        centre, borrowed = likeness(0, log_variances_of(scatters, counts))
        assert borrowed == pytest.approx(expected, rel=1e-9)
        lift = 0.99**2 * 3.0 - 1.0 if widen < 1.0 else 2.0
        above = 0.5 * lift * float(special.polygamma(1, 4.5))
        assert centre == pytest.approx(above + np.log(4.5) - special.digamma(4.5), rel=1e-9)


@given(st.integers(0, 10**6), st.floats(1e-30, 1e30))
def test_units_do_not_matter(seed: int, unit: float) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 12, rng.integers(1, 6))
    variances = rng.exponential(size=len(counts)) * (rng.random(len(counts)) < 0.8)
    scatters = scattered(variances, counts)
    found = [likeness(0, log_variances_of(size * scatters, counts)) for size in (1.0, unit)]
    assert found[1][1] == pytest.approx(found[0][1], rel=1e-6)
    if variances[counts > 1].any():
        assert found[1][0] == pytest.approx(found[0][0] + np.log(unit), abs=1e-9)


def covariances_of(counts: Integers, scatters: Floats, estimates: Floats) -> Floats:
    size = scatters.shape[1]
    pooled, found = np.zeros((size, size)), np.full_like(scatters, np.nan)
    fill_pooled(pooled, scatters, counts)
    means, nothing = np.ones(size, np.bool_), no_log_variances(*scatters.shape[:2])
    fill_covariances(found, scatters, counts, pooled, estimates, means, nothing)
    return found


def test_whatever_the_evidence_covariances_are_some() -> None:
    """Finite, symmetric, positive semidefinite; compiled they are the same."""
    fast = compile_kernel(fill_covariances)
    for number in range(400):
        seen = evidence(3, number)
        with np.errstate(over="ignore"):
            scatters = seen.covariances * np.maximum(seen.counts - 1, 0)[:, None, None]
        if not np.isfinite(scatters).all() or np.abs(seen.estimates).max() > 1e150:
            continue
        found = covariances_of(seen.counts, scatters, seen.estimates)
        assert np.isfinite(found).all()
        np.testing.assert_array_equal(found, found.transpose(0, 2, 1))
        roots = np.sqrt(np.diagonal(found, axis1=1, axis2=2))
        units = np.where(roots > 0.0, roots, 1.0)
        correlations = found / units[:, :, None] / units[:, None, :]
        assert np.linalg.eigvalsh(correlations).min() > -1e-7
        pooled, again = np.zeros(found.shape[1:]), np.zeros_like(found)
        fill_pooled(pooled, scatters, seen.counts)
        everywhere = np.ones(found.shape[1], np.bool_)
        fast(
            again, scatters, seen.counts, pooled, seen.estimates, everywhere,
            no_log_variances(*scatters.shape[:2]),
        )  # fmt: skip
        np.testing.assert_allclose(
            again / units[:, :, None] / units[:, None, :], correlations, rtol=1e-9, atol=1e-9
        )


def check_kept(fill: Callable[..., None]) -> None:
    """Pull by pull, what is kept gives to the bit what all arms looked at anew give."""
    rng, borrowed = np.random.default_rng(0), set()
    for ratio in (1.0, 1.5, 10.0):
        pulls = [list(ratio**arm * rng.normal(size=(2, 2))) for arm in range(5)]
        kept = no_log_variances(5, 2)
        for _ in range(100):
            arm = int(rng.integers(5))
            pulls[arm].append(ratio**arm * rng.normal(size=2))
            counts = np.array([len(rows) for rows in pulls])
            scatters = np.array([np.cov(np.array(rows).T) * (len(rows) - 1) for rows in pulls])
            estimates = np.array([np.mean(rows, axis=0) for rows in pulls])
            found, pooled = np.zeros_like(scatters), np.zeros((2, 2))
            fill_pooled(pooled, scatters, counts)
            fill(found, scatters, counts, pooled, estimates, np.ones(2, np.bool_), kept)
            np.testing.assert_array_equal(found, covariances_of(counts, scatters, estimates))
            borrowed.add(float(kept.borrowed[0]))
    assert len(borrowed) > 100


def test_arms_that_were_not_pulled_since_need_no_new_look() -> None:
    check_kept(fill_covariances)


def noise_seen(run: Callable[..., object], make: Callable[..., Any]) -> list[Floats]:
    """Return the covariances by which every batch of three replications was decided."""
    seen: list[Floats] = []

    def choose(evidence: Any, uniforms: Floats, chosen: Integers, work: Any) -> None:
        seen.append(evidence.covariances.copy())
        chosen[:] = 0

    instance = find_family("uniform").draw(0, arm_count=4)
    policy = replace(top_two.POLICY, choose=choose)
    run(make(instance, policy, 42, scales="estimated"), 0, 0, 3)
    return seen


def check_forgotten(run: Callable[..., object], make: Callable[..., Any]) -> None:
    """Compare the body with its transcription where most arms get no more than their warm-up."""
    found, right = noise_seen(run, make), noise_seen(oracle.run_chunk, Experiment)
    assert len(found) == len(right) > 3
    np.testing.assert_allclose(found, right, rtol=1e-9)


def test_a_replication_knows_nothing_of_the_one_before() -> None:
    check_forgotten(reference.run_chunk, Experiment)
