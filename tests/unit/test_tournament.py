"""Tournaments: budgets that meet their target, cells that run long enough, means that add up."""

import math
from dataclasses import replace

import numpy as np
import pytest

import ringfence as rf
from ringfence.core.errors import InputError
from ringfence.policies.registry import find_phase_policy, find_policy
from ringfence.reports.charts import tournament_rows
from ringfence.reports.tournament import Duel, tournament_report
from ringfence.simulation import cpu
from ringfence.simulation.cells import Cell, budget_for, fight
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.families import find_family
from ringfence.simulation.tally import Tally

NAMESAKE = replace(find_phase_policy("constrained-sr"), name="uniform")


def cell(instance: str, policy: str, errors: int, replications: int = 1000, arms: int = 3) -> Cell:
    return Cell(instance, arms, policy, 100, 1, errors, replications)


def report(cells: list[Cell]) -> rf.Tournament:
    return tournament_report(cells, family="uniform", seed=0, target_error=0.1, scales="known")


# ------------------------------------------------------------------------------------ one cell


@pytest.mark.parametrize("scales", ["known", "estimated"])
def test_budgets_are_the_least_that_meet_the_target(scales: str) -> None:
    instance, policy = find_family("uniform").draw(1, arm_count=4), find_policy("constrained-sr")
    budget = budget_for(instance, policy, 0.1, seed=5, scales=scales)

    def rate(pulls: int) -> float:
        experiment = Experiment(instance, policy, pulls, scales=scales)
        return float(cpu.run_chunk(experiment, 9, 0, 100_000).wrong.mean())

    # The search sees 10,000 replications: its own noise is 0.003, and the precision a percent.
    assert rate(budget) < 0.1 + 6 * 0.003
    assert rate(int(budget / 1.05)) > 0.1 - 6 * 0.003


def test_a_target_that_is_met_at_once_gives_the_least_budget() -> None:
    policy = find_policy("constrained-sr")
    instance = rf.Instance.from_dict(
        {
            "objective": "minimize mean(x)",
            "constraints": ["mean(y) <= 1.0"],
            "metrics": ["x", "y"],
            "noise": {"family": "gaussian", "covariance": [[1.0, 0.0], [0.0, 1.0]]},
            "arms": {"good": {"mean": [0.0, -90.0]}, "bad": {"mean": [90.0, -90.0]}},
        }
    )
    assert budget_for(instance, policy, 0.05, seed=0) == 3
    # Noise is estimated from two pulls of each arm: n_1 = ceil((T - 2)/2) = 2 at T = 5.
    assert budget_for(instance, policy, 0.05, seed=0, scales="estimated") == 5


