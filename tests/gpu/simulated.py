"""What GPUs do, under numba-cuda's simulator: run by test_simulated.py in a process of its own.

The simulator must be asked for before Numba is imported. It runs kernels as plain Python, thread
by thread, so replications are few: what can be checked exactly is.
"""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import ringfence as rf
from benchmarks import speed
from ringfence.core.arrays import Floats
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.errors import InputError
from ringfence.core.gaps import apparent_best, margin
from ringfence.policies import constrained_sr
from ringfence.policies.policy import PhasePolicy, Policy
from ringfence.policies.registry import (
    PHASE_POLICIES,
    find_phase_policy,
    find_policy,
    policies_for,
)
from ringfence.simulation import cpu, engines, reference
from ringfence.simulation.cells import fight
from ringfence.simulation.counts import Counts
from ringfence.simulation.course import make_body
from ringfence.simulation.engines import CUDA
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.families import find_family
from ringfence.simulation.gpu import engine as gpu_engine
from ringfence.simulation.gpu.draws import ORDER, PULLS, SERIES, Philox, normal_pair, start
from ringfence.simulation.gpu.rooms import layout_of, room_maker, size_of
from ringfence.simulation.instance import Instance
from ringfence.simulation.laws import GaussianLaw
from tests.choosing import LONG, few_of
from tests.statistical.checks import check_same_rate
from tests.statistical.test_error_rates import INSTANCES, gaussian, table


def count(experiment: Experiment, size: int, *, seed: int = 3, **options: Any) -> Counts:
    return gpu_engine.count_chunk(experiment, seed, 0, size, **options)


def same(here: Counts, there: Counts) -> bool:
    return (
        (here.errors, here.wrong_flag) == (there.errors, there.wrong_flag)
        and here.lost_in_phase.tolist() == there.lost_in_phase.tolist()
        and here.pulls.tolist() == there.pulls.tolist()
        and here.chosen.tolist() == there.chosen.tolist()
    )


# ------------------------------------------------ the lean kernel against the rules as they are


def gaussian_arms(count: int, *, single: bool = False) -> Instance:
    """Return arms that are hard to tell apart; with `single`, both attributes are one metric's."""
    return Instance.from_dict(
        {
            "objective": "minimize mean(x)",
            "constraints": ["mean(x) >= 0.1"] if single else ["mean(y) <= 0.5"],
            "metrics": ["x"] if single else ["x", "y"],
            "noise": {
                "family": "gaussian",
                "covariance": [[1.0]] if single else [[1.0, 0.5], [0.5, 1.0]],
            },
            "arms": {
                f"arm{i}": {"mean": [0.3 * i] if single else [0.2 * i, 0.8 - 0.2 * i]}
                for i in range(count)
            },
        }
    )


def replayed(experiment: Experiment, size: int, seed: int = 3) -> Counts:
    """Count replications by the rules as CPU kernels call them: all arms, with a mask."""
    law, design, course = experiment.instance.law, experiment.design, experiment.policy.course
    assert isinstance(law, GaussianLaw)
    key, other_key = (np.uint32(word) for word in experiment.key(seed, 0))
    arm_count, normals = len(law.means), law.normals
    errors = flags = 0
    lost, pulls = np.zeros(len(experiment.phases), np.int64), np.zeros(arm_count)
    chosen = np.zeros((arm_count, 2), np.int64)
    for replication in range(size):
        sums, counts = np.zeros(law.means.shape), np.zeros(arm_count, np.int64)
        alive, priority = np.ones(arm_count, np.bool_), np.arange(arm_count)
        draw = 0
        for number, phase in enumerate(experiment.phases):
            for arm in np.flatnonzero(alive):
                noise: list[float] = []
                for _ in range((normals + 1) // 2):
                    noise += normal_pair(
                        key, other_key, np.uint32(replication), np.uint32(draw), SERIES
                    )
                    draw += 1
                block: Floats = law.factors[arm] @ np.array(noise[:normals])
                sums[arm] += phase.pulls * law.means[arm] + np.sqrt(phase.pulls) * block
                counts[arm] += phase.pulls
            estimates = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], np.nan)
            seen = estimates, alive, design.scales, design.thresholds, priority
            for _ in range(int(alive.sum()) - phase.keep):
                assert course.rule is not None
                out = course.rule(
                    estimates, counts, alive, design.scales, design.thresholds, priority
                )
                survived = bool((alive & design.optimal).any())
                alive[out] = False
                lost[number] += survived and not (alive & design.optimal).any()
        answer = apparent_best(*seen)
        flag = margin(estimates, answer, design.scales, design.thresholds) <= 0.0
        right = design.optimal[answer]
        lost[-1] += bool((alive & design.optimal).any()) and not right
        flags += flag != design.feasible
        errors += not right or flag != design.feasible
        pulls += counts
        chosen[answer, int(flag)] += 1
    return Counts(size, errors, flags, lost, pulls, chosen, 0, 0)


