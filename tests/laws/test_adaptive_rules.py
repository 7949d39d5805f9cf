"""Adaptive policies: every choice equals the transcription, and the laws that all of them keep.

Studies come from `adaptive_checks`: half of them on a grid of whole numbers, so that ties and
on-threshold values are frequent and shifts are exact.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ringfence as rf
from ringfence.core.arrays import Floats, Integers
from ringfence.core.errors import InputError
from ringfence.policies import ocba_co, thompson, top_two, top_two_room, va_lucb
from ringfence.policies.evidence import EQUAL, Answer, Choose, Evidence
from ringfence.policies.policy import MOST_PULLS, AdaptivePolicy
from ringfence.policies.registry import ADAPTIVE_POLICIES
from ringfence.simulation import cpu, reference
from ringfence.simulation.compilation import compile_kernel
from ringfence.simulation.experiment import Experiment
from ringfence.simulation.instance import Instance
from tests.choosing import LONG, few_of
from tests.laws import adaptive_checks as checks
from tests.laws.adaptive_checks import MOST_BATCH, chosen_by, random_study

ADAPTIVE = ADAPTIVE_POLICIES
every_policy = pytest.mark.parametrize("policy", ADAPTIVE, ids=lambda policy: policy.name)
# Thompson hands its draws out in the order of the list: relabelled, other arms get other numbers.
every_relabelled = pytest.mark.parametrize(
    "policy",
    [policy for policy in ADAPTIVE if policy.name != "thompson"],
    ids=lambda policy: policy.name,
)

lawful = settings(
    derandomize=True,
    max_examples=150 if LONG else 75,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow],
)


def test_all_adaptive_policies_are_here() -> None:
    assert [policy.name for policy in ADAPTIVE] == ["top-two", "ocba-co", "thompson", "va-lucb"]


# ------------------------------------------------------------------- equal to the transcription


def test_top_two_equals_the_transcription() -> None:
    seen = checks.check_top_two(top_two.choose, top_two_room.make_work)
    assert seen["leader feasible"] > 500
    assert seen["leader infeasible"] > 500
    assert seen["leader by leniency"] > 100
    assert seen["several arms shrunk"] > 500
    assert seen["decided by priority"] > 100
    assert seen["leader by its share"] > 1000
    assert seen["challenger in spite of a share"] > 1000
    assert seen["on the threshold"] > 100
    assert seen["in flight"] > 500
    assert seen["some arm is dead"] > 300
    assert seen["known exactly"] > 100
    assert seen["single arm"] > 100
    assert seen["excused"] <= seen["pulls"] / 1000


def test_top_two_answers_as_the_transcription() -> None:
    seen = checks.check_likeliest(top_two_room.answer, top_two_room.make_work)
    assert seen["leader feasible"] > 500
    assert seen["leader infeasible"] > 500
    assert seen["another arm"] > 20
    assert seen["the other flag"] > 20
    assert seen["same arm, other flag"] > 20
    assert seen["likelier, but less safe"] > 20
    assert seen["on the threshold"] > 100
    assert seen["excused"] < 50


def test_ocba_co_equals_the_transcription() -> None:
    seen = checks.check_ocba(ocba_co.choose, ocba_co.make_work)
    assert seen["leader feasible"] > 500
    assert seen["leader infeasible"] > 500
    assert seen["decided by priority"] > 100
    assert seen["leader pulled"] > 1000
    assert seen["pulls"] - seen["leader pulled"] > 1000
    assert seen["on the threshold"] > 100
    assert seen["in flight"] > 500
    assert seen["excused"] <= seen["pulls"] / 200


def test_va_lucb_equals_the_transcription() -> None:
    seen = checks.check_va_lucb(va_lucb.choose, va_lucb.make_work)
    assert seen["leader"] > 300
    assert seen["rival"] > 300
    assert seen["some surely out"] > 100
    assert seen["all out"] > 20
    assert seen["alone"] > 20


def test_thompson_equals_the_transcription() -> None:
    seen = checks.check_thompson(thompson.choose, thompson.make_work)
    assert seen["leader"] > 1000
    assert seen["second"] > 1000
    assert seen["several redraws"] > 500
    assert seen["the last redraw"] > 5
    assert seen["rival"] > 500
    assert seen["decided by priority"] > 20
    assert seen["leader feasible"] > 300
    assert seen["leader infeasible"] > 300
    assert seen["excused"] <= seen["pulls"] / 1000


def by_hand(
    estimates: object,
    variances: object,
    counts: list[int],
    *,
    threshold: float = 0.0,
    left: int = 10**9,
) -> Evidence:
    """Return a study of independent attributes, one constraint, the first listed first."""
    values, noise = np.array(estimates, dtype=np.float64), np.array(variances, dtype=np.float64)
    arm_count = len(counts)
    return Evidence(
        values, np.array(counts), np.zeros(arm_count, np.int64), np.ones(arm_count, np.bool_),
        np.array([np.diag(row) for row in noise]), np.ones(2), np.array([threshold]),
        np.arange(arm_count), np.array([left]),
    )  # fmt: skip


def test_top_two_by_hand() -> None:
    """The leader fails at n/8, the other beats it at 1/(2 (1/n + 1/n_b))."""
    seen = by_hand([[0, -0.5], [1, -9]], [[1, 1], [1, 1]], [10, 30])
    # Values: 1.4 10/8 + ln 10 = 4.1 for failing; 30/8 + ln(120/7) = 6.6 for beating.
    assert choices(top_two.POLICY, seen, np.array([0.9])) == [0]
    # With 30 and 10 pulls: 1.4 30/8 + ln 30 + 2 ln 1.5 = 9.5, and 6.6; the leader's share is 1/4,
    # of which it is spared 1/4 3/4.
    seen = by_hand([[0, -0.5], [1, -9]], [[1, 1], [1, 1]], [30, 10])
    assert choices(top_two.POLICY, seen, np.array([0.20])) == [0]
    assert choices(top_two.POLICY, seen, np.array([0.21])) == [1]


def test_top_two_counts_what_hinders_a_threat() -> None:
    """Two arms that cost the same: one only has to be better, the other to pass as well."""
    seen = by_hand([[0, -9], [1, 0], [1, -9]], [[1, 1]] * 3, [90, 10, 10])
    assert choices(top_two.POLICY, seen, np.array([0.9])) == [2]
    # One on the verge of failing counts 2^1.25 times: with half the pulls, 5 x^2 + 0.25 ln 2 is
    # 10 at x = 1.402.
    seen = by_hand([[0, -9], [1.4, 0], [1, -9]], [[1, 1]] * 3, [10**6, 10, 20])
    assert choices(top_two.POLICY, seen, np.array([0.9])) == [1]
    seen = by_hand([[0, -9], [1.404, 0], [1, -9]], [[1, 1]] * 3, [10**6, 10, 20])
    assert choices(top_two.POLICY, seen, np.array([0.9])) == [2]


def test_top_two_looks_first_at_an_arm_that_only_has_to_pass() -> None:
    """It is the answer if it passes: 10 y^2 / 2 - ln 3 for passing, 5.0 for beating the leader.

    The deceiver, far better but over the limit, is at y = 1.104 as urgent as an arm that lies one
    behind the leader and passes.
    """
    for over, chosen in ((1.10, 1), (1.11, 2)):
        seen = by_hand([[0, -9], [-9, over], [1, -9]], [[1, 1]] * 3, [10**6, 10, 10])
        assert choices(top_two.POLICY, seen, np.array([0.9])) == [chosen]


def test_top_two_doubts_less_what_is_pulled_for_its_rivals_sake() -> None:
    """Of 400 pulls the leader has 300, and its own doubt 2 ln 2.25 more than its cost and log.

    1.4 c + ln 300 + 2 ln 2.25 is the value of the deceiver, 5.53 - ln 3 + ln 25, for c = 0.23;
    without the rivals' part it would be the leader's turn up to c = 1.39.
    """
    deceiver = [-9, math.sqrt(2 * 5.53 / 25)]
    for c, chosen in ((0.22, 0), (0.26, 1), (1.3, 1)):
        leader = [0, -math.sqrt(2 * c / 300)]
        seen = by_hand([leader, deceiver, [9, -9]], [[1, 1]] * 3, [300, 25, 75], left=10**12)
        assert choices(top_two.POLICY, seen, np.array([0.9])) == [chosen]


def test_top_two_lets_an_arm_lead_that_may_well_be_feasible() -> None:
    """Far the best arm is over its limit by about a deviation of its 1,000 pulls, 0.0316.

    By less, it leads, and its own doubt, ln 1,000 + 2 ln 2.8, is the first to be settled. By
    more, one of the others leads, and the other one is next to it.
    """
    for over, chosen in ((0.0316, 0), (0.0317, 2)):
        seen = by_hand([[0, over], [1, -9], [1.1, -9]], [[1, 1]] * 3, [1000, 30, 30])
        assert choices(top_two.POLICY, seen, np.array([0.9])) == [chosen]


def test_top_two_shrinks_what_few_pulls_say() -> None:
    """An arm 1 behind by 50 pulls has the value 50/24 + ln 50 = 6.00; one 3 behind by 10, 6.05.

    Of five arms with a mean of 1.2 and a variance of 1.2, each is shrunk by 12/1.2 pulls times
    half of 2/4: to 1.01 by 52.5 and 2.64 by 12.5 pulls, which makes 6.14 and 5.93. Of three arms
    none is shrunk.
    """
    arms, counts = [[0, -99], [1, -99], [3, -99], [1, -99], [1, -99]], [10**6, 50, 10, 10**5, 10**5]
    for arm_count, chosen in ((5, 2), (3, 1)):
        seen = by_hand(arms[:arm_count], [[12, 12]] * arm_count, counts[:arm_count])
        assert choices(top_two.POLICY, seen, np.array([0.9])) == [chosen]


def test_top_two_settles_ties_from_both_sides() -> None:
    """Two arms that tie cost nothing to confuse: the lesser known is pulled more often."""
    seen = by_hand([[0, -1], [0, -1]], [[1, 1]] * 2, [30, 10])
    assert choices(top_two.POLICY, seen, np.array([0.20])) == [0]
    assert choices(top_two.POLICY, seen, np.array([0.21])) == [1]
    seen = by_hand([[0, -1], [0, -1]], [[1, 1]] * 2, [10, 30])
    assert choices(top_two.POLICY, seen, np.array([0.70])) == [0]
    assert choices(top_two.POLICY, seen, np.array([0.71])) == [1]


def test_top_two_leaves_alone_what_the_last_pulls_cannot_overturn() -> None:
    """Far from the end 4.5 + ln 100 = 9.1 is less than 7.2 + ln 10 = 9.5; near it 12.3 and 10.0."""
    known, fresh = [0.3, -9], [1.2, -9]
    seen = by_hand([[0, -9], known, fresh], [[1, 1]] * 3, [10**6, 100, 10])
    assert choices(top_two.POLICY, seen, np.array([0.9])) == [1]
    seen = by_hand([[0, -9], known, fresh], [[1, 1]] * 3, [10**6, 100, 10], left=100)
    assert choices(top_two.POLICY, seen, np.array([0.9])) == [2]


def test_top_two_looks_again_at_an_answer_of_few_pulls_before_the_end() -> None:
    """Its own doubt, 17.5 + ln 100 = 22.1, or whether the other passes, 5 + ln 13,333 = 14.5.

    With 10,000 pulls left these are 22.2 and 28.5. That the answer's noise is known so well after
    a hundred pulls is the rule's belief, not the truth.
    """
    answer, other = [0, -0.5], [-1, math.sqrt(2 * 5 / 40_000)]
    for left, chosen in ((10**9, 1), (10_000, 0)):
        seen = by_hand([answer, other], [[1, 1]] * 2, [100, 40_000], left=left)
        assert choices(top_two.POLICY, seen, np.array([0.9])) == [chosen]


def test_ocba_co_by_hand() -> None:
    """Held back by the objective as much as by the constraint, an arm counts as by the former.

    Then both have the weight 1/2: 2^2/(2 + 2) = 1 = 1^2/1 tells the arm apart either way,
    w = 2/2^2, and the leader's is sqrt(2 w^2/2). By the constraint it would be 1, and the leader's
    1/100.
    """
    noise = [[2, 1], [2, 1]]
    assert choices(ocba_co.POLICY, by_hand([[0, -10], [2, 1]], noise, [5, 7]), np.zeros(4)) == [
        0, 0, 0, 1,
    ]  # fmt: skip
    # A little farther off, the constraint decides: the leader has enough with one in a hundred.
    assert choices(ocba_co.POLICY, by_hand([[0, -10], [2, 1.01]], noise, [5, 7]), np.zeros(4)) == [
        1, 1, 1, 1,
    ]  # fmt: skip
    # On its threshold the leader needs all there is.
    assert choices(ocba_co.POLICY, by_hand([[0, 0], [2, -1]], noise, [50, 7]), np.zeros(2)) == [
        0, 0,
    ]  # fmt: skip


# ----------------------------------------------------------------------------------------- laws


@st.composite
def evidence(draw: st.DrawFn, *, on_grid: bool | None = None) -> Evidence:
    """Draw a study: Hypothesis chooses what kind, a seed fills it in."""
    number = draw(st.integers(0, 329))
    if on_grid is not None:
        number = 2 * number + (not on_grid)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_study(rng, draw(st.integers(1, 3)), number)


uniforms = st.lists(
    st.floats(0.0, 1.0, exclude_max=True), min_size=1, max_size=MOST_BATCH
).map(np.array)  # fmt: skip


def choices(policy: AdaptivePolicy, seen: Evidence, batch: Floats) -> list[int]:
    return chosen_by(policy.choose, policy.make_work, seen, batch)


def answers(policy: AdaptivePolicy, seen: Evidence) -> tuple[int, bool]:
    arm, flag = policy.answer(seen, policy.make_work(*seen.estimates.shape))
    assert seen.alive[arm]
    return int(arm), bool(flag)


def relabelled(seen: Evidence, old: Integers) -> Evidence:
    """Return the study with arm old[k] listed at place k."""
    arrays = ("estimates", "counts", "in_flight", "alive", "covariances", "priority", "prices")
    return seen._replace(**{name: getattr(seen, name)[old] for name in arrays})


@every_relabelled
@lawful
@given(data=st.data(), batch=uniforms)
def test_relabelling_arms(policy: AdaptivePolicy, data: st.DataObject, batch: Floats) -> None:
    """No arm gains from its place in the list.

    OCBA's proportions contain sums over arms, whose rounding depends on their order: off the grid
    only copies tie, and these do so exactly.
    """
    seen = data.draw(evidence(on_grid=False if policy.name == "ocba-co" else None))
    old = np.array(data.draw(st.permutations(range(len(seen.alive)))))
    found = choices(policy, relabelled(seen, old), batch)
    assert [int(old[arm]) for arm in found] == choices(policy, seen, batch)


@every_policy
@lawful
@given(data=st.data())
def test_relabelling_arms_keeps_the_answer(policy: AdaptivePolicy, data: st.DataObject) -> None:
    seen = data.draw(evidence())
    old = np.array(data.draw(st.permutations(range(len(seen.alive)))))
    arm, flag = answers(policy, relabelled(seen, old))
    assert (int(old[arm]), flag) == answers(policy, seen)


@every_policy
def test_equal_prices_choose_as_pulls_do(policy: AdaptivePolicy) -> None:
    rng, changed = np.random.default_rng(8), 0
    for number in range(200):
        seen, batch = random_study(rng, 1 + number % 3, number), rng.random(MOST_BATCH)
        arm_count = len(seen.alive)
        pulls = choices(policy, seen._replace(prices=EQUAL), batch)
        assert choices(policy, seen._replace(prices=np.ones(arm_count)), batch) == pulls
        changed += choices(policy, seen, batch) != pulls
    assert (changed > 10) == (policy.name in ("top-two", "ocba-co"))


def test_equally_likely_answers_go_by_priority() -> None:
    """Arm 0 looks best by a hair; arms 1 and 2 are copies of each other and clearly likelier."""
    estimates = np.array([[0.016, -0.033], [-0.586, 0.038], [-0.586, 0.038]])
    seen = Evidence(
        estimates, np.full(3, 10), np.zeros(3, np.int64), np.ones(3, np.bool_),
        np.tile(np.eye(2), (3, 1, 1)), np.ones(2), np.zeros(1), np.array([0, 1, 2]),
        np.array([1]),
    )  # fmt: skip
    policy = top_two.POLICY
    assert answers(policy, seen) == (1, True)
    assert answers(policy, seen._replace(priority=np.array([0, 2, 1]))) == (2, True)


@every_policy
@lawful
@given(seen=evidence(on_grid=True), batch=uniforms, shift=st.integers(-1000, 1000))
def test_shifting_the_objective(
    policy: AdaptivePolicy, seen: Evidence, batch: Floats, shift: int
) -> None:
    estimates = seen.estimates.copy()
    estimates[:, 0] += shift
    moved = seen._replace(estimates=estimates)
    assert choices(policy, moved, batch) == choices(policy, seen, batch)
    assert answers(policy, moved) == answers(policy, seen)


@every_policy
@lawful
@given(seen=evidence(on_grid=True), batch=uniforms, data=st.data())
def test_shifting_constraints_with_their_thresholds(
    policy: AdaptivePolicy, seen: Evidence, batch: Floats, data: st.DataObject
) -> None:
    m = len(seen.thresholds)
    shifts = np.array(data.draw(st.lists(st.integers(-1000, 1000), min_size=m, max_size=m)))
    estimates = seen.estimates.copy()
    estimates[:, 1:] += shifts
    moved = seen._replace(estimates=estimates, thresholds=seen.thresholds + shifts)
    assert choices(policy, moved, batch) == choices(policy, seen, batch)
    assert answers(policy, moved) == answers(policy, seen)


@every_policy
@lawful
@given(seen=evidence(), batch=uniforms, data=st.data())
def test_units_do_not_matter(
    policy: AdaptivePolicy, seen: Evidence, batch: Floats, data: st.DataObject
) -> None:
    """An attribute in other units: values, covariance and threshold with it, its scale against.

    Units are powers of two, so that nothing is rounded.
    """
    size = len(seen.scales)
    units = 2.0 ** np.array(data.draw(st.lists(st.integers(-30, 30), min_size=size, max_size=size)))
    other = seen._replace(
        estimates=seen.estimates * units,
        covariances=seen.covariances * np.outer(units, units),
        thresholds=seen.thresholds * units[1:],
        scales=seen.scales / units,
    )
    assert choices(policy, other, batch) == choices(policy, seen, batch)
    assert answers(policy, other) == answers(policy, seen)


@every_policy
@lawful
@given(seen=evidence(), batch=uniforms, data=st.data())
def test_a_batch_is_its_pulls_one_by_one(
    policy: AdaptivePolicy, seen: Evidence, batch: Floats, data: st.DataObject
) -> None:
    """What was chosen earlier in a batch counts as what is in flight."""
    cut = data.draw(st.integers(0, len(batch) - 1))
    whole = choices(policy, seen, batch)
    in_flight = seen.in_flight.copy()
    for arm in whole[:cut]:
        in_flight[arm] += 1
    assert choices(policy, seen._replace(in_flight=in_flight), batch[cut:]) == whole[cut:]


@every_policy
@lawful
@given(seen=evidence(), batch=uniforms)
def test_inputs_are_not_mutated(policy: AdaptivePolicy, seen: Evidence, batch: Floats) -> None:
    arrays: list[Any] = [one for one in (*seen, batch) if one is not None]
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    choices(policy, seen, batch)
    answers(policy, seen)
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


# ------------------------------------------------------------------------------------- dead arms


def with_dead_arms(
    policy: AdaptivePolicy, change: Callable[[Evidence, Integers], Evidence]
) -> Iterator[tuple[Evidence, Evidence, Floats]]:
    """Yield studies with dead arms, and the same with these changed."""
    rng = np.random.default_rng(77)
    found = 0
    while found < 120:
        seen = random_study(rng, int(rng.integers(1, 4)), int(rng.integers(0, 330)))
        dead = np.flatnonzero(~seen.alive)
        if len(dead):
            found += 1
            yield seen, change(seen, dead), rng.random(MOST_BATCH)


def filled(value: float) -> Callable[[Evidence, Integers], Evidence]:
    """Return a change that gives dead arms the same value in everything, and unit noise."""

    def change(seen: Evidence, dead: Integers) -> Evidence:
        estimates, covariances = seen.estimates.copy(), seen.covariances.copy()
        estimates[dead] = value
        covariances[dead] = np.eye(estimates.shape[1])
        return seen._replace(estimates=estimates, covariances=covariances)

    return change


def with_counts(count: int) -> Callable[[Evidence, Integers], Evidence]:
    def change(seen: Evidence, dead: Integers) -> Evidence:
        counts, in_flight = seen.counts.copy(), seen.in_flight.copy()
        counts[dead], in_flight[dead] = count, min(count, 7)
        return seen._replace(counts=counts, in_flight=in_flight)

    return change


def check_inert(policy: AdaptivePolicy, change: Callable[[Evidence, Integers], Evidence]) -> None:
    for seen, changed, batch in with_dead_arms(policy, change):
        assert choices(policy, changed, batch) == choices(policy, seen, batch), seen
        assert answers(policy, changed) == answers(policy, seen), seen


@every_policy
def test_dead_arms_are_inert(policy: AdaptivePolicy) -> None:
    """NaN, the best there could be, the worst, or in between: it is neither seen nor named."""
    for value in (-100.0, 0.25, 100.0):
        check_inert(policy, filled(value))


@every_policy
def test_pulls_of_dead_arms_do_not_matter(policy: AdaptivePolicy) -> None:
    check_inert(policy, with_counts(10**9))


@every_policy
def test_dead_arms_may_never_have_been_pulled(policy: AdaptivePolicy) -> None:
    def changed(seen: Evidence, dead: Integers) -> Evidence:
        return filled(-100.0)(with_counts(0)(seen, dead), dead)

    for _, study, batch in with_dead_arms(policy, changed):
        choices(policy, study, batch)
        answers(policy, study)


# ---------------------------------------------------------------------------------- exact values


def numbers_in(work: Any) -> Iterator[Floats]:
    """Yield every array of a policy's room."""
    for part in work:
        if isinstance(part, tuple):
            yield from numbers_in(part)
        else:
            yield part


