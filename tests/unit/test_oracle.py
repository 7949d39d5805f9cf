"""The oracle's rate and allocation: by hand, by another optimizer, and by drawing errors."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog

from ringfence.core.all_feasible import ALL_FEASIBLE
from ringfence.core.arrays import Floats
from ringfence.core.baseline import Versus
from ringfence.core.cost import cost_work
from ringfence.core.hardness import hardness
from ringfence.core.oracle import Oracle, Truth, oracle, static_rate
from ringfence.core.question import Question
from ringfence.core.questions import QUESTIONS
from ringfence.core.threats import least_cost, make_threats
from ringfence.simulation.instance import Instance
from tests.oracle import least_moves
from tests.oracle.least_moves import Change, Study
from tests.statistical.checks import ALPHA


def truth_of(
    means: object, thresholds: object, covariances: object, scales: object = None
) -> Truth:
    values, limits = np.array(means, dtype=np.float64), np.array(thresholds, dtype=np.float64)
    noise = np.array(covariances, dtype=np.float64)
    if noise.ndim == 2:
        noise = np.repeat(noise[None], len(values), axis=0)
    units = np.ones(values.shape[1]) if scales is None else np.array(scales, dtype=np.float64)
    return Truth(hardness(values, units, limits), values, noise, units, limits)


def solved(truth: Truth) -> tuple[float, Floats]:
    """Return the rate and an allocation, which there must be."""
    found = oracle(truth)
    assert found is not None
    assert found.allocation is not None
    assert math.isclose(float(found.allocation.sum()), 1.0, rel_tol=1e-12)
    assert (found.allocation > 0.0).all()
    return found.rate, found.allocation


# -------------------------------------------------------------------------- the paper's instances


@pytest.mark.parametrize(
    ("name", "rate", "allocation", "uniform_rate"),
    [
        ("paper-1", 1.250e-3, [0.9998, 0.0002, 0.0000], 4.17e-4),
        ("paper-2", 1.25e-5, [1.000, 0.000, 0.000], 4.17e-6),
        ("paper-3", 3.083e-4, [0.496, 0.490, 0.007, 0.007], 1.56e-4),
        ("paper-4", 1.229e-3, [0.010, 0.007, 0.493, 0.490], 6.25e-4),
    ],
)
def test_the_papers_instances(
    name: str, rate: float, allocation: list[float], uniform_rate: float
) -> None:
    """The values that prototypes gave, to a relative 1e-4 in the rate.

    The best rate is a flat maximum: an allocation so close to it may be off by sqrt(1e-4) of a
    share, 0.005 for two arms of one half.
    """
    instance = Instance.load(name)
    found, weights = solved(instance.truth)
    assert instance.oracle is not None
    assert instance.oracle.rate == found
    np.testing.assert_array_equal(instance.oracle.allocation, weights)
    assert found == pytest.approx(rate, rel=5e-4)
    np.testing.assert_allclose(weights, allocation, atol=5e-3)
    arm_count = len(allocation)
    uniform = np.full(arm_count, 1.0 / arm_count)
    assert static_rate(instance.truth, uniform) == pytest.approx(uniform_rate, rel=4e-3)


def test_the_papers_instances_by_hand() -> None:
    """At equal shares: 0.05^2/2 and 0.005^2/2 over 3 arms; a pair's 0.05^2/4 and 0.1^2/4 over 4."""
    expected = {"paper-1": 0.05**2 / 6, "paper-2": 0.005**2 / 6}
    expected |= {"paper-3": 0.05**2 / 16, "paper-4": 0.1**2 / 16}
    for name, rate in expected.items():
        truth = Instance.load(name).truth
        arm_count = len(truth.means)
        found = static_rate(truth, np.full(arm_count, 1.0 / arm_count))
        assert found == pytest.approx(rate, rel=1e-9)


# --------------------------------------------------------------------------------------- by hand


def test_two_feasible_arms_by_hand() -> None:
    """The pair alone matters: 1/(2 (s1^2/w1 + s2^2/w2)), largest at w ~ s: 1/(2 (s1 + s2)^2)."""
    noise = [np.diag([4.0, 1.0]), np.diag([9.0, 1.0])]
    rate, weights = solved(truth_of([[0, -9], [1, -9]], [0], noise))
    assert rate == pytest.approx(1 / 50, rel=1e-9)
    np.testing.assert_allclose(weights, [0.4, 0.6], rtol=1e-5)