def lean(instance: Instance, policy: PhasePolicy) -> Experiment:
    """Return an experiment at the least budget from 60 on that leaves no remainder."""
    experiments = (Experiment(instance, policy, budget) for budget in range(60, 200))
    return next(each for each in experiments if gpu_engine.suits_lean(each))


def check_replayed(experiment: Experiment) -> None:
    here, there = count(experiment, 60), replayed(experiment, 60)
    assert same(here, there)
    assert here.errors > 0


LEAN_INSTANCES = {
    "two": gaussian_arms(2),
    "own noise": gaussian(),
    "five": gaussian_arms(5),
}
LEAN = [(policy.name, name) for name in LEAN_INSTANCES for policy in PHASE_POLICIES]
FEW_LEAN = [one for one in LEAN if one[0] == "constrained-sr" or one[1] == "own noise"]


@pytest.mark.parametrize(("policy", "name"), few_of(LEAN, *FEW_LEAN))
def test_lean_kernels_decide_as_the_rules_do(policy: str, name: str) -> None:
    check_replayed(lean(LEAN_INSTANCES[name], find_phase_policy(policy)))


def test_a_lean_kernel_with_one_normal_a_block() -> None:
    check_replayed(lean(gaussian_arms(3, single=True), constrained_sr.POLICY))


# ------------------------------------------------------- every policy, every law, both engines


def check_agrees(experiment: Experiment, size: int) -> None:
    """Compare with the reference engine: it says nearly as much, and compiles nothing."""
    run, many = (cpu.run_chunk, 20_000) if LONG else (reference.run_chunk, 600)
    here, there = count(experiment, size), Counts.of(run(experiment, 4, 0, many))
    assert here.replications == size
    for what in ("errors", "wrong_flag"):
        pair = getattr(here, what), getattr(there, what)
        check_same_rate((pair[0], size), (pair[1], many), what)
    for lost in zip(here.lost_in_phase, there.lost_in_phase, strict=True):
        check_same_rate((int(lost[0]), size), (int(lost[1]), many), "lost")
    for named in zip(here.chosen.ravel(), there.chosen.ravel(), strict=True):
        check_same_rate((int(named[0]), size), (int(named[1]), many), "answers")
    assert here.chosen.sum() == size or experiment.question.settles  # of a set, several are named
    if experiment.allowance.is_even:
        assert here.pulls.sum() == size * experiment.pulls_used
    else:
        assert experiment.allowance.cost(here.pulls.astype(int)) <= size * experiment.budget
    np.testing.assert_allclose(here.pulls / size, there.pulls / many, rtol=0.2)


@pytest.mark.parametrize(
    "policy",
    few_of(
        policies_for(BEST_FEASIBLE), *map(find_policy, ("constrained-sr", "uniform", "top-two"))
    ),
    ids=lambda policy: policy.name,
)
def test_every_policy_errs_as_often_as_elsewhere(policy: Policy) -> None:
    """43 pulls leave a remainder, so that no policy that spends it takes the lean kernel."""
    check_agrees(
        Experiment(gaussian(), policy, 43, batch=8), 60 if policy.name == "thompson" else 100
    )


@pytest.mark.parametrize("policy", ["constrained-sr", "top-two"])
def test_unequal_prices_err_as_often_as_elsewhere(policy: str) -> None:
    instance = gaussian()
    prices = (1, 7, 3, 5, 2)[: len(instance.arms)]
    budget = 43 * sum(prices) // len(prices)
    check_agrees(Experiment(instance, find_policy(policy), budget, batch=8, prices=prices), 100)


@pytest.mark.parametrize("policy", ["constrained-sr", "top-two", "apt"])
def test_sets_are_wrong_as_often_as_elsewhere(policy: str) -> None:
    """40 pulls leave no remainder: the lean kernel is not for sets."""
    asked = gaussian().asking("all feasible")
    experiment = Experiment(asked, find_policy(policy), 40, batch=8)
    assert not gpu_engine.suits_lean(experiment)
    check_agrees(experiment, 600 if policy == "apt" else 100)  # its pulls vary much


LAWS: dict[str, Callable[[], Instance]] = {
    name: make for name, make in INSTANCES.items() if name != "gaussian"
}


