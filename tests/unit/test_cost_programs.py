"""Costs against general solvers: thousands of random problems, in floats and in exact rationals."""

from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import cho_solve, cholesky

from ringfence.core.arrays import Floats
from ringfence.core.cost import (
    NEVER,
    CostWork,
    beating_cost,
    cost_work,
    least_energy,
    nearing_cost,
)
from ringfence.simulation.compilation import compile_kernel
from tests.oracle.least_moves import Study, cheapest, cheapest_exactly, solve_by_nnls
from tests.unit.cost_studies import COSTS, random_covariance, random_study, used_work

each_cost = pytest.mark.parametrize("name", COSTS)
each_count = pytest.mark.parametrize("m", [1, 2, 3])


def patterns(name: str, m: int) -> set[tuple[bool, ...]]:
    """Return which demands the cheapest change may press on; for beating, the objective first.

    Only one constraint fails; and unless it is level with the best, an arm must move to be closer.
    """
    if name == "failing":
        return {(False,), (True,)}
    found = set(product([False, True], repeat=m + 1 if name == "beating" else m))
    return found - {(False,) * m} if name == "nearing" and m > 1 else found


def stream_of(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


# ------------------------------------------------------------------------- general solvers


@each_count
@each_cost
def test_costs_equal_non_negative_least_squares(name: str, m: int) -> None:
    cost, stream = COSTS[name], stream_of(1, m)
    seen: Counter[tuple[bool, ...]] = Counter()
    for _ in range(1500):
        study = random_study(stream, m, name)
        energy, share = cost(study)
        truth = cheapest(cost.changes(study))
        assert abs(energy - truth.energy) <= 1e-8 * max(1.0, truth.energy)
        if truth.energy > 0.0:
            assert share == pytest.approx(truth.share, rel=0, abs=1e-6)
        seen[truth.pattern] += 1
    assert set(seen) == patterns(name, m)
    rare = (False,) * m if name == "nearing" else None  # only when the two arms are level
    assert all(count >= 50 for pattern, count in seen.items() if pattern != rare)


@each_count
@each_cost
def test_costs_equal_the_enumeration_of_active_demands(name: str, m: int) -> None:
    """Nearly singular or not, the rational solution is exact: no solver's tolerance hides here."""
    cost, stream = COSTS[name], stream_of(2, m)
    for _ in range(100):
        study = random_study(stream, m, name)
        energy, share = cost(study)
        truth = cheapest_exactly(cost.changes(study.exact()))
        assert truth is not None
        assert abs(energy - truth.energy) <= 1e-8 * truth.energy
        if truth.energy > 0.0:
            assert share == pytest.approx(truth.share, rel=0, abs=1e-7)


def grid_study(stream: np.random.Generator, m: int, name: str, *, singular: bool) -> Study:
    """Return a study in small integers: ties, values on the threshold, exact attributes abound.

    Attributes are mixtures of independent metrics, as many as attributes or, singular, fewer.
    """
    size = m + 1
    covariances = np.zeros((2, size, size))
    for i in range(2):
        metric_count = int(stream.integers(1, size + 1)) if singular else size
        mixture = stream.integers(-2, 3, (size, metric_count)).astype(np.float64)
        if not singular:
            mixture = np.tril(mixture, -1) + np.eye(size)
        exact = stream.random(size) < (0.5, 0.3)[i]
        if name == "nearing" and i == 1 and not singular:
            exact[1 + stream.permutation(m)[1:]] = False  # two would tie the moves to the best's
        mixture[exact] = 0.0
        covariances[i] = mixture @ mixture.T
    estimates = stream.integers(-2, 3, (2, size)).astype(np.float64)
    thresholds = stream.integers(-1, 2, m).astype(np.float64)
    scales = stream.choice([0.5, 1.0, 2.0], size)
    if name == "failing":
        estimates[1, 1:] = np.minimum(estimates[1, 1:], thresholds)
    if name == "nearing":
        estimates[:, 1:] += thresholds + 3.0
        margins = (scales[1:] * (estimates[:, 1:] - thresholds)).max(axis=1)
        estimates = estimates[np.argsort(margins)]
    pulls = stream.choice([1.0, 2.0, 3.0, 7.0], 2)
    return Study(estimates, covariances, thresholds, scales, 0, pulls[0], 1, pulls[1])


def check_on_the_grid(name: str, m: int, *, singular: bool) -> None:
    cost, stream = COSTS[name], stream_of(3, m, singular)
    seen: Counter[str] = Counter()
    for _ in range(300):
        study = grid_study(stream, m, name, singular=singular)
        energy, share = cost(study)
        assert np.isfinite(energy)
        assert 0.0 <= share <= 1.0
        truth = cheapest_exactly(cost.changes(study.exact()))
        if truth is None:
            seen["never"] += 1
            assert energy == NEVER
            continue
        seen["free" if truth.energy == 0.0 else "paid"] += 1
        assert abs(energy - truth.energy) <= 1e-12 * truth.energy
        if truth.energy > 0.0 and name == "beating":
            assert share == pytest.approx(truth.share, rel=0, abs=1e-12)
    assert all(seen[kind] >= 3 for kind in ("never", "free", "paid")), seen


@each_count
@each_cost
def test_costs_on_a_grid_of_integers(name: str, m: int) -> None:
    check_on_the_grid(name, m, singular=False)


@each_count
@each_cost
def test_costs_of_dependent_attributes(name: str, m: int) -> None:
    """Several constraints on one metric, or on a sum of two: some demands imply others."""
    check_on_the_grid(name, m, singular=True)


# ------------------------------------------------------------------------ what costs mean


def energy_of(study: Study, arm: int, n: float, values: Floats) -> Floats:
    """Return n/2 h' Sigma^-1 h for the move h to each row of values."""
    moves = (values - study.estimates[arm]).T
    solved = cho_solve((cholesky(study.covariances[arm], lower=True), True), moves)
    return np.asarray(n / 2.0 * (moves * solved).sum(axis=0))


def wandering(
    stream: np.random.Generator, study: Study, arm: int, n: float, least: Floats, energy: float
) -> Floats:
    """Return 4000 rows of values that an arm might have: half of them around its least move."""
    width = np.sqrt(energy / n) * 10.0 ** stream.uniform(-4.0, 0.5, (4000, 1))
    root = np.linalg.cholesky(study.covariances[arm])
    moves = width * stream.normal(size=(4000, len(least))) @ root.T
    moves[:2000] += least
    return np.asarray(study.estimates[arm] + moves)


def made_to_change(
    name: str, study: Study, own: Floats, bests: Floats, stream: np.random.Generator
) -> None:
    """Push the arm, in place, until its values bring about the change that the cost is for."""
    limits = study.thresholds
    if name == "beating":
        own[:, 0] = np.minimum(own[:, 0], bests[:, 0])
    if name in ("beating", "passing"):
        own[:, 1:] = np.minimum(own[:, 1:], limits)
    if name == "failing":
        rows = np.arange(len(own))
        c = stream.integers(len(limits), size=len(own))
        own[rows, c + 1] = np.maximum(own[rows, c + 1], limits[c])
    if name == "nearing":
        margins = (study.scales[1:] * (bests[:, 1:] - limits)).max(axis=1)
        own[:, 1:] = np.minimum(own[:, 1:], limits + margins[:, None] / study.scales[1:])


@each_count
@each_cost
def test_no_move_that_changes_the_answer_is_cheaper(name: str, m: int) -> None:
    """Thousands of moves, near the cheapest one and far from it, and none undercuts the cost."""
    cost, stream = COSTS[name], stream_of(4, m)
    size, checked = m + 1, 0
    while checked < 8:
        study = random_study(stream, m, name)
        study = study.with_pulls(*stream.uniform(1.0, 20.0, 2))
        energy = cost(study)[0]
        if energy == 0.0:
            continue
        checked += 1
        least = np.asarray(cheapest(cost.changes(study)).moves, dtype=np.float64)
        bests = least[size:] if len(least) > size else np.zeros(size)
        own = wandering(stream, study, study.arm, study.n, least[:size], energy)
        other = wandering(stream, study, study.best, study.best_n, bests, energy)
        made_to_change(name, study, own, other, stream)
        spent = energy_of(study, study.arm, study.n, own)
        if name in ("beating", "nearing"):
            spent += energy_of(study, study.best, study.best_n, other)
        assert spent.min() >= energy * (1.0 - 1e-7)
        assert spent.min() <= energy * 1.05


@pytest.mark.parametrize("m", [2, 3])
def test_multipliers_give_the_moves(m: int) -> None:
    """h_j = -Sigma_j eta/n_j and h_b = Sigma_b[:, o] eta_o/n_b: feasible and better, just so."""
    stream = stream_of(5, m)
    moved = 0
    for _ in range(300):
        study = random_study(stream, m, "beating")
        own, bests = study.covariances[study.arm], study.covariances[study.best]
        work = used_work(m + 1)
        energy, share = COSTS["beating"].ask(study, work)
        eta = work.multipliers
        arm = study.estimates[study.arm] - own @ eta / study.n
        best = study.estimates[study.best] + bests[:, 0] * eta[0] / study.best_n
        demands = np.concatenate([[arm[0] - best[0]], arm[1:] - study.thresholds])
        rounding = 1e-9 * (
            np.abs(own) @ eta / study.n + np.abs(study.estimates[study.arm]) + np.abs(best[0])
        )
        assert (eta >= 0.0).all()
        assert (demands <= rounding).all()
        assert (np.abs(demands[eta > 0.0]) <= rounding[eta > 0.0]).all()
        spent = eta @ own @ eta / (2.0 * study.n)
        bests_part = eta[0] ** 2 * bests[0, 0] / (2.0 * study.best_n)
        assert spent + bests_part == pytest.approx(energy, rel=1e-7, abs=1e-12)
        assert share * energy == pytest.approx(bests_part, rel=1e-7, abs=1e-12)
        moved += energy > 0.0
    assert moved > 200


# --------------------------------------------------------------------------- the program


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6])
def test_least_energy_equals_non_negative_least_squares(size: int) -> None:
    stream = stream_of(6, size)
    seen: Counter[int] = Counter()
    for _ in range(500):
        spread = 10.0 ** stream.uniform(-2.0, 2.0, size)
        G = random_covariance(stream, spread, nearly_singular=size > 1 and stream.random() < 0.3)
        c = spread * stream.normal(size=size)
        work = used_work(size + int(stream.integers(2)))
        work.linear[:size], work.tableau[:size, :size] = c, G
        energy = least_energy(work, size)
        eta = work.multipliers[:size]
        truth, true_eta = solve_by_nnls(c, G)
        assert abs(energy - truth) <= 1e-8 * max(1.0, truth)
        assert energy == pytest.approx(eta @ c - eta @ G @ eta / 2.0, rel=1e-7, abs=1e-12)
        assert (eta >= 0.0).all()
        assert (G @ eta >= c - 1e-9 * (np.abs(G) @ eta + np.abs(c))).all()
        assert ((eta > 0.0) == (true_eta > 0.0)).all()
        seen[int((eta > 0.0).sum())] += 1
    assert len(seen) >= min(size + 1, 5)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_least_energy_of_one_demand_said_twice(order: tuple[int, ...]) -> None:
    # Both press on one metric of variance 1, by 2 and by 1: 2^2/2, in whichever order.
    work = used_work(2)
    work.linear[:], work.tableau[:, :2] = np.array([2.0, 1.0])[list(order)], 1.0
    assert least_energy(work, 2) == 2.0