def test_the_best_arms_own_feasibility_by_hand() -> None:
    """Equal costs w1 0.1^2/2 and 1/(2 (1/w1 + 1/w2)): w2/(w1 + w2) = 0.01."""
    rate, weights = solved(truth_of([[0, -0.1], [1, -9]], [0], np.eye(2)))
    np.testing.assert_allclose(weights, [0.99, 0.01], rtol=1e-9)
    assert rate == pytest.approx(0.99 * 0.005, rel=1e-9)


def test_two_infeasible_arms_by_hand() -> None:
    """Margins 1 and 4: w1/2 and 9/(2 (1/w1 + 1/w2)), equal where w2/(w1 + w2) = 1/9."""
    rate, weights = solved(truth_of([[0, 1], [0, 4]], [0], np.eye(2)))
    np.testing.assert_allclose(weights, [8 / 9, 1 / 9], rtol=1e-9)
    assert rate == pytest.approx(4 / 9, rel=1e-9)


@pytest.mark.parametrize(("constraint", "rate"), [(-0.5, 0.0625), (0.5, 0.0625)])
def test_a_single_arm(constraint: float, rate: float) -> None:
    """Only its flag can be wrong: 0.5^2/(2 * 2)."""
    truth = truth_of([[3, constraint]], [0], np.diag([1.0, 2.0]))
    found, weights = solved(truth)
    assert found == pytest.approx(rate, rel=1e-12)
    assert weights.tolist() == [1.0]
    assert static_rate(truth, np.ones(1)) == pytest.approx(rate, rel=1e-12)


# ----------------------------------------------------------------------------------------- edges


@pytest.mark.parametrize(
    "means", [[[0, -1], [0, -2], [1, -1]], [[0, 1], [5, 1], [1, 2]]], ids=["feasible", "infeasible"]
)
def test_several_right_answers_have_no_oracle(means: object) -> None:
    truth = truth_of(means, [0], np.eye(2))
    assert len(truth.theory.optimal_arms) == 2
    assert oracle(truth) is None
    assert static_rate(truth, np.full(3, 1 / 3)) == 0.0


def test_a_best_arm_on_its_threshold_has_no_rate() -> None:
    for thresholds, means in (([0], [[0, 0], [1, -1]]), ([0, 0], [[0, -1, 0], [1, -1, -1]])):
        truth = truth_of(means, thresholds, np.eye(len(thresholds) + 1))
        assert truth.theory.feasible
        assert oracle(truth) == Oracle(0.0, None)
        assert static_rate(truth, np.array([0.5, 0.5])) == 0.0


def test_an_arm_without_pulls_has_no_rate() -> None:
    truth = Instance.load("paper-3").truth
    assert static_rate(truth, np.array([0.5, 0.5, 0.0, 0.0])) == 0.0
    assert static_rate(truth, np.array([0.0, 0.5, 0.25, 0.25])) == 0.0
    assert static_rate(truth, np.array([0.5, 0.5, 0.0, 0.0]), [0, 1]) > 0.0
    assert static_rate(truth, np.array([0.5, 0.5, 0.0, 0.0]), [1]) == 0.0


def test_what_is_known_exactly_needs_no_pulls() -> None:
    unit, exact = np.eye(2), np.diag([1.0, 0.0])
    rate, weights = solved(truth_of([[0, -0.5], [1, -9]], [0], unit))
    # A deceiver whose violation is certain: as if it were not there.
    found, shares = solved(truth_of([[0, -0.5], [1, -9], [-1, 2]], [0], [unit, unit, exact]))
    assert found == pytest.approx(rate, rel=1e-9)
    np.testing.assert_allclose(shares, [*weights, 0.0], atol=1e-9)
    # A best arm that is certain in everything: the other one's objective, 1/2, is all there is.
    found, shares = solved(truth_of([[0, -0.5], [1, -9]], [0], [np.zeros((2, 2)), unit]))
    assert found == pytest.approx(0.5, rel=1e-9)
    np.testing.assert_allclose(shares, [0.0, 1.0], atol=1e-9)
    # Certainly on its threshold, it is certainly feasible; the pair's 1/(2 (2 + 2)) remains.
    found, shares = solved(truth_of([[0, 0], [1, -9]], [0], [exact, unit]))
    assert found == pytest.approx(1 / 8, rel=1e-9)


# ------------------------------------------------------------------- against another optimizer


