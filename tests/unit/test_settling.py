"""Proofs value by value are the proofs of many values at once: same e-values, same conclusions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from ringfence.core import t_mixture, wagers
from ringfence.core.arrays import Floats
from ringfence.core.bets import NOW, PEAK, follow, forget_bets, mixed_e, no_bets, terms_of
from ringfence.core.certificate import Conclusion, Status, concluded
from ringfence.core.decimals import decimal, decimals
from ringfence.core.grounds import Basis, Ground
from ringfence.core.problem import Problem
from ringfence.core.proving import Path, Prover
from ringfence.core.settling import (
    ALONE,
    CERTIFIED,
    NONE_FEASIBLE,
    OPEN,
    PAIRED,
    SETTLED,
    Proof,
    conclude,
    forget_proof,
    new_proof,
)

STATUS = {
    Status.CERTIFIED: CERTIFIED,
    Status.EQUIVALENT: CERTIFIED,
    Status.NONE_FEASIBLE: NONE_FEASIBLE,
    Status.OPEN: OPEN,
}


def e_after(values: Floats, limit: float, size: int, *, strict: bool, exact: bool = True) -> float:
    """Return E after values from 0 to 1, one after the other."""
    terms = terms_of(np.array([exact]), np.zeros(1), np.ones(1), size)
    bets = no_bets(1)
    forget_bets(bets)
    table, order = values.reshape(1, -1, 1), np.arange(len(values))
    follow(
        bets, 0, terms, 0, 0, 1.0, 0, 0.0, limit, strict, len(values), np.inf, table, order
    )  # fmt: skip
    return float(bets.facts[0, NOW])


@pytest.mark.parametrize(("size", "strict"), [(0, False), (60, False), (60, True)])
def test_a_wager_is_the_same_value_by_value(size: int, strict: bool) -> None:
    rng, disproved = np.random.default_rng(1), 0
    for _ in range(30):
        values = (rng.random(40) < rng.choice([0.2, 0.5, 0.9])).astype(float)
        claim = wagers.Claim(
            Fraction(2, 5), Fraction(0), Fraction(1), strict=strict, size=size or None
        )
        found = wagers.played(claim, wagers.begun(claim), decimals(values))
        # forty hundredths of sixty are 24, which floats have as a whole number
        e = e_after(values, 0.4, size, strict=strict)
        assert e == pytest.approx(np.exp(found.log_e), rel=1e-9)
        disproved += found.is_disproved
    assert (disproved > 0) == (size > 0)


def test_a_t_mixture_is_the_same_value_by_value() -> None:
    rng, scales = np.random.default_rng(2), np.array(t_mixture.SCALES)
    for count, mean in itertools.product((2, 3, 10, 100, 3000), (-0.3, 0.0, 0.4)):
        values = rng.normal(mean, 2.0, count)
        trend = t_mixture.followed(t_mixture.Trend(), values, 0.1)
        ahead = values - 0.1
        e = mixed_e(count, float(ahead.sum()), float((ahead**2).sum()), scales)
        assert np.log(e) == pytest.approx(trend.log_e, abs=1e-8)


LIMITS = ("mean(risk) <= 0.3", "mean(cost) <= 0.5")


def both(
    table: Floats, size: int, *, limits: tuple[str, ...], relative: bool, of_set: bool
) -> tuple[Problem, Proof, list[Ground]]:
    """Return the proof of a table [arm, block, attribute] of whole hundredths from 0 to 1."""
    problem = Problem.parse("maximize mean(score)", list(limits))
    width = len(problem.attributes)
    signs = problem.signs
    factors = [float(one.factor) for one in problem.constraints]
    bounds = [0.0, *(100.0 * signs[c] * problem.constraints[c - 1].threshold
                     for c in range(1, width))]  # fmt: skip
    ends = np.array([sorted((0.0, 100.0 * sign)) for sign in signs])
    proof = new_proof(
        terms_of(np.ones(width, np.bool_), ends[:, 0].copy(), ends[:, 1].copy(), size),
        np.ones(width),
        np.array([0.0, *factors]),
        0 if relative else -1,
        np.round(np.array(bounds), 9),
        0.95,
        100.0 * table * signs,
        np.arange(table.shape[1]),
        of_set=of_set,
    )
    proof.table[:] = np.round(proof.table)
    grounds = [Ground(Basis.EXACT, Fraction(0), Fraction(1))] * width
    return problem, proof, grounds


def worlds(rng: np.random.Generator, width: int, size: int) -> Floats:
    """Return the tables of few arms, often on their limits."""
    counts = rng.choice([size // 10, 3 * size // 10, size // 2, size], size=(4, width))
    return np.array(
        [
            np.column_stack([rng.permutation(size) < count for count in one]).astype(float)
            for one in counts
        ]
    )


@pytest.mark.parametrize("of_set", [False, True])
@pytest.mark.parametrize(
    ("limits", "relative"),
    [(LIMITS[:1], False), (LIMITS, False), (("mean(risk) <= 1 * baseline",), True)],
)
def test_conclusions_are_those_of_a_certificate(
    limits: tuple[str, ...],
    relative: bool,
    of_set: bool,
) -> None:
    rng, size = np.random.default_rng(3), 40
    seen: set[Status] = set()
    asked = 0
    for _ in range(12):
        table = worlds(rng, 1 + len(limits), size)
        problem, proof, grounds = both(table, size, limits=limits, relative=relative, of_set=of_set)
        forget_proof(proof)
        counts = np.zeros(len(table), np.int64)
        while counts.min() < size:
            counts = np.minimum(size, counts + rng.integers(0, 12, len(table)))
            paths = [Path.of(one[:count]) for one, count in zip(table, counts, strict=True)]
            prover = Prover(problem, paths, grounds, baseline=0 if relative else None, size=size)
            wanted = concluded(prover, 0.95, of_set=of_set)
            conclude(proof, counts)
            assert proof.status[0] == STATUS[wanted.status]
            seen.add(wanted.status)
            if wanted.status != Status.OPEN:
                assert set(np.flatnonzero(proof.answer)) == set(wanted.answer)
                break
            require_same_questions(proof, wanted, relative=relative)
            asked += 1
    assert asked > 10
    assert Status.CERTIFIED in seen


def require_same_questions(proof: Proof, wanted: Conclusion, *, relative: bool) -> None:
    """Demand that the same arms are asked about, each by a way that takes as many blocks."""
    arms = {test.arm for test in wanted.open}
    assert set(np.flatnonzero(proof.asked.ways != SETTLED)) == arms
    needs = {
        arm: max(
            np.inf if one.needs is None else one.needs for one in wanted.open if one.arm == arm
        )
        for arm in arms
    }
    for arm, most in needs.items():
        assert proof.asked.needs[arm] == pytest.approx(most, abs=1)
    rivals = {test.rival for test in wanted.open if test.rival is not None}
    also = rivals | (
        {0} if relative and any(one.limit is not None for one in wanted.open) else set()
    )
    assert set(np.flatnonzero(proof.asked.arms)) == arms | also
    assert set(proof.asked.ways.tolist()) <= {SETTLED, ALONE, PAIRED}


def test_a_tie_that_was_seen_whole_is_a_tie() -> None:
    table = np.zeros((2, 100, 2))
    table[:, :29, 1] = 1.0
    table = np.random.default_rng(4).permuted(table, axis=1)
    table[0, :, 0] = 1.0
    _, proof, _ = both(table, 100, limits=("mean(risk) <= 0.29",), relative=False, of_set=False)
    forget_proof(proof)
    conclude(proof, np.array([100, 100]))
    assert proof.status[0] == CERTIFIED
    assert proof.answer.tolist() == [True, False]
    assert np.isinf(proof.bets.facts[0, PEAK])


def test_decimals_stay_what_they_were_written_as() -> None:
    assert decimal(0.29) * 100 == 29
