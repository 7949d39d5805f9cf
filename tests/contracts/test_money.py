"""Budgets with a unit: accounts that hold, whatever is told, fails, is lost or comes back."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringfence.core.errors import InputError, LeaseError
from ringfence.interfaces.studies import Study
from ringfence.study.accounts import account_on
from ringfence.study.facts import PullFact
from tests.choosing import LONG, few_of
from tests.contracts.kill_worker import CAPS, PRICES, cost_of, evaluate
from tests.contracts.places import Place
from tests.contracts.test_kill import ARMS, KILLS, Crew, work_and_kill

POLICIES = ("top-two", "ocba-co", "constrained-sr", "uniform")
SEEDS = range(30 if LONG else 4)


def priced(arm: str, seed: int) -> dict[str, float]:
    return {**evaluate(arm, seed), "cost": cost_of(arm, seed)}


def create(storage: Any, **changes: Any) -> Study:
    plain: dict[str, Any] = {
        "arms": ARMS,
        "objective": "minimize mean(loss)",
        "constraints": "mean(risk) <= 1.0",
        "budget": "40 USD",
        "price": "cost",
        "seed": 5,
    }
    return Study.create("s", storage=storage, **{**plain, **changes})


def pulls_of(study: Study) -> list[PullFact]:
    with study.desk.storage.reading("s") as ledger:
        return list(ledger.pulls_between(1, 10**6))


def told_by_hand(study: Study) -> Decimal:
    """Return what was told as costs, added up from the pulls themselves, in billionths."""
    place = study.definition.metrics.index("cost")
    told = [pull.values[place] for pull in pulls_of(study) if pull.values is not None]
    return sum((round(Decimal(repr(one)), 9) for one in told), Decimal(0))


# ------------------------------------------------------------------------------ the account


def test_what_was_told_is_added_up_exactly(place: Place) -> None:
    study = create(place.open(), policy="uniform", budget="9 USD", price_guess=0.4)
    study.optimize(priced)
    status = study.status()
    assert Decimal(repr(status.spent)) == told_by_hand(study)
    by_arm = sum(Decimal(repr(one.spent)) for one in status.accounts)
    assert Decimal(repr(status.spent)) == by_arm
    assert Decimal(repr(status.left)) == 9 - by_arm
    assert sum(one.pulls for one in status.accounts) == status.told == len(pulls_of(study))
    assert study.doctor().problems == ()
    with place.open().reading("s") as ledger:
        assert ledger.survey(1, ledger.head.issued) is not None


@pytest.mark.parametrize("policy", POLICIES)
def test_stated_prices_are_spent_as_stated(policy: str) -> None:
    prices = {arm: round(price, 3) for arm, price in PRICES.items()}
    study = create("memory://", policy=policy, price=prices, budget="30 USD")
    study.optimize(evaluate)
    status = study.status()
    exact = sum(Decimal(repr(prices[one.name])) * one.pulls for one in status.accounts)
    assert Decimal(repr(status.spent)) == exact <= 30
    assert all(one.price == prices[one.name] for one in status.accounts)
    assert study.doctor().problems == ()


@pytest.mark.parametrize("policy", POLICIES)
def test_equal_prices_decide_as_pulls_do(policy: str) -> None:
    """To the bit: 50 USD at 3 cents are 1,666 pulls."""
    found = []
    for budget, price in ((166, None), ("5.00 USD", dict.fromkeys(ARMS, 0.03))):
        study = create("memory://", policy=policy, budget=budget, price=price)
        study.optimize(evaluate)
        rounds = [replace(one, seen={}) for one in study.rounds()]
        seen = [
            {key: one.seen.get(key) for key in ("counts", "estimates", "scales")}
            for one in study.rounds()
        ]
        found.append((rounds, seen, [pull.values for pull in pulls_of(study)]))
    assert found[0] == found[1]


@pytest.mark.parametrize("policy", POLICIES)
def test_caps_are_never_exceeded_whatever_happens(policy: str) -> None:
    """With several desks, failures with and without cost, retries, losses, outages and more money.

    After every word what is spent and reserved is within the budget, and adds up.
    """
    seen = dict.fromkeys(("retried", "failed", "lost", "forgiven", "back", "raised", "done"), 0)
    for seed in SEEDS:
        rng = np.random.default_rng([31, seed])
        budget = Decimal(repr(round(float(rng.uniform(20.0, 45.0)), 3)))
        study = create(
            "memory://", policy=policy, price_cap=CAPS, budget=f"{budget} USD", seed=seed,
            retries=int(rng.integers(0, 3)), max_failures=1 + seed % 2,
            lag=(1, 5, 9)[seed % 3] if policy in ("top-two", "ocba-co") else None,
        )  # fmt: skip
        rises = 2
        while given := study.ask(int(rng.integers(1, 6))):
            for pull in given:
                chance, cost = rng.random(), cost_of(pull.arm, pull.seed)
                if chance < 0.15:
                    told = cost if rng.random() < 0.5 else None
                    became = study.fail(pull, "no answer", retry=rng.random() < 0.7, cost=told)
                    seen["retried" if became == "retry" else "failed"] += 1
                    if became == "failed" and rng.random() < 0.3:
                        seen["forgiven"] += study.forgive([pull.pull])
                elif chance < 0.2:
                    study.lost(pull)
                    seen["lost"] += 1
                else:
                    study.tell(pull, {**evaluate(pull.arm, pull.seed), "cost": cost})
                require_within(study, budget)
            if study.desk.head.broken and rng.random() < 0.4:
                with suppress(InputError):  # there may be no room for it
                    arm = ARMS[study.desk.head.broken[0]]
                    seen["back"] += study.revive(arm) == "revived"
            if rises and rng.random() < 0.1:
                rises -= 1
                budget += Decimal(repr(round(float(rng.uniform(0.0, 9.0)), 3)))
                study.raise_budget(f"{budget} USD")
                seen["raised"] += 1
        assert study.doctor().problems == ()
        seen["done"] += study.status().finished
    assert min(seen.values()) > 0, seen


def require_within(study: Study, budget: Decimal) -> None:
    account = account_on(study.desk.plan, study.desk.look(samples=False))
    spent, reserved, left = (
        Decimal(repr(one)) for one in (account.spent, account.reserved, account.left)
    )
    assert spent + reserved + left == budget
    assert left >= 0
    assert spent == sum(Decimal(repr(one.spent)) for one in account.arms)
    assert reserved == sum(Decimal(repr(one.reserved)) for one in account.arms)


def test_learned_prices_exceed_a_budget_by_at_most_what_is_in_flight() -> None:
    """And no more than pulls in flight cost beyond what was reserved for them."""
    for seed in SEEDS:
        study = create("memory://", budget="12 USD", price_guess=0.1, seed=seed, batch=4)
        while given := study.ask(4):
            before = study.status()
            costs = [cost_of(pull.arm, pull.seed) for pull in given]
            for pull, cost in zip(given, costs, strict=True):
                study.tell(pull, {**evaluate(pull.arm, pull.seed), "cost": cost})
            after = study.status()
            assert after.spent - 12.0 <= max(0.0, sum(costs) - before.reserved) + 1e-9
        assert study.doctor().problems == ()


# ------------------------------------------------------------------------------ what is charged


def test_failures_are_charged_what_they_cost() -> None:
    """As told, else as on_failure says, else the price of the arm when it was decided."""
    study = create("memory://", price_guess=0.5, policy="uniform")
    first, second, third, fourth = study.ask(4)
    study.fail(first, "no answer", cost=0.25)
    assert study.status().spent == 0.25
    study.fail(second, "no answer")
    assert study.status().spent == 0.75
    study.lost(third)
    assert study.status().spent == 0.75
    study.tell(fourth, evaluate(fourth.arm, fourth.seed), cost=0.125)
    assert study.status().spent == 0.875
    assert study.fail(first, "no answer", cost=0.25) == "already-failed"
    assert study.status().spent == 0.875
    stand_in = create(
        "memory://", price_guess=0.5, on_failure={"loss": 2.0, "risk": 2.0, "cost": 0.3}
    )
    stand_in.fail(stand_in.ask()[0], "no answer")
    assert stand_in.status().spent == 0.3


class CostlyError(Exception):
    cost = 0.0625


def test_an_exception_says_what_it_cost() -> None:
    def evaluate_some(arm: str, seed: int) -> dict[str, float]:
        if seed % 5 == 0:
            raise CostlyError("no answer")
        return {**evaluate(arm, seed), "cost": 0.25}

    study = create("memory://", budget="8 USD", price_guess=0.25, policy="uniform")
    study.optimize(evaluate_some)
    status = study.status()
    assert status.failed > 0
    assert status.spent == 0.25 * status.told + 0.0625 * status.failed


def test_every_try_is_charged_what_it_told() -> None:
    study = create("memory://", price_cap=2.0, retries=2, budget="100 USD")
    pull = study.ask()[0]
    assert study.status().reserved == 6.0  # for each time that it may be tried
    assert study.fail(pull, "no answer", cost=1.5) == "retry"
    assert (study.status().spent, study.status().reserved) == (1.5, 4.5)
    again = study.ask()[0]
    assert (again.pull, again.lease) == (pull.pull, pull.lease + 1)
    assert study.fail(pull, "no answer", cost=1.5) == "already-failed"
    with pytest.raises(LeaseError):
        study.fail(pull, "it came late", cost=1.5)
    assert (study.status().spent, study.status().reserved) == (1.5, 4.5)
    study.tell(again, evaluate(again.arm, again.seed), cost=0.25)
    assert (study.status().spent, study.status().reserved) == (1.75, 0.0)
    assert study.tell(again, evaluate(again.arm, again.seed), cost=0.25) == "already-told"
    assert study.status().spent == 1.75
    assert study.doctor().problems == ()


def test_an_outage_gives_back_prices_and_not_what_was_told() -> None:
    study = create("memory://", price_guess=0.5, policy="uniform")
    pulls = study.ask(8)
    study.fail(pulls[0], "503", cost=0.125)
    study.fail(pulls[1], "503")
    assert study.status().spent == 0.625
    assert study.forgive([pulls[0].pull, pulls[1].pull]) == 2
    assert study.status().spent == 0.125
    again = study.ask(2)
    for pull in (*again, *pulls[2:]):
        study.tell(pull, evaluate(pull.arm, pull.seed), cost=0.25)
    assert study.status().spent == 0.125 + 8 * 0.25
    study.ask()
    assert study.rounds()[-1].seen["spent"] == 2_125_000_000
    assert study.doctor().problems == ()


def test_a_cap_that_does_not_hold_is_said_and_counted() -> None:
    study = create("memory://", price_cap=0.5, policy="uniform")
    first, *_ = study.ask(4)
    study.tell(first, evaluate(first.arm, first.seed), cost=0.75)
    account = study.status().accounts[0]
    assert (account.spent, account.most, account.cap) == (0.75, 0.75, 0.5)
    assert account.is_over_cap


# ------------------------------------------------------------------------------ what is refused

REFUSED: Mapping[str, tuple[dict[str, Any], str]] = {
    "no price": ({"price": None}, 'budget = "40 USD" needs the price of a pull'),
    "a unit that differs": ({"price": {"one": "1 EUR"}}, 'price.one = "1 EUR" is in EUR'),
    "an arm without": ({"price": {"one": 1}}, "price has none for arm 'two'"),
    "an arm that is none": ({"price_cap": {"on": 1}}, "price_cap has a price of arm 'on'"),
    "nothing": ({"price": dict.fromkeys(ARMS, 0)}, "price.one = 0 must be above 0"),
    "too dear": ({"price_cap": {"four": 41}}, "does not pay for one pull of arm 'four'"),
    "pulls with a price": ({"budget": 40}, "price = 'cost' has no effect: budget = 40 counts"),
    "a budget without room": (
        {"price": dict.fromkeys(ARMS, 9), "policy": "top-two"},
        'budget = "40 USD" pays for 4 pulls at the prices of the arms on average',
    ),
    "what is no budget": ({"budget": "$40"}, 'budget = "$40" must be a whole number of pulls'),
}


@pytest.mark.parametrize("said", REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_named(place: Place, said: tuple[dict[str, Any], str]) -> None:
    changes, complaint = said
    storage = place.open()
    with pytest.raises(InputError) as refused:
        create(storage, **changes)
    assert complaint in str(refused.value)
    assert list(storage.names()) == []


@pytest.mark.parametrize(
    ("told", "complaint"),
    [
        ({}, "metric 'cost' is missing"),
        ({"cost": -0.5}, "metric 'cost' = -0.5 is the price of a pull, and must be 0 or more"),
        ({"cost": 1e12}, "more than can be counted"),
        ({"cost": float("nan")}, "must be a finite number"),
    ],
)
def test_a_price_that_is_not_told_changes_nothing(told: dict[str, float], complaint: str) -> None:
    study = create("memory://")
    pull = study.ask()[0]
    before = study.status()
    with pytest.raises(InputError) as refused:
        study.tell(pull, {**evaluate(pull.arm, pull.seed), **told})
    assert complaint in str(refused.value)
    assert study.status() == before


def test_a_raised_budget_keeps_its_unit(place: Place) -> None:
    study = create(place.open(), budget="10 USD", price_guess=0.1)
    for budget in ("11 EUR", "9 USD", "eleven"):
        with pytest.raises(InputError):
            study.raise_budget(budget)
    assert study.status().budget == 10.0
    study.raise_budget("10.5 USD")
    study.raise_budget(11)
    assert study.status().budget == 11.0
    same = create(place.open(), budget="12 USD", price_guess=0.1, load_if_exists=True)
    assert same.status().budget == 12.0
    with pytest.raises(InputError, match="exists with another price"):
        create(place.open(), budget="12 USD", price_guess=0.2, load_if_exists=True)


# ------------------------------------------------------------------------------ what is found

FAULTS = {
    "an amount that does not follow": {"paid": 7},
    "nothing, though it told its cost": {"paid": None},
}


@pytest.mark.parametrize("changes", FAULTS.values(), ids=FAULTS)
def test_a_doctor_sees_what_a_pull_took(place: Place, changes: dict[str, Any]) -> None:
    study = create(place.open(), budget="6 USD", price_guess=0.2, policy="uniform")
    study.optimize(priced)
    assert study.doctor().problems == ()
    with place.open().writing("s") as ledger:
        ledger.set_pulls([replace(ledger.pulls([5])[0], **changes)])
    problems = study.doctor().problems
    assert any("took another amount" in one or "decided again" in one for one in problems), problems


def test_a_failure_that_was_charged_otherwise_is_found() -> None:
    study = create("memory://", budget="6 USD", price_guess=0.2, policy="uniform")
    pull = study.ask(8)[0]
    study.fail(pull, "no answer")
    with study.desk.storage.writing("s") as ledger:
        ledger.set_pulls([replace(ledger.pulls([pull.pull])[0], paid=1)])
    assert study.doctor().problems == (
        f"pull {pull.pull} took another amount of the budget than follows from it",
    )


# ------------------------------------------------------------------------------ kill -9


@pytest.mark.parametrize(
    ("policy", "lag"), few_of([("top-two", 12), ("constrained-sr", None)], ("top-two", 12))
)
def test_workers_that_are_killed_leave_exact_accounts(
    sql_place: Place, tmp_path: Path, policy: str, lag: int | None
) -> None:
    """On prices that are told and capped: at no time more than the budget is taken.

    They are eight where there are many kills.

    What is decided is what one quiet worker would have been told, to the bit.
    """
    budget = Decimal(6 * KILLS)
    plain: dict[str, Any] = {
        "policy": policy, "lag": lag, "price_cap": CAPS, "budget": f"{budget} USD",
        "lease_seconds": 1.0,
    }  # fmt: skip
    wanted = create("memory://", **plain)
    wanted.optimize(priced)
    study = create(sql_place.open(), **plain)
    crew, looks = Crew(str(sql_place.url), tmp_path), 0

    def look() -> None:
        nonlocal looks
        looks += 1
        if looks % 40 == 1:
            require_within(study, budget)

    try:
        pulls = wanted.status().told
        killed = work_and_kill(
            crew,
            np.random.default_rng(7),
            workers=8 if KILLS > 5 else 3,
            pulls=pulls,
            meanwhile=look,
        )
    finally:
        crew.end()
    assert crew.complaints.read_text() == ""
    assert killed >= KILLS - 1
    require_within(study, budget)
    assert study.doctor().problems == ()
    assert study.rounds() == wanted.rounds()
    assert study.status().accounts == wanted.status().accounts
    assert Decimal(repr(study.status().spent)) == told_by_hand(study)
    assert study.recommend() == wanted.recommend()
    assert max(pull.lease for pull in pulls_of(study)) > 1, "some pulls were held by the dead"
