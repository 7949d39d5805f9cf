"""The benchmark of guardrails draws what it says: its bounds hold, its outcomes are named."""

import numpy as np
import pytest

from benchmarks import guardrails

REPLICATIONS = 40_000


@pytest.mark.parametrize(("name", "pulls"), [("four arms", 25), ("checkout", 2000)])
def test_a_bound_holds_as_often_as_its_level_says(name: str, pulls: int) -> None:
    """Student to the level, two-sided at alpha = 1e-6; Clopper and Pearson at least so often."""
    instance = guardrails.instances()[name]
    truth = instance.means[:, 1:]
    goals, low, high = guardrails.bounds(
        instance, pulls, REPLICATIONS, 0.05, np.random.default_rng(1)
    )
    assert goals.shape == (REPLICATIONS, len(instance.arms))
    spread = 4.9 * (0.05 * 0.95 / REPLICATIONS) ** 0.5
    for misses in ((low > truth).mean(axis=0), (high < truth).mean(axis=0)):
        assert (misses < 0.05 + spread).all()
        assert (misses > (0.05 - spread if name == "four arms" else 0.02)).all()
    best = np.bincount(goals.argmin(axis=1)).argmax()
    assert instance.arms[best] == {"four arms": "a", "checkout": "one page"}[name]  # the deceiver


def test_outcomes_have_the_right_names() -> None:
    found = guardrails.instances()
    feasible, infeasible = found["checkout"], found["checkout, none feasible"]
    named = {arm: guardrails.outcome(feasible, arm) for arm in (*feasible.arms, None)}
    assert named == {
        "control": "second best",
        "button": "second best",
        "suggestions": "second best",
        "short form": "right",
        "prefilled": "infeasible arm",
        "one page": "infeasible arm",
        None: "nothing",
    }
    assert guardrails.outcome(infeasible, None) == "right"
    assert {guardrails.outcome(infeasible, arm) for arm in infeasible.arms} == {"infeasible arm"}


def test_ways_that_ship_less_ship_fewer_infeasible_arms() -> None:
    """On the same data: a corrected bound is wider, so safer one way and laxer the other."""
    instance = guardrails.instances()["four arms"]
    rows = dict(guardrails.fixed_split(instance, 100, 2000, seed=1))
    assert all(sum(counts.values()) == 2000 for counts in rows.values())
    wrong = {way: counts["infeasible arm"] for way, counts in rows.items()}
    assert wrong["fixed split, shown safe, corrected"] <= wrong["fixed split, shown safe"]
    assert wrong["fixed split, shown safe"] < wrong["fixed split, not shown bad"]
    assert wrong["fixed split, not shown bad"] < wrong["fixed split, not shown bad, corrected"]
