"""The transcription itself, checked against facts worked out by hand."""

import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

from tests.oracle import transcription as paper

UNIT = [1, 1]
POLICIES = [
    "constrained-sr",
    "infeasible-first",
    "successive-rejects",
    "sequential-halving",
    "uniform",
]


def table(*rows: str) -> list[list[Fraction]]:
    """Read rows of decimal numbers exactly."""
    return [[Fraction(word) for word in row.split()] for row in rows]


def exact(words: str) -> tuple[Fraction, ...]:
    """Read a few numbers exactly; a quotient such as 1/9 may be one of them."""
    return tuple(Fraction(word) for word in words.split())


def budgets(K: int) -> list[int]:
    """Return every small budget for K arms, and two large ones."""
    return [*range(K + 1, 4 * K + 10), 100 * K + 7, 9973]


# The figures, with arms counted from 0 and the coordinates of the drawings.
FIGURE_TAU = [Fraction("1.8")]
FIGURE_1A = table("2 1", "3 1.5", "1 2.8", "4 3.5")
FIGURE_1B = table("2 2.3", "3 3", "4 3.4", "1 4")
FIGURE_2A = table("2 1.4", "1 3.8", "4 1")
FIGURE_2B = table("0.5 2.1", "3 0.5", "4 0.5")

# The four experiments: means and threshold.
INSTANCE_1 = table("1 0.95", "5 0.001", "10 0.001"), [Fraction(1)]
INSTANCE_2 = table("1 0.995", "2 1.005", "12 0.001"), [Fraction(1)]
INSTANCE_3 = table("0.3 0.45", "0.35 0.45", "0.2 0.8", "0.5 0.8"), [Fraction("0.5")]
INSTANCE_4 = table("0.3 1.6", "0.4 1.7", "0.2 1.1", "0.5 1.2"), [Fraction(1)]


def kinds(means: list[list[Fraction]], thresholds: list[Fraction]) -> list[str]:
    return [paper.kind(means, i, UNIT, thresholds) for i in range(len(means))]


# ------------------------------------------------------------------ kinds of arm, figure 1


def test_figure_1_kinds() -> None:
    assert kinds(FIGURE_1A, FIGURE_TAU) == [
        "optimal",
        "feasible-suboptimal",
        "deceiver",
        "infeasible-suboptimal",
    ]
    assert kinds(FIGURE_1B, FIGURE_TAU) == ["optimal", "infeasible", "infeasible", "infeasible"]
    assert paper.instance_is_feasible(FIGURE_1A, UNIT, FIGURE_TAU)
    assert not paper.instance_is_feasible(FIGURE_1B, UNIT, FIGURE_TAU)


def test_figure_1_gaps() -> None:
    def both(means: list[list[Fraction]], j: int) -> tuple[Fraction, Fraction]:
        return (
            paper.delta(means, 0, j, UNIT, FIGURE_TAU),
            paper.Delta(means, 0, j, UNIT, FIGURE_TAU),
        )

    # Feasible instance: arm 0 is 0.8 inside the limit.
    assert both(FIGURE_1A, 1) == exact("1 0.8")
    assert both(FIGURE_1A, 2) == exact("1 0.8")  # a deceiver, 1 above the limit
    assert both(FIGURE_1A, 3) == exact("2 0.8")  # 2 worse, 1.7 above the limit
    # Infeasible instance: arm 0 is 0.5 above the limit.
    assert both(FIGURE_1B, 1) == exact("0.7 0.5")
    assert both(FIGURE_1B, 2) == exact("1.1 0.5")
    assert both(FIGURE_1B, 3) == exact("1.7 0.5")


def test_gaps_are_refused_the_wrong_way_round() -> None:
    for i, j in [(1, 0), (2, 0), (3, 0), (2, 1), (3, 2)]:
        with pytest.raises(ValueError, match="better"):
            paper.delta(FIGURE_1A, i, j, UNIT, FIGURE_TAU)


def test_an_equal_objective_deceives_and_the_threshold_itself_is_feasible() -> None:
    means = table("2 1", "2 3", "5 1.8")
    assert kinds(means, FIGURE_TAU) == ["optimal", "deceiver", "feasible-suboptimal"]
    assert paper.delta(means, 0, 1, UNIT, FIGURE_TAU) == Fraction("1.2")