@pytest.mark.parametrize(
    ("name", "scales"),
    [*((name, "known") for name in [*LAWS, "table"]), *([("mixed", "estimated")] if LONG else [])],
)
def test_every_law_errs_as_often_as_elsewhere(name: str, scales: str, tmp_path: Path) -> None:
    instance = table(tmp_path) if name == "table" else LAWS[name]()
    check_agrees(Experiment(instance, find_policy("constrained-sr"), 43, scales=scales), 100)


def test_estimated_noise() -> None:
    policy = find_policy("ocba-co")
    check_agrees(Experiment(gaussian(), policy, 43, scales="estimated", batch=8), 80)


def test_an_attribute_that_is_no_mean() -> None:
    spread = Instance.from_dict(
        {
            "objective": "minimize mean(a)",
            "constraints": ["std(b) <= 1.2"],
            "metrics": ["a", "b"],
            "noise": {"family": "gaussian", "covariance": [[1.0, 0.2], [0.2, 1.0]]},
            "arms": {"x": {"mean": [0.3, 0.0]}, "y": {"mean": [0.0, 0.0]}},
        }
    )
    check_agrees(Experiment(spread, find_policy("infeasible-first"), 24), 100)


# ------------------------------------------------------- what a result depends on, and what not


@pytest.mark.parametrize("policy", ["constrained-sr", "uniform", "top-two"])
def test_the_launch_does_not_matter(policy: str) -> None:
    """Nor do later replications, for earlier ones: the seed does."""
    experiment = Experiment(gaussian(), find_policy(policy), 45, batch=9)
    here = count(experiment, 30)
    for shape in ((1, 1), (3, 5)):
        assert same(here, count(experiment, 30, shape=shape))
    assert not same(here, count(experiment, 30, seed=4))
    fewer = count(experiment, 29)
    assert 0 <= here.errors - fewer.errors <= 1