@every_policy
def test_values_known_exactly_break_nothing(policy: AdaptivePolicy) -> None:
    """Each attribute in turn, and all of them: no NaN, and no warning, which would be an error."""
    rng = np.random.default_rng(78)
    for number in range(180):
        m = 1 + number % 3
        seen = random_study(rng, m, number)
        seen.estimates[~seen.alive] = 0.0
        seen.covariances[~seen.alive] = np.eye(1 + m)
        exact = range(1 + m) if number % 4 == 0 else [int(rng.integers(0, 1 + m))]
        for c in exact:
            seen.covariances[:, c, :] = seen.covariances[:, :, c] = 0.0
        work = policy.make_work(*seen.estimates.shape)
        chosen = np.full(MOST_BATCH, -1)
        policy.choose(seen, rng.random(MOST_BATCH), chosen, work)
        assert all(seen.alive[arm] and arm >= 0 for arm in chosen)
        arm, flag = policy.answer(seen, work)
        assert seen.alive[arm]
        assert flag in (True, False)
        for part in numbers_in(work):
            assert np.isfinite(part).all()


# ------------------------------------------------------------------------ room, and compiled code


def stacked(m: int, arm_count: int, size: int) -> tuple[Evidence, Floats]:
    """Return studies of one shape in stacked arrays, and uniforms for each."""
    rng = np.random.default_rng(10 * m + arm_count)
    found: list[Evidence] = []
    while len(found) < size:
        seen = random_study(rng, m, int(rng.integers(0, 330)))
        if len(seen.alive) == arm_count:
            found.append(seen)
    whole = Evidence(*(np.array(arrays) for arrays in zip(*found, strict=True)))
    return whole, rng.random((size, MOST_BATCH))


