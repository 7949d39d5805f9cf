"""Budgets with prices by arm, in simulations: none is overspent, equal prices are pulls."""

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from ringfence.core.allowance import Allowance
from ringfence.core.arrays import Integers
from ringfence.policies.course import Opening
from ringfence.policies.evidence import Evidence
from ringfence.policies.policy import PhasePolicy, Policy
from ringfence.policies.registry import PHASE_POLICIES, find_policy
from ringfence.simulation import cpu, reference
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from ringfence.simulation.tally import Tally
from tests.choosing import few_of

PRICES = (3, 110, 12, 40)
ADAPTIVE = ("top-two", "ocba-co", "thompson")
INSTANCE = Instance.load("paper-3")


def random_prices(rng: np.random.Generator, arm_count: int) -> tuple[int, ...]:
    """Return prices that differ by up to a factor of a thousand."""
    return tuple(int(price) for price in np.ceil(10.0 ** rng.uniform(0.0, 3.0, arm_count)))


def phases_of(
    policy: PhasePolicy, allowance: Allowance, rng: np.random.Generator
) -> list[tuple[Integers, Integers]]:
    """Run a course on random estimates; return who was alive and what each had, phase by phase."""
    arm_count = len(allowance.prices)
    cut = policy.opening(arm_count, allowance.pulls)
    opening = Opening(cut.first_pulls, cut.phases, allowance.prices)
    course = policy.course
    state = course.make_state(opening, arm_count, 2, 0)
    seen = Evidence(
        rng.normal(size=(arm_count, 2)), np.zeros(arm_count, np.int64),
        np.zeros(arm_count, np.int64), np.ones(arm_count, np.bool_),
        np.tile(np.eye(2), (arm_count, 1, 1)), np.ones(2), np.zeros(1), rng.permutation(arm_count),
        np.zeros(1), prices=allowance.relative,
    )  # fmt: skip
    fresh = np.zeros(arm_count, np.int64)
    course.begin(seen, state, fresh)
    found, goes_on = [], True
    while goes_on:
        found.append((np.flatnonzero(seen.alive), fresh.copy()))
        seen.counts[:] += fresh
        fresh[:] = 0
        goes_on = course.decide(seen, state, np.zeros(0), 0, fresh)
    return found


def check_schedules(policy: PhasePolicy) -> None:
    """Require that survivors are pulled alike while their phase pays, and no allowance is spent."""
    rng, more, rolled = np.random.default_rng(3), 0, 0
    for _ in range(200):
        arm_count = int(rng.integers(2, 9))
        prices = random_prices(rng, arm_count)
        least = sum(prices) * (policy.minimum_budget(arm_count) + 1) // arm_count + 1
        allowance = Allowance(least + int(rng.integers(0, 40 * least)), prices)
        schedule = policy.phases(arm_count, allowance.pulls)
        spent, paid = 0, 0
        for phase, (alive, fresh) in zip(schedule, phases_of(policy, allowance, rng), strict=True):
            spent += allowance.cost(fresh)
            paid += len(alive) * phase.pulls + phase.extra
            own = fresh[alive]
            assert own.max() - own.min() <= (phase.extra > 0)
            assert spent * arm_count <= paid * allowance.total, "a phase had more than its ration"
            rest = paid * allowance.total - spent * arm_count
            one_more = arm_count * sum(prices[arm] for arm in alive)
            assert rest < one_more, "a phase that could pull all survivors once more did not"
            more += own.max() > phase.pulls + 1
            rolled += rest > 0
        assert spent <= allowance.limit
    assert more > 50 or policy.name in ("uniform",)
    assert rolled > 50


@pytest.mark.parametrize("policy", PHASE_POLICIES, ids=lambda one: one.name)
def test_no_schedule_spends_more_than_its_allowance(policy: PhasePolicy) -> None:
    check_schedules(policy)


@pytest.mark.parametrize("policy", PHASE_POLICIES, ids=lambda one: one.name)
def test_equal_prices_cut_phases_as_pulls_do(policy: PhasePolicy) -> None:
    rng = np.random.default_rng(4)
    for number in range(50):
        arm_count, price = int(rng.integers(1, 9)), int(rng.integers(2, 99))
        budget = policy.minimum_budget(arm_count) + int(rng.integers(0, 200))
        pulls, priced = (
            phases_of(policy, allowance, np.random.default_rng([5, number]))
            for allowance in (
                Allowance(budget, (1,) * arm_count),
                Allowance(budget * price + int(rng.integers(price)), (price,) * arm_count),
            )
        )
        for mine, other in zip(pulls, priced, strict=True):
            assert [part.tolist() for part in mine] == [part.tolist() for part in other]


