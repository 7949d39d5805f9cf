"""Kinds, gaps, H1, H2 and the bounds: against the transcription, and by hand."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ringfence.core.all_feasible import ALL_FEASIBLE
from ringfence.core.arrays import Floats
from ringfence.core.hardness import Hardness, hardness, lower_bound_rate, upper_bound
from ringfence.core.schedule import log_bar
from ringfence.reports.scenes import NEAR_MISS, TIE_RULE, Scene
from ringfence.simulation.instance import Instance
from tests.laws import checks
from tests.oracle import transcription as paper


def theory_of(*rows: tuple[float, ...], scales: Floats | None = None) -> Hardness:
    """Return the theory of an instance whose thresholds are all 0 and whose scales are 1."""
    means = np.array(rows, dtype=np.float64)
    size = means.shape[1]
    return hardness(means, np.ones(size) if scales is None else scales, np.zeros(size - 1))


# ------------------------------------------------------------------------------- hardness


def test_theory_equals_the_transcription() -> None:
    seen = checks.check_hardness(hardness)
    assert seen["infinite"] > 100
    assert seen["several optimal arms"] > 100
    assert seen["several, of different slack"] > 20
    assert seen["equal gaps"] > 100
    for kind in ("feasible-suboptimal", "deceiver", "infeasible-suboptimal", "infeasible"):
        assert seen[kind] > 100


def test_theory_of_sets_equals_sums_over_margins() -> None:
    seen = checks.check_hardness_of_sets(hardness)
    for what in ("infinite", "nothing is feasible", "several arms", "equal gaps"):
        assert seen[what] > 100, what


def test_the_two_hardness_measures_bracket_each_other() -> None:
    """H2/2 <= H1 <= (logbar(K) - 1/2) H2: the order of the arms is what H2 needs it to be."""
    finite = 0
    for means in checks.instances():
        theory = means.theory(hardness)
        if math.isfinite(theory.h1) and theory.h1 > 0.0:
            finite += 1
            assert theory.h2 / 2 <= theory.h1 * (1 + 1e-12)
            sharp = float(log_bar(len(theory.arms))) - 0.5
            assert theory.h1 <= sharp * theory.h2 * (1 + 1e-12)
    assert finite > 500


def test_several_optimal_arms_by_hand() -> None:
    """Gaps from the optimal arm with the least slack; every optimal arm ranks first."""
    theory = theory_of((1, -3), (2, -5), (1, -1), (4, -5), (0, 2))
    assert theory.optimal_arms == (0, 2)
    assert theory.optimal == 2
    kinds = ["optimal", "feasible-suboptimal", "optimal", "feasible-suboptimal", "deceiver"]
    assert [arm.kind for arm in theory.arms] == kinds
    # From arm 2, one inside the limit, every gap is capped at 1; from arm 0 they are 1, 3 and 2.
    assert [arm.Delta for arm in theory.arms] == [None, 1.0, None, 1.0, 1.0]
    assert [arm.delta for arm in theory.arms] == [None, 1.0, None, 3.0, 2.0]
    assert [arm.rank for arm in theory.arms] == [1, 2, 1, 3, 4]
    assert (theory.h1, theory.h2) == (3.0, 4.0)


def test_all_arms_optimal() -> None:
    for rows in (((1, -1), (1, -2)), ((1, 3), (2, 3), (0, 3)), ((5, 0),)):
        theory = theory_of(*rows)
        assert all(arm.kind == "optimal" and arm.rank == 1 for arm in theory.arms)
        assert (theory.h1, theory.h2, theory.conjectured_rate) == (0.0, 0.0, math.inf)


def test_an_optimal_arm_on_the_threshold_makes_the_instance_infinitely_hard() -> None:
    theory = theory_of((1, 0), (2, -1))
    assert theory.feasible
    assert (theory.h1, theory.h2, theory.conjectured_rate) == (math.inf, math.inf, 0.0)


def test_different_gaps_by_hand() -> None:
    # J is 10 inside. Gaps: 1 (objective), 2 (a deceiver), 4 (both, the limit counts more).
    theory = theory_of((0, -10), (1, -10), (-5, 2), (3, 4))
    assert [arm.Delta for arm in theory.arms] == [None, 1.0, 2.0, 4.0]
    assert theory.h1 == pytest.approx(21 / 16, rel=1e-15)
    assert theory.h2 == 2.0
    assert theory.conjectured_rate == pytest.approx(16 / 21, rel=1e-15)


@pytest.mark.parametrize(
    ("name", "optimal", "kinds", "ranks", "distance", "h1", "h2"),
    [
        # Every gap is the distance d of the optimal arm to the limit; a = 1/(2 sigma^2) = 1/2,
        # so H1 = 2 (K-1)/d^2 and H2 = 2 K/d^2.
        (
            "paper-1", 0, ["optimal", "feasible-suboptimal", "feasible-suboptimal"],
            [1, 2, 3], 0.05, 1600, 2400,
        ),
        # R4: by definition arm 1 does not deceive, its objective is the larger one.
        (
            "paper-2", 0, ["optimal", "infeasible-suboptimal", "feasible-suboptimal"],
            [1, 3, 2], 0.005, 160_000, 240_000,
        ),
        (
            "paper-3", 0, ["optimal", "feasible-suboptimal", "deceiver", "infeasible-suboptimal"],
            [1, 2, 3, 4], 0.05, 2400, 3200,
        ),
        (
            "paper-4", 2, ["infeasible", "infeasible", "optimal", "infeasible"],
            [3, 4, 1, 2], 0.1, 600, 800,
        ),
    ],
)  # fmt: skip
def test_the_papers_instances(
    name: str,
    optimal: int,
    kinds: list[str],
    ranks: list[int],
    distance: float,
    h1: float,
    h2: float,
) -> None:
    theory = Instance.load(name).hardness
    assert theory.optimal_arms == (optimal,)
    assert theory.feasible == (name != "paper-4")
    assert [arm.kind for arm in theory.arms] == kinds
    assert [arm.rank for arm in theory.arms] == ranks
    assert abs(theory.arms[optimal].margin) == pytest.approx(distance / math.sqrt(2), rel=1e-12)
    assert theory.h1 == pytest.approx(h1, rel=1e-9)
    assert theory.h2 == pytest.approx(h2, rel=1e-9)


# --------------------------------------------------------------------------------- bounds


def test_upper_bound_of_two_arms_by_hand() -> None:
    # Delta = 1/2, H2 = 2/(1/4) = 8; logbar(2) = 1; c = 2 (m + 2) + 2 m.
    theory = theory_of((0, -1), (0.5, -1))
    assert theory.h2 == 8.0
    for m, constant in ((1, 8), (2, 12), (3, 16)):
        found = upper_bound(theory, 1802, constraint_count=m)
        assert found == pytest.approx(constant * math.exp(-1800 / (9 * 8)), rel=1e-12)
    assert upper_bound(theory, 3, constraint_count=1) == 1.0


def test_upper_bound_of_three_arms_by_hand() -> None:
    # Gaps 1/2 and 1: H2 = max(2/(1/4), 3/1) = 8; logbar(3) = 4/3, so 9 logbar H2 = 96.
    # c = 6 ((m + 2) + (m + 4)/3) + 2 m.
    theory = theory_of((0, -1), (0.5, -1), (3, -1))
    assert theory.h2 == 8.0
    for m, constant in ((1, 30), (2, 40), (3, 50)):
        found = upper_bound(theory, 1923, constraint_count=m)
        assert found == pytest.approx(constant * math.exp(-1920 / 96), rel=1e-12)
    assert upper_bound(theory, 4, constraint_count=1) == 1.0


@pytest.mark.parametrize(("constraint", "feasible"), [(-0.5, True), (0.5, False)])
def test_upper_bound_of_a_single_arm(constraint: float, feasible: bool) -> None:
    """Only the flag can be wrong, after T pulls: 2 m exp(-T margin^2), or 2 exp when infeasible."""
    theory = theory_of((3, constraint))
    assert theory.feasible == feasible
    for m in (1, 2, 3):
        count = 2 * m if feasible else 2
        found = upper_bound(theory, 100, constraint_count=m)
        assert found == pytest.approx(count * math.exp(-25.0), rel=1e-12)
    assert upper_bound(theory, 2, constraint_count=1) == 1.0


def test_upper_bound_when_every_arm_is_right() -> None:
    # Two arms, slack 1 and 2: each survivor has at least (T - 2)/2 pulls.
    theory = theory_of((3, -1), (3, -2))
    found = upper_bound(theory, 102, constraint_count=1)
    assert found == pytest.approx(4 * math.exp(-50.0), rel=1e-12)


def test_upper_bound_of_an_infinitely_hard_instance_is_one() -> None:
    assert upper_bound(theory_of((1, 0), (2, -1)), 10**9, constraint_count=1) == 1.0


def test_upper_bound_is_above_the_published_error_rates() -> None:
    """A bound that the paper's own points exceed would be wrong."""
    for name, budget, log_error in (("paper-1", 10_000, -6.725), ("paper-1", 1000, -1.79)):
        bound = Instance.load(name).upper_bound(budget)
        assert bound is not None
        assert bound >= math.exp(log_error)


