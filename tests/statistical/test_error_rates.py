"""The compiled engine's error rates: against the reference engine, and against closed forms.

The reference engine pulls one sample at a time in plain Python; the compiled one draws whole
blocks. All comparisons are two-sided at alpha = 1e-6 on fixed seeds; each is also run on a planted
fault and must fail there.
"""

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import ringfence
from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.best_feasible import BEST_FEASIBLE
from ringfence.core.schedule import successive_rejects_phases
from ringfence.policies.evidence import Reject
from ringfence.policies.policy import PhasePolicy, Policy
from ringfence.policies.registry import (
    PHASE_POLICIES,
    find_phase_policy,
    find_policy,
    policies_for,
)
from ringfence.simulation import cpu, reference
from ringfence.simulation.counts import Counts, chunk_sizes, total
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from ringfence.simulation.laws import Law
from ringfence.simulation.tally import Tally
from tests.choosing import LONG, few_of
from tests.faults.planting import Edit, planted
from tests.statistical.checks import (
    check_frequencies,
    check_rate,
    check_same_mean,
    check_same_rate,
)
from tests.statistical.sampling import law_with_fault

Engine = Callable[[Experiment, int, int, int], Tally]
BODY = "simulation.course"
BUDGET = 43  # leaves a remainder to every policy that spends it

# ------------------------------------------------------------------------------- the instances


def build(
    noise: dict[str, Any], arms: list[list[float]], problem: tuple[str, ...], **own: Any
) -> Instance:
    """Return an instance of metrics a, b and c; `own` gives arms a covariance of their own."""
    table = {
        f"arm{i}": {"mean": mean, **({"covariance": own[f"arm{i}"]} if f"arm{i}" in own else {})}
        for i, mean in enumerate(arms)
    }
    return Instance.from_dict(
        {
            "objective": problem[0],
            "constraints": list(problem[1:]),
            "metrics": ["a", "b", "c"],
            "noise": noise,
            "arms": table,
        }
    )


TURNED = ("maximize mean(a)", "mean(b) <= 0.5", "mean(c) >= 0.2")
COVARIANCE = [[1.0, 0.6, -0.3], [0.6, 1.0, 0.1], [-0.3, 0.1, 0.5]]
OWN_COVARIANCE = [[3.0, -1.0, 0.2], [-1.0, 1.0, 0.3], [0.2, 0.3, 1.0]]


def gaussian() -> Instance:
    """Four correlated arms, one with a covariance of its own; two constraints, both directions."""
    arms = [[0.9, 0.2, 0.5], [0.5, 0.1, 0.9], [1.2, 0.8, 0.4], [0.7, 0.3, -0.3]]
    noise = {"family": "gaussian", "covariance": COVARIANCE}
    return build(noise, arms, TURNED, arm2=OWN_COVARIANCE)


def bernoulli() -> Instance:
    """Ties everywhere, and nothing feasible but by luck."""
    arms = [[0.5, 0.6, 0.4], [0.6, 0.65, 0.9], [0.45, 0.7, 0.1], [0.4, 0.9, 0.5]]
    return build({"family": "bernoulli"}, arms, TURNED)


def poisson() -> Instance:
    """Counts, with two optimal arms."""
    arms = [[1.0, 0.3, 0.6], [1.0, 0.2, 0.5], [1.6, 1.0, 0.9], [0.6, 0.1, 2.0]]
    return build({"family": "poisson"}, arms, TURNED)


def exponential() -> Instance:
    """Waiting times: skewed, without ties."""
    arms = [[0.8, 0.4, 0.5], [1.1, 0.8, 0.3], [0.5, 0.2, 0.9], [0.9, 0.45, 0.15]]
    return build({"family": "exponential"}, arms, TURNED)


