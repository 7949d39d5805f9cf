"""Statistical comparisons, all two-sided at alpha = 1e-6: a correct program fails one in a million.

Each takes what was sampled and what must be true, and raises AssertionError when the sample speaks
against it, so that a planted fault can be run through the very same check.
"""

import math
from typing import Any

import numpy as np
from scipy import stats

from ringfence.core.arrays import Floats

ALPHA = 1e-6
LIMIT = float(stats.norm.isf(ALPHA / 2))  # 4.89 standard errors


def check_moments(sample: Floats, marginals: list[Any], covariance: Floats) -> None:
    """Compare mean, variance and covariance of rows with the exact ones, by z-tests.

    `marginals` are frozen scipy distributions. The standard errors are exact too: from the
    kurtosis for a variance; for a covariance those of Gaussian or of independent columns.
    """
    size = len(sample)
    means = np.array([float(law.mean()) for law in marginals])
    variances = np.diagonal(covariance)
    centred = sample - means
    for c, law in enumerate(marginals):
        kurtosis = float(law.stats(moments="k"))
        where = f"attribute {c} of {size} blocks"
        assert math.isclose(float(law.var()), variances[c], rel_tol=1e-9), "a check must be sound"
        _within(sample[:, c].mean(), means[c], math.sqrt(variances[c] / size), f"mean, {where}")
        error = variances[c] * math.sqrt((kurtosis + 2.0) / size)
        _within((centred[:, c] ** 2).mean(), variances[c], error, f"variance, {where}")
        for d in range(c):
            error = math.sqrt((variances[c] * variances[d] + covariance[c, d] ** 2) / size)
            found = (centred[:, c] * centred[:, d]).mean()
            _within(found, covariance[c, d], error, f"covariance with {d}, {where}")


def _within(found: float, answer: float, error: float, what: str) -> None:
    if error == 0.0:  # such as a fair coin's variance: (x - 1/2)^2 is 1/4 whatever falls
        assert found == answer, f"{what}: {found}, not {answer}, which is certain"
        return
    z = (found - answer) / error
    assert abs(z) <= LIMIT, f"{what}: {found}, not {answer} (z = {z:.1f})"


def check_continuous(values: Floats, law: Any) -> None:
    """Compare a sample with a continuous distribution, by Kolmogorov and Smirnov's test."""
    p = float(stats.kstest(values, law.cdf).pvalue)
    assert p >= ALPHA, f"{len(values)} values do not follow their distribution (p = {p:.1e})"


def check_counts(values: Floats, law: Any) -> None:
    """Compare a sample of counts with a discrete distribution, by a chi-square test.

    Counts are gathered from below into cells that expect at least 20. Too good a fit fails as well.
    """
    whole = values.astype(np.int64)
    assert (whole == values).all(), "counts must be whole numbers"
    size = len(values)
    low, high = (int(x) for x in law.support()[:2]) if np.isfinite(law.support()[1]) else (0, 0)
    high = high or max(int(law.ppf(1 - 1e-12)), int(whole.max()))
    assert low <= whole.min(), "a count below the support"
    assert whole.max() <= high, "a count above the support"
    probability = law.pmf(np.arange(low, high + 1))
    found, expected = [0.0], [0.0]
    for seen, mass in zip(
        np.bincount(whole - low, minlength=high - low + 1), size * probability, strict=True
    ):
        if expected[-1] >= 20.0:
            found.append(0.0)
            expected.append(0.0)
        found[-1] += seen
        expected[-1] += mass
    if expected[-1] < 20.0 and len(expected) > 1:
        tail_found, tail_expected = found.pop(), expected.pop()
        found[-1] += tail_found
        expected[-1] += tail_expected
    assert len(expected) > 1, "a chi-square test needs two cells"
    check_frequencies(np.array(found), np.array(expected))


def check_frequencies(found: Floats, expected: Floats) -> None:
    """Compare frequencies with their expectations, by a chi-square test."""
    statistic = float(((found - expected) ** 2 / expected).sum())
    freedom = len(expected) - 1
    p = float(stats.chi2.sf(statistic, freedom))
    assert ALPHA / 2 <= p <= 1 - ALPHA / 2, (
        f"frequencies {found} for {expected} (chi-square {statistic:.1f}, p = {p:.1e})"
    )


def check_rate(successes: int, trials: int, rate: float, what: str = "") -> None:
    """Compare a share with a known rate, by the exact binomial test."""
    law = stats.binom(trials, rate)
    p = 2 * min(float(law.cdf(successes)), float(law.sf(successes - 1)))
    assert p >= ALPHA, f"{what} {successes} of {trials}, not {rate:.6g} (p = {p:.1e})"


def check_same_rate(here: tuple[int, int], there: tuple[int, int], what: str = "") -> None:
    """Compare two shares (successes, trials), by Fisher's exact test of equal rates.

    It is the two-sample z-test, made exact, so that rare events need no excuse.
    """
    (a, n), (b, m) = here, there
    law = stats.hypergeom(n + m, a + b, n)
    p = 2 * min(float(law.cdf(a)), float(law.sf(a - 1)))
    assert p >= ALPHA, f"{what} {a}/{n} = {a / n:.5f} and {b}/{m} = {b / m:.5f} (p = {p:.1e})"


def check_same_mean(here: Floats, there: Floats, what: str = "") -> None:
    """Compare two samples' means, by Welch's t-test; samples that never vary must be equal."""
    if np.ptp(here) == 0.0 and np.ptp(there) == 0.0:
        assert here[0] == there[0], f"{what} always {here[0]} and always {there[0]}"
        return
    p = float(stats.ttest_ind(here, there, equal_var=False).pvalue)
    assert p >= ALPHA, f"{what} {here.mean():.5f} and {there.mean():.5f} (p = {p:.1e})"
