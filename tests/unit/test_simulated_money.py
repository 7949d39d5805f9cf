"""Budgets in money, simulated: whose prices, in which unit, what is spent, what is refused."""

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.core.oracle import oracle, static_rate
from ringfence.policies.registry import find_policy
from ringfence.reports.theory import theory_document
from ringfence.simulation import reference
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.families import find_family
from ringfence.simulation.funding import budgets_of, funds_of, in_words
from ringfence.simulation.instance import Instance

ARMS = {"cheap": [0.3, 0.5, 0.1], "dear": [0.5, 0.7, 2.0], "risky": [0.2, 1.5, 0.5]}
PRICES = {"cheap": 0.1, "dear": 2, "risky": "0.50 USD"}


def instance(price: Any = None, **changes: Any) -> Instance:
    content = {
        "objective": "minimize mean(loss)",
        "constraints": ["mean(risk) <= 1"],
        "metrics": ["loss", "risk", "cost"],
        "noise": {
            "family": ["gaussian", "gaussian", "exponential"],
            "covariance": [[1.0, 0.2], [0.2, 1.0]],
        },
        "arms": {arm: {"mean": mean} for arm, mean in ARMS.items()},
        **({} if price is None else {"price": price}),
        **changes,
    }
    return Instance.from_dict(content)


def run(price: Any, policy: str, budget: Any, count: int = 12, **how: Any) -> tuple[Any, Any]:
    one = Experiment.funded(instance(price), find_policy(policy), budget, **how)
    return one, reference.run_chunk(one, 3, 0, count)


def test_prices_by_arm_are_exact_and_in_the_largest_part_of_the_unit() -> None:
    funds = funds_of(instance(PRICES), "50 USD")
    assert (funds.budget, funds.prices, funds.unit) == (500, (1, 20, 5), "USD")
    assert funds.amount == 50
    assert funds_of(instance(PRICES), "50.07 USD").budget == 500  # what pays for nothing is left


def test_a_plain_number_stays_pulls_whatever_the_prices() -> None:
    for budget in (120, "120"):
        funds = funds_of(instance(PRICES), budget)
        assert (funds.budget, funds.prices, funds.unit) == (120, (), "pulls")


@pytest.mark.parametrize("policy", ["top-two", "constrained-sr"])
def test_equal_prices_simulate_as_pulls_do(policy: str) -> None:
    """To the bit: streams are named by the budget, so it is that of pulls."""
    equal = dict.fromkeys(ARMS, 0.25)
    _, priced = run(equal, policy, "30.1 USD", scales="estimated")
    one, pulls = run(None, policy, 120, scales="estimated")
    for mine, theirs in zip(priced, pulls, strict=True):
        assert mine.tolist() == theirs.tolist()
    assert one.unit == "pulls"


@pytest.mark.parametrize("policy", ["top-two", "constrained-sr", "uniform", "ocba-co"])
@pytest.mark.parametrize("price", [PRICES, "cost"], ids=["stated", "learned"])
def test_what_is_spent_is_within_the_budget_and_near_it(price: Any, policy: str) -> None:
    """Of learned prices a pull is made while its reserve is left, five prices at least."""
    one, tally = run(price, policy, "120 USD", scales="estimated")
    spent = one.spent(tally.pulls.astype(np.float64), int(tally.paid[0])) / len(tally.wrong)
    assert spent <= (120 if price == PRICES else 121)
    assert spent >= 100
    own = tally.pulls @ np.array([0.1, 2.0, 0.5]) / len(tally.wrong)
    assert spent == pytest.approx(own, rel=1e-12 if price == PRICES else 0.2)


def test_uniform_pulls_all_arms_alike_whatever_they_cost() -> None:
    for price in (PRICES, "cost"):
        _, tally = run(price, "uniform", "120 USD")
        assert np.ptp(tally.pulls) <= 12 + 12 * (price == "cost"), price


def test_a_cheap_arm_is_pulled_the_more_often() -> None:
    """By the index, and not because money lasts longer: of what is spent it has less as well."""
    for price in (PRICES, "cost"):
        _, priced = run(price, "top-two", "120 USD", count=20, scales="estimated")
        _, pulls = run(None, "top-two", 138, count=20, scales="estimated")
        assert priced.pulls[0] / priced.pulls[1] > 1.5 * pulls.pulls[0] / pulls.pulls[1], price


def test_two_arms_share_pulls_by_the_root_of_their_prices() -> None:
    """Over both ways round, 1:4 and 1:16; the arm that looks best is spared a little of its own."""
    for ratio in (4, 16):
        found = []
        for means in ((0.0, 0.08), (0.08, 0.0)):
            content = {
                "objective": "minimize mean(loss)",
                "constraints": ["mean(risk) <= 50"],
                "metrics": ["loss", "risk"],
                "noise": {"family": "gaussian", "covariance": [[1.0, 0.0], [0.0, 1.0]]},
                "arms": {"one": {"mean": [means[0], 0.0]}, "two": {"mean": [means[1], 0.0]}},
                "price": {"one": 1, "two": ratio},
            }
            one = Experiment.funded(
                Instance.from_dict(content), find_policy("top-two"), f"{300 * (1 + ratio)} USD"
            )
            tally = reference.run_chunk(one, 5, 0, 8)
            found.append(tally.pulls[0] / tally.pulls[1])
        assert np.sqrt(found[0] * found[1]) == pytest.approx(np.sqrt(ratio), rel=0.08)