def nth(whole: Evidence, r: int) -> Evidence:
    return Evidence(*(array[r] for array in whole))


SHAPES = ((1, 1), (1, 4), (2, 5), (3, 6))


@every_policy
def test_room_may_be_used_again(policy: AdaptivePolicy) -> None:
    for m, arm_count in SHAPES:
        whole, batches = stacked(m, arm_count, 60)
        used = policy.make_work(arm_count, 1 + m)
        for r, batch in enumerate(batches):
            seen, chosen = nth(whole, r), np.full(len(batch), -1)
            policy.choose(seen, batch, chosen, used)
            assert chosen.tolist() == choices(policy, seen, batch)
            arm, flag = policy.answer(seen, used)
            assert (arm, flag) == answers(policy, seen)


def make_batches(choose: Choose, answer: Answer) -> Callable[..., None]:
    """Return a plain loop over stacked studies, to be compiled."""

    def decide(
        whole: Evidence, batches: Floats, chosen: Integers, recommended: Integers, work: Any
    ) -> None:
        for r in range(chosen.shape[0]):
            seen = Evidence(
                whole.estimates[r], whole.counts[r], whole.in_flight[r], whole.alive[r],
                whole.covariances[r], whole.scales[r], whole.thresholds[r], whole.priority[r],
                whole.left[r], whole.baseline[r], whole.prices[r],
            )  # fmt: skip
            choose(seen, batches[r], chosen[r], work)
            arm, flag = answer(seen, work)
            recommended[r, 0] = arm
            recommended[r, 1] = 1 if flag else 0

    return decide