def test_scales_weigh_the_two_attributes() -> None:
    # 2 worse and 1.7 above the limit: the larger scaled reason counts.
    assert paper.delta(FIGURE_1A, 0, 3, [1, 1], FIGURE_TAU) == 2
    assert paper.delta(FIGURE_1A, 0, 3, [1, 2], FIGURE_TAU) == Fraction("3.4")
    assert paper.delta(FIGURE_1A, 0, 3, [3, 2], FIGURE_TAU) == 6
    assert paper.Delta(FIGURE_1A, 0, 3, [3, 2], FIGURE_TAU) == Fraction("1.6")


def test_the_margin_is_the_worst_constraint() -> None:
    scales = exact("1 2 1/2")
    thresholds = [10, 20]
    assert paper.margin([0, 11, 21], scales, thresholds) == 2
    assert paper.margin([0, 11, 26], scales, thresholds) == 3
    assert paper.margin([0, 7, 18], scales, thresholds) == -1
    assert paper.is_feasible([0, 10, 20], scales, thresholds)
    assert not paper.is_feasible([0, 0, Fraction(201, 10)], scales, thresholds)


# --------------------------------------------------------------- rejections, figure 2


def test_figure_2a_rejects_the_infeasible_arm_of_two_tied_ones() -> None:
    alive = {0, 1, 2}
    for priority in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        assert paper.apparent_best(FIGURE_2A, alive, UNIT, FIGURE_TAU, priority) == 0
        gaps = [paper.Delta(FIGURE_2A, 0, j, UNIT, FIGURE_TAU) for j in (1, 2)]
        assert gaps == [Fraction("0.4"), Fraction("0.4")]
        assert paper.constrained_sr_reject(FIGURE_2A, alive, UNIT, FIGURE_TAU, priority) == 1
        assert paper.infeasible_first_reject(FIGURE_2A, alive, UNIT, FIGURE_TAU, priority) == 1
        assert paper.successive_rejects_reject(FIGURE_2A, alive, UNIT, FIGURE_TAU, priority) == 2


def test_figure_2b_spares_the_arm_just_above_the_threshold() -> None:
    alive = {0, 1, 2}
    for priority in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        assert paper.apparent_best(FIGURE_2B, alive, UNIT, FIGURE_TAU, priority) == 1
        assert paper.Delta(FIGURE_2B, 1, 0, UNIT, FIGURE_TAU) == Fraction("0.3")
        assert paper.Delta(FIGURE_2B, 1, 2, UNIT, FIGURE_TAU) == 1
        assert paper.constrained_sr_reject(FIGURE_2B, alive, UNIT, FIGURE_TAU, priority) == 2
        assert paper.infeasible_first_reject(FIGURE_2B, alive, UNIT, FIGURE_TAU, priority) == 0
        assert paper.successive_rejects_reject(FIGURE_2B, alive, UNIT, FIGURE_TAU, priority) == 2


def test_the_clipped_gap_decides_not_the_raw_one() -> None:
    # R2. The best arm is 0.4 inside; raw gaps are 0.5 (arm 1, too high) and 10 (arm 2).
    estimates = table("2 1.4", "1 2.3", "12 1")
    assert paper.delta(estimates, 0, 1, UNIT, FIGURE_TAU) == Fraction("0.5")
    assert paper.delta(estimates, 0, 2, UNIT, FIGURE_TAU) == 10
    assert paper.constrained_sr_reject(estimates, {0, 1, 2}, UNIT, FIGURE_TAU, [0, 1, 2]) == 1


def test_only_survivors_count() -> None:
    identity = [0, 1, 2, 3]
    assert paper.apparent_best(FIGURE_1A, {1, 2, 3}, UNIT, FIGURE_TAU, identity) == 1
    assert paper.apparent_best(FIGURE_1A, {2, 3}, UNIT, FIGURE_TAU, identity) == 2
    assert paper.constrained_sr_reject(FIGURE_1A, {2, 3}, UNIT, FIGURE_TAU, identity) == 3
    assert paper.infeasible_first_reject(FIGURE_1A, {0, 1, 2}, UNIT, FIGURE_TAU, identity) == 2
    assert paper.infeasible_first_reject(FIGURE_1A, {0, 1}, UNIT, FIGURE_TAU, identity) == 1


def test_the_best_arm_is_never_rejected_even_when_all_rows_are_equal() -> None:
    for value in ("1", "1.8", "3"):
        estimates = table(*[f"2 {value}"] * 3)
        for priority in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
            first, last = priority.index(0), priority.index(2)
            args = (estimates, {0, 1, 2}, UNIT, FIGURE_TAU, priority)
            assert paper.apparent_best(*args) == first
            assert paper.constrained_sr_reject(*args) == last
            assert paper.infeasible_first_reject(*args) == last
            assert paper.successive_rejects_reject(*args) == last


