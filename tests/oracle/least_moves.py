"""The cheapest change of the answer, found slowly: what the costs of the core must equal.

A change moves estimates by h, whose noise has covariance W (one pull's, divided by the pulls), and
must meet demands: D h + c <= 0. Its energy is h' W^-1 h / 2. With h = -W D' eta the least energy is
max over eta >= 0 of eta'c - eta'G eta / 2, G = D W D'. Solved here in two ways: by SciPy's NNLS,
and by trying every set of demands that may hold with equality, in exact rationals, where the
answer carries its own proof. Written from the mathematics, not from the code.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from ringfence.core.arrays import Floats

Numbers = NDArray[Any]  # of floats, or of Fractions


@dataclass(frozen=True)
class Study:
    """What the costs are asked about; the arms that play no part are NaN."""

    estimates: Numbers
    covariances: Numbers
    thresholds: Numbers
    scales: Numbers
    best: int
    best_n: Any
    arm: int
    n: Any

    def exact(self) -> "Study":
        """Return the same study in rationals: what the floats say, to the last bit."""
        return replace(
            self,
            estimates=fractions(self.estimates),
            covariances=fractions(self.covariances),
            thresholds=fractions(self.thresholds),
            scales=fractions(self.scales),
            best_n=Fraction(self.best_n),
            n=Fraction(self.n),
        )

    def with_pulls(self, best_n: float, n: float) -> "Study":
        return replace(self, best_n=best_n, n=n)


def fractions(numbers: Numbers) -> Numbers:
    exact = np.array([None if np.isnan(v) else Fraction(float(v)) for v in numbers.flat], object)
    return exact.reshape(numbers.shape)


class Change(NamedTuple):
    """Demands D h + c <= 0 on moves h of covariance W.

    h holds the moves of all the arm's attributes, then the `best_moves` of the best arm's.
    """

    c: Numbers
    D: Numbers
    W: Numbers
    best_moves: int

    def program(self) -> tuple[Numbers, Numbers]:
        return self.c, self.D @ self.W @ self.D.T

    def moves(self, eta: Numbers) -> Numbers:
        return np.asarray(-(self.W @ (self.D.T @ eta)))

    def energies(self, eta: Numbers) -> tuple[Any, Any]:
        """Return the energy of the whole change and the best arm's part of it."""
        force = self.D.T @ eta
        first = len(force) - self.best_moves
        own, bests = force[:first], force[first:]
        part = bests @ self.W[first:, first:] @ bests / 2 if self.best_moves else 0 * own[0]
        return own @ self.W[:first, :first] @ own / 2 + part, part


# --------------------------------------------------------------------------- the changes


def block_diagonal(first: Numbers, second: Numbers) -> Numbers:
    k = len(first)
    whole = np.zeros((k + len(second), k + len(second)), first.dtype)
    whole[:k, :k], whole[k:, k:] = first, second
    return whole


def beating(study: Study) -> list[Change]:
    """Feasible and better: the arm may move in everything, the best one in everything too."""
    own, bests = study.estimates[study.arm], study.estimates[study.best]
    size = len(own)
    c = np.concatenate([own[:1] - bests[:1], own[1:] - study.thresholds])
    D = np.concatenate([np.eye(size, dtype=int), np.zeros((size, size), dtype=int)], axis=1)
    D[0, size] = -1
    first, second = study.covariances[study.arm] / study.n, study.covariances[study.best]
    return [Change(c, D, block_diagonal(first, second / study.best_n), size)]


def passing(study: Study) -> list[Change]:
    """Feasible after all: the arm alone moves, its objective at will."""
    own = study.estimates[study.arm]
    D = np.eye(len(own), dtype=int)[1:]
    return [Change(own[1:] - study.thresholds, D, study.covariances[study.arm] / study.n, 0)]


def failing(study: Study) -> list[Change]:
    """Infeasible after all: one change for each constraint that may fail; all else at will.

    To fail it must pass its threshold, which a value known exactly cannot, even if it is there.
    """
    own = study.estimates[study.arm]
    rows = -np.eye(len(own), dtype=int)
    slack = study.thresholds - own[1:]
    W = study.covariances[study.arm] / study.n
    uncertain = [c for c in range(1, len(own)) if W[c, c] > 0]
    return [Change(slack[c - 1 : c], rows[c : c + 1], W, 0) for c in uncertain]