def two_arms(**changes: Any) -> Instance:
    """Return two Gaussian arms: J is 0.4 inside the limit, the other 0.3 worse."""
    content: dict[str, Any] = {
        "objective": "minimize mean(loss)",
        "constraints": ["mean(risk) <= 1.0"],
        "metrics": ["loss", "risk"],
        "noise": {"family": "gaussian", "covariance": [[1.0, 0.0], [0.0, 2.0]]},
        "arms": {"one": {"mean": [0.5, 0.6]}, "two": {"mean": [0.8, 0.2]}},
    }
    return Instance.from_dict({**content, **changes})


@pytest.mark.parametrize("correlated", [0.0, 0.5])
def test_lower_bound_rate_is_the_squared_gap(correlated: float) -> None:
    # delta = 0.3/sqrt(2), |margin| = 0.4/sqrt(4) = 0.2: the gap is 0.2.
    covariance = [[1.0, correlated], [correlated, 2.0]]
    instance = two_arms(noise={"family": "gaussian", "covariance": covariance})
    assert instance.lower_bound_rate == pytest.approx(0.04, rel=1e-12)


def test_lower_bound_rate_of_an_infeasible_instance() -> None:
    # Margins 0.5 and 0.2 above the limit, in units of sqrt(2 sigma^2) = 2: gap min(0.1, 0.15).
    arms = {"one": {"mean": [0.5, 1.5]}, "two": {"mean": [0.8, 1.2]}}
    assert two_arms(arms=arms).lower_bound_rate == pytest.approx(0.01, rel=1e-12)