@every_policy
def test_compiled_rule_is_the_plain_rule(policy: AdaptivePolicy) -> None:
    """The rule as compiled, inlined and optimized chooses as the function one reads."""
    plain = make_batches(policy.choose, policy.answer)
    compiled = compile_kernel(plain, allocates=False)
    for m, arm_count in SHAPES:
        whole, batches = stacked(m, arm_count, 150)
        found = []
        for kernel in (plain, compiled):
            chosen, recommended = np.full(batches.shape, -1), np.full((len(batches), 2), -1)
            kernel(whole, batches, chosen, recommended, policy.make_work(arm_count, 1 + m))
            found.append((chosen, recommended))
        np.testing.assert_array_equal(found[0][0], found[1][0])
        np.testing.assert_array_equal(found[0][1], found[1][1])


# ------------------------------------------------------------------------------------ simulation


def instance_of(arm_count: int, *, constraint: float = 0.8) -> Instance:
    arms = {f"arm-{i}": {"mean": [0.1 * i, constraint - 0.05 * i]} for i in range(arm_count)}
    return Instance.from_dict(
        {
            "objective": "minimize mean(loss)",
            "constraints": ["mean(risk) <= 0.7"],
            "metrics": ["loss", "risk"],
            "noise": {"family": "gaussian", "covariance": [[1.0, 0.3], [0.3, 1.0]]},
            "arms": arms,
        }
    )


