"""Blocks and single pulls of every family follow their distributions.

The moments and distributions are exact, from textbooks and not from the code; every test is
two-sided at alpha = 1e-6 on a fixed seed. The last tests run the same checks on planted faults
and ask that they fail.
"""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import getsource
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ringfence.core.arrays import Floats
from ringfence.core.problem import Problem
from ringfence.simulation import draws
from ringfence.simulation.instance import Instance
from ringfence.simulation.laws import Law
from ringfence.simulation.tables import table_instance
from tests.faults.planting import Edit
from tests.statistical.checks import check_continuous, check_counts, check_moments
from tests.statistical.sampling import block_sums, law_with_fault, single_pulls

SIZE = 100_000
SINGLE = 20_000

# Oriented, the constraint on gain and the objective change their signs.
SIGNS = np.array([-1.0, 1.0, -1.0])
COVARIANCES = np.array(
    [
        [[1.0, 0.5, -0.6], [0.5, 1.0, 0.2], [-0.6, 0.2, 2.0]],
        [[4.0, -1.5, 0.5], [-1.5, 1.0, 0.1], [0.5, 0.1, 1.5]],
    ]
)
GAUSSIAN_MEANS = np.array([[0.3, -1.0, 2.0], [5.0, 0.0, -0.5]])


def gaussian_law() -> Law:
    """Return two correlated arms of their own covariance, with attributes that are turned."""
    instance = Instance.from_dict(
        {
            "objective": "maximize mean(a)",
            "constraints": ["mean(b) <= 1.0", "mean(c) >= 0.0"],
            "metrics": ["a", "b", "c"],
            "noise": {"family": "gaussian", "covariance": COVARIANCES[0].tolist()},
            "arms": {
                "one": {"mean": GAUSSIAN_MEANS[0].tolist()},
                "two": {
                    "mean": GAUSSIAN_MEANS[1].tolist(),
                    "covariance": COVARIANCES[1].tolist(),
                },
            },
        }
    )
    return instance.law


def count_law(family: str, means: list[list[float]]) -> Law:
    """Return arms whose two metrics are of one family, with the objective turned."""
    return Instance.from_dict(
        {
            "objective": "maximize mean(a)",
            "constraints": ["mean(b) <= 1.0"],
            "metrics": ["a", "b"],
            "noise": {"family": family},
            "arms": {f"arm{i}": {"mean": mean} for i, mean in enumerate(means)},
        }
    ).law


MIXED_COVARIANCE = np.array([[1.0, 0.7], [0.7, 2.0]])


def mixed_law() -> Law:
    """Return one arm with a metric of every family and two correlated gaussian ones.

    Attributes: -x (gaussian), y (gaussian), b, -p, e, and b once more, turned.
    """
    return Instance.from_dict(
        {
            "objective": "maximize mean(x)",
            "constraints": [
                "mean(y) <= 1", "mean(b) <= 0.5", "mean(p) >= 1", "mean(e) <= 2", "mean(b) >= 0.1",
            ],
            "metrics": ["b", "x", "p", "unused", "y", "e"],
            "noise": {
                "family": [
                    "bernoulli", "gaussian", "poisson", "gaussian", "gaussian", "exponential",
                ],
                "covariance": [[1.0, 0.1, 0.7], [0.1, 5.0, 0.2], [0.7, 0.2, 2.0]],
            },
            "arms": {"one": {"mean": [0.3, 1.0, 2.5, 9.0, -1.0, 0.4]}},
        }
    ).law  # fmt: skip


ROWS: dict[str, list[Any]] = {
    "arm": ["u", "v", "v", "u", "v", "v", "v"],
    "gain": [0.0, 1.0, 2.0, 9.0, 4.0, 8.0, 16.0],
    "cost": [7.0, 3.0, -1.0, 7.0, 5.0, 0.5, 2.0],
}
GAIN = np.array([1.0, 2.0, 4.0, 8.0, 16.0])  # of arm v
COST = np.array([3.0, -1.0, 5.0, 0.5, 2.0])


