"""Closed forms of costs are the costs of threats: over evidence of any kind, and with baselines."""

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ringfence.core.arrays import Floats, Integers, Mask
from ringfence.core.baseline import Versus, difference_covariances, differences
from ringfence.core.cost import NEVER, CostWork, cost_work, failing_cost
from ringfence.core.question import Question
from ringfence.core.questions import QUESTIONS
from ringfence.core.threats import (
    ARM,
    NOBODY,
    PLACES,
    RIVAL,
    Threats,
    fill_move,
    fill_shares,
    least_cost,
    make_threats,
    threat_cost,
)
from ringfence.policies.policy import Evidence
from ringfence.simulation.compilation import compile_kernel
from tests.laws import degenerate

BEST, ALL = QUESTIONS
each_question = pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.name)
DEGENERATE = 400
FURTHEST = 1e140  # beyond which neither form can be expected to know a distance
LEAST = 1e-290  # below which energies have few digits left


class Answer(NamedTuple):
    """What is doubted: the arms marked, the one named, and the flag."""

    marked: Mask
    named: int
    feasible: bool


class Priced(NamedTuple):
    """The cheapest threat of an arm, alone or against a rival, and the rival's share of it."""

    cost: float
    share: float


Prices = dict[tuple[int, int], Priced]


def answer_to(question: Question, seen: Evidence) -> Answer:
    marked = np.zeros(len(seen.alive), np.bool_)
    named, feasible = question.answer(
        seen.estimates, seen.alive, seen.scales, seen.thresholds, seen.priority, marked
    )
    return Answer(marked, int(named), bool(feasible))


def by_threats(question: Question, seen: Evidence, versus: Versus, answer: Answer) -> Prices:
    """Return the cheapest threat of each arm alone and of each pair, by the general form."""
    threats = make_threats(*seen.estimates.shape)
    count = question.fill_threats(
        seen.alive, *answer, seen.scales, seen.thresholds, versus, threats
    )
    work, pulls = cost_work(len(seen.scales)), seen.counts.astype(np.float64)
    about = (seen.estimates, seen.covariances, pulls, seen.thresholds)
    found: Prices = {}
    for t in range(count):
        key = int(threats.arms[t, ARM]), int(threats.arms[t, RIVAL])
        cost = float(threat_cost(threats, t, *about, work))
        shares: Floats = np.zeros(PLACES)
        fill_shares(shares, threats, t, seen.covariances, pulls, cost, work)
        if key not in found or cost < found[key].cost:
            found[key] = Priced(cost, float(shares[RIVAL]))
    least = min((one.cost for one in found.values()), default=NEVER)
    assert least_cost(threats, count, *about, work) == least
    return found


def by_closed_forms(question: Question, seen: Evidence, answer: Answer, work: CostWork) -> Prices:
    """Return the same by the closed forms, of all arms and pairs."""
    found = {}
    for i in np.flatnonzero(seen.alive).tolist():
        n, named = float(seen.counts[i]), answer.named
        cost = question.own_cost(
            seen.estimates, seen.covariances, i, n, bool(answer.marked[i]), answer.feasible,
            seen.thresholds, work,
        )  # fmt: skip
        found[i, NOBODY] = Priced(float(cost), 0.0)
        if named not in (i, -1):
            cost, share = question.pair_cost(
                seen.estimates, seen.covariances, named, float(seen.counts[named]), i, n,
                answer.feasible, seen.scales, seen.thresholds, work,
            )  # fmt: skip
            found[i, named] = Priced(float(cost), float(share))
    return found


def check_closed_forms(question: Question, seen: Evidence) -> Counter[str]:
    """Hold the closed forms equal to the general form; return what occurred."""
    answer = answer_to(question, seen)
    general = by_threats(question, seen, Versus.of(None, 0.0 * seen.thresholds), answer)
    closed = by_closed_forms(question, seen, answer, cost_work(len(seen.scales)))
    return compare(closed, general)