def mixed() -> Instance:
    """A family a metric."""
    arms = [[0.9, 0.4, 0.5], [0.6, 0.3, 0.9], [1.2, 0.7, 0.4], [1.1, 0.45, 0.1]]
    noise = {"family": ["gaussian", "bernoulli", "poisson"], "covariance": [[2.0]]}
    return build(noise, arms, TURNED)


@cache
def table(folder: Path) -> Instance:
    """Rows of a file: few, so that ties are frequent."""
    rng = np.random.default_rng(8)
    with (folder / "rows.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["variant", "a", "b", "c"])
        for arm, (gain, cost) in enumerate([(0, 0), (0, 0), (2, 2), (1, 1)]):
            for a, b, c in rng.integers(0, 8, (5 + arm, 3)):
                writer.writerow([f"v{arm}", a + gain, b + cost, c])
    (folder / "rows.toml").write_text(
        'objective = "maximize mean(a)"\n'
        'constraints = ["mean(b) <= 4.5", "mean(c) >= 2.0"]\n'
        '[noise]\nfamily = "table"\npath = "rows.csv"\narm = "variant"\n'
    )
    return Instance.load(folder / "rows.toml")


INSTANCES: dict[str, Callable[[], Instance]] = {
    "gaussian": gaussian,
    "bernoulli": bernoulli,
    "poisson": poisson,
    "exponential": exponential,
    "mixed": mixed,
}


# ------------------------------------------------------------------- compiled against reference


@dataclass(frozen=True)
class Sample:
    """What an engine counted, with the mean pulls [chunk, arm] kept apart."""

    counts: Counts
    pulls: Floats


def sampled(run: Engine, experiment: Experiment, *, seed: int, chunks: int, size: int) -> Sample:
    """Run small chunks, each with streams of its own."""
    tallies = [run(experiment, seed, chunk, size) for chunk in range(chunks)]
    return Sample(
        total([Counts.of(tally) for tally in tallies]),
        np.array([tally.pulls / size for tally in tallies]),
    )


def check_same_engine(here: Sample, there: Sample) -> None:
    """Compare error, wrong flags, losses by phase, answers, and mean pulls by arm."""
    trials, others = here.counts.replications, there.counts.replications
    for what in ("errors", "wrong_flag"):
        check_same_rate(
            (getattr(here.counts, what), trials), (getattr(there.counts, what), others), what
        )
    losses = here.counts.lost_in_phase, there.counts.lost_in_phase
    for phase, lost in enumerate(zip(losses[0], losses[1], strict=True)):
        check_same_rate((int(lost[0]), trials), (int(lost[1]), others), f"lost in {phase}")
    answers = here.counts.chosen.ravel(), there.counts.chosen.ravel()
    for place, named in enumerate(zip(answers[0], answers[1], strict=True)):
        check_same_rate((int(named[0]), trials), (int(named[1]), others), f"answer {place}")
    for arm in range(here.pulls.shape[1]):
        check_same_mean(here.pulls[:, arm], there.pulls[:, arm], f"pulls of arm {arm}")


def compiled(experiment: Experiment) -> Sample:
    chunks = 40 if experiment.is_adaptive and not LONG else 150
    return sampled(cpu.run_chunk, experiment, seed=1, chunks=chunks, size=256)


def plain(experiment: Experiment, run: Engine = reference.run_chunk) -> Sample:
    """Adaptive rules are slow in plain Python: their few runs are compared with fewer compiled."""
    chunks = 80 if LONG else 20 if experiment.is_adaptive else 40
    return sampled(run, experiment, seed=2, chunks=chunks, size=25)


def instance_named(name: str, tmp_path_factory: pytest.TempPathFactory) -> Instance:
    if name == "table":
        return table(tmp_path_factory.getbasetemp())
    return INSTANCES[name]()


def pairs(
    names: Sequence[str], adaptive: Mapping[str, Sequence[str]], few: Mapping[str, Sequence[str]]
) -> pytest.MarkDecorator:
    """Pair every policy with instances; adaptive ones are slow in plain Python, and get fewer.

    Each time `few` are tried.
    """
    everything = {
        policy.name: names if policy in PHASE_POLICIES else adaptive.get(policy.name, [])
        for policy in policies_for(BEST_FEASIBLE)
    }
    return pytest.mark.parametrize(
        ("policy", "name"),
        [
            pytest.param(policy, name, id=f"{name}-{policy.name}")
            for policy in policies_for(BEST_FEASIBLE)
            for name in few_of(everything[policy.name], *few.get(policy.name, ()))
        ],
    )


@pairs(
    [*INSTANCES, "table"],
    {
        "top-two": ["gaussian", "bernoulli", "table"],
        "ocba-co": ["gaussian", "poisson"],
        "thompson": ["gaussian"],
        "va-lucb": ["gaussian"],
    },
    few={
        "constrained-sr": [*INSTANCES, "table"],
        "sequential-halving": ["bernoulli"],
        "top-two": ["gaussian"],
        "ocba-co": ["gaussian"],
        "thompson": ["gaussian"],
    },
)
def test_compiled_engine_errs_as_often_as_the_reference(
    policy: Policy, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Catches wrong blocks, wrong phases, lost samples, wrong tallies: any way to differ."""
    instance = instance_named(name, tmp_path_factory)
    slow = plain(Experiment(instance, policy, BUDGET))
    for shared in (False, True):
        fast = compiled(Experiment(instance, policy, BUDGET, shared=shared))
        check_same_engine(fast, slow)
    rate = fast.counts.errors / fast.counts.replications
    if policy.name != "scalarised":  # which is nearly always wrong on some of them
        assert 0.05 < rate < 0.95, f"an error rate of {rate} shows little"


@pairs(
    ["gaussian", "mixed", "table"],
    {"top-two": ["gaussian", "mixed", "table"], "ocba-co": ["gaussian"], "thompson": []},
    few={
        "constrained-sr": ["gaussian", "mixed", "table"],
        "sequential-halving": ["gaussian"],
        "uniform": ["table"],
        "top-two": ["gaussian"],
        "ocba-co": ["gaussian"],
    },
)
def test_engines_agree_on_estimated_noise(
    policy: Policy, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Catches a wrong scatter, a wrong pooling, and pulls of a batch that are lost."""
    experiment = Experiment(
        instance_named(name, tmp_path_factory), policy, BUDGET, scales="estimated", batch=3
    )
    check_same_engine(compiled(experiment), plain(experiment))


ENGINE_FAULTS = {
    "flag inverted": Edit(
        BODY,
        "judge(tally, replication, marked, flag,",
        "judge(tally, replication, marked, not flag,",
    ),
    "losses counted with the next phase": Edit(
        BODY, "lost_in = phase", "lost_in = min(phase + 1, 1)"
    ),
    "survivors chosen by the first phase alone": Edit(
        BODY,
        "look(record, i, counts[i] + fresh[i], estimates)",
        "_ = look(record, i, counts[i] + fresh[i], estimates) if state.phase[0] == 0 else None",
    ),
    "flag ignored in the error": Edit(
        "simulation.tally",
        "not has_right_arms or flag != feasible",
        "not has_right_arms",
    ),
    "one pull too few in every phase but the first": Edit(
        "policies.course", "fresh[i] = each if", "fresh[i] = each - int(phase > 0) if"
    ),
}
NOISE_FAULTS = {
    "noise of the first attribute for all": (
        Edit(
            "core.variances",
            "own, count = logs.own[i, c], logs.counts[i]",
            "own, count = logs.own[i, 0], logs.counts[i]",
        ),
    ),
    "pulls' scatter in place of their variance": (
        Edit(
            "core.variances",
            "math.log(0.5 * scatters[i, c, c]) - mean if varied",
            "math.log(0.5 * scatters[i, c, c]) if varied",
        ),
    ),
}  # fmt: skip


def plain_in(rooms: Mapping[str, Any], experiment: Experiment) -> Sample:
    """Return what the reference engine counts with a fault in it, its policies included."""
    policy = rooms["policies.registry"].find_policy(experiment.policy.name)
    return plain(replace(experiment, policy=policy), rooms["simulation.reference"].run_chunk)


@cache
def sound(make: Callable[[], Instance], policy: str, scales: str = "known") -> Sample:
    """Return what the compiled engine counts, once the reference has counted the same."""
    experiment = Experiment(make(), find_policy(policy), BUDGET, scales=scales)
    fast = compiled(experiment)
    check_same_engine(fast, plain(experiment))
    return fast


@pytest.mark.parametrize("fault", ENGINE_FAULTS)
def test_engines_that_differ_are_told_apart(fault: str) -> None:
    """The comparison above, with a fault planted in one of the two engines, fails."""
    rooms = planted(ENGINE_FAULTS[fault])
    # Where nothing is feasible, the right arm often has the wrong flag.
    make = bernoulli if fault == "flag ignored in the error" else gaussian
    experiment = Experiment(make(), find_policy("constrained-sr"), BUDGET)
    fast = sound(make, "constrained-sr")
    with pytest.raises(AssertionError):
        check_same_engine(fast, plain_in(rooms, experiment))


def unlike() -> Instance:
    """Metrics whose noise differs much, and whose means are far from zero: the noise decides."""
    return build(
        {"family": "gaussian", "covariance": [[1.0, 0, 0], [0, 0.04, 0], [0, 0, 9.0]]},
        [[5.0, 0.45, 3.0], [4.5, 0.4, 3.5], [6.0, 0.6, 2.0], [5.5, 0.52, -1.0]],
        TURNED,
    )


@pytest.mark.parametrize("fault", NOISE_FAULTS)
def test_engines_that_estimate_noise_differently_are_told_apart(fault: str) -> None:
    rooms = planted(*NOISE_FAULTS[fault])
    experiment = Experiment(unlike(), find_policy("top-two"), BUDGET, scales="estimated")
    fast = sound(unlike, "top-two", "estimated")
    with pytest.raises(AssertionError):
        check_same_engine(fast, plain_in(rooms, experiment))


# --------------------------------------------------------------------------------- closed forms


def check_closed_form(
    run: Engine, experiment: Experiment, rate: float, *, size: int, flag_only: bool = False
) -> None:
    """Compare an error rate with its exact value; with `flag_only` no arm can be wrong."""
    counts = total(
        [
            Counts.of(run(experiment, 4, chunk, n))
            for chunk, n in enumerate(chunk_sizes(size, 10_000))
        ]
    )
    check_rate(counts.errors, size, rate, "errors")
    if flag_only:
        assert counts.wrong_flag == counts.errors
        assert counts.lost_in_phase.sum() == 0


ENGINES: dict[str, tuple[Engine, int]] = {
    "cpu": (cpu.run_chunk, 400_000),
    "reference": (reference.run_chunk, 4000),
}
every_engine = pytest.mark.parametrize("engine", list(ENGINES))


def single_arm(mean: float, policy: str = "constrained-sr") -> tuple[Experiment, float]:
    """Return one arm with deviation 1.5 at 20 pulls, and Phi(-|mean - tau| sqrt(T)/sigma)."""
    instance = Instance.from_dict(
        {
            "objective": "minimize mean(x)",
            "constraints": ["mean(y) <= 1.0"],
            "metrics": ["x", "y"],
            "noise": {"family": "gaussian", "covariance": [[1.0, 0.3], [0.3, 2.25]]},
            "arms": {"only": {"mean": [0.0, mean]}},
        }
    )
    rate = float(stats.norm.cdf(-abs(mean - 1.0) * math.sqrt(20) / 1.5))
    return Experiment(instance, find_policy(policy), 20), rate


@every_engine
@pytest.mark.parametrize("mean", [0.7, 1.3])
def test_flag_of_a_single_arm(engine: str, mean: float) -> None:
    """Catches an inverted flag, a variance of n^2 for n, and a budget that is not spent."""
    run, size = ENGINES[engine]
    experiment, rate = single_arm(mean)
    check_closed_form(run, experiment, rate, size=size, flag_only=True)


@every_engine
def test_flag_of_a_single_arm_with_two_correlated_constraints(engine: str) -> None:
    """Catches a covariance that is ignored: the flag is right when both estimates are inside."""
    covariance = np.array([[1.0, 0.8], [0.8, 1.0]])
    instance = Instance.from_dict(
        {
            "objective": "minimize mean(y)",
            "constraints": ["mean(y) <= 0.3", "mean(z) <= 0.2"],
            "metrics": ["y", "z"],
            "noise": {"family": "gaussian", "covariance": covariance.tolist()},
            "arms": {"only": {"mean": [0.0, 0.0]}},
        }
    )
    inside = stats.multivariate_normal(np.zeros(2), covariance / 10).cdf([0.3, 0.2])
    run, size = ENGINES[engine]
    experiment = Experiment(instance, find_policy("uniform"), 10)
    check_closed_form(run, experiment, 1.0 - float(inside), size=size, flag_only=True)


def two_arms(rows: list[list[float]], covariance: list[list[float]], threshold: float) -> Instance:
    return Instance.from_dict(
        {
            "objective": "minimize mean(x)",
            "constraints": [f"mean(y) <= {threshold}"],
            "metrics": ["x", "y"],
            "noise": {"family": "gaussian", "covariance": covariance},
            "arms": {f"arm{i}": {"mean": row} for i, row in enumerate(rows)},
        }
    )


@pytest.mark.parametrize(
    "policy",
    few_of(
        [policy for policy in PHASE_POLICIES if policy.name != "scalarised"],
        *map(find_phase_policy, ("constrained-sr", "sequential-halving", "uniform")),
    ),
    ids=lambda policy: policy.name,
)
def test_two_feasible_arms(policy: PhasePolicy) -> None:
    """Far from the limit, the error is Phi(-d sqrt(n) / sqrt(2 sigma^2)) with n pulls each.

    Catches a schedule that is off by one, and noise of the wrong size.
    """
    distance, deviation, budget = 0.5, 1.2, 30
    instance = two_arms([[0.0, 0.0], [distance, 0.0]], [[deviation**2, 0.0], [0.0, 1.0]], 100.0)
    pulls = (
        budget // 2
        if policy.name in ("uniform", "sequential-halving", "glr-halving")
        else (budget - 2) // 2
    )
    rate = float(stats.norm.cdf(-distance * math.sqrt(pulls) / (deviation * math.sqrt(2))))
    experiment = Experiment(instance, policy, budget)
    check_closed_form(cpu.run_chunk, experiment, rate, size=400_000)


def deceived() -> tuple[Experiment, float]:
    """Return an arm near the limit and a deceiver, correlated, with the exact error rate.

    The answer is right when arm 0 looks feasible and arm 1 either looks infeasible or has the
    larger objective: P(y0 in) - P(y0 in, y1 in, x1 < x0), a trivariate normal probability.
    """
    rows, tau, pulls = [[0.0, -0.2], [-0.3, 0.25]], 0.0, 9
    covariance = np.array([[1.0, 0.7], [0.7, 1.0]])
    mean = np.array([rows[0][1], rows[1][1], rows[1][0] - rows[0][0]])
    joint = np.array(
        [
            [covariance[1, 1], 0.0, -covariance[0, 1]],
            [0.0, covariance[1, 1], covariance[0, 1]],
            [-covariance[0, 1], covariance[0, 1], 2 * covariance[0, 0]],
        ]
    )
    lost = stats.multivariate_normal(mean, joint / pulls).cdf([tau, tau, 0.0])
    looks_feasible = stats.norm.cdf((tau - mean[0]) * math.sqrt(pulls))
    experiment = Experiment(
        two_arms(rows, covariance.tolist(), tau), find_policy("constrained-sr"), 2 * pulls + 2
    )
    return experiment, 1.0 - float(looks_feasible - lost)


@every_engine
def test_an_arm_and_its_deceiver(engine: str) -> None:
    """Catches a covariance that is ignored, and any slip in the rule for two arms."""
    run, size = ENGINES[engine]
    experiment, rate = deceived()
    check_closed_form(run, experiment, rate, size=size)


def with_law(experiment: Experiment, law: Law) -> Experiment:
    old = experiment.instance
    instance = Instance(old.name, old.problem, old.arms, law)
    return Experiment(instance, experiment.policy, experiment.budget)


def test_closed_forms_notice_planted_faults() -> None:
    """An inverted flag, a variance of n^2, an ignored covariance: each is told from the truth."""
    faulty = planted(ENGINE_FAULTS["flag inverted"])
    experiment, rate = single_arm(0.7)
    with pytest.raises(AssertionError, match="errors"):
        check_closed_form(
            faulty["simulation.reference"].run_chunk, experiment, rate, size=4000, flag_only=True
        )

    squared = Edit("simulation.draws", "root = math.sqrt(pulls)", "root = float(pulls)")
    noisy = with_law(experiment, law_with_fault(experiment.instance.law, squared))
    with pytest.raises(AssertionError, match="errors"):
        check_closed_form(cpu.run_chunk, noisy, rate, size=400_000)

    experiment, rate = deceived()
    ignored = Edit(
        "simulation.draws",
        "block[c, lane] += factor * noise[d, lane]",
        "block[c, lane] += factor * rng.standard_normal()",
    )
    independent = with_law(experiment, law_with_fault(experiment.instance.law, ignored))
    with pytest.raises(AssertionError, match="errors"):
        check_closed_form(cpu.run_chunk, independent, rate, size=400_000)

    early = Experiment(experiment.instance, experiment.policy, experiment.budget - 4)
    with pytest.raises(AssertionError, match="errors"):
        check_closed_form(cpu.run_chunk, early, rate, size=400_000)


# ----------------------------------------------------------------------------- identical arms


def answers(
    run: Engine,
    experiment: Experiment,
    size: int,
    *,
    shuffled: bool = True,
    experiment_type: type[Experiment] = Experiment,
) -> Integers:
    """Return how often each arm was the answer: ask for each as if it alone were right."""
    found = []
    for arm in range(len(experiment.instance.arms)):
        own = experiment_type(experiment.instance, experiment.policy, experiment.budget)
        alone = np.arange(len(experiment.instance.arms)) == arm
        design = own.design
        changed = design._replace(optimal=alone, shuffled=design.shuffled and shuffled)
        object.__setattr__(own, "design", changed)
        found.append(size - int(run(own, 6, 0, size).lost_in_phase.sum()))
    assert sum(found) == size, "every replication has one answer"
    return np.array(found)


def identical_arms() -> Instance:
    """Return four arms of three fair coins each: nothing but the order of arms tells them apart."""
    arms = {f"arm{i}": {"mean": [0.5, 0.5, 0.5]} for i in range(4)}
    return Instance.from_dict(
        {
            "objective": "minimize mean(a)",
            "constraints": ["mean(b) <= 0.5", "mean(c) <= 0.75"],
            "metrics": ["a", "b", "c"],
            "noise": {"family": "bernoulli"},
            "arms": arms,
        }
    )


def check_fair(found: Integers) -> None:
    check_frequencies(found.astype(np.float64), np.full(len(found), found.sum() / len(found)))


@pytest.mark.parametrize(
    "policy",
    few_of(policies_for(BEST_FEASIBLE), find_policy("constrained-sr")),
    ids=lambda policy: policy.name,
)
def test_no_arm_gains_from_being_listed_first(policy: Policy) -> None:
    """Catches an order of arms that is not drawn, or not uniformly; the control is planted."""
    experiment = Experiment(identical_arms(), policy, 20)  # no extra pulls
    check_fair(answers(cpu.run_chunk, experiment, 60_000))
    check_fair(answers(reference.run_chunk, experiment, 100 if experiment.is_adaptive else 800))
    if policy.name == "thompson":
        return  # it decides by draws, which do not tie: the order of arms hardly matters to it
    seldom_ties = policy.name == "top-two"  # so that its control takes a minute
    if seldom_ties and not LONG:
        return
    size = 600_000 if seldom_ties else 60_000
    with pytest.raises(AssertionError, match="frequencies"):
        check_fair(answers(cpu.run_chunk, experiment, size, shuffled=False))


# ------------------------------------------------------------------------------ reproducibility


def essence(result: ringfence.SimulationResult) -> dict[str, Any]:
    """Return all of a result but its speed."""
    content = result.to_dict()
    del content["seconds"], content["replications_per_second"]
    return content


@pytest.mark.parametrize("name", ["gaussian", "bernoulli"])
def test_the_same_seed_gives_the_same_result_on_any_number_of_threads(name: str) -> None:
    """Catches a stream that depends on who draws from it, and a tally that is not added up."""
    instance = INSTANCES[name]()
    results = [
        essence(
            ringfence.simulate(
                instance, "constrained-sr", budget=BUDGET, replications=50_123, seed=3, threads=n
            )
        )
        for n in (1, 2, 3, 1)
    ]
    assert results[0] == results[1] == results[2] == results[3]
    other = ringfence.simulate(
        instance, "constrained-sr", budget=BUDGET, replications=50_123, seed=4
    )
    assert essence(other)["lost_in_phase"] != results[0]["lost_in_phase"]


def test_comparisons_do_not_depend_on_threads() -> None:
    rows = [
        [
            (essence(row.result), row.only_here_wrong, row.only_first_wrong)
            for row in ringfence.compare(
                gaussian(),
                policies=["constrained-sr", "infeasible-first"],
                budgets=[BUDGET],
                replications=30_001,
                threads=threads,
            )
        ]
        for threads in (1, 2, 3)
    ]
    assert rows[0] == rows[1] == rows[2]


@pairs(
    ["gaussian", "bernoulli", "table"],
    {policy.name: ["gaussian", "bernoulli", "table"] for policy in policies_for(BEST_FEASIBLE)},
    few={
        "constrained-sr": ["gaussian", "bernoulli", "table"],
        "sequential-halving": ["bernoulli"],
        "top-two": ["gaussian"],
        "ocba-co": ["gaussian"],
        "thompson": ["gaussian"],
    },
)
def test_a_longer_run_begins_with_the_shorter_one(
    policy: Policy, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Catches streams that depend on how many replications were asked for."""
    experiment = Experiment(instance_named(name, tmp_path_factory), policy, BUDGET)
    whole = cpu.run_chunk(experiment, 5, 3, 1000)
    for size in (1, 7, 63, 64, 65, 500):
        part = cpu.run_chunk(experiment, 5, 3, size)
        np.testing.assert_array_equal(part.wrong, whole.wrong[:size])
        np.testing.assert_array_equal(part.flag_wrong, whole.flag_wrong[:size])
        assert part.pulls.sum() == size * experiment.pulls_used
        assert part.chosen.sum() == size
        assert (part.chosen <= whole.chosen).all()
        check_answers(part, experiment)
    again = cpu.run_chunk(experiment, 5, 3, 1000)
    for first, second in zip(whole, again, strict=True):
        np.testing.assert_array_equal(first, second)


def check_answers(tally: Tally, experiment: Experiment) -> None:
    """What is wrong follows from the answers."""
    hardness = experiment.instance.hardness
    right = tally.chosen[list(hardness.optimal_arms), int(hardness.feasible)].sum()
    assert tally.wrong.sum() == tally.chosen.sum() - right
    assert tally.flag_wrong.sum() == tally.chosen[:, int(not hardness.feasible)].sum()


def check_streams(experiment_type: type[Experiment]) -> None:
    """Compare runs of different seeds, budgets and chunks: they must differ as strangers do."""
    policy = find_policy("constrained-sr")
    runs = [
        cpu.run_chunk(experiment_type(gaussian(), policy, budget), seed, chunk, 2000).wrong
        for seed, budget, chunk in [(0, 43, 0), (0, 43, 1), (1, 43, 0), (0, 44, 0), (0, 43, 43)]
    ]
    for i, here in enumerate(runs):
        for there in runs[:i]:
            rates = here.mean(), there.mean()
            independent = rates[0] * (1 - rates[1]) + rates[1] * (1 - rates[0])
            check_rate(int((here != there).sum()), len(here), independent, "different answers:")


def test_chunks_seeds_and_budgets_have_streams_of_their_own() -> None:
    """Catches a stream that is used twice."""
    check_streams(Experiment)


def test_simulate_is_the_sum_of_its_chunks() -> None:
    instance, policy = bernoulli(), find_policy("infeasible-first")
    experiment = Experiment(instance, policy, BUDGET)
    sizes = list(chunk_sizes(cpu.chunk_size(experiment) * 2 + 10, cpu.chunk_size(experiment)))
    assert sizes == [cpu.chunk_size(experiment), cpu.chunk_size(experiment), 10]
    counts = total([Counts.of(cpu.run_chunk(experiment, 9, i, n)) for i, n in enumerate(sizes)])
    result = ringfence.simulate(
        instance, policy, budget=BUDGET, replications=sum(sizes), seed=9, threads=2
    )
    assert (result.errors, result.wrong_flag) == (counts.errors, counts.wrong_flag)
    assert [
        [one["infeasible"], one["feasible"]] for one in result.chosen.values()
    ] == counts.chosen.tolist()
    assert result.lost_in_phase == tuple(counts.lost_in_phase.tolist())


# ------------------------------------------------------------------------ common random numbers


def drop_upwards(
    estimates: Floats,
    counts: Integers,
    alive: Mask,
    scales: Floats,
    thresholds: Floats,
    priority: Integers,
) -> int:
    """Drop arm 0, then arm 1."""
    return 0 if alive[0] else 1


def drop_downwards(
    estimates: Floats,
    counts: Integers,
    alive: Mask,
    scales: Floats,
    thresholds: Floats,
    priority: Integers,
) -> int:
    """Drop arm 1, then arm 0."""
    return 1 if alive[1] else 0


def flags(rule: Reject, *, shared: bool) -> Mask:
    """Return what the last survivor, arm 2, looked like in each replication."""
    instance = Instance.from_dict(
        {
            "objective": "minimize mean(x)",
            "constraints": ["mean(y) <= 1.0"],
            "metrics": ["x", "y"],
            "noise": {"family": "poisson"},
            "arms": {"u": {"mean": [0.1, 0.4]}, "v": {"mean": [1.0, 3.0]}, "w": {"mean": [1, 1.1]}},
        }
    )
    policy = PhasePolicy("fixed", "", successive_rejects_phases, lambda arms: arms + 1, rule)
    return cpu.run_chunk(Experiment(instance, policy, 25, shared=shared), 0, 0, 3000).flag_wrong


def test_policies_that_drop_differently_see_the_same_pulls() -> None:
    """With `shared`, arm 2's pulls do not depend on who was dropped before; without, they do."""
    np.testing.assert_array_equal(
        flags(drop_upwards, shared=True), flags(drop_downwards, shared=True)
    )
    alone = flags(drop_upwards, shared=False), flags(drop_downwards, shared=False)
    assert (alone[0] != alone[1]).any()