def test_lower_bound_rate_is_not_claimed_where_it_is_not_proven() -> None:
    negative = {"family": "gaussian", "covariance": [[1.0, -0.1], [-0.1, 2.0]]}
    positive = {"family": "gaussian", "covariance": [[1.0, 0.1], [0.1, 2.0]]}
    one, two = {"mean": [0.5, 0.6]}, {"mean": [0.8, 0.2]}
    own = {"mean": [0.8, 0.2], "covariance": [[1.0, 0.0], [0.0, 1.0]]}
    unproven = {
        "negative correlation": two_arms(noise=negative),
        "positive as written, negative once turned": two_arms(
            noise=positive, objective="maximize mean(loss)"
        ),
        "different covariances": two_arms(arms={"one": one, "two": own}),
        "three arms": two_arms(arms={"one": one, "two": two, "three": two}),
        "two constraints": two_arms(constraints=["mean(risk) <= 1.0", "mean(loss) <= 2.0"]),
        "not gaussian": two_arms(noise={"family": "bernoulli"}),
        "one gaussian metric": two_arms(
            noise={"family": ["gaussian", "poisson"], "covariance": [[1.0]]}
        ),
        "two optimal arms": two_arms(arms={"one": one, "two": {"mean": [0.5, 0.2]}}),
        "one arm": two_arms(arms={"one": one}),
    }
    for why, instance in unproven.items():
        assert instance.lower_bound_rate is None, why
    turned = two_arms(
        noise=negative,
        objective="maximize mean(loss)",
        arms={"one": {"mean": [0.8, 0.6]}, "two": {"mean": [0.5, 0.2]}},
    )
    assert turned.lower_bound_rate == pytest.approx(0.04, rel=1e-12)


def test_lower_bound_rate_is_not_claimed_for_sets() -> None:
    means, same = np.array([[0.0, -1.0], [1.0, 1.0]]), [np.eye(2), np.eye(2)]
    theory = hardness(means, np.ones(2), np.zeros(1), ALL_FEASIBLE)
    assert lower_bound_rate(theory, same) is None


def test_lower_bound_rate_without_covariances() -> None:
    assert lower_bound_rate(theory_of((0, -1), (1, -1)), None) is None
    same = [np.eye(2), np.eye(2)]
    assert lower_bound_rate(theory_of((0, -1), (0.25, -1)), same) == 0.0625


# ---------------------------------------------------------------------- the paper's Figure 2


def test_figure_2_coordinates() -> None:
    """The nodes of the two drawings, as the paper's tikz code has them."""
    assert TIE_RULE.points == ((2, 1.4), (1, 3.8), (4, 1))
    assert NEAR_MISS.points == ((0.5, 2.1), (3, 0.5), (4, 0.5))
    assert TIE_RULE.threshold == NEAR_MISS.threshold == 1.8


@pytest.mark.parametrize(
    ("scene", "policy", "dropped"),
    [
        (TIE_RULE, "constrained-sr", 1),
        (TIE_RULE, "infeasible-first", 1),
        (TIE_RULE, "successive-rejects", 2),
        (NEAR_MISS, "constrained-sr", 2),
        (NEAR_MISS, "infeasible-first", 0),
        (NEAR_MISS, "successive-rejects", 2),
    ],
)
def test_figure_2_rejections(scene: Scene, policy: str, dropped: int) -> None:
    assert scene.rejected_by(policy) == dropped
    rule = paper.SUCCESSIVE_REJECTS_RULES[policy]
    exact = [[Fraction(str(value)) for value in point] for point in scene.points]
    tau = [Fraction(str(scene.threshold))]
    assert rule(exact, {0, 1, 2}, [1, 1], tau, [0, 1, 2]) == dropped