@every_policy
@pytest.mark.parametrize("arm_count", few_of([1, 2, 5], 2, 5))
def test_the_budget_is_spent_exactly(policy: AdaptivePolicy, arm_count: int) -> None:
    """Compiled, in batches of any size, from the least budget on.

    A single arm has kernels of its own: its arrays are laid out both ways at once.
    """
    least = policy.minimum_budget(arm_count)
    assert least == arm_count + 1
    for constraint in (0.8, 3.0):
        instance = instance_of(arm_count, constraint=constraint)
        for budget in (least, least + 1, 2 * arm_count + 3, 97, 256):
            for batch in (1, 3, 8, 1000):
                experiment = Experiment(instance, policy, budget, batch=batch)
                tally = cpu.run_chunk(experiment, 0, 0, 7)
                assert tally.pulls.sum() == 7 * budget == 7 * experiment.pulls_used
                assert (tally.pulls >= 7 * experiment.warm_up).all()
                assert experiment.warm_up >= 1
                assert tally.misjudged[0] == 0


@every_policy
@pytest.mark.parametrize("arm_count", [1, 2, 5])
def test_the_budget_is_spent_exactly_when_noise_is_estimated(
    policy: AdaptivePolicy, arm_count: int
) -> None:
    """Pull by pull, in plain Python: noise needs two pulls of every arm."""
    instance = instance_of(arm_count)
    least = max(arm_count + 1, 2 * arm_count)
    for budget, batch in ((least, 1), (least + 3, 2), (2 * arm_count + 9, 4)):
        experiment = Experiment(instance, policy, budget, scales="estimated", batch=batch)
        assert experiment.warm_up >= 2
        tally = reference.run_chunk(experiment, 0, 0, 2)
        assert tally.pulls.sum() == 2 * budget
        assert (tally.pulls >= 2 * experiment.warm_up).all()
    with pytest.raises(InputError, match=f"needs at least {least} pulls"):
        Experiment(instance, policy, least - 1, scales="estimated")