def nearing(study: Study) -> list[Change]:
    """Closer than the best: one change for each violation of the best arm to stay below."""
    scales = study.scales[1:]
    own = scales * (study.estimates[study.arm, 1:] - study.thresholds)
    bests = scales * (study.estimates[study.best, 1:] - study.thresholds)
    size = len(study.scales)
    first = study.covariances[study.arm] / study.n
    second = study.covariances[study.best] / study.best_n
    changes = []
    for b in range(1, size):
        D = np.zeros((size - 1, 2 * size), own.dtype)
        D[:, 1:size] = np.diag(scales)
        D[:, size + b] = -study.scales[b]
        changes.append(Change(own - bests[b - 1], D, block_diagonal(first, second), size))
    return changes


Changes = Callable[[Study], list[Change]]


# --------------------------------------------------------------------------- the solvers


def solve_by_nnls(c: Floats, G: Floats) -> tuple[float, Floats]:
    """Return the least energy and eta: G = R R', then |R' eta - R^-1 c| is least.

    Nothing to do is told apart first: SciPy 1.17 may return nonsense where zero is the solution.
    """
    if c.max() <= 0.0:
        return 0.0, np.zeros(len(c))
    unit = 1.0 / np.sqrt(np.diag(G))
    size = np.abs(unit * c).max()
    root = np.linalg.cholesky(unit[:, None] * G * unit)
    eta = nnls(root.T, solve_triangular(root, unit * c / size, lower=True))[0]
    return float(0.5 * size * size * (unit * c / size) @ eta), size * unit * eta


def solve_exactly(c: Numbers, G: Numbers) -> tuple[Fraction, Numbers] | None:
    """Return the least energy and eta, or None when no move meets the demands.

    A set of demands held with equality is right when it pulls no demand the wrong way (eta >= 0)
    and leaves none unmet (G eta >= c): these conditions are sufficient, so the first one found is.
    """
    indices = range(len(c))
    for count in range(len(c) + 1):
        for held in combinations(indices, count):
            part = solve_linear([[G[i, k] for k in held] + [c[i]] for i in held])
            if part is None or any(value < 0 for value in part):
                continue
            eta = np.array([Fraction(0)] * len(c), object)
            eta[list(held)] = part
            if all(value >= 0 for value in G @ eta - c):
                return sum(eta * c, Fraction(0)) / 2, eta
    return None


def solve_linear(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Return the solution of the linear system [A | b], or None when A is singular."""
    size = len(rows)
    for k in range(size):
        pivot = next((i for i in range(k, size) if rows[i][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(size):
            if i != k and rows[i][k] != 0:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[size] for row in rows]


class Answer(NamedTuple):
    """The least energy, the best arm's part, and which demands the cheapest change presses on."""

    energy: float
    share: float
    pattern: tuple[bool, ...]
    moves: Numbers


def cheapest(changes: list[Change]) -> Answer:
    """Return the answer by NNLS, in floats."""
    solved = [(*solve_by_nnls(*change.program()), change) for change in changes]
    energy, eta, change = min(solved, key=lambda entry: entry[0])
    whole, part = change.energies(eta)
    share = float(part / whole) if whole > 0.0 else 0.0
    return Answer(energy, share, tuple(eta > 0.0), change.moves(eta))


def cheapest_exactly(changes: list[Change]) -> Answer | None:
    """Return the answer by enumeration, checked in rationals against its primal meaning."""
    solved = []
    for change in changes:
        found = solve_exactly(*change.program())
        if found is not None:
            energy, eta = found
            moves = change.moves(eta)
            whole, part = change.energies(eta)
            assert whole == energy
            assert all(value <= 0 for value in change.D @ moves + change.c)
            solved.append((energy, part, eta, moves))
    if not solved:
        return None
    energy, part, eta, moves = min(solved, key=lambda entry: entry[0])
    share = float(part / energy) if energy > 0 else 0.0
    return Answer(float(energy), share, tuple(value > 0 for value in eta), moves)