def random_truths(seed: int, size: int) -> Iterator[Truth]:
    """Yield instances of 2 to 5 arms, 1 to 3 constraints, feasible or not, with unequal noise.

    No right answer is a matter of taste: every gap is at least 0.05.
    """
    stream = np.random.default_rng(seed)
    found = 0
    while found < size:
        m, arm_count = 1 + found % 3, int(stream.integers(2, 6))
        means = stream.normal(scale=0.7, size=(arm_count, 1 + m))
        if found % 2 == 0:
            means[np.arange(arm_count), stream.integers(1, 1 + m, arm_count)] = stream.uniform(
                0.1, 2.0, arm_count
            )
        mixtures = stream.normal(size=(arm_count, 1 + m, 3 + m))
        mixtures *= 2.0 ** stream.uniform(-1.0, 1.0, (arm_count, 1 + m, 1))
        covariances = mixtures @ mixtures.transpose(0, 2, 1) / (3 + m)
        truth = truth_of(means, np.zeros(m), covariances, stream.uniform(0.5, 1.5, 1 + m))
        if truth.theory.feasible == (found % 2 == 0):
            continue
        gaps = [arm.Delta for arm in truth.theory.arms if arm.Delta is not None]
        if min(gaps) >= 0.05 and np.abs(means[truth.theory.optimal, 1:]).min() >= 0.05:
            found += 1
            yield truth


def modes(truth: Truth, w: Floats) -> list[tuple[float, Floats]]:
    """Return every way to err at an allocation: its cost and the cost's slopes in the shares."""
    best = truth.theory.optimal
    found = []

    def add(changes: list[Change], arm: int) -> None:
        for change in changes:
            answer = least_moves.cheapest([change])
            slopes = np.zeros(len(w))
            slopes[arm] += (1.0 - answer.share) * answer.energy / w[arm]
            slopes[best] += answer.share * answer.energy / w[best]
            found.append((answer.energy, slopes))

    for arm in range(len(w)):
        study = Study(
            truth.means, truth.covariances, truth.thresholds, truth.scales,
            best, float(w[best]), arm, float(w[arm]),
        )  # fmt: skip
        if truth.theory.feasible and arm == best:
            add(least_moves.failing(study), arm)
        elif truth.theory.feasible:
            add(least_moves.beating(study), arm)
        else:
            add(least_moves.passing(study), arm)
            if arm != best:
                add(least_moves.nearing(study), arm)
    return found


def cutting_planes(truth: Truth) -> tuple[float, float]:
    """Return bounds on the best rate, from below and above, a relative 2e-7 apart.

    Costs are concave and homogeneous: each lies below its tangents, slopes times shares. A linear
    program over the tangents so far gives a bound from above and the next allocation to try.
    """
    arm_count = len(truth.means)
    w = np.full(arm_count, 1.0 / arm_count)
    unit = min(cost for cost, _ in modes(truth, w))
    lowest, cuts = 0.0, []
    for _ in range(300):
        ways = modes(truth, w)
        lowest = max(lowest, min(cost for cost, _ in ways) / float(w.sum()))
        cuts += [np.append(-slopes / unit, 1.0) for _, slopes in ways]
        program = linprog(
            np.append(np.zeros(arm_count), -1.0),
            A_ub=np.array(cuts),
            b_ub=np.zeros(len(cuts)),
            A_eq=np.append(np.ones(arm_count), 0.0)[None],
            b_eq=[1.0],
            bounds=[(0.0, 1.0)] * arm_count + [(0.0, None)],
            method="highs",
        )
        assert program.status == 0
        highest = unit * float(program.x[-1])
        if highest - lowest <= 2e-7 * highest:
            return lowest, highest
        w = np.maximum(program.x[:-1], 1e-9)
    raise AssertionError(f"no convergence: {lowest} to {highest}")


def test_the_rate_is_that_of_another_optimizer() -> None:
    seen = {True: 0, False: 0}
    for truth in random_truths(1, 102):
        rate, weights = solved(truth)
        lowest, highest = cutting_planes(truth)
        assert lowest * (1.0 - 1e-6) <= rate <= highest * (1.0 + 1e-6), truth
        # The allocation reaches the rate, by costs computed another way.
        assert min(cost for cost, _ in modes(truth, weights)) == pytest.approx(rate, rel=1e-6)
        assert static_rate(truth, weights) == pytest.approx(rate, rel=1e-9)
        seen[truth.theory.feasible] += 1
    assert seen == {True: 51, False: 51}


