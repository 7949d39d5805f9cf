"""Live studies whose arms cost differently: none overspends, and they decide as simulations do."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringfence.core.errors import InputError
from ringfence.core.streams import round_stream
from ringfence.interfaces.studies import Study
from ringfence.policies.registry import find_policy
from ringfence.simulation.course import make_body
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from ringfence.simulation.records import Recording
from ringfence.storage.memory import MemoryStorage
from ringfence.study.audit import audit
from ringfence.study.desk import Desk, Report
from ringfence.study.facts import Definition, Head, PullFact, Round, State
from ringfence.study.plan import Plan
from tests.choosing import LONG, few_of
from tests.contracts.kill_worker import MEANS, evaluate
from tests.contracts.places import Place
from tests.contracts.test_kill import ARMS, KILLS, Crew, pulls_of, work_and_kill

POLICIES = ("top-two", "ocba-co", "constrained-sr", "sequential-halving", "uniform")
TRUTH = np.array([MEANS[arm] for arm in ARMS])
SEEDS = range(40 if LONG else 8)


def definition_of(policy: str, budget: int, prices: tuple[int, ...], **changes: Any) -> Definition:
    plain: dict[str, Any] = {
        "name": "s",
        "objective": "minimize mean(loss)",
        "constraints": ("mean(risk) <= 1.0",),
        "arms": {arm: {} for arm in ARMS},
        "metrics": ("loss", "risk"),
        "seed": 5,
    }
    return Definition(budget=budget, policy=policy, prices=prices, **{**plain, **changes})


def random_prices(rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(int(price) for price in np.ceil(10.0 ** rng.uniform(0.0, 2.5, len(ARMS))))


def yields(arm: int, ordinal: int) -> tuple[float, ...]:
    """Return what the n-th pull of an arm yields, whoever asks."""
    noise = np.random.default_rng([arm, ordinal]).normal(0.0, 0.5, 2)
    return tuple((TRUTH[arm] + noise).tolist())


def cost_of(pulls: list[PullFact], prices: tuple[int, ...]) -> int:
    return sum(prices[one.arm] for one in pulls if one.charged and one.state != State.CANCELLED)


def opened(definition: Definition, count: int = 1) -> list[Desk]:
    storage = MemoryStorage()
    storage.create(definition, Head(budget=definition.budget))
    return [Desk(Plan.of(definition), storage) for _ in range(count)]


def stored(desk: Desk) -> tuple[list[PullFact], list[Round]]:
    with desk.storage.reading("s") as ledger:
        assert audit(desk.plan, ledger).problems == ()
        return list(ledger.pulls_between(1, 10**6)), list(ledger.rounds())


# --------------------------------------------------------------------------- as simulations do


class Chance:
    """Where the body draws uniforms that nobody looks at."""

    def random(self) -> float:
        return 0.5


def simulated(definition: Definition) -> list[int]:
    """Return how often each arm is pulled by the body of simulations, on what the study sees.

    Everything is that of a simulation but the pulls, the order of arms and the uniforms.
    """
    plan, policy = Plan.of(definition), find_policy(definition.policy)
    arms = {
        arm: {"mean": list(MEANS[arm]), "covariance": [[0.25, 0.0], [0.0, 0.25]]} for arm in ARMS
    }
    content = {
        "objective": definition.objective,
        "constraints": list(definition.constraints),
        "metrics": list(definition.metrics),
        "noise": {"family": "gaussian"},
        "arms": arms,
    }
    experiment = Experiment(
        Instance.from_dict(content), policy, definition.budget,
        scales="estimated", batch=definition.batch, prices=definition.prices,
    )  # fmt: skip
    law = experiment.instance.law

    def look(record: Any, arm: int, count: int, estimates: Any) -> None:
        seen = np.array([yields(arm, ordinal) for ordinal in range(count)])
        estimates[arm], record.scatters[arm] = law.measure(seen, ARMS[arm])

    class Record:
        scatters = np.zeros((len(ARMS), 2, 2))

    recording = Recording(lambda *_: Record(), lambda record: None, lambda *_: None, look)
    number = iter(range(1, 10**6))

    def decide(seen: Any, state: Any, uniforms: Any, size: int, fresh: Any) -> bool:
        uniforms[:] = round_stream(definition.seed, next(number)).random(len(uniforms))
        return bool(policy.course.decide(seen, state, uniforms, size, fresh))

    course = policy.course._replace(decide=decide)
    body = make_body(
        course, recording.forget, recording.add, recording.look, estimated=True, relative=False
    )
    room, tally = experiment.new_room(recording), experiment.empty_tally(1)
    room.seen.priority[:] = plan.priority
    design = experiment.design._replace(shuffled=False)
    body(Chance(), Chance(), None, design, room, experiment.new_state(), tally)
    assert tally.misjudged[0] == 0
    return [int(count) for count in tally.pulls]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_study_spends_as_a_simulation_does(policy: str) -> None:
    unequal = 0
    for seed in SEEDS:
        rng = np.random.default_rng([21, seed])
        prices = random_prices(rng)
        budget = int(sum(prices) * rng.uniform(8.0, 20.0))
        definition = definition_of(policy, budget, prices, batch=int(rng.integers(1, 6)), seed=seed)
        (desk,) = opened(definition)
        while given := desk.ask(3):
            desk.tell([Report(one.number, 1, yields(one.arm, one.ordinal)) for one in given])
        pulls, rounds = stored(desk)
        counts = [sum(one.arm == arm for one in pulls) for arm in range(len(ARMS))]
        assert counts == simulated(definition)
        assert cost_of(pulls, prices) == desk.head.charged <= budget
        assert rounds[-1].seen["spent"] == desk.head.charged
        unequal += len(set(counts)) > 1
    assert unequal > len(SEEDS) // 2 or policy == "uniform"


@pytest.mark.parametrize("policy", POLICIES)
def test_dear_equal_prices_decide_as_pulls_do(policy: str) -> None:
    """To the bit, where failures, a raised budget and withdrawn arms make it go another way."""
    found = []
    for price in (1, 7):
        definition = definition_of(
            policy, 90 * price + (price > 1), (price,) * len(ARMS) if price > 1 else (),
            batch=4, max_failures=2,
        )  # fmt: skip
        (desk,) = opened(definition)
        raised = False
        while given := desk.ask(3):
            for one in given:
                if one.arm == 1 and one.ordinal in (3, 9, 10):
                    desk.fail(one.number, 1, "no answer", charge=one.ordinal > 3, retry=False)
                else:
                    desk.tell([Report(one.number, 1, yields(one.arm, one.ordinal))])
                if one.number > 50 and not raised:
                    desk.raise_budget(130 * price)
                    raised = True
        pulls, rounds = stored(desk)
        facts = [
            {k: v for k, v in one.seen.items() if k not in ("budget", "spent")} for one in rounds
        ]
        plain = [replace(one, seen={}) for one in rounds]
        amounts = [(one.seen["budget"] // price, one.seen["spent"] / price) for one in rounds]
        places = [(one.arm, one.ordinal, one.state, one.values) for one in pulls]
        found.append((plain, facts, amounts, places, desk.head.charged // price))
    assert found[0] == found[1]


# --------------------------------------------------------------------------- whatever happens


@pytest.mark.parametrize("policy", POLICIES)
def test_no_study_spends_more_than_its_allowance(policy: str) -> None:
    """With several desks, failures charged and lost, raised budgets, and arms that come back."""
    seen = dict.fromkeys(("raised", "lost", "failed", "back", "cut"), 0)
    for seed in range(3 * len(SEEDS)):
        rng = np.random.default_rng([22, seed])
        prices = random_prices(rng)
        budget = int(sum(prices) * rng.uniform(6.0, 15.0))
        definition = definition_of(
            policy, budget, prices, batch=int(rng.integers(1, 9)), seed=seed, max_failures=2
        )
        desks = opened(definition, 3)
        held: list[PullFact] = []
        rises = 2
        while given := desks[int(rng.integers(3))].ask(int(rng.integers(1, 5))) + held:
            held = []
            for one in given:
                desk, chance = desks[int(rng.integers(3))], rng.random()
                if chance < 0.1 and len(held) < 2 and len(given) > 1:
                    held.append(one)
                elif chance < 0.25:
                    lost = chance < 0.15
                    desk.fail(one.number, one.lease, "no answer", charge=not lost, retry=False)
                    seen["lost" if lost else "failed"] += 1
                else:
                    desk.tell([Report(one.number, one.lease, yields(one.arm, one.ordinal))])
            if rises and rng.random() < 0.1 and not desks[0].head.finished:
                rises -= 1
                budget += int(max(prices) * rng.uniform(0.0, 9.0))
                desks[0].raise_budget(budget)
                seen["raised"] += 1
            if desks[0].head.broken and rng.random() < 0.3:
                with suppress(InputError):  # there may be no room for it
                    seen["back"] += desks[0].revive(desks[0].head.broken[0]) == "revived"
            with desks[0].storage.reading("s") as ledger:
                pulls = list(ledger.pulls_between(1, 10**6))
            assert cost_of(pulls, prices) <= budget
        pulls, rounds = stored(desks[0])
        spare = desks[0].head.budget - desks[0].head.charged
        seen["cut"] += 0 < spare < max(prices)
        assert rounds[-1].is_last
    assert min(seen.values()) > 0, seen


def test_an_arm_comes_back_only_where_its_price_is_left() -> None:
    """What comes back needs two pulls to be judged, which cost 80; others cost 1."""
    prices = (40, 1, 1, 1)
    definition = definition_of("top-two", 43 * 12, prices, batch=4, max_failures=6)
    (desk,) = opened(definition)
    left = definition.budget
    while left > 60:
        for one in desk.ask(4):
            if one.arm == 0:
                desk.fail(one.number, 1, "no answer", charge=True, retry=False)
            else:
                desk.tell([Report(one.number, 1, yields(one.arm, one.ordinal))])
        with desk.storage.reading("s") as ledger:
            left = definition.budget - cost_of(list(ledger.pulls_between(1, 999)), prices)
    assert left > 50
    assert desk.head.broken == (0,)
    for amount in (left, 79):
        desk.raise_budget(definition.budget - left + amount)
        with pytest.raises(InputError, match=f"needs 2 more observations .* {amount} are left"):
            desk.revive(0)
    desk.raise_budget(definition.budget - left + 80)
    assert desk.revive(0) == "revived"


def test_arms_that_come_back_together_share_what_is_left() -> None:
    """There is room for either of two dear arms, but not for both."""
    prices = (40, 40, 1, 1)
    definition = definition_of("top-two", 82 * 12, prices, batch=4, max_failures=6)
    (desk,) = opened(definition)
    pulls: list[PullFact] = []
    while definition.budget - cost_of(pulls, prices) > 100:
        for one in desk.ask(4):
            if one.arm in (0, 1):
                desk.fail(one.number, 1, "no answer", charge=True, retry=False)
            else:
                desk.tell([Report(one.number, 1, yields(one.arm, one.ordinal))])
        with desk.storage.reading("s") as ledger:
            pulls = list(ledger.pulls_between(1, 9999))
    assert [desk.revive(arm) for arm in (0, 1)] == ["revived", "revived"]
    back = desk.ask(9)
    assert {one.arm for one in back} == {0}
    with desk.storage.reading("s") as ledger:
        assert cost_of(list(ledger.pulls_between(1, 9999)), prices) <= definition.budget


def test_what_was_overspent_is_found() -> None:
    """A pull more of the dear arm than is paid for: as many pulls as before, and a bad study."""
    prices = (50, 1, 1, 1)
    definition = definition_of("uniform", 53 * 4, prices)
    (desk,) = opened(definition)
    while given := desk.ask(9):
        desk.tell([Report(one.number, 1, yields(one.arm, one.ordinal)) for one in given])
    stored(desk)
    with desk.storage.writing("s") as ledger:
        ledger.set_head(replace(ledger.head, budget=ledger.head.budget - 1))
        problems = audit(desk.plan, ledger).problems
    assert "212 is charged, more than the budget of 211" in problems


def test_a_definition_without_prices_is_one_of_pulls() -> None:
    definition = definition_of("uniform", 40, ())
    assert "prices" not in definition.to_dict()
    assert Definition.from_dict(definition.to_dict()) == definition
    priced = replace(definition, prices=(1, 2, 3, 4))
    assert Definition.from_dict(priced.to_dict()) == priced
    with pytest.raises(InputError, match="there are 2 prices for 4 arms"):
        Plan.of(replace(definition, prices=(1, 2))).opening(40)


@pytest.mark.parametrize(
    ("policy", "batch"), few_of([("constrained-sr", 1), ("top-two", 6)], ("top-two", 6))
)
def test_workers_that_are_killed_never_overspend(
    sql_place: Place, tmp_path: Path, policy: str, batch: int
) -> None:
    prices = (70, 3, 11, 20)
    definition = definition_of(
        policy, 30 * KILLS * sum(prices) // 4, prices, batch=batch, lease_seconds=1.0
    )
    quiet = opened(definition)[0]
    wanted = Study(quiet)
    wanted.optimize(evaluate)
    sql_place.open().create(definition, Head(budget=definition.budget))
    study = Study.load("s", storage=sql_place.open())
    crew = Crew(str(sql_place.url), tmp_path)
    try:
        work_and_kill(crew, np.random.default_rng(7))
    finally:
        crew.end()
    assert crew.complaints.read_text() == ""
    assert study.doctor().problems == ()
    assert study.rounds() == wanted.rounds()
    assert cost_of(pulls_of(study), prices) == study.desk.head.charged <= definition.budget
    assert study.recommend() == wanted.recommend()