def test_the_other_attribute_breaks_ties_before_priority() -> None:
    tau = [Fraction(0)]
    # Equal objectives, all feasible: the smallest margin is best, the largest is worst.
    feasible = table("1 -3", "1 -1", "1 -2")
    # Equal margins, all infeasible: the largest objective is worst, priority says who is best.
    infeasible = table("3 1", "5 1", "4 1")
    for priority in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        args = (feasible, {0, 1, 2}, UNIT, tau, priority)
        assert paper.apparent_best(*args) == 0
        assert paper.constrained_sr_reject(*args) == 1
        assert paper.infeasible_first_reject(*args) == 1
        assert paper.successive_rejects_reject(*args) == 1
        assert paper.infeasible_first_reject(infeasible, {0, 1, 2}, UNIT, tau, priority) == 1
        assert paper.apparent_best(infeasible, {0, 1, 2}, UNIT, tau, priority) == (
            priority.index(0)
        )
    # Arm 1 is the best here by priority alone, so that another arm has to go.
    assert paper.constrained_sr_reject(infeasible, {0, 1, 2}, UNIT, tau, [1, 0, 2]) == 2


def test_relabelling_the_arms_relabels_the_rejection() -> None:
    stream = random.Random(1)
    for _ in range(300):
        K = stream.randint(2, 6)
        rows = [[Fraction(stream.randint(-2, 2)) for _ in range(3)] for _ in range(K)]
        scales, thresholds = exact("1 1/2 2"), exact("0 1")
        priority = stream.sample(range(K), K)
        new_name = stream.sample(range(K), K)
        moved_rows = [rows[new_name.index(i)] for i in range(K)]
        moved_priority = [priority[new_name.index(i)] for i in range(K)]
        alive = set(range(K))
        for rule in (
            paper.apparent_best,
            paper.constrained_sr_reject,
            paper.infeasible_first_reject,
            paper.successive_rejects_reject,
        ):
            before = rule(rows, alive, scales, thresholds, priority)
            after = rule(moved_rows, alive, scales, thresholds, moved_priority)
            assert after == new_name[before]


# ---------------------------------------------------------------------------- schedules


def test_the_schedule_in_exact_rationals() -> None:
    assert paper.log_bar(4) == Fraction(19, 12)
    assert paper.successive_rejects_schedule(4, 23) == [3, 4, 6]
    assert paper.successive_rejects_schedule(3, 19) == [4, 6]
    assert paper.successive_rejects_schedule(2, 10) == [4]
    assert paper.successive_rejects_schedule(1, 10) == [10]


@pytest.mark.parametrize("K", range(2, 41))
def test_the_schedule_fits_the_budget(K: int) -> None:
    for T in budgets(K):
        schedule = paper.successive_rejects_schedule(K, T)
        assert len(schedule) == K - 1
        assert schedule[0] >= 1
        assert schedule == sorted(schedule)
        assert sum(schedule) + schedule[-1] <= T


def test_halving_by_hand() -> None:
    assert paper.sequential_halving_rounds(1, 9) == [(1, 9, 0, 1)]
    assert paper.sequential_halving_rounds(2, 9) == [(2, 4, 1, 1)]
    assert paper.sequential_halving_rounds(3, 19) == [(3, 3, 0, 2), (2, 5, 0, 1)]
    assert paper.sequential_halving_rounds(3, 20) == [(3, 3, 0, 2), (2, 5, 1, 1)]
    assert paper.sequential_halving_rounds(8, 100) == [(8, 4, 0, 4), (4, 8, 0, 2), (2, 18, 0, 1)]
    assert [r[0] for r in paper.sequential_halving_rounds(9, 999)] == [9, 5, 3, 2]


@pytest.mark.parametrize("K", range(1, 41))
def test_halving_and_uniform_spend_the_budget(K: int) -> None:
    for T in budgets(K):
        rounds = paper.sequential_halving_rounds(K, T)
        assert sum(before * each + extra for before, each, extra, _ in rounds) == T
        assert all(each >= 0 and 0 <= extra < before for before, each, extra, _ in rounds)
        assert [after for *_, after in rounds] == [r[0] for r in rounds[1:]] + [1]
        assert rounds[0][0] == K

        pulls = paper.uniform_pulls(K, T, list(range(K)))
        assert sum(pulls) == T
        assert pulls == sorted(pulls, reverse=True)
        assert pulls[0] - pulls[-1] <= 1