def test_the_papers_rates_are_those_of_another_optimizer() -> None:
    for name in ("paper-1", "paper-2", "paper-3", "paper-4"):
        truth = Instance.load(name).truth
        lowest, highest = cutting_planes(truth)
        assert lowest * (1.0 - 1e-6) <= solved(truth)[0] <= highest * (1.0 + 1e-6)


def test_the_rate_of_any_allocation_is_its_least_cost() -> None:
    stream = np.random.default_rng(2)
    for truth in random_truths(3, 120):
        w = stream.dirichlet(np.ones(len(truth.means)))
        costs = [cost for cost, _ in modes(truth, w)]
        assert static_rate(truth, w) == pytest.approx(min(costs), rel=1e-9)
        assert static_rate(truth, w) <= solved(truth)[0] * (1.0 + 1e-9)
        # Among two arms only their own ways count.
        best = truth.theory.optimal
        other = int(stream.choice([i for i in range(len(w)) if i != best]))
        pair = sorted({best, other})
        alone = truth_of(truth.means[pair], truth.thresholds, truth.covariances[pair], truth.scales)
        least = min(cost for cost, _ in modes(alone, w[pair]))
        assert static_rate(truth, w, pair) == pytest.approx(least, rel=1e-9)


def test_the_order_and_the_units_do_not_matter() -> None:
    stream = np.random.default_rng(4)
    for truth in random_truths(5, 30):
        rate, weights = solved(truth)
        order = stream.permutation(len(truth.means))
        units = np.exp2(stream.integers(-5, 6, truth.means.shape[1]))
        other = truth_of(
            truth.means[order] * units,
            truth.thresholds * units[1:],
            truth.covariances[order] * np.outer(units, units),
            truth.scales / units,
        )
        moved_rate, moved_weights = solved(other)
        assert moved_rate == pytest.approx(rate, rel=1e-9)
        np.testing.assert_allclose(moved_weights, weights[order], rtol=1e-4, atol=1e-7)


# ------------------------------------------------------------------------------- by the question


def asked(truth: Truth, question: Question) -> Truth:
    """Return the same arms, asked another question."""
    theory = hardness(truth.means, truth.scales, truth.thresholds, question)
    return replace(truth, theory=theory, question=question)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.name)
def test_the_rate_of_an_allocation_is_the_cost_of_the_cheapest_threat(question: Question) -> None:
    stream = np.random.default_rng(6)
    for drawn in random_truths(7, 60):
        truth = asked(drawn, question)
        arm_count, width = truth.means.shape
        threats, w = make_threats(arm_count, width), stream.dirichlet(np.ones(arm_count))
        count = question.fill_threats(
            np.ones(arm_count, np.bool_), truth.marked, truth.theory.optimal,
            truth.theory.feasible, truth.scales, truth.thresholds,
            Versus.of(None, np.zeros(width - 1)), threats,
        )  # fmt: skip
        about = (truth.means, truth.covariances, w, truth.thresholds, cost_work(width))
        assert static_rate(truth, w) == pytest.approx(least_cost(threats, count, *about), rel=1e-9)


def test_the_oracle_of_sets_by_hand() -> None:
    """Costs w1 0.5^2/2, w2 1/2 and w3 2^2/2 are equal at w1 : w2 : w3 = 16 : 4 : 1."""
    truth = asked(truth_of([[0, -0.5], [9, 1], [5, -2]], [0], np.eye(2)), ALL_FEASIBLE)
    rate, weights = solved(truth)
    np.testing.assert_allclose(weights, np.array([16, 4, 1]) / 21, rtol=1e-12)
    assert rate == pytest.approx(16 / 21 / 8, rel=1e-12)
    assert static_rate(truth, weights) == pytest.approx(rate, rel=1e-12)
    assert static_rate(truth, weights, [1, 2]) == pytest.approx(rate, rel=1e-12)
    assert static_rate(truth, np.array([0.5, 0.5, 0.0])) == 0.0
    on_the_limit = asked(truth_of([[0, 0], [9, 1]], [0], np.eye(2)), ALL_FEASIBLE)
    assert oracle(on_the_limit) == Oracle(0.0, None)


