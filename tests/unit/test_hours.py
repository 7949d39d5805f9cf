"""What arms show beside the hours that they share: against dense linear algebra, and its laws."""

from typing import Any

import numpy as np
import pytest

from ringfence.core.arrays import Floats, Integers
from ringfence.core.hours import (
    Hours,
    borne_by_hours,
    equations,
    level_over_hours,
    shared_in_hours,
    spread_of_hours,
    unlikeliness,
)
from ringfence.core.problem import Problem
from ringfence.core.sharing import together
from ringfence.core.stated import StatedNoise
from ringfence.policies import top_two_hours
from ringfence.policies.evidence import Evidence
from ringfence.study.book import Book
from ringfence.study.hours_seen import HoursSeen

PROBLEM = Problem.parse("maximize mean(x)", ["mean(y) <= 0.4", "p90(x) <= 9"])
ARMS, HOURS = 4, 7
EVERYONE, FIRST = np.ones(ARMS, np.bool_), np.arange(ARMS)


def worlds(seed: int, hours: int = HOURS) -> tuple[Integers, Floats, Floats]:
    """Return pulls by arm and hour, some of them none, deviations by arm, and means by hour."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 5, (ARMS, hours))
    counts[:, 0] += 2
    deviations = np.array([1.0, 2.0, 0.5, 1.3])
    means = rng.normal(size=(ARMS, hours)) + rng.normal(size=hours)
    return counts, deviations, np.where(counts > 0, means, 0.0)


def told(counts: Integers, means: Floats) -> tuple[Floats, Floats]:
    """Return the arms' own means, and how far their hours lie from these."""
    own = (counts * means).sum(axis=1) / counts.sum(axis=1)
    return own, np.where(counts > 0, means - own[:, None], 0.0)


def pulls_of(seed: int, swing: float, hours: int = 24) -> list[tuple[int, Integers, Floats]]:
    """Return pulls in hours [pull, metric] of every arm, which a swing moves all alike."""
    rng, found = np.random.default_rng(seed), []
    effect = swing * np.sin(np.arange(hours) * 2.0)
    for arm in range(ARMS):
        mine = np.repeat(np.arange(hours), rng.integers(0, 6, hours))
        x = 0.1 * arm + effect[mine] + (1.0 + 0.3 * arm) * rng.normal(size=len(mine))
        y = rng.random(len(mine)) < 0.3 + 0.1 * np.sign(effect[mine])
        found.append((arm, mine, np.column_stack([x, y])))
    return found


def book_of(pulls: list[tuple[int, Integers, Floats]], *, has_hours: bool = True) -> Book:
    book = Book(PROBLEM, [f"arm {i}" for i in range(ARMS)], ["x", "y"], has_hours=has_hours)
    for arm, hours, values in pulls:
        book.add(arm, values, hours if has_hours else None)
    return book


@pytest.mark.parametrize("spread", [0.01, 0.4, 30.0])
def test_levels_are_those_of_generalised_least_squares(spread: float) -> None:
    counts, deviations, means = worlds(1)
    weights = counts / deviations[:, None] ** 2
    own, away = told(counts, means)
    parts = counts.sum(axis=0) / counts.sum()
    found = level_over_hours(weights, away, spread, parts)

    arms, hours = np.nonzero(counts)
    y, by_arm, by_hour = means[arms, hours], np.eye(ARMS)[arms], np.eye(HOURS)[hours]
    noise = np.diag(1.0 / weights[arms, hours])
    precision = np.linalg.inv(noise + spread * by_hour @ by_hour.T)
    joint = np.linalg.inv(by_arm.T @ precision @ by_arm)
    m = joint @ by_arm.T @ precision @ y
    effects = spread * by_hour.T @ precision
    assert found.joint == pytest.approx(joint, rel=1e-9)
    assert own + found.estimates == pytest.approx(m + parts @ effects @ (y - by_arm @ m), rel=1e-9)
    # What a level is off by is linear in the noise and in the hours' effects.
    turned = joint @ by_arm.T @ precision
    turned = turned + np.ones((ARMS, 1)) * (parts @ effects @ (np.eye(len(y)) - by_arm @ turned))
    missed = turned @ by_hour - parts
    wanted = turned @ noise @ turned.T + spread * missed @ missed.T
    assert found.covariance == pytest.approx(wanted, rel=1e-9)


