"""Schedules as literal integers, worked out by hand, and the budget that they may not exceed."""

import math
from fractions import Fraction

import pytest

from ringfence.core.schedule import (
    Phase,
    log_bar,
    pulls_used,
    successive_rejects_phases,
    successive_rejects_totals,
    survivors,
)
from ringfence.policies.registry import PHASE_POLICIES, find_phase_policy

# (K, T): n_1, ..., n_{K-1}. For K = 3 logbar is 4/3, for K = 4 it is 19/12, for K = 5 107/60.
TOTALS = {
    (1, 2): [2],
    (1, 10): [10],
    (2, 3): [1],
    (2, 4): [1],
    (2, 5): [2],
    (2, 100): [49],
    (3, 4): [1, 1],
    (3, 7): [1, 2],
    (3, 100): [25, 37],
    (3, 1000): [250, 374],
    (4, 5): [1, 1, 1],
    (4, 23): [3, 4, 6],
    (4, 24): [4, 5, 7],
    (4, 2000): [316, 421, 631],
    (5, 6): [1, 1, 1, 1],
    (5, 112): [12, 15, 20, 30],
    (9, 10): [1, 1, 1, 1, 1, 1, 1, 1],
}


def test_log_bar_is_exact() -> None:
    assert [log_bar(k) for k in (1, 2, 3, 4, 5)] == [
        Fraction(1, 2),
        Fraction(1),
        Fraction(4, 3),
        Fraction(19, 12),
        Fraction(107, 60),
    ]


@pytest.mark.parametrize(("arm_count", "budget"), TOTALS)
def test_totals(arm_count: int, budget: int) -> None:
    assert successive_rejects_totals(arm_count, budget) == TOTALS[arm_count, budget]


def test_floats_would_be_wrong() -> None:
    scale = 0.5 + sum(1 / i for i in range(2, 5))
    in_floats = [math.ceil(1 / scale * (23 - 4) / (5 - k)) for k in (1, 2, 3)]
    assert in_floats == [4, 5, 7]
    assert successive_rejects_totals(4, 23) == [3, 4, 6]


@pytest.mark.parametrize("arm_count", [2, 3, 4, 7, 12, 30])
def test_totals_are_the_ceilings_of_the_paper(arm_count: int) -> None:
    scale = Fraction(1, 2) + sum(Fraction(1, i) for i in range(2, arm_count + 1))
    for budget in [*range(arm_count + 1, arm_count + 60), 9973, 10**15 + 7]:
        assert successive_rejects_totals(arm_count, budget) == [
            math.ceil(Fraction(budget - arm_count) / (scale * (arm_count + 1 - k)))
            for k in range(1, arm_count)
        ]


def test_phases_of_successive_rejects() -> None:
    assert successive_rejects_phases(4, 2000) == (
        Phase(316, 0, 3),
        Phase(105, 0, 2),
        Phase(210, 0, 1),
    )
    assert successive_rejects_phases(2, 5) == (Phase(2, 0, 1),)
    assert successive_rejects_phases(1, 10) == (Phase(10, 0, 1),)


def test_small_budgets_have_empty_phases_that_still_reject() -> None:
    assert successive_rejects_phases(4, 5) == (Phase(1, 0, 3), Phase(0, 0, 2), Phase(0, 0, 1))


@pytest.mark.parametrize(
    ("arm_count", "budget", "phases"),
    [
        (1, 9, [(9, 0, 1)]),
        (2, 5, [(2, 1, 1)]),
        (3, 20, [(3, 0, 2), (5, 1, 1)]),
        (4, 100, [(12, 0, 2), (26, 0, 1)]),
        (5, 100, [(6, 0, 3), (11, 0, 2), (18, 1, 1)]),
        (8, 24, [(1, 0, 4), (2, 0, 2), (4, 0, 1)]),
    ],
)
def test_phases_of_sequential_halving(
    arm_count: int, budget: int, phases: list[tuple[int, int, int]]
) -> None:
    assert list(find_phase_policy("sequential-halving").phases(arm_count, budget)) == phases


@pytest.mark.parametrize(
    ("arm_count", "budget", "phases"),
    [(1, 9, [(9, 0, 1)]), (3, 10, [(3, 1, 3)]), (4, 12, [(3, 0, 4)]), (4, 15, [(3, 3, 4)])],
)
def test_phases_of_uniform(arm_count: int, budget: int, phases: list[tuple[int, int, int]]) -> None:
    assert list(find_phase_policy("uniform").phases(arm_count, budget)) == phases


def test_pulls_used_counts_survivors() -> None:
    phases = successive_rejects_phases(4, 2000)
    assert survivors(4, phases) == [4, 3, 2]
    assert pulls_used(4, phases) == 316 + 421 + 631 + 631 == 1999
    assert pulls_used(3, find_phase_policy("uniform").phases(3, 10)) == 10


@pytest.mark.parametrize("name", [policy.name for policy in PHASE_POLICIES])
def test_no_schedule_exceeds_its_budget(name: str) -> None:
    policy = find_phase_policy(name)
    spends_all = name in ("sequential-halving", "glr-halving", "uniform")  # reading note R8
    for arm_count in range(1, 25):
        least = policy.minimum_budget(arm_count)
        for budget in [*range(least, least + 40), 1000, 9973]:
            phases = policy.phases(arm_count, budget)
            used = pulls_used(arm_count, phases)
            assert used == budget if spends_all else used <= budget
            assert phases[0].pulls >= 1
            assert phases[-1].keep == (arm_count if name == "uniform" else 1)


@pytest.mark.parametrize(
    ("name", "arm_count", "least"),
    [
        ("constrained-sr", 1, 2),
        ("constrained-sr", 9, 10),
        ("infeasible-first", 4, 5),
        ("successive-rejects", 4, 5),
        ("uniform", 4, 5),
        ("sequential-halving", 1, 2),
        ("sequential-halving", 2, 3),
        ("sequential-halving", 4, 8),
        ("sequential-halving", 9, 36),
    ],
)
def test_the_least_budget_is_enforced_in_words(name: str, arm_count: int, least: int) -> None:
    policy = find_phase_policy(name)
    assert policy.minimum_budget(arm_count) == least
    policy.phases(arm_count, least)
    arms = "1 arm" if arm_count == 1 else f"{arm_count} arms"
    expected = (
        f"budget = {least - 1} is too small for {arms}: {name} needs at least {least} pulls. "
        "Raise the budget or drop arms."
    )
    with pytest.raises(ValueError, match="too small") as caught:
        policy.phases(arm_count, least - 1)
    assert str(caught.value) == expected