def test_no_allocation_beats_the_oracle_of_sets() -> None:
    stream = np.random.default_rng(8)
    for drawn in random_truths(9, 40):
        truth = asked(drawn, ALL_FEASIBLE)
        rate, weights = solved(truth)
        assert static_rate(truth, weights) == pytest.approx(rate, rel=1e-9)
        for _ in range(20):
            w = stream.dirichlet(np.ones(len(weights)))
            assert static_rate(truth, 0.1 * w + 0.9 * weights) <= rate * (1.0 + 1e-9)


# ------------------------------------------------------------------------------- by drawing errors


def error_counts(truth: Truth, w: Floats, budget: float, size: int, seed: int) -> int:
    """Count how often the answer after a static allocation is wrong, one constraint, in NumPy.

    Estimates are normal with the covariance of a pull over the arm's share of the budget.
    """
    stream = np.random.default_rng(seed)
    arm_count, errors = len(w), 0
    roots = np.linalg.cholesky(truth.covariances / (budget * w)[:, None, None])
    for _ in range(0, size, 100_000):
        normals = stream.standard_normal((100_000, arm_count, 2))
        estimates = truth.means + np.einsum("kcd,rkd->rkc", roots, normals)
        feasible = estimates[:, :, 1] <= truth.thresholds[0]
        some = feasible.any(axis=1)
        by_objective = np.where(feasible, estimates[:, :, 0], np.inf).argmin(axis=1)
        answer = np.where(some, by_objective, estimates[:, :, 1].argmin(axis=1))
        errors += int(((answer != truth.theory.optimal) | (some != truth.theory.feasible)).sum())
    return errors


@pytest.mark.parametrize("feasible", [True, False])
def test_errors_fall_at_the_oracles_rate(feasible: bool) -> None:
    """-ln(error) grows with the budget at the oracle's rate r.

    Every way to err is a convex set at the distance sqrt(2 T cost) from the truth, in units of the
    noise: its probability is at most Phi(-sqrt(2 T r)), so that errors are at most M times that,
    with M ways. One way is a half-space at the distance sqrt(2 T r) that consists of errors only
    (here: the best arm fails, or the second comes closer), so that they are at least that. With
    the 1/sqrt(T) that Phi holds beside exp(-T r), the slope between two budgets is that of
    -ln Phi(-sqrt(2 T r)), up to ln(M)/(T2 - T1) and the error of counting.
    """
    if feasible:
        truth = truth_of([[0.0, -0.3], [0.8, -0.5], [-0.5, 0.9]], [0], [[1.0, 0.5], [0.5, 1.0]])
        ways = 3  # the best arm fails, either other one beats it
    else:
        truth = truth_of([[0.0, 0.9], [0.0, 1.4], [0.0, 2.5]], [0], [[1.0, 0.3], [0.3, 1.0]])
        ways = 3 + 2  # any arm passes, either other one comes closer
    rate, w = solved(truth)
    if feasible:
        assert w[0] * 0.3**2 / 2 == pytest.approx(rate, rel=1e-9)
    else:
        assert 0.5**2 / (2 * (1 / w[0] + 1 / w[1])) == pytest.approx(rate, rel=1e-6)
    size, quantile = 2_000_000, 1.0 - ALPHA / 6
    logs, spans = [], []
    budgets = [2.0 / rate, 5.0 / rate, 8.0 / rate]
    for seed, budget in enumerate(budgets):
        errors = error_counts(truth, w, budget, size, seed)
        low = stats.beta.ppf(1.0 - quantile, errors, size - errors + 1)
        high = stats.beta.ppf(quantile, errors + 1, size - errors)
        tail = float(stats.norm.logcdf(-math.sqrt(2.0 * budget * rate)))
        assert math.log(high) >= tail, (errors, budget)
        assert math.log(low) <= tail + math.log(ways), (errors, budget)
        logs.append(math.log(errors / size))
        spans.append((math.log(high / low), tail))
    for i, k in ((0, 1), (1, 2), (0, 2)):
        apart = budgets[k] - budgets[i]
        slope = (logs[i] - logs[k]) / apart
        exact = (spans[i][1] - spans[k][1]) / apart
        tolerance = (math.log(ways) + spans[i][0] + spans[k][0]) / apart
        assert abs(slope - exact) <= tolerance
        # Phi(-sqrt(2 T r)) is exp(-T r)/sqrt(4 pi T r), times at least 1 - 1/(2 T r).
        prefactor = 0.5 * math.log(budgets[k] / budgets[i]) / apart
        prefactor -= math.log(1.0 - 0.5 / (budgets[i] * rate)) / apart
        assert abs(slope - rate) <= prefactor + tolerance