def test_the_likelihood_is_the_restricted_one() -> None:
    counts, deviations, means = worlds(2)
    weights = counts / deviations[:, None] ** 2
    _, away = told(counts, means)
    arms, hours = np.nonzero(counts)
    by_arm, by_hour = np.eye(ARMS)[arms], np.eye(HOURS)[hours]

    def dense(spread: float) -> float:
        covariance = np.diag(1.0 / weights[arms, hours]) + spread * by_hour @ by_hour.T
        precision = np.linalg.inv(covariance)
        inner = by_arm.T @ precision @ by_arm
        y = means[arms, hours]
        y = y - by_arm @ np.linalg.solve(inner, by_arm.T @ precision @ y)
        logs = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(inner)[1]
        return float(logs + y @ precision @ y)

    base = unlikeliness(weights, away, 0.0) - dense(0.0)
    for spread in (0.02, 0.5, 9.0):
        assert unlikeliness(weights, away, spread) - dense(spread) == pytest.approx(base)
    best = spread_of_hours(weights, away)
    grid = np.geomspace(1e-4, 1e3, 600)
    least = min([0.0, *grid], key=lambda one: unlikeliness(weights, away, float(one)))
    assert best == pytest.approx(least, rel=0.12)


def test_hours_without_effect_leave_what_pulls_show_by_themselves() -> None:
    pulls = pulls_of(3, 0.0)
    for place, (_, hours, values) in enumerate(pulls):  # every hour shows the same of an arm
        order = np.argsort(hours, kind="stable")
        values[order, 0] = 0.1 * place + np.resize([1.0, -1.0, 0.4, -0.4], len(order))
    found = book_of(pulls).plain_evidence(EVERYONE, FIRST)
    alone = book_of(pulls, has_hours=False).plain_evidence(EVERYONE, FIRST)
    assert found.hours is not None
    assert found.hours.spread[0] == 0.0
    assert found.estimates[:, 0].tolist() == alone.estimates[:, 0].tolist()
    assert found.covariances[:, 0, 0] == pytest.approx(alone.covariances[:, 0, 0], rel=1e-9)


def test_no_effect_at_all_gives_the_covariances_of_today() -> None:
    """Between attributes too, of which one is no mean and does not go by hours."""
    pulls = [(arm, np.zeros(len(hours), np.int64), values) for arm, hours, values in pulls_of(4, 1)]
    found = book_of(pulls).plain_evidence(EVERYONE, FIRST)
    alone = book_of(pulls, has_hours=False).plain_evidence(EVERYONE, FIRST)
    assert found.estimates.tolist() == alone.estimates.tolist()
    for c in range(3):  # three correlations that are shrunk apart are next to none that can be
        assert found.covariances[:, c, c] == pytest.approx(alone.covariances[:, c, c], rel=1e-9)
    assert found.covariances == pytest.approx(alone.covariances, rel=0.01)
    assert found.sharing is not None
    for i in range(ARMS):
        for j in range(i):
            for c in range(3):
                assert together(found.sharing, i, c, j, c) == pytest.approx(0.0, abs=1e-11)