def compare(closed: Prices, general: Prices) -> Counter[str]:
    occurred: Counter[str] = Counter()
    assert general.keys() <= closed.keys()
    for key, found in closed.items():
        cost, share = general.get(key, Priced(NEVER, 0.0))
        assert math.isclose(found.cost, cost, rel_tol=1e-9, abs_tol=LEAST), (key, found, cost)
        occurred["never"] += cost >= NEVER and key in general
        occurred["already so"] += cost == 0.0
        if LEAST < cost < NEVER:
            assert math.isclose(found.share, share, rel_tol=1e-9, abs_tol=1e-9), (key, found, share)
            occurred["alone" if key[1] == NOBODY else "a pair"] += 1
    return occurred


def is_singular(seen: Evidence) -> bool:
    """Whether rounding decides if two attributes of an arm follow from each other."""
    for covariance in seen.covariances:
        deviations = np.sqrt(np.diag(covariance))
        varies = deviations > 0.0
        units = deviations[varies]
        correlations = covariance[np.ix_(varies, varies)] / units[:, None] / units
        if varies.any() and np.linalg.eigvalsh(correlations)[0] < 1e-9:
            return True
    return False


@each_question
def test_closed_forms_are_the_costs_of_threats_on_degenerate_evidence(question: Question) -> None:
    """Ties, zeros, ulps, 1e60. Values are measured from their limits, as costs never see others.

    Where noise is singular up to rounding, the two need not say alike what cannot be: few differ.
    """
    occurred: Counter[str] = Counter()
    for number in range(DEGENERATE):
        drawn = degenerate.evidence(77, number)
        values = np.concatenate([drawn.estimates.ravel(), drawn.thresholds])
        if np.abs(values).max() > FURTHEST:
            continue
        beyond = drawn.estimates - np.concatenate([[0.0], drawn.thresholds])
        seen = drawn._replace(estimates=beyond, thresholds=0.0 * drawn.thresholds)
        try:
            occurred += check_closed_forms(question, seen)
        except AssertionError:
            if not is_singular(seen):
                raise
            occurred["differ"] += 1
        occurred["studies"] += 1
    assert occurred["studies"] > 0.7 * DEGENERATE
    assert occurred["differ"] <= 0.01 * DEGENERATE
    for what in ("never", "already so", "alone") + ("a pair",) * (question is BEST):
        assert occurred[what] > 200, what


# ------------------------------------------------------------------------------ by Hypothesis


def whole_numbers(
    draw: Callable[..., Any], shape: tuple[int, ...], least: int, most: int
) -> Integers:
    size = math.prod(shape)
    drawn = draw(st.lists(st.integers(least, most), min_size=size, max_size=size))
    return np.array(drawn, dtype=np.int64).reshape(shape)


@st.composite
def evidences(draw: st.DrawFn) -> Evidence:
    """Any evidence in quarters: on limits, tied, with noise that is missing or singular."""
    arm_count, size = draw(st.integers(1, 4)), 1 + draw(st.integers(1, 3))
    roots = whole_numbers(draw, (arm_count, size, draw(st.integers(1, size + 1))), -3, 3)
    alive = whole_numbers(draw, (arm_count,), 0, 3) > 0
    alive[draw(st.integers(0, arm_count - 1))] = True
    return Evidence(
        estimates=whole_numbers(draw, (arm_count, size), -6, 6) / 4.0,
        counts=2 ** whole_numbers(draw, (arm_count,), 0, 6),
        in_flight=np.zeros(arm_count, np.int64),
        alive=alive,
        covariances=(roots @ roots.transpose(0, 2, 1)) / 4.0,
        scales=whole_numbers(draw, (size,), 1, 3) / 2.0,
        thresholds=whole_numbers(draw, (size - 1,), -4, 4) / 4.0,
        priority=np.array(draw(st.permutations(range(arm_count)))),
        left=np.array([10]),
    )


@each_question
@given(evidences())
def test_closed_forms_are_the_costs_of_threats(question: Question, seen: Evidence) -> None:
    check_closed_forms(question, seen)