def test_workers_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks on two workers, or on other processes, add up to what one gives."""
    monkeypatch.setattr(gpu_engine, "_LEAN_CHUNK", 20)
    alone = rf.simulate("paper-3", budget=60, replications=90, engine="cuda", seed=5)
    assert alone.engine == "cuda"
    monkeypatch.setattr(engines.Cuda, "workers", lambda *_: 2)
    beside = rf.simulate("paper-3", budget=60, replications=90, engine="cuda", seed=5)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        away = rf.simulate(
            "paper-3", budget=60, replications=90, engine="cuda", seed=5, executor=pool
        )
    assert replace(alone, seconds=0.0) == replace(beside, seconds=0.0)
    assert replace(alone, seconds=0.0) == replace(away, seconds=0.0)


def test_chunks_go_on_where_others_end() -> None:
    experiment = Experiment(Instance.load("paper-3"), find_policy("constrained-sr"), 60)
    chunks = [gpu_engine.count_chunk(experiment, 0, number, 30) for number in range(4)]
    assert not any(same(first, second) for first, second in pairwise(chunks))


# ------------------------------------------------------------------------- choosing and refusing


def test_auto_takes_a_gpu_where_it_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rf.simulate("paper-3", budget=60, replications=50, engine="auto").engine == "cpu"
    monkeypatch.setattr(engines, "_WORTH_A_GPU", 0)
    assert rf.simulate("paper-3", budget=60, replications=50, engine="auto").engine == "cuda"
    assert not engines.is_worth_a_gpu(Experiment(tails(), find_policy("uniform"), 900), 10**9)


def tails() -> Instance:
    return Instance.from_dict(
        {
            "objective": "minimize mean(a)",
            "constraints": ["cvar(b, 0.9) <= 1.2"],
            "metrics": ["a", "b"],
            "noise": {"family": "gaussian", "covariance": [[1.0, 0.2], [0.2, 1.0]]},
            "arms": {"x": {"mean": [0.3, 0.0]}, "y": {"mean": [0.0, 0.0]}},
        }
    )


@pytest.mark.parametrize("simulated", [True, False])
def test_a_simulated_gpu_is_not_timed(simulated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "is_simulated", lambda: simulated)
    monkeypatch.setattr(speed, "_interleaved", lambda repeats, *runs: [[1.0] for _ in runs])
    rows = speed._top_two(1, 0)
    assert any("GPU" in row.what for row in rows) == (not simulated)


def test_tournaments_are_fought_on_gpus_at_the_same_budgets() -> None:
    few: dict[str, Any] = {"least_errors": 1, "most_replications": 16}
    rule: dict[str, Any] = {"arm_counts": 2, "count": 1, "target_error": 0.2, **few}
    rule["policies"] = ["constrained-sr", "top-two"]
    here = [duel.cell for duel in rf.tournament(**rule, engine="cuda").duels]
    there = [duel.cell for duel in rf.tournament(**rule).duels]
    assert [cell.budget for cell in here] == [cell.budget for cell in there]
    assert here != there
    instance = find_family("uniform").draw(0, arm_count=2)
    for cell in here:
        policy = find_policy(cell.policy)
        fought = fight(instance, policy, cell.budget, seed=0, engine=CUDA, **few)
        assert fought == cell


def test_batches_share_kernels() -> None:
    instance, policy = find_family("uniform").draw(0, arm_count=2), find_policy("top-two")

    def layout(batch: int) -> Any:
        experiment = Experiment(instance, policy, 900, batch=batch)
        return layout_of(gpu_engine._place(experiment))

    assert layout(2) == layout(3) == layout(4) != layout(1)
    assert layout(5) == layout(16) != layout(4)


@pytest.mark.parametrize("scales", ["known", "estimated"])
@pytest.mark.parametrize("policy", ["constrained-sr", "top-two"])
@pytest.mark.parametrize("answer", ["best feasible", "all feasible"])
def test_what_threads_share_is_only_read(policy: str, scales: str, answer: str) -> None:
    instance = Instance.load("paper-3").asking(answer)
    experiment = Experiment(instance, find_policy(policy), 60, scales=scales, batch=4)
    place, recording = gpu_engine._place(experiment), gpu_engine._recording(experiment)
    frozen = 0
    for path in gpu_engine._read_in(experiment):
        part: Any = place
        for name in path.split("."):
            part = getattr(part, name, None)
        if part is not None:
            part.flags.writeable = False
            frozen += 1
    assert frozen >= 5
    assert place.room.seen.alive.flags.writeable == experiment.policy.has_phases
    body = make_body(
        experiment.course, recording.forget, recording.add, recording.look,
        estimated=experiment.estimated, relative=False,
    )  # fmt: skip
    for replication in range(3):
        start(place.words, *experiment.key(1, 0), replication, PULLS)
        start(place.order_words, *experiment.key(1, 0), replication, ORDER)
        streams = Philox(place.words), Philox(place.order_words)
        body(*streams, instance.law.arrays, experiment.design, place.room, place.state, place.tally)
    assert place.tally.pulls.sum() > 3 * 40
    assert place.tally.misjudged[0] == 0


class Shelf(NamedTuple):
    """Arrays that a thread writes in, and some that it reads."""

    own: Floats
    small: Floats
    large: Floats
    none: Floats


def test_a_block_has_one_copy_of_what_is_small() -> None:
    given = Shelf(np.ones((2, 3)), np.ones((2, 2, 2)), np.ones(2_000), np.ones(0))
    made = room_maker(layout_of(given), frozenset({"small", "large", "none"}))(given)
    assert made.large is given.large
    assert made.none is given.none
    for name in ("own", "small"):
        assert getattr(made, name) is not getattr(given, name)
        assert np.array_equal(getattr(made, name), getattr(given, name))


class Pair(NamedTuple):
    """Two places for arrays."""

    first: Floats
    second: Floats


def test_what_is_one_array_is_one_in_a_copy() -> None:
    """What a thread writes in one place of its room it reads in the other."""
    table = np.arange(6.0).reshape(2, 3)
    layout = layout_of(Pair(table, table))
    made = room_maker(layout, frozenset())(Pair(table, table))
    assert made.first is made.second is not table
    assert np.array_equal(made.first, table)
    assert size_of(layout) == table.nbytes
    apart = room_maker(layout_of(Pair(*np.zeros((2, 3)))), frozenset())(Pair(*np.zeros((2, 3))))
    assert apart.first is not apart.second
    for other in (table.T, table[1:], table[:, 2]):
        with pytest.raises(InputError, match=r"first and second are parts of one.*'cpu'"):
            layout_of(Pair(table, other))


def test_what_needs_every_pull_is_refused() -> None:
    with pytest.raises(InputError, match=r"need every pull.*Use engine = 'cpu'"):
        rf.simulate(tails(), budget=900, replications=10, engine="cuda")


def test_rare_events_stay_on_the_cpu() -> None:
    with pytest.raises(InputError, match="method = 'importance' needs 'cpu'"):
        rf.simulate("paper-1", budget=100, engine="cuda", method="importance")


def test_too_many_arms_are_refused() -> None:
    with pytest.raises(InputError, match=r"with 3000 arms one replication takes .* drop arms"):
        rf.simulate(gaussian_arms(3000), budget=10_000, replications=10, engine="cuda")


def drops_nobody(*_: Any) -> int:
    return -1


def test_a_faulty_rule_is_noticed() -> None:
    policy = replace(constrained_sr.POLICY, name="mine", reject=drops_nobody)
    with pytest.raises(InputError, match="'mine': its rule named an arm that is not alive"):
        rf.simulate("paper-3", policy, budget=60, replications=10, engine="cuda")