def test_uniform_gives_the_remainder_to_the_first_in_priority() -> None:
    assert paper.uniform_pulls(4, 10, [0, 1, 2, 3]) == [3, 3, 2, 2]
    assert paper.uniform_pulls(4, 10, [3, 0, 2, 1]) == [2, 3, 2, 3]


# ----------------------------------------------------------------- the four experiments


@pytest.mark.parametrize(
    ("instance", "optimal", "expected"),
    [
        (INSTANCE_1, 0, ["optimal", "feasible-suboptimal", "feasible-suboptimal"]),
        # R4: by definition arm 1 does not deceive, its objective is the larger one.
        (INSTANCE_2, 0, ["optimal", "infeasible-suboptimal", "feasible-suboptimal"]),
        (
            INSTANCE_3,
            0,
            ["optimal", "feasible-suboptimal", "deceiver", "infeasible-suboptimal"],
        ),
        (INSTANCE_4, 2, ["infeasible", "infeasible", "optimal", "infeasible"]),
    ],
)
def test_the_papers_instances(
    instance: tuple[list[list[Fraction]], list[Fraction]], optimal: int, expected: list[str]
) -> None:
    means, thresholds = instance
    assert paper.optimal_arms(means, UNIT, thresholds) == {optimal}
    assert kinds(means, thresholds) == expected
    assert paper.instance_is_feasible(means, UNIT, thresholds) == (optimal == 0)


@pytest.mark.parametrize(
    ("instance", "order", "hard"),
    [
        # Every Delta is the distance of J to the limit: 0.05, 0.005, 0.05 and 0.1.
        (INSTANCE_1, [0, 1, 2], "800 1200"),
        (INSTANCE_2, [0, 2, 1], "80000 120000"),
        (INSTANCE_3, [0, 1, 2, 3], "1200 1600"),
        (INSTANCE_4, [2, 3, 0, 1], "300 400"),
    ],
)
def test_hardness_of_the_papers_instances(
    instance: tuple[list[list[Fraction]], list[Fraction]], order: list[int], hard: str
) -> None:
    means, thresholds = instance
    priority = list(range(len(means)))
    assert paper.ordered_arms(means, UNIT, thresholds, priority) == order
    assert paper.hardness(means, UNIT, thresholds, priority) == exact(hard)


def test_hardness_with_different_gaps() -> None:
    # J is 10 inside. Gaps: 1 (objective), 2 (a deceiver), 4 (both, the limit counts more).
    means = table("0 -10", "1 -10", "-5 2", "3 4")
    assert paper.ordered_arms(means, UNIT, [0], [0, 1, 2, 3]) == [0, 1, 2, 3]
    assert paper.hardness(means, UNIT, [0], [0, 1, 2, 3]) == exact("21/16 2")


def test_hardness_without_a_suboptimal_arm_and_on_the_threshold() -> None:
    assert paper.hardness(table("1 0"), UNIT, [0], [0]) == exact("0 0")
    assert paper.hardness(table("1 -1", "1 -2"), UNIT, [0], [0, 1]) == exact("0 0")
    assert paper.hardness(table("1 0", "2 -1"), UNIT, [0], [0, 1]) == (None, None)


def test_other_optimal_arms_are_left_out() -> None:
    # Arms 0 and 2 are both optimal; arm 2 lies further inside and is J whatever the priority.
    means = table("1 -1", "2 -5", "1 -3", "4 -5")
    assert paper.optimal_arms(means, UNIT, [0]) == {0, 2}
    for priority in ([0, 1, 2, 3], [3, 2, 1, 0]):
        assert paper.ordered_arms(means, UNIT, [0], priority) == [2, 1, 3]
        assert paper.hardness(means, UNIT, [0], priority) == exact("10/9 2")
    # With nothing feasible the priority says which of two optimal arms is J.
    means = table("1 1", "2 5", "1 1")
    assert paper.ordered_arms(means, UNIT, [0], [0, 1, 2]) == [0, 1]
    assert paper.ordered_arms(means, UNIT, [0], [2, 1, 0]) == [2, 1]


def test_the_two_hardness_measures_bracket_each_other() -> None:
    stream = random.Random(2)
    for _ in range(300):
        K = stream.randint(1, 7)
        means = [[Fraction(stream.randint(-4, 4)) for _ in range(2)] for _ in range(K)]
        H1, H2 = paper.hardness(means, [Fraction(1, 2), 3], [0], stream.sample(range(K), K))
        if H1 is not None and H2 is not None:
            assert H2 / 2 <= H1 <= paper.log_bar(K) * H2


# --------------------------------------------------------------------------- whole runs