def check_spending(
    run_chunk: Callable[[Experiment, int, int, int], Tally],
    policy: Policy,
    scales: str,
    *,
    count: int,
    experiment_type: type[Experiment] = Experiment,
) -> None:
    """Require that no replication overspends; choices leave less than the dearest pull costs."""
    prices = PRICES[: len(INSTANCE.arms)]
    for limit in range(8001, 8001 + 37 * count, 37):
        one = experiment_type(INSTANCE, policy, limit, scales=scales, batch=7, prices=prices)
        cost = one.allowance.cost(run_chunk(one, 1, 0, 1).pulls.tolist())
        assert cost <= limit
        assert policy.has_phases or limit - cost < max(prices)


PRICED = [
    (name, scales)
    for name in (*ADAPTIVE, "constrained-sr", "uniform", "sequential-halving")
    for scales in ("known", "estimated")
]
COMPILED = few_of(PRICED, ("ocba-co", "known"), ("constrained-sr", "estimated"))


@pytest.mark.parametrize(("name", "scales"), PRICED)
def test_no_replication_spends_more_than_its_allowance(name: str, scales: str) -> None:
    """As it is, and compiled: by the body, whatever the policy."""
    policy = find_policy(name)
    one = Experiment(INSTANCE, policy, 8001, scales=scales, prices=PRICES)
    assert not any(path.suits(one) for path in cpu.FAST_PATHS)
    check_spending(reference.run_chunk, policy, scales, count=4)
    if (name, scales) in COMPILED:
        check_spending(cpu.run_chunk, policy, scales, count=25)


@pytest.mark.parametrize("name", few_of([*ADAPTIVE, "constrained-sr", "uniform"], "top-two"))
def test_dear_equal_prices_simulate_as_pulls_do(name: str) -> None:
    """With amounts in the largest part of the unit, as `Allowance.of` gives them."""
    policy, arm_count = find_policy(name), len(INSTANCE.arms)
    priced = Allowance.of(9 * 300 + 4, (9,) * arm_count)
    one = Experiment(INSTANCE, policy, priced.limit, scales="estimated", prices=priced.prices)
    other = Experiment(INSTANCE, policy, 300, scales="estimated")
    found, wanted = (cpu.run_chunk(each, 1, 0, 20) for each in (one, other))
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine.tolist() == theirs.tolist()


def test_amounts_that_are_no_budget_are_refused() -> None:
    policy, arm_count = find_policy("constrained-sr"), len(INSTANCE.arms)
    prices = PRICES
    least = -(-sum(prices) * policy.minimum_budget(arm_count) // arm_count)
    Experiment(INSTANCE, policy, least, prices=prices)
    with pytest.raises(ValueError, match="is too small for"):
        Experiment(INSTANCE, policy, least - 1, prices=prices)
    with pytest.raises(ValueError, match="prices for"):
        Experiment(INSTANCE, policy, least, prices=prices[1:])


LEARNED = Instance.from_dict(
    {
        "objective": "minimize mean(loss)",
        "constraints": ["mean(risk) <= 1"],
        "metrics": ["loss", "risk", "cost"],
        "price": "cost",
        "noise": {
            "family": ["gaussian", "gaussian", "exponential"],
            "covariance": [[1.0, 0.2], [0.2, 1.0]],
        },
        "arms": {
            "cheap": {"mean": [0.3, 0.5, 0.1]},
            "dear": {"mean": [0.5, 0.7, 2.0]},
            "risky": {"mean": [0.2, 1.5, 0.5]},
        },
    }
)


def check_learning(
    run_chunk: Callable[[Experiment, int, int, int], Tally],
    policies: Iterable[Policy],
    *,
    experiment_type: type[Experiment] = Experiment,
) -> None:
    """Require that what is drawn is paid for, that little is left, and that choices go by it."""
    for policy in policies:
        one = experiment_type.funded(LEARNED, policy, "120 USD", scales="estimated")
        tally = run_chunk(one, 3, 0, 12)
        spent = one.spent(tally.pulls.astype(np.float64), int(tally.paid[0])) / 12
        assert 100 <= spent <= 121, spent
        cheap, dear, _ = tally.pulls
        assert policy.has_phases or cheap > 2.5 * dear, tally.pulls
        assert policy.name != "uniform" or cheap - dear <= 12, tally.pulls


def test_learned_prices_are_paid_and_gone_by() -> None:
    check_learning(reference.run_chunk, map(find_policy, ("top-two", "constrained-sr", "uniform")))
