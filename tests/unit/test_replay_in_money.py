"""Replay in money: a column says what pulls cost, budgets are in its unit, prices are learned."""

from typing import Any

import numpy as np
import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.interfaces.replaying import budgets_by_price
from ringfence.policies.registry import find_policy
from ringfence.reports.replay import Curve
from ringfence.simulation import reference
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.logs import read_log

QUESTION: dict[str, Any] = {
    "arm": "model",
    "objective": "maximize mean(score)",
    "constraints": ["mean(latency) <= 200"],
}
MEANS = {"small": (0.45, 100, 0.05), "large": (0.75, 150, 1.0), "slow": (0.9, 260, 0.4)}


def table(tasks: int = 80, *, seed: int = 0) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    found: dict[str, list[Any]] = {"model": [], "task": [], "score": [], "latency": [], "usd": []}
    hard = rng.normal(size=tasks)
    for name, (score, latency, price) in MEANS.items():
        found["model"] += [name] * tasks
        found["task"] += [f"t{place}" for place in range(tasks)]
        found["score"] += (hard + rng.normal(size=tasks) < 2 * score - 0.6).astype(float).tolist()
        found["latency"] += rng.normal(latency, 50.0, tasks).round(2).tolist()
        found["usd"] += (price * rng.gamma(2.0, 0.5, tasks)).round(4).tolist()
    return found


def replayed(**changes: Any) -> rf.Replay:
    said = {
        **QUESTION, "price": "usd", "budgets": ["12", "30 USD"], "replications": 12,
        "policies": ["uniform"],
    } | changes  # fmt: skip
    return rf.replay(table(), **said)


@pytest.mark.parametrize("item", [None, "task"])
@pytest.mark.parametrize("policy", ["top-two", "constrained-sr"])
def test_what_is_spent_is_the_sum_of_the_rows_prices(item: str | None, policy: str) -> None:
    """It is near what the arms cost on average; a budget is exceeded by part of a pull at most."""
    log = read_log(table(), item=item, price="usd", **QUESTION)
    one = Experiment.funded(log.instance, find_policy(policy), "40 USD", scales="estimated")
    tally = reference.run_chunk(one, 1, 0, 6)
    paid = one.spent(tally.pulls.astype(float), int(tally.paid[0]))
    assert log.instance.tariff is not None
    means = log.instance.tariff.means
    assert means == pytest.approx(np.reshape(table()["usd"], (3, -1)).mean(axis=1))
    assert paid == pytest.approx(float(tally.pulls @ means), rel=0.15)
    assert paid <= 6 * 40 * 1.02
    assert paid >= 6 * 40 * 0.75


def test_an_arm_with_all_items_seen_costs_what_its_rows_cost() -> None:
    """With money for all items every arm sees each once: the sum is exact."""
    log = read_log(table(tasks=20), item="task", price="usd", **QUESTION)
    one = Experiment.funded(log.instance, find_policy("top-two"), "900 USD", scales="estimated")
    tally = reference.run_chunk(one, 1, 0, 3)
    assert tally.pulls.tolist() == [60, 60, 60]
    whole = sum(table(tasks=20)["usd"])
    paid = one.spent(tally.pulls.astype(float), int(tally.paid[0]))
    assert paid == pytest.approx(3 * whole, abs=1e-6)


def test_a_replay_speaks_in_money() -> None:
    found = replayed(item="task")
    said = found.to_dict()
    assert said["unit"] == "USD"
    assert [(row["budget"], row["unit"]) for row in said["rows"]] == [(12, "USD"), (30, "USD")]
    assert all(0 < row["spent"] <= row["budget"] * 1.05 for row in said["rows"])
    assert " USD" in found.headline
    assert "pulls" not in found.headline
    if found.next_step is not None:
        step = found.next_step
        assert step.policy == "uniform"
        assert step.more == pytest.approx(step.budget / 10, rel=0.5)
        assert str(found.next_in_words).startswith("with uniform at")


def test_without_a_unit_it_is_that_of_the_column() -> None:
    assert budgets_by_price([100, 2.5], "usd") == ([100, 2.5], "usd")
    assert budgets_by_price(["100", "200 USD"], "cost") == ([100, 200], "USD")
    assert budgets_by_price([100, 200], None) == ([100, 200], "pulls")


def test_rates_between_budgets_lie_on_the_logarithm() -> None:
    curve = Curve((100.0, 400.0), (0.5, 0.9), (0.4, 0.8), (0.6, 1.0))
    assert curve.rate(200.0) == pytest.approx(0.7)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no such column": ({"price": "dollars"}, "has no column 'dollars'"),
    "no column for money": ({"price": None}, "budgets are in USD, and no column says what a pull"),
    "two units": ({"budgets": ["3 EUR", "4 USD"]}, "budgets are in EUR and USD"),
    "a budget of nothing": ({"budgets": [0.0]}, "budget = 0.0 must be a number above 0"),
    "too little": ({"budgets": [0.5]}, "at the mean price"),
    "the arm's column": ({"price": "model"}, "is the column of the arm already"),
}


@pytest.mark.parametrize(("changes", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_prices_and_budgets_are_refused_in_words(changes: Any, message: str) -> None:
    with pytest.raises(InputError) as raised:
        replayed(**changes)
    assert message in str(raised.value)


def test_costs_below_zero_are_refused_in_words() -> None:
    rows = table(20)
    rows["usd"][3] = -0.5
    with pytest.raises(InputError, match=r"a pull cost -0\.5, and must cost 0 or more"):
        read_log(rows, price="usd", **QUESTION)


def test_an_arm_that_costs_nothing_is_refused() -> None:
    rows = table(20)
    rows["usd"][:20] = [0.0] * 20
    with pytest.raises(InputError, match="pulls of arm 'small' cost nothing"):
        read_log(rows, price="usd", **QUESTION)
