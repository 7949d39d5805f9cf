"""No rule raises, warns or names an arm that is not there, whatever finite evidence it is given.

Ten policies on ties, zeros, ulps, values of 1e60 and 1e-60, singular and all but singular noise,
one arm and thirty: plain, where an overflow or a division by zero is an error, and compiled, where
the very same must come out. A few thousand cases each time, a million with RINGFENCE_LONG.
"""

from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from ringfence.core.arrays import Floats, Integers
from ringfence.core.cost import is_regular
from ringfence.core.gaps import apparent_best
from ringfence.core.posterior import NODES, likeliest_answer, weighed_answer
from ringfence.policies import top_two, top_two_room
from ringfence.policies.evidence import Evidence, Reject
from ringfence.policies.policy import AdaptivePolicy, PhasePolicy
from ringfence.policies.registry import ADAPTIVE_POLICIES, PHASE_POLICIES
from ringfence.simulation.compilation import compile_kernel
from ringfence.simulation.lanes.top_two import RULE
from tests.choosing import LONG, few_of
from tests.laws.degenerate import ARMS, CONSTRAINTS, evidence_of, nth, part_of, stacked
from tests.laws.lane_checks import chosen_side_by_side
from tests.laws.test_adaptive_rules import make_batches, numbers_in

SHAPES = tuple(product(sorted(set(ARMS)), sorted(1 + m for m in set(CONSTRAINTS))))
EACH = 5  # of every shape, of which there are 28: for ten policies, plain and compiled
BATCH = 3

ADAPTIVE = ADAPTIVE_POLICIES


@cache
def shaped() -> tuple[tuple[Evidence, Floats], ...]:
    """Return the cases of every shape, with uniforms of a batch each; none writes in them."""
    found = []
    for number, (arm_count, size) in enumerate(SHAPES):
        rng = np.random.default_rng((28, number))
        each = EACH * (560 if arm_count <= 5 else 60) if LONG else EACH
        found.append((stacked(rng, arm_count, size, each), rng.random((each, BATCH))))
    return tuple(found)


def strictly() -> Any:
    """Make an overflow, a division by zero and what is no number an error."""
    return np.errstate(over="raise", divide="raise", invalid="raise", under="ignore")


def played(
    kernel: Callable[..., None], policy: AdaptivePolicy, whole: Evidence, batches: Floats
) -> tuple[Integers, Integers]:
    """Return what was chosen and answered: arms alive, and nothing but numbers in the room."""
    chosen, answers = np.full(batches.shape, -1), np.full((len(batches), 2), -1)
    for r in range(len(batches)):
        one = slice(r, r + 1)
        room = policy.make_work(*whole.estimates.shape[1:])
        case = part_of(whole, one)
        try:
            kernel(case, batches[one], chosen[one], answers[one], room)
        except (ArithmeticError, ValueError) as error:
            raise AssertionError(f"{error}: {case}") from error
        assert all(np.isfinite(part).all() for part in numbers_in(room))
    places = np.arange(len(batches))
    assert ((chosen >= 0) & (chosen < whole.alive.shape[1])).all()
    assert whole.alive[places[:, None], chosen].all()
    assert whole.alive[places, answers[:, 0]].all()
    return chosen, answers


def dropping(reject: Reject) -> Callable[..., None]:
    """Return a plain loop over stacked studies, to be compiled: drop an arm, name the best."""

    def decide(whole: Evidence, dropped: Integers, named: Integers) -> None:
        for r in range(dropped.shape[0]):
            dropped[r] = reject(
                whole.estimates[r], whole.counts[r], whole.alive[r],
                whole.scales[r], whole.thresholds[r], whole.priority[r],
            )  # fmt: skip
            named[r] = apparent_best(
                whole.estimates[r], whole.alive[r],
                whole.scales[r], whole.thresholds[r], whole.priority[r],
            )  # fmt: skip

    return decide


def dropped_by(kernel: Callable[..., None], whole: Evidence) -> tuple[Integers, Integers]:
    """Return what was dropped and named: of two arms alive and more, one that is."""
    dropped, named = np.full((2, len(whole.alive)), -1)
    kernel(whole, dropped, named)
    places = np.arange(len(dropped))
    several = whole.alive.sum(axis=1) > 1
    assert whole.alive[places, named].all()
    assert (dropped[several] >= 0).all()
    assert whole.alive[places, dropped][several].all()
    return dropped, named


def check_adaptive(policy: AdaptivePolicy) -> list[tuple[Integers, Integers]]:
    """Return what a rule chooses and answers in every case; whatever goes wrong is raised."""
    plain = make_batches(policy.choose, policy.answer)
    with strictly():
        return [played(plain, policy, whole, batches) for whole, batches in shaped()]


@cache
def decided(name: str) -> list[tuple[Integers, Integers]]:
    """Return what a policy's plain rule decides in every case."""
    for policy in ADAPTIVE:
        if policy.name == name:
            return check_adaptive(policy)
    reject = next(one.reject for one in PHASE_POLICIES if one.name == name)
    with strictly():
        return [dropped_by(dropping(reject or first_alive), whole) for whole, _ in shaped()]