def table_law() -> Law:
    """Return a table of two arms; the second has five rows, no two alike."""
    problem = Problem.parse("maximize mean(gain)", ["mean(cost) <= 3"])
    return table_instance("rows", problem, ROWS, "arm").law


# ------------------------------------------------------------------------------- the checks


def turned(law: Any) -> "Turned":
    """Return the distribution of minus a variable."""
    return Turned(law)


@dataclass(frozen=True)
class Turned:
    """Minus a variable: all that `check_moments` asks of a distribution."""

    law: Any

    def mean(self) -> float:
        """Return the mean."""
        return -float(self.law.mean())

    def var(self) -> float:
        """Return the variance."""
        return float(self.law.var())

    def stats(self, moments: str) -> float:
        """Return the kurtosis."""
        assert moments == "k"
        return float(self.law.stats(moments="k"))


def check_gaussian(sums: Floats, arm: int, pulls: int) -> None:
    """Check Normal(n mu, n Sigma): moments, margins and a mixture of all attributes."""
    mean = pulls * SIGNS * GAUSSIAN_MEANS[arm]
    covariance = pulls * COVARIANCES[arm] * np.outer(SIGNS, SIGNS)
    marginals = [stats.norm(mean[c], np.sqrt(covariance[c, c])) for c in range(3)]
    check_moments(sums, marginals, covariance)
    for c, law in enumerate(marginals):
        check_continuous(sums[:, c], law)
    weights = np.array([1.0, -2.0, 0.5])
    spread = np.sqrt(weights @ covariance @ weights)
    check_continuous(sums @ weights, stats.norm(weights @ mean, spread))


def check_count_pair(sums: Floats, laws: list[Any]) -> None:
    """Check two independent counts, of which the first is turned."""
    covariance = np.diag([float(law.var()) for law in laws])
    check_moments(sums, [turned(laws[0]), laws[1]], covariance)
    check_counts(-sums[:, 0] + 0.0, laws[0])
    check_counts(sums[:, 1], laws[1])


def check_bernoulli(sums: Floats, means: list[float], pulls: int) -> None:
    """Check Binomial(n, p)."""
    check_count_pair(sums, [stats.binom(pulls, p) for p in means])


def check_poisson(sums: Floats, means: list[float], pulls: int) -> None:
    """Check Poisson(n mu)."""
    check_count_pair(sums, [stats.poisson(pulls * mean) for mean in means])


def check_exponential(sums: Floats, means: list[float], pulls: int) -> None:
    """Check Gamma(n, mu)."""
    laws = [stats.gamma(pulls, scale=mean) for mean in means]
    covariance = np.diag([float(law.var()) for law in laws])
    check_moments(sums, [turned(laws[0]), laws[1]], covariance)
    check_continuous(-sums[:, 0], laws[0])
    check_continuous(sums[:, 1], laws[1])


def check_mixed(sums: Floats, pulls: int) -> None:
    """Check every family side by side; metrics of different families are independent."""
    gaussians = [
        stats.norm(pulls * mean, np.sqrt(pulls * variance))
        for mean, variance in ((1.0, 1.0), (-1.0, 2.0))
    ]
    counts = [stats.binom(pulls, 0.3), stats.poisson(pulls * 2.5)]
    waiting = stats.gamma(pulls, scale=0.4)
    marginals = [turned(gaussians[0]), gaussians[1], counts[0], turned(counts[1]), waiting]
    covariance = np.diag([float(law.var()) for law in marginals])
    covariance[0, 1] = covariance[1, 0] = -pulls * MIXED_COVARIANCE[0, 1]
    check_moments(sums[:, :5], marginals, covariance)
    check_continuous(-sums[:, 0], gaussians[0])
    check_continuous(sums[:, 1], gaussians[1])
    check_counts(sums[:, 2], counts[0])
    check_counts(-sums[:, 3] + 0.0, counts[1])
    check_continuous(sums[:, 4], waiting)
    assert (sums[:, 5] == -sums[:, 2]).all(), "two attributes of one metric must agree"