def test_arms_are_compared_within_the_hour() -> None:
    """Of two arms that were pulled in other hours for the most part, the better one is told."""
    rng, book = np.random.default_rng(5), book_of([])
    hours = np.repeat([0, 1], [400, 40])
    low, high = 0.0, 3.0
    for arm in range(ARMS):
        mine = hours if arm % 2 == 0 else 1 - hours
        x = np.where(mine == 0, low, high) + 0.5 * (arm == 0) + rng.normal(size=len(mine))
        book.add(arm, np.column_stack([x, rng.random(len(mine)) < 0.2]), mine)
    seen = book.plain_evidence(EVERYONE, FIRST)
    assert np.argmin(book.estimates[:, 0]) in (1, 3)
    assert np.argmin(seen.estimates[:, 0]) == 0
    assert seen.hours is not None
    assert seen.hours.noise == pytest.approx(np.ones(ARMS), rel=0.25)
    gap = seen.estimates[1, 0] - seen.estimates[0, 0]
    believed = book.beliefs(seen)
    _, least, most = believed.difference(0, 1, 0)
    assert gap == pytest.approx(0.5, abs=0.35)
    assert least < 0.5 < most
    assert most - least < 1.0


def test_hours_of_one_arm_tell_nothing_of_differences() -> None:
    counts, deviations, means = worlds(6)
    alone = counts.copy()
    alone[1:, 3] = 0
    alone[0, 3] = 0
    other = alone.copy()
    other[0, 3] = 50
    shifted = means.copy()
    shifted[0, 3] = 8.0
    found = []
    for pulls in (alone, other):
        own, away = told(pulls, shifted)
        weights = pulls / deviations[:, None] ** 2
        one = level_over_hours(weights, away, 1e6, pulls.sum(axis=0) / pulls.sum())
        found.append(own + one.estimates)
    first, second = (np.subtract.outer(one, one) for one in found)
    assert second == pytest.approx(first, abs=1e-5)


@pytest.mark.parametrize("order", [[2, 0, 3, 1], [3, 2, 1, 0]])
def test_the_names_of_arms_and_hours_do_not_matter(order: list[int]) -> None:
    pulls = pulls_of(7, 1.5)
    moved = [(place, 1000 - 3 * pulls[arm][1], pulls[arm][2]) for place, arm in enumerate(order)]
    first = book_of(pulls).plain_evidence(EVERYONE, FIRST)
    second = book_of(moved).plain_evidence(EVERYONE, FIRST)
    assert first.hours is not None
    assert first.hours.spread[0] > 0.0
    assert second.estimates == pytest.approx(first.estimates[order], rel=1e-9)
    assert second.covariances == pytest.approx(first.covariances[order], rel=1e-8, abs=1e-12)


def test_pulls_may_come_in_any_parts() -> None:
    pulls = pulls_of(8, 2.0)
    pieces = [
        (arm, hours[part], values[part])
        for arm, hours, values in pulls
        for part in (slice(0, 9), slice(9, 10), slice(10, None))
    ]
    whole, parts = (book_of(one).plain_evidence(EVERYONE, FIRST) for one in (pulls, pieces))
    assert parts.estimates == pytest.approx(whole.estimates, rel=1e-9)
    assert parts.covariances == pytest.approx(whole.covariances, rel=1e-8, abs=1e-12)
    copy = book_of(pulls)
    copied = copy.copied()
    copied.add(0, np.array([[50.0, 1.0]] * 5), np.full(5, 3))
    assert copy.plain_evidence(EVERYONE, FIRST).estimates.tolist() == whole.estimates.tolist()


def test_scatters_are_within_arm_and_hour() -> None:
    pulls = pulls_of(9, 5.0)
    seen = HoursSeen(ARMS, 1)
    for arm, hours, values in pulls:
        for part in (slice(0, 11), slice(11, None)):
            seen.add(arm, hours[part], values[part, :1])
    for arm, hours, values in pulls:
        wanted = sum(
            ((values[hours == hour, 0] - values[hours == hour, 0].mean()) ** 2).sum()
            for hour in np.unique(hours)
        )
        assert seen._within[arm, 0, 0] == pytest.approx(wanted)
    assert seen.counts.sum() == sum(len(hours) for _, hours, _ in pulls)