@every_policy
def test_simulate_spends_what_it_says(policy: AdaptivePolicy) -> None:
    result = rf.simulate(instance_of(5), policy, budget=83, batch=6, replications=50, threads=1)
    assert math.isclose(sum(result.mean_pulls.values()), 83.0, rel_tol=1e-12)
    assert (result.pulls_used, result.budget, result.batch) == (83, 83, 6)


@every_policy
@pytest.mark.parametrize("arm_count", [1, 2, 5])
def test_budgets_that_cannot_be_used_are_refused(policy: AdaptivePolicy, arm_count: int) -> None:
    arms = "1 arm" if arm_count == 1 else f"{arm_count} arms"
    least = arm_count + 1
    assert policy.first_pulls(arm_count, least) == 1
    with pytest.raises(InputError, match=f"budget = {least - 1} is too small for {arms}: ") as info:
        policy.first_pulls(arm_count, least - 1)
    assert f"{policy.name} needs at least {least} pulls" in str(info.value)
    with pytest.raises(InputError, match="must be a whole number"):
        policy.first_pulls(arm_count, 50.0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="must be at most"):
        policy.first_pulls(arm_count, MOST_PULLS + 1)
    with pytest.raises(InputError, match=r"batch = 0 must be at least 1"):
        rf.simulate(instance_of(arm_count), policy, budget=50, batch=0)


@every_policy
@lawful
@given(arm_count=st.integers(1, 60), beyond=st.integers(0, 10**7), least=st.integers(1, 2))
def test_the_warm_up_fits_any_budget(
    policy: AdaptivePolicy, arm_count: int, beyond: int, least: int
) -> None:
    budget = max(arm_count + 1, least * arm_count) + beyond
    first = policy.first_pulls(arm_count, budget, least=least)
    assert least <= first
    assert first * arm_count <= budget
    if policy.name == "ocba-co":
        assert first in (least, 3 * budget // (10 * arm_count), 3 * budget // (10 * arm_count) - 1)
    else:
        assert first == max(least, min(10, budget // (2 * arm_count)))