def check_table(sums: Floats, pulls: int) -> None:
    """Check rows drawn with replacement: exact moments, rows kept whole, every row as often."""
    columns = np.array([-GAIN, COST])
    covariance = pulls * np.cov(columns, ddof=0)
    check_moments(sums, [RowSum(column, pulls) for column in columns], covariance)
    if pulls == 1:
        # Gains are powers of two, so each tells its row.
        found = np.log2(-sums[:, 0])
        check_counts(found, stats.randint(0, 5))
        assert (sums[:, 1] == COST[found.astype(int)]).all(), "a row must be drawn whole"


@dataclass(frozen=True)
class RowSum:
    """The sum of n values drawn with replacement."""

    column: Floats
    pulls: int

    def mean(self) -> float:
        """Return the mean."""
        return self.pulls * float(self.column.mean())

    def var(self) -> float:
        """Return the variance."""
        return self.pulls * float(self.column.var())

    def stats(self, moments: str) -> float:
        """Return the kurtosis of the sum: that of one value, divided by n."""
        assert moments == "k"
        return float(stats.kurtosis(self.column)) / self.pulls


# -------------------------------------------------------------------------------- the tests


@pytest.mark.parametrize("pulls", [1, 7, 1000])
@pytest.mark.parametrize("arm", [0, 1])
def test_gaussian_blocks(arm: int, pulls: int) -> None:
    """Catches a covariance that is ignored or another arm's, a sign lost, n^2 for n."""
    check_gaussian(block_sums(gaussian_law(), arm, pulls, size=SIZE), arm, pulls)


@pytest.mark.parametrize("arm", [0, 1])
def test_gaussian_pulls(arm: int) -> None:
    """Catches a factor that is transposed, a sign lost, another arm's mean."""
    check_gaussian(single_pulls(gaussian_law(), arm, size=SINGLE), arm, 1)


# Small and large n p, and p above one half: samplers switch their method there.
SHARES = [[0.02, 0.5], [0.9, 0.3]]


@pytest.mark.parametrize("pulls", [1, 10, 1000])
@pytest.mark.parametrize("arm", [0, 1])
def test_bernoulli_blocks(arm: int, pulls: int) -> None:
    """Catches n copies of one draw, p for 1 - p, metrics drawn with one number."""
    law = count_law("bernoulli", SHARES)
    check_bernoulli(block_sums(law, arm, pulls, size=SIZE), SHARES[arm], pulls)


@pytest.mark.parametrize("arm", [0, 1])
def test_bernoulli_pulls(arm: int) -> None:
    """Catches p for 1 - p and metrics drawn with one number."""
    check_bernoulli(single_pulls(count_law("bernoulli", SHARES), arm, size=SINGLE), SHARES[arm], 1)


# Below and above 10: samplers switch their method there.
COUNTS = [[0.05, 3.0], [12.5, 0.7]]


@pytest.mark.parametrize("pulls", [1, 12, 1000])
@pytest.mark.parametrize("arm", [0, 1])
def test_poisson_blocks(arm: int, pulls: int) -> None:
    """Catches n copies of one draw, and a normal in place of a count."""
    law = count_law("poisson", COUNTS)
    check_poisson(block_sums(law, arm, pulls, size=SIZE), COUNTS[arm], pulls)


@pytest.mark.parametrize("arm", [0, 1])
def test_poisson_pulls(arm: int) -> None:
    """Catches another arm's mean and another family."""
    check_poisson(single_pulls(count_law("poisson", COUNTS), arm, size=SINGLE), COUNTS[arm], 1)


WAITS = [[0.5, 3.0], [100.0, 1.0]]


@pytest.mark.parametrize("pulls", [1, 5, 400])
@pytest.mark.parametrize("arm", [0, 1])
def test_exponential_blocks(arm: int, pulls: int) -> None:
    """Catches a rate for a mean, n copies of one draw, a normal of the same moments."""
    law = count_law("exponential", WAITS)
    check_exponential(block_sums(law, arm, pulls, size=SIZE), WAITS[arm], pulls)


@pytest.mark.parametrize("arm", [0, 1])
def test_exponential_pulls(arm: int) -> None:
    """Catches a rate for a mean."""
    check_exponential(
        single_pulls(count_law("exponential", WAITS), arm, size=SINGLE), WAITS[arm], 1
    )