@each_question
@given(evidences(), st.data())
def test_differences_are_exact_where_nothing_else_moves_with_them(
    question: Question, seen: Evidence, data: st.DataObject
) -> None:
    """Closed forms over differences are exact of an arm alone, and of one that beats another.

    Not where the baseline leads: then its noise is in the objective and in the limits. Nor where
    two arms come closer: it is in both.
    """
    baseline = data.draw(st.integers(0, len(seen.alive) - 1))
    factors = whole_numbers(data.draw, (len(seen.thresholds),), -2, 4) / 2.0
    compared = seen._replace(
        estimates=differences(seen.estimates, baseline, factors),
        covariances=difference_covariances(seen.covariances, seen.counts, baseline, factors),
    )
    answer = answer_to(question, compared)
    general = by_threats(question, seen, Versus.of(baseline, factors), answer)
    closed = by_closed_forms(question, compared, answer, cost_work(len(seen.scales)))
    exact = {
        key for key in general if key[1] == NOBODY or (answer.feasible and answer.named != baseline)
    }
    compare({key: closed[key] for key in exact}, {key: general[key] for key in exact})


@each_question
@given(evidences())
def test_a_move_costs_what_its_threat_does_and_brings_it_about(
    question: Question, seen: Evidence
) -> None:
    threats, pulls = make_threats(*seen.estimates.shape), seen.counts.astype(np.float64)
    nobody = Versus.of(None, 0.0 * seen.thresholds)
    about = (*answer_to(question, seen), seen.scales, seen.thresholds, nobody, threats)
    origin, work = np.concatenate([[0.0], seen.thresholds]), cost_work(len(seen.scales))
    for t in range(question.fill_threats(seen.alive, *about)):
        cost = threat_cost(
            threats, t, seen.estimates, seen.covariances, pulls, seen.thresholds, work
        )
        if cost >= NEVER:
            continue
        move = np.full_like(seen.estimates, np.nan)
        fill_move(move, threats, t, seen.covariances, pulls, work)
        moved = seen.estimates + move - origin
        energy = 0.0
        for i, by in enumerate(move):
            energy += 0.5 * pulls[i] * by @ np.linalg.pinv(seen.covariances[i], rcond=1e-9) @ by
        assert energy == pytest.approx(cost, rel=1e-6, abs=1e-9)
        for d in range(threats.sizes[t]):
            rows = zip(threats.arms[t], threats.rows[t, d], strict=True)
            total = sum(float(row @ moved[arm]) for arm, row in rows if arm >= 0)
            assert total <= threats.bounds[t, d] + 1e-9


# ------------------------------------------------------------------------- the law is awake


def _slack(estimates: Floats, covariances: Floats, arm: int, n: float, *rest: Any) -> float:
    """Take the cost of failing the last limit for that of failing any."""
    marked, feasible, thresholds, work = rest
    if not (marked and feasible):
        return BEST.own_cost(estimates, covariances, arm, n, marked, feasible, thresholds, work)
    return failing_cost(estimates[:, [0, -1]], covariances[:, [0, -1]][:, :, [0, -1]], arm, n,
                        thresholds[-1:])  # fmt: skip


def _independent(estimates: Floats, covariances: Floats, *rest: Any) -> tuple[float, float]:
    return BEST.pair_cost(estimates, covariances * np.eye(covariances.shape[1]), *rest)


def _unmoved(
    estimates: Floats, covariances: Floats, named: int, named_n: float, *rest: Any
) -> tuple[float, float]:
    return BEST.pair_cost(estimates, covariances, named, 1e9 * named_n, *rest)


def _share_of_the_other(*given: Any) -> tuple[float, float]:
    cost, share = BEST.pair_cost(*given)
    return cost, 1.0 - share if 0.0 < cost < NEVER else share