def test_rare_targets_are_searched_for_with_enough_replications(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A hundred errors at the target; ten thousand replications would see one of 0.01%."""
    instance, policy = find_family("uniform").draw(1, arm_count=3), find_policy("constrained-sr")
    sizes: list[int] = []
    run = cpu.run_chunk

    def recorded(experiment: Experiment, seed: int, chunk: int, size: int) -> Tally:
        sizes.append(size)
        return run(experiment, seed, chunk, size)

    monkeypatch.setattr(cpu, "run_chunk", recorded)
    for target, size in ((0.05, 10_000), (1e-3, 100_000), (3e-4, 333_334)):
        sizes.clear()
        budget = budget_for(instance, policy, target, seed=5)
        assert set(sizes) == {size}
        errors = int(run(Experiment(instance, policy, budget), 9, 0, size).wrong.sum())
        assert errors == pytest.approx(target * size, rel=0.6)


def test_a_hopeless_target_is_refused() -> None:
    policy = find_policy("successive-rejects")  # ignores constraints, and so takes the deceiver
    instance = rf.Instance.from_dict(
        {
            "objective": "minimize mean(x)",
            "constraints": ["mean(y) <= 1.0"],
            "metrics": ["x", "y"],
            "noise": {"family": "gaussian", "covariance": [[1.0, 0.0], [0.0, 1.0]]},
            "arms": {"right": {"mean": [5.0, 0.0]}, "deceiver": {"mean": [0.0, 9.0]}},
        }
    )
    with pytest.raises(InputError, match=r"successive-rejects errs more than 0\.05"):
        budget_for(instance, policy, 0.05, seed=0)


def test_cells_run_until_they_have_seen_enough() -> None:
    instance = find_family("uniform").draw(0, arm_count=3)

    def at(budget: int) -> Cell:
        policy = find_policy("top-two")
        return fight(instance, policy, budget, seed=0, least_errors=30, most_replications=5000)

    many = at(20)
    assert many.errors >= 30
    assert many.replications < 5000
    few = at(4000)
    assert few.replications == 5000
    assert few.batch == 10
    assert cell("a", "p", 0).error_rate == 0.5 / 1000


# ------------------------------------------------------------------------------------ the report


def test_means_intervals_and_harm() -> None:
    cells = [
        cell("one", "base", 400), cell("one", "good", 100), cell("one", "bad", 800),
        cell("two", "base", 200), cell("two", "good", 200), cell("two", "bad", 210),
    ]  # fmt: skip
    result = tournament_report(cells, family="uniform", seed=0, target_error=0.05, scales="known")
    base, good, bad = result.standings
    assert (base.policy, good.policy, bad.policy) == ("base", "good", "bad")
    assert base.geometric_mean == base.low == base.high == base.worst == 1.0
    assert good.geometric_mean == pytest.approx(math.sqrt(0.25 * 1.0))
    assert bad.geometric_mean == pytest.approx(math.sqrt(2.0 * 1.05))
    assert (good.worst, good.worst_instance, good.harmed) == (1.0, "two", 0)
    # 2.0 / exp(1.96 sqrt(1/800 + 1/400)) = 1.77 > 1.1, while 1.05 is chance.
    assert (bad.worst, bad.harmed) == (2.0, 1)
    assert bad.worst_low == pytest.approx(2.0 / math.exp(1.96 * math.sqrt(3 / 800)))
    # Two instances have three different resamples: both ends are those of one instance alone.
    assert (good.low, good.high) == pytest.approx((0.25, 1.0))


def test_sizes_are_kept_apart_and_every_duel_is_drawn() -> None:
    cells = [
        cell(f"{arms}-{place}", policy, 50 + place, arms=arms)
        for arms in (3, 8)
        for place in range(5)
        for policy in ("base", "other")
    ]
    result = tournament_report(cells, family="uniform", seed=0, target_error=0.05, scales="known")
    assert [(row.arms, row.policy, row.instances) for row in result.standings] == [
        (3, "base", 5), (3, "other", 5), (8, "base", 5), (8, "other", 5),
    ]  # fmt: skip
    rows = tournament_rows(result)
    assert sum(row["kind"] == "instance" for row in rows) == 10
    assert sum(row["kind"] == "mean" for row in rows) == 2
    assert all(row["policy"] == "other" for row in rows)


def test_intervals_of_a_ratio_cover_it() -> None:
    """Two Poisson counts with means 100 and 250: the ratio 0.4 lies inside in 95% of draws."""
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(2000):
        here, there = (cell("a", p, int(rng.poisson(n))) for p, n in (("x", 100), ("y", 250)))
        low, high = Duel(here, there).interval
        inside += low <= 0.4 <= high
    assert abs(inside / 2000 - 0.95) < 6 * math.sqrt(0.95 * 0.05 / 2000)


def test_a_tournament_does_not_depend_on_threads() -> None:
    def run(threads: int) -> dict[str, object]:
        return rf.tournament(
            "uniform",
            arm_counts=3,
            count=3,
            policies=["constrained-sr", "top-two"],
            least_errors=20,
            most_replications=2000,
            threads=threads,
        ).to_dict()

    assert run(1) == run(2)
    assert [row["policy"] for row in run(2)["rows"]] == ["constrained-sr", "top-two"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"family": "uniformm"}, "family = 'uniformm' must be one of"),
        ({"arm_counts": 1}, "arms = 1 must be at least 2"),
        ({"count": 0}, "count = 0 must be at least 1"),
        ({"target_error": 0.0}, "target_error = 0.0 must lie between 0.0001 and 0.5"),
        ({"target_error": 1.5}, "target_error = 1.5 must lie between 0.0001 and 0.5"),
        ({"policies": []}, "policies = \\[\\] must name at least one"),
        ({"arm_counts": []}, "arm_counts = \\[\\] must name at least one"),
        ({"least_errors": 0}, "least_errors = 0 must be at least 1"),
        ({"most_replications": 0}, "most_replications = 0 must be at least 1"),
        ({"scales": "guessed"}, "scales = 'guessed' must be one of"),
        ({"target_error": "0.1"}, "target_error = '0.1' must be a number"),
        ({"count": 1.0}, "count = 1.0 must be a whole number"),
        ({"arm_counts": [3, 4, 3]}, r"arm_counts = \[3, 4, 3\] must name each once: 3 stands"),
        ({"policies": ["uniform", "uniform"]}, "must name each once: 'uniform' stands"),
        ({"policies": ["uniform", NAMESAKE]}, "or rename one that differs"),
    ],
)
def test_bad_tournaments_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rf.tournament(**({"count": 1, "arm_counts": 3} | given))  # type: ignore[arg-type]


def test_other_comparisons_tell_policies_apart_by_name_too() -> None:
    with pytest.raises(InputError, match="must name each once: 'uniform' stands"):
        rf.compare("paper-1", policies=["uniform", NAMESAKE], budgets=100, replications=10)
    log = {
        "arm": ["a", "b", "c"] * 100,
        "x": [7 * row % 10 + 0.5 * (row % 3) for row in range(300)],
        "y": [row % 2 for row in range(300)],
    }
    asked = {"arm": "arm", "objective": "minimize mean(x)", "constraints": "mean(y) <= 2"}
    with pytest.raises(InputError, match="must name each once: 'uniform' stands"):
        rf.replay(log, policies=["uniform", NAMESAKE], **asked)  # type: ignore[arg-type]
    # A namesake alone would be taken for uniform, whose curve says what a policy saves.
    with pytest.raises(InputError, match="another 'uniform', which is what the others are measure"):
        rf.replay(log, policies=NAMESAKE, force=True, **asked)  # type: ignore[arg-type]


def test_the_interval_of_one_instance_is_its_own() -> None:
    cells = [cell("one", "base", 100), cell("one", "other", 50)]
    (base, other) = report(cells).standings
    assert (base.low, base.high) == (1.0, 1.0)
    assert (other.low, other.high) == report(cells).duels[1].interval
    assert other.low < 0.4 < 0.6 < other.high


def test_a_figure_takes_a_policy_beside_the_base() -> None:
    with pytest.raises(InputError, match=r"policies = \['base'\] must name another"):
        rf.tournament_figure(report([cell("one", "base", 100)]))
    drawn = rf.tournament_figure(report([cell("one", "base", 100), cell("one", "other", 50)]))
    low, high = report([cell("one", "base", 100), cell("one", "other", 50)]).standings[1].low, 1.0
    domains = [
        layer["encoding"]["x"]["scale"]["domain"] for layer in drawn.to_dict()["concat"][0]["layer"]
    ]
    assert all(domain[0] <= low and domain[1] >= high for domain in domains)


def test_policies_are_ranked_by_the_largest_size_that_they_were_fought_at() -> None:
    errors = {
        3: {"base": 100, "grows": 90, "shrinks": 10, "small": 50},
        8: {"base": 100, "grows": 10, "shrinks": 90},
    }
    cells = [
        cell(f"{arms}-arms", policy, count, arms=arms)
        for arms, counts in reversed(errors.items())
        for policy, count in counts.items()
    ]
    found = tournament_report(cells, family="uniform", seed=0, target_error=0.1, scales="known")
    assert found.ranking == ["grows", "small", "shrinks", "base"]