@pytest.mark.parametrize("pulls", [1, 20])
def test_mixed_blocks(pulls: int) -> None:
    """Catches metrics that are mixed up, an unused metric in the way, correlation lost."""
    check_mixed(block_sums(mixed_law(), 0, pulls, size=SIZE), pulls)


def test_mixed_pulls() -> None:
    """Catches metrics that are mixed up in the reference engine's pulls."""
    check_mixed(single_pulls(mixed_law(), 0, size=SINGLE), 1)


@pytest.mark.parametrize("pulls", [1, 12])
def test_table_blocks(pulls: int) -> None:
    """Catches a row that is never drawn, another arm's rows, attributes of different rows."""
    check_table(block_sums(table_law(), 1, pulls, size=SIZE), pulls)


def test_table_pulls() -> None:
    """Catches the same in the reference engine's pulls."""
    check_table(single_pulls(table_law(), 1, size=SINGLE), 1)


@pytest.mark.parametrize("pulls", [1, 5, 1000])
def test_certain_outcomes_are_certain(pulls: int) -> None:
    """Shares of 0 and 1 and a mean of 0 leave nothing to chance: catches a sampler's edge."""
    shares, counts = count_law("bernoulli", [[0.0, 1.0]]), count_law("poisson", [[0.0, 0.0]])
    assert (block_sums(shares, 0, pulls, size=1000) == [0.0, pulls]).all()
    assert (block_sums(counts, 0, pulls, size=1000) == 0.0).all()
    constant = table_law()
    assert (block_sums(constant, 0, pulls, size=1000)[:, 1] == 7.0 * pulls).all()
    if pulls == 1:
        assert (single_pulls(shares, 0, size=1000) == [0.0, 1.0]).all()
        assert (single_pulls(counts, 0, size=1000) == 0.0).all()


@pytest.mark.parametrize(("value", "rows"), [(0.1, 3), (0.7, 10), (1.1, 7), (3.0, 5)])
def test_a_column_that_never_varies_is_exact(value: float, rows: int) -> None:
    """Catches the rounding of a mean taken for noise: such an attribute has scale 1 and no error.

    The mean of equal numbers is that number, so a column on its threshold is feasible.
    """
    columns: dict[str, list[Any]] = {
        "arm": ["u"] * rows,
        "x": [float(i) for i in range(rows)],
        "y": [value] * rows,
    }
    problem = Problem.parse("minimize mean(x)", [f"mean(y) <= {value}"])
    instance = table_instance("constant", problem, columns, "arm")
    assert instance.scales[1] == 1.0
    assert instance.means[0, 1] == value
    assert instance.hardness.feasible


# ------------------------------------------------------------------------------ planted faults


@dataclass(frozen=True)
class Fault:
    """A fault in the laws, and the check that must notice it."""

    name: str
    law: Callable[[], Law]
    edit: tuple[str, str]
    check: Callable[[Law], None]


def bernoulli_law() -> Law:
    return count_law("bernoulli", SHARES)


def poisson_law() -> Law:
    return count_law("poisson", COUNTS)


def exponential_law() -> Law:
    return count_law("exponential", WAITS)