def test_attributes_go_with_each_other_as_in_one_pull() -> None:
    """Of arms apart their covariances are their own; of any, the whole is one that can be."""
    rng = np.random.default_rng(10)
    root = rng.normal(size=(2, 3, 3))
    covariances = root @ root.transpose(0, 2, 1)
    correlations = np.array([[[1.0, r], [r, 1.0]] for r in (0.9, -0.4, 0.0)])
    found = shared_in_hours(covariances, correlations)
    for c in range(2):
        for i in range(3):
            for j in range(3):
                assert together(found, i, c, j, c) == pytest.approx(covariances[c, i, j])
    apart = np.array([np.diag([1.0, 4.0, 9.0]), np.diag([0.25, 0.0, 1.0])])
    found = shared_in_hours(apart, correlations)
    wanted = [0.9 * 0.5, 0.0, 0.0]
    assert [together(found, i, 0, i, 1) for i in range(3)] == pytest.approx(wanted)
    assert together(found, 0, 0, 1, 1) == pytest.approx(0.0)


# ------------------------------------------------------------------------------ the rule


def evidence_of(joint: Any, *, spread: float = 0.3, **changes: Any) -> Evidence:
    count = len(joint)
    plain = Evidence(
        estimates=np.column_stack([np.arange(count) * 0.2, np.full(count, -1.0)]),
        counts=np.full(count, 50),
        in_flight=np.zeros(count, np.int64),
        alive=np.ones(count, np.bool_),
        covariances=np.array([np.diag([1.0, 1.0])] * count),
        scales=np.ones(2),
        thresholds=np.zeros(1),
        priority=np.arange(count),
        left=np.array([1000.0]),
        hours=Hours(joint, np.arange(1.0, count + 1.0), np.array([spread])),
    )
    return plain._replace(**changes)


def chosen_by(seen: Evidence, slots: int, seed: int = 0) -> Integers:
    work = top_two_hours.make_work(len(seen.counts), seen.estimates.shape[1])
    chosen = np.full(slots, -1)
    uniforms = np.random.default_rng(seed).random(slots)
    top_two_hours.choose(seen, uniforms, chosen, work)
    return chosen


def test_what_is_promised_adds_to_the_hour_to_come() -> None:
    counts, deviations, means = worlds(11)
    weights = counts / deviations[:, None] ** 2
    spread = 0.7
    precision, _ = equations(weights, told(counts, means)[1], borne_by_hours(weights, spread))
    joint = np.linalg.inv(precision)
    seen = evidence_of(joint, spread=spread, in_flight=np.array([3, 0, 1, 6]))
    hours = Hours(np.array(joint, np.float64), deviations**2, np.array([spread]))
    work = top_two_hours.make_work(ARMS, 2)
    top_two_hours.begin(seen, hours, work)
    work.promised[1] = 4
    top_two_hours.fulfil(hours, work)
    more = np.column_stack([weights, np.array([3, 4, 1, 6]) / deviations**2])
    precision, _ = equations(more, np.zeros(more.shape), borne_by_hours(more, spread))
    assert work.joint[:ARMS, :ARMS] == pytest.approx(np.linalg.inv(precision), rel=1e-9)
    assert work.pulls.tolist() == [53, 54, 51, 56]