@pytest.mark.parametrize(
    ("policy", "instance", "expected"),
    [
        # Noiseless pulls. K = 3, T = 19: n = [4, 6], three pulls stay unspent (R8).
        ("constrained-sr", INSTANCE_1, (0, True, [2, 1], [6, 6, 4])),
        ("constrained-sr", INSTANCE_2, (0, True, [1, 2], [6, 4, 6])),
        ("infeasible-first", INSTANCE_1, (0, True, [2, 1], [6, 6, 4])),
        ("infeasible-first", INSTANCE_2, (0, True, [1, 2], [6, 4, 6])),
        ("successive-rejects", INSTANCE_1, (0, True, [2, 1], [6, 6, 4])),
        ("successive-rejects", INSTANCE_2, (0, True, [2, 1], [6, 6, 4])),
        ("sequential-halving", INSTANCE_1, (0, True, [2, 1], [8, 8, 3])),
        ("sequential-halving", INSTANCE_2, (0, True, [1, 2], [8, 3, 8])),
        ("uniform", INSTANCE_1, (0, True, [], [7, 6, 6])),
        ("uniform", INSTANCE_2, (0, True, [], [7, 6, 6])),
        # K = 4, T = 19: log_bar = 19/12, so n is the ceiling of (180/19) / 4, / 3, / 2.
        ("constrained-sr", INSTANCE_3, (0, True, [3, 2, 1], [5, 5, 4, 3])),
        ("constrained-sr", INSTANCE_4, (2, False, [1, 0, 3], [4, 3, 5, 5])),
        ("infeasible-first", INSTANCE_4, (2, False, [1, 0, 3], [4, 3, 5, 5])),
        ("successive-rejects", INSTANCE_3, (2, False, [3, 1, 0], [5, 4, 5, 3])),
        ("sequential-halving", INSTANCE_4, (2, False, [1, 0, 3], [2, 2, 8, 7])),
    ],
)
def test_noiseless_runs(
    policy: str,
    instance: tuple[list[list[Fraction]], list[Fraction]],
    expected: tuple[int, bool, list[int], list[int]],
) -> None:
    means, thresholds = instance
    K = len(means)
    result = paper.run(policy, K, 19, lambda i, _: means[i], UNIT, thresholds, list(range(K)))
    assert result == expected


def test_a_run_uses_the_mean_of_all_samples() -> None:
    # K = 2, T = 6: n_1 = 2. Arm 0 averages (0, 1), arm 1 averages (1, -1).
    samples = [table("-4 4", "4 -2"), table("3 -3", "-1 1")]
    result = paper.run(
        "constrained-sr", 2, 6, lambda i, ordinal: samples[i][ordinal], UNIT, [0], [0, 1]
    )
    assert result == (1, True, [0], [2, 2])


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("K", "T"), [(1, 5), (2, 9), (3, 30), (5, 61), (8, 100)])
def test_runs_ask_for_each_sample_once_and_in_order(policy: str, K: int, T: int) -> None:
    stream = random.Random(K)
    asked: list[list[int]] = [[] for _ in range(K)]

    def pull(arm: int, ordinal: int) -> Sequence[Fraction]:
        asked[arm].append(ordinal)
        return [Fraction(stream.randint(-3, 3)) for _ in range(3)]

    priority = stream.sample(range(K), K)
    arm, _, rejected, pulls = paper.run(policy, K, T, pull, [1, 1, 2], [0, 0], priority)
    assert asked == [list(range(n)) for n in pulls]
    assert arm not in rejected
    if policy == "uniform":
        assert rejected == []
    else:
        assert sorted([*rejected, arm]) == list(range(K))
    if policy in {"sequential-halving", "uniform"} or K == 1:
        assert sum(pulls) == T
    else:
        schedule = paper.successive_rejects_schedule(K, T)
        assert [pulls[i] for i in [*rejected, arm]] == [*schedule, schedule[-1]]


def test_runs_refuse_what_cannot_be_played() -> None:
    means, thresholds = INSTANCE_3

    def play(policy: str, T: int) -> None:
        paper.run(policy, 4, T, lambda i, _: means[i], UNIT, thresholds, [0, 1, 2, 3])

    with pytest.raises(ValueError, match="too small"):
        play("constrained-sr", 4)
    with pytest.raises(ValueError, match="unknown policy"):
        play("coin-toss", 10)
    # Two rounds of four arms need eight pulls before every arm has an estimate.
    with pytest.raises(ValueError, match="never pulled"):
        play("sequential-halving", 7)
    play("sequential-halving", 8)