def _first_violation(
    estimates: Floats, covariances: Floats, named: int, *rest: Any
) -> tuple[float, float]:
    """Have another arm come closer than the named one's first violation, whatever its others."""
    feasible, thresholds = rest[3], rest[5]
    if not feasible:
        estimates = estimates.copy()
        estimates[named, 2:] = thresholds[1:] - 1e6
    return BEST.pair_cost(estimates, covariances, named, *rest)


PLANTED = {
    "only the last limit fails": BEST._replace(own_cost=_slack),
    "correlation is ignored": BEST._replace(pair_cost=_independent),
    "the named arm does not move": BEST._replace(pair_cost=_unmoved),
    "shares are swapped": BEST._replace(pair_cost=_share_of_the_other),
    "only the first violation counts": BEST._replace(pair_cost=_first_violation),
    "a lead is no threat": BEST._replace(pair_cost=ALL.pair_cost),
    "arms fail that are not marked": ALL._replace(own_cost=lambda e, c, i, n, m, *r: ALL.own_cost(
        e, c, i, n, not m, *r)),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_noticed(fault: str) -> None:
    @settings(database=None, derandomize=True, phases=[Phase.generate])
    @given(evidences())
    def law(seen: Evidence) -> None:
        check_closed_forms(PLANTED[fault], seen)

    with pytest.raises(AssertionError):
        law()


# --------------------------------------------------------------------------------- compiled


def price_all(
    estimates: Floats,
    seen: Mask,
    marked: Mask,
    covariances: Floats,
    pulls: Floats,
    scales: Floats,
    thresholds: Floats,
    priority: Integers,
    versus: Versus,
    threats: Threats,
    work: CostWork,
    shares: Floats,
    move: Floats,
    found: Floats,
) -> int:
    named, feasible = answer_of(estimates, seen, scales, thresholds, priority, marked)
    count: int = threats_of(seen, marked, named, feasible, scales, thresholds, versus, threats)
    for t in range(count):
        cost = threat_cost(threats, t, estimates, covariances, pulls, thresholds, work)
        fill_shares(shares, threats, t, covariances, pulls, cost, work)
        fill_move(move, threats, t, covariances, pulls, work)
        found[t, 0], found[t, 1], found[t, 2] = cost, shares[1], move[0, 0]
    return count


answer_of: Callable[..., Any] = BEST.answer
threats_of: Callable[..., Any] = BEST.fill_threats


@each_question
def test_compiled_threats_equal_plain_ones(
    question: Question, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RINGFENCE_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(globals(), "answer_of", question.answer)
    monkeypatch.setitem(globals(), "threats_of", question.fill_threats)
    parts = (question.answer, question.fill_threats, threat_cost, fill_shares, fill_move)
    compiled = compile_kernel(price_all, *parts, allocates=False)
    positive = 0
    for number in range(60):
        rng = np.random.default_rng((8, number))
        arm_count, size = 1 + number % 4, 2 + number % 3
        roots = rng.normal(size=(arm_count, size, size))
        given_ = [
            rng.normal(size=(arm_count, size)), np.ones(arm_count, np.bool_),
            np.zeros(arm_count, np.bool_), roots @ roots.transpose(0, 2, 1),
            rng.uniform(1.0, 9.0, arm_count), rng.uniform(0.5, 2.0, size),
            rng.normal(size=size - 1), np.arange(arm_count),
            Versus.of(0 if number % 2 else None, np.full(size - 1, 1.1)),
        ]  # fmt: skip
        results = []
        runs: tuple[Callable[..., int], ...] = (price_all, compiled)
        for price in runs:
            found = np.zeros((arm_count * size, 3))
            room = (make_threats(arm_count, size), cost_work(size), np.zeros(PLACES))
            count = price(*given_, *room, np.zeros((arm_count, size)), found)
            results.append((count, found))
        assert results[0][0] == results[1][0]
        np.testing.assert_allclose(results[1][1], results[0][1], rtol=1e-9, atol=1e-12)
        positive += int((results[0][1][:, 0] > 0.0).sum())
    assert positive > 100
