"""Laws of courses whose answer is a set: they are the transcription's, engine by engine.

Samples are integers whose means are integers too, so that ties and values on limits are frequent;
that they occurred is asserted.
"""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import ringfence as rf
from ringfence.core.all_feasible import ALL_FEASIBLE
from ringfence.policies import apt, constrained_sr, top_two, top_two_room
from ringfence.policies.evidence import Evidence
from ringfence.policies.registry import find_policy
from ringfence.simulation import cpu, reference
from tests.laws.adaptive_checks import chosen_by
from tests.laws.checks import CONSTRAINT_COUNTS, cases
from tests.laws.question_checks import asked_of, noise_of
from tests.laws.recorded import ATTRIBUTES
from tests.laws.set_checks import Run, check_apt, check_settling, recordings
from tests.oracle import questions as slow
from tests.oracle.questions import Asked

ENGINES: dict[str, Run] = {"cpu": cpu.run_chunk, "reference": reference.run_chunk}
engines = pytest.mark.parametrize("engine", ENGINES)


@pytest.mark.parametrize("m", CONSTRAINT_COUNTS)
def test_arms_are_settled_as_the_transcription_says(m: int) -> None:
    """The rule on integer grids; dead arms are inert, and an order of arms decides ties only."""
    reject, seen = constrained_sr.reject_for(ALL_FEASIBLE), Counter[str]()
    for case in cases(m):
        given = case.arrays()
        expected = slow.settled(asked_of(case))
        given.estimates[~given.alive] = np.nan
        assert reject(*given) == expected, case
        gaps = list(slow.gaps("all feasible", asked_of(case)).values())
        seen["tied"] += gaps.count(max(gaps)) > 1
        seen["on a limit"] += 0 in gaps
        seen["by priority"] += slow.settled(asked_of(case.backwards())) != expected
    assert min(seen.values()) > 20, seen


@engines
def test_constrained_sr_settles_arms_as_the_transcription_does(engine: str) -> None:
    seen = check_settling(ENGINES[engine], find_policy("constrained-sr"))
    assert min(seen.values()) > 10, seen


@engines
@pytest.mark.parametrize("batch", [1, 3])
def test_apt_pulls_as_the_transcription_does(engine: str, batch: int) -> None:
    seen = check_apt(ENGINES[engine], find_policy("apt"), batch=batch)
    assert min(seen.values()) > 10, seen


def evidence(rng: np.random.Generator, arms: int, m: int) -> Evidence:
    root = rng.integers(-2, 3, (arms, m + 1, m + 1))
    counts = rng.integers(1, 9, arms)
    return Evidence(
        estimates=rng.integers(-3, 4, (arms, m + 1)).astype(np.float64),
        counts=counts,
        in_flight=np.zeros(arms, np.int64),
        alive=np.arange(arms) != (0 if rng.random() < 0.3 else -1),
        covariances=(root @ root.transpose(0, 2, 1)).astype(np.float64) + np.eye(m + 1),
        scales=np.ones(m + 1),
        thresholds=rng.integers(-1, 2, m).astype(np.float64),
        priority=rng.permutation(arms),
        left=np.array([int(rng.integers(1, 40))]),
    )


def test_top_two_pulls_the_arm_that_is_cheapest_to_see_wrongly() -> None:
    """By threats in fractions: least of cost (1 + 0.7 n/R) + ln n."""
    rng, choose, decided = np.random.default_rng(8), top_two.choose_for(ALL_FEASIBLE), 0
    for number in range(120):
        m = 1 + number % 3
        seen = evidence(rng, 4, m)
        living = frozenset(np.flatnonzero(seen.alive).tolist())
        rows, limits = seen.estimates.astype(int).tolist(), seen.thresholds.astype(int).tolist()
        asked = Asked(rows, living, (1,) * (m + 1), limits, seen.priority.tolist())
        marked, named, flag = slow.answer("all feasible", asked)
        noise = noise_of(seen.covariances.astype(np.int64), seen.counts)
        costs = dict.fromkeys(living, math.inf)
        for threat in slow.threats("all feasible", asked, marked, named, feasible=flag):
            ((arm, _), _), *_ = next(iter(threat.demands)).sums
            price = slow.cost(threat, rows, noise)
            costs[arm] = min(costs[arm], math.inf if price is None else float(price))
        hurry = 0.7 / float(seen.left[0])
        n = seen.counts.tolist()
        values = {i: costs[i] * (1.0 + n[i] * hurry) + math.log(n[i]) for i in living}
        (chosen,) = chosen_by(choose, top_two_room.make_work, seen, np.zeros(1))
        assert values[chosen] <= min(values.values()) + 1e-9
        decided += sorted(values.values())[1] - min(values.values()) > 1e-6
    assert decided > 100


def test_a_tolerance_spares_what_lies_near_a_limit() -> None:
    policy = replace(apt.POLICY, make_work=apt.MakeWork(tolerance=10.0))
    seen = evidence(np.random.default_rng(1), 4, 1)._replace(alive=np.ones(4, np.bool_))
    chosen = chosen_by(policy.choose, policy.make_work, seen, np.zeros(40))
    pulls = seen.counts + np.bincount(chosen, minlength=4)
    assert np.ptp(pulls) <= 6, "margins of 3 hardly matter beside a tolerance of 10"


@pytest.mark.parametrize("policy", ["constrained-sr", "apt"])
def test_a_live_study_names_the_set_of_the_simulation(policy: str) -> None:
    """On recorded samples, with the noise stated: the same pulls, the same set, sound stores."""
    sizes = Counter[int]()
    for number, (instance, asked, (samples, budget)) in enumerate(
        recordings(40, least=lambda arms: 3 * arms)
    ):
        limits = [f"mean(c{c}) <= {limit}" for c, limit in enumerate(asked.thresholds)]
        names = ("x", "c0", "c1")
        asked = asked._replace(scales=(1,) * ATTRIBUTES)  # stated ones would be rounded
        study = rf.Study.create(
            f"recorded-{number}", arms=list(instance.arms), objective="minimize mean(x)",
            constraints=limits, budget=budget, policy=policy, answer="all feasible", seed=number,
            storage="memory://", metrics=names,
            noise={name: {"sigma": 1.0} for name in names},
        )  # fmt: skip
        for pull in study.pulls():
            row = samples[instance.arms.index(pull.arm)][pull.ordinal]
            study.tell(pull, dict(zip(names, map(float, row), strict=True)))
        asked = asked._replace(priority=study.desk.plan.priority.tolist())
        if policy == "apt":
            first = study.desk.plan.first_pulls(budget)
            found, pulls = slow.run_apt(samples, budget, 1, asked, first)
        else:
            found, order, pulls = slow.run_settling(samples, budget, asked)
            left = [one for each in study.rounds() for one in each.left]
            assert [one.arm for one in left] == order
            assert {one.cause.value for one in left} <= {"settled"}
        verdict = study.recommend()
        assert verdict.answer == tuple(instance.arms[i] for i in sorted(found))
        assert [arm.pulls for arm in verdict.arms] == pulls
        assert study.doctor().problems == ()
        sizes[len(found)] += 1
    assert len(sizes) > 2, sizes