def test_results_say_unit_and_what_was_spent() -> None:
    result = rf.simulate(
        instance(PRICES), "top-two", budget="60 USD", replications=8, engine="reference"
    )
    said = result.to_dict()
    assert (said["budget"], said["unit"]) == (60, "USD")
    mean = sum(
        said["mean_pulls"][arm] * cost for arm, cost in zip(ARMS, (0.1, 2, 0.5), strict=True)
    )
    assert said["spent"] == pytest.approx(mean)
    pulls = rf.simulate(instance(), "top-two", budget=60, replications=8, engine="reference")
    assert (pulls.to_dict()["unit"], pulls.to_dict()["spent"]) == ("pulls", 60)


def test_rates_by_money_are_those_of_the_best_static_allocation() -> None:
    """No allocation of a grid does better for its money; equal prices give the rate of pulls."""
    here = instance(PRICES)
    prices = np.array([0.1, 2.0, 0.5])
    best = oracle(here.truth, prices)
    assert best is not None
    rng, most = np.random.default_rng(1), 0.0
    for weights in rng.dirichlet(np.ones(3), 4000):
        most = max(most, static_rate(here.truth, weights) / float(weights @ prices))
    assert 0.9 * best.rate < most <= best.rate * (1 + 1e-9)
    assert best.allocation is not None
    own = static_rate(here.truth, best.allocation) / float(best.allocation @ prices)
    assert own == pytest.approx(best.rate, rel=1e-6)
    even = oracle(here.truth, np.full(3, 0.25))
    assert even is not None
    assert here.oracle is not None
    assert even.rate == pytest.approx(here.oracle.rate / 0.25, rel=1e-6)
    said = theory_document(here, unit="USD")["by_money"]
    assert (said["unit"], said["prices"]) == ("USD", {"cheap": 0.1, "dear": 2.0, "risky": 0.5})
    assert said["oracle_rate"] == pytest.approx(best.rate)


def test_families_with_prices_have_even_classes_and_the_same_arms() -> None:
    family = find_family("uniform")
    for number in range(6):
        plain = family.draw(number, arm_count=5)
        priced = family.draw(number, arm_count=5, prices=(1, 20))
        assert np.array_equal(plain.means, priced.means)
        assert sorted(priced.price.values()) == [1, 1, 1, 20, 20]
    drawn = {tuple(family.draw(n, arm_count=5, prices=(1, 20)).price.values()) for n in range(9)}
    assert len(drawn) > 3


REFUSED = {
    "another unit": (PRICES, "50 EUR", 'price.risky = "0.50 USD" is in USD, and the budget in EUR'),
    "no price": (None, "50 USD", "does not say what a pull costs. Add price"),
    "a price of zero": (PRICES | {"dear": 0}, "50 USD", "price.dear = 0 must be above 0"),
    "a price below zero": (PRICES | {"dear": -1}, "50 USD", "price.dear = -1 must be above 0"),
    "one pull too dear": (PRICES, "1.5 USD", "does not pay for one pull of arm 'dear'"),
    "too few pulls": (PRICES, "3 USD", "pays for 3 pulls at the mean price. budget = 3 is too"),
    "no amount": (PRICES, "USD 50", "must be a whole number of pulls, or an amount with a unit"),
    "nothing": (PRICES, "0 USD", "must be above 0. Raise it"),
}


@pytest.mark.parametrize(("price", "budget", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_budgets_and_prices_are_refused_in_words(price: Any, budget: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        Experiment.funded(instance(price), find_policy("top-two"), budget)
    assert message in str(raised.value)


FILES = {
    "an arm left out": ({"cheap": 1, "dear": 2}, "price has none for arm 'risky'. Add it."),
    "no such arm": (PRICES | {"dea": 1}, "which there is none of. Change the name"),
    "no such metric": ("costs", "price = 'costs' is no metric; there are loss, risk, cost."),
    "a metric that may be below zero": ("loss", "price = 'loss' is gaussian, and would be below 0"),
}


@pytest.mark.parametrize(("price", "message"), FILES.values(), ids=FILES)
def test_bad_prices_of_an_instance_are_refused_in_words(price: Any, message: str) -> None:
    with pytest.raises(InputError) as raised:
        instance(price)
    assert message in str(raised.value)


def test_rare_methods_and_gpus_are_refused_in_words() -> None:
    with pytest.raises(InputError, match="is for budgets in pulls, and this one is in USD"):
        rf.simulate(instance(PRICES), budget="90 USD", method="importance", replications=100)


def test_lists_of_budgets_have_one_unit() -> None:
    assert budgets_of(["100", "200", "400 USD"]) == ["100 USD", "200 USD", "400 USD"]
    assert budgets_of(["100", "200"]) == [100, 200]
    with pytest.raises(InputError, match="budgets are in EUR and USD: nothing is converted"):
        budgets_of(["1 EUR", "2 USD"])


def test_amounts_in_words() -> None:
    assert in_words(1000, "pulls") == "1,000 pulls"
    assert (in_words(312, "USD"), in_words(40.8, "USD")) == ("312 USD", "40.80 USD")
    assert in_words(float(Decimal("0.05")), "USD") == "0.05 USD"