@pytest.mark.parametrize("slots", [1, 7, 64, 500])
def test_a_fifth_of_all_pulls_goes_to_all_living_arms_in_turn(slots: int) -> None:
    alive = np.array([True, True, False, True, True])
    far = np.column_stack([np.array([0.0, 0.1, 9.0, 60.0, 90.0]), np.full(5, -1.0)])
    seen = evidence_of(np.eye(5) / 50.0, alive=alive, estimates=far)
    total = np.zeros(5, np.int64)
    times = max(2000 // slots, 40)
    for seed in range(times):
        chosen = chosen_by(seen, slots, seed)
        total += np.bincount(chosen, minlength=5)
        if slots == 500:
            assert total[3] // (seed + 1) == total[4] // (seed + 1) == 25
    assert total[2] == 0
    assert total[3] + total[4] == pytest.approx(0.1 * slots * times, rel=0.25)


def test_the_arm_is_pulled_that_tells_more_of_the_difference() -> None:
    """Of two arms apart from each other, the one that is less known, or noisier."""
    places, counts = np.array([[0.0, -1.0], [0.2, -1.0]]), np.array([1000, 4])
    seen = evidence_of(np.diag([0.001, 0.5]), estimates=places, counts=counts, spread=0.0)
    first, second = np.bincount(chosen_by(seen, 20), minlength=2)
    assert second > 2 * first


def test_a_deceiver_is_pulled_without_the_best() -> None:
    """What is better by its objective must keep its limit: the best arm tells nothing of that."""
    places = np.array([[0.0, -30.0], [-0.5, 0.05], [9.0, -30.0]])
    seen = evidence_of(np.eye(3) / 50.0, estimates=places)
    work = top_two_hours.make_work(3, 2)
    assert seen.hours is not None
    top_two_hours.begin(seen, seen.hours, work)
    top_two_hours.fill_threats(seen, seen.hours, 0, -1.0, work)
    assert int(np.argmin(work.values)) == 1
    assert work.shares[1] == 0.0
    assert work.shares[2] > 0.0


def test_arms_are_pulled_where_none_keeps_its_limits() -> None:
    places = np.array([[0.0, 1.0], [0.5, 1.05], [9.0, 8.0]])
    seen = evidence_of(np.eye(3) / 50.0, estimates=places)
    pulls = np.bincount(chosen_by(seen, 300), minlength=3)
    assert pulls[0] > pulls[2] < pulls[1]


def test_batches_are_decided_alike_whatever_was_left_in_the_room() -> None:
    seen = evidence_of(np.eye(4) / 50.0 + 0.01)
    work = top_two_hours.make_work(4, 2)
    uniforms, found = np.random.default_rng(1).random(90), []
    for _ in range(2):
        chosen = np.full(90, -1)
        top_two_hours.choose(seen, uniforms, chosen, work)
        found.append(chosen.tolist())
    assert found[0] == found[1]


# ------------------------------------------------------------------------------ before and beside


def test_before_the_first_pull_nothing_is_shared() -> None:
    seen = book_of([]).evidence(EVERYONE, FIRST)
    assert seen.hours is not None
    assert not seen.estimates.any()
    assert not seen.hours.joint.any()
    assert HoursSeen(2, 1).unseen(0, 3).tolist() == []


def test_pulls_that_told_nothing_are_taken_to_be_in_hours_of_others() -> None:
    seen = HoursSeen(2, 1)
    seen.add(0, np.array([7, 3, 7, 7]), np.zeros((4, 1)))
    assert seen.unseen(0, 4).tolist() == [3, 7, 7, 7]
    assert set(seen.unseen(0, 9).tolist()) == {3, 7}
    assert seen.unseen(1, 2).tolist() == [3, 7]


def test_stated_noise_is_that_within_hours() -> None:
    noise = StatedNoise.read(
        {"x": {"sigma": 2.0}}, PROBLEM, arms=[f"arm {i}" for i in range(ARMS)], recorded=["x", "y"]
    )
    book = Book(PROBLEM, [f"arm {i}" for i in range(ARMS)], ["x", "y"], noise=noise, has_hours=True)
    for arm, hours, values in pulls_of(12, 3.0):
        book.add(arm, values, hours)
    seen = book.plain_evidence(EVERYONE, FIRST)
    assert seen.hours is not None
    assert seen.hours.spread[0] > 0.0
    assert seen.hours.noise == pytest.approx(np.full(ARMS, 4.0))
