"""The rates of phase policies: zero where their own rule drops the right arm, else by that rule."""

import math

import pytest

import ringfence as rf
from ringfence.reports.theory import last_phase_rate, theory_document
from tests.choosing import few_of


def pair(*means: tuple[float, float]) -> rf.Instance:
    arms = dict(zip(("good", "other"), ({"mean": list(mean)} for mean in means), strict=True))
    return rf.Instance.from_dict(
        {
            "objective": "minimize mean(loss)",
            "constraints": ["mean(risk) <= 0"],
            "metrics": ["loss", "risk"],
            "noise": {"family": "gaussian", "covariance": [[1.0, 0.0], [0.0, 1.0]]},
            "arms": arms,
        }
    )


def test_a_policy_whose_rule_drops_the_right_arm_in_its_last_phase_has_no_rate() -> None:
    blind = rf.simulate("paper-3", "successive-rejects", budget=20_000, replications=2000)
    assert blind.error_rate > 0.99
    rates = theory_document(rf.Instance.load("paper-3"))["policy_rates"]
    assert rates["successive-rejects"] == 0.0
    assert min(rate for name, rate in rates.items() if name != "successive-rejects") > 0.0
    # A sum of -0.7 beats one of 0.8: the deceiver stays.
    priced = theory_document(pair((1.0, -0.2), (-1.0, 0.3)))["policy_rates"]
    assert (priced["scalarised"], priced["successive-rejects"]) == (0.0, 0.0)
    assert priced["constrained-sr"] > 0.0


def test_rates_go_by_what_a_policy_compares() -> None:
    """Each of two arms gets half of the pulls: rates by hand, from unit variances."""
    rates = theory_document(pair((0.0, -0.5), (0.1, -0.1)))["policy_rates"]
    by_objective, by_sum, own = 0.1**2 / 8, 0.5**2 / 16, 0.5**2 / 4
    assert by_sum < own
    assert rates["constrained-sr"] == pytest.approx(by_objective, rel=1e-6)
    assert rates["successive-rejects"] == pytest.approx(by_objective, rel=1e-6)
    assert rates["scalarised"] == pytest.approx(by_sum, rel=1e-6)
    tight = theory_document(pair((0.0, -0.01), (3.0, 2.0)))["policy_rates"]
    for name in ("scalarised", "successive-rejects", "constrained-sr"):
        assert tight[name] == pytest.approx(0.01**2 / 4, rel=1e-6)


@pytest.mark.parametrize("policy", few_of(["scalarised", "successive-rejects"], "scalarised"))
def test_errors_fall_at_the_rate_of_what_a_policy_compares(policy: str) -> None:
    """With two arms there is one phase: exp(-T rate), less a power of T."""
    instance = pair((0.0, -0.5), (0.1, -0.1))
    rate = last_phase_rate(instance, rf.find_policy(policy))
    few, many = 6.0 / rate, 12.0 / rate
    first, last = (
        rf.simulate(instance, policy, budget=int(budget), method="importance", replications=20_000)
        for budget in (few, many)
    )
    slope = math.log(first.error_rate / last.error_rate) / (last.budget - first.budget)
    assert rate < slope < 1.1 * rate


def test_no_arm_is_feasible_and_the_objective_decides() -> None:
    rates = theory_document(pair((0.0, 0.5), (0.4, 0.6)))["policy_rates"]
    # To come nearer takes less than to be better by the objective, or to seem feasible.
    assert rates["constrained-sr"] == pytest.approx(0.1**2 / 8, rel=1e-6)
    assert rates["successive-rejects"] == pytest.approx(0.4**2 / 8, rel=1e-6)
    assert rates["scalarised"] == pytest.approx(0.5**2 / 16, rel=1e-6)