@pytest.mark.parametrize("name", [policy.name for policy in ADAPTIVE])
def test_adaptive_rules_choose_and_answer(name: str) -> None:
    assert len(decided(name)) == len(SHAPES)


@pytest.mark.parametrize("name", [policy.name for policy in PHASE_POLICIES])
def test_phase_rules_drop_and_name(name: str) -> None:
    assert len(decided(name)) == len(SHAPES)


def first_alive(*given: Any) -> int:
    """Stand in for a policy that drops no arm."""
    return int(np.flatnonzero(given[2])[0])


@pytest.mark.parametrize("name", few_of([policy.name for policy in ADAPTIVE], "top-two"))
def test_compiled_adaptive_rules_do_the_same(name: str) -> None:
    policy = next(one for one in ADAPTIVE if one.name == name)
    plain = make_batches(policy.choose, policy.answer)
    compiled = compile_kernel(plain, allocates=False)
    for (whole, batches), here in zip(shaped(), decided(name), strict=True):
        there = played(compiled, policy, whole, batches)
        for mine, other in zip(here, there, strict=True):
            np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize(
    "name", few_of([one.name for one in PHASE_POLICIES if one.reject], "glr-halving")
)
def test_compiled_phase_rules_do_the_same(name: str) -> None:
    reject = next(one.reject for one in PHASE_POLICIES if one.name == name)
    assert reject is not None
    compiled = compile_kernel(dropping(reject), allocates=False)
    for (whole, _), here in zip(shaped(), decided(name), strict=True):
        for mine, other in zip(here, dropped_by(compiled, whole), strict=True):
            np.testing.assert_array_equal(mine, other)


def test_the_likeliest_answer_may_be_asked_for_everywhere() -> None:
    """Also where the apparent one is likely enough, and no other would be weighed."""
    seen: Counter[str] = Counter()
    for whole, _ in shaped():
        for r in range(min(len(whole.alive), 50)):
            case = nth(whole, r)
            arm_count = len(case.alive)
            room = np.zeros((arm_count, NODES)), np.zeros((arm_count, NODES + 1))
            given = case.covariances, case.scales, case.thresholds, case.priority, *room
            best = apparent_best(case.estimates, case.alive, *given[1:4])
            with strictly():
                arm, flag = weighed_answer(best, case.estimates, case.counts, case.alive, *given)
                quick, _ = likeliest_answer(case.estimates, case.counts, case.alive, *given)
            assert case.alive[arm]
            assert case.alive[quick]
            seen["another"] += arm != best
            seen["infeasible"] += not flag
    assert seen["another"] > 5
    assert seen["infeasible"] > 5


@pytest.mark.parametrize(
    "policy",
    [one for one in PHASE_POLICIES if one.name not in ("uniform", "glr-halving")],
    ids=lambda policy: policy.name,
)
def test_names_do_not_matter(policy: PhasePolicy) -> None:
    """What compares arms one by one drops the same arm under another number.

    A rule that adds up over arms may tell near ties apart by the order in which it adds.
    """
    rng = np.random.default_rng(281)
    for (whole, _), here in zip(shaped(), decided(policy.name), strict=True):
        order = rng.permutation(whole.alive.shape[1])
        other = whole._replace(
            estimates=whole.estimates[:, order], counts=whole.counts[:, order],
            alive=whole.alive[:, order], priority=whole.priority[:, order],
        )  # fmt: skip
        assert policy.reject is not None
        there = dropped_by(dropping(policy.reject), other)
        several = whole.alive.sum(axis=1) > 1
        np.testing.assert_array_equal(here[0][several], order[there[0]][several])
        np.testing.assert_array_equal(here[1], order[there[1]])


def test_lanes_choose_as_one_by_one() -> None:
    """Top-two for many replications: one noise and one limit, and anything for estimates."""
    rng = np.random.default_rng(282)
    seen: Counter[str] = Counter()
    for _ in range((400 if LONG else 20) * EACH):
        arm_count = int(rng.choice(ARMS))
        one = evidence_of(rng, arm_count, 2)
        if not all(is_regular(one.covariances, i) for i in range(arm_count)):
            seen["unsuited"] += 1
            continue
        lanes = []
        for _ in range(4):
            other = evidence_of(rng, arm_count, 2)
            lanes.append(
                one._replace(
                    estimates=other.estimates, counts=other.counts, priority=other.priority,
                    alive=np.ones(arm_count, np.bool_), left=np.maximum(one.left, 1),
                )
            )  # fmt: skip
        uniforms = rng.random((BATCH, len(lanes)))
        with strictly():
            found = chosen_side_by_side(RULE, lanes, uniforms)
        for lane, study in enumerate(lanes):
            right = np.full(BATCH, -1)
            top_two.choose(study, uniforms[:, lane], right, top_two_room.make_work(arm_count, 2))
            assert found[lane] == right.tolist()
            seen["lanes"] += 1
    assert seen["lanes"] > (200 if LONG else 10) * EACH