# -------------------------------------------------------------------------------- compiled


def ask_all(
    estimates: Floats,
    covariances: Floats,
    pulls: Floats,
    scales: Floats,
    thresholds: Floats,
    work: CostWork,
    found: Floats,
) -> None:
    for i in range(estimates.shape[0]):
        found[i, 0], found[i, 1] = beating_cost(
            estimates[i], covariances[i], 0, pulls[i, 0], 1, pulls[i, 1], thresholds[i], work
        )
        found[i, 2], found[i, 3] = nearing_cost(
            estimates[i], covariances[i], 0, pulls[i, 0], 1, pulls[i, 1],
            scales[i], thresholds[i], work,
        )  # fmt: skip


def test_compiled_costs_equal_plain_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RINGFENCE_CACHE_DIR", str(tmp_path))
    compiled = compile_kernel(ask_all, allocates=False)
    for m in (1, 2, 3):
        stream = stream_of(7, m)
        studies = [random_study(stream, m, "nearing") for _ in range(300)]
        studies += [grid_study(stream, m, "nearing", singular=False) for _ in range(300)]
        arms = [(s, [s.best, s.arm]) for s in studies]
        estimates = np.array([s.estimates[pair] for s, pair in arms])
        covariances = np.array([s.covariances[pair] for s, pair in arms])
        pulls = np.array([[s.best_n, s.n] for s in studies])
        scales = np.array([s.scales for s in studies])
        limits = np.array([s.thresholds for s in studies])
        plain, fast = np.zeros((600, 4)), np.zeros((600, 4))
        for ask, found in ((ask_all, plain), (compiled, fast)):
            ask(estimates, covariances, pulls, scales, limits, cost_work(m + 1), found)
        np.testing.assert_allclose(fast, plain, rtol=1e-12, atol=0.0)
        assert (plain[:, [0, 2]] == NEVER).any(axis=0).all()
        assert (plain > 0.0).sum(axis=0).min() > 100