FAULTS = [
    Fault(
        "correlation ignored in blocks",
        gaussian_law,
        ("block[c, lane] += factor * noise[d, lane]",
         "block[c, lane] += factor * rng.standard_normal()"),
        lambda law: check_gaussian(block_sums(law, 0, 7, size=SIZE), 0, 7),
    ),
    Fault(
        "the first arm's covariance for all",
        gaussian_law,
        ("factor = root * arrays.factors[arm, c, d]", "factor = root * arrays.factors[0, c, d]"),
        lambda law: check_gaussian(block_sums(law, 1, 7, size=SIZE), 1, 7),
    ),
    Fault(
        "n^2 for n in gaussian blocks",
        gaussian_law,
        ("root = math.sqrt(pulls)", "root = float(pulls)"),
        lambda law: check_gaussian(block_sums(law, 0, 7, size=SIZE), 0, 7),
    ),
    Fault(
        "factor transposed in gaussian pulls",
        gaussian_law,
        ("self.means[arm] + self.factors[arm] @ normals",
         "self.means[arm] + self.factors[arm].T @ normals"),
        lambda law: check_gaussian(single_pulls(law, 0, size=SINGLE), 0, 1),
    ),
    Fault(
        "n copies of one bernoulli draw",
        bernoulli_law,
        ("float(rng.binomial(pulls, mean))", "float(pulls * rng.binomial(1, mean))"),
        lambda law: check_bernoulli(block_sums(law, 0, 10, size=SIZE), SHARES[0], 10),
    ),
    Fault(
        "1 - p in bernoulli pulls",
        bernoulli_law,
        ("rng.random() < mean", "rng.random() > mean"),
        lambda law: check_bernoulli(single_pulls(law, 0, size=SINGLE), SHARES[0], 1),
    ),
    Fault(
        "a rounded normal for a Poisson block",
        poisson_law,
        ("float(rng.poisson(mean))",
         "float(max(0, math.floor(mean + 0.5 + math.sqrt(mean) * rng.normal(0.0, 1.0))))"),
        lambda law: check_poisson(block_sums(law, 0, 12, size=SIZE), COUNTS[0], 12),
    ),
    Fault(
        "the first arm's mean in Poisson pulls",
        poisson_law,
        ("family, self.metric_means[arm, q])", "family, self.metric_means[0, q])"),
        lambda law: check_poisson(single_pulls(law, 1, size=SINGLE), COUNTS[1], 1),
    ),
    Fault(
        "a normal of the right moments for a gamma block",
        exponential_law,
        ("mean * rng.standard_gamma(float(pulls))",
         "mean * (pulls + math.sqrt(pulls) * rng.normal(0.0, 1.0))"),
        lambda law: check_exponential(block_sums(law, 0, 5, size=SIZE), WAITS[0], 5),
    ),
    Fault(
        "a rate for a mean in exponential pulls",
        exponential_law,
        ("mean * rng.standard_exponential()", "rng.standard_exponential() / mean"),
        lambda law: check_exponential(single_pulls(law, 0, size=SINGLE), WAITS[0], 1),
    ),
    Fault(
        "correlation ignored among mixed metrics",
        mixed_law,
        ("deviation += arrays.factors[arm, q, d] * noise[d, lane]",
         "deviation += arrays.factors[arm, q, d] * rng.standard_normal()"),
        lambda law: check_mixed(block_sums(law, 0, 20, size=SIZE), 20),
    ),
    Fault(
        "sign of a mixed attribute lost",
        mixed_law,
        ("self.signs * metrics[self.metric_of]", "metrics[self.metric_of]"),
        lambda law: check_mixed(single_pulls(law, 0, size=SINGLE), 1),
    ),
    Fault(
        "the last row is never drawn",
        table_law,
        ("start, stop = arrays.starts[arm], arrays.starts[arm + 1]",
         "start, stop = arrays.starts[arm], arrays.starts[arm + 1] - 1"),
        lambda law: check_table(block_sums(law, 1, 1, size=SIZE), 1),
    ),
    Fault(
        "one row repeated for a whole block",
        table_law,
        ("block[c, lane] += arrays.rows[row, c]", "block[c, lane] = pulls * arrays.rows[row, c]"),
        lambda law: check_table(block_sums(law, 1, 12, size=SIZE), 12),
    ),
    Fault(
        "attributes of different rows in table pulls",
        table_law,
        ("np.asarray(self.rows[row], dtype=np.float64)",
         "np.array([self.rows[row, 0], self.rows[rng.integers(2, 7), 1]])"),
        lambda law: check_table(single_pulls(law, 1, size=SINGLE), 1),
    ),
]  # fmt: skip


def home_of(snippet: str) -> str:
    """Return the room that holds a snippet: the laws, or what they draw with."""
    return "simulation.draws" if snippet in getsource(draws) else "simulation.laws"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_planted_faults_are_noticed(fault: Fault) -> None:
    """The law as it is passes the check; with the fault it fails."""
    law = fault.law()
    fault.check(law)
    faulty = law_with_fault(law, Edit(home_of(fault.edit[0]), *fault.edit))
    with pytest.raises(AssertionError):
        fault.check(faulty)
