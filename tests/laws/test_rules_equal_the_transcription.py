"""Every rule, schedule and whole run equals the slow transcription of the paper, exactly.

The grids are coarse, so that ties and on-threshold values are frequent; each test asks that the
delicate situations did occur. `tests/faults` runs planted faults through the very same checks.
"""

import pytest

from ringfence.core import gaps
from ringfence.core.errors import InputError
from ringfence.core.schedule import pulls_used, successive_rejects_totals
from ringfence.policies.policy import PhasePolicy
from ringfence.policies.registry import PHASE_POLICIES, find_phase_policy
from ringfence.simulation import cpu, reference
from tests.choosing import few_of
from tests.laws import checks
from tests.laws.recorded import check_engine, check_noiseless, shuffled
from tests.oracle import transcription as paper

REJECTING = (
    "constrained-sr", "infeasible-first", "successive-rejects", "scalarised", "glr-halving",
)  # fmt: skip
every_policy = pytest.mark.parametrize("policy", PHASE_POLICIES, ids=lambda policy: policy.name)


# --------------------------------------------------------------------------------- one decision


@pytest.mark.parametrize("name", REJECTING)
def test_rejections(name: str) -> None:
    reject = find_phase_policy(name).reject
    assert reject is not None
    seen = checks.check_rejections(reject, name)
    assert seen["tied at the largest gap"] > 2000
    assert seen["on the threshold"] > 2000
    assert seen["nothing looks feasible"] > 1000
    assert seen["everything looks feasible"] > 500
    assert seen["decided by priority"] > 500
    assert seen["some arm is dead"] > 500
    assert seen["unequal scales"] > 2000


def test_sequential_halving_drops_by_the_rule_of_constrained_sr() -> None:
    reject = find_phase_policy("sequential-halving").reject
    assert reject is not None
    checks.check_rejections(reject, "constrained-sr")


def test_apparent_best() -> None:
    seen = checks.check_apparent_best(gaps.apparent_best)
    assert seen["on the threshold"] > 2000
    assert seen["nothing looks feasible"] > 1000
    assert seen["decided by priority"] > 500
    assert seen["some arm is dead"] > 500


def test_margin() -> None:
    seen = checks.check_margin(gaps.margin)
    assert seen["exactly zero"] > 1000
    assert seen["not the last constraint"] > 1000
    assert seen["not the first constraint"] > 1000


@pytest.mark.parametrize("name", ["separation", "gap"])
def test_gaps_of_pairs(name: str) -> None:
    check = {"separation": checks.check_separation, "gap": checks.check_gap}[name]
    seen = check(gaps.pair, getattr(gaps, name))
    assert seen["the cap decides"] > 1000
    assert seen["zero"] > 1000
    for kind in ("both feasible", "deceiver", "infeasible and worse", "both infeasible"):
        assert seen[kind] > 1000


# ------------------------------------------------------------------------------------ schedules


def test_totals_of_successive_rejects() -> None:
    checks.check_totals(successive_rejects_totals)
    assert successive_rejects_totals(4, 23) == [3, 4, 6]
    assert successive_rejects_totals(3, 19) == [4, 6]
    assert successive_rejects_totals(2, 10) == [4]
    assert successive_rejects_totals(1, 10) == [10]


@every_policy
def test_phases(policy: PhasePolicy) -> None:
    checks.check_phases(policy)


@every_policy
def test_the_transcription_refuses_what_the_policy_refuses(policy: PhasePolicy) -> None:
    for arm_count in range(1, 9):
        least = policy.minimum_budget(arm_count)
        assert least >= arm_count + 1
        assert policy.phases(arm_count, least)[0].pulls >= 1
        with pytest.raises(InputError, match="too small"):
            policy.phases(arm_count, least - 1)
        if policy.name not in paper.HALVING_RULES:
            with pytest.raises(ValueError, match="too small"):
                paper.run(policy.name, arm_count, least - 1, lambda _i, _o: [0, 0], [1, 1], [0], [])


@every_policy
def test_pulls_used_is_what_a_run_spends(policy: PhasePolicy) -> None:
    seen = checks.check_pulls_used(pulls_used, policy)
    assert seen["all of the budget"] > 10
    spends_all = policy.name in ("uniform", *paper.HALVING_RULES)
    assert (seen["less than the budget"] == 0) == spends_all


# ----------------------------------------------------------------------------------- whole runs


@every_policy
def test_whole_runs_on_recorded_samples(policy: PhasePolicy) -> None:
    seen = checks.check_whole_runs(policy)
    assert seen["decided by priority"] > 25
    assert seen["looks infeasible"] > 25
    assert seen["looks feasible"] > 25
    assert seen["single arm"] > 10
    if policy.name in ("uniform", *paper.HALVING_RULES):
        assert seen["some arms pulled once more"] > 25


# Every rule runs in the reference; a kernel for recorded samples is compiled for three, which go by
# phases in three ways. Every compiled rule is the plain one: test_policy_laws.
RUNS = [(policy, engine) for engine in ("reference", "cpu") for policy in PHASE_POLICIES]
FEW_RUNS = RUNS[: len(PHASE_POLICIES)] + [
    (find_phase_policy(name), "cpu") for name in ("constrained-sr", "sequential-halving")
]
TRIED = few_of(RUNS, *FEW_RUNS)


@pytest.mark.parametrize(("policy", "engine"), TRIED, ids=lambda one: getattr(one, "name", one))
def test_engines_on_recorded_samples(policy: PhasePolicy, engine: str) -> None:
    """Phases, survivors, extra pulls, what is kept between phases, the answer and the tally."""
    if engine == "cpu":
        # A kernel for few arms and one for many; the latter once, compiling takes a while.
        arm_counts = (5, 9) if policy.name == "constrained-sr" else (5,)
        seen = check_engine(cpu.run_chunk, policy, shuffled, most=6, arm_counts=arm_counts)
    else:
        seen = check_engine(reference.run_chunk, policy, shuffled, most=1)
    for situation in ("right", "wrong flag", "wrong arm", "several right arms"):
        assert seen[situation] > 5, situation
    assert seen["order of arms is not as listed"] > 50
    if policy.name != "uniform":
        assert seen["lost before the last phase"] > 5
    if policy.name in ("uniform", *paper.HALVING_RULES):
        assert seen["some arms pulled once more"] > 25


@pytest.mark.parametrize(
    ("policy", "engine"),
    [(policy, engine) for policy, engine in TRIED if policy.name != "scalarised"],
    ids=lambda one: getattr(one, "name", one),
)
def test_engines_without_noise(policy: PhasePolicy, engine: str) -> None:
    """Nothing leaks from one replication into the next, however they are run side by side.

    Sums of different attributes tie where the attributes do not, and the least noise decides then.
    """
    if engine == "cpu":
        seen = check_noiseless(cpu.run_chunk, policy, replications=300)
    else:
        seen = check_noiseless(reference.run_chunk, policy, replications=3)
    assert seen["right"] > 15
    assert seen["feasible"] > 15
    assert seen["infeasible"] > 5
    if policy.name == "successive-rejects":
        assert seen["wrong"] > 5
    else:
        assert seen["wrong"] == 0
